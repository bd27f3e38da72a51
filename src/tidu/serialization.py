"""torch.save and torch.load: PyTorch's file format, read and written.

A file is a zip archive: `data.pkl`, a pickle in which storages are persistent ids, and `data/<key>`, their bytes. Names
in the pickle are PyTorch's, so that files go both ways between the libraries. Writing is in _saving.py, reading in
_loading.py, the format of old in _legacy_files.py.
"""

from __future__ import annotations

from mmap import MAP_PRIVATE, MAP_SHARED
from typing import Any

from ._file_settings import (
    MAP_LOCATION,
    LoadEndianness,
    SourceChangeWarning,
    add_safe_globals,
    check_module_version_greater_or_equal,
    clear_safe_globals,
    default_restore_location,
    get_crc32_options,
    get_default_load_endianness,
    get_default_mmap_options,
    get_safe_globals,
    get_unsafe_globals_in_checkpoint,
    location_tag,
    register_package,
    safe_globals,
    set_crc32_options,
    set_default_load_endianness,
    set_default_mmap_options,
    skip_data,
)
from ._loading import load
from ._saving import DEFAULT_PROTOCOL, save

__all__ = [
    "DEFAULT_PROTOCOL", "LoadEndianness", "MAP_LOCATION", "MAP_PRIVATE", "MAP_SHARED", "SourceChangeWarning", "add_safe_globals",
    "check_module_version_greater_or_equal", "clear_safe_globals", "default_restore_location", "get_crc32_options",
    "get_default_load_endianness", "get_default_mmap_options", "get_safe_globals", "get_unsafe_globals_in_checkpoint",
    "load", "location_tag", "normalize_storage_type", "register_package", "safe_globals", "save", "set_crc32_options",
    "set_default_load_endianness", "set_default_mmap_options", "skip_data",
]  # fmt: skip


def normalize_storage_type(storage_type: Any) -> Any:
    """The storage class of the CPU. Source: torch.serialization.normalize_storage_type."""
    from . import legacy

    return getattr(legacy, storage_type.__name__)
