"""What a tensor says about itself: sizes, layout, place, Python's protocols for containers; and sizes without a tensor."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import devices, dtypes
from ..core.promote import result_type as _common_type
from ..core.tensor import Tensor, dtype_word, extra, type_name
from ..core.views import offset_in, pointer, storage_of, strides_of
from ..naming import warn
from ..shapes import Size, normalize_dim
from ..shapes import numel as count
from ._make import sizes_of
from .conversion import in_format, numbers_of

__all__ = [
    "broadcast_shapes", "get_device", "is_complex", "is_conj", "is_distributed", "is_floating_point",
    "is_inference", "is_neg", "is_nonzero", "is_same_size", "is_signed", "is_tensor", "numel", "result_type",
    "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sqrt", "sym_sum",
]  # fmt: skip
METHODS = (
    "apply_ data_ptr dense_dim dim dim_order element_size get_device is_complex is_conj is_contiguous "
    "is_distributed is_floating_point is_neg is_nonzero is_same_size is_set_to is_signed map2_ map_ ndimension "
    "nelement numel size sparse_dim storage_offset stride const_data_ptr dequantize resize resize_as sum_to_size "
    "to_dense"
)
PROPERTIES = (
    "is_cpu itemsize layout nbytes is_cuda is_ipu is_maia is_meta is_mkldnn is_mps is_mtia is_nested is_quantized "
    "is_sparse is_sparse_csr is_vulkan is_xla is_xpu _cdata grad_dtype volatile"
)

_NEVER = (
    "is_cuda is_ipu is_maia is_meta is_mkldnn is_mps is_mtia is_nested is_quantized is_sparse is_sparse_csr is_vulkan "
    "is_xla is_xpu"
)


def _tensor(x: Any, fn: str) -> Any:
    if not isinstance(x, Tensor):
        raise TypeError(f"{fn}(): argument 'input' (position 1) must be Tensor, not {type_name(x)}")
    return x


# ------------------------------------------------------------------ sizes


def size(self: Any, dim: int | None = None) -> Any:
    """The shape, or the size of one dimension."""
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
    """The number of dimensions."""
    return self.ndim


ndimension = dense_dim = dim


def sparse_dim(self: Any) -> int:
    """The number of sparse dimensions: none."""
    return 0


def numel(input: Any) -> int:
    """The number of elements."""
    try:
        return input._a.size
    except AttributeError:
        return _tensor(input, "numel").shape.numel()


nelement = numel


def is_same_size(input: Any, other: Any) -> bool:
    """Whether two tensors have one shape."""
    return input.shape == other.shape


# ------------------------------------------------------------------ memory


def element_size(self: Any) -> int:
    """Bytes an element."""
    return self.dtype.itemsize


property_itemsize = element_size


def property_nbytes(self: Any) -> int:
    """Bytes of all elements together."""
    return numel(self) * self.dtype.itemsize


def stride(self: Any, dim: int | None = None) -> Any:
    """The steps in memory along the dimensions, in elements."""
    strides = strides_of(numbers_of(self, "stride"))
    return strides if dim is None else strides[_dim(dim, len(strides), "stride")]


def storage_offset(self: Any) -> int:
    """The place of the first element in the storage, in elements."""
    a = numbers_of(self, "storage_offset")
    return offset_in(a, storage_of(a)) if a.size else 0


def data_ptr(self: Any) -> int:
    """The address of the first element."""
    a = numbers_of(self, "data_ptr")
    return pointer(a) if a.size else 0


def is_contiguous(self: Any, memory_format: Any = None) -> bool:
    """Whether the elements lie in memory in order."""
    try:
        a = self._a
    except AttributeError:
        a = numbers_of(self, "is_contiguous")
    if memory_format is None or memory_format.name == "contiguous_format":
        return bool(a.flags.c_contiguous)
    return in_format(a, memory_format)


def dim_order(self: Any, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """The dimensions by falling strides."""
    strides = stride(self)
    return tuple(sorted(range(len(strides)), key=lambda k: -strides[k]))


def is_set_to(self: Any, tensor: Any) -> bool:
    """Whether two tensors are the same memory in the same way."""
    a, b = numbers_of(self, "is_set_to"), numbers_of(tensor, "is_set_to")
    same = (a.shape, a.dtype, strides_of(a)) == (b.shape, b.dtype, strides_of(b))
    return same and pointer(a) == pointer(b) and storage_of(a) is storage_of(b)


def property_layout(self: Any) -> Any:
    """How the elements are stored: `strided`."""
    return devices.strided


def property_is_cpu(self: Any) -> bool:
    """True: there is no other device."""
    return True


def _never(self: Any) -> bool:
    """False: tidu has no such tensors."""
    return False


globals().update({f"property_{_name}": _never for _name in _NEVER.split()})


def get_device(input: Any) -> int:
    """The number of the accelerator: -1 for the CPU."""
    return -1


def is_distributed(input: Any) -> bool:
    """False: no tensor is spread over machines."""
    return False


# ------------------------------------------------------------------ dtypes


def result_type(tensor1: Any, tensor2: Any) -> Any:
    """The dtype in which an op on two tensors or numbers computes.

    >>> import tidu as torch
    >>> torch.result_type(torch.ones(1, dtype=torch.int8), 1.5)
    torch.float32
    """
    return _common_type((tensor1, tensor2))


def is_tensor(obj: Any) -> bool:
    """Whether `obj` is a tensor."""
    return isinstance(obj, Tensor)


def is_floating_point(input: Any) -> bool:
    """Whether the dtype is a floating one."""
    return _tensor(input, "is_floating_point").dtype.category == dtypes.FLOATING


def is_complex(input: Any) -> bool:
    """Whether the dtype is a complex one."""
    return _tensor(input, "is_complex").dtype.category == dtypes.COMPLEX


def is_signed(input: Any) -> bool:
    """Whether the dtype has negative numbers."""
    return _tensor(input, "is_signed").dtype.is_signed


def is_inference(input: Any) -> bool:
    """Whether the tensor was made in inference mode."""
    return _tensor(input, "is_inference").is_inference()


def is_conj(input: Any) -> bool:
    """Whether the tensor is a conjugate yet to be computed: never."""
    return False


def is_neg(input: Any) -> bool:
    """Whether the tensor is a negation yet to be computed: never."""
    return False


def is_nonzero(input: Any) -> bool:
    """Whether the only element is not zero."""
    return bool(input)


# ------------------------------------------------------------------ element by element


def _assign(self: Any, fn: str, values: Any) -> Any:
    a = self._a
    a[...] = np.array(values, object).reshape(a.shape).astype(a.dtype)
    return self


def _check_no_grad(self: Any, fn: str) -> None:
    if self.requires_grad:
        raise RuntimeError(f"Can't call {fn}() on Variable that requires grad. Use var.detach().{fn}() instead.")


def apply_(self: Any, callable: Any) -> Any:
    """Put `callable(element)` in place of every element. Slow, and without gradient."""
    _check_no_grad(self, "apply_")
    return _assign(self, "apply_", [callable(v) for v in self._a.ravel().tolist()])


def map_(self: Any, tensor: Any, callable: Any) -> Any:
    """Put `callable(element, other)` in place of every element."""
    _check_no_grad(self, "map_")
    b = np.broadcast_to(tensor._a, self._a.shape).ravel().tolist()
    return _assign(self, "map_", [callable(v, w) for v, w in zip(self._a.ravel().tolist(), b, strict=True)])


def map2_(self: Any, x: Any, y: Any, callable: Any) -> Any:
    """Put `callable(element, other, another)` in place of every element."""
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


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape to which shapes broadcast.

    >>> import tidu as torch
    >>> torch.broadcast_shapes((2, 1), (1, 3))
    torch.Size([2, 3])
    """
    given = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    out = [1] * max((len(s) for s in given), default=0)
    for k, shape in enumerate(given):
        for i in range(-1, -len(shape) - 1, -1):
            d = shape[i]
            if d < 0:
                raise ValueError("Attempting to broadcast a dimension with negative length!")
            if d in (1, out[i]):
                continue
            if out[i] != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {d} at {i}! Mismatching argument at index {k} had "
                    f"{shapes[k]}; but expected shape should be broadcastable to {out}"
                )
            out[i] = d
    return Size(out)


