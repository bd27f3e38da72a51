"""torch._C._special: the functions of torch.special by the names of PyTorch's compiled core."""

from __future__ import annotations

from typing import Any

from .. import special as home


def __getattr__(name: str) -> Any:
    return getattr(home, name.removeprefix("special_"))
