"""Dimensions of size one, new or dropped, and expanded without copying: unsqueeze, squeeze, expand and their kin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.broadcast import sum_to
from ..core.errors import type_word
from ..core.parameters import REQUIRED
from ..core.tensor import Tensor
from ..core.viewing import view_op
from ..shapes import broadcast_shapes, normalize_dim, normalize_dims
from ._arguments import said
from ._inplace import relabel
from ._strides import strided
from .shape import ints, named_ints, reshape

__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_tensors", "broadcast_to", "squeeze", "unsqueeze",
]  # fmt: skip
METHODS = "broadcast_to expand expand_as squeeze squeeze_ unsqueeze unsqueeze_"

Ints = tuple[int, ...]


# ------------------------------------------------------------------ dimensions of size one


def _unsqueeze(input: Any, dim: int) -> Any:
    """A new dimension of size one, as a view."""
    d = normalize_dim(dim, input.ndim + 1)
    return input[(*(slice(None),) * d, None, ...)]


unsqueeze = view_op("unsqueeze", _unsqueeze, lambda g, shape, dim: reshape(g, shape))


def _squeeze(input: Any, dims: Sequence[int]) -> Any:
    shape = input.shape
    drop = tuple([d for d in dims if shape and shape[d] == 1])
    return input.squeeze(drop) if drop else input[...]


_squeeze_all = view_op("squeeze", lambda input: _squeeze(input, range(input.ndim)), lambda g, shape: reshape(g, shape))
_squeeze_dim = view_op(
    "squeeze_dim",
    lambda input, dim: _squeeze(input, (normalize_dim(dim, input.ndim),)),
    lambda g, shape, dim: reshape(g, shape),
    node="SqueezeBackward1",
)
_squeeze_dims = view_op(
    "squeeze_dims",
    lambda input, dim: _squeeze(input, normalize_dims(dim, input.ndim) if dim else ()),
    lambda g, shape, dim: reshape(g, shape),
    node="SqueezeBackward2",
)


def squeeze(input: Any, dim: Any = REQUIRED, *, axis: Any = REQUIRED) -> Any:
    """Drop dimensions of size one (all of them, or those named), as a view."""
    try:
        return _squeezed(input, dim, axis, _VIEWS)
    except TypeError:
        raise said("squeeze", False, ("input", "dim"), (input, dim)) or TypeError("squeeze") from None


def method_squeeze(self: Tensor, dim: Any = REQUIRED, *more: int, axis: Any = REQUIRED) -> Any:
    """Drop dimensions of size one (all of them, or those named), as a view."""
    dim = (dim, *more) if more else dim
    try:
        return _squeezed(self, dim, axis, _VIEWS)
    except TypeError:
        raise said("squeeze", True, ("self", "dim"), (self, dim)) or TypeError("squeeze") from None


def _squeezed(input: Any, dim: Any, axis: Any, ops: Any) -> Any:
    whole, one, several = ops
    if dim is REQUIRED:
        dim = axis
    if dim is REQUIRED:
        return whole(input)
    return several(input, tuple(dim)) if isinstance(dim, (tuple, list)) else one(input, dim)


def atleast_1d(*tensors: Any) -> Any:
    """The tensor (or each of several), a 0-d one with a dimension of size one."""
    return _at_least(tensors, lambda x: x if x.ndim else reshape(x, (1,)), "atleast_1d")


def atleast_2d(*tensors: Any) -> Any:
    """The tensor (or each of several) with at least two dimensions, new ones in front."""

    def raised(x: Any) -> Any:
        return x if x.ndim > 1 else unsqueeze(x, 0) if x.ndim else reshape(x, (1, 1))

    return _at_least(tensors, raised, "atleast_2d")


def atleast_3d(*tensors: Any) -> Any:
    """The tensor (or each of several) with at least three dimensions: (1, n, 1) for a vector, (m, n, 1) for a matrix."""

    def raised(x: Any) -> Any:
        n = x.ndim
        if n > 2:
            return x
        return unsqueeze(x if n == 2 else unsqueeze(x, 0), -1) if n else reshape(x, (1, 1, 1))

    return _at_least(tensors, raised, "atleast_3d")


def _at_least(tensors: tuple[Any, ...], raised: Any, fn: str) -> Any:
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        return tuple(raised(x) for x in tensors[0])
    for x in tensors:
        if not isinstance(x, Tensor):
            raise TypeError(f"{fn}() received an invalid combination of arguments - got ({type(x).__name__})")
    return raised(tensors[0]) if len(tensors) == 1 else tuple(raised(x) for x in tensors)


# ------------------------------------------------------------------ repeated without copying


def _expand(input: Any, size: Ints) -> Any:
    shape = input.shape
    lead = len(size) - len(shape)
    if lead < 0:
        raise RuntimeError(
            f"expand({type_word(input.dtype)}{{{list(shape)}}}, size={list(size)}): the number of sizes provided "
            f"({len(size)}) must be greater or equal to the number of dimensions in the tensor ({len(shape)})"
        )
    if size[lead:] == shape and (not lead or min(size[:lead]) >= 0):
        return strided(input, size, (0,) * lead + input.strides)
    full, steps = list(size), [0] * len(size)
    for i in range(len(size) - 1, -1, -1):
        d = size[i]
        if i < lead:
            if d < 0 and not shape:
                raise RuntimeError("numel: integer multiplication overflow")
            if d < 0:
                raise RuntimeError(
                    f"The expanded size of the tensor ({d}) isn't allowed in a leading, non-existing dimension {i}"
                )
            continue
        have = shape[i - lead]
        if d == -1 or d == have:
            full[i], steps[i] = have, input.strides[i - lead]
        elif have != 1 or d < 0:
            raise RuntimeError(
                f"The expanded size of the tensor ({d}) must match the existing size ({have}) at non-singleton "
                f"dimension {i}.  Target sizes: {list(size)}.  Tensor sizes: {list(shape)}"
            )
    return strided(input, tuple(full), tuple(steps))


expand = view_op("expand", _expand, lambda g, shape, _: sum_to(g, shape))


def method_expand(self: Tensor, *size: Any, implicit: bool = False, **kw: Any) -> Any:
    """Dimensions of size one repeated without copying; -1 keeps a size."""
    return expand(self, named_ints(size, kw, "expand", "size"))


def expand_as(self: Tensor, other: Tensor) -> Any:
    """Expanded to the shape of `other`."""
    return expand(self, tuple(other.shape))


def method_broadcast_to(self: Tensor, *size: Any, **kw: Any) -> Any:
    """Expanded to a shape."""
    return expand(self, named_ints(size, kw, "broadcast_to", "size"))


def broadcast_to(input: Tensor, size: Any) -> Any:
    """Expanded to a shape."""
    return expand(input, ints((size,), "broadcast_to", "size"))


def broadcast_tensors(*tensors: Any) -> Any:
    """The tensors expanded to their common shape."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    for i, x in enumerate(tensors):
        if not isinstance(x, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(x).__name__}")
    shape = broadcast_shapes(*[tuple(x.shape) for x in tensors])
    return tuple(x if tuple(x.shape) == shape else expand(x, shape) for x in tensors)


# ------------------------------------------------------------------ in place: the tensor itself gets the new shape


unsqueeze_ = relabel(unsqueeze.op, "unsqueeze_", "UnsqueezeBackward1")
_squeeze_all_ = relabel(_squeeze_all.op, "squeeze_", "SqueezeBackward3")
_squeeze_dim_ = relabel(_squeeze_dim.op, "squeeze_", "SqueezeBackward4")
_squeeze_dims_ = relabel(_squeeze_dims.op, "squeeze_", "SqueezeBackward5")
_VIEWS = _squeeze_all, _squeeze_dim, _squeeze_dims
_IN_PLACE = _squeeze_all_, _squeeze_dim_, _squeeze_dims_


def squeeze_(self: Tensor, dim: Any = REQUIRED) -> Any:
    """Drop dimensions of size one, in place."""
    try:
        return _squeezed(self, dim, REQUIRED, _IN_PLACE)
    except TypeError:
        raise said("squeeze_", True, ("self", "dim"), (self, dim)) or TypeError("squeeze_") from None


method_expand.__name__ = method_expand.__qualname__ = "expand"
method_squeeze.__name__ = method_squeeze.__qualname__ = "squeeze"
