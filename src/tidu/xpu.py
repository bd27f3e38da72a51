"""torch.xpu: not there."""

from __future__ import annotations


def is_available() -> bool:
    """False. Source: torch.xpu.is_available."""
    return False


def device_count() -> int:
    """0. Source: torch.xpu.device_count."""
    return 0


def manual_seed(seed: int) -> None:
    """Nothing: there is no generator to seed. Source: torch.xpu.manual_seed."""


def empty_cache() -> None:
    """Nothing: no memory is kept. Source: torch.xpu.empty_cache."""
