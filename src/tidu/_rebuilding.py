"""What files in PyTorch's format call by name: the functions that make tensors again, and where everything is."""

from __future__ import annotations

import pickle
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

from . import devices, dtypes
from .core.subclass import PUBLIC
from .core.tensor import Tensor, extra, tensor_of
from .core.views import window
from .devices import device
from .nn.parameter import Parameter
from .ops.export import _adorn, _rebuild_from_type_v2
from .ops.storage import TypedStorage, UntypedStorage
from .shapes import Size


def _rebuild_tensor(storage: Any, storage_offset: int, size: Any, stride: Any) -> Tensor:
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
    from .ops.coo import rebuilt

    return rebuilt(layout, parts)


def _get_layout(name: str) -> Any:
    return getattr(devices, name.removeprefix("torch."))


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

for (_module, _), _function in PLACES.items():
    if _module == "torch._utils":
        _function.__module__ = f"{__package__}._utils"  # where pickle finds it

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
    return PUBLIC.get(name) if found is None and module == "torch" else found


def _rebuild_safely(build: Any, kind: Any, args: Any, attributes: Any) -> Any:
    """`_rebuild_from_type_v2` for files that are not trusted."""
    if build not in (_rebuild_tensor_v2, _rebuild_tensor_v3, _rebuild_parameter) or not issubclass(kind, Tensor):
        raise pickle.UnpicklingError(f"Unsupported tensor of {kind!r} made by {build!r}")
    return _rebuild_from_type_v2(build, kind, args, attributes)


SAFE_PLACES = {**PLACES, ("torch._tensor", "_rebuild_from_type_v2"): _rebuild_safely}


_PYTHON = {
    ("builtins", "bytearray"): bytearray, ("builtins", "complex"): complex, ("builtins", "dict"): dict,
    ("builtins", "set"): set, ("__builtin__", "bytearray"): bytearray, ("__builtin__", "complex"): complex,
    ("__builtin__", "set"): set, ("collections", "Counter"): Counter, ("collections", "OrderedDict"): OrderedDict,
    ("_codecs", "encode"): None,
}  # fmt: skip


def _encode(text: Any, encoding: Any = "latin1") -> bytes:
    """What protocol 2 writes bytes with."""
    if not isinstance(text, str) or encoding not in ("latin1", "utf-8"):
        raise pickle.UnpicklingError("Unsupported arguments of _codecs.encode")
    return text.encode(encoding)


_PYTHON["_codecs", "encode"] = _encode  # type: ignore[assignment]


_BLOCKED = ("sys", "os", "posix", "nt")
# What a pickle may order and weights have no use for: instances of old classes, the extension registry, buffers.
_REFUSED = frozenset(
    code[0]
    for code in (
        pickle.INST, pickle.OBJ, pickle.EXT1, pickle.EXT2, pickle.EXT4, pickle.NEXT_BUFFER, pickle.READONLY_BUFFER
    )
)  # fmt: skip


class _Orders(dict[int, Any]):
    """What to do by the bytes of a pickle; a byte that is no order, or none that is followed, is refused."""

    def __missing__(self, code: int) -> Any:
        def refuse(unpickler: Any) -> None:
            raise unpickler.refuse(f"Unsupported operand {code}")

        return refuse


class RestrictedUnpickler(pickle._Unpickler):
    """Loads a pickle, given what may be named.

    Args:
        file: the pickle.
        names: (module, name) -> what it is.
        safe: more classes and functions, or (class, full name) pairs.
        own_name: the full name under which a class is known in files.
        refuse: makes the error for something that is not allowed, from its words.
        stateful: classes whose instances may be given a state.
    """

    def __init__(
        self, file: Any, names: dict[tuple[str, str], Any], safe: Iterable[Any], own_name: Callable[[Any], str],
        refuse: Callable[[str], Exception], stateful: tuple[type, ...],
    ) -> None:  # fmt: skip
        super().__init__(file, encoding="utf-8")
        self.names, self.refuse = names, refuse
        self.safe: dict[str, Any] = {}
        for item in safe:
            what, name = item if isinstance(item, tuple) else (item, own_name(item))
            self.safe[name] = what
        self.callable = {id(v) for v in (*names.values(), *_PYTHON.values(), *self.safe.values())}
        given = tuple(v for v in self.safe.values() if isinstance(v, type))
        self.stateful = (OrderedDict, *stateful, *given)

    def find_class(self, module: str, name: str) -> Any:
        key = module, name
        if key in self.names:
            return self.names[key]
        if key in _PYTHON:
            return _PYTHON[key]
        full = name if module in ("builtins", "__builtin__") else f"{module}.{name}"
        if f"{module}.{name}" in self.safe:
            return self.safe[f"{module}.{name}"]
        if module.split(".")[0] in _BLOCKED:
            raise self.refuse(f"Trying to load unsupported GLOBAL {full} whose module {module} is blocked.")
        raise self.refuse(
            f"Unsupported global: GLOBAL {full} was not an allowed global by default. Please use "
            f"`torch.serialization.add_safe_globals([{full}])` or the "
            f"`torch.serialization.safe_globals([{full}])` context manager to allowlist this global if you trust "
            "this class/function."
        )

    def _check(self, fn: Any, doing: str) -> None:
        if id(fn) not in self.callable:
            raise self.refuse(f"Trying to {doing} {fn}")

    def load_reduce(self) -> None:
        args = self.stack.pop()
        fn = self.stack[-1]
        self._check(fn, "call reduce for unrecognized function")
        self.stack[-1] = fn(*args)

    def load_newobj(self) -> None:
        args = self.stack.pop()
        cls = self.stack.pop()
        self._check(cls, "create new object for unrecognized class")
        self.append(cls.__new__(cls, *args))

    def load_newobj_ex(self) -> None:
        kwargs = self.stack.pop()
        args = self.stack.pop()
        cls = self.stack.pop()
        self._check(cls, "create new object for unrecognized class")
        self.append(cls.__new__(cls, *args, **kwargs))

    def load_build(self) -> None:
        state = self.stack.pop()
        x = self.stack[-1]
        if not isinstance(x, self.stateful):
            raise self.refuse(
                "Can only build Tensor, Parameter, OrderedDict or types allowlisted via `add_safe_globals`, but got "
                f"{type(x)}"
            )
        if hasattr(type(x), "__setstate__") and type(x) is not OrderedDict:
            x.__setstate__(state)
        elif isinstance(state, dict):
            x.__dict__.update(state)
        else:
            raise self.refuse(f"Unsupported state of type {type(state)}")

    dispatch = _Orders({
        **{k: v for k, v in pickle._Unpickler.dispatch.items() if k not in _REFUSED},
        pickle.REDUCE[0]: load_reduce,
        pickle.NEWOBJ[0]: load_newobj,
        pickle.NEWOBJ_EX[0]: load_newobj_ex,
        pickle.BUILD[0]: load_build,
    })  # fmt: skip
