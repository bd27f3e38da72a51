"""Nested Python data as arrays: the dtype it has, its sizes, and what is wrong with it in PyTorch's words.

Most data are lists of numbers in rows of equal length, which NumPy reads by itself once the types of the leaves are
known. Whatever else there is (tensors and NumPy scalars among the numbers, ragged rows, strings) is walked in Python.
"""

from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np

from .. import dtypes
from ..core.modes import state
from ..core.tensor import Tensor, raw
from ..dtypes import dtype

ndarray = np.ndarray
Array = np.ndarray[Any, Any]
F32 = np.dtype(np.float32)
I64 = np.dtype(np.int64)
_NUMBERS = frozenset({bool, int, float, complex})
_NESTS = frozenset({list, tuple})
_MAX_DIMS = 128
_TYPES = frozenset(d.np for d in dtypes.ALL if d is not dtypes.bfloat16)


def array_of(data: Any, d: dtype | None) -> Array:
    """A fresh array of Python data: a number, or sequences nested to any depth. Errors are PyTorch's."""
    state.record  # noqa: B018  a thread's first look at the state turns NumPy's warnings off
    leaves = _leaf_types(data)
    if leaves is not None:
        want = d if d is not None else _common(leaves)
        try:
            return _read(data, leaves, want)
        except (ValueError, TypeError, OverflowError):
            pass  # ragged rows, mixed depths, too large a number: the walk finds the words for it
    elif data.__class__ in _NESTS:
        a = _uniform(data)
        if a is not None and (d is None or d.np == a.dtype):
            return a
    return _walk(data, d)


def _uniform(data: Any) -> Array | None:
    """A list of NumPy scalars of one type, or of arrays of one type and shape, by NumPy; None for anything else."""
    kinds = set(map(type, data))
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    if issubclass(kind, np.generic):
        a = np.array(data)
        return a if a.dtype in _TYPES else None
    if kind is ndarray and data[0].ndim and data[0].dtype in _TYPES:
        if all(v.shape == data[0].shape and v.dtype == data[0].dtype for v in data):
            _warn_arrays(6)
            return np.stack(data)
    return None


def _leaf_types(data: Any) -> set[type] | None:
    """The types of the numbers in nested lists, None where there is anything else than plain numbers."""
    kind = data.__class__
    if kind in _NUMBERS:
        return {kind}
    if kind not in _NESTS:
        return None
    level = [data]
    while True:
        kinds: set[type] = set()
        for row in level:
            kinds.update(map(type, row))
        if kinds <= _NUMBERS:
            return kinds
        if not kinds <= _NESTS:
            return None
        level = [row for rows in level for row in rows]


def _common(leaves: set[type]) -> dtype:
    if complex in leaves:
        return dtypes.get_default_dtype().to_complex()
    if float in leaves or not leaves:
        return dtypes.get_default_dtype()
    return dtypes.int64 if int in leaves else dtypes.bool_


def _read(data: Any, leaves: set[type], d: dtype) -> Array:
    """Numbers in nested lists, by NumPy."""
    if complex in leaves and d.category != dtypes.COMPLEX and d.category != dtypes.BOOL:
        raise TypeError("the walk says what is wrong")
    if d.category == dtypes.INTEGRAL:
        if float in leaves:
            return integers(np.array(data, np.float64), d)
        return integers(np.array(data, I64), d)
    if d is dtypes.float64 or d.category in (dtypes.BOOL, dtypes.COMPLEX):
        return np.array(data, d.np)
    a = np.array(data, F32)
    return a if d is dtypes.float32 else a.astype(d.np)


def integers(a: Array, d: dtype) -> Array:
    """An array of numbers in an integer type; RuntimeError where one does not fit."""
    if d is dtypes.int64 and a.dtype == I64:
        return a
    info = np.iinfo(d.np)
    low = info.min if info.min else -int(info.max)  # unsigned types wrap what is negative
    if a.size and (a.dtype != I64 or d is not dtypes.uint64):
        if not (a.min() >= low and a.max() <= info.max):
            raise overflow(d)
    return a.astype(I64).astype(d.np) if a.dtype != I64 else a.astype(d.np)


def overflow(d: dtype) -> RuntimeError:
    return RuntimeError(f"value cannot be converted to type {d.name} without overflow")


# ------------------------------------------------------------------ the walk


def _walk(data: Any, d: dtype | None) -> Array:
    sizes = _sizes(data)
    warned = [False]
    inferred = _infer(data, warned)
    if d is None:
        d = inferred
    flat: list[Any] = []
    _flatten(data, sizes, 0, flat)
    store = _STORE[d.category] if d is not dtypes.uint64 else _to_uint64
    values = [store(v) for v in flat]
    return _pack(values, d).reshape(sizes)


