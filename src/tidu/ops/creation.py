"""Tensors from data: numbers, nested lists, arrays, and whatever offers its memory; the old constructors."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..core.linear import linear
from ..core.parameters import REQUIRED, missing
from ..core.subclass import call_overridden
from ..core.tensor import Tensor, dtype_word, raw, tensor_of
from ..core.views import window
from ..devices import check_cpu
from ..dtypes import dtype as Dtype
from ..naming import warn
from ..shapes import Size
from . import _make
from ._make import as_dtype, check_place, empty_array, filling, made, number, overriding, shape_of, warn_once, word
from .conversion import cast_array, convert, numbers_of
from .storage import TypedStorage, UntypedStorage

__all__ = [
    "as_tensor", "asarray", "from_dlpack", "from_numpy", "frombuffer", "scalar_tensor", "tensor",
]  # fmt: skip
METHODS = "new_tensor as_subclass new"

_PLAIN = (list, tuple, int, float, complex, str, bytes)


def tensor(
    data: Any = REQUIRED, *more: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor with a copy of `data`, and no history.

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
    if more or data is REQUIRED:
        if more:
            raise TypeError(f"tensor() takes 1 positional argument but {1 + len(more)} were given")
        raise missing("tensor", ["data"])
    if device is not None or pin_memory:
        check_place(device, pin_memory)
    if dtype is not None and dtype.__class__ is not Dtype:
        dtype = as_dtype(dtype, "tensor")
    if requires_grad.__class__ is not bool and requires_grad is not None:
        raise TypeError(f"tensor(): argument 'requires_grad' must be bool, not {type(requires_grad).__name__}")
    return made(_copied(data, dtype), requires_grad)


def _copied(data: Any, d: Dtype | None, name: str = "torch.tensor") -> Any:
    """A fresh array of any data."""
    if isinstance(data, _PLAIN) and not isinstance(data, np.generic):
        return _make.array_of(data, d)
    if isinstance(data, Tensor):
        warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            f"sourceTensor.detach().clone().requires_grad_(True), rather than {name}(sourceTensor)."
        )
        data = numbers_of(data, "tensor")
    a = _foreign(data)
    if a is None:
        return _make.array_of(data, d)
    _make.check_foreign(a)
    return a.copy("K") if d is None or a.dtype == d.np else cast_array(a, d.np)


def _foreign(data: Any) -> Any:
    """The array that an object is or offers; None if it is none."""
    if isinstance(data, np.ndarray):
        return data if data.__class__ is np.ndarray else np.asarray(data)
    if isinstance(data, np.generic) or hasattr(data, "__array_interface__") or hasattr(data, "__array__"):
        return np.asarray(data)
    return None


def new_tensor(
    self: Any, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    layout: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor with a copy of `data` in this tensor's dtype."""
    check_place(device, pin_memory, layout)
    if overriding(self):
        return call_overridden(new_tensor, (self,), (self, data), {} if dtype is None else {"dtype": dtype})
    d = self.dtype if dtype is None else as_dtype(dtype, "new_tensor")
    return made(_copied(data, d, "tensor.new_tensor"), requires_grad)


