"""torch.nn: modules, and what they are made of."""

from __future__ import annotations

from . import functional
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = ["Buffer", "functional", "Parameter", "UninitializedBuffer", "UninitializedParameter"]
