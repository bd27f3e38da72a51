"""Names from PyTorch's early days: tensor types by dtype, storages by dtype, `typename`."""

from __future__ import annotations

import importlib
from typing import Any

from . import dtypes
from .core.tensor import Tensor
from .devices import strided
from .ops._make import warn_once
from .ops.creation import build
from .ops.storage import TypedStorage, UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage", "is_storage", "set_default_tensor_type", "typename"]


class tensortype(type):
    """The class of the tensor types: `isinstance(x, torch.FloatTensor)` asks for the dtype."""

    dtype: dtypes.dtype

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Tensor) and x.dtype is cls.dtype and x.layout is strided

    def __call__(cls, *args: Any, device: Any = None) -> Any:
        return build(cls.dtype, args, device)


class _storagetype(type):
    dtype: dtypes.dtype

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, TypedStorage) and x.dtype is cls.dtype

    def __call__(cls, *args: Any, **kw: Any) -> TypedStorage:
        return TypedStorage(*args, dtype=cls.dtype, **kw)


for _d in dtypes.ALL:
    if _d.legacy.startswith("UInt"):
        continue
    for _meta, _kind in ((tensortype, "Tensor"), (_storagetype, "Storage")):
        if _d.is_complex and _kind == "Tensor":
            continue
        globals()[_d.legacy + _kind] = _meta(
            _d.legacy + _kind,
            (),
            {
                "__doc__": f"{_kind}s of {_d!r}. Source: torch.{_d.legacy}{_kind}.",
                "__module__": "torch", "dtype": _d, "layout": strided, "is_cuda": False,
            },
        )  # fmt: skip
        __all__.append(_d.legacy + _kind)


Storage = globals()["FloatStorage"]


def is_storage(obj: Any, /) -> bool:
    """Whether `obj` is a storage. Source: torch.is_storage."""
    return isinstance(obj, (TypedStorage, UntypedStorage))


def typename(obj: Any, /) -> str:
    """The name of a tensor's old type, or of the object or its class. Source: torch.typename."""
    if isinstance(obj, Tensor):
        return obj.type()
    module = getattr(obj, "__module__", "") or ""
    name = getattr(obj, "__qualname__", "")
    if not name:
        module, name = type(obj).__module__, type(obj).__qualname__
    if module in ("", "builtins"):
        return name
    if module.split(".")[0] == __package__:
        module = "torch" + module.removeprefix(__package__)
    return f"{module}.{name}"


def set_default_tensor_type(t: Any, /) -> None:
    """Set the default floating type by an old tensor type; deprecated. Source: torch.set_default_tensor_type."""
    warn_once(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives."
    )
    if isinstance(t, str):
        module, _, name = t.rpartition(".")
        t = globals()[name] if module in ("torch", __package__) else importlib.import_module(module or name)
    if not isinstance(t, tensortype):
        raise TypeError("invalid type object")
    dtypes.set_default_dtype(t.dtype)
