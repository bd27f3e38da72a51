"""Views that rearrange, cut out or repeat: view, transpose, select, slice, expand and their kin.

Each op here is linear, so its adjoint is all there is to say.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.broadcast import sum_to
from ..core.errors import explain
from ..core.linear import linear
from ..core.tensor import Tensor
from ..core.viewing import view_op
from ..core.views import storage_of
from ..shapes import normalize_dim

__all__ = ["permute", "reshape", "select", "squeeze", "t", "transpose", "unsqueeze"]
METHODS = "expand permute reshape select squeeze t transpose unsqueeze view"

Ints = tuple[int, ...]


def ints(args: tuple[Any, ...]) -> Any:
    """The sizes or dims of a method called as f(2, 3) or f((2, 3))."""
    if len(args) == 1 and not isinstance(args[0], int) and isinstance(args[0], (tuple, list)):
        return tuple(args[0])
    return args


# ------------------------------------------------------------------ select and slice


def _select(input: Any, dim: int, index: int) -> Any:
    """The slice of `input` at one index of one dimension, as a view. Source: torch.select."""
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
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input.shape)} at dimension {dim}"
        ) from None


def _select_backward(input: Any, shape: Ints, dim: int, index: int) -> Any:
    out = np.zeros(shape, input.dtype)
    out[(*(slice(None),) * (dim % len(shape)), index, ...)] = input
    return out


def select_backward(g: Any, shape: Ints, dim: int, index: int) -> Any:
    if isinstance(g, Tensor):
        return select_adjoint(g, shape, dim, index)
    return _select_backward(g, shape, dim, index)


select_adjoint = linear(
    "select_backward", _select_backward, lambda g, dim, index: select(g, dim, index), out_arg=False
)  # fmt: skip
select = view_op("select", _select, select_backward)


def _slice(input: Any, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Any:
    if step <= 0:
        raise ValueError("step must be greater than zero")
    return input[(*(slice(None),) * dim, slice(start, end, step))]


def _slice_backward(input: Any, shape: Ints, dim: int, start: int | None, end: int | None, step: int) -> Any:
    out = np.zeros(shape, input.dtype)
    out[(*(slice(None),) * dim, slice(start, end, step))] = input
    return out


slice_adjoint = linear(
    "slice_backward",
    _slice_backward,
    lambda g, dim, start, end, step: slice_(g, dim, start, end, step),
    out_arg=False,
)
slice_ = view_op(
    "slice",
    _slice,
    lambda g, shape, dim, start, end, step: (
        slice_adjoint(g, shape, dim, start, end, step)
        if isinstance(g, Tensor)
        else _slice_backward(g, shape, dim, start, end, step)
    ),
)


# ------------------------------------------------------------------ the same elements in another shape


def infer_shape(shape: Ints, size: int) -> Ints:
    """A shape with its -1 resolved; RuntimeError when it does not hold `size` elements."""
    known, hole = 1, None
    for i, d in enumerate(shape):
        if d == -1:
            if hole is not None:
                raise RuntimeError("only one dimension can be inferred")
            hole = i
        elif d < 0:
            raise RuntimeError(f"invalid shape dimension {d}")
        else:
            known *= d
    if hole is None:
        if known == size:
            return shape
    elif known == 0:
        if size == 0:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension size "
                "-1 can be any value and is ambiguous"
            )
    elif size % known == 0:
        return (*shape[:hole], size // known, *shape[hole + 1 :])
    raise explain(
        RuntimeError(f"shape '{list(shape)}' is invalid for input of size {size}"),
        f"the sizes must multiply to {size}; one of them may be -1 to be inferred.",
    )


def _view(input: Any, shape: Ints) -> Any:
    """The same elements in another shape, sharing memory."""
    r = input.reshape(infer_shape(shape, input.size))
    if not input.flags.c_contiguous and input.size and storage_of(r) is not storage_of(input):
        raise explain(
            RuntimeError(
                "view size is not compatible with input tensor's size and stride (at least one dimension spans across "
                "two contiguous subspaces). Use .reshape(...) instead."
            ),
            "view() never copies, and these elements do not lie one after the other; reshape() copies where it must.",
        )
    return r


view = view_op("view", _view, lambda g, shape, _: reshape(g, shape))


def method_view(self: Tensor, *shape: Any, dtype: Any = None) -> Any:
    """The same elements in another shape, sharing memory (or the same bytes as another dtype).
    Source: torch.Tensor.view."""
    return view(self, ints(shape))


def _unsafe_reshape(input: Any, shape: Ints) -> Any:
    return np.array(input).reshape(shape)


copying_reshape = linear(
    "reshape", _unsafe_reshape, lambda g, input_shape: reshape(g, input_shape), node="UnsafeViewBackward0"
)  # fmt: skip


def reshape(input: Any, shape: Any) -> Any:
    """The elements in another shape: a view where that is possible, else a copy. Source: torch.reshape."""
    if not isinstance(input, Tensor):
        return input.reshape(shape)
    shape = tuple(shape) if not isinstance(shape, int) else (shape,)
    a = getattr(input, "_a", None)
    if a is None or a.flags.c_contiguous:
        return view(input, shape)
    shape = infer_shape(shape, a.size)
    if storage_of(a.reshape(shape)) is storage_of(a):
        return view(input, shape)
    return view(input.clone(), shape)  # type: ignore[attr-defined]


def method_reshape(self: Tensor, *shape: Any) -> Any:
    """The elements in another shape: a view where that is possible, else a copy. Source: torch.Tensor.reshape."""
    return reshape(self, ints(shape))


# ------------------------------------------------------------------ the dimensions in another order


def _transpose(input: Any, dim0: int, dim1: int) -> Any:
    """Exchange two dimensions, as a view. Source: torch.transpose."""
    n = input.ndim
    if n == 2 and dim0 != dim1 and -2 <= dim0 < 2 and -2 <= dim1 < 2 and (dim0 - dim1) % 2:
        return input.T
    d0, d1 = normalize_dim(dim0, n), normalize_dim(dim1, n)
    return input.swapaxes(d0, d1) if n else input[...]


transpose = view_op("transpose", _transpose, lambda g, shape, dim0, dim1: transpose(g, dim0, dim1))


def _t(input: Any) -> Any:
    """The transpose of a matrix, as a view. Source: torch.t."""
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return input.T


t = view_op("t", _t, lambda g, shape: t(g))


def _permute(input: Any, dims: Ints) -> Any:
    """The dimensions in another order, as a view. Source: torch.permute."""
    n = input.ndim
    if len(dims) != n:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {n} is not equal to len(dims) = {len(dims)}"
        )
    order = [normalize_dim(d, n) for d in dims]
    if len(set(order)) != n:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return input.transpose(order)


def _inverse(dims: Ints) -> Ints:
    n = len(dims)
    out = [0] * n
    for i, d in enumerate(dims):
        out[d % n] = i
    return tuple(out)


permute = view_op("permute", _permute, lambda g, shape, dims: permute(g, _inverse(dims)))


def method_permute(self: Tensor, *dims: Any) -> Any:
    """The dimensions in another order, as a view. Source: torch.Tensor.permute."""
    return permute(self, ints(dims))


def _unsqueeze(input: Any, dim: int) -> Any:
    """A new dimension of size one, as a view. Source: torch.unsqueeze."""
    d = normalize_dim(dim, input.ndim + 1)
    return input[(*(slice(None),) * d, None)]


unsqueeze = view_op("unsqueeze", _unsqueeze, lambda g, shape, dim: reshape(g, shape))


def _squeeze(input: Any, dim: Any) -> Any:
    n = input.ndim
    dims = range(n) if dim is None else [normalize_dim(d, n) for d in ((dim,) if isinstance(dim, int) else dim)]
    drop = {d for d in dims if n and input.shape[d] == 1}
    return input[tuple(0 if i in drop else slice(None) for i in range(n))] if drop else input[...]


_squeeze_all = view_op("squeeze", lambda input: _squeeze(input, None), lambda g, shape: reshape(g, shape))
_squeeze_dim = view_op(
    "squeeze_dim", _squeeze, lambda g, shape, dim: reshape(g, shape), node="SqueezeBackward1"
)  # fmt: skip


def squeeze(input: Any, dim: Any = None) -> Any:
    """Drop dimensions of size one (all of them, or those named), as a view. Source: torch.squeeze."""
    return _squeeze_all(input) if dim is None else _squeeze_dim(input, dim)


# ------------------------------------------------------------------ repeated without copying


def _expand(input: Any, size: Ints) -> Any:
    shape = input.shape
    lead = len(size) - len(shape)
    if lead < 0:
        raise RuntimeError(
            f"expand({_typed(input)}, size={list(size)}): the number of sizes provided ({len(size)}) must be greater "
            f"or equal to the number of dimensions in the tensor ({len(shape)})"
        )
    full = list(size)
    for i, d in enumerate(size):
        have = shape[i - lead] if i >= lead else None
        if d == -1:
            if have is None:
                raise RuntimeError(
                    f"expand({_typed(input)}, size={list(size)}): the expanded size of the tensor ({d}) isn't allowed "
                    f"in a leading, non-existing dimension {i}"
                )
            full[i] = have
        elif have is not None and have not in (1, d):
            raise RuntimeError(
                f"The expanded size of the tensor ({d}) must match the existing size ({have}) at non-singleton "
                f"dimension {i}.  Target sizes: {list(size)}.  Tensor sizes: {list(shape)}"
            )
    strides = [0] * lead + [0 if s == 1 and full[lead + k] != 1 else st
                            for k, (s, st) in enumerate(zip(shape, input.strides, strict=True))]  # fmt: skip
    return np.lib.stride_tricks.as_strided(input, full, strides)


def _typed(input: Any) -> str:
    from ..core.errors import type_word

    return f"{type_word(input.dtype)}{{{list(input.shape)}}}"


expand = view_op("expand", _expand, lambda g, shape, _: sum_to(g, shape))


def method_expand(self: Tensor, *size: Any, implicit: bool = False) -> Any:
    """Dimensions of size one repeated without copying; -1 keeps a size. Source: torch.Tensor.expand."""
    return expand(self, ints(size))


