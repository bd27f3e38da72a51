"""Views by strides, quickly: what NumPy's own as_strided takes microseconds for, and hides the owner of."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.views import pointer, storage_of


def strided(a: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """The view of an array with another shape and strides (in bytes), from its first element on.

    The caller sees to it that it stays within the memory of `a`.
    """
    if a.size:
        if a.flags.c_contiguous:
            return np.ndarray(shape, a.dtype, a, 0, strides)
        owner = storage_of(a)
        if owner.flags.forc:
            buffer = owner if owner.flags.c_contiguous else owner.T
            return np.ndarray(shape, a.dtype, buffer, pointer(a) - pointer(owner), strides)
    return np.lib.stride_tricks.as_strided(a, shape, strides)
