"""torch._C._nn: the functions of torch.nn.functional by the names of PyTorch's compiled core."""

from __future__ import annotations

from typing import Any

from ..nn import functional as home


def __getattr__(name: str) -> Any:
    return getattr(home, name)
