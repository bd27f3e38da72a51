"""Comparisons, logic and bits, which have no derivative; the larger and the smaller of two; and complex numbers.

Gradients are PyTorch's: for a real loss, dL/dRe(z) + i dL/dIm(z). A function of z that is not complex-differentiable
has a rule that is linear over the real numbers alone. `conj` computes its result at once; there is no conjugate bit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..core.broadcast import cast, sum_to
from ..core.elementwise import binary, kind_of, unary
from ..core.inplace import inplace
from ..core.linear import linear, view_op
from ..core.op import Op
from ..core.promote import FLOATS, SAME, Policy
from ..core.tensor import Tensor, type_name
from ..core.views import offset_in, storage_of
from ..shapes import broadcast_shapes
from ._arguments import describe
from ._dtypes import either, exact_out, refuse
from .arithmetic import OPERANDS, ZERO, tensor_like, zeros
from .pointwise import sgn
from .selection import where
from .windows import select

__all__ = [
    "allclose", "angle", "bitwise_and", "bitwise_left_shift", "bitwise_not", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "complex", "conj", "conj_physical", "eq", "equal", "fmax", "fmin",
    "ge", "greater", "greater_equal", "gt", "imag", "is_conj", "is_neg", "isclose", "isfinite", "isinf",
    "isnan", "isneginf", "isposinf", "isreal", "le", "less", "less_equal", "logical_and", "logical_not",
    "logical_or", "logical_xor", "lt", "maximum", "minimum", "ne", "not_equal", "polar", "real",
    "resolve_conj", "resolve_neg", "signbit", "view_as_complex", "view_as_real",
]  # fmt: skip
METHODS = "* -complex -imag -polar -real -view_as_complex -view_as_real"
INPLACE = (
    "eq ne lt le gt ge not_equal less less_equal greater greater_equal logical_and logical_or logical_xor logical_not "
    "bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift conj_physical"
)

# ------------------------------------------------------------------ comparisons


def _comparison(name: str, ufunc: Any, ordered: bool = True) -> Any:
    policy = refuse("c", name + "_cpu", integers="biu") if ordered else SAME
    call = binary(name, ufunc, policy=policy)

    @functools.cache
    def written(rules: int) -> Op:
        """In place a comparison is a function whose derivatives are zero."""
        vjp: dict[str, Any] = {
            "input": ZERO, "other": lambda g, other_shape, other_dtype: cast(zeros(sum_to(g, other_shape)), other_dtype)
        }  # fmt: skip
        names = tuple(vjp)[:rules]
        return Op(
            name, call.op.forward, {n: vjp[n] for n in names}, tensors=names,
            node=f"{name.capitalize()}Backward{rules - 1}", register=False,
        )  # fmt: skip

    call.op.written = lambda others: written(1 + isinstance(others[0], Tensor))
    return call


eq = not_equal = _comparison("eq", np.equal, ordered=False)
ne = not_equal = _comparison("ne", np.not_equal, ordered=False)
lt = less = _comparison("lt", np.less)
le = less_equal = _comparison("le", np.less_equal)
gt = greater = _comparison("gt", np.greater)
ge = greater_equal = _comparison("ge", np.greater_equal)


def isclose(input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """|input - other| <= atol + rtol * |other|, elementwise; equal infinities are close.

    **Raises** RuntimeError for different dtypes or negative tolerances.
    """
    for k, (word, v) in enumerate((("input", input), ("other", other)), 1):
        if not isinstance(v, Tensor):
            raise TypeError(f"isclose(): argument '{word}' (position {k}) must be Tensor, not {type_name(v)}")
    if input.dtype is not other.dtype:
        raise RuntimeError(f"{input.dtype.legacy} did not match {other.dtype.legacy}")
    for word, value in (("rtol", rtol), ("atol", atol)):
        if value < 0:
            raise RuntimeError(f"{word} must be greater than or equal to zero, but got {value:g}")
    broadcast_shapes(input.shape, other.shape)
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
    """Whether `isclose` holds everywhere, as a Python bool."""
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


def equal(input: Any, other: Any) -> bool:
    """Whether two tensors have one shape and equal elements, as a Python bool."""
    if not isinstance(other, Tensor):
        raise TypeError(f"equal(): argument 'other' (position 2) must be Tensor, not {type_name(other)}")
    try:
        a, b = input._a, other._a
        if a.dtype is b.dtype:
            if a.shape != b.shape or (a.size > 4096 and not np.equal(a[:1], b[:1]).all()):
                return False
            return bool(np.equal(a, b).all())
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
    "__gt__": gt.operator, "__ge__": ge.operator, "__invert__": _invert,
}  # fmt: skip
for _word, _fn in (
    ("and", bitwise_and), ("or", bitwise_or), ("xor", bitwise_xor), ("lshift", bitwise_left_shift),
    ("rshift", bitwise_right_shift),
):  # fmt: skip
    OPERATORS[f"__{_word}__"] = _operator(_fn)
    OPERATORS[f"__r{_word}__"] = _operator(_fn, swap=True)
    OPERATORS[f"__i{_word}__"] = _operator(inplace(_fn.op))

_PARTS: dict[Any, Any] = {np.dtype(np.complex64): np.dtype(np.float32), np.dtype(np.complex128): np.dtype(np.float64)}
_WHOLE: dict[Any, Any] = {part: whole for whole, part in _PARTS.items()}

# ------------------------------------------------------------------ the memory as real numbers, and back


def _view_as_real(input: Any) -> Any:
    part = _PARTS.get(input.dtype)
    if part is None:
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return input[..., None].view(part)


def _view_as_complex(input: Any) -> Any:
    whole = _WHOLE.get(input.dtype)
    if whole is None:
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
            f"{dtypes.from_numpy(input.dtype).legacy}"
        )
    if not input.ndim:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if input.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if not input.size:
        return np.empty(input.shape[:-1], whole)
    if input.strides[-1] != input.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(s % (2 * input.itemsize) for s, n in zip(input.strides[:-1], input.shape[:-1]) if n > 1):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if offset_in(input, storage_of(input)) % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    return input.view(whole)[..., 0]


def _joined(g: Any, shape: Any) -> Any:
    return view_as_complex(np.ascontiguousarray(g) if isinstance(g, np.ndarray) else g.contiguous())


view_as_real = view_op("view_as_real", _view_as_real, _joined)
view_as_complex = view_op("view_as_complex", _view_as_complex, lambda g, shape: view_as_real(g))


def real(input: Any) -> Any:
    """The real part, a view; a real tensor itself. Source: torch.real."""
    if isinstance(input, Tensor):
        return select(view_as_real(input), -1, 0) if input.dtype.category == dtypes.COMPLEX else input
    return input.real


def imag(input: Any) -> Any:
    """The imaginary part, a view; RuntimeError for a real tensor. Source: torch.imag."""
    if kind_of(input) != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return select(view_as_real(input), -1, 1) if isinstance(input, Tensor) else input.imag


def _set_real(self: Any, value: Any) -> None:
    real(self).copy_(value)


def _set_imag(self: Any, value: Any) -> None:
    imag(self).copy_(value)


OPERATORS |= {"real": property(real, _set_real), "imag": property(imag, _set_imag)}

# ------------------------------------------------------------------ conjugates

_conj = linear("conj", lambda input: np.conjugate(input), lambda g: conj(g), out_arg=False)
_conj_physical = linear("conj_physical", lambda input: np.conjugate(input), lambda g: conj_physical(g))


def conj(input: Any) -> Any:
    """The complex conjugate; a real tensor itself."""
    return _conj(input) if kind_of(input) == "c" else input


def conj_physical(input: Any, *, out: Any = None) -> Any:
    """The complex conjugate; a real tensor itself."""
    return _conj_physical(input, out=out) if kind_of(input) == "c" or out is not None else input


conj_physical.op = _conj_physical.op


def is_conj(input: Any) -> bool:
    """Whether a conjugation is still to be carried out: never, here."""
    return False


def is_neg(input: Any) -> bool:
    """Whether a negation is still to be carried out: never, here."""
    return False


def resolve_conj(input: Any) -> Any:
    """The tensor, with its conjugation carried out, as it always is."""
    return input


def resolve_neg(input: Any) -> Any:
    """The tensor, with its negation carried out, as it always is."""
    return input


# ------------------------------------------------------------------ angles


def _turned(v: Any, input: Any) -> Any:
    """v * (i z) / |z|**2, 0 at 0: the direction in which the angle grows."""
    size = abs(input)
    return where(size == 0, zeros(input), v * (input * 1j) / (size * size))


_complex_angle = Op(
    "angle.complex",
    lambda input: np.asarray(np.angle(input)),
    {"input": lambda g, input: _turned(g, input)},
    {"input": lambda t, input: real(t * conj(_turned(1, input)))},
    node="AngleBackward0",
).call


def _real_angle(a: Any) -> Any:
    out, nan = np.asarray(np.less(a, 0).astype(a.dtype) * a.dtype.type(np.pi)), np.isnan(a)
    if nan.any():
        np.copyto(out, a, where=nan)
    return out


angle = unary("angle", _real_angle, ZERO, policy=FLOATS, complex_case=_complex_angle)

# ------------------------------------------------------------------ from two real numbers


def _check_parts(a: Any, b: Any) -> None:
    names = [dtypes.from_numpy(v.dtype).legacy for v in (a, b)]
    if any(v.dtype.kind != "f" for v in (a, b)):
        raise RuntimeError(
            f"Expected both inputs to be Half, Float or Double tensors but got {names[0]} and {names[1]}"
        )
    if names[0] != names[1]:
        raise RuntimeError(
            f"Expected object of scalar type {names[0]} but got scalar type {names[1]} for second argument"
        )
    if a.dtype.itemsize == 2:
        raise RuntimeError("tidu has no complex numbers of half precision (torch.complex32)")


def _other_out(have: Any, want: Any) -> str:
    return f"Expected object of scalar type {have.legacy} but got scalar type {want.legacy} for argument 'out'"


def _assemble(real: Any, imag: Any) -> Any:
    _check_parts(real, imag)
    out = np.empty(broadcast_shapes(real.shape, imag.shape), _WHOLE[real.dtype])
    out.real, out.imag = real, imag
    return out


def _polar(abs: Any, angle: Any) -> Any:
    if abs.dtype == angle.dtype == np.float16:
        raise NotImplementedError("\"polar_cpu\" not implemented for 'Half'")
    _check_parts(abs, angle)
    broadcast_shapes(abs.shape, angle.shape)
    return _assemble(np.asarray(abs * np.cos(angle)), np.asarray(abs * np.sin(angle)))


complex: Any = Op(
    "complex",
    _assemble,
    {
        "real": lambda g, real_shape: sum_to(real(g), real_shape),
        "imag": lambda g, imag_shape: sum_to(imag(g), imag_shape),
    },
    {"real": lambda t: complex(t, zeros(t)), "imag": lambda t: complex(zeros(t), t)},
).call
polar = Op(
    "polar",
    _polar,
    {
        "abs": lambda g, out, abs_shape: sum_to(real(conj(g) * sgn(out)), abs_shape),
        "angle": lambda g, out, angle_shape: sum_to(real(conj(g) * (out * 1j)), angle_shape),
    },
    {"abs": lambda t, out: t * sgn(out), "angle": lambda t, out: t * (out * 1j)},
).call

exact_out(complex, _other_out)
exact_out(polar, _other_out)
describe(
    globals(),
    """
    view_as_real: A complex tensor's memory as real numbers, the last dimension (real, imag); a view.
    view_as_complex: The last dimension of two real numbers as one complex number; a view.
    angle: The angle of complex numbers; for real ones 0, pi where negative.
    complex: real + 1j * imag, of floats of one dtype.
    polar: abs * exp(1j * angle), of floats of one dtype.
    """,
)
