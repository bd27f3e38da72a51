"""torch.storage: the memory behind tensors."""

from __future__ import annotations

from typing import Any

from .ops.storage import TypedStorage, UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]


def _load_from_bytes(b: bytes) -> Any:
    """A storage that PyTorch pickled outside of a file of its own."""
    import io

    from .serialization import load

    return load(io.BytesIO(b), weights_only=False)
