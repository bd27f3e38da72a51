"""Views by strides, quickly: what NumPy's own as_strided takes microseconds for, and hides the owner of."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.strided import _overlaps
from ..core.views import offset_in, pointer, storage_of, window


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


def empty_as(a: Any, dtype: Any = None) -> Any:
    """An array without gaps of the shape of `a`, its dimensions in the order in memory that they have in `a`.

    A stride of 0 says nothing about the order; such a dimension stays where it is among the others.
    """
    return empty_in_order(a.shape, a.strides, a.dtype if dtype is None else dtype)


def empty_in_order(shape: Any, strides: Any, dtype: Any) -> Any:
    """An array without gaps, its dimensions in the order in memory that these strides have."""
    strides = [abs(s) for s in strides]
    order = list(range(len(shape) - 1, -1, -1))  # from the innermost dimension on
    for i in range(1, len(shape)):
        at = i
        for j in range(i - 1, -1, -1):
            inner, outer = order[j], order[at]
            s, t = strides[inner], strides[outer]
            if not s or not t or (s == t and shape[inner] <= shape[outer]):
                continue
            if s < t:
                break
            order[j], order[at] = outer, inner
            at = j
    outward = order[::-1]
    made = np.empty([shape[d] for d in outward], dtype)
    return made.transpose([outward.index(d) for d in range(len(shape))])


def repeats(a: Any) -> bool:
    """Whether some elements of `a` are shown many times, as in what `expand` returns."""
    return 0 in a.strides and any([s == 0 and n > 1 for s, n in zip(a.strides, a.shape, strict=True)])


def copy_as(a: Any) -> Any:
    """A copy that lies in memory as `a` does, if that is without gaps or overlaps; else as `empty_as` lays it out."""
    if a.flags.c_contiguous:
        return a.copy()
    if not repeats(a):
        return a.copy("K")
    out = empty_as(a)
    out[...] = a
    return out


def copy_with_gaps(a: Any) -> Any:
    """A copy with the strides of `a`, gaps between its elements and all; of overlapping elements as `copy_as`."""
    if a.flags.forc or not a.size or _overlaps(a.shape, a.strides):
        return copy_as(a)
    item = a.itemsize
    steps = tuple(s // item for s in a.strides)
    length = 1 + sum((n - 1) * s for n, s in zip(a.shape, steps, strict=True))
    start = offset_in(a, storage_of(a))
    return window(window(storage_of(a), (length,), (1,), start, a.dtype).copy(), a.shape, steps, 0)
