"""Keys: what stands between the brackets of x[...], and reading, and adding, where tensors of indices and masks point."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays.select import add_rows, add_slices, checked, take_rows
from ..core.tensor import Tensor, tensor_of, type_name
from ..dtypes import bool_
from ..naming import warn
from .shape import reshape
from .storage import empty_in_order
from .windows import select, slice_, unsqueeze

Indices = list[Any]  # one entry a dimension: a tensor or array of integers or bools, or None for all of it
ndarray = np.ndarray
INT64, BOOL = np.dtype(np.int64), np.dtype(np.bool_)


def chain(x: Any, key: Any) -> Any:
    """The views that a plain key, with an Ellipsis in it, asks for, one after the other; IndexError if it is wrong."""
    free = x._a.ndim
    for k in key:
        if k.__class__ is int or k.__class__ is slice:
            free -= 1
    if free < 0:
        raise IndexError
    view, dim = x, 0
    for k in key:
        kind = k.__class__
        if kind is int:
            view = select(view, dim, k)
        elif kind is slice:
            n = view._a.shape[dim]
            first, last, step = k.indices(n)
            if step != 1 or k.start or (k.stop is not None and k.stop < n):
                view = slice_(view, dim, first, last if last > first else first, step)
            dim += 1
        elif k is None:
            view = unsqueeze(view, dim)
            dim += 1
        else:
            dim += free
    return view


def tensors_only(x: Any, key: Any) -> Indices | None:
    """The indices in a key of tensors of int64 and whole slices; None for any other key."""
    indices: Indices = []
    for k in key:
        if k.__class__ is Tensor:
            a = k._a
            if a.dtype is not INT64 or not a.ndim:
                return None
            indices.append(k)
        elif k.__class__ is slice and k.start is None and k.stop is None and k.step is None:
            indices.append(None)
        else:
            return None
    return indices if len(indices) <= x._a.ndim else None


def indexes_one(x: Any, k: Any) -> bool:
    """Whether the tensor `k` as a key takes rows of `x`, or what a mask of no more dimensions leaves."""
    try:
        a = k._a
        dt = a.dtype
        return bool(a.ndim) and ((dt is INT64 and x._a.ndim > 0) or (dt is BOOL and a.ndim <= x._a.ndim))
    except AttributeError:
        return False


def plain_key(key: Any) -> Any:
    """A key that NumPy understands as PyTorch does, and that gives a view; None for any other."""
    if key.__class__ is not tuple:
        key = (key,)
    dots = False
    for k in key:
        kind = k.__class__
        if kind is int or k is None:
            continue
        if kind is slice:
            step = k.step
            if step is None or (step.__class__ is int and step > 0):
                continue
        elif k is Ellipsis and not dots:
            dots = True
            continue
        return None
    return key if dots else (*key, Ellipsis)  # with an Ellipsis NumPy returns a view, never a number


# ------------------------------------------------------------------ the basic part of a key


def basic(x: Any, key: Any) -> tuple[Any, Indices | None]:
    """Apply the basic part of a key; return the view and the tensor indices that are left, if any."""
    if key.__class__ is slice:
        return _apply_slice(x, 0, key, whole=True), None
    keys = [_entry(k) for k in _as_tuple(key)]
    n = len(x.shape)
    free = n - sum([dims_taken(k) for k in keys])
    if free < 0:
        if not n and len(keys) == 1 and isinstance(keys[0], (int, slice)) and not isinstance(key, (Tensor, tuple)):
            if isinstance(keys[0], int):
                raise out_of_range(x, 0, keys[0], 0)
            raise IndexError("slice() cannot be applied to a 0-dim tensor.")
        raise IndexError(f"too many indices for tensor of dimension {n}")
    view, dim = x, 0
    indices: Indices = []

    def index_by(k: Any) -> None:
        indices.extend([None] * (dim - len(indices)))
        indices.append(k)

    for place, k in enumerate(keys):
        kind = k.__class__
        if kind is int:
            try:
                view = select(view, dim, k)
            except IndexError:
                raise out_of_range(view, dim, k, place) from None
        elif kind is slice:
            view = _apply_slice(view, dim, k) if dim < len(view.shape) or not n else view
            dim += 1
        elif k is Ellipsis:
            dim += free  # a second Ellipsis too: what follows lies outside then, as in PyTorch
        elif k is None:
            view = unsqueeze(view, dim)
            dim += 1
        else:
            taken = dims_taken(k)
            if kind is bool or not taken:
                view = unsqueeze(view, dim)
                k = tensor_of(np.array([k])) if kind is bool else reshape(k, (1,))
            index_by(k)
            # A mask of several dimensions is one entry, but stands for as many dimensions.
            indices.extend([_COVERED] * (taken - 1))
            dim += max(taken, 1)
    if not indices:
        return view, None
    if len(indices) > len(view.shape):
        raise IndexError(f"too many indices for tensor of dimension {len(view.shape)} (got {len(indices)})")
    return view, [k for k in indices if k is not _COVERED]


_COVERED = object()


def _as_tuple(key: Any) -> Any:
    """A key as a tuple. A short list that holds more than numbers is taken for one, as NumPy once did."""
    if isinstance(key, tuple):
        return key
    if isinstance(key, (list, str)) and len(key) < 32:
        for k in key:
            if k is None or k is Ellipsis or isinstance(k, (Tensor, slice, Sequence, ndarray)):
                warn(
                    "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in "
                    "pytorch 2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as "
                    "tensor index, x[torch.tensor(seq)], which will result either in an error or a different result"
                )
                return key
    return (key,)


def dims_taken(k: Any) -> int:
    kind = k.__class__
    if kind is int or kind is slice:
        return 1
    if k is None or k is Ellipsis or kind is bool:
        return 0
    return len(k.shape) if k.dtype.category == 0 else 1


def _entry(k: Any) -> Any:
    """One entry of a key: an int, slice, None, Ellipsis, bool, or a tensor of integers or bools."""
    kind = k.__class__
    if kind is slice or k is None or k is Ellipsis or kind is bool:
        return k
    if kind is int:
        return fits(k)
    if isinstance(k, Tensor):
        return index_tensor(k)
    if isinstance(k, (ndarray, Sequence)) and not isinstance(k, (str, bytes)):
        return index_tensor(tensor_of(_numbers(k)))
    if isinstance(k, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(k).__name__}'")
    if isinstance(k, float) or not hasattr(k, "__index__"):
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got "
            f"{type_name(k)})"
        )
    return fits(operator.index(k))


def fits(i: int) -> int:
    """The integer, which 64 bits must hold."""
    if not -(2**63) <= i < 2**63:
        raise ValueError("Overflow when unpacking long long")
    return i


def _numbers(k: Any) -> Any:
    """A sequence of integers, of bools or of sequences of them, as an array."""
    a = k if isinstance(k, ndarray) else np.asarray([v.numpy() if isinstance(v, Tensor) else v for v in k])
    if a.dtype.kind in "bu" and a.size and a.dtype.itemsize < 8:
        return a
    if a.dtype.kind in "US":
        raise TypeError("new(): invalid data type 'str'")
    for v in a.flat if a.dtype.kind in "Ou" else ():
        if not isinstance(v, (int, float, np.number)):
            raise RuntimeError(f"Could not infer dtype of {type(v).__name__}")
        fits(int(v))
    return a.astype(np.int64)


def index_tensor(t: Any) -> Any:
    name = t.dtype.name
    if name == "bool":
        return t
    if name == "uint8":
        warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.")
        return t.to(bool_)
    if name not in ("int64", "int32"):
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    if not len(t.shape) and hasattr(t, "_a"):
        return int(t._a)
    return t


def out_of_range(x: Any, dim: int, i: int, shown: int) -> IndexError:
    """The error for an integer, which stands at place `shown` of the key."""
    shape = x.shape
    fits(i)
    if not len(shape) and not i:
        return IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
            "0-dim tensor to a number"
        )
    size = shape[dim] if dim < len(shape) else 0
    return IndexError(f"index {i} is out of bounds for dimension {shown} with size {size}")


def _apply_slice(x: Any, dim: int, s: slice, whole: bool = False) -> Any:
    """x sliced along a dimension; itself for a slice that takes everything, unless `whole` wants a view of it."""
    if not len(x.shape):
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    start, stop, step = s.start, s.stop, s.step
    if start is None and stop is None and step is None and not whole:
        return x
    step = 1 if step is None else _integer(step)
    if step <= 0:
        raise ValueError("step must be greater than zero" if step else "slice step cannot be zero")
    n = x.shape[dim]
    start = None if start is None else _integer(start)
    stop = None if stop is None else _integer(stop)
    first, last, _ = slice(start, stop).indices(n)
    if step == 1 and not start and (stop is None or stop >= n) and not whole:
        return x
    return slice_(x, dim, first, max(last, first), step)


def _integer(v: Any) -> int:
    if v.__class__ is int:
        return v
    if not hasattr(v, "__index__"):
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    return operator.index(v)


def numpy_key(indices: Indices, shape: Any) -> tuple[Any, ...]:
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
    arrays = list(np.broadcast_arrays(*arrays)) if len(arrays) > 1 else arrays
    number = _row_numbers(arrays, [shape[d] for d in dims])
    if dims == list(range(len(dims))) and (out is None or out.flags.c_contiguous):
        if out is None:
            out = np.zeros(shape, values.dtype)
        width = math.prod(shape[len(dims) :])
        rows = out.reshape(math.prod(shape[: len(dims)]), width)
        add_slices(rows, 0, number.reshape(-1), values.reshape(number.size, width))
        return out
    k = arrays[0].ndim
    first = dims[0] if spread is False else 0
    moved = np.moveaxis(values, tuple(range(first, first + k)), tuple(range(k))) if first else values
    rest = [d for d in range(len(shape)) if d not in dims]
    moved = moved.reshape((number.size, *[shape[d] for d in rest]))
    sums = add_rows(math.prod([shape[d] for d in dims]), number.reshape(-1), moved)
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
        number = number * n + checked(a, n)
    return number.reshape(arrays[0].shape)
