"""torch.distributed: a group of one process, in which every collective is done at once. Source: torch.distributed."""

from __future__ import annotations

import os
from enum import Enum
from typing import Any

from ..core.modes import no_grad
from ..naming import sourced_all, submodule

__all__ = [
    "ProcessGroup", "ReduceOp", "all_gather", "all_gather_into_tensor", "all_gather_object", "all_reduce", "barrier",
    "broadcast", "broadcast_object_list", "destroy_process_group", "gather", "get_backend", "get_rank",
    "get_world_size", "group", "init_process_group", "is_available", "is_initialized", "new_group", "nn", "reduce",
    "reduce_scatter", "scatter",
]  # fmt: skip


class ReduceOp(Enum):
    """How values of several processes become one."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7


class ProcessGroup:
    """The one process."""

    def __init__(self, backend: str) -> None:
        self.backend = backend

    def rank(self) -> int:
        """0."""
        return 0

    def size(self) -> int:
        """1."""
        return 1


class group:
    """The group of all processes."""

    WORLD: ProcessGroup | None = None


def is_available() -> bool:
    """False: there are no other processes."""
    return False


def is_gloo_available() -> bool:
    """False: no backend is needed for one process."""
    return False


is_mpi_available = is_nccl_available = is_ucc_available = is_xccl_available = is_gloo_available
is_torchelastic_launched = is_gloo_available


def is_initialized() -> bool:
    """Whether init_process_group was called."""
    return group.WORLD is not None


def _of(given: Any = None) -> ProcessGroup:
    found = given if isinstance(given, ProcessGroup) else group.WORLD
    if found is None:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return found


def init_process_group(
    backend: str | None = None, init_method: str | None = None, timeout: Any = None, world_size: int = -1,
    rank: int = -1, *args: Any, **kwargs: Any,
) -> None:  # fmt: skip
    """Make the group of this process.

    Raises:
        RuntimeError: it was to have more than one process.
    """
    size = world_size if world_size > 0 else int(os.environ.get("WORLD_SIZE", "1"))
    if size != 1:
        raise RuntimeError(f"torch.distributed: tidu runs in one process, and cannot make a group of {size}")
    if is_initialized():
        raise ValueError("trying to initialize the default process group twice!")
    group.WORLD = ProcessGroup(backend or "gloo")


def destroy_process_group(group_: Any = None) -> None:
    """Undo init_process_group."""
    group.WORLD = None


def new_group(*args: Any, **kwargs: Any) -> ProcessGroup:
    """A group of the same process."""
    return ProcessGroup(_of().backend)


def get_backend(group: Any = None) -> str:
    """The name given to init_process_group."""
    return _of(group).backend


def get_rank(group: Any = None) -> int:
    """0: the only process."""
    return _of(group).rank()


def get_world_size(group: Any = None) -> int:
    """1: the only process."""
    return _of(group).size()


class _Done:
    def wait(self, timeout: Any = None) -> bool:
        """Nothing to wait for."""
        return True

    def is_completed(self) -> bool:
        """True."""
        return True


def _done(group: Any, async_op: bool) -> _Done | None:
    _of(group)
    return _Done() if async_op else None


def _into(target: Any, source: Any, group: Any, async_op: bool) -> _Done | None:
    done = _done(group, async_op)
    with no_grad():
        target.copy_(source)
    return done


def all_reduce(tensor: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Any:
    """Leave `tensor` as it is: the reduction of one value."""
    return _done(group, async_op)


def reduce(
    tensor: Any, dst: Any = None, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False, **how: Any
) -> Any:
    """Leave `tensor` as it is."""
    return _done(group, async_op)


def broadcast(tensor: Any, src: Any = None, group: Any = None, async_op: bool = False, **how: Any) -> Any:
    """Leave `tensor` as it is."""
    return _done(group, async_op)


def all_gather(tensor_list: list[Any], tensor: Any, group: Any = None, async_op: bool = False) -> Any:
    """Copy `tensor` into the one tensor of the list."""
    return _into(tensor_list[0], tensor, group, async_op)


def all_gather_into_tensor(output_tensor: Any, input_tensor: Any, group: Any = None, async_op: bool = False) -> Any:
    """Copy."""
    return _into(output_tensor, input_tensor.reshape(output_tensor.shape), group, async_op)


def gather(
    tensor: Any, gather_list: Any = None, dst: Any = None, group: Any = None, async_op: bool = False, **how: Any
) -> Any:
    """Copy `tensor` into the one tensor of the list."""
    return _into(gather_list[0], tensor, group, async_op)


def scatter(
    tensor: Any, scatter_list: Any = None, src: Any = None, group: Any = None, async_op: bool = False, **how: Any
) -> Any:
    """Copy the one tensor of the list into `tensor`."""
    return _into(tensor, scatter_list[0], group, async_op)


def reduce_scatter(
    output: Any, input_list: list[Any], op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Any:
    """Copy the one tensor of the list."""
    return _into(output, input_list[0], group, async_op)


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """Put the object into the list."""
    _of(group)
    object_list[0] = obj


def broadcast_object_list(object_list: list[Any], src: Any = None, group: Any = None, **how: Any) -> None:
    """Leave the list as it is."""
    _of(group)


def barrier(group: Any = None, async_op: bool = False, **how: Any) -> Any:
    """Wait for nobody."""
    return _done(group, async_op)


# Collectives that gradients flow through.


def _nn_all_reduce(tensor: Any, op: Any = None, group: Any = None) -> Any:
    """The tensor: the reduction of one value. Source: torch.distributed.nn.all_reduce."""
    return tensor.clone()


def _nn_all_gather(tensor: Any, group: Any = None) -> tuple[Any, ...]:
    """The tensor of the one process. Source: torch.distributed.nn.all_gather."""
    return (tensor.clone(),)


def _nn_broadcast(tensor: Any, src: int, group: Any = None) -> Any:
    """The tensor. Source: torch.distributed.nn.broadcast."""
    return tensor.clone()


def _nn_reduce(tensor: Any, dst: int, op: Any = None, group: Any = None) -> Any:
    """The tensor. Source: torch.distributed.nn.reduce."""
    return tensor.clone()


nn = submodule(
    globals(), "nn", all_gather=_nn_all_gather, all_reduce=_nn_all_reduce, broadcast=_nn_broadcast, reduce=_nn_reduce
)


sourced_all(globals())
