"""Choosing elements by a mask, without a branch per element.

`numpy.where` tests every element, and on a mask without a pattern the processor guesses wrong half the time:
four nanoseconds an element. A mask turned into words of all ones or all zeros chooses with two or three
bitwise operations instead, and keeps NaN, infinity and -0.0 as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tidu.arrays.native import over_elements
from tidu.arrays.threads import BIG, BLOCK, big_ufunc, parallel, quiet, rows_of, step_of

__all__ = ["extremum", "keep_where", "relu", "relu_backward", "where"]

_SMALL = 1 << 12  # elements up to which numpy.where is quicker
_ROW = 2048
_ZEROS = {kind: np.zeros(_ROW, kind) for kind in "fd"}
_WORDS: dict[int, Any] = {1: np.dtype(np.int8), 2: np.dtype(np.int16), 4: np.dtype(np.int32), 8: np.dtype(np.int64)}


def _spread(mask: np.ndarray, out: np.ndarray) -> None:
    """Bool to words: -1 (all ones) where True, 0 where False."""
    out[...] = mask.view(np.int8)
    np.negative(out, out)


def _keep(mask: np.ndarray, words: np.ndarray, out: np.ndarray) -> None:
    _spread(mask, out)
    np.bitwise_and(out, words, out)


def keep_where(mask: np.ndarray, a: np.ndarray) -> np.ndarray:
    """`a` where the bool array `mask` is True, 0 elsewhere; one shape."""
    word = _WORDS.get(a.dtype.itemsize)
    if a.size <= _SMALL or word is None or mask.shape != a.shape:
        return np.where(mask, a, np.zeros((), a.dtype))
    (row, mask), back = rows_of(a, mask)
    out = np.empty(row.shape, a.dtype)
    words, out_words = row.view(word), out.view(word)
    _over_blocks(lambda lo, hi: _keep(mask[lo:hi], words[lo:hi], out_words[lo:hi]), row)
    return back(out)


def where(mask: np.ndarray, x: Any, y: Any) -> np.ndarray:
    """`x` where `mask` is True, else `y`. Arrays or numbers of one dtype; shapes broadcast. Source: torch.where."""
    dtype = np.result_type(x, y)
    word = _WORDS.get(dtype.itemsize)
    full = [v for v in (x, y) if isinstance(v, np.ndarray) and v.ndim]
    if mask.size <= _SMALL or word is None or not full or any(v.shape != mask.shape or v.dtype != dtype for v in full):
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
