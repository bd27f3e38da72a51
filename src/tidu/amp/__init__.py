"""torch.amp: computing in a narrower type where that is safe, and scaling losses for it."""

from __future__ import annotations

from .autocast_mode import (
    _enter_autocast,
    _exit_autocast,
    autocast,
    custom_bwd,
    custom_fwd,
    get_autocast_dtype,
    is_autocast_available,
    is_autocast_cache_enabled,
    is_autocast_enabled,
    set_autocast_cache_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)
from .grad_scaler import GradScaler

__all__ = [
    "GradScaler", "_enter_autocast", "_exit_autocast", "autocast", "custom_bwd", "custom_fwd", "get_autocast_dtype",
    "is_autocast_available", "is_autocast_cache_enabled", "is_autocast_enabled", "set_autocast_cache_enabled",
    "set_autocast_dtype", "set_autocast_enabled",
]  # fmt: skip
