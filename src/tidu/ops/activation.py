"""Activations: elementwise functions that networks put between their layers.

Names with `inplace=` are those of nn.functional, as `f_<name>` where the top-level function of the name takes none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays import elementwise as kernels
from ..arrays import sampling, select
from ..arrays.rows import number
from ..core.broadcast import sum_to
from ..core.elementwise import elementwise, unary
from ..core.inplace import inplace
from ..core.op import Op
from ..core.promote import Policy
from ..core.tensor import Tensor
from ..shapes import normalize_dim
from ._dtypes import refusal, refuse, widened
from ._hot import as_op, fast, hot, in_blocks
from ._make import filling
from ._noded import noded
from ._sampler import sampler, stream_of
from .arithmetic import ZERO
from .pointwise import abs, exp, sigmoid, tanh
from .selection import where

__all__ = [
    "celu", "celu_", "hardshrink", "prelu", "relu", "relu_", "rrelu", "rrelu_", "selu", "selu_", "threshold",
    "threshold_",
]  # fmt: skip
METHODS = "hardshrink prelu relu relu_"

Value = Any
_SMALL = 4096  # elements, up to which NumPy's own call is the quickest


def _both(*checks: Callable[..., None]) -> Policy:
    def check(name: str, d: Any, values: Any) -> None:
        for c in checks:
            c(name, d, values)

    return Policy(check=check)


_NO_COMPLEX = refusal("c", "clamp is not supported for complex types")


# ------------------------------------------------------------------ rectifiers


def _relu(input: Any) -> Any:
    """max(input, 0); its derivative at 0 is 0.

    >>> import tidu as torch
    >>> torch.relu(torch.tensor([-1., 2.]))
    tensor([0., 2.])
    """
    return select.relu(input) if input.size > _SMALL else np.maximum(input.dtype.type(0), input)


_relu_backward = elementwise(
    "threshold_backward",
    lambda grad_output, result: select.relu_backward(grad_output, result),
    {"grad_output": lambda g, result: where(result <= 0, 0, g), "result": ZERO},
    node="ThresholdBackwardBackward0",
)
relu = unary(
    "relu", _relu, fast(select.relu_backward, as_op(_relu_backward, lambda g, out: where(out <= 0, 0, g))),
    policy=_both(refusal("b", "Boolean inputs not supported for relu", RuntimeError), _NO_COMPLEX),
)  # fmt: skip
relu.__doc__ = _relu.__doc__
relu.op.out_arg, relu.op.plainly = False, True
relu_ = inplace(relu.op)


def f_relu(input: Value, inplace: bool = False) -> Value:
    """max(input, 0). Source: torch.nn.functional.relu."""
    return relu_(input) if inplace else relu(input)


def _recorded(
    name: str, formula: Callable[..., Any], kernel: Callable[..., Any] | None = None, tensors: str = "g input"
) -> Callable[..., Any]:
    """`fast`, and one node where the backward pass is recorded."""
    return fast(kernel, noded(name + "BackwardBackward0", formula, tensors, kernel))


@widened
def _leaky_relu(input: Any, negative_slope: float = 0.01) -> Any:
    if 0 < negative_slope <= 1:
        scaled = np.multiply(input, input.dtype.type(negative_slope))
        return np.asarray(np.maximum(input, scaled))  # NaN wins
    return select.where(input > 0, input, np.asarray(input * input.dtype.type(negative_slope)))


_leaky = hot(
    elementwise(
        "leaky_relu", _leaky_relu,
        {
            "input": _recorded(
                "LeakyRelu", lambda g, input, negative_slope: where(input > 0, g, g * negative_slope)
            )
        },
        policy=refuse("bic", "leaky_relu_cpu"),
    )
)  # fmt: skip


def _leaky_written(g: Value, out: Value, negative_slope: float) -> Value:
    if negative_slope < 0:
        raise RuntimeError(
            "In-place leakyReLu backward calculation is triggered with a negative slope which is not supported. This "
            "is caused by calling in-place forward function with a negative slope, please call out-of-place version "
            "instead. File an issue at https://github.com/pytorch/pytorch if you do require supporting in-place "
            "leakRelu backward calculation with negative slope"
        )
    return where(out > 0, g, g * negative_slope)


leaky_relu_ = inplace(  # goes by the result, which has the input's sign
    elementwise(
        "leaky_relu.in_place", _leaky_relu, {"input": fast(None, _leaky_written)}, policy=_leaky.op.policy,
        node="LeakyReluBackward1",
    ).op,
    "leaky_relu_",
)  # fmt: skip


def leaky_relu(input: Value, negative_slope: float = 0.01, inplace: bool = False) -> Value:
    """input where it is positive, else input * negative_slope."""
    return leaky_relu_(input, negative_slope) if inplace else _leaky(input, negative_slope)


@widened
def _prelu(input: Any, weight: Any) -> Any:
    return select.where(input > 0, input, input * weight)


_prelu_op = Op(
    "_prelu_kernel",
    _prelu,
    {
        "input": lambda g, input, weight: where(input > 0, g, g * weight),
        "weight": lambda g, input, weight_shape: sum_to(where(input > 0, 0, g * input), weight_shape),
    },
    {
        "input": lambda t, input, weight: where(input > 0, t, t * weight),
        "weight": lambda t, input: where(input > 0, 0, t * input),
    },
    out_arg=False,
)


def prelu(input: Value, weight: Value) -> Value:
    """input where it is positive, else input * weight; one weight, or one a channel (dimension 1).

    **Raises** RuntimeError where the number of weights is neither 1 nor that of the channels.
    """
    if input.dtype != weight.dtype:
        raise RuntimeError(f"prelu: Type promoting not supported. Got {input.dtype.legacy} and {weight.dtype.legacy}")
    refusal("bic", "prelu_cpu")("prelu", input.dtype)
    if weight.ndim > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}")
    if weight.numel() != 1:
        if input.ndim == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input.shape[1] if input.ndim >= 2 else 1
        if channels != weight.numel():
            raise RuntimeError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {weight.numel()} "
                f"and channel size = {channels}."
            )
    if weight.ndim != input.ndim:
        weight = weight.reshape(tuple(weight.numel() if i == 1 else 1 for i in range(input.ndim)))
    return _prelu_op.call(input, weight)


def _threshold(input: Any, threshold: float, value: float) -> Any:
    """input where it exceeds `threshold`, else `value`."""
    return select.where(input <= _as(threshold, input.dtype), _as(value, input.dtype), input)


def _as(value: Any, dt: Any) -> Any:
    """A number in the dtype of an array; RuntimeError where it does not fit."""
    try:
        return dt.type(value)
    except (TypeError, OverflowError):
        return dt.type(filling(value, dtypes.from_numpy(dt)))


def _threshold_op(name: str, node: str) -> Callable[..., Any]:
    return elementwise(
        name, _threshold, {"input": _recorded("Threshold", lambda g, input, threshold: where(input <= threshold, 0, g))},
        policy=refuse("bc", "threshold_cpu"), node=node,
    )  # fmt: skip


threshold = hot(_threshold_op("threshold", "ThresholdBackward0"))
threshold_ = inplace(_threshold_op("threshold.in_place", "ThresholdBackward1").op, "threshold_")


def f_threshold(input: Value, threshold: float, value: float, inplace: bool = False) -> Value:
    """input where it exceeds `threshold`, else `value`. Source: torch.nn.functional.threshold."""
    return threshold_(input, threshold, value) if inplace else _threshold_call(input, threshold, value)


_threshold_call = threshold


# ------------------------------------------------------------------ exponential units


@widened
def _elu(input: Any, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Any:
    low = kernels.expm1(input if input_scale == 1 else input * input_scale)
    slope = alpha * scale
    if 0 < slope < float("inf") and input.size > _SMALL and input.dtype.char in "fd":  # the one or the other is 0
        high, low = select.extremum(np.maximum, input, 0), select.extremum(np.minimum, low, 0)
        return (high if scale == 1 else high * scale) + (low if slope == 1 else low * slope)
    return select.where(input < 0, low if slope == 1 else low * slope, input if scale == 1 else input * scale)


def _elu_rule(g: Any, input: Any, alpha: float, scale: float, input_scale: float) -> Any:
    low = g * (input_scale * alpha * scale) * exp(input if input_scale == 1 else input * input_scale)
    return where(input <= 0, low, g if scale == 1 else g * scale)


_ELU = refuse("bic", "elu_cpu")
_elu_op = hot(elementwise("elu", _elu, {"input": _recorded("Elu", _elu_rule)}, policy=_ELU))


def _elu_written(g: Value, out: Value, alpha: float, scale: float, input_scale: float) -> Value:
    if alpha < 0:
        raise RuntimeError(
            "In-place elu backward calculation is triggered with a negative slope which is not supported. "
            "This is caused by "
            "calling in-place forward function with a negative slope, please call out-of-place version instead."
        )
    return where(out <= 0, g * input_scale * (out + alpha * scale), g if scale == 1 else g * scale)


_ielu = inplace(  # goes by the result
    elementwise("elu.in_place", _elu, {"input": fast(None, _elu_written)}, policy=_ELU, node="EluBackward1").op, "elu_"
)


def elu(input: Value, alpha: float = 1.0, inplace: bool = False) -> Value:
    """input where it is positive, else alpha * (exp(input) - 1)."""
    return _ielu(input, alpha) if inplace else _elu_op(input, alpha, 1, 1)


def elu_(input: Value, alpha: float = 1.0) -> Value:
    """In-place `elu`."""
    return _ielu(input, alpha)


_SELU = 1.6732632423543772, 1.0507009873554805  # fixed point: mean 0, variance 1


def selu(input: Value) -> Value:
    """scale * elu(input, alpha) with the two constants that keep mean 0 and variance 1."""
    return _elu_op(input, *_SELU, 1)


def selu_(input: Value) -> Value:
    """In-place `selu`."""
    return _ielu(input, *_SELU)


def f_selu(input: Value, inplace: bool = False) -> Value:
    """`selu`, in place if told so. Source: torch.nn.functional.selu."""
    return selu_(input) if inplace else selu(input)


def _celu(input: Any, alpha: float = 1.0) -> Any:
    """max(0, input) + min(0, alpha * (exp(input / alpha) - 1))."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _elu(input, alpha, 1, 1 / alpha)


