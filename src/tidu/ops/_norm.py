"""What layer, batch and group norm share.

Each is (x - mean) * rstd over some axes, then a weight and a bias. With z = (x - mean) * rstd and h the cotangent of z,
that of x is rstd * (h - mean(h) - z * mean(h * z)), means over the same axes. For numbers kernels take it from the
saved statistics; where it is recorded they are computed anew from x, so that it can be differentiated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .powers import rsqrt
from .reduction import mean

Value = Any
Ints = tuple[int, ...]


def standard(x: Value, axes: Ints, eps: float) -> tuple[Value, Value]:
    """z and rstd, as values."""
    d = x - mean(x, axes, True)
    rstd = rsqrt(mean(d * d, axes, True) + eps)
    return d * rstd, rstd


def pull(h: Value, z: Value, rstd: Value, axes: Ints) -> Value:
    """The cotangent of x from that of z; tangents go the same way."""
    return (h - mean(h, axes, True) - z * mean(h * z, axes, True)) * rstd


def times(x: Value, w: Value) -> Value:
    return x if w is None else x * w


def like_input(outs: tuple[Any, ...], input: Any, weight: Any, bias: Any) -> tuple[Any, ...]:
    """Statistics in the dtype of the input, unless float32 weights stand beside half precision."""
    if input.dtype.itemsize != 2 or any(w is not None and w.dtype != input.dtype for w in (weight, bias)):
        return outs
    return tuple(o.astype(input.dtype, copy=False) for o in outs)


def three(needs: Sequence[bool]) -> tuple[bool, bool, bool]:
    """Which of the cotangents of input, weight and bias are wanted."""
    return needs[0], needs[1], needs[2]


def affine_push(t: Value, tw: Value, tb: Value, z: Value, rstd: Value, weight: Value, axes: Ints) -> Value:
    """The tangent of z * weight + bias from those of x, weight and bias."""
    parts = []
    if t is not None:
        parts.append(times(pull(t, z, rstd, axes), weight))
    if tw is not None:
        parts.append(z * tw)
    if tb is not None:
        parts.append(tb + z * 0)
    total = parts[0]
    for p in parts[1:]:
        total = total + p
    return total
