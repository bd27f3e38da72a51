"""torch.load: files in PyTorch's format, read. See serialization.py for the format."""

from __future__ import annotations

import importlib
import io
import os
import pickle
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from . import dtypes
from ._restricted import RestrictedUnpickler
from .core.hooks import RemovableHandle
from .core.subclass import PUBLIC
from .core.tensor import Tensor, extra, tensor_of
from .core.views import window
from .devices import device
from .nn.parameter import Parameter
from .ops.export import _adorn, _rebuild_from_type_v2
from .ops.storage import TypedStorage, UntypedStorage
from .shapes import Size

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals"]


def _rebuild_tensor_v2(
    storage: Any, storage_offset: int, size: Any, stride: Any, requires_grad: bool, backward_hooks: Any,
    metadata: Any = None,
) -> Tensor:  # fmt: skip
    t = tensor_of(window(storage._array, tuple(size), tuple(stride), storage_offset))
    t._node = True if requires_grad else None
    if backward_hooks:
        extra(t).backward_hooks = backward_hooks
    return t


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: Any) -> Parameter:
    p = Parameter(data, requires_grad)
    if backward_hooks:
        extra(p).backward_hooks = backward_hooks
    return p


def _rebuild_parameter_with_state(data: Tensor, requires_grad: bool, backward_hooks: Any, state: Any) -> Any:
    return _adorn(_rebuild_parameter(data, requires_grad, backward_hooks), Parameter, state)


