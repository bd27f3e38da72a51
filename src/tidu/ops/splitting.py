"""One tensor cut into several views: split, chunk, unbind and their kin. Their adjoints join."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.op import Op
from ..core.tensor import Tensor
from ..shapes import normalize_dim
from ._arguments import numpy_names
from ._hot import parts
from .joining import cat, stack
from .windows import slice_

__all__ = [
    "chunk", "dsplit", "hsplit", "split", "split_with_sizes", "tensor_split", "unbind", "unsafe_chunk", "unsafe_split",
    "unsafe_split_with_sizes", "vsplit",
]  # fmt: skip
METHODS = "*"

ndarray = np.ndarray


def joined(gs: Sequence[Any], dim: int) -> Any:
    """`cat` of values of any kind."""
    return np.concatenate(gs, dim) if gs[0].__class__ is ndarray else cat(gs, dim)


def stacked(gs: Sequence[Any], dim: int) -> Any:
    """`stack` of values of any kind."""
    return stack(gs, dim) if isinstance(gs[0], Tensor) else np.stack(gs, dim)  # arrays, or NumPy scalars


# ------------------------------------------------------------------ split


def _cut(input: Any, lengths: Sequence[int], dim: int) -> tuple[Any, ...]:
    lead, at, out = (slice(None),) * dim, 0, []
    for n in lengths:
        out.append(input[(*lead, slice(at, at + n))])
        at += n
    return tuple(out)


def _equal_parts(n: int, size: int) -> list[int]:
    """`n` places in parts of `size`, the last one smaller if need be."""
    parts = max((n + size - 1) // size, 1) if size else 1
    return [size] * (parts - 1) + [n - size * (parts - 1)]


def _split(input: Any, split_size: int, dim: int = 0) -> tuple[Any, ...]:
    if not input.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    if split_size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={split_size}")
    d = normalize_dim(dim, input.ndim)
    n = input.shape[d]
    if not split_size and n:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}")
    return _cut(input, _equal_parts(n, split_size), d)


def _split_with_sizes(input: Any, split_sizes: Sequence[int], dim: int = 0) -> tuple[Any, ...]:
    """Views of the given sizes along a dimension, which they add up to."""
    if not input.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    d = normalize_dim(dim, input.ndim)
    sizes, n = list(split_sizes), input.shape[d]
    if any(s < 0 for s in sizes):
        raise RuntimeError(
            f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={sizes}"
        )
    if sum(sizes) != n:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at dimension {dim}), but "
            f"got split_sizes={sizes}"
        )
    return _cut(input, sizes, d)


def _declare(name: str, forward: Any, node: str, view: bool) -> Any:
    call = Op(
        name,
        forward,
        vjp={"input": lambda gs, dim: joined(gs, dim)},
        jvp="linear",
        node=node,
        outputs=0,
        view=view,
        out_arg=False,
    ).call
    return parts(call, forward, lambda gs, sizes, dim: joined(gs, dim)) if view else call


_split_op = _declare("split", _split, "SplitBackward0", True)
split_with_sizes = _declare("split_with_sizes", _split_with_sizes, "SplitWithSizesBackward0", True)
_unsafe_split = _declare("unsafe_split", _split, "UnsafeSplitBackward0", False)
unsafe_split_with_sizes = _declare("unsafe_split_with_sizes", _split_with_sizes, "UnsafeSplitWithSizesBackward0", False)


@numpy_names
def split(tensor: Any, split_size_or_sections: Any, dim: int = 0) -> Any:
    """Views of equal size along a dimension (the last may be smaller), or of the sizes in a list.

    **Arguments** tensor: at least one dimension; split_size_or_sections: a size, or a list of sizes that add up to the
    dimension's; dim: the dimension. **Errors** RuntimeError where they do not fit.

    >>> import tidu as torch
    >>> [x.tolist() for x in torch.split(torch.arange(5), 2)]
    [[0, 1], [2, 3], [4]]
    """
    return method_split(tensor, split_size_or_sections, dim)


@numpy_names
def method_split(self: Tensor, split_size: Any, dim: int = 0) -> Any:
    """Views of equal size along a dimension, or of the sizes in a list."""
    if isinstance(split_size, int):
        return _split_op(self, split_size, dim)
    if hasattr(split_size, "__index__") and not isinstance(split_size, (tuple, list)):
        return _split_op(self, split_size.__index__(), dim)
    if not isinstance(split_size, (tuple, list)):
        what = type(split_size).__name__
        raise TypeError(f"split_with_sizes(): argument 'split_sizes' (position 2) must be tuple of ints, not {what}")
    return split_with_sizes(self, tuple(split_size), dim)


def unsafe_split(tensor: Any, split_size: int, dim: int = 0) -> Any:
    """`split`, whose outputs autograd takes for tensors of their own."""
    return _unsafe_split(tensor, split_size, dim)


method_split.__name__ = method_split.__qualname__ = "split"


def _chunk_size(input: Any, chunks: int, dim: int) -> tuple[int, int]:
    """The size of a chunk, and of the dimension."""
    if not input.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    n = input.shape[normalize_dim(dim, input.ndim)]
    return (n + chunks - 1) // chunks, n


def chunk(input: Any, chunks: int, dim: int = 0, *, axis: int | None = None) -> Any:
    """At most `chunks` views of equal size along a dimension, the last perhaps smaller."""
    if axis is not None:
        dim = axis
    size, n = _chunk_size(input, chunks, dim)
    return _split_op(input, size, dim) if n else split_with_sizes(input, (0,) * chunks, dim)


def unsafe_chunk(input: Any, chunks: int, dim: int = 0) -> Any:
    """`chunk`, whose outputs autograd takes for tensors of their own."""
    size, n = _chunk_size(input, chunks, dim)
    return _unsafe_split(input, size, dim) if n else unsafe_split_with_sizes(input, (0,) * chunks, dim)


# ------------------------------------------------------------------ unbind


def _unbind(input: Any, dim: int = 0) -> tuple[Any, ...]:
    """The slices along a dimension, as views."""
    if not input.ndim:
        normalize_dim(dim, 0)
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    d = normalize_dim(dim, input.ndim)
    if d == 0 and input.ndim > 1:
        return tuple(input)  # NumPy's own iteration gives views of rows
    lead = (slice(None),) * d
    return tuple([input[(*lead, i, ...)] for i in range(input.shape[d])])


unbind = parts(
    Op(
        "unbind",
        _unbind,
        vjp={"input": lambda gs, dim: stacked(gs, dim)},
        jvp="linear",
        outputs=0,
        view=True,
        out_arg=False,
    ).call,
    _unbind,
    lambda gs, dim: stacked(gs, dim),
)


# ------------------------------------------------------------------ tensor_split


@numpy_names
def tensor_split(
    input: Any, indices_or_sections: Any = None, dim: int = 0, *, indices: Any = None, sections: Any = None,
    tensor_indices_or_sections: Any = None,
) -> Any:  # fmt: skip
    """Views between the given indices, or of `n` nearly equal sizes."""
    given: Any = next(
        (a for a in (indices_or_sections, indices, sections, tensor_indices_or_sections) if a is not None), None
    )
    if not input.ndim:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    d = normalize_dim(dim, input.ndim)
    if isinstance(given, Tensor):
        given = _from_tensor(given)
    n = input.shape[d]
    if isinstance(given, (tuple, list)):
        ends = [*given, n]
        starts = [0, *given]
        return tuple(_piece(input, d, a, b, n) for a, b in zip(starts, ends, strict=True))
    if given <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {given}")
    least, more = divmod(n, given)
    out, at = [], 0
    for k in range(given):
        size = least + (k < more)
        out.append(slice_(input, d, at, at + size, 1))
        at += size
    return tuple(out)


def _piece(x: Any, d: int, start: int, end: int, n: int) -> Any:
    first, last, _ = slice(start, end).indices(n)
    return slice_(x, d, first, max(first, last), 1)


def _from_tensor(t: Tensor) -> Any:
    if t.ndim > 1:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but "
            f"got a tensor with {t.ndim} dims"
        )
    if t.dtype.name != "int64":
        raise RuntimeError(
            f"tensor_split expected tensor_indices_or_sections to have dtype of long, but got {t.dtype.legacy}"
        )
    return t.tolist()


def _directed(input: Any, given: Any, fn: str, least: int, dim: int) -> Any:
    if not isinstance(given, (int, tuple, list)):
        kind = type(given).__name__
        raise TypeError(
            f"{fn}() received an invalid combination of arguments - got (Tensor, {kind}), but expected one of:\n"
            f" * (Tensor input, int sections)\n      didn't match because some of the arguments have invalid types: "
            f"(Tensor, !{kind}!)\n * (Tensor input, tuple of ints indices)\n      didn't match because some of the "
            f"arguments have invalid types: (Tensor, !{kind}!)\n"
        )
    if input.ndim < least:
        raise RuntimeError(
            f"torch.{fn} requires a tensor with at least {least} dimension, but got a tensor with {input.ndim} "
            "dimensions!"
        )
    if isinstance(given, int):
        n = input.shape[dim]
        if not given or n % given:
            raise RuntimeError(
                f"torch.{fn} attempted to split along dimension {dim}, but the size of the dimension {n} is not "
                f"divisible by the split_size {given}!"
            )
    return tensor_split(input, given, dim)


def _choice(given: Any, indices: Any, sections: Any) -> Any:
    return next(a for a in (given, indices, sections) if a is not None)


def hsplit(input: Any, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None) -> Any:
    """`tensor_split` along the second dimension, the first for a vector."""
    given = _choice(indices_or_sections, indices, sections)
    return _directed(input, given, "hsplit", 1, 0 if input.ndim == 1 else 1)


def vsplit(input: Any, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None) -> Any:
    """`tensor_split` along the first dimension."""
    return _directed(input, _choice(indices_or_sections, indices, sections), "vsplit", 2, 0)


def dsplit(input: Any, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None) -> Any:
    """`tensor_split` along the third dimension."""
    return _directed(input, _choice(indices_or_sections, indices, sections), "dsplit", 3, 2)
