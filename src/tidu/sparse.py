"""torch.sparse: functions of sparse tensors. The tensors themselves are in ops/coo.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import elsewhere
from .core.tensor import tensor_of
from .elsewhere import unbuilt, unbuilt_names
from .ops._coo_rules import addmm as _addmm
from .ops._coo_rules import product, summed
from .ops._coo_rules import softmax as softmax_of
from .ops.coo import INVARIANTS, Sparse, old_constructor, smm, sparse_coo_tensor, underivable
from .ops.coo import _coo as by_coordinates
from .ops.coo import _masked as masked_by
from .ops.matmul import addmm as _dense_addmm
from .ops.matmul import mm as _dense_mm

_UNBUILT = "spsolve"
__all__ = [
    "addmm", "as_sparse_gradcheck", "check_sparse_tensor_invariants", "log_softmax", "mm", "sampled_addmm", "softmax",
    "spdiags", "sum", *_UNBUILT.split(),
]  # fmt: skip


def mm(mat1: Any, mat2: Any, reduce: str | None = None) -> Any:
    """The product of two matrices; the gradient of a sparse one is sparse, at its own indices.

    >>> import tidu as torch
    >>> torch.sparse.mm(torch.eye(2).to_sparse(), torch.tensor([[1., 2.], [3., 4.]]))
    tensor([[1., 2.],
            [3., 4.]])

    Source: torch.sparse.mm.
    """
    if reduce is not None:
        return unbuilt("torch.sparse.mm(reduce=...)", "reductions of sparse products")()
    if not isinstance(mat1, Sparse) and not isinstance(mat2, Sparse):
        return _dense_mm(mat1, mat2)
    return product(by_coordinates(mat1), by_coordinates(mat2), "SparseAddmmBackward0")


def spmm(input: Any, mat2: Any) -> Any:
    """The product of two matrices, as `mm` gives it. Source: torch.spmm."""
    return _dense_mm(input, mat2)


dsmm = spmm


def hspmm(mat1: Any, mat2: Any) -> Any:
    """The product of a sparse and a dense matrix, as a sparse one of rows. Source: torch.hspmm."""
    return underivable("hspmm", product(by_coordinates(mat1), mat2).detach().to_sparse(1), mat1, mat2)


hsmm = smm


def addmm(mat: Any, mat1: Any, mat2: Any, *, beta: float = 1.0, alpha: float = 1.0) -> Any:
    """beta mat + alpha mat1 mat2, with a sparse mat1. Source: torch.sparse.addmm."""
    if not isinstance(mat1, Sparse):
        return _dense_addmm(mat, mat1, mat2, beta=beta, alpha=alpha)
    return _addmm(mat, by_coordinates(mat1), mat2, beta, alpha, "SparseAddmmBackward0")


def sampled_addmm(input: Any, mat1: Any, mat2: Any, *, beta: float = 1.0, alpha: float = 1.0) -> Any:
    """beta input + alpha (mat1 mat2) at the indices of the sparse `input`. Source: torch.sparse.sampled_addmm."""
    x = by_coordinates(input).coalesce()
    out = x * beta + masked_by(mat1 @ mat2, x) * alpha
    return out if input.is_sparse else out.to_sparse_csr()


def sum(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """The sum of all elements that are there, or over dimensions: sparse as long as one of the sparse ones is left.

    Source: torch.sparse.sum.
    """
    x = by_coordinates(input) if dtype is None else by_coordinates(input).to(dtype)
    if dim is None or (not isinstance(dim, int) and len(dim) == x.ndim):
        return x.coalesce().values().sum()
    return summed(x, dim, node="SparseSumBackward0")


def _softmax(name: str, log: bool) -> Any:
    def fn(input: Any, dim: int, *, dtype: Any = None) -> Any:
        return softmax_of(input if dtype is None else input.to(dtype), dim, log)

    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = f"The {name} along a dimension, of the elements that are there. Source: torch.sparse.{name}."
    return fn


softmax, log_softmax = _softmax("softmax", False), _softmax("log_softmax", True)


def spdiags(diagonals: Any, offsets: Any, shape: Any, layout: Any = None) -> Any:
    """A sparse matrix of diagonals, each at its offset. Source: torch.sparse.spdiags."""
    rows, cols, picked = [], [], []
    d = diagonals.reshape(-1, diagonals.shape[-1])
    for k, offset in enumerate(offsets.reshape(-1).tolist()):
        col = np.arange(max(offset, 0), min(shape[1], shape[0] + offset, d.shape[1]))
        rows.append(col - offset)
        cols.append(col)
        picked.append(k * d.shape[1] + col)
    at = tensor_of(np.stack([np.concatenate(rows), np.concatenate(cols)]))
    x = sparse_coo_tensor(at, d.reshape(-1)[tensor_of(np.concatenate(picked))], shape)
    return x if layout is None else x.to_sparse(layout=layout)


def as_sparse_gradcheck(gradcheck: Any) -> Any:
    """The function itself: it takes sparse tensors. Source: torch.sparse.as_sparse_gradcheck."""
    return gradcheck


class check_sparse_tensor_invariants:
    """Whether what sparse tensors are made of is checked: switched, or set for a `with` block. Source:
    torch.sparse.check_sparse_tensor_invariants."""

    def __init__(self, enable: bool = True) -> None:
        self.state = enable

    @staticmethod
    def is_enabled() -> bool:
        """Whether it is on."""
        return INVARIANTS[0]

    @staticmethod
    def enable() -> None:
        """Turn it on."""
        INVARIANTS[0] = True

    @staticmethod
    def disable() -> None:
        """Turn it off."""
        INVARIANTS[0] = False

    def __enter__(self) -> None:
        self._before, INVARIANTS[0] = INVARIANTS[0], self.state

    def __exit__(self, *exc: Any) -> None:
        INVARIANTS[0] = self._before


globals().update(unbuilt_names("torch.sparse", _UNBUILT, "solvers for sparse tensors"))


def __getattr__(name: str) -> Any:
    if name.endswith("Tensor"):
        kind = getattr(elsewhere, name, None)
        if kind is not None:
            value = globals()[name] = _type_of(name, kind.dtype)
            return value
    from .core.errors import missing_name

    raise missing_name(__name__, name)


def _type_of(name: str, dtype: Any) -> Any:
    """`torch.sparse.FloatTensor` and the like: constructors, and classes to ask for the dtype."""

    class kind(type):
        def __instancecheck__(cls, x: Any) -> bool:
            return isinstance(x, Sparse) and x.is_sparse and x.dtype is dtype

        def __call__(cls, *args: Any, device: Any = None) -> Any:
            return old_constructor(dtype, args)

    return kind(name, (), {"__module__": "torch.sparse", "dtype": dtype, "__doc__": f"Sparse tensors of {dtype}."})
