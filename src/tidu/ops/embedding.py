"""Tables of vectors looked up by index, classes as unit vectors, and bags: the sums, means or maxima of some rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays import select as rows_by_index
from ..core.broadcast import cast
from ..core.elementwise import F32, F64
from ..core.modes import no_grad, state
from ..core.node import Node, freed, modified, next_seq
from ..core.op import Op
from ..core.tensor import Tensor, live_node, new, tensor_of
from ..naming import warn
from .gather import gather, gather_adjoint
from .reduction import sum
from .selection import where

__all__ = [
    "embedding", "embedding_bag", "embedding_renorm_",
]  # fmt: skip

Value = Any


def _checked(weight: Any, indices: Any) -> None:
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    if indices.dtype.name not in ("int64", "int32"):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"torch.{_legacy(indices)} instead (while checking arguments for embedding)"
        )
    if indices.size and (indices.min() < 0 or indices.max() >= len(weight)):
        raise IndexError("index out of range in self")


def _legacy(a: Any) -> str:
    return f"{dtypes.from_numpy(a.dtype).legacy}Tensor"


def _embedding_forward(weight: Any, indices: Any, padding_idx: int, scale_grad_by_freq: bool, sparse: bool) -> Any:
    _checked(weight, indices)
    return rows_by_index.take_rows(weight, indices)


def _dense_forward(g: Any, indices: Any, num_weights: int, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    """The adjoint: the rows of the cotangent added up by index, nothing for `padding_idx`."""
    width = g.shape[-1]
    rows, index = g.reshape(-1, width), indices.reshape(-1)
    if scale_grad_by_freq:
        counts = np.bincount(index, minlength=num_weights)[index]
        rows = rows / counts[:, None].astype(rows.dtype)
    out = rows_by_index.add_rows(num_weights, index, rows)
    if padding_idx >= 0:
        out[padding_idx] = 0
    return out


def _dense_rule(g: Value, indices: Value, padding_idx: int, scale_grad_by_freq: bool) -> Value:
    """The adjoint of the adjoint: the lookup, with zeros for `padding_idx` and over the counts."""
    return _back.call(g, indices, padding_idx, scale_grad_by_freq)


def _back_forward(g: Any, indices: Any, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    out = rows_by_index.take_rows(np.ascontiguousarray(g), indices)
    if scale_grad_by_freq:
        counts = np.bincount(indices.reshape(-1), minlength=len(g))[indices]
        out = out / counts[..., None].astype(out.dtype)
    if padding_idx >= 0:
        out[indices == padding_idx] = 0
    return out


_dense = Op(
    "embedding_dense_backward",
    _dense_forward,
    {"g": _dense_rule},
    {"g": lambda t, indices, num_weights, padding_idx, scale_grad_by_freq: _dense.call(
        t, indices, num_weights, padding_idx, scale_grad_by_freq
    )},
    tensors=("g", "indices"),
    register=False,
)  # fmt: skip
_back = Op(
    "embedding_with_padding",
    _back_forward,
    {"g": lambda g, indices, padding_idx, scale_grad_by_freq, g_shape: _dense.call(
        g, indices, g_shape[0], padding_idx, scale_grad_by_freq
    )},
    {"g": lambda t, indices, padding_idx, scale_grad_by_freq: _back.call(t, indices, padding_idx, scale_grad_by_freq)},
    tensors=("g", "indices"),
    register=False,
)  # fmt: skip
_embedding = Op(
    "embedding",
    _embedding_forward,
    {"weight": lambda g, indices, padding_idx, scale_grad_by_freq, weight_shape, sparse: dense(
        g, indices, weight_shape[0], padding_idx, scale_grad_by_freq, sparse
    )},
    {"weight": lambda t, indices, padding_idx, scale_grad_by_freq, sparse: embedding(
        t, indices, padding_idx, scale_grad_by_freq, sparse
    )},
    tensors=("weight", "indices"),
    out_arg=False,
)  # fmt: skip


class EmbeddingNode(Node):
    __slots__ = ("args", "indices", "version")
    op = _embedding

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        indices = self.indices
        if indices is None:
            raise freed(self)
        if indices._v[0] != self.version:
            raise modified(self, indices, indices._v, self.version)
        if raw:
            return (_dense_forward(g, indices._a, *self.args),)
        return (_dense.call(g, indices, *self.args),)

    def release(self) -> None:
        self.indices = None

    def saved_arrays(self) -> Iterator[Any]:
        if self.indices is not None:
            yield self.indices._a


_EmbeddingNode: Any = type("EmbeddingBackward0", (EmbeddingNode,), {"__slots__": ()})


def embedding(
    weight: Value, indices: Value, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Value:
    """The rows of `weight` that `indices` name; `padding_idx` gets no gradient."""
    try:
        w, i = weight._a, indices._a
    except AttributeError:
        return _embedding.call(weight, indices, padding_idx, scale_grad_by_freq, False)
    dt, record = w.dtype, state.record
    if (dt is not F32 and dt is not F64) or record.__class__ is not bool or sparse:
        return _embedding.call(weight, indices, padding_idx, scale_grad_by_freq, sparse and weight.is_leaf)
    _checked(w, i)
    t = new(Tensor)
    t._a = rows_by_index.take_rows(w, i)
    t._v = [0]
    t._node = t._view = t._grad = t._extra = None
    e = weight._node if weight._view is None else live_node(weight)
    if e is None or not record:
        return t
    t._node = n = new(_EmbeddingNode)
    n.seq = next_seq()
    n._hooks = None
    n.edges = (weight if e is True else e,)
    n.args = (len(w), padding_idx, scale_grad_by_freq)
    n.indices, n.version = indices, indices._v[0]
    return t


embedding.op = _embedding


def dense(
    g: Value, indices: Value, num_weights: int, padding_idx: int, scale_grad_by_freq: bool, sparse: bool = False
) -> Value:
    """Rows added up by index, as a value: the adjoint of looking them up. A sparse one keeps them apart."""
    if sparse:
        if scale_grad_by_freq:
            raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
        from .coo import rows_gradient

        return rows_gradient(g, indices, num_weights, padding_idx)
    return _dense.call(g, indices, num_weights, padding_idx, scale_grad_by_freq)


def look_up(x: Value, indices: Value) -> Value:
    return _back.call(x, indices, -1, False)


def embedding_renorm_(weight: Value, indices: Value, max_norm: float, norm_type: float) -> Value:
    """Scale the rows that are looked up down to a norm of at most `max_norm`, in place, unrecorded."""
    rows = np.unique(indices._a)
    with no_grad():
        a = weight._a
        size = np.linalg.norm(a[rows], norm_type, 1)
        long = size > max_norm
        if long.any():
            scale = (max_norm / (size[long] + 1e-7)).astype(a.dtype)
            a[rows[long]] *= scale[:, None]
        weight._v[0] += 1
    return weight


def f_embedding(
    input: Value, weight: Value, padding_idx: int | None = None, max_norm: float | None = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Value:  # fmt: skip
    """The rows of `weight` (n, d) that the integers `input` name, (...) to (..., d).

    **Arguments** padding_idx: a row without gradient; max_norm: rows of a larger norm are scaled down in place first;
    scale_grad_by_freq: divide gradients by how often the row is used; sparse: the gradient is a sparse
    tensor.
    Source: torch.nn.functional.embedding.
    """
    if padding_idx is None:
        padding_idx = -1
    else:
        n = weight.size(0)
        if not -n <= padding_idx < n:
            raise AssertionError("Padding_idx must be within num_embeddings")
        if padding_idx < 0:
            padding_idx += n
    if max_norm is not None:
        input = input.contiguous()
        embedding_renorm_(weight, input, max_norm, norm_type)
    return embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def one_hot(tensor: Value, num_classes: int = -1) -> Value:
    """Integers as unit vectors: (...) to (..., num_classes), 1 at the index, else 0.

    **Arguments** num_classes: -1 for one more than the largest.

    >>> import tidu as torch
    >>> torch.nn.functional.one_hot(torch.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    if tensor.dtype.name != "int64":
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if not isinstance(tensor, Tensor) or not hasattr(tensor, "_a"):
        return _one_hot.call(tensor, num_classes)
    a = tensor._a
    if not a.size:
        if num_classes <= 0:
            raise RuntimeError(
                "Can not infer total number of classes from empty tensor."
                if num_classes == -1
                else f"one_hot: num_classes must be positive, got {num_classes}"
            )
        return tensor_of(np.zeros((*a.shape, num_classes), np.int64))
    if a.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    largest = int(a.max())
    if num_classes == -1:
        num_classes = largest + 1
    elif num_classes <= largest:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return _one_hot.call(tensor, num_classes)


_one_hot = Op(
    "one_hot",
    lambda tensor, num_classes: (tensor[..., None] == np.arange(num_classes)).astype(np.int64, "C"),
    out_arg=False,
)

SUM, MEAN, MAX = range(3)


def _check(weight: Any, indices: Any, offsets: Any, padding_idx: int) -> int:
    """The padding index, counted from the start; -1 for none."""
    for name, v in (("indices", indices), ("offsets", offsets)):
        if v.dtype.name not in ("int64", "int32"):
            raise RuntimeError(
                f"Expected tensor for argument #1 '{name}' to have one of the following scalar types: Long, "
                "Int; but got "
                f"torch.{dtypes.from_numpy(v.dtype).legacy}Tensor instead (while checking arguments for embedding_bag)"
            )
    if weight.dtype.kind not in "fV":
        what = dtypes.from_numpy(weight.dtype).legacy
        shown = f"CPU{what}Type" if what in ("Bool", "ComplexFloat", "ComplexDouble") else f"torch.{what}Tensor"
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, BFloat16, "
            f"Float, Double; but got {shown} instead (while checking arguments for embedding_bag)"
        )
    n = len(weight)
    if offsets.size:
        if offsets[0] != 0:
            raise RuntimeError(
                "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. "
                f"However, got {offsets[0]}\n[ torch.{'Long' if offsets.dtype.itemsize == 8 else 'Int'}Tensor{{}} ]"
            )
        if offsets[-1] > len(indices):
            raise RuntimeError(
                f"offsets[-1] can not be greater than input's length {len(indices)} but got offsets[-1] of "
                f"{offsets[-1]}"
            )
    if indices.size and (indices.min() < 0 or indices.max() >= n):
        raise RuntimeError(
            "Expected i < index_size to be true, but got false.  (Could this error message be improved?  If so, please "
            "report an enhancement request to PyTorch.)"
        )
    return padding_idx


