"""Tensors as other things: Python numbers and lists, arrays, bytes for pickle, deep copies; NumPy's functions on tensors.

`np.sin(t)`, `array + t`, `t + array` come as ufuncs, in the types that NumPy computes in; `np.mean(t)` comes as an array
function. What has no op here is computed on arrays, which a tensor that requires grad refuses to be taken for; a
result is a tensor again where PyTorch's is.
"""

from __future__ import annotations

import copy
import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.modes import state
from ..core.promote import Number
from ..core.subclass import PUBLIC, DisableTorchFunctionSubclass, overrides
from ..core.tensor import Tensor, extra, raw, tensor_of
from ..core.views import geometry, storage_of, window
from ..dtypes import bool_, from_numpy, uint8
from ..naming import warn
from .arithmetic import tensor_like
from .conversion import cast_array, numbers_of

__all__: list[str] = []
METHODS = "item numpy tolist"

# ------------------------------------------------------------------ numbers


def item(self: Any) -> Any:
    """The only element as a Python number.

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
    """The elements as nested lists, a number for a 0-d tensor."""
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
    warn(
        "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\nConsider using "
        "tensor.detach() first."
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
    """An array over the memory of the tensor.

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

# NumPy's names where they are not the ops'.
_RENAMED = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan",
    "arctan2": "atan2", "arctanh": "atanh", "conjugate": "conj", "divide": "div", "equal": "eq", "fabs": "abs",
    "greater": "gt", "greater_equal": "ge", "invert": "bitwise_not", "left_shift": "bitwise_left_shift",
    "less": "lt", "less_equal": "le", "multiply": "mul", "negative": "neg", "not_equal": "ne", "power": "pow",
    "right_shift": "bitwise_right_shift", "rint": "round", "subtract": "sub",
}  # fmt: skip
_SAME = frozenset(
    "add bitwise_and bitwise_or bitwise_xor ceil copysign cos cosh deg2rad exp exp2 expm1 float_power floor "
    "floor_divide fmax fmin fmod gcd heaviside hypot isfinite isinf isnan lcm ldexp log log10 log1p log2 "
    "logaddexp logaddexp2 logical_and logical_not logical_or logical_xor matmul maximum minimum nextafter positive "
    "rad2deg reciprocal remainder sign signbit sin sinh sqrt square tan tanh trunc".split()
)


def _array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **kw: Any) -> Any:
    name = _RENAMED.get(ufunc.__name__, ufunc.__name__ if ufunc.__name__ in _SAME else "")
    if name and method == "__call__" and not kw:
        op = PUBLIC[name]
        operands = [_operand(x) for x in _in_common(ufunc, inputs)]
        if getattr(getattr(op, "op", None), "numbers", True) is False:  # it takes tensors alone, a ufunc anything
            operands = [tensor_like(x, self) for x in operands]
        result = op(*operands)
        if result.dtype is bool_ and not isinstance(inputs[0], np.ndarray):  # an operator's, if it is
            return result.to(uint8)
        return result
    out = kw.get("out")
    if out is not None:
        kw["out"] = tuple(numpy(o) if isinstance(o, Tensor) else o for o in out)
    result = getattr(ufunc, method)(*[numpy(x) if isinstance(x, Tensor) else x for x in inputs], **kw)
    if out is not None:
        for o in out:
            if isinstance(o, Tensor):
                o._v[0] += 1
        return out[0] if len(out) == 1 else out
    if isinstance(result, tuple):
        return tuple(_wrapped(r) for r in result)
    return _wrapped(result)


def _in_common(ufunc: Any, inputs: Any) -> Any:
    """The inputs in the types in which NumPy's loop takes them, where it has one. Beside its scalars, whose operators
    come here too, a tensor keeps its own."""
    if any(isinstance(x, np.generic) for x in inputs):
        return inputs
    types = [x.dtype.np if isinstance(x, Tensor) else getattr(x, "dtype", type(x)) for x in inputs]
    try:
        loop = ufunc.resolve_dtypes((*[int if t is bool else t for t in types], *[None] * ufunc.nout))
    except TypeError:
        return inputs
    return [
        x if d == t or isinstance(x, Number) else x.to(from_numpy(d)) if isinstance(x, Tensor) else np.asarray(x, d)
        for x, d, t in zip(inputs, loop, types, strict=False)
    ]


def _operand(x: Any) -> Any:
    """An operand of an op: arrays are constants, NumPy's scalars plain numbers."""
    if isinstance(x, np.generic):
        return x.item()
    return tensor_of(np.asarray(x)) if isinstance(x, (np.ndarray, list, tuple)) else x


def _wrapped(r: Any) -> Any:
    return tensor_of(r) if isinstance(r, (np.ndarray, np.generic)) else r


