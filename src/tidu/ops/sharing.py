"""Memory that processes share: those that `fork` starts have it, to others goes the descriptor of the file it is."""

from __future__ import annotations

import mmap
import os
from multiprocessing import reduction
from typing import Any

import numpy as np

from ..core.tensor import Tensor, raw, tensor_of

__all__: list[str] = []
METHODS = "is_shared share_memory_"


class _SharedMemory(mmap.mmap):
    fd = -1

    def __del__(self, close: Any = os.close) -> None:
        if self.fd >= 0:
            close(self.fd)


def _memory(nbytes: int, fd: int | None = None) -> _SharedMemory:
    """The memory of a file, of a new one for None; without files in memory, what `fork` alone shares."""
    if fd is None:
        fd = os.memfd_create("tensor") if hasattr(os, "memfd_create") else -1
        if fd >= 0:
            os.truncate(fd, nbytes)
    made = _SharedMemory(fd, nbytes)
    made.fd = fd
    return made


def _memory_of(a: Any) -> Any:
    while isinstance(a, np.ndarray):
        a = a.base
    return a if isinstance(a, _SharedMemory) else None


def share_memory_(self: Any) -> Any:
    """Move the tensor to memory that other processes share."""
    a = raw(self)
    if _memory_of(a) is None:
        self._a = np.ndarray(a.shape, a.dtype, _memory(max(a.nbytes, 1)))
        self._a[...] = a
        reduction.ForkingPickler.register(type(self), _sent)
    return self


def is_shared(self: Any) -> bool:
    """Whether processes that this one starts see the memory."""
    return _memory_of(raw(self)) is not None


def _sent(t: Any) -> Any:
    if not t.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
            "crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor before "
            "serializing (e.g., putting it on the queue)."
        )
    a, memory = t._a, _memory_of(t._a)
    if memory is None or memory.fd < 0:
        return t.__reduce_ex__(2)
    layout = a.shape, t.dtype, a.strides, a.ctypes.data - np.ndarray(0, np.uint8, memory).ctypes.data
    return _received, (type(t), reduction.DupFd(memory.fd), len(memory), layout, t.requires_grad)


def _received(cls: Any, fd: Any, nbytes: int, layout: Any, requires_grad: bool) -> Any:
    shape, dtype, strides, offset = layout
    reduction.ForkingPickler.register(cls, _sent)
    t = tensor_of(np.ndarray(shape, dtype.np, _memory(nbytes, fd.detach()), offset, strides))
    return Tensor._make_subclass(cls, t, requires_grad)
