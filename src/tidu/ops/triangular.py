"""Cholesky's factor, and systems with triangular matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.broadcast import sum_to
from ..core.op import Op
from ..naming import return_type
from ._linalg import (
    INT32,
    H,
    broadcast_batches,
    by_columns,
    check_floating,
    check_kernel,
    check_matrix,
    check_solvable,
    check_square,
    columns,
    each,
    few_threads,
    identity,
    into,
    into_pair,
    lapack,
    legacy,
    like,
    raise_for,
    trailing,
)
from .rearrange import tril, triu
from .reduction import into as plain_into

__all__ = ["cholesky", "cholesky_inverse", "cholesky_solve", "triangular_solve"]
METHODS = "*"

cholesky_ex_result = return_type("linalg_cholesky_ex", "L", "info")
triangular_result = return_type("triangular_solve", "solution", "cloned_coefficient")


# ------------------------------------------------------------------ Cholesky's factor


def factor(a: Any, upper: bool) -> tuple[Any, Any]:
    """The factors of positive-definite matrices, of which one triangle is read, and LAPACK's codes."""
    info = np.zeros(a.shape[:-2], INT32)
    try:
        with few_threads(a):
            r = np.linalg.cholesky(H(a) if upper else a)
        return (H(r) if upper else columns(r)), _with_nans(r, info)
    except np.linalg.LinAlgError:
        out = np.empty_like(a, order="C")
    potrf = lapack("potrf", a)
    each(lambda m: potrf(m, lower=not upper, clean=True), a.shape[:-2], (out, info), a)
    return columns(out), _with_nans(out, info)


def _with_nans(factor: Any, info: Any) -> Any:
    """The codes, with those of matrices in which a NaN came to the diagonal, which not every LAPACK minds.

    Below a NaN, and so in the last place, there are only NaNs.
    """
    if factor.shape[-1] == 0 or not np.isnan(factor[..., -1, -1]).any():
        return info
    nan = np.isnan(np.diagonal(factor, axis1=-2, axis2=-1))
    return np.where((info == 0) & nan.any(-1), nan.argmax(-1) + 1, info).astype(INT32)


def _cholesky_ex(A: Any, upper: bool, check_errors: bool, api: str) -> Any:
    name = "cholesky" if api == "cholesky" else "linalg.cholesky"
    check_square(A, name)
    if api != "cholesky":
        check_floating(A, name, low=True)
    check_kernel(A, "cholesky_cpu")
    r, info = factor(A, upper)
    if check_errors:
        raise_for(info, api, "cholesky")
    return r, info


def _halved(x: Any) -> Any:
    """The lower triangle with half of the diagonal."""
    n = x.shape[-1]
    return x * like(np.tri(n) - 0.5 * np.eye(n), x)


def _cholesky_vjp(g0: Any, out0: Any, upper: bool) -> Any:
    """L^-H P L^-1 / 2, where P has the lower triangle of L^H g on both sides of its diagonal."""
    lower = H(out0) if upper else out0
    g = H(g0) if upper else g0
    p = _halved(H(lower) @ g) * 0.5
    p = p + H(p)
    if p.ndim > 2 and p.shape[-1] <= 64:  # products take a fraction of the time of substitutions
        inverse = solve_tri(lower, identity(p.shape[-1], p), False)
        return H(inverse) @ p @ inverse
    return solve_tri(lower, solve_tri(H(lower), p, True), False, left=False)


def _cholesky_jvp(t: Any, out0: Any, out1: Any, upper: bool) -> Any:
    """L Phi(L^-1 dA L^-H)."""
    lower = H(out0) if upper else out0
    s = solve_tri(lower, t, False)
    s = solve_tri(H(lower), s, True, left=False)
    d = lower @ _halved(s)
    return (H(d) if upper else d), out1


def _cholesky_op(name: str, node: str) -> Op:
    return Op(
        name,
        _cholesky_ex,
        vjp={"A": _cholesky_vjp},
        jvp={"A": _cholesky_jvp},
        node=node,
        outputs=2,
        nondiff=(1,),
        result=cholesky_ex_result,
    )


