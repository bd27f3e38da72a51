"""One program, two libraries: values carried from PyTorch to either side, and read back as NumPy arrays.

A `Side` is a library that claims PyTorch's API: PyTorch itself, or tidu. The checks are written once over a
side, run on both, and what comes out is compared. Tensors are carried by their *storage*, so that strides,
offsets, expanded memory and arguments that overlap arrive as they were.
"""

from __future__ import annotations

import contextlib
import importlib
import types
from typing import Any

import numpy as np
import torch

MISSING = "missing: "


class Missing(AttributeError):
    """The library under test has no such name."""


def numpy_dtype(dtype: torch.dtype) -> np.dtype:
    """The NumPy dtype with the memory layout of a PyTorch dtype (bfloat16 by ml_dtypes)."""
    if dtype is torch.bfloat16:
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return torch.empty(0, dtype=dtype).numpy().dtype


def torch_dtype(name: str) -> torch.dtype:
    return getattr(torch, name.removeprefix("torch."))


def resolve(root: Any, path: str) -> Any:
    """`resolve(tidu, "nn.functional.relu")`, importing submodules that nobody has imported yet."""
    found = root
    for name in path.split("."):
        try:
            found = getattr(found, name)
        except AttributeError:
            if not isinstance(found, types.ModuleType):
                raise Missing(f"{MISSING}{path}") from None
            try:
                found = importlib.import_module(f"{found.__name__}.{name}")
            except ImportError:
                raise Missing(f"{MISSING}{path}") from None
    return found


