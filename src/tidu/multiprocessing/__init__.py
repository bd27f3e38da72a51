"""torch.multiprocessing: Python's multiprocessing, whose names it has; tensors are sent as copies.

Source: torch.multiprocessing.
"""

from __future__ import annotations

import multiprocessing as _multiprocessing
from multiprocessing import *  # noqa: F403
from typing import Any as _Any

from .spawn import (
    ProcessContext,
    ProcessException,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

_strategy = "file_descriptor"


def set_sharing_strategy(new_strategy: str) -> None:
    """Accepted. Source: torch.multiprocessing.set_sharing_strategy."""
    global _strategy
    if new_strategy not in get_all_sharing_strategies():
        raise AssertionError
    _strategy = new_strategy


def get_sharing_strategy() -> str:
    """What was set. Source: torch.multiprocessing.get_sharing_strategy."""
    return _strategy


def get_all_sharing_strategies() -> set[str]:
    """What may be set. Source: torch.multiprocessing.get_all_sharing_strategies."""
    return {"file_descriptor", "file_system"}


def __getattr__(name: str) -> _Any:
    return getattr(_multiprocessing, name)


__all__ = [
    *_multiprocessing.__all__, "ProcessContext", "ProcessException", "ProcessExitedException",
    "ProcessRaisedException", "SpawnContext", "get_all_sharing_strategies", "get_sharing_strategy",
    "set_sharing_strategy", "spawn", "start_processes",
]  # fmt: skip
