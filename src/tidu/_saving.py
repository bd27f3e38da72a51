"""torch.save: files in PyTorch's format, written. See serialization.py for the format."""

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
from ._rebuilding import (
    PLACES,
    _get_layout,
    _rebuild_parameter,
    _rebuild_parameter_with_state,
    _rebuild_sparse_tensor,
    _rebuild_tensor_v2,
    _rebuild_tensor_v3,
)
from .core.subclass import PUBLIC
from .core.tensor import Tensor, raw, tensor_of
from .core.views import geometry, storage_of, strides_of
from .devices import device, layout
from .nn.parameter import Parameter, is_lazy
from .ops.export import _rebuild_from_type_v2
from .ops.storage import TypedStorage, UntypedStorage, _bytes
from .serialization import location_tag, settings

__all__ = ["save"]

DEFAULT_PROTOCOL = 2
_ALIGNMENT = 64  # where in the file the bytes of a storage may start
_NAMES = {id(v): k for k, v in PLACES.items() if not k[1].endswith("Storage") or k[1] == "UntypedStorage"}
_NO_STORAGE_CLASS = (dtypes.uint16, dtypes.uint32, dtypes.uint64)


class _Storage:
    """The memory of a tensor, on its way into a file; counted in bytes where there is no dtype."""

    def __init__(self, a: Any, d: dtypes.dtype | None) -> None:
        self.array, self.dtype = a, d


_PythonPickler: Any = pickle._Pickler


class _Writing:
    """For a pickler: writes tensors as PyTorch does, and the library's names as PyTorch's."""

    def __init__(self, file: Any, protocol: int, legacy: bool = False) -> None:
        super().__init__(file, protocol)  # type: ignore[call-arg]
        self.legacy = legacy
        self.storages: dict[int, tuple[str, Any, dtypes.dtype]] = {}  # address -> key, memory and what it is counted in

    def persistent_id(self, obj: Any) -> Any:
        if isinstance(obj, TypedStorage):
            obj = _Storage(obj.untyped()._bytes, obj.dtype)
        elif isinstance(obj, UntypedStorage):
            obj = _Storage(obj._bytes, None)
        if not isinstance(obj, _Storage):
            return None
        memory, d = obj.array, obj.dtype or dtypes.uint8
        address = memory.__array_interface__["data"][0] if memory.size else id(memory)
        first = str(address if self.legacy else len(self.storages))
        key, _, known = self.storages.setdefault(address, (first, memory, d))
        if known is not d and memory.size:
            raise RuntimeError("Cannot save multiple tensors or storages that view the same data as different types")
        where = location_tag(UntypedStorage._over(memory))
        pid = "storage", _StorageType(obj.dtype), key, where, memory.nbytes // d.itemsize
        return (*pid, None) if self.legacy else pid

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Tensor):
            return _reduced(obj)
        if isinstance(obj, device):
            return device, (obj.type,) if obj.index is None else (obj.type, obj.index)
        if isinstance(obj, layout):
            return _get_layout, (str(obj),)
        return NotImplemented

    def save_global(self, obj: Any, name: str | None = None) -> None:
        module, word = _torch_name(obj, name)
        self.write(pickle.GLOBAL + f"{module}\n{word}\n".encode())
        self.memoize(obj)


class _Pickler(_Writing, _PythonPickler):
    dispatch = {**_PythonPickler.dispatch, FunctionType: _Writing.save_global}


class _StorageType:
    """A storage class as it is named in a file."""

    _all: dict[Any, _StorageType] = {}

    def __new__(cls, d: dtypes.dtype | None) -> _StorageType:
        if d not in cls._all:
            cls._all[d] = object.__new__(cls)
            cls._all[d].dtype = d
        return cls._all[d]

    dtype: dtypes.dtype | None

    def __reduce__(self) -> str:
        return "UntypedStorage" if self.dtype is None else self.dtype.legacy + "Storage"


def _torch_name(obj: Any, name: str | None) -> tuple[str, str]:
    if isinstance(obj, _StorageType):
        return "torch.storage" if obj.dtype is None else "torch", obj.__reduce__()
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
    module = pickle.whichmodule(obj, name)
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if "<locals>" in name:
        raise AttributeError(f"Can't pickle local object {name!r}")
    if found is not obj:
        why = (
            f"attribute lookup {name} on {module} failed"
            if found is None
            else f"it's not the same object as {module}.{name}"
        )
        raise pickle.PicklingError(f"Can't pickle {obj!r}: {why}")
    if module.split(".")[0] == __package__:
        module = "torch" + module.removeprefix(__package__)
    return module, name


