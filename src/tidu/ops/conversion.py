"""Tensors in other dtypes, and copies of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..core.broadcast import cast, cast_op
from ..core.linear import linear, shaped_op
from ..core.modes import state
from ..core.tensor import Detached, Inference, Tensor, new, raw, type_name
from ..devices import check_cpu, device
from ..dtypes import dtype as Dtype
from ..naming import warn
from ._make import as_dtype, bad_combination, restrided
from .storage import empty_as

__all__ = ["clone", "detach", "detach_"]
METHODS = (
    "* bfloat16 bool byte cdouble cfloat char contiguous cpu cuda double float half int is_pinned long pin_memory "
    "short to type type_as xpu"
)
PROPERTIES = "data"


def numbers_of(t: Any, what: str) -> Any:
    """The array behind any tensor whose numbers may be read; `what` says who asks."""
    try:
        return raw(t)
    except AttributeError:
        return t.numbers(what)


# ------------------------------------------------------------------ copies


def _copy(a: Any, memory_format: Any) -> Any:
    if memory_format is not None and memory_format.name != "preserve_format":
        return _in_format(a, memory_format)
    if 0 in a.strides and a.size:
        out = empty_as(a)
        out[...] = a
        return out
    return a.copy() if a.flags.c_contiguous else a.copy("K")


def _in_format(a: Any, memory_format: Any) -> Any:
    if memory_format.name == "contiguous_format":
        return a.copy()
    out = restrided(a.shape, a.dtype, memory_format.name)
    out[...] = a
    return out


_clone = shaped_op(
    "clone", lambda input, memory_format=None: _copy(input, memory_format), lambda g, shape, memory_format: g
)


def clone(input: Any, *, memory_format: Any = None) -> Any:
    """A copy of a tensor, through which gradients flow.

    Args:
        input: a tensor.
        memory_format: the layout of the copy; by default that of `input` if it is dense.
    """
    return _clone(input, memory_format)


clone.op = _clone.op


def contiguous(self: Any, memory_format: Any = None) -> Any:
    """The tensor itself if its elements lie in order, else a copy in which they do."""
    try:
        a = self._a
    except AttributeError:
        a = numbers_of(self, "contiguous")
    if memory_format is None or memory_format.name == "contiguous_format":
        return self if a.flags.c_contiguous else clone(self, memory_format=_CONTIGUOUS)
    if memory_format.name == "preserve_format":
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return self if in_format(a, memory_format) else clone(self, memory_format=memory_format)


def in_format(a: Any, memory_format: Any) -> bool:
    """Whether the dimensions of an array lie in memory as a channels-last format has them."""
    rank = 4 if memory_format.name == "channels_last" else 5
    return a.ndim == rank and bool(np.moveaxis(a, 1, -1).flags.c_contiguous)


class _Format:
    name = "contiguous_format"


class _ChannelsLast:
    name = "channels_last"


class _ChannelsLast3d:
    name = "channels_last_3d"


_CONTIGUOUS = _Format()
_LAST = _ChannelsLast(), _ChannelsLast3d()


def detach(input: Any) -> Tensor:
    """The same memory without the history. Writes are seen, and counted, on both sides. Source: torch.Tensor.detach."""
    try:
        a = input._a
    except AttributeError:
        return _detach(input)
    t = new(Tensor)
    t._a = a
    t._v = input._v
    t._node = t._view = t._grad = t._extra = None
    return t


def _detached(input: Any) -> Any:
    return input


_detach = linear("detach", _detached, None, out_arg=False)


def detach_(self: Any) -> Any:
    """Cut the tensor itself off its history. Source: torch.Tensor.detach_."""
    if self._view is not None:
        raise RuntimeError(
            "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
            "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence "
            "detach_() cannot be called on these gradients. To fix this error, please refer to the "
            "Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
        )
    if state.inference:
        return self
    if self._node not in (None, True) and type(self._v) is not Inference:
        self._v = Detached(self._v)
    self._node = None
    return self


def property_data(self: Any) -> Any:
    """The same memory without the history, and with a version of its own: writes to it go unnoticed.

    Assigning another tensor makes this one share its memory.
    """
    t = detach(self)
    t._v = Inference((0,)) if type(self._v) is Inference else [0]
    return t


def set_property_data(self: Any, value: Any) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
    a = raw(value)
    if self.requires_grad and dtypes.from_numpy(a.dtype).category < dtypes.FLOATING:
        raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
    self._a = a


# ------------------------------------------------------------------ other dtypes


def cast_array(a: Any, d: Any) -> Any:
    """A copy of an array in another dtype, the real part where that drops the imaginary one."""
    if a.dtype.kind == "c" and d.kind != "c":
        a = a.real if d.kind != "b" else a != 0
    return a.astype(d)


def to(self: Any, *args: Any, **kw: Any) -> Any:
    """The tensor in another dtype; itself if nothing changes.

    to(dtype, non_blocking=False, copy=False, memory_format=preserve_format), to(device=None, dtype=None, ...) and
    to(other, ...), which takes dtype and device from another tensor.
    """
    if len(args) == 1 and not kw:
        d = args[0]
        if d.__class__ is Dtype:
            return convert(self, d)
        if d.__class__ is str and d == "cpu":
            return self
    d, copy, memory_format = _parse_to(args, dict(kw))
    if memory_format is None or memory_format.name == "preserve_format":
        if copy and (d is None or d is self.dtype):
            return cast_op(self, self.dtype.np)
        return self if d is None else convert(self, d)
    return _to_format(self, d or self.dtype, copy, memory_format)


def _to_format(x: Any, d: Dtype, copy: bool, memory_format: Any) -> Any:
    """The tensor in a dtype and a layout; itself if it has the dtype and counts as being of that layout."""
    if d is x.dtype and not copy:
        a = numbers_of(x, "to")
        last = next((f for f in _LAST if in_format(a, f)), _CONTIGUOUS)
        if last.name == memory_format.name:
            return x
    warn_of_lost_parts(x.dtype, d)
    return _to_copy(x, d.np, memory_format)


_to_copy = linear(
    "to_copy",
    lambda input, dtype, memory_format: _in_format(
        input if input.dtype == dtype else cast_array(input, dtype), memory_format
    ),
    lambda g, input_dtype: cast(g, input_dtype),
    out_arg=False,
)


def _parse_to(args: tuple[Any, ...], kw: dict[str, Any]) -> tuple[Dtype | None, bool, Any]:
    rest, given = list(args), dict(kw)
    d = where = None
    if rest and isinstance(rest[0], Tensor):
        d = rest.pop(0).dtype
    elif rest and isinstance(rest[0], (Dtype, type)):
        d = rest.pop(0)
    elif "tensor" in kw:
        d = kw.pop("tensor").dtype
    else:
        where = rest.pop(0) if rest else kw.pop("device", None)
        d = rest.pop(0) if rest and (rest[0] is None or isinstance(rest[0], (Dtype, type))) else kw.pop("dtype", None)
    if d is not None and not isinstance(d, Dtype) and d not in (float, int, bool, complex):
        raise _bad_to(args, given)
    non_blocking = rest.pop(0) if rest else kw.pop("non_blocking", False)
    copy = rest.pop(0) if rest else kw.pop("copy", False)
    memory_format = kw.pop("memory_format", None)
    if rest or kw or not isinstance(non_blocking, bool) or not isinstance(copy, bool):
        raise _bad_to(args, given)
    if where is not None and not isinstance(where, (device, str, int)):
        raise _bad_to(args, given)
    check_cpu(where)
    return (None if d is None else as_dtype(d, "to")), copy, memory_format


_TO = "bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None"


def _bad_to(args: tuple[Any, ...], kw: dict[str, Any]) -> TypeError:
    return bad_combination(
        "to", args, kw, f"torch.device device = None, torch.dtype dtype = None, {_TO}", f"torch.dtype dtype, {_TO}",
        f"Tensor tensor, {_TO}",
    )  # fmt: skip


_warned = False


def convert(x: Any, d: Dtype) -> Any:
    """A tensor in another dtype, recorded; itself if it has it."""
    have = x.dtype
    if have is d:
        return x
    if have.category == dtypes.COMPLEX:
        warn_of_lost_parts(have, d)
    return cast_op(x, d.np)


def warn_of_lost_parts(have: Dtype, d: Dtype) -> None:
    global _warned
    if have.category == dtypes.COMPLEX and d.category not in (dtypes.COMPLEX, dtypes.BOOL) and not _warned:
        _warned = True
        warn("Casting complex values to real discards the imaginary part")


def type_(self: Any, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The old name of the tensor's type, or the tensor in another dtype. Source: torch.Tensor.type.

    Args:
        dtype: a dtype, an old tensor type or its name ("torch.LongTensor"); None asks for the name.

    >>> import tidu as torch
    >>> torch.zeros(1).type()
    'torch.FloatTensor'
    """
    if dtype is None:
        return f"torch.{self.dtype.legacy}Tensor"
    if isinstance(dtype, str):
        if dtype.startswith("torch.cuda."):
            raise RuntimeError("Cannot initialize CUDA: tidu computes on the CPU only")
        found = _BY_NAME.get(dtype)
        if found is None:
            raise ValueError(f"invalid type: '{dtype}'")
        return convert(self, found)
    if isinstance(dtype, Dtype):
        return convert(self, dtype)
    if isinstance(dtype, type):
        d = dtypes.get_default_dtype() if dtype is Tensor else getattr(dtype, "dtype", None)
        if not isinstance(d, Dtype):
            raise ValueError(f"invalid type: '{dtype.__name__}'")
        return convert(self, d)
    raise TypeError("dtype must be a type, str, or dtype object")