celu = hot(
    elementwise(
        "celu", _celu, {"input": _recorded("Elu", lambda g, input, alpha: _elu_rule(g, input, alpha, 1, 1 / alpha))},
        policy=_ELU,
    )
)  # fmt: skip
celu_ = inplace(  # goes by the result
    elementwise(
        "celu.in_place", _celu,
        {"input": fast(None, lambda g, out, alpha: _elu_written(g, out, alpha, 1, 1 / alpha))}, policy=_ELU,
        node="CeluBackward1",
    ).op,
    "celu_",
)  # fmt: skip
_celu_call = celu


def f_celu(input: Value, alpha: float = 1.0, inplace: bool = False) -> Value:
    """max(0, input) + min(0, alpha * (exp(input / alpha) - 1)). Source: torch.nn.functional.celu."""
    return celu_(input, alpha) if inplace else _celu_call(input, alpha)


# ------------------------------------------------------------------ smooth ones


def _gelu_check(approximate: str) -> None:
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")


def _gelu(input: Any, *, approximate: str = "none") -> Any:
    """input times the normal distribution function at it; with "tanh" its usual approximation."""
    _gelu_check(approximate)
    return kernels.gelu(input, approximate)


_ROOT_2_PI = float(np.sqrt(2 / np.pi))


def _gelu_rule(g: Any, input: Any, approximate: str) -> Any:
    from .special_functions import erf

    x = input
    if approximate == "tanh":
        t = tanh(_ROOT_2_PI * (x + 0.044715 * x * x * x))
        return g * 0.5 * ((1 + t) + x * (1 - t * t) * (_ROOT_2_PI * (1 + 3 * 0.044715 * x * x)))
    return g * (0.5 * (1 + erf(x * 0.5**0.5)) + x * exp(x * x * -0.5) * (0.5 * _ROOT_2_PI))


