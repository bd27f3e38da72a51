"""Arithmetic: the four operations, remainders and powers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.threads import BIG
from ..core.elementwise import FIRST, NEG, ONE, binary, elementwise, kind_of, unary
from ..core.inplace import inplace, spread, writes_plainly
from ..core.modes import state
from ..core.parameters import REQUIRED
from ..core.promote import FLOATS, Number, Policy, result_type, scalar_of
from ..core.tensor import Tensor, tensor_of
from ..dtypes import BOOL, COMPLEX, FLOATING, bool_, dtype
from ._arguments import describe, spoken, strayed
from ._dtypes import either, refuse, widened

__all__ = [
    "add", "sub", "subtract", "rsub", "mul", "multiply", "div", "divide", "true_divide", "floor_divide", "remainder",
    "fmod", "neg", "negative", "positive", "gcd", "lcm",
]  # fmt: skip
METHODS = "* add_ sub_ subtract_ div_ divide_ true_divide_ floor_divide_ remainder_ fmod_ -rsub"
INPLACE = "mul multiply neg negative gcd lcm"

ndarray = np.ndarray


# ------------------------------------------------------------------ + - *


def check_sub(name: str, d: dtype, values: list[Any]) -> None:
    """Subtraction refuses bools."""
    bools = [isinstance(v, bool) or getattr(v, "dtype", None) in (np.dtype(bool), bool_) for v in values]
    if all(bools):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
            "operator instead."
        )
    if any(bools):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, "
            "use the `~` or `logical_not()` operator instead."
        )


def _reversed_subtract(x: Any, y: Any, out: Any = None) -> Any:
    return np.subtract(y, x, out)


SUBTRACTION = Policy(check=check_sub, integers="iu")
NEGATION = refuse(
    "b",
    "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or "
    "`logical_not()` operator instead.",
    error=RuntimeError,
    integers="iu",
)

mul = multiply = binary("mul", np.multiply, lambda y: y, lambda x: x, numbers=FIRST, single_numbers=True)
neg = negative = unary("neg", np.negative, NEG, policy=NEGATION)
neg.op.same_out = True
_add = binary("add", np.add, ONE, ONE, numbers=FIRST)
_sub = binary("sub", np.subtract, ONE, NEG, policy=SUBTRACTION, numbers=FIRST)
_rsub = binary("rsub", _reversed_subtract, NEG, ONE, policy=SUBTRACTION, node="RsubBackward1")
_rsub_tensor = binary("rsub.tensor", _reversed_subtract, NEG, ONE, policy=SUBTRACTION, node="RsubBackward0")


def _scaled(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel with alpha as an array of the inputs' type: also half precision rounds it first."""
    kernel = widened(fn)

    def forward(input: Any, other: Any, alpha: Any) -> Any:
        if isinstance(alpha, Tensor):
            alpha = alpha.item()
        return kernel(input, other, np.asarray(alpha).astype(input.dtype))

    return forward


_add_scaled = elementwise(
    "add.scaled",
    _scaled(lambda input, other, alpha: np.add(input, np.multiply(other, alpha))),
    {"input": ONE, "other": lambda alpha: alpha},
    node="AddBackward0",
)
_sub_scaled = elementwise(
    "sub.scaled",
    _scaled(lambda input, other, alpha: np.subtract(input, np.multiply(other, alpha))),
    {"input": ONE, "other": lambda alpha: -alpha},
    policy=SUBTRACTION,
    node="SubBackward0",
)


def _scaled_reverse(name: str, node: str) -> Any:
    return elementwise(
        name,
        _scaled(lambda input, other, alpha: np.subtract(other, np.multiply(input, alpha))),
        {"input": lambda alpha: -alpha, "other": ONE},
        policy=SUBTRACTION,
        node=node,
    )


_rsub_scaled = _scaled_reverse("rsub.scaled", "RsubBackward1")
_rsub_tensor_scaled = _scaled_reverse("rsub.tensor_scaled", "RsubBackward0")


def check_alpha(input: Any, other: Any, alpha: Any) -> None:
    """alpha must be of a category no higher than the result's."""
    d = result_type([input, other]).category
    if isinstance(alpha, bool):
        if d != BOOL:
            raise RuntimeError("Boolean alpha only supported for Boolean results.")
    elif d < FLOATING and isinstance(alpha, float):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if d != COMPLEX and isinstance(alpha, complex):
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")