def _forward(
    weight: Any, indices: Any, offsets: Any, per_sample_weights: Any, scale_grad_by_freq: bool, mode: int,
    include_last_offset: bool, padding_idx: int, sparse: bool = False,
) -> Any:  # fmt: skip
    """The bags; which bag each index is in; how many count in each; and for maxima, whence they come."""
    _check(weight, indices, offsets, padding_idx)
    count = len(offsets) - (1 if include_last_offset else 0)
    starts = offsets[:count].astype(np.int64)
    bag = np.repeat(np.arange(count), np.diff(np.append(starts, len(indices)))) if count else np.zeros(0, np.int64)
    kept, inside = indices, bag
    weights = per_sample_weights
    if padding_idx >= 0:
        keep = indices != padding_idx
        kept, inside = indices[keep], bag[keep]
        weights = None if weights is None else weights[keep]
    sizes = np.bincount(inside, minlength=count).astype(np.int64)
    low = weight.dtype.itemsize == 2
    seen = rows_by_index.take_rows(weight, kept)
    seen = seen.astype(np.float32) if low else seen
    width = weight.shape[1]
    where_from = np.zeros(0, np.int64)
    if mode == MAX:
        where_from = np.zeros((count, width), np.int64)
        out = np.zeros((count, width), seen.dtype)
        full = np.flatnonzero(sizes)
        if len(full):
            first = np.concatenate([[0], np.cumsum(sizes[full])[:-1]])
            out[full] = np.maximum.reduceat(seen, first, 0)
            hit = (seen == out[inside]) | (seen != seen)
            place = np.where(hit, np.arange(len(kept))[:, None], len(kept))
            where_from[full] = kept[np.minimum(np.minimum.reduceat(place, first, 0), len(kept) - 1)]
    else:
        if weights is not None:
            seen = seen * weights[:, None].astype(seen.dtype)
        out = rows_by_index.add_rows(count, inside, seen)
        if mode == MEAN:
            out = out / np.maximum(sizes, 1)[:, None].astype(out.dtype)
    return out.astype(weight.dtype, copy=False), bag, sizes, where_from


