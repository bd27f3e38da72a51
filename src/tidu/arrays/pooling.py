"""Pooling over windows of the last dimensions: maxima, sums, their adjoints, places of maxima.

Maxima and sums are taken along one dimension after another, each time over strided slices of the array, so that a
window of k x k costs 2 k passes over ever smaller arrays. Planes go through in blocks that fit in the L2 cache, shared
out between the threads.

Arrays are (planes, ...); a `window` is (kernel, stride, dilation, before, out): the padding before the first element,
and the number of windows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .native import address, kernel, over_pieces
from .resampling import product
from .select import add_rows
from .threads import BIG, BLOCK, parallel, quiet

__all__ = [
    "Window", "max_backward", "max_forward", "max_indices", "plane_places", "sum_backward", "sum_forward", "table_max",
]  # fmt: skip

Windows = Sequence["Window"]
_NATIVE = 1 << 14  # elements from which a native loop pays
_FEW = 1 << 11  # elements up to which tables say what lies in a window
_MATRIX = 1 << 14  # elements of a matrix that sums them all
_BAND = 16  # elements to one of a window up to which a matrix sums along a dimension
_FAR, _MANY = 3, 16  # the widest stride along lines, and the most places, of windows for which there is one


class Window(NamedTuple):
    """The windows along one dimension."""

    kernel: int
    stride: int
    dilation: int
    before: int
    out: int

    def reach(self) -> int:
        """The length, padding before it included, that the windows cover."""
        return (self.out - 1) * self.stride + (self.kernel - 1) * self.dilation + 1

    def slice(self, k: int) -> slice:
        """Where the k-th element of all windows lies, in the padded array."""
        first = k * self.dilation
        return slice(first, first + (self.out - 1) * self.stride + 1, self.stride)

    def places(self, n: int) -> np.ndarray:
        """Which of n elements each window holds, (out, kernel); what lies outside is one inside once more."""
        return _inside(self, np.arange(self.out)[:, None] * self.stride + np.arange(self.kernel) * self.dilation, n)


def _inside(w: Window, at: np.ndarray, n: int) -> np.ndarray:
    """Places in the padded line as places in the line of n elements: those outside as the nearest of their windows."""
    at = at - w.before
    over = np.maximum(at - (n - 1) + w.dilation - 1, 0) // w.dilation
    return np.where(at < 0, at % w.dilation, at - over * w.dilation)


def _blocks(x: np.ndarray, run: Callable[[int, int], None]) -> None:
    """run(lo, hi) over the planes."""
    n = len(x)
    if not x.size:
        return
    per = x.size // n * x.itemsize
    step = max(1, min(-(-n // 4), BLOCK // per if per else n))
    if x.size <= BIG // 4:
        with quiet():
            run(0, n)
    else:
        parallel(lambda i: run(i * step, min(n, (i + 1) * step)), -(-n // step))


def _axis(d: int, s: slice) -> tuple[Any, ...]:
    return (*(slice(None),) * (d + 1), s)


def _padded(x: np.ndarray, d: int, w: Window, fill: Any) -> np.ndarray:
    """The array with `fill` around it along spatial dimension `d`, as far as the windows reach."""
    n, reach = x.shape[d + 1], w.reach()
    if not w.before and reach <= n:
        return x
    shape = list(x.shape)
    shape[d + 1] = max(reach, w.before + n)
    out = np.full(shape, fill, x.dtype)
    out[_axis(d, slice(w.before, w.before + n))] = x
    return out


def _lowest(dtype: Any) -> Any:
    return -np.inf if dtype.kind in "fV" else np.iinfo(dtype).min


def _passes(x: np.ndarray, windows: Windows, ufunc: Any, fill: Any, first_dim: int = 0) -> np.ndarray:
    for d, w in list(enumerate(windows))[first_dim:]:
        if w.kernel == 1 and w.stride == 1 and not w.before and w.out == x.shape[d + 1]:
            continue
        x = _padded(x, d, w, fill)
        out = x[_axis(d, w.slice(0))]
        for k in range(1, w.kernel):
            out = ufunc(out, x[_axis(d, w.slice(k))], out=out if k > 1 else None)
        x = out
    return x


def _pooled(x: np.ndarray, windows: Windows, ufunc: Any, fill: Any) -> np.ndarray:
    out = np.empty((len(x), *(w.out for w in windows)), x.dtype)

    def run(lo: int, hi: int) -> None:
        out[lo:hi] = _passes(x[lo:hi], windows, ufunc, fill)

    _blocks(x, run)
    return out


def _natively(
    name: str, ins: Sequence[np.ndarray], size: Sequence[int], windows: Windows, whole: bool
) -> np.ndarray | None:
    """Run a kernel (*ins, result, ..) of windows over planes of this size, the result as large as they (`whole`) or
    as the windows; None if there is none."""
    n, dtype, length = len(ins[0]), ins[0].dtype, math.prod(size)
    if len(windows) != 2 or dtype.char != "f" or n * length < _NATIVE or any(w.dilation != 1 for w in windows):
        return None
    if any(w.before or w.reach() > m for w, m in zip(windows, size, strict=True)):
        return None
    h, w = windows
    if w.stride > _FAR or h.kernel * w.kernel > _MANY:
        return None
    function = kernel(name, (h.kernel, w.kernel), (h.stride, w.stride))
    if function is None:
        return None
    made = (h.out, w.out)
    covered = all(v.kernel == v.stride and v.out * v.stride == m for v, m in zip(windows, size, strict=True))
    shape = (n, *(size if whole else made))
    out = np.zeros(shape, dtype) if whole and not covered else np.empty(shape, dtype)
    places = [(address(a), 4 * a.shape[1] * a.shape[2]) for a in (*ins, out)]

    def arguments(first: int, count: int, _: int) -> list[int]:
        return [*[p + first * step for p, step in places], count, *size, *made]

    over_pieces(function, n, length, arguments, BIG)
    return out


def max_forward(x: np.ndarray, windows: Windows) -> np.ndarray:
    """The largest element of each window; NaN where there is one."""
    if 0 < x.size <= _FEW:
        places = _table(tuple(windows), x.shape[1:])
        return x.reshape(len(x), -1).take(places, 1).max(-1).reshape(len(x), *(w.out for w in windows))
    made = _natively("max_pool", [x], x.shape[1:], windows, False)
    if made is not None:
        return made
    return _pooled(x, windows, np.maximum, _lowest(x.dtype))


@lru_cache(64)
def _table(windows: Windows, size: tuple[int, ...]) -> np.ndarray:
    """Which elements of a plane of this size each window holds, (windows, elements of one)."""
    return plane_places([w.places(n)[None] for w, n in zip(windows, size, strict=True)], size)[0]


def plane_places(lines: Sequence[np.ndarray], size: Sequence[int]) -> np.ndarray:
    """Places along each dimension, (planes or 1, out, k) each, as places in the plane, (planes or 1, outs, elements)."""
    n = len(size)
    total: Any = 0
    for d, line in enumerate(lines):
        outs, inner = [1] * n, [1] * n
        outs[d], inner[d] = line.shape[1:]
        total = total * size[d] + line.reshape(len(line), *outs, *inner)
    return total.reshape(len(total), math.prod(total.shape[1 : n + 1]), math.prod(total.shape[n + 1 :]) or 1)


def table_max(x: np.ndarray, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The maxima of planes laid flat at the places of a table, (planes or 1, outs, elements), and their places.

    NaN is larger than all, the last one the largest.
    """
    planes, outs = len(x), table.shape[1]
    if len(table) == 1:
        seen = x.take(table[0], 1)
    else:
        seen = np.take_along_axis(x, table.reshape(planes, outs * table.shape[2]), 1).reshape(table.shape)
    which = seen.argmax(-1)
    rows = np.arange(outs)
    out = seen.reshape(planes * outs, table.shape[2])[np.arange(planes * outs), which.reshape(-1)].reshape(planes, outs)
    if x.dtype.kind in "fV" and (odd := np.isnan(out)).any():
        which[odd] = seen.shape[-1] - 1 - np.isnan(seen[odd])[:, ::-1].argmax(-1)
    index = table[0, rows, which] if len(table) == 1 else table[np.arange(planes)[:, None], rows, which]
    return out, index


