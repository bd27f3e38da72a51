"""torch.load: files in PyTorch's format, read, and the old one, also written. See serialization.py for the new one."""

from __future__ import annotations

import importlib
import io
import mmap as mmap_
import os
import pickle
import re
import struct
import sys
import warnings
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtypes
from ._rebuilding import SAFE_PLACES, RestrictedUnpickler, place, refuse_absent
from .core.errors import explain
from .core.tensor import Tensor
from .ops.storage import TypedStorage, UntypedStorage, _bytes
from .serialization import LoadEndianness, _restorer, settings

__all__ = ["load"]

_NEWEST = 10  # the newest version of the format that PyTorch reads
_UNSAFE = (
    "In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` from `False` to "
    "`True`. Re-running `torch.load` with `weights_only` set to `False` will likely succeed, but it can result in "
    "arbitrary code execution. Do it only if you got the file from a trusted source."
)
_TWO_WAYS = (
    " This file can still be loaded, to do so you have two options, \033[1mdo those steps only if you trust the source "
    f"of the checkpoint\033[0m. \n\t(1) {_UNSAFE}\n"
    "\t(2) Alternatively, to load with `weights_only=True` please check the recommended steps in the following error "
    "message.\n\tWeightsUnpickler error: "
)
_READ_MORE = (
    "\n\nCheck the documentation of torch.load to learn more about types accepted by default with weights_only "
    "https://pytorch.org/docs/stable/generated/torch.load.html."
)
_PLEASE = (
    "\nPlease file an issue with the following so that we can make `weights_only=True` compatible with your use case: "
    "WeightsUnpickler error: \n\n"
)


# ------------------------------------------------------------------ unpicklers


class _Refused(pickle.UnpicklingError):
    """What the restricted unpickler raises, whose text is yet to be put into context."""


def _in_context(text: str) -> str:
    """What `load` says of a file that the restricted unpickler refuses."""
    if re.search(r"GLOBAL \S+ was not an allowed global by default", text):
        return f"Weights only load failed.{_TWO_WAYS}{text}{_READ_MORE}"
    between = "\n\n\n" if re.search(r"whose module \S+ is blocked", text) else _PLEASE
    return f"Weights only load failed. {_UNSAFE}{between}{text}{_READ_MORE}"


class _SafeUnpickler(RestrictedUnpickler):
    """Reads tensors, numbers, texts and containers of them, and what `add_safe_globals` has been given."""

    def __init__(self, file: Any, storages: Any) -> None:
        super().__init__(file, SAFE_PLACES, settings.safe, _own_name, _Refused, (Tensor,))
        self.storages = storages

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith(f"{__package__}."):  # a function's, from another pickler than save's
            module = "torch" + module.removeprefix(__package__)
        refuse_absent(module, name)
        return super().find_class(module, name)

    def persistent_load(self, pid: Any) -> Any:
        if not isinstance(pid, (tuple, int)):
            raise _Refused(f"persistent_load id must be tuple or int, but got {type(pid)}")
        if isinstance(pid, tuple) and pid and pid[0] != "storage":
            raise _Refused(f"Only persistent_load of storage is allowed, but got {type(pid[0])}")
        return self.storages.load(pid)


def _own_name(x: Any) -> str:
    name = f"{x.__module__}.{x.__qualname__}"
    return name.replace(f"{__package__}.", "torch.", 1) if name.startswith(f"{__package__}.") else name


def _trusting(pickle_module: Any, options: dict[str, Any]) -> Callable[[Any, Any], Any]:
    """The unpickler of a module such as pickle, that reads PyTorch's names as the library's and runs what it is told."""

    class Unpickler(pickle_module.Unpickler):
        storages: Any = None

        def persistent_load(self, pid: Any) -> Any:
            return self.storages.load(pid)

        def find_class(self, module: str, name: str) -> Any:
            found = place(module, name)
            if found is not None:
                return found
            if module.split(".")[0] != "torch":
                return super().find_class(module, name)  # which knows Python 2's names too
            found = importlib.import_module(__package__ + module.removeprefix("torch"))
            for part in name.split("."):
                found = getattr(found, part)
            return found

    def make(file: Any, storages: Any) -> Any:
        made = Unpickler(file, **options)
        made.storages = storages
        return made

    return make


# ------------------------------------------------------------------ archives


