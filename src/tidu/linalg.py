"""torch.linalg: linear algebra on LAPACK. The face of the families in ops/; nothing is defined here."""

from __future__ import annotations

from .ops._linalg import LinAlgError
from .ops.decompositions import (
    linalg_eig as eig,
    linalg_eigh as eigh,
    linalg_eigvals as eigvals,
    linalg_eigvalsh as eigvalsh,
    linalg_qr as qr,
    linalg_svd as svd,
    linalg_svdvals as svdvals,
)
from .ops.householder import householder_product
from .ops.lu import (
    linalg_ldl_factor as ldl_factor,
    linalg_ldl_factor_ex as ldl_factor_ex,
    linalg_ldl_solve as ldl_solve,
    linalg_lu as lu,
    linalg_lu_factor as lu_factor,
    linalg_lu_factor_ex as lu_factor_ex,
    linalg_lu_solve as lu_solve,
)
from .ops.matmul import matmul
from .ops.matrix_functions import (
    linalg_cross as cross,
    linalg_diagonal as diagonal,
    linalg_matrix_exp as matrix_exp,
    linalg_matrix_power as matrix_power,
    linalg_multi_dot as multi_dot,
    linalg_vander as vander,
    tensorinv,
    tensorsolve,
    vecdot,
)
from .ops.matrix_norms import cond, matrix_norm, norm
from .ops.pseudoinverse import linalg_lstsq as lstsq, linalg_pinv as pinv, matrix_rank
from .ops.solvers import (
    linalg_det as det,
    linalg_inv as inv,
    linalg_inv_ex as inv_ex,
    linalg_slogdet as slogdet,
    linalg_solve as solve,
    linalg_solve_ex as solve_ex,
)
from .ops.statistics import vector_norm
from .ops.triangular import (
    linalg_cholesky as cholesky,
    linalg_cholesky_ex as cholesky_ex,
    linalg_solve_triangular as solve_triangular,
)

__all__ = [
    "LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh",
    "householder_product", "inv", "inv_ex", "ldl_factor", "ldl_factor_ex", "ldl_solve", "lstsq", "lu", "lu_factor",
    "lu_factor_ex", "lu_solve", "matmul", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm",
    "pinv", "qr", "slogdet", "solve", "solve_ex", "solve_triangular", "svd", "svdvals", "tensorinv", "tensorsolve",
    "vander", "vecdot", "vector_norm",
]  # fmt: skip
