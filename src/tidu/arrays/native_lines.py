"""The kernels of batch_norm.py, over lines, each with (*matrices, *numbers of the lines, number of lines, length); of select.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tidu.arrays.native_loops import Lanes, Loops, Value

__all__ = ["LINES"]


def _sum(k: Loops, x: Value) -> Value:
    return k.total(x, lambda a, b: a + b)


def _number(k: Loops, pointer: Any, i: Any) -> Value:
    return k.spread(k.scalar(k.builder.load(k.at(pointer, i))))


def _keep(k: Loops, x: Value, pointer: Any, i: Any) -> None:
    k.builder.store(x.raw, k.at(pointer, i))


def _moments(k: Loops) -> None:
    x, mean, squares, rows, n = k.arguments
    count = k.scalar(k.builder.sitofp(n, k.single))

    def row(i: Any) -> None:
        xr = k.at(x, k.builder.mul(i, n))
        (s,) = k.vectors(n, [k.spread(0.0)], lambda at, s: [s + at.load(xr)])
        middle = _sum(k, s) / count
        m = k.spread(middle)

        def deviations(at: Lanes, s: Value) -> list[Value]:
            d = at.load(xr) - m
            if at.mask is not None:  # past the end there is none
                d = Value(k, k.builder.select(at.mask, d.raw, k.constant(k.vector, 0.0)))
            return [d.times_plus(d, s)]

        (s,) = k.vectors(n, [k.spread(0.0)], deviations)
        _keep(k, middle, mean, i)
        _keep(k, _sum(k, s), squares, i)

    k.rows(rows, row)


def _affine(k: Loops) -> None:
    x, out, scale, shift, rows, n = k.arguments

    def row(i: Any) -> None:
        start = k.builder.mul(i, n)
        xr, yr = k.at(x, start), k.at(out, start)
        a, b = _number(k, scale, i), _number(k, shift, i)

        def result(at: Lanes) -> list[Value]:
            at.store(at.load(xr).times_plus(a, b), yr)
            return []

        k.vectors(n, [], result)

    k.rows(rows, row)


def _dots(k: Loops) -> None:
    g, x, mean, sums, products, rows, n = k.arguments

    def row(i: Any) -> None:
        start = k.builder.mul(i, n)
        gr, xr, m = k.at(g, start), k.at(x, start), _number(k, mean, i)

        def step(at: Lanes, s: Value, t: Value) -> list[Value]:
            cotangent = at.load(gr)
            return [s + cotangent, cotangent.times_plus(at.load(xr) - m, t)]

        s, t = k.vectors(n, [k.spread(0.0), k.spread(0.0)], step)
        _keep(k, _sum(k, s), sums, i)
        _keep(k, _sum(k, t), products, i)

    k.rows(rows, row)


def _pulled(k: Loops) -> None:
    g, x, out, mean, factor, scale, shift, rows, n = k.arguments

    def row(i: Any) -> None:
        start = k.builder.mul(i, n)
        gr, xr, yr = k.at(g, start), k.at(x, start), k.at(out, start)
        m, f, a, b = (_number(k, p, i) for p in (mean, factor, scale, shift))

        def result(at: Lanes) -> list[Value]:
            at.store((m - at.load(xr)).times_plus(f, at.load(gr).times_plus(a, -b)), yr)
            return []

        k.vectors(n, [], result)

    k.rows(rows, row)


def _along(adds: bool) -> Callable[[Loops], None]:
    """(x, index, y, outer, n, count, inner): y[o, i, j] is x[o, index[o, i, j], j], or is added there."""

    def build(k: Loops) -> None:
        x, index, y, outer, n, count, inner = k.arguments
        b = k.builder
        index = b.bitcast(index, k.int.as_pointer())

        def line(o: Any, i: Any) -> None:
            first, start = b.mul(b.add(b.mul(o, count), i), inner), b.mul(b.mul(o, n), inner)

            def element(j: Any) -> None:
                at = b.add(first, j)
                there = k.at(x, b.add(b.add(start, j), b.mul(b.load(k.at(index, at)), inner)))
                here = k.at(y, at)
                if adds:
                    b.store(b.fadd(b.load(there), b.load(here)), there)
                else:
                    b.store(b.load(there), here)

            k.rows(inner, element)

        k.rows(outer, lambda o: k.rows(count, lambda i: line(o, i)))

    return build


LINES: dict[str, tuple[str, Callable[[Loops], None]]] = {
    "line_moments": ("pppnn", _moments),
    "line_affine": ("ppppnn", _affine),
    "line_dots": ("pppppnn", _dots),
    "line_pulled": ("pppppppnn", _pulled),
    "take_along": ("pppnnnn", _along(False)),
    "add_along": ("pppnnnn", _along(True)),
}
