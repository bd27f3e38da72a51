"""Factories: tensors from data, from sizes, and like other tensors."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from .. import dtypes
from ..core.tensor import Tensor, new, raw, tensor_of
from ..dtypes import dtype as Dtype
from . import _data
from ._make import as_dtype, check_place, finish, made, np_dtype, shape_of, sizes_of

__all__ = [
    "arange", "as_tensor", "asarray", "empty", "empty_like", "eye", "from_numpy", "full", "full_like", "linspace",
    "logspace", "ones", "ones_like", "range", "scalar_tensor", "tensor", "zeros", "zeros_like",
]  # fmt: skip
METHODS = "new_empty new_full new_ones new_tensor new_zeros"

ndarray = np.ndarray
_range = range


# ------------------------------------------------------------------ from data


def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """A tensor with a copy of `data`, and no history. Source: torch.tensor.

    Args:
        data: a number, nested sequences of numbers, an array, or a tensor.
        dtype: the type of the elements; by default the data's: floats become the default floating type, ints int64.
        device: the CPU, the only device.
        requires_grad: whether gradients of it are wanted.

    Raises:
        ValueError: rows of unequal length.
        TypeError, RuntimeError: data that are no numbers, or numbers that the dtype cannot hold.

    >>> import tidu as torch
    >>> torch.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    """
    if device is not None or pin_memory:
        check_place(device, pin_memory)
    if dtype is not None and dtype.__class__ is not Dtype:
        dtype = as_dtype(dtype, "tensor")
    if isinstance(data, (ndarray, np.generic)):
        a = _copy_of(data, dtype)
    elif isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
        a = _copy_of(_numbers(data), dtype)
    else:
        data = _foreign(data)
        a = _copy_of(data, dtype) if data.__class__ is ndarray else _data.array_of(data, dtype)
    return made(a, requires_grad)


def _numbers(t: Tensor) -> Any:
    try:
        return t._a
    except AttributeError:
        from .conversion import numbers_of

        return numbers_of(t, "tensor")


def _foreign(data: Any) -> Any:
    """An object that offers its memory as an array; anything else as it is."""
    if isinstance(data, (list, tuple, int, float, complex, str, bytes)):
        return data
    if hasattr(data, "__array_interface__") or (hasattr(data, "__array__") and not hasattr(data, "__torch_function__")):
        return np.asarray(data)
    if isinstance(data, memoryview):
        return np.asarray(data)
    return data


def _copy_of(a: Any, d: Any) -> Any:
    """A fresh C-contiguous copy of an array, in a dtype if one is given."""
    if a.__class__ is not ndarray:
        a = np.asarray(a)
    _data.check_foreign(a)
    if d is None or a.dtype == d.np:
        return np.array(a, order="C")
    return _converted(a, d)


def _converted(a: Any, d: Any) -> Any:
    from .conversion import cast_array

    return cast_array(a, d.np)


def scalar_tensor(
    s: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A 0-d tensor of a number, of the default floating type. Source: torch.scalar_tensor."""
    check_place(device, pin_memory, layout)
    if dtype is None:
        dtype = dtypes.get_default_dtype() if not isinstance(s, complex) else dtypes.of_scalar(s)
    return full((), s, dtype=dtype, requires_grad=requires_grad)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """`data` as a tensor, sharing memory and history with it where possible. Source: torch.as_tensor.

    >>> import numpy as np, tidu as torch
    >>> a = np.zeros(2)
    >>> torch.as_tensor(a)[0] = 1
    >>> a
    array([1., 0.])
    """
    if device is not None:
        check_place(device)
    if isinstance(data, Tensor):
        return data if dtype is None or data.dtype is dtype else data.to(dtype)  # type: ignore[attr-defined, no-any-return]
    if dtype is not None and dtype.__class__ is not Dtype:
        dtype = as_dtype(dtype, "as_tensor")
    data = _foreign(data)
    if data.__class__ is ndarray or isinstance(data, ndarray):
        t = from_numpy(data, _stacklevel=3)
        return t if dtype is None or t.dtype is dtype else t.to(dtype)  # type: ignore[attr-defined, no-any-return]
    return tensor(data, dtype=dtype)


