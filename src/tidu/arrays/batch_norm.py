"""Batch norm: each channel (axis 1) of (n, c, ...) by its mean and deviation over everything else; and group norm.

The array is taken as lines, (n * c, s), a channel of a sample each. Large float32 matrices take one native loop a pass
where there is llvmlite; else a block of lines that fits in the L2 cache goes through all the steps before the next one
comes. Blocks are shared out between the threads, and depend on the shape alone. Short lines are no lines worth having:
their array is taken as (n, c * s), with the numbers of the channels along it, a few samples at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .native import address, kernel, over_pieces
from .reduce import sum_axes
from .rows import number, row_dot
from .threads import BIG, BLOCK, parallel, quiet

_FLOAT32 = np.dtype(np.float32)
_SHORT = 16  # elements of a line


def _folded(a: np.ndarray, work: Any) -> np.ndarray:
    n, c = a.shape[:2]
    return np.ascontiguousarray(a.reshape(n, c, math.prod(a.shape[2:])), work)


def _work(a: np.ndarray) -> Any:
    return _FLOAT32 if a.dtype.itemsize == 2 else a.dtype


# --- short lines ------------------------------------------------------------------------------------


def _run(x: np.ndarray, piece: Callable[[int, slice], None]) -> None:
    step, count = _pieces(x)
    if x.size <= BIG:
        with quiet():
            for i in range(count):
                piece(i, slice(i * step, (i + 1) * step))
    else:
        parallel(lambda i: piece(i, slice(i * step, (i + 1) * step)), count)


def _pieces(x: np.ndarray) -> tuple[int, int]:
    """How many rows go through at once, and how many pieces that makes."""
    n, width = x.shape
    step = max(1, min(-(-n // 4), BLOCK // max(1, width * x.itemsize)))
    return step, -(-n // step)


def _columns(x: np.ndarray, f: Callable[[slice], np.ndarray]) -> np.ndarray:
    """The sums down the columns of f(rows), a matrix for each piece of x."""
    parts = np.zeros((_pieces(x)[1], x.shape[1]), x.dtype)

    def piece(i: int, rows: slice) -> None:
        made = f(rows)
        parts[i] = np.ones(len(made), x.dtype).dot(made)

    _run(x, piece)
    return parts.sum(0)


def _short_moments(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean of each channel, and the sum of the squares of the deviations from it."""
    n, c, s = x.shape
    flat = x.reshape(n, c * s)
    mean = _columns(flat, lambda rows: flat[rows]).reshape(c, s).sum(1) / x.dtype.type(n * s)
    along = np.repeat(mean, s)

    def squares(rows: slice) -> np.ndarray:
        d = flat[rows] - along
        return np.multiply(d, d, d)

    return mean, _columns(flat, squares).reshape(c, s).sum(1)