class _Archive:
    def __init__(self, file: Any, memory: Any = None) -> None:
        try:
            self.zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError, ValueError):
            short = file.seek(0, os.SEEK_END) < 22  # which the end of an archive takes
            what = "not a ZIP archive" if short else "failed finding central directory"
            raise _corrupted(f" reading zip archive: {what}") from None
        names = self.zip.namelist()
        self.root = names[0].split("/")[0] if names else ""
        self.names = set(names)
        self.memory = memory  # the whole file, where it is mapped

    def __contains__(self, name: str) -> bool:
        return f"{self.root}/{name}" in self.names

    def read(self, name: str) -> bytes:
        try:
            return self.zip.read(f"{self.root}/{name}")
        except KeyError:
            raise _corrupted(f" locating file {name}: file not found") from None
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as e:
            raise _corrupted(f" reading file {name}: {e}") from None

    def record(self, name: str) -> Any:
        """The bytes of a record as an array that can be written to."""
        if self.memory is not None and name in self:
            info = self.zip.getinfo(f"{self.root}/{name}")
            if info.compress_type == zipfile.ZIP_STORED:
                at = info.header_offset
                header = bytes(self.memory[at : at + 30])
                at += 30 + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
                if at + info.file_size <= len(self.memory):
                    return np.frombuffer(self.memory, np.uint8, info.file_size, at)
        return np.frombuffer(bytearray(self.read(name)), np.uint8)


def _corrupted(what: str) -> RuntimeError:
    return RuntimeError(
        f"PytorchStreamReader failed{what}. This is an internal miniz error. If you are seeing "
        "this error, there is a high likelihood that your checkpoint file is corrupted. This can happen if the "
        "checkpoint was not saved properly, was transferred incorrectly, or the file was modified after saving."
    )


class _Storages:
    """The storages of an archive being read: persistent ids name them."""

    def __init__(self, archive: _Archive, restore: Callable[[Any, str], Any], swap: bool) -> None:
        self.archive, self.restore, self.swap = archive, restore, swap
        self.storages: dict[str, Any] = {}

    def load(self, pid: Any) -> Any:
        word, kind, key, location, n = pid
        if word != "storage":
            raise RuntimeError(f"Unknown typename for persistent_load, expected 'storage' but got '{word}'")
        d = kind if isinstance(kind, dtypes.dtype) else dtypes.uint8
        if key not in self.storages:
            size = n * d.itemsize
            memory = np.zeros(size, np.uint8) if settings.skip else self.archive.record(f"data/{key}")
            if memory.size != size:
                raise RuntimeError(
                    f"record size ({memory.size} bytes) does not match expected size ({size} bytes = {size} elements "
                    "* 1 bytes/element) for dtype Byte"
                )
            if self.swap:
                swap_bytes(memory, d)
            self.storages[key] = self.restore(UntypedStorage._over(memory), location)
        return TypedStorage(wrap_storage=self.storages[key], dtype=d)


def _foreign_bytes(archive: _Archive) -> bool:
    if "byteorder" in archive:
        order = archive.read("byteorder")
        if order not in (b"little", b"big"):
            raise ValueError(f"Unknown endianness type: {order.decode(errors='replace')}")
        return order.decode() != sys.byteorder
    told = settings.endianness
    return told not in (None, LoadEndianness.NATIVE) and told.name.lower() != sys.byteorder


def _load_archive(archive: _Archive, unpickler: Callable[..., Any], restore: Any, weights_only: bool) -> Any:
    if "constants.pkl" in archive:
        raise RuntimeError("this file is a TorchScript archive, which holds compiled code: tidu does not read it")
    if "version" not in archive and ".data/version" not in archive:
        raise RuntimeError(
            'Expected hasRecord("version") to be true, but got false.  (Could this error message be improved?  If so, '
            "please report an enhancement request to PyTorch.)"
        )
    version = archive.read("version" if "version" in archive else ".data/version").strip()
    if not version.isdigit() or int(version) > _NEWEST:
        raise RuntimeError(
            "[enforce fail at inline_container.cc:230] . Attempted to read a PyTorch file with version "
            f"{version.decode(errors='replace')}, but the maximum supported version for reading is {_NEWEST}. The "
            "version of your PyTorch installation may be too old, please upgrade PyTorch to latest version to mitigate "
            "this issue."
        )
    storages = _Storages(archive, restore, _foreign_bytes(archive))
    return unpickler(io.BytesIO(archive.read("data.pkl")), storages).load()


# ------------------------------------------------------------------ the format before version 1.6

# Five pickles one after another: a magic number, the version of the format, the sizes of types, the object, in which
# storages are persistent ids, and the keys of the storages. After them the bytes of each storage, led by their number of
# elements.
MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001