def sum_forward(x: np.ndarray, windows: Windows) -> np.ndarray:
    """The sum over each window, padding counting as zero."""
    made = _natively("sum_pool", [x], x.shape[1:], windows, False)
    if made is None:
        made = _by_matrix(x, windows, x.shape[1:], False)
    return _pooled(x, windows, np.add, 0) if made is None else made


def _by_matrix(x: np.ndarray, windows: Windows, size: Sequence[int], back: bool) -> np.ndarray | None:
    """The sums, or their adjoint, by one matrix or one a dimension; None for what these are not good for."""
    if x.dtype.char not in "fd" or not x.size:
        return None
    if x.size <= _FEW and (matrix := _ones(tuple(windows), tuple(size), x.dtype)) is not None:
        out = x.reshape(len(x), -1).dot(matrix.T if back else matrix)
        out = out.reshape(len(x), *(size if back else [w.out for w in windows]))
    else:
        lines = list(enumerate(zip(windows, size, strict=True)))
        narrow = [n <= _BAND * w.kernel and n * w.out <= _MATRIX for _, (w, n) in lines]
        if not all(narrow) or not any([w.stride < w.kernel for w in windows]):
            return None
        out = x
        for d, (w, n) in lines if back else lines[::-1]:
            if w.kernel > 1 or w.stride > 1 or w.before or w.out != n:
                matrix = _ones((w,), (n,), x.dtype)
                out = product(out, matrix.T if back else matrix, d + 1)
    # if not, 0 times infinity may be where it does not belong
    return out if np.isfinite(np.add.reduce(out, None)) else None


