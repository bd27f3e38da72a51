"""Negative log likelihoods: of classes, with cross entropy, and of sequences of labels over all alignments (CTC).

CTC: the labels, with a blank before, between and after them, make 2 S + 1 states. alpha[t, s] is the logarithm of the
probability of all ways to state s at time t, beta that of all ways from there to the end. All samples and states go
through a time step at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays.reduce import mean_all, sum_all
from ..core.elementwise import F32, F64
from ..core.modes import state
from ..core.node import Node, freed, modified, next_seq
from ..core.op import Op
from ..core.tensor import Tensor, live_node, new, tensor_of
from ._dtypes import refusal
from .loss import MEAN, NONE, SUM, code, div_number, legacy, mul_number, not_differentiable, reduced
from .piecewise import masked_fill
from .reduction import sum
from .selection import clamp_min, where
from .softmax import log_softmax

__all__ = [
    "ctc_loss",
]  # fmt: skip

Value = Any
Flag = bool | None
INT64 = np.dtype(np.int64)
_lowest = np.minimum.reduce


# ------------------------------------------------------------------ the op: linear in its input


def _factors(input_shape: Any, target: Any, weight: Any, ignore_index: int, dt: Any) -> tuple[Any, Any, Any]:
    """The targets with 0 for ignored ones, which those are (None: none), and the weight of each (None: all 1)."""
    classes = input_shape[1] if len(input_shape) > 1 else input_shape[0]
    keep = None
    if target.size:
        low, high = target.min(), target.max()
        if low < 0 or high >= classes or low <= ignore_index <= high:
            keep = target != ignore_index
            bad = keep & ((target < 0) | (target >= classes))
            if bad.any():
                raise IndexError(f"Target {target[bad].flat[0]} is out of bounds.")
            if keep.all():
                keep = None
            else:
                target = np.where(keep, target, 0)
    w = None if weight is None else weight[target]
    if keep is not None:
        w = keep.astype(dt) if w is None else np.where(keep, w, dt.type(0))
    return target, keep, w


def _pick(input: Any, target: Any) -> Any:
    if input.ndim == 1:
        return input[target]
    if input.ndim == 2:
        return input[np.arange(len(input)), target]
    return np.take_along_axis(input, target[:, None], 1)[:, 0]


def _nll_forward(input: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    dt = input.dtype
    target, _, w = _factors(input.shape, target, weight, ignore_index, dt)
    picked = np.negative(_pick(input, target))
    if w is not None:
        picked = picked * w
        if weight is None:
            picked = np.where(w == 0, dt.type(0), picked)  # an ignored infinity counts nothing
    if reduction == NONE:
        return np.asarray(picked)
    total = np.asarray(_wide_sum(picked))
    if reduction == MEAN:
        total = np.asarray(total / (total.dtype.type(picked.size) if w is None else _wide_sum(w)))
    return total.astype(dt, copy=False)


def _wide_sum(a: Any) -> Any:
    return np.add.reduce(a.astype(np.float32) if a.dtype.itemsize == 2 else a, None)


def _scatter(g: Any, target: Any, weight: Any, reduction: int, ignore_index: int, shape: Any) -> Any:
    """The adjoint: minus the cotangent, times the weight, in the places of the targets."""
    dt = g.dtype
    target, _, w = _factors(shape, target, weight, ignore_index, dt)
    value = np.negative(g)
    if reduction == MEAN:
        n = dt.type(target.size) if w is None else _wide_sum(w)
        value = np.asarray(value / n)
    if w is not None:
        value = value * w
        if reduction == MEAN:
            value = np.where(w == 0, dt.type(0), value)
    out = np.zeros(shape, dt)
    value = np.asarray(value).astype(dt, copy=False)
    if len(shape) == 1:
        out[target] = value
    elif len(shape) == 2:
        out[np.arange(shape[0]), target] = value
    else:
        spread = np.broadcast_to(value, target.shape)
        np.put_along_axis(out, target[:, None], spread[:, None], 1)
    return out


_scatter_op = Op(
    "nll_loss_backward",
    _scatter,
    {"g": lambda g, target, weight, reduction, ignore_index: _nll_call(g, target, weight, reduction, ignore_index)},
    {"g": lambda t, target, weight, reduction, ignore_index, shape: _scatter_op.call(
        t, target, weight, reduction, ignore_index, shape
    )},
    tensors=("g", "target", "weight"),
    register=False,
)  # fmt: skip


def _nll_rule(g: Value, target: Value, weight: Value, reduction: int, ignore_index: int, input_shape: Any) -> Value:
    return _scatter_op.call(g, target, weight, reduction, ignore_index, tuple(input_shape))


def _nll_op(name: str, node: str) -> Op:
    return Op(
        name, _nll_forward, {"input": _nll_rule},
        {"input": lambda t, target, weight, reduction, ignore_index: _nll_call(
            t, target, weight, reduction, ignore_index
        )},
        tensors=("input", "target", "weight"), node=node,
    )  # fmt: skip


_nll = _nll_op("nll_loss", "NllLossBackward0")
_nll_2d = _nll_op("nll_loss2d", "NllLoss2DBackward0")


def _nll_call(input: Value, target: Value, weight: Value, reduction: int, ignore_index: int) -> Value:
    return (_nll if input.ndim <= 2 else _nll_2d).call(input, target, weight, reduction, ignore_index)


class NllNode(Node):
    __slots__ = ("how", "index", "shape", "target", "version")
    op = _nll

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        target, shape = self.target, self.shape
        if target is None:
            raise freed(self)
        if target._v[0] != self.version:
            raise modified(self, target, target._v, self.version)
        if not raw:
            return (_scatter_op.call(g, target, None, self.how, -100, shape),)
        out = np.zeros(shape, g.dtype)
        out[self.index, target._a] = -g / shape[0] if self.how == MEAN else -g
        return (out,)

    def release(self) -> None:
        self.target = None

    def saved_arrays(self) -> Iterator[Any]:
        if self.target is not None:
            yield self.target._a


_NllNode: Any = type("NllLossBackward0", (NllNode,), {"__slots__": ()})
_aranges: dict[int, Any] = {}


def _arange(n: int) -> Any:
    got = _aranges.get(n)
    if got is None:
        if len(_aranges) > 64:
            _aranges.clear()
        got = _aranges[n] = np.arange(n)
    return got


def _hot(input: Value, target: Value, how: int, ignore_index: int) -> Value:
    """The loss where all is as it mostly is; None where it is not."""
    try:
        x, y = input._a, target._a
    except AttributeError:
        return None
    dt, record = x.dtype, state.record
    if (
        (dt is not F32 and dt is not F64) or x.ndim != 2 or y.ndim != 1 or y.dtype is not INT64 or record.__class__ is
        not bool
        or len(y) != len(x) or not y.size or ignore_index >= 0
    ):  # fmt: skip
        return None
    if _lowest(y) < 0:
        return None
    n = len(y)
    index = _arange(n)
    try:
        picked = x[index, y]
    except IndexError:
        return None
    value = picked if how == NONE else mean_all(picked) if how == MEAN else sum_all(picked)
    r = new(Tensor)
    r._a = np.negative(value, value)
    r._v = [0]
    r._node = r._view = r._grad = r._extra = None
    e = input._node if input._view is None else live_node(input)
    if e is None or not record:
        return r
    r._node = node = new(_NllNode)
    node.seq = next_seq()
    node._hooks = None
    node.edges = (input if e is True else e,)
    node.shape, node.how, node.index = x.shape, how, index
    node.target, node.version = target, target._v[0]
    return r


# ------------------------------------------------------------------ what may be asked for


def _check_target(target: Value) -> Value:
    name = target.dtype.name
    if name == "int64":
        return target
    if name != "uint8":
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {target.dtype.legacy}")
    return target.long()


def nll_loss_of(input: Value, target: Value, weight: Value, how: int, ignore_index: int) -> Value:
    if weight is None:
        got = _hot(input, target, how, ignore_index)
        if got is not None:
            return got
    n = input.ndim
    if n < 1:
        raise ValueError(f"Expected 1 or more dimensions (got {n})")
    if n != 1 and (not target.ndim or input.shape[0] != target.shape[0]):
        have = target.shape[0] if target.ndim else 0
        raise ValueError(f"Expected input batch_size ({input.shape[0]}) to match target batch_size ({have}).")
    channels = input.shape[1] if n > 1 else input.shape[0]
    if n in (1, 2):
        if target.ndim > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        target = _check_target(target)
        squeeze = n == 1 and target.ndim == 1
        if squeeze and target.shape[0] != 1:
            raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {target.shape[0]}")
        _check_weights(weight, channels)
        _same_dtype(input, weight)
        refusal("bic", "nll_loss_out_frame")("nll_loss", input.dtype)
        if squeeze:
            target = target.reshape(())
        return _nll.call(input, target, weight, how, ignore_index)
    if n == 4:
        return _spatial(input, target, weight, how, ignore_index)
    out_size = (input.shape[0], *input.shape[2:])
    if tuple(target.shape[1:]) != tuple(input.shape[2:]):
        raise RuntimeError(f"Expected target size {list(out_size)}, got {list(target.shape)}")
    columns = -1 if 0 not in input.shape else 0
    x = input.contiguous().view((input.shape[0], channels, 1, columns))
    y = target.contiguous().view((target.shape[0], 1, -1 if 0 not in target.shape else 0))
    r = _spatial(x, y, weight, how, ignore_index)
    return r.view(out_size) if how == NONE else r


def _spatial(input: Value, target: Value, weight: Value, how: int, ignore_index: int) -> Value:
    if target.ndim != 3:
        raise RuntimeError(
            f"only batches of spatial targets supported (3D tensors) but got targets of dimension: {target.ndim}"
        )
    if tuple(target.shape[1:]) != tuple(input.shape[2:]):
        raise RuntimeError(f"size mismatch (got input: {list(input.shape)} , target: {list(target.shape)}")
    if weight is not None and tuple(weight.shape) != (input.shape[1],):
        raise RuntimeError("weight tensor should be defined either for all or no classes")
    _same_dtype(input, weight)
    refusal("bic", "nll_loss2d_forward_out_frame")("nll_loss2d", input.dtype)
    return _nll_2d.call(input, _check_target(target), weight, how, ignore_index)


def _check_weights(weight: Value, classes: int, fn: str = "") -> None:
    if weight is not None and (weight.ndim != 1 or weight.shape[0] != classes):
        raise RuntimeError(
            f"{fn}weight tensor should be defined either for all {classes} classes or no classes but got weight tensor "
            f"of shape: {list(weight.shape)}"
        )


def _same_dtype(input: Value, weight: Value) -> None:
    if weight is not None:
        not_differentiable("nll_loss_forward", "weight", weight)
        if weight.dtype != input.dtype and input.dtype.category == dtypes.FLOATING:
            raise RuntimeError(f"expected scalar type {input.dtype.legacy} but found {weight.dtype.legacy}")


def nll_loss(
    input: Value, target: Value, weight: Value = None, size_average: Flag = None, ignore_index: int = -100,
    reduce: Flag = None, reduction: str = "mean",
) -> Value:  # fmt: skip
    """-weight[target] * input[target], for log-probabilities (N, C), (C) or (N, C, ...); "mean" divides by the weights.

    **Arguments** target: class indices, (N), () or (N, ...); ignore_index: a target that counts nothing.
    **Raises** IndexError for a target outside of the classes.
    """
    return nll_loss_of(input, target, weight, code(legacy(size_average, reduce, reduction)), ignore_index)


def cross_entropy(
    input: Value, target: Value, weight: Value = None, size_average: Flag = None, ignore_index: int = -100,
    reduce: Flag = None, reduction: str = "mean", label_smoothing: float = 0.0,
) -> Value:  # fmt: skip
    """-log(softmax(input)[target]) for class indices, or -sum(target * log(softmax(input))) for probabilities.

    **Arguments** input: scores (N, C), (C) or (N, C, ...); target: indices, or probabilities in the shape of `input`;
    weight: a factor a class; ignore_index: an index that counts nothing; label_smoothing: how much of the target to
    spread over all classes.

    >>> import tidu as torch
    >>> torch.nn.functional.cross_entropy(torch.zeros(2, 4), torch.tensor([1, 3]))
    tensor(1.3863)
    """
    how = code(reduction if size_average is None and reduce is None else legacy(size_average, reduce, reduction))
    n = input.ndim
    axis = 0 if n == 1 else 1
    if tuple(input.shape) == tuple(target.shape):
        return _of_probabilities(input, target, weight, how, ignore_index, label_smoothing, axis)
    if label_smoothing != 0.0:
        return _smoothed(input, target, weight, how, ignore_index, label_smoothing, axis)
    return nll_loss_of(log_softmax(input, axis), target, weight, how, ignore_index)


def _check_smoothing(label_smoothing: float) -> None:
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")


def _channel_shape(ndim: int, axis: int) -> tuple[int, ...]:
    return tuple(-1 if i == axis else 1 for i in range(ndim))


def _of_probabilities(
    input: Value, target: Value, weight: Value, how: int, ignore_index: int, smoothing: float, axis: int
) -> Value:
    if target.dtype.category != dtypes.FLOATING:
        raise RuntimeError(
            f"Expected floating point type for target with class probabilities, got {target.dtype.legacy}"
        )
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    _check_smoothing(smoothing)
    classes = input.shape[axis]
    _check_weights(weight, classes, "cross_entropy: ")
    log_p = log_softmax(input, axis)
    if smoothing > 0:
        target = target * (1 - smoothing) + smoothing / classes
    r = log_p * target
    if weight is not None:
        r = r * weight.reshape(_channel_shape(input.ndim, axis))
    if how == NONE:
        return -sum(r, axis)
    if how == SUM:
        return -sum(r)
    n = input.numel() // classes if classes else 0
    return div_number(-sum(r), n)


def _smoothed(
    input: Value, target: Value, weight: Value, how: int, ignore_index: int, smoothing: float, axis: int
) -> Value:
    _check_smoothing(smoothing)
    classes = input.shape[axis]
    log_p = log_softmax(input, axis)
    main = nll_loss_of(log_p, target, weight, how, ignore_index)
    if weight is None:
        smooth = -sum(log_p, axis)
    else:
        smooth = -sum(log_p * weight.reshape(_channel_shape(input.ndim, axis)), axis)
    ignored = target == ignore_index
    smooth = masked_fill(smooth, ignored, 0.0)
    if how == MEAN:
        if weight is None:
            kept = target.numel() - int(sum(ignored).item())
            total = sum(smooth)
            smooth = total / input.new_tensor(float(kept))
        else:
            picked = masked_fill(weight[masked_fill(target, ignored, 0)], ignored, 0.0)
            smooth = sum(smooth) / sum(picked)
    else:
        smooth = reduced(smooth, how)
    return mul_number(main, 1 - smoothing) + mul_number(smooth, smoothing / classes)


def linear_cross_entropy(
    input: Value, linear_weight: Value, target: Value, *, linear_bias: Value = None, weight: Value = None,
    reduction: str = "mean", ignore_index: int | None = None, label_smoothing: float = 0.0, options: Any = None,
) -> Value:  # fmt: skip
    """`cross_entropy` of a linear map's result: input (N, in), linear_weight (C, ..., in)."""
    from .contraction import linear

    if input.ndim not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if linear_weight.ndim < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {linear_weight.dim()}")
    width = linear_weight.shape[-1]
    if input.shape[-1] != width:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.shape[-1]} and {width}, respectively"
        )
    outs = tuple(linear_weight.shape[:-1])
    if linear_bias is not None and tuple(linear_bias.shape) != outs:
        raise RuntimeError(f"expected linear_bias shape {outs}, got {tuple(linear_bias.shape)}")
    if input.ndim == 1 and len(outs) > 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} requires batched input, "
            f"(N, {width}), got unbatched input with shape {tuple(input.shape)}"
        )
    if target.dtype.category == dtypes.FLOATING:
        if ignore_index is not None:
            raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    flat = linear_weight if len(outs) == 1 else linear_weight.reshape((-1, width))
    bias = linear_bias if linear_bias is None or len(outs) == 1 else linear_bias.reshape((-1,))
    scores = linear(input, flat, bias).view((*input.shape[:-1], *outs))
    return cross_entropy(
        scores, target, weight, None, -100 if ignore_index is None else ignore_index, None, reduction, label_smoothing
    )


