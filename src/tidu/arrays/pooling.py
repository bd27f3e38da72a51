"""Pooling over windows of the last dimensions: maxima, sums, their adjoints, places of maxima; and resampling along one axis.

Maxima and sums are taken along one dimension after another, each time over strided slices of the array, so that a
window of k x k costs 2 k passes over ever smaller arrays. Planes go through in blocks that fit in the L2 cache, shared
out between the threads.

Arrays are (planes, ...); a `window` is (kernel, stride, dilation, before, out): the padding before the first element,
and the number of windows.

Resampling: each output element is a weighted sum of a few input elements, its taps. `nearest`, `linear`, `cubic` and
`antialiased` say which, for n elements to m: index (m, k) and weight (m, k; None for ones). `apply` takes the
sums, `adjoint` spreads a cotangent back. Source: torch.nn.functional.interpolate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .native import address, kernel, over_pieces
from .select import add_rows
from .threads import BIG, BLOCK, parallel, quiet

__all__ = [
    "Window", "adjoint", "antialiased", "apply", "cubic", "linear", "matrix_of", "max_backward",
    "max_forward", "max_indices", "nearest", "sum_backward", "sum_forward",
]  # fmt: skip

Windows = Sequence["Window"]
_NATIVE = 1 << 14  # elements from which a native loop pays
_FEW = 1 << 11  # elements up to which the places of the maxima are found window by window
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
        first = x[_axis(d, w.slice(0))]
        if w.kernel == 1:
            x = first
            continue
        out = ufunc(first, x[_axis(d, w.slice(1))])
        for k in range(2, w.kernel):
            ufunc(out, x[_axis(d, w.slice(k))], out=out)
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
    if x.size <= _FEW and len(windows) == 2 and _side_by_side(windows, x.shape[1:]):
        h, w = (v.kernel for v in windows)
        if 1 < h * w <= _MANY:
            first, second, *rest = (x[:, i::h, j::w] for i in range(h) for j in range(w))
            out = np.maximum(first, second)
            for part in rest:
                np.maximum(out, part, out=out)
            return out
    made = _natively("max_pool", [x], x.shape[1:], windows, False)
    if made is not None:
        return made
    return _pooled(x, windows, np.maximum, _lowest(x.dtype))


def sum_forward(x: np.ndarray, windows: Windows) -> np.ndarray:
    """The sum over each window, padding counting as zero."""
    made = _natively("sum_pool", [x], x.shape[1:], windows, False)
    return _pooled(x, windows, np.add, 0) if made is None else made


def sum_backward(g: np.ndarray, windows: Windows, size: Sequence[int]) -> np.ndarray:
    """The adjoint of `sum_forward`: each cotangent added to all elements of its window."""
    made = _natively("sum_pool_back", [g], size, windows, True)
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


def _side_by_side(windows: Windows, size: Sequence[int]) -> bool:
    """Whether the windows cover all, each element once."""
    return all([w == (w.kernel, w.kernel, 1, 0, w.out) and w.out * w.stride == n for w, n in zip(windows, size)])  # noqa: B905


def max_backward(g: np.ndarray, x: np.ndarray, y: np.ndarray, windows: Windows) -> np.ndarray:
    """The adjoint of `max_forward` at x with the maxima y: each cotangent added to the first element that is one.

    Where there is NaN, to the last that is.
    """
    if g.dtype != x.dtype or g.dtype.char not in "fd" or not y.size or not -np.inf < y.min() <= y.max():
        length = math.prod(x.shape[1:])
        index = max_indices(x, y, windows).reshape(len(x), -1) + np.arange(len(x))[:, None] * length
        return add_rows(x.size, index.reshape(-1), g.reshape(-1, 1)).reshape(x.shape)
    if x.size <= _FEW and len(windows) == 2 and _side_by_side(windows, x.shape[1:]):
        h, w = windows
        tiles = x.reshape(len(x), h.out, h.kernel, w.out, w.kernel).transpose(0, 1, 3, 2, 4)
        out = np.zeros(tiles.shape, g.dtype)
        flat = out.reshape(y.size, -1)
        flat[np.arange(y.size), tiles.reshape(flat.shape).argmax(1)] = g.reshape(-1)
        return out.transpose(0, 1, 3, 2, 4).reshape(x.shape)
    cot = np.ascontiguousarray(g)
    made = _natively("max_pool_back", [cot, x, y], x.shape[1:], windows, True)
    if made is not None:
        return made
    out = np.empty(x.shape, g.dtype)

    def run(lo: int, hi: int) -> None:
        out[lo:hi] = _chosen(cot[lo:hi], x[lo:hi], y[lo:hi], windows, 0)

    _blocks(x, run)
    return out


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


def max_indices(x: np.ndarray, y: np.ndarray, windows: Windows) -> np.ndarray:
    """For each window the place of its first maximum, or last NaN, in the plane laid out flat, as int64."""
    size = x.shape[1:]
    kernel = [w.kernel for w in windows]
    strides = [math.prod(size[d + 1 :]) for d in range(len(size))]
    starts: Any = 0
    for d, w in enumerate(windows):
        line = (np.arange(w.out) * w.stride - w.before) * strides[d]
        starts = np.add(starts, line.reshape(-1, *(1,) * (len(windows) - 1 - d)))
    index = np.empty(y.shape, np.int64)
    fill = _lowest(x.dtype)

    def run(lo: int, hi: int) -> None:
        part, best = x[lo:hi], y[lo:hi]
        inside = np.ones((1, *size), np.bool_)
        for d, w in enumerate(windows):
            part = _padded(part, d, w, fill)
            inside = _padded(inside, d, w, False)
        offset = np.zeros(best.shape, np.int64)
        left = np.ones(best.shape, np.bool_)
        for k in np.ndindex(*kernel):
            at = (slice(None), *(w.slice(j) for w, j in zip(windows, k, strict=True)))
            seen = part[at]
            hit = seen == best
            np.logical_and(hit, left, hit)
            np.logical_and(hit, inside[at], hit)
            np.logical_xor(left, hit, left)
            if best.dtype.kind in "fV":
                np.logical_or(hit, seen != seen, hit)
            step = sum(j * w.dilation * s for j, w, s in zip(k, windows, strides, strict=True))
            np.copyto(offset, step, where=hit)
        index[lo:hi] = offset + starts

    _blocks(x, run)
    return index


def matrix_of(n: int, out: int, dtype: Any) -> np.ndarray:
    """The (out, n) matrix that averages adaptively: row i over floor(i n / out) up to ceil((i + 1) n / out)."""
    m = np.zeros((out, n), dtype)
    for i in range(out):
        lo, hi = i * n // out, -(-(i + 1) * n // out)
        m[i, lo:hi] = 1 / (hi - lo)
    return m


Taps = tuple[np.ndarray, Any]


def _step(n: int, m: int, scale: float | None, corners: bool, real: Any) -> Any:
    """How far apart the output elements lie, in input elements."""
    if corners:
        return real(n - 1) / real(m - 1) if m > 1 else real(0)
    return real(1 / scale) if scale is not None and scale > 0 else real(n) / real(m)


def nearest(n: int, m: int, scale: float | None, exact: bool) -> Taps:
    """The element below i * step, or with `exact` the one that holds the middle, (i + 1/2) * step."""
    real = np.float32
    step = real(1 / scale) if scale is not None and scale > 0 else real(n) / real(m)
    i = np.arange(m, dtype=real)
    at = np.floor((i + real(0.5)) * step if exact else i * step)
    return np.minimum(at.astype(np.int64), n - 1)[:, None], None


def linear(n: int, m: int, scale: float | None, corners: bool, real: Any) -> Taps:
    """The two neighbours, by their nearness; the element itself where the length stays, whatever the scale."""
    if n == m:
        return np.arange(n)[:, None], None
    step = _step(n, m, scale, corners, real)
    i = np.arange(m, dtype=real)
    at = i * step if corners else np.maximum((i + real(0.5)) * step - real(0.5), 0)
    low = np.minimum(at.astype(np.int64), n - 1)
    t = np.clip(at - low.astype(real), 0, 1).astype(real)
    return np.stack([low, np.minimum(low + 1, n - 1)], 1), np.stack([1 - t, t], 1)


def cubic_weights(t: Any, a: float = -0.75) -> list[Any]:
    """The weights of the elements at -1, 0, 1, 2 for a place 0 <= t < 1 between 0 and 1."""

    def near(x: Any) -> Any:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Any) -> Any:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def cubic(n: int, m: int, scale: float | None, corners: bool, real: Any) -> Taps:
    """The four neighbours, by Keys' cubic convolution."""
    step = _step(n, m, scale, corners, real)
    i = np.arange(m, dtype=real)
    at = i * step if corners else (i + real(0.5)) * step - real(0.5)
    low = np.floor(at)
    index = low.astype(np.int64)[:, None] + np.arange(-1, 3)
    weights = np.stack(cubic_weights(at - low), 1).astype(real)
    return np.clip(index, 0, n - 1), weights


