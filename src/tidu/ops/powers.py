"""Powers. A number may stand on either side, and each case has its rule and its node, as in PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.elementwise import F32, F64, binary, elementwise, kind_of, unary
from ..core.inplace import inplace
from ..core.promote import FLOATS, Number, Policy, result_type, scalar_of
from ..core.tensor import Tensor
from ..dtypes import BOOL, COMPLEX, FLOATING, complex128, dtype, float64
from ._arguments import describe
from ._dtypes import either, refusal, widened
from ._hot import hot
from .arithmetic import OPERANDS, zeros

__all__ = ["pow", "float_power", "square", "reciprocal", "sqrt", "rsqrt"]
METHODS = "* pow_ float_power_ square_"
INPLACE = "reciprocal sqrt rsqrt"


@widened
def _rsqrt(a: Any) -> Any:
    return _reciprocal(np.sqrt(a))


def _reciprocal(a: Any) -> Any:
    """1 / a: of complex numbers by division, whose zeros have the signs and 1 / 0 the parts that PyTorch's have."""
    if a.dtype.kind != "c":
        return np.asarray(np.reciprocal(a))
    return np.asarray(np.divide(1, a, dtype=a.dtype))


# g / (2 * out) and not g * (0.5 / out): PyTorch's numbers to the last bit.
sqrt = unary("sqrt", np.sqrt, lambda g, out: g / (2 * out), policy=FLOATS)
rsqrt = unary("rsqrt", _rsqrt, lambda g, out: -0.5 * g * (out * out * out), policy=FLOATS)
reciprocal = unary("reciprocal", _reciprocal, lambda g, out: -g * (out * out), policy=FLOATS)


def _integer_power(base: Any, exponent: Any) -> Any:
    """Where the exponent is negative only 1 and -1 have a power that is an integer; the others give 0."""
    negative = exponent < 0
    if not np.any(negative):
        return np.asarray(np.power(base, exponent))
    power = np.power(base, np.abs(exponent))
    return np.where(negative & (np.abs(base) != 1), 0, power).astype(power.dtype)


def _power(base: Any, exponent: Any) -> Any:
    kind = base.dtype.kind
    return (_integer_power if kind == "i" else _complex_power if kind == "c" else np.power)(base, exponent)


def _complex_power(base: Any, exponent: Any) -> Any:
    """exp(exponent * log(base)), also where NumPy multiplies instead or knows that the base is 0."""
    power = np.asarray(np.power(base, exponent))
    plain = (base == 0) | ((exponent.imag == 0) & (exponent.real == np.rint(exponent.real)))
    if np.any(plain):
        base, exponent, plain = np.broadcast_arrays(base, exponent, plain)
        power[plain] = np.exp(exponent[plain] * np.log(base[plain]))
    return power


def _complex_multiple(base: Any, exponent: int) -> Any:
    """base * base or base * base * base, in the order and with the roundings of a product of two at a time."""
    power = np.asarray(np.power(base, exponent))
    zero = base == 0
    if zero.any():
        power[zero] = base[zero] * (base[zero] if exponent == 2 else base[zero] * base[zero])
    return power


_COMPLEX: dict[Any, Any] = {
    0: np.ones_like, 1: np.copy, 0.5: np.sqrt, -0.5: _rsqrt, -1: _reciprocal, 2: lambda a: _complex_multiple(a, 2),
    3: lambda a: _complex_multiple(a, 3), -2: lambda a: _reciprocal(_complex_multiple(a, 2)),
}  # fmt: skip


_SPECIAL: dict[Any, Any] = {
    2: np.square, 3: lambda a: a * a * a, 1: np.positive, 0.5: np.sqrt, -0.5: _rsqrt, -1: np.reciprocal,
    -2: lambda a: np.reciprocal(a * a),
}  # fmt: skip


def _power_of_number(input: Any, exponent: Any) -> Any:
    """input ** number, by multiplications and roots where these are enough: faster, and PyTorch's bits."""
    kind = input.dtype.kind
    if kind == "b":
        return input | (not exponent)
    if kind in "iu":
        if exponent < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
    elif kind in "fV" and exponent in _SPECIAL and not (exponent == -0.5 and input.dtype == np.float16):
        return np.asarray(_SPECIAL[exponent](input))
    elif kind == "c":
        if exponent in _COMPLEX:
            return np.asarray(_COMPLEX[exponent](input))
        return _complex_power(input, _number(exponent, input.dtype))
    return np.asarray(np.power(input, _number(exponent, input.dtype)))


def _base_rule(g: Any, input: Any, exponent: Any) -> Any:
    """exponent * input ** (exponent - 1), and 0 for the exponent 0 even where that power is infinite."""
    return zeros(g) if exponent == 0 else g * (exponent * pow(input, exponent - 1))


def _tensor_base_rule(g: Any, x: Any, y: Any) -> Any:
    from .selection import where

    return where(y == 0, zeros(g), g * (y * _pow(x, y - 1)))


def _exponent_rule(g: Any, x: Any, y: Any, out: Any) -> Any:
    from .pointwise import log
    from .selection import where

    real = y.real if _is_complex(y) else y
    return g * where((x == 0) & (real >= 0), zeros(out), out * log(x))


def _is_complex(x: Any) -> bool:
    return kind_of(x) == "c"


def _number_base_rule(g: Any, input: Any, base: Any, out: Any) -> Any:
    from .selection import where

    if base == 0:
        real = input.real if _is_complex(input) else input
        return g * where(real >= 0, zeros(out), out * -np.inf)
    if isinstance(base, complex) or _is_complex(out):
        return g * (out * complex(np.log(complex(base))))
    return g * (out * float(np.log(base)))