class Side:
    """A library under comparison: how values get in, how they are read, and its names."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lib = importlib.import_module(name)
        self._storages: dict[Any, np.ndarray] = {}
        self._tensors: dict[int, Any] = {}
        self._kept: list[Any] = []

    def get(self, path: str) -> Any:
        return resolve(self.lib, path)

    # ------------------------------------------------------------------ in

    def forget(self) -> None:
        """Start a new sample: what is carried from now on shares nothing with what came before."""
        self._storages.clear()
        self._tensors.clear()
        self._kept.clear()

    def put(self, value: Any) -> Any:
        """A PyTorch value, nested as it may be, as this side's value. Tensors arrive as leaves."""
        if isinstance(value, torch.Tensor):
            return self._put_tensor(value)
        if isinstance(value, torch.dtype):
            return self.dtype(value)
        if isinstance(value, (torch.memory_format, torch.layout)):
            return self.get(str(value).removeprefix("torch."))
        if isinstance(value, torch.device):
            return self.get("device")(str(value))
        if isinstance(value, torch.Size):
            return self.get("Size")(tuple(value))
        if isinstance(value, torch.Generator):
            return self.get("Generator")().manual_seed(value.initial_seed())
        if isinstance(value, torch.nn.Module) and self.lib is not torch:
            module = self.get("nn." + type(value).__name__)()  # with its settings; none in the database has tensors
            vars(module).update({k: v for k, v in vars(value).items() if not k.startswith("_")})
            return module
        if isinstance(value, slice):
            return slice(self.put(value.start), self.put(value.stop), self.put(value.step))
        if type(value) in (tuple, list):
            return type(value)(self.put(v) for v in value)
        if isinstance(value, tuple):
            items = [self.put(v) for v in value]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        if isinstance(value, dict):
            return {self.put(k): self.put(v) for k, v in value.items()}
        return value

    def dtype(self, dtype: torch.dtype) -> Any:
        return self.get(str(dtype).removeprefix("torch."))

    def _put_tensor(self, t: torch.Tensor) -> Any:
        known = self._tensors.get(id(t))
        if known is not None:
            return known
        self._kept.append(t)  # keeps its id from being used again
        made = self._make(t)
        if t.requires_grad:
            made.requires_grad_()
        self._tensors[id(t)] = made
        return made

    def _make(self, t: torch.Tensor) -> Any:
        plain = t.detach().resolve_conj().resolve_neg()
        if self.lib is torch:
            return torch.empty(0, dtype=t.dtype).set_(
                torch.from_numpy(self._storage(plain).view(np.uint8)).untyped_storage(),
                plain.storage_offset(),
                plain.size(),
                plain.stride(),
            )
        dtype = numpy_dtype(t.dtype)
        self.dtype(t.dtype)  # a dtype this side lacks is reported by its name
        size = dtype.itemsize
        array = np.ndarray(
            tuple(t.shape),
            dtype,
            self._storage(plain),
            plain.storage_offset() * size,
            tuple(s * size for s in plain.stride()),
        )
        return self.from_numpy(array)

    def _storage(self, t: torch.Tensor) -> np.ndarray:
        """The tensor's whole storage, copied once however many tensors of its dtype look into it."""
        storage = t.untyped_storage()
        key = storage.data_ptr(), t.dtype
        if key not in self._storages or not key[0]:
            self._kept.append(storage)
            dtype = numpy_dtype(t.dtype)
            found = np.empty(max(1, storage.nbytes() // dtype.itemsize), dtype)
            data = torch.empty(0, dtype=torch.uint8).set_(storage).numpy()[: found.nbytes]
            found.view(np.uint8)[: data.size] = data
            self._storages[key] = found
        return self._storages[key]

    def from_numpy(self, array: np.ndarray) -> Any:
        """A plain tensor on exactly this memory."""
        if self.lib is torch:
            if array.dtype.name == "bfloat16":
                return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
            return torch.from_numpy(array)
        make = getattr(self.lib.core.tensor, "tensor_of", None) if hasattr(self.lib, "core") else None
        return (make or self.lib.from_numpy)(array)

    # ------------------------------------------------------------------ out

    def is_tensor(self, value: Any) -> bool:
        return isinstance(value, self.lib.Tensor)

    def memory(self, t: Any) -> np.ndarray:
        """The tensor's own memory, not a copy."""
        if self.lib is torch:
            t = t.detach().resolve_conj().resolve_neg()
            if t._is_zerotensor():
                t = t.clone()
            if t.dtype is torch.bfloat16:
                import ml_dtypes

                return t.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
            return t.numpy()
        array = getattr(t, "_a", None)
        return array if isinstance(array, np.ndarray) else t.detach().numpy()

    def array(self, t: Any) -> np.ndarray:
        """The tensor's values, copied, bfloat16 widened so that NumPy can compare it."""
        array = self.memory(t)
        return array.astype(np.float32) if array.dtype.name == "bfloat16" else np.array(array)

    def strides(self, t: Any) -> tuple[int, ...]:
        if 0 in tuple(t.shape):  # where nothing lies, NumPy has no strides to hand over
            return ()
        if self.lib is torch or hasattr(t, "stride"):
            return tuple(t.stride())
        array = self.memory(t)
        return tuple(s // array.itemsize for s in array.strides)

    def zeros(self, shape: tuple[int, ...], like: Any, dtype: str = "") -> Any:
        """Contiguous zeros, made by NumPy, so that no function of the library need exist for it."""
        return self.from_numpy(np.zeros(shape, numpy_dtype(torch_dtype(dtype or self.dtype_name(like)))))

    def dtype_name(self, t: Any) -> str:
        return str(t.dtype).removeprefix("torch.")

    def address(self, t: Any) -> tuple[int, int]:
        """The range of bytes of the storage the tensor looks into."""
        if self.lib is torch:
            storage = t.untyped_storage()
            return storage.data_ptr(), storage.data_ptr() + storage.nbytes()
        array = self.memory(t)
        while isinstance(array.base, np.ndarray):
            array = array.base
        start = array.__array_interface__["data"][0]
        return start, start + array.nbytes

    def aliases(self, a: Any, b: Any) -> bool:
        """Whether two tensors look into the same storage. PyTorch's lazy conjugates count as new memory."""
        if self.lib is torch and (a.is_conj(), a.is_neg()) != (b.is_conj(), b.is_neg()):
            return False
        (start, stop), (first, last) = self.address(a), self.address(b)
        return start < last and first < stop

    def noise_like(self, t: Any, rng: np.random.Generator) -> Any:
        """Random normal values of a tensor's shape and dtype: the same on both sides for the same `rng`."""
        shape, name = tuple(t.shape), self.dtype_name(t)
        dtype = numpy_dtype(torch_dtype(name))
        values = rng.standard_normal(shape)
        if dtype.kind == "c":
            values = values + 1j * rng.standard_normal(shape)
        return self.from_numpy(np.asarray(values).astype(dtype))

    def seed(self, value: int = 1234) -> None:
        if self.lib is torch:
            torch.default_generator.manual_seed(value)  # manual_seed() itself takes a millisecond
        else:
            with contextlib.suppress(Missing):  # a library without random numbers yet
                self.get("manual_seed")(value)


def tensors_in(value: Any, is_tensor: Any) -> list[Any]:
    """Every tensor in a nested value, in order, each once."""
    found: list[Any] = []

    def walk(v: Any) -> None:
        if is_tensor(v):
            if not any(v is f for f in found):
                found.append(v)
        elif isinstance(v, (tuple, list)):
            for item in v:
                walk(item)
        elif isinstance(v, dict):
            for item in v.values():
                walk(item)
        elif isinstance(v, slice):
            walk((v.start, v.stop, v.step))

    walk(value)
    return found
