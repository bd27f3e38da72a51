"""Unary math: exponentials, logarithms, trigonometry, rounding, signs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.elementwise import expm1 as _expm1
from ..arrays.elementwise import log1p as _log1p
from ..arrays.elementwise import sigmoid as _sigmoid
from ..arrays.elementwise import tanh_backward as _tanh_pulled
from ..arrays.threads import BIG
from ..core.elementwise import ONE, binary, elementwise, kind_of, unary
from ..core.inplace import apply_inplace, inplace
from ..core.op import Op
from ..core.promote import SAME, Policy
from ._arguments import describe
from ._dtypes import refuse
from ._hot import as_op
from .arithmetic import ZERO, zeros
from .powers import rsqrt

__all__ = [
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "logaddexp", "logaddexp2", "sin", "cos", "tan", "asin",
    "acos", "atan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "arcsinh",
    "arccosh", "arctanh", "sigmoid", "floor", "ceil", "trunc", "fix", "frac", "round", "deg2rad", "rad2deg", "abs",
    "absolute", "abs_", "absolute_", "sign", "sgn", "nextafter", "round_",
]  # fmt: skip
METHODS = "*"
INPLACE = " ".join(
    n
    for n in __all__
    if n not in ("logaddexp", "logaddexp2", "round", "abs", "absolute", "abs_", "absolute_", "round_")
)
LN2, LN10 = float(np.log(2.0)), float(np.log(10.0))

# ------------------------------------------------------------------ exponentials and logarithms


def _rounded_right(ufunc: Any, large: Any = None) -> Any:
    """Without AVX-512 NumPy's last bits in float32 are the C library's, which are not PyTorch's: by way of float64."""

    def values(a: Any) -> Any:
        return ufunc(a, dtype=np.float64).astype(a.dtype) if a.dtype.char == "f" and a.size <= BIG else large(a)

    large = large or ufunc
    return values


exp = unary("exp", np.exp, lambda out: out)
exp2 = unary("exp2", np.exp2, lambda g, out: g * out * LN2)
expm1 = unary("expm1", _rounded_right(np.expm1, _expm1), lambda out: out + 1)
log = unary("log", np.log, lambda g, x: g / x)
log2 = unary("log2", np.log2, lambda g, x: g / (x * LN2))
log10 = unary("log10", _rounded_right(np.log10), lambda g, x: g / (x * LN10))
log1p = unary("log1p", _log1p, lambda g, x: g / (x + 1), node="Log1PBackward0")


def _logaddexp(x: Any, y: Any) -> Any:
    if x.dtype.kind != "c":
        return np.logaddexp(x, y)
    swap = x.real < y.real  # the larger real part is taken out of the sum
    high, low = np.where(swap, y, x), np.where(swap, x, y)
    same = (x.real == y.real) & np.isinf(x.real)
    return np.asarray(np.where(same, x, high + np.log1p(np.exp(low - high)))).astype(x.dtype)


logaddexp = binary(
    "logaddexp", _logaddexp, lambda g, x, y: g / (1 + exp(y - x)), lambda g, x, y: g / (1 + exp(x - y)),
    policy=refuse("bi", "logaddexp_cpu"), numbers=False,
)  # fmt: skip
logaddexp2 = binary(
    "logaddexp2", np.logaddexp2, lambda g, x, y: g / (1 + exp2(y - x)), lambda g, x, y: g / (1 + exp2(x - y)),
    policy=refuse("bic", "logaddexp2_cpu"), numbers=False,
)  # fmt: skip


def _sigmoid_kernel(a: Any) -> Any:
    """On a small array without a detour."""
    if a.size > BIG or a.ndim == 0 or a.dtype.char in "eEFD":
        return _sigmoid(a)
    r = np.negative(a)
    np.exp(r, r)
    np.add(r, 1.0, r)
    return np.reciprocal(r, r)


# An array costs half of what Python's number does beside another array.
_ONE = {np.dtype(t): np.array(1, t) for t in (np.float32, np.float64)}


