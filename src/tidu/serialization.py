"""torch.save and torch.load: PyTorch's file format, read and written.

A file is a zip archive: `data.pkl`, a pickle in which storages are persistent ids, and `data/<key>`, their bytes. Names
in the pickle are PyTorch's, so that files go both ways between the libraries. Writing is in _saving.py, reading in
_loading.py, with the format of old.
"""

from __future__ import annotations

import os
import pickletools
import sys
import warnings
import zipfile
from collections.abc import Callable
from enum import Enum
from mmap import MAP_PRIVATE, MAP_SHARED
from typing import Any

from .devices import device
from .naming import sourced_all
from .ops.storage import UntypedStorage

MAP_LOCATION = Callable[[Any, str], Any] | str | dict[str, str] | None


class SourceChangeWarning(Warning):
    """The source of a pickled module has changed. Never given here. Source: torch.serialization."""


class LoadEndianness(Enum):
    """The order of bytes."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


class _Settings:
    crc32 = True
    mmap: int = MAP_PRIVATE
    endianness: LoadEndianness | None = None
    skip = False  # whether the bytes of storages are neither written nor read

    def __init__(self) -> None:
        self.safe: list[Any] = []


settings = _Settings()


# ------------------------------------------------------------------ what may be loaded


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let `load` take these classes and functions with `weights_only`."""
    settings.safe.extend(x for x in safe_globals if x not in settings.safe)


def get_safe_globals() -> list[Any]:
    """What `add_safe_globals` has been given."""
    return list(settings.safe)


def clear_safe_globals() -> None:
    """Forget what `add_safe_globals` has been given."""
    settings.safe.clear()


class safe_globals:
    """`add_safe_globals` for the length of a `with` block."""

    def __init__(self, safe_globals: list[Any]) -> None:
        self.safe_globals = safe_globals

    def __enter__(self) -> None:
        self._before = get_safe_globals()
        add_safe_globals(self.safe_globals)

    def __exit__(self, *exc: Any) -> None:
        settings.safe[:] = self._before


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """The names in a file that `load` would refuse with weights_only. Nothing of the file is run.

    Raises:
        ValueError: no file in PyTorch's format.
    """
    from ._loading import _own_name
    from ._rebuilding import _PYTHON, PLACES

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
    known = {".".join(k) for k in (*PLACES, *_PYTHON)}
    known |= {g[1] if isinstance(g, tuple) else _own_name(g) for g in settings.safe}
    return sorted(found - known)


# ------------------------------------------------------------------ settings


def get_crc32_options() -> bool:
    """What set_crc32_options was given."""
    return settings.crc32


def set_crc32_options(compute_crc32: bool) -> None:
    """Files are written with checksums all the same."""
    settings.crc32 = compute_crc32


def get_default_load_endianness() -> LoadEndianness | None:
    """What set_default_load_endianness was given."""
    return settings.endianness


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """The byte order of files that do not say which they have."""
    if not isinstance(endianness, LoadEndianness) and endianness is not None:
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    settings.endianness = endianness


def get_default_mmap_options() -> int:
    """What set_default_mmap_options was given."""
    return settings.mmap


class set_default_mmap_options:
    """Say how `load(mmap=True)` maps files: for good, or for the length of a `with` block.

    Args:
        flags: `MAP_PRIVATE`, what is written to the tensors stays theirs, or `MAP_SHARED`, it reaches the
            file.
    """

    def __init__(self, flags: int) -> None:
        if sys.platform == "win32":
            raise RuntimeError("Changing the default mmap options is currently not supported for Windows")
        if flags not in (MAP_PRIVATE, MAP_SHARED):
            raise ValueError(
                "Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, "
                f"but got {flags}"
            )
        self.prev, settings.mmap = settings.mmap, flags

    def __enter__(self) -> None:
        """Nothing more: the setting is made."""

    def __exit__(self, *exc: Any) -> None:
        settings.mmap = self.prev


class skip_data:
    """Within it files are written without the bytes of storages, and read without them: the sizes are right, and
    everything is zero."""

    def __init__(self, materialize_fake_tensors: bool = False) -> None:
        self.materialize_fake_tensors = materialize_fake_tensors

    def __enter__(self) -> None:
        self._before, settings.skip = settings.skip, True

    def __exit__(self, *exc: Any) -> None:
        settings.skip = self._before


