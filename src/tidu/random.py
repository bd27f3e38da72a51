"""torch.random: the default generator's seed and state, and keeping it unmoved by a block of code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .ops._generator import Generator, default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state

__all__ = [
    "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state",
    "thread_safe_generator",
]  # fmt: skip


@contextmanager
def fork_rng(
    devices: Any = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str | None = None,
) -> Iterator[None]:
    """Within it the default generator may move; on leaving it is where it was. Source: torch.random.fork_rng.

    Args:
        devices, device_type: other devices whose generators to keep; there are none.
        enabled: False: do nothing.

    >>> import tidu as torch
    >>> _ = torch.manual_seed(0)
    >>> with torch.random.fork_rng():
    ...     a = torch.rand(1)
    >>> torch.equal(a, torch.rand(1))
    True
    """
    if not enabled:
        yield
        return
    stream = default_generator.stream
    place = stream.mark()
    try:
        yield
    finally:
        stream.back(place)


def thread_safe_generator() -> Generator | None:
    """A data loader worker thread's own generator, None elsewhere. Source: torch.random.thread_safe_generator."""
    return None