def _first_power(x: Any) -> Any:
    """x as a power of itself, so that derivatives of any order are recorded as those of a power are."""
    return x if x.__class__ is np.ndarray else _pow_number(x, 1)


def _number(value: Any, d: Any) -> Any:
    if (d is F32 or d is F64) and value.__class__ in (int, float):
        return scalar_of(value, d)
    return np.array(value).astype(d)


NO_BOOL = Policy(check=refusal("b", "pow"))
_pow = binary("pow", _power, _tensor_base_rule, _exponent_rule, policy=NO_BOOL, node="PowBackward1")
_square = unary("square", np.square, lambda g, x: g * (2 * _first_power(x)), node="PowBackward0", policy=Policy())


_pow_number = hot(elementwise("pow.number", _power_of_number, {"input": _base_rule}, node="PowBackward0"))
_pow_base = hot(
    elementwise(
        "pow.base",
        lambda input, base: np.ones_like(input) if base == 1 else _power(_number(base, input.dtype), input),
        {"input": _number_base_rule},
        policy=NO_BOOL,
        node="PowBackward2",
    )
)


def _promoted(tensor: Any, number: Any) -> Any:
    from ..core.broadcast import cast

    if not isinstance(tensor, Tensor):
        return tensor
    if number.__class__ in (int, float) and tensor.dtype.category == FLOATING:
        return tensor
    return cast(tensor, result_type([tensor, number]).np)


def pow(input: Any, exponent: Any, *, out: Any = None) -> Any:
    """input ** exponent, where either may be a number.

    d/dinput = exponent * input**(exponent - 1), 0 where the exponent is 0;
    d/dexponent = input**exponent * log(input), 0 where the input is 0 and the exponent is not negative.
    **Raises** RuntimeError for integers to a negative number.

    >>> import tidu as torch
    >>> torch.pow(2, torch.tensor([1, 2, 3]))
    tensor([2, 4, 8])
    """
    kind = exponent.__class__
    if kind is int or kind is float:
        try:
            dt = input._a.dtype
        except AttributeError:
            pass
        else:
            if dt is F32 or dt is F64:
                return _square(input, out=out) if exponent == 2 else _pow_number(input, exponent, out=out)
    if not isinstance(exponent, Number):
        either("pow", input, exponent, "exponent")
        if isinstance(input, Number):
            return _pow_base(_promoted(exponent, input), input, out=out)
        return _pow(input, exponent, out=out)
    if isinstance(input, Number):
        either("pow", input, exponent, "exponent")
    exponent = exponent.item() if isinstance(exponent, np.generic) else exponent
    return _pow_number(_promoted(input, exponent), exponent, out=out)


def square(input: Any, *, out: Any = None) -> Any:
    """input * input."""
    return pow(input, 2, out=out)


def float_power(input: Any, exponent: Any, *, out: Any = None) -> Any:
    """input ** exponent in float64, or complex128 for complex inputs."""
    either("float_power", input, exponent, "exponent")
    d = _double(input, exponent)
    if out is not None and out.dtype is not d:
        raise RuntimeError(
            f"the output given to float_power has dtype {out.dtype.legacy} but the operation's result requires dtype "
            f"{d.legacy}"
        )
    return pow(_doubled(input, d), _doubled(exponent, d), out=out)


def _double(input: Any, exponent: Any) -> dtype:
    return complex128 if result_type([input, exponent]).category == COMPLEX else float64


def _doubled(x: Any, d: dtype) -> Any:
    from ..core.broadcast import cast

    if isinstance(x, Tensor):
        return cast(x, d.np)
    return complex(x) if d is complex128 else float(x)


_inumber, _itensor = inplace(_pow_number.op, "pow_"), inplace(_pow.op, "pow_")
_isquare = inplace(_square.op, "square_")


def pow_(self: Any, exponent: Any) -> Any:
    """In-place `pow`."""
    if not isinstance(exponent, Number):
        return _itensor(self, exponent)
    exponent = exponent.item() if isinstance(exponent, np.generic) else exponent
    d = result_type([self, exponent])
    if d is not self.dtype:
        raise RuntimeError(f"result type {d.legacy} can't be cast to the desired output type {self.dtype.legacy}")
    return _isquare(self) if exponent == 2 and d.category > BOOL else _inumber(self, exponent)


def float_power_(self: Any, exponent: Any) -> Any:
    """In-place `float_power`: only for float64 and complex128."""
    d = _double(self, exponent)
    if self.dtype is not d:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {self.dtype.legacy} but the operation's result requires dtype "
            f"{d.legacy}"
        )
    return pow_(self, _doubled(exponent, d))


def square_(self: Any) -> Any:
    """In-place `square`."""
    return pow_(self, 2)


def _operator_pow(self: Any, other: Any, modulo: Any = None) -> Any:
    if modulo is not None or not isinstance(other, OPERANDS):
        return NotImplemented
    return pow(self, other)


def _operator_rpow(self: Any, other: Any) -> Any:
    if not isinstance(other, OPERANDS):
        return NotImplemented
    return pow(other, self)


def _operator_ipow(self: Any, other: Any) -> Any:
    return pow_(self, other) if isinstance(other, OPERANDS) else NotImplemented


describe(
    globals(),
    """
    sqrt: The square root; NaN for negative numbers. d/dinput = 1 / (2 * out), infinite at 0.
    rsqrt: 1 / sqrt(input). d/dinput = -out**3 / 2.
    reciprocal: 1 / input. d/dinput = -out**2.
    """,
)

OPERATORS = {"__pow__": _operator_pow, "__rpow__": _operator_rpow, "__ipow__": _operator_ipow}
