"""Attention, softmax(q k^T * scale + mask) v, head by head: the scores of a few heads fit in the cache and are
never kept.

Backward makes them anew from the saved logarithms of the rows' sums. Heads are shared out between the threads. Arrays
are (heads, length, width); the mask is added to the scores and broadcasts over the heads' index.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tidu.arrays.rows import row_dot, row_sum
from tidu.arrays.threads import BLOCK, exp_scaled, get_num_threads, one_blas_thread, parallel, quiet

__all__ = ["backward", "forward"]

Mask = Callable[[int, int], Any] | None  # the mask of heads lo:hi, or None
_WORK = 1 << 18
# Sums of exponentials between these lost nothing by leaving out the subtraction of the row's maximum.
_LEAST, _MOST = 1e-2, 1e4


def _share(run: Callable[[int, int], None], heads: int, bytes_each: int, work: int) -> None:
    step = max(1, min(BLOCK // 2 // max(1, bytes_each), -(-heads // 4)))
    count = -(-heads // step)

    def piece(i: int) -> None:
        run(i * step, min(heads, (i + 1) * step))

    if count > 1 and work > _WORK and get_num_threads() > 1:
        with one_blas_thread() as held:
            if held:
                parallel(piece, count)
                return
    with quiet():
        for i in range(count):
            piece(i)


_TILE = 128  # queries that go through together where each sees only the keys before it


def _tiles(length: int, others: int, causal: bool, dtype: Any) -> list[tuple[int, int, int, Any]]:
    """(first query, last, how many keys they see, what is added to the scores from the first query's key on).

    That is minus infinity above the diagonal; None where there is nothing to add.
    """
    if not causal:
        return [(0, length, others, None)]
    tiles: list[tuple[int, int, int, Any]] = []
    for first in range(0, length, _TILE):
        last = min(length, first + _TILE)
        keys = min(others, last)
        corner = None
        if keys > first:
            corner = np.where(np.tri(last - first, keys - first, dtype=bool), 0, -np.inf).astype(dtype)
        tiles.append((first, last, keys, corner))
    return tiles


def _scores(q: np.ndarray, k: np.ndarray, scale: float, mask: Any, first: int, corner: Any) -> np.ndarray:
    """q k^T * scale + mask, and the corner."""
    s = np.matmul(q * q.dtype.type(scale), k.swapaxes(1, 2))
    if mask is not None:
        np.add(s, mask, s)
    if corner is not None:
        after = s[:, :, first:]
        np.add(after, corner, after)
    return s


def _part(mask: Mask, lo: int, hi: int, first: int, last: int, keys: int) -> Any:
    """The mask of heads lo:hi for some queries and keys."""
    if mask is None:
        return None
    m = mask(lo, hi)
    rows = m if m.shape[-2] == 1 else m[..., first:last, :]
    return rows if m.shape[-1] == 1 else rows[..., :keys]


def _flat(s: np.ndarray) -> np.ndarray:
    return s.reshape(-1, s.shape[-1])


def forward(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: float, mask: Mask, causal: bool, out: np.ndarray
) -> np.ndarray:
    """Write the result into `out`; return the logarithm of the sum of each row's exponentials, (heads, length, 1).

    A row whose scores are all minus infinity gives zeros. `causal`: query i sees keys 0 to i.
    """
    heads, length = q.shape[:2]
    lse = np.empty((heads, length, 1), q.dtype)
    tiles = _tiles(length, k.shape[1], causal, q.dtype)

    def run(lo: int, hi: int) -> None:
        for first, last, keys, corner in tiles:
            seen = _part(mask, lo, hi, first, last, keys)
            s = _scores(q[lo:hi, first:last], k[lo:hi, :keys], scale, seen, first, corner)
            exp_scaled(s, 1, s)
            total = row_sum(_flat(s)).reshape(hi - lo, last - first, 1)
            sums = lse[lo:hi, first:last]
            if total.min() > _LEAST and total.max() < _MOST:  # as it mostly is; False for NaN
                np.log(total, sums)
            else:
                s = _scores(q[lo:hi, first:last], k[lo:hi, :keys], scale, seen, first, corner)
                m = np.maximum.reduce(s, 2, None, None, True, -np.inf)
                m = np.where(np.isneginf(m), q.dtype.type(0), m)
                np.subtract(s, m, s)
                exp_scaled(s, 1, s)
                total = row_sum(_flat(s)).reshape(m.shape)
                np.log(total, sums)
                np.add(sums, m, sums)
                total = np.where(total == 0, q.dtype.type(1), total)
            target = out[lo:hi, first:last]
            np.matmul(s, v[lo:hi, :keys], out=target)
            np.divide(target, total, target)

    if out.size:
        if k.shape[1]:
            _share(run, heads, tiles[-1][1] * k.shape[1] * q.itemsize // len(tiles), out.size * k.shape[1])
        else:
            out[...] = 0
            lse[...] = -np.inf
    return lse


def backward(
    g: np.ndarray,
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    out: np.ndarray,
    lse: np.ndarray,
    scale: float,
    mask: Mask,
    causal: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The cotangents of q, k and v: with p the softmax and s = p * (g v^T - sum(g * out)) * scale,
    s k, s^T q and p^T g.
    """
    gq, gk, gv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    heads, length = q.shape[:2]
    if mask is not None:
        lse = np.where(np.isneginf(lse), q.dtype.type(0), lse)
    tiles = _tiles(length, k.shape[1], causal, q.dtype)

    def run(lo: int, hi: int) -> None:
        for first, last, keys, corner in tiles:
            rows = slice(first, last)
            seen = _part(mask, lo, hi, first, last, keys)
            p = _scores(q[lo:hi, rows], k[lo:hi, :keys], scale, seen, first, corner)
            np.subtract(p, lse[lo:hi, rows], p)
            exp_scaled(p, 1, p)
            part = g[lo:hi, rows]
            _onto(gv[lo:hi, :keys], p.swapaxes(1, 2), part, first)
            s = np.matmul(part, v[lo:hi, :keys].swapaxes(1, 2))
            width = part.shape[-1]
            total = row_dot(
                np.ascontiguousarray(part).reshape(-1, width),
                np.ascontiguousarray(out[lo:hi, rows]).reshape(-1, width),
            ).reshape(hi - lo, last - first, 1)
            np.subtract(s, total, s)
            np.multiply(s, p, s)
            np.multiply(s, q.dtype.type(scale), s)
            np.matmul(s, k[lo:hi, :keys], out=gq[lo:hi, rows])
            _onto(gk[lo:hi, :keys], s.swapaxes(1, 2), q[lo:hi, rows], first)

    if out.size and k.shape[1]:
        _share(run, heads, 2 * length * k.shape[1] * q.itemsize // len(tiles), 2 * out.size * k.shape[1])
    return gq, gk, gv


def _onto(target: np.ndarray, a: np.ndarray, b: np.ndarray, first: int) -> None:
    """target += a b; the first tile finds zeros there."""
    if first:
        np.add(target, np.matmul(a, b), target)
    else:
        np.matmul(a, b, out=target)
