"""torch._C._fft: the functions of torch.fft by the names of PyTorch's compiled core."""

from __future__ import annotations

from typing import Any

from .. import fft as home


def __getattr__(name: str) -> Any:
    return getattr(home, name.removeprefix("fft_"))
