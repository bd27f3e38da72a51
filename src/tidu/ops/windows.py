"""Views: of a part (select, slice, narrow, diagonal, unfold, as_strided), of dimensions of size one, new or dropped or expanded.

A window is cut out by a forward; its adjoint puts the window's cotangent into zeros.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.broadcast import as_strided as _as_strided
from ..core.broadcast import sum_to
from ..core.errors import type_word
from ..core.linear import linear, view_op
from ..core.op import Op, named
from ..core.parameters import REQUIRED
from ..core.tensor import Tensor
from ..core.views import geometry, storage_of, window
from ..shapes import broadcast_shapes, normalize_dim, normalize_dims
from ._arguments import misfit, numpy_names, said
from ._dtypes import exact_out
from ._hot import relabel
from ._make import elements
from .shape import ints, named_ints, reshape
from .storage import copy_with_gaps, strided

__all__ = [
    "as_strided", "as_strided_", "as_strided_scatter", "atleast_1d", "atleast_2d", "atleast_3d",
    "broadcast_tensors", "broadcast_to", "diagonal", "diagonal_scatter", "narrow", "narrow_copy", "select",
    "select_scatter", "slice_scatter", "squeeze", "unsqueeze",
]  # fmt: skip
METHODS = "* unfold expand expand_as squeeze_ unsqueeze_ -atleast_1d -atleast_2d -atleast_3d -broadcast_tensors"

Ints = tuple[int, ...]


def _adjoint(name: str, cut: Callable[..., Any], view: Callable[..., Any]) -> Callable[..., Any]:
    """The adjoint of a window, `cut` out of arrays and `view` of values."""

    def put(input: Any, shape: Ints, *args: Any) -> Any:
        out = np.zeros(shape, input.dtype)
        cut(out, *args)[...] = input
        return out

    put.__signature__ = _with_shape(cut)
    names = list(put.__signature__.parameters)[2:]
    op = linear(name, put, named(lambda g, *args: view(g, *args), ["g", *names]), tensor="input", out_arg=False)

    def either(g: Any, shape: Ints, *args: Any) -> Any:
        return op(g, shape, *args) if isinstance(g, Tensor) else put(g, shape, *args)

    return either


def _with_shape(cut: Callable[..., Any]) -> inspect.Signature:
    first, *rest = inspect.signature(cut).parameters.values()
    rest = [p.replace(default=inspect.Parameter.empty) for p in rest]
    return inspect.Signature([first, first.replace(name="shape"), *rest])


# ------------------------------------------------------------------ select and slice


def _select(input: Any, dim: int, index: int) -> Any:
    """The slice of `input` at one index of one dimension, as a view.

    >>> import tidu as torch
    >>> torch.arange(6).view(2, 3).select(1, 2)
    tensor([2, 5])
    """
    ndim = input.ndim
    if not ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    if dim < 0 or dim >= ndim:
        dim = normalize_dim(dim, ndim)
    try:
        if dim == 0:
            return input[index, ...]
        return input[(*(slice(None),) * dim, index, ...)]
    except IndexError:
        if not isinstance(index, int):
            return _select(input, dim, index.__index__())
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input.shape)} at dimension {dim}"
        ) from None


def _later(name: str) -> Callable[..., Any]:
    """A view op that is declared further down: its adjoint needs it, and it needs its adjoint."""
    return lambda *args: globals()[name](*args)


select_backward = _adjoint("select_backward", _select, _later("select"))
select = view_op("select", _select, select_backward)


def _slice(input: Any, dim: int, start: int | None, end: int | None, step: int) -> Any:
    if dim == 0:
        return input[start:end:step]
    return input[(*(slice(None),) * dim, slice(start, end, step))]


slice_backward = _adjoint("slice_backward", _slice, _later("slice_"))
slice_ = view_op("slice", _slice, slice_backward)


@numpy_names
def narrow(input: Any, dim: int, start: Any, length: int) -> Any:
    """`length` places of a dimension from `start` on, as a view."""
    return slice_(input, *_narrowed(input, dim, start, length))


def _narrowed(input: Any, dim: int, start: Any, length: int) -> tuple[int, int, int, int]:
    if not input.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    d = normalize_dim(dim, input.ndim)
    n = input.shape[d]
    if isinstance(start, Tensor):
        if start.ndim or start.dtype.category > 1 or start.dtype.name == "bool":
            raise RuntimeError("start must be an 0-dim integral Tensor.")
        start = int(start.item())
    if not -n <= start <= n:
        raise IndexError(f"start out of range (expected to be in range of [{-n}, {n}], but got {start})")
    if start < 0:
        start += n
    if start + length > n:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return d, start, start + length, 1


def _narrow_copy(input: Any, dim: int, start: int, length: int) -> Any:
    n = input.ndim
    if n and dim >= n:
        raise RuntimeError(
            "Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got false.  (Could this error "
            "message be improved?  If so, please report an enhancement request to PyTorch.)"
        )
    if n and length < 0 <= start:
        d = normalize_dim(dim, n)
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({input.shape[d]}).")
    return np.array(_slice(input, *_narrowed(input, dim, start, length)), order="C")


_slice_copy = linear(
    "narrow_copy",
    _narrow_copy,
    lambda g, input_shape, dim, start, length: _narrow_copy_adjoint(g, input_shape, dim, start, length),
)


def _narrow_copy_adjoint(g: Any, shape: Ints, dim: int, start: int, length: int) -> Any:
    d = dim % len(shape)
    first = start % shape[d] if start < 0 else start
    return slice_backward(g, shape, d, first, first + length, 1)


@numpy_names
def narrow_copy(input: Any, dim: int, start: int, length: int, *, out: Any = None) -> Any:
    """`narrow`, as a copy."""
    return _slice_copy(input, dim, start, length, out=out)


narrow_copy.op = _slice_copy.op


# ------------------------------------------------------------------ diagonals and sliding windows


def _diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The diagonal of two dimensions as the last dimension, as a view.

    **Arguments** offset: how many places above the main diagonal (below, if negative); dim1, dim2: the dimensions.
    """
    n = input.ndim
    d1, d2 = (0, 1) if dim1 == 0 and dim2 == 1 and n > 1 else (normalize_dim(dim1, n), normalize_dim(dim2, n))
    if d1 == d2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    r = input.diagonal(offset, d1, d2)
    if input.flags.writeable:
        r.setflags(True)  # NumPy's own is read-only
    return r


