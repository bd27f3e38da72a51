"""What files in PyTorch's format call by name: the functions that make tensors again, and where everything is."""

from __future__ import annotations

import pickle
from typing import Any

from . import dtypes, layouts
from .core.subclass import PUBLIC
from .core.tensor import Tensor, extra, tensor_of
from .core.views import window
from .devices import device
from .nn.parameter import Parameter
from .ops.export import _adorn, _rebuild_from_type_v2
from .ops.storage import TypedStorage, UntypedStorage
from .shapes import Size

__all__ = ["ABSENT", "PLACES", "SAFE_PLACES", "place", "refuse_absent"]


def _rebuild_tensor(storage: Any, storage_offset: int, size: Any, stride: Any) -> Tensor:
    """A window of a storage."""
    size, stride = tuple(size), tuple(stride)
    if len(size) != len(stride):
        raise RuntimeError(f"unequal size length ({len(size)}) and stride length ({len(stride)})")
    if storage_offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {storage_offset}")
    if any(n < 0 for n in size):
        raise RuntimeError("numel: integer multiplication overflow")
    if any(n < 0 for n in stride):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}")
    elements = storage._array
    if 0 not in size and storage_offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) >= elements.size:
        raise RuntimeError("Trying to resize storage that is not resizable")
    return tensor_of(window(elements, size, stride, storage_offset))


def _rebuild_tensor_v2(
    storage: Any, storage_offset: int, size: Any, stride: Any, requires_grad: bool, backward_hooks: Any,
    metadata: Any = None,
) -> Tensor:  # fmt: skip
    t = _rebuild_tensor(storage, storage_offset, size, stride)
    t._node = True if requires_grad else None
    if backward_hooks:
        extra(t).backward_hooks = backward_hooks
    return t


def _rebuild_tensor_v3(
    storage: Any, storage_offset: int, size: Any, stride: Any, requires_grad: bool, backward_hooks: Any, dtype: Any,
    metadata: Any = None,
) -> Tensor:  # fmt: skip
    """A tensor of a dtype that has no storage class: the storage counts in bytes."""
    typed = TypedStorage(wrap_storage=storage.untyped(), dtype=dtype)
    return _rebuild_tensor_v2(typed, storage_offset, size, stride, requires_grad, backward_hooks)


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: Any) -> Parameter:
    p = Parameter(data, requires_grad)
    if backward_hooks:
        extra(p).backward_hooks = backward_hooks
    return p


def _rebuild_parameter_with_state(data: Tensor, requires_grad: bool, backward_hooks: Any, state: Any) -> Any:
    return _adorn(_rebuild_parameter(data, requires_grad, backward_hooks), Parameter, state)


def _rebuild_sparse_tensor(layout: Any, parts: Any) -> Any:
    """A sparse tensor of what it is made of."""
    from .ops.coo import rebuilt

    return rebuilt(layout, parts)


def _get_layout(name: str) -> Any:
    return getattr(layouts, name.removeprefix("torch."))


# Where PyTorch keeps what lies elsewhere here. All other names differ in their first word only.
PLACES: dict[tuple[str, str], Any] = {
    ("torch", "Size"): Size,
    ("torch", "Tensor"): Tensor,
    ("torch", "device"): device,
    ("torch._tensor", "_rebuild_from_type_v2"): _rebuild_from_type_v2,
    ("torch._utils", "_rebuild_parameter"): _rebuild_parameter,
    ("torch._utils", "_rebuild_parameter_with_state"): _rebuild_parameter_with_state,
    ("torch._utils", "_rebuild_sparse_tensor"): _rebuild_sparse_tensor,
    ("torch._utils", "_rebuild_tensor"): _rebuild_tensor,
    ("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor_v2,
    ("torch._utils", "_rebuild_tensor_v3"): _rebuild_tensor_v3,
    ("torch.nn.parameter", "Parameter"): Parameter,
    ("torch.serialization", "_get_layout"): _get_layout,
    ("torch.storage", "UntypedStorage"): UntypedStorage,
    **{("torch", d.name): d for d in dtypes.ALL},
    **{("torch", d.legacy + "Storage"): d for d in dtypes.ALL},
}

# What PyTorch's files may hold and nothing here can be made of.
ABSENT: dict[tuple[str, str], str] = {
    **{("torch", f"Q{kind}Storage"): "a quantized tensor" for kind in ("Int8", "Int32", "UInt8", "UInt4x2", "UInt2x4")},
    **{("torch", name): "a quantized tensor" for name in "qint8 qint32 quint8 quint4x2 quint2x4".split()},
    ("torch._utils", "_rebuild_qtensor"): "a quantized tensor",
    ("torch._utils", "_rebuild_sparse_csr_tensor"): "a sparse tensor of an early format",
    ("torch._utils", "_rebuild_nested_tensor"): "a nested tensor",
    ("torch._utils", "_rebuild_meta_tensor_no_storage"): "a tensor on the meta device",
    ("torch._utils", "_rebuild_wrapper_subclass"): "a tensor subclass without memory of its own",
    **{
        ("torch", name): f"torch.{name}"
        for name in "float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu complex32".split()
    },
}


def refuse_absent(module: str, name: str) -> None:
    """RuntimeError if a name stands for something that cannot be made here."""
    what = ABSENT.get((module, name))
    if what is not None:
        raise RuntimeError(f"this file holds {what} ({module}.{name}), which tidu does not have")


def place(module: str, name: str) -> Any:
    """What a file means by a name of PyTorch's, and None if it is not one of the special places."""
    refuse_absent(module, name)
    found = PLACES.get((module, name))
    return PUBLIC[name] if found is None and module == "torch" and name in PUBLIC else found


def _rebuild_safely(build: Any, kind: Any, args: Any, attributes: Any) -> Any:
    """`_rebuild_from_type_v2` for files that are not trusted."""
    if build not in (_rebuild_tensor_v2, _rebuild_tensor_v3, _rebuild_parameter) or not issubclass(kind, Tensor):
        raise pickle.UnpicklingError(f"Unsupported tensor of {kind!r} made by {build!r}")
    return _rebuild_from_type_v2(build, kind, args, attributes)


SAFE_PLACES = {**PLACES, ("torch._tensor", "_rebuild_from_type_v2"): _rebuild_safely}
