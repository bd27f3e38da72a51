"""NumPy's names for arguments, which PyTorch takes for its own: axis for dim, keepdims for keepdim."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}


def numpy_names(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Let a plain function take its arguments by NumPy's names too (an op's `bind` does so itself)."""

    @functools.wraps(fn)
    def call(*args: Any, **kw: Any) -> Any:
        if kw:
            kw = {NAMES.get(k, k): v for k, v in kw.items()}
        return fn(*args, **kw)

    return call
