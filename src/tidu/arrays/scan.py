"""Running sums.

NumPy adds one element after the other, and each addition waits for the one before it. Here a row is cut into short
blocks: their sums are added up first, what comes before a block is added to its first element, and the sums within all
blocks are then one product with a triangular matrix of ones. That takes a quarter of the time, and its error grows
with the number of blocks rather than of elements. Such a product spoils a block that holds an infinity or NaN, so
rows whose total isn't finite are added up by NumPy. With llvmlite a loop of vectors does all that at once.

Pieces of rows are shared out between the threads; they depend on the shape alone.
"""

from __future__ import annotations

import math

import numpy as np

from tidu.arrays.native import over_rows
from tidu.arrays.rows import row_sum
from tidu.arrays.threads import one_blas_thread, parallel, quiet, step_of

__all__ = ["cumsum"]

_BLOCK = 16  # elements: the product costs so many multiplications an element
_LEAST = 4 * _BLOCK  # elements of a row from which this pays
_SHARED = 1 << 16  # elements from which the threads share
_PIECE = 1 << 17  # elements of a piece, which should fit in the cache
_accumulate = np.add.accumulate

_UPPER = {kind: np.triu(np.ones((_BLOCK, _BLOCK), kind)) for kind in "fd"}
_LOWER = {kind: np.ascontiguousarray(m.T) for kind, m in _UPPER.items()}


def cumsum(a: np.ndarray, axis: int, reverse: bool = False) -> np.ndarray:
    """Running sums along an axis of a floating or complex array; `reverse`: from the end. Source: torch.cumsum."""
    axis %= a.ndim
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
    step = step_of(len(rows), max(1, _PIECE // n), 1)
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
