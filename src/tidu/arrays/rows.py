"""Softmax and layer norm: functions that read each row of an array several times.

Whole-array NumPy reads memory once a step. Here a block of rows that fits in the L2 cache goes through all the
steps before the next one comes, and blocks are shared out between the threads. "Row" means the elements
along the given axis; for an axis that is not the last a block is a slab (outer, axis, inner).

Blocks and the order of summation depend on the shape alone, so the bits do not depend on the threads.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from tidu.arrays.native import address, count_pieces, over_pieces, over_rows
from tidu.arrays.native import kernel as kernel_of
from tidu.arrays.threads import exponential, one_blas_thread, parallel, quiet, step_of

__all__ = [
    "layer_norm", "layer_norm_backward", "log_softmax", "log_softmax_backward", "logsumexp", "row_dot", "row_sum",
    "softmax", "softmax_backward",
]  # fmt: skip

_FLOAT32 = np.dtype(np.float32)
_exp, _mul, _sub, _add, _div, _log = np.exp, np.multiply, np.subtract, np.add, np.divide, np.log
_add_reduce: Any = np.add.reduce
_max_reduce: Any = np.maximum.reduce
_min_reduce: Any = np.minimum.reduce
_vecdot: Any = np.vecdot

_BLOCK = 1 << 21  # bytes of a block; a few calls on each, which should be long for the interpreter's lock
_ALONE = 1 << 14  # elements from which BLAS must be told not to share by itself
_LARGE = 1 << 16  # elements from which there are blocks
# Elements from which the threads share. Between many calls, short ones on small arrays, the interpreter's lock goes
# back and forth, so that layer norm has bounds of its own: for long rows, short ones, and native loops.
_SHARED, _SHARED_LONG, _SHARED_SHORT, _SHARED_NATIVE = 1 << 17, 1 << 19, 1 << 21, 1 << 18
_NATIVE = 1 << 15  # elements from which native loops are worth compiling
_TWO = 1 << 19  # elements up to which two blocks are enough: short calls on two threads wait for one another
_DOT = 4096  # elements of one dot; longer rows are summed in pieces, which keeps the error near pairwise summation's
_NARROW = 32  # elements of a row up to which the reductions of NumPy that start anew at every row are slow

# Elements of a row up to which a product with one number a row spends most of its time between rows, if it has a few.
_SHORT = 256
_FEW = 32
_FEW_ROWS = 128  # rows up to which a turned copy does not pay

_ONES = {kind: np.ones(_DOT, kind) for kind in "fd"}


@functools.lru_cache(256)
def number(value: float, kind: str) -> np.ndarray:
    """A number as an array, which NumPy takes faster than Python's."""
    return np.array(value, kind)


def _outer(column: np.ndarray, row: np.ndarray, out: np.ndarray) -> None:
    """out = column * row, by BLAS: for short rows half the time of NumPy's broadcasting."""
    column.dot(row[None], out)


def row_sum(x: np.ndarray) -> np.ndarray:
    """Sums of a block along axis 1, that axis kept: for a matrix BLAS's product with ones."""
    return row_dot(x, None)


def row_dot(x: np.ndarray, y: Any, scratch: np.ndarray | None = None) -> np.ndarray:
    """Sums of x * y along axis 1, that axis kept; y may be one row; None stands for ones. `scratch` is for products."""
    kind = x.dtype.char
    if x.ndim == 2 and (kind == "f" or kind == "d"):
        n = x.shape[1]
        vector = _ONES[kind][:n] if y is None else y
        if n <= _DOT:
            if vector.ndim == 1:
                return x.dot(vector)[:, None]
            return _vecdot(x, y)[:, None] if n > _NARROW else _mul(x, y, scratch).dot(_ONES[kind][:n])[:, None]
        parts = [row_dot(x[:, i : i + _DOT], None if y is None else y[..., i : i + _DOT]) for i in range(0, n, _DOT)]
        return row_dot(np.concatenate(parts, 1), None)
    return _add_reduce(x if y is None else x * y, 1, None, None, True)


