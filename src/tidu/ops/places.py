"""Elements by their place, flat or under a mask; reductions at the places that an index names, and over segments."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..arrays.select import add_rows
from ..core.broadcast import sum_to
from ..core.elementwise import conj
from ..core.forward import transpose_vjp
from ..core.inplace import apply_inplace, inplace
from ..core.op import Op
from ..core.tensor import Tensor
from ..dtypes import from_numpy
from ..shapes import broadcast_shapes, normalize_dim
from ._dtypes import apart_out, exact_out
from ._hot import write_part
from .arithmetic import not_implemented, zeros
from .gather import copied, fitting, gather, ready, scatter, scatter_add
from .piecewise import masked_fill
from .rearrange import unbind
from .selection import where
from .shape import reshape

__all__ = [
    "argwhere", "masked_scatter", "masked_select", "nonzero", "nonzero_static", "put", "scatter_reduce",
    "segment_reduce", "take", "unravel_index",
]  # fmt: skip
METHODS = "* masked_scatter_ put_ scatter_reduce_ -segment_reduce -unravel_index"

Ints = tuple[int, ...]
ndarray = np.ndarray


# ------------------------------------------------------------------ take and put


def _places(index: Any, n: int, name: str) -> Any:
    """Indices into a flattened tensor of n elements, checked, none negative."""
    if index.dtype != np.int64:
        raise RuntimeError(f"{name}(): Expected a long tensor for index, but got {from_numpy(index.dtype).legacy}")
    if index.size and (index.min() < -n or index.max() >= n):
        if not n:
            words = "tried to take from" if name == "take" else "Tried to put elements into"
            raise IndexError(f"{name}(): {words} an empty tensor")
        bad = int(index[(index < -n) | (index >= n)].flat[0])
        raise IndexError(f"out of range: tried to access index {bad} on a tensor of {n} elements.")
    return np.where(index < 0, index + n, index)


def _take(input: Any, index: Any) -> Any:
    """The elements at places of the flattened tensor, in the shape of `index`."""
    return np.ascontiguousarray(input).reshape(-1)[_places(index, input.size, "take")]


def _untake(input: Any, shape: Ints, index: Any) -> Any:
    n = int(np.prod(shape))
    return add_rows(n, _places(index, n, "take").reshape(-1), input.reshape(-1)).reshape(shape)


take = apart_out(
    exact_out(
        Op(
            "take",
            _take,
            vjp={"input": lambda g, input_shape, index: take_adjoint(g, input_shape, index)},
            jvp={"input": lambda t, index: take(t, index)},
            tensors=("input", "index"),
        ).call,
        lambda have, want: (
            f"take(): self and out expected to have the same dtype, but got self.dtype = {have.legacy} and out.dtype = "
            f"{want.legacy}"
        ),
    )
)
take_adjoint = Op(
    "take_backward",
    _untake,
    vjp={"input": lambda g, index: take(g, index)},
    jvp={"input": lambda t, shape, index: take_adjoint(t, shape, index)},
    tensors=("input", "index"),
    node="PutBackward0",
    out_arg=False,
).call


def _put(input: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """A copy of `input` with `source` put (or added) at places of the flattened tensor."""
    if source.dtype != input.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{from_numpy(input.dtype).legacy} and source.dtype = {from_numpy(source.dtype).legacy}"
        )
    if index.size != source.size:
        if index.dtype == np.int64:
            raise IndexError(
                "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
                f"{source.size}, index.numel() = {index.size}"
            )
    where = _places(index, input.size, "put_").reshape(-1)
    out = np.array(input, order="C")
    flat, values = out.reshape(-1), np.ascontiguousarray(source).reshape(-1)
    if not accumulate:
        flat[where] = values
    elif flat.dtype == np.bool_:
        np.logical_or.at(flat, where, values)
    else:
        np.add.at(flat, where, values)
    like = np.empty_like(input)
    if like.strides != out.strides:
        like[...] = out
        return like
    return out


_put_op = Op(
    "put",
    _put,
    vjp={
        "input": lambda g, index, accumulate: g if accumulate else _cleared(g, index),
        "source": lambda g, index, source_shape: reshape(take(g, index), source_shape),
    },
    jvp={
        "input": lambda t, index, accumulate: t if accumulate else _cleared(t, index),
        "source": lambda t, input, index, accumulate: put(input.new_zeros(tuple(input.shape)), index, t, accumulate),
    },
    tensors=("input", "index", "source"),
    out_arg=False,
)
put = _put_op.call
_cleared = Op(
    "put_clear",
    lambda input, index: _put(input, index, np.zeros(index.shape, input.dtype)),
    vjp={"input": lambda g, index: _cleared(g, index)},
    jvp={"input": lambda t, index: _cleared(t, index)},
    tensors=("input", "index"),
    node="PutBackward0",
    out_arg=False,
).call
put_ = inplace(_put_op, "put_")


# ------------------------------------------------------------------ by a mask


def _masked_select(input: Any, mask: Any) -> Any:
    """The elements where the mask is True, in a vector; they broadcast.

    >>> import tidu as torch
    >>> torch.arange(4).masked_select(torch.tensor([True, False, True, True]))
    tensor([0, 2, 3])
    """
    if mask.dtype != np.bool_:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    if input.shape != mask.shape:
        shape = broadcast_shapes(mask.shape, input.shape)
        input, mask = np.broadcast_to(input, shape), np.broadcast_to(mask, shape)
    return input[mask]


def _unselect(input: Any, shape: Ints, mask: Any) -> Any:
    full = broadcast_shapes(shape, mask.shape)
    out = np.zeros(full, input.dtype)
    out[np.broadcast_to(mask, full)] = input
    return out


masked_select = apart_out(
    exact_out(
        Op(
            "masked_select",
            _masked_select,
            vjp={"input": lambda g, input_shape, mask: sum_to(unselect(g, input_shape, mask), input_shape)},
            jvp={"input": lambda t, mask: masked_select(t, mask)},
            tensors=("input", "mask"),
        ).call,
        lambda have, want: "masked_select(): self and result must have the same scalar type",
    )
)
unselect = Op(
    "masked_select_backward",
    _unselect,
    vjp={"input": lambda g, mask: masked_select(g, mask)},
    jvp={"input": lambda t, shape, mask: unselect(t, shape, mask)},
    tensors=("input", "mask"),
    node="MaskedScatterBackward0",
    out_arg=False,
).call


def _masked_scatter(input: Any, mask: Any, source: Any) -> Any:
    """A copy of `input` in which the places where the mask is True take the elements of `source`, in order."""
    if source.dtype != input.dtype:
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got{from_numpy(input.dtype).legacy} and "
            f"{from_numpy(source.dtype).legacy}"
        )
    if mask.dtype != np.bool_:
        raise RuntimeError(
            f"masked_scatter_ only supports boolean masks, but got mask with dtype {from_numpy(mask.dtype).legacy}"
        )
    shape = broadcast_shapes(input.shape, mask.shape)
    mask = np.broadcast_to(mask, shape)
    count = int(np.count_nonzero(mask))
    if source.size < count:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    out = np.array(np.broadcast_to(input, shape), order="C")
    out[mask] = np.ascontiguousarray(source).reshape(-1)[:count]
    return out


def _first(input: Any, n: int) -> Any:
    return np.concatenate([input, np.zeros(n - input.size, input.dtype)])


_pad = Op(
    "pad_vector",
    _first,
    vjp={"input": lambda g, input_shape: g[: input_shape[0]]},
    jvp={"input": lambda t, n: _pad(t, n)},
    node="ConstantPadNdBackward0",
    out_arg=False,
).call


def _of_source(g: Any, mask: Any, source_shape: Ints) -> Any:
    n = 1
    for d in source_shape:
        n *= d
    return reshape(_pad(masked_select(g, mask), n), source_shape)


_masked_scatter_op = Op(
    "masked_scatter",
    _masked_scatter,
    vjp={"input": lambda g, mask, input_shape: sum_to(where(mask, 0, g), input_shape), "source": _of_source},
    jvp={
        "input": lambda t, mask: where(mask, 0, t),
        "source": lambda t, input, mask: masked_scatter(input.new_zeros(tuple(input.shape)), mask, t),
    },
    tensors=("input", "mask", "source"),
    out_arg=False,
)
masked_scatter = _masked_scatter_op.call


def masked_scatter_(self: Any, mask: Any, source: Any) -> Any:
    """`masked_scatter`, in place."""
    return apply_inplace(_masked_scatter_op, (self, mask, source))


# ------------------------------------------------------------------ where elements are not zero


def _nonzero(input: Any) -> Any:
    if not input.ndim:
        return np.zeros((int(bool(input)), 0), np.int64)
    found = np.empty((input.ndim, 0), np.int64) if not input.size else np.array(input.nonzero(), np.int64)
    return found.T  # stored by dimension, as PyTorch does


_nonzero_op = Op("nonzero", _nonzero)
_plain_nonzero = exact_out(
    _nonzero_op.call,
    lambda have, want: f"nonzero: Expected out tensor to have scalar type Long but got scalar type {want.legacy}",
)


def nonzero(input: Any, *, out: Any = None, as_tuple: bool = False) -> Any:
    """The indices of the elements that are not zero, one a row; with `as_tuple` a tensor for each dimension.

    >>> import tidu as torch
    >>> torch.nonzero(torch.tensor([0, 3, 5]), as_tuple=True)
    (tensor([1, 2]),)
    """
    if out is not None and not isinstance(out, Tensor):
        raise TypeError(f"nonzero(): argument 'out' must be Tensor, not {type(out).__name__}")
    if not as_tuple:
        return _plain_nonzero(input, out=out)
    if not input.ndim:
        input = reshape(input, (1,))
    return unbind(_plain_nonzero(input), 1)


def argwhere(input: Any) -> Any:
    """The indices of the elements that are not zero, one a row."""
    return _plain_nonzero(input)


def _nonzero_static(input: Any, size: int, fill_value: int = -1) -> Any:
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    rows = np.full((size, input.ndim), fill_value, np.int64)
    found = _nonzero(input)[:size]
    rows[: len(found)] = found
    return rows


_nonzero_static_op = Op("nonzero_static", _nonzero_static)


def nonzero_static(input: Any, *, size: int, fill_value: int = -1, out: Any = None) -> Any:
    """`nonzero` with a given number of rows: cut off, or filled up with a value."""
    return _nonzero_static_op.call(input, size, fill_value, out=out)


def unravel_index(indices: Any, shape: Any) -> tuple[Any, ...]:
    """Places in the flattened tensor as coordinates, a tensor for each dimension."""
    if indices.dtype.category != dtypes.INTEGRAL:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if isinstance(shape, int):
        shape = (shape,)
    for n in shape:
        if not isinstance(n, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(n)}")
    if any(n < 0 for n in shape):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(shape)}")
    found: list[Any] = []
    step = 1
    for n in reversed(shape):
        found.append((indices.long() // step) % n)
        step *= n
    return tuple(reversed(found))


_UFUNCS = {"sum": np.add, "mean": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}
_STARTS = {"sum": 0, "mean": 0, "prod": 1, "max": -np.inf, "min": np.inf}


def _of_segments(counts: Any, starts: Any, n: int) -> Any:
    """Which elements of the dimension belong to a segment, and to which: rows, elements and segments."""
    rows, segments = np.nonzero(counts)
    sizes = counts[rows, segments]
    rows, segments, first = (np.repeat(v, sizes) for v in (rows, segments, starts[rows, segments]))
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return rows, first + within, segments


def _segments(lengths: Any, offsets: Any) -> Any:
    """The segments' lengths and starts, a row for each of the dimensions before."""
    given = lengths if lengths is not None else offsets
    table = given.astype(np.int64).reshape(-1, given.shape[-1] if given.size else 0)
    if lengths is not None:
        return table, np.cumsum(table, -1) - table
    return np.diff(table), table[:, :-1]


