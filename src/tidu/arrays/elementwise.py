"""Functions of one array and their derivatives, in few passes over memory.

A kernel is a sequence of ufunc calls that write into their result and into scratch, never into an input. On
a small array it runs as it stands; a large one is cut into blocks that stay in the L2 cache from the first
pass to the last, shared out between the threads. float16 and bfloat16 are computed in float32.

The derivatives take the cotangent `g` and what PyTorch's own formulas save: the input, or the result.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tidu.arrays.native import over_elements
from tidu.arrays.threads import BIG, FAST_EXP2, blocked, exp_scaled, rows_of

Kernel = Callable[..., Any]

_FLOAT32 = np.dtype(np.float32)
_NATIVE, _SHARED = 1 << 15, 1 << 16  # elements from which a native loop is worth compiling, and sharing
_LONG = 1 << 12  # elements from which several short passes beat a slow one
_add, _mul, _sub, _div = np.add, np.multiply, np.subtract, np.divide
_exp, _tanh = np.exp, np.tanh

_SQRT_HALF = math.sqrt(0.5)
_INV_SQRT_2PI = 1 / math.sqrt(2 * math.pi)


def run(kernel: Kernel, scratch: int, *ins: np.ndarray, native: str = "") -> np.ndarray:
    """kernel(*ins, out, *scratch) over arrays of one shape, with a new `out` of their dtype.

    `native` names the kernel of native.py that does the same to large float32 arrays.
    """
    a = ins[0]
    dtype = a.dtype
    if native and a.size >= _NATIVE and dtype == _FLOAT32:
        rows, back = rows_of(*ins)
        out = np.empty(a.size, dtype)
        if over_elements(native, rows, out, _SHARED):
            return back(out)
    if a.size > BIG:
        rows, back = rows_of(*ins)
        half = _FLOAT32 if dtype.itemsize == 2 else None
        return back(blocked(kernel, rows, np.empty(a.size, dtype), scratch, half))
    if dtype.itemsize == 2:  # float16, bfloat16
        ins = tuple(x.astype(_FLOAT32) for x in ins)
        a = ins[0]
    out = np.empty(a.shape, a.dtype) if a.flags.c_contiguous else np.empty_like(a)
    kernel(*ins, out, *[np.empty(a.shape, a.dtype) for _ in range(scratch)])
    return out.astype(dtype) if dtype.itemsize == 2 else out


def tanh(a: np.ndarray) -> np.ndarray:
    """The hyperbolic tangent. Source: torch.tanh."""
    return run(_tanh, 0, a)


# NumPy has vector loops for exp, log and tanh of float32 everywhere, for log1p and expm1 with AVX-512 alone.


def _log1p(x: np.ndarray, out: np.ndarray, u: np.ndarray) -> None:
    """log(u) * x / (u - 1) with u = 1 + x rounded, whose error cancels (Kahan)."""
    if FAST_EXP2 or x.size <= _LONG or x.dtype != _FLOAT32:
        np.log1p(x, out)
        return
    _add(x, 1.0, u)
    last = np.isinf(u)
    logs = np.log(u)
    _sub(u, 1.0, u)
    np.logical_or(last, u == 0, out=last)
    _div(x, u, u)
    np.copyto(u, 1.0, where=last)
    np.copyto(logs, x, where=last & (x > -1.0))
    _mul(logs, u, out)


def _expm1(x: np.ndarray, out: np.ndarray, e: np.ndarray) -> None:
    """tanh(x / 2) * (exp(x) + 1)."""
    if FAST_EXP2 or x.size <= _LONG or x.dtype != _FLOAT32:
        np.expm1(x, out)
        return
    _exp(x, e)
    _add(e, 1.0, e)
    _mul(x, 0.5, out)
    _tanh(out, out)
    _mul(out, e, out)


def log1p(a: np.ndarray) -> np.ndarray:
    """log(1 + a), accurate near 0. Source: torch.log1p."""
    return np.log1p(a) if a.size <= _LONG else run(_log1p, 1, a)  # type: ignore[no-any-return]


def expm1(a: np.ndarray) -> np.ndarray:
    """exp(a) - 1, accurate near 0. Source: torch.expm1."""
    return np.expm1(a) if a.size <= _LONG else run(_expm1, 1, a)  # type: ignore[no-any-return]


def _tanh_backward(g: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    _mul(y, y, out)
    _sub(1.0, out, out)
    _mul(out, g, out)


def tanh_backward(g: np.ndarray, out: np.ndarray) -> np.ndarray:
    """g * (1 - out**2)."""
    return run(_tanh_backward, 0, g, out, native="tanh_backward")


# --- sigmoid and what is made of it ---------------------------------------------------------------


def _sigmoid(x: np.ndarray, out: np.ndarray) -> None:
    exp_scaled(x, -1, out)
    _add(out, 1.0, out)
    _div(1.0, out, out)


def sigmoid(a: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-a)). Source: torch.sigmoid."""
    return run(_sigmoid, 0, a, native="sigmoid")


