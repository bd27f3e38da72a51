"""Linear ops that the kinds themselves need: casts, broadcasting and its adjoint, strided windows of memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ..arrays.half import converted
from .linear import ShapedNode, linear, shaped_op
from .node import next_seq
from .tensor import Tensor, new
from .views import geometry, storage_of, window


def _cast(input: Any, dtype: Any) -> Any:
    if input.dtype.kind == "c" and dtype.kind not in "cb":
        input = input.real
    return converted(input, dtype, "C" if 0 in input.strides else "K")


cast_op = linear(
    "cast", _cast, lambda g, input_dtype: cast(g, input_dtype), node="ToCopyBackward0", out_arg=False
)  # fmt: skip


def cast(x: Any, dtype: Any) -> Any:
    """A value in another (NumPy) dtype, the real part when that drops the imaginary one; itself if it has it."""
    if isinstance(x, Tensor):
        return x if x.dtype.np == dtype else cast_op(x, dtype)
    return x if x.dtype == dtype else _cast(x, dtype)


def _sum_to(input: Any, shape: tuple[int, ...]) -> Any:
    extra = input.ndim - len(shape)
    axes = tuple(range(extra)) + tuple(i + extra for i, d in enumerate(shape) if d == 1 and input.shape[i + extra] != 1)
    if axes:
        low = input.dtype.itemsize == 2 and input.dtype.kind in "fV"
        if low:
            input, dtype = input.astype(np.float32), input.dtype
        input = np.add.reduce(input, axes)
        if low:
            input = input.astype(dtype)
    return input.reshape(shape)


sum_to_op = shaped_op("sum_to_size", _sum_to, lambda g, whole, shape: expand_to(g, whole), node="SumBackward1")
sum_to_op.op.out_arg = False


def sum_to(x: Any, shape: tuple[int, ...]) -> Any:
    """Sum a value over the dimensions along which `shape` broadcasts to its own."""
    if tuple(x.shape) == shape:
        return x
    return sum_to_op(x, shape) if isinstance(x, Tensor) else _sum_to(x, shape)


_SMALL = 4096  # elements that are copied sooner than np.broadcast_to has made its view


def _spread(x: Any, shape: tuple[int, ...]) -> Any:
    """np.broadcast_to, at less than half of its price where it is called most: for a single element, as goes back
    through every sum and mean, and for small arrays."""
    if x.size != 1:
        if prod(shape) > _SMALL:
            return np.broadcast_to(x, shape)
        out = np.empty(shape, x.dtype)
        out[...] = x
        return out
    x = np.asarray(x)
    r = np.ndarray(shape, x.dtype, x, 0, (0,) * len(shape))
    r.flags.writeable = False
    return r


def expand_to(x: Any, shape: tuple[int, ...]) -> Any:
    """Broadcast a value to `shape` without copying."""
    if tuple(x.shape) == shape:
        return x
    return x.expand(shape) if isinstance(x, Tensor) else _spread(x, shape)


Ints = tuple[int, ...]


def _as_strided(input: Any, size: Ints, stride: Ints, storage_offset: int | None = None) -> Any:
    storage = storage_of(input)
    if storage_offset is None:
        storage_offset = geometry(input, storage)[2]
    return window(storage, tuple(size), tuple(stride), storage_offset, input.dtype)


def _scatter(input: Any, size: Ints, stride: Ints, storage_offset: int | None, place: tuple[Any, ...]) -> Any:
    """Add the window's cotangent into zeros of the memory, and read that as the tensor at `place` lies in it."""
    base_size, base_stride, base_offset = place
    offset = base_offset if storage_offset is None else storage_offset
    low = min(offset, base_offset)
    length = max(_reach(base_size, base_stride, base_offset), _reach(size, stride, offset)) - low
    memory = np.zeros(length, input.dtype)
    into = window(memory, tuple(size), tuple(stride), offset - low)
    if _overlaps(size, stride):
        where = window(np.arange(length), tuple(size), tuple(stride), offset - low)
        np.add.at(memory, where.ravel(), np.ravel(input))
    else:
        into[...] = input
    base = window(memory, base_size, base_stride, base_offset - low)
    if _overlaps(base_size, base_stride):  # several elements share a place: each takes its part
        places = window(np.arange(length), base_size, base_stride, base_offset - low)
        base = base / np.bincount(places.ravel(), minlength=length)[places]
    return np.array(base, dtype=input.dtype, order="C")