def is_sequence(x: Any) -> bool:
    return hasattr(x, "__getitem__") and hasattr(x, "__len__") and not isinstance(x, (dict, Tensor, np.generic))


def _sizes(data: Any) -> list[int]:
    """The sizes, by the first element of each level."""
    sizes: list[int] = []
    x = data
    if isinstance(x, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(x).__name__}'")
    while is_sequence(x) and not (isinstance(x, ndarray) and not x.ndim):
        sizes.append(len(x))
        if len(sizes) > _MAX_DIMS:
            raise ValueError(f"too many dimensions '{type(x).__name__}'")
        if not sizes[-1]:
            break
        x = x[0]
    return sizes


def _infer(x: Any, warned: list[bool]) -> dtype:
    """The common dtype of everything in `x`."""
    if isinstance(x, (ndarray, np.generic)):
        return dtypes.from_numpy(x.dtype)
    if isinstance(x, Tensor):
        return x.dtype
    if isinstance(x, (bool, int, float, complex)):
        return dtypes.of_scalar(x)
    if isinstance(x, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(x).__name__}'")
    if not is_sequence(x):
        raise RuntimeError(f"Could not infer dtype of {type(x).__name__}")
    found: dtype | None = None
    for v in x:
        if isinstance(v, ndarray) and not warned[0]:
            warned[0] = True
            _warn_arrays(7)
        d = _infer(v, warned)
        found = d if found is None else dtypes.promote_types(found, d)
    return dtypes.get_default_dtype() if found is None else found


def _warn_arrays(stacklevel: int) -> None:
    warnings.warn(
        "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list to a "
        "single numpy.ndarray with numpy.array() before converting to a tensor.",
        UserWarning,
        stacklevel=stacklevel,
    )


def _flatten(x: Any, sizes: list[int], dim: int, out: list[Any]) -> None:
    if dim == len(sizes):
        out.append(x)
        return
    try:
        row = list(x)
    except TypeError:
        raise TypeError("not a sequence") from None
    if len(row) != sizes[dim]:
        raise ValueError(f"expected sequence of length {sizes[dim]} at dim {dim} (got {len(row)})")
    for v in row:
        _flatten(v, sizes, dim + 1, out)


def _number(x: Any) -> Any:
    """A 0-d or one-element tensor or array as a Python number, anything else as it is."""
    a = raw(x) if isinstance(x, Tensor) else x
    if isinstance(a, (ndarray, np.generic)):
        if a.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return a.item()
    return a


def _to_int(x: Any) -> int:
    x = _number(x)
    if isinstance(x, float):
        if x != x or x in (float("inf"), float("-inf")):
            return 2**70  # out of every range
        return int(x)
    value = operator.index(x)
    if not -(2**63) <= value < 2**63:
        raise ValueError("Overflow when unpacking long long")
    return value


def _to_uint64(x: Any) -> int:
    x = _number(x)
    value = int(x) if isinstance(x, float) else operator.index(x)
    if not -(2**63) <= value < 2**64:
        raise ValueError("Overflow when unpacking long long")
    return value % 2**64


def _to_float(x: Any) -> float:
    x = _number(x)
    if isinstance(x, (float, int)):
        return float(x)
    raise TypeError(f"must be real number, not {type(x).__name__}")


_STORE = {
    dtypes.BOOL: lambda x: bool(_number(x)),
    dtypes.INTEGRAL: _to_int,
    dtypes.FLOATING: _to_float,
    dtypes.COMPLEX: lambda x: complex(_number(x)),
}


def _pack(values: list[Any], d: dtype) -> Array:
    if d.category != dtypes.INTEGRAL:
        wide = np.array(values, np.float64 if d.category == dtypes.FLOATING else d.np)
        return wide.astype(F32).astype(d.np) if d.itemsize == 2 else wide.astype(d.np, copy=False)
    if d is dtypes.uint64:
        return np.array(values, d.np)
    try:
        return integers(np.array(values, I64), d)
    except OverflowError:
        raise overflow(d) from None


# ------------------------------------------------------------------ NumPy arrays


def check_foreign(a: Array) -> None:
    """Raise what PyTorch raises for arrays that cannot become tensors without copying."""
    dtypes.from_numpy(a.dtype)
    if not a.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte orders "
            "is currently not supported."
        )
    if not a.flags.c_contiguous:
        item = a.itemsize
        for s in a.strides:
            if s < 0:
                raise ValueError(
                    "At least one stride in the given numpy array is negative, and tensors with negative strides are "
                    "not currently supported. (You can probably work around this by making a copy of your array  with "
                    "array.copy().) "
                )
            if s % item:
                raise ValueError(
                    "given numpy array strides not a multiple of the element byte size. Copy the numpy array to "
                    "reallocate the memory."
                )