def scalar_tensor(
    s: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A 0-d tensor of a number, of the default floating type."""
    check_place(device, pin_memory, layout)
    d = dtypes.get_default_dtype() if dtype is None else as_dtype(dtype, "scalar_tensor")
    return made(filling(number(s, "scalar_tensor", "s", 1), d), requires_grad)


# ------------------------------------------------------------------ sharing memory


def as_tensor(data: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """`data` as a tensor, sharing memory and history with it where possible.

    >>> import numpy as np, tidu as torch
    >>> a = np.zeros(2)
    >>> torch.as_tensor(a)[0] = 1
    >>> a
    array([1., 0.])
    """
    if device is not None:
        check_place(device)
    if dtype is not None and dtype.__class__ is not Dtype:
        dtype = as_dtype(dtype, "as_tensor")
    if isinstance(data, Tensor):
        return data if dtype is None else convert(data, dtype)
    if isinstance(data, np.ndarray):
        t = from_numpy(data)
        return t if dtype is None else convert(t, dtype)
    return made(_copied(data, dtype))


def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool | None = None
) -> Tensor:
    """`obj` as a tensor: shared memory where possible, a copy where asked for.

    Args:
        obj: a tensor, an array, an object with DLPack or the buffer protocol, a number or nested sequences.
        dtype: the type of the elements; by default that of `obj`.
        copy: True: always copy. False: never, and ValueError where one is needed. None: only where needed.
        requires_grad: whether the result wants a gradient. False cuts a tensor off its history.
    """
    if device is not None:
        check_place(device)
    if dtype is not None:
        dtype = as_dtype(dtype, "asarray")
    if isinstance(obj, Tensor):
        t = obj
        if requires_grad is None and obj.requires_grad:
            warn(
                "torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of False. Pass "
                "requires_grad=False explicitly to get the old behavior."
            )
            requires_grad = True
    elif isinstance(obj, np.generic):
        if copy is False:
            raise RuntimeError("can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray. ")
        return made(_copied(obj, dtype), bool(requires_grad))
    elif isinstance(obj, np.ndarray):
        t = from_numpy(obj)
    elif hasattr(obj, "__dlpack__"):
        t = from_dlpack(obj)
    elif _has_buffer(obj):
        t = frombuffer(obj, dtype=dtype or dtypes.get_default_dtype())
    elif copy is False:
        raise ValueError("can't alias arbitrary sequence into a tensor.")
    else:
        return made(_copied(obj, dtype), bool(requires_grad))
    if dtype is not None and dtype is not t.dtype:
        if copy is False:
            raise ValueError(f"can't alias tensor with dtype '{t.dtype.legacy}' into dtype '{dtype.legacy}'.")
        t = convert(t, dtype)
    elif copy:
        t = t.clone()
    if not requires_grad:
        return t.detach() if t.requires_grad else t
    if not t.requires_grad:
        t = t if t is not obj else t.detach()
        t.requires_grad = True
    return t


def _has_buffer(obj: Any) -> bool:
    try:
        memoryview(obj)
    except TypeError:
        return False
    return True


def from_numpy(ndarray: Any) -> Tensor:
    """A tensor over the memory of an array.

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
    _make.check_foreign(a)
    if not a.flags.writeable:
        warn_once(
            "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means "
            "writing to this tensor will result in undefined behavior. You may want to copy the array to protect its "
            "data or make it writable before converting it to a tensor. This type of warning will be suppressed for "
            "the rest of this program."
        )
    # A view of one's own: its shape stays when somebody assigns to the array's.
    return tensor_of(a.view(np.ndarray))


class _Capsule:
    """A bare capsule as an object that speaks DLPack."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **how: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # memory of the CPU


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor over the memory of an object that speaks DLPack; of a bare capsule, a copy of it."""
    check_place(device)
    if type(ext_tensor).__name__ == "PyCapsule" and '"dltensor"' in repr(ext_tensor):
        ext_tensor = _Capsule(ext_tensor)
    if not hasattr(ext_tensor, "__dlpack__"):
        raise RuntimeError(
            "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you "
            "might have already constructed a tensor from it once."
        )
    if isinstance(ext_tensor, Tensor):
        if ext_tensor.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        t = ext_tensor.detach()
        return t.clone() if copy else t
    a = np.from_dlpack(ext_tensor) if copy is None else np.from_dlpack(ext_tensor, copy=copy)
    return tensor_of(a if a.flags.writeable else a.copy())


def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A 1-d tensor over the memory of an object with Python's buffer protocol.

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
        warn_once(
            "The given buffer is not writable, and PyTorch does not support non-writable tensors. This means you can "
            "write to the underlying (supposedly non-writable) buffer using the tensor. You may want to copy the "
            "buffer to protect its data or make it writable before converting it to a tensor. This type of warning "
            "will be suppressed for the rest of this program."
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


alias = linear("alias", lambda input: input.view(), lambda g: g, view=True, out_arg=False)


def build(d: Dtype | None, args: tuple[Any, ...], device: Any) -> Any:
    """A tensor of a dtype (None: the default one) from sizes, a sequence, a tensor or a storage."""
    check_cpu(device)
    want = dtypes.get_default_dtype() if d is None else d
    if not args:
        return tensor_of(np.empty(0, want.np))
    first = args[0]
    if len(args) > 1 or (isinstance(first, (int, np.integer)) and not isinstance(first, bool)):
        return made(empty_array(shape_of(args, "new"), want.np))
    if isinstance(first, Size):
        return made(empty_array(tuple(first), want.np))
    if isinstance(first, Tensor):
        if d is not None and first.dtype is not d:
            raise TypeError(f"expected {_options(d)} (got {_options(first.dtype)})")
        return alias(first)
    if isinstance(first, (TypedStorage, UntypedStorage)):
        untyped = first.untyped() if isinstance(first, TypedStorage) else first
        memory = untyped._bytes.view(want.np)
        return tensor_of(window(memory, memory.shape, (1,), 0))
    if isinstance(first, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(first).__name__}'")
    if not _make.is_sequence(first):
        raise TypeError(f"new(): data must be a sequence (got {type(first).__name__})")
    return made(_make.array_of(first.tolist() if isinstance(first, np.ndarray) else first, want))


def _options(d: Dtype) -> str:
    return (
        f"TensorOptions(dtype={dtype_word(d)}, device=cpu, layout=Strided, requires_grad=false "
        "(default), pinned_memory=false (default), memory_format=(nullopt))"
    )


def _new(cls: Any, *args: Any, device: Any = None, **kw: Any) -> Any:
    """`torch.Tensor(2, 3)`, `torch.Tensor([1, 2])`, and the same for subclasses."""
    if kw and cls is Tensor:
        words = ", ".join([*map(word, args), *(f"{k}={word(v)}" for k, v in kw.items())])
        raise TypeError(
            f"new() received an invalid combination of arguments - got ({words}), but expected one of:\n * (*, "
            "torch.device device = None)\n      didn't match because some of the keywords were incorrect: "
            f"{', '.join(kw)}\n * (torch.Storage storage)\n * (Tensor other)\n * (tuple of ints size, *, torch.device "
            "device = None)\n * (object data, *, torch.device device = None)\n"
        )
    t = build(None, args, device)
    return t if cls is Tensor else rebrand(t, cls)


def rebrand(t: Any, cls: Any) -> Any:
    if type(t) is not cls:
        t.__class__ = cls
    return t


def new(self: Any, *args: Any, device: Any = None) -> Any:
    """A tensor of this one's dtype, as the old constructors make one."""
    return build(self.dtype, args, device)


def as_subclass(self: Any, cls: Any) -> Any:
    """The same memory and history as an instance of a subclass."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure your "
            "class inherits from Tensor."
        )
    return rebrand(alias(self), cls)


def _make_subclass(cls: Any, data: Any, require_grad: bool = False) -> Any:
    """A leaf of a subclass over a tensor's memory."""
    if not isinstance(data, Tensor):
        raise TypeError(f"_make_subclass(): argument 'data' (position 2) must be Tensor, not {type(data).__name__}")
    t = tensor_of(raw(data))
    t._v = data._v
    if require_grad:
        if t.dtype.category < dtypes.FLOATING:
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        t._node = True
    return rebrand(t, cls)


OPERATORS = {"__new__": staticmethod(_new), "_make_subclass": staticmethod(_make_subclass)}
