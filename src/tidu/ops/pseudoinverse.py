"""What follows from singular values: pseudoinverses, ranks, least squares, approximations of low rank, norms of matrices.

Low rank comes by random subspaces (Halko, Martinsson and Tropp, 2009), extreme eigenpairs from the whole factorization.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..core.batch import rule
from ..core.broadcast import cast, sum_to
from ..core.op import Op
from ..core.tensor import Tensor
from ..naming import given_out, return_type
from ..shapes import broadcast_shapes, normalize_dim
from ._linalg import (
    H,
    batched_over,
    check_floating,
    check_matrix,
    check_norm_dtype,
    check_square,
    column,
    columns,
    into,
    legacy,
    raise_for,
    real,
    trailing,
)
from .decompositions import _svd as svd_op
from .decompositions import linalg_eigh, linalg_eigvalsh, linalg_qr, linalg_svd, linalg_svdvals
from .random import randn
from .reduction import into as plain_into
from .solvers import is_vector, linalg_inv_ex
from .statistics import vector_norm
from .triangular import linalg_cholesky, solve_tri

__all__ = [
    "lobpcg", "pca_lowrank", "pinverse", "svd_lowrank",
]  # fmt: skip
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
            f"linalg.pinv({legacy(A)}{{{list(A.shape)}}}): expected a tensor with 2 or more dimensions of float, "
            "double, cfloat or cdouble types"
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
    """The Moore-Penrose pseudoinverse.

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
    """The Moore-Penrose pseudoinverse."""
    return linalg_pinv(input, rcond)


def matrix_rank(
    A: Any, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None, out: Any = None
) -> Any:
    """How many singular values exceed max(atol, rtol times the greatest).

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
    return r if out is None else plain_into("linalg_matrix_rank", out, r)


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
    the singular values.

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
        plain_into("linalg_lstsq", o, v)
    return given_out(lstsq_result)(*out)


def _floating(a: Any) -> Any:
    return a.dtype if a.dtype.category >= dtypes.FLOATING else dtypes.float32


def _subspace(a: Any, q: int, rounds: int) -> Any:
    """q orthonormal columns whose span nearly holds that of `a`: a random start, then power iterations."""
    x = a.matmul(randn(a.shape[-1], q, dtype=_floating(a)))
    basis = linalg_qr(x)[0]
    for _ in range(rounds):
        basis = linalg_qr(a.mH.matmul(basis))[0]
        basis = linalg_qr(a.matmul(basis))[0]
    return basis


def svd_lowrank(A: Any, q: int | None = 6, niter: int | None = 2, M: Any = None) -> tuple[Any, Any, Any]:
    """U, S, V of a matrix (less M) of rank about q: the first q singular values and vectors.

    **Arguments** A: a matrix or a batch; q: a little more than the rank; niter: power iterations; M: a mean to take
    off, which broadcasts. The result depends on the generator's state.
    """
    a = A if M is None else A - M.broadcast_to(tuple(A.shape))
    wide = a.shape[-2] < a.shape[-1]
    a = a.mH if wide else a
    basis = _subspace(a, 6 if q is None else q, 2 if niter is None else niter)
    u, s, vh = linalg_svd(basis.mH.matmul(a), False)
    u, v = basis.matmul(u), vh.mH
    return (v, s, u) if wide else (u, s, v)


def pca_lowrank(A: Any, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Any, Any, Any]:
    """Principal components: svd_lowrank of a matrix of samples in rows less their mean."""
    m, n = A.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean((-2,), True) if center else A, q, niter)


def lobpcg(
    A: Any, k: int | None = None, B: Any = None, X: Any = None, n: int | None = None, iK: Any = None,
    niter: int | None = None, tol: float | None = None, largest: bool | None = None, method: str | None = None,
    tracker: None = None, ortho_iparams: Any = None, ortho_fparams: Any = None, ortho_bparams: Any = None,
) -> tuple[Any, Any]:  # fmt: skip
    """The k largest (or smallest) eigenvalues of A x = lambda B x, and their vectors, which are B-orthonormal. A is
    symmetric, B (the identity unless given) positive definite, both perhaps batches. PyTorch iterates from a guess;
    here the whole matrix is factored, so that what concerns the iteration (X's values, iK, niter, tol, method,
    tracker and the ortho parameters) changes nothing, and derivatives hold for B too.

    >>> import tidu as torch
    >>> torch.lobpcg(torch.diag(torch.tensor([1., 5., 3., 2.])))[0]
    tensor([5.])
    """
    m = A.shape[-2]
    if m != A.shape[-1]:
        raise AssertionError(f"A must be square, got shape {A.shape!r}")
    k = (X.shape[-1] if X is not None else 1) if k is None else k
    wanted = k if n is None else n
    if m < 3 * wanted:
        raise ValueError(
            f"LOBPCG algorithm is not applicable when the number of A rows (={m}) is smaller than 3 x the number of "
            f"requested eigenpairs (={wanted})"
        )
    a = A
    if B is not None:  # L^-1 A L^-H has the same eigenvalues, and vectors L^H x
        low = linalg_cholesky(B)
        a = solve_tri(low.mH, solve_tri(low, A, False), True, left=False)
    values, vectors = linalg_eigh(a)
    if largest is None or largest:
        values, vectors = values.flip(-1), vectors.flip(-1)
    values, vectors = values[..., :k], vectors[..., :k]
    return values, vectors if B is None else solve_tri(low.mH, vectors, True)


def matrix_norm(
    A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None, out: Any = None
) -> Any:
    """A norm of matrices, which lie in two dimensions.

    `ord` is "fro" (the root of the sum of squares), "nuc" (the sum of singular values), 2 and -2 (the extreme singular
    values), 1 and -1 (the extreme sums of columns) or inf and -inf (of rows).

    >>> import tidu as torch
    >>> torch.linalg.matrix_norm(torch.tensor([[3., 0.], [4., 0.]]))
    tensor(5.)
    """
    name = "linalg.matrix_norm"
    inf = float("inf")
    valid = ord in ("fro", "nuc") if isinstance(ord, str) else abs(ord) in (1, 2, inf)
    if not valid:
        raise RuntimeError(f"{name}: Order {ord if isinstance(ord, str) else f'{ord:g}'} not supported.")
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    check_matrix(A, name)
    check_floating(A, name, low=ord in ("fro", 1, -1, inf, -inf))
    if len(dims) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {', '.join(map(str, dims))}")
    rows, cols = (normalize_dim(d, A.ndim) for d in dims)
    if rows == cols:
        raise RuntimeError(f"{name}: dims must be different. Got ({dims[0]}, {dims[1]})")
    check_norm_dtype(A, dtype, name)
    x = A if dtype is None else cast(A, dtype.np)
    if ord == "fro":
        r = vector_norm(x, 2, (rows, cols), keepdim)
    elif isinstance(ord, str) or abs(ord) == 2:
        moved = [d for d in range(A.ndim) if d not in (rows, cols)]
        s = linalg_svdvals(x.permute((*moved, rows, cols)))
        r = s.sum(-1, keepdim) if ord == "nuc" else _extreme(s, -1, keepdim, ord > 0)
        if keepdim:
            r = r.unsqueeze(-1).permute(_back(A.ndim, moved, rows, cols))
    else:
        along, across = (rows, cols) if abs(ord) == 1 else (cols, rows)
        if not keepdim and along < across:
            across -= 1
        r = _extreme(vector_norm(x, 1, (along,), keepdim), across, keepdim, ord > 0)
    return r if out is None else into("linalg_matrix_norm", out, r)


def _extreme(x: Any, dim: int, keepdim: bool, greatest: bool) -> Any:
    if x.shape[dim] == 0 and greatest:
        return x.sum(dim, keepdim)
    return x.amax(dim, keepdim) if greatest else x.amin(dim, keepdim)


def _back(n: int, moved: list[int], rows: int, cols: int) -> tuple[int, ...]:
    """The permutation that undoes one to (*moved, rows, cols)."""
    order = [*moved, rows, cols]
    return tuple(order.index(i) for i in range(n))


def norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, out: Any = None, dtype: Any = None) -> Any:
    """A vector or a matrix norm: a matrix's for two dimensions with `ord` given."""
    dims = None if dim is None else (dim,) if isinstance(dim, (int, np.integer)) else tuple(dim)
    if dims is not None and len(dims) not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got [{', '.join(map(str, dims))}]"
        )
    if ord is not None:
        if dims is None and A.ndim not in (1, 2):
            raise RuntimeError(
                f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.ndim}D."
            )
        of_matrix = isinstance(ord, str) or (len(dims) == 2 if dims is not None else A.ndim == 2)
        if of_matrix:
            return matrix_norm(A, ord, (-2, -1) if dims is None else dims, keepdim, dtype=dtype, out=out)
    return vector_norm(A, 2 if ord is None else ord, dims, keepdim, dtype=dtype, out=out)