def _shares(g: Value, out2: Value, mode: int) -> Value:
    """The cotangent of each bag's every element."""
    if mode != MEAN:
        return g
    size = out2.clip(1) if isinstance(out2, np.ndarray) else out2.clamp_min(1)
    return g / cast(size, np.dtype(g.dtype) if isinstance(g, np.ndarray) else g.dtype.np).reshape((-1, 1))


def _weight_rule(
    g0: Value, indices: Value, per_sample_weights: Value, out1: Value, out2: Value, out3: Value, weight_shape: Any,
    scale_grad_by_freq: bool, mode: int, padding_idx: int, sparse: bool,
) -> Value:  # fmt: skip
    if mode == MAX:
        g = where((out2 > 0).reshape((-1, 1)), g0, 0)
        return gather_adjoint(g, tuple(weight_shape), 0, out3)
    seen = look_up(_shares(g0, out2, mode), out1)
    if per_sample_weights is not None:
        seen = seen * per_sample_weights.reshape((-1, 1))
    return dense(seen, indices, weight_shape[0], padding_idx, scale_grad_by_freq, sparse)


def _factors_rule(g0: Value, weight: Value, indices: Value, out1: Value, padding_idx: int) -> Value:
    gp = sum(look_up(g0, out1) * look_up(weight, indices), 1)
    return gp if padding_idx < 0 else where(indices == padding_idx, 0, gp)


