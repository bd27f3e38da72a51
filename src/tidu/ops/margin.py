"""Losses that ask for a margin: hinges, rankings, triplets, one class against the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.broadcast import cast
from ..core.op import Op
from ..core.tensor import tensor_of
from ..dtypes import can_cast, float32
from ..shapes import broadcast_shapes
from .activation import logsigmoid
from .comparison import minimum
from .distance import pairwise_distance
from .loss import MEAN, NONE, add_number, code, legacy, not_differentiable, pair_loss, reduce_array, reduced, sub_number
from .pointwise import sigmoid
from .reduction import sum
from .selection import clamp_min, where

__all__ = ["cosine_embedding_loss", "hinge_embedding_loss", "margin_ranking_loss", "triplet_margin_loss"]

Value = Any
Flag = bool | None


# ------------------------------------------------------------------ made of other ops


def hinge_embedding_loss(input: Value, target: Value, margin: float = 1.0, reduction: int = NONE) -> Value:
    """input where target is 1, max(0, margin - input) where it is -1."""
    hinge = clamp_min(_number(input, margin) - input, 0)
    zero = _number(input, 0)
    return reduced(where(target != 1, hinge, zero) + where(target != -1, input, zero), reduction)


def _number(like: Value, value: float) -> Value:
    return tensor_of(np.array(value).astype(like.dtype.np))


def f_hinge_embedding_loss(
    input: Value, target: Value, margin: float = 1.0, size_average: Flag = None, reduce: Flag = None,
    reduction: str = "mean",
) -> Value:  # fmt: skip
    """input where target is 1, max(0, margin - input) where it is -1, reduced.

    Source: torch.nn.functional.hinge_embedding_loss.
    """
    return hinge_embedding_loss(input, target, margin, code(legacy(size_average, reduce, reduction)))


def margin_ranking_loss(
    input1: Value, input2: Value, target: Value, margin: float = 0.0, reduction: int = NONE
) -> Value:
    """max(0, -target * (input1 - input2) + margin)."""
    apart = input1 - input2
    return reduced(clamp_min(add_number(-target * apart, float(margin)), 0), reduction)


def f_margin_ranking_loss(
    input1: Value, input2: Value, target: Value, margin: float = 0, size_average: Flag = None, reduce: Flag = None,
    reduction: str = "mean",
) -> Value:  # fmt: skip
    """max(0, -target * (input1 - input2) + margin), reduced. Source: torch.nn.functional.margin_ranking_loss."""
    how = code(legacy(size_average, reduce, reduction))
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return margin_ranking_loss(input1, input2, target, margin, how)


def cosine_embedding_loss(
    input1: Value, input2: Value, target: Value, margin: float = 0.0, reduction: int = NONE
) -> Value:
    """1 - cos where target is 1, max(0, cos - margin) where it is -1."""
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.ndim and not (input1.ndim == input2.ndim == 2):
        raise RuntimeError(
            f"1D target tensor expects 2D input tensors, but found inputs with sizes {list(input1.shape)} and "
            f"{list(input2.shape)}."
        )
    if not target.ndim and not (input1.ndim == input2.ndim == 1):
        raise RuntimeError(
            f"0D target tensor expects 1D input tensors, but found inputs with sizes {list(input1.shape)} and "
            f"{list(input2.shape)}."
        )
    d = target.ndim
    eps = 1e-12
    dot = sum(input1 * input2, d)
    squares = add_number(sum(input1 * input1, d), eps) * add_number(sum(input2 * input2, d), eps)
    cos = dot / squares.sqrt()
    apart = clamp_min(sub_number(cos, margin), 0)
    together = _number(cos, 1.0) - cos
    return reduced(where(target == 1, together, 0.0) + where(target == -1, apart, 0.0), reduction)


def f_cosine_embedding_loss(
    input1: Value, input2: Value, target: Value, margin: float = 0, size_average: Flag = None, reduce: Flag = None,
    reduction: str = "mean",
) -> Value:  # fmt: skip
    """1 - cos(input1, input2) where target is 1, max(0, cos - margin) where it is -1, reduced.

    Source: torch.nn.functional.cosine_embedding_loss.
    """
    return cosine_embedding_loss(input1, input2, target, margin, code(legacy(size_average, reduce, reduction)))


def triplet_margin_loss(
    anchor: Value, positive: Value, negative: Value, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
    swap: bool = False, reduction: int = NONE,
) -> Value:  # fmt: skip
    """max(0, margin + d(anchor, positive) - d(anchor, negative))."""
    _same_rank(anchor, positive, negative)
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = minimum(far, pairwise_distance(positive, negative, p, eps))
    return reduced(clamp_min(add_number(near, margin) - far, 0), reduction)


def _same_rank(anchor: Value, positive: Value, negative: Value) -> None:
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        )


def f_triplet_margin_loss(
    anchor: Value, positive: Value, negative: Value, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
    swap: bool = False, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean",
) -> Value:  # fmt: skip
    """max(0, margin + d(anchor, positive) - d(anchor, negative)) with d the p-norm of the difference, reduced.

    **Arguments** swap: let the negative's distance from the positive count where it is smaller. Source:
    torch.nn.functional.triplet_margin_loss.
    """
    how = code(legacy(size_average, reduce, reduction))
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, how)


def triplet_margin_with_distance_loss(
    anchor: Value, positive: Value, negative: Value, *, distance_function: Callable[..., Any] | None = None,
    margin: float = 1.0, swap: bool = False, reduction: str = "mean",
) -> Value:  # fmt: skip
    """The triplet loss with any distance."""
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    _same_rank(anchor, positive, negative)
    d = pairwise_distance if distance_function is None else distance_function
    near, far = d(anchor, positive), d(anchor, negative)
    if swap:
        far = minimum(far, d(positive, negative))
    return reduced(clamp_min(margin + near - far, 0), code(reduction))


# ------------------------------------------------------------------ ops


_soft_margin = pair_loss(
    "soft_margin_loss",
    lambda x, y: np.log1p(np.exp(-y * x)),
    lambda x, y: -y * sigmoid(-y * x),
    False,
    "log1p_cpu",
    wide=False,
)


def soft_margin_loss(
    input: Value, target: Value, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean"
) -> Value:
    """log(1 + exp(-target * input)), reduced."""
    how = code(legacy(size_average, reduce, reduction))
    not_differentiable("soft_margin_loss", "target", target)
    size = broadcast_shapes(tuple(input.shape), tuple(target.shape))
    if size != tuple(input.shape):
        raise RuntimeError(f"output with shape {list(input.shape)} doesn't match the broadcast shape {list(size)}")
    for found in ((-target).dtype, float32):
        if not can_cast(found, input.dtype):
            raise RuntimeError(
                f"result type {found.legacy} can't be cast to the desired output type {input.dtype.legacy}"
            )
    return _soft_margin(input, cast(target, input.dtype.np), how)


def multilabel_soft_margin_loss(
    input: Value, target: Value, weight: Value = None, size_average: Flag = None, reduce: Flag = None,
    reduction: str = "mean",
) -> Value:  # fmt: skip
    """The binary cross entropy of sigmoid(input) for each class, averaged over the classes (the last dimension)."""
    how = legacy(size_average, reduce, reduction)
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    loss = sum(loss, input.ndim - 1) / input.size(input.ndim - 1)
    if how not in ("none", "mean", "sum"):
        raise ValueError(how + " is not valid")
    return reduced(loss, code(how))


def _rows(input: Any) -> Any:
    return input.reshape(1, -1) if input.ndim <= 1 else input


def _gaps(input: Any, target: Any, margin: float) -> tuple[Any, Any]:
    """margin - x[target] + x for every class, 0 for the target itself, as (N, C); and the targets as a column."""
    x = _rows(input)
    index = target.reshape(-1, 1)
    if index.size and (index.min() < 0 or index.max() >= x.shape[1]):
        raise RuntimeError("target out of range")
    z = x - np.take_along_axis(x, index, 1) + x.dtype.type(margin)
    np.put_along_axis(z, index, x.dtype.type(0), 1)
    return z, index


def _multi_margin_forward(input: Any, target: Any, weight: Any, p: int, margin: float, reduction: int) -> Any:
    z, index = _gaps(input, target, margin)
    z = np.maximum(z, 0)
    if p == 2:
        z = z * z
    if weight is not None:
        z = z * weight[index]
    r = z.sum(1) / z.dtype.type(z.shape[1])
    if reduction == NONE:
        return r.reshape(target.shape if input.ndim > 1 or target.ndim else ())
    return reduce_array(r, reduction)


def _multi_margin_rule(
    g: Value, input: Value, target: Value, weight: Value, p: int, margin: float, reduction: int
) -> Value:
    n, c = (1, input.numel() if hasattr(input, "numel") else input.size) if input.ndim <= 1 else tuple(input.shape)
    x = input.reshape((n, c))
    hot = _hot_mask.call(target, c)
    correct = sum(where(hot, x, 0), 1, True)
    z = x - correct + margin
    z = where(hot | (z <= 0), 0, z if p == 2 else z * 0 + 1)
    if p == 2:
        z = z * 2
    if weight is not None:
        z = z * _weights_of.call(weight, target)
    z = z / c
    z = where(hot, -sum(z, 1, True), z)
    g = g.reshape((-1, 1)) if reduction == NONE else g / n if reduction == MEAN else g
    return (g * z).reshape(tuple(input.shape))


_hot_mask = Op(
    "class_mask", lambda target, classes: target.reshape(-1, 1) == np.arange(classes), tensors=("target",),
    register=False,
)  # fmt: skip
_weights_of = Op(
    "class_weights", lambda weight, target: weight[target.reshape(-1, 1)], tensors=("weight", "target"), register=False
)
_multi_margin = Op(
    "multi_margin_loss", _multi_margin_forward, {"input": _multi_margin_rule}, tensors=("input", "target", "weight")
)


def multi_margin_loss(
    input: Value, target: Value, p: int = 1, margin: float = 1.0, weight: Value = None, size_average: Flag = None,
    reduce: Flag = None, reduction: str = "mean",
) -> Value:  # fmt: skip
    """sum over the other classes of max(0, margin - input[target] + input)**p / C, reduced."""
    how = code(legacy(size_average, reduce, reduction))
    not_differentiable("multi_margin_loss", "weight", weight)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    _check_rows(input)
    n = input.shape[0] if input.ndim > 1 else 1
    c = input.shape[-1] if input.ndim else 1
    if target.ndim > 1 or target.numel() != n:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch "
            f"size). Expected target size [{n}], but got {list(target.shape)}. Input has shape {list(input.shape)}."
        )
    if weight is not None and weight.numel() != c:
        raise RuntimeError(f"inconsistent weight size, expected {c} but got {list(weight.shape)}")
    _full_precision("multi_margin_loss_cpu_kernel", input)
    if target.dtype.name != "int64":
        raise RuntimeError(f"expected scalar type Long but found {target.dtype.legacy}")
    if weight is not None and weight.dtype != input.dtype:
        raise RuntimeError(f"expected scalar type {input.dtype.legacy} but found {weight.dtype.legacy}")
    return _multi_margin.call(input, target, weight, p, margin, how)


def _full_precision(word: str, x: Value) -> None:
    if x.dtype.name not in ("float32", "float64"):
        raise NotImplementedError(f"\"{word}\" not implemented for '{x.dtype.legacy}'")


def _check_rows(input: Value) -> None:
    ok = (input.ndim == 2 and input.shape[1] != 0) or (input.ndim == 1 and input.shape[0] != 0) or input.ndim == 0
    if not ok:
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(input.shape)}"
        )


def _labels(target: Any) -> tuple[Any, Any]:
    """Which entries of `target` (N, C) count, those before the first -1; and which classes they name, (N, C) bools."""
    valid = np.logical_and.accumulate(target >= 0, 1)
    named = np.zeros(target.shape, np.bool_)
    rows, columns = np.nonzero(valid)
    named[rows, target[rows, columns]] = True
    return valid, named


def _multilabel_pairs(input: Any, target: Any) -> tuple[Any, Any, Any]:
    x, t = _rows(input), _rows(target)
    if t.size and (t.min() < -1 or t.max() >= x.shape[1]):
        raise RuntimeError("argument #2 'target' is out of range")
    valid, named = _labels(t)
    return x, np.where(valid, t, 0), (valid[:, :, None] & ~named[:, None, :])


def _multilabel_forward(input: Any, target: Any, reduction: int) -> Any:
    x, t, pairs = _multilabel_pairs(input, target)
    z = 1 - np.take_along_axis(x, t, 1)[:, :, None] + x[:, None, :]
    r = np.where(pairs & (z > 0), z, x.dtype.type(0)).sum((1, 2)) / x.dtype.type(x.shape[1])
    if reduction == NONE:
        return r.reshape(input.shape[:1] if input.ndim > 1 else ())
    return reduce_array(r.astype(x.dtype, copy=False), reduction)


def _multilabel_slope_forward(input: Any, target: Any) -> Any:
    """The derivative of each row's loss: minus the count of pairs for a target, the count for another class."""
    x, t, pairs = _multilabel_pairs(input, target)
    z = 1 - np.take_along_axis(x, t, 1)[:, :, None] + x[:, None, :]
    active = pairs & (z > 0)
    out = active.sum(1).astype(x.dtype)
    lost = active.sum(2)
    rows = np.broadcast_to(np.arange(len(x))[:, None], t.shape)
    np.subtract.at(out, (rows, t), lost.astype(x.dtype))
    return (out / x.dtype.type(x.shape[1])).reshape(input.shape)


