"""torch._C._linalg: the functions of torch.linalg by the names of PyTorch's compiled core."""

from __future__ import annotations

from typing import Any

from .. import linalg as home


def __getattr__(name: str) -> Any:
    return getattr(home, name.removeprefix("linalg_"))