def _reach(size: Ints, stride: Ints, offset: int) -> int:
    return 0 if 0 in size else offset + 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True))


def _overlaps(size: Ints, stride: Ints) -> bool:
    reach = 1
    for s, n in sorted((s, n) for n, s in zip(size, stride, strict=True) if n > 1):
        if s < reach:
            return True
        reach = s * (n - 1) + reach
    return False


def _as_strided_tangent(t: Any, input: Any, size: Ints, stride: Ints, storage_offset: int | None) -> Any:
    """The window of a tangent: of its own memory where that is laid out as the primal's, else of zeros of the primal's
    layout with the tangent in its place, for around a view lies memory that has no tangent."""
    a, b = getattr(t, "_a", None), getattr(input, "_a", None)
    if a is None or b is None or _place(a) == _place(b):
        return as_strided(t, size, stride, storage_offset)
    place = geometry(b, storage_of(b))
    return gather_window(t, size, stride, place[2] if storage_offset is None else storage_offset, place)


def _place(a: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    storage = storage_of(a)
    return *geometry(a, storage), storage.nbytes


as_strided = linear(
    "as_strided",
    _as_strided,
    lambda g, input_geometry, size, stride, storage_offset: as_strided_scatter(
        g, size, stride, storage_offset, input_geometry
    ),
    view=True,
    jvp={"input": _as_strided_tangent},
    out_arg=False,
)
as_strided_scatter = linear(
    "as_strided_adjoint",
    _scatter,
    lambda g, size, stride, storage_offset, place: _window_of(g, size, stride, storage_offset, place),
    node="AsStridedBackwardBackward0",
    out_arg=False,
)


def _window_of(g: Any, size: Ints, stride: Ints, storage_offset: int | None, place: tuple[Any, ...]) -> Any:
    return gather_window(g, size, stride, place[2] if storage_offset is None else storage_offset, place)


def _gather(input: Any, size: Ints, stride: Ints, storage_offset: int, place: tuple[Any, ...]) -> Any:
    """Lay a tensor into memory as `place` says, and take the window out of that."""
    base_size, base_stride, base_offset = place
    low = min(storage_offset, base_offset)
    length = max(_reach(base_size, base_stride, base_offset), _reach(size, stride, storage_offset)) - low
    memory = np.zeros(length, input.dtype)
    window(memory, base_size, base_stride, base_offset - low)[...] = input
    return window(memory, tuple(size), tuple(stride), storage_offset - low)


gather_window = linear(
    "as_strided_window",
    _gather,
    lambda g, size, stride, storage_offset, place: as_strided_scatter(g, size, stride, storage_offset, place),
    node="AsStridedBackward0",
    out_arg=False,
)


class StridedNode(ShapedNode):
    """The node of `as_strided` on a hot path: what every view gets whose base was written."""

    __slots__ = ("place",)
    op = as_strided.op

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        scatter = _scatter if raw else as_strided_scatter
        return (scatter(g, *self.args, self.place),)  # type: ignore[call-arg]


StridedNode.__name__ = StridedNode.__qualname__ = "AsStridedBackward0"


def strided_node(a: np.ndarray[Any, Any], base: Any) -> StridedNode:
    """The node that takes the array `a` out of its base, a tensor, by sizes, strides and offset."""
    n = new(StridedNode)
    n.seq = next_seq()
    n._hooks = None
    n.edges = (base if base._node is True else base._node,)
    storage = storage_of(base._a)
    n.shape = base._a.shape
    n.args = geometry(a, storage)
    n.place = geometry(base._a, storage)
    return n