def _push(
    t_weight: Value, t_per_sample_weights: Value, weight: Value, indices: Value, offsets: Value,
    per_sample_weights: Value,
    out2: Value, out3: Value, scale_grad_by_freq: bool, mode: int, include_last_offset: bool, padding_idx: int,
) -> Any:  # fmt: skip
    rest = scale_grad_by_freq, mode, include_last_offset, padding_idx
    if mode == MAX:
        return where((out2 > 0).reshape((-1, 1)), gather(t_weight, 0, out3), 0), None, None, None
    total = None
    if t_weight is not None:
        total = _op.call(t_weight, indices, offsets, per_sample_weights, *rest)[0]
    if t_per_sample_weights is not None:
        part = _op.call(weight, indices, offsets, t_per_sample_weights, *rest)[0]
        total = part if total is None else total + part
    return total, None, None, None


_op = Op(
    "_embedding_bag", _forward, {"weight": _weight_rule, "per_sample_weights": _factors_rule}, _push,
    tensors=("weight", "per_sample_weights", "indices", "offsets"), outputs=4, nondiff=(1, 2, 3),
    node="EmbeddingBagBackward0", out_arg=False,
)  # fmt: skip


def embedding_bag(
    weight: Value, indices: Value, offsets: Value, scale_grad_by_freq: bool = False, mode: int = 0, sparse: bool =
    False,
    per_sample_weights: Value = None, include_last_offset: bool = False, padding_idx: int | None = None,
) -> Any:  # fmt: skip
    """The bags of embeddings, mode 0 sums, 1 means, 2 maxima; and which bag each index is in, the bags' sizes,
    and whence
    the maxima come.
    """
    n = weight.shape[0]
    if padding_idx is None:
        padding_idx = -1
    else:
        if not -n <= padding_idx < n:
            raise RuntimeError(
                f"padding_idx must be within the number of embeddings, {-n} through {n - 1}, but got {padding_idx}"
            )
        padding_idx %= n
    out, bag, sizes, whence = _op.call(
        weight,
        indices,
        offsets,
        per_sample_weights,
        scale_grad_by_freq,
        mode,
        include_last_offset,
        padding_idx,
        sparse and weight.is_leaf,
    )
    if mode == SUM:
        return (
            out,
            bag if padding_idx >= 0 else bag[:0],
            offsets.new_zeros(offsets.shape[0]),
            offsets.new_zeros(offsets.shape[0]),
        )
    return out, bag, sizes, sizes if mode == MEAN else whence


def f_embedding_bag(
    input: Value, weight: Value, offsets: Value = None, max_norm: float | None = None, norm_type: float = 2,
    scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, per_sample_weights: Value = None,
    include_last_offset: bool = False, padding_idx: int | None = None,
) -> Value:  # fmt: skip
    """The sum, mean or maximum ("max") of the rows of `weight` that each bag names.

    **Arguments** input: (B, n), a bag a row, or (N) with `offsets` (B), where each bag begins; per_sample_weights: a
    factor for each index, with mode "sum"; include_last_offset: `offsets` ends with N; padding_idx: an index that does
    not count. Source: torch.nn.functional.embedding_bag.
    """
    if weight.dtype.name == "int64" and input.dtype.category == 2:
        warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is "
            "deprecated, and should now be `embedding_bag(input, weight, ...)`."
        )
        weight, input = input, weight
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the "
            f"same shape as the input ({input.shape})"
        )
    if weight.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    if input.ndim == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                f"sequences. However, found offsets of type {_type(offsets)}"
            )
        step = input.size(1)
        offsets = input.new_tensor(list(range(0, input.numel(), step)) if step else [0] * input.size(0))
        input = input.reshape((-1,))
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape((-1,))
    elif input.ndim == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.ndim != 1:
            raise ValueError("offsets has to be a 1D Tensor")
    else:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    number = {"sum": SUM, "mean": MEAN, "max": MAX}.get(mode)
    if number is None:
        raise ValueError("mode has to be one of sum, mean or max")
    if number == MAX and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if number == MAX and sparse:
        raise ValueError("max mode does not support sparse weights")
    if max_norm is not None:
        embedding_renorm_(weight, input, max_norm, norm_type)
    if per_sample_weights is not None and number != SUM:
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
            f"mode='{mode}'). Please open a feature request on GitHub."
        )
    return embedding_bag(
        weight, input, offsets, scale_grad_by_freq, number, sparse, per_sample_weights, include_last_offset, padding_idx
    )[0]


def _type(x: Any) -> str:
    return "<class 'torch.Tensor'>" if type(x) is Tensor else str(type(x))
