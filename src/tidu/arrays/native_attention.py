"""Products of matrices whose right factor fits in the L2 cache, and attention by them, as native loops."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tidu.arrays.native_loops import WIDTH, Lanes, Loops, Value, log, power

# ------------------------------------------------------------------ products, and matrices turned on their side

# Eight rows of the result by 32 columns are summed in registers, over all of the inner dimension in order: the bits depend
# on nothing else, and neither factor is copied first.


def _function(k: Loops, name: str, kinds: str) -> tuple[Any, Loops]:
    """A function in the module, of pointers (p), int64 (n) and floats (f), to be written."""
    types = {"p": k.single.as_pointer(), "n": k.int, "f": k.single}
    function = k.ir.Function(k.module, k.ir.FunctionType(k.ir.VoidType(), [types[c] for c in kinds]), name)
    function.linkage = "internal"
    function.attributes.add("noinline")
    builder = k.ir.IRBuilder(function.append_basic_block("entry"))
    return function, Loops(k.ir, k.module, builder, function.args)


def _caller(k: Loops, function: Any) -> Callable[..., None]:
    def call(*arguments: Any) -> None:
        k.builder.call(function, [k.whole(x) if isinstance(x, int) else x for x in arguments])

    return call


def product_of(k: Loops) -> Callable[..., None]:
    """A function in the module, c = a b, of (a, distances of its rows and columns, b, of its rows, c, of its rows, rows of
    c, its columns, the others, start): what the sums start from, zero (0), c (1), or the row at this address."""
    function, f = _function(k, "product_part", "pnnpnpnnnnn")
    a, over_rows, over_columns, right, right_rows, out, out_rows, rows, columns, inner, start = function.args
    b = f.builder
    starting = b.icmp_signed("!=", start, f.whole(0))
    from_row = b.icmp_unsigned(">", start, f.whole(1))
    given = b.inttoptr(start, f.single.as_pointer())
    tall, wide = (8, 2) if k.wide else (4, 1)

    def tile(i: Any, count: int, places: Sequence[Lanes]) -> tuple[()]:
        left = [f.at(a, b.mul(b.add(i, f.whole(r)), over_rows)) for r in range(count)]
        target = [f.at(out, b.mul(b.add(i, f.whole(r)), out_rows)) for r in range(count)]
        zero = f.spread(0.0)

        def step(j: Any, *sums: Value) -> list[Value]:
            row = f.at(right, b.mul(j, right_rows))
            vectors = [at.load(row) for at in places]
            column = b.mul(j, over_columns)
            found = []
            for r in range(count):
                x = f.spread(f.scalar(b.load(f.at(left[r], column))))
                found += [x.times_plus(v, s) for v, s in zip(vectors, sums[r * len(places) :], strict=False)]
            return found

        first = [
            Value(f, b.select(starting, at.load(b.select(from_row, given, t)).raw, zero.raw))
            for t in target
            for at in places
        ]
        sums = f.loop(inner, 1, first, step)
        for r in range(count):
            for at, s in zip(places, sums[r * len(places) :], strict=False):
                at.store(s, target[r])
        return ()

    def lines(first: Any, last: Any, count: int) -> None:
        def some(i: Any) -> tuple[()]:
            whole = b.mul(b.sdiv(columns, f.whole(wide * WIDTH)), f.whole(wide * WIDTH))
            f.loop(
                whole, wide * WIDTH, (),
                lambda j: tile(i, count, [Lanes(f, b.add(j, f.whole(WIDTH * v)), None) for v in range(wide)]),
            )  # fmt: skip
            f.steps(whole, columns, WIDTH, (), lambda j: tile(i, count, [f.some(j, columns)]))
            return ()

        f.steps(first, last, count, (), some)

    whole = b.mul(b.sdiv(rows, f.whole(tall)), f.whole(tall))
    lines(f.whole(0), whole, tall)
    lines(whole, rows, 1)
    b.ret_void()
    return _caller(k, function)


def turn_of(k: Loops) -> Callable[..., None]:
    """A function in the module, out = x^T * scale, of (x, distance of its rows, its rows, its columns, out, distance of
    its rows, scale)."""
    function, f = _function(k, "turn_part", "pnnnpnf")
    x, over_rows, rows, width, out, out_rows, scale = function.args
    b = f.builder
    factor, one = f.scalar(scale), f.spread(f.scalar(scale))
    halves = [i // 2 + WIDTH * (i % 2) for i in range(2 * WIDTH)]
    picks = [f.ir.Constant(f.ints, halves[half : half + WIDTH]) for half in (0, WIDTH)]

    def block(i: Any, j: Any) -> tuple[()]:
        source, target = f.at(x, b.add(b.mul(i, over_rows), j)), f.at(out, b.add(b.mul(j, out_rows), i))
        here = Lanes(f, f.whole(0), None)
        lines = [here.load(f.at(source, b.mul(f.whole(r), over_rows))).raw for r in range(WIDTH)]
        for _ in range(4):  # each riffles the first half into the second
            pairs = list(zip(lines[: WIDTH // 2], lines[WIDTH // 2 :], strict=True))
            lines = [b.shuffle_vector(low, high, pick) for low, high in pairs for pick in picks]
        for r, line in enumerate(lines):
            here.store(Value(f, line) * one, f.at(target, b.mul(f.whole(r), out_rows)))
        return ()

    def singly(i: Any, first: Any) -> tuple[()]:
        def one_by_one(j: Any) -> tuple[()]:
            value = f.scalar(b.load(f.at(x, b.add(b.mul(i, over_rows), j)))) * factor
            b.store(value.raw, f.at(out, b.add(b.mul(j, out_rows), i)))
            return ()

        f.steps(first, width, 1, (), one_by_one)
        return ()

    whole_rows, whole_width = (b.and_(n, f.whole(-WIDTH)) for n in (rows, width))
    f.loop(whole_rows, WIDTH, (), lambda i: f.loop(whole_width, WIDTH, (), lambda j: block(i, j)))
    f.loop(whole_rows, 1, (), lambda i: singly(i, whole_width))
    f.steps(whole_rows, rows, 1, (), lambda i: singly(i, f.whole(0)))
    b.ret_void()
    return _caller(k, function)


PRODUCTS: dict[str, tuple[str, Callable[[Loops], None]]] = {
    "product": ("pnnpnpnnnnn", lambda k: product_of(k)(*k.arguments)),
    "turn": ("pnnnpnf", lambda k: turn_of(k)(*k.arguments)),
}


# ------------------------------------------------------------------ attention over heads of short sequences

# Some queries of a head at a time, all in the nearest cache. A kernel takes (table, first head, last head, scratch, scale).
# The table holds addresses, then for each array the distances between batches, heads and rows, then sizes; every row is
# contiguous. Scores lie turned, a row for each key: what happens to a query happens in its lane. They are exponents of
# two, not of e, and so are the logarithms of the rows' sums, which the backward pass reads.

TILE = 2 * WIDTH  # queries that go through together
_LOWEST = -3.4028234663852886e38  # of finite numbers
_UNIT = 1 / math.log(2)


class _Heads:
    """The arrays: where a head lies in them, and its rows' distances."""

    def __init__(self, k: Loops, names: Sequence[str]) -> None:
        self.k, self.b, self.names = k, k.builder, names
        b = k.builder
        table = b.bitcast(k.arguments[0], k.int.as_pointer())
        numbers = iter(range(100))

        def number() -> Any:
            return b.load(b.gep(table, [k.whole(next(numbers))]))

        self.places = [b.inttoptr(number(), k.single.as_pointer()) for _ in names]
        self.strides = [(number(), number(), number()) for _ in names]
        self.heads, self.length, self.others, self.width, causal, masked = (number() for _ in range(6))
        self.causal, self.masked = (b.icmp_signed("!=", x, k.whole(0)) for x in (causal, masked))
        self.product, self.turn = product_of(k), turn_of(k)
        self.scale = k.scalar(k.arguments[4])
        self.free = k.arguments[3]  # what is left of the scratch memory

    def scratch(self, rows: Any) -> Any:
        place = self.free
        self.free = self.k.at(place, self.b.mul(rows, self.k.whole(TILE)))
        return place

    def each(self, body: Callable[[dict[str, tuple[Any, Any]]], None]) -> None:
        """body({name: (place, distance of rows)}) for every head."""
        b = self.b

        def one(n: Any) -> tuple[()]:
            batch, head = b.sdiv(n, self.heads), b.srem(n, self.heads)
            starts = [b.add(b.mul(batch, x), b.mul(head, y)) for x, y, _ in self.strides]
            places = [self.k.at(p, s) for p, s in zip(self.places, starts, strict=True)]
            rows = [s[2] for s in self.strides]
            body(dict(zip(self.names, zip(places, rows, strict=True), strict=True)))
            return ()

        _, first, last, *_ = self.k.arguments
        self.k.steps(first, last, 1, (), one)

    def tiles(self, body: Callable[[_Tile], None]) -> None:
        def one(i: Any) -> tuple[()]:
            body(_Tile(self, i))
            return ()

        self.k.loop(self.length, TILE, (), one)

    def fewer(self, when: Any, x: Any, y: Any) -> Any:
        """The smaller, if `when`, else y."""
        return self.b.select(self.b.and_(when, self.b.icmp_signed("<", x, y)), x, y)


