"""Resampling along one axis: each output element is a weighted sum of a few input elements, its taps.

`nearest`, `linear`, `cubic`, `antialiased` and `evenly` say which, for n elements to m; `apply` takes the sums, and with
the taps turned round spreads a cotangent back. Source: torch.nn.functional.interpolate, adaptive_avg_pool2d.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property, lru_cache, reduce
from typing import Any

import numpy as np

from .matmul import mm

__all__ = ["antialiased", "apply", "cubic", "evenly", "linear", "nearest", "product", "resample", "same"]

_FEW = 1 << 12  # products up to which a matrix is quicker than a call a tap
_PIECE = 1 << 21  # multiplications, for which BLAS does not wake its threads
_BAND = 16  # elements a tap up to which it is along the last axis, of which one taken alone costs much


class Taps:
    """Which of n elements, (m, k), and their weights; None for ones."""

    def __init__(self, n: int, index: np.ndarray, weight: Any):
        self.n, self.index, self.weight = n, index, weight

    @cached_property
    def matrix(self) -> np.ndarray:
        """(n, m)."""
        m = len(self.index)
        matrix = np.zeros((self.n, m), np.float32 if self.weight is None else self.weight.dtype)
        np.add.at(matrix, (self.index, np.arange(m)[:, None]), 1 if self.weight is None else self.weight)
        return matrix

    @cached_property
    def back(self) -> Taps:
        """The taps of the adjoint."""
        weight = np.ones(self.index.shape, np.float32) if self.weight is None else self.weight
        out, k = weight.nonzero()
        rows = self.index[out, k]
        order = rows.argsort(kind="stable")
        count = np.bincount(rows, minlength=self.n)
        place = np.arange(len(rows)) - np.repeat(count.cumsum() - count, count)
        rows, out, k = rows[order], out[order], k[order]
        index = np.zeros((self.n, max(1, int(count.max()))), np.int64)
        index[rows] = out[:, None]  # what a row has too many is its own, with weight 0
        index[rows, place] = out
        spread = np.zeros(index.shape, weight.dtype)
        spread[rows, place] = weight[out, k]
        return Taps(len(self.index), index, spread)


def _step(n: int, m: int, scale: float | None, corners: bool, real: Any) -> Any:
    """How far apart the output elements lie, in input elements."""
    if corners:
        return real(n - 1) / real(m - 1) if m > 1 else real(0)
    return real(1 / scale) if scale is not None and scale > 0 else real(n) / real(m)


@lru_cache(64)
def same(n: int) -> np.ndarray:
    """The elements themselves."""
    return np.arange(n)[:, None]


@lru_cache(64)
def nearest(n: int, m: int, scale: float | None, exact: bool) -> Taps:
    """The element below i * step, or with `exact` the one that holds the middle, (i + 1/2) * step."""
    real = np.float32
    step = real(1 / scale) if scale is not None and scale > 0 else real(n) / real(m)
    i = np.arange(m, dtype=real)
    at = np.floor((i + real(0.5)) * step if exact else i * step)
    return Taps(n, np.minimum(at.astype(np.int64), n - 1)[:, None], None)


@lru_cache(64)
def linear(n: int, m: int, scale: float | None, corners: bool, real: Any) -> Taps:
    """The two neighbours, by their nearness; the element itself where the length stays, whatever the scale."""
    if n == m:
        return Taps(n, same(n), None)
    step = _step(n, m, scale, corners, real)
    i = np.arange(m, dtype=real)
    at = i * step if corners else np.maximum((i + real(0.5)) * step - real(0.5), 0)
    low = np.minimum(at.astype(np.int64), n - 1)
    t = np.clip(at - low.astype(real), 0, 1).astype(real)
    return Taps(n, np.stack([low, np.minimum(low + 1, n - 1)], 1), np.stack([1 - t, t], 1))


CUBIC = -0.75  # the slope that Keys' convolution has at 1


def cubic_weights(t: Any) -> list[Any]:
    """The weights of the elements at -1, 0, 1, 2 for a place 0 <= t < 1 between 0 and 1."""
    a = CUBIC

    def near(x: Any) -> Any:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Any) -> Any:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


@lru_cache(64)
def cubic(n: int, m: int, scale: float | None, corners: bool, real: Any) -> Taps:
    """The four neighbours, by Keys' cubic convolution."""
    step = _step(n, m, scale, corners, real)
    i = np.arange(m, dtype=real)
    at = i * step if corners else (i + real(0.5)) * step - real(0.5)
    low = np.floor(at)
    index = low.astype(np.int64)[:, None] + np.arange(-1, 3)
    weights = np.stack(cubic_weights(at - low), 1).astype(real)
    return Taps(n, np.clip(index, 0, n - 1), weights)


_HALF_WIDTH = {"linear": 1.0, "cubic": 2.0, "lanczos": 3.0}