Ints = tuple[int, ...]
INF = np.inf


def _states(targets: Any, lengths: Ints, blank: int) -> tuple[Any, Any]:
    """The labels of the states (n, 2 S + 1), and whether a state may be entered from two before it."""
    n, most = len(lengths), max(lengths, default=0)
    labels = np.full((n, 2 * most + 1), blank, np.int64)
    if targets.ndim == 1:
        starts = np.cumsum((0, *lengths))
        for i, length in enumerate(lengths):
            labels[i, 1 : 2 * length : 2] = targets[starts[i] : starts[i] + length]
    else:
        keep = np.arange(most) < np.asarray(lengths)[:, None]
        labels[:, 1::2] = np.where(keep, targets[:, :most], blank)
    skip = np.zeros(labels.shape, bool)
    skip[:, 3::2] = labels[:, 3::2] != labels[:, 1:-2:2]
    return labels, skip


def _shifted(a: Any, k: int) -> Any:
    """The states k places on, minus infinity where there are none; negative k the other way."""
    out = np.full_like(a, -INF)
    if k > 0:
        out[:, k:] = a[:, :-k]
    else:
        out[:, :k] = a[:, -k:]
    return out


def _add_up(*logs: Any) -> Any:
    """The logarithm of the sum of exponentials of a few arrays."""
    m = logs[0]
    for x in logs[1:]:
        m = np.maximum(m, x)
    safe = np.where(np.isneginf(m), 0, m)
    total: Any = 0
    for x in logs:
        total = total + np.exp(x - safe)
    return np.log(total) + safe


