"""Constructors by the names that PyTorch's have: an error in a call of Conv2d says "Conv2d.__init__()"."""

from __future__ import annotations

from types import FunctionType
from typing import Any

# Bases that PyTorch does not have, or whose constructor each of its classes writes out anew.
_SHARED = {
    "_Along", "_Alpha", "_AvgPoolNd", "_ConstantPadNd", "_Conv", "_ConvTransposeNd", "_FractionalMaxPoolNd", "_InPlace",
    "_Lambd", "_MaxUnpoolNd", "_Pad", "_Zeros",
}  # fmt: skip


def own_constructor(cls: Any) -> None:
    """Give a class that inherits its constructor from such a base one of its own name."""
    init = cls.__init__
    owner, _, _ = init.__qualname__.rpartition(".")
    if owner in _SHARED:
        own: Any = FunctionType(
            init.__code__, init.__globals__, init.__name__, init.__defaults__, init.__closure__
        )
        own.__kwdefaults__, own.__annotations__ = init.__kwdefaults__, init.__annotations__
        own.__module__, own.__qualname__ = init.__module__, f"{cls.__name__}.__init__"
        cls.__init__ = own