gelu = hot(
    elementwise(
        "gelu", _gelu, {"input": _recorded("Gelu", _gelu_rule, kernels.gelu_backward)}, policy=refuse("bic", "GeluKernelImpl")
    ),
    blocks=False,
)  # fmt: skip


def _silu_forward(input: Any) -> Any:
    return np.asarray(input / (1 + np.exp(-input))) if input.dtype.kind == "c" else kernels.silu(input)


def _silu_rule(g: Any, x: Any) -> Any:
    s = sigmoid(x)
    return g * (s * (1 + x * (1 - s)))


def _silu_numbers(g: Any, x: Any) -> Any:
    return _silu_rule(g, x) if x.dtype.kind == "c" else kernels.silu_backward(g, x)


_silu = unary("silu", _silu_forward, fast(_silu_numbers, _silu_rule), policy=refuse("bi", "silu_cpu"))
silu_ = inplace(_silu.op)


def silu(input: Value, inplace: bool = False) -> Value:
    """input * sigmoid(input)."""
    return silu_(input) if inplace else _silu(input)


@in_blocks
@widened
def _mish_forward(input: Any) -> Any:
    return input * np.tanh(kernels.log1p(np.exp(input)))


def _mish_rule(g: Any, x: Any) -> Any:
    t = tanh(exp(x).log1p()) if isinstance(x, Tensor) else tanh(np.log1p(np.exp(x)))
    return g * (t + x * sigmoid(x) * (1 - t * t))


