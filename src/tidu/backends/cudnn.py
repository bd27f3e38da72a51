"""torch.backends.cudnn: not there; the switches remember."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """False. Source: torch.backends.cudnn.is_available."""
    return False


def version() -> int | None:
    """None. Source: torch.backends.cudnn.version."""
    return None


def is_acceptable(tensor: object) -> bool:
    """False: no tensor is on a GPU. Source: torch.backends.cudnn.is_acceptable."""
    return False


def set_flags(
    _enabled: bool | None = None, _benchmark: bool | None = None, _benchmark_limit: int | None = None,
    _deterministic: bool | None = None, _allow_tf32: bool | None = None,
) -> tuple[object, ...]:  # fmt: skip
    """Set several switches; returns what they were. Source: torch.backends.cudnn.set_flags."""
    given = {
        "enabled": _enabled, "benchmark": _benchmark, "benchmark_limit": _benchmark_limit,
        "deterministic": _deterministic, "allow_tf32": _allow_tf32,
    }  # fmt: skip
    was = tuple(globals()[name] for name in given)
    globals().update({name: value for name, value in given.items() if value is not None})
    return was


@contextmanager
def flags(
    enabled: bool = False, benchmark: bool = False, benchmark_limit: int = 10, deterministic: bool = False,
    allow_tf32: bool = True,
) -> Iterator[None]:  # fmt: skip
    """Set the switches for the length of a `with` block. Source: torch.backends.cudnn.flags."""
    was = set_flags(enabled, benchmark, benchmark_limit, deterministic, allow_tf32)
    try:
        yield
    finally:
        set_flags(*was)  # type: ignore[arg-type]
