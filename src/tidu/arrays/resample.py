"""Resampling along one axis: each output element is a weighted sum of a few input elements, its taps.

`nearest`, `linear`, `cubic` and `antialiased` say which, for n elements to m: index (m, k) and weight (m, k; None for
ones). `apply` takes the sums, `adjoint` spreads a cotangent back. Source: torch.nn.functional.interpolate.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["adjoint", "antialiased", "apply", "cubic", "linear", "nearest"]

Taps = tuple[np.ndarray, Any]


def _step(n: int, m: int, scale: float | None, corners: bool, real: Any) -> Any:
    """How far apart the output elements lie, in input elements."""
    if corners:
        return real(n - 1) / real(m - 1) if m > 1 else real(0)
    return real(1 / scale) if scale is not None and scale > 0 else real(n) / real(m)


def nearest(n: int, m: int, scale: float | None, exact: bool) -> Taps:
    """The element below i * step, or with `exact` the one that holds the middle, (i + 1/2) * step."""
    real = np.float32
    step = real(1 / scale) if scale is not None and scale > 0 else real(n) / real(m)
    i = np.arange(m, dtype=real)
    at = np.floor((i + real(0.5)) * step if exact else i * step)
    return np.minimum(at.astype(np.int64), n - 1)[:, None], None


def linear(n: int, m: int, scale: float | None, corners: bool, real: Any) -> Taps:
    """The two neighbours, by their nearness; the element itself where the length stays, whatever the scale."""
    if n == m:
        return np.arange(n)[:, None], None
    step = _step(n, m, scale, corners, real)
    i = np.arange(m, dtype=real)
    at = i * step if corners else np.maximum((i + real(0.5)) * step - real(0.5), 0)
    low = np.minimum(at.astype(np.int64), n - 1)
    t = np.clip(at - low.astype(real), 0, 1).astype(real)
    return np.stack([low, np.minimum(low + 1, n - 1)], 1), np.stack([1 - t, t], 1)


def cubic_weights(t: Any, a: float = -0.75) -> list[Any]:
    """The weights of the elements at -1, 0, 1, 2 for a place 0 <= t < 1 between 0 and 1."""

    def near(x: Any) -> Any:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Any) -> Any:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def cubic(n: int, m: int, scale: float | None, corners: bool, real: Any) -> Taps:
    """The four neighbours, by Keys' cubic convolution."""
    step = _step(n, m, scale, corners, real)
    i = np.arange(m, dtype=real)
    at = i * step if corners else (i + real(0.5)) * step - real(0.5)
    low = np.floor(at)
    index = low.astype(np.int64)[:, None] + np.arange(-1, 3)
    weights = np.stack(cubic_weights(at - low), 1).astype(real)
    return np.clip(index, 0, n - 1), weights


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


def antialiased(n: int, m: int, scale: float | None, corners: bool, real: Any, kind: str) -> Taps:
    """All elements under a filter, which is as wide as the step where that exceeds one; themselves where the length
    stays, whatever the scale."""
    if n == m:
        return np.arange(n)[:, None], None
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
    return np.minimum(place, n - 1), w.astype(real)


def _shaped(w: np.ndarray, ndim: int, axis: int) -> np.ndarray:
    return w.reshape(-1, *(1,) * (ndim - 1 - axis))


def apply(x: np.ndarray, taps: Taps, axis: int) -> np.ndarray:
    """The sums along `axis`."""
    index, weight = taps
    if weight is None:
        return x.take(index[:, 0], axis)
    out = None
    for k in range(index.shape[1]):
        part = x.take(index[:, k], axis)
        np.multiply(part, _shaped(weight[:, k], x.ndim, axis), part)
        out = part if out is None else np.add(out, part, out)
    return out  # type: ignore[return-value]


def adjoint(g: np.ndarray, taps: Taps, n: int, axis: int) -> np.ndarray:
    """The adjoint of `apply` for n elements: a product with the matrix of the weights."""
    index, weight = taps
    m = len(index)
    matrix = np.zeros((n, m), g.dtype)
    rows = np.broadcast_to(np.arange(m)[:, None], index.shape)
    np.add.at(matrix, (index, rows), 1 if weight is None else weight.astype(g.dtype, copy=False))
    shape = g.shape
    before, after = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    if after == 1:
        out = g.reshape(before, m) @ matrix.T
    else:
        out = np.matmul(matrix, np.ascontiguousarray(g).reshape(before, m, after))
    return out.reshape(*shape[:axis], n, *shape[axis + 1 :])
