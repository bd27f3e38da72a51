"""Special functions of one and two arguments, by SciPy, with their derivatives. SciPy is imported at the first call."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.elementwise import erf as _erf
from ..core.elementwise import FIRST, binary, elementwise, kind_of, unary
from ..core.inplace import apply_inplace
from ..core.promote import Number
from ..core.tensor import Tensor
from ._arguments import describe
from ._dtypes import either, refuse, widened
from .arithmetic import mul, tensor_like, zeros
from .pointwise import cos, exp, log, log1p, sgn, sin
from .selection import where

__all__ = [
    "digamma", "erf", "erfc", "erfinv", "i0", "igamma", "igammac", "lgamma", "logit", "logit_", "mvlgamma",
    "polygamma", "sinc",
]  # fmt: skip
METHODS = "* polygamma_ mvlgamma_"
INPLACE = "erf erfc erfinv lgamma digamma i0 sinc igamma igammac"

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
    """The normal distribution function (1 + erf(x / sqrt(2))) / 2."""
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
    """The n-th derivative of `digamma`. **Raises** RuntimeError for negative n."""
    return _polygamma_op(input, _order(n), out=out)


def method_polygamma(self: Any, n: int) -> Any:
    """The n-th derivative of `digamma`."""
    return polygamma(n, self)


def polygamma_(self: Any, n: int) -> Any:
    """In-place `polygamma`."""
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
    p (p - 1) / 4 * log(pi) + sum(lgamma(x - j / 2) for j in range(p)).
    """
    return _mvlgamma_op(input, _dimension(input, p), out=out)


def mvlgamma_(self: Any, p: int) -> Any:
    """In-place `mvlgamma`."""
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
    """In-place `logit`."""
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


def _no_derivative(what: str) -> Callable[..., Any]:
    def rule(g: Any) -> Any:
        raise NotImplementedError(f"the derivative for '{what}' is not implemented.")

    return rule


def _igamma(name: str, fn: str, sign: int) -> Any:
    """The regularised incomplete gamma functions: their derivatives are the gamma density, up to the sign."""

    def density(g: Any, x: Any, y: Any) -> Any:
        return g * (sign * exp((x - 1) * log(y) - y - lgamma(x)))

    policy = refuse("bic", name + "_cpu")
    return binary(name, scipy(fn), _no_derivative(name + ": input"), density, policy=policy, numbers=False)


igamma, igammac = _igamma("igamma", "gammainc", 1), _igamma("igammac", "gammaincc", -1)

# ------------------------------------------------------------------ x * log(1 + y)


@widened
def _xlog1py(x: Any, y: Any) -> Any:
    return np.asarray(np.where((x == 0) & ~np.isnan(y), np.zeros((), y.dtype), x * np.log1p(y)))


def _log_where(g: Any, x: Any, y: Any) -> Any:
    return g * where((x == 0) & (y <= -1), 0, log1p(y))


def _cases(name: str, kernel: Any, first: Any, second: Any, policy: Any, node: str) -> tuple[Any, Any, Any]:
    """The op for two tensors, for a number first (given second) and for a number second."""
    swapped = None if second is None else _swap(second)
    return (
        binary(name, kernel, first, second, policy=policy, node=node + "0"),
        binary(name + ".first", lambda y, x: kernel(x, y), swapped, policy=policy, node=node + "1"),
        binary(name + ".second", kernel, first, policy=policy, node=node + "2"),
    )


