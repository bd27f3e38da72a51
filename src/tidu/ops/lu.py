"""LU and LDL factorizations, and what they solve."""

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
    check_same_dtype,
    check_solvable,
    check_square,
    columns,
    each,
    into_pair,
    is_small,
    lapack,
    legacy,
    like,
    raise_for,
    small_lu,
    trailing,
)
from .arithmetic import not_implemented
from .decompositions import join
from .rearrange import tril, triu
from .triangular import solve_tri, substitute

__all__ = [
    "lu", "lu_solve", "lu_unpack",
]  # fmt: skip
METHODS = "lu lu_solve"

lu_result = return_type("linalg_lu", "P", "L", "U")
factor_result = return_type("linalg_lu_factor", "LU", "pivots")
factor_ex_result = return_type("linalg_lu_factor_ex", "LU", "pivots", "info")
unpack_result = return_type("lu_unpack", "P", "L", "U")
with_info_result = return_type("_lu_with_info", "LU", "pivots", "info")


# ------------------------------------------------------------------ kernels


def factorize(a: Any) -> tuple[Any, Any, Any]:
    """LU packed in one matrix, LAPACK's pivots (from 1), and its codes."""
    lead, (m, n) = a.shape[:-2], a.shape[-2:]
    if is_small(a):
        lu, pivots, info = small_lu(a)
        return columns(lu), pivots, info
    k = min(m, n)
    lu = np.array(a.mT, order="C")  # by columns: each is factorized where it lies
    pivots, info = np.zeros((*lead, k), INT32), np.zeros(lead, INT32)
    if k:
        getrf = lapack("getrf", a)
        each(lambda x: getrf(x.T, overwrite_a=1)[1:], lead, (pivots, info), lu)
        pivots += 1
    return lu.mT, pivots, info


def permutation(pivots: Any, m: int) -> Any:
    """The rows' order that the interchanges of pivots lead to."""
    lead = pivots.shape[:-1]
    if not pivots.size:
        return np.array(np.broadcast_to(np.arange(m), (*lead, m)))
    order = np.array(np.broadcast_to(np.arange(m), (*lead, m)))
    flat, piv = order.reshape(-1, m), np.asarray(pivots, np.int64).reshape(-1, pivots.shape[-1]) - 1
    rows = np.arange(len(flat))
    for i in range(piv.shape[-1]):
        j = piv[:, i]
        flat[rows, i], flat[rows, j] = flat[rows, j].copy(), flat[rows, i].copy()
    return order


def matrix_of(order: Any, dtype: Any) -> Any:
    """The P of A = P L U for such an order."""
    m = order.shape[-1]
    return np.ascontiguousarray(np.eye(m, dtype=dtype)[order].mT)


_permutation = Op(
    "_permutation_of_pivots",
    lambda pivots, LU: matrix_of(permutation(pivots, LU.shape[-2]), LU.dtype),
    tensors=("pivots", "LU"),
    out_arg=False,
)
trailing("_permutation_of_pivots", pivots=1, LU=2)


def unit_lower(x: Any) -> Any:
    """L of a packed LU."""
    m, n = x.shape[-2:]
    k = min(m, n)
    low = tril(x[..., :k], -1)
    eye = np.eye(m, k)
    return low + like(eye, x)


def upper_part(x: Any) -> Any:
    """U of a packed LU."""
    return triu(x[..., : min(x.shape[-2:]), :])


# ------------------------------------------------------------------ derivatives


def lu_cotangent(gl: Any, gu: Any, low: Any, up: Any) -> Any:
    """The cotangent of P^T A from those of its factors."""
    m, n = low.shape[-2], up.shape[-1]
    k = low.shape[-1]
    l1, u1 = low[..., :k, :], up[..., :k]
    x, y = H(l1) @ gl[..., :k, :], gu[..., :k] @ H(u1)
    right = below = None
    if n > k:  # U = [U1 U2], U2 = L^-1 A2
        right = solve_tri(H(l1), gu[..., k:], True, unit=True)
        x = x - gu[..., k:] @ H(up[..., k:])
    if m > k:  # L = [L1; L2], L2 = A2 U^-1
        below = solve_tri(H(u1), gl[..., k:, :], False, left=False)
        y = y - H(low[..., k:, :]) @ gl[..., k:, :]
    s = tril(x, -1) + triu(y)
    s = solve_tri(H(l1), s, True, unit=True)
    s = solve_tri(H(u1), s, False, left=False)
    if right is not None:
        return join([s, right], -1)
    return s if below is None else join([s, below], -2)


