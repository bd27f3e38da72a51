"""What the factories share: how they read sizes, dtypes and devices, and how they make the tensor."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import dtypes
from ..core.modes import state
from ..core.tensor import Inference, Tensor, new
from ..devices import CPU, check_cpu, device
from ..dtypes import dtype

ndarray = np.ndarray
_PYTHON_TYPES = {float: dtypes.float64, int: dtypes.int64, bool: dtypes.bool_, complex: dtypes.complex128}


def made(a: Any, requires_grad: bool = False) -> Tensor:
    """A fresh tensor over an array, as a factory returns it."""
    t = new(Tensor)
    t._a = a
    t._v = [0] if not state.inference else Inference((0,))
    t._node = t._view = t._grad = t._extra = None
    if requires_grad:
        want_grad(t, requires_grad)
    return t


def want_grad(t: Tensor, on: Any) -> None:
    if on is not True:
        raise TypeError(f"argument 'requires_grad' must be bool, not {type(on).__name__}")
    if t._a.dtype.kind not in "fcV":
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    t._node = True


def as_dtype(d: Any, fn: str) -> dtype:
    """What a caller gave for `dtype=`: a dtype, or Python's float, int, bool or complex."""
    if d.__class__ is dtype:
        return d  # type: ignore[no-any-return]
    if isinstance(d, type) and d in _PYTHON_TYPES:
        return _PYTHON_TYPES[d]
    raise TypeError(f"{fn}(): argument 'dtype' must be torch.dtype, not {type(d).__name__}")


def np_dtype(d: Any, fn: str) -> Any:
    """The NumPy dtype for `dtype=`, the default type for None."""
    if d is None:
        return dtypes.get_default_dtype().np
    return d.np if d.__class__ is dtype else as_dtype(d, fn).np


def check_place(where: Any, pin_memory: bool = False, layout: Any = None) -> None:
    """Raise if a factory is asked for something that a CPU build does not have."""
    if where is not None and where is not CPU:
        check_cpu(where if isinstance(where, (device, str, int)) else device(where))
    if pin_memory:
        raise RuntimeError(
            "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is available "
            "on this system."
        )
    if layout is not None:
        check_layout(layout)


def check_layout(layout: Any) -> None:
    if str(layout) != "torch.strided":
        raise RuntimeError(f"tidu has dense tensors only; layout {layout} is not available")


def sizes_of(args: tuple[Any, ...], size: Any, fn: str) -> tuple[int, ...]:
    """Sizes given as numbers, as one sequence, or by `size=`."""
    if len(args) == 1 and not isinstance(args[0], int):
        size = args[0]
    elif args:
        size = args
    elif size is None:
        raise TypeError(f'{fn}() received an invalid combination of arguments - got (), but expected one of sizes')
    return shape_of(size, fn)


def shape_of(size: Any, fn: str, name: str = "size") -> tuple[int, ...]:
    """A sequence of sizes, checked; RuntimeError for negative ones."""
    if isinstance(size, int):
        size = (size,)
    if not isinstance(size, (tuple, list)):
        if isinstance(size, (Tensor, np.integer)) and not getattr(size, "ndim", 0):
            size = (size,)
        elif not hasattr(size, "__iter__") or isinstance(size, (str, bytes)):
            raise TypeError(f"{fn}(): argument '{name}' must be tuple of ints, not {type(size).__name__}")
    out = []
    for i, n in enumerate(size):
        if n.__class__ is not int:
            n = index_of(n, i, fn, name)
        out.append(n)
    if out and min(out) < 0:
        bad = next(n for n in out if n < 0)
        raise RuntimeError(f"Trying to create tensor with negative dimension {bad}: {out}")
    return tuple(out)


def index_of(n: Any, i: int, fn: str, name: str) -> int:
    try:
        if isinstance(n, bool) or isinstance(n, (float, complex)):
            raise TypeError
        return operator.index(n)
    except TypeError:
        raise TypeError(
            f"{fn}(): argument '{name}' must be tuple of ints, but found element of type {type(n).__name__} at pos {i}"
        ) from None


def finish(a: Any, out: Any, requires_grad: Any) -> Tensor:
    """The tensor over a factory's result, or `out` with the result written into it."""
    if out is None:
        return made(a, requires_grad)
    from ..core.inplace import put_out

    put_out(a, out)
    if requires_grad:
        want_grad(out, requires_grad)
    return out  # type: ignore[no-any-return]
