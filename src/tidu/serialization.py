"""torch.save and torch.load: PyTorch's file format, read and written.

A file is a zip archive: `data.pkl`, a pickle in which storages are persistent ids, and `data/<key>`, their bytes. Names
in the pickle are PyTorch's, so that files go both ways between the libraries.
"""

from __future__ import annotations

import importlib
import io
import os
import pickle
import sys
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import numpy as np

from . import dtypes
from .core.hooks import RemovableHandle
from .core.subclass import PUBLIC
from .core.tensor import Tensor, extra, raw, tensor_of
from .core.views import geometry, storage_of, strides_of, window
from .devices import device
from .nn.parameter import Parameter
from .ops.export import _adorn, _rebuild_from_type_v2
from .ops.storage import TypedStorage, UntypedStorage, _bytes
from .shapes import Size

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals", "save"]

DEFAULT_PROTOCOL = 2


def _rebuild_tensor_v2(
    storage: Any, storage_offset: int, size: Any, stride: Any, requires_grad: bool, backward_hooks: Any,
    metadata: Any = None,
) -> Tensor:  # fmt: skip
    t = tensor_of(window(storage._array, tuple(size), tuple(stride), storage_offset))
    t._node = True if requires_grad else None
    if backward_hooks:
        extra(t).backward_hooks = backward_hooks
    return t


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: Any) -> Parameter:
    p = Parameter(data, requires_grad)
    if backward_hooks:
        extra(p).backward_hooks = backward_hooks
    return p


def _rebuild_parameter_with_state(data: Tensor, requires_grad: bool, backward_hooks: Any, state: Any) -> Any:
    return _adorn(_rebuild_parameter(data, requires_grad, backward_hooks), Parameter, state)


# Where PyTorch keeps what lies elsewhere here. All other names differ in their first word only.
_PLACES: dict[tuple[str, str], Any] = {
    ("torch", "Size"): Size,
    ("torch", "Tensor"): Tensor,
    ("torch", "device"): device,
    ("torch._tensor", "_rebuild_from_type_v2"): _rebuild_from_type_v2,
    ("torch._utils", "_rebuild_parameter"): _rebuild_parameter,
    ("torch._utils", "_rebuild_parameter_with_state"): _rebuild_parameter_with_state,
    ("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor_v2,
    ("torch.nn.parameter", "Parameter"): Parameter,
    ("torch.storage", "UntypedStorage"): UntypedStorage,
    ("torch.utils.hooks", "RemovableHandle"): RemovableHandle,
    **{("torch", d.name): d for d in dtypes.ALL},
    **{("torch", d.legacy + "Storage"): d for d in dtypes.ALL},
}
_NAMES = {id(v): k for k, v in _PLACES.items() if not k[1].endswith("Storage") or k[1] == "UntypedStorage"}


# ------------------------------------------------------------------ saving


class _Storage:
    """The memory of a tensor, on its way into a file."""

    def __init__(self, a: Any, d: dtypes.dtype) -> None:
        self.array, self.dtype = a, d


_PythonPickler: Any = pickle._Pickler  # C's does not let one name globals


class _Pickler(_PythonPickler):
    """Writes tensors as PyTorch does, and the library's names as PyTorch's."""

    def __init__(self, file: Any, protocol: int) -> None:
        super().__init__(file, protocol)
        self.storages: dict[int, tuple[str, Any]] = {}  # address -> key and memory

    def persistent_id(self, obj: Any) -> Any:
        if isinstance(obj, (TypedStorage, UntypedStorage)):
            d = obj.dtype if isinstance(obj, TypedStorage) else dtypes.uint8
            untyped = obj.untyped() if isinstance(obj, TypedStorage) else obj
            obj = _Storage(untyped._bytes, d)
        if not isinstance(obj, _Storage):
            return None
        memory = obj.array
        address = memory.__array_interface__["data"][0] if memory.size else id(memory)
        key, _ = self.storages.setdefault(address, (str(len(self.storages)), memory))
        return "storage", _StorageType(obj.dtype), key, "cpu", memory.nbytes // obj.dtype.itemsize

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Tensor):
            return _reduced(obj)
        if isinstance(obj, device):
            return device, (obj.type,) if obj.index is None else (obj.type, obj.index)
        return NotImplemented

    def save_global(self, obj: Any, name: str | None = None) -> None:
        module, word = _torch_name(obj, name)
        self.write(pickle.GLOBAL + f"{module}\n{word}\n".encode())
        self.memoize(obj)

    dispatch = {**_PythonPickler.dispatch, FunctionType: save_global}


class _StorageType:
    """A storage class as it is named in a file."""

    _all: dict[Any, _StorageType] = {}

    def __new__(cls, d: dtypes.dtype) -> _StorageType:
        if d not in cls._all:
            cls._all[d] = object.__new__(cls)
            cls._all[d].dtype = d
        return cls._all[d]

    dtype: dtypes.dtype

    def __reduce__(self) -> str:
        return self.dtype.legacy + "Storage"


