"""Copies whose elements lie elsewhere: repeat, flip, roll, rot90, triangles and diagonals; and tensors cut into several views."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.inplace import inplace
from ..core.linear import linear
from ..core.op import Op
from ..core.tensor import Tensor, tensor_of
from ..shapes import normalize_dim, normalize_dims
from ._arguments import numpy_names
from ._dtypes import exact_out
from ._hot import parts
from .joining import cat, stack
from .shape import contiguous_clone, ints, named_ints, reshape, view
from .storage import copy_as
from .windows import as_strided, diagonal, diagonal_backward, expand, slice_, unsqueeze

__all__ = [
    "chunk", "diag", "diag_embed", "diagflat", "diagonal_copy", "dsplit", "flip", "fliplr", "flipud",
    "hsplit", "repeat_interleave", "roll", "rot90", "split", "split_with_sizes", "tensor_split", "tile",
    "tril", "triu", "unbind", "unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes", "vsplit",
]  # fmt: skip
METHODS = "* fill_diagonal_ repeat tril_ triu_ -diagonal_copy"

Ints = tuple[int, ...]


# ------------------------------------------------------------------ repeated


def _repeat(input: Any, repeats: Ints) -> Any:
    if len(repeats) < input.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    lead = len(repeats) - input.ndim
    sizes = [r * n for r, n in zip(repeats, (1,) * lead + input.shape, strict=True)]
    if any(n < 0 for n in sizes):
        bad = next(n for n in sizes if n < 0)
        raise RuntimeError(f"Trying to create tensor with negative dimension {bad}: {sizes}")
    return np.ascontiguousarray(np.tile(input, repeats)) if repeats else input.copy()


def _unrepeat(g: Any, input_shape: Ints, repeats: Ints) -> Any:
    lead = len(repeats) - len(input_shape)
    shape: list[int] = []
    for r, n in zip(repeats, (1,) * lead + input_shape, strict=True):
        shape += (r, n)
    copies = tuple(range(0, len(shape), 2))
    return reshape(reshape(g, tuple(shape)).sum(copies), input_shape) if copies else g


_repeat_op = linear("repeat", _repeat, _unrepeat, out_arg=False)


def method_repeat(self: Tensor, *repeats: Any, **kw: Any) -> Any:
    """The tensor laid side by side, so many times along each dimension; more numbers than dimensions make new ones in
    front."""
    return _repeat_op(self, named_ints(repeats, kw, "repeat", "repeats"))


def tile(input: Any, dims: Any) -> Any:
    """`repeat`, with as many leading ones as are missing."""
    counts = ints((dims,), "tile", "dims")
    return _repeat_op(input, (1,) * (input.ndim - len(counts)) + counts)


def method_tile(self: Tensor, *dims: Any, **kw: Any) -> Any:
    """`repeat`, with as many leading ones as are missing."""
    return tile(self, named_ints(dims, kw, "tile", "dims"))


@numpy_names
def repeat_interleave(
    input: Any = None, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Any:
    """Each element (or slice along `dim`) so many times in a row; of `repeats` alone, the indices that do so.

    **Arguments** repeats: a number, or an integer tensor with one number for each; dim: None for the flattened tensor;
    output_size: what they add up to, if known.
    """
    if input is None:
        input, repeats = repeats, None
    if repeats is None:
        return _interleaved_indices(input, output_size)
    if dim is None:
        input, dim = reshape(input, (-1,)), 0
    d = normalize_dim(dim, len(input.shape))
    if not input.shape and not isinstance(repeats, Tensor):
        normalize_dim(d + 1, 0)
    n = input.shape[d] if input.shape else 1
    if isinstance(repeats, Tensor):
        _check_repeats(repeats)
        if repeats.ndim and repeats.numel() != 1:
            if repeats.shape[0] != n:
                raise RuntimeError(
                    "repeats must have the same size as input along dim, but got repeats.size(0) = "
                    f"{repeats.shape[0]} and input.size({d}) = {n}"
                )
            from .index_dim import index_select

            return index_select(input, d, _interleaved_indices(repeats, output_size))
        repeats = int(repeats.item())
        if repeats < 0:
            raise RuntimeError("repeats can not be negative")
    elif repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    if output_size is not None and output_size != n * repeats:
        raise RuntimeError(f"repeat_interleave: Invalid output_size, expected {n * repeats} but got {output_size}")
    shape = tuple(input.shape) or (1,)
    if not input.shape:
        input = reshape(input, (1,))
    wide = expand(unsqueeze(input, d + 1), (*shape[: d + 1], repeats, *shape[d + 1 :]))
    return view(contiguous_clone(wide), (*shape[:d], n * repeats, *shape[d + 1 :]))


def _check_repeats(repeats: Tensor) -> None:
    if repeats.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if repeats.dtype.name not in ("int32", "int64"):
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{repeats.dtype.legacy}'")


def _interleaved_indices(repeats: Any, output_size: int | None) -> Tensor:
    if repeats.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    _check_repeats(repeats)
    counts = repeats.detach().numpy()
    if (counts < 0).any():
        raise RuntimeError("repeats can not be negative")
    if output_size is not None and output_size != counts.sum():
        raise RuntimeError("allocated size does not match required size")
    return tensor_of(np.repeat(np.arange(counts.size, dtype=counts.dtype), counts))


# ------------------------------------------------------------------ turned


def _flip(input: Any, dims: Ints) -> Any:
    """The order along some dimensions reversed, as a copy."""
    return copy_as(turned(input, normalize_dims(dims, input.ndim) if dims else ()))


def turned(a: Any, dims: Ints) -> Any:
    return a[tuple([slice(None, None, -1) if i in dims else slice(None) for i in range(a.ndim)]) + (...,)]


flip_op = linear("flip", _flip, lambda g, dims: flip_op(g, dims), out_arg=False)


def flip(input: Any, dims: Any) -> Any:
    """The order along some dimensions reversed, as a copy."""
    if isinstance(dims, int):
        raise TypeError("flip(): argument 'dims' (position 2) must be tuple of ints, not int")
    return flip_op(input, dims if dims.__class__ is tuple else ints((dims,), "flip", "dims"))


def method_flip(self: Tensor, *dims: Any, **kw: Any) -> Any:
    """The order along some dimensions reversed, as a copy."""
    return flip_op(self, named_ints(dims, kw, "flip", "dims"))


def fliplr(input: Any) -> Any:
    """The second dimension reversed."""
    if input.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return flip_op(input, (1,))


def flipud(input: Any) -> Any:
    """The first dimension reversed."""
    if input.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return flip_op(input, (0,))


def _roll(input: Any, shifts: Ints, dims: Ints) -> Any:
    if not shifts:
        raise RuntimeError("`shifts` required")
    if not input.size and len(shifts) == 1 and len(dims) < 2:
        return copy_as(input)
    if not dims and len(shifts) == 1:
        return _rolled(np.ascontiguousarray(input).reshape(-1), shifts[0], 0).reshape(input.shape)
    if len(shifts) != len(dims):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    if not input.ndim:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    for shift, d in zip(shifts, dims, strict=True):
        input = _rolled(input, shift, normalize_dim(d, input.ndim))
    return input


def _rolled(a: Any, shift: int, dim: int) -> Any:
    out = np.empty(a.shape, a.dtype)
    n = a.shape[dim]
    shift = shift % n if n else 0
    lead = (slice(None),) * dim
    out[(*lead, slice(shift, None))] = a[(*lead, slice(None, n - shift))]
    out[(*lead, slice(None, shift))] = a[(*lead, slice(n - shift, None))]
    return out


_roll_op = linear("roll", _roll, lambda g, shifts, dims: _roll_op(g, tuple(-s for s in shifts), dims), out_arg=False)


def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """Elements shifted along dimensions, those that fall off coming back at the other end; without `dims`, of the
    flattened tensor."""
    dims = () if dims is None else ints((dims,), "roll", "dims")
    return _roll_op(input, ints((shifts,), "roll", "shifts"), dims)


def _rot90(input: Any, k: int, dims: Ints) -> Any:
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if input.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {input.ndim}")
    d0, d1 = normalize_dim(dims[0], input.ndim), normalize_dim(dims[1], input.ndim)
    if d0 == d1:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    k %= 4
    if k == 0:
        return input.copy("C")
    if k == 2:
        return copy_as(turned(input, (d0, d1)))
    return copy_as(turned(input, (d1 if k == 1 else d0,))).swapaxes(d0, d1)


_rot90_op = linear("rot90", _rot90, lambda g, k, dims: _rot90_op(g, -k, dims), out_arg=False)


def rot90(input: Any, k: int = 1, dims: Any = (0, 1)) -> Any:
    """Turned by k right angles in the plane of two dimensions, from the first towards the second."""
    return _rot90_op(input, k, ints((dims,), "rot90", "dims"))


# ------------------------------------------------------------------ triangles


_SMALL_MASK = 1 << 14  # elements; attention asks for the same mask again and again


def _mask(name: str, m: int, n: int, k: int) -> Any:
    return np.tri(m, n, k, dtype=bool) if name == "tril" else ~np.tri(m, n, k - 1, dtype=bool)


_small_mask = functools.lru_cache(16)(_mask)


def _triangle(name: str) -> Any:
    def forward(input: Any, diagonal: int = 0) -> Any:
        if input.ndim < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
        m, n = input.shape[-2:]
        offset = max(-m - 1, min(n + 1, diagonal))  # np.tri counts in C ints
        out = np.zeros(input.shape, input.dtype)
        np.copyto(out, input, where=(_small_mask if m * n <= _SMALL_MASK else _mask)(name, m, n, offset))
        return out

    side = "on and below" if name == "tril" else "on and above"
    forward.__doc__ = (
        f"The elements {side} a diagonal of a matrix or batch of them, zeros elsewhere. Source: torch.{name}."
    )
    op = exact_out(linear(name, forward, lambda g, diagonal: op(g, diagonal)))
    return op


tril, triu = _triangle("tril"), _triangle("triu")
method_tril_, method_triu_ = inplace(tril.op), inplace(triu.op)


# ------------------------------------------------------------------ diagonals


def _diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """The last dimension laid on the diagonal of two new ones, zeros elsewhere."""
    n = input.ndim + 1
    d1, d2 = normalize_dim(dim1, n), normalize_dim(dim2, n)
    if d1 == d2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    length = input.shape[-1] + abs(offset)
    rest = iter(input.shape[:-1])
    shape = tuple(length if i in (d1, d2) else next(rest) for i in range(n))
    out = np.zeros(shape, input.dtype)
    on = out.diagonal(offset, d1, d2)
    on.flags.writeable = True
    on[...] = input
    return out


diag_embed = exact_out(
    linear("diag_embed", _diag_embed, lambda g, offset, dim1, dim2: diagonal(g, offset, dim1, dim2), out_arg=False)
)
diagonal_copy = exact_out(
    linear(
        "diagonal_copy",
        lambda input, offset=0, dim1=0, dim2=1: np.array(diagonal.op.forward(input, offset, dim1, dim2), order="C"),
        lambda g, input_shape, offset, dim1, dim2: diagonal_backward(g, input_shape, offset, dim1, dim2),
        node="DiagonalBackward0_copy",
    )
)


def diag(input: Any, diagonal: int = 0, *, out: Any = None) -> Any:
    """The diagonal of a matrix, or the matrix with a vector on its diagonal."""
    n = input.ndim
    if n not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {n}D")
    if out is not None:
        return (diag_embed if n == 1 else diagonal_copy)(input, diagonal, out=out)
    return diag_embed(input, diagonal) if n == 1 else diagonal_copy(input, diagonal)


diag.op = diagonal_copy.op


def diagflat(input: Any, offset: int = 0) -> Any:
    """The matrix with all elements on a diagonal."""
    return diag_embed(reshape(input, (-1,)), offset)


def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write a value on the diagonal of a matrix, or of a cube of any rank.

    **Arguments** wrap: begin anew below, after a row between, where the matrix is taller than wide.
    """
    shape, strides = tuple(self.shape), self.stride()
    if len(shape) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    step, length = sum(strides), min(shape)
    as_strided(self, (length,), (step,)).fill_(fill_value)
    height, width = shape[:2]
    if wrap and len(shape) == 2 and height > width + 1:
        rest = -(-height * width // (width + 1)) - length
        start = self.storage_offset() + strides[0] * (width + 1)
        as_strided(self, (rest,), (step,), start).fill_(fill_value)
    return self


for _method in (method_repeat, method_tile, method_flip):
    _method.__name__ = _method.__qualname__ = _method.__name__.removeprefix("method_")
diagonal_copy.__doc__ = "`diagonal`, as a copy. Source: torch.diagonal_copy."

ndarray = np.ndarray


def joined(gs: Sequence[Any], dim: int) -> Any:
    return np.concatenate(gs, dim) if gs[0].__class__ is ndarray else cat(gs, dim)


def stacked(gs: Sequence[Any], dim: int) -> Any:
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
    if hasattr(split_size, "__index__") and not isinstance(split_size, (tuple, list)) and not np.ndim(split_size):
        return _split_op(self, split_size.__index__(), dim)
    if not isinstance(split_size, (tuple, list)):
        what = "numpy." * isinstance(split_size, np.generic | np.ndarray) + type(split_size).__name__
        raise TypeError(f"split_with_sizes(): argument 'split_sizes' (position 2) must be tuple of ints, not {what}")
    return split_with_sizes(self, tuple(split_size), dim)


def unsafe_split(tensor: Any, split_size: int, dim: int = 0) -> Any:
    """`split`, whose outputs autograd takes for tensors of their own."""
    return _unsafe_split(tensor, split_size, dim)


method_split.__name__ = method_split.__qualname__ = "split"
method_split.__wrapped__.__qualname__ = "Tensor.split"  # as Python's errors name it


def _chunk_size(input: Any, chunks: int, dim: int) -> tuple[int, int]:
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