@lru_cache(64)
def _ones(windows: Windows, size: Sequence[int], dtype: Any) -> Any:
    """The matrix (elements, windows) with 1 where a window holds an element; None if it is large."""
    if math.prod(size) * math.prod(w.out for w in windows) > _MATRIX:
        return None
    matrix = np.ones((1, 1), dtype)
    for w, n in zip(windows, size, strict=True):
        at = np.arange(n)[:, None] + w.before - np.arange(w.out) * w.stride
        matrix = np.kron(matrix, (at >= 0) & (at < w.kernel * w.dilation) & (at % w.dilation == 0))
    return matrix


def sum_backward(g: np.ndarray, windows: Windows, size: Sequence[int]) -> np.ndarray:
    """The adjoint of `sum_forward`: each cotangent added to all elements of its window."""
    made = _natively("sum_pool_back", [g], size, windows, True)
    if made is None:
        made = _by_matrix(g, windows, size, True)
    if made is not None:
        return made
    out = np.empty((len(g), *size), g.dtype)

    def run(lo: int, hi: int) -> None:
        x = g[lo:hi]
        for d in reversed(range(len(windows))):
            w, n = windows[d], size[d]
            if w.kernel == 1 and w.stride == 1 and not w.before and w.out == n:
                continue
            shape = list(x.shape)
            shape[d + 1] = max(w.reach(), w.before + n)
            if w.stride >= w.kernel and w.dilation == 1:  # windows do not meet
                full = (
                    np.zeros(shape, g.dtype)
                    if w.stride > w.kernel or w.out * w.stride < shape[d + 1]
                    else np.empty(shape, g.dtype)
                )
                for k in range(w.kernel):
                    full[_axis(d, w.slice(k))] = x
            else:
                full = np.zeros(shape, g.dtype)
                for k in range(w.kernel):
                    target = full[_axis(d, w.slice(k))]
                    np.add(target, x, target)
            x = full[_axis(d, slice(w.before, w.before + n))]
        out[lo:hi] = x

    _blocks(out, run)
    return out


def max_backward(g: np.ndarray, x: np.ndarray, y: np.ndarray, windows: Windows) -> np.ndarray:
    """The adjoint of `max_forward` at x with the maxima y: each cotangent added to the first element that is one.

    Where there is NaN, to the last that is.
    """
    if not y.size:
        return np.zeros(x.shape, g.dtype)
    g = np.ascontiguousarray(g)
    if g.dtype == x.dtype and g.dtype.char in "fd" and x.size > _FEW and np.isfinite(np.add.reduce(y, None)):
        made = _natively("max_pool_back", [g, x, y], x.shape[1:], windows, True)
        if made is not None:
            return made
        out = np.empty(x.shape, g.dtype)

        def run(lo: int, hi: int) -> None:
            out[lo:hi] = _chosen(g[lo:hi], x[lo:hi], y[lo:hi], windows, 0)

        _blocks(x, run)
        return out
    n, length = len(x), math.prod(x.shape[1:])
    index = max_indices(x, windows)[1].reshape(n, -1) + np.arange(0, n * length, length)[:, None]
    if all([w.kernel <= w.stride and w.dilation == 1 for w in windows]):  # no element is in two windows
        out = np.zeros(x.shape, g.dtype)
        out.reshape(-1)[index] = g.reshape(n, -1)
        return out
    return add_rows(x.size, index.reshape(-1), g.reshape(-1, 1)).reshape(x.shape)


