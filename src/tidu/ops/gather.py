"""Elements by an index along one dimension: gather reads them, scatter and its kin write.

gather:   out[i][j][k] = input[index[i][j][k]][j][k]     for dim = 0
scatter:  out[index[i][j][k]][j][k] = src[i][j][k]
"""

from __future__ import annotations

import functools
import inspect
import math
from typing import Any

import numpy as np

from ..arrays.select import add_along, put_along, take_along
from ..core.errors import explain
from ..core.op import Op
from ..core.promote import Number
from ..core.tensor import Tensor, tensor_of
from ..dtypes import from_numpy
from ..shapes import broadcast_shapes, normalize_dim
from ._arguments import numpy_names
from ._dtypes import apart_out, exact_out, refuse_overlap
from ._hot import indexed, write_part
from ._make import warn_once
from .arithmetic import not_implemented
from .piecewise import checked_number
from .shape import reshape
from .windows import expand

__all__ = ["gather", "scatter", "scatter_add", "take_along_dim"]
METHODS = "* scatter_ scatter_add_"

Ints = tuple[int, ...]
ndarray = np.ndarray
_UNSIGNED = {4: np.dtype(np.uint32), 8: np.dtype(np.uint64)}
_greatest = np.maximum.reduce
INT64 = np.dtype(np.int64)

# ------------------------------------------------------------------ places


def check_index(index: Any, n: int, dim: int = 0) -> None:
    """Raise unless all entries are in [0, n). As unsigned numbers negative ones are too large, too."""
    if index.size and _greatest(index.view(_UNSIGNED[index.itemsize]), None) >= n:
        bad = int(index[(index < 0) | (index >= n)].flat[0])
        raise RuntimeError(f"index {bad} is out of bounds for dimension {dim} with size {n}")


def key_along(index: Any, dim: int) -> tuple[Any, ...]:
    """The key by which NumPy takes the elements that `index` names along a dimension."""
    n = index.ndim
    if n == 1:
        return (index,)
    grids = []
    for d, length in enumerate(index.shape):
        grids.append(index if d == dim else np.arange(length).reshape((-1,) + (1,) * (n - 1 - d)))
    return tuple(grids)


def places(index: Any, dim: int, shape: Ints) -> Any:
    """The numbers of those elements in the flattened tensor, in int64."""
    if index.itemsize == 4:
        index = index.astype(np.int64)
    if index.ndim == 2 and dim == 1:
        return index + np.arange(0, index.shape[0] * shape[1], shape[1])[:, None]
    number, step = None, 1
    for d in range(index.ndim - 1, -1, -1):
        part = None
        if d == dim:
            part = index if step == 1 else index * step
        elif index.shape[d] > 1:
            part = np.arange(0, index.shape[d] * step, step).reshape((-1,) + (1,) * (index.ndim - 1 - d))
        if part is not None:
            number = part if number is None else number + part
        step *= shape[d]
    return number


def _along(input: Any, dim: int, index: Any, name: str) -> tuple[Any, int, Any]:
    n = input.ndim
    if n == index.ndim and index.dtype is INT64 and 0 <= dim < n:
        return input, dim, index
    d = normalize_dim(dim, n)
    if index.dtype.kind != "i" or index.dtype.itemsize < 4:
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    if max(input.ndim, 1) != max(index.ndim, 1):
        whose = "input" if name == "gather" else "self"
        raise RuntimeError(f"Index tensor must have the same number of dimensions as {whose} tensor")
    return (input if input.ndim else input.reshape(1)), d, (index if index.ndim else index.reshape(1))


# ------------------------------------------------------------------ gather


