"""torch.linalg: linear algebra on LAPACK. The face of the families in ops/; nothing is defined here."""

from __future__ import annotations

from typing import Any as _Any

from .ops._linalg import LinAlgError
from .ops._public import LINALG as _LINALG
from .ops._public import publish as _publish

_ELSEWHERE = {
    "decompositions": "eig eigh eigvals eigvalsh qr svd svdvals",
    "lu": "ldl_factor ldl_factor_ex ldl_solve lu lu_factor lu_factor_ex lu_solve",
    "matmul": "matmul",
    "pseudoinverse": "cond lstsq matrix_norm matrix_rank norm pinv",
    "solvers": "det inv inv_ex slogdet solve solve_ex",
    "statistics": "vector_norm",
    "triangular": "cholesky cholesky_ex solve_triangular",
}
_publish(globals(), "linalg_", _LINALG, "matrix_functions", _ELSEWHERE)
__all__ = ["LinAlgError", *_LINALG]


def __getattr__(name: str) -> _Any:
    from .core.errors import missing_name

    raise missing_name(__name__, name)
