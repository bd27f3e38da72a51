"""Losses between values: squared and absolute errors, cross entropies of probabilities, divergences."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ..core.broadcast import sum_to
from ..core.modes import no_grad
from ..core.op import Op
from ..core.tensor import Tensor
from ..dtypes import can_cast, dtype, from_numpy, promote_types
from ..shapes import broadcast_shapes
from ._dtypes import refusal
from ._loss import NONE, SUM, add_number, code, legacy, not_differentiable, pair_loss, reduce_array, reduced, spread
from .activation import logsigmoid
from .piecewise import masked_fill, xlogy
from .pointwise import abs, exp, log, sigmoid
from .reduction import sum
from .selection import clamp, clamp_min
from .windows import broadcast_tensors

__all__ = ["binary_cross_entropy_with_logits", "kl_div", "poisson_nll_loss"]

Value = Any
Flag = bool | None


def _pair(fn: str, input: Value, target: Value) -> tuple[Value, Value]:
    """The two in one shape, with a warning where they had to be broadcast."""
    if input.shape == target.shape:
        return input, target
    warnings.warn(
        f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). This will likely "
        "lead to incorrect results due to broadcasting. Please ensure they have the same size.",
        stacklevel=3,
    )
    a, b = broadcast_tensors(input, target)
    return a if a.shape != input.shape else input, b if b.shape != target.shape else target


def _check_kept(found: dtype, kept: dtype) -> None:
    if not can_cast(found, kept):
        raise RuntimeError(f"result type {found.legacy} can't be cast to the desired output type {kept.legacy}")


def _check_weight(input: Value, weight: Value, reduction: str) -> None:
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")


def _weighted(elements: Value, weight: Value, reduction: str) -> Value:
    x = elements * weight
    return x if reduction == "none" else sum(x) if reduction == "sum" else sum(x) / sum(weight)


# ------------------------------------------------------------------ errors

_mse = pair_loss(
    "mse_loss", lambda x, y: np.square(x - y), lambda x, y: (x - y) * 2, None, "mse_cpu",
    recorded="MseLossBackwardBackward0",
)  # fmt: skip
_smooth_l1 = pair_loss(
    "smooth_l1_loss",
    lambda x, y, beta: _smooth(np.abs(x - y), beta, 1 / beta if beta else 0.0),
    lambda x, y, beta: clamp((x - y) * (1 / beta), -1, 1),
    None,
    "smooth_l1_cpu",
    "beta",
    recorded="SmoothL1LossBackwardBackward0",
)
_huber = pair_loss(
    "huber_loss",
    lambda x, y, delta: _smooth(np.abs(x - y), delta, 1.0),
    lambda x, y, delta: clamp(x - y, -delta, delta),
    None,
    "huber_cpu",
    "delta",
    recorded="HuberLossBackwardBackward0",
)


def _smooth(z: Any, beta: float, scale: float) -> Any:
    """scale * z**2 / 2 up to beta, scale * beta * (z - beta / 2) from there on: with m = min(z, beta) one formula."""
    number = z.dtype.type
    m = np.minimum(z, number(beta))
    return (z - m * number(0.5)) * (m * number(scale))


def mse_loss(
    input: Value, target: Value, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean",
    weight: Value = None,
) -> Value:  # fmt: skip
    """(input - target)**2, averaged, summed, or as it is.

    **Arguments** reduction: "mean", "sum" or "none"; weight: a factor for each element, by whose sum "mean" divides.

    >>> import tidu as torch
    >>> torch.nn.functional.mse_loss(torch.tensor([1., 2.]), torch.tensor([1., 4.]))
    tensor(2.)
    """
    if input.__class__ is Tensor and target.__class__ is Tensor and input.shape == target.shape:
        pass
    else:
        input, target = _pair("mse_loss", input, target)
    reduction = legacy(size_average, reduce, reduction)
    if weight is None:
        return _mse(input, target, code(reduction))
    _check_weight(input, weight, reduction)
    return _weighted((input - target) ** 2, weight, reduction)


def l1_loss(
    input: Value, target: Value, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean",
    weight: Value = None,
) -> Value:  # fmt: skip
    """|input - target|, reduced."""
    input, target = _pair("l1_loss", input, target)
    reduction = legacy(size_average, reduce, reduction)
    if weight is None:
        return reduced(abs(input - target), code(reduction))
    _check_weight(input, weight, reduction)
    return _weighted(abs(input - target), weight, reduction)


def smooth_l1_loss(
    input: Value, target: Value, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean",
    beta: float = 1.0,
) -> Value:  # fmt: skip
    """z**2 / (2 beta) for z = |input - target| < beta, else z - beta / 2."""
    input, target = _pair("smooth_l1_loss", input, target)
    how = code(legacy(size_average, reduce, reduction))
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return reduced(abs(input - target), how) if beta == 0 else _smooth_l1(input, target, how, beta)


def huber_loss(input: Value, target: Value, reduction: str = "mean", delta: float = 1.0, weight: Value = None) -> Value:
    """z**2 / 2 for z = |input - target| < delta, else delta * (z - delta / 2)."""
    input, target = _pair("huber_loss", input, target)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if input.dtype is not target.dtype:  # computed in one, kept in the input's
        _check_kept(promote_types(input.dtype, target.dtype), input.dtype)
        target = target.to(input.dtype)
    if weight is None:
        return _huber(input, target, code(reduction), delta)
    _check_weight(input, weight, reduction)
    r = _huber(input, target, NONE, delta) * weight
    return reduced(r, code(reduction))


# ------------------------------------------------------------------ probabilities


def _bce_forward(input: Any, target: Any, weight: Any, reduction: int) -> Any:
    if input.dtype.kind not in "fV":
        refusal("bic", "binary_cross_entropy")("", from_numpy(input.dtype))
    if input.size and not ((input >= 0) & (input <= 1)).all():
        raise RuntimeError("all elements of input should be between 0 and 1")
    if target.size and not ((target >= 0) & (target <= 1)).all():
        raise RuntimeError("all elements of target should be between 0 and 1")
    wide = input.astype(np.float32) if input.dtype.itemsize == 2 else input
    y = target.astype(wide.dtype, copy=False)
    r = (y - 1) * np.maximum(np.log1p(-wide), -100) - y * np.maximum(np.log(wide), -100)
    if weight is not None:
        r = r * weight
    return reduce_array(np.asarray(r).astype(input.dtype, copy=False), reduction)


def _times_weight(g: Value, weight: Value) -> Value:
    return g if weight is None else g * weight


def _bce_count(shape: Any, g: Value, how: int) -> Value:
    return spread(g, how, math.prod(shape))


_bce = Op(
    "binary_cross_entropy",
    _bce_forward,
    {
        "input": lambda g, input, target, weight, reduction, input_shape: _times_weight(
            _bce_count(input_shape, g, reduction) * (input - target) / clamp_min((1 - input) * input, 1e-12), weight
        ),
        "target": lambda g, input, weight, reduction, input_shape: _times_weight(
            _bce_count(input_shape, g, reduction) * (log(1 - input) - log(input)), weight
        ),
    },
    {
        "input": lambda t, input, target, weight, reduction: reduced(
            _times_weight(t * (input - target) / clamp_min((1 - input) * input, 1e-12), weight), reduction
        ),
        "target": lambda t, input, weight, reduction: reduced(
            _times_weight(t * (log(1 - input) - log(input)), weight), reduction
        ),
    },
    tensors=("input", "target", "weight"),
)


def binary_cross_entropy(
    input: Value, target: Value, weight: Value = None, size_average: Flag = None, reduce: Flag = None,
    reduction: str = "mean",
) -> Value:  # fmt: skip
    """-target * log(input) - (1 - target) * log(1 - input), logarithms at least -100, reduced.

    **Raises** ValueError for sizes that differ, RuntimeError for inputs outside of [0, 1].
    """
    how = code(legacy(size_average, reduce, reduction))
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
            "deprecated. Please ensure they have the same size."
        )
    if input.dtype != target.dtype:
        raise RuntimeError(f"Found dtype {target.dtype.legacy} but expected {input.dtype.legacy}")
    if weight is not None:
        not_differentiable("binary_cross_entropy", "weight", weight)
        size = broadcast_shapes(tuple(target.shape), tuple(weight.shape))
        weight = weight.expand(size)
        if size != tuple(input.shape):
            raise RuntimeError(f"output with shape {list(input.shape)} doesn't match the broadcast shape {list(size)}")
    return _bce.call(input, target, weight, how)


def _softplus_neg(x: Any) -> Any:
    """-log(sigmoid(x))."""
    return np.log1p(np.exp(-np.abs(x))) - np.minimum(x, 0)


def _logits_forward(input: Any, target: Any, weight: Any, pos_weight: Any, reduction: int) -> Any:
    dt = input.dtype
    if dt.kind not in "fV":
        refusal("bic", "log_sigmoid_cpu")("", from_numpy(dt))
    if target.dtype != dt:  # the loss is kept in the target's
        _check_kept(promote_types(from_numpy(dt), from_numpy(target.dtype)), from_numpy(target.dtype))
        dt = target.dtype
    x = input.astype(np.float32) if dt.itemsize == 2 else input
    y = target.astype(x.dtype, copy=False)
    if pos_weight is None:
        r = (1 - y) * x + _softplus_neg(x)
    else:
        r = (1 - y) * x + ((pos_weight - 1) * y + 1) * _softplus_neg(x)
    if weight is not None:
        r = r * weight
    return reduce_array(np.asarray(r).astype(dt, copy=False), reduction)


def _logits_count(g: Value, input_shape: Any, weight: Value, pos_weight: Value, how: int) -> Value:
    shapes = [input_shape, *(tuple(w.shape) for w in (weight, pos_weight) if w is not None)]
    return spread(g, how, math.prod(broadcast_shapes(*shapes)))


def _logits_partial(input: Value, target: Value, weight: Value, pos_weight: Value) -> Value:
    if pos_weight is None:
        p = sigmoid(input) - target
    else:
        w = pos_weight * target
        p = (w + 1 - target) * sigmoid(input) - w
    return _times_weight(p, weight)


def _logits_target_partial(input: Value, weight: Value, pos_weight: Value) -> Value:
    p = -input if pos_weight is None else logsigmoid(-input) - pos_weight * logsigmoid(input)
    return _times_weight(p, weight)


_logits = Op(
    "binary_cross_entropy_with_logits",
    _logits_forward,
    {
        "input": lambda g, input, target, weight, pos_weight, reduction, input_shape: sum_to(
            _logits_count(g, input_shape, weight, pos_weight, reduction)
            * _logits_partial(input, target, weight, pos_weight),
            input_shape,
        ),
        "target": lambda g, input, weight, pos_weight, reduction, input_shape: sum_to(
            _logits_count(g, input_shape, weight, pos_weight, reduction)
            * _logits_target_partial(input, weight, pos_weight),
            input_shape,
        ),
    },
    {
        "input": lambda t, input, target, weight, pos_weight, reduction: reduced(
            t * _logits_partial(input, target, weight, pos_weight), reduction
        ),
        "target": lambda t, input, weight, pos_weight, reduction: reduced(
            t * _logits_target_partial(input, weight, pos_weight), reduction
        ),
    },
    tensors=("input", "target", "weight", "pos_weight"),
)


def f_binary_cross_entropy_with_logits(
    input: Value, target: Value, weight: Value = None, size_average: Flag = None, reduce: Flag = None,
    reduction: str = "mean", pos_weight: Value = None,
) -> Value:  # fmt: skip
    """The binary cross entropy of sigmoid(input), without overflow, reduced.

    **Arguments** weight: a factor for each element; pos_weight: a factor for the targets' part, one a class. Source:
    torch.nn.functional.binary_cross_entropy_with_logits.
    """
    how = code(legacy(size_average, reduce, reduction))
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    return binary_cross_entropy_with_logits(input, target, weight, pos_weight, how)


def binary_cross_entropy_with_logits(
    input: Value, target: Value, weight: Value = None, pos_weight: Value = None, reduction: int = NONE
) -> Value:
    """`nn.functional.binary_cross_entropy_with_logits` with a number for the reduction."""
    for name, w in (("weight", weight), ("pos_weight", pos_weight)):
        if w is not None:
            not_differentiable("binary_cross_entropy_with_logits", name, w)
            broadcast_shapes(*[tuple(v.shape) for v in ((input, w) if name == "weight" else (w, input))])
    return _logits.call(input, target, weight, pos_weight, reduction)


# ------------------------------------------------------------------ divergences


def kl_div(input: Value, target: Value, reduction: int = NONE, *, log_target: bool = False) -> Value:
    """target * (log(target) - input), reduced; with `log_target` both are logarithms."""
    if not (input.dtype.category >= 2 and target.dtype.category >= 2):
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if input.dtype.is_complex or target.dtype.is_complex:
        raise RuntimeError("kl_div: Complex inputs not supported.")
    if log_target:
        r = exp(target) * (target - input)
    else:
        r = xlogy(target, target) - target * input
    return reduced(r, reduction)


def f_kl_div(
    input: Value, target: Value, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean",
    log_target: bool = False,
) -> Value:  # fmt: skip
    """The Kullback-Leibler divergence target * (log(target) - input) of log-probabilities `input`.

    **Arguments** reduction: also "batchmean", the sum divided by the batch size; log_target: `target` are logarithms
    too. Source: torch.nn.functional.kl_div.
    """
    if size_average is not None or reduce is not None:
        reduction = legacy(size_average, reduce, reduction)
    elif reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides "
            "only by the batch size, and aligns with the KL div math definition.'mean' will be changed to behave the "
            "same as 'batchmean' in the next major release.",
            stacklevel=2,
        )
    if reduction == "batchmean":
        return kl_div(input, target, SUM, log_target=log_target) / input.size()[0]
    return kl_div(input, target, code(reduction), log_target=log_target)


def poisson_nll_loss(input: Value, target: Value, log_input: bool, full: bool, eps: float, reduction: int) -> Value:
    """exp(input) - target * input, or input - target * log(input + eps)."""
    loss = exp(input) - target * input if log_input else input - target * log(add_number(input, eps))
    if full:
        stirling = target * log(target) - target + 0.5 * log(2 * math.pi * target)
        loss = loss + masked_fill(stirling, target <= 1, 0)
    return reduced(loss, reduction)


def f_poisson_nll_loss(
    input: Value, target: Value, log_input: bool = True, full: bool = False, size_average: Flag = None,
    eps: float = 1e-8, reduce: Flag = None, reduction: str = "mean",
) -> Value:  # fmt: skip
    """The negative log likelihood of Poisson counts `target`, whose rate or its logarithm is `input`.

    **Arguments** full: add Stirling's approximation of log(target!). Source: torch.nn.functional.poisson_nll_loss.
    """
    reduction = legacy(size_average, reduce, reduction)
    return poisson_nll_loss(input, target, log_input, full, eps, code(reduction))


def gaussian_nll_loss(
    input: Value, target: Value, var: Value, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Value:
    """(log(var) + (input - target)**2 / var) / 2, with a variance of at least `eps` that carries no gradient there.

    **Arguments** var: a number or a tensor like `input`, or one without its last dimension; full: add log(2 pi) / 2.
    """
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * input.new_ones(input.size())
    elif bool((var < 0).any()):
        raise ValueError("var has negative entry/entries")
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = var.unsqueeze(-1)
        elif not (input.size()[:-1] == var.size()[:-1] and var.size(-1) == 1):
            differ = [b for a, b in zip(input.shape, var.shape, strict=False) if a != b]
            if var.ndim != input.ndim or differ != [1]:
                raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    var = var.clone()
    _raise_to(var, eps)
    loss = 0.5 * (log(var) + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, code(reduction))


def _raise_to(var: Value, eps: float) -> None:
    """Raise a variance to `eps` in place, unrecorded: the gradient passes as if it had not been."""
    with no_grad():
        var.clamp_(min=eps)