def cond(A: Any, p: Any = None, *, out: Any = None) -> Any:
    """The condition number, ||A|| ||A^-1||, in the 2-norm unless told.

    >>> import tidu as torch
    >>> torch.linalg.cond(torch.tensor([[1., 0.], [0., 2.]]))
    tensor(2.)
    """
    if A.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    inf = float("inf")
    if p is not None and not isinstance(p, str) and abs(p) not in (1, 2, inf):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p:g}")
    if p is None or p in (2, -2):
        if not A.numel():
            r = A.new_zeros(tuple(A.shape[:-2]), dtype=A.dtype.to_real())
        else:
            s = linalg_svdvals(A)
            first, last = s.narrow(-1, 0, 1), s.narrow(-1, s.shape[-1] - 1, 1)
            r = (last / first if p == -2 else first / last).squeeze(-1)
    else:
        check_square(A, f"linalg.cond(ord={p if isinstance(p, str) else f'{p:g}'})")
        if isinstance(p, str) and p not in ("fro", "nuc"):
            raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
        if not A.numel():
            r = A.new_zeros(tuple(A.shape[:-2]), dtype=A.dtype.to_real())
        elif p == "nuc":
            s = linalg_svdvals(A)
            r = s.sum(-1) * s.reciprocal().sum(-1)
        else:
            inverse, info = linalg_inv_ex(A)
            inverse = inverse.masked_fill((info > 0).unsqueeze(-1).unsqueeze(-1), inf)
            r = matrix_norm(A, p) * matrix_norm(inverse, p)
            r = r.nan_to_num(inf, inf, -inf)
    return r if out is None else into("linalg_cond", out, r)
