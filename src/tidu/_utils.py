"""torch._utils: helpers of PyTorch's own that programs and pickled tensors name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ._rebuilding import (
    _rebuild_parameter,
    _rebuild_parameter_with_state,
    _rebuild_tensor,
    _rebuild_tensor_v2,
    _rebuild_tensor_v3,
)
from .core.tensor import Tensor
from .utils.data._utils import ExceptionWrapper

__all__ = [
    "ExceptionWrapper", "_accumulate", "_flatten_dense_tensors", "_rebuild_parameter", "_rebuild_parameter_with_state",
    "_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_tensor_v3", "_reorder_tensors_as", "_take_tensors",
    "_unflatten_dense_tensors",
]  # fmt: skip


def _accumulate(iterable: Iterable[Any], fn: Any = lambda x, y: x + y) -> Iterator[Any]:
    from itertools import accumulate

    return accumulate(iterable, fn)


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    from .ops.joining import cat

    return cat([t.contiguous().view(-1) for t in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The parts of such a row, in the shapes of the tensors it was made of."""
    parts = flat.split([t.numel() for t in tensors])
    return tuple(part.view(t.shape) for part, t in zip(parts, tensors, strict=True))


def _reorder_tensors_as(tensors: Iterable[Tensor], ordered_tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """Tensors that were grouped by type, in the order of others of these types."""
    by_type = defaultdict(list)
    for t in tensors:
        by_type[t.type()].append(t)
    queues = {kind: iter(found) for kind, found in by_type.items()}
    return tuple(next(queues[t.type()]) for t in ordered_tensors)


def _take_tensors(tensors: Iterable[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """Tensors in groups of one type, each of about so many bytes."""
    groups: dict[str, tuple[list[Tensor], int]] = {}
    for t in tensors:
        group, size = groups.get(t.type(), ([], 0))
        more = t.numel() * t.element_size()
        if size + more > size_limit and size > 0:
            yield group
            group, size = [], 0
        groups[t.type()] = ([*group, t], size + more)
    for group, _ in groups.values():
        if group:
            yield group