# Where PyTorch keeps what lies elsewhere here. All other names differ in their first word only.
_PLACES: dict[tuple[str, str], Any] = {
    ("torch", "Size"): Size,
    ("torch", "Tensor"): Tensor,
    ("torch", "device"): device,
    ("torch._tensor", "_rebuild_from_type_v2"): _rebuild_from_type_v2,
    ("torch._utils", "_rebuild_parameter"): _rebuild_parameter,
    ("torch._utils", "_rebuild_parameter_with_state"): _rebuild_parameter_with_state,
    ("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor_v2,
    ("torch.nn.parameter", "Parameter"): Parameter,
    ("torch.storage", "UntypedStorage"): UntypedStorage,
    ("torch.utils.hooks", "RemovableHandle"): RemovableHandle,
    **{("torch", d.name): d for d in dtypes.ALL},
    **{("torch", d.legacy + "Storage"): d for d in dtypes.ALL},
}


_safe: list[Any] = []


def _rebuild_safely(build: Any, kind: Any, args: Any, attributes: Any) -> Any:
    """`_rebuild_from_type_v2` for files that are not trusted."""
    if build not in (_rebuild_tensor_v2, _rebuild_parameter) or not issubclass(kind, Tensor):
        raise pickle.UnpicklingError(f"Unsupported tensor of {kind!r} made by {build!r}")
    return _rebuild_from_type_v2(build, kind, args, attributes)


_SAFE_PLACES = {
    **{k: v for k, v in _PLACES.items() if k[1] != "RemovableHandle"},
    ("torch._tensor", "_rebuild_from_type_v2"): _rebuild_safely,
}


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let `load` take these classes and functions with `weights_only`. Source: torch.serialization.add_safe_globals."""
    _safe.extend(safe_globals)


def get_safe_globals() -> list[Any]:
    """What `add_safe_globals` has been given. Source: torch.serialization.get_safe_globals."""
    return list(_safe)


def clear_safe_globals() -> None:
    """Forget what `add_safe_globals` has been given. Source: torch.serialization.clear_safe_globals."""
    _safe.clear()


@contextmanager
def _safe_globals(extra_globals: list[Any]) -> Iterator[None]:
    before = list(_safe)
    _safe.extend(extra_globals)
    try:
        yield
    finally:
        _safe[:] = before


class safe_globals:
    """`add_safe_globals` for the length of a `with` block. Source: torch.serialization.safe_globals."""

    def __init__(self, safe_globals: list[Any]) -> None:
        self._context = _safe_globals(safe_globals)

    def __enter__(self) -> None:
        self._context.__enter__()

    def __exit__(self, *exc: Any) -> None:
        self._context.__exit__(None, None, None)


class _Storages:
    """The storages of a file being read: persistent ids name them."""

    def __init__(self, read: Callable[[str], bytes], map_location: Any) -> None:
        self.read_record, self.map_location = read, map_location
        self.storages: dict[str, Any] = {}

    def load(self, pid: Any) -> Any:
        word, kind, key, location, n = pid
        if word != "storage":
            raise pickle.UnpicklingError(f"unknown persistent id {word!r}")
        d = kind if isinstance(kind, dtypes.dtype) else dtypes.uint8
        if key not in self.storages:
            memory = np.frombuffer(bytearray(self.read_record(f"data/{key}")), np.uint8)
            if memory.size < n * d.itemsize:
                raise RuntimeError(f"storage has wrong byte size: expected {n * d.itemsize} got {memory.size}")
            self.storages[key] = memory
            _relocate(self.map_location, location, memory)
        return TypedStorage(wrap_storage=UntypedStorage._over(self.storages[key]), dtype=d)


class _Unpickler(pickle.Unpickler):
    """Reads PyTorch's names as the library's; runs whatever the file says."""

    def __init__(self, file: Any, storages: _Storages) -> None:
        super().__init__(file, encoding="utf-8")
        self.storages = storages

    def persistent_load(self, pid: Any) -> Any:
        return self.storages.load(pid)

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _PLACES:
            return _PLACES[module, name]
        if module == "torch" and name in PUBLIC:
            return PUBLIC[name]
        if module.split(".")[0] != "torch":
            return super().find_class(module, name)  # which knows Python 2's names too
        found: Any = importlib.import_module(__package__ + module.removeprefix("torch"))
        for part in name.split("."):
            found = getattr(found, part)
        return found


class _SafeUnpickler(RestrictedUnpickler):
    """Reads tensors, numbers, texts and containers of them, and what `add_safe_globals` has been given."""

    def __init__(self, file: Any, storages: _Storages) -> None:
        super().__init__(
            file, _SAFE_PLACES, _safe, _own_name, lambda text: pickle.UnpicklingError(_not_allowed(text)), (Tensor,)
        )
        self.storages = storages

    def persistent_load(self, pid: Any) -> Any:
        return self.storages.load(pid)


def _own_name(x: Any) -> str:
    """The name that a class or function has in files."""
    name = f"{x.__module__}.{x.__qualname__}"
    return name.replace(f"{__package__}.", "torch.", 1) if name.startswith(f"{__package__}.") else name


def _relocate(map_location: Any, location: str, memory: Any) -> None:
    """Check that a storage may come to the CPU."""
    if isinstance(map_location, dict):
        location = map_location.get(location, location)
    elif callable(map_location):
        map_location(UntypedStorage._over(memory), location)
        return
    elif map_location is not None:
        location = str(map_location)
    if location.startswith("cuda"):
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are "
            "running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your "
            "storages to the CPU."
        )


def _not_allowed(text: str) -> str:
    return (
        "Weights only load failed. This file can still be loaded, to do so you have two options, \033[1mdo those steps "
        "only if you trust the source of the checkpoint\033[0m. \n"
        "\t(1) In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` from "
        "`False` to `True`. Re-running `torch.load` with `weights_only` set to `False` will likely succeed, but it can "
        "result in arbitrary code execution. Do it only if you got the file from a trusted source.\n"
        "\t(2) Alternatively, to load with `weights_only=True` please check the recommended steps in the following "
        "error message.\n"
        f"\tWeightsUnpickler error: {text}\n\n"
        "Check the documentation of torch.load to learn more about types accepted by default with weights_only "
        "https://pytorch.org/docs/stable/generated/torch.load.html."
    )


def load(
    f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool | None = None,
    mmap: bool | None = None, **pickle_load_args: Any,
) -> Any:  # fmt: skip
    """What `save`, here or in PyTorch, has put into a file. Source: torch.load.

    Args:
        f: a path, or a file open for reading bytes, with seek.
        map_location: where storages are to go: the CPU, whatever it says.
        weights_only: take nothing but tensors, numbers, strings and containers of them (the default), so that a file
            cannot run code. False for files from a source that you trust.

    Raises:
        pickle.UnpicklingError: `weights_only`, and there is something else in the file.
        RuntimeError: no such file format.
    """
    opened = open(f, "rb") if isinstance(f, (str, os.PathLike)) else None
    file = f if opened is None else opened
    try:
        start = file.tell()
        magic = file.read(4)
        file.seek(start)
        if magic[:2] == b"PK":
            return _load_zip(file, map_location, weights_only is not False)
        if not magic:
            raise EOFError("Ran out of input")
        raise RuntimeError("Invalid magic number; corrupt file?")
    finally:
        if opened is not None:
            opened.close()


def _load_zip(file: Any, map_location: Any, weights_only: bool) -> Any:
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError, ValueError):
        raise _corrupted("not a ZIP archive") from None
    with archive:
        root = archive.namelist()[0].split("/")[0] if archive.namelist() else ""

        def read(name: str) -> bytes:
            try:
                return archive.read(f"{root}/{name}")
            except KeyError:
                raise _corrupted(f"file not found: {root}/{name}") from None
            except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as e:
                raise _corrupted(f"{name}: {e}") from None

        kind = _SafeUnpickler if weights_only else _Unpickler
        try:
            return kind(io.BytesIO(read("data.pkl")), _Storages(read, map_location)).load()
        except (IndexError, KeyError, TypeError, ValueError, AttributeError, EOFError) as e:
            if not weights_only:
                raise
            raise pickle.UnpicklingError(_not_allowed(f"{type(e).__name__}: {e}")) from e


def _corrupted(what: str) -> RuntimeError:
    return RuntimeError(
        f"PytorchStreamReader failed reading zip archive: {what}. This is an internal miniz error. If you are seeing "
        "this error, there is a high likelihood that your checkpoint file is corrupted. This can happen if the "
        "checkpoint was not saved properly, was transferred incorrectly, or the file was modified after saving."
    )