def lu_tangents(d: Any, low: Any, up: Any) -> tuple[Any, Any]:
    """The tangents of the factors from that of P^T A."""
    m, n, k = low.shape[-2], up.shape[-1], low.shape[-1]
    l1, u1 = low[..., :k, :], up[..., :k]
    f = solve_tri(l1, d[..., :k, :k], False, unit=True)
    f = solve_tri(u1, f, True, left=False)
    dl, du = l1 @ tril(f, -1), triu(f) @ u1
    if m > k:
        rest = solve_tri(u1, d[..., k:, :] - low[..., k:, :] @ du, True, left=False)
        dl = join([dl, rest], -2)
    if n > k:
        rest = solve_tri(l1, d[..., k:] - dl @ up[..., k:], False, unit=True)
        du = join([du, rest], -1)
    return dl, du


def _pivotless(pivot: bool) -> None:
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")


def _check_lu(a: Any, name: str) -> None:
    if a.ndim < 2:
        raise RuntimeError(f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(a.shape)} instead")
    check_kernel(a, "lu_cpu")


# ------------------------------------------------------------------ P, L, U


def _lu_forward(A: Any, *, pivot: bool = True) -> Any:
    """P, L, U with A = P L U."""
    _check_lu(A, "linalg.lu")
    _pivotless(pivot)
    packed, pivots, _ = factorize(A)
    p = matrix_of(permutation(pivots, A.shape[-2]), A.dtype)
    return p, unit_lower(np.ascontiguousarray(packed)), upper_part(np.ascontiguousarray(packed))


_lu = Op(
    "linalg_lu",
    _lu_forward,
    vjp={"A": lambda g1, g2, out0, out1, out2: out0 @ lu_cotangent(g1, g2, out1, out2)},
    jvp={"A": lambda t, out0, out1, out2: (out0 * 0, *lu_tangents(H(out0) @ t, out1, out2))},
    outputs=3,
    nondiff=(0,),
    result=lu_result,
)
trailing("linalg_lu", A=2)


def linalg_lu(A: Any, *, pivot: bool = True, out: Any = None) -> Any:
    """P, L, U with A = P L U: a permutation, unit lower and upper triangular.

    >>> import tidu as torch
    >>> P, L, U = torch.linalg.lu(torch.tensor([[1., 2.], [4., 2.]]))
    >>> U
    tensor([[4.0000, 2.0000],
            [0.0000, 1.5000]])
    """
    return _lu.call(A, pivot, out=out)


# ------------------------------------------------------------------ packed


def _factor_forward(A: Any, pivot: bool, check_errors: bool, api: str) -> Any:
    _check_lu(A, "torch.lu_factor")
    _pivotless(pivot)
    packed, pivots, info = factorize(A)
    if check_errors:
        raise_for(info, api, "lu_factor")
    return packed, pivots, info


def _factor_vjp(g0: Any, out0: Any, out1: Any) -> Any:
    low, up = unit_lower(out0), upper_part(out0)
    k = low.shape[-1]
    return _permutation.call(out1, out0) @ lu_cotangent(tril(g0[..., :k], -1), upper_part(g0), low, up)


def _packed(low: Any, up: Any) -> Any:
    """The tangents of L and U in the places of a packed LU."""
    m, n, k = low.shape[-2], up.shape[-1], low.shape[-1]
    if m > k:
        return join([tril(low, -1)[..., :k, :] + up, low[..., k:, :]], -2)
    if n > k:
        return join([tril(low, -1) + up[..., :k], up[..., k:]], -1)
    return tril(low, -1) + up


def _factor_jvp(t: Any, out0: Any, out1: Any, out2: Any) -> Any:
    p = _permutation.call(out1, out0)
    return _packed(*lu_tangents(H(p) @ t, unit_lower(out0), upper_part(out0))), out1, out2