def _swap(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule for the second argument where that comes first."""
    return lambda g, x, y: rule(g, y, x)


def _pair(cases: tuple[Any, Any, Any], input: Any, other: Any, out: Any) -> Any:
    both, number_first, number_second = cases
    either(both.op.name, input, other)
    if isinstance(input, Number) and isinstance(other, Tensor):
        return number_first(other, input, out=out)
    return (number_second if isinstance(other, Number) else both)(input, other, out=out)


_XLOG1PY = _cases(
    "special_xlog1py", _xlog1py, _log_where, lambda g, x, y: g * x / (y + 1), refuse("c", "xlog1py_cpu", floats=True),
    "SpecialXlog1PyBackward",
)  # fmt: skip


def xlog1py(input: Any, other: Any, *, out: Any = None) -> Any:
    """input * log(1 + other), 0 where the input is 0; NaN where `other` is."""
    return _pair(_XLOG1PY, input, other, out)


# ------------------------------------------------------------------ the Hurwitz zeta function

_ZETA = _cases(
    "special_zeta", scipy("zeta"), _no_derivative("zeta"), lambda g, x, y: g * -x * zeta(x + 1, y),
    refuse("ch", "zeta_cpu", floats=True), "SpecialZetaBackward",
)  # fmt: skip


def zeta(input: Any, other: Any, *, out: Any = None) -> Any:
    """The Hurwitz zeta function, the sum of (k + other)**-input over k >= 0; d/dinput is not implemented."""
    return _pair(_ZETA, input, other, out)


# ------------------------------------------------------------------ orthogonal polynomials


def _recurrence(first: Callable[..., Any], step: Callable[..., Any]) -> Callable[..., Any]:
    """P_n(x) from P_0 = 1, P_1 = first(x) and P_{k+1} = step(k, x, P_k, P_{k-1}); 0 for negative n.

    The degree is an array; what comes after its decimal point is dropped.
    """

    def kernel(x: Any, n: Any) -> Any:
        degree = np.trunc(n).astype(np.int64)
        x, degree = np.broadcast_arrays(x, degree)
        last, now = np.ones_like(x), first(x)
        out = np.where(degree == 0, last, np.where(degree == 1, now, 0)).astype(x.dtype)
        for k in range(1, int(degree.max(initial=0))):
            last, now = now, step(k, x, now, last)
            np.copyto(out, now, where=degree == k + 1)
        return out

    return kernel


def _chebyshev(k: int, x: Any, now: Any, last: Any) -> Any:
    return 2 * x * now - last


def _polynomial(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    op = binary(
        "special_" + name, kernel, policy=refuse("ch", name + "_cpu", floats=True, plain=True), numbers=FIRST
    )  # fmt: skip

    def polynomial(input: Any, other: Any, *, out: Any = None) -> Any:
        either("special_" + name, input, other, "n", "x")
        return op(tensor_like(input, other), other, out=out)

    polynomial.__name__ = polynomial.__qualname__ = name
    polynomial.__doc__ = f"The polynomial of degree `other` at `input`, either a number. Source: torch.special.{name}."
    polynomial.op = op.op
    return polynomial


def _shifted(kernel: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, n: kernel(2 * x - 1, n)


_FIRST = {"t": lambda x: x, "u": lambda x: 2 * x, "v": lambda x: 2 * x - 1, "w": lambda x: 2 * x + 1}
_T, _U, _V, _W = (_recurrence(_FIRST[letter], _chebyshev) for letter in "tuvw")
chebyshev_polynomial_t = _polynomial("chebyshev_polynomial_t", _T)
chebyshev_polynomial_u = _polynomial("chebyshev_polynomial_u", _U)
chebyshev_polynomial_v = _polynomial("chebyshev_polynomial_v", _V)
chebyshev_polynomial_w = _polynomial("chebyshev_polynomial_w", _W)
shifted_chebyshev_polynomial_t = _polynomial("shifted_chebyshev_polynomial_t", _shifted(_T))
shifted_chebyshev_polynomial_u = _polynomial("shifted_chebyshev_polynomial_u", _shifted(_U))
shifted_chebyshev_polynomial_v = _polynomial("shifted_chebyshev_polynomial_v", _shifted(_V))
shifted_chebyshev_polynomial_w = _polynomial("shifted_chebyshev_polynomial_w", _shifted(_W))
hermite_polynomial_h = _polynomial(
    "hermite_polynomial_h", _recurrence(lambda x: 2 * x, lambda k, x, now, last: 2 * x * now - 2 * k * last)
)  # fmt: skip
hermite_polynomial_he = _polynomial(
    "hermite_polynomial_he", _recurrence(lambda x: x, lambda k, x, now, last: x * now - k * last)
)  # fmt: skip
laguerre_polynomial_l = _polynomial(
    "laguerre_polynomial_l",
    _recurrence(lambda x: 1 - x, lambda k, x, now, last: ((2 * k + 1 - x) * now - k * last) / (k + 1)),
)
legendre_polynomial_p = _polynomial(
    "legendre_polynomial_p",
    _recurrence(lambda x: x, lambda k, x, now, last: ((2 * k + 1) * x * now - k * last) / (k + 1)),
)  # fmt: skip

describe(
    globals(),
    """
    igamma: The regularised lower incomplete gamma function P(input, other); d/dinput is not implemented.
    igammac: The regularised upper incomplete gamma function 1 - P(input, other); d/dinput is not implemented.
    """,
)
