"""Maps of values. Source: torch.distributions.transforms."""

from __future__ import annotations

from ._maps import (
    AbsTransform,
    AffineTransform,
    CatTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    PowerTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
)
from ._transform import ComposeTransform, IndependentTransform, ReshapeTransform, Transform, _InverseTransform

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
    "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
    "SoftplusTransform", "StackTransform", "StickBreakingTransform", "TanhTransform", "Transform", "_InverseTransform",
    "identity_transform",
]  # fmt: skip

identity_transform = ComposeTransform([])