_factor = Op(
    "linalg_lu_factor_ex",
    _factor_forward,
    vjp={"A": _factor_vjp},
    jvp={"A": _factor_jvp},
    outputs=3,
    nondiff=(1, 2),
    result=factor_ex_result,
)
trailing("linalg_lu_factor_ex", A=2)


def linalg_lu_factor(A: Any, *, pivot: bool = True, out: Any = None) -> Any:
    """L and U packed in one matrix, and the pivots: what lu_solve takes."""
    r = factor_result(*_factor.call(A, pivot, True, "torch.linalg.lu_factor")[:2])
    return r if out is None else into_pair("linalg_lu_factor", out, r, factor_result)


def linalg_lu_factor_ex(A: Any, *, pivot: bool = True, check_errors: bool = False, out: Any = None) -> Any:
    """The same with LAPACK's code; no error unless asked for."""
    r = _factor.call(A, pivot, check_errors, "torch.linalg.lu_factor_ex")
    return r if out is None else into_pair("linalg_lu_factor_ex", out, r, factor_ex_result)


def lu(A: Any, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:
    """L and U packed, and the pivots; torch.linalg.lu_factor is the newer name."""
    r = _factor.call(A, pivot, False, "lu")
    r = tuple(r) if get_infos else tuple(r[:2])
    if out is not None:
        for o, v in zip(out, r, strict=True):
            o.resize_as_(v).copy_(v)
        return out
    return with_info_result(*r) if get_infos else r


def method_lu(self: Any, pivot: bool = True, get_infos: bool = False) -> Any:
    """L and U packed, and the pivots."""
    return tuple(lu(self, pivot, get_infos))


def _unpack_forward(LU_data: Any, LU_pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """P, L, U of a packed LU and its pivots."""
    if LU_data.ndim < 2:
        raise RuntimeError(
            f"torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: {list(LU_data.shape)} instead"
        )
    if unpack_pivots and LU_pivots.dtype != INT32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
            "Note: this function is intended to be used with the output produced by torch.linalg.lu_factor"
        )
    empty = np.empty((0,), LU_data.dtype)
    p, low, up = empty, empty, empty
    m = LU_data.shape[-2]
    if unpack_pivots:
        if LU_pivots.size and (LU_pivots.min() < 1 or LU_pivots.max() > m):
            raise RuntimeError(
                "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive.Did you properly pass the "
                "result of lu_factor?"
            )
        p = matrix_of(permutation(LU_pivots, m), LU_data.dtype)
    if unpack_data:
        low, up = unit_lower(LU_data), upper_part(LU_data)
    return p, low, up


def _unpack_vjp(g1: Any, g2: Any, LU_data_shape: Any, unpack_data: bool) -> Any:
    m, n = LU_data_shape[-2:]
    if not unpack_data:
        return None
    if m > n:
        return join([tril(g1, -1)[..., :n, :] + triu(g2), g1[..., n:, :]], -2)
    if n > m:
        return join([tril(g1, -1) + triu(g2[..., :m]), g2[..., m:]], -1)
    return tril(g1, -1) + triu(g2)


lu_unpack = Op(
    "lu_unpack",
    _unpack_forward,
    vjp={"LU_data": _unpack_vjp},
    jvp={
        "LU_data": lambda t, out0, out1, out2: (
            (out0 * 0, tril(t[..., : min(t.shape[-2:])], -1), upper_part(t)) if out1.ndim > 1 else (out0, out1, out2)
        )
    },
    tensors=("LU_data", "LU_pivots"),
    outputs=3,
    nondiff=(0,),
    result=unpack_result,
).call
trailing("lu_unpack", LU_data=2, LU_pivots=1)


# ------------------------------------------------------------------ solving


def _lu_solve_forward(LU: Any, pivots: Any, B: Any, *, left: bool = True, adjoint: bool = False) -> Any:
    """The X with A X = B (X A = B unless `left`; A^H if `adjoint`), of A's packed LU."""
    name = "linalg.lu_solve"
    check_floating(LU, "torch." + name, low=True)
    if pivots.dtype != INT32:
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type torch.int32")
    check_same_dtype(LU, B, name, "LU")
    check_square(LU, name, "LU")
    check_matrix(B, name, "B")
    check_solvable(LU, B, left, name)
    if pivots.shape[-1:] != LU.shape[-1:]:
        raise RuntimeError(f"{name}: Number of pivots per batch should be same as the dimension of the matrix")
    if LU.shape[:-1] != pivots.shape:
        raise RuntimeError(
            f"{name}: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{list(pivots.shape)} instead"
        )
    broadcast_batches(LU, B)
    check_kernel(LU, "linalg.lu_solve_cpu")
    if not left:  # X A = B: A^H X^H = B^H
        return H(_lu_solve_left(LU, pivots, H(B), not adjoint))
    return columns(_lu_solve_left(LU, pivots, B, adjoint))


def _lu_solve_left(LU: Any, pivots: Any, b: Any, adjoint: bool) -> Any:
    n = LU.shape[-1]
    order = permutation(pivots, n)
    lead = broadcast_batches(LU, b)
    b = np.broadcast_to(b, (*lead, *b.shape[-2:]))
    order = np.broadcast_to(order, (*lead, n))[..., None]
    if not adjoint:
        y = substitute(LU, np.take_along_axis(b, order, -2), False, True)
        return substitute(LU, y, True, False)
    y = substitute(H(LU), b, False, False)
    y = substitute(H(LU), y, True, True)
    x = np.empty_like(y)
    np.put_along_axis(x, order, y, -2)
    return x


def _lu_solve_right(g: Any, LU: Any, pivots: Any, B_shape: Any, left: bool, adjoint: bool) -> Any:
    return sum_to(linalg_lu_solve(LU, pivots, g, left=left, adjoint=not adjoint), B_shape)


def _lu_solve_factors(g: Any, LU: Any, pivots: Any, out: Any, LU_shape: Any, left: bool, adjoint: bool) -> Any:
    s = linalg_lu_solve(LU, pivots, g, left=left, adjoint=not adjoint)
    ga = s @ H(out) if left else H(out) @ s
    ga = -(H(ga) if adjoint else ga)
    ga = H(_permutation.call(pivots, LU)) @ ga
    return sum_to(tril(ga @ H(upper_part(LU)), -1) + triu(H(unit_lower(LU)) @ ga), LU_shape)


def _lu_solve_jvp(LU: Any, pivots: Any, B: Any, out: Any, t_LU: Any, t_B: Any, left: bool, adjoint: bool) -> Any:
    right = t_B
    if t_LU is not None:
        da = _permutation.call(pivots, LU) @ (tril(t_LU, -1) @ upper_part(LU) + unit_lower(LU) @ triu(t_LU))
        da = H(da) if adjoint else da
        change = da @ out if left else out @ da
        right = -change if right is None else right - change
    return linalg_lu_solve(LU, pivots, right, left=left, adjoint=adjoint)


linalg_lu_solve = Op(
    "linalg_lu_solve",
    _lu_solve_forward,
    vjp={"LU": _lu_solve_factors, "B": _lu_solve_right},
    jvp=_lu_solve_jvp,
    tensors=("LU", "pivots", "B"),
).call
trailing("linalg_lu_solve", LU=2, pivots=1, B=2)


def lu_solve(b: Any, LU_data: Any, LU_pivots: Any, *, out: Any = None) -> Any:
    """The X with A X = b, of A's packed LU; torch.linalg.lu_solve is the newer name."""
    return linalg_lu_solve(LU_data, LU_pivots, b, out=out)


by_columns(_factor, linalg_lu_solve)

ldl_result = return_type("linalg_ldl_factor", "LD", "pivots")
ldl_ex_result = return_type("linalg_ldl_factor_ex", "LD", "pivots", "info")


def _ldl_forward(A: Any, hermitian: bool, check_errors: bool) -> Any:
    name = "torch.linalg.ldl_factor_ex"
    check_square(A, name)
    check_floating(A, name, low=True)
    check_kernel(A, "ldl_factor_kernel_cpu")
    lead, n = A.shape[:-2], A.shape[-1]
    ld, pivots, info = np.empty(A.shape, A.dtype), np.zeros((*lead, n), INT32), np.zeros(lead, INT32)
    if A.size:
        routine = "hetrf" if hermitian and A.dtype.kind == "c" else "sytrf"
        trf = lapack(routine, A)

        def one(x: Any) -> Any:
            f, p, code = trf(np.tril(x), lower=1)
            return np.tril(f), p, code

        each(one, lead, (ld, pivots, info), A)
    if check_errors and info.any():
        code = int(info.reshape(-1)[np.flatnonzero(info.reshape(-1))[0]])
        raise RuntimeError(f"torch.linalg.ldl_factor: Unknown error code: {code}.")
    return columns(ld), pivots, info


_ldl = Op(
    "linalg_ldl_factor_ex",
    _ldl_forward,
    vjp={"A": not_implemented("linalg_ldl_factor_ex")},
    node="NotImplemented",
    outputs=3,
    nondiff=(1, 2),
    result=ldl_ex_result,
)
trailing("linalg_ldl_factor_ex", A=2)


def linalg_ldl_factor(A: Any, *, hermitian: bool = False, out: Any = None) -> Any:
    """The LDL factors of a symmetric (hermitian) matrix, packed, and its pivots."""
    r = ldl_result(*_ldl.call(A, hermitian, True)[:2])
    return r if out is None else into_pair("linalg_ldl_factor", out, r, ldl_result)


def linalg_ldl_factor_ex(A: Any, *, hermitian: bool = False, check_errors: bool = False, out: Any = None) -> Any:
    """The same with LAPACK's code; no error unless asked for."""
    r = _ldl.call(A, hermitian, check_errors)
    return r if out is None else into_pair("linalg_ldl_factor_ex", out, r, ldl_ex_result)


def _ldl_solve_forward(LD: Any, pivots: Any, B: Any, *, hermitian: bool = False) -> Any:
    """The X with A X = B, of A's LDL factors."""
    name = "torch.linalg.ldl_solve"
    check_square(LD, name, "LD")
    check_floating(LD, name, low=True)
    if B.ndim < 2:
        raise IndexError(f"Dimension out of range (expected to be in range of [-{B.ndim}, {B.ndim - 1}], but got -2)")
    check_solvable(LD, B, True, name)
    check_same_dtype(LD, B, name, "LD")
    if pivots.dtype.kind not in "iu":
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {legacy(pivots)}")
    if LD.shape[:-1] != pivots.shape:
        raise RuntimeError(
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{list(pivots.shape)} instead"
        )
    check_kernel(LD, "ldl_solve_kernel_cpu")
    lead = broadcast_batches(LD, B)
    x = np.empty((*lead, *B.shape[-2:]), B.dtype)
    if x.size:
        full = [np.broadcast_to(v, (*lead, *v.shape[v.ndim - k :])) for v, k in ((LD, 2), (pivots, 1), (B, 2))]
        each(lambda f, p, b: (_ldl_solve_one(f, p, b, hermitian),), lead, (x,), *full)
    return columns(x)


def _ldl_solve_one(ld: Any, pivots: Any, b: Any, hermitian: bool) -> Any:
    """A = P L D L^T P^T: interchanges, multipliers and blocks of D in the order in which LAPACK applied them."""
    x = np.array(b)
    n = len(ld)
    flip = (lambda v: v.conj()) if hermitian else (lambda v: v)
    blocks = []
    i = 0
    while i < n:
        width = 1 if pivots[i] > 0 else 2
        at = i + width - 1
        p = abs(int(pivots[i])) - 1
        x[[at, p]] = x[[p, at]]
        d = ld[i : i + width, i : i + width].copy()
        if width == 2:
            d[0, 1] = flip(d[1, 0])
        low = ld[i + width :, i : i + width]
        x[i + width :] -= low @ x[i : i + width]
        x[i : i + width] = np.linalg.solve(d, x[i : i + width])
        blocks.append((i, width, at, p, low))
        i += width
    for i, width, at, p, low in reversed(blocks):
        x[i : i + width] -= flip(low.T) @ x[i + width :]
        x[[at, p]] = x[[p, at]]
    return x


linalg_ldl_solve = Op(
    "linalg_ldl_solve",
    _ldl_solve_forward,
    vjp={"LD": not_implemented("linalg_ldl_solve"), "B": not_implemented("linalg_ldl_solve")},
    tensors=("LD", "pivots", "B"),
    node="NotImplemented",
).call
trailing("linalg_ldl_solve", LD=2, pivots=1, B=2)

by_columns(_ldl, linalg_ldl_solve)
