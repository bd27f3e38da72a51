"""torch.sparse without sparse layouts: tensors made of indices and values are dense, and so is what is done to them.

The numbers are those of PyTorch; memory and time are those of dense tensors.
"""

from __future__ import annotations

from typing import Any

from . import dtypes
from .core.tensor import Tensor
from .ops.creation import tensor
from .ops.factories import zeros
from .ops.matmul import addmm as _addmm
from .ops.matmul import matmul
from .ops.ranges import arange
from .ops.reduction import sum as _sum
from .ops.sizing import say_dense
from .unbuilt import unbuilt, unbuilt_names

_UNBUILT = "log_softmax softmax solve"
__all__ = ["addmm", "check_sparse_tensor_invariants", "mm", "sum", *_UNBUILT.split()]


def _given(x: Any, dtype: Any = None) -> Tensor:
    return x if isinstance(x, Tensor) else tensor(x, dtype=dtype)


def sparse_coo_tensor(
    indices: Any, values: Any = None, size: Any = None, *, dtype: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False, check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Tensor:  # fmt: skip
    """The dense tensor with `values` at `indices`, and zero elsewhere; values at one index are added up.

    Args:
        indices: one column of numbers a value.
        values: what is there; further dimensions of it are further dimensions of the result.
        size: that of the result. The smallest that holds all indices by default.

    Source: torch.sparse_coo_tensor.
    """
    if values is None:  # a size alone
        return zeros(*indices, dtype=dtype, requires_grad=requires_grad)
    say_dense()
    at, of = _given(indices, dtypes.int64), _given(values, dtype)
    if at.dim() != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(at.shape)}")
    if at.shape[1] != of.shape[0]:
        raise RuntimeError(
            f"indices and values must have same nnz, but got nnz from indices: {at.shape[1]}, nnz from values: "
            f"{of.shape[0]}"
        )
    if dtype is not None:
        of = of.to(dtype)  # type: ignore[attr-defined]
    if size is None:
        size = (*(int(row.max()) + 1 for row in at), *of.shape[1:])
    out = zeros(*size, dtype=of.dtype).index_put(tuple(at), of, accumulate=True)  # type: ignore[attr-defined]
    return out.requires_grad_() if requires_grad else out  # type: ignore[no-any-return]


def sparse_csr_tensor(
    crow_indices: Any, col_indices: Any, values: Any, size: Any = None, *, dtype: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False, check_invariants: bool | None = None,
) -> Tensor:  # fmt: skip
    """The dense matrix whose rows have `values` in the columns `col_indices`; `crow_indices` says where rows begin.

    Source: torch.sparse_csr_tensor.
    """
    starts, columns = _given(crow_indices, dtypes.int64), _given(col_indices, dtypes.int64)
    counts = starts[1:] - starts[:-1]  # type: ignore[operator]
    rows = arange(counts.shape[0]).repeat_interleave(counts)  # type: ignore[attr-defined]
    if size is None:
        size = (counts.shape[0], int(columns.max()) + 1 if columns.numel() else 0)  # type: ignore[attr-defined]
    where = rows.unsqueeze(0).new_empty(2, rows.shape[0])
    where[0], where[1] = rows, columns
    return sparse_coo_tensor(where, values, size, dtype=dtype, requires_grad=requires_grad)


def mm(mat1: Any, mat2: Any, reduce: str | None = None) -> Any:
    """The product of two matrices, dense as all are. Source: torch.sparse.mm."""
    if reduce is not None:
        return unbuilt("torch.sparse.mm(reduce=...)", "sparse layouts")()
    return matmul(mat1, mat2)


spmm = smm = dsmm = hsmm = hspmm = mm


def addmm(mat: Any, mat1: Any, mat2: Any, beta: float = 1.0, alpha: float = 1.0) -> Any:
    """beta mat + alpha mat1 mat2. Source: torch.sparse.addmm."""
    return _addmm(mat, mat1, mat2, beta=beta, alpha=alpha)


def sum(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """The sum over dimensions. Source: torch.sparse.sum."""
    return _sum(input, dtype=dtype) if dim is None else _sum(input, dim, dtype=dtype)


class check_sparse_tensor_invariants:
    """A setting that is kept: there is nothing to check. Source: torch.sparse.check_sparse_tensor_invariants."""

    _on = False

    def __init__(self, enable: bool = True) -> None:
        self.state = enable

    @staticmethod
    def is_enabled() -> bool:
        """What was set."""
        return check_sparse_tensor_invariants._on

    @staticmethod
    def enable() -> None:
        """Set it."""
        check_sparse_tensor_invariants._on = True

    @staticmethod
    def disable() -> None:
        """Unset it."""
        check_sparse_tensor_invariants._on = False

    def __enter__(self) -> None:
        self._before, check_sparse_tensor_invariants._on = self._on, self.state

    def __exit__(self, *exc: Any) -> None:
        check_sparse_tensor_invariants._on = self._before


globals().update(unbuilt_names("torch.sparse", _UNBUILT, "sparse layouts"))


def __getattr__(name: str) -> Any:
    if name.endswith("Tensor"):
        from . import legacy

        kind = getattr(legacy, name)

        def make(*args: Any) -> Tensor:
            return sparse_coo_tensor(*args, dtype=kind.dtype)

        make.__name__ = make.__qualname__ = name
        return make
    from .missing import missing_name

    raise missing_name(__name__, name)