diagonal_backward = _adjoint("diagonal_backward", _diagonal, _later("diagonal"))
diagonal = view_op("diagonal", _diagonal, diagonal_backward)


def _unfold(input: Any, dimension: int, size: int, step: int) -> Any:
    """All windows of `size` along a dimension, `step` apart, as a view: they become the last dimension.
    Source: torch.Tensor.unfold."""
    n = input.ndim
    d = normalize_dim(dimension, n)
    length = input.shape[d] if n else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > length:
        raise RuntimeError(f"maximum size for tensor at dimension {d} is {length} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if not n:
        return input.reshape(1)[:size]
    shape = (*input.shape[:d], (length - size) // step + 1, *input.shape[d + 1 :], size)
    strides = input.strides
    return strided(input, shape, (*strides[:d], strides[d] * step, *strides[d + 1 :], strides[d]))


def _unfold_backward(input: Any, shape: Ints, dimension: int, size: int, step: int) -> Any:
    out = np.zeros(shape, input.dtype)
    if not shape:
        return out + input.sum(dtype=input.dtype)
    d = normalize_dim(dimension, len(shape))
    along = np.moveaxis(out, d, -1)
    parts = np.moveaxis(input, d, -1)  # (..., size, windows)
    if size <= parts.shape[-1]:
        for k in range(size):
            along[..., k : k + (parts.shape[-1] - 1) * step + 1 : step] += parts[..., k, :]
    else:
        for w in range(parts.shape[-1]):
            along[..., w * step : w * step + size] += parts[..., w]
    return out


unfold_backward = linear(
    "unfold_backward",
    _unfold_backward,
    lambda g, dimension, size, step: unfold(g, dimension, size, step),
    out_arg=False,
)
unfold = view_op("unfold", _unfold, lambda g, shape, *args: unfold_backward(g, shape, *args))


# ------------------------------------------------------------------ by strides


def as_strided(input: Any, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
    """The view of the memory of `input` with these sizes, strides and offset, all in elements.

    **Errors** RuntimeError where it would reach outside of the memory.
    """
    return _as_strided(input, *_strided_arguments(size, stride, storage_offset))


def _strided_arguments(size: Any, stride: Any, offset: int | None) -> tuple[Ints, Ints, int | None]:
    size, stride = ints((size,), "as_strided", "size"), ints((stride,), "as_strided", "stride")
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(s < 0 for s in stride):
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}")
    if any(n < 0 for n in size):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}")
    if offset is not None and offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    return size, stride, offset


_as_strided_ = relabel(_as_strided.op, "as_strided_", "AsStridedBackward1")


def as_strided_(input: Any, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
    """`as_strided`, in place: the tensor itself becomes the view."""
    return _as_strided_(input, *_strided_arguments(size, stride, storage_offset))


# ------------------------------------------------------------------ copies with a part replaced


def _replacing(name: str, cut: Callable[..., Any], view: Callable[..., Any], doc: str) -> Callable[..., Any]:
    """Declare `name(input, src, ...)`: a copy of `input` in which the window is `src`."""
    first, *rest = inspect.signature(cut).parameters.values()
    names = [p.name for p in rest]

    def put(input: Any, src: Any, *args: Any) -> Any:
        out = copy_with_gaps(input)
        part = cut(out, *args)
        if part.shape != src.shape:
            _check_src(src.shape, part.shape)
        part[...] = src
        return out

    def clear(input: Any, *args: Any) -> Any:
        out = copy_with_gaps(input)
        cut(out, *args)[...] = 0
        return out

    put.__signature__ = inspect.Signature([first, first.replace(name="src"), *rest])
    clear.__signature__ = inspect.Signature([first, *rest])
    put.__doc__ = doc
    cleared = linear(
        name + "_clear",
        clear,
        named(lambda g, *args: cleared(g, *args), ["g", *names]),
        tensor="input",
        node=_camel(name),
        out_arg=False,
    )
    op = Op(
        name,
        put,
        vjp={
            "input": named(lambda g, *args: cleared(g, *args), ["g", *names]),
            "src": named(lambda g, *args: view(g, *args), ["g", *names]),
        },
        jvp="linear",
    )
    return exact_out(op.call)


def _camel(name: str) -> str:
    return "".join(w.capitalize() for w in name.split("_")) + "Backward0"


def _check_src(src: Ints, part: Ints) -> None:
    raise RuntimeError(
        f"expected src to have a size equal to the slice of self. src size = {list(src)}, slice size = {list(part)}"
    )


select_scatter = _replacing(
    "select_scatter",
    _select,
    select,
    "A copy of `input` in which the slice at `index` of dimension `dim` is `src`. Source: torch.select_scatter.",
)
diagonal_scatter = _replacing(
    "diagonal_scatter",
    _diagonal,
    diagonal,
    "A copy of `input` in which a diagonal is `src`. Source: torch.diagonal_scatter.",
)


def _slice_part(input: Any, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Any:
    d = normalize_dim(dim, input.ndim)
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    return _slice(input, d, start, end, step)


def _slice_view(g: Any, dim: int, start: int | None, end: int | None, step: int) -> Any:
    return slice_(g, normalize_dim(dim, len(g.shape)), start, end, step)


slice_scatter = _replacing(
    "slice_scatter",
    _slice_part,
    _slice_view,
    "A copy of `input` in which a slice of dimension `dim` is `src`. Source: torch.slice_scatter.",
)


def _strided_scatter(input: Any, src: Any, size: Ints, stride: Ints, storage_offset: int | None = None) -> Any:
    """A copy of `input`, in whose memory the window by strides is `src`."""
    storage = storage_of(input)
    out = window(storage, (storage.nbytes // input.itemsize,), (1,), 0, input.dtype).copy()
    place = geometry(input, storage)
    part = window(out, tuple(size), tuple(stride), place[2] if storage_offset is None else storage_offset)
    if part.shape != src.shape:
        _check_src(src.shape, part.shape)
    part[...] = src
    return window(out, *place)


as_strided_scatter = Op(
    "as_strided_scatter",
    _strided_scatter,
    vjp={
        "input": lambda g, size, stride, storage_offset: as_strided_clear(g, size, stride, storage_offset),
        "src": lambda g, size, stride, storage_offset: _as_strided(g, size, stride, storage_offset),
    },
    jvp="linear",
    out_arg=False,
).call
as_strided_clear = linear(
    "as_strided_clear",
    lambda input, size, stride, storage_offset: _strided_scatter(
        input, np.zeros(size, input.dtype), size, stride, storage_offset
    ),
    lambda g, size, stride, storage_offset: as_strided_clear(g, size, stride, storage_offset),
    node="AsStridedScatterBackward0",
    out_arg=False,
)


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
        tensors = tuple(tensors[0])
    elif len(tensors) == 1:
        if not isinstance(tensors[0], Tensor):
            raise misfit(fn, ("Tensor input", "tuple of Tensors tensors"), tensors, {})
        return raised(tensors[0])
    return tuple(raised(x) for x in elements(tensors))


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
    shape = broadcast_shapes(*[tuple(x.shape) for x in elements(tensors)])
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
