"""torch.backends.openmp."""

from __future__ import annotations


def is_available() -> bool:
    """Whether the library is there: no. Source: torch.backends.openmp.is_available."""
    return False
