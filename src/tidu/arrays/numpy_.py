"""Memory policy and layout.

**Freed memory is kept.** A large array is made of fresh pages, and the kernel's work on fresh pages
costs more than the arithmetic on them. glibc hands large blocks back to the kernel as soon as they are
freed, so a loop with temporaries of some megabytes pays for its pages again at every step.
`keep_memory` raises glibc's two thresholds: blocks up to 32 MiB (the most it allows) come from the
heap, and up to `KEPT` bytes of free heap are kept. The process may then hold that much memory that it
does not use. Set the environment variable ``TIDU_MALLOC=0`` before the import to leave glibc alone.
Other C libraries (musl, macOS, Windows) have no such knobs and are left as they are.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

__all__ = ["KEPT", "as_strided", "keep_memory", "owner_of", "storage_offset"]

KEPT = 1 << 30  # bytes of free heap that stay with the process
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # from <malloc.h>
_MMAP_THRESHOLD_MAX = 1 << 25  # glibc refuses more

_kept: bool | None = None


def keep_memory() -> bool:
    """Tell glibc to keep freed memory; return whether it does. The first call decides."""
    global _kept
    if _kept is None:
        _kept = os.environ.get("TIDU_MALLOC", "1") != "0" and _raise_thresholds()
    return _kept


def _raise_thresholds() -> bool:
    try:
        if not (os.confstr("CS_GNU_LIBC_VERSION") or "").startswith("glibc"):
            return False
        import ctypes  # NumPy has imported it already

        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, ImportError, OSError, ValueError):
        return False
    return bool(mallopt(_M_MMAP_THRESHOLD, _MMAP_THRESHOLD_MAX) and mallopt(_M_TRIM_THRESHOLD, KEPT))


def owner_of(a: np.ndarray) -> np.ndarray:
    """The array whose memory `a` looks at: the far end of the chain of bases."""
    while isinstance(a.base, np.ndarray):
        a = a.base
    return a


def storage_offset(a: np.ndarray) -> int:
    """How many elements of `a`'s dtype lie between the start of its owner's memory and its first element."""
    owner = owner_of(a)
    return 0 if owner is a else (_address(a) - _address(owner)) // a.itemsize


def as_strided(a: np.ndarray, size: Sequence[int], stride: Sequence[int], offset: int | None = None) -> np.ndarray:
    """The view of `a`'s owner with this shape, these strides and this offset, all in elements.

    The offset counts from the start of the owner's memory; None means `a`'s own. Raises PyTorch's RuntimeError
    where the view would reach past the memory. Source: torch.as_strided, whose other checks are the caller's.
    """
    owner = owner_of(a)
    item = a.itemsize
    if offset is None:
        offset = storage_offset(a)
    shape = tuple(size)
    if 0 in shape:
        return np.ndarray(shape, a.dtype, strides=tuple(s * item for s in stride))
    need = (offset + sum((n - 1) * s for n, s in zip(shape, stride, strict=True)) + 1) * item
    if need > owner.nbytes:
        raise RuntimeError(
            f"setStorage: sizes {list(shape)}, strides {list(stride)}, storage offset {offset}, and itemsize {item} "
            f"requiring a storage size of {need} are out of bounds for storage of size {owner.nbytes}"
        )
    strides = tuple(s * item for s in stride)
    buffer = owner if owner.flags.c_contiguous else owner.T
    if buffer.flags.c_contiguous:
        view = np.ndarray(shape, a.dtype, buffer, offset * item, strides)
    else:  # an odd layout that came from outside
        start = np.lib.stride_tricks.as_strided(owner, (owner.nbytes // item,), (item,)).view(a.dtype)[offset:]
        view = np.lib.stride_tricks.as_strided(start, shape, strides)
    if not a.flags.writeable:
        view.flags.writeable = False
    return view


def _address(a: np.ndarray) -> int:
    return a.__array_interface__["data"][0]
