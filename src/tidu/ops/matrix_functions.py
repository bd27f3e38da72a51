"""Functions of matrices: powers, the exponential, the trace, the cross product, inverses of tensors, products of reflectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..core.batch import batch_size, materialize, rule, shift
from ..core.broadcast import sum_to
from ..core.elementwise import conj
from ..core.op import Op
from ..core.tensor import Tensor, dtype_word
from ..naming import return_type
from ..shapes import broadcast_shapes, normalize_dim
from ._hot import hot
from ._linalg import (
    H,
    check_floating,
    check_kernel,
    check_same_dtype,
    check_square,
    column,
    columns,
    identity,
    legacy,
    like,
    trailing,
)
from .decompositions import join
from .joining import cat
from .matmul import multi_dot as _multi_dot
from .rearrange import tril
from .reduction import into
from .scan import cumprod
from .solvers import _inv, _solve, linalg_inv
from .windows import diagonal

__all__ = [
    "cross", "geqrf", "matrix_exp", "matrix_power", "orgqr", "ormqr", "trace",
]  # fmt: skip
METHODS = "*"

# ------------------------------------------------------------------ powers and the exponential


def matrix_power(input: Any, n: int, *, out: Any = None) -> Any:
    """The n-th power of a square matrix, of its inverse where n is negative."""
    check_square(input, "linalg.matrix_power")
    r = _power(input, n)
    return r if out is None else into("matrix_power", out, r)


linalg_matrix_power = matrix_power


def _power(a: Any, n: int) -> Any:
    if n == 0:
        r = a.clone()
        eye = identity(a.shape[-1], a)
        return r.copy_(eye.expand(tuple(a.shape)))
    if n == 1:
        return a.clone()
    if n == -1:
        return linalg_inv(a)
    if n < 0:
        a, n = linalg_inv(a), -n
    if n == 2:
        return a.matmul(a)
    if n == 3:
        return a.matmul(a).matmul(a)
    r = z = None
    while n:
        z = a if z is None else z.matmul(z)
        if n & 1:
            r = z if r is None else r.matmul(z)
        n >>= 1
    return r


# The numerator of the Pade approximant of exp of order 13, and the norm up to which it is exact to double precision.
_PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
    10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip
_THETA = 5.371920351148152


def _exp_forward(A: Any) -> Any:
    """exp(A) = sum A^k / k!, of a square matrix."""
    check_square(A, "linalg.matrix_exp")
    check_floating(A, "linalg.matrix_exp", low=True)
    dt = A.dtype
    a = A.astype(np.complex128 if dt.kind == "c" else np.float64)
    if not a.size:
        return A.copy()
    norm = np.abs(a).sum(-2).max(-1)
    with np.errstate(all="ignore"):
        steps = np.maximum(0, np.ceil(np.log2(norm / _THETA)))
    steps = np.where(np.isfinite(steps), steps, 0).astype(np.int64)
    a = a / (2.0**steps)[..., None, None]
    b, eye = _PADE, np.eye(a.shape[-1], dtype=a.dtype)
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a4 @ a2
    u = a @ (a6 @ (b[13] * a6 + b[11] * a4 + b[9] * a2) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * eye)
    v = a6 @ (b[12] * a6 + b[10] * a4 + b[8] * a2) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * eye
    try:
        r = np.linalg.solve(v - u, v + u)
    except np.linalg.LinAlgError:
        r = np.full_like(a, np.nan)
    with np.errstate(all="ignore"):
        for i in range(int(steps.max(initial=0))):
            more = steps > i
            r[more] = r[more] @ r[more]
    return r.astype(dt)


def _exp_along(A: Any, d: Any) -> Any:
    """The derivative of exp at A along d: the upper right block of exp([[A, d], [0, A]])."""
    n = A.shape[-1]
    both = join([join([A, d], -1), join([d * 0, A], -1)], -2)
    return matrix_exp(both)[..., :n, n:]


linalg_matrix_exp = Op(
    "linalg_matrix_exp",
    _exp_forward,
    vjp={"A": lambda g, A: _exp_along(H(A), g)},
    jvp={"A": lambda t, A: _exp_along(A, t)},
    out_arg=False,
).call
trailing("linalg_matrix_exp", A=2)


def matrix_exp(A: Any) -> Any:
    """exp(A) = sum A^k / k!, of a square matrix or a batch of them.

    >>> import tidu as torch
    >>> torch.matrix_exp(torch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    return linalg_matrix_exp(A)


# ------------------------------------------------------------------ the trace


def _trace_forward(input: Any) -> Any:
    """The sum of the diagonal."""
    if input.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.ndim}")
    if input.dtype.kind == "b":
        raise NotImplementedError("\"trace\" not implemented for 'Bool'")
    return np.asarray(np.trace(input)) if input.dtype.kind not in "iu" else np.asarray(np.trace(input, dtype=np.int64))


