"""Modules called at once, each on a device of its own: there are none."""

from __future__ import annotations

from typing import Any

__all__ = ["parallel_apply"]


def parallel_apply(modules: Any, inputs: Any, kwargs_tup: Any = None, devices: Any = None) -> list[Any]:
    """The outputs of modules for their inputs, each computed on its own device. Source:
    torch.nn.parallel.parallel_apply.

    Raises:
        RuntimeError: always, for there are no such devices.
    """
    raise RuntimeError("Cannot access accelerator device when none is available.")
