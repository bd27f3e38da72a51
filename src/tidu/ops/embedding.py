"""Tables of vectors looked up by index, and classes as unit vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays import gather
from ..core.elementwise import F32, F64
from ..core.modes import no_grad, state
from ..core.node import Node, freed, modified, next_seq
from ..core.op import Op
from ..core.tensor import Tensor, live_node, new, tensor_of

__all__ = ["embedding", "embedding_renorm_"]
METHODS = ""

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
    return gather.take_rows(weight, indices)


def _dense_forward(g: Any, indices: Any, num_weights: int, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    """The adjoint: the rows of the cotangent added up by index, nothing for `padding_idx`."""
    width = g.shape[-1]
    rows, index = g.reshape(-1, width), indices.reshape(-1)
    if scale_grad_by_freq:
        counts = np.bincount(index, minlength=num_weights)[index]
        rows = rows / counts[:, None].astype(rows.dtype)
    out = gather.add_rows(num_weights, index, rows)
    if padding_idx >= 0:
        out[padding_idx] = 0
    return out


def _dense_rule(g: Value, indices: Value, padding_idx: int, scale_grad_by_freq: bool) -> Value:
    """The adjoint of the adjoint: the lookup, with zeros for `padding_idx` and over the counts."""
    return _back.call(g, indices, padding_idx, scale_grad_by_freq)


def _back_forward(g: Any, indices: Any, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    out = gather.take_rows(np.ascontiguousarray(g), indices)
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
    """The node of the hot path: the indices, and the rest of the adjoint's arguments."""

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
    """The rows of `weight` that `indices` name; `padding_idx` gets no gradient. Source: torch.embedding."""
    try:
        w, i = weight._a, indices._a
    except AttributeError:
        return _embedding.call(weight, indices, padding_idx, scale_grad_by_freq, False)
    dt = w.dtype
    if (dt is not F32 and dt is not F64) or state.record is not True or sparse:
        return _embedding.call(weight, indices, padding_idx, scale_grad_by_freq, sparse and weight.is_leaf)
    _checked(w, i)
    t = new(Tensor)
    t._a = gather.take_rows(w, i)
    t._v = [0]
    t._node = t._view = t._grad = t._extra = None
    e = weight._node if weight._view is None else live_node(weight)
    if e is None:
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
    """Rows by index, as a value."""
    return _back.call(x, indices, -1, False)


def embedding_renorm_(weight: Value, indices: Value, max_norm: float, norm_type: float) -> Value:
    """Scale the rows that are looked up down to a norm of at most `max_norm`, in place, unrecorded.

    Source: torch.embedding_renorm_.
    """
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
    """Integers as unit vectors: (...) to (..., num_classes), 1 at the index, else 0. Source:
    torch.nn.functional.one_hot.

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
