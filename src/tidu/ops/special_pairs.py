"""Special functions of two arguments, of which either may be a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.elementwise import FIRST, binary
from ..core.promote import Number
from ..core.tensor import Tensor
from ._dtypes import either, refuse, widened
from ._names import describe
from .arithmetic import tensor_like
from .pointwise import exp, log, log1p
from .selection import where
from .special_functions import lgamma, scipy

__all__ = ["igamma", "igammac"]
METHODS = INPLACE = "igamma igammac"


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
    """input * log(1 + other), 0 where the input is 0; NaN where `other` is. Source: torch.special.xlog1py."""
    return _pair(_XLOG1PY, input, other, out)


# ------------------------------------------------------------------ the Hurwitz zeta function

_ZETA = _cases(
    "special_zeta", scipy("zeta"), _no_derivative("zeta"), lambda g, x, y: g * -x * zeta(x + 1, y),
    refuse("ch", "zeta_cpu", floats=True), "SpecialZetaBackward",
)  # fmt: skip


def zeta(input: Any, other: Any, *, out: Any = None) -> Any:
    """The Hurwitz zeta function, the sum of (k + other)**-input over k >= 0; d/dinput is not implemented.

    Source: torch.special.zeta.
    """
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

    def polynomial(input: Any, n: Any, *, out: Any = None) -> Any:
        either("special_" + name, input, n, "n", "x")
        return op(tensor_like(input, n), n, out=out)

    polynomial.__name__ = polynomial.__qualname__ = name
    polynomial.__doc__ = f"The polynomial of degree n at `input`, either a number. Source: torch.special.{name}."
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
