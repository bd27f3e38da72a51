"""Tensors joined to one: cat, stack and what is made of them. Their adjoints cut apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.op import Op
from ..core.promote import SAME, common
from ..core.tensor import Tensor
from ..dtypes import can_cast, from_numpy
from ..shapes import normalize_dim
from ._dtypes import refuse_overlap
from ._hot import joining
from ._make import elements
from .shape import reshape
from .windows import atleast_1d, atleast_2d, atleast_3d, select, slice_

__all__ = [
    "block_diag", "cat", "column_stack", "concat", "concatenate", "dstack", "hstack", "row_stack", "stack", "vstack",
]  # fmt: skip

Ints = tuple[int, ...]
ndarray = np.ndarray


def part(g: Any, dim: int, start: int, stop: int) -> Any:
    """The places from `start` to `stop` of a dimension of any value."""
    if g.__class__ is ndarray:
        return g[(*(slice(None),) * dim, slice(start, stop))]
    return slice_(g, dim, start, stop, 1)


def one_dtype(arrays: Sequence[Any]) -> Any:
    """The common dtype of arrays, each counting in full: None when they have one already."""
    first = arrays[0].dtype
    for a in arrays:
        if a.dtype != first:
            return common("cat", SAME, [a.reshape(-1) for a in arrays]).np
    return None


def checked_list(tensors: Any, fn: str) -> list[Any]:
    """A list or tuple of tensors as a list; TypeError for anything else."""
    if not isinstance(tensors, (tuple, list)):
        what = type(tensors).__name__
        raise TypeError(f"{fn}(): argument 'tensors' (position 1) must be tuple of Tensors, not {what}")
    for i, x in enumerate(tensors):
        if not isinstance(x, (Tensor, ndarray)):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(x).__name__}")
    return list(tensors)


def in_order(a: Any) -> Any:
    """An array in C order (or channels last): NumPy keeps any order of the dimensions in memory, PyTorch does not."""
    if a.flags.c_contiguous or (a.ndim in (4, 5) and np.moveaxis(a, 1, -1).flags.c_contiguous):
        return a
    return np.ascontiguousarray(a)


# ------------------------------------------------------------------ cat


def _cat(tensors: Any, dim: int = 0) -> Any:
    dtype = one_dtype(tensors)
    if dtype is not None:
        tensors = [a.astype(dtype) for a in tensors]
    first = tensors[0]
    for i, a in enumerate(tensors):
        if not a.ndim:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
        if first.shape == (0,):
            first = a
    if first.shape == (0,):  # nothing but tensors without elements, whatever the dimension
        return np.empty(0, first.dtype)
    real = tensors if first.ndim == 1 else [a for a in tensors if a.shape != (0,)] or [first]
    d = normalize_dim(dim, first.ndim)
    try:
        return in_order(np.concatenate(real, d))
    except ValueError:
        _refuse_cat(tensors, first.shape, d)
        raise


def _refuse_cat(tensors: Sequence[Any], shape: Ints, dim: int) -> None:
    for i, a in enumerate(tensors):
        if a.shape == (0,):
            continue
        if a.ndim != len(shape):
            raise RuntimeError(f"Tensors must have same number of dimensions: got {len(shape)} and {a.ndim}")
        for j, (n, want) in enumerate(zip(a.shape, shape, strict=True)):
            if j != dim and n != want:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {want} but got size {n} "
                    f"for tensor number {i} in the list."
                )


def _uncat(g: Any, tensors_shape: Sequence[Ints], dim: int, needs: tuple[bool, ...]) -> list[Any]:
    d, at, out = dim % len(g.shape), 0, []
    for shape, needed in zip(tensors_shape, needs, strict=True):
        if shape == (0,) and len(g.shape) != 1:
            out.append(part(reshape(g, (-1,)), 0, 0, 0))
            continue
        out.append(part(g, d, at, at + shape[d]) if needed else None)
        at += shape[d]
    return out


_cat_op = Op("cat", _cat, vjp={"tensors": _uncat}, jvp="linear", tensors=("tensors",), lists=("tensors",))


def _refuse_out(op: Op) -> None:
    """Let out= of a dtype that the result does not convert to raise as PyTorch's cat does."""
    plain = op.write_out

    def write_out(result: Any, out: Any, wants: bool) -> Any:
        if isinstance(out, Tensor) and not can_cast(from_numpy(result.dtype), out.dtype):
            legacy = out.dtype.legacy
            raise TypeError(f"torch.cat(): input types can't be cast to the desired output type {legacy}")
        resized = isinstance(out, Tensor) and out._a.shape != result.shape
        given = plain(result, out, wants)
        if resized:
            out._a = result.astype(out._a.dtype, copy=False)  # laid out as the tensors are
        return given

    op.write_out = write_out  # type: ignore[method-assign]


_refuse_out(_cat_op)


def _cat_checked(tensors: Any, dim: int, out: Any = None) -> Any:
    tensors = checked_list(tensors, "cat")
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    if out is not None:
        refuse_overlap(out, tensors)
    return _cat_op.call(tensors, dim, out=out)


_cat_checked.op = _cat_op
_cat_now = joining(_cat_checked, lambda arrays, dim: in_order(np.concatenate(arrays, dim)), _uncat)


def cat(tensors: Any, dim: int = 0, *, out: Any = None, axis: int | None = None) -> Any:
    """Tensors joined along a dimension in which alone their sizes may differ; dtypes are promoted.

    **Errors** ValueError for no tensors, RuntimeError for sizes that do not match.

    >>> import tidu as torch
    >>> torch.cat([torch.ones(2), torch.zeros(1)])
    tensor([1., 1., 0.])
    """
    if axis is not None:
        dim = axis
    if out is None and (tensors.__class__ is list or tensors.__class__ is tuple) and tensors:
        return _cat_now(tensors, dim)
    return _cat_checked(tensors, dim, out)


