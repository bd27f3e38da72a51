"""Functions with a case of their own at zero, at NaN or under a mask; and floats taken apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..core.broadcast import sum_to
from ..core.elementwise import binary, elementwise, kind_of
from ..core.inplace import inplace
from ..core.op import Op
from ..core.promote import FLOATS, SAME, Number, Policy, number, result_type
from ..core.tensor import Tensor, dtype_word
from ..naming import return_type
from ..shapes import broadcast_shapes
from ._arguments import describe
from ._dtypes import either, refuse
from ._make import C_TYPES
from .arithmetic import not_implemented, zeros
from .conversion import numbers_of
from .pointwise import exp2, log
from .selection import pick, where

__all__ = [
    "masked_fill", "nan_to_num", "heaviside", "copysign", "hypot", "atan2", "arctan2", "xlogy", "xlogy_", "ldexp",
    "frexp",
]  # fmt: skip
METHODS = "* copysign_ masked_fill_"
INPLACE = "nan_to_num heaviside hypot atan2 arctan2 ldexp"
LN2 = float(np.log(2.0))

# ------------------------------------------------------------------ masks


def _fill_masked(input: Any, mask: Any, value: Any) -> Any:
    value = np.asarray(value).astype(input.dtype)
    if mask.shape == input.shape:
        r = pick(mask, value, input)
    else:
        r = np.where(mask, value, np.broadcast_to(input, broadcast_shapes(mask.shape, input.shape)))
    return r if r.flags.c_contiguous else np.ascontiguousarray(r)


def _kept(g: Any, mask: Any, input_shape: Any) -> Any:
    return sum_to(where(mask, 0, g), input_shape)


_fill_number = Op(
    "masked_fill",
    _fill_masked,
    {"input": _kept},
    {"input": lambda t, mask: where(mask, 0, t)},
    tensors=("input", "mask"),
    out_arg=False,
).call
_fill_tensor = Op(
    "masked_fill.tensor",
    _fill_masked,
    {"input": _kept, "value": lambda g, mask: where(mask, g, 0).sum()},
    {"input": lambda t, mask: where(mask, 0, t), "value": lambda t, mask: where(mask, t, 0)},
    tensors=("input", "mask", "value"),
    node="MaskedFillBackward1",
    out_arg=False,
).call


def _mask_op(input: Any, mask: Any, value: Any) -> tuple[Op, Any]:
    """The op for a number or a tensor, and the value as it takes it."""
    if not isinstance(value, (Tensor, *Number)):
        kinds = ", ".join(type(b).__name__ for b in (input, mask, value))
        raise TypeError(
            f"masked_fill() received an invalid combination of arguments - got ({kinds}), but expected one of:\n"
            " * (Tensor input, Tensor mask, Tensor value)\n * (Tensor input, Tensor mask, Number value)\n"
        )
    if kind_of(mask) != "b":
        raise RuntimeError(
            f"masked_fill_ only supports boolean masks, but got mask with dtype {dtype_word(mask.dtype)}"
        )
    if not isinstance(value, Tensor):
        return _fill_number.op, checked_number(value, input.dtype)
    if value.ndim:
        raise RuntimeError(
            f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s)."
        )
    if input.dtype.is_complex < value.dtype.is_complex:
        checked_number(numbers_of(value, "item").item(), input.dtype)
        value = value.real
    return _fill_tensor.op, value


def checked_number(value: Any, d: Any) -> Any:
    """A number that is to be written into a tensor of a dtype, which must have room for it."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, complex) and not d.is_complex:
        if d.category == dtypes.BOOL:
            return bool(value)
        if value.imag:
            raise RuntimeError(f"value cannot be converted to type {C_TYPES[d.name]} without overflow")
        value = value.real if d.is_floating_point else int(value.real)
    if d.category == dtypes.INTEGRAL and not isinstance(value, bool):
        info = np.iinfo(d.np)
        wraps = info.min == 0 and isinstance(value, int)  # where it is negative
        low = -int(info.max) if wraps else int(info.min)
        if not low <= value <= info.max:
            raise RuntimeError(f"value cannot be converted to type {C_TYPES[d.name]} without overflow")
        return int(value) if value >= 0 or info.min else int(value) % (int(info.max) + 1)
    number(value, d)
    return value


