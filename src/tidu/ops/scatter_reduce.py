"""scatter_reduce: elements combined at the places that an index names along a dimension."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.elementwise import conj
from ..core.forward import transpose_vjp
from ..core.op import Op
from ..core.tensor import Tensor
from ..dtypes import from_numpy
from ..shapes import broadcast_shapes, normalize_dim
from ._dtypes import exact_out
from ._inplace import write_part
from .gather import copied, fitting, gather, ready, scatter, scatter_add
from .piecewise import masked_fill
from .selection import where

__all__ = ["scatter_reduce"]
METHODS = "scatter_reduce scatter_reduce_"

_UFUNCS = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}
_REFUSED = {("mean", "b"), ("amax", "c"), ("amin", "c")}


def identity(reduce: str, dtype: Any) -> Any:
    """What a reduction starts from."""
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    low = reduce == "amax"
    if dtype.kind == "b":
        return not low
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return info.min if low else info.max
    return -np.inf if low else np.inf


def reduce_at(out: Any, where_: Any, src: Any, reduce: str, include_self: bool) -> None:
    """Combine `src` into the flat array `out` at places; without `include_self` what was there does not count."""
    if not include_self:
        out[where_] = identity(reduce, out.dtype)
    low = out.dtype.kind in "fV" and out.dtype.itemsize == 2
    into = out.astype(np.float32) if low else out
    _UFUNCS[reduce].at(into, where_, src.astype(into.dtype, copy=False))
    if reduce == "mean":
        counts = np.bincount(where_, minlength=out.size) + include_self
        counts = np.maximum(counts, 1).astype(into.real.dtype if into.dtype.kind == "c" else into.dtype)
        into[...] = into // counts if into.dtype.kind in "iub" else into / counts
    if low:
        out[...] = into


def _reduce_into(a: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True) -> None:
    if reduce not in _UFUNCS:
        normalize_dim(dim, a.ndim)
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if (reduce, a.dtype.kind) in _REFUSED:
        legacy = from_numpy(a.dtype).legacy
        raise NotImplementedError(f"\"scatter_gather_tensor_cpu_reduce_{reduce}\" not implemented for '{legacy}'")
    where_, s = ready(a, dim, index, src)
    if where_ is not None:
        reduce_at(a.reshape(-1), where_.reshape(-1), np.ascontiguousarray(s).reshape(-1), reduce, include_self)


def cotangents(
    g: Any, input: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool, out: Any
) -> tuple[Any, Any]:
    """The cotangents of `input` and `src`."""

    def back(v: Any) -> Any:
        got = gather(v, dim, index)
        if reduce not in ("sum", "mean"):
            broadcast_shapes(tuple(src.shape), tuple(got.shape))
        return got if src.ndim == got.ndim else got.reshape(tuple(src.shape))

    if reduce == "sum":
        of_input, of_src = g, back(g)
    elif reduce == "mean":
        n = _ones(g) if include_self else _zeros(g)
        n = scatter_add(n, dim, index, _ones(src) if src.dtype == n.dtype else n)
        n = masked_fill(n, n == 0, 1) if hasattr(n, "requires_grad") else np.where(n == 0, 1, n).astype(n.dtype)
        of_input, of_src = g / n, back(g / n)
    elif reduce == "prod":
        of_input, of_src = _of_product(g, input, dim, index, src, include_self, out, back)
    else:
        mine, theirs = input == out, src == back(out)
        shared = g / scatter_add(_as(mine, g), dim, index, _as(theirs, g))
        of_input, of_src = where(mine, shared, 0), where(theirs, back(shared), 0)
    if not include_self:
        of_input = scatter(of_input, dim, index, 0)
    return of_input, of_src


def _of_product(
    g: Any, input: Any, dim: int, index: Any, src: Any, include_self: bool, out: Any, back: Any
) -> tuple[Any, Any]:
    """The product without one factor is the product over it, unless that factor is the only zero."""
    mine = where(input == 0, 1, input)
    of_input = g * conj(scatter_reduce(mine, dim, index, src, "prod", include_self=include_self) / mine)
    zero = src == 0
    zeros_here = back(scatter_add(_zeros(g), dim, index, _as(zero, g)))
    only = zero & (zeros_here == 1)
    others = scatter_reduce(input, dim, index, where(only, 1, src), "prod", include_self=include_self)
    plain = back(g * conj(out)) / conj(where(zero, 1, src))
    return of_input, where(only, back(g * conj(others)), plain)


def _zeros(v: Any) -> Any:
    return v.new_zeros(tuple(v.shape)) if hasattr(v, "new_zeros") else np.zeros_like(v)


def _ones(v: Any) -> Any:
    return v.new_ones(tuple(v.shape)) if hasattr(v, "new_ones") else np.ones_like(v)


def _as(mask: Any, like: Any) -> Any:
    """A mask as zeros and ones of a dtype."""
    return mask.to(like.dtype) if isinstance(mask, Tensor) else np.asarray(mask).astype(like.dtype)


def _pushed(
    input: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool, out: Any, t_input: Any, t_src: Any
) -> Any:
    """The tangent, of as much of `src` as the index takes."""
    part = tuple([slice(0, n) for n in index.shape])
    primals = input, dim, index, src[part], reduce, include_self
    return transpose_vjp(_op, primals, (t_input, None, None if t_src is None else t_src[part]), out)


_op: Any = Op(
    "scatter_reduce",
    copied(_reduce_into),
    vjp={
        "input": lambda g, input, dim, index, src, reduce, include_self, out: cotangents(
            g, input, dim, index, src, reduce, include_self, out
        )[0],
        "src": lambda g, input, dim, index, src, reduce, include_self, out: fitting(
            cotangents(g, input, dim, index, src, reduce, include_self, out)[1], tuple(src.shape), "ScatterReduce"
        ),
    },
    jvp=_pushed,
    tensors=("input", "index", "src"),
)
scatter_reduce = exact_out(_op.call)
scatter_reduce.__doc__ = """A copy of `input` with `src` combined into the places an index names along a dimension.

**Arguments** reduce: "sum", "prod", "mean", "amax" or "amin"; include_self: whether the input's own elements count.
Source: torch.scatter_reduce.
"""


def scatter_reduce_(self: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True) -> Any:
    """`scatter_reduce`, in place. Source: torch.Tensor.scatter_reduce_."""
    return write_part(
        _op,
        (self, dim, index, src, reduce, include_self),
        lambda *args: _reduce_into(*args[:-1], include_self=args[-1]),
    )
