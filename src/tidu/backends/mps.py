"""torch.backends.mps: not there."""

from __future__ import annotations


def is_available() -> bool:
    """False. Source: torch.backends.mps.is_available."""
    return False


def is_built() -> bool:
    """False. Source: torch.backends.mps.is_built."""
    return False