class _Tile:
    """Some queries: the first, how many, and the keys that any and that all of them see."""

    def __init__(self, heads: _Heads, i: Any) -> None:
        self.heads, self.k, self.b, self.i = heads, heads.k, heads.b, i
        k, b = self.k, self.b
        left, most = b.sub(heads.length, i), k.whole(TILE)
        self.count = b.select(b.icmp_signed("<", left, most), left, most)
        self.keys = heads.fewer(heads.causal, b.add(i, self.count), heads.others)
        self.open = heads.fewer(heads.causal, i, self.keys)

    def rows(self, array: tuple[Any, Any]) -> tuple[Any, Any]:
        return self.k.at(array[0], self.b.mul(self.i, array[1])), array[1]

    def turn(self, array: tuple[Any, Any], out: Any, scale: Value) -> None:
        self.heads.turn(*self.rows(array), self.count, self.heads.width, out, TILE, scale.raw)

    def products(self, left: tuple[Any, Any], right: Any, out: Any) -> None:
        self.heads.product(*left, 1, right, TILE, out, TILE, self.keys, TILE, self.heads.width, 0)

    def lanes(self) -> list[Lanes]:
        """Where the queries are in a row of a number for each; the last of them may be missing."""
        return [self.k.some(self.k.whole(v), self.count) for v in range(0, TILE, WIDTH)]

    def down(self, first: Any, last: Any, hides: bool, carried: Sequence[Value], body: Any) -> list[Value]:
        """carried = body(lanes, which see, *carried), for rows of scores and each of their vectors."""
        k, b = self.k, self.b

        def step(j: Any, *before: Value) -> list[Value]:
            after: list[Value] = []
            from_first = k._spread(b.trunc(b.sub(j, self.i), k.ir.IntType(32)), k.ints)
            n = len(before) // 2
            for half, v in enumerate(range(0, TILE, WIDTH)):
                own = k.ir.Constant(k.ints, list(range(v, v + WIDTH)))
                sees = b.icmp_signed("<=", from_first, own) if hides else None
                at = Lanes(k, b.add(b.mul(j, k.whole(TILE)), k.whole(v)), None)
                after += body(at, sees, *before[half * n : half * n + n])
            return after

        return k.steps(first, last, 1, carried, step)

    def keyed(self, carried: Sequence[Value], body: Any) -> list[Value]:
        """`down` all the scores, those that every query sees and the others."""
        carried = self.down(self.k.whole(0), self.open, False, carried, body)
        return self.down(self.open, self.keys, True, carried, body)

    def where(self, sees: Any, x: Value, other: float) -> Value:
        return x if sees is None else Value(self.k, self.b.select(sees, x.raw, self.k.spread(other).raw))

    def mask(self, mask: tuple[Any, Any], scores: Any, turned: Any) -> None:
        """Add the mask, where there is one; minus infinity wins over everything."""
        k, b, heads = self.k, self.b, self.heads
        keys = b.select(heads.masked, self.keys, k.whole(0))
        heads.turn(*self.rows(mask), self.count, keys, turned, TILE, k.scalar(k.constant(k.single, _UNIT)).raw)

        def step(at: Lanes, _: Any) -> list[Value]:
            m = at.load(turned)
            hidden = b.fcmp_ordered("<", m.raw, k.spread(_LOWEST).raw)
            at.store(Value(k, b.select(hidden, m.raw, (at.load(scores) + m).raw)), scores)
            return []

        self.down(k.whole(0), keys, False, (), step)


