"""torch.backends.mkl."""

from __future__ import annotations


def is_available() -> bool:
    """Whether the library is there: no. Source: torch.backends.mkl.is_available."""
    return False
