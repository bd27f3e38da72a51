"""Products of matrices whose right factor fits in the L2 cache, as a native loop, and matrices turned on their side.

Eight rows of the result by 32 columns are summed in registers, over all of the inner dimension in order: the bits depend
on nothing else, and neither factor is copied first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tidu.arrays.native_loops import WIDTH, Lanes, Loops, Value


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