def sum_to_size(self: Any, *size: Any) -> Any:
    """The sum over what broadcasting to this shape would have repeated."""
    shape, have = sizes_of(size, None, "sum_to_size"), tuple(self.shape)
    fits = len(shape) <= len(have) and all(a in (1, b) for a, b in zip(shape[::-1], have[::-1], strict=False))
    if not fits:
        raise RuntimeError(f"size {{{list(shape)}}} is not expandable to size {{{list(have)}}}.")
    if not shape:
        return self.sum()
    more = len(have) - len(shape)
    dims = [i for i, n in enumerate(have) if i < more or (n != 1 and shape[i - more] == 1)]
    if not dims:
        return self
    x = self.sum(dims, keepdim=True)
    return x.view(shape) if more else x


def resize(self: Any, *sizes: Any) -> Any:
    """The elements in another shape; deprecated in favour of `reshape`."""
    warn("non-inplace resize is deprecated")
    return _resized(self, sizes_of(sizes, None, "resize"))


def resize_as(self: Any, tensor: Any) -> Any:
    """The elements in another's shape; deprecated in favour of `reshape`."""
    warn("non-inplace resize_as is deprecated")
    return _resized(self, tuple(tensor.shape))


def _resized(x: Any, sizes: tuple[int, ...]) -> Any:
    n = count(sizes)
    if n != x.numel():
        old, new = ("x".join(map(str, s)) for s in (tuple(x.shape), sizes))
        raise RuntimeError(
            f"requested resize to {new} ({n} elements in total), but the given tensor has a size of {old} ({x.numel()} "
            "elements). autograd's resize can only change the shape of a given tensor, while preserving the number of "
            "elements. "
        )
    return x.reshape(sizes)