def _exponentials(x: np.ndarray, out: np.ndarray) -> None:
    """out = exp(x), by the fast way unless some rows show elements for which it would be slow, as masked ones are."""
    exp, unit = exponential(x.dtype)
    if unit != 1 and x.size > _TINY:
        _mul(x, unit, out)
        if _min_reduce(out[:: -(-len(out) // _LOOKED_AT)], None) > _LEAST_EXPONENT:  # False for NaN
            exp(out, out)
            return
    _exp(x, out)


def _row_max(x: np.ndarray) -> np.ndarray:
    if x.ndim == 2 and x.shape[1] <= _NARROW:  # a turned copy costs less than so many short reductions
        return _max_reduce(np.ascontiguousarray(x.T), 0)[:, None]
    return _max_reduce(x, 1, None, None, True)


def _slabs(a: np.ndarray, axis: int) -> tuple[int, int, int]:
    shape = a.shape
    axis %= a.ndim or 1
    outer, n, inner = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
    return outer, n, inner


def _over_blocks(
    kernel: Callable[..., Any],
    ins: Sequence[np.ndarray],
    outs: Sequence[np.ndarray],
    half: bool,
    numbered: bool = False,
    shared: int = _SHARED,
) -> None:
    """kernel(*in_blocks, *out_blocks): arrays (outer, n) or (outer, n, inner) cut along outer, then inner.

    Where `half`, the kernel sees float32 copies. A `numbered` kernel is given the number of the block first. From
    more than `shared` elements on the threads share.
    """
    a = ins[0]
    item = 4 if half else a.itemsize
    outer = len(a)
    if a.size <= _LARGE and not half:
        with one_blas_thread() if a.size > _ALONE else nullcontext(), quiet():
            kernel(*([0] if numbered else []), *ins, *outs)
        return
    line = max(1, a.size // max(outer, 1)) * item  # bytes of one outer index
    block = _BLOCK if len(ins) < 4 else _BLOCK // 2  # the more arrays, the less of each
    most = max(1, block // line)
    if shared < a.size <= _TWO:
        step = min(most, -(-outer // 2))
    else:
        step = step_of(outer, most, 1) if a.size > shared else max(1, most // 2)
    cuts: list[tuple[slice, ...]] = [(slice(i, i + step),) for i in range(0, outer, step)]
    if a.ndim == 3 and line > 2 * _BLOCK:  # long slabs: cut the inner axis too
        width = max(512, _BLOCK // (a.shape[1] * item))
        cuts = [(c[0], slice(None), slice(j, j + width)) for c in cuts for j in range(0, a.shape[2], width)]

    def run(i: int) -> None:
        cut = cuts[i]
        blocks = [x[cut] for x in ins]
        results = [x[cut] for x in outs]
        if half:
            blocks = [x.astype(_FLOAT32) for x in blocks]
            targets = [np.empty(x.shape, _FLOAT32) for x in results]
        else:
            targets = results
        if numbered:
            kernel(i, *blocks, *targets)
        else:
            kernel(*blocks, *targets)
        if half:
            for result, target in zip(results, targets, strict=True):
                result[...] = target

    if a.size <= shared:
        with one_blas_thread(), quiet():
            for i in range(len(cuts)):
                run(i)
    else:
        with one_blas_thread():
            parallel(run, len(cuts))


def _apply(kernel: Callable[..., Any], axis: int, *ins: np.ndarray, shared: int = 0) -> np.ndarray:
    """kernel(*ins, out) with an `out` like the inputs, over their blocks along `axis`. A native loop in its place is for
    the threads to share from more than `shared` elements on."""
    a = ins[0]
    out = np.empty(a.shape, a.dtype)
    if a.size:
        outer, n, inner = _slabs(a, axis)
        shape = (outer, n) if inner == 1 else (outer, n, inner)
        if inner == 1 and a.size > _NATIVE and a.dtype == _FLOAT32:
            rows = [np.ascontiguousarray(x).reshape(shape) for x in ins]
            if over_rows(kernel.__name__.lstrip("_"), rows, out.reshape(shape), shared):
                return out
        _over_blocks(kernel, [x.reshape(shape) for x in ins], [out.reshape(shape)], a.dtype.itemsize == 2)
    return out


def _is_small(a: np.ndarray) -> bool:
    """Whether there is nothing to share."""
    return 0 < a.size <= _TINY and a.itemsize > 2


def _few_within(s: np.ndarray) -> bool:
    """`_within` for a few numbers; NaN is as good, for its row is NaN in any case."""
    sums = s.ravel().tolist()
    return min(sums) > _LEAST and max(sums) < _MOST


def _sum_along(a: np.ndarray, axis: int) -> np.ndarray:
    """The sums of a small array along an axis, which is kept."""
    n = a.shape[axis]
    if axis == a.ndim - 1 and n <= _DOT:
        return a.dot(_ONES[a.dtype.char][:n])[..., None]
    return _add_reduce(a, axis, None, None, True)


def _small_max(a: np.ndarray, axis: int) -> np.ndarray:
    """The maxima of a small array along an axis, which is kept."""
    if axis == 1 and a.ndim == 2 and a.size > _FEW_ROWS * a.shape[1]:
        return _row_max(a)
    return _max_reduce(a, axis, None, None, True)


# --- softmax ------------------------------------------------------------------------------------

# exp(x) may be taken without subtracting the row's maximum first if its sum then turns out to be neither so large
# that accuracy was lost (log(1e4) = 9.2 is the largest element there can be) nor so small that something that
# counts underflowed. It nearly always is so, and saves two of five steps. (One row outside sends its block the
# careful way.)
_LEAST, _MOST = 1e-2, 1e4
_LOOKED_AT = 16  # rows of a block
_LEAST_EXPONENT = -126.0  # of two, in float32; below are numbers that are not normal, and zero
_TINY = 1 << 13  # elements up to which looking at the sums costs more than it saves


def _within(s: np.ndarray) -> bool:
    return bool(_min_reduce(s, None) > _LEAST and _max_reduce(s, None) < _MOST)  # False for NaN


def _shift(x: np.ndarray, out: np.ndarray) -> np.ndarray:
    """out = x - max; return the maximum along axis 1."""
    m = _row_max(x)
    _sub(x, m, out)
    return m


def _softmax(x: np.ndarray, out: np.ndarray) -> None:
    _exponentials(x, out)
    s = row_sum(out)
    if _within(s):
        _div(out, s, out)
        return
    _shift(x, out)
    _exp(out, out)
    _div(out, row_sum(out), out)


def softmax(a: np.ndarray, axis: int) -> np.ndarray:
    """exp(a) / sum(exp(a)) along `axis`. Source: torch.softmax."""
    if _is_small(a):
        y = _exp(a if a.flags.c_contiguous else a.copy())
        s = _sum_along(y, axis)
        if s.size > _FEW or not _few_within(s):
            _sub(a, _small_max(a, axis), y)
            s = _sum_along(_exp(y, y), axis)
        return _div(y, s, y)
    return _apply(_softmax, axis, a)


def _softmax_backward(g: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    _sub(g, row_dot(g, y, out), out)
    _mul(out, y, out)


def softmax_backward(g: np.ndarray, out: np.ndarray, axis: int) -> np.ndarray:
    """(g - sum(g * out)) * out along `axis`, with softmax's result `out`."""
    if _is_small(g):
        t = _mul(g, out, np.empty(out.shape, out.dtype))
        _sub(g, _sum_along(t, axis), t)
        return _mul(t, out, t)
    return _apply(_softmax_backward, axis, g, out, shared=_SHARED_LONG)  # it computes little


def _log_softmax(x: np.ndarray, out: np.ndarray) -> None:
    _exponentials(x, out)
    s = row_sum(out)
    if _within(s):
        _sub(x, _log(s), out)
        return
    _shift(x, out)
    _sub(out, _log(row_sum(_exp(out))), out)


def log_softmax(a: np.ndarray, axis: int) -> np.ndarray:
    """a - logsumexp(a) along `axis`. Source: torch.log_softmax."""
    if _is_small(a):
        a = a if a.flags.c_contiguous else a.copy()
        s = _sum_along(_exp(a), axis)
        if s.size > _FEW or not _few_within(s):
            a = a - _small_max(a, axis)
            s = _sum_along(_exp(a), axis)
        return _sub(a, _log(s, s))
    return _apply(_log_softmax, axis, a)


def _log_softmax_backward(g: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    _exponentials(y, out)
    _mul(out, row_sum(g), out)
    _sub(g, out, out)


def log_softmax_backward(g: np.ndarray, out: np.ndarray, axis: int) -> np.ndarray:
    """g - exp(out) * sum(g) along `axis`, with log_softmax's result `out`."""
    if _is_small(g):
        t = _exp(out, np.empty(out.shape, out.dtype))
        _mul(t, _sum_along(g, axis), t)
        return _sub(g, t, t)
    return _apply(_log_softmax_backward, axis, g, out)


def _logsumexp(x: np.ndarray, out: np.ndarray) -> None:
    if x.size > _TINY:
        e = np.empty_like(x)
        _exponentials(x, e)
        s = row_sum(e)
        if _within(s):
            _log(s, out)
            return
    m = _row_max(x)
    m = np.where(np.isfinite(m), m, np.zeros((), x.dtype))  # a row of -inf gives -inf, not NaN
    e = x - m
    _log(row_sum(_exp(e, e)), out)
    _add(out, m, out)


def logsumexp(a: np.ndarray, axis: int, keepdims: bool = False) -> np.ndarray:
    """log(sum(exp(a))) along `axis`. Source: torch.logsumexp (one dimension)."""
    axis %= a.ndim or 1
    shape = a.shape[:axis] + ((1,) if keepdims else ()) + a.shape[axis + 1 :]
    if _is_small(a):
        s = _sum_along(_exp(a if a.flags.c_contiguous else a.copy()), axis)
        if s.size <= _FEW and _few_within(s):
            return _log(s, s).reshape(shape)
    outer, n, inner = _slabs(a, axis)
    if not n or not a.size:
        return np.full(shape, -np.inf, a.dtype)
    flat_shape, out_shape = ((outer, n), (outer, 1)) if inner == 1 else ((outer, n, inner), (outer, 1, inner))
    out = np.empty(out_shape, a.dtype)
    _over_blocks(_logsumexp, [a.reshape(flat_shape)], [out], a.dtype.itemsize == 2)
    return out.reshape(shape)


# --- layer norm ---------------------------------------------------------------------------------


def layer_norm(
    a: np.ndarray, n_axes: int, weight: np.ndarray | None = None, bias: np.ndarray | None = None, eps: float = 1e-5
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(a - mean) * rstd * weight + bias over the last `n_axes` axes, and mean and rstd for the backward.

    rstd = 1 / sqrt(var + eps), var biased; mean and rstd have shape (..., 1, ..., 1), float32 for half precision.
    Source: torch.native_layer_norm.
    """
    lead = a.shape[: a.ndim - n_axes]
    rows, n = math.prod(lead), math.prod(a.shape[a.ndim - n_axes :])
    if _is_small(a) and n <= _DOT:
        return _small_layer_norm(a, lead + (1,) * n_axes, a.reshape(rows, n), weight, bias, eps)
    half = a.dtype.itemsize == 2
    work = _FLOAT32 if half else a.dtype
    w = None if weight is None else weight.reshape(n).astype(work, copy=False)
    b = None if bias is None else bias.reshape(n).astype(work, copy=False)
    out = np.empty(a.shape, a.dtype)
    mean, rstd = np.empty((rows, 1), work), np.empty((rows, 1), work)

    tail = (1,) * n_axes
    if a.size > _NATIVE and a.dtype == _FLOAT32 and _native_layer_norm(a, w, b, out, mean, rstd, eps):
        return out, mean.reshape(lead + tail), rstd.reshape(lead + tail)

    short = n <= _SHORT and (w is None or math.isfinite(w.dot(w)))
    ones = _ONES[work.char][:n] if short else None
    rows_of_two = (
        np.stack([ones if w is None else w, np.zeros(n, work) if b is None else b]) if short else None  # type: ignore[list-item]
    )

    def moments(x: np.ndarray, mean: np.ndarray, rstd: np.ndarray) -> bool:
        """The mean and variance in one pass; False where a mean is so large that accuracy would be lost."""
        _div(row_sum(x), n, mean)
        square = mean * mean
        _sub(row_dot(x, x) / n, square, rstd)
        return bool((square <= rstd).all())  # False for NaN

    def kernel(x: np.ndarray, mean: np.ndarray, rstd: np.ndarray, y: np.ndarray) -> None:
        if rows_of_two is not None and len(x) >= _FEW and moments(x, mean, rstd):
            _add(rstd, eps, rstd)
            _div(1.0, np.sqrt(rstd, rstd), rstd)
            _outer(rstd, rows_of_two[0], y)
            _mul(y, x, y)
            columns = np.ones((len(x), 2), work)
            _mul(mean[:, 0], -rstd[:, 0], columns[:, 0])
            _add(y, columns.dot(rows_of_two), y)  # - mean * rstd * weight + bias
            return
        if x.size > _LARGE:  # to read one cold array while another is written costs no more than the writing
            np.copyto(y, x)
            x = y
        _div(row_sum(x), n, mean)
        _sub(x, mean, y)
        _div(row_dot(y, y), n, rstd)
        _add(rstd, eps, rstd)
        np.sqrt(rstd, rstd)
        _div(1.0, rstd, rstd)
        _mul(y, rstd, y)
        if w is not None:
            _mul(y, w, y)
        if b is not None:
            _add(y, b, y)

    if a.size:
        shared = _SHARED_SHORT if n <= _SHORT else _SHARED_LONG
        _over_blocks(kernel, [a.reshape(rows, n)], [mean, rstd, out.reshape(rows, n)], half, shared=shared)
    else:
        mean[...] = 0 if n else np.nan
        rstd[...] = np.nan
    return out, mean.reshape(lead + tail), rstd.reshape(lead + tail)


def _small_layer_norm(
    a: np.ndarray, kept: tuple[int, ...], x: np.ndarray, w: Any, b: Any, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n, kind = x.shape[1], x.dtype.char
    count = number(n, kind)
    mean = x.dot(_ONES[kind][:n])[:, None]
    _div(mean, count, mean)
    y = _sub(x, mean, np.empty(x.shape, x.dtype))
    rstd = _vecdot(y, y)[:, None]
    _div(rstd, count, rstd)
    _add(rstd, number(eps, kind), rstd)
    np.sqrt(rstd, rstd)
    np.reciprocal(rstd, rstd)
    _mul(y, rstd, y)
    if w is not None:
        _mul(y, w.reshape(n), y)
    if b is not None:
        _add(y, b.reshape(n), y)
    return y.reshape(a.shape), mean.reshape(kept), rstd.reshape(kept)


def _native_layer_norm(
    a: np.ndarray, w: Any, b: Any, out: np.ndarray, mean: np.ndarray, rstd: np.ndarray, eps: float
) -> bool:
    function = kernel_of("layer_norm")
    if function is None:
        return False
    rows = len(mean)
    n = a.size // rows
    w, b = np.ones(n, a.dtype) if w is None else w, np.zeros(n, a.dtype) if b is None else b
    w, b = np.ascontiguousarray(w), np.ascontiguousarray(b)
    x = np.ascontiguousarray(a).reshape(rows, n)
    px, pw, pb, py, pm, pr = map(address, (x, w, b, out, mean, rstd))

    def arguments(lo: int, count: int, _: int) -> tuple[float, ...]:
        at, of = 4 * lo * n, 4 * lo
        return px + at, pw, pb, py + at, pm + of, pr + of, count, n, eps

    over_pieces(function, rows, n, arguments, _SHARED_NATIVE)
    return True


def _native_layer_norm_backward(
    g: np.ndarray, a: np.ndarray, mean: np.ndarray, rstd: np.ndarray, w: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    function = kernel_of("layer_norm_backward")
    if function is None:
        return None
    rows, n = g.shape
    g, x = np.ascontiguousarray(g), np.ascontiguousarray(a)
    w = np.ones(n, a.dtype) if w is None else np.ascontiguousarray(w)
    mean, rstd = np.ascontiguousarray(mean), np.ascontiguousarray(rstd)
    ga = np.empty((rows, n), a.dtype)
    pieces = count_pieces(rows, n)
    gw, gb = np.zeros((pieces, n), a.dtype), np.zeros((pieces, n), a.dtype)

    pg, px, pm, pr, pw, pa, pgw, pgb = map(address, (g, x, mean, rstd, w, ga, gw, gb))

    def arguments(lo: int, count: int, i: int) -> tuple[int, ...]:
        at, of, part = 4 * lo * n, 4 * lo, 4 * i * n
        return pg + at, px + at, pm + of, pr + of, pw, pa + at, pgw + part, pgb + part, count, n

    over_pieces(function, rows, n, arguments, _SHARED_NATIVE)
    return (ga, gw[0], gb[0]) if pieces == 1 else (ga, _add_reduce(gw, 0), _add_reduce(gb, 0))


def layer_norm_backward(
    g: np.ndarray,
    a: np.ndarray,
    mean: np.ndarray,
    rstd: np.ndarray,
    n_axes: int,
    weight: np.ndarray | None = None,
    need: tuple[bool, bool, bool] = (True, True, True),
) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray | None]:
    """The cotangents of layer_norm's input, weight and bias; None where `need` is False.

    With h = g * weight and z = (a - mean) * rstd:  rstd * (h - mean(h) - z * mean(h * z)),  sum(g * z),  sum(g).
    """
    lead = a.ndim - n_axes
    rows, n = math.prod(a.shape[:lead]), math.prod(a.shape[lead:])
    half = a.dtype.itemsize == 2
    work = _FLOAT32 if half else a.dtype
    w = None if weight is None else weight.reshape(n).astype(work, copy=False)
    need_a, need_w, need_b = need
    shape = a.shape[lead:]
    if a.size > _NATIVE and a.dtype == _FLOAT32 and need_a:
        flat = (g.reshape(rows, n), a.reshape(rows, n), mean.reshape(rows, 1), rstd.reshape(rows, 1))
        done = _native_layer_norm_backward(*flat, w)
        if done is not None:
            gx, gw, gb = done
            return (gx.reshape(a.shape), gw.reshape(shape) if need_w else None, gb.reshape(shape) if need_b else None)
    ga = np.empty(a.shape, a.dtype) if need_a else None
    short = n <= _SHORT
    parts: dict[int, tuple[Any, Any]] = {}

    def kernel(number: int, g: np.ndarray, x: np.ndarray, mean: np.ndarray, rstd: np.ndarray, *out: np.ndarray) -> None:
        t = np.empty(g.shape, g.dtype)
        _mul(g, x, t)
        gw = gb = None
        if need_w:  # sum(g * (x - mean) * rstd) over the rows, as two products with a vector
            r = rstd[:, 0]
            gw = r.dot(t) - (r * mean[:, 0]).dot(g)
        if need_b:
            gb = np.ones(len(g), g.dtype).dot(g)
        parts[number] = gw, gb
        if need_a:
            # rstd * (h - mean(h) - z * mean(h * z)) = h * rstd + x * slope + shift, with one number of each kind a row
            total = row_dot(g, w)
            slope = mean * total
            _sub(slope, row_dot(t, w), slope)
            _mul(slope, rstd * rstd * rstd / n, slope)
            shift = mean * slope
            _add(shift, total * rstd / n, shift)
            y = out[0]
            if short and len(x) >= _FEW:
                ones = _ONES[work.char][:n]
                _outer(slope, ones, t)
                _mul(t, x, t)
                _outer(shift, ones, y)
                _sub(t, y, t)
                _outer(rstd, ones if w is None else w, y)
                _mul(g, y, y)
            else:
                _mul(x, slope, t)
                _sub(t, shift, t)
                if w is None:
                    _mul(g, rstd, y)
                else:
                    _mul(rstd, w, y)
                    _mul(g, y, y)
            _add(y, t, y)

    if a.size:
        ins = [g.reshape(rows, n), a.reshape(rows, n), mean.reshape(rows, 1), rstd.reshape(rows, 1)]
        results = [ga.reshape(rows, n)] if ga is not None else []
        _over_blocks(kernel, ins, results, half, True, _SHARED_SHORT if short else _SHARED_LONG)

    def total(k: int) -> np.ndarray:
        if not parts:
            return np.zeros(shape, a.dtype)
        sums = [parts[i][k] for i in sorted(parts)]
        whole = sums[0] if len(sums) == 1 else _add_reduce(np.stack(sums), 0)
        return whole.reshape(shape).astype(a.dtype, copy=False)

    return ga, total(0) if need_w else None, total(1) if need_b else None
