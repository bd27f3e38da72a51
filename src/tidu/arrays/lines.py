"""Passes over the lines of a matrix that have numbers of their own: what batch, group and instance norm are made of.

A line is a channel of a sample. Large float32 matrices take one native loop a pass where there is llvmlite; else a block
of lines that fits in the L2 cache goes through all the steps before the next one comes. Blocks are shared out between
the threads, and depend on the shape alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tidu.arrays.native import address, kernel, over_pieces
from tidu.arrays.rows import row_dot
from tidu.arrays.threads import BIG, BLOCK, parallel, quiet

__all__ = ["affine", "dots", "moments", "pulled"]

_NATIVE = 1 << 12  # elements from which a native loop pays


def _natively(name: str, matrices: list[np.ndarray], numbers: list[np.ndarray]) -> bool:
    """Run a kernel (*first matrices, *numbers, ..) in the order of its arguments; False if there is none."""
    x = matrices[0]
    if x.dtype.char != "f" or x.size < _NATIVE:
        return False
    function = kernel(name)
    if function is None:
        return False
    rows, n = x.shape
    wide = [address(a) for a in matrices]
    narrow = [address(a) for a in numbers]

    def arguments(first: int, count: int, _: int) -> list[int]:
        return [*[p + 4 * first * n for p in wide], *[p + 4 * first for p in narrow], count, n]

    over_pieces(function, rows, n, arguments, BIG)
    return True


def _over_blocks(x: np.ndarray, piece: Callable[[slice], None]) -> None:
    n = len(x)
    if x.size <= _NATIVE:
        with quiet():
            piece(slice(0, n))
        return
    step = max(1, min(-(-n // 4), BLOCK // max(1, x.shape[1] * x.itemsize)))
    if x.size <= BIG:
        with quiet():
            for i in range(0, n, step):
                piece(slice(i, i + step))
    else:
        parallel(lambda i: piece(slice(i * step, (i + 1) * step)), -(-n // step))


def moments(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each line's mean, and the sum of the squares of the deviations from it."""
    mean, squares = np.empty(len(x), x.dtype), np.empty(len(x), x.dtype)
    if not _natively("line_moments", [x], [mean, squares]):
        count = x.dtype.type(x.shape[1])

        def piece(cut: slice) -> None:
            m = row_dot(x[cut], None) / count
            d = x[cut] - m
            mean[cut], squares[cut] = m[:, 0], row_dot(d, d)[:, 0]

        _over_blocks(x, piece)
    return mean, squares


def affine(x: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """x * scale + shift with a number of each for every line."""
    out = np.empty(x.shape, x.dtype)
    if not _natively("line_affine", [x, out], [scale, shift]):

        def piece(cut: slice) -> None:
            y = out[cut]
            np.multiply(x[cut], scale[cut, None], y)
            np.add(y, shift[cut, None], y)

        _over_blocks(x, piece)
    return out


def dots(g: np.ndarray, x: np.ndarray, mean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each line's sum of g, and of g * (x - mean)."""
    sums, products = np.empty(len(x), x.dtype), np.empty(len(x), x.dtype)
    if not _natively("line_dots", [g, x], [mean, sums, products]):

        def piece(cut: slice) -> None:
            sums[cut] = row_dot(g[cut], None)[:, 0]
            products[cut] = row_dot(g[cut], x[cut] - mean[cut, None])[:, 0]

        _over_blocks(x, piece)
    return sums, products


def pulled(
    g: np.ndarray, x: np.ndarray, mean: np.ndarray, factor: np.ndarray, scale: np.ndarray, shift: np.ndarray
) -> np.ndarray:
    """g * scale - (x - mean) * factor - shift with a number of each for every line."""
    out = np.empty(x.shape, x.dtype)
    if not _natively("line_pulled", [g, x, out], [mean, factor, scale, shift]):

        def piece(cut: slice) -> None:
            d: Any = x[cut] - mean[cut, None]
            np.multiply(d, factor[cut, None], d)
            y = np.multiply(g[cut], scale[cut, None], out[cut])
            np.subtract(y, d, y)
            np.subtract(y, shift[cut, None], y)

        _over_blocks(x, piece)
    return out
