"""Tensors as other things: other dtypes, copies, arrays, Python numbers and lists."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .. import dtypes
from ..core.broadcast import cast_op
from ..core.linear import linear
from ..core.modes import state
from ..core.tensor import Tensor, new, raw
from ..devices import CPU, check_cpu, device
from ..dtypes import dtype as Dtype
from ._make import as_dtype

__all__ = ["clone", "detach"]
METHODS = (
    "bfloat16 bool byte char cdouble cfloat clone contiguous cpu detach double float half int item long numpy short to "
    "tolist type_as"
)

ndarray = np.ndarray


# ------------------------------------------------------------------ copies


def _clone(input: Any, *, memory_format: Any = None) -> Any:
    """A copy of a tensor, through which gradients flow. Source: torch.clone."""
    return input.copy("K")


clone = linear("clone", _clone, lambda g: g, out_arg=False)


def detach(self: Any) -> Tensor:
    """The same memory without the history. Writes are seen, and counted, on both sides. Source: torch.Tensor.detach."""
    try:
        a = self._a
    except AttributeError:
        return _detach_special(self)
    t = new(Tensor)
    t._a = a
    t._v = self._v
    t._node = t._view = t._grad = t._extra = None
    return t


def _detach_special(self: Any) -> Any:
    return _detach_op(self)


_detach_op = linear("detach", lambda input: input, None, view=True, out_arg=False)


def contiguous(self: Any, memory_format: Any = None) -> Any:
    """The tensor itself if its elements lie in order, else a copy in which they do. Source: torch.Tensor.contiguous."""
    a = getattr(self, "_a", None)
    if a is None or a.flags.c_contiguous:
        return self
    return _contiguous(self)


_contiguous = linear(
    "contiguous", lambda input: np.ascontiguousarray(input), lambda g: g, node="CloneBackward0", out_arg=False
)


# ------------------------------------------------------------------ other dtypes


def cast_array(a: Any, d: Any) -> Any:
    """An array in another dtype, the real part where that drops the imaginary one. Always a copy."""
    with np.errstate(all="ignore"):
        if a.dtype.kind == "c" and d.kind != "c":
            a = a.real if d.kind != "b" else a != 0
        return a.astype(d)


def to(self: Any, *args: Any, **kw: Any) -> Any:
    """The tensor in another dtype; itself if nothing changes. Source: torch.Tensor.to.

    to(dtype, non_blocking=False, copy=False, memory_format=preserve_format), to(device=None, dtype=None, ...) and
    to(other, ...), which takes dtype and device from another tensor.
    """
    if len(args) == 1 and not kw:
        d = args[0]
        if d.__class__ is Dtype:
            return self if d is self.dtype else convert(self, d)
    d, copy = _parse_to(args, dict(kw))
    if d is not None and d is not self.dtype:
        return convert(self, d)
    return clone(self) if copy else self


def _parse_to(args: tuple[Any, ...], kw: dict[str, Any]) -> tuple[Dtype | None, bool]:
    """The dtype and `copy` of a call of `to`."""
    d, where = kw.pop("dtype", None), kw.pop("device", None)
    rest = list(args)
    if rest and isinstance(rest[0], Tensor):
        d = rest.pop(0).dtype
    elif rest and (isinstance(rest[0], (Dtype, type))):
        d = rest.pop(0)
    elif rest and (rest[0] is None or isinstance(rest[0], (device, str, int))):
        where = rest.pop(0)
        if rest and (rest[0] is None or isinstance(rest[0], (Dtype, type))):
            d = rest.pop(0)
    elif "other" in kw:
        d = kw.pop("other").dtype
    kw.pop("non_blocking", None)
    copy = kw.pop("copy", False)
    kw.pop("memory_format", None)
    if rest:
        if len(rest) > 1:
            copy = rest[1]
        if not isinstance(rest[0], bool):
            raise TypeError("to() received an invalid combination of arguments")
    if kw:
        raise TypeError(f"to() got an unexpected keyword argument '{next(iter(kw))}'")
    check_cpu(where)
    return (None if d is None else as_dtype(d, "to")), copy


_COMPLEX_WARNED = False


def convert(x: Any, d: Dtype) -> Any:
    """A tensor in another dtype, recorded."""
    global _COMPLEX_WARNED
    have = x.dtype
    if have is d:
        return x
    if have.category == dtypes.COMPLEX and d.category < dtypes.COMPLEX and not _COMPLEX_WARNED:
        _COMPLEX_WARNED = True
        warnings.warn("Casting complex values to real discards the imaginary part", UserWarning, stacklevel=3)
    if d.category < dtypes.FLOATING:
        with np.errstate(all="ignore"):
            return cast_op(x, d.np)
    return cast_op(x, d.np)


def type_as(self: Any, other: Any) -> Any:
    """The tensor in the dtype of another. Source: torch.Tensor.type_as."""
    return convert(self, other.dtype)


def _converter(d: Dtype, name: str) -> Any:
    def method(self: Any, memory_format: Any = None) -> Any:
        return self if self.dtype is d else convert(self, d)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"The tensor as {d!r}; itself if it is. Source: torch.Tensor.{name}."
    return method


method_float = _converter(dtypes.float32, "float")
method_double = _converter(dtypes.float64, "double")
method_half = _converter(dtypes.float16, "half")
method_bfloat16 = _converter(dtypes.bfloat16, "bfloat16")
method_long = _converter(dtypes.int64, "long")
method_int = _converter(dtypes.int32, "int")
method_short = _converter(dtypes.int16, "short")
method_char = _converter(dtypes.int8, "char")
method_byte = _converter(dtypes.uint8, "byte")
method_bool = _converter(dtypes.bool_, "bool")
method_cfloat = _converter(dtypes.complex64, "cfloat")
method_cdouble = _converter(dtypes.complex128, "cdouble")


def cpu(self: Any, memory_format: Any = None) -> Any:
    """The tensor itself: it is on the CPU. Source: torch.Tensor.cpu."""
    return self


# ------------------------------------------------------------------ out of tensors


def numbers_of(t: Any, what: str) -> Any:
    """The array behind any tensor whose numbers may be read."""
    try:
        return raw(t)
    except AttributeError:
        return numbers_of(t.primal, what)


def item(self: Any) -> Any:
    """The only element as a Python number. Source: torch.Tensor.item."""
    try:
        a = self._a
    except AttributeError:
        a = numbers_of(self, "item")
    if a.size != 1:
        raise RuntimeError(f"a Tensor with {a.size} elements cannot be converted to Scalar")
    return a.item()


def tolist(self: Any) -> Any:
    """The elements as nested lists, a number for a 0-d tensor. Source: torch.Tensor.tolist."""
    try:
        a = self._a
    except AttributeError:
        a = numbers_of(self, "tolist")
    return a.tolist() if a.dtype.kind != "V" else a.astype(np.float32).tolist()


def numpy(self: Any, *, force: bool = False) -> Any:
    """An array over the memory of the tensor. Source: torch.Tensor.numpy.

    Raises:
        RuntimeError: it requires grad: an array would cut it out of the graph without a word. With `force` it does.
    """
    try:
        a = self._a
    except AttributeError:
        a = numbers_of(self, "numpy")
    if not force and self.requires_grad:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    if a.dtype.kind == "V":
        raise TypeError("Got unsupported ScalarType BFloat16")
    return a.view()
