"""torch.backends.mkldnn: not there; the switches remember."""

from __future__ import annotations

enabled = True
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """False. Source: torch.backends.mkldnn.is_available."""
    return False