def _short_affine(x: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> np.ndarray:
    n, c, s = x.shape
    flat, a, b = x.reshape(n, c * s), np.repeat(scale, s), np.repeat(shift, s)
    out = np.empty(flat.shape, x.dtype)

    def piece(_: int, rows: slice) -> None:
        y = np.multiply(flat[rows], a, out[rows])
        np.add(y, b, y)

    _run(flat, piece)
    return out


def _short_dots(g: np.ndarray, x: np.ndarray, mean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n, c, s = x.shape
    h, flat, m = g.reshape(n, c * s), x.reshape(n, c * s), np.repeat(mean, s)

    def products(rows: slice) -> np.ndarray:
        d = flat[rows] - m
        return np.multiply(d, h[rows], d)

    sums = _columns(h, lambda rows: h[rows])
    return sums.reshape(c, s).sum(1), _columns(flat, products).reshape(c, s).sum(1)


def _short_pulled(
    g: np.ndarray, x: np.ndarray, mean: np.ndarray, factor: np.ndarray, scale: np.ndarray, shift: np.ndarray
) -> np.ndarray:
    n, c, s = x.shape
    h, flat = g.reshape(n, c * s), x.reshape(n, c * s)
    m, f, a, b = (np.repeat(v, s) for v in (mean, factor, scale, shift))
    out = np.empty(flat.shape, x.dtype)

    def piece(_: int, rows: slice) -> None:
        d = flat[rows] - m
        np.multiply(d, f, d)
        np.add(d, b, d)
        y = np.multiply(h[rows], a, out[rows])
        np.subtract(y, d, y)

    _run(flat, piece)
    return out


# --- few elements: as few calls as can be ------------------------------------------------------------

_FEW = 1 << 13  # elements


def _sums(x: np.ndarray) -> np.ndarray:
    n, c, s = x.shape
    sums: np.ndarray = sum_axes(x.reshape(n, c), (0,)) if s == 1 else np.add.reduce(x, (0, 2))
    return sums.reshape(-1, 1)


def _few_forward(x: np.ndarray, weight: Any, bias: Any, eps: float) -> Any:
    work = x.dtype
    count = number(x.shape[0] * x.shape[2], work.char)
    mean = _sums(x) / count
    d = x - mean
    var = _sums(d * d) / count
    rstd = np.sqrt(var + number(eps, work.char))
    np.reciprocal(rstd, rstd)
    np.multiply(d, rstd if weight is None else rstd * weight.astype(work, copy=False)[:, None], d)
    if bias is not None:
        d += bias.astype(work, copy=False)[:, None]
    return d, mean[:, 0], rstd[:, 0], var[:, 0]


def _few_backward(g: np.ndarray, x: np.ndarray, scale: np.ndarray, m: np.ndarray, r: np.ndarray, gx: bool) -> Any:
    """What `backward` gives in training, before weight and bias are asked for."""
    d = x - m[:, None]
    sums, products = _sums(g), _sums(g * d)[:, 0] * r
    if gx:
        factor = scale / g.dtype.type(g.shape[0] * g.shape[2])
        np.multiply(d, (products * r * factor)[:, None], d)
        d += sums * factor[:, None]
        d = np.subtract(g * scale[:, None], d, d)
    return d if gx else None, products, sums[:, 0]


# --- batch norm -------------------------------------------------------------------------------------


def _moments(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n, c, s = x.shape
    count = x.dtype.type(n * s)
    if s < _SHORT:
        mean, squares = _short_moments(x)
        return mean, squares / count
    means, deviations = (v.reshape(n, c) for v in moments(x.reshape(n * c, s)))
    mean = means.mean(0)
    between = means - mean  # the lines' own means deviate too
    return mean, (deviations.sum(0) + (between * between).sum(0) * x.dtype.type(s)) / count


def forward(
    a: np.ndarray, weight: np.ndarray | None, bias: np.ndarray | None, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(a - mean) * rstd * weight + bias, and mean, rstd and the biased variance, (c,) each.

    Source: torch.native_batch_norm, training.
    """
    work = _work(a)
    x = _folded(a, work)
    if 0 < x.size <= _FEW:
        with quiet():
            out, mean, rstd, var = _few_forward(x, weight, bias, eps)
        return out.reshape(a.shape).astype(a.dtype, copy=False), mean, rstd, var
    if x.size:
        mean, var = _moments(x)
    else:
        mean = var = np.full(x.shape[1], np.nan, work)
    with quiet():
        rstd = (1 / np.sqrt(var + work.type(eps))).astype(work, copy=False)
    return affine(a, mean, rstd, weight, bias), mean, rstd, var


def affine(
    a: np.ndarray, mean: np.ndarray, rstd: np.ndarray, weight: np.ndarray | None, bias: np.ndarray | None
) -> np.ndarray:
    """(a - mean) * (rstd * weight) + bias for each channel."""
    work = _work(a)
    x = _folded(a, work)
    n, c, s = x.shape
    with quiet():
        scale = rstd if weight is None else rstd * weight.astype(work, copy=False)
        shift = -(mean.astype(work, copy=False) * scale)
        if bias is not None:
            shift = shift + bias.astype(work, copy=False)
    if not x.size:
        out = x
    elif s < _SHORT:
        out = _short_affine(x, scale, shift)
    else:
        out = line_affine(x.reshape(n * c, s), np.tile(scale, n), np.tile(shift, n))
    return out.reshape(a.shape).astype(a.dtype, copy=False)


def backward(
    g: np.ndarray,
    a: np.ndarray,
    weight: np.ndarray | None,
    mean: np.ndarray,
    rstd: np.ndarray,
    training: bool,
    need: tuple[bool, bool, bool] = (True, True, True),
) -> tuple[Any, Any, Any]:
    """The cotangents of input, weight and bias; None where `need` is False.

    With h = g * weight and z = (a - mean) * rstd: training rstd * (h - mean(h) - z * mean(h * z)), else rstd * h;
    sum(g * z); sum(g).
    """
    work = _work(a)
    x, h = _folded(a, work), _folded(g, work)
    n, c, s = x.shape
    m, r = mean.astype(work, copy=False), rstd.astype(work, copy=False)
    scale = r if weight is None else r * weight.astype(work, copy=False)
    if 0 < x.size <= _FEW and training:
        with quiet():
            few = _few_backward(h, x, scale, m, r, need[0])
        return _given(a, few, need)
    gb: Any = np.zeros(c, work)
    gz: Any = np.zeros(c, work)
    flat = (n * c, s)
    if x.size and ((training and need[0]) or need[1] or need[2]):
        if s < _SHORT:
            gb, products = _short_dots(h, x, m)
        else:
            sums = dots(h.reshape(flat), x.reshape(flat), np.tile(m, n))
            gb, products = (v.reshape(n, c).sum(0) for v in sums)
        gz = products * r
    gx: Any = None
    if need[0] and not x.size:
        gx = x
    elif need[0] and training:
        count = work.type(n * s)
        factor, shift = gz * r / count * scale, gb / count * scale
        if s < _SHORT:
            gx = _short_pulled(h, x, m, factor, scale, shift)
        else:
            tiles = [np.tile(v, n) for v in (m, factor, scale, shift)]
            gx = pulled(h.reshape(flat), x.reshape(flat), *tiles)
    elif need[0]:
        nothing = np.zeros(c, work)
        if s < _SHORT:
            gx = _short_affine(h, scale, nothing)
        else:
            gx = line_affine(h.reshape(flat), np.tile(scale, n), np.tile(nothing, n))
    return _given(a, (gx, gz, gb), need)


def _given(a: np.ndarray, made: tuple[Any, Any, Any], need: tuple[bool, bool, bool]) -> tuple[Any, Any, Any]:
    gx, gz, gb = (v.astype(a.dtype, copy=False) if n else None for v, n in zip(made, need, strict=True))
    return None if gx is None else gx.reshape(a.shape), gz, gb


# --- groups of channels -----------------------------------------------------------------------------

# An array of groups, (samples * groups, c * s): c channels of s elements in each. Group i has the channels
# i % groups * c and on.


def _grouped(v: np.ndarray | None, c: int, rows: int, work: Any) -> Any:
    """A number a channel as (rows, c)."""
    if v is None:
        return None
    per = v.astype(work, copy=False).reshape(-1, c)
    return np.tile(per, (rows // max(1, len(per)), 1))


def grouped_forward(
    x: np.ndarray, c: int, weight: np.ndarray | None, bias: np.ndarray | None, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(x - mean) * rstd * weight + bias for each row, c channels long; and mean and rstd, (rows, 1) each.

    Source: torch.native_group_norm.
    """
    rows, n = x.shape
    work = x.dtype
    if not x.size:
        mean, rstd = np.full((rows, 1), 0 if n else np.nan, work), np.full((rows, 1), np.nan, work)
        return np.empty((rows, c, n // c if c else 0), work), mean, rstd
    m, squares = moments(x)
    mean = m[:, None]
    with quiet():
        rstd = 1 / np.sqrt(squares[:, None] / work.type(n) + work.type(eps))
        if weight is None and bias is None:
            return line_affine(x, rstd[:, 0], -m * rstd[:, 0]).reshape(rows, c, n // c), mean, rstd
        w, b = _grouped(weight, c, rows, work), _grouped(bias, c, rows, work)
        scale = np.broadcast_to(rstd, (rows, c)) if w is None else w * rstd
        shift = -mean * scale if b is None else b - mean * scale
    s = n // c
    if s < _SHORT:
        out = np.multiply(x, np.repeat(scale, s, 1))
        np.add(out, np.repeat(shift, s, 1), out)
    else:
        out = line_affine(x.reshape(rows * c, s), np.ascontiguousarray(scale).reshape(-1), shift.reshape(-1))
    return out.reshape(rows, c, s), mean, rstd


def grouped_backward(
    g: np.ndarray,
    x: np.ndarray,
    c: int,
    groups: int,
    weight: np.ndarray | None,
    mean: np.ndarray,
    rstd: np.ndarray,
    need: tuple[bool, bool, bool] = (True, True, True),
) -> tuple[Any, Any, Any]:
    """The cotangents of the rows, and of weight and bias; None where `need` is False.

    From sum(g) and sum(g * (x - mean)) of each channel, of which those of the rows are made as well.
    """
    rows, n = x.shape
    work = x.dtype
    s = n // c if c else 0
    flat = (rows * c, s)
    gx = np.empty((rows, c, s), work) if need[0] else None
    if not x.size:
        nothing = np.zeros(groups * c, work)
        return gx, nothing if need[1] else None, nothing if need[2] else None
    m = np.repeat(mean.reshape(-1), c)
    sums, products = (v.reshape(rows, c) for v in dots(g.reshape(flat), x.reshape(flat), m))
    if need[0]:
        # r * (h - mean(h) - z * mean(h * z)) with h = g * weight, z = (x - mean) * r
        weights = np.ones((rows, c), work) if weight is None else _grouped(weight, c, rows, work)
        h = (sums * weights).sum(1, keepdims=True) / work.type(n)
        factor = (products * weights).sum(1, keepdims=True) * rstd * rstd * rstd / work.type(n)
        numbers = (np.repeat(factor, c), (weights * rstd).reshape(-1), np.repeat(h * rstd, c))
        gx = pulled(g.reshape(flat), x.reshape(flat), m, *numbers).reshape(rows, c, s)
    gw = (products * rstd).reshape(-1, groups * c).sum(0) if need[1] else None
    return gx, gw, sums.reshape(-1, groups * c).sum(0) if need[2] else None


_NATIVE = 1 << 12  # elements from which a native loop pays


def _natively(name: str, matrices: list[np.ndarray], numbers: list[np.ndarray]) -> bool:
    """Run a kernel (*first matrices, *numbers, ..) in the order of its arguments; False if there is none."""
    x = matrices[0]
    if x.dtype.char != "f" or x.size < _NATIVE:
        return False
    function = kernel(name)
    if function is None:
        return False
    rows, n = x.shape
    wide = [address(a) for a in matrices]
    narrow = [address(a) for a in numbers]

    def arguments(first: int, count: int, _: int) -> list[int]:
        return [*[p + 4 * first * n for p in wide], *[p + 4 * first for p in narrow], count, n]

    over_pieces(function, rows, n, arguments, BIG)
    return True


def _over_blocks(x: np.ndarray, piece: Callable[[slice], None]) -> None:
    n = len(x)
    if x.size <= _NATIVE:
        with quiet():
            piece(slice(0, n))
        return
    step = max(1, min(-(-n // 4), BLOCK // max(1, x.shape[1] * x.itemsize)))
    if x.size <= BIG:
        with quiet():
            for i in range(0, n, step):
                piece(slice(i, i + step))
    else:
        parallel(lambda i: piece(slice(i * step, (i + 1) * step)), -(-n // step))


def moments(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each line's mean, and the sum of the squares of the deviations from it."""
    mean, squares = np.empty(len(x), x.dtype), np.empty(len(x), x.dtype)
    if not _natively("line_moments", [x], [mean, squares]):
        count = x.dtype.type(x.shape[1])

        def piece(cut: slice) -> None:
            m = row_dot(x[cut], None) / count
            d = x[cut] - m
            mean[cut], squares[cut] = m[:, 0], row_dot(d, d)[:, 0]

        _over_blocks(x, piece)
    return mean, squares


def line_affine(x: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """x * scale + shift with a number of each for every line."""
    out = np.empty(x.shape, x.dtype)
    if not _natively("line_affine", [x, out], [scale, shift]):

        def piece(cut: slice) -> None:
            y = out[cut]
            np.multiply(x[cut], scale[cut, None], y)
            np.add(y, shift[cut, None], y)

        _over_blocks(x, piece)
    return out


def dots(g: np.ndarray, x: np.ndarray, mean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each line's sum of g, and of g * (x - mean)."""
    sums, products = np.empty(len(x), x.dtype), np.empty(len(x), x.dtype)
    if not _natively("line_dots", [g, x], [mean, sums, products]):

        def piece(cut: slice) -> None:
            sums[cut] = row_dot(g[cut], None)[:, 0]
            products[cut] = row_dot(g[cut], x[cut] - mean[cut, None])[:, 0]

        _over_blocks(x, piece)
    return sums, products


def pulled(
    g: np.ndarray, x: np.ndarray, mean: np.ndarray, factor: np.ndarray, scale: np.ndarray, shift: np.ndarray
) -> np.ndarray:
    """g * scale - (x - mean) * factor - shift with a number of each for every line."""
    out = np.empty(x.shape, x.dtype)
    if not _natively("line_pulled", [g, x, out], [mean, factor, scale, shift]):

        def piece(cut: slice) -> None:
            d: Any = x[cut] - mean[cut, None]
            np.multiply(d, factor[cut, None], d)
            y = np.multiply(g[cut], scale[cut, None], out[cut])
            np.subtract(y, d, y)
            np.subtract(y, shift[cut, None], y)

        _over_blocks(x, piece)
    return out
