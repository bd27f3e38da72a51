"""torch.utils.dlpack: tensors to and from other libraries, without a copy."""

from __future__ import annotations

from typing import Any

from ..ops.creation import from_dlpack

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor: Any) -> Any:
    """A DLPack capsule of a tensor. Source: torch.utils.dlpack.to_dlpack."""
    return tensor.__dlpack__()