type_.__name__ = "type"
method_type = type_
_BY_NAME = {f"torch.{d.legacy}Tensor": d for d in dtypes.ALL}


def type_as(self: Any, other: Any) -> Any:
    """The tensor in the dtype of another."""
    if not isinstance(other, Tensor):
        raise TypeError(f"type_as(): argument 'other' (position 1) must be Tensor, not {type_name(other)}")
    return convert(self, other.dtype)


def _converter(d: Dtype, name: str) -> Any:
    def method(self: Any, *more: Any, memory_format: Any = None) -> Any:
        if more:
            were = "was" if len(more) == 1 else "were"
            raise TypeError(f"{name}() takes 0 positional arguments but {len(more)} {were} given")
        if memory_format is None or memory_format.name == "preserve_format":
            return convert(self, d)
        return _to_format(self, d, False, memory_format)

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


# ------------------------------------------------------------------ other places


def cpu(self: Any, memory_format: Any = None) -> Any:
    """The tensor itself: it is on the CPU."""
    return self if memory_format is None else to(self, memory_format=memory_format)


def cuda(self: Any, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Any:
    """AssertionError: there is no such device."""
    raise AssertionError("Torch not compiled with CUDA enabled")


def xpu(self: Any, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Any:
    """AssertionError: there is no such device."""
    raise AssertionError("Torch not compiled with XPU enabled")


def pin_memory(self: Any, device: Any = None) -> Any:
    """RuntimeError: memory is pinned for accelerators, and there is none."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


def is_pinned(self: Any, device: Any = None) -> bool:
    """False: see `pin_memory`."""
    return False
