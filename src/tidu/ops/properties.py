"""What a tensor says about itself: sizes, layout, place, and Python's protocols for containers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, layouts
from ..core.promote import result_type as _common_type
from ..core.tensor import Tensor, type_name
from ..core.views import offset_in, pointer, storage_of, strides_of
from ..shapes import normalize_dim
from .conversion import in_format, numbers_of

__all__ = [
    "get_device", "is_complex", "is_conj", "is_distributed", "is_floating_point", "is_inference", "is_neg",
    "is_nonzero", "is_same_size", "is_signed", "is_tensor", "numel", "result_type",
]  # fmt: skip
METHODS = (
    "apply_ data_ptr dense_dim dim dim_order element_size get_device is_complex is_conj is_contiguous "
    "is_distributed is_floating_point is_neg is_nonzero is_same_size is_set_to is_signed map2_ map_ ndimension "
    "nelement numel size sparse_dim storage_offset stride"
)
_NEVER = (
    "is_cuda is_ipu is_maia is_meta is_mkldnn is_mps is_mtia is_nested is_quantized is_sparse is_sparse_csr is_vulkan "
    "is_xla is_xpu"
)
PROPERTIES = "is_cpu itemsize layout nbytes " + _NEVER


def _tensor(x: Any, fn: str) -> Any:
    if not isinstance(x, Tensor):
        raise TypeError(f"{fn}(): argument 'input' (position 1) must be Tensor, not {type_name(x)}")
    return x


# ------------------------------------------------------------------ sizes


def size(self: Any, dim: int | None = None) -> Any:
    """The shape, or the size of one dimension. Source: torch.Tensor.size."""
    if dim is None:
        return self.shape
    try:
        return self._a.shape[dim]
    except (AttributeError, IndexError, TypeError):
        shape = self.shape
        return shape[_dim(dim, len(shape), "size")]


def _dim(dim: Any, n: int, fn: str) -> int:
    if not isinstance(dim, int):
        if not hasattr(dim, "__index__"):
            raise TypeError(f"{fn}(): argument 'dim' (position 1) must be int, not {type(dim).__name__}")
        dim = int(dim)
    if not n:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return normalize_dim(dim, n)


def dim(self: Any) -> int:
    """The number of dimensions. Source: torch.Tensor.dim."""
    return self.ndim


ndimension = dense_dim = dim


def sparse_dim(self: Any) -> int:
    """The number of sparse dimensions: none. Source: torch.Tensor.sparse_dim."""
    return 0


def numel(input: Any) -> int:
    """The number of elements. Source: torch.numel."""
    try:
        return input._a.size
    except AttributeError:
        return _tensor(input, "numel").shape.numel()


nelement = numel


def is_same_size(input: Any, other: Any) -> bool:
    """Whether two tensors have one shape. Source: torch.is_same_size."""
    return input.shape == other.shape


# ------------------------------------------------------------------ memory


def element_size(self: Any) -> int:
    """Bytes an element. Source: torch.Tensor.element_size."""
    return self.dtype.itemsize


property_itemsize = element_size


def property_nbytes(self: Any) -> int:
    """Bytes of all elements together. Source: torch.Tensor.nbytes."""
    return numel(self) * self.dtype.itemsize


def stride(self: Any, dim: int | None = None) -> Any:
    """The steps in memory along the dimensions, in elements. Source: torch.Tensor.stride."""
    strides = strides_of(numbers_of(self, "stride"))
    return strides if dim is None else strides[_dim(dim, len(strides), "stride")]


def storage_offset(self: Any) -> int:
    """The place of the first element in the storage, in elements. Source: torch.Tensor.storage_offset."""
    a = numbers_of(self, "storage_offset")
    return offset_in(a, storage_of(a)) if a.size else 0


def data_ptr(self: Any) -> int:
    """The address of the first element. Source: torch.Tensor.data_ptr."""
    a = numbers_of(self, "data_ptr")
    return pointer(a) if a.size else 0


def is_contiguous(self: Any, memory_format: Any = None) -> bool:
    """Whether the elements lie in memory in order. Source: torch.Tensor.is_contiguous."""
    try:
        a = self._a
    except AttributeError:
        a = numbers_of(self, "is_contiguous")
    if memory_format is None or memory_format.name == "contiguous_format":
        return bool(a.flags.c_contiguous)
    return in_format(a, memory_format)


def dim_order(self: Any, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """The dimensions by falling strides. Source: torch.Tensor.dim_order."""
    strides = stride(self)
    return tuple(sorted(range(len(strides)), key=lambda k: -strides[k]))


def is_set_to(self: Any, tensor: Any) -> bool:
    """Whether two tensors are the same memory in the same way. Source: torch.Tensor.is_set_to."""
    a, b = numbers_of(self, "is_set_to"), numbers_of(tensor, "is_set_to")
    same = (a.shape, a.dtype, strides_of(a)) == (b.shape, b.dtype, strides_of(b))
    return same and pointer(a) == pointer(b) and storage_of(a) is storage_of(b)


def property_layout(self: Any) -> Any:
    """How the elements are stored: `strided`. Source: torch.Tensor.layout."""
    return layouts.strided


def property_is_cpu(self: Any) -> bool:
    """True: there is no other device. Source: torch.Tensor.is_cpu."""
    return True


def _never(self: Any) -> bool:
    """False: tidu has no such tensors."""
    return False


globals().update({f"property_{_name}": _never for _name in _NEVER.split()})


def get_device(input: Any) -> int:
    """The number of the accelerator: -1 for the CPU. Source: torch.get_device."""
    return -1


def is_distributed(input: Any) -> bool:
    """False: no tensor is spread over machines. Source: torch.is_distributed."""
    return False


# ------------------------------------------------------------------ dtypes


def result_type(tensor1: Any, tensor2: Any) -> Any:
    """The dtype in which an op on two tensors or numbers computes. Source: torch.result_type.

    >>> import tidu as torch
    >>> torch.result_type(torch.ones(1, dtype=torch.int8), 1.5)
    torch.float32
    """
    return _common_type((tensor1, tensor2))


def is_tensor(obj: Any) -> bool:
    """Whether `obj` is a tensor. Source: torch.is_tensor."""
    return isinstance(obj, Tensor)


def is_floating_point(input: Any) -> bool:
    """Whether the dtype is a floating one. Source: torch.is_floating_point."""
    return _tensor(input, "is_floating_point").dtype.category == dtypes.FLOATING


def is_complex(input: Any) -> bool:
    """Whether the dtype is a complex one. Source: torch.is_complex."""
    return _tensor(input, "is_complex").dtype.category == dtypes.COMPLEX


def is_signed(input: Any) -> bool:
    """Whether the dtype has negative numbers. Source: torch.is_signed."""
    return _tensor(input, "is_signed").dtype.is_signed


def is_inference(input: Any) -> bool:
    """Whether the tensor was made in inference mode. Source: torch.is_inference."""
    return _tensor(input, "is_inference").is_inference()


def is_conj(input: Any) -> bool:
    """Whether the tensor is a conjugate yet to be computed: never. Source: torch.is_conj."""
    return False


def is_neg(input: Any) -> bool:
    """Whether the tensor is a negation yet to be computed: never. Source: torch.is_neg."""
    return False


def is_nonzero(input: Any) -> bool:
    """Whether the only element is not zero. Source: torch.is_nonzero."""
    return bool(input)


# ------------------------------------------------------------------ element by element


def _assign(self: Any, fn: str, values: Any) -> Any:
    a = self._a
    a[...] = np.array(values, object).reshape(a.shape).astype(a.dtype)
    self._v[0] += 1
    return self


def _check_no_grad(self: Any, fn: str) -> None:
    if self.requires_grad:
        raise RuntimeError(f"Can't call {fn}() on Variable that requires grad. Use var.detach().{fn}() instead.")


def apply_(self: Any, callable: Any) -> Any:
    """Put `callable(element)` in place of every element. Slow, and without gradient. Source: torch.Tensor.apply_."""
    _check_no_grad(self, "apply_")
    return _assign(self, "apply_", [callable(v) for v in self._a.ravel().tolist()])


def map_(self: Any, tensor: Any, callable: Any) -> Any:
    """Put `callable(element, other)` in place of every element. Source: torch.Tensor.map_."""
    _check_no_grad(self, "map_")
    b = np.broadcast_to(tensor._a, self._a.shape).ravel().tolist()
    return _assign(self, "map_", [callable(v, w) for v, w in zip(self._a.ravel().tolist(), b, strict=True)])


def map2_(self: Any, x: Any, y: Any, callable: Any) -> Any:
    """Put `callable(element, other, another)` in place of every element. Source: torch.Tensor.map2_."""
    _check_no_grad(self, "map2_")
    b, c = (np.broadcast_to(t._a, self._a.shape).ravel().tolist() for t in (x, y))
    return _assign(self, "map2_", [callable(u, v, w) for u, v, w in zip(self._a.ravel().tolist(), b, c, strict=True)])


# ------------------------------------------------------------------ containers


def _len(self: Any) -> int:
    if not self.ndim:
        raise TypeError("len() of a 0-d tensor")
    return self.shape[0]


def _iter(self: Any) -> Any:
    if not self.dim():
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


def _reversed(self: Any) -> Any:
    return self.flip(0) if self.ndim else self


def _contains(self: Any, element: Any) -> bool:
    if isinstance(element, (Tensor, bool, int, float, complex)):
        return bool((element == self).any().item())
    raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")


def _dir(self: Any) -> list[str]:
    hidden = {"_a", "_extra", "_grad", "_node", "_v", "_view", "EDGE"}
    return sorted((set(dir(type(self))) | set(self.__dict__)) - hidden)


OPERATORS = {"__contains__": _contains, "__dir__": _dir, "__iter__": _iter, "__len__": _len, "__reversed__": _reversed}
