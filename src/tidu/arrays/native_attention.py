"""Attention over heads of short sequences as native loops: per head, some queries at a time, all in the nearest cache.

A kernel takes (table, first head, last head, scratch, scale). The table holds addresses, then for each array the
distances between batches, heads and rows, then sizes; every row is contiguous.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tidu.arrays.native_functions import exp, log
from tidu.arrays.native_loops import WIDTH, Lanes, Loops, Value
from tidu.arrays.native_product import product_of, turn_of

__all__ = ["ATTENTION", "TILE"]

TILE = 32  # queries that go through together
_LOWEST = -3.4028234663852886e38  # of finite numbers


class _Head:
    """One head's arrays: where it lies, and its rows' distances."""

    def __init__(self, k: Loops, names: Sequence[str]) -> None:
        self.k, b = k, k.builder
        table = b.bitcast(k.arguments[0], k.int.as_pointer())
        numbers = iter(range(100))

        def number() -> Any:
            return b.load(b.gep(table, [k.whole(next(numbers))]))

        self.places = {name: b.inttoptr(number(), k.single.as_pointer()) for name in names}
        self.strides = {name: (number(), number(), number()) for name in names}
        self.heads, self.length, self.others, self.width, self.causal, self.masked = (number() for _ in range(6))

    def at(self, name: str, n: Any) -> tuple[Any, Any]:
        b = self.k.builder
        over_batch, over_heads, over_rows = self.strides[name]
        start = b.add(b.mul(b.sdiv(n, self.heads), over_batch), b.mul(b.srem(n, self.heads), over_heads))
        return self.k.at(self.places[name], start), over_rows


def _padded(k: Loops, n: Any) -> Any:
    return k.builder.and_(k.builder.add(n, k.whole(WIDTH - 1)), k.whole(-WIDTH))


def _tiles(k: Loops, head: _Head, body: Callable[[Any, Any, Any], None]) -> None:
    """body(first query, how many, keys that they see) for one tile after the other."""
    b = k.builder

    def tile(i: Any) -> tuple[()]:
        left = b.sub(head.length, i)
        count = b.select(b.icmp_signed("<", left, k.whole(TILE)), left, k.whole(TILE))
        last = b.add(i, count)
        fewer = b.and_(b.icmp_signed("!=", head.causal, k.whole(0)), b.icmp_signed("<", last, head.others))
        body(i, count, b.select(fewer, last, head.others))
        return ()

    k.loop(head.length, TILE, (), tile)


def _limit(k: Loops, head: _Head, query: Any, keys: Any) -> Any:
    """How many keys a query sees."""
    b = k.builder
    own = b.add(query, k.whole(1))
    fewer = b.and_(b.icmp_signed("!=", head.causal, k.whole(0)), b.icmp_signed("<", own, keys))
    return b.select(fewer, own, keys)


def _mask(k: Loops, head: _Head, row: Any, mask: Any, seen: Any) -> None:
    """Add the mask to a row of scores, where there is one; minus infinity wins over everything."""
    b = k.builder

    def step(at: Lanes) -> list[Value]:
        m = at.load(mask)
        hidden = b.fcmp_ordered("<", m.raw, k.spread(_LOWEST).raw)
        at.store(Value(k, b.select(hidden, m.raw, (at.load(row) + m).raw)), row)
        return []

    k.vectors(b.select(b.icmp_signed("!=", head.masked, k.whole(0)), seen, k.whole(0)), (), step)


def _clear(k: Loops, row: Any, seen: Any, keys: Any) -> None:
    """Zeros behind the keys that a query sees."""
    k.rest(seen, keys, (), lambda at: [at.store(k.spread(0.0), row)] and [])


def _forward(k: Loops) -> None:
    _, first, last, scratch, scale = k.arguments
    b = k.builder
    head = _Head(k, ("q", "k", "v", "out", "lse", "mask"))
    product, turn = product_of(k), turn_of(k)
    padded = _padded(k, head.others)
    turned = scratch
    scores = k.at(scratch, b.mul(padded, head.width))
    sums = k.at(scores, b.mul(padded, k.whole(TILE)))
    maxima = k.at(sums, k.whole(TILE))
    scale = k.scalar(scale)

    def one(n: Any) -> tuple[()]:
        (q, over_q), (key, over_k), (v, over_v), (out, over_out), (lse, _), (mask, over_mask) = (
            head.at(name, n) for name in ("q", "k", "v", "out", "lse", "mask")
        )
        turn(key, over_k, head.others, head.width, turned, padded, scale.raw)

        def tile(i: Any, count: Any, keys: Any) -> None:
            product(k.at(q, b.mul(i, over_q)), over_q, 1, turned, padded, scores, padded, count, keys, head.width, 0)

            def row(r: Any) -> None:
                x = k.at(scores, b.mul(r, padded))
                query = b.add(i, r)
                seen = _limit(k, head, query, keys)
                _mask(k, head, x, k.at(mask, b.mul(query, over_mask)), seen)
                low = -math.inf
                (m,) = k.vectors(
                    seen, [k.spread(low)], lambda at, m: [(lambda y: m.where_above(y, y))(at.load(x, low))]
                )
                most = k.total(m, lambda y, z: y.where_above(z, z)).where_above(_LOWEST, 0.0)
                m = k.spread(most)

                def exponentials(at: Lanes, s: Value) -> list[Value]:
                    e = exp(at.load(x, low) - m)
                    at.store(e, x)
                    return [s + e]

                (s,) = k.vectors(seen, [k.spread(0.0)], exponentials)
                b.store(most.raw, k.at(maxima, r))
                b.store(k.total(s, lambda y, z: y + z).raw, k.at(sums, r))
                _clear(k, x, seen, keys)

            k.rows(count, row)
            target = k.at(out, b.mul(i, over_out))
            product(scores, padded, 1, v, over_v, target, over_out, count, head.width, keys, 0)

            def divided(r: Any) -> None:
                total = k.scalar(b.load(k.at(sums, r)))
                divisor = k.spread(1.0 / total.where_above(0.0, 1.0))
                y = k.at(target, b.mul(r, over_out))
                k.vectors(head.width, (), lambda at: [at.store(at.load(y) * divisor, y)] and [])

            def logarithms(at: Lanes) -> list[Value]:
                total = at.load(sums)
                at.store(total.chooses(log(total) + at.load(maxima), -math.inf), k.at(lse, i))
                return []

            k.rows(count, divided)
            k.vectors(count, (), logarithms)

        _tiles(k, head, tile)
        return ()

    k.steps(first, last, 1, (), one)


def _backward(k: Loops) -> None:
    _, first, last, scratch, scale = k.arguments
    b = k.builder
    names = ("g", "q", "k", "v", "out", "lse", "gq", "gk", "gv", "mask")
    head = _Head(k, names)
    product, turn = product_of(k), turn_of(k)
    padded = _padded(k, head.others)
    size, piece = b.mul(padded, head.width), b.mul(padded, k.whole(TILE))
    turned_k, turned_v = scratch, k.at(scratch, size)
    weights = k.at(turned_v, size)
    slopes = k.at(weights, piece)
    scale = k.scalar(scale)

    def one(n: Any) -> tuple[()]:
        at_ = {name: head.at(name, n) for name in names}
        (g, over_g), (q, over_q), (key, over_k), (v, over_v), (out, over_out) = (at_[x] for x in names[:5])
        (lse, over_lse), (gq, over_gq), (gk, over_gk), (gv, over_gv), (mask, over_mask) = (at_[x] for x in names[5:])
        turn(key, over_k, head.others, head.width, turned_k, padded, scale.raw)
        turn(v, over_v, head.others, head.width, turned_v, padded, scale.raw)

        def clear(j: Any) -> None:
            for target, over in ((gk, over_gk), (gv, over_gv)):
                place = k.at(target, b.mul(j, over))
                k.vectors(head.width, (), lambda at, place=place: [at.store(k.spread(0.0), place)] and [])

        k.rows(head.others, clear)

        def tile(i: Any, count: Any, keys: Any) -> None:
            queries, cotangents = k.at(q, b.mul(i, over_q)), k.at(g, b.mul(i, over_g))
            product(queries, over_q, 1, turned_k, padded, weights, padded, count, keys, head.width, 0)
            product(cotangents, over_g, 1, turned_v, padded, slopes, padded, count, keys, head.width, 0)

            def row(r: Any) -> None:
                query = b.add(i, r)
                x, y = k.at(weights, b.mul(r, padded)), k.at(slopes, b.mul(r, padded))
                gr, result = k.at(g, b.mul(query, over_g)), k.at(out, b.mul(query, over_out))
                (s,) = k.vectors(
                    head.width, [k.spread(0.0)], lambda at, s: [at.load(gr).times_plus(at.load(result), s)]
                )
                dot = k.spread(k.total(s, lambda y, z: y + z) * scale)
                below = k.spread(k.scalar(b.load(k.at(lse, b.mul(query, over_lse)))).where_above(_LOWEST, 0.0))
                seen = _limit(k, head, query, keys)
                _mask(k, head, x, k.at(mask, b.mul(query, over_mask)), seen)

                def both(at: Lanes) -> list[Value]:
                    p = exp(at.load(x) - below)
                    at.store(p, x)
                    at.store(p * (at.load(y) - dot), y)
                    return []

                k.vectors(seen, (), both)
                _clear(k, x, seen, keys)
                _clear(k, y, seen, keys)

            k.rows(count, row)
            product(slopes, padded, 1, key, over_k, k.at(gq, b.mul(i, over_gq)), over_gq, count, head.width, keys, 0)
            product(weights, 1, padded, cotangents, over_g, gv, over_gv, keys, head.width, count, 1)
            product(slopes, 1, padded, queries, over_q, gk, over_gk, keys, head.width, count, 1)

        _tiles(k, head, tile)
        return ()

    k.steps(first, last, 1, (), one)


ATTENTION: dict[str, tuple[str, Callable[[Loops], None]]] = {
    "attention": ("pnnpf", _forward),
    "attention_backward": ("pnnpf", _backward),
}
