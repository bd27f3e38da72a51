"""The old constructors: `torch.Tensor(...)`, `torch.FloatTensor(...)`, `x.new(...)`; and subclasses by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..core.linear import linear
from ..core.tensor import Tensor, raw, tensor_of
from ..core.views import window
from ..devices import check_cpu
from ..dtypes import dtype as Dtype
from ..shapes import Size
from . import _make
from ._make import empty_array, made, shape_of, word
from .storage import TypedStorage, UntypedStorage

__all__: list[str] = []
METHODS = "as_subclass new"

_C_WORDS = {
    "uint8": "unsigned char", "int8": "signed char", "int16": "short int", "int32": "int", "int64": "long int",
    "float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float", "float64": "double", "bool": "bool",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip

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
        f"TensorOptions(dtype={_C_WORDS.get(d.name, d.name)}, device=cpu, layout=Strided, requires_grad=false "
        "(default), pinned_memory=false (default), memory_format=(nullopt))"
    )


def _new(cls: Any, *args: Any, device: Any = None, **kw: Any) -> Any:
    """`torch.Tensor(2, 3)`, `torch.Tensor([1, 2])`, and the same for subclasses."""
    if kw and cls is Tensor:
        words = ", ".join([*map(word, args), *(f"{k}={word(v)}" for k, v in kw.items())])
        raise TypeError(
            f"new() received an invalid combination of arguments - got ({words}), but expected one of:\n"
            " * (*, torch.device device = None)\n"
            f"      didn't match because some of the keywords were incorrect: {', '.join(kw)}\n"
            " * (torch.Storage storage)\n * (Tensor other)\n * (tuple of ints size, *, torch.device device = None)\n"
            " * (object data, *, torch.device device = None)\n"
        )
    t = build(None, args, device)
    return t if cls is Tensor else rebrand(t, cls)


def rebrand(t: Any, cls: Any) -> Any:
    """Make a fresh plain tensor one of a subclass."""
    if type(t) is not cls:
        t.__class__ = cls
    return t


def new(self: Any, *args: Any, device: Any = None) -> Any:
    """A tensor of this one's dtype, as the old constructors make one. Source: torch.Tensor.new."""
    return build(self.dtype, args, device)


def as_subclass(self: Any, cls: Any) -> Any:
    """The same memory and history as an instance of a subclass. Source: torch.Tensor.as_subclass."""
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
