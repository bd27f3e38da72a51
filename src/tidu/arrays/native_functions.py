"""Functions of vectors of floats that the native kernels share."""

from __future__ import annotations

import math
from typing import Any

from tidu.arrays.native_loops import Value

__all__ = ["exp", "log", "power", "sigmoid", "tanh"]

_MAGIC = 12582912.0  # 1.5 * 2**23: added to a small number, it leaves the nearest integer in the low bits


def _power(x: Value) -> tuple[Any, Value]:
    """n and r of exp(x) = 2**n * exp(r): the integer nearest to x / log 2, and what is left."""
    loops = x.loops
    b = loops.builder
    shifted = x.times_plus(1 / math.log(2), _MAGIC)
    n = shifted - _MAGIC
    r = n.times_plus(-0.693359375, x)  # log 2 in two parts, the first of few bits
    r = n.times_plus(2.12194440e-4, r)
    integer = b.sub(b.bitcast(shifted.raw, loops.ints), loops.integers(0x4B400000))
    return integer, r


def _two_to(n: Any, loops: Any) -> Value:
    """2**n for integers between -126 and 127."""
    b = loops.builder
    return Value(loops, b.bitcast(b.shl(b.add(n, loops.integers(127)), loops.integers(23)), loops.vector))


def exp(x: Value) -> Value:
    """exp by 2**n * P(r), n the nearest integer to x / log 2; denormal results included. Within 1.5 ulp."""
    loops = x.loops
    b = loops.builder
    integer, r = _power(x.where_above(-104.0, -104.0).where_below(89.0, 89.0))
    p = loops.spread(_EXP[-1])
    for c in _EXP[-2::-1]:
        p = p.times_plus(r, c)
    half = b.ashr(integer, loops.integers(1))
    for part in (half, b.sub(integer, half)):  # two factors, so that each is a normal number
        p = p * _two_to(part, loops)
    return p


def power(x: Value) -> Value:
    """2**x for x up to 128; zero where it is below the normal numbers."""
    loops = x.loops
    b = loops.builder
    x = x.where_above(-127.0, -127.0)
    shifted = x + _MAGIC
    r = x - (shifted - _MAGIC)
    p = loops.spread(_EXP[-1] * math.log(2) ** 7)
    for k in range(6, -1, -1):
        p = p.times_plus(r, _EXP[k] * math.log(2) ** k)
    return p * _two_to(b.bitcast(shifted.raw, loops.ints), loops)


# exp(r) on [-log(2)/2, log(2)/2] = 1 + r + r**2/2 + ...: Taylor's terms up to the 7th are exact to float32 there.
_EXP = [1 / math.factorial(k) for k in range(8)]


def log(x: Value) -> Value:
    """log of a normal positive number or NaN: exponent * log 2 + log(m), m between sqrt(1/2) and sqrt(2)."""
    loops = x.loops
    b = loops.builder
    bits = b.sub(b.bitcast(x.raw, loops.ints), loops.integers(0x3F3504F3))  # those of sqrt(1/2)
    exponent = Value(loops, b.sitofp(b.ashr(bits, loops.integers(23)), loops.vector))
    mantissa = b.add(b.and_(bits, loops.integers(0x7FFFFF)), loops.integers(0x3F3504F3))
    m = Value(loops, b.bitcast(mantissa, loops.vector))
    t = (m - 1.0) / (m + 1.0)  # log(m) = 2 * atanh(t)
    u = t * t
    p = loops.spread(2 / 9)
    for k in (7, 5, 3):
        p = p.times_plus(u, 2 / k)
    small = (t * u).times_plus(p, t + t)
    return exponent.times_plus(0.693359375, exponent.times_plus(-2.12194440e-4, small)) + (x - x)


def sigmoid(x: Value) -> Value:
    """1 / (1 + exp(-x))."""
    return 1.0 / (exp(-x) + 1.0)


def tanh(x: Value) -> Value:
    """m / (m + 2) with m = exp(2 x) - 1 = 2**n * (exp(r) - 1) + 2**n - 1, which loses nothing near zero."""
    loops = x.loops
    x = x.where_above(-10.0, -10.0).where_below(10.0, 10.0)
    integer, r = _power(x + x)
    p = loops.spread(_EXP[-1])
    for c in _EXP[-2:0:-1]:
        p = p.times_plus(r, c)
    power = _two_to(integer, loops)
    m = (p * r).times_plus(power, power - 1.0)
    return m / (m + 2.0)
