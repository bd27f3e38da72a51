"""Reductions: sums, means, products, extremes, norms."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..core.broadcast import cast, expand_to
from ..core.tensor import Tensor
from ..core.viewing import shaped_op
from ..shapes import normalize_dims

__all__ = ["mean", "sum"]
METHODS = "mean sum"

Ints = tuple[int, ...]
INT64 = np.dtype(np.int64)


def _is_low(dt: Any) -> bool:
    """Whether sums of this dtype are taken in float32: the two-byte floats."""
    return bool(dt.itemsize == 2 and dt.kind in "fV")


def _total(input: Any) -> Any:
    dt = input.dtype
    if dt.kind in "biu":
        return np.asarray(np.add.reduce(input, None, INT64))
    if _is_low(dt):
        return np.asarray(np.add.reduce(input.astype(np.float32), None)).astype(dt)
    if input.flags.c_contiguous:
        return np.asarray(np.add.reduce(input.reshape(-1)))
    return np.asarray(np.add.reduce(input, None))


def _sum(input: Any, dim: Ints, keepdim: bool) -> Any:
    dt = input.dtype
    if dt.kind in "biu":
        return np.asarray(np.add.reduce(input, dim, INT64, None, keepdim))
    if _is_low(dt):
        return np.asarray(np.add.reduce(input.astype(np.float32), dim, None, None, keepdim)).astype(dt)
    return np.asarray(np.add.reduce(input, dim, None, None, keepdim))


def expand_back(g: Any, shape: Ints, dim: Ints, keepdim: bool) -> Any:
    """A reduction's cotangent, broadcast back over the dimensions that were reduced."""
    if not keepdim and shape:
        gone = set(dim)
        g = g.reshape(tuple(1 if i in gone else n for i, n in enumerate(shape)))
    return expand_to(g, shape)


_sum_all = shaped_op("sum", _total, lambda g, shape: expand_to(g, shape))
_sum_dim = shaped_op("sum_dim", _sum, expand_back, node="SumBackward1")


def sum(
    input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None
) -> Any:  # fmt: skip
    """The sum of all elements, or over some dimensions. Integers and bools sum to int64.

    **Arguments** input: any tensor; dim: an int or a tuple of ints; keepdim: keep reduced dimensions with size one;
    dtype: convert the elements to it first. Source: torch.sum.
    """
    if dtype is not None:
        input = cast(input, dtype.np)
    if dim is None and not keepdim:
        r = _sum_all(input)
    else:
        r = _sum_dim(input, normalize_dims(dim, input.ndim), keepdim)
    return r if out is None else _into(out, r)


def _into(out: Any, r: Any) -> Any:
    from ..core.inplace import check_out, put_out

    check_out(sum.op, r._a, out, r.requires_grad)  # type: ignore[attr-defined]
    put_out(r._a, out)
    return out


def _check_mean(input: Any) -> None:
    if input.dtype.category < dtypes.FLOATING:
        what = "Input" if isinstance(input, Tensor) else "Optional"
        raise RuntimeError(
            f"mean(): could not infer output dtype. {what} dtype must be either a floating point or complex dtype. "
            f"Got: {input.dtype.legacy}"
        )


def _mean_all_forward(input: Any) -> Any:
    return (_total(input) / input.dtype.type(input.size)).astype(input.dtype) if input.size else np.full((), np.nan, input.dtype)  # fmt: skip


def _mean_forward(input: Any, dim: Ints, keepdim: bool) -> Any:
    n = 1
    for d in dim:
        n *= input.shape[d]
    if not n:
        return np.asarray(_sum(input, dim, keepdim) * np.nan).astype(input.dtype)
    return (np.asarray(_sum(input, dim, keepdim)) / input.dtype.type(n)).astype(input.dtype)


def _count(shape: Ints, dim: Ints) -> int:
    n = 1
    for d in dim:
        n *= shape[d]
    return n


_mean_all = shaped_op("mean", _mean_all_forward, lambda g, shape: expand_to(g / _size(shape), shape))
_mean_dim = shaped_op(
    "mean_dim",
    _mean_forward,
    lambda g, shape, dim, keepdim: expand_back(g / _count(shape, dim), shape, dim, keepdim),
    node="MeanBackward1",
)


def _size(shape: Ints) -> int:
    n = 1
    for d in shape:
        n *= d
    return n


def mean(
    input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None
) -> Any:  # fmt: skip
    """The mean of all elements, or over some dimensions; NaN where there are none. Source: torch.mean."""
    if dtype is not None:
        input = cast(input, dtype.np)
    _check_mean(input)
    if dim is None and not keepdim:
        r = _mean_all(input)
    else:
        r = _mean_dim(input, normalize_dims(dim, input.ndim), keepdim)
    return r if out is None else _into(out, r)


sum.op, mean.op = _sum_all.op, _mean_all.op  # type: ignore[attr-defined]
