"""Connectionist temporal classification: the likelihood of a sequence of labels, over all alignments.

The labels, with a blank before, between and after them, make 2 S + 1 states. alpha[t, s] is the logarithm of the
probability of all ways to state s at time t, beta that of all ways from there to the end. All samples and states go
through a time step at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.op import Op
from ..core.tensor import Tensor, tensor_of
from ._loss import MEAN, NONE, code, reduced
from .reduction import sum
from .selection import clamp_min, where

__all__ = ["ctc_loss"]

Value = Any
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