def to_dense(self: Any, dtype: Any = None, *, masked_grad: Any = None) -> Any:
    """The tensor itself: it is dense."""
    return self if dtype is None else self.to(dtype)


def dequantize(self: Any) -> Any:
    """The tensor in float32."""
    return self.float()


def const_data_ptr(self: Any) -> int:
    """The address of the first element."""
    return self.data_ptr()


def property__cdata(self: Any) -> int:
    """A number that tells tensors apart."""
    return id(self)


def property_grad_dtype(self: Any) -> Any:
    """The dtype that the gradient of a leaf has, its own unless told otherwise; None: any."""
    if not self.is_leaf:
        raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
    return self.dtype if self._extra is None or self._extra.grad_dtype is False else self._extra.grad_dtype


def set_property_grad_dtype(self: Any, value: Any) -> None:
    if value is not None and not isinstance(value, dtypes.dtype):
        raise RuntimeError(f"grad_dtype must be a torch.dtype or None, but got {type_name(value)}")
    if not self.is_leaf:
        raise RuntimeError("grad_dtype can only be set on leaf tensors.")
    had = self._grad
    if value is not None and had is not None and had.dtype is not value:
        raise RuntimeError(
            f"Cannot set grad_dtype to '{value.legacy}' because there is already a gradient with dtype "
            f"'{dtype_word(had.dtype)}'. Please clear the gradient (.grad = None) before changing grad_dtype, or ensure "
            "the new grad_dtype matches the existing gradient's dtype."
        )
    extra(self).grad_dtype = value


def property_volatile(self: Any) -> bool:
    """False, always."""
    warn("volatile was removed (Variable.volatile is always False)")
    return False


# ------------------------------------------------------------------ numbers that are symbolic nowhere here


def sym_int(a: Any) -> int:
    """A number cut to an int."""
    return math.floor(a) if a >= 0 else math.ceil(a)


def sym_float(a: Any) -> float:
    """A number as a float."""
    return float(a)


def sym_not(a: Any) -> bool:
    """The opposite of a bool."""
    return operator.not_(a)


def sym_max(a: Any, b: Any) -> Any:
    """The larger number, a float if one of them is."""
    larger = max(a, b)
    return float(larger) if isinstance(a, float) or isinstance(b, float) else larger


def sym_min(a: Any, b: Any) -> Any:
    """The smaller number, a float if one of them is."""
    smaller = min(a, b)
    return float(smaller) if isinstance(a, float) or isinstance(b, float) else smaller


def sym_ite(b: bool, t: Any, f: Any) -> Any:
    """`t` if `b`, else `f`."""
    return t if b else f


def sym_sum(args: Iterable[Any]) -> Any:
    """The sum of numbers."""
    return sum(args)


def sym_sqrt(a: Any) -> float:
    """The square root of a number. Source: torch._sym_sqrt."""
    return math.sqrt(a)
