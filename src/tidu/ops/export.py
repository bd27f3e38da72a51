"""Tensors as other things: Python numbers and lists, arrays, bytes for pickle, deep copies."""

from __future__ import annotations

import copy
import functools
import warnings
from collections import OrderedDict
from typing import Any

import numpy as np

from ..core.modes import state
from ..core.subclass import DisableTorchFunctionSubclass, overrides
from ..core.tensor import Tensor, extra, raw, tensor_of
from ..core.views import geometry, storage_of, window
from .conversion import cast_array, numbers_of

__all__: list[str] = []
METHODS = "item numpy tolist"


# ------------------------------------------------------------------ numbers


def item(self: Any) -> Any:
    """The only element as a Python number. Source: torch.Tensor.item.

    Raises:
        RuntimeError: there is not exactly one element.
    """
    try:
        a = self._a
    except AttributeError:
        a = numbers_of(self, "item")
    if a.size != 1:
        raise RuntimeError(f"a Tensor with {a.size} elements cannot be converted to Scalar")
    return a.item()


def tolist(self: Any) -> Any:
    """The elements as nested lists, a number for a 0-d tensor. Source: torch.Tensor.tolist."""
    a = numbers_of(self, "tolist")
    return a.tolist() if a.dtype.kind != "V" else a.astype(np.float32).tolist()


def _only(self: Any) -> Any:
    a = numbers_of(self, "item")
    if a.size != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return a.item()


def _real(self: Any, target: str) -> Any:
    value = _only(self)
    if isinstance(value, complex):
        if value.imag:
            raise RuntimeError(f"value cannot be converted to type {target} without overflow")
        value = value.real
    return value


@functools.cache
def _warn_of_scalars() -> None:
    """Once in a process."""
    warnings.warn(
        "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\nConsider using "
        "tensor.detach() first.",
        UserWarning,
        stacklevel=3,
    )


def _float(self: Any) -> float:
    if self.requires_grad and state.grad:
        _warn_of_scalars()
    return float(_real(self, "double"))


def _int(self: Any) -> int:
    return int(_real(self, "int64_t"))


def _complex(self: Any) -> complex:
    return complex(_only(self))


def _index(self: Any) -> int:
    a = numbers_of(self, "item")
    if a.size != 1 or a.dtype.kind not in "iub":
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(a.item())


def _bool(self: Any) -> bool:
    a = numbers_of(self, "item")
    if a.size != 1:
        several = "more than one value" if a.size else "no values"
        raise RuntimeError(f"Boolean value of Tensor with {several} is ambiguous")
    return bool(a.item())


# ------------------------------------------------------------------ arrays


def numpy(self: Any, *, force: bool = False) -> Any:
    """An array over the memory of the tensor. Source: torch.Tensor.numpy.

    Args:
        force: cut it off its history without a word.

    Raises:
        RuntimeError: it requires grad, and nobody said `force`.
        TypeError: NumPy has no such dtype (bfloat16).

    >>> import tidu as torch
    >>> t = torch.zeros(2)
    >>> t.numpy()[0] = 1
    >>> t
    tensor([1., 0.])
    """
    a = numbers_of(self, "numpy")
    if not force and state.grad and self.requires_grad:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    if a.dtype.kind == "V":
        raise TypeError("Got unsupported ScalarType BFloat16")
    return a.view()


def _array(self: Any, dtype: Any = None, copy: bool | None = None) -> Any:
    a = numpy(self)
    if dtype is not None and a.dtype != dtype:
        if copy is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        return cast_array(a, np.dtype(dtype))
    return a.copy() if copy else a


def _dlpack(self: Any, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None) -> Any:
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    return numpy(self).__dlpack__(max_version=max_version, dl_device=dl_device, copy=copy)


def _dlpack_device(self: Any) -> Any:
    return np.empty(0).__dlpack_device__()


# ------------------------------------------------------------------ copies and bytes


def _deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    """A copy of a leaf with all its memory: copies of tensors that share memory share theirs."""
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  "
            "If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, "
            "see https://github.com/pytorch/pytorch/pull/103001"
        )
    if id(self) in memo:
        return memo[id(self)]
    if type(self) is not Tensor and overrides(type(self)):
        with DisableTorchFunctionSubclass():
            same = type(self.new_empty(())) is type(self)
        if not same:
            raise RuntimeError(
                "The default implementation of __deepcopy__() for non-wrapper subclasses only works for subclass types "
                "that implement new_empty() and for which that function returns another instance of the same subclass. "
                "You should either properly implement new_empty() for your subclass or override __deepcopy__() if it is "
                "intended behavior for new_empty() to return an instance of a different type."
            )
    a = raw(self)
    storage = storage_of(a)
    fresh = memo.get(id(storage))
    if fresh is None:
        fresh = memo[id(storage)] = storage.copy("K")
        memo.setdefault(id(memo), []).append(storage)
    t = tensor_of(fresh if storage is a else window(fresh, *geometry(a, storage), a.dtype))
    t._node = self._node
    memo[id(self)] = t
    if type(self) is not Tensor:
        t.__class__ = type(self)
    if self._grad is not None:
        t._grad = copy.deepcopy(self._grad, memo)
    if self.__dict__:
        t.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return t


def _copy(self: Any) -> Any:
    """A leaf over the same memory."""
    t = tensor_of(raw(self))
    t._node = True if self.requires_grad else None
    return _adorn(t, type(self), self.__dict__)


def _reduce_ex(self: Any, protocol: int) -> Any:
    hooks = None if self._extra is None else self._extra.backward_hooks
    if hooks:
        from ..core.hooks import warn_if_has_hooks

        warn_if_has_hooks(self)
        hooks = None
    args = (_packed(raw(self)), self.requires_grad, hooks or OrderedDict())
    if type(self) is Tensor and not self.__dict__:
        return _rebuild_tensor_v2, args
    return _rebuild_from_type_v2, (_rebuild_tensor_v2, type(self), args, self.__dict__)


def _packed(a: Any) -> Any:
    """An array with its layout, and with a dtype that NumPy itself can pickle."""
    dense = a if a.flags.forc else a.copy("K")
    return (dense.view(np.uint16), "bfloat16") if a.dtype.kind == "V" else (dense, None)


def _rebuild_tensor_v2(packed: Any, requires_grad: bool, backward_hooks: Any) -> Tensor:
    a, name = packed
    if name is not None:
        from ..dtypes import bfloat16

        a = a.view(bfloat16.np)
    t = tensor_of(a)
    t._node = True if requires_grad else None
    if backward_hooks:
        extra(t).backward_hooks = backward_hooks
    return t


def _rebuild_from_type_v2(build: Any, kind: Any, args: Any, attributes: Any) -> Any:
    return _adorn(build(*args), kind, attributes)


def _adorn(t: Any, kind: Any, attributes: dict[str, Any]) -> Any:
    """A plain tensor made one of a subclass, with attributes."""
    if type(t) is not kind:
        t.__class__ = kind
    if attributes:
        t.__dict__.update(attributes)
    return t


OPERATORS = {
    "__array__": _array,
    "__array_priority__": 1000,
    "__bool__": _bool,
    "__complex__": _complex,
    "__copy__": _copy,
    "__deepcopy__": _deepcopy,
    "__dlpack__": _dlpack,
    "__dlpack_device__": _dlpack_device,
    "__float__": _float,
    "__index__": _index,
    "__int__": _int,
    "__reduce_ex__": _reduce_ex,
}
