"""Shapes: `Size`, and how shapes broadcast."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex

import numpy as np

from .naming import Shown


class Size(tuple, metaclass=Shown):
    """The shape of a tensor, a tuple of ints. Source: torch.Size.

    >>> Size([2, 3]).numel(), Size([2, 3])[1:]
    (6, torch.Size([3]))
    """

    __slots__ = ()
    torch_name = "torch.Size"

    def __new__(cls, sizes: Iterable[Any] = ()) -> Size:
        got = tuple(sizes)
        for i, n in enumerate(got):
            if n.__class__ is not int and not hasattr(n, "__index__"):
                raise TypeError(f"torch.Size() takes an iterable of 'int' (item {i} is '{type(n).__name__}')")
        return tuple.__new__(cls, map(operator.index, got))

    def numel(self) -> int:
        n = 1
        for d in self:
            n *= d
        return n

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'torch.Size' object has no attribute '{name}'")

    def __repr__(self) -> str:
        return "torch.Size([" + ", ".join(map(str, self)) + "])"

    def __getitem__(self, index: Any) -> Any:
        got = tuple.__getitem__(self, index)
        return Size(got) if isinstance(index, slice) else got

    def __add__(self, other: Any) -> Any:
        got = tuple.__add__(self, other)
        return Size(got)

    def __radd__(self, other: Any) -> Any:
        return Size(other + tuple(self))

    def __mul__(self, n: SupportsIndex) -> Any:
        return Size(tuple.__mul__(self, n))

    __rmul__ = __mul__

    def __reduce__(self) -> Any:
        return Size, (tuple(self),)


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape to which `shapes` broadcast; PyTorch's RuntimeError where they do not."""
    n = max((len(s) for s in shapes), default=0)
    out = [1] * n
    for k, shape in enumerate(shapes):
        for i in range(-1, -len(shape) - 1, -1):
            d = shape[i]
            if d != 1 and d != out[i]:
                if out[i] != 1:
                    n = max(len(s) for s in shapes[: k + 1])
                    raise RuntimeError(
                        f"The size of tensor a ({out[i]}) must match the size of tensor b ({d}) "
                        f"at non-singleton dimension {n + i}"
                    )
                out[i] = d
    return tuple(out)


def normalize_dim(dim: int, ndim: int) -> int:
    """`dim` counted from the front, for a tensor of `ndim` dimensions; a 0-d tensor allows -1 and 0.

    Raises IndexError with PyTorch's words when out of range.
    """
    n = ndim or 1
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim + n if dim < 0 else dim


def size_at(shape: Sequence[int], dim: int) -> int:
    """The size of one dimension; unlike other functions, this one has no dimension for a 0-d tensor."""
    if not shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return shape[normalize_dim(dim, len(shape))]


def normalize_dims(dims: int | Iterable[int] | None, ndim: int) -> tuple[int, ...]:
    """Several dims, all of them for None or an empty list; RuntimeError when one appears twice."""
    if dims is None:
        return tuple(range(ndim))
    if isinstance(dims, (int, np.integer)):
        return (normalize_dim(dims, ndim),) if ndim else (normalize_dim(dims, ndim),)[:0]
    if isinstance(dims, dict):
        raise TypeError("dims are ints")
    out: list[int] = []
    for d in dims:
        n = normalize_dim(d, ndim)
        if n in out:
            raise RuntimeError(f"dim {n} appears multiple times in the list of dims")
        out.append(n)
    if not out:
        return tuple(range(ndim))
    return tuple(out) if ndim else ()


def numel(shape: Iterable[int]) -> int:
    n = 1
    for d in shape:
        n *= d
    return n
