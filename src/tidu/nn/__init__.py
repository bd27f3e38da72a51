"""torch.nn: modules, and what they are made of."""

from __future__ import annotations

from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter"]
