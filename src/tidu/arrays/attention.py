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


def _scores(q: np.ndarray, k: np.ndarray, scale: float, mask: Any) -> np.ndarray:
    s = np.matmul(q * q.dtype.type(scale), k.swapaxes(1, 2))
    if mask is not None:
        np.add(s, mask, s)
    return s


def _flat(s: np.ndarray) -> np.ndarray:
    return s.reshape(-1, s.shape[-1])


def forward(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: float, mask: Mask, out: np.ndarray
) -> np.ndarray:
    """Write the result into `out`; return the logarithm of the sum of each row's exponentials, (heads, length, 1).

    A row whose scores are all minus infinity gives zeros.
    """
    heads, length = q.shape[:2]
    lse = np.empty((heads, length, 1), q.dtype)

    def run(lo: int, hi: int) -> None:
        s = _scores(q[lo:hi], k[lo:hi], scale, None if mask is None else mask(lo, hi))
        m = np.maximum.reduce(s, 2, None, None, True, -np.inf)
        if mask is not None:
            m = np.where(np.isneginf(m), q.dtype.type(0), m)
        np.subtract(s, m, s)
        exp_scaled(s, 1, s)
        total = row_sum(_flat(s)).reshape(m.shape)
        np.log(total, lse[lo:hi])
        np.add(lse[lo:hi], m, lse[lo:hi])
        if mask is not None:
            total = np.where(total == 0, q.dtype.type(1), total)
        target = out[lo:hi]
        np.matmul(s, v[lo:hi], out=target)
        np.divide(target, total, target)

    if out.size:
        if k.shape[1]:
            _share(run, heads, length * k.shape[1] * q.itemsize, out.size * k.shape[1])
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
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The cotangents of q, k and v: with p the softmax and s = p * (g v^T - sum(g * out)) * scale,
    s k, s^T q and p^T g.
    """
    gq, gk, gv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    heads, length = q.shape[:2]
    lse = np.where(np.isneginf(lse), q.dtype.type(0), lse)

    def run(lo: int, hi: int) -> None:
        p = _scores(q[lo:hi], k[lo:hi], scale, None if mask is None else mask(lo, hi))
        np.subtract(p, lse[lo:hi], p)
        exp_scaled(p, 1, p)
        part = g[lo:hi]
        np.matmul(p.swapaxes(1, 2), part, out=gv[lo:hi])
        s = np.matmul(part, v[lo:hi].swapaxes(1, 2))
        width = part.shape[-1]
        total = row_dot(
            np.ascontiguousarray(part).reshape(-1, width), np.ascontiguousarray(out[lo:hi]).reshape(-1, width)
        ).reshape(hi - lo, length, 1)
        np.subtract(s, total, s)
        np.multiply(s, p, s)
        np.multiply(s, q.dtype.type(scale), s)
        np.matmul(s, k[lo:hi], out=gq[lo:hi])
        np.matmul(s.swapaxes(1, 2), q[lo:hi], out=gk[lo:hi])

    if out.size and k.shape[1]:
        _share(run, heads, 2 * length * k.shape[1] * q.itemsize, 2 * out.size * k.shape[1])
    return gq, gk, gv
