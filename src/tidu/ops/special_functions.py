"""Special functions of one argument, by SciPy, with their derivatives. SciPy is imported at the first call."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.elementwise import erf as _erf
from ..core.elementwise import elementwise, kind_of, unary
from ..core.inplace import apply_inplace
from ._dtypes import refuse, widened
from ._names import describe
from .arithmetic import mul, zeros
from .pointwise import cos, exp, log, sgn, sin
from .selection import where

__all__ = [
    "erf", "erfc", "erfinv", "lgamma", "digamma", "polygamma", "mvlgamma", "i0", "sinc", "logit", "logit_",
]  # fmt: skip
METHODS = "erf erfc erfinv lgamma digamma polygamma polygamma_ mvlgamma mvlgamma_ i0 sinc logit logit_"
INPLACE = "erf erfc erfinv lgamma digamma i0 sinc"

_2_BY_SQRT_PI = 2 / math.sqrt(math.pi)
_HALF_SQRT_PI = math.sqrt(math.pi) / 2


def scipy(name: str) -> Callable[..., Any]:
    """A function of scipy.special on arrays, in their own dtype."""
    found: list[Any] = []

    @widened
    def kernel(*args: Any) -> Any:
        if not found:
            import scipy.special

            found.append(getattr(scipy.special, name))
        return np.asarray(found[0](*args)).astype(args[0].dtype, copy=False)

    return kernel


def special(name: str, fn: Any, partial: Any = None, *, word: str = "", refused: str = "c", node: str = "") -> Any:
    """An op of one argument; integers become floats, dtypes of the categories `refused` an error."""
    kernel = scipy(fn) if isinstance(fn, str) else fn
    policy = refuse(refused, word or name.removeprefix("special_") + "_cpu", floats=True)
    return unary(name, kernel, partial, policy=policy, node=node or None)


# ------------------------------------------------------------------ error functions


def _erfinv(input: Any) -> Any:
    return np.asarray(np.copysign(scipy("erfinv")(input), input))  # SciPy's loses the sign of zero


erf = special("erf", _erf, lambda x: _2_BY_SQRT_PI * exp(-(x * x)), word="erf_vml_cpu")
erfc = special("erfc", "erfc", lambda x: -_2_BY_SQRT_PI * exp(-(x * x)), word="erfc_vml_cpu")
erfinv = special("erfinv", _erfinv, lambda out: _HALF_SQRT_PI * exp(out * out), word="erfinv_vml_cpu")
erfcx = special("special_erfcx", "erfcx", lambda x, out: 2 * x * out - _2_BY_SQRT_PI, refused="ch")
ndtri = special(
    "special_ndtri", "ndtri", lambda out: math.sqrt(2 * math.pi) * exp(out * out / 2), refused="ch"
)  # fmt: skip
log_ndtr = special(
    "special_log_ndtr", "log_ndtr", lambda g, x: g / erfcx(x * -math.sqrt(0.5)) * math.sqrt(2 / math.pi), refused="ch"
)  # fmt: skip


def ndtr(input: Any, *, out: Any = None) -> Any:
    """The normal distribution function (1 + erf(x / sqrt(2))) / 2. Source: torch.special.ndtr."""
    return mul(1 + erf(input * math.sqrt(0.5)), 0.5, out=out)


# ------------------------------------------------------------------ gamma functions


@widened
def _lgamma(x: Any) -> Any:
    from scipy.special import gammaln

    return np.asarray(np.where(np.isinf(x), np.inf, gammaln(x))).astype(x.dtype, copy=False)


lgamma = special("lgamma", _lgamma, lambda x: digamma(x), word="lgamma_vml_cpu")
digamma: Any = special("digamma", "psi", lambda x: polygamma(1, x), word="digamma")


@widened
def _polygamma(input: Any, n: int) -> Any:
    from scipy.special import gamma, psi, zeta

    if n == 0:
        return np.asarray(psi(input)).astype(input.dtype)
    if n == 1:  # by reflection left of 1/2
        left = input < 0.5
        x = np.where(left, 1 - input, input)
        right = zeta(2, x)
        value = np.where(left, (np.pi / np.sin(np.pi * input)) ** 2 - right, right)
        return np.where(input == -np.inf, np.nan, value).astype(input.dtype)
    value = (-1.0) ** (n + 1) * gamma(n + 1.0) * zeta(n + 1, input)
    value = np.where(input == np.inf, np.nan, np.where(input == -np.inf, (-1.0) ** (n + 1) * np.inf, value))
    return value.astype(input.dtype)


_polygamma_op = elementwise(
    "polygamma", _polygamma, {"input": lambda input, n: polygamma(n + 1, input)},
    policy=refuse("c", "trigamma", floats=True),
)  # fmt: skip


def _order(n: int) -> int:
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return n


def polygamma(n: int, input: Any, *, out: Any = None) -> Any:
    """The n-th derivative of `digamma`. **Raises** RuntimeError for negative n. Source: torch.polygamma."""
    return _polygamma_op(input, _order(n), out=out)


def method_polygamma(self: Any, n: int) -> Any:
    """The n-th derivative of `digamma`. Source: torch.Tensor.polygamma."""
    return polygamma(n, self)


def polygamma_(self: Any, n: int) -> Any:
    """In-place `polygamma`. Source: torch.Tensor.polygamma_."""
    return apply_inplace(_polygamma_op.op, (self, _order(n)))


def _mvlgamma(input: Any, p: int) -> Any:
    from scipy.special import gammaln

    shifted = input[..., None] - np.arange(p) / 2
    logs = np.where(np.isinf(shifted), np.inf, gammaln(shifted))
    return np.asarray(logs.sum(-1) + p * (p - 1) / 4 * math.log(math.pi)).astype(input.dtype)


def _sum_of_digamma(input: Any, p: int) -> Any:
    total = digamma(input)
    for j in range(1, p):
        total = total + digamma(input - j / 2)
    return total


_mvlgamma_op = elementwise(
    "mvlgamma", widened(_mvlgamma), {"input": _sum_of_digamma},
    policy=refuse("b", "The input tensor may not be a boolean tensor.", floats=True, error=RuntimeError),
)  # fmt: skip


def _dimension(input: Any, p: int) -> int:
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    if kind_of(input) == "c":
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{input.dtype.legacy}'")
    return p


def mvlgamma(input: Any, p: int, *, out: Any = None) -> Any:
    """The logarithm of the multivariate gamma function of dimension p,
    p (p - 1) / 4 * log(pi) + sum(lgamma(x - j / 2) for j in range(p)). Source: torch.mvlgamma.
    """
    return _mvlgamma_op(input, _dimension(input, p), out=out)


def mvlgamma_(self: Any, p: int) -> Any:
    """In-place `mvlgamma`. Source: torch.Tensor.mvlgamma_."""
    return apply_inplace(_mvlgamma_op.op, (self, _dimension(self, p)))


# ------------------------------------------------------------------ Bessel functions


def _half_at_zero(x: Any, fn: Callable[[Any], Any]) -> Any:
    """fn(x), which divides by x, and its limit 1/2 at 0, with derivatives that are no NaN there."""
    away = abs(x) > np.finfo(np.float64).eps
    return where(away, fn(where(away, x, 1.0)), 0.5)


def _grown(scaled: str) -> Callable[..., Any]:
    """exp(|x|) times a scaled Bessel function: infinite, as in PyTorch, from where exp overflows."""
    kernel = scipy(scaled)
    return widened(lambda x: kernel(x) * np.exp(np.abs(x)))


i0 = special("i0", _grown("i0e"), lambda x: i1(x), word="i0_vml_cpu")
i0e = special("special_i0e", "i0e", lambda x, out: i1e(x) - sgn(x) * out, node="SpecialI0EBackward0")
i1: Any = special(
    "special_i1", _grown("i1e"), lambda x, out: _half_at_zero(x, lambda z: i0(z) - out / z), node="SpecialI1Backward0"
)  # fmt: skip
i1e: Any = special(
    "special_i1e", "i1e", lambda x, out: _half_at_zero(x, lambda z: i0e(z) - out * (sgn(z) + 1 / z)),
    node="SpecialI1EBackward0",
)  # fmt: skip


def _bessel(name: str, fn: Any) -> Any:
    return special("special_" + name, fn, refused="ch")


bessel_j0, bessel_j1 = _bessel("bessel_j0", "j0"), _bessel("bessel_j1", "j1")
bessel_y0, bessel_y1 = _bessel("bessel_y0", "y0"), _bessel("bessel_y1", "y1")
modified_bessel_i0, modified_bessel_i1 = (
    _bessel("modified_bessel_i0", _grown("i0e")),
    _bessel("modified_bessel_i1", _grown("i1e")),
)
modified_bessel_k0, modified_bessel_k1 = (_bessel("modified_bessel_k0", "k0"), _bessel("modified_bessel_k1", "k1"))
scaled_modified_bessel_k0 = _bessel("scaled_modified_bessel_k0", "k0e")
scaled_modified_bessel_k1 = _bessel("scaled_modified_bessel_k1", "k1e")


def _spherical(x: Any) -> Any:
    return np.asarray(np.where(x == 0, 1, np.where(np.isinf(x), 0, np.sin(x) / x))).astype(x.dtype)


def _airy(x: Any) -> Any:
    from scipy.special import airy

    value = np.asarray(airy(x)[0])
    far = np.isnan(value) & np.isfinite(x)  # where SciPy gives up
    if far.any():  # the leading terms of the expansions at infinity
        with np.errstate(all="ignore"):
            root = np.sqrt(-x)
            wave = np.sin(-2 * x * root / 3 + np.pi / 4) / np.sqrt(np.pi * root)
        value = np.where(far, np.where(x > 0, 0, wave), value).astype(x.dtype)
    return value


spherical_bessel_j0, airy_ai = _bessel("spherical_bessel_j0", _spherical), _bessel("airy_ai", _airy)

# ------------------------------------------------------------------ sinc, logit, entropy


@widened
def _sinc(x: Any) -> Any:
    turns = np.pi * x
    return np.asarray(np.where(x == 0, 1, np.sin(turns) / turns)).astype(x.dtype)


def _sinc_rule(g: Any, x: Any) -> Any:
    turns = math.pi * x
    square = turns * x
    return where(square == 0, zeros(g), g * ((turns * cos(turns) - sin(turns)) / square))


sinc = special("sinc", _sinc, _sinc_rule, refused="")


@widened
def _logit(input: Any, eps: float | None = None) -> Any:
    z = input if eps is None else np.clip(input, float(eps), 1 - float(eps))
    return np.asarray(np.log(z / (1 - z)))


def _logit_rule(g: Any, input: Any, eps: float | None) -> Any:
    low, high, beyond = (0.0, 1.0, math.nan) if eps is None else (eps, 1 - eps, 0.0)
    return where((input < low) | (input > high), beyond, g / (input * (1 - input) + 0.0))


logit = elementwise("logit", _logit, {"input": _logit_rule}, policy=refuse("c", "logit_cpu", floats=True))


def logit_(self: Any, eps: float | None = None) -> Any:
    """In-place `logit`. Source: torch.logit_."""
    return apply_inplace(logit.op, (self, eps))


@widened
def _entr(x: Any) -> Any:
    return np.asarray(np.where(np.isnan(x), x, np.where(x > 0, -x * np.log(x), np.where(x == 0, 0, -np.inf)))).astype(
        x.dtype
    )


entr = special("special_entr", _entr, lambda g, x: g * (-log(x) - 1))

describe(
    globals(),
    """
    erf: The error function. d/dinput = 2 / sqrt(pi) * exp(-input**2).
    erfc: 1 - erf(input), accurate where erf is near 1.
    erfcx: exp(input**2) * erfc(input), without overflow.
    erfinv: The inverse of erf, NaN outside [-1, 1].
    ndtri: The inverse of ndtr, NaN outside [0, 1].
    log_ndtr: log(ndtr(input)), accurate far below 0.
    i0: The modified Bessel function of order 0. d/dinput = i1(input).
    i0e: exp(-|input|) * i0(input).
    i1: The modified Bessel function of order 1. d/dinput = i0(input) - out / input, 1/2 at 0.
    i1e: exp(-|input|) * i1(input).
    bessel_j0: The Bessel function of the first kind of order 0; no derivative.
    bessel_j1: The Bessel function of the first kind of order 1; no derivative.
    bessel_y0: The Bessel function of the second kind of order 0; no derivative.
    bessel_y1: The Bessel function of the second kind of order 1; no derivative.
    modified_bessel_i0: The modified Bessel function of the first kind of order 0; no derivative.
    modified_bessel_i1: The modified Bessel function of the first kind of order 1; no derivative.
    modified_bessel_k0: The modified Bessel function of the second kind of order 0; no derivative.
    modified_bessel_k1: The modified Bessel function of the second kind of order 1; no derivative.
    scaled_modified_bessel_k0: exp(input) * modified_bessel_k0(input); no derivative.
    scaled_modified_bessel_k1: exp(input) * modified_bessel_k1(input); no derivative.
    spherical_bessel_j0: sin(input) / input, 1 at 0; no derivative.
    airy_ai: The Airy function Ai; no derivative.
    sinc: sin(pi * input) / (pi * input), 1 at 0.
    logit: log(z / (1 - z)) of z, the input kept within [eps, 1 - eps] if `eps` is given.
    entr: -input * log(input), 0 at 0, -inf below.
    """,
    "torch.special",
)
describe(
    globals(),
    """
    lgamma: The logarithm of |gamma(input)|. d/dinput = digamma(input).
    digamma: The derivative of lgamma.
    """,
)