def _filter(kind: str, x: Any) -> Any:
    x = np.abs(x)
    if kind == "linear":
        return np.maximum(1 - x, 0)
    if kind == "cubic":
        a = -0.5
        near, far = ((a + 2) * x - (a + 3)) * x * x + 1, ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return np.where(x < 1, near, np.where(x < 2, far, 0))
    return np.where(x < 3, np.sinc(x) * np.sinc(x / 3), 0)


@lru_cache(64)
def antialiased(n: int, m: int, scale: float | None, corners: bool, real: Any, kind: str) -> Taps:
    """All elements under a filter, which is as wide as the step where that exceeds one; themselves where the length
    stays, whatever the scale."""
    if n == m:
        return Taps(n, same(n), None)
    step = float(_step(n, m, scale, corners, real))
    wide = max(step, 1.0)
    support = _HALF_WIDTH[kind] * wide
    center = step * (np.arange(m) + 0.5)
    first = np.maximum((center - support + 0.5).astype(np.int64), 0)
    stop = np.minimum((center + support + 0.5).astype(np.int64), n)
    k = max(1, math.ceil(support) * 2 + 1)
    place = first[:, None] + np.arange(k)
    w = _filter(kind, (place - center[:, None] + 0.5) / wide) * (place < stop[:, None])
    total = w.sum(1, keepdims=True)
    w = np.where(total == 0, w, w / np.where(total == 0, 1, total))
    return Taps(n, np.minimum(place, n - 1), w.astype(real))


@lru_cache(64)
def evenly(n: int, m: int, real: Any) -> Taps:
    """The means of adaptive pooling: of floor(i n / m) up to ceil((i + 1) n / m)."""
    i = np.arange(m)
    lo, hi = i * n // m, -(-(i + 1) * n // m)
    index = lo[:, None] + np.arange(max(hi - lo, default=0))
    inside = index < hi[:, None]
    return Taps(n, np.minimum(index, n - 1), inside / (hi - lo)[:, None].astype(real))


def product(x: np.ndarray, matrix: np.ndarray, axis: int) -> np.ndarray:
    """The product with a matrix (n, m) along an axis."""
    shape = x.shape
    matrix = matrix.astype(x.dtype, copy=False)
    before, after = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    if after == 1:
        rows = np.ascontiguousarray(x).reshape(before, shape[axis])
        step = max(1, _PIECE // (matrix.size or 1))
        out = (
            mm(rows, matrix)
            if before <= step
            else np.concatenate([mm(rows[i : i + step], matrix) for i in range(0, before, step)])
        )
    else:
        out = mm(matrix.T, np.ascontiguousarray(x).reshape(before, shape[axis], after))
    return out.reshape(*shape[:axis], matrix.shape[1], *shape[axis + 1 :])


def resample(x: np.ndarray, taps: Sequence[Taps]) -> np.ndarray:
    """The sums along each of the last axes."""
    n, made = math.prod([t.n for t in taps]), [len(t.index) for t in taps]
    if x.size <= _FEW // 2 and n * math.prod(made) <= 4 * _FEW and x.dtype.char in "fd" and taps[0].weight is not None:
        out = x.reshape(-1, n).dot(_whole(tuple(taps), x.dtype)).reshape(*x.shape[: -len(taps)], *made)
    else:
        out = _sums(x, taps, True)
    if not np.isfinite(np.add.reduce(out, None)):  # 0 times infinity may be where it does not belong
        return _sums(x, taps, False)
    return out


@lru_cache(64)
def _whole(taps: tuple[Taps, ...], dtype: Any) -> np.ndarray:
    """The matrix of all dimensions."""
    return reduce(np.kron, [t.matrix for t in taps]).astype(dtype)


def _sums(x: np.ndarray, taps: Sequence[Taps], by_matrix: bool) -> np.ndarray:
    axes = list(enumerate(taps, x.ndim - len(taps)))
    if taps[-1].n <= len(taps[-1].index):  # the axis of which elements are dear to take while the array is small
        axes.reverse()
    for axis, t in axes:
        k, band = t.index.shape[1], _BAND if axis == x.ndim - 1 else _BAND // 8
        if t.weight is None:
            x = x if t.index is same(t.n) else x.take(t.index[:, 0], axis)
        elif by_matrix and (x.size * len(t.index) <= _FEW or t.n <= band * k):
            x = product(x, t.matrix, axis)
        else:
            x = apply(x, t, axis)
    return x


def apply(x: np.ndarray, taps: Taps, axis: int) -> np.ndarray:
    """The sums along an axis, tap by tap."""
    weight = taps.weight.reshape(*taps.index.shape, *(1,) * (x.ndim - 1 - axis))
    out = x.take(taps.index[:, 0], axis)
    np.multiply(out, weight[:, 0], out)
    for i in range(1, weight.shape[1]):
        part = x.take(taps.index[:, i], axis)
        np.multiply(part, weight[:, i], part)
        np.add(out, part, out)
    return out
