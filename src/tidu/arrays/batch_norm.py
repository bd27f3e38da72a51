"""Batch norm: each channel (axis 1) of (n, c, ...) by its mean and deviation over everything else.

The array is taken as (n, c, s). A few samples at a time fit in the L2 cache, go through the steps there, and are shared
out between the threads; the statistics of the pieces are added up in a fixed order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tidu.arrays.rows import row_dot
from tidu.arrays.threads import BIG, BLOCK, parallel, quiet

__all__ = ["affine", "backward", "forward", "grouped_backward", "grouped_forward"]

_FLOAT32 = np.dtype(np.float32)


def _pieces(x: np.ndarray) -> tuple[int, int]:
    """How many samples go through at once, and how many pieces that makes."""
    n, c, s = x.shape
    step = max(1, min(-(-n // 4), BLOCK // max(1, c * s * x.itemsize)))
    return step, -(-n // step)


def _run(x: np.ndarray, piece: Callable[[int, int, int], None]) -> None:
    """piece(number, lo, hi) for all pieces of the samples."""
    step, count = _pieces(x)
    n = len(x)
    if x.size <= BIG:
        with quiet():
            for i in range(count):
                piece(i, i * step, min(n, (i + 1) * step))
    else:
        parallel(lambda i: piece(i, i * step, min(n, (i + 1) * step)), count)


def _folded(a: np.ndarray, work: Any) -> np.ndarray:
    n, c = a.shape[:2]
    return np.ascontiguousarray(a.reshape(n, c, math.prod(a.shape[2:])), work)


def _channel_sums(x: np.ndarray, y: np.ndarray | None) -> np.ndarray:
    """Sums over samples and places of x, or of x * y: (c,)."""
    n, c, s = x.shape
    if s >= 16:
        return row_dot(x.reshape(n * c, s), None if y is None else y.reshape(n * c, s)).reshape(n, c).sum(0)
    if y is not None:
        x = x * y
    return np.ones(n, x.dtype).dot(x.reshape(n, c * s)).reshape(c, s).sum(1)


def forward(
    a: np.ndarray, weight: np.ndarray | None, bias: np.ndarray | None, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(a - mean) * rstd * weight + bias, and mean, rstd and the biased variance, (c,) each.

    Source: torch.native_batch_norm, training.
    """
    work = _FLOAT32 if a.dtype.itemsize == 2 else a.dtype
    x = _folded(a, work)
    n, c, s = x.shape
    count = n * s
    parts = np.zeros((_pieces(x)[1] if n else 1, c), work)

    def sums(i: int, lo: int, hi: int) -> None:
        parts[i] = _channel_sums(x[lo:hi], None)

    if x.size:
        _run(x, sums)
    with quiet():
        mean = (parts.sum(0) / work.type(count)).astype(work, copy=False)
    m = mean[:, None]

    def squares(i: int, lo: int, hi: int) -> None:
        d = x[lo:hi] - m
        parts[i] = _channel_sums(d, d)

    if x.size:
        _run(x, squares)
    with quiet():
        var = (parts.sum(0) / work.type(count)).astype(work, copy=False)
        rstd = (1 / np.sqrt(var + work.type(eps))).astype(work, copy=False)
    return affine(a, mean, rstd, weight, bias), mean, rstd, var


def affine(
    a: np.ndarray, mean: np.ndarray, rstd: np.ndarray, weight: np.ndarray | None, bias: np.ndarray | None
) -> np.ndarray:
    """(a - mean) * (rstd * weight) + bias for each channel."""
    work = _FLOAT32 if a.dtype.itemsize == 2 else a.dtype
    x = _folded(a, work)
    scale = (rstd if weight is None else rstd * weight.astype(work, copy=False))[:, None]
    m = mean.astype(work, copy=False)[:, None]
    b = None if bias is None else bias.astype(work, copy=False)[:, None]
    out = np.empty(x.shape, work)

    def piece(i: int, lo: int, hi: int) -> None:
        y = out[lo:hi]
        np.subtract(x[lo:hi], m, y)
        np.multiply(y, scale, y)
        if b is not None:
            np.add(y, b, y)

    if x.size:
        _run(x, piece)
    return out.reshape(a.shape).astype(a.dtype, copy=False)


def backward(
    g: np.ndarray,
    a: np.ndarray,
    weight: np.ndarray | None,
    mean: np.ndarray,
    rstd: np.ndarray,
    training: bool,
    need: tuple[bool, bool, bool] = (True, True, True),
) -> tuple[Any, Any, Any]:
    """The cotangents of input, weight and bias; None where `need` is False.

    With h = g * weight and z = (a - mean) * rstd: training rstd * (h - mean(h) - z * mean(h * z)), else rstd * h;
    sum(g * z); sum(g).
    """
    work = _FLOAT32 if a.dtype.itemsize == 2 else a.dtype
    x, h = _folded(a, work), _folded(g, work)
    n, c, s = x.shape
    m, r = mean.astype(work, copy=False), rstd.astype(work, copy=False)
    scale = r if weight is None else r * weight.astype(work, copy=False)
    gb: Any = None
    gz: Any = None
    if (training and need[0]) or need[1] or need[2]:
        count = _pieces(x)[1] if n else 1
        sums, dots = np.zeros((count, c), work), np.zeros((count, c), work)

        def reduce(i: int, lo: int, hi: int) -> None:
            sums[i] = _channel_sums(h[lo:hi], None)
            if training or need[1]:
                dots[i] = _channel_sums(h[lo:hi], x[lo:hi] - m[:, None])

        if x.size:
            _run(x, reduce)
        gb, gz = sums.sum(0), dots.sum(0) * r
    gx: Any = None
    if need[0]:
        gx = np.empty(x.shape, work)
        if training:
            k = (gz * r / work.type(n * s))[:, None]
            shift = (gb / work.type(n * s))[:, None]

            def piece(i: int, lo: int, hi: int) -> None:
                y = gx[lo:hi]
                np.subtract(m[:, None], x[lo:hi], y)
                np.multiply(y, k, y)
                np.add(y, h[lo:hi], y)
                np.subtract(y, shift, y)
                np.multiply(y, scale[:, None], y)

        else:

            def piece(i: int, lo: int, hi: int) -> None:
                np.multiply(h[lo:hi], scale[:, None], gx[lo:hi])

        if x.size:
            _run(x, piece)
        gx = gx.reshape(a.shape)
    dt = a.dtype
    outs = gx, gz if need[1] else None, gb if need[2] else None
    return tuple(v if v is None else v.astype(dt, copy=False) for v in outs)  # type: ignore[return-value]


