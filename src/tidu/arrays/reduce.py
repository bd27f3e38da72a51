"""Sums, means and running sums.

A sum over few elements is a dot product with ones, which costs half of `numpy.add.reduce`. A sum over many is
made of sums over pieces of 4096 elements by einsum's vector loop, which are then summed pairwise: as accurate as
NumPy's pairwise summation, more than twice as fast, and shared between the threads. Along an axis that is not
the last, NumPy adds row to row in sequence, and its error grows with their number; here rows are summed in
pieces too.

float16 and bfloat16 are summed in float32 and rounded once. Integers and bool are summed in int64.

A running sum: NumPy adds one element after the other, and each addition waits for the one before it. Here a row is cut into short
blocks: their sums are added up first, what comes before a block is added to its first element, and the sums within all
blocks are then one product with a triangular matrix of ones. That takes a quarter of the time, and its error grows
with the number of blocks rather than of elements. Such a product spoils a block that holds an infinity or NaN, so
rows whose total isn't finite are added up by NumPy. With llvmlite a loop of vectors does all that at once.

Pieces of rows are shared out between the threads; they depend on the shape alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from .half import converted
from .native import over_rows
from .rows import number, row_sum
from .threads import BIG, one_blas_thread, parallel, quiet, step_of

__all__ = [
    "cumsum", "divided", "mean_all", "mean_axes", "sum_all", "sum_axes",
]  # fmt: skip

_FLOAT32, _INT64 = np.dtype(np.float32), np.dtype(np.int64)
_empty, _div, _einsum = np.empty, np.divide, np.einsum
_add_reduce: Any = np.add.reduce
_ndarray = np.ndarray

_PIECE = 4096  # elements, or rows, of one dot
_ONES: dict[str, np.ndarray] = {"f": np.ones(_PIECE, np.float32), "d": np.ones(_PIECE, np.float64)}
_SHORT = {kind: [ones[:n] for n in range(257)] for kind, ones in _ONES.items()}


def sum_all(a: np.ndarray) -> np.ndarray:
    """The sum of all elements, 0-d; of 0 elements 0. Source: torch.sum."""
    kind = a.dtype.char
    if kind == "f" or kind == "d":
        n = a.size
        if n <= 256:
            out = _empty((), a.dtype)
            a.ravel().dot(_SHORT[kind][n], out)
            if n == 1:
                out += 0  # the sum of -0. alone is 0.
            return out
        return _sum_floats(a.ravel("K"), kind)
    if a.dtype.itemsize == 2 and a.dtype.kind not in "iu":
        with np.errstate(over="ignore"):
            return sum_all(converted(a, _FLOAT32)).astype(a.dtype)
    return np.asarray(_add_reduce(a, None, _INT64 if a.dtype.kind in "iub" else None))


def _sum_floats(row: np.ndarray, kind: str) -> np.ndarray:
    n = row.size
    ones = _ONES[kind]
    if n <= _PIECE:
        out = _empty((), row.dtype)
        row.dot(ones[:n], out)
        return out
    pieces = n // _PIECE
    whole = row[: pieces * _PIECE].reshape(pieces, _PIECE)
    sums = _empty(pieces + 1, row.dtype)
    if n <= BIG:
        _einsum("ij->i", whole, out=sums[:-1])
    else:
        step = -(-pieces // 8)

        def run(i: int) -> None:
            piece = slice(i * step, min(pieces, (i + 1) * step))
            _einsum("ij->i", whole[piece], out=sums[piece])

        parallel(run, -(-pieces // step))
    rest = row[pieces * _PIECE :]
    sums[-1] = rest.dot(ones[: rest.size])
    return np.asarray(_add_reduce(sums))


def mean_all(a: np.ndarray) -> np.ndarray:
    """The mean of all elements, 0-d; of 0 elements NaN. For floating point. Source: torch.mean."""
    if a.dtype.itemsize == 2:
        return mean_all(converted(a, _FLOAT32)).astype(a.dtype)
    out = sum_all(a)
    if not a.size:
        out[...] = np.nan
        return out
    out[()] = out.item() / a.size  # by Python, which is quicker with one number
    return out


def sum_axes(a: np.ndarray, axes: int | Sequence[int], keepdims: bool = False) -> np.ndarray:
    """The sum over an axis, or over several of them; negative ones count from the end. Source: torch.sum."""
    rank = a.ndim
    kind = a.dtype.char
    if rank and (kind == "f" or kind == "d") and a.size <= BIG and a.flags.c_contiguous and type(axes) is tuple:
        few = _few_axes(a, axes, keepdims, _SHORT[kind])
        if few is not None:
            return few
    if type(axes) is int:
        if rank == 2 and a.dtype.char in "fd" and a.flags.c_contiguous and a.size:
            out = _sum_columns(a) if axes % 2 == 0 else _sum_rows(a)
            return out if keepdims and out.ndim == 2 else out[None] if keepdims else out.reshape(-1)
        axes = (axes,)
    axes = tuple(sorted(k % rank if rank else 0 for k in cast(Sequence[int], axes)))
    dtype = a.dtype
    if dtype.itemsize == 2 and dtype.kind not in "iu":
        with np.errstate(over="ignore"):
            return sum_axes(converted(a, _FLOAT32), axes, keepdims).astype(dtype)
    if rank == 0 or not axes:
        return a.astype(_INT64) if dtype.kind in "iub" else a.copy()
    shape = a.shape
    result = tuple(1 if k in axes else n for k, n in enumerate(shape)) if keepdims else None
    if dtype.char in "fd" and a.flags.c_contiguous and a.size:
        first, last = axes[0], axes[-1]
        if last - first == len(axes) - 1:  # neighbours: one axis of an array (outer, n, inner)
            outer, inner = math.prod(shape[:first]), math.prod(shape[last + 1 :])
            n = a.size // (outer * inner)
            if outer == inner == 1:
                out = sum_all(a)
            elif inner == 1:
                out = _sum_rows(a.reshape(outer, n))
            elif outer == 1:
                out = _sum_columns(a.reshape(n, inner))
            elif n <= _PIECE:
                out = _add_reduce(a.reshape(outer, n, inner), 1)
            else:
                out = np.stack([_sum_columns(x) for x in a.reshape(outer, n, inner)])
            return out.reshape(result if result is not None else shape[:first] + shape[last + 1 :])
    return np.asarray(_add_reduce(a, axes, _INT64 if dtype.kind in "iub" else None, None, keepdims))


def _few_axes(a: np.ndarray, axes: tuple[int, ...], keepdims: bool, ones: list[np.ndarray]) -> np.ndarray | None:
    """The sum over all axes, or over the last, or over the first of two, where that is short: without a detour."""
    shape = a.shape
    if len(axes) == len(shape):
        out = sum_all(a)
        return out.reshape((1,) * a.ndim) if keepdims else out
    k = axes[0] if len(axes) == 1 else 0
    n = shape[k]
    if len(axes) != 1 or not 1 < n <= 256:  # the sum of -0. alone is 0.
        return None
    if k == len(shape) - 1 or k == -1:
        out = a.dot(ones[n])
        return out[..., None] if keepdims else out
    if k == 0 and len(shape) == 2:
        out = ones[n].dot(a)
        return out[None] if keepdims else out
    return None


def _sum_rows(a: np.ndarray) -> np.ndarray:
    if a.size <= BIG:
        return row_sum(a)
    out = _empty((len(a), 1), a.dtype)
    step = -(-len(a) // 8)

    def run(i: int) -> None:
        out[i * step : (i + 1) * step] = row_sum(a[i * step : (i + 1) * step])

    with one_blas_thread():
        parallel(run, -(-len(a) // step))
    return out


def _sum_columns(a: np.ndarray) -> np.ndarray:
    """Sums over axis 0 of a C-contiguous matrix."""
    n, width = a.shape
    ones = _ONES[a.dtype.char]
    if n <= _PIECE and a.size <= BIG:
        return ones[:n].dot(a)
    rows = min(_PIECE, max(64, (BIG // 2) // width))  # a piece is no more than fits in the cache
    pieces = -(-n // rows)
    sums = _empty((pieces, width), a.dtype)

    def run(i: int) -> None:
        piece = a[i * rows : (i + 1) * rows]
        ones[: len(piece)].dot(piece, sums[i])

    with one_blas_thread():
        parallel(run, pieces)
    return _add_reduce(sums, 0) if pieces <= _PIECE else _sum_columns(sums)


def mean_axes(a: np.ndarray, axes: int | Sequence[int], keepdims: bool = False) -> np.ndarray:
    """The mean over one or several axes. For floating point. Source: torch.mean."""
    if a.dtype.itemsize == 2:
        return mean_axes(converted(a, _FLOAT32), axes, keepdims).astype(a.dtype)
    out = sum_axes(a, axes, keepdims)
    if not a.size:
        out[...] = np.nan
        return out
    return divided(out, a.size // out.size)


def divided(a: np.ndarray, n: float) -> np.ndarray:
    """a / n, in place."""
    return _div(a, number(n, a.dtype.char), a)


_BLOCK = 16  # elements: the product costs so many multiplications an element
_FEW = 256  # elements up to which nothing pays
_LEAST = 4 * _BLOCK  # elements of a row from which this pays
_SHARED = 1 << 16  # elements from which the threads share
_SPAN = 1 << 17  # elements of a piece, which should fit in the cache
_accumulate = np.add.accumulate

_UPPER = {kind: np.triu(np.ones((_BLOCK, _BLOCK), kind)) for kind in "fd"}
_LOWER = {kind: np.ascontiguousarray(m.T) for kind, m in _UPPER.items()}


def cumsum(a: np.ndarray, axis: int, reverse: bool = False) -> np.ndarray:
    """Running sums along an axis of a floating or complex array; `reverse`: from the end. Source: torch.cumsum."""
    axis %= a.ndim
    if a.size <= _FEW and not reverse:
        return np.ascontiguousarray(_accumulate(a, axis))
    out = np.empty(a.shape, a.dtype)
    n = a.shape[axis]
    inner = math.prod(a.shape[axis + 1 :])
    if not a.size:
        return out
    if inner > 1:
        # in NumPy's accumulate every column is a loop of its own
        if inner * math.prod(a.shape[:axis]) >= 256:
            _by_slices(np.moveaxis(a, axis, 0), np.moveaxis(out, axis, 0), reverse)
        else:
            _plain(a, out, axis, reverse)
        return out
    rows, y = a.reshape(-1, n), out.reshape(-1, n)
    if a.size > _SHARED and n >= _BLOCK and a.dtype.char == "f":
        rows = np.ascontiguousarray(rows)
        if over_rows("cumsum_reverse" if reverse else "cumsum", [rows], y):
            return out
    if n < _LEAST or a.size < 4096 or a.dtype.char not in "fd":
        _plain(rows, y, 1, reverse)
        return out
    step = step_of(len(rows), max(1, _SPAN // n), 1)
    count = -(-len(rows) // step)

    def piece(i: int) -> None:
        at = slice(i * step, (i + 1) * step)
        _by_blocks(rows[at], y[at], reverse)

    if a.size > _SHARED:
        with one_blas_thread():
            parallel(piece, count)
    else:
        with quiet():
            for i in range(count):
                piece(i)
    return out


def _plain(x: np.ndarray, out: np.ndarray, axis: int, reverse: bool) -> None:
    if reverse:
        x, out = np.flip(x, axis), np.flip(out, axis)
    _accumulate(x, axis, None, out)


def _by_slices(x: np.ndarray, out: np.ndarray, reverse: bool) -> None:
    if reverse:
        x, out = x[::-1], out[::-1]
    with quiet():
        out[0] = x[0]
        for i in range(1, len(x)):
            np.add(out[i - 1], x[i], out[i])


def _by_blocks(x: np.ndarray, out: np.ndarray, reverse: bool) -> None:
    rows, n = x.shape
    kind = x.dtype.char
    blocks = -(-n // _BLOCK)
    whole = n == blocks * _BLOCK
    t = np.empty((rows, blocks, _BLOCK), x.dtype)
    flat = t.reshape(rows, -1)
    flat[:, :n] = x
    if not whole:
        flat[:, n:] = 0
    sums = row_sum(t.reshape(-1, _BLOCK)).reshape(rows, blocks)
    if reverse:
        before = _accumulate(sums[:, ::-1], 1)[:, ::-1]
        total, target = before[:, 0], t[:, :-1, -1]
        np.add(target, before[:, 1:], target)
    else:
        before = _accumulate(sums, 1)
        total, target = before[:, -1], t[:, 1:, 0]
        np.add(target, before[:, :-1], target)
    if not np.isfinite(total).all():
        _plain(x, out, 1, reverse)
        return
    triangle = (_LOWER if reverse else _UPPER)[kind]
    if whole:
        np.dot(t.reshape(-1, _BLOCK), triangle, out.reshape(-1, _BLOCK))
    else:
        out[...] = t.reshape(-1, _BLOCK).dot(triangle).reshape(rows, -1)[:, :n]