def _as_rows(a: Any, axis: int) -> Any:
    """Dimensions before the axis, the axis, and dimensions after it."""
    shape = a.shape
    return a.reshape(int(np.prod(shape[:axis], dtype=np.int64)), shape[axis], -1)


def _forward(data: Any, reduce: str, lengths: Any, offsets: Any, axis: int, initial: Any) -> Any:
    wide = data.astype(np.float32) if data.dtype.itemsize == 2 else data
    counts, starts = _segments(lengths, offsets)
    x = _as_rows(wide, axis)
    rows, at, segments = _of_segments(counts, starts, x.shape[1])
    start = _STARTS[reduce] if initial is None else initial
    out = np.full((x.shape[0], counts.shape[1], x.shape[2]), start, wide.dtype)
    _UFUNCS[reduce].at(out, (rows, segments), x[rows, at])
    if reduce == "mean":
        with np.errstate(all="ignore"):
            empty = counts == 0
            divided = out / counts[..., None].astype(out.dtype)
            out = np.where(empty[..., None], out if initial is not None else np.nan, divided)
    shape = (*data.shape[:axis], counts.shape[1], *data.shape[axis + 1 :])
    return out.reshape(shape).astype(data.dtype)


def _backward(g: Any, out: Any, data: Any, reduce: str, lengths: Any, offsets: Any, axis: int, initial: Any) -> Any:
    counts, starts = _segments(lengths, offsets)
    x, y, h = _as_rows(data, axis), _as_rows(out, axis), _as_rows(g, axis)
    rows, at, segments = _of_segments(counts, starts, x.shape[1])
    grad = np.zeros_like(x)
    part = h[rows, segments]
    if reduce == "mean":
        part = part / counts[rows, segments][:, None].astype(part.dtype)
    elif reduce in ("max", "min"):
        chosen = (x[rows, at] == y[rows, segments]) | np.isnan(x[rows, at])
        shares = np.zeros(y.shape, np.int64)
        np.add.at(shares, (rows, segments), chosen)
        part = np.where(chosen, part / np.maximum(shares[rows, segments], 1).astype(part.dtype), 0)
    elif reduce == "prod":
        part = part * _product_of_others(x, y, rows, at, segments, counts, starts, initial)
    grad[rows, at] = part
    return grad.reshape(data.shape)