def _one_for(g: Any, out: Any) -> Any:
    """1 as an array where g and out are arrays of one shape and type that can be computed in place; else None."""
    if out.__class__ is not np.ndarray or out.ndim == 0 or g.shape != out.shape or g.dtype is not out.dtype:
        return None
    return _ONE.get(out.dtype)


def _sigmoid_numbers(g: Any, out: Any) -> Any:
    one = _one_for(g, out)
    if one is None:
        return g * (1 - out) * out
    r = np.subtract(one, out)
    np.multiply(g, r, r)
    return np.multiply(r, out, r)


_sigmoid_backward = elementwise(
    "sigmoid_backward",
    lambda grad_output, result: grad_output * (1 - result) * result,
    {
        "grad_output": lambda g, result: g * (1 - result) * result,
        "result": lambda g, grad_output, result: g * grad_output * (1 - 2 * result),
    },
    node="SigmoidBackwardBackward0",
)
# PyTorch adds both terms also where one tangent is none: its zeros make +0 of the other's -0.
_sigmoid_backward.op.jvp = {
    "grad_output": lambda t, result: t * (1 - result) * result,
    "result": lambda t, grad_output, result: t * grad_output * (1 - 2 * result) + 0.0,
}
sigmoid = unary("sigmoid", _sigmoid_kernel, as_op(_sigmoid_backward, _sigmoid_numbers))
# A formula, whose two terms make +0 of the derivative of a tangent that is 0.
sigmoid.op.jvp = {"input": lambda t, out: t * (1 - out) * out}

# ------------------------------------------------------------------ trigonometry

sin = unary("sin", np.sin, lambda x: cos(x))
cos: Any = unary("cos", np.cos, lambda x: -sin(x))
tan = unary("tan", np.tan, lambda out: 1 + out * out)
asin = arcsin = unary("asin", np.arcsin, lambda x: rsqrt(1 - x * x))
acos = arccos = unary("acos", np.arccos, lambda x: -rsqrt(1 - x * x))
atan = arctan = unary("atan", np.arctan, lambda g, x: g / (x * x + 1))
sinh = unary("sinh", np.sinh, lambda x: cosh(x))
cosh: Any = unary("cosh", np.cosh, lambda x: sinh(x))
_tanh_backward = elementwise(
    "tanh_backward",
    lambda grad_output, result: grad_output * (1 - result * result),
    {
        "grad_output": lambda g, result: g * (1 - result * result),
        "result": lambda g, grad_output, result: g * grad_output * -2 * result,
    },
    node="TanhBackwardBackward0",
)
_tanh_backward.op.jvp = {
    "grad_output": lambda t, result: t * (1 - result * result),
    "result": lambda t, grad_output, result: t * grad_output * -2 * result + 0.0,
}


def _tanh_numbers(g: Any, out: Any) -> Any:
    one = _one_for(g, out)
    if one is None:
        return g * (1 - out * out)
    if g.size >= BIG // 4:
        return _tanh_pulled(g, out)
    r = np.multiply(out, out)
    np.subtract(one, r, r)
    return np.multiply(g, r, r)


_tanh_numbers.shares = True
tanh = unary("tanh", np.tanh, as_op(_tanh_backward, _tanh_numbers))
asinh = arcsinh = unary("asinh", np.arcsinh, lambda x: rsqrt(x * x + 1))
atanh = arctanh = unary("atanh", np.arctanh, lambda g, x: g / (1 - x * x))
_complex_acosh = unary("acosh.complex", np.arccosh, lambda x: rsqrt(x - 1) * rsqrt(x + 1), node="AcoshBackward0")
acosh = arccosh = unary("acosh", np.arccosh, lambda x: rsqrt(x * x - 1), complex_case=_complex_acosh)


def _degrees(word: str, ufunc: Any, node: str, factor: float) -> Any:
    message = f"{word} is not supported for complex tensors."
    policy = refuse("c", message, floats=True, error=RuntimeError)

    def forward(x: Any) -> Any:
        return x * x.dtype.type(factor) if x.dtype.itemsize > 2 else ufunc(x)

    return unary(word, forward, lambda g: g * factor, node=node, policy=policy)


