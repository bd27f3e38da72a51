"""Sums and means.

A sum over few elements is a dot product with ones, which costs half of `numpy.add.reduce`. A sum over many is
made of sums over pieces of 4096 elements by einsum's vector loop, which are then summed pairwise: as accurate as
NumPy's pairwise summation, more than twice as fast, and shared between the threads. Along an axis that is not
the last, NumPy adds row to row in sequence, and its error grows with their number; here rows are summed in
pieces too.

float16 and bfloat16 are summed in float32 and rounded once. Integers and bool are summed in int64.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from tidu.arrays.rows import row_sum
from tidu.arrays.threads import BIG, one_blas_thread, parallel

__all__ = ["mean_all", "mean_axes", "sum_all", "sum_axes"]

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
            return sum_all(a.astype(_FLOAT32)).astype(a.dtype)
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
        return mean_all(a.astype(_FLOAT32)).astype(a.dtype)
    out = sum_all(a)
    if not a.size:
        out[...] = np.nan
        return out
    return _div(out, a.size, out)


def sum_axes(a: np.ndarray, axes: int | Sequence[int], keepdims: bool = False) -> np.ndarray:
    """The sum over an axis, or over several of them; negative ones count from the end. Source: torch.sum."""
    rank = a.ndim
    if type(axes) is int:
        if rank == 2 and a.dtype.char in "fd" and a.flags.c_contiguous and a.size:
            out = _sum_columns(a) if axes % 2 == 0 else _sum_rows(a)
            return out if keepdims and out.ndim == 2 else out[None] if keepdims else out.reshape(-1)
        axes = (axes,)
    axes = tuple(sorted(k % rank if rank else 0 for k in cast(Sequence[int], axes)))
    dtype = a.dtype
    if dtype.itemsize == 2 and dtype.kind not in "iu":
        with np.errstate(over="ignore"):
            return sum_axes(a.astype(_FLOAT32), axes, keepdims).astype(dtype)
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
        return mean_axes(a.astype(_FLOAT32), axes, keepdims).astype(a.dtype)
    out = sum_axes(a, axes, keepdims)
    count = a.size // out.size if out.size else 1
    if not a.size and out.size:
        out[...] = np.nan
        return out
    return _div(out, count, out)
