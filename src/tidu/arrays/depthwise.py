"""Convolution of each channel with a kernel of its own: a multiplication for each place of the kernel, no products."""

from __future__ import annotations

import math

import numpy as np

from tidu.arrays.columns import Ints, Pads, padded, samples, seen_at, share

__all__ = ["depthwise", "depthwise_weight"]


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