def _trace_adjoint(g: Any, input_shape: Any) -> Any:
    return like(np.eye(*input_shape), g) * g.reshape((1, 1))


trace = hot(Op("trace", _trace_forward, vjp={"input": _trace_adjoint}, jvp="linear", out_arg=False).call)


@rule("trace")
def _trace_batched(op: Any, args: Any, level: int) -> Any:
    return diagonal(args[0].value, 0, -2, -1).sum(-1)


# ------------------------------------------------------------------ products of vectors


def _cross_forward(input: Any, other: Any, *, dim: int = -1) -> Any:
    """The cross product of vectors of three elements along a dimension."""
    if input.ndim != other.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    d = normalize_dim(dim, input.ndim)
    if input.shape[d] != 3 or other.shape[d] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {input.shape[d]} and {other.shape[d]}"
        )
    broadcast_shapes(input.shape, other.shape)
    if input.dtype != other.dtype:
        raise RuntimeError(f"expected scalar type {legacy(input)} but found {legacy(other)}")
    if input.dtype.kind == "b":
        raise NotImplementedError("\"cross\" not implemented for 'Bool'")
    a, b = np.moveaxis(input, d, 0), np.moveaxis(other, d, 0)
    r = np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], d)
    return np.ascontiguousarray(r)


linalg_cross = Op(
    "linalg_cross",
    _cross_forward,
    vjp={
        "input": lambda g, other, dim, input_shape: sum_to(linalg_cross(conj(other), g, dim=dim), input_shape),
        "other": lambda g, input, dim, other_shape: sum_to(linalg_cross(g, conj(input), dim=dim), other_shape),
    },
    jvp="bilinear",
    tensors=("input", "other"),
).call


@rule("linalg_cross")
def _cross_batched(op: Any, args: Any, level: int) -> Any:
    n = batch_size(op, args, level)
    a, b, dim = args
    return op.call(materialize(a, level, n), materialize(b, level, n), shift(dim, a.ndim))


