"""Elements chosen by a mask, without a branch per element; rows or elements by index, and adding them there.

`numpy.where` tests every element, and on a mask without a pattern the processor guesses wrong half the time. A mask turned
into words of all ones or all zeros chooses with two or three bitwise operations, and keeps NaN, infinity and -0.0.

The adjoint of rows by index is the product of a sparse matrix (one 1 in each column, in the row that the index names) with
the cotangent. SciPy's kernel for that product adds row after row in order, so repeated indices are summed in one fixed
order, 20 to 100 times faster than by `numpy.add.at`, which small cases use until SciPy has been loaded for a large one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .native import address, kernel, over_elements, share
from .threads import BIG, BLOCK, big_ufunc, get_num_threads, parallel, quiet, rows_of, step_of

_SMALL = 1 << 12  # elements up to which numpy.where is quicker
_ROW = 2048
_ZEROS = {kind: np.zeros(_ROW, kind) for kind in "fd"}
_WORDS: dict[int, Any] = {1: np.dtype(np.int8), 2: np.dtype(np.int16), 4: np.dtype(np.int32), 8: np.dtype(np.int64)}


def _spread(mask: np.ndarray, out: np.ndarray) -> None:
    """Bool to words: -1 (all ones) where True, 0 where False."""
    out[...] = mask.view(np.int8)
    np.negative(out, out)


def where(mask: np.ndarray, x: Any, y: Any) -> np.ndarray:
    """`x` where `mask` is True, else `y`. Arrays or numbers of one dtype; shapes broadcast. Source: torch.where."""
    if mask.size <= _SMALL:
        return np.where(mask, x, y)
    dtype = np.result_type(x, y)
    word = _WORDS.get(dtype.itemsize)
    full = [v for v in (x, y) if isinstance(v, np.ndarray) and v.ndim]
    if word is None or not full or any(v.shape != mask.shape or v.dtype != dtype for v in full):
        return np.where(mask, x, y)
    rows, back = rows_of(*full, mask)
    mask = rows.pop()
    waiting = iter(rows)
    xs, ys = (
        next(waiting).view(word) if isinstance(v, np.ndarray) and v.ndim else np.array([v], dtype).view(word)[0]
        for v in (x, y)
    )
    out = np.empty(mask.shape, dtype)
    out_words = out.view(word)

    def block(lo: int, hi: int) -> None:  # y ^ ((x ^ y) & mask)
        o = out_words[lo:hi]
        xb, yb = (v[lo:hi] if isinstance(v, np.ndarray) else v for v in (xs, ys))
        _spread(mask[lo:hi], o)
        np.bitwise_and(o, np.bitwise_xor(xb, yb), o)
        np.bitwise_xor(o, yb, o)

    _over_blocks(block, out)
    return back(out)


def extremum(ufunc: np.ufunc, a: np.ndarray, bound: float) -> np.ndarray:
    """numpy.maximum or numpy.minimum of a float array and a number; NaN wins.

    NumPy's vector loops for these want two arrays, so the number is spread over a row that stays in the cache. Of 0. and
    -0. it is the element that is kept: loops and processors take the second of equals.
    """
    if a.size <= _SMALL or a.dtype.char not in "fd":
        return big_ufunc(ufunc, a, bound) if a.size > BIG else ufunc(bound, a)
    (row,), back = rows_of(a)
    out = np.empty(row.shape, a.dtype)
    bounds = np.full(_ROW, bound, a.dtype) if bound else _ZEROS[a.dtype.char]

    def block(lo: int, hi: int) -> None:
        middle = lo + (hi - lo) // _ROW * _ROW
        ufunc(bounds, row[lo:middle].reshape(-1, _ROW), out=out[lo:middle].reshape(-1, _ROW))
        ufunc(bounds[: hi - middle], row[middle:hi], out=out[middle:hi])

    _over_blocks(block, row)
    return back(out)


def relu(a: np.ndarray) -> np.ndarray:
    """max(a, 0), NaN kept. Source: torch.relu."""
    return extremum(np.maximum, a, 0)


def relu_backward(g: np.ndarray, out: np.ndarray) -> np.ndarray:
    """`g` where relu's result was not <= 0, else 0."""
    if g.size <= _SMALL or g.shape != out.shape or g.dtype != out.dtype or g.dtype.itemsize not in _WORDS:
        return np.where(out <= 0, np.zeros((), g.dtype), g)
    word = _WORDS[g.dtype.itemsize]
    (row, kept), back = rows_of(g, out)
    result = np.empty(row.shape, g.dtype)
    if row.size > BIG and g.dtype.char == "f" and over_elements("relu_backward", [row, kept], result):
        return back(result)
    words, result_words = row.view(word), result.view(word)

    def block(lo: int, hi: int) -> None:
        o = result_words[lo:hi]
        o[...] = np.less_equal(kept[lo:hi], 0).view(np.int8)
        np.subtract(o, 1, o)
        np.bitwise_and(o, words[lo:hi], o)

    _over_blocks(block, row)
    return back(result)


