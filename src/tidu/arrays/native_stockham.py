"""The kernels of native_fourier.py: sixteen Fourier transforms at once, one in each lane.

Real and imaginary parts are kept apart. A transform is a row of passes of radix 8 or 4 after Stockham, which leave
the result in order: a pass over n = r m points for each of s interleaved sequences takes x[q + s (p + m j)], j < r,
transforms these r, turns the k-th by exp(-2 pi i p k / n) and writes it to y[q + s (r p + k)]. The next pass sees s r
sequences of m points. The inverse is the same with the real and the imaginary parts in each other's place.

The dimension transformed is the last in memory, or it is not, before and after. Where it is not, sixteen neighbours
are the lanes as they lie; where it is, sixteen rows are turned in registers on their way to scratch memory or back.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tidu.arrays.native_loops import WIDTH, Lanes, Loops, Value

__all__ = ["turns", "write"]

Pair = tuple[Value, Value]  # real and imaginary parts
Read = Callable[[Any], Pair]
Write = Callable[[Any, Pair], None]


@functools.cache
def _radices(n: int) -> tuple[int, ...]:
    """As few as it takes of at most eight points, whose parts fill half the registers, and of nearly one size."""
    bits = n.bit_length() - 1
    count = -(-bits // 3)
    return tuple(1 << (bits // count + (i < bits % count)) for i in range(count))


@functools.cache
def turns(n: int) -> np.ndarray:
    """exp(-2 pi i p k / n) for k = 1 to r - 1 and every p, for one pass after the other."""
    tables = []
    for r in _radices(n):
        m = n // r
        angles = np.outer(np.arange(m), np.arange(1, r)) * (-2 * math.pi / n)
        tables.append(np.stack([np.cos(angles), np.sin(angles)], -1).astype(np.float32).ravel())
        n = m
    return np.concatenate(tables)


class _Points:
    """Places in memory and the arithmetic of indices."""

    def __init__(self, k: Loops) -> None:
        self.k, self.b = k, k.builder

    def whole(self, i: int) -> Any:
        return self.k.ir.Constant(self.k.int, i)

    def plus(self, a: Any, x: int) -> Any:
        return self.b.add(a, self.whole(x)) if x else a

    def times(self, a: Any, x: int) -> Any:
        return self.b.mul(a, self.whole(x))

    def at(self, pointer: Any, i: Any) -> Any:
        return self.k.at(pointer, i)

    def load(self, pointer: Any, i: Any) -> Value:
        return Lanes(self.k, i, None).load(pointer)

    def store(self, x: Value, pointer: Any, i: Any) -> None:
        Lanes(self.k, i, None).store(x, pointer)

    def mixed(self, a: Value, b: Value, places: Sequence[int]) -> Value:
        """Lanes of a (0 to 15) and b (16 to 31)."""
        return Value(self.k, self.b.shuffle_vector(a.raw, b.raw, self.k.ir.Constant(self.k.ints, list(places))))

    def apart(self, a: Value, b: Value) -> Pair:
        """Sixteen complex numbers in their parts."""
        return self.mixed(a, b, range(0, 32, 2)), self.mixed(a, b, range(1, 32, 2))

    def joined(self, x: Pair) -> Pair:
        both = [i + 16 * part for i in range(16) for part in (0, 1)]
        return self.mixed(*x, both[:16]), self.mixed(*x, both[16:])

    def turned(self, rows: list[Value]) -> list[Value]:
        """A matrix of eight by eight complex numbers, transposed."""
        for d in (1, 2, 4):
            low = [2 * j + part if not j & d else 16 + 2 * (j ^ d) + part for j in range(8) for part in (0, 1)]
            high = [2 * (j | d) + part if not j & d else 16 + 2 * j + part for j in range(8) for part in (0, 1)]
            result = list(rows)
            for i in range(8):
                if not i & d:
                    result[i] = self.mixed(rows[i], rows[i | d], low)
                    result[i | d] = self.mixed(rows[i], rows[i | d], high)
            rows = result
        return rows

    def scratch(self, pointer: Any) -> tuple[Read, Write]:
        """Points that lie one after the other with their parts apart."""

        def read(i: Any) -> Pair:
            place = self.at(pointer, self.times(i, 2 * WIDTH))
            return self.load(place, self.whole(0)), self.load(place, self.whole(WIDTH))

        def write(i: Any, x: Pair) -> None:
            place = self.at(pointer, self.times(i, 2 * WIDTH))
            self.store(x[0], place, self.whole(0))
            self.store(x[1], place, self.whole(WIDTH))

        return read, write


def _times(x: Pair, c: Any, s: Any) -> Pair:
    return x[0].times_plus(c, -(x[1] * s)), x[0].times_plus(s, x[1] * c)


def _butterfly(x: list[Pair]) -> list[Pair]:
    """The transform of two, four or eight points, all of them in registers."""
    n = len(x)
    if n == 1:
        return x
    even, odd = _butterfly(x[::2]), _butterfly(x[1::2])
    low, high = [], []
    for k, ((a, b), (c, d)) in enumerate(zip(even, odd, strict=True)):
        if k == 0:
            low.append((a + c, b + d))
            high.append((a - c, b - d))
        elif 4 * k == n:  # turned by -i
            low.append((a + d, b - c))
            high.append((a - d, b + c))
        else:  # by an odd number of eighths
            w = math.cos(2 * math.pi * k / n)
            u, v = (c + d, d - c) if w > 0 else (c - d, c + d)
            low.append((u.times_plus(w, a), v.times_plus(w, b)))
            high.append((u.times_plus(-w, a), v.times_plus(-w, b)))
    return low + high


def _passes(
    p: _Points, n: int, table: Any, scratch: Sequence[tuple[Read, Write]], read: Read | None, write: Write | None
) -> None:
    """From one scratch to the other and back, the second one first, but for the first read and the last write."""
    k, at, s = p.k, 0, 1
    radices = _radices(n)
    for number, r in enumerate(radices):
        m = n // r
        source = scratch[number % 2 ^ 1][0] if number or read is None else read
        target = scratch[number % 2][1] if number < len(radices) - 1 or write is None else write

        def sequences(
            i: Any, r: int = r, m: int = m, s: int = s, at: int = at, source: Read = source, target: Write = target
        ) -> None:
            def one(q: Any) -> None:
                first = p.b.add(q, p.times(i, s))
                x = _butterfly([source(p.plus(first, s * m * j)) for j in range(r)])
                if m > 1:
                    row = p.at(table, p.plus(p.times(i, 2 * (r - 1)), at))
                    for j in range(1, r):
                        c, d = (k.spread(k.scalar(p.b.load(p.at(row, p.whole(2 * (j - 1) + part))))) for part in (0, 1))
                        x[j] = _times(x[j], c, d)
                first = p.b.add(q, p.times(i, s * r))
                for j in range(r):
                    target(p.plus(first, s * j), x[j])

            k.rows(p.whole(s), one)

        k.rows(p.whole(m), sequences)
        at, n, s = at + 2 * (r - 1) * m, m, s * r


# ------------------------------------------------------------------ the kernels


def write(k: Loops, n: int, forward: bool, columns_in: bool, columns_out: bool) -> None:
    """(x, out, scratch, turns(n), first group, last, bound, scale), a group being sixteen transforms.

    Columns are those of (outer, n, bound), and sixteen neighbours a group. Rows are those of (bound, n), the last of
    them as often as it takes to make sixteen; where columns come in there are always sixteen.
    """
    x, out, scratch, table, first_group, last_group, bound, scale = k.arguments
    p, b = _Points(k), k.builder
    factor = k.spread(k.scalar(scale))
    both = [p.scratch(p.at(scratch, p.whole(2 * WIDTH * n * i))) for i in (0, 1)]
    across = b.sdiv(bound, p.whole(WIDTH))

    def swapped(parts: Pair) -> Pair:
        return parts if forward else (parts[1], parts[0])

    def columns(pointer: Any, i: Any) -> tuple[Read, Write]:
        outer = b.sdiv(i, across)
        start = b.add(b.mul(p.times(outer, n), bound), p.times(b.sub(i, b.mul(outer, across)), WIDTH))
        pointer = p.at(pointer, p.times(start, 2))

        def place(j: Any) -> Any:
            return p.at(pointer, p.times(b.mul(j, bound), 2))

        def read(j: Any) -> Pair:
            return swapped(p.apart(p.load(place(j), p.whole(0)), p.load(place(j), p.whole(WIDTH))))

        def write(j: Any, parts: Pair) -> None:
            for half, v in enumerate(p.joined(swapped((parts[0] * factor, parts[1] * factor)))):
                p.store(v, place(j), p.whole(WIDTH * half))

        return read, write

    def rows(i: Any) -> list[Any]:
        """Where sixteen rows start."""
        numbers = [p.plus(p.times(i, WIDTH), lane) for lane in range(WIDTH)]
        if not columns_in:
            last = p.plus(bound, -1)
            numbers = [b.select(b.icmp_signed("<", row, last), row, last) for row in numbers]
        return [p.times(row, 2 * n) for row in numbers]

    def from_rows(starts: list[Any], write: Write) -> None:
        def eight_points(j: Any) -> None:
            at = p.times(j, 16)
            lanes = [p.load(x, b.add(start, at)) for start in starts]
            for c, halves in enumerate(zip(p.turned(lanes[:8]), p.turned(lanes[8:]), strict=True)):
                write(p.plus(p.times(j, 8), c), swapped(p.apart(*halves)))

        k.rows(p.whole(n // 8), eight_points)

    def to_rows(starts: list[Any], read: Read) -> None:
        def eight_points(j: Any) -> None:
            parts = [read(p.plus(p.times(j, 8), c)) for c in range(8)]
            halves = [p.joined(swapped((re * factor, im * factor))) for re, im in parts]
            lanes = p.turned([h[0] for h in halves]) + p.turned([h[1] for h in halves])
            at = p.times(j, 16)
            for start, lane in zip(starts, lanes, strict=True):
                p.store(lane, out, b.add(start, at))

        k.rows(p.whole(n // 8), eight_points)

    def group(i: Any) -> None:
        i = b.add(i, first_group)
        starts = [] if columns_in and columns_out else rows(i)
        if not columns_in:
            from_rows(starts, both[1][1])
        _passes(
            p, n, table, both, columns(x, i)[0] if columns_in else None, columns(out, i)[1] if columns_out else None
        )
        if not columns_out:
            to_rows(starts, both[len(_radices(n)) % 2 ^ 1][0])

    k.rows(b.sub(last_group, first_group), group)
