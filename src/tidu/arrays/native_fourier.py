"""Fourier transforms of complex64 over dimensions of 8 to 4096 points, powers of two, by the loops of native_stockham.

The transform over several dimensions goes from image to image while they fit a core's cache, else from dimension to
dimension. The first dimension may come in from between the others; results are contiguous.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tidu.arrays.native import address, compiled
from tidu.arrays.native_loops import WIDTH
from tidu.arrays.native_stockham import turns, write
from tidu.arrays.threads import parallel, step_of

__all__ = ["fourier"]

_SIZES = [1 << i for i in range(3, 13)]
_IN_CACHE = 1 << 16  # elements that stay in a core's cache from one dimension to the next
_PIECE = 1 << 15  # elements that a thread takes at a time, at most


def fourier(x: np.ndarray, k: int, forward: bool, scale: float) -> np.ndarray | None:
    """The transform over the last k dimensions times `scale`, contiguous; None where the loops do not serve."""
    sizes = x.shape[x.ndim - k :]
    if x.dtype != np.complex64 or not x.size or any(n not in _SIZES for n in sizes):
        return None
    between = _elements_between(x)
    if not between or (between > 1 and (k > 1 or between % WIDTH)):
        return None
    # The elements between two points of a dimension, from the last dimension to the first.
    apart = [between, *(math.prod(sizes[i:]) for i in range(k - 1, 0, -1))]
    if any(inner % WIDTH for inner in apart[1:]):
        return None
    stages = []
    for i, (n, inner) in enumerate(zip(reversed(sizes), apart, strict=True)):
        function = _kernel(n, forward, inner > 1, i > 0)
        if function is None:
            return None
        stages.append(_Stage(function, n, address(turns(n)), inner, scale if i == k - 1 else 1.0))
    out = np.empty(x.shape, x.dtype)
    source, target = address(x), address(out)
    image = math.prod(sizes)
    if k == 1 or image > _IN_CACHE:
        for stage in stages:
            _everywhere(stage, source, target, x.size)
            source = target
        return out
    step = step_of(x.size // image, max(1, _PIECE // image), 1) * image

    def piece(i: int) -> None:
        room, scratch = _scratch(max(sizes))
        for lo in range(i * step, min((i + 1) * step, x.size), image):
            start = source
            for stage in stages:
                stage.run(start + 8 * lo, target + 8 * lo, scratch, image, 0, image)
                start = target

    parallel(piece, -(-x.size // step))
    return out


def _elements_between(x: np.ndarray) -> int:
    """1 for a contiguous array, more if it would be one with its last dimension elsewhere; 0 for other arrays."""
    for place in range(x.ndim - 1, -1, -1):
        if np.moveaxis(x, -1, place).flags.c_contiguous:
            return math.prod(x.shape[place:-1])
    return 0


def _everywhere(stage: _Stage, source: int, target: int, size: int) -> None:
    """One dimension of all elements, cut over the threads."""
    unit = WIDTH * stage.n
    step = step_of(-(-size // unit), max(1, _PIECE // unit), 1) * unit

    def piece(i: int) -> None:
        room, scratch = _scratch(stage.n)
        stage.run(source, target, scratch, size, i * step, min((i + 1) * step, size))

    parallel(piece, -(-size // step))


@dataclass(frozen=True, slots=True)
class _Stage:
    """The transform along one dimension of n points, which lie `inner` elements apart as they come in."""

    function: Callable[..., None]
    n: int
    turns: int
    inner: int
    scale: float

    def run(self, source: int, target: int, scratch: int, size: int, lo: int, hi: int) -> None:
        """The groups of sixteen from element lo to hi of an array of `size`."""
        unit = WIDTH * self.n
        bound = size // self.n if self.inner == 1 else self.inner
        self.function(source, target, scratch, self.turns, lo // unit, -(-hi // unit), bound, self.scale)


def _scratch(n: int) -> tuple[np.ndarray, int]:
    """Room for sixteen transforms of n points twice, and where its first whole cache line starts."""
    room = np.empty(4 * WIDTH * n + WIDTH, np.float32)
    return room, -(-address(room) // 64) * 64


@functools.cache
def _kernel(n: int, forward: bool, columns_in: bool, columns_out: bool) -> Callable[..., None] | None:
    return compiled("fourier", "ppppnnnf", lambda k: write(k, n, forward, columns_in, columns_out))
