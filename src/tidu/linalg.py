"""torch.linalg: linear algebra on LAPACK. The face of the families in ops/; nothing is defined here."""

from __future__ import annotations

from .ops._linalg import LinAlgError
from .ops._public import LINALG as _LINALG
from .ops._public import publish as _publish
from .ops.decompositions import linalg_eig as eig
from .ops.decompositions import linalg_eigh as eigh
from .ops.decompositions import linalg_eigvals as eigvals
from .ops.decompositions import linalg_eigvalsh as eigvalsh
from .ops.decompositions import linalg_qr as qr
from .ops.decompositions import linalg_svd as svd
from .ops.decompositions import linalg_svdvals as svdvals
from .ops.lu import linalg_ldl_factor as ldl_factor
from .ops.lu import linalg_ldl_factor_ex as ldl_factor_ex
from .ops.lu import linalg_ldl_solve as ldl_solve
from .ops.lu import linalg_lu as lu
from .ops.lu import linalg_lu_factor as lu_factor
from .ops.lu import linalg_lu_factor_ex as lu_factor_ex
from .ops.lu import linalg_lu_solve as lu_solve
from .ops.matmul import matmul
from .ops.matrix_functions import householder_product, tensorinv, tensorsolve, vecdot
from .ops.matrix_functions import linalg_cross as cross
from .ops.matrix_functions import linalg_diagonal as diagonal
from .ops.matrix_functions import linalg_matrix_exp as matrix_exp
from .ops.matrix_functions import linalg_matrix_power as matrix_power
from .ops.matrix_functions import linalg_multi_dot as multi_dot
from .ops.matrix_functions import linalg_vander as vander
from .ops.pseudoinverse import cond, matrix_norm, matrix_rank, norm
from .ops.pseudoinverse import linalg_lstsq as lstsq
from .ops.pseudoinverse import linalg_pinv as pinv
from .ops.solvers import linalg_det as det
from .ops.solvers import linalg_inv as inv
from .ops.solvers import linalg_inv_ex as inv_ex
from .ops.solvers import linalg_slogdet as slogdet
from .ops.solvers import linalg_solve as solve
from .ops.solvers import linalg_solve_ex as solve_ex
from .ops.statistics import vector_norm
from .ops.triangular import linalg_cholesky as cholesky
from .ops.triangular import linalg_cholesky_ex as cholesky_ex
from .ops.triangular import linalg_solve_triangular as solve_triangular

__all__ = [
    "LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals",
    "eigvalsh", "householder_product", "inv", "inv_ex", "ldl_factor", "ldl_factor_ex", "ldl_solve", "lstsq", "lu",
    "lu_factor", "lu_factor_ex", "lu_solve", "matmul", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank",
    "multi_dot", "norm", "pinv", "qr", "slogdet", "solve", "solve_ex", "solve_triangular", "svd", "svdvals",
    "tensorinv", "tensorsolve", "vander", "vecdot", "vector_norm",
]  # fmt: skip

_publish(globals(), "linalg_", _LINALG)
