"""float16 and bfloat16 in kernels of several steps: computed in float32 and rounded once, as PyTorch does."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np


def widened(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel with arrays of half precision as float32, and its result in their dtype again."""

    @functools.wraps(fn)
    def kernel(*args: Any, **kw: Any) -> Any:
        dtype = args[0].dtype
        if dtype.itemsize != 2 or dtype.kind not in "fV":
            return fn(*args, **kw)
        wide = [a.astype(np.float32) if isinstance(a, np.ndarray) and a.dtype == dtype else a for a in args]
        return np.asarray(fn(*wide, **kw)).astype(dtype)

    return kernel
