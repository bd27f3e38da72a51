"""float16 to float32 and back: by the processor's instructions in native loops, else by a table, over the threads.

NumPy converts number by number, and computes with float16 that way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .native import address, halves, kernel, share
from .threads import BIG, parallel, rows_of, step_of

_HALF, _SINGLE, _WORDS = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.uint16)
LARGE = 1 << 12  # elements from which it pays
_PIECE = 1 << 16
_table: list[np.ndarray] = []


def converted(a: np.ndarray, dtype: Any, order: Any = "K") -> np.ndarray:
    """A copy of an array in another dtype."""
    pair = (a.dtype is _HALF and dtype == _SINGLE) or (a.dtype is _SINGLE and dtype == _HALF)
    if not pair or a.size < LARGE or not a.flags.forc:
        return a.astype(dtype, order)
    (row,), back = rows_of(a)
    n = row.size
    out = np.empty(n, dtype)
    done = _natively(row, out) if halves() else 0
    if a.dtype is _HALF and not _table:
        _table.append(np.arange(1 << 16, dtype=_WORDS).view(_HALF).astype(_SINGLE))

    def piece(lo: int, hi: int) -> None:
        if a.dtype is _HALF:
            _table[0].take(row[lo:hi].view(_WORDS), None, out[lo:hi], "clip")
        else:
            out[lo:hi] = row[lo:hi]

    if n - done <= BIG:
        piece(done, n)
    else:
        step = step_of(n, _PIECE)
        parallel(lambda i: piece(i * step, min(n, (i + 1) * step)), -(-n // step))
    return back(out)


def _natively(row: np.ndarray, out: np.ndarray) -> int:
    """Convert whole vectors; how many elements they are."""
    function = kernel("widen" if row.dtype is _HALF else "narrow")
    if function is None:
        return 0
    n = row.size // 16 * 16
    p, q, step = address(row), address(out), step_of(n, _PIECE)
    share(function, [(p + row.itemsize * lo, q + out.itemsize * lo, min(step, n - lo)) for lo in range(0, n, step)])
    return n


def computed(ufunc: Any, operands: Sequence[Any], low: Any) -> Any:
    """ufunc of half precision: in single precision, rounded once, which is the same."""
    r = ufunc(*[converted(v, _SINGLE) if v.dtype is low else v for v in operands])
    return converted(r, low) if r.dtype is _SINGLE else r