# --- groups of channels -----------------------------------------------------------------------------

# An array of groups, (samples * groups, c * s): c channels of s elements in each. Group i has the channels
# i % groups * c and on.


def _grouped(v: np.ndarray | None, c: int, rows: int, work: Any) -> np.ndarray | None:
    """A number a channel as (rows, c, 1)."""
    if v is None:
        return None
    per = v.astype(work, copy=False).reshape(-1, c)
    return np.broadcast_to(per, (rows // max(1, len(per)), *per.shape)).reshape(rows, c, 1)


def _rows_at_once(x: np.ndarray) -> tuple[int, int]:
    n = len(x)
    step = max(1, min(-(-n // 4), BLOCK // max(1, x.shape[1] * x.itemsize)))
    return step, -(-n // step)


def _over_rows(x: np.ndarray, piece: Callable[[slice], None]) -> None:
    step, count = _rows_at_once(x)

    def run(i: int) -> None:
        piece(slice(i * step, (i + 1) * step))

    if x.size <= BIG:
        with quiet():
            for i in range(count):
                run(i)
    else:
        parallel(run, count)


def grouped_forward(
    x: np.ndarray, c: int, weight: np.ndarray | None, bias: np.ndarray | None, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(x - mean) * rstd * weight + bias for each row, c channels long; and mean and rstd, (rows, 1) each.

    Source: torch.native_group_norm.
    """
    rows, n = x.shape
    work = x.dtype
    out = np.empty((rows, c, n // c if c else 0), work)
    mean, rstd = np.empty((rows, 1), work), np.empty((rows, 1), work)
    w, b = _grouped(weight, c, rows, work), _grouped(bias, c, rows, work)

    def piece(s: slice) -> None:
        y = out[s].reshape(-1, n)
        m = row_dot(x[s], None) / work.type(n)
        np.subtract(x[s], m, y)
        r = 1 / np.sqrt(row_dot(y, y) / work.type(n) + work.type(eps))
        mean[s], rstd[s] = m, r
        z = out[s]
        if w is None:
            np.multiply(y, r, y)
        else:
            np.multiply(z, w[s] * r[:, :, None], z)
        if b is not None:
            np.add(z, b[s], z)

    if x.size:
        _over_rows(x, piece)
    else:
        mean[...], rstd[...] = 0 if n else np.nan, np.nan
    return out, mean, rstd


def grouped_backward(
    g: np.ndarray,
    x: np.ndarray,
    c: int,
    groups: int,
    weight: np.ndarray | None,
    mean: np.ndarray,
    rstd: np.ndarray,
    need: tuple[bool, bool, bool] = (True, True, True),
) -> tuple[Any, Any, Any]:
    """The cotangents of the rows, and of weight and bias; None where `need` is False.

    From sum(g) and sum(g * (x - mean)) of each channel, of which those of the rows are made as well.
    """
    rows, n = x.shape
    work = x.dtype
    s = n // c if c else 0
    sums, dots = np.zeros((rows, c), work), np.zeros((rows, c), work)
    w = _grouped(weight, c, rows, work)
    gx = np.empty((rows, c, s), work) if need[0] else None

    def piece(cut: slice) -> None:
        part = g[cut].reshape(-1, s)
        d = x[cut] - mean[cut]
        count = len(d)
        sums[cut] = row_dot(part, None).reshape(count, c)
        dots[cut] = row_dot(part, d.reshape(-1, s)).reshape(count, c)
        if gx is None:
            return
        r = rstd[cut]
        weights = np.ones((count, c), work) if w is None else w[cut][:, :, 0]
        # r * (h - mean(h) - z * mean(h * z)) with h = g * weight, z = (x - mean) * r
        h = (sums[cut] * weights).sum(1, keepdims=True) / work.type(n)
        hz = (dots[cut] * weights).sum(1, keepdims=True) * r * r * r / work.type(n)
        y = gx[cut]
        np.multiply(g[cut].reshape(y.shape), (weights * r)[:, :, None], y)
        np.multiply(d, hz, d)
        np.subtract(y, d.reshape(y.shape), y)
        np.subtract(y, (h * r)[:, :, None], y)

    if x.size:
        _over_rows(x, piece)
    gw = (dots * rstd).reshape(-1, groups * c).sum(0) if need[1] else None
    return gx, gw, sums.reshape(-1, groups * c).sum(0) if need[2] else None