def _forward(
    log_probs: Any, targets: Any, input_lengths: Ints, target_lengths: Ints, blank: int, zero_infinity: bool
) -> Any:
    """The negative log likelihoods (n), and alpha (n, time, states)."""
    d = tensor_of(log_probs).dtype
    if d.name not in ("float32", "float64"):
        raise NotImplementedError(f"\"ctc_loss_cpu\" not implemented for '{d.legacy}'")
    dt = log_probs.dtype
    labels, skip = _states(targets, target_lengths, blank)
    time, n = log_probs.shape[:2]
    rows = np.arange(n)
    alpha = np.full((time, *labels.shape), -INF, dt)
    if time:
        alpha[0, :, 0] = log_probs[0, :, blank]
        if labels.shape[1] > 1:
            first = log_probs[0, rows, labels[:, 1]]
            alpha[0, :, 1] = np.where(np.asarray(target_lengths) > 0, first, -INF)
    for t in range(1, time):
        a = alpha[t - 1]
        far = np.where(skip, _shifted(a, 2), -INF) if labels.shape[1] > 2 else np.full_like(a, -INF)
        alpha[t] = _add_up(a, _shifted(a, 1), far) + np.take_along_axis(log_probs[t], labels, 1)
    last = 2 * np.asarray(target_lengths, np.int64)
    end = np.asarray(input_lengths, np.int64) - 1
    a = alpha[np.maximum(end, 0), rows] if time else np.zeros((n, labels.shape[1]), dt)
    final = np.take_along_axis(a, last[:, None], 1)[:, 0]
    before = np.where(last > 0, np.take_along_axis(a, np.maximum(last - 1, 0)[:, None], 1)[:, 0], -INF)
    nll = -_add_up(final, before)
    nothing = np.where(last == 0, 0.0, INF)  # of no time at all
    nll = np.where(end < 0, np.where(last == 0, -nothing, nothing), nll)
    return nll.astype(dt, copy=False), np.ascontiguousarray(alpha.transpose(1, 0, 2))


