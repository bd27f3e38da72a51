"""Anomaly mode: backward raises where a NaN is made, and names the forward call. Source: torch.autograd.anomaly_mode."""

from __future__ import annotations

import warnings
from typing import Any

from ..core.modes import state

__all__ = ["detect_anomaly", "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "set_anomaly_enabled", "set_detect_anomaly"]


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on."""
    return state.anomaly


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode looks for NaN."""
    return state.check_nan


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Turn anomaly mode on or off."""
    state.anomaly, state.check_nan = mode, check_nan
    state.refresh()


class set_detect_anomaly:
    """Turn anomaly mode on or off, at once; as a context manager, put it back on leaving. Source:
    torch.autograd.set_detect_anomaly."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.prev = state.anomaly, state.check_nan
        set_anomaly_enabled(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: Any) -> None:
        set_anomaly_enabled(*self.prev)


class detect_anomaly:
    """Within it backward raises where a NaN is made. Source: torch.autograd.detect_anomaly."""

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            UserWarning,
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self.prev = state.anomaly, state.check_nan
        set_anomaly_enabled(True, self.check_nan)

    def __exit__(self, *exc: Any) -> None:
        set_anomaly_enabled(*self.prev)
