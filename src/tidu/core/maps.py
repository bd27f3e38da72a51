"""The vmaps at work in a thread, and what random numbers shall do in them."""

from __future__ import annotations

import threading

RANDOM_IN_ERROR_MODE = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
    "randomness "
    "flags on vmap or perform the randomness operation out of vmap"
)


class _Maps(threading.local):
    def __init__(self) -> None:
        self.stack: list[tuple[int, int, str]] = []  # level, size and randomness, the innermost last
        self.told = False  # that samples are run one by one, about a vmap around


maps = _Maps()


def randomness_of(level: int) -> str:
    """What random numbers shall do in the vmap of this level: "error", "same" or "different" for the samples."""
    return next((how for at, _, how in maps.stack if at == level), "error")


def check_random() -> None:
    """Raise if numbers may not be drawn here."""
    if any(how == "error" for _, _, how in maps.stack):
        raise RuntimeError(RANDOM_IN_ERROR_MODE)


def different() -> list[tuple[int, int]]:
    """Level and size of the vmaps whose samples draw numbers of their own, the outermost first."""
    return [(level, n) for level, n, how in maps.stack if how == "different"]
