"""The memory behind tensors, as an object; what gives a tensor other memory: set_, resize_; and views by strides, quickly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..core.broadcast import _overlaps
from ..core.errors import invalid_combination
from ..core.inplace import check_inplace, shadow
from ..core.modes import state
from ..core.op import REGISTRY, Op
from ..core.tensor import Tensor, dtype_word, raw
from ..core.views import geometry, offset_in, pointer, storage_of, window
from ..devices import CPU, device
from ..dtypes import dtype as Dtype
from ..naming import Shown, warn
from ._make import shape_of, sizes_of

__all__ = [
    "resize_as_",
]  # fmt: skip
METHODS = "resize_ resize_as_ set_ storage storage_type untyped_storage"


def _bytes(a: Any) -> Any:
    """The memory that an array owns, as bytes."""
    flat = a.reshape(-1) if a.flags.c_contiguous else a.ravel("K")
    return flat.view(np.uint8)


class UntypedStorage(metaclass=Shown):
    """The bytes behind a tensor and all that share its memory. Source: torch.UntypedStorage."""

    __slots__ = ("_bytes",)
    torch_name = "torch.storage.UntypedStorage"
    is_cuda = is_sparse = is_hpu = False

    def __init__(self, *args: Any, device: Any = None) -> None:
        if args and not isinstance(args[0], int):
            self._bytes = np.array(args[0], np.uint8)
        else:
            self._bytes = np.zeros(args[0] if args else 0, np.uint8)

    @classmethod
    def _over(cls, a: Any) -> UntypedStorage:
        s = object.__new__(cls)
        s._bytes = _bytes(a)
        return s

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The bytes of a file, read when they are used; with `shared` what is written to them goes to the file.

        Source: torch.UntypedStorage.from_file.
        """
        if shared and nbytes:  # the file is made, or made long enough
            with open(filename, "ab") as f:
                if f.tell() < nbytes:
                    f.truncate(nbytes)
        s = object.__new__(cls)
        s._bytes = np.memmap(filename, np.uint8, "r+" if shared else "c", shape=(nbytes,) if nbytes else None)
        return s

    def untyped(self) -> UntypedStorage:
        return self

    @property
    def __array_interface__(self) -> Any:
        return self._bytes.__array_interface__

    @property
    def device(self) -> device:
        return CPU

    @property
    def _cdata(self) -> int:
        return self.data_ptr()

    def data_ptr(self) -> int:
        return pointer(self._bytes) if self._bytes.size else 0

    def nbytes(self) -> int:
        return self._bytes.size

    def size(self) -> int:
        return self._bytes.size

    def element_size(self) -> int:
        return 1

    def __len__(self) -> int:
        return self._bytes.size

    def __getitem__(self, index: Any) -> Any:
        got = self._bytes[index]
        return int(got) if not isinstance(index, slice) else UntypedStorage._over(got)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._bytes[index] = value

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def tolist(self) -> list[int]:
        return self._bytes.tolist()

    def clone(self) -> UntypedStorage:
        return UntypedStorage._over(self._bytes.copy())

    def copy_(self, source: Any, non_blocking: bool = False) -> UntypedStorage:
        self._bytes[...] = source._bytes
        return self

    def fill_(self, value: int) -> UntypedStorage:
        self._bytes.fill(value)
        return self

    def cpu(self) -> UntypedStorage:
        return self

    def is_shared(self) -> bool:
        return False

    def share_memory_(self) -> UntypedStorage:
        return self

    def is_pinned(self, device: Any = None) -> bool:
        return False

    def __copy__(self) -> UntypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> UntypedStorage:
        key = self.data_ptr()
        if key not in memo:
            memo[key] = self.clone()
        return memo[key]

    def __reduce__(self) -> Any:
        return UntypedStorage, (self._bytes,)

    def __repr__(self) -> str:
        return _listing(self.tolist()) + f"[torch.storage.UntypedStorage(device=cpu) of size {len(self)}]"


