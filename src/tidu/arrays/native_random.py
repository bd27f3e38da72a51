"""Compiled loops of the samplers: MT19937's words, PyTorch's float32 normals, and a shuffle.

The normals are the polynomials of `normal.py`, with real fused multiply-adds: PyTorch's numbers to the bit. Compiling
takes as long as drawing some million numbers by NumPy, and is put off until so many have been drawn.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tidu.arrays.native import address, compiled
from tidu.arrays.native_loops import WIDTH, Loops, Value

BLOCK, SHIFT = 624, 397


@functools.cache
def kernel(name: str) -> Any:
    return compiled(name, *_KERNELS[name])


# ------------------------------------------------------------------ words


def _words(k: Loops, pointer: Any, i: Any, offset: int = 0) -> Any:
    """Sixteen words from place i + offset on."""
    b = k.builder
    place = b.gep(pointer, [b.add(i, k.whole(offset))])
    return b.bitcast(place, k.ints.as_pointer())


def _twist(k: Loops) -> None:
    """States of the twister one after the other, `state` longer by the one that is there than the words in `out`."""
    state, out, n = k.arguments
    b = k.builder

    def step(i: Any) -> tuple[()]:
        now, following, far = (b.load(_words(k, state, i, at), align=4) for at in (0, 1, SHIFT))
        y = b.or_(b.and_(now, k.integers(0x80000000)), b.and_(following, k.integers(0x7FFFFFFF)))
        odd = b.sub(k.integers(0), b.and_(following, k.integers(1)))
        y = b.xor(b.xor(far, b.lshr(y, k.integers(1))), b.and_(odd, k.integers(0x9908B0DF)))
        b.store(y, _words(k, state, i, BLOCK), align=4)
        y = b.xor(y, b.lshr(y, k.integers(11)))
        y = b.xor(y, b.and_(b.shl(y, k.integers(7)), k.integers(0x9D2C5680)))
        y = b.xor(y, b.and_(b.shl(y, k.integers(15)), k.integers(0xEFC60000)))
        b.store(b.xor(y, b.lshr(y, k.integers(18))), _words(k, out, i), align=4)
        return ()

    k.loop(n, WIDTH, (), step)


def twist(key: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The next `n` words (a multiple of 624) after a state, and the state then."""
    state, words = np.empty(n + BLOCK, np.uint32), np.empty(n, np.uint32)
    state[:BLOCK] = key
    kernel("twist")(address(state), address(words), n)
    return words, state[n:].copy()


# ------------------------------------------------------------------ normals


def _fused(x: Value, y: Any, z: Any) -> Value:
    k = x.loops
    raw = [v.raw if isinstance(v, Value) else k.constant(k.vector, v) for v in (x, y, z)]
    return Value(k, k.intrinsic("llvm.fma", raw))


def _polynomial(x: Value, coefficients: Any) -> Value:
    y = x.loops.spread(float(coefficients[0]))
    for c in coefficients[1:]:
        y = _fused(y, x, float(c))
    return y


