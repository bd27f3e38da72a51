"""Images sampled at the places of a grid: each point is a weighted sum of the elements around it, its taps.

An image lies with its channels last and a border of zeros around it, where taps outside of it go. All dimensions, and
all taps of all points, go through each call together. Source: torch.nn.functional.grid_sample.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .resampling import CUBIC, cubic_weights
from .select import add_rows

__all__ = ["sample", "sample_backward"]

BILINEAR, NEAREST, BICUBIC = range(3)
ZEROS, BORDER, REFLECTION = range(3)


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
    """(taps, points, dimensions): places, 0 being the border before the image; weights, and their slopes."""
    n = len(size)
    lengths = np.array(size, grid.dtype)
    places = grid.reshape(-1, n)[:, ::-1] + 1
    speed = (lengths - 1) / 2 if corners else lengths / 2
    at = places * speed if corners else (places * lengths - 1) / 2
    if mode != BICUBIC:
        at, turn = _folded(at, lengths, padding, corners)
        speed = speed * turn
    if mode == NEAREST:
        index, weight, slope = np.rint(at)[None], np.ones((1, 1, n), at.dtype), np.zeros((1, 1, n), at.dtype)
    else:
        with np.errstate(invalid="ignore"):
            low = np.floor(at)
            t = at - low
        if mode == BILINEAR:
            index, weight = np.stack([low, low + 1]), np.stack([1 - t, t])
            slope = np.stack([-speed, speed]) if speed.ndim > 1 else np.stack([-speed, speed])[:, None]
        else:
            index = low + np.arange(-1, 3, dtype=at.dtype).reshape(-1, 1, 1)
            index, _ = _folded(index, lengths, padding, corners)
            t = np.where(np.abs(at) < 1e9, t, 0)
            weight = np.stack(cubic_weights(t))
            slope = np.stack(_cubic_slopes(t)) * speed
    return np.clip(index, -1, lengths).astype(np.int64) + 1, weight, slope.astype(at.dtype, copy=False)


def _cubic_slopes(t: Any) -> list[Any]:
    a = CUBIC

    def near(x: Any) -> Any:
        return (3 * (a + 2) * x - 2 * (a + 3)) * x

    def far(x: Any) -> Any:
        return (3 * a * x - 10 * a) * x + 8 * a

    return [far(t + 1), near(t), -near(1 - t), -far(2 - t)]


def _spread(lines: np.ndarray, n: int, ufunc: Any) -> np.ndarray:
    """(taps, points, dimensions) as (taps of all dimensions, points): each with each."""
    parts = [lines[..., d].reshape(*(-1 if e == d else 1 for e in range(n)), lines.shape[1]) for d in range(n)]
    out = functools.reduce(ufunc, parts)
    return out.reshape(-1, lines.shape[1])


def _rows(image: np.ndarray, grid: np.ndarray, mode: int, padding: int, corners: bool) -> Any:
    """The image's elements, a row each; for each tap its row and its weight."""
    batch, channels, *size = image.shape
    n = len(size)
    index, weight, slope = _taps(grid, size, mode, padding, corners)
    wide = [m + 2 for m in size]
    table = np.zeros((batch, *wide, channels), image.dtype)
    table[(slice(None), *(slice(1, -1),) * n)] = np.moveaxis(image, 1, -1)
    steps = [math.prod(wide[d + 1 :]) for d in range(n)]
    index = _spread(index * steps, n, np.add)
    if batch > 1:
        index = (
            index.reshape(len(index), batch, -1) + np.arange(0, batch * steps[0] * wide[0], steps[0] * wide[0])[:, None]
        )
    return table.reshape(-1, channels), index.reshape(len(index), -1), weight, slope


def _shaped(rows: np.ndarray, image: np.ndarray, grid: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.moveaxis(rows.reshape(*grid.shape[:-1], image.shape[1]), -1, 1))


def sample(image: np.ndarray, grid: np.ndarray, mode: int, padding: int, corners: bool) -> np.ndarray:
    """image (N, C, H, W) at grid (N, H', W', 2), or one dimension more."""
    table, index, weight, _ = _rows(image, grid, mode, padding, corners)
    if mode == NEAREST:
        return _shaped(table.take(index[0], 0), image, grid)
    shares = _spread(weight, grid.shape[-1], np.multiply)[..., None]
    out = None
    for row, share in zip(index, shares, strict=True):
        part = table.take(row, 0)
        np.multiply(part, share, part)
        out = part if out is None else np.add(out, part, out)
    return _shaped(out, image, grid)  # type: ignore[arg-type]


def sample_backward(
    g: np.ndarray, image: np.ndarray, grid: np.ndarray, mode: int, padding: int, corners: bool, needs: Sequence[bool]
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """The cotangents of the image and of the grid."""
    channels, n = image.shape[1], grid.shape[-1]
    table, index, weight, slope = _rows(image, grid, mode, padding, corners)
    rows = np.ascontiguousarray(np.moveaxis(g, 1, -1)).reshape(-1, channels)
    to_image = to_grid = None
    if needs[0]:
        shares = np.broadcast_to(_spread(weight, n, np.multiply), index.shape)
        spread = add_rows(len(table), index.reshape(-1), (shares[..., None] * rows).reshape(-1, channels))
        inner = spread.reshape(len(image), *(m + 2 for m in image.shape[2:]), channels)
        to_image = np.ascontiguousarray(np.moveaxis(inner[(slice(None), *(slice(1, -1),) * n)], -1, 1))
    if needs[1] and mode == NEAREST:
        to_grid = np.zeros_like(grid)
    elif needs[1]:
        dots = np.stack([np.einsum("pc,pc->p", table.take(row, 0), rows) for row in index])
        to_grid = np.empty((len(rows), n), grid.dtype)
        for d in range(n):
            lines = np.where(np.arange(n) == d, slope, weight)
            to_grid[:, n - 1 - d] = np.einsum("kp,kp->p", dots, _spread(lines, n, np.multiply))
        to_grid = to_grid.reshape(grid.shape)
    return to_image, to_grid
