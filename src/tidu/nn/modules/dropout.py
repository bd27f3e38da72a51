"""Dropout as modules. Source: torch.nn.modules.dropout."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from .module import Module

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class _DropoutNd(Module):
    __constants__ = ["p", "inplace"]
    p: float
    inplace: bool

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """In training, each element is zero with probability p, else divided by 1 - p. Source: torch.nn.Dropout."""

    def forward(self, input: Any) -> Any:
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Dropout of whole channels of (N, C, L). Source: torch.nn.Dropout1d."""

    def forward(self, input: Any) -> Any:
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Dropout of whole channels of (N, C, H, W). Source: torch.nn.Dropout2d."""

    def forward(self, input: Any) -> Any:
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Dropout of whole channels of (N, C, D, H, W). Source: torch.nn.Dropout3d."""

    def forward(self, input: Any) -> Any:
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout that keeps mean and variance, for SELU networks. Source: torch.nn.AlphaDropout."""

    def forward(self, input: Any) -> Any:
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """AlphaDropout of whole channels. Source: torch.nn.FeatureAlphaDropout."""

    def forward(self, input: Any) -> Any:
        return F.feature_alpha_dropout(input, self.p, self.training)