def _product_of_others(
    x: Any, y: Any, rows: Any, at: Any, segments: Any, counts: Any, starts: Any, initial: Any
) -> Any:
    """By division, and where that is none, by the product itself."""
    own = x[rows, at]
    with np.errstate(all="ignore"):
        others = y[rows, segments] / own
    for k in np.nonzero(((own == 0) | np.isnan(own)).any(-1))[0].tolist():
        row, place, segment = rows[k], at[k], segments[k]
        first = starts[row, segment]
        around = x[row, first : first + counts[row, segment]]
        rest = np.delete(around, place - first, 0).prod(0) * (1 if initial is None else initial)
        others[k] = np.where((own[k] == 0) | np.isnan(own[k]), rest, others[k])
    return others


_segment_backward = Op(
    "_segment_reduce_backward",
    _backward,
    vjp={"g": not_implemented("_segment_reduce_backward")},
    tensors=("g", "out", "data", "lengths", "offsets"),
    out_arg=False,
    register=False,
)
_segment_reduce = Op(
    "segment_reduce",
    _forward,
    vjp={
        "data": lambda g, out, data, reduce, lengths, offsets, axis, initial: _segment_backward.call(
            g, out, data, reduce, lengths, offsets, axis, initial
        )
    },
    jvp={
        "data": lambda t, out, data, reduce, lengths, offsets, axis, initial: _segment_reduce.call(
            t * _segment_backward.call(zeros(out) + 1, out, data, reduce, lengths, offsets, axis, initial),
            "sum", lengths, offsets, axis, 0,
        )
    },
    tensors=("data", "lengths", "offsets"),
    out_arg=False,
)  # fmt: skip


