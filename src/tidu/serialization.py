"""torch.save and torch.load: PyTorch's file format, read and written.

A file is a zip archive: `data.pkl`, a pickle in which storages are persistent ids, and `data/<key>`, their bytes. Names
in the pickle are PyTorch's, so that files go both ways between the libraries. Reading is in _loading.py.
"""

from __future__ import annotations

import io
import os
import pickle
import sys
import tempfile
import zipfile
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import numpy as np

from . import dtypes
from ._file_settings import (
    MAP_LOCATION,
    LoadEndianness,
    SourceChangeWarning,
    get_crc32_options,
    get_default_load_endianness,
    get_default_mmap_options,
    get_unsafe_globals_in_checkpoint,
    register_package,
    set_crc32_options,
    set_default_load_endianness,
    set_default_mmap_options,
)
from ._loading import (
    _PLACES,
    _rebuild_parameter,
    _rebuild_parameter_with_state,
    _rebuild_tensor_v2,
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    load,
    safe_globals,
)
from .core.subclass import PUBLIC
from .core.tensor import Tensor, raw, tensor_of
from .core.views import geometry, storage_of, strides_of
from .devices import device
from .nn.parameter import Parameter, is_lazy
from .ops.export import _rebuild_from_type_v2
from .ops.storage import TypedStorage, UntypedStorage, _bytes

__all__ = [
    "LoadEndianness", "MAP_LOCATION", "SourceChangeWarning", "add_safe_globals", "clear_safe_globals",
    "get_crc32_options", "get_default_load_endianness", "get_default_mmap_options", "get_safe_globals",
    "get_unsafe_globals_in_checkpoint", "load", "register_package", "safe_globals", "save", "set_crc32_options",
    "set_default_load_endianness", "set_default_mmap_options",
]  # fmt: skip

DEFAULT_PROTOCOL = 2
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
    if isinstance(obj, FunctionType):
        functional = _functional()
        if id(obj) in functional:
            return "torch.nn.functional", functional[id(obj)]
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


def _functional() -> dict[int, str]:
    """The functions of nn.functional, by what they are called there."""
    from .nn import functional

    return {id(f): name for name, f in vars(functional).items() if isinstance(f, FunctionType)}


def _reduced(t: Tensor) -> Any:
    hooks = OrderedDict() if t._extra is None else t._extra.backward_hooks or OrderedDict()
    kind = type(t)
    if is_lazy(t):
        return t.__reduce_ex__(DEFAULT_PROTOCOL)
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
    if storage.dtype != a.dtype and storage.flags.c_contiguous and storage.nbytes % a.itemsize == 0:
        storage = storage.reshape(-1).view(np.uint8).view(a.dtype)  # memory that came from a file
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
    with _writing(f) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        archive.writestr(f"{root}/data.pkl", text.getvalue())
        archive.writestr(f"{root}/byteorder", sys.byteorder)
        for key, memory in pickler.storages.values():
            archive.writestr(f"{root}/data/{key}", memoryview(_bytes(memory)))
        archive.writestr(f"{root}/version", "3\n")


@contextmanager
def _writing(f: Any) -> Iterator[Any]:
    """The file to write to: beside the one that is meant, whose place it takes once it is whole."""
    if hasattr(f, "write"):
        yield f
        return
    path = os.path.realpath(os.fspath(f))
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe, a device
        with open(path, "wb") as file:
            yield file
        return
    try:
        fd, name = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=os.path.dirname(path))
    except FileNotFoundError:
        raise RuntimeError(f"Parent directory {os.path.dirname(os.fspath(f))} does not exist.") from None
    try:
        with open(fd, "wb") as file:
            yield file
        try:
            mode = os.stat(path).st_mode & 0o7777
        except FileNotFoundError:
            mode = 0o666 & ~_umask()
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