_HALF_WIDTH = {"linear": 1.0, "cubic": 2.0, "lanczos": 3.0}


def _filter(kind: str, x: Any) -> Any:
    x = np.abs(x)
    if kind == "linear":
        return np.maximum(1 - x, 0)
    if kind == "cubic":
        a = -0.5
        near, far = ((a + 2) * x - (a + 3)) * x * x + 1, ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return np.where(x < 1, near, np.where(x < 2, far, 0))
    return np.where(x < 3, np.sinc(x) * np.sinc(x / 3), 0)


def antialiased(n: int, m: int, scale: float | None, corners: bool, real: Any, kind: str) -> Taps:
    """All elements under a filter, which is as wide as the step where that exceeds one; themselves where the length
    stays, whatever the scale."""
    if n == m:
        return np.arange(n)[:, None], None
    step = float(_step(n, m, scale, corners, real))
    wide = max(step, 1.0)
    support = _HALF_WIDTH[kind] * wide
    center = step * (np.arange(m) + 0.5)
    first = np.maximum((center - support + 0.5).astype(np.int64), 0)
    stop = np.minimum((center + support + 0.5).astype(np.int64), n)
    k = max(1, math.ceil(support) * 2 + 1)
    place = first[:, None] + np.arange(k)
    w = _filter(kind, (place - center[:, None] + 0.5) / wide) * (place < stop[:, None])
    total = w.sum(1, keepdims=True)
    w = np.where(total == 0, w, w / np.where(total == 0, 1, total))
    return np.minimum(place, n - 1), w.astype(real)