def _gradient(
    g: Any, log_probs: Any, targets: Any, nll: Any, alpha: Any, input_lengths: Ints, target_lengths: Ints, blank: int,
    zero_infinity: bool,
) -> Any:  # fmt: skip
    labels, skip = _states(targets, target_lengths, blank)
    time, n, classes = log_probs.shape
    dt = log_probs.dtype
    last = 2 * np.asarray(target_lengths, np.int64)[:, None]
    end = np.asarray(input_lengths)[:, None] - 1
    states = np.arange(labels.shape[1])
    exits = (states == last) | ((states == last - 1) & (last > 0))
    beta = np.full((n, labels.shape[1]), -INF, dt)
    alpha = alpha.transpose(1, 0, 2)
    skip_on = np.zeros_like(skip)
    skip_on[:, :-2] = skip[:, 2:]
    one_hot = (labels[:, :, None] == np.arange(classes)).astype(dt)
    out = np.zeros(log_probs.shape, dt)
    loss = np.where(np.isinf(nll), 0, nll)[:, None]
    for t in range(time - 1, -1, -1):
        p = np.take_along_axis(log_probs[t], labels, 1)
        far = np.where(skip_on, _shifted(beta, -2), -INF) if labels.shape[1] > 2 else np.full_like(beta, -INF)
        beta = _add_up(beta, _shifted(beta, -1), far)
        beta = np.where(t == end, np.where(exits, 0, -INF), np.where(t < end, beta, -INF)) + p
        share = np.exp(alpha[t] + beta - p + loss)  # the probability of being in each state
        out[t] = np.exp(log_probs[t]) - np.matmul(share[:, None, :], one_hot)[:, 0]
    lost = np.isinf(nll)
    if lost.any():
        out[:, lost] = 0 if zero_infinity else np.nan
    out *= g[None, :, None]
    if zero_infinity and lost.any():
        out[:, lost] = 0
    out[np.arange(time)[:, None] > end[:, 0][None, :]] = 0
    return out


