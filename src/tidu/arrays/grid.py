"""Images sampled at the places of a grid: each point is a weighted sum of the elements around it, its taps.

An image lies with its channels last and a border of zeros around it, where taps outside of it go. All dimensions, and
all taps of all points, go through each call together. Source: torch.nn.functional.grid_sample.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .resampling import CUBIC, cubic_weights
from .select import add_rows

__all__ = ["sample", "sample_backward"]

BILINEAR, NEAREST, BICUBIC = range(3)
ZEROS, BORDER, REFLECTION = range(3)
_STEPS = np.arange(4, dtype=np.float32).reshape(4, 1, 1)


def _folded(at: np.ndarray, size: np.ndarray, padding: int, corners: bool) -> tuple[np.ndarray, Any]:
    """Places brought inside of the image as the padding has it, and how fast they then move."""
    last = size - 1
    speed: Any = 1.0
    if padding == ZEROS:
        return np.where(np.abs(at) < 1e9, at, at.dtype.type(-9)), speed
    if padding == REFLECTION:
        low, span = (0.0, last) if corners else (-0.5, size)
        at = at - at.dtype.type(low)
        turns = np.floor(np.abs(at) / np.maximum(span, 1))
        odd = turns % 2 == 1
        speed = np.where((at < 0) != odd, -1, 1)
        rest = np.abs(at) - turns * span
        at = np.where(odd, span - rest, rest) + at.dtype.type(low)
        at, speed = np.where(span > 0, at, 0), np.where(span > 0, speed, 0)
    inside = (at > 0) & (at < last)
    return np.where(at > 0, np.minimum(at, last), 0), np.where(inside, speed, 0)


def _taps(grid: np.ndarray, size: Sequence[int], mode: int, padding: int, corners: bool) -> Any:
    """(taps, dimensions, points): places, 0 being the border before the image; weights, and their slopes."""
    n = len(size)
    lengths = np.array(size, grid.dtype)[:, None]
    places = np.add(grid.reshape(-1, n).T[::-1], grid.dtype.type(1), order="C")
    speed = (lengths - 1) / 2 if corners else lengths / 2
    at = places * speed if corners else (places * lengths - 1) / 2
    if mode != BICUBIC:
        at, turn = _folded(at, lengths, padding, corners)
        speed = speed * turn
    if mode == NEAREST:
        index, weight = np.rint(at)[None], np.ones((1, n, 1), at.dtype)
        slope = weight
    elif mode == BILINEAR:
        low = np.floor(at)
        index, weight = low + _STEPS[:2], np.abs((at - low) - _STEPS[1::-1])
        slope = speed * (2 * _STEPS[:2] - 1)
    else:
        low = np.floor(at)
        index, _ = _folded(low + (_STEPS - 1), lengths, padding, corners)
        with np.errstate(invalid="ignore"):
            t = np.where(np.abs(at) < 1e9, at - low, 0)
        weight, slope = np.stack(cubic_weights(t)), np.stack(_cubic_slopes(t)) * speed
    index = np.minimum(np.maximum(index, -1), lengths).astype(np.int64) + 1
    return index, weight, slope.astype(at.dtype, copy=False)


def _cubic_slopes(t: Any) -> list[Any]:
    a = CUBIC

    def near(x: Any) -> Any:
        return (3 * (a + 2) * x - 2 * (a + 3)) * x

    def far(x: Any) -> Any:
        return (3 * a * x - 10 * a) * x + 8 * a

    return [far(t + 1), near(t), -near(1 - t), -far(2 - t)]


def _each(lines: Sequence[np.ndarray], ufunc: Any) -> np.ndarray:
    """(taps, points) of each dimension as (taps of all, points): each with each."""
    out = lines[0]
    for line in lines[1:]:
        out = ufunc(out[:, None], line).reshape(-1, max(out.shape[1], line.shape[1]))
    return out


def _rows(image: np.ndarray, grid: np.ndarray, mode: int, padding: int, corners: bool) -> Any:
    """The image's elements, a row each; for each tap its row and its weight."""
    batch, channels, *size = image.shape
    n = len(size)
    index, weight, slope = _taps(grid, size, mode, padding, corners)
    wide = [m + 2 for m in size]
    table = np.zeros((batch, *wide, channels), image.dtype)
    _inner(table)[...] = image.transpose(0, *range(2, n + 2), 1)
    rows = _each([index[:, d] * math.prod(wide[d + 1 :]) for d in range(n)], np.add)
    if batch > 1:
        rows.reshape(len(rows), batch, -1)[...] += np.arange(batch)[:, None] * math.prod(wide)
    return table.reshape(-1, channels), rows, weight.swapaxes(0, 1), slope.swapaxes(0, 1)


def _inner(table: np.ndarray) -> np.ndarray:
    return table[(slice(None), *(slice(1, -1),) * (table.ndim - 2))]


def sample(image: np.ndarray, grid: np.ndarray, mode: int, padding: int, corners: bool) -> np.ndarray:
    """image (N, C, H, W) at grid (N, H', W', 2), or one dimension more."""
    table, index, weight, _ = _rows(image, grid, mode, padding, corners)
    out = table.take(index[0], 0)
    if mode != NEAREST:
        shares = _each(weight, np.multiply)[..., None]
        np.multiply(out, shares[0], out)
        for row, share in zip(index[1:], shares[1:], strict=True):
            part = table.take(row, 0)
            np.multiply(part, share, part)
            np.add(out, part, out)
    out = out.reshape(*grid.shape[:-1], image.shape[1])
    return np.ascontiguousarray(out.transpose(0, -1, *range(1, out.ndim - 1)))


def sample_backward(
    g: np.ndarray, image: np.ndarray, grid: np.ndarray, mode: int, padding: int, corners: bool, needs: Sequence[bool]
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """The cotangents of the image and of the grid."""
    channels, n = image.shape[1], grid.shape[-1]
    table, index, weight, slope = _rows(image, grid, mode, padding, corners)
    rows = np.ascontiguousarray(g.transpose(0, *range(2, n + 2), 1)).reshape(-1, channels)
    to_image = to_grid = None
    if needs[0]:
        shares = np.broadcast_to(_each(weight, np.multiply), index.shape)
        spread = add_rows(len(table), index.reshape(-1), (shares[..., None] * rows).reshape(-1, channels))
        inner = _inner(spread.reshape(len(image), *(m + 2 for m in image.shape[2:]), channels))
        to_image = np.ascontiguousarray(inner.transpose(0, -1, *range(1, n + 1)))
    if needs[1] and mode == NEAREST:
        to_grid = np.zeros_like(grid)
    elif needs[1]:
        dots = np.stack([np.einsum("pc,pc->p", table.take(row, 0), rows) for row in index])
        to_grid = np.empty((n, len(rows)), grid.dtype)
        for d in range(n):
            lines = [slope[e] if e == d else weight[e] for e in range(n)]
            np.einsum("kp,kp->p", dots, np.broadcast_to(_each(lines, np.multiply), dots.shape), out=to_grid[n - 1 - d])
        to_grid = np.ascontiguousarray(to_grid.T).reshape(grid.shape)
    return to_image, to_grid
