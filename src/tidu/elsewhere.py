"""Small namespaces, made when they are asked for: torch.functional, return_types, storage, types and _tensor, of what is
elsewhere; those of devices that are not there, such as torch.mps; names that PyTorch has and that are there to be imported
only: using them is an error that says what is lacking; and names from PyTorch's early days, of tensor types and storages."""

from __future__ import annotations

import builtins
import io
import os
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from . import dtypes, version
from .arrays.threads import get_num_threads
from .core.errors import explain_lack, missing_name
from .core.tensor import Tensor
from .devices import device, layout, strided
from .dtypes import dtype
from .naming import FACE, TYPES, showing, submodule
from .ops._make import warn_once
from .ops.creation import build
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


# ------------------------------------------------------------------ what is not there


def unbuilt(path: str, what: str) -> Callable[..., Any]:
    """A function that raises NotImplementedError.

    Args:
        path: its name in PyTorch.
        what: what there would have to be.
    """

    def raising(*args: Any, **kw: Any) -> Any:
        raise explain_lack(NotImplementedError(f"{path} needs {what}, which tidu does not have"), path)

    raising.__name__ = raising.__qualname__ = path.rpartition(".")[2]
    raising.__doc__ = f"NotImplementedError: there are no {what}. Source: {path}."
    return raising


def unbuilt_names(module: str, names: str, what: str) -> dict[str, Callable[..., Any]]:
    """Such functions by their names in a module."""
    return {name: unbuilt(f"{module}.{name}", what) for name in names.split()}


def device_names(module: str) -> dict[str, Callable[..., Any]]:
    """What the module of a device has that is not there."""

    def is_available() -> bool:
        """False."""
        return False

    def is_initialized() -> bool:
        """False."""
        return False

    def device_count() -> int:
        """0."""
        return 0

    def manual_seed(seed: int) -> None:
        """Nothing: there is no generator to seed."""

    def empty_cache() -> None:
        """Nothing: no memory is kept."""

    found = {}
    for fn in (is_available, is_initialized, device_count, manual_seed, empty_cache):
        name = fn.__qualname__ = fn.__name__
        fn.__module__ = __package__ + module.removeprefix("torch")
        fn.__doc__ = f"{fn.__doc__} Source: {module}.{name}."
        found[name] = fn
    return found


def _current_accelerator(check_available: bool = False) -> Any:
    """None. Source: torch.accelerator.current_accelerator."""
    return None


def _synchronize(device: Any = None) -> None:
    """RuntimeError: there is nothing to wait for. Source: torch.accelerator.synchronize."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


def _show() -> str:
    """What computes here. Source: torch.__config__.show."""
    return f"tidu {version.tidu}, NumPy {np.__version__}, {get_num_threads()} threads\n"


class _ExportedProgram:
    """The class of exported programs, of which there are none. Source: torch.export.ExportedProgram."""


for _name in ("mps", "xpu"):
    submodule(FACE, _name, **device_names(f"torch.{_name}"))
submodule(
    FACE, "accelerator", current_accelerator=_current_accelerator, synchronize=_synchronize,
    **device_names("torch.accelerator"),
)  # fmt: skip
submodule(
    FACE, "mtia", **device_names("torch.mtia"),
    **unbuilt_names("torch.mtia", "current_device current_stream init set_device stream synchronize", "MTIA devices"),
)  # fmt: skip
submodule(
    FACE, "export", ExportedProgram=_ExportedProgram,
    **unbuilt_names(
        "torch.export", "Dim dims draft_export export load register_dataclass save unflatten", "graph capture"
    ),
)  # fmt: skip
submodule(
    FACE, "onnx", is_in_onnx_export=lambda: False,
    **unbuilt_names("torch.onnx", "dynamo_export export register_custom_op_symbolic", "graph capture"),
)  # fmt: skip
submodule(FACE, "__config__", show=_show, parallel_info=_show)
_NESTED = "as_nested_tensor masked_select narrow nested_tensor nested_tensor_from_jagged to_padded_tensor"
submodule(FACE, "nested", **unbuilt_names("torch.nested", _NESTED, "nested tensors"))


# ------------------------------------------------------------------ types by dtype


class tensortype(type):
    """The class of the tensor types: `isinstance(x, torch.FloatTensor)` asks for the dtype."""

    dtype: dtypes.dtype

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Tensor) and x.dtype is cls.dtype and x.layout is strided

    def __call__(cls, *args: Any, device: Any = None) -> Any:
        return build(cls.dtype, args, device)


class _storagetype(type):
    dtype: dtypes.dtype

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, TypedStorage) and x.dtype is cls.dtype

    def __call__(cls, *args: Any, **kw: Any) -> TypedStorage:
        return TypedStorage(*args, dtype=cls.dtype, **kw)


for _d in dtypes.ALL:
    if _d.legacy.startswith("UInt"):
        continue
    for _meta, _kind in ((tensortype, "Tensor"), (_storagetype, "Storage")):
        if _d.is_complex and _kind == "Tensor":
            continue
        globals()[_d.legacy + _kind] = _meta(
            _d.legacy + _kind,
            (),
            {
                "__doc__": f"{_kind}s of {_d!r}. Source: torch.{_d.legacy}{_kind}.",
                "__module__": "torch", "dtype": _d, "layout": strided, "is_cuda": False,
            },
        )  # fmt: skip


Storage = globals()["FloatStorage"]


def is_storage(obj: Any, /) -> bool:
    """Whether `obj` is a storage. Source: torch.is_storage."""
    return isinstance(obj, (TypedStorage, UntypedStorage))


def typename(obj: Any, /) -> str:
    """The name of a tensor's old type, or of the object or its class. Source: torch.typename."""
    if isinstance(obj, Tensor):
        return obj.type()
    module = getattr(obj, "__module__", "") or ""
    name = getattr(obj, "__qualname__", "")
    if not name:
        module, name = type(obj).__module__, type(obj).__qualname__
    if module in ("", "builtins"):
        return name
    if module.split(".")[0] == __package__:
        module = "torch" + module.removeprefix(__package__)
    return f"{module}.{name}"


def set_default_tensor_type(t: Any, /) -> None:
    """Set the default floating type by an old tensor type; deprecated. Source: torch.set_default_tensor_type."""
    warn_once(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives."
    )
    if isinstance(t, str):
        module, _, name = t.rpartition(".")
        t = globals()[name] if module in ("torch", __package__) else import_module(module or name)
    if not isinstance(t, tensortype):
        raise TypeError("invalid type object")
    dtypes.set_default_dtype(t.dtype)
