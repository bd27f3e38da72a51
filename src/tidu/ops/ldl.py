"""LDL factorizations of symmetric and hermitian matrices, and what they solve."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.op import Op
from ..core.returns import return_type
from ._linalg import (
    INT32,
    broadcast_batches,
    by_columns,
    check_floating,
    check_kernel,
    check_same_dtype,
    check_solvable,
    check_square,
    columns,
    each,
    into_pair,
    lapack,
    legacy,
    trailing,
)
from .arithmetic import not_implemented

__all__: list[str] = []

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
    """The LDL factors of a symmetric (hermitian) matrix, packed, and its pivots. Source: torch.linalg.ldl_factor."""
    r = ldl_result(*_ldl.call(A, hermitian, True)[:2])
    return r if out is None else into_pair("linalg_ldl_factor", out, r, ldl_result)


def linalg_ldl_factor_ex(A: Any, *, hermitian: bool = False, check_errors: bool = False, out: Any = None) -> Any:
    """The same with LAPACK's code; no error unless asked for. Source: torch.linalg.ldl_factor_ex."""
    r = _ldl.call(A, hermitian, check_errors)
    return r if out is None else into_pair("linalg_ldl_factor_ex", out, r, ldl_ex_result)


def _ldl_solve_forward(LD: Any, pivots: Any, B: Any, *, hermitian: bool = False) -> Any:
    """The X with A X = B, of A's LDL factors. Source: torch.linalg.ldl_solve."""
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
