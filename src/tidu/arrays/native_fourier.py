"""Fourier transforms in single precision over 8 to 4096 points, powers of two, by the loops of native_stockham.

The transform over several dimensions goes from image to image while they fit a core's cache, else from dimension to
dimension. The first dimension may come in from between the others; results are contiguous. Real numbers, twice as many, are
served in rows.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tidu.arrays.native import address, compiled
from tidu.arrays.native_stockham import WIDTH, turns, write
from tidu.arrays.threads import parallel, step_of

__all__ = ["fourier"]

_SIZES = [1 << i for i in range(3, 13)]
_IN_CACHE = 1 << 16  # elements that stay in a core's cache from one dimension to the next
_PIECE = 1 << 15  # elements that a thread takes at a time, at most


def fourier(x: np.ndarray, k: int, forward: bool, scale: float, real: bool = False) -> np.ndarray | None:
    """The transform over the last k dimensions times `scale`, contiguous; None where the loops do not serve.

    If `real`, of real numbers to half a spectrum, or back.
    """
    last, between = x.shape[-1], _elements_between(x)
    n = last if not real else last // 2 if forward else last - 1
    sizes = [n, *x.shape[-2 : -k - 1 : -1]]  # from the last dimension to the first
    if (
        x.dtype != (np.float32 if real and forward else np.complex64)
        or not (x.size and between)
        or any(size not in _SIZES for size in sizes)
        or (between > 1 and (k > 1 or real or between < WIDTH))
        or (real and forward and last % 2)
        or (k > 1 and n + real < WIDTH)
    ):
        return None
    stages, inner = [], between
    for i, size in enumerate(sizes):
        function = _kernel(size, forward, inner > 1, i > 0, real and not i)
        if function is None:
            return None
        stages.append(_Stage(function, size, inner, turns(size)))
        inner = inner * size if i else n + real
    out = np.empty((*x.shape[:-1], n + real), np.complex64)
    if real and not forward:
        for stage in reversed(stages[1:]):
            x = stage.everywhere(x, np.empty_like(out))
        return stages[0].everywhere(x, np.empty((*x.shape[:-1], 2 * n), np.float32), scale)
    if real:
        scale /= 2  # the kernel of such rows makes twice the spectrum
    image = math.prod(sizes)
    if k == 1 or real or image > _IN_CACHE:
        for i, stage in enumerate(stages):
            made = np.empty_like(out) if i and stage.inner % WIDTH else out
            x = out = stage.everywhere(x, made, scale if i == k - 1 else 1.0)
        return out
    source, target = address(x), address(out)
    step = step_of(x.size // image, max(1, _PIECE // image), 1) * image

    def piece(i: int) -> None:
        room, scratch = _scratch(max(sizes))
        for lo in range(i * step, min((i + 1) * step, x.size), image):
            start = source
            for j, stage in enumerate(stages):
                lines = image // stage.n
                factor = scale if j == k - 1 else 1.0
                stage.run(start + 8 * lo, target + 8 * lo, scratch, lines, 0, stage.groups(lines), factor)
                start = target

    parallel(piece, -(-x.size // step))
    return out


def _elements_between(x: np.ndarray) -> int:
    """1 for a contiguous array, more if it would be one with its last dimension elsewhere; 0 for other arrays."""
    for place in range(x.ndim - 1, -1, -1):
        if np.moveaxis(x, -1, place).flags.c_contiguous:
            return math.prod(x.shape[place:-1])
    return 0


@dataclass(frozen=True, slots=True)
class _Stage:
    """The transform along one dimension of n points, which lie `inner` elements apart as they come in."""

    function: Callable[..., None]
    n: int
    inner: int
    turns: np.ndarray  # kept here as long as its address is used

    def groups(self, lines: int) -> int:
        """How often the lanes are filled."""
        return lines // self.inner * -(-self.inner // WIDTH) if self.inner > 1 else -(-lines // WIDTH)

    def run(self, source: int, target: int, scratch: int, lines: int, lo: int, hi: int, scale: float) -> None:
        """The groups from lo to hi."""
        bound = lines if self.inner == 1 else self.inner
        self.function(source, target, scratch, address(self.turns), lo, hi, bound, scale)

    def everywhere(self, x: np.ndarray, out: np.ndarray, scale: float = 1.0) -> np.ndarray:
        """All lines, cut over the threads."""
        lines = out.size // self.n if self.inner > 1 else math.prod(out.shape[:-1])
        source, target, groups = address(x), address(out), self.groups(lines)
        step = step_of(groups, max(1, _PIECE // (WIDTH * self.n)), 1)

        def piece(i: int) -> None:
            room, scratch = _scratch(self.n)
            self.run(source, target, scratch, lines, i * step, min((i + 1) * step, groups), scale)

        parallel(piece, -(-groups // step))
        return out


def _scratch(n: int) -> tuple[np.ndarray, int]:
    """Room for sixteen transforms of n points twice, and where its first whole cache line starts."""
    room = np.empty(4 * WIDTH * (n + 1) + 16, np.float32)
    return room, -(-address(room) // 64) * 64


@functools.cache
def _kernel(n: int, *kind: bool) -> Callable[..., None] | None:
    return compiled("fourier", "ppppnnnf", lambda k: write(k, n, *kind))
