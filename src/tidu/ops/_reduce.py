"""What reductions share: dims, the way back, half precision, out=."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.broadcast import expand_to
from ..core.modes import state
from ..core.tensor import Tensor
from ..dtypes import FLOATING
from ..shapes import normalize_dims
from ._dtypes import c_word

Ints = tuple[int, ...]
INT64 = np.dtype(np.int64)


def is_low(dt: Any) -> bool:
    """Whether sums of this dtype are taken in float32: the two-byte floats."""
    return bool(dt.itemsize == 2 and dt.kind in "fV")


def packed(a: Any) -> Any:
    """An array in C order: NumPy's reductions and scans keep the order of the dimensions in memory, PyTorch's do not."""
    a = np.asarray(a)
    return a if a.flags.c_contiguous else a.copy()


def low_sum(input: Any, dim: Ints, keepdim: bool) -> Any:
    dt = input.dtype
    if dt.kind in "biu":
        return packed(np.add.reduce(input, dim, INT64, None, keepdim))
    if is_low(dt):
        return packed(np.add.reduce(input.astype(np.float32), dim, None, None, keepdim)).astype(dt)
    return packed(np.add.reduce(input, dim, None, None, keepdim))


def restore(g: Any, shape: Ints, dim: Ints, keepdim: bool) -> Any:
    """A reduction's result with the reduced dimensions back, of size one."""
    if keepdim or not shape:
        return g
    gone = set(dim)
    return g.reshape(tuple(1 if i in gone else n for i, n in enumerate(shape)))


def expand_back(g: Any, shape: Ints, dim: Ints, keepdim: bool) -> Any:
    """A reduction's cotangent, broadcast back over the dimensions that were reduced."""
    return expand_to(restore(g, shape, dim, keepdim), shape)


def divisor(shape: Any, dim: Ints) -> int:
    """How many elements are reduced to one."""
    n = 1
    for d in dim:
        n *= shape[d]
    return n


def check_dims(name: str, dim: Any, ndim: int, one: bool = False) -> Ints:
    """The dims of a reduction; TypeError where only one is allowed and several were given."""
    if one and not isinstance(dim, int):
        if hasattr(dim, "__index__"):
            dim = dim.__index__()
        else:
            raise TypeError(f"{name}(): argument 'dim' (position 2) must be int, not {type(dim).__name__}")
    return normalize_dims(dim, ndim)


def isnan(x: Any) -> Any:
    return x != x


def where(condition: Any, a: Any, b: Any) -> Any:
    from .selection import where as choose

    return choose(condition, a, b)


def nonzero_where(out: Any, value: Any) -> Any:
    """`value`, and 0 where `out` is 0."""
    return where(out == 0, 0.0, value)


def refuse_integers(input: Any, dtype: Any) -> None:
    """RuntimeError for a result of whole numbers of what is to be differentiated."""
    if dtype.category < FLOATING and state.grad and isinstance(input, Tensor) and input.requires_grad:
        raise RuntimeError(f"Autograd not support dtype: {dtype.legacy}")


EXACT = "Expected out tensor to have dtype {want_c}, but got {out_c} instead"


def into(name: str, out: Any, r: Any, exact: str = "") -> Any:
    """A computed result put into out=. `exact` is the error where out= must have the result's dtype."""
    from ..core.inplace import check_out, put_out

    if exact and isinstance(out, Tensor) and out.dtype is not r.dtype:
        raise RuntimeError(
            exact.format(
                want=r.dtype.legacy, out_word=out.dtype.legacy, want_c=c_word(r.dtype), out_c=c_word(out.dtype)
            )
        )
    check_out(Named(name), r._a, out, isinstance(r, Tensor) and r.requires_grad)  # type: ignore[arg-type]
    put_out(r._a, out)
    return out


class Named:
    """What `check_out` asks of an op, for a composite."""

    differentiable = True

    def __init__(self, name: str) -> None:
        self.name = name
