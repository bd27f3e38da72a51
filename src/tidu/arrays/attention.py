"""Attention, softmax(q k^T * scale + mask) v: the scores of a few heads fit in the cache and are never kept.

Backward makes them anew from the saved logarithms of the rows' sums. Heads are shared out between the threads. Arrays
are (batch, heads, length, width) in any layout of memory: heads that lie side by side are mostly used where they are.

What no query may see is cleared from the exponentials bit by bit instead of being minus infinity before: exponentials
of infinities are slow, and an infinity or NaN is cleared too.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tidu.arrays.native import address, kernel, share
from tidu.arrays.rows import row_sum
from tidu.arrays.threads import BLOCK, exponential, get_num_threads, one_blas_thread, parallel, quiet

Array = np.ndarray[Any, Any]
At = tuple[slice, slice]  # some of the batch, some of the heads
_matmul, _mul, _add, _sub, _div, _log, _and = (
    np.matmul, np.multiply, np.add, np.subtract, np.divide, np.log, np.bitwise_and
)  # fmt: skip
_lowest: Any = np.minimum.reduce
_highest: Any = np.maximum.reduce

# Multiplications in a product over all heads from which threads share them: for fewer the calls are too short.
_WORK = 1 << 22
# Sums of exponentials between these lost nothing by leaving out the subtraction of the row's maximum.
_LEAST, _MOST = 1e-2, 1e4
_TILE = 128  # queries that go through together where each sees only the keys before it


def _bits(seen: Any, dtype: Any) -> Array:
    """All ones where `seen`, as integers of this floating type's size."""
    kind = np.dtype(f"u{dtype.itemsize}")
    return np.where(seen, ~kind.type(0), kind.type(0))


class Mask:
    """What is added to the scores, and which of them count.

    Args:
        mask: booleans, True for those that count, or numbers to add; two or four dims, which broadcast.
        dtype: that of the scores.
    """

    def __init__(self, mask: Array, dtype: Any) -> None:
        self.mask = mask = mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
        self.bits = self.added = None
        if mask.dtype.kind == "b":
            self.bits = _bits(mask, dtype)
            return
        self.added = mask.astype(dtype, copy=False)
        hidden = np.isneginf(self.added)
        if hidden.any():
            self.bits = _bits(~hidden, dtype)
            self.added = np.where(hidden, dtype.type(0), self.added)
            if not self.added.any():
                self.added = None

    def numbers(self, shape: tuple[int, ...]) -> Array:
        """What is added to the scores, float32, minus infinity for those that do not count."""
        mask = self.mask
        if mask.dtype.kind == "b":
            mask = np.where(mask, np.float32(0), np.float32(-np.inf))
        return np.broadcast_to(_rows(mask.astype(np.float32, copy=False)), shape)


# What the native loops are for: so many multiplications in a product over all heads, heads of so many keys and numbers.
# The threads share from so many on.
_NATIVE, _NATIVE_KEYS, _NATIVE_WIDTH, _NATIVE_SHARED = 1 << 18, 512, 128, 1 << 20