def _not_again(g: Value) -> Value:
    raise RuntimeError("derivative for aten::_ctc_loss_backward is not implemented")


_back = Op(
    "_ctc_loss_backward", _gradient, {"g": lambda g: _not_again(g), "log_probs": lambda g: _not_again(g)},
    tensors=("g", "log_probs", "targets", "nll", "alpha"), register=False,
)  # fmt: skip
_op = Op(
    "_ctc_loss",
    _forward,
    {
        "log_probs": lambda g0, log_probs, targets, out0, out1, input_lengths, target_lengths, blank, zero_infinity: (
            _back.call(g0, log_probs, targets, out0, out1, input_lengths, target_lengths, blank, zero_infinity)
        )
    },
    {
        "log_probs": lambda t, log_probs, targets, out0, out1, input_lengths, target_lengths, blank, zero_infinity: (
            sum(
                t
                * _back.call(
                    out0 * 0 + 1, log_probs, targets, out0, out1, input_lengths, target_lengths, blank, zero_infinity
                ),
                (0, 2),
            ),
            None,
        )
    },
    tensors=("log_probs", "targets"),
    outputs=2,
    nondiff=(1,),
    node="CtcLossBackward0",
    out_arg=False,
)


def _lengths(value: Any, name: str, batch: int) -> Ints:
    if isinstance(value, Tensor):
        if value.dtype.category != 1:
            raise RuntimeError(f"{name} must be integral")
        value = value.tolist()
    got = tuple(int(v) for v in (value if isinstance(value, (list, tuple)) else [value]))
    if len(got) != batch:
        raise RuntimeError(f"{name} must be of size batch_size")
    return got