def cross(input: Any, other: Any, dim: int | None = None, *, out: Any = None) -> Any:
    """The cross product of vectors of three elements, along the first dimension of size 3 unless told.

    >>> import tidu as torch
    >>> torch.cross(torch.tensor([1., 0., 0.]), torch.tensor([0., 1., 0.]), dim=0)
    tensor([0., 0., 1.])
    """
    if dim is None:
        dim = next((i for i, n in enumerate(input.shape) if n == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return linalg_cross(input, other, dim=dim, out=out)


def vecdot(x: Any, y: Any, *, dim: int = -1, out: Any = None) -> Any:
    """sum conj(x) y along a dimension."""
    check_floating(x, "linalg.vecdot", low=True)
    check_same_dtype(x, y, "linalg.vecdot", "x", "y")
    if x.ndim == 1 and y.ndim == 1:
        r = x.vdot(y)
    else:
        r = ((x.conj() if x.dtype.is_complex else x) * y).sum(dim)
    return r if out is None else into("linalg_vecdot", out, r)


def linalg_vander(x: Any, N: int | None = None) -> Any:
    """Powers 0, 1, ..., N - 1 of the elements, along a new last dimension."""
    if x.dtype is dtypes.bool_ or (x.dtype.is_floating_point and x.dtype.itemsize == 2):
        raise RuntimeError(
            f"linalg.vander supports floating point, complex, and integer tensors, but got {x.dtype.legacy}"
        )
    n = (x.shape[-1] if x.ndim else 1) if N is None else N
    if n <= 1:
        raise RuntimeError("N must be greater than 1.")
    x = x if x.ndim else x.reshape((1,))
    powers = cumprod(x.unsqueeze(-1).expand((*tuple(x.shape), n - 1)), -1)
    return cat([x.new_ones((*tuple(x.shape), 1), dtype=powers.dtype), powers], -1)


def linalg_multi_dot(tensors: Any, *, out: Any = None) -> Any:
    """The product of several matrices, in the order that takes the fewest multiplications; the first and the last may
    be vectors."""
    tensors = list(tensors)
    n = len(tensors)
    if n < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {n}")
    for i, v in enumerate(tensors):
        if i in (0, n - 1):
            if v.ndim not in (1, 2):
                where = "first" if i == 0 else "last"
                raise RuntimeError(f"multi_dot(): the {where} tensor must be 1D or 2D but got {v.ndim}D")
        elif v.ndim != 2:
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {v.ndim}D")
    for i, v in enumerate(tensors):
        if v.dtype != tensors[0].dtype:
            a, b = (dtype_word(w.dtype) for w in (tensors[0], v))
            raise RuntimeError(
                f"multi_dot(): all tensors must have be the same dtype but tensor 0 is {a} and tensor {i} {b}"
            )
    for i in range(n - 1):
        a, b = tensors[i], tensors[i + 1]
        p = (1, a.shape[0]) if a.ndim == 1 else tuple(a.shape)
        q = (b.shape[0], 1) if b.ndim == 1 else tuple(b.shape)
        if p[1] != q[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(p)} and {list(q)} cannot be multiplied"
            )
    r = _multi_dot(tensors)
    return r if out is None else into("linalg_multi_dot", out, r)


# ------------------------------------------------------------------ tensors as matrices


def _count(sizes: Any) -> int:
    return int(np.prod(list(sizes), dtype=np.int64))


def tensorinv(A: Any, ind: int = 2, *, out: Any = None) -> Any:
    """The inverse with respect to tensordot of a tensor, whose first `ind` dimensions are the rows."""
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    if ind > A.ndim:
        raise RuntimeError(f"ArrayRef: invalid slice, N = {ind}; size = {A.ndim}")
    rows, cols = _count(A.shape[:ind]), _count(A.shape[ind:])
    if rows != cols:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{cols} != {rows}"
        )
    r = _inv.call(A.reshape((rows, cols)), True, "inv")[0]
    r = r.reshape((*tuple(A.shape[ind:]), *tuple(A.shape[:ind])))
    return r if out is None else into("linalg_tensorinv", out, r)


def tensorsolve(A: Any, B: Any, dims: Any = None, *, out: Any = None) -> Any:
    """The X with tensordot(A, X) = B."""
    x = A
    if dims is not None:
        moved = [normalize_dim(d, A.ndim) for d in dims]
        x = A.movedim(tuple(moved), tuple(range(A.ndim - len(moved), A.ndim)))
    shape = tuple(x.shape[B.ndim :])
    unknowns, equations = _count(shape), _count(x.shape[: B.ndim])
    if unknowns != equations:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
            f"but got {unknowns} != {equations}"
        )
    m = x.reshape((equations, unknowns))
    r = _solve.call(m, B.reshape((-1,)) if B.ndim != 1 else B, True, True, "torch.linalg.solve")[0].reshape(shape)
    return r if out is None else into("linalg_tensorsolve", out, r)


def linalg_diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """A diagonal of matrices, as a view."""
    return diagonal(A, offset, dim1, dim2)


geqrf_result = return_type("geqrf", "a", "tau")


# ------------------------------------------------------------------ the form itself


def _geqrf_forward(input: Any) -> Any:
    """R above the diagonal, the reflectors of Q below it, and their factors tau."""
    if input.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    check_kernel(input, "geqrf_cpu")
    if not input.size:
        return columns(input), np.zeros((*input.shape[:-2], min(input.shape[-2:])), input.dtype)
    h, tau = np.linalg.qr(input, "raw")
    return columns(h.mT), tau


def _no_derivative() -> Any:
    raise NotImplementedError("the derivative for 'geqrf' is not implemented.")


geqrf = Op("geqrf", _geqrf_forward, vjp={"input": _no_derivative}, outputs=2, result=geqrf_result).call
trailing("geqrf", input=2)


# ------------------------------------------------------------------ reflectors as values


def reflectors(x: Any) -> Any:
    """The vectors, below the diagonal of geqrf's matrix, with ones on it."""
    m, n = x.shape[-2:]
    return tril(x, -1) + like(np.eye(m, n), x)


def _reflect(v: Any, tau: Any, x: Any) -> Any:
    """(I - tau v v^H) x."""
    return x - (column(column(tau)) * column(v)) @ (H(column(v)) @ x)


