"""Memory that processes share: those that `fork` starts have it, to others goes the descriptor of the file it is."""

from __future__ import annotations

import mmap
import os
from multiprocessing import context, reduction
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from ..core.tensor import Tensor, raw, tensor_of
from ..core.views import pointer, storage_of

__all__: list[str] = []
METHODS = "is_shared share_memory_"
CHUNK = 1 << 20


class _Chunk(mmap.mmap):
    """A file in memory. Small tensors lie side by side in one, for a process may have few files open."""

    fd = -1

    def __del__(self, close: Any = os.close) -> None:
        if self.fd >= 0:
            close(self.fd)


_chunks: WeakValueDictionary[Any, _Chunk] = WeakValueDictionary()  # by what tells files apart
_filling: list[Any] = [b"", 0, 0]  # a chunk, how much of it is taken, and the process that fills it


def _chunk(fd: int, nbytes: int) -> _Chunk:
    """The chunk of a descriptor, which may come again with another tensor; without files, what `fork` alone shares."""
    key = os.fstat(fd)[1:3] if fd >= 0 else object()
    chunk = _chunks.get(key)
    if chunk is None:
        chunk = _chunks[key] = _Chunk(fd, nbytes)
        chunk.fd = fd
    elif chunk.fd != fd:
        os.close(fd)
    return chunk


def _room(nbytes: int) -> memoryview:
    chunk, taken, process = _filling
    if process != os.getpid() or taken + nbytes > len(chunk):
        size = max(nbytes, CHUNK)
        fd = os.memfd_create("tensors") if hasattr(os, "memfd_create") else -1
        if fd >= 0:
            os.truncate(fd, size)
        chunk, taken = _chunk(fd, size), 0
    if nbytes < CHUNK:
        _filling[:] = chunk, taken + -(-nbytes // 64) * 64, os.getpid()
    return memoryview(chunk)[taken : taken + nbytes]


def _chunk_of(a: Any) -> Any:
    base = storage_of(a).base
    return base if isinstance(base, _Chunk) else None


def share_memory_(self: Any) -> Any:
    """Move the tensor to memory that other processes share."""
    a = raw(self)
    if _chunk_of(a) is None:
        self._a = np.ndarray(a.shape, a.dtype, _room(max(a.nbytes, 1)))
        self._a[...] = a
        reduction.ForkingPickler.register(type(self), _sent)
    return self


def is_shared(self: Any) -> bool:
    """Whether processes that this one starts see the memory."""
    return _chunk_of(raw(self)) is not None


def _sent(t: Any) -> Any:
    if not t.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
            "crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor before "
            "serializing (e.g., putting it on the queue)."
        )
    a, chunk = t._a, _chunk_of(t._a)
    if chunk is None or chunk.fd < 0:
        return t.__reduce_ex__(2)
    whole = storage_of(a)
    start = pointer(whole) - pointer(np.ndarray(1, np.uint8, chunk))
    place = slice(start, start + whole.nbytes), pointer(a) - pointer(whole)
    shape = a.shape, t.dtype, a.strides
    return _received, (type(t), _descriptor(chunk.fd), len(chunk), place, shape, t.requires_grad)


def _descriptor(fd: int) -> Any:
    starting: Any = context.get_spawning_popen()
    if starting is None:
        return reduction.DupFd(fd)
    known = vars(starting).setdefault("_descriptors", {})  # a process that is spawned may be given each once
    return known.get(fd) or known.setdefault(fd, reduction.DupFd(fd))


def _received(cls: Any, fd: Any, nbytes: int, place: Any, layout: Any, requires_grad: bool) -> Any:
    (where, offset), (shape, dtype, strides) = place, layout
    reduction.ForkingPickler.register(cls, _sent)
    whole = np.ndarray(where.stop - where.start, np.uint8, memoryview(_chunk(fd.detach(), nbytes))[where])
    t = tensor_of(np.ndarray(shape, dtype.np, whole, offset, strides))
    return Tensor._make_subclass(cls, t, requires_grad)