deg2rad = _degrees("deg2rad", np.deg2rad, "Deg2RadBackward0", np.pi / 180)
rad2deg = _degrees(
    "rad2deg", lambda x: x * (180 / np.pi) if x.dtype.itemsize > 2 else np.rad2deg(x), "Rad2DegBackward0", 180 / np.pi
)

# ------------------------------------------------------------------ rounding


def _whole(ufunc: Any) -> Callable[..., Any]:
    """Integers are whole already."""

    def fn(a: Any, out: Any = None) -> Any:
        return a.copy() if a.dtype.kind in "iu" else ufunc(a) if out is None else ufunc(a, out)

    return fn


def _step(name: str, ufunc: Any) -> Any:
    words = f"{name} is not supported for complex inputs"
    return unary(name, _whole(ufunc), ZERO, policy=_rounding(name, words))


def _rounding(name: str, words: str) -> Policy:
    no_complex, no_bool = refuse("c", words).check, refuse("b", f"{name}_vml_cpu").check

    def check(*given: Any) -> None:
        no_complex(*given)  # type: ignore[misc]
        no_bool(*given)  # type: ignore[misc]

    return Policy(check=check)


floor, ceil, trunc = _step("floor", np.floor), _step("ceil", np.ceil), _step("trunc", np.trunc)
fix = trunc
frac = unary("frac", lambda a: np.asarray(a - np.trunc(a)), ONE, policy=refuse("bic", "frac_cpu"))
_round = unary("round", _whole(np.rint), ZERO, policy=refuse("bc", "round_vml_cpu"))


def _round_decimals(input: Any, decimals: int) -> Any:
    scale = float(10.0 ** np.abs(decimals))  # not one of NumPy's: those would widen the input
    wide = input.astype(np.float32) if input.dtype.itemsize == 2 else input
    got = np.rint(wide * scale) / scale if decimals >= 0 else np.rint(wide / scale) * scale
    return np.asarray(got).astype(input.dtype)


def _round_to(decimals: int) -> Callable[..., Any]:
    return _round_places if decimals else _round_none


_round_none = elementwise(
    "round.decimals_0", _round_decimals, {"input": ZERO}, node="RoundBackward1", policy=refuse("bic", "round_vml_cpu")
)  # fmt: skip
_round_places = elementwise(
    "round.decimals", _round_decimals, {"input": ZERO}, node="RoundBackward1", policy=refuse("bic", "round_cpu")
)  # fmt: skip


def round(input: Any, *, decimals: int | None = None, out: Any = None) -> Any:
    """The nearest integer, ties to the even one; with `decimals`, the nearest multiple of 10**-decimals.

    Its derivative is 0.

    >>> import tidu as torch
    >>> torch.round(torch.tensor([0.5, 1.5, 2.4]))
    tensor([0., 2., 2.])
    """
    return _round(input, out=out) if decimals is None else _round_to(decimals)(input, decimals, out=out)


_iround = inplace(_round.op, "round_")


def round_(self: Any, *, decimals: int | None = None) -> Any:
    """In-place `round`."""
    if decimals is None:
        return _iround(self)
    return apply_inplace(_round_to(decimals).op, (self, decimals))


nextafter = binary("nextafter", np.nextafter, ONE, ZERO, policy=refuse("bic", "nextafter_cpu"), numbers=False)

# ------------------------------------------------------------------ absolute values and signs

# Of complex numbers they have no complex derivative: |z| changes by the part of dz along z, sgn(z) = z / |z| by the
# part across it.


def _real(x: Any) -> Any:
    return x.real


def _across(v: Any, input: Any, out: Any) -> Any:
    """The part of v at right angles to sgn(z), over |z|; 0 at 0. It is its own adjoint."""
    from .selection import where

    size = abs(input)
    return where(size == 0, zeros(v), (v - _real(v * out.conj()) * out) / size)


_complex_abs = Op(
    "abs.complex",
    lambda input: np.asarray(np.absolute(input)),
    {"input": lambda g, input: g * sgn(input)},
    {"input": lambda t, input: _real(t * sgn(input).conj())},
    node="AbsBackward0",
).call
_complex_sgn = Op(
    "sgn.complex",
    lambda input: np.asarray(np.where(input == 0, 0, input / np.absolute(input))).astype(input.dtype),
    {"input": lambda g, input, out: _across(g, input, out)},
    {"input": lambda t, input, out: _across(t, input, out)},
    node="SgnBackward0",
).call

