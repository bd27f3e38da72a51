"""Comparisons and tests, which have no derivative; the larger and the smaller of two; logic and bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.elementwise import binary, kind_of, unary
from ..core.inplace import inplace
from ..core.op import Op
from ..core.promote import SAME, Policy
from ..core.tensor import Tensor, type_name
from ._dtypes import either, refuse
from ._names import describe
from .arithmetic import OPERANDS, tensor_like
from .selection import where

__all__ = [
    "eq", "ne", "lt", "le", "gt", "ge", "not_equal", "less", "less_equal", "greater", "greater_equal", "isclose",
    "allclose", "equal", "isnan", "isinf", "isfinite", "isposinf", "isneginf", "isreal", "signbit", "maximum",
    "minimum", "fmax", "fmin", "logical_and", "logical_or", "logical_xor", "logical_not", "bitwise_and", "bitwise_or",
    "bitwise_xor", "bitwise_not", "bitwise_left_shift", "bitwise_right_shift",
]  # fmt: skip
METHODS = " ".join(__all__)
INPLACE = (
    "eq ne lt le gt ge not_equal less less_equal greater greater_equal logical_and logical_or logical_xor logical_not "
    "bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift"
)

# ------------------------------------------------------------------ comparisons


def _comparison(name: str, ufunc: Any, ordered: bool = True) -> Any:
    policy = refuse("c", name + "_cpu", integers="biu") if ordered else SAME
    return binary(name, ufunc, policy=policy)


eq = not_equal = _comparison("eq", np.equal, ordered=False)
ne = not_equal = _comparison("ne", np.not_equal, ordered=False)
lt = less = _comparison("lt", np.less)
le = less_equal = _comparison("le", np.less_equal)
gt = greater = _comparison("gt", np.greater)
ge = greater_equal = _comparison("ge", np.greater_equal)


def isclose(input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """|input - other| <= atol + rtol * |other|, elementwise; equal infinities are close.

    **Raises** RuntimeError for different dtypes or negative tolerances. Source: torch.isclose.
    """
    for k, (word, v) in enumerate((("input", input), ("other", other)), 1):
        if not isinstance(v, Tensor):
            raise TypeError(f"isclose(): argument '{word}' (position {k}) must be Tensor, not {type_name(v)}")
    if input.dtype is not other.dtype:
        raise RuntimeError(f"{input.dtype.legacy} did not match {other.dtype.legacy}")
    for word, value in (("rtol", rtol), ("atol", atol)):
        if value < 0:
            raise RuntimeError(f"{word} must be greater than or equal to zero, but got {value:g}")
    return _isclose(input, other, rtol, atol, equal_nan)


def _close(input: Any, other: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    close = input == other
    if input.dtype.kind in "fcV" and equal_nan:
        close = close | (np.isnan(input) & np.isnan(other))
    if rtol == 0 and atol == 0:
        return np.asarray(close)
    if input.dtype.kind in "biu":
        input, other = input.astype(np.float64), other.astype(np.float64)
    difference = np.abs(input - other)
    return np.asarray(close | (np.isfinite(difference) & (difference <= atol + np.abs(rtol * other))))


_isclose = Op("isclose", _close, tensors=("input", "other"), out_arg=False).call


def allclose(input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether `isclose` holds everywhere, as a Python bool. Source: torch.allclose."""
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


def equal(input: Any, other: Any) -> bool:
    """Whether two tensors have one shape and equal elements, as a Python bool. Source: torch.equal."""
    if not isinstance(other, Tensor):
        raise TypeError(f"equal(): argument 'other' (position 2) must be Tensor, not {type_name(other)}")
    try:
        a, b = input._a, other._a
        if a.dtype is b.dtype:
            return a.shape == b.shape and bool(np.equal(a, b).all())
    except AttributeError:
        pass
    return tuple(input.shape) == tuple(other.shape) and bool(eq(input, other).all())


