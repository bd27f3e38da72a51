"""The columns of a convolution: what its kernel sees at each place, laid out as matrices that fit in the L2 cache.

Arrays are (n, channels, ...), kernels (out channels, channels / groups, ...); `pads` are pairs (before, after), and
may be negative.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tidu.arrays.threads import BLOCK, get_num_threads, one_blas_thread, parallel

__all__ = [
    "Columns", "Ints", "Pads", "least_beside", "lie_beside", "output_size", "padded", "samples", "seen_at", "share",
    "windows",
]  # fmt: skip

Ints = tuple[int, ...]
Pads = Sequence[tuple[int, int]]
_WORK = 1 << 20  # multiplications from which threads pay
_SPLIT = 1.5  # rows of columns to an output channel, from which one line of the kernel at a time pays
_FEW_PLACES = 256  # below which products are slow
_SHORT = 24  # elements of a line, copied in more time than it takes to turn it


def output_size(size: Sequence[int], kernel: Sequence[int], stride: Ints, pads: Pads, dilation: Ints) -> Ints:
    """How many places the kernel takes in each dimension."""
    return tuple(
        (n + lo + hi - d * (k - 1) - 1) // s + 1
        for n, k, s, (lo, hi), d in zip(size, kernel, stride, pads, dilation, strict=True)
    )


def padded(x: np.ndarray, pads: Pads) -> np.ndarray:
    """A few samples with zeros around them, or cut off where a pad is negative."""
    if all(lo == 0 == hi for lo, hi in pads):
        return x
    cut = tuple(slice(max(0, -lo), n - max(0, -hi)) for n, (lo, hi) in zip(x.shape[2:], pads, strict=True))
    x = x[(slice(None), slice(None), *cut)]
    if all(lo <= 0 and hi <= 0 for lo, hi in pads):
        return x
    size = [n + max(0, lo) + max(0, hi) for n, (lo, hi) in zip(x.shape[2:], pads, strict=True)]
    out = np.zeros((*x.shape[:2], *size), x.dtype)
    place = tuple(slice(max(0, lo), max(0, lo) + n) for n, (lo, _) in zip(x.shape[2:], pads, strict=True))
    out[(slice(None), slice(None), *place)] = x
    return out


def windows(x: np.ndarray, kernel: Ints, out: Ints, stride: Ints, dilation: Ints) -> np.ndarray:
    """The view (n, channels, *kernel, *out) of what the kernel sees at each place."""
    steps = x.strides[2:]
    strides = (
        *x.strides[:2],
        *(s * d for s, d in zip(steps, dilation, strict=True)),
        *(s * t for s, t in zip(steps, stride, strict=True)),
    )
    shape = (*x.shape[:2], *kernel, *out)
    if x.flags.c_contiguous:
        return np.ndarray(shape, x.dtype, x, 0, strides)
    return np.lib.stride_tricks.as_strided(x, shape, strides, writeable=False)


def _blocks(n: int, sample_bytes: int, rows: int, least: int = 1) -> list[tuple[int, int, int, int]]:
    """(first sample, last, first output row, last): pieces of about a block's bytes of columns, of `least` samples."""
    if n == 0 or rows == 0:
        return []
    each = sample_bytes * least
    few = n <= least  # in which case rows are shared out, as many to each of two or four threads
    if each > 2 * BLOCK or (few and each > BLOCK // 2):
        count = min(rows, -(-each // (4 * BLOCK)) * 4 if few else -(-each // BLOCK))
        step = -(-rows // count)
        return [
            (i, min(n, i + least), r, min(rows, r + step)) for i in range(0, n, least) for r in range(0, rows, step)
        ]
    step = max(least, min(BLOCK // max(1, sample_bytes), -(-n // 4)))
    return [(i, min(n, i + step), 0, rows) for i in range(0, n, step)]


def lie_beside(n: int, out: Ints, stride: Ints) -> bool:
    """Whether lines are so short that samples had better lie innermost."""
    return n >= 4 and stride[-1] == 1 and out[-1] < _SHORT


def share(run: Callable[[int], None], count: int, work: int) -> None:
    if count == 1:
        run(0)
        return
    with one_blas_thread() as held:
        if held and work > _WORK and get_num_threads() > 1:
            parallel(run, count)
        else:
            for i in range(count):
                run(i)


def least_beside(n: int, length: int) -> int:
    """How many samples to lay beside each other at least."""
    return min(n, max(4, -(-_FEW_PLACES // max(1, length))))


def _laid_out(x: np.ndarray, kernel: Ints, out: Ints, stride: Ints, dilation: Ints) -> np.ndarray:
    """The windows (n, channels, *kernel, *out), copied by runs of neighbours."""
    k, s = kernel[-1], stride[-1]
    if s == 1 or k == 1 or dilation[-1] > 1:
        return np.ascontiguousarray(windows(x, kernel, out, stride, dilation))
    columns = np.empty((*x.shape[:2], *kernel, *out), x.dtype)
    steps = (*stride[:-1], 1)
    for f in range(min(k, s)):  # the places of a line that see every s-th element from f on
        count = -(-(k - f) // s)
        seen = np.ascontiguousarray(x[..., f::s][..., : out[-1] + count - 1])
        every: Any = (..., slice(f, None, s), *(slice(None),) * len(out))
        np.copyto(columns[every], windows(seen, (*kernel[:-1], count), out, steps, dilation))
    return columns


class Columns:
    """The columns of an array's windows, block by block, as matrices (.., shifts, groups, depth, places).

    Where a kernel steps by one down the first dimension, its lines see the same columns, some rows further down: such
    columns are laid out for one line of the kernel (`shifts` views of them stand for all), else for the whole of it.

    Windows are copied by runs of neighbours. Where lines are short, the samples of a block are laid innermost
    (`beside`), as if they were one more dimension.
    """

    def __init__(
        self, x: np.ndarray, w_shape: Ints, out: Ints, stride: Ints, pads: Pads, dilation: Ints, groups: int
    ) -> None:
        self.x, self.kernel, self.out, self.stride = x, w_shape[2:], out, stride
        self.pads, self.dilation, self.groups = pads, dilation, groups
        n, c = x.shape[:2]
        o, per, *kernel = w_shape
        places, self.rest = math.prod(kernel), math.prod(out[1:])
        length = out[0] * self.rest
        # a kernel of one place that steps by one sees the array itself
        self.plain = places == 1 and all(s == 1 for s in stride) and not any(lo or hi for lo, hi in pads)
        if self.plain:
            self.x = np.ascontiguousarray(x)
        self.beside = not self.plain and lie_beside(n, out, stride)
        split = kernel[0] > 1 == stride[0]
        self.many = n * length > 4 * o  # places, so that kernels turned cost little
        # shorter columns must make up for adding up the products
        least = _SPLIT * (2 if self.beside else 1) * o * kernel[0]
        split = split and self.many and per * places * groups >= least
        self.shifts = kernel[0] if split else 1
        self.depth = per * places // self.shifts
        least = least_beside(n, length) if self.beside else 1
        self.blocks = _blocks(n, c * places // self.shifts * length * x.itemsize, out[0], least)

    def kernels(self, w: np.ndarray) -> np.ndarray:
        """The kernels as the other factor: (shifts, groups, out channels / groups, depth)."""
        if self.shifts > 1:
            w = np.moveaxis(w, 2, 0)
        return np.ascontiguousarray(w).reshape(self.shifts, self.groups, -1, self.depth)

    def kernels_back(self, m: np.ndarray, shape: Ints) -> np.ndarray:
        """(shifts, groups, out channels / groups, depth) as kernels again, of this shape."""
        o, per, *kernel = shape
        m = m.reshape(self.shifts, o, self.depth)
        if self.shifts > 1:
            m = np.moveaxis(m.reshape(self.shifts, o, per, *kernel[1:]), 0, 2)
        return np.ascontiguousarray(m.reshape(shape))

    def block(self, lo: int, hi: int, first: int, last: int) -> np.ndarray:
        x, pads, n = self.x[lo:hi], list(self.pads), hi - lo
        if self.plain:
            part = x.reshape(n, x.shape[1], -1)[:, :, first * self.rest : last * self.rest]
            return part.reshape(n, 1, self.groups, self.depth, part.shape[-1])
        reach = self.dilation[0] * (self.kernel[0] - 1)
        if last - first != self.out[0]:  # only the rows that these output rows see
            start = first * self.stride[0] - pads[0][0]
            stop = (last - 1) * self.stride[0] + reach + 1 - pads[0][0]
            pads[0] = (-start, stop - x.shape[2])
        kernel, stride, dilation = self.kernel, self.stride, self.dilation
        shape = (last - first, *self.out[1:])
        rows = last - first
        if self.shifts > 1:
            kernel, shape = (1, *kernel[1:]), (rows + reach, *shape[1:])
        if self.beside:
            x = np.ascontiguousarray(x.transpose(*range(1, x.ndim), 0))[None]
            kernel, shape, stride, dilation = (*kernel, 1), (*shape, n), (*stride, 1), (*dilation, 1)
            pads.append((0, 0))
            n = 1
        columns = _laid_out(padded(x, pads), kernel, shape, stride, dilation)
        rest, step = math.prod(shape[1:]), columns.itemsize
        line = shape[0] * rest * step
        sizes = (n, self.shifts, self.groups, self.depth, rows * rest)
        strides = (columns.strides[0], dilation[0] * rest * step, self.depth * line, line, step)
        return np.ndarray(sizes, columns.dtype, columns, 0, strides)

    def part(self, y: np.ndarray, lo: int, hi: int, first: int, last: int) -> np.ndarray:
        """A block of an array (n, groups, channels, places), its places in the order that its columns have."""
        if not self.beside:
            return y[lo:hi, :, :, first * self.rest : last * self.rest]
        y = y[lo:hi, :, :, first * self.rest : last * self.rest]
        return y.transpose(1, 2, 3, 0)[None]

    def pieces(self, most: int) -> list[slice]:
        """How to cut `most` rows of a factor, where there are too few blocks to share out."""
        count = 1 if len(self.blocks) > 3 or most < 128 else 4
        step = -(-most // count)
        return [slice(i, min(most, i + step)) for i in range(0, most, step)]


def seen_at(x: np.ndarray, places: Ints, out: Ints, stride: Ints, dilation: Ints) -> np.ndarray:
    """What one place of the kernel sees, as a view of the padded samples."""
    at = tuple(
        slice(d * j, d * j + s * (q - 1) + 1, s) for j, q, s, d in zip(places, out, stride, dilation, strict=True)
    )
    return x[(slice(None), slice(None), *at)]


def samples(n: int, sample_bytes: int) -> int:
    return max(1, min(BLOCK // max(1, sample_bytes), -(-n // 4)))
