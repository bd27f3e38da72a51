"""torch._tensor: where PyTorch's pickles find how a tensor of a subclass is made again."""

from __future__ import annotations

from .core.tensor import Tensor
from .ops.export import _rebuild_from_type_v2

__all__ = ["Tensor", "_rebuild_from_type_v2"]
