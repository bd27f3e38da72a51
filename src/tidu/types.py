"""torch.types: names for type annotations."""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from typing import Any

from .devices import device as _device
from .dtypes import dtype as _dtype  # noqa: F401
from .layouts import layout as _layout  # noqa: F401
from .ops.storage import UntypedStorage as Storage
from .shapes import Size

__all__ = ["Device", "FileLike", "Number", "Size", "Storage"]

_TensorOrTensors = Any
_bool, _int, _float, _complex = builtins.bool, builtins.int, builtins.float, builtins.complex
_size = Size | list[int] | tuple[int, ...]
_qscheme = Any
Number = int | float | bool
Device = _device | str | int | None
FileLike = Any
PathLike = str | os.PathLike
IntLikeType = int
FloatLikeType = float
BoolLikeType = bool
_symsize = Sequence[int]
_dispatchkey = str
