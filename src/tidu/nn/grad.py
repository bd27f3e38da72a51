"""torch.nn.grad: gradients of convolutions, written out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..autograd import grad
from ..core.modes import enable_grad
from ..core.tensor import Tensor
from . import functional as F

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]


def _gradient(conv: Callable[..., Any], input: Any, weight: Any, wanted: Any, grad_output: Tensor, how: Any) -> Any:
    with enable_grad():
        out = conv(input, weight, None, *how)
        return grad(out, wanted, grad_output)[0]


def _input(name: str) -> Any:
    conv = getattr(F, name)

    def gradient(
        input_size: Any, weight: Any, grad_output: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: int = 1,
    ) -> Any:  # fmt: skip
        x = grad_output.new_zeros(input_size).requires_grad_()
        return _gradient(conv, x, weight.detach(), x, grad_output, (stride, padding, dilation, groups))

    gradient.__name__ = gradient.__qualname__ = f"{name}_input"
    gradient.__doc__ = f"The gradient of {name} with respect to an input of this size. Source: torch.nn.grad."
    return gradient


def _weight(name: str) -> Any:
    conv = getattr(F, name)

    def gradient(
        input: Any, weight_size: Any, grad_output: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: int = 1,
    ) -> Any:  # fmt: skip
        w = grad_output.new_zeros(weight_size).requires_grad_()
        return _gradient(conv, input.detach(), w, w, grad_output, (stride, padding, dilation, groups))

    gradient.__name__ = gradient.__qualname__ = f"{name}_weight"
    gradient.__doc__ = f"The gradient of {name} with respect to a weight of this size. Source: torch.nn.grad."
    return gradient


conv1d_input, conv2d_input, conv3d_input = _input("conv1d"), _input("conv2d"), _input("conv3d")
conv1d_weight, conv2d_weight, conv3d_weight = _weight("conv1d"), _weight("conv2d"), _weight("conv3d")