def save_legacy(obj: Any, file: Any, pickler: Callable[..., Any], protocol: int) -> None:
    """Write an object in this format."""
    sizes = {"short": 2, "int": 4, "long": 4}
    system = {"protocol_version": PROTOCOL_VERSION, "little_endian": sys.byteorder == "little", "type_sizes": sizes}
    for head in (MAGIC_NUMBER, PROTOCOL_VERSION, system):
        pickle.dump(head, file, protocol=protocol)
    body = pickler(file, protocol, legacy=True)
    body.dump(obj)
    keys = sorted(key for key, _, _ in body.storages.values())
    pickle.dump(keys, file, protocol=protocol)
    by_key = {key: (memory, d) for key, memory, d in body.storages.values()}
    for key in keys:
        memory, d = by_key[key]
        file.write(struct.pack("<q", memory.nbytes // d.itemsize))
        file.write(memoryview(_bytes(memory)))


class _LegacyStorages:
    """The storages of such a file: made when they are named, filled at the end."""

    def __init__(self, file: Any, restore: Callable[[Any, str], Any]) -> None:
        self.restore, self.left = restore, _bytes_left(file)
        self.made: dict[str, TypedStorage] = {}
        self.views: dict[Any, TypedStorage] = {}

    def load(self, pid: Any) -> Any:
        if pid[0] == "module":  # the class, its source file and its source
            return pid[1]
        if pid[0] != "storage":
            raise RuntimeError(f"Unknown saved id type: {pid[0]}")
        _, kind, key, location, n, view = pid
        d = kind if isinstance(kind, dtypes.dtype) else dtypes.uint8
        if key not in self.made:
            size = n * d.itemsize
            if size < 0 or (self.left is not None and size > self.left):
                raise RuntimeError(
                    f"unexpected EOF, expected {size - (self.left or 0)} more bytes. The file might be corrupted."
                )
            memory = UntypedStorage._over(np.empty(size, np.uint8))
            self.made[key] = TypedStorage(wrap_storage=self.restore(memory, location), dtype=d)
        if view is None:
            return self.made[key]
        view_key, offset, length = view
        if view_key not in self.views:
            part = self.made[key].untyped()._bytes[offset * d.itemsize : (offset + length) * d.itemsize]
            self.views[view_key] = TypedStorage(wrap_storage=UntypedStorage._over(part), dtype=d)
        return self.views[view_key]


def _bytes_left(file: Any) -> int | None:
    here = file.tell()
    end = file.seek(0, os.SEEK_END)
    file.seek(here)
    return None if end is None else end - here


def load_legacy(file: Any, unpickler: Callable[..., Any], restore: Callable[[Any, str], Any], plain: Any) -> Any:
    """Read an object in this format; the file stands behind it then.

    Args:
        unpickler: makes the unpickler of the object, from a file and what loads its storages.
        plain: loads a pickle of numbers and strings.
    """
    if plain(file) != MAGIC_NUMBER:
        raise RuntimeError("Invalid magic number; corrupt file?")
    version = plain(file)
    if version != PROTOCOL_VERSION:
        raise RuntimeError(f"Invalid protocol version: {version}")
    system = plain(file)
    storages = _LegacyStorages(file, restore)
    result = unpickler(file, storages).load()
    swap = isinstance(system, dict) and system.get("little_endian", True) != (sys.byteorder == "little")
    for key in plain(file):
        if key not in storages.made:
            raise RuntimeError(f"the file has the bytes of a storage that nothing in it names: {key!r}")
        storage = storages.made[key]
        memory = storage.untyped()._bytes
        (n,) = struct.unpack("<q", _exactly(file, 8))
        if n * storage.dtype.itemsize != memory.nbytes:
            raise RuntimeError(
                f"storage has wrong byte size: expected {memory.nbytes} got {n * storage.dtype.itemsize}"
            )
        memory[:] = np.frombuffer(_exactly(file, memory.nbytes), np.uint8)
        if swap:
            swap_bytes(memory, storage.dtype)
    return result


def _exactly(file: Any, n: int) -> bytes:
    got = bytearray()
    while len(got) < n:
        part = file.read(n - len(got))
        if not part:
            raise RuntimeError(f"unexpected EOF, expected {n - len(got)} more bytes. The file might be corrupted.")
        got += part
    return bytes(got)


def swap_bytes(memory: Any, d: dtypes.dtype) -> None:
    """Turn the bytes of each element round, in place: numbers of the other byte order."""
    size = d.itemsize // 2 if d.is_complex else d.itemsize
    if size > 1:
        memory.view(f"u{size}").byteswap(inplace=True)


# ------------------------------------------------------------------ load

_YES = ("1", "y", "yes", "true")


def _whether_weights_only(given: bool | None, pickle_module: Any) -> bool:
    """The argument of `load`, its default, and what the environment says of either."""
    force, forbid = (os.getenv(f"TORCH_FORCE_{name}WEIGHTS_ONLY_LOAD", "0") in _YES for name in ("", "NO_"))
    if force and forbid:
        raise RuntimeError(
            "Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should be set, but both "
            "were set."
        )
    if force:
        return True
    if given is None and forbid:
        warnings.warn(
            "Environment variable TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected, since the`weights_only` argument was not "
            "explicitly passed to `torch.load`, forcing weights_only=False.",
            UserWarning,
            stacklevel=3,
        )
        return False
    return (pickle_module is None) if given is None else bool(given)


def _check_seekable(f: Any) -> None:
    try:
        f.seek(f.tell())
    except (io.UnsupportedOperation, AttributeError) as e:
        raise type(e)(
            f"{e}. You can only torch.load from a file that is seekable. Please pre-load the data into a buffer like "
            "io.BytesIO and try to load from it instead."
        ) from None


def load(
    f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool | None = None,
    mmap: bool | None = None, **pickle_load_args: Any,
) -> Any:  # fmt: skip
    """What `save`, here or in PyTorch, has put into a file. Source: torch.load.

    Args:
        f: a path, or a file open for reading bytes, with seek.
        map_location: where storages are to go: a device, a dict from the file's locations to others, or a function of
            a storage and its location. All that there is here is the CPU.
        pickle_module: a module like pickle, to read with where `weights_only` is False.
        weights_only: take nothing but tensors, numbers, strings and containers of them (the default), so that a file
            cannot run code. False for files from a source that you trust.
        mmap: map the file into memory, so that what is not used is not read. What is written to the tensors does not
            reach the file.
        pickle_load_args: arguments of the unpickler, where `weights_only` is False.

    Raises:
        pickle.UnpicklingError: `weights_only`, and there is something else in the file.
        RuntimeError: no such file format; a file that is cut short or damaged; something that is not built here.
        ValueError: `mmap`, and `f` is no path.
    """
    safe = _whether_weights_only(weights_only, pickle_module)
    if safe and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    if mmap is None:
        mmap = False
    path = isinstance(f, (str, os.PathLike))
    if mmap and not path:
        raise ValueError("f must be a file path in order to use the mmap argument")
    if safe and pickle_load_args:
        warnings.warn("pickle_load_args only works if `weights_only=False`.", UserWarning, stacklevel=2)
        if set(pickle_load_args) - {"encoding"}:
            odd = min(set(pickle_load_args) - {"encoding"})
            raise TypeError(f"Unpickler.__init__() got an unexpected keyword argument {odd!r}")
    unpickler = (
        _SafeUnpickler if safe else _trusting(pickle_module or pickle, {"encoding": "utf-8", **pickle_load_args})
    )
    restore = _restorer(map_location)
    if path:
        with open(f, "rb") as file:
            return _load(file, f, unpickler, restore, safe, mmap)
    _check_seekable(f)
    return _load(f, f, unpickler, restore, safe, False)


def _load(file: Any, f: Any, unpickler: Any, restore: Any, safe: bool, mapped: bool) -> Any:
    start = file.tell()
    magic = file.read(4)
    file.seek(start)
    try:
        if magic == b"PK\x03\x04":
            archive = _Archive(file, _mapped(f) if mapped else None)
            with archive.zip:
                return _load_archive(archive, unpickler, restore, safe)
        if mapped:
            raise RuntimeError(
                "mmap can only be used with files saved with `torch.save("
                f"{f}, _use_new_zipfile_serialization=True), please torch.save your checkpoint with this option in "
                "order to use mmap."
            )
        plain = (lambda g: _SafeUnpickler(g, None).load()) if safe else pickle.load
        return load_legacy(file, unpickler, restore, plain)
    except _Refused as e:
        raise pickle.UnpicklingError(_in_context(str(e))) from None
    except pickle.UnpicklingError as e:
        at = str(e).removeprefix("Memo value not found at index ")
        if safe and at.isdigit():
            raise KeyError(int(at)) from None
        raise
    except (EOFError, IndexError, KeyError, TypeError, ValueError, AttributeError, struct.error) as e:
        if safe:
            explain(e, "this file is cut short, damaged, or no checkpoint")
        raise


def _mapped(path: Any) -> Any:
    shared = settings.mmap == mmap_.MAP_SHARED
    with open(path, "r+b" if shared else "rb") as file:
        return mmap_.mmap(file.fileno(), 0, access=mmap_.ACCESS_WRITE if shared else mmap_.ACCESS_COPY)
