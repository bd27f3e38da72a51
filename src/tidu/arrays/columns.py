"""The columns of a convolution, and plane convolutions without them: each channel by itself, or in native loops.

Arrays are (n, channels, ...), kernels (out channels, channels / groups, ...); `pads` are pairs (before, after), and
may be negative.

The native loops fit where output channels come in sixteens, kernels are small and do not reach over gaps, and there is enough to
do. Samples are shared out between the threads; sums are added in an order that depends on the shapes alone.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import native
from .native import address, compiled
from .native_loops import WIDTH
from .threads import BLOCK, get_num_threads, one_blas_thread, parallel

Ints = tuple[int, ...]
Pads = Sequence[tuple[int, int]]
_WORK = 1 << 20  # multiplications from which threads pay
_SPLIT = 1.5  # rows of columns to an output channel, from which one line of the kernel at a time pays
_FEW_PLACES = 256  # below which products are slow
_SHORT = 24  # elements of a line, copied in more time than it takes to turn it


def output_size(size: Sequence[int], kernel: Sequence[int], stride: Ints, pads: Pads, dilation: Ints) -> Ints:
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


def _seen(x: np.ndarray, kernel: Ints, out: Ints, stride: Ints, dilation: Ints) -> list[np.ndarray]:
    """What each place of the kernel sees of padded samples, by lines of neighbours."""
    s = stride[-1]
    if s == 1 or dilation[-1] > 1 or kernel[-1] == 1:
        return [seen_at(x, places, out, stride, dilation) for places in np.ndindex(*kernel)]
    phases = [np.ascontiguousarray(x[..., f::s]) for f in range(min(s, kernel[-1]))]
    steps = (*stride[:-1], 1)
    return [seen_at(phases[v % s], (*places, v // s), out, steps, dilation) for *places, v in np.ndindex(*kernel)]


def _runs(size: Ints, out: Ints, kernel: Ints, dilation: Ints) -> tuple[list[int], int]:
    """Steps of one: where each place of the kernel begins in a padded plane laid out flat, and the length of the run
    that covers all outputs, with the elements between the lines that nobody wants."""
    strides = [math.prod(size[d + 1 :]) for d in range(len(size))]
    starts = [
        sum(j * d * s for j, d, s in zip(places, dilation, strides, strict=True)) for places in np.ndindex(*kernel)
    ]
    return starts, sum((q - 1) * s for q, s in zip(out, strides, strict=True)) + 1


def depthwise(
    x: np.ndarray, w: np.ndarray, bias: np.ndarray | None, out: Ints, stride: Ints, pads: Pads, dilation: Ints
) -> np.ndarray:
    """Each channel with a kernel of its own: a multiplication for each place of the kernel, no products of matrices."""
    n, c = x.shape[:2]
    kernel = w.shape[2:]
    y = np.empty((n, c, *out), x.dtype)
    ones = (1,) * len(out)
    step = samples(n, math.prod(y.shape[1:]) * x.itemsize)
    flat = all(s == 1 for s in stride)

    def run(i: int) -> None:
        part = y[i * step : (i + 1) * step]
        seen = padded(x[i * step : (i + 1) * step], pads)
        if flat:
            seen = np.ascontiguousarray(seen)
            size = seen.shape[2:]
            starts, length = _runs(size, out, kernel, dilation)
            seen = seen.reshape(len(part), c, math.prod(size))
            total = np.empty((len(part), c, math.prod(size)), part.dtype)
            views = [seen[:, :, s : s + length] for s in starts]
            target, shape = total[:, :, :length], (c, 1)
        else:
            views = _seen(seen, kernel, out, stride, dilation)
            target, shape = part, (c, *ones)
        product = np.empty(target.shape, part.dtype)
        for k, places in enumerate(np.ndindex(*kernel)):
            factor = w[(slice(None), 0, *places)].reshape(shape)
            np.multiply(views[k], factor, product if k else target)
            if k:
                np.add(target, product, target)
        if flat:
            part[...] = total.reshape(len(part), c, *size)[(slice(None), slice(None), *(slice(0, q) for q in out))]
        if bias is not None:
            np.add(part, bias.reshape(c, *ones), part)

    share(run, -(-n // step), y.size * math.prod(kernel))
    return y


def depthwise_weight(
    g: np.ndarray, x: np.ndarray, kernel: Ints, stride: Ints, pads: Pads, dilation: Ints
) -> np.ndarray:
    n, c = g.shape[:2]
    out = g.shape[2:]
    step = samples(n, math.prod(g.shape[1:]) * g.itemsize)
    count = -(-n // step)
    parts = np.zeros((count, c, math.prod(kernel)), g.dtype)
    flat = all(s == 1 for s in stride)

    def run(i: int) -> None:
        part = g[i * step : (i + 1) * step]
        m = len(part)
        seen = padded(x[i * step : (i + 1) * step], pads)
        if flat:
            seen = np.ascontiguousarray(seen)
            size = seen.shape[2:]
            starts, length = _runs(size, out, kernel, dilation)
            wide = np.zeros((m, c, *size), part.dtype)
            wide[(slice(None), slice(None), *(slice(0, q) for q in out))] = part
            rows = wide.reshape(m * c, -1)[:, :length]
            seen = seen.reshape(m * c, -1)
            for k, s in enumerate(starts):
                parts[i, :, k] = np.vecdot(rows, seen[:, s : s + length]).reshape(m, c).sum(0)
            return
        product = np.empty(part.shape, part.dtype)
        ones = np.ones(math.prod(out), part.dtype)
        for k, view in enumerate(_seen(seen, kernel, out, stride, dilation)):
            np.multiply(part, view, product)
            parts[i, :, k] = product.reshape(m, c, -1).dot(ones).sum(0)

    share(run, count, g.size * math.prod(kernel))
    return parts.sum(0)


_LEAST = 1 << 20  # multiplications from which it pays, soon enough, to compile a loop
_PLACES = 28  # of a kernel whose sums stay in registers
_SUMS = 4  # partial sums over the samples
_NEAR = 128  # outputs that stay in the nearest cache


@functools.cache
def _kernel(name: str, *sizes: Any) -> Callable[..., None] | None:
    from .native_windows import CONVOLUTIONS

    signature, make = CONVOLUTIONS[name]
    return compiled(name, signature, make(*sizes))


def fits(x: np.ndarray, outs: int, kernel: Ints, out: Ints, dilation: Ints, groups: int) -> bool:
    """Whether there are loops for such a convolution of x."""
    n, c = x.shape[:2]
    if len(kernel) != 2 or groups != 1 or dilation != (1, 1) or x.dtype.char != "f" or outs % WIDTH or n < 2:
        return False
    places = kernel[0] * kernel[1]
    if not 1 < places <= _PLACES or n * outs * out[0] * out[1] * c * places < _LEAST:
        return False
    return _kernel("channels_last") is not None


def _tile(n: int, most: int) -> tuple[int, int]:
    """How many neighbours go together, and how many of n outputs in such tiles, the others in tiles shorter by one; the
    last tile makes some twice where there is no other way."""
    if n >= most and (whole := n - (most - 1) * (-n % most)) >= 0:
        return most, whole
    return min(range(min(n, most), min(n, most) // 2, -1), key=lambda tile: -(-n // tile) * tile), n


def direct(
    x: np.ndarray, w: np.ndarray, bias: np.ndarray | None, out: Ints, stride: Ints, pads: Pads, dilation: Ints,
    groups: int,
) -> np.ndarray | None:  # fmt: skip
    """What convolution.correlate gives."""
    outs, c, *kernel = w.shape
    if not fits(x, outs, tuple(kernel), out, dilation, groups):
        return None
    width, most = (WIDTH, 12) if native.wide() else (WIDTH // 2, 6)  # neighbours whose sums stay in registers
    lanes = 2 if outs % (2 * width) == 0 else 1
    tile, whole = _tile(out[1], most)
    function = _kernel("correlate", kernel[1], stride, tile, whole < out[1], lanes)
    if function is None:
        return None
    blocks = outs // (lanes * width)
    laid = np.ascontiguousarray(w.reshape(blocks, lanes, width, c, *kernel).transpose(0, 3, 4, 5, 1, 2))
    first = np.zeros(outs, np.float32) if bias is None else np.ascontiguousarray(bias)
    above, beside = pads
    if above[0] < 0 or above[1] < 0:
        x, above = padded(x, (above, (0, 0))), (0, 0)
    wide = np.ascontiguousarray(padded(x, ((0, 0), beside)))
    n = len(x)
    y = np.empty((n, outs, *out), np.float32)
    step = -(-n // 4)
    sizes = (c, *wide.shape[2:], above[0], kernel[0], blocks, *out, whole)
    laid_at, first_at, steps = address(laid), address(first), range(0, n, step)
    native.share(
        function, [(address(wide[lo:]), laid_at, first_at, address(y[lo:]), min(step, n - lo), *sizes) for lo in steps]
    )
    return y


def direct_weight(
    g: np.ndarray, x: np.ndarray, kernel: Ints, stride: Ints, pads: Pads, dilation: Ints, groups: int
) -> np.ndarray | None:
    """What convolution.adjoint_weight gives."""
    n, outs, *out = g.shape
    c = x.shape[1]
    if g.dtype != x.dtype or not fits(x, outs, kernel, tuple(out), dilation, groups):
        return None
    width, most = (WIDTH, 1) if native.wide() else (WIDTH // 2, 12 // kernel[1])
    lanes = next(i for i in (4, 2, 1) if i <= max(1, most) and outs % (i * width) == 0)
    function, turn = _kernel("correlate_weight", kernel, stride, lanes), _kernel("channels_last")
    if function is None or turn is None:
        return None
    wide, cot = np.ascontiguousarray(padded(x, pads)), np.ascontiguousarray(g)
    places = out[0] * out[1]
    rounded = -(-places // WIDTH) * WIDTH
    laid = np.empty((n, rounded, outs), np.float32)
    step = -(-n // _SUMS)
    steps = [(address(laid[lo:]), lo, min(step, n - lo)) for lo in range(0, n, step)]
    native.share(turn, [(address(cot[lo:]), at, m, outs, places, rounded) for at, lo, m in steps])
    sums = np.zeros((len(steps), outs // (lanes * width), c, *kernel, lanes * width), np.float32)
    sizes = (c, *wide.shape[2:], outs, *out, rounded, max(1, _NEAR // out[1]))
    native.share(
        function, [(at, address(wide[lo:]), address(s), m, *sizes) for (at, lo, m), s in zip(steps, sums, strict=True)]
    )
    total = sums[0]
    for part in sums[1:]:
        np.add(total, part, total)
    return np.ascontiguousarray(total.transpose(0, 4, 1, 2, 3)).reshape(outs, c, *kernel)