def _forward(k: Loops) -> None:
    heads = _Heads(k, ("q", "k", "v", "out", "logs", "mask"))
    turned, scores = heads.scratch(heads.width), heads.scratch(heads.others)
    factors, masks = heads.scratch(k.whole(1)), heads.free

    def one(a: dict[str, Any]) -> None:
        def tile(t: _Tile) -> None:
            t.turn(a["q"], turned, heads.scale * _UNIT)
            t.products(a["k"], turned, scores)
            t.mask(a["mask"], scores, masks)

            def largest(at: Lanes, sees: Any, m: Value) -> list[Value]:
                x = t.where(sees, at.load(scores), -math.inf)
                return [m.where_above(x, x)]

            maxima = [m.where_above(_LOWEST, 0.0) for m in t.keyed([k.spread(-math.inf)] * 2, largest)]

            def powers(at: Lanes, sees: Any, m: Value, s: Value) -> list[Value]:
                e = t.where(sees, power(at.load(scores) - m), 0.0)
                at.store(e, scores)
                return [m, s + e]

            zero = k.spread(0.0)
            sums = t.keyed([maxima[0], zero, maxima[1], zero], powers)[1::2]
            logs, _ = t.rows(a["logs"])
            for i, (at, m, s) in enumerate(zip(t.lanes(), maxima, sums, strict=True)):
                Lanes(k, k.whole(WIDTH * i), None).store(1.0 / s.where_above(0.0, 1.0), factors)
                at.store(s.chooses(log(s).times_plus(_UNIT, m), -math.inf), logs)
            out, over_out = t.rows(a["out"])
            heads.product(scores, 1, TILE, *a["v"], out, over_out, t.count, heads.width, t.keys, 0)

            def scaled(r: Any) -> None:
                factor = k.spread(k.scalar(k.builder.load(k.at(factors, r))))
                y = k.at(out, k.builder.mul(r, over_out))
                k.vectors(heads.width, (), lambda at: [at.store(at.load(y) * factor, y)] and [])

            k.rows(t.count, scaled)

        heads.tiles(tile)

    heads.each(one)


