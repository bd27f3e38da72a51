"""torch.utils.deterministic: whether memory is filled that a program has not."""

from __future__ import annotations

__all__ = ["fill_uninitialized_memory"]

fill_uninitialized_memory = True
