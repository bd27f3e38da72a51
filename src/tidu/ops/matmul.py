"""Products: matrices, vectors, batches of them, einsum."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.elementwise import conj
from ..core.linear import bilinear
from ..core.tensor import Tensor

__all__ = ["matmul", "mm"]
METHODS = "matmul mm"

ndarray = np.ndarray


def H(x: Any) -> Any:
    """The conjugate transpose of a value."""
    return conj(x.T if x.__class__ is ndarray else x.mT)


def _mm(input: Any, mat2: Any) -> Any:
    """The product of two matrices. Source: torch.mm."""
    if input.ndim != 2:
        raise RuntimeError("self must be a matrix")
    if mat2.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    if input.shape[1] != mat2.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({input.shape[0]}x{input.shape[1]} and "
            f"{mat2.shape[0]}x{mat2.shape[1]})"
        )
    if input.dtype is not mat2.dtype and input.dtype != mat2.dtype:
        from ..core.tensor import dtype_word
        from ..dtypes import from_numpy

        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {dtype_word(from_numpy(input.dtype))} != "
            f"{dtype_word(from_numpy(mat2.dtype))}"
        )
    return input.dot(mat2)


def _product(a: Any, b: Any) -> Any:
    return _mm(a, b) if a.__class__ is ndarray and b.__class__ is ndarray else mm(a, b)


mm = bilinear(
    "mm", _mm, left=lambda g, mat2: _product(g, H(mat2)), right=lambda g, input: _product(H(input), g)
)  # fmt: skip


def matmul(input: Any, other: Any, *, out: Any = None) -> Any:
    """The matrix product of two tensors; vectors and batches as PyTorch treats them. Source: torch.matmul."""
    return mm(input, other)


def __matmul__(self: Tensor, other: Any) -> Any:
    if isinstance(other, Tensor):
        return matmul(self, other)
    return NotImplemented


OPERATORS = {"__matmul__": __matmul__}
