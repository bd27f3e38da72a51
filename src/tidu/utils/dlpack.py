"""torch.utils.dlpack: tensors to and from other libraries."""

from __future__ import annotations

from typing import Any

from ..ops import creation

__all__ = ["from_dlpack", "to_dlpack"]


class _Capsule:
    """A bare capsule as an object that speaks DLPack."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **how: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # memory of the CPU


def from_dlpack(ext_tensor: Any, **how: Any) -> Any:
    """A tensor over the memory of an object that speaks DLPack; of a bare capsule, a copy of it.

    Source: torch.utils.dlpack.from_dlpack.
    """
    if not hasattr(ext_tensor, "__dlpack__") and '"dltensor"' in repr(ext_tensor):
        ext_tensor = _Capsule(ext_tensor)
    return creation.from_dlpack(ext_tensor, **how)


def to_dlpack(tensor: Any) -> Any:
    """A DLPack capsule of a tensor. Source: torch.utils.dlpack.to_dlpack."""
    return tensor.__dlpack__()
