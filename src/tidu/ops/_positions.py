"""Where tensors of indices and masks point, over arrays: reading, and adding, at those places."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.gather import add_rows, take_rows
from ._strides import empty_in_order

Indices = list[Any]  # one entry a dimension: an array of integers or bools, or None for all of it


def numpy_key(indices: Indices, shape: Any) -> tuple[Any, ...]:
    """The indices as NumPy takes them."""
    return tuple([slice(None) if k is None else k for k in indices])


def refuse_index(indices: Indices, shape: Any, where: bool = True) -> None:
    """Raise PyTorch's IndexError for indices that are wrong: in their shapes, and, with `where`, in where they point.

    Where nothing would be read or written it does not matter where they point.
    """
    arrays: list[Any] = []
    sizes: list[int] = []
    at, rest = 0, 1
    for k in indices:
        taken = 1
        if k is not None and k.dtype == np.bool_:
            taken = k.ndim
            for i, n in enumerate(k.shape):
                if n != shape[at + i]:
                    raise IndexError(
                        f"The shape of the mask {list(k.shape)} at index {i} does not match the shape of the indexed "
                        f"tensor {list(shape)} at index {at + i}"
                    ) from None
            arrays += k.nonzero()
            sizes += shape[at : at + taken]
        elif k is not None:
            arrays.append(k)
            sizes.append(shape[at])
        else:
            rest *= shape[at]
        at += taken
    for n in shape[at:]:
        rest *= n
    try:
        common = np.broadcast_arrays(*arrays)
    except ValueError:
        raise IndexError(
            "shape mismatch: indexing tensors could not be broadcast together with shapes "
            + ", ".join(str(list(k.shape)) for k in arrays)
        ) from None
    if 0 in sizes and common[0].size:
        raise IndexError("index is out of bounds for dimension with size 0") from None
    if not rest or not where:
        return
    outside = [((k < -n) | (k >= n)).reshape(-1) for k, n in zip(common, sizes, strict=True)]
    first = int(np.argmax(np.logical_or.reduce(outside))) if common[0].size else 0
    for i, (k, n, wrong) in enumerate(zip(common, sizes, outside, strict=True)):
        if wrong.size and wrong[first]:
            raise IndexError(f"index {k.flat[first]} is out of bounds for dimension {i} with size {n}") from None


def take(a: Any, k: Any, dim: int) -> Any:
    """What one array of indices, or a mask, takes out of a dimension (a mask: out of as many as it has)."""
    if not a.size or not k.size:
        return nothing([None] * dim + [k], a)
    try:
        if k.dtype == np.bool_:
            return laid_out(a[(*(slice(None),) * dim, k)], a, [None] * dim + [k]) if dim else a[k]
        if dim == 0 and a.flags.c_contiguous:
            return np.asarray(take_rows(a, k))
        r = a.take(k, dim)
        return r if a.flags.c_contiguous else laid_out(r, a, [None] * dim + [k])
    except IndexError:
        refuse_index([None] * dim + [k], a.shape)
        raise


def laid_out(r: Any, a: Any, indices: Indices) -> Any:
    """What indices take out of `a`, its dimensions in memory in the order that they have in `a`."""
    if a.flags.c_contiguous or r.ndim < 2:
        return np.ascontiguousarray(r) if r.ndim else r
    dims, _, spread = _integer_indices(indices)
    width = r.ndim - (a.ndim - len(dims))
    rest = [s for d, s in enumerate(a.strides) if d not in dims]
    at = 0 if spread else sum(d < dims[0] for d in range(a.ndim) if d not in dims)
    out = empty_in_order(r.shape, [*rest[:at], *[0] * width, *rest[at:]], r.dtype)
    if out.strides == r.strides:
        return r
    out[...] = r
    return out


def nothing(indices: Indices, a: Any) -> Any:
    """What indices take where there is nothing to take, checked."""
    refuse_index(indices, a.shape)
    return np.empty(taken_shape(indices, a.shape), a.dtype)


def taken_shape(indices: Indices, shape: Any) -> tuple[int, ...]:
    """The shape of what indices take, wherever they point."""
    key = [k if k is None or k.dtype == np.bool_ else np.zeros_like(k) for k in indices]
    return np.broadcast_to(np.empty((), bool), shape)[numpy_key(key, shape)].shape


def accumulate_at(out: Any, shape: tuple[int, ...], indices: Indices, values: Any) -> Any:
    """out[indices] += values, where a place named several times gets the sum; `out` None stands for zeros.

    The indexed dimensions are moved to the front and made one, so that what remains is adding rows by their numbers.
    """
    if not values.size:
        return np.zeros(shape, values.dtype) if out is None else out
    dims, arrays, spread = _integer_indices(indices)
    only_mask = len(dims) and sum(k is not None for k in indices) == 1 and _is_mask(indices)
    if only_mask:  # no place twice
        if out is None:
            out = np.zeros(shape, values.dtype)
            out[numpy_key(indices, shape)] = values
        else:
            out[numpy_key(indices, shape)] += values
        return out
    if dims == [0] and out is None and len(shape) > 1:
        return add_rows(shape[0], arrays[0].reshape(-1), values.reshape((arrays[0].size, *shape[1:])))
    arrays = list(np.broadcast_arrays(*arrays)) if len(arrays) > 1 else arrays
    number = _row_numbers(arrays, [shape[d] for d in dims])
    k = arrays[0].ndim
    first = dims[0] if spread is False else 0
    moved = np.moveaxis(values, tuple(range(first, first + k)), tuple(range(k))) if first else values
    rest = [d for d in range(len(shape)) if d not in dims]
    rows = 1
    for d in dims:
        rows *= shape[d]
    moved = moved.reshape((number.size, *[shape[d] for d in rest]))
    if moved.size == number.size:  # single elements, which NumPy adds fast
        sums = np.zeros(rows, moved.dtype)
        np.add.at(sums, number.reshape(-1), np.ascontiguousarray(moved).reshape(-1))
    else:
        sums = add_rows(rows, number.reshape(-1), np.ascontiguousarray(moved))
    sums = sums.reshape([shape[d] for d in dims] + [shape[d] for d in rest])
    back = np.argsort(dims + rest)
    sums = sums.transpose(back)
    if out is None:
        return np.ascontiguousarray(sums) if sums.ndim else sums
    out += sums.astype(out.dtype, copy=False)
    return out


def _is_mask(indices: Indices) -> bool:
    return any(k is not None and k.dtype == np.bool_ for k in indices)


def _integer_indices(indices: Indices) -> tuple[list[int], list[Any], bool]:
    """The indexed dimensions, an integer array for each, and whether slices lie between them."""
    dims: list[int] = []
    arrays: list[Any] = []
    at = 0
    for k in indices:
        if k is None:
            at += 1
            continue
        parts: Any = k.nonzero() if k.dtype == np.bool_ else (k,)
        for p in parts:
            dims.append(at)
            arrays.append(p)
            at += 1
    return dims, arrays, dims != list(range(dims[0], dims[0] + len(dims)))


def _row_numbers(arrays: Any, sizes: list[int]) -> Any:
    number: Any = 0
    for a, n in zip(arrays, sizes, strict=True):
        if a.size and ((a < -n) | (a >= n)).any():
            raise IndexError(
                f"index {int(a[(a < -n) | (a >= n)].flat[0])} is out of bounds for dimension 0 with size {n}"
            )
        number = number * n + np.where(a < 0, a + n, a)
    return np.asarray(number, np.int64)
