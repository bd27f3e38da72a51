"""Where PyTorch has the options of its fused linear cross entropy."""

from .linear_cross_entropy import LinearCrossEntropyOptions

__all__ = ["LinearCrossEntropyOptions"]