def _torch_name(obj: Any, name: str | None) -> tuple[str, str]:
    if isinstance(obj, _StorageType):
        return "torch", obj.dtype.legacy + "Storage"
    known = _NAMES.get(id(obj))
    if known is not None:
        return known
    name = name or getattr(obj, "__qualname__", None) or obj.__name__
    if PUBLIC.get(name) is obj:
        return "torch", name
    module = pickle.whichmodule(obj, name)  # type: ignore[attr-defined]
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if "<locals>" in name:
        raise AttributeError(f"Can't pickle local object {name!r}")
    if found is not obj:
        raise pickle.PicklingError(f"Can't pickle {obj!r}: it's not found as {module}.{name}")
    if module.split(".")[0] == __package__:
        module = "torch" + module.removeprefix(__package__)
    return module, name


def _reduced(t: Tensor) -> Any:
    hooks = OrderedDict() if t._extra is None else t._extra.backward_hooks or OrderedDict()
    kind = type(t)
    if kind is Parameter:
        data = (_reduced_data(t), t.requires_grad, hooks)
        if not t.__dict__:
            return _rebuild_parameter, data
        return _rebuild_parameter_with_state, (*data, t.__dict__)
    args = (*_place(t), t.requires_grad, hooks)
    if kind is Tensor and not t.__dict__:
        return _rebuild_tensor_v2, args
    return _rebuild_from_type_v2, (_rebuild_tensor_v2, kind, args, t.__dict__)


def _reduced_data(t: Tensor) -> Tensor:
    data = tensor_of(raw(t))
    data._v = t._v
    return data


def _place(t: Tensor) -> tuple[Any, ...]:
    """A tensor as a window of its storage: the storage, and offset, sizes and strides in elements."""
    a = raw(t)
    storage = storage_of(a)
    if not storage.flags.forc or storage.dtype != a.dtype or any(s < 0 for s in a.strides):
        a = storage = np.ascontiguousarray(a)
    shape, _, offset = geometry(a, storage)
    return _Storage(storage, t.dtype), offset if a.size else 0, shape, strides_of(a)


