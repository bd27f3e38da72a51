"""Normalisation within a sample. Source: torch.nn.modules.normalization."""

from __future__ import annotations

import numbers
from typing import Any

from ...ops.factories import empty
from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


class LocalResponseNorm(Module):
    """x / (k + alpha mean(x^2 over `size` neighbouring channels))^beta. Source: torch.nn.LocalResponseNorm."""

    __constants__ = ["size", "alpha", "beta", "k"]

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Any) -> Any:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(LocalResponseNorm):
    """LocalResponseNorm by its old name. Source: torch.nn.CrossMapLRN2d."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__(size, alpha, beta, k)


def _scales(module: Any, shape: Any, names: dict[str, bool], device: Any, dtype: Any) -> None:
    """Register weight and bias, or None where there is none."""
    for name, there in names.items():
        module.register_parameter(name, Parameter(empty(shape, device=device, dtype=dtype)) if there else None)


class _Shaped(Module):
    normalized_shape: tuple[int, ...]

    def _take_shape(self, shape: Any) -> None:
        self.normalized_shape = (shape,) if isinstance(shape, numbers.Integral) else tuple(shape)  # type: ignore[assignment]


class LayerNorm(_Shaped):
    """Each sample to mean 0 and variance 1 over its last dimensions, then weight and bias. Source: torch.nn.LayerNorm.

    Args:
        normalized_shape: the sizes of the dimensions that are normalised together.
        eps: added to the variance.
        elementwise_affine, bias: whether there is a weight, and with it a bias.
    """

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]
    weight: Any
    bias: Any

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._take_shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        names = {"weight": elementwise_affine, "bias": elementwise_affine and bias}
        _scales(self, self.normalized_shape, names, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        if self.elementwise_affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input: Any) -> Any:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class GroupNorm(Module):
    """Each group of channels of each sample to mean 0 and variance 1, then weight and bias. Source:
    torch.nn.GroupNorm."""

    __constants__ = ["num_groups", "num_channels", "eps", "affine"]
    weight: Any
    bias: Any

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, device: Any = None,
        dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        _scales(self, num_channels, {"weight": affine, "bias": affine and bias}, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input: Any) -> Any:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(_Shaped):
    """x / sqrt(mean(x^2) + eps) over the last dimensions, then a weight. Source: torch.nn.RMSNorm."""

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]
    weight: Any

    def __init__(
        self, normalized_shape: Any, eps: float | None = None, elementwise_affine: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._take_shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        _scales(self, self.normalized_shape, {"weight": elementwise_affine}, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        if self.elementwise_affine:
            init.ones_(self.weight)

    def forward(self, x: Any) -> Any:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