_WHERE = "(while checking arguments for ctc_loss_allocate_outputs)"


def _check(log_probs: Value, targets: Value, inputs: Ints, labels: Ints, blank: int) -> None:
    time, _, classes = log_probs.shape
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    for length in labels:
        if length < 0:
            raise RuntimeError(f"Expected target_lengths to have value at least 0, but got value {length} {_WHERE}")
    if targets.ndim == 1:
        if targets.shape[0] != np.sum(labels):
            raise RuntimeError(
                f"Expected tensor to have size {int(np.sum(labels))} at dimension 0, but got size {targets.shape[0]} "
                f"for argument #2 'targets' {_WHERE}"
            )
    elif targets.shape[1] < max(labels, default=0):
        raise RuntimeError(
            f"Expected tensor to have size at least {max(labels)} at dimension 1, but got size {targets.shape[1]} for "
            f"argument #2 'targets' {_WHERE}"
        )
    for length in inputs:
        if length < 0:
            raise RuntimeError(f"Expected input_lengths to have value at least 0, but got value {length} {_WHERE}")
        if length > time:
            raise RuntimeError(f"Expected input_lengths to have value at most {time}, but got value {length} {_WHERE}")


def ctc_loss(
    log_probs: Value, targets: Value, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: int = NONE,
    zero_infinity: bool = False,
) -> Value:  # fmt: skip
    """`nn.functional.ctc_loss` with a number for the reduction."""
    batched = log_probs.ndim == 3
    x = log_probs if batched else log_probs.unsqueeze(1)
    n = x.shape[1]
    inputs, labels = (_lengths(input_lengths, "input_lengths", n), _lengths(target_lengths, "target_lengths", n))
    _check(x, targets, inputs, labels, blank)
    if targets.dtype.category != 1:
        targets = targets.long()
    loss = _op.call(x, targets, inputs, labels, blank, zero_infinity)[0]
    if zero_infinity:
        loss = where(loss == float("inf"), 0.0, loss)
    if reduction == MEAN:
        per = clamp_min(tensor_of(np.asarray(labels, np.int64)), 1).to(x.dtype)
        return (loss / per).mean()
    loss = reduced(loss, reduction)
    return loss if batched or reduction != NONE else loss.squeeze(0)


def f_ctc_loss(
    log_probs: Value, targets: Value, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: str = "mean",
    zero_infinity: bool = False,
) -> Value:  # fmt: skip
    """The negative log likelihood of label sequences of which only the order is known, not the times.

    **Arguments** log_probs: (T, N, C) or (T, C); targets: (N, S) labels, or all of them end to end; input_lengths,
    target_lengths: of each sample; blank: the label for nothing; reduction: "mean" divides by the target lengths first;
    zero_infinity: let impossible targets count 0. Source: torch.nn.functional.ctc_loss.
    """
    return ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, code(reduction), zero_infinity)
