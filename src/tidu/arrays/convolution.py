"""Convolution in any number of spatial dimensions, and its two adjoints, as products of matrices.

The windows of a few samples, or of some output rows of one, are laid out as columns that fit in the L2 cache; a
product with the kernel, (out channels, channels * places), follows at once. Such blocks are shared out between the
threads, each of which calls BLAS on its own. A block's place depends on the shapes alone and partial sums are added
in a fixed order, so results do not depend on the threads. Planes take the native loops of columns.py where they fit.

Arrays are (n, channels, ...), kernels (out channels, channels / groups, ...); `pads` are pairs (before, after), and
may be negative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tidu.arrays.columns import (
    Columns,
    Ints,
    Pads,
    depthwise,
    depthwise_weight,
    direct,
    direct_weight,
    fits,
    least_beside,
    lie_beside,
    output_size,
    padded,
    samples,
    seen_at,
    share,
    windows,
)  # fmt: skip
from tidu.arrays.threads import BLOCK

_FLOAT32 = np.dtype(np.float32)
_SUMS = 8  # partial sums over the samples, each in order


def _wide(*arrays: Any) -> Any:
    return [a.astype(_FLOAT32) if a is not None and _half(a) else a for a in arrays]


def _half(a: Any) -> bool:
    return bool(a.dtype.itemsize == 2 and a.dtype.kind in "fV")


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
        y = depthwise(x, w, bias, out, stride, pads, dilation)
        return y.astype(dtype) if y.dtype != dtype else y
    made = direct(x, w, bias, out, stride, pads, dilation, groups)
    if made is not None:
        return made.astype(dtype, copy=False)
    y = np.empty((n, groups, o // groups, length), x.dtype)
    if y.size:
        columns = Columns(x, w.shape, out, stride, pads, dilation, groups)
        kernels = columns.kernels(w)
        b = None if bias is None else bias.reshape(groups, o // groups, 1)
        if columns.beside and b is not None:
            b = b[..., None]

        def product(cols: np.ndarray, block: tuple[int, int, int, int], cut: slice) -> None:
            target = columns.part(y, *block)[:, :, cut]
            if columns.shifts == 1 and not columns.beside:
                total = np.matmul(kernels[:, :, cut], cols, out=target[:, None])[:, 0]
            else:
                parts = np.matmul(kernels[:, :, cut], cols)
                total, *more = (parts[:, u].reshape(target.shape) for u in range(columns.shifts))
                for k, part in enumerate(more, 1):
                    total = np.add(total, part, target if b is None and k == len(more) else total)
            if b is not None:
                np.add(total, b[:, cut], target)
            elif columns.shifts == 1 and columns.beside:
                target[...] = total

        work = y.size * columns.depth * columns.shifts
        _products(columns, columns.pieces(o // groups), product, work)
    y = y.reshape(n, o, *out)
    return y.astype(dtype) if y.dtype != dtype else y


def _products(
    columns: Columns, cuts: list[slice], product: Callable[[np.ndarray, Any, slice], None], work: int
) -> None:
    """product(columns, block, cut) for all blocks and cuts, shared out between the threads."""
    blocks = columns.blocks
    if len(cuts) == 1:
        share(lambda i: product(columns.block(*blocks[i]), blocks[i], cuts[0]), len(blocks), work)
        return
    for block in blocks:
        cols = columns.block(*block)
        share(lambda i, cols=cols, block=block: product(cols, block, cuts[i]), len(cuts), work)  # type: ignore[misc]


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
        return depthwise_weight(g, x, kernel, stride, pads, dilation).reshape(shape).astype(dtype, copy=False)
    made = direct_weight(g, x, kernel, stride, pads, dilation, groups)
    if made is not None:
        return made.astype(dtype, copy=False)
    columns = Columns(x, shape, out, stride, pads, dilation, groups)
    g2 = np.ascontiguousarray(g).reshape(n, groups, o // groups, math.prod(out))
    blocks, cuts = columns.blocks, columns.pieces(o // groups)
    sums: dict[int, np.ndarray] = {}
    width = -(-len(blocks) // _SUMS)  # blocks of a partial sum

    def product(cols: np.ndarray, block: Any, cut: slice) -> np.ndarray:
        part = columns.part(g2, *block)[:, :, cut]
        if columns.beside:
            part = np.ascontiguousarray(part).reshape(1, groups, part.shape[2], -1)
        if columns.many:  # this way around BLAS is faster
            made = np.matmul(cols, part.swapaxes(2, 3)[:, None]).swapaxes(3, 4)
        else:
            made = np.matmul(part[:, None], cols.swapaxes(3, 4))
        return made[0] if len(made) == 1 else np.add.reduce(made, 0)

    def run(i: int) -> None:
        total: Any = None
        for block in blocks[i * width : (i + 1) * width]:
            made = product(columns.block(*block), block, slice(None))
            total = made if total is None else np.add(total, made, total)
        sums[i] = total

    work = g.size * columns.depth * columns.shifts
    if len(cuts) == 1:
        count = -(-len(blocks) // width)
        share(run, count, work)
        total = sums[0]
        for i in range(1, count):
            np.add(total, sums[i], total)
    else:
        total = np.zeros((columns.shifts, groups, o // groups, columns.depth), g.dtype)

        def add(cols: np.ndarray, block: Any, cut: slice) -> None:
            target = total[:, :, cut]
            np.add(target, product(cols, block, cut), target)

        _products(columns, cuts, add, work)
    return columns.kernels_back(total, shape).astype(dtype, copy=False)


def adjoint_input(
    g: np.ndarray, w: np.ndarray, bias: np.ndarray | None, size: Ints, stride: Ints, pads: Pads, dilation: Ints,
    groups: int,
) -> np.ndarray:  # fmt: skip
    """The adjoint of `correlate` in its input, of the spatial `size`, plus bias: the transposed convolution."""
    kernel = w.shape[2:]
    o, per = w.shape[0], w.shape[1]
    places = math.prod(g.shape[2:])
    grows = math.prod(size) > 1.25 * places or len(g) * places < 2 * per
    turns = not (grows and per * (o // groups) > 1) or fits(g, per, kernel, size, dilation, groups)
    if turns and all(s == 1 for s in stride):
        # once more a convolution, with the kernel turned around
        axes = tuple(range(-len(kernel), 0))
        turned = np.flip(w.reshape(groups, o // groups, per, *kernel).swapaxes(1, 2), axes)
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
    """The cotangents of the columns, a product, of some channels of some samples; added where they lay."""
    dtype = g.dtype
    if _half(g):
        g, w, bias = _wide(g, w, bias)
    n, o = g.shape[:2]
    out = g.shape[2:]
    per, kernel = w.shape[1], w.shape[2:]
    c, places, length = groups * per, math.prod(kernel), math.prod(out)
    if not g.size or not c * math.prod(size):
        result = np.zeros((n, c, *size), g.dtype)
    else:
        result = np.empty((n, c, *size), g.dtype)
        beside = lie_beside(n, out, stride)
        bytes_each = places * length * g.itemsize  # of a channel of a sample
        least = least_beside(n, length) if beside else 1
        step = max(least, samples(n, c * bytes_each))
        wide_step = max(1, min(per, BLOCK // (step * groups * bytes_each), -(-per * (-(-n // step)) // 4)))
        back = np.ascontiguousarray(w).reshape(groups, o // groups, per, places)
        target = result.reshape(n, groups, per, *size)
        at = [(lo, first) for lo in range(0, n, step) for first in range(0, per, wide_step)]

        def run(i: int) -> None:
            lo, first = at[i]
            hi, last = min(n, lo + step), min(per, first + wide_step)
            part = g[lo:hi]
            matrix = back[:, :, first:last].reshape(groups, o // groups, -1).swapaxes(1, 2)
            if beside:
                part = part.transpose(*range(1, part.ndim), 0)[None]
                ends = ((*size, hi - lo), (*kernel, 1), (*stride, 1), (*pads, (0, 0)), (*dilation, 1))
                made = _added(part, matrix, groups, last - first, *ends)[0]
                target[lo:hi, :, first:last] = made.transpose(made.ndim - 1, *range(made.ndim - 1))
            else:
                target[lo:hi, :, first:last] = _added(
                    part, matrix, groups, last - first, size, kernel, stride, pads, dilation
                )

        share(run, len(at), g.size * per * places)
    if bias is not None:
        result += bias.reshape(c, *(1,) * len(size))
    return result.astype(dtype) if result.dtype != dtype else result


def _added(
    g: np.ndarray, matrix: np.ndarray, groups: int, c: int, size: Ints, kernel: Ints, stride: Ints, pads: Pads,
    dilation: Ints,
) -> np.ndarray:  # fmt: skip
    """The adjoint at some samples, (n, groups, c, *size), of a matrix (groups, c * places, channels of g / groups)."""
    n, out = len(g), g.shape[2:]
    wide = [
        max(m + lo + hi, d * (k - 1) + s * (q - 1) + 1)
        for m, k, q, s, (lo, hi), d in zip(size, kernel, out, stride, pads, dilation, strict=True)
    ]
    g = g.reshape(n, groups, -1, math.prod(out))
    columns = matrix * g if g.shape[2] == 1 else np.matmul(matrix, g)
    columns = columns.reshape(n, groups * c, *kernel, *out)
    if stride[0] == 1 and kernel[0] > 1:  # first down the rows, which are long runs
        lines = np.zeros((n, groups * c, 1, *kernel[1:], wide[0], *out[1:]), g.dtype)
        shift = (slice(None),) * (2 + len(kernel))
        for u in range(kernel[0]):
            rows = lines[(*shift, slice(dilation[0] * u, dilation[0] * u + out[0]))]
            np.add(rows, columns[:, :, u : u + 1], rows)
        columns, kernel, out = lines, (1, *kernel[1:]), (wide[0], *out[1:])
    if all(k == 1 for k in kernel) and all(s == 1 for s in stride):
        full = columns.reshape(n, groups * c, *out)
        if list(out) != wide:
            full = np.zeros((n, groups * c, *wide), g.dtype)
            kept: Any = (..., *(slice(0, q) for q in out))
            full[kept] = columns.reshape(n, groups * c, *out)
    else:
        phases = stride[-1] if dilation[-1] == 1 else 1
        # lines of every `phases`-th element, of which those that a place of the kernel sees are neighbours
        full = np.zeros((n, groups * c, *wide[:-1], phases, -(-wide[-1] // phases)), g.dtype)
        steps = stride if phases == 1 else (*stride[:-1], 1)
        for place in np.ndindex(*kernel):
            turn, phase = divmod(place[-1], phases)
            target = seen_at(full[..., phase, :], (*place[:-1], turn), out, steps, dilation)
            np.add(target, columns[(slice(None), slice(None), *place)], target)
        full = full.swapaxes(-1, -2).reshape(*full.shape[:-2], -1)
    keep = tuple(slice(before, before + q) for q, (before, _) in zip(size, pads, strict=True))
    return full[(slice(None), slice(None), *keep)].reshape(n, groups, c, *size)


def im2col(x: np.ndarray, kernel: Ints, stride: Ints, pads: Pads, dilation: Ints) -> np.ndarray:
    """The windows of (n, c, ...) as columns: (n, c * places of the kernel, places it takes)."""
    out = output_size(x.shape[2:], kernel, stride, pads, dilation)
    n, c = x.shape[:2]
    seen = windows(padded(x, pads), kernel, out, stride, dilation)
    return np.ascontiguousarray(seen).reshape(n, c * math.prod(kernel), math.prod(out))


def col2im(columns: np.ndarray, size: Ints, kernel: Ints, stride: Ints, pads: Pads, dilation: Ints) -> np.ndarray:
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
            slice(d * j, d * j + s * (q - 1) + 1, s) for j, q, s, d in zip(places, out, stride, dilation, strict=True)
        )
        target = full[(every, every, *at)]
        np.add(target, parts[(every, every, *places)], target)
    keep = tuple(slice(lo, lo + m) for m, (lo, _) in zip(size, pads, strict=True))
    return np.ascontiguousarray(full[(every, every, *keep)])
