"""torch.accelerator: there is none."""

from __future__ import annotations

from typing import Any


def is_available() -> bool:
    """False. Source: torch.accelerator.is_available."""
    return False


def device_count() -> int:
    """0. Source: torch.accelerator.device_count."""
    return 0


def current_accelerator(check_available: bool = False) -> Any:
    """None. Source: torch.accelerator.current_accelerator."""
    return None


def synchronize(device: Any = None) -> None:
    """RuntimeError: there is nothing to wait for. Source: torch.accelerator.synchronize."""
    raise RuntimeError("Cannot access accelerator device when none is available.")
