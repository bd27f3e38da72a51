"""Convolution in any number of spatial dimensions, and its two adjoints, as products of matrices.

The windows of a few samples, or of some output rows of one, are laid out as columns that fit in the L2 cache; a
product with the kernel, (out channels, channels * places), follows at once. Such blocks are shared out between the
threads, each of which calls BLAS on its own. A block's place depends on the shapes alone and partial sums are added
in a fixed order, so results do not depend on the threads.

Arrays are (n, channels, ...), kernels (out channels, channels / groups, ...); `pads` are pairs (before, after), and
may be negative.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tidu.arrays.threads import BLOCK, get_num_threads, one_blas_thread, parallel

__all__ = ["adjoint_input", "adjoint_weight", "col2im", "correlate", "im2col", "output_size"]

Ints = tuple[int, ...]
Pads = Sequence[tuple[int, int]]
_FLOAT32 = np.dtype(np.float32)
_WORK = 1 << 20  # multiplications from which threads pay


def output_size(size: Sequence[int], kernel: Sequence[int], stride: Ints, pads: Pads, dilation: Ints) -> Ints:
    """How many places the kernel takes in each dimension."""
    return tuple(
        (n + lo + hi - d * (k - 1) - 1) // s + 1
        for n, k, s, (lo, hi), d in zip(size, kernel, stride, pads, dilation, strict=True)
    )


def _padded(x: np.ndarray, pads: Pads) -> np.ndarray:
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


def _windows(x: np.ndarray, kernel: Ints, out: Ints, stride: Ints, dilation: Ints) -> np.ndarray:
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


def _padded_last(x: np.ndarray, pads: Pads) -> np.ndarray:
    """`_padded`, with the channels last."""
    cut = tuple(slice(max(0, -lo), n - max(0, -hi)) for n, (lo, hi) in zip(x.shape[2:], pads, strict=True))
    x = np.moveaxis(x[(slice(None), slice(None), *cut)], 1, -1)
    if all(lo <= 0 and hi <= 0 for lo, hi in pads):
        return np.ascontiguousarray(x)
    size = [n + max(0, lo) + max(0, hi) for n, (lo, hi) in zip(x.shape[1:-1], pads, strict=True)]
    out = np.zeros((len(x), *size, x.shape[-1]), x.dtype)
    place = tuple(slice(max(0, lo), max(0, lo) + n) for n, (lo, _) in zip(x.shape[1:-1], pads, strict=True))
    out[(slice(None), *place)] = x
    return out


def _windows_last(x: np.ndarray, kernel: Ints, out: Ints, stride: Ints, dilation: Ints) -> np.ndarray:
    """The view (n, *out, *kernel, channels) of a contiguous array with its channels last."""
    steps = x.strides[1:-1]
    strides = (
        x.strides[0],
        *(s * t for s, t in zip(steps, stride, strict=True)),
        *(s * d for s, d in zip(steps, dilation, strict=True)),
        x.strides[-1],
    )
    return np.ndarray((len(x), *out, *kernel, x.shape[-1]), x.dtype, x, 0, strides)


def _blocks(n: int, sample_bytes: int, rows: int) -> list[tuple[int, int, int, int]]:
    """(first sample, last, first output row, last): pieces of about a block's bytes of columns."""
    if n == 0 or rows == 0:
        return []
    most = BLOCK
    if sample_bytes > 2 * most:
        count = min(rows, -(-sample_bytes // most))
        step = -(-rows // count)
        return [(i, i + 1, r, min(rows, r + step)) for i in range(n) for r in range(0, rows, step)]
    step = max(1, min(most // max(1, sample_bytes), -(-n // 4)))
    return [(i, min(n, i + step), 0, rows) for i in range(0, n, step)]


def _share(run: Callable[[int], None], count: int, work: int) -> None:
    if count > 1 and work > _WORK and get_num_threads() > 1:
        with one_blas_thread() as held:
            if held:
                parallel(run, count)
                return
    for i in range(count):
        run(i)


def _wide(*arrays: Any) -> Any:
    """Half precision as float32."""
    return [a.astype(_FLOAT32) if a is not None and _half(a) else a for a in arrays]


def _half(a: Any) -> bool:
    return bool(a.dtype.itemsize == 2 and a.dtype.kind in "fV")


class _Columns:
    """The columns of an array's windows, block by block: (samples, groups, channels * places of the kernel, places).

    Windows are copied by runs of neighbours. Where the kernel steps over elements of a line there are none, and the
    samples are turned first, so that the channels lie innermost, and `last` is set: a column's order is then (places
    of the kernel, channels).
    """

    def __init__(
        self, x: np.ndarray, kernel: Ints, out: Ints, stride: Ints, pads: Pads, dilation: Ints, groups: int
    ) -> None:
        self.x, self.kernel, self.out, self.stride = x, kernel, out, stride
        self.pads, self.dilation, self.groups = pads, dilation, groups
        self.places = math.prod(kernel)
        n, c = x.shape[:2]
        self.depth = c // groups * self.places
        self.rest = math.prod(out[1:])
        self.blocks = _blocks(n, c * self.places * math.prod(out) * x.itemsize, out[0])
        # a kernel of one place that steps by one sees the array itself
        self.plain = self.places == 1 and all(s == 1 for s in stride) and not any(lo or hi for lo, hi in pads)
        if self.plain:
            self.x = np.ascontiguousarray(x)
        self.last = groups == 1 and stride[-1] > 1 and c * kernel[-1] >= 16

    def kernels(self, w: np.ndarray) -> np.ndarray:
        """The kernels as the other factor: (groups, out channels / groups, depth)."""
        if self.last:
            w = np.moveaxis(w, 1, -1)
        return np.ascontiguousarray(w).reshape(self.groups, len(w) // self.groups, self.depth)

    def kernels_back(self, m: np.ndarray, shape: Ints) -> np.ndarray:
        """Such a factor as kernels again, of this shape."""
        if not self.last:
            return m.reshape(shape)
        return np.ascontiguousarray(np.moveaxis(m.reshape(shape[0], *shape[2:], shape[1]), -1, 1))

    def block(self, lo: int, hi: int, first: int, last: int) -> np.ndarray:
        n, c = hi - lo, self.x.shape[1]
        if self.plain:
            part = self.x[lo:hi].reshape(n, c, -1)[:, :, first * self.rest : last * self.rest]
            return part.reshape(n, self.groups, self.depth, part.shape[-1])
        pads, x = list(self.pads), self.x[lo:hi]
        if last - first != self.out[0]:  # only the rows that these output rows see
            start = first * self.stride[0] - pads[0][0]
            stop = (last - 1) * self.stride[0] + self.dilation[0] * (self.kernel[0] - 1) + 1 - pads[0][0]
            length = x.shape[2]
            pads[0] = (-start, stop - length)
        shape = (last - first, *self.out[1:])
        if self.last:
            view = _windows_last(_padded_last(x, pads), self.kernel, shape, self.stride, self.dilation)
            columns = np.ascontiguousarray(view).reshape(n, 1, math.prod(shape), self.depth)
            return columns.swapaxes(2, 3)
        seen = _padded(x, pads)
        view = _windows(seen, self.kernel, shape, self.stride, self.dilation)
        return np.ascontiguousarray(view).reshape(n, self.groups, self.depth, (last - first) * self.rest)


def correlate(
    x: np.ndarray,
    w: np.ndarray,
    bias: np.ndarray | None,
    stride: Ints,
    pads: Pads,
    dilation: Ints,
    groups: int,
    out: Ints | None = None,
) -> np.ndarray:
    """sum over channels and places of x[n, c, stride * i + dilation * j - pad] * w[o, c, j], plus bias[o].

    `out`: how many i in each dimension, as many as there are unless told.
    """
    dtype = x.dtype
    if _half(x):
        x, w, bias = _wide(x, w, bias)
    n, o = x.shape[0], w.shape[0]
    kernel = w.shape[2:]
    if out is None:
        out = output_size(x.shape[2:], kernel, stride, pads, dilation)
    length = math.prod(out)
    if groups == o == x.shape[1] and math.prod(kernel) > 1 and n and length:
        y = _depthwise(x, w, bias, out, stride, pads, dilation)
        return y.astype(dtype) if y.dtype != dtype else y
    y = np.empty((n, groups, o // groups, length), x.dtype)
    if y.size:
        columns = _Columns(x, kernel, out, stride, pads, dilation, groups)
        w2 = columns.kernels(w)
        b = None if bias is None else bias.reshape(groups, o // groups, 1)
        rest, blocks = columns.rest, columns.blocks

        def run(i: int) -> None:
            lo, hi, first, last = blocks[i]
            target = y[lo:hi, :, :, first * rest : last * rest]
            np.matmul(w2, columns.block(lo, hi, first, last), out=target)
            if b is not None:
                np.add(target, b, target)

        _share(run, len(blocks), y.size * columns.depth)
    y = y.reshape(n, o, *out)
    return y.astype(dtype) if y.dtype != dtype else y


def _seen_at(x: np.ndarray, places: Ints, out: Ints, stride: Ints, dilation: Ints) -> np.ndarray:
    """What one place of the kernel sees, as a view of the padded samples."""
    at = tuple(
        slice(d * j, d * j + s * (q - 1) + 1, s)
        for j, q, s, d in zip(places, out, stride, dilation, strict=True)
    )
    return x[(slice(None), slice(None), *at)]


def _samples(n: int, sample_bytes: int) -> int:
    return max(1, min(BLOCK // max(1, sample_bytes), -(-n // 4)))


def _runs(size: Ints, out: Ints, kernel: Ints, dilation: Ints) -> tuple[list[int], int]:
    """Steps of one: where each place of the kernel begins in a padded plane laid out flat, and the length of the run
    that covers all outputs, with the elements between the lines that nobody wants."""
    strides = [math.prod(size[d + 1 :]) for d in range(len(size))]
    starts = [
        sum(j * d * s for j, d, s in zip(places, dilation, strides, strict=True))
        for places in np.ndindex(*kernel)
    ]
    return starts, sum((q - 1) * s for q, s in zip(out, strides, strict=True)) + 1


def _depthwise(
    x: np.ndarray, w: np.ndarray, bias: np.ndarray | None, out: Ints, stride: Ints, pads: Pads, dilation: Ints
) -> np.ndarray:
    """Each channel with a kernel of its own: a multiplication for each place of the kernel, no products of matrices."""
    n, c = x.shape[:2]
    kernel = w.shape[2:]
    y = np.empty((n, c, *out), x.dtype)
    ones = (1,) * len(out)
    step = _samples(n, math.prod(y.shape[1:]) * x.itemsize)
    flat = all(s == 1 for s in stride)

    def run(i: int) -> None:
        part = y[i * step : (i + 1) * step]
        seen = _padded(x[i * step : (i + 1) * step], pads)
        if flat:
            seen = np.ascontiguousarray(seen)
            size = seen.shape[2:]
            starts, length = _runs(size, out, kernel, dilation)
            seen = seen.reshape(len(part), c, math.prod(size))
            total = np.empty((len(part), c, math.prod(size)), part.dtype)
            views = [seen[:, :, s : s + length] for s in starts]
            target, shape = total[:, :, :length], (c, 1)
        else:
            views = [_seen_at(seen, places, out, stride, dilation) for places in np.ndindex(*kernel)]
            target, shape = part, (c, *ones)
        product = np.empty(target.shape, part.dtype)
        for k, places in enumerate(np.ndindex(*kernel)):
            factor = w[(slice(None), 0, *places)].reshape(shape)
            np.multiply(views[k], factor, product if k else target)
            if k:
                np.add(target, product, target)
        if flat:
            part[...] = total.reshape(len(part), c, *size)[
                (slice(None), slice(None), *(slice(0, q) for q in out))
            ]
        if bias is not None:
            np.add(part, bias.reshape(c, *ones), part)

    _share(run, -(-n // step), y.size * math.prod(kernel))
    return y


def _depthwise_weight(
    g: np.ndarray, x: np.ndarray, kernel: Ints, stride: Ints, pads: Pads, dilation: Ints
) -> np.ndarray:
    n, c = g.shape[:2]
    out = g.shape[2:]
    step = _samples(n, math.prod(g.shape[1:]) * g.itemsize)
    count = -(-n // step)
    parts = np.zeros((count, c, math.prod(kernel)), g.dtype)
    flat = all(s == 1 for s in stride)

    def run(i: int) -> None:
        part = g[i * step : (i + 1) * step]
        m = len(part)
        seen = _padded(x[i * step : (i + 1) * step], pads)
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
        for k, places in enumerate(np.ndindex(*kernel)):
            np.multiply(part, _seen_at(seen, places, out, stride, dilation), product)
            parts[i, :, k] = product.reshape(m, c, -1).dot(ones).sum(0)

    _share(run, count, g.size * math.prod(kernel))
    return parts.sum(0)


def adjoint_weight(
    g: np.ndarray, x: np.ndarray, kernel: Ints, stride: Ints, pads: Pads, dilation: Ints, groups: int
) -> np.ndarray:
    """The adjoint of `correlate` in its kernel: sum over samples and places of g[n, o, i] * x[n, c, ...]."""
    dtype = g.dtype
    if _half(g):
        g, x = _wide(g, x)
    n, o = g.shape[:2]
    c = x.shape[1]
    out = g.shape[2:]
    shape = (o, c // groups, *kernel)
    if not g.size or not x.size:
        return np.zeros(shape, dtype)
    if groups == o == c and math.prod(kernel) > 1:
        return (
            _depthwise_weight(g, x, kernel, stride, pads, dilation).reshape(shape).astype(dtype, copy=False)
        )
    columns = _Columns(x, kernel, out, stride, pads, dilation, groups)
    g2 = np.ascontiguousarray(g).reshape(n, groups, o // groups, math.prod(out))
    blocks, rest = columns.blocks, columns.rest
    parts: list[Any] = [None] * len(blocks)

    def run(i: int) -> None:
        lo, hi, first, last = blocks[i]
        cols = columns.block(lo, hi, first, last)
        part = np.matmul(g2[lo:hi, :, :, first * rest : last * rest], cols.swapaxes(2, 3))
        parts[i] = part[0] if hi - lo == 1 else np.add.reduce(part, 0)

    _share(run, len(blocks), g.size * columns.depth)
    total = parts[0] if len(parts) == 1 else np.add.reduce(np.stack(parts), 0)
    return columns.kernels_back(total, shape).astype(dtype, copy=False)


def adjoint_input(
    g: np.ndarray, w: np.ndarray, bias: np.ndarray | None, size: Ints, stride: Ints, pads: Pads, dilation: Ints,
    groups: int,
) -> np.ndarray:  # fmt: skip
    """The adjoint of `correlate` in its input, of the spatial `size`, plus bias: the transposed convolution."""
    kernel = w.shape[2:]
    o, per = w.shape[0], w.shape[1]
    grows = math.prod(size) > 1.25 * math.prod(g.shape[2:]) and per * (o // groups) > 1
    if all(s == 1 for s in stride) and not grows:  # once more a convolution, with the kernel turned around
        places = tuple(range(-len(kernel), 0))
        turned = np.flip(w.reshape(groups, o // groups, per, *kernel).swapaxes(1, 2), places)
        turned = turned.reshape(groups * per, o // groups, *kernel)
        around = []
        for n, m, k, (lo, _), d in zip(size, g.shape[2:], kernel, pads, dilation, strict=True):
            before = d * (k - 1) - lo
            around.append((before, n + d * (k - 1) - m - before))
        return correlate(g, turned, bias, stride, around, dilation, groups)
    return _scatter(g, w, bias, size, stride, pads, dilation, groups)


def _scatter(
    g: np.ndarray,
    w: np.ndarray,
    bias: np.ndarray | None,
    size: Ints,
    stride: Ints,
    pads: Pads,
    dilation: Ints,
    groups: int,
) -> np.ndarray:
    """A product for the places of the kernel, of all at once or of each, added where that place lay."""
    dtype = g.dtype
    if _half(g):
        g, w, bias = _wide(g, w, bias)
    n, o = g.shape[:2]
    out = g.shape[2:]
    per, kernel = w.shape[1], w.shape[2:]
    c, places, length = groups * per, math.prod(kernel), math.prod(out)
    result = np.zeros((n, c, *size), g.dtype)
    if g.size and result.size:
        g2 = np.ascontiguousarray(g).reshape(n, groups, o // groups, length)
        whole = c * places * length * g.itemsize <= 2 * BLOCK and per * (o // groups) > 1
        order = (0, 3, 2, 1) if whole else (3, 0, 2, 1)
        turned = np.ascontiguousarray(w.reshape(groups, o // groups, per, places).transpose(order))
        if whole:  # (groups, places * channels, out channels)
            turned = turned.reshape(groups, places * per, o // groups)
        wide = [
            max(m + lo + hi, d * (k - 1) + s * (q - 1) + 1)
            for m, k, q, s, (lo, hi), d in zip(size, kernel, out, stride, pads, dilation, strict=True)
        ]
        step = _samples(n, c * length * g.itemsize * (places if whole else 1))
        count = -(-n // step)
        at = [
            tuple(
                slice(d * j, d * j + s * (q - 1) + 1, s)
                for j, q, s, d in zip(place, out, stride, dilation, strict=True)
            )
            for place in np.ndindex(*kernel)
        ]

        def run(i: int) -> None:
            lo = i * step
            part = g2[lo : lo + step]
            m = len(part)
            full = np.zeros((m, c, *wide), g.dtype)
            if whole:
                every = np.matmul(turned, part).reshape(m, groups, places, per, *out)
            for k in range(places):
                if whole:
                    product = every[:, :, k]
                elif per == o // groups == 1:
                    product = part * turned[k]
                else:
                    product = np.matmul(turned[k], part)
                target = full[(slice(None), slice(None), *at[k])]
                np.add(target, product.reshape(m, c, *out), target)
            keep = tuple(slice(before, before + q) for q, (before, _) in zip(size, pads, strict=True))
            kept = full[(slice(None), slice(None), *keep)]
            result[(slice(lo, lo + m), slice(None), *(slice(0, q) for q in kept.shape[2:]))] = kept

        _share(run, count, g.size * per * places)
    if bias is not None:
        result += bias.reshape(c, *(1,) * len(size))
    return result.astype(dtype) if result.dtype != dtype else result


def im2col(x: np.ndarray, kernel: Ints, stride: Ints, pads: Pads, dilation: Ints) -> np.ndarray:
    """The windows of (n, c, ...) as columns: (n, c * places of the kernel, places it takes)."""
    out = output_size(x.shape[2:], kernel, stride, pads, dilation)
    n, c = x.shape[:2]
    seen = _windows(_padded(x, pads), kernel, out, stride, dilation)
    return np.ascontiguousarray(seen).reshape(n, c * math.prod(kernel), math.prod(out))


def col2im(
    columns: np.ndarray, size: Ints, kernel: Ints, stride: Ints, pads: Pads, dilation: Ints
) -> np.ndarray:
    """The adjoint of `im2col`: every column's elements added where they were taken from."""
    out = output_size(size, kernel, stride, pads, dilation)
    n, c = len(columns), columns.shape[1] // math.prod(kernel)
    parts = columns.reshape(n, c, *kernel, *out)
    wide = [
        max(m + lo + hi, d * (k - 1) + s * (q - 1) + 1)
        for m, k, q, s, (lo, hi), d in zip(size, kernel, out, stride, pads, dilation, strict=True)
    ]
    full = np.zeros((n, c, *wide), columns.dtype)
    every = slice(None)
    for places in np.ndindex(*kernel):
        at = tuple(
            slice(d * j, d * j + s * (q - 1) + 1, s)
            for j, q, s, d in zip(places, out, stride, dilation, strict=True)
        )
        target = full[(every, every, *at)]
        np.add(target, parts[(every, every, *places)], target)
    keep = tuple(slice(lo, lo + m) for m, (lo, _) in zip(size, pads, strict=True))
    return np.ascontiguousarray(full[(every, every, *keep)])
