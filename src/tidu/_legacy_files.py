"""The format that torch.save wrote before version 1.6, and writes with _use_new_zipfile_serialization=False.

Five pickles one after another: a magic number, the version of the format, the sizes of types, the object, in which
storages are persistent ids, and the keys of the storages. After them the bytes of each storage, led by their number of
elements.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtypes
from .ops.storage import TypedStorage, UntypedStorage, _bytes

__all__ = ["load_legacy", "save_legacy"]

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


class _Storages:
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
    storages = _Storages(file, restore)
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