def add(input: Any = REQUIRED, other: Any = REQUIRED, *old: Any, alpha: Any = 1, out: Any = None) -> Any:
    """input + alpha * other, broadcast together.

    **Raises** RuntimeError where shapes do not broadcast or alpha's type is above the result's.

    >>> import tidu as torch
    >>> torch.add(torch.tensor([1, 2]), 10, alpha=3)
    tensor([31, 32])
    """
    try:
        if old:
            return strayed(add, "add", (input, other, *old), {"out": out})
        if alpha.__class__ is int and alpha == 1:
            return _add(input, other, out=out)
        check_alpha(input, other, alpha)
        return _add_scaled(input, other, alpha, out=out)
    except Exception as error:
        raise spoken(error, input, other, *old, alpha=alpha, out=out) from None


def sub(input: Any = REQUIRED, other: Any = REQUIRED, *old: Any, alpha: Any = 1, out: Any = None) -> Any:
    """input - alpha * other, broadcast together; not for bools."""
    try:
        if old:
            return strayed(sub, "sub", (input, other, *old), {"out": out})
        if alpha.__class__ is int and alpha == 1:
            return _sub(input, other, out=out)
        check_alpha(input, other, alpha)
        return _sub_scaled(input, other, alpha, out=out)
    except Exception as error:
        raise spoken(error, input, other, *old, alpha=alpha, out=out) from None


def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """other - alpha * input."""
    if alpha.__class__ is int and alpha == 1:
        return _rsub_tensor(input, other) if isinstance(other, Tensor) else _rsub(input, other)
    check_alpha(input, other, alpha)
    return (_rsub_tensor_scaled if isinstance(other, Tensor) else _rsub_scaled)(input, other, alpha)


def _scaled_inplace(ufunc: Any, general: Callable[..., Any], x: Any, other: Any, alpha: Any) -> Any:
    """x += alpha * other, as optimisers write it: at once where nothing is recorded."""
    if alpha.__class__ is float or alpha.__class__ is int:
        try:
            a, b = x._a, other._a
            if (
                b.dtype is a.dtype
                and other._v is not x._v
                and writes_plainly(x, a)
                and not (state.grad and other.requires_grad)
            ):
                factor = scalar_of(alpha, a.dtype)
                if a.size <= BIG:
                    ufunc(a, np.multiply(b, factor), a)
                else:
                    spread(lambda x, y, out: ufunc(x, np.multiply(y, factor), out), a, b)
                x._v[0] += 1
                return x
        except (AttributeError, ValueError):
            pass
    check_alpha(x, other, alpha)
    return general(x, other, alpha)


_iadd, _isub = inplace(_add.op, "add_"), inplace(_sub.op, "sub_")
_iadd_scaled = inplace(_add_scaled.op, "add_")
_isub_scaled = inplace(_sub_scaled.op, "sub_")


def add_(self: Any, other: Any = REQUIRED, *old: Any, alpha: Any = 1) -> Any:
    """In-place `add`."""
    try:
        if old:
            return strayed(add_, "add_", (self, other, *old), {})
        if alpha.__class__ is int and alpha == 1:
            return _iadd(self, other)
        return _scaled_inplace(np.add, _iadd_scaled, self, other, alpha)
    except Exception as error:
        raise spoken(error, self, other, *old, alpha=alpha) from None


def sub_(self: Any, other: Any = REQUIRED, *old: Any, alpha: Any = 1) -> Any:
    """In-place `sub`."""
    try:
        if old:
            return strayed(sub_, "sub_", (self, other, *old), {})
        if alpha.__class__ is int and alpha == 1:
            return _isub(self, other)
        return _scaled_inplace(np.subtract, _isub_scaled, self, other, alpha)
    except Exception as error:
        raise spoken(error, self, other, *old, alpha=alpha) from None


def positive(input: Any) -> Any:
    """The tensor itself; not for bools."""
    if kind_of(input) == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


# ------------------------------------------------------------------ division