cat.op = _cat_op
concat = concatenate = cat


# ------------------------------------------------------------------ stack


def _stack(tensors: Any, dim: int = 0) -> Any:
    first = tensors[0].shape
    for i, a in enumerate(tensors):
        if a.shape != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and {list(a.shape)} at "
                f"entry {i}"
            )
    d = normalize_dim(dim, len(first) + 1)
    dtype = one_dtype(tensors)
    if dtype is not None:
        tensors = [a.astype(dtype) for a in tensors]
    at = (*(slice(None),) * d, None)
    return in_order(np.concatenate([a[at] for a in tensors], d))


def _unstack(g: Any, dim: int, needs: tuple[bool, ...]) -> list[Any]:
    d = dim % len(g.shape)
    if g.__class__ is ndarray:
        lead: Any = (slice(None),) * d
        return [g[(*lead, i, ...)] if needed else None for i, needed in enumerate(needs)]
    return [select(g, d, i) if needed else None for i, needed in enumerate(needs)]


_stack_op = Op("stack", _stack, vjp={"tensors": _unstack}, jvp="linear", tensors=("tensors",), lists=("tensors",))


_refuse_out(_stack_op)


def _stack_checked(tensors: Any, dim: int, out: Any = None) -> Any:
    tensors = checked_list(tensors, "stack")
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    normalize_dim(dim, tensors[0].ndim + 1)
    return _stack_op.call(tensors, dim, out=out)


def _stack_arrays(arrays: list[Any], dim: int) -> Any:
    """Arrays of one shape stacked; ValueError for others."""
    shape = arrays[0].shape
    for a in arrays:
        if a.shape != shape:
            raise ValueError
    if dim == 0:
        if not shape:
            return np.array(arrays)
        return in_order(np.concatenate(arrays)).reshape((len(arrays), *shape))
    at = (*(slice(None),) * (dim if dim >= 0 else dim + len(shape) + 1), None)
    return in_order(np.concatenate([a[at] for a in arrays], dim))


_stack_checked.op = _stack_op
_stack_now = joining(_stack_checked, _stack_arrays, lambda g, shapes, dim, needs: _unstack(g, dim, needs))


def stack(tensors: Any, dim: int = 0, *, out: Any = None, axis: int | None = None) -> Any:
    """Tensors of one shape joined along a new dimension.

    >>> import tidu as torch
    >>> torch.stack([torch.arange(2), torch.arange(2)], 1)
    tensor([[0, 0],
            [1, 1]])
    """
    if axis is not None:
        dim = axis
    if out is None and (tensors.__class__ is list or tensors.__class__ is tuple) and tensors:
        return _stack_now(tensors, dim)
    return _stack_checked(tensors, dim, out)


stack.op = _stack_op


def _several(tensors: Any, fn: str) -> list[Any]:
    tensors = checked_list(tensors, fn)
    if not tensors:
        raise RuntimeError(f"{fn} expects a non-empty TensorList")
    return tensors


def hstack(tensors: Any, *, out: Any = None) -> Any:
    """Joined along the second dimension, vectors along the first."""
    tensors = [atleast_1d(x) for x in _several(tensors, "hstack")]
    return cat(tensors, 0 if tensors[0].ndim == 1 else 1, out=out)


def vstack(tensors: Any, *, out: Any = None) -> Any:
    """Joined along the first dimension, vectors as rows."""
    return cat([atleast_2d(x) for x in _several(tensors, "vstack")], 0, out=out)


row_stack = vstack


def dstack(tensors: Any, *, out: Any = None) -> Any:
    """Joined along the third dimension, vectors and matrices raised by `atleast_3d`."""
    return cat([atleast_3d(x) for x in _several(tensors, "dstack")], 2, out=out)


def column_stack(tensors: Any, *, out: Any = None) -> Any:
    """Joined along the second dimension, vectors as columns."""
    several = _several(tensors, "column_stack")
    return hstack([x if x.ndim > 1 else reshape(x, (x.numel(), 1)) for x in several], out=out)


# ------------------------------------------------------------------ blocks on a diagonal


def _block_diag(tensors: Any) -> Any:
    for i, a in enumerate(tensors):
        if a.ndim > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has {a.ndim} dimensions"
            )
    shapes = [_as_block(a.shape) for a in tensors]
    out = np.zeros((sum(s[0] for s in shapes), sum(s[1] for s in shapes)), one_dtype(tensors) or tensors[0].dtype)
    row = col = 0
    for a, (m, n) in zip(tensors, shapes, strict=True):
        out[row : row + m, col : col + n] = a
        row, col = row + m, col + n
    return out


def _as_block(shape: Ints) -> Ints:
    return (1,) * (2 - len(shape)) + shape


def _blocks(g: Any, tensors_shape: Sequence[Ints]) -> list[Any]:
    row = col = 0
    out = []
    for shape in tensors_shape:
        m, n = _as_block(shape)
        out.append(reshape(part(part(g, 0, row, row + m), 1, col, col + n), shape))
        row, col = row + m, col + n
    return out


_block_diag_op = Op(
    "block_diag",
    _block_diag,
    vjp={"tensors": _blocks},
    jvp="linear",
    tensors=("tensors",),
    lists=("tensors",),
    out_arg=False,
)


def block_diag(*tensors: Any) -> Any:
    """Matrices along the diagonal of a larger one, zeros elsewhere; vectors are rows."""
    if not tensors:
        from .factories import empty

        return empty(1, 0)
    return _block_diag_op.call(list(elements(tensors)))
