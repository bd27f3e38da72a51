"""Levels: how transforms at work in a thread are told apart. Each takes a number of its own; the innermost has the
highest. And what random numbers shall do in the vmaps among them."""

from __future__ import annotations

import itertools
import threading
from typing import Any


class _Transforms:
    vjp: Any  # func.vjp, set by autograd


TRANSFORMS = _Transforms()
_next = itertools.count(1).__next__


class _Levels(threading.local):
    def __init__(self) -> None:
        self.active: list[int] = []
        self.quiet: set[int] = set()  # those that are no function's transform
        self.by_hand: int | None = None  # the level of forward mode that a program entered itself


_levels = _Levels()


def enter(quiet: bool = False) -> int:
    """Begin a transform; the level its values carry."""
    level = _next()
    if quiet:
        _levels.quiet.add(level)
    _levels.active.append(level)
    return level


def leave(level: int) -> None:
    """End the transform of this level, and any left open within it."""
    active = _levels.active
    while active and active[-1] >= level:
        _levels.quiet.discard(active.pop())


def alive(level: int) -> bool:
    return level in _levels.active


def enter_by_hand() -> int:
    level = _levels.by_hand = enter(True)
    return level


def by_hand(level: int) -> bool:
    """Whether a program itself began this level, and it is still at work."""
    return level == _levels.by_hand and alive(level)


def rank(level: int) -> int:
    """The number of an active level among those at work, the outermost being 1; what is over is -1."""
    return _levels.active.index(level) + 1 if level in _levels.active else -1


def depth() -> int:
    return len(_levels.active)


def transforming() -> bool:
    """Whether the function of a transform is running."""
    return len(_levels.active) > len(_levels.quiet)


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