def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """`value`, a number or a 0-d tensor, where the mask is True; `input` elsewhere. They broadcast.

    **Raises** RuntimeError for a mask that is not boolean.

    >>> import tidu as torch
    >>> x = torch.tensor([1., 2.])
    >>> x.masked_fill(x > 1, 0)
    tensor([1., 0.])
    """
    if isinstance(mask, Tensor) and isinstance(value, (Tensor, *Number)) and mask.shape != input.shape:
        broadcast_shapes(mask.shape, input.shape)
    op, value = _mask_op(input, mask, value)
    return op.call(input, mask, value)


_imasked = {op: inplace(op, "masked_fill_") for op in (_fill_number.op, _fill_tensor.op)}


def masked_fill_(self: Any, mask: Any, value: Any) -> Any:
    """In-place `masked_fill`."""
    op, value = _mask_op(self, mask, value)
    if mask.shape != self.shape:
        broadcast_shapes(self.shape, mask.shape)
    return _imasked[op](self, mask, value)


# ------------------------------------------------------------------ NaN and infinities


def _nan_to_num(input: Any, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    kind = input.dtype.kind
    if kind in "biu":
        return input.copy()
    if kind == "c":
        out = np.empty_like(input)
        out.real = _nan_to_num(input.real, nan, posinf, neginf)
        out.imag = _nan_to_num(input.imag, nan, posinf, neginf)
        return out
    info = dtypes.finfo(dtypes.from_numpy(input.dtype))
    values = (
        0.0 if nan is None else nan,
        info.max if posinf is None else posinf,
        info.min if neginf is None else neginf,
    )
    out = input.copy()
    for where_, value in zip((np.isnan(input), input == np.inf, input == -np.inf), values):
        out[where_] = value
    return out


nan_to_num = elementwise(
    "nan_to_num", _nan_to_num, {"input": lambda g, input: where(_finite(input), g, 0)}, policy=SAME
)  # fmt: skip


def _finite(x: Any) -> Any:
    from .comparison import isfinite

    return isfinite(x)


# ------------------------------------------------------------------ signs and steps


def _same_dtypes(name: str, d: Any, values: list[Any]) -> None:
    kinds = [v.dtype for v in values]
    if d.is_complex:
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if kinds[0] != kinds[1]:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")


def _heaviside(input: Any, values: Any) -> Any:
    return np.where(input == 0, values, input > 0).astype(input.dtype)


_no_heaviside = not_implemented("heaviside")
heaviside = elementwise(
    "heaviside",
    _heaviside,
    {"input": _no_heaviside, "values": _no_heaviside},
    policy=Policy(check=_same_dtypes),
    node="NotImplemented",
    numbers=False,
)


def _copysign_rule(g: Any, x: Any, out: Any) -> Any:
    return where(x == 0, 0, g * (out / x))


_COPYSIGN = refuse("c", "copysign_cpu", floats=True)
_copysign = binary("copysign", np.copysign, _copysign_rule, lambda g: zeros(g), policy=_COPYSIGN)
_copysign_number = elementwise(
    "copysign.number", lambda input, other: np.copysign(input, np.array(other).astype(input.dtype)),
    {"input": lambda g, input, out: _copysign_rule(g, input, out)}, policy=_COPYSIGN, node="CopysignBackward1",
)  # fmt: skip
_icopysign = inplace(_copysign.op, "copysign_"), inplace(_copysign_number.op, "copysign_")


def copysign(input: Any, other: Any, *, out: Any = None) -> Any:
    """|input| with the sign of `other`, a tensor or a number; d/dinput is 0 at 0."""
    if isinstance(other, complex):
        _COPYSIGN.check("copysign", result_type((input, other)))  # type: ignore[call-arg, misc]
    return (_copysign_number if isinstance(other, Number) else _copysign)(input, other, out=out)


def copysign_(self: Any, other: Any) -> Any:
    """In-place `copysign`."""
    if isinstance(other, complex) and not self.dtype.is_complex:
        d = result_type((self, other)).legacy
        raise RuntimeError(f"result type {d} can't be cast to the desired output type {self.dtype.legacy}")
    return _icopysign[isinstance(other, Number)](self, other)


# ------------------------------------------------------------------ two arguments


def _over_square(v: Any, x: Any, y: Any) -> Any:
    """v / (x*x + y*y), with 0 for the factor at the origin."""
    r = x * x + y * y
    return v * where(r == 0, 0, 1 / r)


hypot = binary(
    "hypot", np.hypot, lambda g, x, out: g * (x / out), lambda g, y, out: g * (y / out),
    policy=refuse("bic", "hypot_cpu"), numbers=False,
)  # fmt: skip
atan2 = arctan2 = binary(
    "atan2", np.arctan2, lambda g, x, y: _over_square(g * y, x, y), lambda g, x, y: _over_square(g * -x, x, y),
    policy=refuse("c", "atan2_cpu", floats=True), numbers=False,
)  # fmt: skip


def xlogy_kernel(x: Any, y: Any) -> Any:
    """x * log(y), 0 where x is 0, unless y is NaN."""
    return np.asarray(np.where((x == 0) & ~np.isnan(y), np.zeros((), y.dtype), x * np.log(y)))


def _log_where(g: Any, x: Any, y: Any) -> Any:
    """g * log(y), 0 where x is 0 and log(y) is not finite."""
    return g * where((x == 0) & (y <= 0), 0, log(y))


_XLOGY = refuse("c", "xlogy_cpu", floats=True)
_xlogy = binary("xlogy", xlogy_kernel, _log_where, lambda g, x, y: g * x / y, policy=_XLOGY)
_xlogy_base = binary(
    "xlogy.base", lambda y, x: xlogy_kernel(x, y), lambda g, x, y: g * y / x, policy=_XLOGY, node="XlogyBackward1"
)  # fmt: skip
_xlogy_number = binary("xlogy.number", xlogy_kernel, _log_where, policy=_XLOGY, node="XlogyBackward2")


def xlogy(input: Any, other: Any, *, out: Any = None) -> Any:
    """input * log(other), 0 where the input is 0; NaN where `other` is. Either may be a number.

    d/dinput = log(other), d/dother = input / other.
    """
    either("xlogy", input, other)
    if isinstance(input, Number) and isinstance(other, Tensor):
        return _xlogy_base(other, input, out=out)
    return (_xlogy_number if isinstance(other, Number) else _xlogy)(input, other, out=out)


_ixlogy = inplace(_xlogy.op, "xlogy_"), inplace(_xlogy_number.op, "xlogy_")


def xlogy_(self: Any, other: Any) -> Any:
    """In-place `xlogy`."""
    return _ixlogy[isinstance(other, Number)](self, other)


# ------------------------------------------------------------------ mantissa and exponent


def _ldexp(x: Any, y: Any) -> Any:
    return np.asarray(x * np.exp2(y)).astype(x.dtype)


ldexp = binary(
    "ldexp", _ldexp, lambda g, y: g * exp2(y), lambda g, out: g * out * LN2, policy=FLOATS, numbers=False
)  # fmt: skip


def _frexp(input: Any) -> Any:
    if input.dtype.kind not in "fV":
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    wide = input.astype(np.float32) if input.dtype.itemsize == 2 else input
    mantissa, exponent = np.frexp(wide)
    return np.asarray(mantissa).astype(input.dtype), np.asarray(exponent).astype(np.int32)


frexp = Op(
    "frexp",
    _frexp,
    {"input": lambda g0, out1: g0 / exp2(out1)},
    {"input": lambda t, out1: (t / exp2(out1), None)},
    outputs=2,
    nondiff=(1,),
    result=return_type("frexp", "mantissa", "exponent"),
).call

describe(
    globals(),
    """
    nan_to_num: NaN replaced by `nan` (0), infinities by `posinf` and `neginf` (the dtype's limits). d/dinput = 0 there.
    heaviside: 0 below 0, 1 above, `values` at 0; no derivative.
    hypot: sqrt(input**2 + other**2). d/dinput = input / out, NaN at the origin.
    atan2: The angle of the point (other, input). d/dinput = other / r**2, d/dother = -input / r**2, 0 at the origin.
    ldexp: input * 2**other. d/dinput = 2**other, d/dother = out * log(2).
    frexp: (mantissa, exponent) with input = mantissa * 2**exponent and 0.5 <= |mantissa| < 1.
    """,
)
