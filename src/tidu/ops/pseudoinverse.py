"""Pseudoinverses, ranks and least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..core.batch import rule
from ..core.broadcast import sum_to
from ..core.op import Op
from ..core.returns import return_type
from ..core.tensor import Tensor
from ..shapes import broadcast_shapes
from ._linalg import H, batched_over, check_matrix, column, columns, legacy, raise_for, real, trailing
from ._reduce import into
from .decompositions import _svd as svd_op
from .decompositions import linalg_eigvalsh, linalg_svdvals
from .solvers import is_vector

__all__ = ["pinverse"]
METHODS = "pinverse"

lstsq_result = return_type("linalg_lstsq", "solution", "residuals", "rank", "singular_values")


def _tolerances(a: Any, atol: Any, rtol: Any) -> tuple[Any, Any]:
    """Both tolerances as arrays or numbers: eps max(m, n) relative to the greatest, unless one is given."""
    eps = np.finfo(a.real.dtype).eps * max(a.shape[-2:])
    absolute = 0.0 if atol is None else _number(atol)
    if rtol is None:
        relative = np.where(np.asarray(absolute) > 0, 0.0, eps) if atol is not None else eps
    else:
        relative = _number(rtol)
    return absolute, relative


def _number(v: Any) -> Any:
    return v.detach()._a if isinstance(v, Tensor) else v


def _threshold(s: Any, atol: Any, rtol: Any) -> Any:
    top = s.max(-1) if s.shape[-1] else np.zeros(s.shape[:-1], s.dtype)
    return np.maximum(np.asarray(atol), np.asarray(rtol) * top)[..., None]


# ------------------------------------------------------------------ pseudoinverses


def _pinv_forward(A: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    if A.ndim < 2 or A.dtype.kind in "biu" or (A.dtype.itemsize == 2 and A.dtype.kind in "fV"):
        raise RuntimeError(
            f"linalg.pinv({legacy(A)}{{{list(A.shape)}}}): expected a tensor with 2 or more "
            "dimensions of float, double, "
            "cfloat or cdouble types"
        )
    if not A.size:
        return np.zeros((*A.shape[:-2], A.shape[-1], A.shape[-2]), A.dtype)
    absolute, relative = _tolerances(A, atol, rtol)
    with np.errstate(all="ignore"):
        if hermitian:
            w, v = np.linalg.eigh(A)
            s = np.abs(w)
            inverse = np.where(s > _threshold(s, absolute, relative), 1 / w, 0).astype(w.dtype)
            return np.ascontiguousarray((v * inverse[..., None, :]) @ H(v))
        u, s, vh = np.linalg.svd(A, False)
        inverse = np.where(s > _threshold(s, absolute, relative), 1 / s, 0).astype(s.dtype)
        return np.ascontiguousarray((H(vh) * inverse[..., None, :]) @ H(u))


def pinv_cotangent(g: Any, x: Any, a: Any) -> Any:
    """The cotangent of A from that of its pseudoinverse X, at constant rank."""
    gh, xh = H(g), H(x)
    first = -(xh @ g @ xh)
    p = gh @ x
    second = (p - a @ (x @ p)) @ xh
    q = x @ gh
    third = xh @ (q - (q @ x) @ a)
    return first + second + third


def _pinv_tangent(t: Any, out: Any, A: Any) -> Any:
    x, th = out, H(t)
    xh = H(x)
    first = -(x @ t @ x)
    p = x @ (xh @ th)
    q = th @ (xh @ x)
    return first + (p - (p @ A) @ x) + (q - x @ (A @ q))


_pinv = Op(
    "linalg_pinv", _pinv_forward, vjp={"A": lambda g, out, A: pinv_cotangent(g, out, A)}, jvp={"A": _pinv_tangent}
)
trailing("linalg_pinv", A=2)


def pinv_value(a: Any) -> Any:
    return _pinv.call(a, None, None, False)


def linalg_pinv(
    A: Any, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None, out: Any = None
) -> Any:
    """The Moore-Penrose pseudoinverse. Source: torch.linalg.pinv.

    Singular values up to max(atol, rtol times the greatest) count as zero; rtol is eps max(m, n) unless atol is given.
    Derivatives are those at constant rank.

    >>> import tidu as torch
    >>> torch.linalg.pinv(torch.tensor([[1., 0.], [0., 0.]]))
    tensor([[1., 0.],
            [0., 0.]])
    """
    if rcond is not None:
        rtol = rcond
        atol = 0.0 if atol is None else atol
    return _pinv.call(A, atol, rtol, hermitian, out=out)


def pinverse(input: Any, rcond: float = 1e-15) -> Any:
    """The Moore-Penrose pseudoinverse. Source: torch.pinverse."""
    return linalg_pinv(input, rcond)


def matrix_rank(
    A: Any, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None, out: Any = None
) -> Any:
    """How many singular values exceed max(atol, rtol times the greatest). Source: torch.linalg.matrix_rank.

    >>> import tidu as torch
    >>> torch.linalg.matrix_rank(torch.ones(3, 3))
    tensor(1)
    """
    check_matrix(A, "torch.linalg.matrix_rank", "input")
    if A.dtype.category < dtypes.FLOATING or (A.dtype.is_floating_point and A.dtype.itemsize == 2):
        raise RuntimeError("This function doesn't handle types other than float and double")
    if tol is not None:
        atol, rtol = tol, 0.0
    a = A.detach()
    s = linalg_eigvalsh(a).abs() if hermitian else linalg_svdvals(a)
    eps = dtypes.finfo(s.dtype).eps * max(A.shape[-2:])
    top = s.amax(-1) if s.shape[-1] else s.sum(-1)
    absolute: Any = 0.0 if atol is None else atol
    if rtol is None:
        rtol = (absolute <= 0) * eps
    relative = top * rtol
    limit = relative.maximum(absolute) if isinstance(absolute, Tensor) else relative.clamp(min=absolute)
    r = (s > limit.unsqueeze(-1)).sum(-1)
    return r if out is None else into("linalg_matrix_rank", out, r)


# ------------------------------------------------------------------ least squares

_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def _lstsq_forward(A: Any, B: Any, rcond: Any, driver: str) -> Any:
    name = "torch.linalg.lstsq"
    vector = is_vector(A, B)
    b = B[..., None] if vector else B
    m, n = A.shape[-2:]
    if m != b.shape[-2]:
        raise RuntimeError(f"{name}: input.size(-2) should match other.size(-{1 if vector else 2})")
    lead = tuple(broadcast_shapes(A.shape[:-2], b.shape[:-2]))
    k = b.shape[-1]
    limit = np.finfo(A.real.dtype).eps * max(m, n) if rcond is None else rcond
    empty = np.empty((0,), A.real.dtype)
    u, s, vh = svd_op.forward(A, False, True)
    if not A.size:
        u, s, vh = u[..., :0], s[..., :0], vh[..., :0, :]
    with np.errstate(all="ignore"):
        good = s > _threshold(s, 0.0, limit)
        if driver == "gels":
            good = s > 0
            raise_for(np.where(good.all(-1), 0, np.argmin(good, -1) + 1) if s.shape[-1] else 0, name, "lstsq")
        inverse = np.where(good, 1 / np.where(good, s, 1), 0).astype(s.dtype)
    x = H(vh) @ (inverse[..., None] * (H(u) @ b))
    x = np.broadcast_to(x, (*lead, n, k))
    rank = good.sum(-1)
    residuals = empty
    if m > n and driver != "gelsy" and (rank == n).all():
        d = np.abs(A @ x - b)
        residuals = np.asarray((d * d).sum(-2))
    solution = np.array(x[..., 0]) if vector else columns(x)
    ranks = np.empty((0,), np.int64) if driver == "gels" else np.asarray(rank, np.int64)
    return solution, residuals, ranks, s if driver in ("gelsd", "gelss") else empty


def _lstsq_vjp(g0: Any, g1: Any, A: Any, B: Any, out0: Any, A_shape: Any, B_shape: Any) -> Any:
    vector = is_vector(A, B)
    g, b, x = (column(v) if vector else v for v in (g0, B, out0))
    pinv = pinv_value(A)
    ga = gb = None
    if g1.ndim > 0 and tuple(g1.shape) != (0,):
        r = A @ x - b
        d = r * (g1.reshape((*tuple(g1.shape[:-1]), 1, g1.shape[-1])) * 2)
        ga, gb = d @ H(x), -d
        g = g + H(A) @ d
    first, second = pinv_cotangent(g @ H(b), pinv, A), H(pinv) @ g
    ga = first if ga is None else ga + first
    gb = second if gb is None else gb + second
    return sum_to(ga, A_shape), sum_to(gb.squeeze(-1) if vector else gb, B_shape)


def _lstsq_jvp(A: Any, B: Any, out0: Any, out1: Any, out2: Any, out3: Any, t_A: Any, t_B: Any) -> Any:
    vector = is_vector(A, B)
    b, x = (column(v) if vector else v for v in (B, out0))
    tb = None if t_B is None else column(t_B) if vector else t_B
    pinv = pinv_value(A)
    dx: Any = None if tb is None else pinv @ tb
    if t_A is not None:
        more = _pinv_tangent(t_A, pinv, A) @ b
        dx = more if dx is None else dx + more
    residuals = out1
    if tuple(out1.shape) != (0,):
        r = A @ x - b
        d = A @ dx
        d = d if t_A is None else d + t_A @ x
        d = d if tb is None else d - tb
        p = r.conj() * d if r.dtype.is_complex else r * d
        residuals = (real(p) * 2).sum(-2)
    return (dx.squeeze(-1) if vector else dx), residuals, out2, out3


_lstsq = Op(
    "linalg_lstsq",
    _lstsq_forward,
    vjp=_lstsq_vjp,
    jvp=_lstsq_jvp,
    tensors=("A", "B"),
    outputs=4,
    nondiff=(2, 3),
    result=lstsq_result,
)


@rule("linalg_lstsq")
def _lstsq_batched(op: Any, args: Any, level: int) -> Any:
    if is_vector(*args[:2]):
        return NotImplemented
    return batched_over(A=2, B=2)(op, args, level)


def linalg_lstsq(A: Any, B: Any, rcond: Any = None, *, driver: str | None = None, out: Any = None) -> Any:
    """The X that minimizes ||A X - B||, the one of least norm where there are several, with residuals, the rank and
    the singular values. Source: torch.linalg.lstsq.

    `driver` is a LAPACK routine's name: gelsy (the default), gels, gelsd or gelss; it says
    which of the results are filled in. Singular values up to rcond times the greatest count as zero.
    """
    name = "torch.linalg.lstsq"
    if A.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if B.ndim < 1:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    if A.dtype != B.dtype:
        raise RuntimeError(
            f"{name}: Expected input and other to have the same dtype, but got input's dtype {A.dtype.legacy} and "
            f"other's dtype {B.dtype.legacy}"
        )
    if A.ndim - B.ndim not in (0, 1):
        raise RuntimeError(
            f"{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1"
        )
    if A.dtype.category < dtypes.FLOATING or (A.dtype.is_floating_point and A.dtype.itemsize == 2):
        raise RuntimeError("This function doesn't handle types other than float and double")
    if A.ndim > B.ndim:
        broadcast_shapes(tuple(A.shape[:-2]), tuple(B.shape[:-1]))
    if driver is not None and driver not in _DRIVERS:
        raise RuntimeError(f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    r = _lstsq.call(A, B, rcond, driver or "gelsy")
    if out is None:
        return r
    for o, v in zip(out, r, strict=True):
        into("linalg_lstsq", o, v)
    return lstsq_result(*out)
