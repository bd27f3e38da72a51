"""Approximations of low rank, by random subspaces (Halko, Martinsson and Tropp, 2009)."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from .decompositions import linalg_qr, linalg_svd
from .random import randn

__all__ = ["pca_lowrank", "svd_lowrank"]


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
    """U, S, V of a matrix (less M) of rank about q: the first q singular values and vectors. Source: torch.svd_lowrank.

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
    """Principal components: svd_lowrank of a matrix of samples in rows less their mean. Source: torch.pca_lowrank."""
    m, n = A.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean((-2,), True) if center else A, q, niter)