_mish = unary("mish", _mish_forward, fast(None, _mish_rule), policy=refuse("bic", "mish_cpu"))
mish_ = inplace(_mish.op)


def mish(input: Value, inplace: bool = False) -> Value:
    """input * tanh(softplus(input))."""
    return mish_(input) if inplace else _mish(input)


def _softplus(input: Any, beta: float = 1, threshold: float = 20) -> Any:
    """log(1 + exp(beta * input)) / beta, input itself where beta * input > threshold."""
    return kernels.softplus(input, beta, threshold)


softplus = hot(
    elementwise(
        "softplus", _softplus,
        {
            "input": _recorded(
                "Softplus",
                lambda g, input, beta, threshold: where(input * beta > threshold, g, g * sigmoid(input * beta)),
                kernels.softplus_backward,
            )
        },
        policy=refuse("bic", "softplus_cpu"),
    ),
    blocks=False,
)  # fmt: skip


@in_blocks
@widened
def _logsigmoid(input: Any) -> Any:
    return np.minimum(input, 0) - kernels.log1p(np.exp(-np.absolute(input)))


def _logsigmoid_rule(g: Any, x: Any) -> Any:
    z = exp(-abs(x))
    z = z / (1 + z)
    return g * where(x < 0, 1 - z, z)


logsigmoid = unary(
    "log_sigmoid", _logsigmoid, _recorded("LogSigmoid", _logsigmoid_rule, tensors="g x"), policy=refuse("bic", "log_sigmoid_cpu")
)  # fmt: skip
logsigmoid.__doc__ = "log(sigmoid(input)), without overflow. Source: torch.nn.functional.logsigmoid."


def softsign(input: Value) -> Value:
    """input / (1 + |input|)."""
    return input / (abs(input) + 1)


def tanhshrink(input: Value) -> Value:
    """input - tanh(input)."""
    return input - tanh(input)


def _glu_forward(input: Any, dim: int = -1) -> Any:
    d = normalize_dim(dim, input.ndim)
    a, b = np.split(input, 2, d)
    return np.asarray(a * kernels.sigmoid(np.ascontiguousarray(b)))


def _halves(x: Any, dim: int) -> tuple[Any, Any]:
    d = dim % x.ndim
    n = x.shape[d] // 2
    lead = (slice(None),) * d
    return x[(*lead, slice(0, n))], x[(*lead, slice(n, None))]


def _glu_rule(g: Any, input: Any, dim: int) -> Any:
    from .joining import cat

    a, b = _halves(input, dim)
    s = sigmoid(b)
    parts = [g * s, g * a * (1 - s) * s]
    return (
        np.concatenate(parts, dim) if g.__class__ is np.ndarray and input.__class__ is np.ndarray else cat(parts, dim)
    )


