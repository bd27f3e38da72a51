"""Slices of one dimension by their numbers: index_select reads them; index_add, _copy, _fill and _reduce write."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.select import add_rows, add_slices, take_rows
from ..core.op import Op
from ..core.promote import Number
from ..core.tensor import Tensor, tensor_of
from ..core.views import strides_of
from ..dtypes import from_numpy
from ..shapes import normalize_dim, size_at
from ._arguments import numpy_names
from ._dtypes import apart_out, exact_out
from ._hot import indexed, write_part
from ._make import warn_once
from .gather import check_index, copied
from .piecewise import checked_number
from .places import cotangents, reduce_at
from .shape import reshape
from .storage import copy_as
from .windows import expand

__all__ = ["index_add", "index_copy", "index_fill", "index_reduce", "index_select"]
METHODS = "* index_add_ index_copy_ index_fill_ index_reduce_"

Ints = tuple[int, ...]
ndarray = np.ndarray
INT64, UINT64 = np.dtype(np.int64), np.dtype(np.uint64)
_greatest = np.maximum.reduce


def _at(dim: int, index: Any) -> tuple[Any, ...]:
    return (*(slice(None),) * dim, index)


def _vector(input: Any, index: Any) -> tuple[Any, Any]:
    return (input if input.ndim else input.reshape(1)), index.reshape(-1)


# ------------------------------------------------------------------ index_select


def _outside(index: Any, n: int, second: bool) -> Exception:
    """The error for an index out of range: PyTorch has other words for the second dimension."""
    if not second:
        return IndexError("index out of range in self")
    bad = index[(index < 0) | (index >= n)][0]
    return RuntimeError(f"INDICES element is out of DATA bounds, id={bad} axis_dim={n}")


def _index_select(input: Any, dim: int, index: Any) -> Any:
    if index.ndim == 1 and index.dtype is INT64 and 0 <= dim < input.ndim and index.size and input.size:
        if _greatest(index.view(UINT64)) >= input.shape[dim]:
            raise _outside(index, input.shape[dim], dim == 1)
        return take_rows(input, index) if dim == 0 and input.flags.c_contiguous else input.take(index, dim)
    d = normalize_dim(dim, input.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if not input.ndim and index.size != 1:
        raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)")
    if index.dtype.kind != "i" or index.dtype.itemsize < 4:
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    a, k = _vector(input, index)
    n = a.shape[d]
    if k.size and not n and a.ndim > 1:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    try:
        check_index(k, n)
    except RuntimeError:
        raise _outside(k, n, a.ndim > 1 and (d == 1 or not a.size)) from None
    if not a.size:
        return np.empty((*a.shape[:d], k.size, *a.shape[d + 1 :]), a.dtype)
    r = take_rows(a, k) if d == 0 and a.flags.c_contiguous else a.take(k, d)
    return r if input.ndim else r.reshape(())


def _index_select_adjoint(input: Any, shape: Ints, dim: int, index: Any) -> Any:
    if not shape:
        return input.reshape(())
    d = dim % len(shape)
    k = index.reshape(-1)
    if d == 0:
        return add_rows(shape[0], k, input)
    out = np.zeros(shape, input.dtype)
    add_slices(out, d, k.astype(np.int64, copy=False), input)
    return out


_index_select_op = Op(
    "index_select",
    _index_select,
    vjp={"input": lambda g, input_shape, dim, index: index_select_adjoint(g, input_shape, dim, index)},
    jvp={"input": lambda t, dim, index: index_select(t, dim, index)},
    tensors=("input", "index"),
)
_index_select_call = apart_out(
    exact_out(
        _index_select_op.call, lambda have, want: "index_select(): self and result must have the same scalar type"
    )
)


def _by_index(input: Any, index: Any, dim: int) -> Any:
    return _index_select_op.call(input, dim, index)


_by_index.op = _index_select_op
_index_select_now = indexed(
    _by_index,
    lambda a, k, dim: _index_select(a, dim, k),
    lambda g, shape, k, dim: (_index_select_adjoint if g.__class__ is ndarray else index_select_adjoint)(
        g, shape, dim, k
    ),
)


def index_select(input: Any, dim: Any = None, index: Any = None, *, out: Any = None, **kw: Any) -> Any:
    """The slices of a dimension that a vector of indices names.

    >>> import tidu as torch
    >>> torch.arange(6).view(2, 3).index_select(1, torch.tensor([2, 0]))
    tensor([[2, 0],
            [5, 3]])
    """
    if out is None and index is not None and not kw:
        return _index_select_now(input, index, dim)
    given = {k: v for k, v in (("dim", dim), ("index", index)) if v is not None}
    return _index_select_call(input, out=out, **given, **kw)


index_select.op = _index_select_op
index_select_adjoint = Op(
    "index_select_backward",
    _index_select_adjoint,
    vjp={"input": lambda g, dim, index: index_select(g, dim, index)},
    jvp={"input": lambda t, shape, dim, index: index_select_adjoint(t, shape, dim, index)},
    tensors=("input", "index"),
    node="IndexAddBackward0",
    out_arg=False,
).call


# ------------------------------------------------------------------ index_add


def _check_source(name: str, input: Any, dim: int, index: Any, source: Any) -> int:
    """The checks that index_add and index_reduce share; returns the dimension."""
    d = normalize_dim(dim, input.ndim)
    if index.ndim > 1:
        raise IndexError(
            f"{name}(): Index is supposed to be a vector, but got dim: {index.ndim} with type: "
            f"{from_numpy(index.dtype).legacy} and size: {list(index.shape)}"
        )
    if index.dtype.kind != "i" or index.dtype.itemsize < 4:
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index but got: {from_numpy(index.dtype).legacy}")
    if source.dtype != input.dtype:
        raise RuntimeError(
            f"{name}(): self ({from_numpy(input.dtype).legacy}) and source ({from_numpy(source.dtype).legacy}) must "
            "have the same scalar type"
        )
    if d and d >= source.ndim:
        raise RuntimeError(f"{name}(): Indexing dim {d} is out of bounds of the source tensor with dim {source.ndim}")
    length = source.shape[d] if source.ndim else 1 if index.size == 1 else size_at(source.shape, d)
    if index.size != length:
        raise RuntimeError(
            f"{name}(): Number of indices ({index.size}) should be equal to source.size(dim): ({length}), for dim: {d}"
        )
    mine = input.shape[:d] + input.shape[d + 1 :]
    if mine != source.shape[:d] + source.shape[d + 1 :] or (input.ndim and not source.ndim):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(input.shape)} source.shape = {list(source.shape)}"
        )
    n = input.shape[d] if input.ndim else 1
    reduces = name == "index_reduce_"
    if reduces and index.size and not n and input.ndim > 1:
        raise IndexError(f"select(): index 0 out of range for tensor of size {list(input.shape)} at dimension {d}")
    try:
        if input.ndim < 2 or input.size or reduces:
            check_index(index, n, d)
    except RuntimeError:
        if input.ndim > 1 and not reduces:
            raise
        raise IndexError("index out of range in self") from None
    return d


def _add_into(input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> None:
    """A copy of `input` in which alpha * source is added to the slices that a vector of indices names."""
    d = _check_source("index_add_", input, dim, index, source)
    if isinstance(alpha, complex) and input.dtype.kind != "c":
        raise RuntimeError("value cannot be converted to type double without overflow")
    if alpha != 1:
        source = source * np.asarray(alpha).astype(input.dtype)
    if not source.size or not input.size:
        return
    a, k = _vector(input, index)
    s = source if source.ndim else source.reshape((1,) * a.ndim)
    add_slices(a, d, k.astype(np.int64, copy=False), s)


def _selected(g: Any, dim: int, index: Any, shape: Ints) -> Any:
    """The cotangent of a source: the slices it went to."""
    got = index_select(g, dim, index)
    return got if tuple(got.shape) == shape else reshape(got, shape)


_index_add_op = Op(
    "index_add",
    copied(_add_into),
    vjp={
        "input": lambda g: g,
        "source": lambda g, dim, index, source_shape, alpha: _scaled(_selected(g, dim, index, source_shape), alpha),
    },
    jvp={
        "input": lambda t: t,
        "source": lambda t, input, dim, index, alpha: index_add(
            input.new_zeros(tuple(input.shape)), dim, index, t, alpha=alpha
        ),
    },
    tensors=("input", "index", "source"),
)
index_add = apart_out(exact_out(_index_add_op.call))


def _scaled(v: Any, alpha: Any) -> Any:
    return v if alpha == 1 else v * (alpha.conjugate() if isinstance(alpha, complex) else alpha)


@numpy_names
def index_add_(self: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """`index_add`, in place."""
    return write_part(_index_add_op, (self, dim, index, source, alpha), _scaled_into)


def _scaled_into(a: Any, dim: int, index: Any, source: Any, alpha: Any) -> None:
    _add_into(a, dim, index, source, alpha=alpha)


# ------------------------------------------------------------------ index_copy


def _copy_into(input: Any, dim: int, index: Any, source: Any) -> None:
    """A copy of `input` in which the slices that a vector of indices names are those of `source`."""
    d = normalize_dim(dim, input.ndim)
    if index.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.ndim})")
    if not source.ndim and index.size != 1:
        raise IndexError(f"index_copy_(): When source is scalar, index should have one element (got {index.size})")
    if source.ndim != input.ndim and source.ndim and input.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
            f"dimensionality ({source.ndim}), destination dimensionality ({input.ndim})"
        )
    if index.dtype != np.int64:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {from_numpy(index.dtype).legacy}")
    if source.dtype != input.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{from_numpy(input.dtype).legacy} and (source) {from_numpy(source.dtype).legacy}"
        )
    theirs, mine = source.shape[:d] + source.shape[d + 1 :], input.shape[:d] + input.shape[d + 1 :]
    if source.ndim and input.ndim and theirs != mine:
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{' '.join(map(str, mine))} at dimension {d} and source slice shape: {' '.join(map(str, theirs))} at "
            f"dimension 0."
        )
    length = source.shape[d] if source.ndim else 1
    if index.size != length:
        raise IndexError(
            f"index_copy_(): Number of indices ({index.size}) should be equal to source.size(dim) ({length})"
        )
    n = input.shape[d] if input.ndim else 1
    if not n and index.size:
        _refuse_empty(input, d, index.size)
    if not input.size:
        return
    if index.size and (index.min() < 0 or index.max() >= n):
        bad = int(index[(index < 0) | (index >= n)].flat[0])
        raise IndexError(f"index_copy_(): index {bad} is out of bounds for dimension {d} with size {n}")
    a, k = _vector(input, index)
    a[_at(d, k)] = source if source.ndim else source.reshape((1,) * a.ndim)


_index_copy_op = Op(
    "index_copy",
    copied(_copy_into),
    vjp={
        "input": lambda g, dim, index: index_fill(g, dim, index, 0),
        "source": lambda g, dim, index, source_shape: _selected(g, dim, index, source_shape),
    },
    jvp={
        "input": lambda t, dim, index: index_fill(t, dim, index, 0),
        "source": lambda t, input, dim, index: index_copy(input.new_zeros(tuple(input.shape)), dim, index, t),
    },
    tensors=("input", "index", "source"),
)
index_copy = apart_out(exact_out(_index_copy_op.call))


@numpy_names
def index_copy_(self: Any, dim: int, index: Any, source: Any) -> Any:
    """`index_copy`, in place."""
    return write_part(_index_copy_op, (self, dim, index, source), _copy_into)


# ------------------------------------------------------------------ index_fill


def _refuse_empty(input: Any, d: int, count: int) -> None:
    """PyTorch fills a window of as many slices as there are indices, for which an empty dimension has no room."""
    sizes, strides = list(input.shape), list(strides_of(input))
    sizes[d], strides[d] = count, 0
    if 0 in sizes:
        return
    item = input.itemsize
    need = item * (1 + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True)))
    raise RuntimeError(
        f"setStorage: sizes {sizes}, strides {strides}, storage offset 0, and itemsize {item} requiring a storage size "
        f"of {need} are out of bounds for storage of size 0"
    )


def _fill_into(input: Any, dim: int, index: Any, value: Any) -> None:
    if index.dtype != np.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    d = normalize_dim(dim, input.ndim)
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    if isinstance(value, ndarray) and value.ndim:
        raise RuntimeError(
            f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s)."
        )
    if isinstance(value, complex) and input.dtype.kind != "c":
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    n = input.shape[d] if input.ndim else 1
    k = index.reshape(-1)
    if not n and k.size:
        _refuse_empty(input, d, k.size)
    outside = (k < -n) | (k >= n)
    if outside.any() and input.size:
        raise IndexError(f"index {int(k[outside][0])} is out of bounds for dimension {d} with size {n}")
    if input.size:
        (input if input.ndim else input.reshape(1))[_at(d, k)] = value


def _index_fill(input: Any, dim: int, index: Any, value: Any) -> Any:
    out = copy_as(input)
    _fill_into(out, dim, index, value)
    return out


def once(index: Any) -> Any:
    return tensor_of(np.unique(index._a)) if hasattr(index, "_a") else np.unique(index)


_fill_number = Op(
    "index_fill",
    _index_fill,
    vjp={"input": lambda g, dim, index: index_fill(g, dim, index, 0)},
    jvp={"input": lambda t, dim, index: index_fill(t, dim, index, 0)},
    tensors=("input", "index"),
    out_arg=False,
)
_fill_tensor = Op(
    "index_fill.tensor",
    _index_fill,
    vjp={
        "input": lambda g, dim, index: index_fill(g, dim, index, 0),
        "value": lambda g, dim, index: index_select(g, dim, once(index)).sum(),
    },
    jvp={
        "input": lambda t, dim, index: index_fill(t, dim, index, 0),
        "value": lambda t, input, dim, index: index_fill(input.new_zeros(tuple(input.shape)), dim, index, t),
    },
    tensors=("input", "index", "value"),
    node="IndexFillBackward1",
    out_arg=False,
)


def _filling(input: Any, value: Any) -> Op:
    if isinstance(value, (Tensor, ndarray)):
        return _fill_tensor
    if isinstance(value, Number) and not isinstance(value, complex) and isinstance(input, Tensor):
        checked_number(value, input.dtype)
    return _fill_number


@numpy_names
def index_fill(input: Any, dim: int, index: Any, value: Any) -> Any:
    """A copy of `input` in which the slices that a vector of indices names are filled with a value."""
    return _filling(input, value).call(input, dim, index, value)


index_fill.op = _fill_number


@numpy_names
def index_fill_(self: Any, dim: int, index: Any, value: Any) -> Any:
    """`index_fill`, in place."""
    return write_part(_filling(self, value), (self, dim, index, value), _fill_into)


# ------------------------------------------------------------------ index_reduce


_KERNELS = {("mean", "b"): "div_floor_cpu", ("amax", "c"): "maximum_cpu", ("amin", "c"): "minimum_cpu"}


def _reduce_into(input: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True) -> None:
    """A copy of `input` into whose slices, named by a vector of indices, those of `source` are combined.

    **Arguments** reduce: "prod", "mean", "amax" or "amin"; include_self: whether the input's own elements count.
    """
    warn_once("index_reduce() is in beta and the API may change at any time.")
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    d = _check_source("index_reduce_", input, dim, index, source)
    kind = input.dtype.kind
    kernel = "index_func_" if input.ndim < 2 and kind in "bc" else _KERNELS.get((reduce, kind))
    if kernel is not None:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{from_numpy(input.dtype).legacy}'")
    if not source.size or not input.size:
        return
    a, k = _vector(input, index)
    s = source if source.ndim else source.reshape((1,) * a.ndim)
    numbers = np.arange(a.size).reshape(a.shape)[_at(d, k)]
    reduce_at(a.reshape(-1), numbers.reshape(-1), np.ascontiguousarray(s).reshape(-1), reduce, include_self)


def _reduce_cotangents(
    g: Any, input: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool, out: Any
) -> tuple[Any, Any]:
    """Those of scatter_reduce, with the vector of indices spread over the slices."""
    shape = tuple(source.shape)
    if shape:
        d = dim % len(shape)
        index = expand_any(reshape(index, (1,) * d + (-1,) + (1,) * (len(shape) - d - 1)), shape)
    else:
        index = reshape(index, ())
    return cotangents(g, input, dim, index, source, reduce, include_self, out)


def expand_any(v: Any, shape: Ints) -> Any:
    return np.broadcast_to(v, shape) if isinstance(v, ndarray) else expand(v, shape)


_index_reduce_op = Op(
    "index_reduce",
    copied(_reduce_into),
    vjp={
        "input": lambda g, input, dim, index, source, reduce, include_self, out: _reduce_cotangents(
            g, input, dim, index, source, reduce, include_self, out
        )[0],
        "source": lambda g, input, dim, index, source, reduce, include_self, out: _reduce_cotangents(
            g, input, dim, index, source, reduce, include_self, out
        )[1],
    },
    tensors=("input", "index", "source"),
)
index_reduce = apart_out(exact_out(_index_reduce_op.call))


def index_reduce_(self: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True) -> Any:
    """`index_reduce`, in place."""
    args = (self, dim, index, source, reduce, include_self)
    return write_part(_index_reduce_op, args, _including_into)


def _including_into(a: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool) -> None:
    _reduce_into(a, dim, index, source, reduce, include_self=include_self)