def _normals(k: Loops) -> None:
    """From the words of two blocks of 16 at a time, their normals times `std` plus `mean`."""
    from tidu.arrays import normal as rule

    words, out, n, mean, std = k.arguments
    b = k.builder
    shift, scale = k.spread(k.scalar(mean)), k.spread(k.scalar(std))
    index = k.ir.IntType(32)
    halves = [list(range(8)) + list(range(16, 24)), list(range(8, 16)) + list(range(24, 32))]

    def mixed(x: Any, y: Any, lanes: list[int]) -> Any:
        return b.shuffle_vector(x, y, k.ir.Constant(k.ir.VectorType(index, WIDTH), lanes))

    def uniform(raw: Any) -> Value:
        low = b.and_(raw, k.integers(0xFFFFFF))
        return Value(k, b.sitofp(low, k.vector)) * 2.0**-24

    def logarithm(u: Value) -> Value:
        bits = b.bitcast(u.raw, k.ints)
        exponent = b.ashr(b.sub(bits, k.integers(0x3F3504F3)), k.integers(23))  # the bits of sqrt(1/2)
        power = Value(k, b.sitofp(exponent, k.vector))
        u = Value(k, b.bitcast(b.sub(bits, b.shl(exponent, k.integers(23))), k.vector)) - 1.0
        square = u * u
        y = _fused(_polynomial(u, rule._LOG) * u, square, power * float(rule._LN2_LOW))
        y = _fused(square, -0.5, y)
        return _fused(power, float(rule._LN2_HIGH), u + y)

    def turned(t: Value) -> tuple[Value, Value]:
        octant = b.fptosi((t * float(rule._OCTANTS)).raw, k.ints)
        octant = b.and_(b.add(octant, k.integers(1)), k.integers(0xFFFFFFFE))
        whole = Value(k, b.sitofp(octant, k.vector))
        for part in rule._QUARTER_PI:
            t = _fused(whole, float(part), t)
        square = t * t
        s = _fused(_polynomial(square, rule._SIN) * square, t, t)
        c = _fused(_polynomial(square, rule._COS) * square, square, square * -0.5) + 1.0
        s, c = b.bitcast(s.raw, k.ints), b.bitcast(c.raw, k.ints)
        swap = b.sub(k.integers(0), b.and_(b.lshr(octant, k.integers(1)), k.integers(1)))
        difference = b.and_(b.xor(s, c), swap)
        four, place = k.integers(4), k.integers(29)
        s = b.xor(b.xor(s, difference), b.shl(b.and_(octant, four), place))
        c = b.xor(b.xor(c, difference), b.shl(b.and_(b.add(octant, k.integers(2)), four), place))
        return Value(k, b.bitcast(s, k.vector)), Value(k, b.bitcast(c, k.vector))

    def step(i: Any) -> tuple[()]:
        x, y = (b.load(_words(k, words, i, at), align=4) for at in (0, WIDTH))
        first, last = (uniform(mixed(x, y, lanes)) for lanes in halves)
        radius = (logarithm(1.0 - first) * -2.0).call("llvm.sqrt")
        s, c = turned(last * (2 * math.pi))
        p, q = (_fused(radius * v, scale, shift).raw for v in (c, s))
        for at, start in ((0, 0), (WIDTH, 8)):
            lanes = [*range(start, start + 8), *range(WIDTH + start, WIDTH + start + 8)]
            b.store(b.bitcast(mixed(p, q, lanes), k.ints), _words(k, out, i, at), align=4)
        return ()

    k.loop(n, 2 * WIDTH, (), step)


def normals(words: np.ndarray, out: np.ndarray, mean: float, std: float) -> None:
    """`out` (float32, as many as words, a multiple of 16) filled with normals."""
    function = kernel("normals")
    whole = out.size // 32 * 32
    function(address(words), address(out), whole, mean, std)
    if whole < out.size:  # half a step
        rest, made = np.zeros(32, np.uint32), np.empty(32, np.float32)
        rest[:16] = words[whole:]
        function(address(rest), address(made), 32, mean, std)
        out[whole:] = made[:16]


# ------------------------------------------------------------------ shuffling


def _shuffle(k: Loops) -> None:
    words, order, n = k.arguments
    b = k.builder
    word, place = k.ir.IntType(32), k.int.as_pointer()
    words = b.bitcast(words, word.as_pointer())
    order = b.bitcast(order, place)
    count = b.trunc(n, word)

    def swap(i: Any) -> None:
        left = b.sub(count, b.trunc(i, word))
        j = b.add(i, b.zext(b.urem(b.load(b.gep(words, [i])), left), k.int))
        here, there = b.gep(order, [i]), b.gep(order, [j])
        x, y = b.load(here), b.load(there)
        b.store(y, here)
        b.store(x, there)

    k.rows(b.sub(n, k.whole(1)), swap)


def shuffle(words: np.ndarray, order: np.ndarray) -> None:
    """Swap places i and i + words[i] % (n - i) of `order` (int64) for each i."""
    kernel("shuffle")(address(words), address(order), order.size)


_KERNELS: dict[str, tuple[str, Callable[[Loops], None]]] = {
    "twist": ("ppn", _twist),
    "normals": ("ppnff", _normals),
    "shuffle": ("ppn", _shuffle),
}