def check_module_version_greater_or_equal(
    module: Any, req_version_tuple: tuple[int, ...], error_if_malformed: bool = True
) -> bool:
    """Whether a module's `__version__` is at least a given one."""
    try:
        found = tuple(type(r)(part) for r, part in zip(req_version_tuple, module.__version__.split("."), strict=False))
    except Exception as e:
        message = (
            f"'{module.__name__}' module version string is malformed '{module.__version__}' and cannot be compared with "
            f"tuple {req_version_tuple!s}"
        )
        if error_if_malformed:
            raise RuntimeError(message) from e
        warnings.warn(message + ", but continuing assuming that requirement is met", stacklevel=2)
        return True
    return found >= req_version_tuple


_CUDA = (
    "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are running on "
    "a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your storages to the CPU."
)
_packages: list[tuple[int, Callable[..., Any], Callable[..., Any]]] = []


def register_package(priority: int, tagger: Callable[..., Any], deserializer: Callable[..., Any]) -> None:
    """Register who knows a kind of device.

    Args:
        priority: the lowest is asked first.
        tagger: storage -> the location that is written into the file, or None.
        deserializer: storage, location -> the storage at that location, or None.
    """
    _packages.append((priority, tagger, deserializer))
    _packages.sort(key=lambda entry: entry[0])


def _on_cpu(storage: Any, location: str) -> Any:
    return storage if location == "cpu" else None


def _on_cuda(storage: Any, location: str) -> Any:
    if location.startswith("cuda"):
        raise RuntimeError(_CUDA)


def _elsewhere(storage: Any, location: str) -> Any:
    if location.split(":")[0] in ("meta", "mps", "xpu", "hpu"):
        raise RuntimeError(f"tidu computes on the CPU only; device {location!r} is not available")


register_package(10, lambda storage: "cpu", _on_cpu)
register_package(20, lambda storage: None, _on_cuda)
register_package(30, lambda storage: None, _elsewhere)


def location_tag(storage: Any) -> str:
    """What is written into a file for where a storage is."""
    for _, tagger, _ in _packages:
        tag = tagger(storage)
        if tag:
            return tag
    raise RuntimeError(f"don't know how to determine data location of {_kind(storage)}")


def default_restore_location(storage: Any, location: str) -> Any:
    """A storage at the place that a file says.

    Raises:
        RuntimeError: there is no such place.
    """
    for _, _, deserializer in _packages:
        got = deserializer(storage, location)
        if got is not None:
            return got
    raise RuntimeError(f"don't know how to restore data location of {_kind(storage)} (tagged with {location})")


def _kind(storage: Any) -> str:
    return "torch.storage.UntypedStorage" if isinstance(storage, UntypedStorage) else type(storage).__name__


def _restorer(map_location: Any) -> Callable[[Any, str], Any]:
    """What to do with a storage and its location, for a `map_location`."""
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, dict):
        return lambda storage, location: default_restore_location(storage, map_location.get(location, location))
    if isinstance(map_location, (str, bytes, device)):
        return lambda storage, location: default_restore_location(storage, str(map_location))

    def restore(storage: Any, location: str) -> Any:
        got = map_location(storage, location)
        return default_restore_location(storage, location) if got is None else got

    return restore


def normalize_storage_type(storage_type: Any) -> Any:
    """The storage class of the CPU."""
    from . import elsewhere

    return getattr(elsewhere, storage_type.__name__)


# What follows reads the settings above.
from ._loading import load  # noqa: E402
from ._saving import DEFAULT_PROTOCOL, save  # noqa: E402

__all__ = [
    "DEFAULT_PROTOCOL", "LoadEndianness", "MAP_LOCATION", "MAP_PRIVATE", "MAP_SHARED", "SourceChangeWarning", "add_safe_globals",
    "check_module_version_greater_or_equal", "clear_safe_globals", "default_restore_location", "get_crc32_options",
    "get_default_load_endianness", "get_default_mmap_options", "get_safe_globals", "get_unsafe_globals_in_checkpoint",
    "load", "location_tag", "normalize_storage_type", "register_package", "safe_globals", "save", "set_crc32_options",
    "set_default_load_endianness", "set_default_mmap_options", "skip_data",
]  # fmt: skip


sourced_all(globals())
