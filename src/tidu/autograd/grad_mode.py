"""Grad modes, and how gradients are accumulated. Source: torch.autograd.grad_mode."""

from __future__ import annotations

from typing import Any

from ..core.modes import (
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
    state,
)

__all__ = [
    "enable_grad", "enforce_grad_layout_policy", "inference_mode", "no_grad", "set_grad_enabled",
    "set_multithreading_enabled",
]  # fmt: skip


class enforce_grad_layout_policy:
    """Whether a first gradient must lie in memory as its leaf does, or may be taken as it comes; at once, and as a
    context manager put back on leaving. Source: torch.autograd.enforce_grad_layout_policy."""

    def __init__(self, enable: bool = True) -> None:
        self.prev = state.grad_layout
        state.grad_layout = enable

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: Any) -> None:
        state.grad_layout = self.prev