def save(
    obj: Any, f: Any, pickle_module: Any = pickle, pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True, _disable_byteorder_record: bool = False,
) -> None:  # fmt: skip
    """Save an object, with the tensors in it, to a file. Source: torch.save.

    Args:
        obj: anything that pickle takes: a tensor, a `state_dict()`, nested containers of tensors.
        f: a path, or a file open for writing bytes.

    >>> import io, tidu as torch
    >>> f = io.BytesIO()
    >>> torch.save({"w": torch.ones(2)}, f)
    >>> f.seek(0)
    0
    >>> torch.load(f)
    {'w': tensor([1., 1.])}
    """
    if not isinstance(f, (str, os.PathLike)) and not hasattr(f, "write"):
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")
    text = io.BytesIO()
    pickler = _Pickler(text, pickle_protocol)
    pickler.dump(obj)
    root = "archive" if hasattr(f, "write") else os.path.basename(os.fspath(f)).split(".")[0] or "archive"
    with zipfile.ZipFile(f, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        archive.writestr(f"{root}/data.pkl", text.getvalue())
        archive.writestr(f"{root}/byteorder", sys.byteorder)
        for key, memory in pickler.storages.values():
            archive.writestr(f"{root}/data/{key}", memoryview(_bytes(memory)))
        archive.writestr(f"{root}/version", "3\n")


# ------------------------------------------------------------------ loading

_safe: list[Any] = []
_BASIC = {
    ("builtins", "bytearray"): bytearray, ("builtins", "complex"): complex, ("builtins", "dict"): dict,
    ("builtins", "set"): set, ("__builtin__", "set"): set, ("__builtin__", "complex"): complex,
    ("collections", "Counter"): Counter, ("collections", "OrderedDict"): OrderedDict,
}  # fmt: skip
_SAFE_PLACES = frozenset(k for k in _PLACES if k[1] != "RemovableHandle")


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let `load` take these classes and functions with `weights_only`. Source: torch.serialization.add_safe_globals."""
    _safe.extend(safe_globals)


def get_safe_globals() -> list[Any]:
    """What `add_safe_globals` has been given. Source: torch.serialization.get_safe_globals."""
    return list(_safe)


def clear_safe_globals() -> None:
    """Forget what `add_safe_globals` has been given. Source: torch.serialization.clear_safe_globals."""
    _safe.clear()


@contextmanager
def _safe_globals(extra_globals: list[Any]) -> Iterator[None]:
    before = list(_safe)
    _safe.extend(extra_globals)
    try:
        yield
    finally:
        _safe[:] = before


class safe_globals:
    """`add_safe_globals` for the length of a `with` block. Source: torch.serialization.safe_globals."""

    def __init__(self, safe_globals: list[Any]) -> None:
        self._context = _safe_globals(safe_globals)

    def __enter__(self) -> None:
        self._context.__enter__()

    def __exit__(self, *exc: Any) -> None:
        self._context.__exit__(None, None, None)


class _Unpickler(pickle.Unpickler):
    """Reads PyTorch's names as the library's, and storages out of the archive."""

    def __init__(self, file: Any, read: Callable[[str], bytes], map_location: Any, weights_only: bool) -> None:
        super().__init__(file, encoding="utf-8")
        self.read_record, self.map_location, self.weights_only = read, map_location, weights_only
        self.storages: dict[str, Any] = {}

    def find_class(self, module: str, name: str) -> Any:
        key = module, name
        if key in _PLACES and (not self.weights_only or key in _SAFE_PLACES):
            return _PLACES[key]
        if self.weights_only:
            return _BASIC[key] if key in _BASIC else self._allowed(module, name)
        return self._import(module, name)

    def _allowed(self, module: str, name: str) -> Any:
        for g in _safe:
            where, what = g if isinstance(g, tuple) else (g, None)
            own = what or f"{where.__module__}.{where.__qualname__}"
            if own.replace(f"{__package__}.", "torch.", 1) == f"{module}.{name}" or own == f"{module}.{name}":
                return where
        raise pickle.UnpicklingError(_not_allowed(f"{module}.{name}"))

    def _import(self, module: str, name: str) -> Any:
        if module == "torch" and name in PUBLIC:
            return PUBLIC[name]
        if module.split(".")[0] == "torch":
            module = __package__ + module.removeprefix("torch")
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        return found

    def persistent_load(self, pid: Any) -> Any:
        word, kind, key, location, n = pid
        if word != "storage":
            raise pickle.UnpicklingError(f"unknown persistent id {word!r}")
        d = kind if isinstance(kind, dtypes.dtype) else dtypes.uint8
        if key not in self.storages:
            memory = np.frombuffer(bytearray(self.read_record(f"data/{key}")), np.uint8)
            self.storages[key] = memory
            _relocate(self.map_location, location, memory)
        return TypedStorage(wrap_storage=UntypedStorage._over(self.storages[key]), dtype=d)


def _relocate(map_location: Any, location: str, memory: Any) -> None:
    """Check that a storage may come to the CPU."""
    if isinstance(map_location, dict):
        location = map_location.get(location, location)
    elif callable(map_location):
        map_location(UntypedStorage._over(memory), location)
        return
    elif map_location is not None:
        location = str(map_location)
    if location.startswith("cuda"):
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are "
            "running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your "
            "storages to the CPU."
        )


def _not_allowed(name: str) -> str:
    return (
        "Weights only load failed. This file can still be loaded, to do so you have two options, \033[1mdo those steps "
        "only if you trust the source of the checkpoint\033[0m. \n"
        "\t(1) In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` from "
        "`False` to `True`. Re-running `torch.load` with `weights_only` set to `False` will likely succeed, but it can "
        "result in arbitrary code execution. Do it only if you got the file from a trusted source.\n"
        "\t(2) Alternatively, to load with `weights_only=True` please check the recommended steps in the following "
        "error message.\n"
        f"\tWeightsUnpickler error: Unsupported global: GLOBAL {name} was not an allowed global by default. Please use "
        f"`torch.serialization.add_safe_globals([{name}])` or the `torch.serialization.safe_globals([{name}])` context "
        "manager to allowlist this global if you trust this class/function.\n\n"
        "Check the documentation of torch.load to learn more about types accepted by default with weights_only "
        "https://pytorch.org/docs/stable/generated/torch.load.html."
    )


def load(
    f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool | None = None,
    mmap: bool | None = None, **pickle_load_args: Any,
) -> Any:  # fmt: skip
    """What `save`, here or in PyTorch, has put into a file. Source: torch.load.

    Args:
        f: a path, or a file open for reading bytes, with seek.
        map_location: where storages are to go: the CPU, whatever it says.
        weights_only: take nothing but tensors, numbers, strings and containers of them (the default), so that a file
            cannot run code. False for files from a source that you trust.

    Raises:
        pickle.UnpicklingError: `weights_only`, and there is something else in the file.
        RuntimeError: no such file format.
    """
    opened = open(f, "rb") if isinstance(f, (str, os.PathLike)) else None
    file = f if opened is None else opened
    try:
        start = file.tell()
        magic = file.read(4)
        file.seek(start)
        if magic[:2] == b"PK":
            return _load_zip(file, map_location, weights_only is not False)
        if not magic:
            raise EOFError("Ran out of input")
        raise RuntimeError("Invalid magic number; corrupt file?")
    finally:
        if opened is not None:
            opened.close()


def _load_zip(file: Any, map_location: Any, weights_only: bool) -> Any:
    try:
        archive = zipfile.ZipFile(file)
    except zipfile.BadZipFile:
        raise RuntimeError(
            "PytorchStreamReader failed reading zip archive: not a ZIP archive. This is an internal miniz error. "
            "If you are seeing this error, there is a high likelihood that your checkpoint file is corrupted. This can "
            "happen if the checkpoint was not saved properly, was transferred incorrectly, or the file was "
            "modified after saving."
        ) from None
    with archive:
        root = archive.namelist()[0].split("/")[0]

        def read(name: str) -> bytes:
            return archive.read(f"{root}/{name}")

        return _Unpickler(io.BytesIO(read("data.pkl")), read, map_location, weights_only).load()


