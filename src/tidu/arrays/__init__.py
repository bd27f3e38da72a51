"""Floor 1: fast routes over NumPy arrays. Nothing here knows about tensors or gradients.

Every function takes and returns `numpy.ndarray` (0-d results too), never writes to its inputs, unless it says so, and
gives the same bits on every run at a given number of threads. Dtypes are those of the inputs; promotion is the caller's
business. bfloat16 (from ml_dtypes) and float16 are computed in float32 and rounded once.

The docstring of a file says how its routes go. native.py has the loops that llvmlite compiles, for large float32 arrays:
the other files go there by themselves.

**Freed memory is kept.** The kernel's work on the fresh pages of a large array costs more than the arithmetic on them, and
glibc hands large blocks back as soon as they are freed. `keep_memory` raises glibc's two thresholds: blocks up to 32 MiB
(the most it allows) come from the heap, and up to `KEPT` bytes of free heap are kept, which the process may then hold and
not use. TIDU_MALLOC=0 in the environment leaves glibc alone. Other C libraries have no such knobs.
"""

from __future__ import annotations

import os

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


keep_memory()