def cotangents(v: Any, tau: Any, x: Any, g: Any) -> tuple[Any, Any]:
    """The cotangents of the reflectors (k columns) and taus of H_1 ... H_k x."""
    k = tau.shape[-1]
    right = [x]
    for i in range(k - 1, -1, -1):
        right.append(_reflect(v[..., i], tau[..., i], right[-1]))
    right.reverse()  # right[i + 1] = H_{i+1} ... H_k x
    gv, gtau = [], []
    for i in range(k):
        vi, ti = v[..., i], tau[..., i]
        r = right[i + 1]
        a, b = H(r) @ column(vi), H(g) @ column(vi)
        gtau.append(-(H(b) @ a).reshape(tuple(ti.shape)))
        t = column(column(ti))
        gv.append(-(conj(t) * (g @ a) + t * (r @ b)))
        g = _reflect(vi, conj(ti), g)
    return join(gv, -1), join([column(t) for t in gtau], -1)


def tangent(v: Any, tau: Any, x: Any, dv: Any, dtau: Any, dx: Any) -> Any:
    for i in range(tau.shape[-1] - 1, -1, -1):
        vi, ti = column(v[..., i]), column(column(tau[..., i]))
        change = None
        if dv is not None:
            d = column(dv[..., i])
            change = (ti * d) @ (H(vi) @ x) + (ti * vi) @ (H(d) @ x)
        if dtau is not None:
            more = (column(column(dtau[..., i])) * vi) @ (H(vi) @ x)
            change = more if change is None else change + more
        moved = None if dx is None else _reflect(v[..., i], tau[..., i], dx)
        if change is not None:
            moved = -change if moved is None else moved - change
        dx = moved
        x = _reflect(v[..., i], tau[..., i], x)
    return dx


def _spread(gv: Any, shape: Any) -> Any:
    """The reflectors' cotangent as geqrf's matrix has it: below the diagonal, zeros in columns without a reflector."""
    m, n = shape[-2:]
    k = gv.shape[-1]
    if k < n:
        rest = np.zeros((*tuple(gv.shape[:-1]), n - k), gv.dtype.np if isinstance(gv, Tensor) else gv.dtype)
        gv = join([gv, like(rest, gv)], -1)
    return tril(gv, -1)


# ------------------------------------------------------------------ Q


def _product_forward(input: Any, tau: Any) -> Any:
    """The first columns of the product of Householder reflectors. Source: torch.linalg.householder_product."""
    name = "torch.linalg.householder_product"
    if input.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    m, n = input.shape[-2:]
    if m < n:
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if tau.ndim < 1 or n < tau.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    if input.ndim - tau.ndim != 1:
        raise RuntimeError(
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to {tau.ndim} and "
            f"input.ndim is equal to {input.ndim}"
        )
    if input.shape[:-2] != tau.shape[:-1]:
        raise RuntimeError(
            f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got {list(tau.shape[:-1])}"
        )
    if tau.dtype != input.dtype:
        raise RuntimeError(f"{name}: tau dtype {legacy(tau)} does not match input dtype {legacy(input)}")
    check_kernel(input, "orgqr_cpu")
    x = np.broadcast_to(np.eye(m, n, dtype=input.dtype), input.shape)
    return columns(_apply(input, tau, np.array(x), False))


def _apply(input: Any, tau: Any, x: Any, adjoint: bool) -> Any:
    """Q x or Q^H x, reflector by reflector over the whole batch."""
    k = tau.shape[-1]
    v = np.tril(input, -1) + np.eye(*input.shape[-2:], dtype=input.dtype)
    for i in range(k) if adjoint else range(k - 1, -1, -1):
        t = tau[..., i].conj() if adjoint else tau[..., i]
        w = v[..., i]
        x = x - (t[..., None] * w)[..., None] * (w[..., None, :].conj() @ x)
    return x


def _first_columns(x: Any) -> Any:
    m, n = x.shape[-2:]
    lead = tuple(x.shape[:-2])
    return like(np.broadcast_to(np.eye(m, n), (*lead, m, n)), x)


def _product_vjp(g: Any, input: Any, tau: Any, input_shape: Any) -> Any:
    if 0 in tuple(tau.shape) or 0 in input_shape:
        return None, None
    gv, gtau = cotangents(reflectors(input), tau, _first_columns(input), g)
    return _spread(gv, input_shape), gtau


