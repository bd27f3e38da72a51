"""Plane convolutions of float32 without columns, by native loops; None where there is no llvmlite or they do not fit.

They fit where output channels come in sixteens, kernels are small and do not reach over gaps, and there is enough to
do. Samples are shared out between the threads; sums are added in an order that depends on the shapes alone.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tidu.arrays.columns import Ints, Pads, padded, share
from tidu.arrays.native import address, compiled
from tidu.arrays.native_loops import WIDTH

__all__ = ["direct", "direct_weight", "fits"]

_LEAST = 1 << 20  # multiplications from which it pays, soon enough, to compile a loop
_PLACES = 28  # of a kernel whose sums stay in registers
_TILE = 12  # neighbouring outputs whose sums do
_SUMS = 4  # partial sums over the samples


@functools.cache
def _kernel(name: str, *sizes: Any) -> Callable[..., None] | None:
    from tidu.arrays.native_convolution import CONVOLUTIONS

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


def _tile(n: int) -> int:
    """How many neighbours make the fewest outputs twice: the most of those."""
    if n <= _TILE:
        return n
    return min(range(_TILE, _TILE // 2 - 1, -1), key=lambda tile: -(-n // tile) * tile)


def direct(
    x: np.ndarray, w: np.ndarray, bias: np.ndarray | None, out: Ints, stride: Ints, pads: Pads, dilation: Ints,
    groups: int,
) -> np.ndarray | None:  # fmt: skip
    """What convolution.correlate gives."""
    outs, c, *kernel = w.shape
    if not fits(x, outs, tuple(kernel), out, dilation, groups):
        return None
    lanes = 2 if outs % (2 * WIDTH) == 0 else 1
    function = _kernel("correlate", kernel[1], stride, _tile(out[1]), lanes)
    if function is None:
        return None
    blocks = outs // (lanes * WIDTH)
    laid = np.ascontiguousarray(w.reshape(blocks, lanes, WIDTH, c, *kernel).transpose(0, 3, 4, 5, 1, 2))
    first = np.zeros(outs, np.float32) if bias is None else np.ascontiguousarray(bias)
    above, beside = pads
    if above[0] < 0 or above[1] < 0:
        x, above = padded(x, (above, (0, 0))), (0, 0)
    wide = np.ascontiguousarray(padded(x, ((0, 0), beside)))
    y = np.empty((len(x), outs, *out), np.float32)
    places = address(laid), address(first)
    source, target = address(wide), address(y)
    per = 4 * wide[0].size, 4 * y[0].size
    n = len(x)
    step = -(-n // 4)

    def run(i: int) -> None:
        lo = i * step
        sizes = (min(step, n - lo), c, *wide.shape[2:], above[0], kernel[0], blocks, *out)
        function(source + lo * per[0], *places, target + lo * per[1], *sizes)

    share(run, -(-n // step), y.size * c * kernel[0] * kernel[1])
    return y


def direct_weight(
    g: np.ndarray, x: np.ndarray, kernel: Ints, stride: Ints, pads: Pads, dilation: Ints, groups: int
) -> np.ndarray | None:
    """What convolution.adjoint_weight gives."""
    n, outs, *out = g.shape
    c = x.shape[1]
    if g.dtype != x.dtype or not fits(x, outs, kernel, tuple(out), dilation, groups):
        return None
    function, turn = _kernel("correlate_weight", kernel, stride), _kernel("channels_last")
    if function is None or turn is None:
        return None
    wide, cot = np.ascontiguousarray(padded(x, pads)), np.ascontiguousarray(g)
    places = out[0] * out[1]
    rounded = -(-places // WIDTH) * WIDTH
    laid = np.empty((n, rounded, outs), np.float32)
    step = -(-n // _SUMS)
    count = -(-n // step)
    sums = np.empty((count, outs // WIDTH, c, *kernel, WIDTH), np.float32)

    def run(i: int) -> None:
        lo = i * step
        m = min(step, n - lo)
        ahead = address(laid[lo:])
        turn(address(cot[lo:]), ahead, m, outs, places, rounded)
        sizes = (m, c, *wide.shape[2:], outs, *out, rounded)
        function(ahead, address(wide[lo:]), address(sums[i:]), *sizes)

    share(run, count, g.size * c * kernel[0] * kernel[1])
    total = sums[0]
    for part in sums[1:]:
        np.add(total, part, total)
    return np.ascontiguousarray(total.transpose(0, 4, 1, 2, 3)).reshape(outs, c, *kernel)