def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False
) -> Tensor:
    """`obj` as a tensor: shared memory where possible, a copy where asked for. Source: torch.asarray.

    Args:
        obj: a tensor, an array, an object with DLPack or the buffer protocol, a number or nested sequences.
        dtype: the type of the elements; by default that of `obj`.
        copy: True: always copy. False: never, and ValueError where one is needed. None: only where needed.
        requires_grad: whether the result wants a gradient. A tensor that has a history loses it when False.
    """
    if device is not None:
        check_place(device)
    if dtype is not None:
        dtype = as_dtype(dtype, "asarray")
    if isinstance(obj, Tensor):
        t = obj
    elif isinstance(obj, (ndarray, np.generic)):
        t = from_numpy(np.asarray(obj), _stacklevel=3)
        if isinstance(obj, np.generic):
            if copy is False:
                raise ValueError("can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray. ")
            copy = None
    elif hasattr(obj, "__dlpack__"):
        t = from_dlpack(obj)
    elif not isinstance(obj, (str, bytes)) and _has_buffer(obj):
        t = frombuffer(obj, dtype=dtype or dtypes.get_default_dtype())
    else:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return tensor(obj, dtype=dtype, requires_grad=requires_grad)
    if dtype is not None and dtype is not t.dtype:
        if copy is False:
            raise ValueError(
                f"can't alias tensor with dtype '{t.dtype.name}' into dtype '{dtype.name}'."
            )
        t = t.to(dtype)  # type: ignore[attr-defined]
    elif copy:
        t = t.clone()  # type: ignore[attr-defined]
    if not requires_grad:
        return t.detach() if t.requires_grad else t  # type: ignore[attr-defined, no-any-return]
    if not t.requires_grad:
        t = t if t is not obj else t.detach()  # type: ignore[attr-defined]
        t.requires_grad = True
    return t


def _has_buffer(obj: Any) -> bool:
    try:
        memoryview(obj)
    except TypeError:
        return False
    return True


_warned_read_only = False


def from_numpy(ndarray: Any, *, _stacklevel: int = 2) -> Tensor:
    """A tensor over the memory of an array. Source: torch.from_numpy.

    Raises:
        TypeError: not an array, or of a type that tensors do not have.
        ValueError: negative strides, foreign byte order.

    >>> import numpy as np, tidu as torch
    >>> torch.from_numpy(np.arange(3))
    tensor([0, 1, 2])
    """
    a = ndarray
    if not isinstance(a, np.ndarray):
        kind = type(a)
        name = f"numpy.{kind.__name__}" if isinstance(a, np.generic) else kind.__name__
        raise TypeError(f"expected np.ndarray (got {name})")
    _data.check_foreign(a)
    if not a.flags.writeable:
        _warn_read_only(_stacklevel + 1)
    # A view of one's own: its shape stays when somebody assigns to the array's.
    return tensor_of(a.view(np.ndarray))


def _warn_read_only(stacklevel: int) -> None:
    global _warned_read_only
    if _warned_read_only:
        return
    _warned_read_only = True
    warnings.warn(
        "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means writing "
        "to this tensor will result in undefined behavior. You may want to copy the array to protect its data or make "
        "it writable before converting it to a tensor. This type of warning will be suppressed for the rest of this "
        "program.",
        UserWarning,
        stacklevel=stacklevel,
    )


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor over the memory of an object that speaks DLPack. Source: torch.from_dlpack."""
    check_place(device)
    if isinstance(ext_tensor, Tensor):
        t = ext_tensor.detach()  # type: ignore[attr-defined]
        return t.clone() if copy else t  # type: ignore[no-any-return]
    a = np.from_dlpack(ext_tensor) if copy is None else np.from_dlpack(ext_tensor, copy=copy)
    if not a.flags.writeable:
        a = a.copy()
    return tensor_of(a)


def frombuffer(
    buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A 1-d tensor over the memory of an object with Python's buffer protocol. Source: torch.frombuffer.

    Args:
        buffer: a bytearray, array.array, memoryview, ...
        dtype: how to read the bytes.
        count: the number of elements; -1 for all that follow.
        offset: the byte to begin with.
    """
    d = as_dtype(dtype, "frombuffer")
    try:
        view = memoryview(buffer)
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    length, item = view.nbytes, d.itemsize
    if view.readonly:
        warnings.warn(
            "The given buffer is not writable, and PyTorch does not support non-writable tensors. This means you can "
            "write to the underlying (supposedly non-writable) buffer using the tensor. You may want to copy the "
            "buffer to protect its data or make it writable before converting it to a tensor. This type of warning "
            "will be suppressed for the rest of this program.",
            UserWarning,
            stacklevel=2,
        )
    if not length or not count:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} bytes) minus 1"
        )
    if count < 0:
        if (length - offset) % item:
            raise ValueError(
                f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a multiple of element "
                f"size ({item})"
            )
        count = (length - offset) // item
    elif offset + count * item > length:
        raise ValueError(
            f"requested buffer length ({count} * {item} bytes) after offset ({offset} bytes) must not be greater than "
            f"actual buffer length ({length} bytes)"
        )
    return made(np.frombuffer(buffer, d.np, count, offset), requires_grad)