def _glu_push(t: Any, input: Any, dim: int) -> Any:
    a, b = _halves(input, dim)
    ta, tb = _halves(t, dim)
    s = sigmoid(b)
    return ta * s + tb * a * (1 - s) * s


_glu = Op(
    "glu", _glu_forward, {"input": noded("GluBackwardBackward0", _glu_rule, "g input")}, {"input": _glu_push}
).call


def glu(input: Value, dim: int = -1) -> Value:
    """The first half along `dim` times the sigmoid of the second."""
    if not input.ndim:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    d = normalize_dim(dim, input.ndim)
    if input.shape[d] % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {d} is size {input.shape[d]}")
    refusal("bic", "glu_cpu")("glu", input.dtype)
    return _glu(input, dim)


# ------------------------------------------------------------------ hard ones


def _cut(a: Any, low: float, high: float) -> Any:
    return np.asarray(a.clip(number(low, a.dtype.char), number(high, a.dtype.char)))


def _hardtanh_forward(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    if input.dtype.kind == "u" and (min_val < 0 or max_val < 0):
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    dt = input.dtype
    if dt.char in "fd" and min_val and max_val:  # where one is 0, its sign is that of the element
        return _cut(input, min_val, max_val)
    low = select.extremum(np.maximum, input, dt.type(min_val))
    return select.extremum(np.minimum, low, dt.type(max_val))


_hardtanh = hot(
    elementwise(
        "hardtanh", _hardtanh_forward,
        {
            "input": _recorded(
                "Hardtanh", lambda g, input, min_val, max_val: where((input <= min_val) | (input >= max_val), 0, g)
            )
        },
        policy=_both(refusal("b", "Bool inputs not supported for hardtanh", RuntimeError), _NO_COMPLEX),
    )
)  # fmt: skip
hardtanh_ = inplace(_hardtanh.op)


def hardtanh(input: Value, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Value:
    """input, cut off at `min_val` and `max_val`."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return hardtanh_(input, min_val, max_val) if inplace else _hardtanh(input, min_val, max_val)


def relu6(input: Value, inplace: bool = False) -> Value:
    """min(max(input, 0), 6)."""
    return hardtanh_(input, 0, 6) if inplace else _hardtanh(input, 0, 6)


@in_blocks
@widened
def _hardsigmoid_forward(input: Any) -> Any:
    r = _cut(input + 3, 0, 6)
    return np.divide(r, number(6, r.dtype.char), r)


_hardsigmoid = unary(
    "hardsigmoid", _hardsigmoid_forward, fast(None, lambda g, x: where((x > -3) & (x < 3), g / 6, 0)),
    policy=refuse("bic", "hardsigmoid_cpu"),
)  # fmt: skip
_ihardsigmoid = inplace(_hardsigmoid.op)


def hardsigmoid(input: Value, inplace: bool = False) -> Value:
    """min(max(input + 3, 0), 6) / 6."""
    return _ihardsigmoid(input) if inplace else _hardsigmoid(input)


@in_blocks
@widened
def _hardswish_forward(input: Any) -> Any:
    r = _cut(input + 3, 0, 6)
    np.multiply(r, input, r)
    return np.divide(r, number(6, r.dtype.char), r)


_hardswish = unary(
    "hardswish", _hardswish_forward,
    _recorded("Hardswish", lambda g, x: where(x <= -3, 0, where(x < 3, g * (x / 3 + 0.5), g)), tensors="g x"),
    policy=refuse("bic", "hardswish_cpu"),
)  # fmt: skip
_ihardswish = inplace(_hardswish.op)


def hardswish(input: Value, inplace: bool = False) -> Value:
    """input * min(max(input + 3, 0), 6) / 6."""
    return _ihardswish(input) if inplace else _hardswish(input)


def _within(g: Any, input: Any, lambd: float) -> Any:
    return where((input >= -lambd) & (input <= lambd), 0, g)


def _hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """input where |input| > lambd, else 0. Source: torch.hardshrink."""
    zero = input.dtype.type(0)
    return select.where(np.absolute(input) <= input.dtype.type(lambd), zero, input)


hardshrink = hot(
    elementwise(
        "hardshrink", _hardshrink, {"input": _recorded("Hardshrink", _within)}, policy=refuse("bic", "hardshrink_cpu")
    )
)


_BLOCK = 64  # bytes


def _softshrink(input: Any, lambd: float = 0.5) -> Any:
    """input moved towards 0 by `lambd`, 0 where |input| <= lambd."""
    most = dtypes.finfo(dtypes.from_numpy(input.dtype)).max
    if not 0 <= lambd <= most:
        raise RuntimeError(
            f"lambda must be in range [0, {most:g}] for input dtype {dtypes.from_numpy(input.dtype).legacy}, but found "
            f"{lambd:g}"
        )
    if input.dtype.itemsize == 2:
        edge = input.dtype.type(lambd)
        return select.where(input > edge, input - edge, select.where(input < -edge, input + edge, input * 0))
    out = np.asarray(input - _cut(input, -lambd, lambd))
    dense = out.flags.forc
    rest = out.size % (_BLOCK // out.itemsize) if dense else out.size
    if rest:  # whole registers have no -0 in PyTorch
        last, x = (v.reshape(-1, order="A")[-rest:] for v in (out, input)) if dense else (out, input)
        np.copysign(last, x, last)
    return out


softshrink = hot(
    elementwise(
        "softshrink", _softshrink, {"input": _recorded("Softshrink", _within)}, policy=refuse("bic", "softshrink_check")
    )
)


# ------------------------------------------------------------------ a random slope


def _slopes(input: Any, lower: float, upper: float) -> Any:
    """1 where the input is positive, else a slope drawn uniformly from [lower, upper)."""
    negative = input <= 0
    out = np.ones(input.shape, input.dtype)
    drawn = sampling.doubles(stream_of(None, "rrelu"), int(negative.sum()))
    out[negative] = (drawn * (upper - lower) + lower).astype(input.dtype)
    return out


_slopes_op = sampler("rrelu_noise", _slopes, None)
_rrelu_op = Op(
    "rrelu_with_noise",
    lambda input, noise: np.asarray(input * noise),
    {"input": lambda g, noise: g * noise},
    {"input": lambda t, noise: t * noise},
    tensors=("input", "noise"),
    out_arg=False,
)
_rrelu_eval = Op(
    "rrelu_with_noise.eval",
    _leaky_relu,
    {"input": lambda g, input, negative_slope: where(input > 0, g, g * negative_slope)},
    {"input": lambda t, input, negative_slope: where(input > 0, t, t * negative_slope)},
    node="RreluWithNoiseBackward0",
    out_arg=False,
)
_irrelu = tuple(
    inplace(
        Op(
            op.name + ".in_place",
            op.forward,
            op.vjp,
            op.jvp,
            tensors=op.tensors,
            node="RreluWithNoiseBackward1",
            register=False,
        ),
        "rrelu_",
    )
    for op in (_rrelu_op, _rrelu_eval)
)


def _rrelu(input: Value, lower: float, upper: float, training: bool, write: bool) -> Value:
    refusal("bic", "leaky_relu_cpu" if not training else "rrelu_with_noise_out_cpu")("rrelu", input.dtype)
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    if not training:
        slope = (lower + upper) / 2
        return _irrelu[1](input, slope) if write else _rrelu_eval.call(input, slope)
    if input.dtype.name == "float16":
        raise NotImplementedError(f"\"rrelu_with_noise_out_cpu\" not implemented for '{input.dtype.legacy}'")
    noise = _slopes_op.call(input, lower, upper)
    return _irrelu[0](input, noise) if write else _rrelu_op.call(input, noise)


def rrelu(
    input: Value, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, generator: Any = None
) -> Value:
    """input where it is positive, else times a slope: drawn from [lower, upper) when training, else their mean."""
    return _rrelu(input, lower, upper, training, False)


def rrelu_(
    input: Value, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, generator: Any = None
) -> Value:
    """In-place `rrelu`."""
    return _rrelu(input, lower, upper, training, True)


def f_rrelu(
    input: Value, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False
) -> Value:
    """`rrelu`, in place if told so. Source: torch.nn.functional.rrelu."""
    return _rrelu(input, lower, upper, training, inplace)