def segment_reduce(
    data: Any, reduce: str, *, lengths: Any = None, indices: Any = None, offsets: Any = None, axis: int = 0,
    unsafe: bool = False, initial: Any = None,
) -> Any:  # fmt: skip
    """The sum, mean, product, maximum or minimum of each segment of a dimension.

    Args:
        data: a floating tensor; reduce: sum, mean, prod, max or min; lengths: how long the segments are, along the last
        of its dimensions, which is `axis` of the data; offsets: where they begin, and where the last one ends;
        indices: not supported, in PyTorch either; unsafe: do not check the lengths; initial: what each segment starts
        from.

    Raises:
        RuntimeError: without lengths and offsets, of negative lengths, and where they do not add up.

    >>> import tidu as torch
    >>> torch.segment_reduce(torch.tensor([1., 2., 3., 4.]), "sum", lengths=torch.tensor([1, 3]))
    tensor([1., 9.])
    """
    if reduce not in _UFUNCS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    axis = normalize_dim(axis, data.ndim)
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    if lengths is None and offsets is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    given, word = (lengths, "lengths") if lengths is not None else (offsets, "offsets")
    if axis != given.ndim - 1:
        raise RuntimeError(f"segment_reduce(): Expected axis to be the last dimension of {word} but got {axis}.")
    if lengths is not None and not unsafe:
        if bool((lengths < 0).any()):
            raise RuntimeError("lengths contains negative value!")
        if bool((lengths.sum(-1) != data.shape[axis]).any()):
            raise RuntimeError(
                "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) "
                "when !unsafe."
            )
    if given.dtype.name not in ("int32", "int64"):
        raise NotImplementedError(f"\"_segment_reduce_{word}_cpu_kernel1\" not implemented for '{given.dtype.legacy}'")
    if not data.dtype.is_floating_point:
        raise NotImplementedError(f"\"_segment_reduce_cpu\" not implemented for '{data.dtype.legacy}'")
    return _segment_reduce.call(data, reduce, lengths, None if lengths is not None else offsets, axis, initial)


_SCATTERED = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}
_REFUSED = {("mean", "b"), ("amax", "c"), ("amin", "c")}


def identity(reduce: str, dtype: Any) -> Any:
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
    _SCATTERED[reduce].at(into, where_, src.astype(into.dtype, copy=False))
    if reduce == "mean":
        counts = np.bincount(where_, minlength=out.size) + include_self
        counts = np.maximum(counts, 1).astype(into.real.dtype if into.dtype.kind == "c" else into.dtype)
        into[...] = into // counts if into.dtype.kind in "iub" else into / counts
    if low:
        out[...] = into


def _reduce_into(a: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True) -> None:
    if reduce not in _SCATTERED:
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
    """`scatter_reduce`, in place."""
    return write_part(
        _op,
        (self, dim, index, src, reduce, include_self),
        lambda *args: _reduce_into(*args[:-1], include_self=args[-1]),
    )
