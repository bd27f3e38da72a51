"""Grad modes, and how gradients are accumulated. Source: torch.autograd.grad_mode."""

from __future__ import annotations

from typing import Any

from ..core.modes import enable_grad, inference_mode, no_grad, set_grad_enabled, set_multithreading_enabled, state

__all__ = [
    "enable_grad", "enforce_grad_layout_policy", "inference_mode", "no_grad", "set_grad_enabled",
    "set_multithreading_enabled",
]  # fmt: skip


class _force_original_view_tracking(set_multithreading_enabled):
    """Does nothing: views are tracked in one way. Source: torch.autograd._force_original_view_tracking."""


class _unsafe_preserve_version_counter:
    """Within it writes to some tensors do not count. Source: torch.autograd._unsafe_preserve_version_counter."""

    def __init__(self, tensors: Any) -> None:
        self.cells = [t._v for t in (tensors if isinstance(tensors, tuple) else (tensors,))]
        self.prev = [v[0] for v in self.cells]

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: Any) -> None:
        for cell, version in zip(self.cells, self.prev, strict=True):
            cell[0] = version


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