def _functional() -> dict[int, str]:
    """The functions of nn.functional, by what they are called there."""
    from .nn import functional

    return {id(f): name for name, f in vars(functional).items() if isinstance(f, FunctionType)}


def _reduced(t: Tensor) -> Any:
    kind = type(t)
    if hasattr(t, "_parts"):
        return _rebuild_sparse_tensor, t._parts()
    if is_lazy(t):
        return t.__reduce_ex__(DEFAULT_PROTOCOL)
    hooks: OrderedDict[int, Any] = OrderedDict()
    if kind is Parameter:
        data = (_reduced_data(t), t.requires_grad, hooks)
        if not t.__dict__:
            return _rebuild_parameter, data
        return _rebuild_parameter_with_state, (*data, t.__dict__)
    if t._extra is not None and t._extra.backward_hooks:
        from .utils.hooks import warn_if_has_hooks

        warn_if_has_hooks(t)
    build: Any = _rebuild_tensor_v2
    args: tuple[Any, ...] = (*_place(t), t.requires_grad, hooks)
    if t.dtype in _NO_STORAGE_CLASS:
        build, args = _rebuild_tensor_v3, (*args, t.dtype)
        args[0].dtype = None
    if kind is Tensor and not t.__dict__:
        return build, args
    return _rebuild_from_type_v2, (build, kind, args, t.__dict__)


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

    A file is written beside the one that is meant and takes its place once it is whole, so that a save that fails
    leaves the old file as it was.

    Args:
        obj: anything that pickle takes: a tensor, a `state_dict()`, nested containers of tensors, a module.
        f: a path, or a file open for writing bytes.
        pickle_module: a module like pickle whose Pickler is a Python class; pickle's otherwise.
        pickle_protocol: of the pickle in the file.
        _disable_byteorder_record: nothing: the order of bytes is always written.
        _use_new_zipfile_serialization: False for the format that PyTorch read before version 1.6.

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
    kind = _pickler(pickle_module)
    if not _use_new_zipfile_serialization:
        with _writing(f, legacy=True) as file:
            from ._loading import save_legacy

            save_legacy(obj, file, kind, pickle_protocol)
        return
    text = io.BytesIO()
    pickler = kind(text, pickle_protocol)
    pickler.dump(obj)
    root = "archive" if hasattr(f, "write") else os.path.splitext(os.path.basename(os.fspath(f)))[0] or "archive"
    with _writing(f) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        _write(archive, f"{root}/data.pkl", text.getvalue())
        _write(archive, f"{root}/.format_version", b"1")
        _write(archive, f"{root}/.storage_alignment", str(_ALIGNMENT).encode())
        _write(archive, f"{root}/byteorder", sys.byteorder.encode())
        for key, memory, _ in pickler.storages.values():
            content = bytes(memory.nbytes) if settings.skip else memoryview(_bytes(memory))
            _write(archive, f"{root}/data/{key}", content)
        _write(archive, f"{root}/version", b"3\n")


def _pickler(module: Any) -> Any:
    """The pickler of a module such as pickle, with what files in PyTorch's format need."""
    if not issubclass(module.Pickler, _PythonPickler):
        return _Pickler  # C's does not let one name globals

    class Pickler(_Writing, module.Pickler):
        pass

    return Pickler


def _write(archive: zipfile.ZipFile, name: str, content: Any) -> None:
    """Add a record whose bytes begin at a round address, so that they can be mapped into memory and used as they are.
    What fills up to there is in the record's header, as an extra field that says nothing."""
    info = zipfile.ZipInfo(name)
    size = memoryview(content).nbytes
    field = 20 if size * 1.05 > zipfile.ZIP64_LIMIT else 0  # zipfile's own field for large records
    at = archive.fp.tell() + 30 + len(name.encode()) + field + 4  # type: ignore[union-attr]
    gap = -at % _ALIGNMENT
    info.extra = b"FB" + gap.to_bytes(2, "little") + b"Z" * gap
    archive.writestr(info, content)


@contextmanager
def _writing(f: Any, legacy: bool = False) -> Iterator[Any]:
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
    except FileNotFoundError as e:
        if legacy:
            raise FileNotFoundError(e.errno, e.strerror, os.fspath(f)) from None
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
