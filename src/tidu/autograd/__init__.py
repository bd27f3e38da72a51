"""torch.autograd: backward, grad, and what surrounds them."""

from __future__ import annotations

from ..core.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from ..core.tensor import Tensor as Variable
from ..core.tensor import Tensor as _Tensor
from .backward import backward, grad, tensor_backward
from .function import Function

_Tensor.backward = tensor_backward  # type: ignore[attr-defined]

__all__ = ["Function", "Variable", "backward", "enable_grad", "grad", "inference_mode", "no_grad", "set_grad_enabled"]