_cholesky = _cholesky_op("linalg_cholesky_ex", "LinalgCholeskyExBackward0")
_old_cholesky = _cholesky_op("cholesky", "CholeskyBackward0")
trailing("linalg_cholesky_ex", "cholesky", A=2)


def linalg_cholesky(A: Any, *, upper: bool = False, out: Any = None) -> Any:
    """The lower triangular L with A = L L^H, or U = L^H with A = U^H U; A is hermitian and positive-definite.

    Only the triangle asked for is read. Raises LinAlgError where A is not positive-definite.

    >>> import tidu as torch
    >>> torch.linalg.cholesky(torch.tensor([[4., 2.], [2., 2.]]))
    tensor([[2., 0.],
            [1., 1.]])
    """
    r = _cholesky.call(A, upper, True, "linalg.cholesky")[0]
    return r if out is None else into("linalg_cholesky", out, r)


def linalg_cholesky_ex(A: Any, *, upper: bool = False, check_errors: bool = False, out: Any = None) -> Any:
    """Cholesky's factor and LAPACK's code; no error unless asked for."""
    r = _cholesky.call(A, upper, check_errors, "linalg.cholesky_ex")
    return r if out is None else into_pair("linalg_cholesky_ex", out, r, cholesky_ex_result)


def cholesky(input: Any, upper: bool = False, *, out: Any = None) -> Any:
    """Cholesky's factor; torch.linalg.cholesky is the newer name."""
    r = _old_cholesky.call(input, upper, True, "cholesky")[0]
    return r if out is None else plain_into("cholesky", out, r)


def _cholesky_solve_forward(B: Any, L: Any, upper: bool = False) -> Any:
    """The X with A X = B, of Cholesky's factor of A."""
    for v, n in ((B, "b"), (L, "u")):
        if v.ndim < 2:
            raise RuntimeError(f"{n} should have at least 2 dimensions, but has {v.ndim} dimensions instead")
    _check_old(B, L, "cholesky_solve")
    broadcast_batches(L, B)
    check_kernel(B, "cholesky_solve_cpu")
    lower = H(L) if upper else L
    y = solve_tri(np.tril(lower), B, False)
    return columns(solve_tri(H(np.tril(lower)), y, True))


def _check_old(b: Any, a: Any, name: str) -> None:
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {legacy(b)} and A of type "
            f"{legacy(a)} instead."
        )
    if a.shape[-1] != a.shape[-2]:
        raise RuntimeError(
            f"A must be batches of square matrices, but they are {a.shape[-2]} by {a.shape[-1]} matrices"
        )
    if a.shape[-1] != b.shape[-2]:
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {a.shape[-1]} by {a.shape[-1]} but each b matrix "
            f"is {b.shape[-2]} by {b.shape[-1]}"
        )


def _of_factor(common: Any, L: Any, upper: bool) -> Any:
    common = common + H(common)
    return L @ common if upper else common @ L


cholesky_solve = Op(
    "cholesky_solve",
    _cholesky_solve_forward,
    vjp={
        "B": lambda g, L, upper, B_shape: sum_to(cholesky_solve(g, L, upper), B_shape),
        "L": lambda g, L, out, upper, L_shape: sum_to(
            -_of_factor(cholesky_solve(g, L, upper) @ H(out), L, upper), L_shape
        ),
    },
    jvp={
        "B": lambda t, L, upper: cholesky_solve(t, L, upper),
        "L": lambda t, L, out, upper: -cholesky_solve((H(t) @ (L @ out) + H(L) @ (t @ out)) if upper else
                                                      (t @ (H(L) @ out) + L @ (H(t) @ out)), L, upper),
    },
).call  # fmt: skip
trailing("cholesky_solve", B=2, L=2)


