"""torch.backends.opt_einsum: not used."""

from __future__ import annotations

enabled = False
strategy: str | None = None


def is_available() -> bool:
    """False. Source: torch.backends.opt_einsum.is_available."""
    return False