# ------------------------------------------------------------------ tests of one tensor


def _infinite(sign: float) -> Callable[..., Any]:
    return lambda a: np.equal(a, sign * np.inf) if a.dtype.kind in "fV" else np.zeros(a.shape, bool)


def _complex_refused(name: str, words: str = "does not support complex inputs.") -> Policy:
    return refuse("c", f"{name} {words}", error=RuntimeError, integers="biu")


isnan = unary("isnan", np.isnan, policy=SAME)
isinf = unary("isinf", np.isinf, policy=SAME)
isfinite = unary("isfinite", np.isfinite, policy=SAME)
isposinf = unary("isposinf", _infinite(1.0), policy=_complex_refused("isposinf"))
isneginf = unary("isneginf", _infinite(-1.0), policy=_complex_refused("isneginf"))
isreal = unary("isreal", lambda a: np.equal(a.imag, 0) if a.dtype.kind == "c" else np.ones(a.shape, bool), policy=SAME)
for _fn in (isnan, isinf, isfinite, isreal):
    _fn.op.out_arg = False
signbit = unary(
    "signbit", lambda a: np.signbit(a) if a.dtype.kind in "fV" else np.less(a, 0),
    policy=refuse("c", "signbit is not implemented for complex tensors."),
)  # fmt: skip

# ------------------------------------------------------------------ the larger and the smaller


def _halves(g: Any, x: Any, y: Any, lost: Any) -> Any:
    """Where equal each takes half; `lost`: where the other one was chosen."""
    return where(lost, 0, where(x == y, g / 2, g))


def _chosen(name: str, ufunc: Any, x_rule: Any, y_rule: Any) -> Any:
    policy = _complex_refused(name, "not implemented for complex tensors.")
    return binary(name, ufunc, x_rule, y_rule, policy=policy, numbers=False)


maximum = _chosen(
    "maximum", np.maximum, lambda g, x, y: _halves(g, x, y, x < y), lambda g, x, y: _halves(g, x, y, x > y)
)  # fmt: skip
minimum = _chosen(
    "minimum", np.minimum, lambda g, x, y: _halves(g, x, y, x > y), lambda g, x, y: _halves(g, x, y, x < y)
)  # fmt: skip
# fmax and fmin prefer a number to NaN, and the first of two equals.
fmax = _chosen(
    "fmax", np.fmax, lambda g, x, y: where((x >= y) | isnan(y), g, 0), lambda g, x, y: where((x >= y) | isnan(y), 0, g)
)  # fmt: skip
fmin = _chosen(
    "fmin", np.fmin, lambda g, x, y: where((x <= y) | isnan(y), g, 0), lambda g, x, y: where((x <= y) | isnan(y), 0, g)
)  # fmt: skip

# ------------------------------------------------------------------ logic


logical_and = binary("logical_and", np.logical_and, numbers=False)
logical_or = binary("logical_or", np.logical_or, numbers=False)
logical_xor = binary("logical_xor", np.logical_xor, numbers=False)
logical_not = unary("logical_not", np.logical_not, policy=SAME)

# ------------------------------------------------------------------ bits


def _bits(name: str, ufunc: Any, word: str, categories: str = "fc") -> Any:
    direct = "iu" if "b" in categories else "biu"
    quick = binary(name, ufunc, policy=refuse(categories, word + "_cpu", plain=False, integers=direct))
    op = quick.op

    def call(input: Any, other: Any, *, out: Any = None) -> Any:
        if input.__class__ is not Tensor:
            either(name, input, other)
            input = tensor_like(input, other)
        return quick(input, other, out=out)

    call.__name__ = call.__qualname__ = name
    call.op = op
    op.call = call
    return call


def _left(x: Any, n: Any) -> Any:
    """Bits shifted out are gone; by as many places as there are, or fewer than none, all of them."""
    away = (n < 0) | (n >= 8 * x.dtype.itemsize)
    return np.where(away, 0, np.left_shift(x, np.where(away, 0, n))).astype(x.dtype)