def _over_blocks(block: Callable[[int, int], Any], row: np.ndarray) -> None:
    n = row.size
    if n <= BIG:
        with quiet():
            block(0, n)
    else:
        step = step_of(n, BLOCK // row.itemsize)
        parallel(lambda i: block(i * step, min(n, (i + 1) * step)), -(-n // step))


_FLOAT32 = np.dtype(np.float32)
_LOAD = 2048  # elements from which loading SciPy pays
_ADDS = "fdFDbhilqBHILQ"  # dtypes the kernel knows and sums as PyTorch does

_FEW = 4096  # indices, up to which nothing is worth cutting
_PIECE = 1 << 16  # indices whose places fit in the cache

_kernels: tuple[Callable[..., Any], Callable[..., Any]] | None = None
_looked = False


def _sparse_kernels(size: int) -> tuple[Callable[..., Any], Callable[..., Any]] | None:
    """The products of a sparse matrix with a vector, and with several."""
    global _kernels, _looked
    if not _looked and size >= _LOAD:
        _looked = True
        try:
            from scipy.sparse._sparsetools import csc_matvec, csc_matvecs

            _kernels = csc_matvec, csc_matvecs
        except ImportError:
            pass
    return _kernels


def checked(index: np.ndarray, n: int) -> np.ndarray:
    """The index as a flat int64 array without negative entries; an entry outside [-n, n) is an IndexError."""
    index = index.reshape(-1).astype(np.int64, copy=False)
    if index.size:
        low, high = int(index.min()), int(index.max())
        if low < -n or high >= n:
            bad = high if high >= n else low
            raise IndexError(f"index {bad} is out of bounds for dimension 0 with size {n}")
        if low < 0:
            index = np.where(index < 0, index + n, index)
    return index


def take_rows(a: np.ndarray, index: np.ndarray) -> np.ndarray:
    """a[index] for an integer array `index` of any shape, along axis 0.

    Raises IndexError where an entry is out of bounds. Source: torch.nn.functional.embedding, torch.index_select.
    """
    row = math.prod(a.shape[1:])
    if index.size * row <= 4 * BIG or get_num_threads() < 2:
        return a.take(index, 0) if a.flags.c_contiguous else a[index]
    shape = index.shape + a.shape[1:]
    flat = checked(index, len(a))
    table = np.ascontiguousarray(a)
    out = np.empty((len(flat),) + a.shape[1:], a.dtype)
    step = -(-len(flat) // (2 * get_num_threads()))

    def run(i: int) -> None:
        piece = slice(i * step, (i + 1) * step)
        # "clip" (the bounds are checked): with "raise" NumPy would fill a copy of `out` first
        table.take(flat[piece], 0, out[piece], "clip")

    parallel(run, -(-len(flat) // step))
    return out.reshape(shape)


def add_rows(n: int, index: np.ndarray, g: np.ndarray) -> np.ndarray:
    """An array of `n` rows of zeros to which row i of `g` is added at row index[i], for all i in order.

    g has shape index.shape + (rest); the result (n, rest). float16 and bfloat16 are summed in float32. Raises
    IndexError where an entry is out of bounds. Source: the gradient of torch.nn.functional.embedding; index_add.
    """
    index_shape = index.shape
    index = checked(index, n)
    rest = g.shape[len(index_shape) :]
    dtype = g.dtype
    if dtype.itemsize == 2 and dtype.kind not in "iu":
        return add_rows(n, index, g.astype(_FLOAT32).reshape((-1,) + rest)).astype(dtype)
    out = np.zeros((n,) + rest, dtype)
    add_slices(out, 0, index, g.reshape((len(index),) + rest))
    return out


def add_slices(a: np.ndarray, dim: int, index: np.ndarray, values: np.ndarray) -> None:
    """The slices of `values` added to those of `a` that `index`, flat and without negative entries, names, in place."""
    if not values.size:
        return
    n, count = a.shape[dim], len(index)
    before, after = math.prod(a.shape[:dim]), math.prod(a.shape[dim + 1 :])
    if not a.flags.c_contiguous or (a.dtype.itemsize == 2 and a.dtype.kind not in "iu"):
        a += np.moveaxis(add_rows(n, index, np.moveaxis(values, dim, 0)), 0, dim)
        return
    flat, values = a.reshape(-1), np.ascontiguousarray(values).reshape(-1)
    kernels = _sparse_kernels(values.size) if a.dtype.char in _ADDS and a.dtype == values.dtype else None
    if before == 1 and after > 1 and kernels is not None:
        kernels[1](n, count, after, np.arange(count + 1), index, np.ones(count, a.dtype), values, flat)
        return
    places = index if after == 1 else (index * after)[:, None] + np.arange(after)
    if before > 1:
        places = places.reshape(-1) + np.arange(0, a.size, n * after)[:, None]
    add_at(flat, places.reshape(-1), values)


def add_at(flat: np.ndarray, places: np.ndarray, values: np.ndarray) -> None:
    """flat[places[i]] += values[i] for all i in order, in place; all contiguous and 1-d, no place negative."""
    kernels = _sparse_kernels(values.size) if flat.dtype.char in _ADDS and flat.dtype == values.dtype else None
    if kernels is None or values.size < 64 or places.dtype.char != "l":
        add = np.logical_or if flat.dtype == np.bool_ else np.add
        add.at(flat, places, values)
    else:  # a matrix with one column
        ends = np.array((0, values.size))
        kernels[0](flat.size, 1, ends, places, values, np.ones(1, flat.dtype), flat)


def _places(index: np.ndarray, dim: int, shape: tuple[int, ...], first: int) -> np.ndarray:
    """The numbers in a flattened array of the elements that index[first:] names along a dimension."""
    if dim == index.ndim - 1 and index.shape[:-1] == shape[:-1]:
        return index + np.arange(0, math.prod(shape), shape[-1]).reshape((*shape[:-1], 1))
    number, step = None, 1
    for d in range(index.ndim - 1, -1, -1):
        part: Any = None
        if d == dim:
            part = index if step == 1 else index * step
        elif index.shape[d] > 1 or (d == 0 and first):
            lo = first * step if d == 0 else 0
            part = np.arange(lo, lo + index.shape[d] * step, step).reshape((-1,) + (1,) * (index.ndim - 1 - d))
        if part is None:
            pass
        elif number is None:
            number = part
        elif number is not index and number.shape == index.shape:
            np.add(number, part, number)
        elif part is not index and part.shape == index.shape:
            number = np.add(number, part, part)
        else:
            number = number + part
        step *= shape[d]
    assert number is not None
    return np.broadcast_to(number, index.shape) if number.shape != index.shape else number


def _pieces(index: np.ndarray) -> list[tuple[int, int]]:
    n = len(index)
    step = max(1, _PIECE * n // index.size)
    return [(i, min(n, i + step)) for i in range(0, n, step)]


def take_along(a: np.ndarray, dim: int, index: np.ndarray) -> np.ndarray:
    """out[i][j][k] = a[index[i][j][k]][j][k] for dim 0; entries are in bounds. Source: torch.gather."""
    index = index.astype(np.int64, copy=False)
    flat = np.ascontiguousarray(a).reshape(-1)
    if 0 < index.size <= _FEW:
        return flat.take(_places(index, dim, a.shape, 0), None, None, "clip")
    out = np.empty(index.shape, a.dtype)
    if not index.size or _by_loops("take_along", a, dim, index, out):
        return out
    pieces = _pieces(index)

    def run(i: int) -> None:
        lo, hi = pieces[i]
        flat.take(_places(index[lo:hi], dim, a.shape, lo), None, out[lo:hi], "clip")

    if index.size < BIG:
        for i in range(len(pieces)):
            run(i)
    else:
        parallel(run, len(pieces))
    return out


def _by_loops(name: str, a: np.ndarray, dim: int, index: np.ndarray, values: np.ndarray) -> bool:
    """A native loop over an index that has the array's shape but for one dimension; False where there is none."""
    shape, found = a.shape, index.shape
    if index.size <= _FEW or a.dtype.char != "f" or values.dtype.char != "f" or not a.flags.c_contiguous:
        return False
    function = kernel(name) if found[:dim] == shape[:dim] and found[dim + 1 :] == shape[dim + 1 :] else None
    if function is None:
        return False
    index, values = np.ascontiguousarray(index), np.ascontiguousarray(values)
    outer, inner = math.prod(shape[:dim]), math.prod(shape[dim + 1 :])
    n, count = shape[dim], found[dim]
    pieces = 1 if index.size < BIG else 4 * get_num_threads()
    x, at, y = address(a), address(index), address(values)
    if outer > 1:
        step = -(-outer // pieces)
        calls = [
            (
                x + 4 * lo * n * inner,
                at + 8 * lo * count * inner,
                y + 4 * lo * count * inner,
                min(step, outer - lo),
                n,
                count,
                inner,
            )
            for lo in range(0, outer, step)
        ]
    else:  # additions to one place stay in order
        step = count if name == "add_along" else -(-count // pieces)
        calls = [
            (x, at + 8 * lo * inner, y + 4 * lo * inner, 1, n, min(step, count - lo), inner)
            for lo in range(0, count, step)
        ]
    share(function, calls)
    return True


def put_along(shape: tuple[int, ...], dim: int, index: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Zeros, but for out[index[i][j][k]][j][k] = values[i][j][k] for dim 0; no place twice, and not many."""
    out = np.zeros(shape, values.dtype)
    out.reshape(-1)[_places(index, dim, shape, 0)] = values
    return out


def add_along(a: np.ndarray, dim: int, index: np.ndarray, values: np.ndarray) -> None:
    """The adjoint, in place: a[index[i][j][k]][j][k] += values[i][j][k] for dim 0; `a` is C-contiguous.

    Source: torch.scatter_add.
    """
    index = index.astype(np.int64, copy=False)
    if _by_loops("add_along", a, dim, index, values):
        return
    flat = a.reshape(-1)
    for lo, hi in _pieces(index) if index.size else ():
        places = np.ascontiguousarray(_places(index[lo:hi], dim, a.shape, lo)).reshape(-1)
        add_at(flat, places, np.ascontiguousarray(values[lo:hi]).reshape(-1))
