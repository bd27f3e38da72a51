"""QR, singular values and eigenvalues, with their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.elementwise import conj
from ..core.op import Op
from ..core.tensor import Tensor
from ..naming import return_type
from ._linalg import (
    H,
    LinAlgError,
    by_columns,
    check_floating,
    check_kernel,
    check_matrix,
    check_square,
    columns,
    diag,
    differences,
    few_threads,
    identity,
    into,
    into_pair,
    is_complex,
    like,
    numbers,
    over_batch,
    real,
    times_columns,
    times_rows,
    trailing,
)
from .joining import cat
from .rearrange import diag_embed, tril, triu
from .solvers import solve_value
from .triangular import solve_tri

__all__ = ["qr", "svd"]
METHODS = "*"

linalg_qr_result, qr_result = return_type("linalg_qr", "Q", "R"), return_type("qr", "Q", "R")
linalg_svd_result, svd_result = return_type("linalg_svd", "U", "S", "Vh"), return_type("svd", "U", "S", "V")
eigh_result = return_type("linalg_eigh", "eigenvalues", "eigenvectors")
eig_result = return_type("linalg_eig", "eigenvalues", "eigenvectors")


def join(parts: list[Any], dim: int) -> Any:
    return cat(parts, dim) if any(isinstance(p, Tensor) for p in parts) else np.concatenate(parts, dim)


def _check_gauge(diagonal: Any, name: str, what: str) -> None:
    """RuntimeError where a loss depends on the phases of complex vectors."""
    a = numbers(diagonal)
    if a is not None and a.dtype.kind == "c" and not np.allclose(a.imag, 0, rtol=1e-2, atol=1e-2):
        tail = "phase term, making it" if name == "svd" else "quantity, so it is"
        raise RuntimeError(
            f"{name}_backward: The {what} in the complex case are specified up to multiplication by e^{{i phi}}. The "
            f"specified loss function depends on this {tail} ill-defined."
        )


# ------------------------------------------------------------------ QR


def _qr_forward(A: Any, mode: str = "reduced") -> Any:
    """Q and R with A = Q R."""
    check_matrix(A, "linalg.qr")
    check_floating(A, "linalg.qr", low=True)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    check_kernel(A, "geqrf_cpu")
    cost = 0.03 * A.shape[-1] * A.shape[-2]
    if mode == "r":
        return np.empty((0,), A.dtype), columns(over_batch(lambda a: np.linalg.qr(a, "r"), cost, A))
    q, r = over_batch(lambda a: np.linalg.qr(a, mode), cost, A)
    return columns(q), columns(r)


def _upper_hermitian(m: Any) -> Any:
    """The adjoint of taking from a matrix what a triangular R takes of it."""
    u = triu(m, 1)
    return u + H(u) + diag_embed(real(diag(m)) + like(0, m))


def _check_qr(A_shape: Any, mode: str) -> None:
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
            "linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr."
        )
    if mode == "complete" and A_shape[-2] > A_shape[-1]:
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.")


def _qr_vjp(g0: Any, g1: Any, out0: Any, out1: Any, mode: str, A_shape: Any) -> Any:
    _check_qr(A_shape, mode)
    m, n = A_shape[-2:]
    q, r, gq, gr = out0, out1, g0, g1
    if m < n:  # A = [A1 A2], R = [R1 R2], R2 = Q^H A2
        gq = gq + q @ (r[..., m:] @ H(gr[..., m:]))
        rest = q @ gr[..., m:]
        r, gr = r[..., :m], gr[..., :m]
    s = gr @ H(r) - H(q) @ gq
    g = solve_tri(H(r), gq + q @ _upper_hermitian(s), False, left=False)
    return join([g, rest], -1) if m < n else g


def _qr_jvp(t: Any, A: Any, out0: Any, out1: Any, mode: str) -> Any:
    _check_qr(tuple(A.shape), mode)
    m, n = A.shape[-2:]
    q, r, d = out0, out1, t
    if m < n:
        r, d = r[..., :m], t[..., :m]
    x = solve_tri(r, d, True, left=False)
    b = H(q) @ x
    low = tril(b, -1)
    skew = low - H(low)
    if is_complex(b):
        on = diag(b)
        skew = skew + diag_embed(on - (real(on) + like(0, b)))
    dr = (b - skew) @ r
    dq = x - q @ (b - skew)
    if m < n:
        dr = join([dr, H(dq) @ A[..., m:] + H(q) @ t[..., m:]], -1)
    return dq, dr


_qr = Op("linalg_qr", _qr_forward, vjp={"A": _qr_vjp}, jvp={"A": _qr_jvp}, outputs=2, result=linalg_qr_result)
trailing("linalg_qr", A=2)


def linalg_qr(A: Any, mode: str = "reduced", *, out: Any = None) -> Any:
    """Q with orthonormal columns and upper triangular R with A = Q R.

    `mode` is "reduced", "complete" (a square Q) or "r" (R alone, without derivatives).

    >>> import tidu as torch
    >>> Q, R = torch.linalg.qr(torch.tensor([[3., 1.], [4., 2.]]))
    >>> torch.allclose(Q @ R, torch.tensor([[3., 1.], [4., 2.]]))
    True
    """
    return _qr.call(A, mode, out=out)


def qr(input: Any, some: bool = True, *, out: Any = None) -> Any:
    """Q and R with A = Q R; torch.linalg.qr is the newer name."""
    r = qr_result(*_qr.call(input, "reduced" if some else "complete"))
    return r if out is None else into_pair("qr", out, r, qr_result)


# ------------------------------------------------------------------ singular values


def _svd_forward(A: Any, full_matrices: bool, compute_uv: bool) -> Any:
    check_matrix(A, "linalg.svd")
    check_floating(A, "linalg.svd", low=True)
    check_kernel(A, "linalg_svd_cpu")
    m, n = A.shape[-2:]
    k = min(m, n)
    real_dtype = A.real.dtype
    if not A.size:
        lead = A.shape[:-2]
        zeros = np.zeros((*lead, k), real_dtype)
        return _eyes(A, m, m if full_matrices else k), zeros, _eyes(A, n if full_matrices else k, n)
    try:
        if not compute_uv:
            s = over_batch(lambda a: np.linalg.svd(a, compute_uv=False), 0.04 * m * n, A)
            u = vh = np.empty((0, 0), A.dtype)
        else:
            u, s, vh = over_batch(lambda a: np.linalg.svd(a, full_matrices), 0.12 * m * n, A)
    except np.linalg.LinAlgError as error:
        if not np.isfinite(A).all():
            raise _svd_error(A) from None
        raise LinAlgError(
            "linalg.svd: The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
            "repeated singular values (error code: 1)."
        ) from error
    if not np.isfinite(s).all() and not np.isfinite(A).all():
        raise _svd_error(A)
    return columns(u), s, columns(vh)


def _eyes(a: Any, rows: int, cols: int) -> Any:
    """The orthonormal factor of empty matrices."""
    return columns(np.array(np.broadcast_to(np.eye(rows, cols, dtype=a.dtype), (*a.shape[:-2], rows, cols))))


def _svd_error(A: Any) -> LinAlgError:
    bad = np.flatnonzero(~np.isfinite(A).all((-2, -1)).reshape(-1))
    where = f": (Batch element {int(bad[0])})" if A.ndim > 2 else ""
    return LinAlgError(
        f"linalg.svd{where}: The algorithm failed to converge because the input matrix contained non-finite values."
    )


def _skew(x: Any) -> Any:
    return x - H(x)


def _svd_vjp(g0: Any, g1: Any, g2: Any, out0: Any, out1: Any, out2: Any, A_shape: Any) -> Any:
    """U (skew(U^H gU)/E S + S skew(V^H gV)/E + gS) V^H, and what leaves the spaces of U and V."""
    m, n = A_shape[-2:]
    s = out1
    k = s.shape[-1]
    u, vh = out0[..., :k], out2[..., :k, :]
    if _all_zero(g0) and _all_zero(g2):
        gs = g1 + like(0, u) if is_complex(u) else g1
        return (times_columns(u, gs) @ vh) if m >= n else u @ times_rows(gs, vh)
    if not k:
        return u @ vh
    gu, gvh = g0[..., :k], g2[..., :k, :]
    pu, pv = H(u) @ gu, H(gvh @ H(vh))
    if is_complex(u):
        _check_gauge(diag(pu + pv), "svd", "singular vectors")
    e = _gaps(s)
    off = like(1 - np.eye(k), s)
    inner = times_columns(_skew(pu) / e * off, s) + times_rows(s, _skew(pv) / e * off)
    middle = g1
    if is_complex(u):
        on = diag(pu)
        middle = g1 + (on - real(on)) / s
    inner = inner + diag_embed(middle)
    g = u @ inner @ vh
    if m > k:
        x = times_columns(gu, 1 / s)
        g = g + (x - u @ (H(u) @ x)) @ vh
    if n > k:
        y = times_rows(1 / s, gvh)
        g = g + u @ (y - (y @ H(vh)) @ vh)
    return g


def _all_zero(g: Any) -> bool:
    """Whether nothing reached an output: repeated values are no trouble then."""
    if type(g) is Tensor and g._node is None:
        g = g._a
    return isinstance(g, np.ndarray) and not g.any()


def _gaps(s: Any) -> Any:
    """s_k^2 - s_j^2 at (j, k), 1 on the diagonal, without cancellation."""
    n = s.shape[-1]
    lead = tuple(s.shape[:-1])
    total = s.reshape((*lead, 1, n)) + s.reshape((*lead, n, 1))
    return differences(s) * (total * like(1 - np.eye(n), s) + identity(n, s))


def _svd_jvp(t: Any, out0: Any, out1: Any, out2: Any, full_matrices: bool) -> Any:
    s = out1
    k = s.shape[-1]
    u, vh = out0[..., :k], out2[..., :k, :]
    v = H(vh)
    p = H(u) @ t @ v
    ds = real(diag(p))
    m, n = out0.shape[-2], out2.shape[-1]
    e = _gaps(s)
    off = like(1 - np.eye(k), s)
    ps, sp = times_columns(p, s), times_rows(s, p)
    du, dv = (ps + H(ps)) / e * off, (sp + H(sp)) / e * off
    if is_complex(u):
        on = diag(p)
        du = du + diag_embed((on - real(on)) / s)
    du, dvh = u @ du, H(dv) @ vh
    if m > k:
        x = times_columns(t @ v, 1 / s)
        du = du + x - u @ (H(u) @ x)
    if n > k:
        y = times_rows(1 / s, H(u) @ t)
        dvh = dvh + y - (y @ v) @ vh
    if full_matrices:  # the vectors that complete a basis are free: PyTorch says that they stay
        if m > k:
            du = join([du, out0[..., k:] * 0], -1)
        if n > k:
            dvh = join([dvh, out2[..., k:, :] * 0], -2)
    return du, ds, dvh


_svd = Op("linalg_svd", _svd_forward, vjp={"A": _svd_vjp}, jvp={"A": _svd_jvp}, outputs=3, result=linalg_svd_result)
trailing("linalg_svd", A=2)


def svd_value(a: Any) -> Any:
    return tuple(_svd.call(a, False, True))


def check_driver(driver: Any) -> None:
    if driver is not None:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."
        )


def linalg_svd(A: Any, full_matrices: bool = True, *, driver: str | None = None, out: Any = None) -> Any:
    """U, S, V^H with A = U diag(S) V^H, S falling.

    Gradients are finite where the singular values differ from each other and, if the matrix is not square, from zero;
    a loss must not depend on the phases (signs) of the vectors.

    >>> import tidu as torch
    >>> torch.linalg.svd(torch.tensor([[3., 0.], [0., 4.]])).S
    tensor([4., 3.])
    """
    check_driver(driver)
    return _svd.call(A, full_matrices, True, out=out)


def needs_vectors(a: Any) -> bool:
    """Whether a derivative of the values may be asked for, which takes the vectors."""
    return a.requires_grad or type(a) is not Tensor


def linalg_svdvals(A: Any, *, driver: str | None = None, out: Any = None) -> Any:
    """The singular values, falling."""
    check_driver(driver)
    r = _svd.call(A, False, needs_vectors(A))[1]
    return r if out is None else into("linalg_svdvals", out, r)


def svd(input: Any, some: bool = True, compute_uv: bool = True, *, out: Any = None) -> Any:
    """U, S, V with A = U diag(S) V^H; torch.linalg.svd is the newer name."""
    if input.ndim < 2:
        raise RuntimeError(
            f"linalg.svd: input should have at least 2 dimensions, but has {input.ndim} dimensions instead"
        )
    if compute_uv:
        u, s, vh = _svd.call(input, not some, True)
        v = vh.mH
    else:
        s = _svd.call(input, False, needs_vectors(input))[1]
        m, n = input.shape[-2:]
        lead = tuple(input.shape[:-2])
        u, v = input.new_zeros((*lead, m, m)), input.new_zeros((*lead, n, n))
    r = svd_result(u, s, v)
    return r if out is None else into_pair("svd", out, r, svd_result)


# ------------------------------------------------------------------ eigenvalues of hermitian matrices


def _eigh_forward(A: Any, UPLO: str, compute_v: bool) -> Any:
    check_square(A, "linalg.eigh")
    if UPLO not in ("L", "U", "l", "u"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    check_kernel(A, "linalg_eigh_cpu")
    try:
        cost = 0.08 * A.shape[-1] ** 2
        if compute_v:
            w, v = over_batch(lambda a: np.linalg.eigh(a, UPLO), cost, A)
        else:
            w, v = over_batch(lambda a: np.linalg.eigvalsh(a, UPLO), cost / 2, A), np.empty((0,), A.dtype)
    except np.linalg.LinAlgError:
        w = np.full(A.shape[:-1], np.nan)
        v = A
    if A.size and not np.isfinite(w).all():
        bad = np.flatnonzero(~np.isfinite(w).all(-1).reshape(-1))
        where = f" (Batch element {int(bad[0])}):" if A.ndim > 2 else ""
        raise LinAlgError(
            f"linalg.eigh:{where} The algorithm failed to converge because the input matrix is ill-conditioned or has "
            f"too many repeated eigenvalues (error code: {max(A.shape[-1] - 1, 1)})."
        )
    return w, (columns(v) if compute_v else v)


def _vectors_vjp(w: Any, v: Any, gw: Any, gv: Any) -> Any:
    p = H(v) @ gv
    if is_complex(v):
        _check_gauge(diag(p), "linalg_eigh", "eigenvectors")
    n = w.shape[-1]
    off = like(1 - np.eye(n), w)
    g = v @ (p / differences(w) * off + diag_embed(gw)) @ H(v)
    return (g + H(g)) * 0.5


def _eigh_vjp(g0: Any, g1: Any, out0: Any, out1: Any) -> Any:
    if _all_zero(g1):
        w = g0 + like(0, out1) if is_complex(out1) else g0
        return times_columns(out1, w) @ H(out1)
    return _vectors_vjp(out0, out1, g0, g1)


def _eigh_jvp(t: Any, out0: Any, out1: Any) -> Any:
    v = out1
    p = H(v) @ t @ v
    n = out0.shape[-1]
    off = like(1 - np.eye(n), out0)
    return real(diag(p)), v @ (p / differences(out0) * off)


_eigh = Op("linalg_eigh", _eigh_forward, vjp={"A": _eigh_vjp}, jvp={"A": _eigh_jvp}, outputs=2, result=eigh_result)
trailing("linalg_eigh", A=2)


def linalg_eigh(A: Any, UPLO: str = "L", *, out: Any = None) -> Any:
    """The eigenvalues, rising, and orthonormal eigenvectors of a hermitian matrix.

    `UPLO` says which triangle is read. A loss must not depend on the phases (signs) of the vectors.

    >>> import tidu as torch
    >>> torch.linalg.eigh(torch.tensor([[2., 0.], [0., 1.]])).eigenvalues
    tensor([1., 2.])
    """
    return _eigh.call(A, UPLO, True, out=out)


def linalg_eigvalsh(A: Any, UPLO: str = "L", *, out: Any = None) -> Any:
    """The eigenvalues of a hermitian matrix, rising."""
    r = _eigh.call(A, UPLO, needs_vectors(A))[0]
    return r if out is None else into("linalg_eigvalsh", out, r)


# ------------------------------------------------------------------ eigenvalues of any square matrix


def _eig_forward(A: Any, compute_v: bool, api: str) -> Any:
    if A.dtype.kind in "biu":
        from ._linalg import legacy

        raise RuntimeError(f"Unknown Complex ScalarType for {legacy(A)}")
    check_square(A, api)
    check_kernel(A, "linalg_eig_out_cpu")
    if not np.isfinite(A).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    wide = np.result_type(A.dtype, np.complex64)
    with few_threads(A):
        if not compute_v:
            return np.linalg.eigvals(A).astype(wide, copy=False), np.empty((0,), wide)
        w, v = np.linalg.eig(A)
    return w.astype(wide, copy=False), columns(v.astype(wide, copy=False))


def _eig_vjp(g0: Any, g1: Any, out0: Any, out1: Any) -> Any:
    v = out1
    if _all_zero(g1):
        return solve_value(H(v), times_rows(g0, H(v)))
    p = H(v) @ g1
    on = diag(p)
    _check_gauge(on, "linalg_eig", "eigenvectors")
    n = out0.shape[-1]
    off = like(1 - np.eye(n), out0)
    # An eigenvector's length is fixed, so what the loss says of it is taken out.
    r = p - times_columns(H(v) @ v, real(on))
    return solve_value(H(v), (r / conj(differences(out0)) * off + diag_embed(g0)) @ H(v))


def _eig_jvp(t: Any, out0: Any, out1: Any) -> Any:
    v = out1
    if not is_complex(t):
        t = t + like(0, v)
    p = solve_value(v, t @ v)
    n = out0.shape[-1]
    off = like(1 - np.eye(n), out0)
    d = v @ (p / differences(out0) * off)
    lengths = real((conj(v) * d).sum(-2))
    return diag(p), d - times_columns(v, lengths)


_eig = Op("linalg_eig", _eig_forward, vjp={"A": _eig_vjp}, jvp={"A": _eig_jvp}, outputs=2, result=eig_result)
trailing("linalg_eig", A=2)


def linalg_eig(A: Any, *, out: Any = None) -> Any:
    """The eigenvalues and eigenvectors (columns of length 1) of a square matrix, complex.

    >>> import tidu as torch
    >>> torch.linalg.eig(torch.tensor([[0., 1.], [-1., 0.]])).eigenvalues.imag.abs()
    tensor([1., 1.])
    """
    return _eig.call(A, True, "linalg.eig", out=out)


def linalg_eigvals(A: Any, *, out: Any = None) -> Any:
    """The eigenvalues of a square matrix, complex."""
    r = _eig.call(A, needs_vectors(A), "linalg.eig")[0]
    return r if out is None else into("linalg_eigvals", out, r)


by_columns(_qr, _svd, _eigh)