def _sigmoid_backward(g: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    _sub(1.0, y, out)  # exact near y = 1, where y - y*y is not
    _mul(out, y, out)
    _mul(out, g, out)


def sigmoid_backward(g: np.ndarray, out: np.ndarray) -> np.ndarray:
    """g * (1 - out) * out."""
    return run(_sigmoid_backward, 0, g, out, native="sigmoid_backward")


def _silu(x: np.ndarray, out: np.ndarray) -> None:
    exp_scaled(x, -1, out)
    _add(out, 1.0, out)
    _div(x, out, out)


def silu(a: np.ndarray) -> np.ndarray:
    """a * sigmoid(a). Source: torch.nn.functional.silu."""
    return run(_silu, 0, a, native="silu")


def _silu_backward(g: np.ndarray, x: np.ndarray, out: np.ndarray, s: np.ndarray) -> None:
    _sigmoid(x, s)
    _sub(1.0, s, out)
    _mul(out, x, out)
    _add(out, 1.0, out)
    _mul(out, s, out)
    _mul(out, g, out)


def silu_backward(g: np.ndarray, a: np.ndarray) -> np.ndarray:
    """g * s * (1 + a * (1 - s)) with s = sigmoid(a)."""
    return run(_silu_backward, 1, g, a, native="silu_backward")


def softplus(a: np.ndarray, beta: float = 1.0, threshold: float = 20.0) -> np.ndarray:
    """log(1 + exp(beta * a)) / beta, and `a` itself where beta * a > threshold.

    Source: torch.nn.functional.softplus.
    """

    def kernel(x: np.ndarray, out: np.ndarray, z: np.ndarray, u: np.ndarray) -> None:
        _mul(x, beta, z)
        _exp(z, out)
        _log1p(out, out, u)
        if beta != 1.0:
            _div(out, beta, out)
        np.copyto(out, x, where=z > threshold)

    return run(kernel, 2, a)


def softplus_backward(g: np.ndarray, a: np.ndarray, beta: float = 1.0, threshold: float = 20.0) -> np.ndarray:
    """g * sigmoid(beta * a), and g where beta * a > threshold."""

    def kernel(g: np.ndarray, x: np.ndarray, out: np.ndarray, z: np.ndarray) -> None:
        _mul(x, beta, z)
        _sigmoid(z, out)
        _mul(out, g, out)
        np.copyto(out, g, where=z > threshold)

    return run(kernel, 1, g, a)


# --- the error function and gelu --------------------------------------------------------------------

# In float32, erf(x) = tanh(x * P(x*x)): x * P is the odd, smooth function atanh(erf(x)). P is the polynomial that
# minimises the largest relative error of erf over [0, 3.93] with P(0) = 2/sqrt(pi) (a linear program on a fine
# grid gives it), with P - 1 kept instead of P since x + x * (P - 1) rounds once. With NumPy's tanh, itself good to
# 1.4 units in the last place, the result is within 2.2 and on average 0.2. Further out x * P grows past 9, where
# tanh is 1 in float32. float64 goes to SciPy's erf (Cephes).
_ERF = (
    0.12837916709551256, 0.10277231514488715, -0.00020716433138722834, -0.0005945877196402219,
    6.881186605802631e-05, 1.5238081908884393e-06, -1.3323335226242273e-06, 1.614965048497354e-07,
    -8.80925859784051e-09, 1.8741591717414487e-10,
)  # fmt: skip
# The same for the normal distribution's Phi(x) = (1 + tanh(x * P(x*x))) / 2, where the largest absolute error
# counts and one degree less will do: atanh(erf(x / sqrt(2))) = x * P(x*x).
ATANH_ERF = tuple(
    c * math.sqrt(0.5) * 0.5**k
    for k, c in enumerate(
        (1.128379225730896, 0.10276840627193451, -0.00018954937695525587, -0.0006219997303560376,
         8.849615102439662e-05, -5.808225881664618e-06, 1.4970906061259515e-07)
    )
)  # fmt: skip


def _horner(u: np.ndarray, coefficients: tuple[float, ...], out: np.ndarray) -> None:
    """out = sum(c_k * u**k)."""
    _mul(u, coefficients[-1], out)
    for c in coefficients[-2:0:-1]:
        _add(out, c, out)
        _mul(out, u, out)
    _add(out, coefficients[0], out)


def _erf(x: np.ndarray, out: np.ndarray, u: np.ndarray) -> None:
    if x.dtype.itemsize == 4:
        _mul(x, x, u)
        _horner(u, _ERF, out)
        _mul(out, x, out)
        _add(out, x, out)
        _tanh(out, out)
    else:
        from scipy.special import erf as erf64

        erf64(x, out)


def erf(a: np.ndarray) -> np.ndarray:
    """The error function, within 2.2 units in the last place. Source: torch.erf."""
    return run(_erf, 1, a)


def _two_phi(x: np.ndarray, out: np.ndarray, u: np.ndarray) -> None:
    """out = 2 Phi(x) = 1 + erf(x / sqrt 2), u = x * x."""
    _mul(x, x, u)
    if x.dtype.itemsize == 4:
        _horner(u, ATANH_ERF, out)
        _mul(out, x, out)
        _tanh(out, out)
    else:
        from scipy.special import erf as erf64

        _mul(x, _SQRT_HALF, out)
        erf64(out, out)
    _add(out, 1.0, out)


def _gelu(x: np.ndarray, out: np.ndarray, u: np.ndarray) -> None:
    _two_phi(x, out, u)
    _mul(out, x, out)
    _mul(out, 0.5, out)


def _gelu_backward(g: np.ndarray, x: np.ndarray, out: np.ndarray, u: np.ndarray) -> None:
    _two_phi(x, out, u)
    exp_scaled(u, -0.5, u)
    _mul(u, x, u)
    _mul(u, 2 * _INV_SQRT_2PI, u)
    _add(out, u, out)
    _mul(out, 0.5, out)
    _mul(out, g, out)


_KAPPA = math.sqrt(2 / math.pi)
_CUBIC = 0.044715


def _gelu_tanh(x: np.ndarray, out: np.ndarray) -> None:
    _mul(x, x, out)
    _mul(out, _KAPPA * _CUBIC, out)
    _add(out, _KAPPA, out)
    _mul(out, x, out)
    _tanh(out, out)
    _add(out, 1.0, out)
    _mul(out, x, out)
    _mul(out, 0.5, out)


def _gelu_tanh_backward(g: np.ndarray, x: np.ndarray, out: np.ndarray, u: np.ndarray, t: np.ndarray) -> None:
    # with t = tanh(k x + k c x^3):  g/2 * (1 + t) * (1 + x * (1 - t) * (k + 3 k c x^2))
    _mul(x, x, u)
    _mul(u, _KAPPA * _CUBIC, t)
    _add(t, _KAPPA, t)
    _mul(t, x, t)
    _tanh(t, t)
    _mul(u, 3 * _KAPPA * _CUBIC, u)
    _add(u, _KAPPA, u)
    _mul(u, x, u)
    _sub(1.0, t, out)
    _mul(out, u, out)
    _add(out, 1.0, out)
    _add(t, 1.0, t)
    _mul(out, t, out)
    _mul(out, 0.5, out)
    _mul(out, g, out)


def gelu(a: np.ndarray, approximate: str = "none") -> np.ndarray:
    """a * Phi(a), or with "tanh" a/2 * (1 + tanh(sqrt(2/pi) * (a + 0.044715 a**3))).

    Source: torch.nn.functional.gelu.
    """
    if approximate == "tanh":
        return run(_gelu_tanh, 0, a)
    return run(_gelu, 1, a, native="gelu")


def gelu_backward(g: np.ndarray, a: np.ndarray, approximate: str = "none") -> np.ndarray:
    """g times gelu's derivative at `a`: Phi(a) + a * phi(a), or that of the "tanh" form."""
    if approximate == "tanh":
        return run(_gelu_tanh_backward, 2, g, a)
    return run(_gelu_backward, 1, g, a, native="gelu_backward")
