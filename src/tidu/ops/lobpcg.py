"""A few extreme eigenpairs of symmetric matrices: torch.lobpcg's results, from the whole factorization."""

from __future__ import annotations

from typing import Any

from .decompositions import linalg_eigh
from .triangular import linalg_cholesky, solve_tri

__all__ = ["lobpcg"]


def lobpcg(
    A: Any, k: int | None = None, B: Any = None, X: Any = None, n: int | None = None, iK: Any = None,
    niter: int | None = None, tol: float | None = None, largest: bool | None = None, method: str | None = None,
    tracker: None = None, ortho_iparams: Any = None, ortho_fparams: Any = None, ortho_bparams: Any = None,
) -> tuple[Any, Any]:  # fmt: skip
    """The k largest (or smallest) eigenvalues of A x = lambda B x, and their vectors, which are B-orthonormal.

    Source: torch.lobpcg. A is symmetric, B (the identity unless given) positive definite, both perhaps batches. PyTorch
    iterates from a guess; here the whole matrix is factored, so that what concerns the iteration (X's values, iK,
    niter, tol, method, tracker and the ortho parameters) changes nothing, and derivatives hold for B too.

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
