"""What torch.serialization has besides save and load: settings of files, most of them without effect here."""

from __future__ import annotations

import os
import pickletools
import zipfile
from collections.abc import Callable
from enum import Enum
from typing import Any

from ._loading import _PLACES, get_safe_globals

__all__ = [
    "LoadEndianness", "MAP_LOCATION", "SourceChangeWarning", "get_crc32_options", "get_default_load_endianness",
    "get_default_mmap_options", "get_unsafe_globals_in_checkpoint", "register_package", "set_crc32_options",
    "set_default_load_endianness", "set_default_mmap_options",
]  # fmt: skip

MAP_LOCATION = Callable[[Any, str], Any] | str | dict[str, str] | None
_settings: dict[str, Any] = {"crc32": True, "mmap": 2, "endianness": None}
_BUILTIN = frozenset(
    "collections.Counter collections.OrderedDict builtins.bytearray builtins.complex builtins.frozenset "
    "builtins.set".split()
)


class SourceChangeWarning(Warning):
    """The source of a pickled module has changed. Never given here. Source: torch.serialization."""


class LoadEndianness(Enum):
    """The order of bytes. Source: torch.serialization.LoadEndianness."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


def get_crc32_options() -> bool:
    """What set_crc32_options was given. Source: torch.serialization.get_crc32_options."""
    return _settings["crc32"]  # type: ignore[no-any-return]


def set_crc32_options(compute_crc32: bool) -> None:
    """Files are written with checksums all the same. Source: torch.serialization.set_crc32_options."""
    _settings["crc32"] = compute_crc32


def get_default_load_endianness() -> LoadEndianness | None:
    """What set_default_load_endianness was given. Source: torch.serialization.get_default_load_endianness."""
    return _settings["endianness"]  # type: ignore[no-any-return]


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Kept; the file says in which order its bytes are. Source: torch.serialization.set_default_load_endianness."""
    if not isinstance(endianness, LoadEndianness) and endianness is not None:
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    _settings["endianness"] = endianness


def get_default_mmap_options() -> int:
    """What set_default_mmap_options was given. Source: torch.serialization.get_default_mmap_options."""
    return _settings["mmap"]  # type: ignore[no-any-return]


def set_default_mmap_options(flags: int) -> None:
    """Kept. Source: torch.serialization.set_default_mmap_options."""
    _settings["mmap"] = flags


def register_package(priority: int, tagger: Callable[..., Any], deserializer: Callable[..., Any]) -> None:
    """Nothing: storages go to the CPU. Source: torch.serialization.register_package."""


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """The names in a file that `load` would refuse with weights_only. Nothing of the file is run.

    Source: torch.serialization.get_unsafe_globals_in_checkpoint.
    """
    opened = open(f, "rb") if isinstance(f, (str, os.PathLike)) else f
    try:
        if not zipfile.is_zipfile(opened):
            raise ValueError("Expected input to be a checkpoint returned by torch.save")
        with zipfile.ZipFile(opened) as archive:
            name = next(n for n in archive.namelist() if n.endswith("data.pkl"))
            pickled = archive.read(name)
    finally:
        if opened is not f:
            opened.close()
    found: set[str] = set()
    words: list[str] = []
    for opcode, arg, _ in pickletools.genops(pickled):
        if opcode.name == "GLOBAL":
            found.add(str(arg).replace(" ", ".", 1))
        elif opcode.name == "STACK_GLOBAL":
            found.add(".".join(words[-2:]))
        elif isinstance(arg, str):
            words.append(arg)
    known = {".".join(k) for k in _PLACES} | _BUILTIN
    known |= {f"{g.__module__}.{g.__qualname__}" for g in get_safe_globals() if not isinstance(g, tuple)}
    return sorted(found - known)