def _product_jvp(input: Any, tau: Any, out: Any, t_input: Any, t_tau: Any) -> Any:
    dv = None if t_input is None else tril(t_input, -1)
    d = tangent(reflectors(input), tau, _first_columns(input), dv, t_tau, None)
    return out * 0 if d is None else d


householder_product = Op(
    "linalg_householder_product", _product_forward, vjp=_product_vjp, jvp=_product_jvp, tensors=("input", "tau")
).call
trailing("linalg_householder_product", input=2, tau=1)


def orgqr(input: Any, tau: Any, *, out: Any = None) -> Any:
    """The first columns of the product of Householder reflectors."""
    return householder_product(input, tau, out=out)


# ------------------------------------------------------------------ Q times a matrix


def _ormqr_forward(input: Any, tau: Any, other: Any, left: bool = True, transpose: bool = False) -> Any:
    """Q other, Q^H other if `transpose`; other Q unless `left`; Q of geqrf's form."""
    name = "torch.ormqr"
    if input.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if other.ndim < 2:
        raise RuntimeError(f"{name}: other must have at least 2 dimensions.")
    d = -2 if left else -1
    if other.shape[d] != input.shape[-2]:
        raise RuntimeError(f"{name}: other.shape[{d}] must be equal to input.shape[-2]")
    if tau.shape[-1] != min(other.shape[d], input.shape[-1]):
        raise RuntimeError(f"{name}: tau.shape[-1] must be equal to min(other.shape[{d}], input.shape[-1])")
    if input.ndim - tau.ndim != 1:
        raise RuntimeError(
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to {tau.ndim} and "
            f"input.ndim is equal to {input.ndim}"
        )
    if input.ndim != other.ndim:
        raise RuntimeError(
            f"{name}: Expected other to have the same number of dimensions as input, but got other.ndim equal to "
            f"{other.ndim} and input.ndim is equal to {input.ndim}"
        )
    for n, v, lead in (("tau", tau, tau.shape[:-1]), ("other", other, other.shape[:-2])):
        if lead != input.shape[:-2]:
            raise RuntimeError(
                f"{name}: Expected batch dimensions of {n} to be equal to input.shape[:-2], but got {list(lead)}"
            )
        if v.dtype != input.dtype:
            raise RuntimeError(
                f"{name}: Expected input and {n} to have the same dtype, but input has dtype{legacy(input)} and {n} "
                f"has dtype {legacy(v)}"
            )
    check_kernel(input, "ormqr_cpu")
    if left:
        return columns(_apply(input, tau, other, transpose))
    return H(_apply(input, tau, H(other), not transpose))


def _ormqr_vjp(
    g: Any, input: Any, tau: Any, other: Any, left: bool, transpose: bool, input_shape: Any, needs: Any
) -> Any:
    gi = gt = go = None
    if needs[2]:
        go = ormqr(input, tau, g, left, not transpose)
    if (needs[0] or needs[1]) and 0 not in tuple(tau.shape) and 0 not in input_shape:
        # Each case is <a, Q b>: Q^H swaps the two, a factor on the right is one on the left of the transposes.
        a, b = (g, other) if left else (H(g), H(other))
        if transpose == left:
            a, b = b, a
        gv, gt = cotangents(reflectors(input), tau, b, a)
        gi = _spread(gv, input_shape)
    return gi, gt, go


def _ormqr_jvp(
    input: Any, tau: Any, other: Any, out: Any, t_input: Any, t_tau: Any, t_other: Any, left: bool, transpose: bool
) -> Any:  # fmt: skip
    total = None if t_other is None else ormqr(input, tau, t_other, left, transpose)
    if t_input is not None or t_tau is not None:
        # The tangent of Q itself, by its product with the identity.
        m = input.shape[-2]
        eye = like(np.broadcast_to(np.eye(m), (*tuple(input.shape[:-2]), m, m)), input)
        dv = None if t_input is None else tril(t_input, -1)
        dq = tangent(reflectors(input), tau, eye, dv, t_tau, None)
        if dq is not None:
            dq = H(dq) if transpose else dq
            part = dq @ other if left else other @ dq
            total = part if total is None else total + part
    return out * 0 if total is None else total


ormqr = Op("ormqr", _ormqr_forward, vjp=_ormqr_vjp, jvp=_ormqr_jvp, tensors=("input", "tau", "other")).call
trailing("ormqr", input=2, tau=1, other=2)