def _gather(input: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    shape = index.shape
    if not index.size:
        normalize_dim(dim, input.ndim)
        return np.empty(shape, input.dtype)
    a, d, k = _along(input, dim, index, "gather")
    for i, n in enumerate(k.shape):
        if n > a.shape[i] and i != d:
            raise RuntimeError(
                f"Size does not match at dimension {i} expected index {list(shape)} to be no larger than self "
                f"{list(input.shape)} apart from dimension {d}"
            )
    check_index(k, a.shape[d], d)
    if a.flags.c_contiguous or a.size < k.size:
        out = take_along(a, d, k)
        return out if out.shape == shape else out.reshape(shape)
    return np.ascontiguousarray(a[key_along(k, d)]).reshape(shape)


def _gather_adjoint(input: Any, shape: Ints, dim: int, index: Any) -> Any:
    out = np.zeros(shape or (1,), input.dtype)
    if index.size:
        k = index if index.ndim else index.reshape(1)
        add_along(out, dim % max(len(shape), 1), k, input.reshape(k.shape))
    return out.reshape(shape)


_gather_op = apart_out(
    exact_out(
        Op(
            "gather",
            _gather,
            vjp={"input": lambda g, input_shape, dim, index: gather_adjoint(g, input_shape, dim, index)},
            jvp={"input": lambda t, dim, index: gather(t, dim, index)},
            tensors=("input", "index"),
        ).call
    )
)


def _by_index(input: Any, index: Any, dim: int) -> Any:
    return _gather_op(input, dim, index)


_by_index.op = _gather_op.op
_gather_now = indexed(
    _by_index,
    lambda a, k, dim: _gather(a, dim, k),
    lambda g, shape, k, dim: (_gather_adjoint if g.__class__ is ndarray else gather_adjoint)(g, shape, dim, k),
)


def gather(input: Any = None, dim: Any = None, index: Any = None, *, out: Any = None, **kw: Any) -> Any:
    """The elements that `index` names along a dimension, in its shape.

    **Arguments** index: int64 or int32, no larger than `input` in the other dimensions.

    >>> import tidu as torch
    >>> torch.tensor([[1, 2], [3, 4]]).gather(1, torch.tensor([[0, 0], [1, 0]]))
    tensor([[1, 1],
            [4, 3]])
    """
    if out is None and not kw and index is not None:
        return _gather_now(input, index, dim)
    given = {k: v for k, v in (("input", input), ("dim", dim), ("index", index)) if v is not None}
    return _gather_op(out=out, **given, **kw)


gather.op = _gather_op.op
gather_adjoint = Op(
    "gather_backward",
    _gather_adjoint,
    vjp={"input": lambda g, dim, index: gather(g, dim, index)},
    jvp={"input": lambda t, shape, dim, index: gather_adjoint(t, shape, dim, index)},
    tensors=("input", "index"),
    node="ScatterAddBackward0",
    out_arg=False,
).call


def scatter_values(values: Any, shape: Ints, dim: int, index: Any) -> Any:
    """Values put into zeros at the places an index names, each once."""
    if values.__class__ is ndarray and index.__class__ is ndarray and shape and 0 < index.size <= 4096:
        return put_along(shape, dim % len(shape), index, values)
    return gather_adjoint(values, shape, dim, index)


@numpy_names
def take_along_dim(input: Any, indices: Any, dim: int | None = None, *, out: Any = None) -> Any:
    """`gather`, with the dimensions broadcast; of the flattened tensor without `dim`."""
    if indices.dtype.name not in ("int64", "int32"):
        raise RuntimeError(f"torch.take_along_dim(): dtype of indices should be Long but got {indices.dtype.legacy}")
    if dim is None:
        input, indices = reshape(input, (-1,)), reshape(indices, (-1,))
        return gather(input, 0, indices, out=out)
    if input.ndim != indices.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{input.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    d = normalize_dim(dim, input.ndim)
    mine, theirs = list(input.shape), list(indices.shape)
    if mine:
        mine[d] = theirs[d] = 1
    common = list(broadcast_shapes(mine, theirs))
    if common:
        input = expand(input, (*common[:d], input.shape[d], *common[d + 1 :]))
        indices = expand(indices, (*common[:d], indices.shape[d], *common[d + 1 :]))
    return gather(input, d, _wrapped(indices, input.shape[d] if input.ndim else 1), out=out)


def _wrapped(indices: Any, n: int) -> Any:
    a = getattr(indices, "_a", None)
    if not n and a is not None and a.size:
        raise RuntimeError("ZeroDivisionError")  # PyTorch's words for the remainder of a division by the size
    if a is None or not ((a < 0) | (a >= n)).any():
        return indices
    return tensor_of(a % n)


# ------------------------------------------------------------------ scatter


def _ready(a: Any, dim: int, index: Any, src: Any, name: str) -> tuple[Any, int, Any, Any] | None:
    """What a scatter into `a` works with, all checked, and the part of `src` that goes there; None: nothing."""
    normalize_dim(dim, a.ndim)
    if src is not None and src.dtype != a.dtype and index.dtype.kind == "i":
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if not index.size:
        return None
    shape = a.shape
    a, d, k = _along(a, dim, index, name)
    s = src if src is None or src.ndim else src.reshape(1)
    if shape and index.shape:
        _check_scatter(a.shape, d, k.shape, None if s is None else s.shape)
    else:
        _check_scatter_0d(shape, d, index.shape, None if src is None else src.shape)
    check_index(k, a.shape[d], d)
    if s is not None and s.shape != k.shape:
        s = s[tuple([slice(0, n) for n in k.shape])]
    return a, d, k, s


def ready(a: Any, dim: int, index: Any, src: Any, name: str = "scatter") -> tuple[Any, Any]:
    """The places in the flattened array that a scatter writes to (None: nowhere), and what goes there."""
    found = _ready(a, dim, index, src, name)
    if found is None:
        return None, src
    a, d, k, s = found
    return places(k, d, a.shape), s


def _check_scatter_0d(shape: Ints, dim: int, index: Ints, src: Ints | None) -> None:
    """The check where the tensor or the index has no dimension: it counts as one of size one, and is shown as it is."""
    try:
        _check_scatter(shape or (1,), dim, index or (1,), None if src is None else src or (1,))
    except RuntimeError as e:
        shown = f"Expected index {list(index)} to be no larger than self {list(shape)} apart from dimension {dim}"
        if src is None or "apart from" not in str(e):
            raise
        raise RuntimeError(f"{shown} and to be no larger size than src {list(src)}") from None


def _check_scatter(shape: Ints, dim: int, index: Ints, src: Ints | None) -> None:
    if src is not None and len(src) != len(index):
        normalize_dim(len(index) - 1, len(src))
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    too_large = any(i != dim and n > shape[i] for i, n in enumerate(index))
    if src is None:
        if too_large:
            raise RuntimeError(
                f"Expected index {list(index)} to be no larger than self {list(shape)} apart from dimension {dim}"
            )
    elif too_large or any(n > m for n, m in zip(index, src, strict=True)):
        raise RuntimeError(
            f"Expected index {list(index)} to be no larger than self {list(shape)} apart from dimension {dim} and to "
            f"be no larger size than src {list(src)}"
        )


def scatter_into(a: Any, dim: int, index: Any, src: Any) -> None:
    where, s = ready(a, dim, index, src if isinstance(src, ndarray) else None)
    if where is not None:
        a.reshape(-1)[where] = src if s is None else s


def add_into(a: Any, dim: int, index: Any, src: Any) -> None:
    found = _ready(a, dim, index, src, "scatter")
    if found is not None:
        add_along(*found)


def copied(into: Any) -> Any:
    """The forward of an op that writes into a copy of its input by `into(array, ...)`."""

    @functools.wraps(into)
    def forward(input: Any, *args: Any, **kw: Any) -> Any:
        out = input.copy("C")
        into(out, *args, **kw)
        return out

    first, *rest = inspect.signature(into).parameters.values()
    forward.__signature__ = inspect.Signature([first.replace(name="input"), *rest])
    return forward


def taken(g: Any, dim: int, index: Any, shape: Ints, name: str) -> Any:
    """The cotangent of a scatter's `src`, gathered: it must be as large as the index."""
    return fitting(gather(g, dim, index), shape, name)


def fitting(c: Any, shape: Ints, name: str) -> Any:
    """A cotangent of `src`, or the error where it has another shape than that."""
    if tuple(c.shape) == shape:
        return c
    if math.prod(c.shape) == math.prod(shape) == 1:
        return c.reshape(shape)
    raise explain(
        RuntimeError(
            f"Function {name}Backward0 returned an invalid gradient at index 1 - got {list(c.shape)} but expected shape "
            f"compatible with {list(shape)}"
        ),
        "the index is smaller than src: give src[...] of the index's shape.",
    )


_scatter = copied(scatter_into)
_scatter_src_op = Op(
    "scatter",
    _scatter,
    vjp={
        "input": lambda g, dim, index: _scatter_number(g, dim, index, 0),
        "src": lambda g, dim, index, src_shape: taken(g, dim, index, src_shape, "Scatter"),
    },
    jvp={
        "input": lambda t, dim, index: _scatter_number(t, dim, index, 0),
        "src": lambda t, input, dim, index: _scatter_src(input.new_zeros(tuple(input.shape)), dim, index, t),
    },
    tensors=("input", "index", "src"),
)
_scatter_number_op = Op(
    "scatter.value",
    lambda input, dim, index, value: _scatter(input, dim, index, value),
    vjp={"input": lambda g, dim, index: _scatter_number(g, dim, index, 0)},
    jvp={"input": lambda t, dim, index: _scatter_number(t, dim, index, 0)},
    tensors=("input", "index"),
    node="ScatterBackward1",
)
_scatter_src, _scatter_number = (
    apart_out(exact_out(_scatter_src_op.call)),
    apart_out(exact_out(_scatter_number_op.call)),
)
_scatter_add_op = Op(
    "scatter_add",
    copied(add_into),
    vjp={"input": lambda g: g, "src": lambda g, dim, index, src_shape: taken(g, dim, index, src_shape, "ScatterAdd")},
    jvp={
        "input": lambda t: t,
        "src": lambda t, input, dim, index: scatter_add(input.new_zeros(tuple(input.shape)), dim, index, t),
    },
    tensors=("input", "index", "src"),
)
scatter_add = apart_out(exact_out(_scatter_add_op.call))
scatter_add.__doc__ = """A copy of `input` to which `src` is added at the places that `index` names along a dimension.

**Arguments** index: int64 or int32, no larger than `src`, nor, in the other dimensions, than `input`; a place named
several times gets the sum. Source: torch.scatter_add.
"""


# ------------------------------------------------------------------ scatter(reduce=...), which has no gradient


def _combine_into(a: Any, dim: int, index: Any, src: Any, reduce: str) -> None:
    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    where, s = ready(a, dim, index, src if isinstance(src, ndarray) else np.full(index.shape, src, a.dtype))
    if where is not None:
        (np.add if reduce == "add" else np.multiply).at(a.reshape(-1), where, s)


def _combining(tensors: tuple[str, ...], name: str) -> Op:
    def refuse(needs: Any) -> Any:
        return not_implemented("scatter")(None)

    return Op(name, copied(_combine_into), vjp=refuse, tensors=tensors, node="NotImplemented")


_combine_src = _combining(("input", "index", "src"), "scatter.reduce")
_combine_number = _combining(("input", "index"), "scatter.value_reduce")


def _choose(input: Any, dim: Any, index: Any, src: Any, value: Any, reduce: Any) -> tuple[Op, tuple[Any, ...]]:
    """The op behind a call of scatter, and its arguments."""
    given = src if value is None else value
    if isinstance(given, Number) or isinstance(given, np.generic):
        _check_number(given, input.dtype)
        if reduce is None:
            return _scatter_number_op, (input, dim, index, given)
        return _combine_number, (input, dim, index, given, reduce)
    if not isinstance(given, (Tensor, ndarray)):
        names = ", ".join(type(v).__name__ for v in (dim, index, given))
        raise TypeError(
            f"scatter() received an invalid combination of arguments - got ({names}), but expected one of:\n"
            " * (int dim, Tensor index, Tensor src)\n * (int dim, Tensor index, Tensor src, *, str reduce)\n"
            " * (int dim, Tensor index, Number value)\n * (int dim, Tensor index, Number value, *, str reduce)\n"
        )
    if reduce is None:
        return _scatter_src_op, (input, dim, index, given)
    warn_once(
        "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future PyTorch "
        "release. Use torch.scatter_reduce instead for more reduction options."
    )
    return _combine_src, (input, dim, index, given, reduce)


def _check_number(value: Any, d: Any) -> None:
    checked_number(value, d if hasattr(d, "category") else from_numpy(d))


@numpy_names
def scatter(
    input: Any, dim: int, index: Any, src: Any = None, *, value: Any = None, reduce: str | None = None, out: Any = None
) -> Any:  # fmt: skip
    """A copy of `input` with `src` (a tensor or a number) at the places that `index` names along a dimension.

    **Arguments** reduce: "add" or "multiply" instead of overwriting, without a gradient.

    >>> import tidu as torch
    >>> torch.zeros(2, 3).scatter(1, torch.tensor([[2], [0]]), 1.0)
    tensor([[0., 0., 1.],
            [1., 0., 0.]])
    """
    op, args = _choose(input, dim, index, src, value, reduce)
    if out is not None:
        refuse_overlap(out, args)
    return op.call(*args, out=out)


scatter.op = _scatter_src_op


@numpy_names
def scatter_(self: Any, dim: int, index: Any, src: Any = None, *, value: Any = None, reduce: str | None = None) -> Any:
    """`scatter`, in place."""
    op, args = _choose(self, dim, index, src, value, reduce)
    return write_part(op, args, _combine_into if reduce is not None else scatter_into)


@numpy_names
def scatter_add_(self: Any, dim: int, index: Any, src: Any) -> Any:
    """`scatter_add`, in place."""
    return write_part(_scatter_add_op, (self, dim, index, src), add_into)