def _array_wrap(self: Any, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
    return tensor_of(array.astype(np.uint8) if array.dtype == np.bool_ else array)


# ------------------------------------------------------------------ array functions


def _reduction(name: str) -> Callable[..., Any]:
    def call(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **kw: Any) -> Any:
        kw.update({"dim": axis, "keepdim": True} if keepdims is True else {"dim": axis} if axis is not None else {})
        return PUBLIC[name](_operand(a), **kw)

    return call


def _deviation(name: str) -> Callable[..., Any]:
    def call(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: Any = False
    ) -> Any:
        return PUBLIC[name](_operand(a), dim=axis, correction=ddof, keepdim=keepdims is True)

    return call


def _joined(name: str) -> Callable[..., Any]:
    def call(arrays: Any, axis: int = 0) -> Any:
        return PUBLIC[name]([_operand(a) for a in arrays], dim=axis)

    return call


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "all": _reduction("all"), "amax": _reduction("amax"), "amin": _reduction("amin"), "any": _reduction("any"),
    "argmax": _reduction("argmax"), "argmin": _reduction("argmin"), "max": _reduction("amax"),
    "mean": _reduction("mean"), "min": _reduction("amin"), "nansum": _reduction("nansum"), "prod": _reduction("prod"),
    "std": _deviation("std"), "sum": _reduction("sum"), "var": _deviation("var"),
    "clip": lambda a, a_min=None, a_max=None, min=None, max=None: PUBLIC["clamp"](
        _operand(a), min if a_min is None else a_min, max if a_max is None else a_max
    ),
    "argsort": lambda a, axis=-1, **kw: PUBLIC["argsort"](a, axis),
    "cumprod": lambda a, axis=None: PUBLIC["cumprod"](*((a.ravel(), 0) if axis is None else (a, axis))),
    "cumsum": lambda a, axis=None: PUBLIC["cumsum"](*((a.ravel(), 0) if axis is None else (a, axis))),
    "ndim": lambda a: a.ndim,
    "nonzero": lambda a: a.nonzero(),
    "reshape": lambda a, shape: a.reshape(shape),
    "shape": lambda a: a.shape,
    "size": lambda a, axis=None: a.numel() if axis is None else a.shape[axis],
    "squeeze": lambda a, axis=None: a.squeeze() if axis is None else a.squeeze(axis),
    "swapaxes": lambda a, axis1, axis2: a.transpose(axis1, axis2),
    "transpose": lambda a, axes=None: a.permute(tuple(range(a.ndim))[::-1] if axes is None else axes),
}  # fmt: skip
# Those that give arrays with PyTorch, and tensors here where a gradient would be lost.
_RECORDED: dict[str, Callable[..., Any]] = {
    "concatenate": _joined("cat"), "stack": _joined("stack"),
    "dot": lambda a, b: PUBLIC["matmul"](_operand(a), _operand(b)),
    "outer": lambda a, b: PUBLIC["outer"](_operand(a), _operand(b)),
    "trace": lambda a: PUBLIC["trace"](a),
    "where": lambda condition, x, y: PUBLIC["where"](_operand(condition), _operand(x), _operand(y)),
}  # fmt: skip
# Those of whose results NumPy makes again what came in, but for the parts at these places.
_AGAIN: dict[str, tuple[int, ...]] = dict.fromkeys(
    "apply_along_axis around array_split choose cholesky compress delete dsplit fix hsplit insert inv linspace pinv "
    "ptp qr real repeat round searchsorted solve split take tensorinv tensorsolve vsplit".split(), ()
) | {"eig": (0,), "eigh": (0,), "lstsq": (2, 3), "svd": (1,)}  # fmt: skip


def _array_function(self: Any, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    name = func.__name__
    op = _FUNCTIONS.get(name)
    if op is None and name in _RECORDED and _any_grad([args, kwargs]):
        op = _RECORDED[name]
    if op is not None and getattr(np, name, None) is func:
        return op(*args, **kwargs)
    result = func(*_as_arrays(args), **_as_arrays(kwargs))
    kept = _AGAIN.get(name)
    if kept is None:
        return result
    if not isinstance(result, (tuple, list)):
        return _wrapped(result)
    parts = [r if i in kept else _wrapped(r) for i, r in enumerate(result)]
    return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)


def _any_grad(x: Any) -> bool:
    if isinstance(x, Tensor):
        return x.requires_grad
    if isinstance(x, dict):
        x = x.values()
    elif not isinstance(x, (list, tuple)):
        return False
    return any(_any_grad(v) for v in x)


def _as_arrays(x: Any) -> Any:
    if isinstance(x, Tensor):
        return numpy(x)
    if isinstance(x, (list, tuple)):
        return type(x)(_as_arrays(v) for v in x)
    if isinstance(x, dict):
        return {k: _as_arrays(v) for k, v in x.items()}
    return x


OPERATORS |= {"__array_function__": _array_function, "__array_ufunc__": _array_ufunc, "__array_wrap__": _array_wrap}
