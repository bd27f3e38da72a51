"""Linear ops that the kinds themselves need: casts, broadcasting and its adjoint, strided windows of memory."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .linear import linear
from .tensor import Tensor
from .viewing import shaped_op


def _cast(input: Any, dtype: Any) -> Any:
    if input.dtype.kind == "c" and dtype.kind not in "cb":
        input = input.real
    return input.astype(dtype, "C" if 0 in input.strides else "K")


cast_op = linear(
    "cast", _cast, lambda g, input_dtype: cast(g, input_dtype), node="ToCopyBackward0", out_arg=False
)  # fmt: skip


def cast(x: Any, dtype: Any) -> Any:
    """A value in another (NumPy) dtype, the real part when that drops the imaginary one; itself if it has it."""
    if isinstance(x, Tensor):
        return x if x.dtype.np == dtype else cast_op(x, dtype)
    return x if x.dtype == dtype else _cast(x, dtype)


def _sum_to(input: Any, shape: tuple[int, ...]) -> Any:
    extra = input.ndim - len(shape)
    axes = tuple(range(extra)) + tuple(i + extra for i, d in enumerate(shape) if d == 1 and input.shape[i + extra] != 1)
    if axes:
        low = input.dtype.itemsize == 2 and input.dtype.kind in "fV"
        if low:
            input, dtype = input.astype(np.float32), input.dtype
        input = np.add.reduce(input, axes)
        if low:
            input = input.astype(dtype)
    return input.reshape(shape)


sum_to_op = shaped_op("sum_to_size", _sum_to, lambda g, whole, shape: expand_to(g, whole), node="SumBackward1")
sum_to_op.op.out_arg = False


def sum_to(x: Any, shape: tuple[int, ...]) -> Any:
    """Sum a value over the dimensions along which `shape` broadcasts to its own."""
    if tuple(x.shape) == shape:
        return x
    return sum_to_op(x, shape) if isinstance(x, Tensor) else _sum_to(x, shape)


_SMALL = 4096  # elements that are copied sooner than np.broadcast_to has made its view


def _spread(x: Any, shape: tuple[int, ...]) -> Any:
    """np.broadcast_to, at less than half of its price where it is called most: for a single element, as goes back
    through every sum and mean, and for small arrays."""
    if x.size != 1:
        if prod(shape) > _SMALL:
            return np.broadcast_to(x, shape)
        out = np.empty(shape, x.dtype)
        out[...] = x
        return out
    x = np.asarray(x)
    r = np.ndarray(shape, x.dtype, x, 0, (0,) * len(shape))
    r.flags.writeable = False
    return r


def expand_to(x: Any, shape: tuple[int, ...]) -> Any:
    """Broadcast a value to `shape` without copying."""
    if tuple(x.shape) == shape:
        return x
    return x.expand(shape) if isinstance(x, Tensor) else _spread(x, shape)
