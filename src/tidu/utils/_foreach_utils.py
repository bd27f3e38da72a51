"""Names of torch.utils._foreach_utils that optimisers written for PyTorch use."""

from __future__ import annotations

from typing import Any

__all__ = ["_group_tensors_by_device_and_dtype"]


def _group_tensors_by_device_and_dtype(
    tensorlistlist: list[list[Any]], with_indices: bool = False
) -> dict[tuple[Any, Any], tuple[list[list[Any]], list[int]]]:
    """Lists of tensors that belong together, one group for each device and dtype of the first list."""
    groups: dict[tuple[Any, Any], tuple[list[list[Any]], list[int]]] = {}
    for i, first in enumerate(tensorlistlist[0]):
        lists, indices = groups.setdefault((first.device, first.dtype), ([[] for _ in tensorlistlist], []))
        for into, tensors in zip(lists, tensorlistlist):
            if tensors:
                into.append(tensors[i])
        if with_indices:
            indices.append(i)
    return groups
