"""Padding. Source: torch.nn.modules.padding."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from .module import Module
from .utils import _ntuple

__all__ = [
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d",
    "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
    "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
]  # fmt: skip


class _Pad(Module):
    """Padding of the last `_dims` dimensions: two numbers for each, the last dimension first."""

    __constants__ = ["padding"]
    _dims = 0
    _mode = "constant"

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = _ntuple(2 * self._dims)(padding)

    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
        return F.pad(input, self.padding, self._mode)

    def _check_input_dim(self, input: Any) -> None:
        pass

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _CircularPadNd(_Pad):
    _mode = "circular"

    def _check_input_dim(self, input: Any) -> None:
        n = self._dims + 1
        if input.dim() not in (n, n + 1):
            raise ValueError(f"expected {n}D or {n + 1}D input (got {input.dim()}D input)")


class CircularPad1d(_CircularPadNd):
    """Padding with what is at the other end, of (N, C, L). Source: torch.nn.CircularPad1d."""

    _dims = 1


class CircularPad2d(_CircularPadNd):
    """Padding with what is at the other end, of (N, C, H, W). Source: torch.nn.CircularPad2d."""

    _dims = 2


class CircularPad3d(_CircularPadNd):
    """Padding with what is at the other end, of (N, C, D, H, W). Source: torch.nn.CircularPad3d."""

    _dims = 3


class _ConstantPadNd(_Pad):
    __constants__ = ["padding", "value"]

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Any) -> Any:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """Padding with a value, of (N, C, L). Source: torch.nn.ConstantPad1d."""

    _dims = 1


class ConstantPad2d(_ConstantPadNd):
    """Padding with a value, of (N, C, H, W). Source: torch.nn.ConstantPad2d."""

    _dims = 2


class ConstantPad3d(_ConstantPadNd):
    """Padding with a value, of (N, C, D, H, W). Source: torch.nn.ConstantPad3d."""

    _dims = 3


class ReflectionPad1d(_Pad):
    """Padding with the reflection at the edge, of (N, C, L). Source: torch.nn.ReflectionPad1d."""

    _dims, _mode = 1, "reflect"


class ReflectionPad2d(_Pad):
    """Padding with the reflection at the edge, of (N, C, H, W). Source: torch.nn.ReflectionPad2d."""

    _dims, _mode = 2, "reflect"


class ReflectionPad3d(_Pad):
    """Padding with the reflection at the edge, of (N, C, D, H, W). Source: torch.nn.ReflectionPad3d."""

    _dims, _mode = 3, "reflect"


class ReplicationPad1d(_Pad):
    """Padding with the edge, of (N, C, L). Source: torch.nn.ReplicationPad1d."""

    _dims, _mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    """Padding with the edge, of (N, C, H, W). Source: torch.nn.ReplicationPad2d."""

    _dims, _mode = 2, "replicate"


class ReplicationPad3d(_Pad):
    """Padding with the edge, of (N, C, D, H, W). Source: torch.nn.ReplicationPad3d."""

    _dims, _mode = 3, "replicate"


class _Zeros:
    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)  # type: ignore[call-arg]

    def extra_repr(self) -> str:
        return f"{self.padding}"  # type: ignore[attr-defined]


class ZeroPad1d(_Zeros, ConstantPad1d):
    """Padding with zeros, of (N, C, L). Source: torch.nn.ZeroPad1d."""


class ZeroPad2d(_Zeros, ConstantPad2d):
    """Padding with zeros, of (N, C, H, W). Source: torch.nn.ZeroPad2d."""


class ZeroPad3d(_Zeros, ConstantPad3d):
    """Padding with zeros, of (N, C, D, H, W). Source: torch.nn.ZeroPad3d."""
