"""Small namespaces, of what is elsewhere: torch.functional, return_types, storage, types and _tensor."""

from __future__ import annotations

import builtins
import io
import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from .core.tensor import Tensor
from .devices import device, layout
from .dtypes import dtype
from .missing import missing_name
from .naming import FACE, TYPES, showing
from .ops.export import _rebuild_from_type_v2
from .ops.storage import TypedStorage, UntypedStorage
from .shapes import Size

_FUNCTIONAL = (
    "atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes broadcast_tensors cartesian_prod cdist "
    "chain_matmul einsum istft lu meshgrid norm pca_lowrank split stft svd_lowrank tensordot unique "
    "unique_consecutive unravel_index"
).split()


def _function(name: str) -> Any:
    if name in _FUNCTIONAL:
        return getattr(import_module(__package__), name)
    if name == "F":
        return import_module(f"{__package__}.nn.functional")
    raise missing_name("torch.functional", name)


def _return_type(name: str) -> Any:
    if name not in TYPES:
        from . import ops

        ops.families()  # the others' types are made when they are imported
    if name in TYPES:
        return TYPES[name]
    raise missing_name("torch.return_types", name)


def _load_from_bytes(b: bytes) -> Any:
    """A storage that PyTorch pickled outside of a file of its own."""
    from .serialization import load

    return load(io.BytesIO(b), weights_only=False)


showing(FACE, "functional", {"__getattr__": _function}).__dict__["__all__"] = _FUNCTIONAL
showing(FACE, "return_types", {"__getattr__": _return_type, "__dir__": lambda: sorted(TYPES)})
showing(
    FACE, "storage",
    {"TypedStorage": TypedStorage, "UntypedStorage": UntypedStorage, "_load_from_bytes": _load_from_bytes},
)  # fmt: skip
showing(FACE, "_tensor", {"Tensor": Tensor, "_rebuild_from_type_v2": _rebuild_from_type_v2})
showing(FACE, "types", {
    "Device": device | str | int | None, "FileLike": Any, "Number": int | float | bool, "Size": Size,
    "Storage": UntypedStorage, "PathLike": str | os.PathLike, "IntLikeType": int, "FloatLikeType": float,
    "BoolLikeType": bool, "_TensorOrTensors": Any, "_bool": builtins.bool, "_int": builtins.int,
    "_float": builtins.float, "_complex": builtins.complex, "_dtype": dtype, "_layout": layout, "_device": device,
    "_size": Size | list[int] | tuple[int, ...], "_qscheme": Any, "_symsize": Sequence[int], "_dispatchkey": str,
})  # fmt: skip