# ------------------------------------------------------------------ from sizes


def zeros(
    *args: Any, size: Any = None, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of zeros. The sizes come one by one or as a sequence. Source: torch.zeros.

    >>> import tidu as torch
    >>> torch.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    if device is not None or pin_memory or layout is not None:
        check_place(device, pin_memory, layout)
    return finish(np.zeros(sizes_of(args, size, "zeros"), _type(dtype, out, "zeros")), out, requires_grad)


def ones(
    *args: Any, size: Any = None, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of ones. Source: torch.ones."""
    if device is not None or pin_memory or layout is not None:
        check_place(device, pin_memory, layout)
    return finish(np.ones(sizes_of(args, size, "ones"), _type(dtype, out, "ones")), out, requires_grad)


def empty(
    *args: Any, size: Any = None, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """A tensor of whatever is in memory. Source: torch.empty."""
    if device is not None or pin_memory or layout is not None:
        check_place(device, pin_memory, layout)
    a = np.empty(sizes_of(args, size, "empty"), _type(dtype, out, "empty"))
    return finish(a, out, requires_grad)


def _type(d: Any, out: Any, fn: str) -> Any:
    return np_dtype(d, fn) if d is not None or out is None else out._a.dtype


def full(
    size: Any, fill_value: Any, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor filled with one number, whose type decides the dtype. Source: torch.full.

    >>> import tidu as torch
    >>> torch.full((2,), 7)
    tensor([7, 7])
    """
    check_place(device, pin_memory, layout)
    shape = shape_of(size, "full")
    if dtype is None:
        d = dtypes.of_scalar(_fill(fill_value, "full")) if out is None else out.dtype
    else:
        d = as_dtype(dtype, "full")
    return finish(np.full(shape, _fill_array(fill_value, d, "full"), d.np), out, requires_grad)


def _fill(value: Any, fn: str) -> Any:
    if isinstance(value, (Tensor, np.ndarray, np.generic)):
        if value.ndim:
            raise TypeError(f"{fn}(): argument 'fill_value' must be Number, not {type(value).__name__}")
        return value.item()
    if not isinstance(value, (bool, int, float, complex)):
        raise TypeError(f"{fn}(): argument 'fill_value' must be Number, not {type(value).__name__}")
    return value


def _fill_array(value: Any, d: Dtype, fn: str) -> Any:
    """A number as a 0-d array of a dtype; RuntimeError where it does not fit."""
    value = _fill(value, fn)
    if d.category == dtypes.INTEGRAL and isinstance(value, float) and not math.isfinite(value):
        raise _data.overflow(d)
    if isinstance(value, complex) and d.category < dtypes.COMPLEX and value.imag:
        raise RuntimeError(f"value cannot be converted to type {d.name} without overflow")
    if isinstance(value, complex) and d.category < dtypes.COMPLEX:
        value = value.real
    return _data.array_of(value, d)


def arange(
    start: Any = 0, end: Any = None, step: Any = 1, *, out: Any = None, dtype: Any = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """start, start + step, ... up to but without `end`; ints give int64. Source: torch.arange.

    >>> import tidu as torch
    >>> torch.arange(1, 2.5, 0.5)
    tensor([1.0000, 1.5000, 2.0000])
    """
    check_place(device, pin_memory, layout)
    if end is None:
        start, end = 0, start
    start, end, step = (_fill(v, "arange") for v in (start, end, step))
    if dtype is not None:
        d = as_dtype(dtype, "arange")
    elif out is not None:
        d = out.dtype
    else:
        whole = all(isinstance(v, int) for v in (start, end, step))
        d = dtypes.int64 if whole else dtypes.get_default_dtype()
    if d.category == dtypes.INTEGRAL:
        start, end, step = int(start), int(end), int(step)
    _check_steps(start, end, step)
    n = math.ceil((end - start) / step)
    return finish(_steps(start, step, n, d), out, requires_grad)


def _check_steps(start: Any, end: Any, step: Any) -> None:
    if not step:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (step > 0) != (end >= start) and start != end:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")


def _steps(start: Any, step: Any, n: int, d: Dtype) -> Any:
    """start + step * i, computed in the wide type and rounded once."""
    if d.category == dtypes.INTEGRAL:
        return (np.arange(n, dtype=np.int64) * step + start).astype(d.np)
    with np.errstate(all="ignore"):
        return (np.arange(n, dtype=np.float64) * step + start).astype(d.np)


def range(
    start: Any = 0, end: Any = None, step: Any = 1, *, out: Any = None, dtype: Any = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """start, start + step, ... up to and including `end`; deprecated in favour of `arange`. Source: torch.range."""
    check_place(device, pin_memory, layout)
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end).",
        UserWarning,
        stacklevel=2,
    )
    if end is None:
        start, end = 0, start
    _check_steps(start, end, step)
    d = dtypes.get_default_dtype() if dtype is None else as_dtype(dtype, "range")
    return finish(_steps(start, step, math.floor((end - start) / step) + 1, d), out, requires_grad)


def linspace(
    start: Any, end: Any, steps: int, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """`steps` numbers from `start` to `end`, both included, evenly spaced. Source: torch.linspace.

    >>> import tidu as torch
    >>> torch.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    check_place(device, pin_memory, layout)
    start, end = _fill(start, "linspace"), _fill(end, "linspace")
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    d = _spaced_type(start, end, dtype, out, "linspace")
    return finish(_spaced(start, end, steps, d), out, requires_grad)


def _spaced_type(start: Any, end: Any, d: Any, out: Any, fn: str) -> Dtype:
    if d is not None:
        return as_dtype(d, fn)
    if out is not None:
        return out.dtype  # type: ignore[no-any-return]
    default = dtypes.get_default_dtype()
    return default.to_complex() if isinstance(start, complex) or isinstance(end, complex) else default


def _spaced(start: Any, end: Any, steps: int, d: Dtype) -> Any:
    """The first half counts from the start, the second from the end, in the type of the result."""
    wide: Any = d.np.type if d.itemsize > 2 or d.category == dtypes.INTEGRAL else np.float32
    if d.category == dtypes.INTEGRAL:
        wide = np.float32 if False else np.float64
    start, end = wide(start), wide(end)
    if steps == 1:
        return np.array([start]).astype(d.np)
    i = np.arange(steps)
    step = (end - start) / wide(max(steps - 1, 1))
    low = start + step * i.astype(wide)
    high = end - step * (steps - 1 - i).astype(wide)
    return np.where(i < steps // 2, low, high).astype(d.np)


def logspace(
    start: Any, end: Any, steps: int, base: float = 10.0, *, out: Any = None, dtype: Any = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """base ** linspace(start, end, steps). Source: torch.logspace."""
    check_place(device, pin_memory, layout)
    start, end = _fill(start, "logspace"), _fill(end, "logspace")
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    d = _spaced_type(start, end, dtype, out, "logspace")
    wide = dtypes.complex128 if d.is_complex else dtypes.float64
    with np.errstate(all="ignore"):
        return finish(np.power(base, _spaced(start, end, steps, wide)).astype(d.np), out, requires_grad)


def eye(
    n: int, m: int | None = None, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Ones on the diagonal of an n by m (by default n by n) matrix. Source: torch.eye."""
    check_place(device, pin_memory, layout)
    m = n if m is None else m
    for name, v in (("n", n), ("m", m)):
        if v < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {v}")
    return finish(np.eye(n, m, dtype=_type(dtype, out, "eye")), out, requires_grad)


# ------------------------------------------------------------------ like another tensor


def _like(input: Any, dtype: Any, memory_format: Any, fn: str) -> Any:
    """Uninitialised memory in the shape, and the layout, of a tensor."""
    if not isinstance(input, Tensor):
        raise TypeError(f"{fn}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    d = None if dtype is None else as_dtype(dtype, fn).np
    try:
        a = input._a
    except AttributeError:
        return np.empty(tuple(input.shape), d or input.dtype.np)
    if memory_format is None or memory_format.name == "preserve_format":
        return np.empty_like(a, d, "K", False)
    return np.empty(a.shape, d or a.dtype)


def zeros_like(
    input: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
    requires_grad: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """Zeros in the shape and dtype of another tensor. Source: torch.zeros_like."""
    if device is not None or pin_memory or layout is not None:
        check_place(device, pin_memory, layout)
    a = _like(input, dtype, memory_format, "zeros_like")
    a.fill(0)
    return made(a, requires_grad)


def ones_like(
    input: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
    requires_grad: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """Ones in the shape and dtype of another tensor. Source: torch.ones_like."""
    if device is not None or pin_memory or layout is not None:
        check_place(device, pin_memory, layout)
    a = _like(input, dtype, memory_format, "ones_like")
    a.fill(1)
    return made(a, requires_grad)


def empty_like(
    input: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
    requires_grad: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """Uninitialised memory in the shape and dtype of another tensor. Source: torch.empty_like."""
    check_place(device, pin_memory, layout)
    return made(_like(input, dtype, memory_format, "empty_like"), requires_grad)


def full_like(
    input: Any, fill_value: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """One number in the shape and dtype of another tensor. Source: torch.full_like."""
    check_place(device, pin_memory, layout)
    a = _like(input, dtype, memory_format, "full_like")
    a[...] = _fill_array(fill_value, dtypes.from_numpy(a.dtype), "full_like")
    return made(a, requires_grad)


def _new_type(self: Any, dtype: Any, fn: str) -> Any:
    return self.dtype.np if dtype is None else np_dtype(dtype, fn)


def new_zeros(
    self: Any, *args: Any, size: Any = None, dtype: Any = None, device: Any = None, layout: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Zeros of the given sizes in this tensor's dtype. Source: torch.Tensor.new_zeros."""
    check_place(device, pin_memory, layout)
    return made(np.zeros(sizes_of(args, size, "new_zeros"), _new_type(self, dtype, "new_zeros")), requires_grad)


def new_ones(
    self: Any, *args: Any, size: Any = None, dtype: Any = None, device: Any = None, layout: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Ones of the given sizes in this tensor's dtype. Source: torch.Tensor.new_ones."""
    check_place(device, pin_memory, layout)
    return made(np.ones(sizes_of(args, size, "new_ones"), _new_type(self, dtype, "new_ones")), requires_grad)


def new_empty(
    self: Any, *args: Any, size: Any = None, dtype: Any = None, device: Any = None, layout: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Uninitialised memory of the given sizes in this tensor's dtype. Source: torch.Tensor.new_empty."""
    check_place(device, pin_memory, layout)
    return made(np.empty(sizes_of(args, size, "new_empty"), _new_type(self, dtype, "new_empty")), requires_grad)


def new_full(
    self: Any, size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, layout: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """One number, in the given sizes and this tensor's dtype. Source: torch.Tensor.new_full."""
    d = self.dtype if dtype is None else dtype
    return full(
        size, fill_value, dtype=d, device=device, layout=layout, pin_memory=pin_memory, requires_grad=requires_grad
    )


def new_tensor(
    self: Any, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    layout: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor with a copy of `data` in this tensor's dtype. Source: torch.Tensor.new_tensor."""
    check_place(device, pin_memory, layout)
    return tensor(data, dtype=self.dtype if dtype is None else dtype, requires_grad=requires_grad)
