"""Parameters and buffers: tensors that a module knows as its own."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from ..core.subclass import _disabled_torch_function_impl
from ..core.tensor import Tensor, tensor_of
from ..ops.export import _packed, _rebuild_tensor_v2

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]


class Parameter(Tensor):
    """A tensor that is a leaf and wants a gradient; a module that it is assigned to registers it.

    Args:
        data: the tensor whose memory it takes. None for an empty one.
        requires_grad: whether it wants a gradient.

    >>> import tidu as torch
    >>> torch.nn.Parameter(torch.zeros(2))
    Parameter containing:
    tensor([0., 0.], requires_grad=True)
    """

    _is_param = True
    __torch_function__ = _disabled_torch_function_impl

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        if data is None:
            data = tensor_of(np.empty(0, np.float32))
        if type(data) is Tensor or isinstance(data, Parameter):
            return Tensor._make_subclass(cls, data, requires_grad)
        t = data.detach().requires_grad_(requires_grad)  # a tensor of another subclass stays one
        if type(t) is not type(data):
            raise RuntimeError(
                f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() returns "
                f"an instance of the same type, but return type {type(t).__name__} was found instead. To use the type "
                "as a Parameter, please correct the detach() semantics defined by its __torch_dispatch__() "
                "implementation."
            )
        t._is_param = True
        return t

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        got = type(self)(tensor_of(self._a.copy("K")), self.requires_grad)
        memo[id(self)] = got
        return got

    def __reduce_ex__(self, protocol: Any) -> Any:
        args: Any = (_packed(self._a), self.requires_grad, OrderedDict())
        return _rebuild_parameter, (type(self), args, self.__dict__)

    def __repr__(self) -> str:
        return "Parameter containing:\n" + Tensor.__repr__(self)


def _rebuild_parameter(cls: Any, args: Any, attributes: dict[str, Any]) -> Any:
    p = cls(_rebuild_tensor_v2(args[0], False, None), args[1])
    p.__dict__.update(attributes)
    return p


class _BufferMeta(type(Tensor)):  # type: ignore[misc]
    def __instancecheck__(cls, x: Any) -> bool:
        if cls is Buffer:
            return isinstance(x, Tensor) and getattr(x, "_is_buffer", False)
        return type.__instancecheck__(cls, x)


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that a module it is assigned to registers as a buffer.

    Args:
        data: the tensor whose memory it takes. None for an empty one.
        persistent: whether it is part of the module's `state_dict`.
    """

    __torch_function__ = _disabled_torch_function_impl

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        if data is None:
            data = tensor_of(np.empty(0, np.float32))
        t = data.detach().requires_grad_(data.requires_grad)
        t._is_buffer = True
        t.persistent = persistent
        return t


class _Uninitialized:
    """What has a dtype and no shape yet."""

    _words = "Can't access the shape of an uninitialized parameter or buffer. "

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Take memory of the given shape, and become what the class stands for."""
        d = self.dtype.np if dtype is None else dtype.np
        self._a = np.empty(tuple(shape), d)
        self.__class__ = self.cls_to_become

    @property
    def shape(self) -> Any:
        raise RuntimeError(
            self._words + "This error usually happens in `load_state_dict` when trying to load an uninitialized "
            "parameter into an initialized one. Call `forward` to initialize the parameters before accessing their "
            "attributes."
        )

    def share_memory_(self) -> Any:
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
            "before calling `module.share_memory()`."
        )

    def _refused(name: str) -> Any:  # type: ignore[misc]
        def method(self: Any, *args: Any, **kw: Any) -> Any:
            raise ValueError(
                f"Attempted to use an uninitialized parameter in <method '{name}' of 'torch._C.TensorBase' objects>. This "
                "error happens when you are using a `LazyModule` or explicitly manipulating `torch.nn.parameter."
                f"{type(self).__name__}` objects. When using LazyModules Call `forward` with a dummy batch to initialize "
                "the parameters before calling torch functions"
            )

        return method

    (numel, sum, mean, norm, fill_, zero_, add_, mul_, t, view, reshape, abs, std, add, mul, uniform_, normal_) = map(
        _refused, "numel sum mean norm fill_ zero_ add_ mul_ t view reshape abs std add mul uniform_ normal_".split()
    )
    __add__, __mul__, __sub__, __matmul__ = map(_refused, "add mul sub matmul".split())

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(*self.__reduce_ex__(4)[1])
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (self.requires_grad, self.device, self.dtype)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class UninitializedParameter(_Uninitialized, Parameter):
    """A parameter whose shape a lazy module finds out at its first call."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        d = np.float32 if dtype is None else dtype.np
        return Tensor._make_subclass(cls, tensor_of(np.empty(0, d)), requires_grad)


class UninitializedBuffer(_Uninitialized, Tensor):
    """A buffer whose shape a lazy module finds out at its first call."""

    cls_to_become = Tensor
    __torch_function__ = _disabled_torch_function_impl

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> Any:
        d = np.float32 if dtype is None else dtype.np
        t = Tensor._make_subclass(cls, tensor_of(np.empty(0, d)), requires_grad)
        t.persistent = persistent
        t._is_buffer = True
        return t


def is_lazy(param: Any) -> bool:
    """Whether a parameter or buffer has no shape yet. Source: torch.nn.parameter.is_lazy."""
    return isinstance(param, _Uninitialized)
