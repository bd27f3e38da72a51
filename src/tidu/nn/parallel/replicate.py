"""Copies of a module on several devices: there are none."""

from __future__ import annotations

from typing import Any

__all__ = ["replicate"]


def replicate(network: Any, devices: Any, detach: bool = False) -> list[Any]:
    """A copy of a module for each device. Source: torch.nn.parallel.replicate.

    Raises:
        AssertionError: there are devices to copy to, which can be none but the CPU.
    """
    if len(devices):
        raise AssertionError("Broadcast function not implemented for CPU tensors")
    return []
