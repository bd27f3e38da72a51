"""What distributions are made with. Source: torch.distributions.utils."""

from __future__ import annotations

import functools
from collections.abc import Callable
from numbers import Number
from operator import attrgetter
from typing import Any

from .. import dtypes
from ..core.modes import enable_grad
from ..core.tensor import Tensor
from ..ops.creation import tensor
from ..ops.factories import empty
from ..ops.ranges import arange
from ..ops.windows import broadcast_tensors
from ..shapes import Size

__all__ = [
    "broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits", "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]  # fmt: skip


def broadcast_all(*values: Any) -> tuple[Any, ...]:
    """Tensors and numbers as tensors of one shape; numbers get the dtype of the first tensor, or the default one."""
    if not all(isinstance(v, (Tensor, Number)) for v in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__."
        )
    d = next((v.dtype for v in values if isinstance(v, Tensor)), dtypes.get_default_dtype())
    return tuple(broadcast_tensors(*[v if isinstance(v, Tensor) else tensor(v, dtype=d) for v in values]))


def _standard_normal(shape: Any, dtype: Any, device: Any = None) -> Any:
    return empty(shape, dtype=dtype).normal_()


def _sum_rightmost(value: Any, dim: int) -> Any:
    return value if dim == 0 else value.reshape(*value.shape[:-dim], -1).sum(-1)


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """Probabilities from log-odds, or from log-probabilities up to a constant."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)


def clamp_probs(probs: Any) -> Any:
    """Probabilities away from 0 and 1."""
    eps = dtypes.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """Log-odds, or log-probabilities."""
    p = clamp_probs(probs)
    return p.log() - (-p).log1p() if is_binary else p.log()


class lazy_property:
    """A property that is computed when first asked for, and kept."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        functools.update_wrapper(self, wrapped)  # type: ignore[arg-type]

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def same_as(path: str) -> Any:
    """A property that is another attribute, or one of it."""
    return property(attrgetter(path))


def as_size(shape: Any) -> Size:
    return shape if isinstance(shape, Size) else Size(shape)


def _tril_mask(n: int, diag: int) -> Any:
    at = arange(n)
    return at < at.view(-1, 1) + (diag + 1)


def tril_matrix_to_vec(mat: Any, diag: int = 0) -> Any:
    """The lower triangle, row by row."""
    n = mat.shape[-1]
    if diag < -n or diag >= n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    return mat[..., _tril_mask(n, diag)]


def vec_to_tril_matrix(vec: Any, diag: int = 0) -> Any:
    """The matrix with this lower triangle."""
    m = 1 + 2 * diag
    n = (-m + (m**2 + 8 * vec.shape[-1] + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    if round(n) - n > dtypes.finfo(vec.dtype).eps:
        raise ValueError(
            f"The size of last dimension is {vec.shape[-1]} which cannot be expressed as the lower triangular part of "
            "a square D x D matrix."
        )
    size = round(n)
    mat = vec.new_zeros((*vec.shape[:-1], size, size))
    mat[..., _tril_mask(size, diag)] = vec
    return mat