def _cholesky_inverse_forward(L: Any, upper: bool = False) -> Any:
    """The inverse of a matrix by its Cholesky factor."""
    check_square(L, "cholesky_inverse")
    check_kernel(L, "cholesky_inverse_out_cpu")
    d = np.diagonal(L, 0, -2, -1) == 0
    if d.size:
        raise_for(np.where(d.any(-1), d.argmax(-1) + 1, 0), "cholesky_inverse", "inv")
    lower = np.tril(H(L) if upper else L)
    r = solve_tri(lower, identity(L.shape[-1], L), False)
    return columns(H(r) @ r)


cholesky_inverse = Op(
    "cholesky_inverse",
    _cholesky_inverse_forward,
    vjp={"L": lambda g, L, out, upper: -_of_factor(out @ (g @ out), L, upper)},
    jvp={
        "L": lambda t, L, out, upper: -(out @ (H(t) @ L + H(L) @ t if upper else t @ H(L) + L @ H(t)) @ out)
    },
).call  # fmt: skip
trailing("cholesky_inverse", L=2)


# ------------------------------------------------------------------ triangular systems


def substitute(a: Any, b: Any, upper: bool, unit: bool) -> Any:
    """The X with A X = B, A triangular: matrix by matrix, or row by row over all of them, whichever takes less time."""
    lead = broadcast_batches(a, b)
    n, k = b.shape[-2:]
    if a.ndim == 2 and b.ndim > 2 and b.size:  # one matrix for all: one wide right-hand side
        wide = np.moveaxis(b, -2, 0)
        x = substitute(a, wide.reshape(n, -1), upper, unit)
        return np.moveaxis(x.reshape(wide.shape), 0, -2)
    a, b = np.broadcast_to(a, (*lead, n, n)), np.broadcast_to(b, (*lead, n, k))
    count = int(np.prod(lead, dtype=np.int64))
    if not count or not n or not k:
        return np.zeros(b.shape, b.dtype)
    with np.errstate(all="ignore"):
        one_by_one, by_rows = count * (3 + 1e-4 * n * n * k), n * (9 + 6.5e-4 * count * n * k)  # microseconds
        if one_by_one <= by_rows:
            x = _one_by_one(a.reshape(count, n, n), b.reshape(count, n, k), upper, unit)
            if x is not None:
                return x.reshape(*lead, k, n).mT
        x = np.array(b)
        for i in range(n - 1, -1, -1) if upper else range(n):
            if not unit:
                x[..., i, :] /= a[..., i, i, None]
            rest = slice(0, i) if upper else slice(i + 1, n)
            x[..., rest, :] -= a[..., rest, i, None] * x[..., None, i, :]
        return x


def _one_by_one(a: Any, b: Any, upper: bool, unit: bool) -> Any:
    """The transposed solutions, each found where it lies; None if a matrix is singular."""
    trtrs = lapack("trtrs", a, b)
    x = np.array(b.mT, order="C")
    with few_threads(a):
        for m, v in zip(a, x, strict=True):
            if m.flags.f_contiguous:
                code = trtrs(m, v.T, not upper, 0, unit, overwrite_b=1)[1]
            else:  # the transposed one is: nothing is copied
                code = trtrs(m.T, v.T, upper, 1, unit, overwrite_b=1)[1]
            if code:
                return None
    return x