def _shaped(w: np.ndarray, ndim: int, axis: int) -> np.ndarray:
    return w.reshape(-1, *(1,) * (ndim - 1 - axis))


def apply(x: np.ndarray, taps: Taps, axis: int) -> np.ndarray:
    """The sums along `axis`."""
    index, weight = taps
    if weight is None:
        return x.take(index[:, 0], axis)
    out = None
    for k in range(index.shape[1]):
        part = x.take(index[:, k], axis)
        np.multiply(part, _shaped(weight[:, k], x.ndim, axis), part)
        out = part if out is None else np.add(out, part, out)
    return out  # type: ignore[return-value]


def adjoint(g: np.ndarray, taps: Taps, n: int, axis: int) -> np.ndarray:
    """The adjoint of `apply` for n elements: a product with the matrix of the weights."""
    index, weight = taps
    m = len(index)
    matrix = np.zeros((n, m), g.dtype)
    rows = np.broadcast_to(np.arange(m)[:, None], index.shape)
    np.add.at(matrix, (index, rows), 1 if weight is None else weight.astype(g.dtype, copy=False))
    shape = g.shape
    before, after = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    if after == 1:
        out = g.reshape(before, m) @ matrix.T
    else:
        out = np.matmul(matrix, np.ascontiguousarray(g).reshape(before, m, after))
    return out.reshape(*shape[:axis], n, *shape[axis + 1 :])
