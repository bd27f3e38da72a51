"""Where the storages of a file are to go: map_location, and the packages that know a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .devices import device
from .ops.storage import UntypedStorage

__all__ = ["default_restore_location", "location_tag", "register_package", "restorer"]

_CUDA = (
    "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are running on "
    "a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your storages to the CPU."
)
_packages: list[tuple[int, Callable[..., Any], Callable[..., Any]]] = []


def register_package(priority: int, tagger: Callable[..., Any], deserializer: Callable[..., Any]) -> None:
    """Register who knows a kind of device. Source: torch.serialization.register_package.

    Args:
        priority: the lowest is asked first.
        tagger: storage -> the location that is written into the file, or None.
        deserializer: storage, location -> the storage at that location, or None.
    """
    _packages.append((priority, tagger, deserializer))
    _packages.sort(key=lambda entry: entry[0])


def _on_cpu(storage: Any, location: str) -> Any:
    return storage if location == "cpu" else None


def _on_cuda(storage: Any, location: str) -> Any:
    if location.startswith("cuda"):
        raise RuntimeError(_CUDA)


def _elsewhere(storage: Any, location: str) -> Any:
    if location.split(":")[0] in ("meta", "mps", "xpu", "hpu"):
        raise RuntimeError(f"tidu computes on the CPU only; device {location!r} is not available")


register_package(10, lambda storage: "cpu", _on_cpu)
register_package(20, lambda storage: None, _on_cuda)
register_package(30, lambda storage: None, _elsewhere)


def location_tag(storage: Any) -> str:
    """What is written into a file for where a storage is. Source: torch.serialization.location_tag."""
    for _, tagger, _ in _packages:
        tag = tagger(storage)
        if tag:
            return tag
    raise RuntimeError(f"don't know how to determine data location of {_kind(storage)}")


def default_restore_location(storage: Any, location: str) -> Any:
    """A storage at the place that a file says. Source: torch.serialization.default_restore_location.

    Raises:
        RuntimeError: there is no such place.
    """
    for _, _, deserializer in _packages:
        got = deserializer(storage, location)
        if got is not None:
            return got
    raise RuntimeError(f"don't know how to restore data location of {_kind(storage)} (tagged with {location})")


def _kind(storage: Any) -> str:
    return "torch.storage.UntypedStorage" if isinstance(storage, UntypedStorage) else type(storage).__name__


def restorer(map_location: Any) -> Callable[[Any, str], Any]:
    """What to do with a storage and its location, for a `map_location`."""
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, dict):
        return lambda storage, location: default_restore_location(storage, map_location.get(location, location))
    if isinstance(map_location, (str, bytes, device)):
        return lambda storage, location: default_restore_location(storage, str(map_location))

    def restore(storage: Any, location: str) -> Any:
        got = map_location(storage, location)
        return default_restore_location(storage, location) if got is None else got

    return restore