def _solve_triangular(A: Any, B: Any, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:
    """The X with A X = B, or X A = B unless `left`; of A one triangle is read.

    `unitriangular` takes the diagonal for ones. A zero on it gives infinities, not an error.
    """
    check_square(A, "linalg.solve_triangular")
    check_matrix(B, "linalg.solve_triangular", "B")
    B = B if B.dtype == A.dtype else B.astype(A.dtype)
    check_solvable(A, B, left, "linalg.solve_triangular")
    broadcast_batches(A, B)
    check_kernel(A, "triangular_solve_cpu")
    if left:
        return columns(substitute(A, B, upper, unitriangular))
    return columns(substitute(A.mT, B.mT, not upper, unitriangular).mT)


def solve_tri(a: Any, b: Any, upper: bool, left: bool = True, unit: bool = False) -> Any:
    return linalg_solve_triangular(a, b, upper=upper, left=left, unitriangular=unit)


def triangle(x: Any, upper: bool, unit: bool) -> Any:
    return triu(x, int(unit)) if upper else tril(x, -int(unit))


def _triangular_vjp(
    g: Any, A: Any, out: Any, upper: bool, left: bool, unitriangular: bool, A_shape: Any, B_shape: Any, needs: Any
) -> Any:
    s = solve_tri(H(A), g, not upper, left, unitriangular)
    ga = None
    if needs[0]:
        ga = sum_to(triangle(-(s @ H(out)) if left else -(H(out) @ s), upper, unitriangular), A_shape)
    return ga, sum_to(s, B_shape) if needs[1] else None


def _triangular_jvp(A: Any, out: Any, t_A: Any, t_B: Any, upper: bool, left: bool, unitriangular: bool) -> Any:
    right = t_B
    if t_A is not None:
        d = triangle(t_A, upper, unitriangular)
        change = d @ out if left else out @ d
        right = -change if right is None else right - change
    return solve_tri(A, right, upper, left, unitriangular)


linalg_solve_triangular = Op(
    "linalg_solve_triangular", _solve_triangular, vjp=_triangular_vjp, jvp=_triangular_jvp, tensors=("A", "B")
).call
trailing("linalg_solve_triangular", A=2, B=2)


def _old_triangular(b: Any, A: Any, upper: bool, transpose: bool, unitriangular: bool) -> Any:
    for v, n in ((b, "b"), (A, "A")):
        if v.ndim < 2:
            raise RuntimeError(
                f"torch.triangular_solve: Expected {n} to have at least 2 dimensions, but it has "
                f"{v.ndim} dimensions instead"
            )
    _check_old(b, A, "triangular_solve")
    lead = broadcast_batches(A, b)
    check_kernel(A, "triangular_solve_cpu")
    a = np.broadcast_to(A, (*lead, *A.shape[-2:]))
    m = a.mT if transpose else a
    x = columns(substitute(m, b, upper != transpose, unitriangular))
    return x, np.array(a.mT, order="C").mT  # a clone


def _old_vjp(
    g0: Any, g1: Any, A: Any, out0: Any, A_shape: Any, b_shape: Any, upper: bool, transpose: bool,
    unitriangular: bool, needs: Any,
) -> Any:  # fmt: skip
    m = A.mT if transpose else A
    s = solve_tri(H(m), g0, upper == transpose, True, unitriangular)
    ga = None
    if needs[1]:
        full = -(s @ H(out0))
        ga = sum_to(triangle(full.mT if transpose else full, upper, unitriangular) + g1, A_shape)
    return sum_to(s, b_shape) if needs[0] else None, ga


def _old_jvp(A: Any, out0: Any, t_A: Any, t_b: Any, upper: bool, transpose: bool, unitriangular: bool) -> Any:
    right = t_b
    if t_A is not None:
        d = triangle(t_A, upper, unitriangular)
        change = (d.mT if transpose else d) @ out0
        right = -change if right is None else right - change
    m = A.mT if transpose else A
    kept = out0.new_zeros((*tuple(out0.shape[:-2]), *tuple(A.shape[-2:]))) if t_A is None else t_A
    return solve_tri(m, right, upper != transpose, True, unitriangular), kept


_triangular = Op(
    "triangular_solve",
    _old_triangular,
    vjp=_old_vjp,
    jvp=_old_jvp,
    tensors=("b", "A"),
    outputs=2,
    result=triangular_result,
)
trailing("triangular_solve", b=2, A=2)


def triangular_solve(
    b: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False, *, out: Any = None
) -> Any:
    """The solution of a triangular system and a copy of A."""
    return _triangular.call(b, A, upper, transpose, unitriangular, out=out)


by_columns(linalg_solve_triangular, _triangular)
