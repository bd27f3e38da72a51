"""torch.cpu: the one device there is."""

from __future__ import annotations

from typing import Any


def is_available() -> bool:
    """True. Source: torch.cpu.is_available."""
    return True


def device_count() -> int:
    """1. Source: torch.cpu.device_count."""
    return 1


def current_device() -> str:
    """The string "cpu". Source: torch.cpu.current_device."""
    return "cpu"


def synchronize(device: Any = None) -> None:
    """Nothing: every op has finished when it returns. Source: torch.cpu.synchronize."""
