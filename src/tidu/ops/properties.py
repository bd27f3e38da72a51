"""What a tensor says about itself: sizes, layout, Python's protocols."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..core.tensor import Tensor
from ..core.views import strides_of
from ..shapes import normalize_dim
from .conversion import numbers_of

__all__ = ["is_complex", "is_floating_point", "is_tensor", "numel"]
METHODS = "dim is_complex is_contiguous is_floating_point ndimension nelement numel size stride"


def is_tensor(obj: Any) -> bool:
    """Whether `obj` is a tensor. Source: torch.is_tensor."""
    return isinstance(obj, Tensor)


def numel(input: Any) -> int:
    """The number of elements. Source: torch.numel."""
    try:
        return input._a.size
    except AttributeError:
        return input.shape.numel()


def is_floating_point(input: Any) -> bool:
    """Whether the dtype is a floating one. Source: torch.is_floating_point."""
    return input.dtype.category == dtypes.FLOATING


def is_complex(input: Any) -> bool:
    """Whether the dtype is a complex one. Source: torch.is_complex."""
    return input.dtype.category == dtypes.COMPLEX


def size(self: Any, dim: int | None = None) -> Any:
    """The shape, or the size of one dimension. Source: torch.Tensor.size."""
    shape = self.shape
    return shape if dim is None else shape[normalize_dim(dim, len(shape))]


def dim(self: Any) -> int:
    """The number of dimensions. Source: torch.Tensor.dim."""
    return self.ndim


ndimension, nelement = dim, numel


def stride(self: Any, dim: int | None = None) -> Any:
    """The steps in memory, in elements. Source: torch.Tensor.stride."""
    strides = strides_of(numbers_of(self, "stride"))
    return strides if dim is None else strides[normalize_dim(dim, len(strides))]


def is_contiguous(self: Any, memory_format: Any = None) -> bool:
    """Whether the elements lie in memory in order. Source: torch.Tensor.is_contiguous."""
    a = getattr(self, "_a", None)
    return True if a is None else bool(a.flags.c_contiguous)


# ------------------------------------------------------------------ Python's protocols


def _len(self: Any) -> int:
    if not self.ndim:
        raise TypeError("len() of a 0-d tensor")
    return self.shape[0]


def _bool(self: Any) -> bool:
    a = numbers_of(self, "bool")
    if a.size != 1:
        raise RuntimeError(
            f"Boolean value of Tensor with {'more than one value' if a.size else 'no values'} is ambiguous"
        )
    return bool(a.item())


def _one(self: Any) -> Any:
    a = numbers_of(self, "item")
    if a.size != 1:
        raise RuntimeError(f"a Tensor with {a.size} elements cannot be converted to Scalar")
    return a.item()


def _index(self: Any) -> int:
    a = numbers_of(self, "index")
    if a.size != 1 or a.dtype.kind not in "iub":
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(a.item())


def _iter(self: Any) -> Any:
    if not self.ndim:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0)) if hasattr(self, "unbind") else iter([self[i] for i in range(self.shape[0])])


def _array(self: Any, dtype: Any = None, copy: bool | None = None) -> Any:
    a = self.numpy()
    if dtype is None:
        return a.copy() if copy else a
    return a.astype(dtype, copy=bool(copy))


OPERATORS = {
    "__array__": _array,
    "__array_priority__": 1000,
    "__bool__": _bool,
    "__complex__": lambda self: complex(_one(self)),
    "__float__": lambda self: float(_one(self)),
    "__index__": _index,
    "__int__": lambda self: int(_one(self)),
    "__iter__": _iter,
    "__len__": _len,
}
