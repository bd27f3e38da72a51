"""OpenBLAS's threads that sleep when they have nothing to do.

After a product on several cores they spin for tens of milliseconds by default, on cores that our own threads and other
processes then wait for: a training step that takes turns between products and other work became two to twenty times
slower by it. OpenBLAS takes the time, as a power of two in clock cycles, from the environment when it is loaded, so this
module is the first that tidu imports. Whoever sets OPENBLAS_THREAD_TIMEOUT has the say.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterable
from typing import Any

__all__ = ["calm"]

_VARIABLE = "OPENBLAS_THREAD_TIMEOUT"
_CYCLES = "16"  # some 25 us: enough for the next of several products in a row

_ours = _VARIABLE not in os.environ
_late = "numpy" in sys.modules
if _ours:
    os.environ[_VARIABLE] = _CYCLES


def calm(libraries: Iterable[Any]) -> None:
    """Have OpenBLAS read its environment again, if it was loaded before us.

    Its threads end for that, as before every fork, and start afresh with the next product; which must not happen while
    another thread of the program could be in one.
    """
    global _late
    if not (_ours and _late) or threading.active_count() > 1:
        return
    _late = False
    for library in libraries:
        read, end = (getattr(library, "openblas_read_env", None), getattr(library, "blas_thread_shutdown_", None))
        if read is not None and end is not None:
            read()
            end()
