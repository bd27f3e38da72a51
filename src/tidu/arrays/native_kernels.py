"""The kernels of native.py: what each computes, step by step.

A kernel of rows takes (*inputs, output, number of rows, their length), a kernel of elements (*inputs, output, length).
Those of batch_norm.py and select.py, over lines, take (*matrices, *numbers of the lines, number of lines, length).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tidu.arrays.elementwise import ATANH_ERF
from tidu.arrays.native_attention import ATTENTION, PRODUCTS
from tidu.arrays.native_loops import WIDTH, Lanes, Loops, Value, exp, log, power, sigmoid
from tidu.arrays.native_recurrent import RECURRENT


def _largest(a: Value, b: Value) -> Value:
    return a.where_above(b, b)


def _row_maximum(k: Loops, x: Any, n: Any) -> Value:
    low = -math.inf
    (m,) = k.vectors(n, [k.spread(low)], lambda at, m: [_largest(at.load(x, low), m)])
    return k.total(m, _largest)


def _sum(k: Loops, x: Value) -> Value:
    return k.total(x, lambda a, b: a + b)


def _softmax(k: Loops) -> None:
    x, out, rows, n = k.arguments

    def row(i: Any) -> None:
        start = k.builder.mul(i, n)
        xr, yr = k.at(x, start), k.at(out, start)
        m = k.spread(_row_maximum(k, xr, n))

        def exponentials(at: Lanes, s: Value) -> list[Value]:
            e = exp(at.load(xr, -math.inf) - m)
            at.store(e, yr)
            return [s + e]

        (s,) = k.vectors(n, [k.spread(0.0)], exponentials)
        scale = k.spread(1.0 / _sum(k, s))

        def scaled(at: Lanes) -> list[Value]:
            at.store(at.load(yr) * scale, yr)
            return []

        k.vectors(n, [], scaled)

    k.rows(rows, row)


def _softmax_backward(k: Loops) -> None:
    g, y, out, rows, n = k.arguments

    def row(i: Any) -> None:
        start = k.builder.mul(i, n)
        gr, yr, zr = k.at(g, start), k.at(y, start), k.at(out, start)
        (s,) = k.vectors(n, [k.spread(0.0)], lambda at, s: [at.load(gr).times_plus(at.load(yr), s)])
        dot = k.spread(_sum(k, s))

        def result(at: Lanes) -> list[Value]:
            at.store((at.load(gr) - dot) * at.load(yr), zr)
            return []

        k.vectors(n, [], result)

    k.rows(rows, row)


def _log_softmax(k: Loops) -> None:
    x, out, rows, n = k.arguments

    def row(i: Any) -> None:
        start = k.builder.mul(i, n)
        xr, yr = k.at(x, start), k.at(out, start)
        m = k.spread(_row_maximum(k, xr, n))
        (s,) = k.vectors(n, [k.spread(0.0)], lambda at, s: [s + exp(at.load(xr, -math.inf) - m)])
        logarithm = log(k.spread(_sum(k, s)))

        def result(at: Lanes) -> list[Value]:
            at.store(at.load(xr) - m - logarithm, yr)
            return []

        k.vectors(n, [], result)

    k.rows(rows, row)


def _log_softmax_backward(k: Loops) -> None:
    g, y, out, rows, n = k.arguments

    def row(i: Any) -> None:
        start = k.builder.mul(i, n)
        gr, yr, zr = k.at(g, start), k.at(y, start), k.at(out, start)
        (s,) = k.vectors(n, [k.spread(0.0)], lambda at, s: [s + at.load(gr)])
        total = k.spread(_sum(k, s))

        def result(at: Lanes) -> list[Value]:
            at.store(at.load(gr) - exp(at.load(yr)) * total, zr)
            return []

        k.vectors(n, [], result)

    k.rows(rows, row)


def _pairs(k: Loops, rows: Any, body: Callable[[list[Any]], None]) -> None:
    """body(rows) for two rows at a time, as what happens to one row waits for itself mostly, and for the last."""

    def some(count: int) -> Callable[[Any], tuple[()]]:
        def one(i: Any) -> tuple[()]:
            body([k.builder.add(i, k.whole(r)) for r in range(count)])
            return ()

        return one

    even = k.builder.and_(rows, k.whole(-2))
    k.loop(even, 2, (), some(2))
    k.steps(even, rows, 1, (), some(1))


def _layer_norm(k: Loops) -> None:
    x, w, b, out, mean, rstd, rows, n, eps = k.arguments
    count = k.scalar(k.builder.sitofp(n, k.single))

    def some(numbers: list[Any]) -> None:
        starts = [k.builder.mul(i, n) for i in numbers]
        xs, ys = ([k.at(a, start) for start in starts] for a in (x, out))
        zeros = [k.spread(0.0)] * len(starts)
        sums = k.vectors(n, zeros, lambda at, *s: [t + at.load(xr) for t, xr in zip(s, xs, strict=True)])
        means = [_sum(k, s) / count for s in sums]
        middles = [k.spread(m) for m in means]

        def deviations(at: Lanes, *s: Value) -> list[Value]:
            found = []
            for t, xr, m in zip(s, xs, middles, strict=True):
                d = at.load(xr) - m
                if at.mask is not None:  # past the end there is none
                    d = Value(k, k.builder.select(at.mask, d.raw, k.constant(k.vector, 0.0)))
                found.append(d.times_plus(d, t))
            return found

        scales = []
        for i, m, s in zip(numbers, means, k.vectors(n, zeros, deviations), strict=True):
            scale = 1.0 / (_sum(k, s) / count + k.scalar(eps)).call("llvm.sqrt")
            k.builder.store(m.raw, k.at(mean, i))
            k.builder.store(scale.raw, k.at(rstd, i))
            scales.append(k.spread(scale))

        def result(at: Lanes) -> list[Value]:
            weight, bias = at.load(w), at.load(b)
            for xr, yr, m, r in zip(xs, ys, middles, scales, strict=True):
                at.store(((at.load(xr) - m) * r).times_plus(weight, bias), yr)
            return []

        k.vectors(n, [], result)

    _pairs(k, rows, some)


def _layer_norm_backward(k: Loops) -> None:
    """gx, and gw and gb added to."""
    g, x, mean, rstd, w, gx, gw, gb, rows, n = k.arguments
    count = k.scalar(k.builder.sitofp(n, k.single))

    def row(i: Any) -> None:
        start = k.builder.mul(i, n)
        gr, xr, zr = k.at(g, start), k.at(x, start), k.at(gx, start)
        m = k.spread(k.scalar(k.builder.load(k.at(mean, i))))
        r = k.spread(k.scalar(k.builder.load(k.at(rstd, i))))

        def sums(at: Lanes, s: Value, t: Value) -> list[Value]:
            cotangent = at.load(gr)
            z = (at.load(xr) - m) * r
            at.store(cotangent.times_plus(z, at.load(gw)), gw)
            at.store(cotangent + at.load(gb), gb)
            h = cotangent * at.load(w)
            return [s + h, h.times_plus(z, t)]

        s, t = k.vectors(n, [k.spread(0.0), k.spread(0.0)], sums)
        h_mean, hz_mean = k.spread(_sum(k, s) / count), k.spread(_sum(k, t) / count)

        def result(at: Lanes) -> list[Value]:
            z = (at.load(xr) - m) * r
            at.store((at.load(gr) * at.load(w) - h_mean - z * hz_mean) * r, zr)
            return []

        k.vectors(n, [], result)

    k.rows(rows, row)


def _cumsum(reverse: bool) -> Callable[[Loops], None]:
    """Running sums of rows: those within a vector by four shifted additions, and on top what came before it."""

    def build(k: Loops) -> None:
        x, out, rows, n = k.arguments
        b = k.builder
        width = k.ir.Constant(k.int, WIDTH)
        whole = b.mul(b.sdiv(n, width), width)
        last = 0 if reverse else WIDTH - 1

        def running(at: Lanes, xr: Any, yr: Any, before: Value) -> list[Value]:
            v = at.load(xr)
            for d in (1, 2, 4, 8):
                v = v + k.moved(v, -d if reverse else d)
            at.store(v + before, yr)
            return [before + k.lane(v, last)]

        def row(i: Any) -> None:
            start = b.mul(i, n)
            xr, yr = k.at(x, start), k.at(out, start)
            if not reverse:
                k.vectors(n, [k.spread(0.0)], lambda at, before: running(at, xr, yr, before))
                return
            rest = k.rest(whole, n, [k.spread(0.0)], lambda at, before: running(at, xr, yr, before))

            def backwards(i: Any, before: Value) -> list[Value]:
                return running(Lanes(k, b.sub(b.sub(whole, width), i), None), xr, yr, before)

            k.loop(whole, WIDTH, rest, backwards)

        k.rows(rows, row)

    return build


def _map(f: Callable[..., Value]) -> Callable[[Loops], None]:
    """A kernel (*inputs, out, n) with out = f(*inputs), element by element."""

    def build(k: Loops) -> None:
        *ins, out, n = k.arguments

        def step(at: Lanes) -> list[Value]:
            at.store(f(*[at.load(p) for p in ins]), out)
            return []

        k.vectors(n, [], step)

    return build


def _widen(k: Loops) -> None:
    """(halves, out, n), n in whole vectors."""
    source, out, n = k.arguments

    def step(i: Any) -> list[Value]:
        x = Value(k, k.builder.fpext(k.builder.load(k.halves(source, i), align=2), k.vector))
        Lanes(k, i, None).store(x, out)
        return []

    k.loop(n, k.width, (), step)


def _narrow(k: Loops) -> None:
    """(input, halves, n), n in whole vectors."""
    source, out, n = k.arguments

    def step(i: Any) -> list[Value]:
        place = k.halves(out, i)
        x = Lanes(k, i, None).load(source).raw
        k.builder.store(k.builder.fptrunc(x, k.ir.VectorType(k.ir.HalfType(), k.width)), place, align=2)
        return []

    k.loop(n, k.width, (), step)


def _silu_backward(g: Value, x: Value) -> Value:
    s = sigmoid(x)
    return g * s * (1.0 - s).times_plus(x, 1.0)


def _phi(x: Value) -> Value:
    """The normal distribution's Phi: the sigmoid of 2 * atanh(erf(x / sqrt 2)), by powers of two."""
    u = x * x
    unit = -2 / math.log(2)
    p = x.loops.spread(unit * ATANH_ERF[-1])
    for c in ATANH_ERF[-2::-1]:
        p = p.times_plus(u, unit * c)
    return 1.0 / (power((x * p).where_below(128.0, 128.0)) + 1.0)