def _chosen(g: np.ndarray, x: np.ndarray, best: np.ndarray, windows: Windows, d: int) -> np.ndarray:
    """The adjoint at x, pooled along the dimensions before `d`: down each window along `d` to the first slice whose
    maximum is `best`, then on into that slice."""
    rest = windows[d + 1 :]
    w, n = windows[d], x.shape[d + 1]
    fill = _lowest(x.dtype)
    lines = _passes(x, windows, np.maximum, fill, d + 1)  # the maxima of the slices
    if w.kernel == 1 and w.stride == 1 and not w.before and w.out == n:
        got = g
    else:
        seen = _padded(lines, d, w, fill)
        apart = w.stride >= w.kernel and w.dilation == 1
        whole = apart and w.stride == w.kernel and w.out * w.stride == seen.shape[d + 1]
        full = np.empty(seen.shape, g.dtype) if whole else np.zeros(seen.shape, g.dtype)
        bits = f"i{g.dtype.itemsize}"
        left = g.view(bits)  # the cotangents that have found no place yet; a mask takes them as they are, bit by bit
        for k in range(w.kernel):
            target = full[_axis(d, w.slice(k))]
            if k < w.kernel - 1:
                hit = np.equal(seen[_axis(d, w.slice(k))], best)
                mask = np.negative(hit.view(np.int8)).astype(bits)
                taken = np.bitwise_and(left, mask, mask)
                left = np.bitwise_xor(left, taken)
            else:
                taken = left
            if apart:
                target[...] = taken.view(g.dtype)
            else:
                np.add(target, taken.view(g.dtype), target)
        got = full if full.shape == lines.shape else full[_axis(d, slice(w.before, w.before + n))]
    if not rest:
        return got
    return _chosen(np.ascontiguousarray(got), x, lines, windows, d + 1)


def max_indices(x: np.ndarray, windows: Windows) -> tuple[np.ndarray, np.ndarray]:
    """The largest element of each window, and the place of the first, or of the last NaN, in the plane laid out flat."""
    size, made = x.shape[1:], (len(x), *(w.out for w in windows))
    if 0 < x.size <= _FEW:
        out, index = table_max(x.reshape(len(x), -1), _table(tuple(windows), size)[None])
        return out.reshape(made), index.reshape(made)
    out, index = np.empty(made, x.dtype), np.empty(made, np.int64)
    fill = _lowest(x.dtype)
    odd = x.dtype.kind in "fV" and x.size > 0 and np.isnan(np.minimum.reduce(x, None))

    n, outs = len(windows), made[1:]

    def run(lo: int, hi: int) -> None:
        best, which = x[lo:hi], [None] * n  # along each dimension, the one of the window's elements
        for d in reversed(range(n)):
            w = windows[d]
            if w.kernel == 1 and w.stride == 1 and not w.before and w.out == size[d]:
                continue
            best = _padded(best, d, w, fill)
            most = best[_axis(d, w.slice(0))].copy()
            number = np.int8 if w.kernel < 128 else np.int64
            place: Any = np.zeros(most.shape, number)
            for k in range(1, w.kernel):
                seen = np.ascontiguousarray(best[_axis(d, w.slice(k))])  # comparing leaps costs more
                hit = np.greater(seen, most)
                if odd:
                    np.logical_or(hit, seen != seen, hit)
                np.maximum(most, seen, out=most)
                np.maximum(place, np.multiply(hit.view(np.int8), number(k)), out=place)
            best, which[d] = most, place
        out[lo:hi] = best
        line, total = np.arange(hi - lo).reshape(-1, *(1,) * n), 0
        for d, w in enumerate(windows):
            at: Any = np.arange(w.out).reshape(-1, *(1,) * (n - 1 - d))
            if which[d] is not None:
                count = math.prod(outs[d:])
                step = which[d].reshape(-1).take(line * count + np.arange(count).reshape(outs[d:]))
                at = w.places(size[d]).reshape(-1).take(at * w.kernel + step)
            line, total = line * size[d] + at, total * size[d] + at
        index[lo:hi] = total

    _blocks(x, run)
    return out, index