class TypedStorage(metaclass=Shown):
    """A storage that counts in elements of a dtype; deprecated. Source: torch.TypedStorage."""

    __slots__ = ("_untyped", "dtype")
    torch_name = "torch.storage.TypedStorage"
    is_cuda = is_sparse = is_hpu = False

    def __init__(
        self, *args: Any, wrap_storage: Any = None, dtype: Any = None, device: Any = None, _internal: bool = False
    ) -> None:
        self.dtype: Dtype = dtypes.get_default_dtype() if dtype is None else dtype
        if wrap_storage is not None:
            self._untyped = wrap_storage
        elif args and not isinstance(args[0], int):
            self._untyped = UntypedStorage._over(np.array(args[0], self.dtype.np))
        else:
            self._untyped = UntypedStorage._over(np.zeros(args[0] if args else 0, self.dtype.np))

    @property
    def _array(self) -> Any:
        return self._untyped._bytes.view(self.dtype.np)

    @property
    def device(self) -> device:
        return CPU

    def untyped(self) -> UntypedStorage:
        return self._untyped

    def data_ptr(self) -> int:
        return self._untyped.data_ptr()

    def nbytes(self) -> int:
        return self._untyped.nbytes()

    def size(self) -> int:
        return self._untyped.nbytes() // self.dtype.itemsize

    __len__ = size

    def element_size(self) -> int:
        return self.dtype.itemsize

    def __getitem__(self, index: Any) -> Any:
        got = self._array[index]
        if isinstance(index, slice):
            return TypedStorage(wrap_storage=UntypedStorage._over(got), dtype=self.dtype)
        return got.item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._array[index] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def tolist(self) -> list[Any]:
        return self._array.tolist()

    def type(self) -> str:
        return f"torch.{self.dtype.legacy}Storage"

    def clone(self) -> TypedStorage:
        return TypedStorage(wrap_storage=self._untyped.clone(), dtype=self.dtype)

    def fill_(self, value: Any) -> TypedStorage:
        self._array.fill(value)
        return self

    def cpu(self) -> TypedStorage:
        return self

    def is_shared(self) -> bool:
        return False

    def share_memory_(self) -> TypedStorage:
        return self

    def __reduce__(self) -> Any:
        return _rebuild_typed, (self._untyped, self.dtype)

    def __repr__(self) -> str:
        kind = f"[torch.storage.TypedStorage(dtype={self.dtype}, device=cpu) of size {len(self)}]"
        return _listing(self.tolist()) + kind


def _rebuild_typed(untyped: UntypedStorage, dtype: Dtype) -> TypedStorage:
    return TypedStorage(wrap_storage=untyped, dtype=dtype)


def _listing(values: Sequence[Any]) -> str:
    if len(values) > 1000:
        values = [*values[:1000], "..."]
    return "".join(f" {v}\n" for v in values)


# ------------------------------------------------------------------ methods


def untyped_storage(self: Any) -> UntypedStorage:
    """The memory behind the tensor."""
    return UntypedStorage._over(storage_of(raw(self)))


def storage(self: Any) -> TypedStorage:
    """The memory behind the tensor, in elements; deprecated."""
    warn(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage "
        "class. This should only matter to you if you are using storages directly.  To access UntypedStorage directly, "
        "use tensor.untyped_storage() instead of tensor.storage()"
    )
    return TypedStorage(wrap_storage=untyped_storage(self), dtype=self.dtype)


def storage_type(self: Any) -> Any:
    """The class of `storage()`."""
    return TypedStorage


def set_(self: Any, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None) -> Any:
    """Make the tensor one over other memory.

    Args:
        source: a tensor or a storage; None for nothing.
        storage_offset, size, stride: the window of the storage, in elements.
    """
    recorded = state.grad and self.requires_grad
    check_inplace(self, recorded)
    if source is None:
        self._a = np.empty(0, raw(self).dtype)
    elif isinstance(source, Tensor):
        a = raw(source)
        if a.dtype != raw(self).dtype:
            raise RuntimeError(
                "Could not set tensor of type "
                + dtype_word(source.dtype)
                + " to a tensor of type "
                + dtype_word(self.dtype)
            )
        self._a = a if size is None else window(storage_of(a), *_window(size, stride), storage_offset)
    elif not isinstance(source, (TypedStorage, UntypedStorage)):
        wrong = f"\n      didn't match because some of the arguments have invalid types: (!{type(source).__name__}!)"
        window_of = ", int storage_offset, tuple of ints size, tuple of ints stride = None)"
        raise invalid_combination(
            "set_", (source,), "()" + wrong, "(torch.Storage source)" + wrong, "(torch.Storage source" + window_of,
            "(Tensor source)" + wrong, "(Tensor source" + window_of,
        )  # fmt: skip
    else:
        untyped = source.untyped() if isinstance(source, TypedStorage) else source
        memory = untyped._bytes.view(raw(self).dtype)
        shape = (memory.size - storage_offset,) if size is None else size
        self._a = window(memory, *_window(shape, stride), storage_offset)
    self._v[0] += 1
    if recorded:
        self._node = _set_op.make_node((shadow(self, copy=False),), (self,))
    return self