def _gelu_backward(g: Value, x: Value) -> Value:
    density = power(x * x * (-0.5 / math.log(2))) * (1 / math.sqrt(2 * math.pi))
    return g * x.times_plus(density, _phi(x))


# ------------------------------------------------------------------ over lines


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


KERNELS: dict[str, tuple[str, Callable[[Loops], None]]] = {
    "softmax": ("ppnn", _softmax),
    "softmax_backward": ("pppnn", _softmax_backward),
    "log_softmax": ("ppnn", _log_softmax),
    "log_softmax_backward": ("pppnn", _log_softmax_backward),
    "layer_norm": ("ppppppnnf", _layer_norm),
    "layer_norm_backward": ("ppppppppnn", _layer_norm_backward),
    "cumsum": ("ppnn", _cumsum(False)),
    "cumsum_reverse": ("ppnn", _cumsum(True)),
    "sigmoid": ("ppn", _map(sigmoid)),
    "sigmoid_backward": ("pppn", _map(lambda g, y: g * y * (1.0 - y))),
    "tanh_backward": ("pppn", _map(lambda g, y: g * (1.0 - y * y))),
    "widen": ("ppn", _widen),
    "narrow": ("ppn", _narrow),
    "relu_backward": ("pppn", _map(lambda g, y: y.chooses(g, 0.0))),
    "silu": ("ppn", _map(lambda x: x * sigmoid(x))),
    "silu_backward": ("pppn", _map(_silu_backward)),
    "gelu": ("ppn", _map(lambda x: x * _phi(x))),
    "gelu_backward": ("pppn", _map(_gelu_backward)),
    **ATTENTION,
    "line_moments": ("pppnn", _moments),
    "line_affine": ("ppppnn", _affine),
    "line_dots": ("pppppnn", _dots),
    "line_pulled": ("pppppppnn", _pulled),
    "take_along": ("pppnnnn", _along(False)),
    "add_along": ("pppnnnn", _along(True)),
    **PRODUCTS,
    **RECURRENT,
}
