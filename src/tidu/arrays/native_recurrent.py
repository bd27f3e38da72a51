"""The LSTM's kernels: all steps of some rows of the batch, which need nothing of the other rows.

A step's product keeps four rows of the batch times some vectors of columns in registers while it runs through the
weights, which are packed for that: (blocks of columns, rows of the weight, columns of a block), see recurrent.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tidu.arrays.native_loops import WIDTH, Lanes, Loops, Value, sigmoid, tanh

BLOCK = 2 * WIDTH  # columns of the state in a block of backward's weights; forward's has WIDTH of each gate
_ROWS = 4

Start = Callable[[Any, Any], Sequence[Value]]
Finish = Callable[[Any, Any, Sequence[Value]], None]


def _product(
    k: Loops, left: Any, depth: Any, count: Any, right: Any, columns: int, start: Start, finish: Finish
) -> None:
    """left @ right for `count` contiguous rows of length `depth` and one block of columns.

    finish(row, number of rows, vectors) is given the vectors of each row after another, to which start(row) adds.
    """
    b = k.builder
    vectors = columns // WIDTH
    some = b.mul(b.sdiv(count, k.whole(_ROWS)), k.whole(_ROWS))

    def rows(first: Any, number: int) -> None:
        places = [b.add(first, k.whole(r)) for r in range(number)]
        lefts = [k.at(left, b.mul(place, depth)) for place in places]

        def step(i: Any, *sums: Value) -> Sequence[Value]:
            line = k.at(right, b.mul(i, k.whole(columns)))
            weights = [Lanes(k, k.whole(WIDTH * v), None).load(line) for v in range(vectors)]
            factors = [k.spread(k.scalar(b.load(k.at(row, i)))) for row in lefts]
            products = zip([(f, w) for f in factors for w in weights], sums, strict=True)
            return [f.times_plus(w, s) for (f, w), s in products]

        sums = k.loop(depth, 1, [s for place in places for s in start(place, vectors)], step)
        for r, place in enumerate(places):
            finish(place, vectors, sums[r * vectors : (r + 1) * vectors])

    def several(i: Any) -> Sequence[Value]:
        rows(i, _ROWS)
        return ()

    def one(i: Any) -> Sequence[Value]:
        rows(i, 1)
        return ()

    k.loop(some, _ROWS, (), several)
    k.steps(some, count, 1, (), one)


def _lstm(k: Loops) -> None:
    """(z (4, T, B, H), packed weights, h0, kept, y, T, B, rows of the batch to do, H)."""
    z, weights, h0, kept, y, steps, batch, count, n = k.arguments
    b = k.builder
    state = b.mul(batch, n)
    gates = [b.mul(k.whole(g), b.mul(steps, state)) for g in range(4)]
    slots = [b.mul(k.whole(s), state) for s in range(6)]
    block = b.mul(n, k.whole(4 * WIDTH))
    done = b.mul(count, n)

    def step(t: Any) -> None:
        now = b.mul(t, state)
        before = k.at(y, b.sub(now, state))
        h = b.select(b.icmp_signed("==", t, k.whole(0)), h0, before)
        zt, yt = k.at(z, now), k.at(y, now)
        kt = k.at(kept, b.mul(slots[5], t))

        def columns(at: Lanes) -> list[Value]:
            number = b.sdiv(at.i, k.whole(WIDTH))

            def start(row: Any, _: int) -> Sequence[Value]:
                return [at.load(k.at(zt, b.add(g, b.mul(row, n)))) for g in gates]

            def finish(row: Any, _: int, sums: Sequence[Value]) -> None:
                for s, slot in zip(sums, slots[1:5], strict=True):
                    at.store(s, k.at(kt, b.add(slot, b.mul(row, n))))

            _product(k, h, n, count, k.at(weights, b.mul(number, block)), 4 * WIDTH, start, finish)
            return []

        k.vectors(n, [], columns)

        def cells(at: Lanes) -> list[Value]:
            c, g, f, i, o, new = (k.at(kt, slot) for slot in slots)
            gate, forget, enter, leave = tanh(at.load(g)), *(sigmoid(at.load(p)) for p in (f, i, o))
            for value, place in zip((gate, forget, enter, leave), (g, f, i, o), strict=True):
                at.store(value, place)
            cell = at.load(c).times_plus(forget, gate * enter)
            at.store(cell, new)
            at.store(leave * tanh(cell), yt)
            return []

        k.vectors(done, [], cells)

    k.rows(steps, step)


def _lstm_backward(k: Loops) -> None:
    """(gy, its distance of steps, gc, its distance, kept, packed weights, dz, dh, dc, T, B, rows to do, H).

    dz (T, B, 4 H) in PyTorch's order of gates is written; dh and dc are zeros before and those of h0 and c0 after.
    """
    gy, gy_step, gc, gc_step, kept, weights, dz, dh, dc, steps, batch, count, n = k.arguments
    b = k.builder
    state = b.mul(batch, n)
    wide = b.mul(n, k.whole(4))
    slots = [b.mul(k.whole(s), state) for s in range(6)]
    block = b.mul(wide, k.whole(BLOCK))
    last = b.sub(steps, k.whole(1))

    def step(back: Any) -> None:
        t = b.sub(last, back)
        gyt, gct = k.at(gy, b.mul(t, gy_step)), k.at(gc, b.mul(t, gc_step))
        kt = k.at(kept, b.mul(slots[5], t))
        dt = k.at(dz, b.mul(t, b.mul(state, k.whole(4))))

        def row(r: Any) -> None:
            at_row = b.mul(r, n)
            g_y, g_c, d_h, d_c = (k.at(p, at_row) for p in (gyt, gct, dh, dc))
            places = [k.at(kt, b.add(slot, at_row)) for slot in slots]
            outs = [k.at(dt, b.add(b.mul(r, wide), b.mul(n, k.whole(gate)))) for gate in range(4)]

            def gates(at: Lanes) -> list[Value]:
                c, g, f, i, o, new = (at.load(p) for p in places)
                out = tanh(new)
                hidden = at.load(d_h) + at.load(g_y)
                cell = at.load(d_c) + at.load(g_c) + hidden * o * (1.0 - out * out)
                sums = cell * g * i * (1.0 - i), cell * c * f * (1.0 - f), cell * i * (1.0 - g * g)
                for value, place in zip((*sums, hidden * out * o * (1.0 - o)), outs, strict=True):
                    at.store(value, place)
                at.store(cell * f, d_c)
                return []

            k.vectors(n, [], gates)

        k.rows(count, row)

        def columns(first: Any) -> Sequence[Value]:
            number = b.sdiv(first, k.whole(BLOCK))

            def start(_: Any, vectors: int) -> Sequence[Value]:
                return [k.spread(0.0)] * vectors

            def finish(r: Any, _: int, sums: Sequence[Value]) -> None:
                for v, s in enumerate(sums):
                    place = b.add(first, k.whole(v * WIDTH))
                    k.some(place, n).store(s, k.at(dh, b.mul(r, n)))

            _product(k, dt, wide, count, k.at(weights, b.mul(number, block)), BLOCK, start, finish)
            return ()

        k.loop(n, BLOCK, (), columns)

    k.rows(steps, step)


RECURRENT: dict[str, tuple[str, Callable[[Loops], None]]] = {
    "lstm": ("pppppnnnn", _lstm),
    "lstm_backward": ("pnpnpppppnnnn", _lstm_backward),
}
