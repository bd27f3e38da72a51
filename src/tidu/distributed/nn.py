"""torch.distributed.nn: collectives that gradients flow through, of one process."""

from __future__ import annotations

from typing import Any

__all__ = ["all_gather", "all_reduce", "broadcast", "reduce"]


def all_reduce(tensor: Any, op: Any = None, group: Any = None) -> Any:
    """The tensor: the reduction of one value. Source: torch.distributed.nn.all_reduce."""
    return tensor.clone()


def all_gather(tensor: Any, group: Any = None) -> tuple[Any, ...]:
    """The tensor of the one process. Source: torch.distributed.nn.all_gather."""
    return (tensor.clone(),)


def broadcast(tensor: Any, src: int, group: Any = None) -> Any:
    """The tensor. Source: torch.distributed.nn.broadcast."""
    return tensor.clone()


def reduce(tensor: Any, dst: int, op: Any = None, group: Any = None) -> Any:
    """The tensor. Source: torch.distributed.nn.reduce."""
    return tensor.clone()