_multilabel_slope = Op("multilabel_slope", _multilabel_slope_forward, tensors=("input", "target"), register=False)


def _multilabel_rule(g: Value, input: Value, target: Value, reduction: int) -> Value:
    slope = _multilabel_slope.call(input, target)
    n = input.shape[0] if input.ndim > 1 else 1
    if reduction == NONE:
        g = g.reshape((-1, 1)) if input.ndim > 1 else g
    elif reduction == MEAN:
        g = g / n
    return g * slope


_multilabel = Op(
    "multilabel_margin_loss", _multilabel_forward, {"input": _multilabel_rule}, tensors=("input", "target")
)


def multilabel_margin_loss(
    input: Value, target: Value, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean"
) -> Value:
    """sum over targets j and other classes i of max(0, 1 - input[j] + input[i]) / C, reduced.

    **Arguments** target: class indices of each row, up to the first -1.
    """
    how = code(legacy(size_average, reduce, reduction))
    _check_rows(input)
    if tuple(target.shape) != tuple(input.shape) and not (input.ndim <= 1 and target.numel() == input.numel()):
        raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}")
    _full_precision("multilabel_margin_loss_forward_out_frame", input)
    if target.dtype.name != "int64":
        raise RuntimeError(f"expected scalar type Long but found {target.dtype.legacy}")
    return _multilabel.call(input, target, how)
