"""torch.autograd.Variable: what tensors with a history were called before they were tensors."""

from __future__ import annotations

import types
from typing import Any

from .. import dtypes
from ..core.engine import queue_callback
from ..core.tensor import Tensor, tensor_of, type_name

__all__ = ["Variable"]


class _VariableMeta(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Tensor)


class Variable(metaclass=_VariableMeta):
    """`Variable(data, requires_grad)` is a tensor over the memory of `data`, a leaf. Source: torch.autograd.Variable.

    **Raises** TypeError where `data` is no tensor.

    >>> import tidu as torch
    >>> torch.autograd.Variable(torch.ones(2), requires_grad=True)
    tensor([1., 1.], requires_grad=True)
    """

    __module__ = "torch.autograd.variable"
    _execution_engine = types.SimpleNamespace(queue_callback=queue_callback)

    def __new__(cls, data: Any = None, requires_grad: bool | None = False, volatile: bool | None = None) -> Any:
        if data is None:
            data = tensor_of(_nothing())
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type_name(data)}")
        if volatile:
            import warnings

            warnings.warn(
                "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.",
                UserWarning,
                stacklevel=2,
            )
        if requires_grad.__class__ is not bool and requires_grad is not None:
            raise TypeError(f"'{type(requires_grad).__name__}' object cannot be interpreted as an integer")
        if requires_grad and data.dtype.category < dtypes.FLOATING:
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        made = data.detach()
        made.requires_grad = bool(requires_grad)
        return made


def _nothing() -> Any:
    import numpy as np

    return np.empty(0, np.float32)
