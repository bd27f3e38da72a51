"""torch.distributed: there is one process. Source: torch.distributed."""

from __future__ import annotations

from typing import Any

__all__ = [
    "destroy_process_group", "get_rank", "get_world_size", "init_process_group", "is_available", "is_initialized",
]  # fmt: skip


def is_available() -> bool:
    """False. Source: torch.distributed.is_available."""
    return False


def is_initialized() -> bool:
    """False. Source: torch.distributed.is_initialized."""
    return False


def get_rank(group: Any = None) -> int:
    """0: the only process. Source: torch.distributed.get_rank."""
    return 0


def get_world_size(group: Any = None) -> int:
    """1: the only process. Source: torch.distributed.get_world_size."""
    return 1


def init_process_group(*args: Any, **kwargs: Any) -> None:
    """Raises: there are no process groups. Source: torch.distributed.init_process_group."""
    raise RuntimeError("torch.distributed is not available: tidu runs in one process")


def destroy_process_group(group: Any = None) -> None:
    """Nothing to do. Source: torch.distributed.destroy_process_group."""
