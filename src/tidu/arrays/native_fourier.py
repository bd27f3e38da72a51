"""Fourier transforms in single precision over 8 to 4096 points, powers of two.

The transform over several dimensions goes from image to image while they fit a core's cache, else from dimension to
dimension. The first dimension may come in from between the others; results are contiguous. Real numbers, twice as many, are
served in rows.

A kernel makes eight or sixteen transforms at once, one in each lane, real and imaginary parts apart. A transform is a row
of passes of radix 8 or 4 after Stockham, which leave the result in order: a pass over n = r m points for each of s
interleaved sequences takes x[q + s (p + m j)], j < r, transforms these r, turns the k-th by exp(-2 pi i p k / n) and
writes it to y[q + s (r p + k)]. The next pass sees s r sequences of m points. The inverse is the same with the real and
the imaginary parts in each other's place.

The dimension transformed is the last in memory, or it is not, before and after. Where it is not, neighbours are the
lanes as they lie; where it is, rows are turned in registers on their way to scratch memory or back. Rows of 2 n real
numbers count as n complex ones, whose transform and the one of the numbers are made of each other.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tidu.arrays.native import address, compiled, wide
from tidu.arrays.native_loops import Lanes, Loops, Value
from tidu.arrays.threads import parallel, step_of

WIDTH = 16 if wide() else 8  # transforms at once: as many as fill a register
_BITS = 3 if wide() else 2  # of the largest radix, whose points fill half the registers
_SIZES = [1 << i for i in range(3, 13)]
_IN_CACHE = 1 << 16  # elements that stay in a core's cache from one dimension to the next
_PIECE = 1 << 15  # elements that a thread takes at a time, at most


def fourier(x: np.ndarray, k: int, forward: bool, scale: float, real: bool = False) -> np.ndarray | None:
    """The transform over the last k dimensions times `scale`, contiguous; None where the loops do not serve.

    If `real`, of real numbers to half a spectrum, or back.
    """
    last, between = x.shape[-1], _elements_between(x)
    n = last if not real else last // 2 if forward else last - 1
    sizes = [n, *x.shape[-2 : -k - 1 : -1]]  # from the last dimension to the first
    if (
        x.dtype != (np.float32 if real and forward else np.complex64)
        or not (x.size and between)
        or any(size not in _SIZES for size in sizes)
        or (between > 1 and (k > 1 or real or between < WIDTH))
        or (real and forward and last % 2)
        or (k > 1 and n + real < WIDTH)
    ):
        return None
    stages, inner = [], between
    for i, size in enumerate(sizes):
        function = _kernel(size, forward, inner > 1, i > 0, real and not i)
        if function is None:
            return None
        stages.append(_Stage(function, size, inner, turns(size)))
        inner = inner * size if i else n + real
    out = np.empty((*x.shape[:-1], n + real), np.complex64)
    if real and not forward:
        for stage in reversed(stages[1:]):
            x = stage.everywhere(x, np.empty_like(out))
        return stages[0].everywhere(x, np.empty((*x.shape[:-1], 2 * n), np.float32), scale)
    if real:
        scale /= 2  # the kernel of such rows makes twice the spectrum
    image = math.prod(sizes)
    if k == 1 or real or image > _IN_CACHE:
        for i, stage in enumerate(stages):
            made = np.empty_like(out) if i and stage.inner % WIDTH else out
            x = out = stage.everywhere(x, made, scale if i == k - 1 else 1.0)
        return out
    source, target = address(x), address(out)
    step = step_of(x.size // image, max(1, _PIECE // image), 1) * image

    def piece(i: int) -> None:
        room, scratch = _scratch(max(sizes))
        for lo in range(i * step, min((i + 1) * step, x.size), image):
            start = source
            for j, stage in enumerate(stages):
                lines = image // stage.n
                factor = scale if j == k - 1 else 1.0
                stage.run(start + 8 * lo, target + 8 * lo, scratch, lines, 0, stage.groups(lines), factor)
                start = target

    parallel(piece, -(-x.size // step))
    return out


def _elements_between(x: np.ndarray) -> int:
    """1 for a contiguous array, more if it would be one with its last dimension elsewhere; 0 for other arrays."""
    for place in range(x.ndim - 1, -1, -1):
        if np.moveaxis(x, -1, place).flags.c_contiguous:
            return math.prod(x.shape[place:-1])
    return 0


@dataclass(frozen=True, slots=True)
class _Stage:
    """The transform along one dimension of n points, which lie `inner` elements apart as they come in."""

    function: Callable[..., None]
    n: int
    inner: int
    turns: np.ndarray  # kept here as long as its address is used

    def groups(self, lines: int) -> int:
        return lines // self.inner * -(-self.inner // WIDTH) if self.inner > 1 else -(-lines // WIDTH)

    def run(self, source: int, target: int, scratch: int, lines: int, lo: int, hi: int, scale: float) -> None:
        """The groups from lo to hi."""
        bound = lines if self.inner == 1 else self.inner
        self.function(source, target, scratch, address(self.turns), lo, hi, bound, scale)

    def everywhere(self, x: np.ndarray, out: np.ndarray, scale: float = 1.0) -> np.ndarray:
        """All lines, cut over the threads."""
        lines = out.size // self.n if self.inner > 1 else math.prod(out.shape[:-1])
        source, target, groups = address(x), address(out), self.groups(lines)
        step = step_of(groups, max(1, _PIECE // (WIDTH * self.n)), 1)

        def piece(i: int) -> None:
            room, scratch = _scratch(self.n)
            self.run(source, target, scratch, lines, i * step, min((i + 1) * step, groups), scale)

        parallel(piece, -(-groups // step))
        return out


def _scratch(n: int) -> tuple[np.ndarray, int]:
    """Room for sixteen transforms of n points twice, and where its first whole cache line starts."""
    room = np.empty(4 * WIDTH * (n + 1) + 16, np.float32)
    return room, -(-address(room) // 64) * 64


@functools.cache
def _kernel(n: int, *kind: bool) -> Callable[..., None] | None:
    return compiled("fourier", "ppppnnnf", lambda k: write_kernel(k, n, *kind))


# ------------------------------------------------------------------ the kernels

Pair = tuple[Value, Value]  # real and imaginary parts
Read = Callable[[Any], Pair]
Write = Callable[[Any, Pair], None]


@functools.cache
def _radices(n: int) -> tuple[int, ...]:
    """As few as it takes, and of nearly one size."""
    bits = n.bit_length() - 1
    count = -(-bits // _BITS)
    return tuple(1 << (bits // count + (i < bits % count)) for i in range(count))


@functools.cache
def turns(n: int) -> np.ndarray:
    """exp(-2 pi i p k / n) for k = 1 to r - 1 and every p, for one pass after the other, and exp(-pi i k / n)."""
    tables, halves = [], np.arange(n // 2 + 1) * (-math.pi / n)
    for r in _radices(n):
        m = n // r
        angles = np.outer(np.arange(m), np.arange(1, r)) * (-2 * math.pi / n)
        tables.append(angles.ravel())
        n = m
    angles = np.concatenate([*tables, halves])
    return np.stack([np.cos(angles), np.sin(angles)], -1).astype(np.float32)


class _Points:
    """Places in memory and the arithmetic of indices."""

    def __init__(self, k: Loops) -> None:
        self.k, self.b = k, k.builder

    def whole(self, i: int) -> Any:
        return self.k.whole(i)

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

    def number(self, pointer: Any, i: int) -> Pair:
        """A complex number, in all lanes."""
        real, imag = (self.k.spread(self.k.scalar(self.b.load(self.at(pointer, self.whole(i + j))))) for j in (0, 1))
        return real, imag

    def mixed(self, a: Value, b: Value, places: Sequence[int]) -> Value:
        """Lanes of a and, counted on, of b."""
        return Value(self.k, self.b.shuffle_vector(a.raw, b.raw, self.k.ir.Constant(self.k.ints, list(places))))

    def apart(self, a: Value, b: Value) -> Pair:
        """Complex numbers in their parts, in the order that takes a machine the least: by four floats at a time."""
        re = [first + i + j for i in range(0, WIDTH, 4) for first in (0, WIDTH) for j in (0, 2)]
        return self.mixed(a, b, re), self.mixed(a, b, [i + 1 for i in re])

    def joined(self, x: Pair) -> Pair:
        low = [i + j + part for i in range(0, WIDTH, 4) for j in (0, 1) for part in (0, WIDTH)]
        return self.mixed(*x, low), self.mixed(*x, [i + 2 for i in low])

    def turned(self, rows: list[Value]) -> list[Value]:
        """A square matrix of complex numbers, transposed."""
        n, d = len(rows), 1
        while d < n:
            pairs = [(j, part) for j in range(n) for part in (0, 1)]
            low = [2 * (j & ~d) + part if not j & d else 2 * (n + (j & ~d)) + part for j, part in pairs]
            high = [i + 2 * d for i in low]
            result = list(rows)
            for i in range(n):
                if not i & d:
                    result[i] = self.mixed(rows[i], rows[i | d], low)
                    result[i | d] = self.mixed(rows[i], rows[i | d], high)
            rows, d = result, 2 * d
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
                        x[j] = _times(x[j], *p.number(row, 2 * (j - 1)))
                first = p.b.add(q, p.times(i, s * r))
                for j in range(r):
                    target(p.plus(first, s * j), x[j])

            k.rows(p.whole(s), one)

        k.rows(p.whole(m), sequences)
        at, n, s = at + 2 * (r - 1) * m, m, s * r


def _of_halves(p: _Points, n: int, table: Any, read: Read, write: Write, forward: bool) -> None:
    """From the transform z of n complex numbers, twice that of 2 n real ones, as far as it is its own; or the reverse.

    With w = exp(-pi i k / n) the other is x[k] = z[k] + conj(z[n - k]) - i w (z[k] - conj(z[n - k])).
    """
    if not forward:  # what a real result does not depend on
        for k in (0, n):
            write(p.whole(k), (read(p.whole(k))[0], p.k.spread(0.0)))

    def pair(i: Any) -> None:
        j = p.b.sub(p.whole(n), i)
        a, b = read(i), read(p.b.and_(j, p.whole(n - 1)) if forward else j)
        even, odd = (a[0] + b[0], a[1] - b[1]), (a[0] - b[0], a[1] + b[1])
        c, s = p.number(p.at(table, p.times(i, 2)), 0)
        if forward:
            t = _times((odd[1], -odd[0]), c, s)
        else:
            re, im = _times(odd, c, -s)
            t = -im, re
        write(i, (even[0] + t[0], even[1] + t[1]))
        write(j, (even[0] - t[0], t[1] - even[1]))

    p.k.rows(p.whole(n // 2 + 1), pair)


def write_kernel(k: Loops, n: int, forward: bool, columns_in: bool, columns_out: bool, real: bool) -> None:
    """(x, out, scratch, turns(n), first group, last, bound, scale), a group being as many transforms as there are lanes.

    Columns are those of (outer, n, bound), and neighbours a group, the last of which also has some of those before it.
    Rows are those of (bound, n), the last of them as often as it takes. If `real`, the spectrum has one point more, and
    is twice what it should be.
    """
    k.set_width(WIDTH)
    x, out, scratch, table, first_group, last_group, bound, scale = k.arguments
    p, b = _Points(k), k.builder
    factor = k.spread(k.scalar(scale))
    both = [p.scratch(p.at(scratch, p.whole(2 * WIDTH * (n + 1) * i))) for i in (0, 1)]
    across = b.sdiv(p.plus(bound, WIDTH - 1), p.whole(WIDTH))
    sizes = (n + (real and not forward), n + (real and forward))  # points in and out
    half = WIDTH // 2  # the complex numbers in a vector

    def swapped(parts: Pair) -> Pair:
        return parts if forward else (parts[1], parts[0])

    def least(i: Any, last: Any) -> Any:
        return b.select(b.icmp_signed("<", i, last), i, last)

    def first_column(i: Any) -> tuple[Any, Any]:
        outer = b.sdiv(i, across)
        return b.mul(outer, bound), least(p.times(b.sub(i, b.mul(outer, across)), WIDTH), p.plus(bound, -WIDTH))

    def columns(pointer: Any, i: Any) -> tuple[Read, Write]:
        before, column = first_column(i)
        pointer = p.at(pointer, p.times(b.add(p.times(before, n), column), 2))

        def place(j: Any) -> Any:
            return p.at(pointer, p.times(b.mul(j, bound), 2))

        def read(j: Any) -> Pair:
            return swapped(p.apart(p.load(place(j), p.whole(0)), p.load(place(j), p.whole(WIDTH))))

        def write(j: Any, parts: Pair) -> None:
            for number, v in enumerate(p.joined(swapped((parts[0] * factor, parts[1] * factor)))):
                p.store(v, place(j), p.whole(WIDTH * number))

        return read, write

    def rows(i: Any) -> list[Any]:
        if columns_in:
            first = b.add(*first_column(i))
            return [p.plus(first, lane) for lane in range(WIDTH)]
        return [least(p.plus(p.times(i, WIDTH), lane), p.plus(bound, -1)) for lane in range(WIDTH)]

    def along(size: int, points: Callable[[Any], None]) -> None:
        """Every point, as many at a time as a vector has, those at the end of an odd size with some before them."""
        k.rows(p.whole(size // half), lambda j: points(p.times(j, half)))
        if size % half:
            points(p.whole(size - half))

    def from_rows(rows: list[Any], write: Write) -> None:
        starts = [p.times(row, 2 * sizes[0]) for row in rows]

        def points(j: Any) -> None:
            lanes = [p.load(x, b.add(start, p.times(j, 2))) for start in starts]
            for c, halves in enumerate(zip(p.turned(lanes[:half]), p.turned(lanes[half:]), strict=True)):
                write(p.plus(j, c), swapped(p.apart(*halves)))

        along(sizes[0], points)

    def to_rows(rows: list[Any], read: Read) -> None:
        starts = [p.times(row, 2 * sizes[1]) for row in rows]

        def points(j: Any) -> None:
            parts = [read(p.plus(j, c)) for c in range(half)]
            halves = [p.joined(swapped((re * factor, im * factor))) for re, im in parts]
            lanes = p.turned([h[0] for h in halves]) + p.turned([h[1] for h in halves])
            for start, lane in zip(starts, lanes, strict=True):
                p.store(lane, out, b.add(start, p.times(j, 2)))

        along(sizes[1], points)

    def halves(read: Read, write: Write) -> None:
        if real:
            last_turns = p.at(table, p.whole(2 * (n - 1)))
            _of_halves(p, n, last_turns, lambda i: swapped(read(i)), lambda i, x: write(i, swapped(x)), forward)

    def group(i: Any) -> None:
        i = b.add(i, first_group)
        members = [] if columns_in and columns_out else rows(i)
        if not columns_in:
            from_rows(members, both[1][1])
        if not forward:
            halves(*both[1])
        _passes(
            p, n, table, both, columns(x, i)[0] if columns_in else None, columns(out, i)[1] if columns_out else None
        )
        last = both[len(_radices(n)) % 2 ^ 1]
        if forward:
            halves(*last)
        if not columns_out:
            to_rows(members, last[0])

    k.rows(b.sub(last_group, first_group), group)
