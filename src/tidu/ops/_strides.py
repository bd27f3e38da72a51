"""Views by strides, quickly: what NumPy's own as_strided takes microseconds for."""

from __future__ import annotations

from typing import Any

import numpy as np


def strided(a: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """The view of an array with another shape and strides (in bytes), from its first element on.

    The caller sees to it that it stays within the memory of `a`.
    """
    if a.flags.c_contiguous and a.size:
        try:
            return np.ndarray(shape, a.dtype, a, 0, strides)
        except (ValueError, TypeError):
            pass
    return np.lib.stride_tricks.as_strided(a, shape, strides)