def _no_rule(g: Any) -> Any:
    raise RuntimeError("derivative for set_ is not implemented")


_set_op = Op("set", lambda input: input, {"input": _no_rule}, node="NotImplemented", register=False)


def _window(size: Any, stride: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    shape = shape_of(size, "set_", True)
    if stride is not None:
        return shape, tuple(stride)
    steps, step = [], 1
    for n in reversed(shape):
        steps.append(step)
        step *= max(n, 1)
    return shape, tuple(reversed(steps))


def resize_(self: Any, *sizes: Any, memory_format: Any = None) -> Any:
    """Give the tensor other sizes, on its memory if that suffices, else on more."""
    shape = sizes_of(sizes, None, "resize_")
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    if hasattr(self, "size_of_batch"):  # under vmap each slice has memory of its own
        rows = [resize_(self.value.select(0, i).clone(), shape) for i in range(self.size_of_batch)]
        self.value = REGISTRY["stack"].call(rows, 0)
        return self
    a = raw(self)
    if shape == a.shape:
        return self
    self._v[0] += 1
    memory = storage_of(a)
    offset = geometry(a, memory)[2] if a.size else 0
    steps = _window(shape, None)
    need = offset + int(np.prod(shape, dtype=np.int64))
    if need > memory.size:
        flat = memory.reshape(-1) if memory.flags.c_contiguous else memory.ravel("K")
        grown = np.zeros(need, a.dtype)
        grown[: flat.size] = flat
        memory = grown
    self._a = window(memory, *steps, offset)
    return self


def resize_as_(self: Any, the_template: Any, *, memory_format: Any = None) -> Any:
    """Give the tensor the sizes of another. Source: torch.Tensor.resize_as_."""
    return resize_(self, tuple(the_template.shape))


def strided(a: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """The view of an array with another shape and strides (in bytes), from its first element on.

    The caller sees to it that it stays within the memory of `a`.
    """
    if a.size:
        if a.flags.c_contiguous:
            return np.ndarray(shape, a.dtype, a, 0, strides)
        owner = storage_of(a)
        if owner.flags.forc:
            buffer = owner if owner.flags.c_contiguous else owner.T
            return np.ndarray(shape, a.dtype, buffer, pointer(a) - pointer(owner), strides)
    return np.lib.stride_tricks.as_strided(a, shape, strides)


def empty_as(a: Any, dtype: Any = None) -> Any:
    """An array without gaps of the shape of `a`, its dimensions in the order in memory that they have in `a`.

    A stride of 0 says nothing about the order; such a dimension stays where it is among the others.
    """
    return empty_in_order(a.shape, a.strides, a.dtype if dtype is None else dtype)


def empty_in_order(shape: Any, strides: Any, dtype: Any) -> Any:
    """An array without gaps, its dimensions in the order in memory that these strides have."""
    strides = [abs(s) for s in strides]
    order = list(range(len(shape) - 1, -1, -1))  # from the innermost dimension on
    for i in range(1, len(shape)):
        at = i
        for j in range(i - 1, -1, -1):
            inner, outer = order[j], order[at]
            s, t = strides[inner], strides[outer]
            if not s or not t or (s == t and shape[inner] <= shape[outer]):
                continue
            if s < t:
                break
            order[j], order[at] = outer, inner
            at = j
    outward = order[::-1]
    made = np.empty([shape[d] for d in outward], dtype)
    return made.transpose([outward.index(d) for d in range(len(shape))])


def repeats(a: Any) -> bool:
    return 0 in a.strides and any([s == 0 and n > 1 for s, n in zip(a.strides, a.shape, strict=True)])


def copy_as(a: Any) -> Any:
    """A copy that lies in memory as `a` does, if that is without gaps or overlaps; else as `empty_as` lays it out."""
    if a.flags.c_contiguous:
        return a.copy()
    if not repeats(a):
        return a.copy("K")
    out = empty_as(a)
    out[...] = a
    return out


def copy_with_gaps(a: Any) -> Any:
    """A copy with the strides of `a`, gaps between its elements and all; of overlapping elements as `copy_as`."""
    if a.flags.forc or not a.size or _overlaps(a.shape, a.strides):
        return copy_as(a)
    item = a.itemsize
    steps = tuple(s // item for s in a.strides)
    length = 1 + sum((n - 1) * s for n, s in zip(a.shape, steps, strict=True))
    start = offset_in(a, storage_of(a))
    return window(window(storage_of(a), (length,), (1,), start, a.dtype).copy(), a.shape, steps, 0)
