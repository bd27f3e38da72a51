"""The old name of tensors. Source: torch.autograd.variable."""

from __future__ import annotations

from ..core.tensor import Tensor as Variable

__all__ = ["Variable"]
