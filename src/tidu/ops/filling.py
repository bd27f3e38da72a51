"""Writing into a tensor what owes nothing to its old values: fill_, zero_, copy_."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.threads import BIG
from ..core.broadcast import cast, sum_to
from ..core.inplace import apply_inplace, spread, writes_plainly
from ..core.modes import state
from ..core.op import Op
from ..core.promote import Number
from ..core.tensor import Tensor, tensor_of, type_name
from ..dtypes import FLOATING, INTEGRAL, from_numpy
from ..shapes import broadcast_shapes
from .arithmetic import zeros
from .conversion import cast_array, warn_of_lost_parts
from .piecewise import checked_number

__all__ = ["fill", "fill_", "zero_"]
METHODS = "fill_ zero_ copy_"


def _full(input: Any, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = cast_array(value, input.dtype)
    return np.full(input.shape, value, input.dtype)


def _no_part(g: Any) -> Any:
    """The old values have no part in the result."""
    return zeros(g)


def _fill_op(name: str, node: str, tensor: bool) -> Op:
    rules: dict[str, Any] = {"input": _no_part}
    jvp: dict[str, Any] = {"input": lambda t: zeros(t)}
    if tensor:
        rules["value"] = lambda g: g.sum()
        jvp["value"] = lambda t, input: zeros(input) + t
    return Op(name, _full, rules, jvp, tensors=("input", "value") if tensor else ("input",), node=node, out_arg=False)


_fill_number, _fill_tensor = (_fill_op("fill", "FillBackward0", False), _fill_op("fill.tensor", "FillBackward1", True))
_ifill_number = _fill_op("fill.number_", "FillBackward2", False)
_ifill_tensor = _fill_op("fill.tensor_", "FillBackward3", True)
_zero = Op(
    "zero", lambda input: np.zeros(input.shape, input.dtype), {"input": _no_part}, {"input": lambda t: zeros(t)},
    out_arg=False,
)  # fmt: skip


def _copy(input: Any, src: Any) -> Any:
    if src.dtype != input.dtype:
        if src.dtype.kind == "c":
            warn_of_lost_parts(from_numpy(src.dtype), from_numpy(input.dtype))
        src = cast_array(src, input.dtype)
    if src.shape == input.shape:
        return src
    return np.broadcast_to(src, broadcast_shapes(input.shape, src.shape))


copy = Op(
    "copy",
    _copy,
    {"input": _no_part, "src": lambda g, src_shape, src_dtype: cast(sum_to(g, src_shape), src_dtype)},
    {"input": lambda t: zeros(t), "src": lambda t, input: zeros(input) + t},
    node="CopyBackwards",
    out_arg=False,
)


def _checked(input: Any, value: Any) -> Any:
    """A value to fill with, as the ops take it: a number that fits, or a 0-d tensor."""
    if isinstance(value, (*Number, np.generic)):
        return checked_number(value, input.dtype)
    if not isinstance(value, Tensor):
        raise TypeError(
            f"fill_() received an invalid combination of arguments - got ({type(value).__name__}), but expected one "
            "of:\n * (Tensor value)\n * (Number value)\n"
        )
    if value.ndim:
        raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions.")
    return value


def fill(input: Any, value: Any) -> Any:
    """A tensor like `input`, every element `value`: a number or a 0-d tensor. Source: torch.fill."""
    value = _checked(input, value)
    return (_fill_tensor if isinstance(value, Tensor) else _fill_number).call(input, value)


def _clear(x: Any, out: Any) -> None:
    out.fill(0)


def fill_(self: Any, value: Any) -> Any:
    """Make every element `value`, a number or a 0-d tensor, which gets the sum of the cotangents.

    Source: torch.Tensor.fill_.
    """
    value = _checked(self, value)
    if not isinstance(value, Tensor):
        try:
            if writes_plainly(self, self._a):
                spread(lambda x, out: out.fill(value), self._a)
                self._v[0] += 1
                return self
        except AttributeError:
            pass
        return apply_inplace(_ifill_number, (self, value))
    return apply_inplace(_ifill_tensor, (self, value))


def zero_(self: Any) -> Any:
    """Make every element 0. Source: torch.Tensor.zero_."""
    try:
        if writes_plainly(self, self._a):
            spread(_clear, self._a)
            self._v[0] += 1
            return self
    except AttributeError:
        pass
    return apply_inplace(_zero, (self,))


def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Take the elements of `src`, broadcast and converted, and its history. Source: torch.Tensor.copy_.

    **Raises** RuntimeError where `src` does not broadcast to this tensor's shape.
    """
    try:
        a, b = self._a, src._a
        wants = state.grad and (src._node is not None or src._view is not None) and src.requires_grad
        if b.dtype is a.dtype and not wants and src._v is not self._v and writes_plainly(self, a):
            if a.size > BIG and b.shape == a.shape:
                spread(lambda x, y, out: np.copyto(out, y), a, b)
            else:
                np.copyto(a, b)
            self._v[0] += 1
            return self
    except (AttributeError, ValueError):
        pass
    if not isinstance(src, Tensor):
        if not isinstance(src, Number):
            raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type_name(src)}")
        if isinstance(src, complex) and self.dtype.category in (INTEGRAL, FLOATING):
            src = src.real
        src = tensor_of(np.asarray(src)).to(self.dtype)
    return apply_inplace(copy, (self, src))
