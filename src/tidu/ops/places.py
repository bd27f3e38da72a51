"""Elements by their place in the flattened tensor or by a mask: take, put, masked_select, masked_scatter, nonzero."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..arrays.select import add_rows
from ..core.broadcast import sum_to
from ..core.inplace import apply_inplace, inplace
from ..core.op import Op
from ..core.tensor import Tensor
from ..dtypes import from_numpy
from ..shapes import broadcast_shapes
from ._dtypes import apart_out, exact_out
from .selection import where
from .shape import reshape
from .splitting import unbind

__all__ = [
    "argwhere", "masked_scatter", "masked_select", "nonzero", "nonzero_static", "put", "take",
    "unravel_index",
]  # fmt: skip
METHODS = "* masked_scatter_ put_ -unravel_index"

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