def _natively(
    name: str, arrays: list[Array], keys: int, causal: bool, mask: Mask | None, scale: float, turned: int
) -> bool:
    """Run a kernel of native_attention.py, which turns so many arrays; False where there is none."""
    batch, heads, length, width = arrays[0].shape
    function = kernel(name)
    if function is None:
        return False
    arrays.append(arrays[0] if mask is None else mask.numbers((batch, heads, length, keys)))
    table = np.array(
        [
            *map(address, arrays),
            *[s // a.itemsize for a in arrays for s in a.strides[:3]],
            heads, length, keys, width, causal, mask is not None,
        ],
        np.int64,
    )  # fmt: skip
    where, count = address(table), batch * heads
    work = count * length * width * keys
    pieces = min(count, 2 * get_num_threads()) if work >= _NATIVE_SHARED else 1
    step = -(-count // pieces)

    scratch = 32 * (turned * width + (turned + 1) * keys + 1)
    spaces = np.empty((pieces, scratch), np.float32)
    first = address(spaces)
    share(
        function,
        [
            (where, lo, min(count, lo + step), first + 4 * scratch * i, scale)
            for i, lo in enumerate(range(0, count, step))
        ],
    )
    return True


def _suits(q: Array, k: Array) -> bool:
    others, width = k.shape[2:]
    return q.dtype.char == "f" and others <= _NATIVE_KEYS and width <= _NATIVE_WIDTH and q.size * others >= _NATIVE


def _rows(x: Array) -> Array:
    """With contiguous rows."""
    return x if x.strides[3] == x.itemsize or x.shape[3] == 1 else np.ascontiguousarray(x)


@functools.lru_cache(16)
def _corner(rows: int, keys: int, dtype: Any) -> Array:
    """Which keys a query sees, from the first query's on."""
    return _bits(np.tri(rows, keys, dtype=bool), dtype)


class _Tile:
    """Some queries that go through together, and the keys that they see: the first `keys`, fewer by `corner`."""

    def __init__(self, first: int, last: int, others: int, causal: bool, mask: Mask | None, dtype: Any) -> None:
        self.rows, self.first = slice(first, last), first
        self.keys = min(others, last) if causal else others
        self.corner = _corner(last - first, self.keys - first, dtype) if causal and self.keys > first else None
        self.mask = mask
        self.size = (last - first) * self.keys

    def _part(self, m: Array, at: At) -> Array:
        cut = zip(m.shape, (*at, self.rows, slice(self.keys)), strict=True)
        return m[tuple(slice(None) if n == 1 else c for n, c in cut)]

    def scores(self, at: At, q: Array, turned: Array, unit: float) -> Array:
        """q k^T + mask in this unit."""
        s = _matmul(q[:, :, self.rows], turned[..., : self.keys])
        if self.mask is not None and self.mask.added is not None:
            part = self._part(self.mask.added, at)
            _add(s, part if unit == 1 else part * s.dtype.type(unit), s)
        return s

    def clear(self, p: Array, at: At) -> None:
        """Make the exponentials zero that do not count."""
        if self.corner is not None:
            after = p[..., self.first :].view(self.corner.dtype)
            _and(after, self.corner, after)
        if self.mask is not None and self.mask.bits is not None:
            whole = p.view(self.mask.bits.dtype)
            _and(whole, self._part(self.mask.bits, at), whole)

    def largest(self, s: Array, at: At) -> Array:
        """The rows' largest score that counts, 0 where none does."""
        low = s.dtype.type(-np.inf)
        if self.corner is not None:
            s = s.copy()
            s[..., self.first :] = np.where(self.corner, s[..., self.first :], low)
        if self.mask is not None and self.mask.bits is not None:
            s = np.where(self._part(self.mask.bits, at), s, low)
        m = _highest(s, 3, None, None, True)
        return np.where(np.isneginf(m), s.dtype.type(0), m)


def _tiles(q: Array, k: Array, causal: bool, mask: Mask | None) -> list[_Tile]:
    """The last queries first: their products are written before the others' are added."""
    length = q.shape[2]
    step = _TILE if causal else length
    return [
        _Tile(first, min(length, first + step), k.shape[2], causal, mask, q.dtype) for first in range(0, length, step)
    ][::-1]


def _pieces(q: Array, bytes_each: int) -> list[At]:
    """All heads of all of the batch, a few at a time: as many as fit in the cache, in few calls, for the threads'."""
    batch, heads = q.shape[:2]
    step = max(1, min(BLOCK // max(1, bytes_each), -(-batch * heads // max(2, get_num_threads()))))
    if step >= heads:
        step //= heads
        return [(slice(i, i + step), slice(None)) for i in range(0, batch, step)]
    return [(slice(i, i + 1), slice(j, j + step)) for i in range(batch) for j in range(0, heads, step)]


def _share(run: Callable[[At], None], pieces: list[At], work: int) -> None:
    if len(pieces) > 1 and work >= _WORK and get_num_threads() > 1:
        with one_blas_thread() as held:
            if held:
                parallel(lambda i: run(pieces[i]), len(pieces))
                return
    with quiet():
        for at in pieces:
            run(at)


def _dense(x: Array) -> Array:
    """With rows that do not all fall on the same few lines of the cache, as those of a round distance do."""
    distance = x.strides[2]
    return x if distance % 1024 or distance == x.shape[3] * x.itemsize else np.ascontiguousarray(x)


def _side_by_side(like: Array) -> Array:
    """An array like this one with the heads of a row next to each other, where that is no round distance."""
    batch, heads, length, width = like.shape
    if heads * width * like.itemsize % 1024 == 0:
        return np.empty(like.shape, like.dtype)
    return np.empty((batch, length, heads, width), like.dtype).swapaxes(1, 2)


def _beside(x: Array, column: Array) -> Array:
    """x with one more column: (..., length, width + 1)."""
    out = np.empty((*x.shape[:3], x.shape[3] + 1), x.dtype)
    out[..., :-1] = x
    out[..., -1:] = column
    return out


def _turn(x: Array, factor: float, out: Array) -> Array:
    """out = x^T * factor: products with a contiguous copy take less time than with the view, by more than the copy."""
    return _mul(x.swapaxes(2, 3), x.dtype.type(factor), out)


def _sums(s: Array) -> Array:
    return row_sum(s.reshape(-1, s.shape[-1])).reshape(*s.shape[:-1], 1)


def forward(q: Array, k: Array, v: Array, scale: float, mask: Mask | None, causal: bool, out: Array) -> Array:
    """Write the result into `out`; return the logarithm of the sum of each row's exponentials, with one column, to base
    2 from native loops, which alone read it then.

    A query that sees no key gives zeros. `causal`: query i sees keys 0 to i.
    """
    dtype, others = q.dtype, k.shape[2]
    lse = np.empty((*q.shape[:3], 1), dtype)
    if not out.size or not others:
        out[...] = 0
        lse[...] = -np.inf
        return lse
    if _suits(q, k):
        if _natively("attention", [*map(_rows, (q, k, v)), out, lse], others, causal, mask, scale, 1):
            return lse
    tiles = _tiles(q, k, causal, mask)
    exp, unit = exponential(dtype)

    def run(at: At) -> None:
        q_, k_, v_ = (_dense(a[at]) for a in (q, k, v))
        out_, lse_ = out[at], lse[at]
        turned = _turn(k_, scale * unit, np.empty((*q_.shape[:2], k.shape[3], others), dtype))
        for tile in tiles:
            s = tile.scores(at, q_, turned, unit)
            exp(s, s)
            tile.clear(s, at)
            total, sums = _sums(s), lse_[:, :, tile.rows]
            if _lowest(total, None) > _LEAST and _highest(total, None) < _MOST:  # as it mostly is; False for NaN
                _log(total, sums)
            else:
                s = tile.scores(at, q_, turned, unit)
                m = tile.largest(s, at)
                _sub(s, m, s)
                exp(s, s)
                tile.clear(s, at)
                total = _sums(s)
                _log(total, sums)
                _add(sums, m / dtype.type(unit), sums)
                total = np.where(total == 0, dtype.type(1), total)
            _div(_matmul(s, v_[:, :, : tile.keys]), total, out_[:, :, tile.rows])

    _share(run, _pieces(q, tiles[0].size * q.itemsize), out.size * others)
    return lse


def backward(
    g: Array, q: Array, k: Array, v: Array, out: Array, lse: Array, scale: float, mask: Mask | None, causal: bool
) -> tuple[Array, Array, Array]:
    """The cotangents of q, k and v: with p the softmax and s = p * (g v^T - sum(g * out)) * scale,
    s k, s^T q and p^T g.
    """
    gq, gk, gv = map(_side_by_side, (q, k, v))  # as the layer that made them would have it
    dtype, others = q.dtype, k.shape[2]
    if not out.size or not others:
        for a in (gq, gk, gv):
            a[...] = 0
        return gq, gk, gv
    if _suits(q, k):
        arrays = [*map(_rows, (g, q, k, v)), np.ascontiguousarray(lse), gq, gk, gv]
        if _natively("attention_backward", arrays, others, causal, mask, scale, 2):
            return gq, gk, gv
    tiles = _tiles(q, k, causal, mask)
    exp, unit = exponential(dtype)
    if mask is not None:
        lse = np.where(np.isneginf(lse), dtype.type(0), lse)
    # what is subtracted from a row of a product is one more column of its left factor, with ones in the right one
    beside_q = _beside(q, lse * dtype.type(-unit))
    beside_g = _beside(g, _sums(_mul(g, out, np.empty(g.shape, dtype))) * dtype.type(-scale))
    most = tiles[0].keys

    def run(at: At) -> None:
        q_, k_, v_, g_ = (_dense(a[at]) for a in (q, k, v, g))
        gq_, gk_, gv_ = gq[at], gk[at], gv[at]
        with_lse, with_total = beside_q[at], beside_g[at]
        turned = np.empty((2, *k_.shape[:2], k.shape[3] + 1, others), dtype)
        turned[..., -1, :] = 1
        turned_k, turned_v = turned
        _turn(k_, scale * unit, turned_k[:, :, :-1])
        _turn(v_, scale, turned_v[:, :, :-1])
        gk_[:, :, most:] = gv_[:, :, most:] = 0
        for tile in tiles:
            rows, keys, first = tile.rows, tile.keys, tile is tiles[0]
            p = tile.scores(at, with_lse, turned_k, unit)
            exp(p, p)
            tile.clear(p, at)
            _onto(gv_[:, :, :keys], p.swapaxes(2, 3), g_[:, :, rows], first)
            s = _matmul(with_total[:, :, rows], turned_v[..., :keys])
            _mul(s, p, s)
            _matmul(s, k_[:, :, :keys], out=gq_[:, :, rows])
            _onto(gk_[:, :, :keys], s.swapaxes(2, 3), q_[:, :, rows], first)

    _share(run, _pieces(q, 2 * tiles[0].size * q.itemsize), out.size * others)
    return gq, gk, gv


def _onto(target: Array, a: Array, b: Array, first: bool) -> None:
    """target = a b for the first tile, target += a b for the others."""
    if first:
        _matmul(a, b, out=target)
    else:
        _add(target, _matmul(a, b), target)
