"""torch.mtia: there are no such devices."""

from __future__ import annotations

from .unbuilt import unbuilt_names

__all__ = ["device_count", "is_available", "is_initialized"]


def is_available() -> bool:
    """False. Source: torch.mtia.is_available."""
    return False


def is_initialized() -> bool:
    """False. Source: torch.mtia.is_initialized."""
    return False


def device_count() -> int:
    """0. Source: torch.mtia.device_count."""
    return 0


globals().update(
    unbuilt_names("torch.mtia", "current_device current_stream init set_device stream synchronize", "MTIA devices")
)