abs = absolute = unary(
    "abs", np.absolute, lambda g, x: g * sgn(x), policy=refuse("b", "abs_cpu", integers="iu"), complex_case=_complex_abs
)  # fmt: skip


_iabs = inplace(abs.op)


def abs_(self: Any) -> Any:
    """In-place `abs`; not for complex tensors. Source: torch.Tensor.abs_."""
    if kind_of(self) == "c":
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return _iabs(self)


absolute_ = abs_


def _sign(a: Any, out: Any = None) -> Any:
    """0 for NaN, unlike NumPy."""
    if a.dtype.kind == "b":
        return a.copy()
    r = np.asarray(np.sign(a, out))
    if a.dtype.kind in "fV":
        np.copyto(r, 0, where=np.isnan(r))
    return r


sign = unary(
    "sign", _sign, ZERO,
    policy=refuse(
        "c", "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead."
    ),
)  # fmt: skip
sgn: Any = unary("sgn", _sign, ZERO, policy=SAME, complex_case=_complex_sgn)
for _fn in (floor, ceil, trunc, frac, _round, abs, sign, sgn):
    _fn.op.same_out = True  # type: ignore[union-attr]

describe(
    globals(),
    """
    exp: e**input. d/dinput = out.
    exp2: 2**input. d/dinput = out * log(2).
    expm1: exp(input) - 1, accurate near 0. d/dinput = out + 1.
    log: The natural logarithm; -inf at 0, NaN below. d/dinput = 1 / input.
    log2: The logarithm to base 2. d/dinput = 1 / (input * log(2)).
    log10: The logarithm to base 10. d/dinput = 1 / (input * log(10)).
    log1p: log(1 + input), accurate near 0. d/dinput = 1 / (input + 1).
    logaddexp: log(exp(input) + exp(other)) without overflow. d/dinput = 1 / (1 + exp(other - input)).
    logaddexp2: log2(2**input + 2**other) without overflow. d/dinput = 1 / (1 + 2**(other - input)).
    sigmoid: 1 / (1 + exp(-input)). d/dinput = out * (1 - out).
    sin: The sine. d/dinput = cos(input).
    cos: The cosine. d/dinput = -sin(input).
    tan: The tangent. d/dinput = 1 + out**2.
    asin: The inverse sine, NaN outside [-1, 1]. d/dinput = 1 / sqrt(1 - input**2).
    acos: The inverse cosine, NaN outside [-1, 1]. d/dinput = -1 / sqrt(1 - input**2).
    atan: The inverse tangent. d/dinput = 1 / (input**2 + 1).
    sinh: The hyperbolic sine. d/dinput = cosh(input).
    cosh: The hyperbolic cosine. d/dinput = sinh(input).
    tanh: The hyperbolic tangent. d/dinput = 1 - out**2.
    asinh: The inverse hyperbolic sine. d/dinput = 1 / sqrt(input**2 + 1).
    acosh: The inverse hyperbolic cosine, NaN below 1. d/dinput = 1 / sqrt(input**2 - 1).
    atanh: The inverse hyperbolic tangent, NaN outside [-1, 1]. d/dinput = 1 / (1 - input**2).
    deg2rad: Degrees in radians, input * pi / 180.
    rad2deg: Radians in degrees, input * 180 / pi.
    floor: The largest integer not above; integers as they are. Its derivative is 0.
    ceil: The smallest integer not below; integers as they are. Its derivative is 0.
    trunc: The integer next to it towards 0; integers as they are. Its derivative is 0.
    frac: input - trunc(input). d/dinput = 1.
    abs: The absolute value, real for complex numbers. d/dinput = sgn(input), 0 at 0.
    sign: -1, 0 or 1, 0 for NaN; not for complex numbers. Its derivative is 0.
    sgn: sign, and input / abs(input) for complex numbers.
    nextafter: The next number of the dtype after `input` in the direction of `other`. d/dinput = 1.
    """,
)

OPERATORS = {"__abs__": abs}
