"""torch.cuda.nvtx: marks for a profiler that is not there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]


def _lacking(*args: Any, **kw: Any) -> Any:
    """RuntimeError: there is no NVTX."""
    raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")


mark = range_end = range_pop = range_push = range_start = _lacking


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A marked stretch of a program. Source: torch.cuda.nvtx.range."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
