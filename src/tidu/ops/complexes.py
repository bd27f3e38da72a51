"""Complex numbers: their parts, conjugates and angles, and the views between complex and real memory.

Gradients are PyTorch's: for a real loss, dL/dRe(z) + i dL/dIm(z). A function of z that is not complex-differentiable
has a rule that is linear over the real numbers alone. `conj` computes its result at once; there is no conjugate bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..core.broadcast import sum_to
from ..core.elementwise import kind_of, unary
from ..core.linear import linear
from ..core.op import Op
from ..core.promote import FLOATS
from ..core.tensor import Tensor
from ..core.viewing import view_op
from ..shapes import broadcast_shapes
from ._dtypes import exact_out
from ._names import describe
from .arithmetic import ZERO, zeros
from .pointwise import sgn
from .selection import where
from .windows import select

__all__ = [
    "real", "imag", "conj", "conj_physical", "resolve_conj", "resolve_neg", "is_conj", "is_neg", "angle", "polar",
    "complex", "view_as_real", "view_as_complex",
]  # fmt: skip
METHODS = "conj conj_physical resolve_conj resolve_neg is_conj is_neg angle"
INPLACE = "conj_physical"
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


OPERATORS = {"real": property(real, _set_real), "imag": property(imag, _set_imag)}

# ------------------------------------------------------------------ conjugates

_conj = linear("conj", lambda input: np.conjugate(input), lambda g: conj(g), out_arg=False)
_conj_physical = linear("conj_physical", lambda input: np.conjugate(input), lambda g: conj_physical(g))


def conj(input: Any) -> Any:
    """The complex conjugate; a real tensor itself. Source: torch.conj."""
    return _conj(input) if kind_of(input) == "c" else input


def conj_physical(input: Any, *, out: Any = None) -> Any:
    """The complex conjugate; a real tensor itself. Source: torch.conj_physical."""
    return _conj_physical(input, out=out) if kind_of(input) == "c" or out is not None else input


conj_physical.op = _conj_physical.op


def is_conj(input: Any) -> bool:
    """Whether a conjugation is still to be carried out: never, here. Source: torch.is_conj."""
    return False


def is_neg(input: Any) -> bool:
    """Whether a negation is still to be carried out: never, here. Source: torch.is_neg."""
    return False


def resolve_conj(input: Any) -> Any:
    """The tensor, with its conjugation carried out, as it always is. Source: torch.resolve_conj."""
    return input


def resolve_neg(input: Any) -> Any:
    """The tensor, with its negation carried out, as it always is. Source: torch.resolve_neg."""
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
    pi = np.array(np.pi).astype(a.dtype)
    return np.where(np.isnan(a), a, np.where(a < 0, pi, np.zeros((), a.dtype)))


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