def integer(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A division whose integers by zero are an error, as NumPy's are not."""

    def divide(x: Any, y: Any) -> Any:
        if y.dtype.kind in "iu" and not np.all(y):
            raise RuntimeError("ZeroDivisionError")
        return fn(x, y)

    return divide


def _trunc_divide(x: Any, y: Any) -> Any:
    if x.dtype.kind not in "iu":
        return np.trunc(np.true_divide(x, y))
    return np.asarray((x - np.fmod(x, y)) // y)


def not_implemented(name: str) -> Callable[..., Any]:
    """The rule of an op that PyTorch records but cannot differentiate."""

    def rule(g: Any) -> Any:
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    return rule


zeros = unary("no_gradient", np.zeros_like)


def ZERO(g: Any) -> Any:
    """The partial of a step function."""
    return zeros(g)


floor_kernel, trunc_kernel = integer(np.floor_divide), integer(_trunc_divide)
NO_FLOOR = refuse("bc", "div_floor_cpu", integers="iu")
_no_derivative = not_implemented("floor_divide")
true_div = binary(
    "div", np.true_divide, lambda g, y: g / y, lambda g, x, y: -g * ((x / y) / y), policy=FLOATS, numbers=FIRST,
    single_numbers=True,
)  # fmt: skip
_div_none = binary(
    "div.unrounded", np.true_divide, lambda g, y: g / y, lambda g, x, y: -g * ((x / y) / y), policy=FLOATS,
    node="DivBackward2", single_numbers=True,
)  # fmt: skip
_div_floor = binary(
    "div.floor", floor_kernel, ZERO, ZERO, policy=NO_FLOOR, node="DivBackward2", single_numbers=True
)  # fmt: skip
_div_trunc = binary(
    "div.trunc", trunc_kernel, ZERO, ZERO, policy=refuse("bc", "div_trunc_cpu"), node="DivBackward2",
    single_numbers=True,
)  # fmt: skip
_floor_divide = binary(
    "floor_divide", floor_kernel, _no_derivative, _no_derivative, policy=NO_FLOOR, node="NotImplemented",
    single_numbers=True,
)  # fmt: skip
_ROUNDED = {"floor": _div_floor, "trunc": _div_trunc, None: _div_none}


def _rounded(rounding_mode: Any) -> Any:
    try:
        return _ROUNDED[rounding_mode]
    except (KeyError, TypeError):
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        ) from None


_UNSAID = object()


def div(input: Any = REQUIRED, other: Any = REQUIRED, *more: Any, rounding_mode: Any = _UNSAID, out: Any = None) -> Any:
    """input / other, broadcast together; integers become floats.

    **Arguments**
        rounding_mode: None; "trunc" rounds towards zero, "floor" down, and both keep integers integers.

    **Raises** RuntimeError for integers divided by zero with a rounding mode.
    """
    try:
        if rounding_mode is _UNSAID:
            return true_div(input, other, *more, out=out)
        rounded = _rounded(rounding_mode)
        return rounded(input if isinstance(input, Tensor) else tensor_like(input, other), other, *more, out=out)
    except Exception as error:
        raise spoken(error, input, other, *more, rounding_mode=rounding_mode, out=out) from None


def true_divide(input: Any = REQUIRED, other: Any = REQUIRED, *more: Any, out: Any = None) -> Any:
    """input / other, broadcast together."""
    try:
        return true_div(input, other, *more, out=out)
    except Exception as error:
        raise spoken(error, input, other, *more, out=out) from None


def floor_divide(input: Any, other: Any, *, out: Any = None) -> Any:
    """The largest integer not above input / other, in the inputs' dtype; no derivative."""
    return _floor_divide(tensor_like(input, other), other, out=out)


_idiv = inplace(true_div.op, "div_")
_idiv_rounded = {mode: inplace(fn.op, "div_") for mode, fn in _ROUNDED.items()}
_ifloor_divide = inplace(_floor_divide.op, "floor_divide_")


def div_(self: Any, other: Any = REQUIRED, *more: Any, rounding_mode: Any = _UNSAID) -> Any:
    """In-place `div`."""
    try:
        if more:
            raise TypeError
        if rounding_mode is _UNSAID:
            return _idiv(self, other)
        _rounded(rounding_mode)
        return _idiv_rounded[rounding_mode](self, other)
    except Exception as error:
        raise spoken(error, self, other, *more, rounding_mode=rounding_mode) from None


def true_divide_(self: Any, other: Any) -> Any:
    """In-place `true_divide`."""
    return _idiv(self, other)


floor_divide_ = _ifloor_divide
subtract, divide, subtract_, divide_ = sub, div, sub_, div_


def tensor_like(number: Any, tensor: Any) -> Any:
    """A number as a tensor that promotes like the number it is, beside `tensor`; a tensor as it is."""
    if not isinstance(number, Number) or isinstance(number, np.generic):
        return number
    values = [tensor, number] if isinstance(tensor, Tensor) else [number]
    return tensor_of(np.array(number).astype(result_type(values).np))


# ------------------------------------------------------------------ remainders

REMAINDER, FMOD = refuse("bc", "remainder_cpu", integers="iu"), refuse("bc", "fmod_cpu", integers="iu")


def _floored(x: Any, y: Any) -> Any:
    """x - floor(x / y) * y. A zero has the sign of x here, with NumPy that of y."""
    r = np.asarray(np.remainder(x, y))
    if r.dtype.kind in "fV" and not r.all():
        np.copyto(r, np.copysign(r, x), where=r == 0)
    return r


_remainder_kernel, _fmod_kernel = integer(_floored), integer(np.fmod)


def _remainder(number: str, node: str) -> Any:
    return binary(
        "remainder" + number, _remainder_kernel, ONE, lambda g, x, y: -g * _div_floor(x, y), policy=REMAINDER,
        node=node,
    )  # fmt: skip


def _fmod(number: str, node: str) -> Any:
    return binary(
        "fmod" + number, _fmod_kernel, ONE, lambda g, x, y: -g * _div_trunc(x, y), policy=FMOD, node=node
    )  # fmt: skip


remainder_tensor, remainder_number = (_remainder("", "RemainderBackward1"), _remainder(".number", "RemainderBackward0"))
fmod_tensor, fmod_number = _fmod("", "FmodBackward1"), _fmod(".number", "FmodBackward0")
_no_remainder = not_implemented("remainder")
_number_remainder = binary(
    "remainder.of_number", lambda x, y: _remainder_kernel(y, x), _no_remainder, _no_remainder, policy=REMAINDER,
    node="NotImplemented",
)  # fmt: skip


def remainder(input: Any, other: Any, *, out: Any = None) -> Any:
    """input - other * floor(input / other): the remainder with the sign of `other`, as Python's %.

    d/dinput = 1, d/dother = -floor(input / other). **Raises** RuntimeError for integers modulo zero.
    """
    if isinstance(input, Number):
        either("remainder", input, other)
        return _number_remainder(other, input, out=out)
    return (remainder_tensor if isinstance(other, Tensor) else remainder_number)(input, other, out=out)


def fmod(input: Any, other: Any, *, out: Any = None) -> Any:
    """input - other * trunc(input / other): the remainder with the sign of `input`, as C's fmod."""
    return (fmod_tensor if isinstance(other, Tensor) else fmod_number)(input, other, out=out)


_iremainder = inplace(remainder_tensor.op, "remainder_"), inplace(remainder_number.op, "remainder_")
_ifmod = inplace(fmod_tensor.op, "fmod_"), inplace(fmod_number.op, "fmod_")


def remainder_(self: Any, other: Any) -> Any:
    """In-place `remainder`."""
    return _iremainder[not isinstance(other, Tensor)](self, other)


def fmod_(self: Any, other: Any) -> Any:
    """In-place `fmod`."""
    return _ifmod[not isinstance(other, Tensor)](self, other)


gcd = binary("gcd", np.gcd, policy=refuse("bfc", "gcd_cpu", plain=False), numbers=False)
lcm = binary("lcm", np.lcm, policy=refuse("bfc", "lcm_cpu", plain=False), numbers=False)

# ------------------------------------------------------------------ operators


def _operator(op_name: str, fn: Callable[..., Any]) -> Callable[..., Any]:
    """A Python operator from a function of its own: NotImplemented for operands that are no numbers or tensors."""

    def operator(self: Any, other: Any) -> Any:
        if isinstance(other, OPERANDS):
            return fn(self, other)
        return NotImplemented

    operator.__name__ = operator.__qualname__ = op_name
    return operator


OPERANDS = (Tensor, np.generic, *Number)


def _rdiv(self: Any, other: Any) -> Any:
    return self.reciprocal() * other


describe(
    globals(),
    """
    mul: input * other, broadcast together, the types promoted. d/dinput = other, d/dother = input.
    neg: -input, which bools refuse. d/dinput = -1.
    gcd: The greatest common divisor of integers, not negative.
    lcm: The least common multiple of integers, not negative.
    """,
)

OPERATORS = {
    "__add__": _add.operator,
    "__radd__": _add.operator,
    "__iadd__": _operator("__iadd__", _iadd),
    "__sub__": _sub.operator,
    "__rsub__": _rsub.operator,
    "__isub__": _operator("__isub__", _isub),
    "__mul__": mul.operator,
    "__rmul__": mul.operator,
    "__imul__": _operator("__imul__", inplace(mul.op, "mul_")),
    "__truediv__": true_div.operator,
    "__div__": true_div.operator,
    "__rtruediv__": _operator("__rtruediv__", _rdiv),
    "__rdiv__": _operator("__rdiv__", _rdiv),
    "__itruediv__": _operator("__itruediv__", _idiv),
    "__idiv__": _operator("__idiv__", _idiv),
    "__floordiv__": _floor_divide.operator,
    "__rfloordiv__": _operator("__rfloordiv__", lambda self, other: floor_divide(other, self)),
    "__ifloordiv__": _operator("__ifloordiv__", floor_divide_),
    "__mod__": _operator("__mod__", remainder),
    "__rmod__": _operator("__rmod__", lambda self, other: remainder(other, self)),
    "__imod__": _operator("__imod__", remainder_),
    "__neg__": neg,
    "__pos__": positive,
}