def _right(x: Any, n: Any) -> Any:
    most = 8 * x.dtype.itemsize - (x.dtype.kind == "i")
    return np.right_shift(x, np.where((n < 0) | (n > most), most, n).astype(n.dtype)).astype(x.dtype)


bitwise_and = _bits("bitwise_and", np.bitwise_and, "bitwise_and")
bitwise_or = _bits("bitwise_or", np.bitwise_or, "bitwise_or")
bitwise_xor = _bits("bitwise_xor", np.bitwise_xor, "bitwise_xor")
bitwise_left_shift = _bits("bitwise_left_shift", _left, "lshift", "bfc")
bitwise_right_shift = _bits("bitwise_right_shift", _right, "rshift", "bfc")
bitwise_not = unary("bitwise_not", np.invert, policy=refuse("fc", "bitwise_not_cpu", plain=False, integers="biu"))

# ------------------------------------------------------------------ operators


def _operator(fn: Callable[..., Any], swap: bool = False) -> Callable[..., Any]:
    def operator(self: Any, other: Any) -> Any:
        if other.__class__ is not Tensor and not isinstance(other, OPERANDS):
            return NotImplemented
        return fn(other, self) if swap else fn(self, other)

    return operator


def _invert(self: Any) -> Any:
    if self.__class__ is Tensor and self._a.dtype.kind in "biu":
        return bitwise_not(self)
    if kind_of(self) in "fcV":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return bitwise_not(self)


describe(
    globals(),
    """
    eq: input == other elementwise, bools.
    ne: input != other elementwise, bools.
    lt: input < other elementwise, bools; not for complex numbers.
    le: input <= other elementwise, bools; not for complex numbers.
    gt: input > other elementwise, bools; not for complex numbers.
    ge: input >= other elementwise, bools; not for complex numbers.
    isnan: Whether an element is NaN.
    isinf: Whether an element is infinite.
    isfinite: Whether an element is neither infinite nor NaN.
    isposinf: Whether an element is +inf.
    isneginf: Whether an element is -inf.
    isreal: Whether an element has no imaginary part.
    signbit: Whether an element is negative; -0.0 is.
    maximum: The larger of two, NaN if either is. The cotangent goes to it, half to each where they are equal.
    minimum: The smaller of two, NaN if either is. The cotangent goes to it, half to each where they are equal.
    fmax: The larger of two, the other one where one is NaN. Of two equals the first takes the cotangent.
    fmin: The smaller of two, the other one where one is NaN. Of two equals the first takes the cotangent.
    logical_and: Whether both are non-zero.
    logical_or: Whether either is non-zero.
    logical_xor: Whether just one is non-zero.
    logical_not: Whether it is zero.
    bitwise_and: The bits that both have, of integers or bools.
    bitwise_or: The bits that either has, of integers or bools.
    bitwise_xor: The bits that just one has, of integers or bools.
    bitwise_not: The other bits, of integers or bools.
    bitwise_left_shift: input * 2**other for integers; 0 where all bits are shifted out.
    bitwise_right_shift: input / 2**other rounded down, for integers.
    """,
)

OPERATORS = {
    "__eq__": eq.operator, "__ne__": ne.operator, "__lt__": lt.operator, "__le__": le.operator,
    "__gt__": gt.operator, "__ge__": ge.operator, "__hash__": object.__hash__, "__invert__": _invert,
}  # fmt: skip
for _word, _fn in (
    ("and", bitwise_and), ("or", bitwise_or), ("xor", bitwise_xor), ("lshift", bitwise_left_shift),
    ("rshift", bitwise_right_shift),
):  # fmt: skip
    OPERATORS[f"__{_word}__"] = _operator(_fn)
    OPERATORS[f"__r{_word}__"] = _operator(_fn, swap=True)
    OPERATORS[f"__i{_word}__"] = _operator(inplace(_fn.op))
