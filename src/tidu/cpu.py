"""torch.cpu: the one device there is."""

from __future__ import annotations

from typing import Any

__path__: list[str] = []  # torch.cpu.amp is made when it is asked for
__all__ = ["current_device", "current_stream", "device_count", "is_available", "set_device", "stream", "synchronize"]


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


class Stream:
    """The one order in which things are done. Source: torch.cpu.Stream."""

    def __init__(self, priority: int = -1) -> None: ...

    def wait_stream(self, stream: Any) -> None:
        """Nothing to wait for."""

    def record_event(self) -> None:
        """Nothing to note."""

    def wait_event(self, event: Any) -> None:
        """Nothing to wait for."""


class Event:
    """A point in that order, which has been reached. Source: torch.cpu.Event."""

    def query(self) -> bool:
        """True."""
        return True

    def record(self, stream: Any = None) -> None:
        """Nothing to note."""

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def wait(self, stream: Any = None) -> None:
        """Nothing to wait for."""


_stream = Stream()


def current_stream(device: Any = None) -> Stream:
    """The one stream. Source: torch.cpu.current_stream."""
    return _stream


class StreamContext:
    """A context in which a stream would be the current one. Source: torch.cpu.StreamContext."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None: ...

    def __exit__(self, *exc: Any) -> None: ...


def stream(stream: Any) -> StreamContext:
    """A context that changes nothing. Source: torch.cpu.stream."""
    return StreamContext(stream)


def set_device(device: Any) -> None:
    """Nothing: there is one. Source: torch.cpu.set_device."""


def __getattr__(name: str) -> Any:
    if name == "amp":
        from importlib import import_module

        return import_module(f"{__name__}.amp")
    from .core.errors import missing_name

    raise missing_name(__name__, name)
