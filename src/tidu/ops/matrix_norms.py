"""Norms of matrices, condition numbers, and the norm that chooses by its arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.broadcast import cast
from ..shapes import normalize_dim
from ._linalg import check_floating, check_matrix, check_norm_dtype, check_square, into
from .decompositions import linalg_svdvals
from .solvers import linalg_inv_ex
from .statistics import vector_norm

__all__: list[str] = []


def matrix_norm(
    A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None, out: Any = None
) -> Any:
    """A norm of matrices, which lie in two dimensions. Source: torch.linalg.matrix_norm.

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
    """A vector or a matrix norm: a matrix's for two dimensions with `ord` given. Source: torch.linalg.norm."""
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
    """The condition number, ||A|| ||A^-1||, in the 2-norm unless told. Source: torch.linalg.cond.

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