def _backward(k: Loops) -> None:
    heads = _Heads(k, ("g", "q", "k", "v", "logs", "gq", "gk", "gv", "mask"))
    b, width = k.builder, heads.width
    turned_q, turned_g = heads.scratch(width), heads.scratch(width)
    weights, slopes, masks = heads.scratch(heads.others), heads.scratch(heads.others), heads.free

    def one(a: dict[str, Any]) -> None:
        def clear(j: Any) -> None:
            for target, over in (a["gk"], a["gv"]):
                place = k.at(target, b.mul(j, over))
                k.vectors(width, (), lambda at, place=place: [at.store(k.spread(0.0), place)] and [])

        k.rows(heads.others, clear)

        def tile(t: _Tile) -> None:
            t.turn(a["q"], turned_q, heads.scale * _UNIT)
            t.turn(a["g"], turned_g, heads.scale)
            t.products(a["k"], turned_q, weights)
            t.products(a["v"], turned_g, slopes)
            t.mask(a["mask"], weights, masks)
            logs, _ = t.rows(a["logs"])
            below = [at.load(logs).where_above(_LOWEST, 0.0) for at in t.lanes()]

            def powers(at: Lanes, sees: Any, m: Value, dot: Value, total: Value) -> list[Value]:
                p = t.where(sees, power(at.load(weights) - m), 0.0)
                at.store(p, weights)
                return [m, p.times_plus(at.load(slopes), dot), total + p]

            def result(at: Lanes, sees: Any, dot: Value) -> list[Value]:
                at.store(t.where(sees, at.load(weights) * (at.load(slopes) - dot), 0.0), slopes)
                return [dot]

            zero = k.spread(0.0)
            found = t.keyed([below[0], zero, zero, below[1], zero, zero], powers)
            # by the weights' own sum, near 1: else it would not cancel what is nearly as large
            t.keyed([found[i] / found[i + 1].where_above(0.0, 1.0) for i in (1, 4)], result)
            gq, over_gq = t.rows(a["gq"])
            heads.product(slopes, 1, TILE, *a["k"], gq, over_gq, t.count, width, t.keys, 0)
            heads.product(weights, TILE, 1, *t.rows(a["g"]), *a["gv"], t.keys, width, t.count, 1)
            heads.product(slopes, TILE, 1, *t.rows(a["q"]), *a["gk"], t.keys, width, t.count, 1)

        heads.tiles(tile)

    heads.each(one)


ATTENTION: dict[str, tuple[str, Callable[[Loops], None]]] = {
    "attention": ("pnnpf", _forward),
    "attention_backward": ("pnnpf", _backward),
}
