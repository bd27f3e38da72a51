"""Modules without initial values. Source: torch.nn.utils.init."""

from __future__ import annotations

import inspect
from typing import Any

from ..modules.module import Module

__all__ = ["skip_init"]


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """A module of this class; its parameters are not to be relied on. Source: torch.nn.utils.skip_init."""
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    from ...random import fork_rng

    with fork_rng():  # no random numbers are used up
        return module_cls(*args, **kwargs)
