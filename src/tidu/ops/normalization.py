"""Normalisation over the batch (batch, instance), over groups of channels, or over neighbours.

Each is (x - mean) * rstd over some axes, then a weight and a bias. With z = (x - mean) * rstd and h the cotangent of z,
that of x is rstd * (h - mean(h) - z * mean(h * z)), means over the same axes. For numbers kernels take it from the
saved statistics; where it is recorded they are computed anew from x, so that it can be differentiated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import batch_norm as channels
from ..arrays.rows import number
from ..core.batch import Batched
from ..core.inplace import writes_plainly
from ..core.modes import no_grad
from ..core.op import Op
from ._dtypes import refusal
from ._make import laid_as
from .loss import not_differentiable
from .powers import rsqrt
from .reduction import into, mean, sum
from .shape import reshape

__all__ = [
    "batch_norm", "group_norm", "instance_norm", "native_batch_norm", "native_group_norm",
]  # fmt: skip

Value = Any
Ints = tuple[int, ...]


def standard(x: Value, axes: Ints, eps: float) -> tuple[Value, Value]:
    """z and rstd, as values."""
    d = x - mean(x, axes, True)
    rstd = rsqrt(mean(d * d, axes, True) + eps)
    return d * rstd, rstd


def pull(h: Value, z: Value, rstd: Value, axes: Ints) -> Value:
    """The cotangent of x from that of z; tangents go the same way."""
    return (h - mean(h, axes, True) - z * mean(h * z, axes, True)) * rstd


def times(x: Value, w: Value) -> Value:
    return x if w is None else x * w


def like_input(outs: tuple[Any, ...], input: Any, weight: Any, bias: Any) -> tuple[Any, ...]:
    """Statistics in the dtype of the input, unless float32 weights stand beside half precision."""
    if input.dtype.itemsize != 2 or any(w is not None and w.dtype != input.dtype for w in (weight, bias)):
        return outs
    return tuple(o.astype(input.dtype, copy=False) for o in outs)


def refuse_mixed(input: Value, *parameters: Value) -> None:
    """Raise for parameters of another dtype than the input's, but for float32 beside half precision."""
    given = [p.dtype for p in parameters if p is not None]
    if given and given[0] != input.dtype:
        if any([d.name != "float32" for d in given]):
            raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
        if input.dtype.name not in ("float16", "bfloat16"):
            raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")


def three(needs: Sequence[bool]) -> tuple[bool, bool, bool]:
    return needs[0], needs[1], needs[2]


def affine_push(t: Value, tw: Value, tb: Value, z: Value, rstd: Value, weight: Value, axes: Ints) -> Value:
    """The tangent of z * weight + bias from those of x, weight and bias."""
    parts = []
    if t is not None:
        parts.append(times(pull(t, z, rstd, axes), weight))
    if tw is not None:
        parts.append(z * tw)
    if tb is not None:
        parts.append(tb + z * 0)
    total = parts[0]
    for p in parts[1:]:
        total = total + p
    return total


ndarray = np.ndarray


# ------------------------------------------------------------------ batch norm


def _channel_shape(ndim: int) -> Ints:
    return (1, -1, *(1,) * (ndim - 2))


def _batch_forward(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, eps: float
) -> Any:
    """The result, the mean and inverse deviation of each channel, and its variance."""
    if input.ndim < 2:  # nothing: its one dimension is empty
        empty = np.empty(0, input.dtype)
        return input.copy(), empty, empty, empty
    if training:
        out, *rest = channels.forward(input, weight, bias, eps)
        return like_input((laid_as(out, input), *rest), input, weight, bias)
    work = np.dtype(np.float32) if input.dtype.itemsize == 2 else input.dtype
    rstd = (1 / np.sqrt(running_var.astype(work, copy=False) + work.type(eps))).astype(work, copy=False)
    out = laid_as(channels.affine(input, running_mean, rstd, weight, bias), input)
    empty = np.empty(0, work)
    return like_input((out, empty, empty, empty), input, weight, bias)


def _batch_rule(
    g0: Value, input: Value, weight: Value, running_mean: Value, running_var: Value, out1: Value, out2: Value,
    training: bool, eps: float, needs: Any,
) -> Any:  # fmt: skip
    wants = three(needs)
    if input.ndim < 2:
        return tuple(g0 * 0 if w else None for w in wants)
    if g0.__class__ is ndarray:
        if training:
            m, rstd = out1, out2
        else:
            work = np.dtype(np.float32) if input.dtype.itemsize == 2 else input.dtype
            m, rstd = running_mean, (1 / np.sqrt(running_var + work.type(eps))).astype(work, copy=False)
        return channels.backward(g0, input, weight, m, rstd, training, wants)
    shape = _channel_shape(input.ndim)
    z, rstd, axes = _batch_standard(input, running_mean, running_var, training, eps)
    h = g0 if weight is None else g0 * reshape(weight, shape)
    count = (input.shape[1],)
    gx = None
    if wants[0]:
        gx = pull(h, z, rstd, axes) if training else h * rstd
    return (
        gx,
        reshape(sum(g0 * z, axes), count) if wants[1] else None,
        reshape(sum(g0, axes), count) if wants[2] else None,
    )


def _batch_standard(
    x: Value, running_mean: Value, running_var: Value, training: bool, eps: float
) -> tuple[Value, Value, Ints]:
    axes = (0, *range(2, x.ndim))
    if training:
        return *standard(x, axes, eps), axes
    shape = _channel_shape(x.ndim)
    rstd = rsqrt(reshape(running_var, shape) + eps)
    return (x - reshape(running_mean, shape)) * rstd, rstd, axes


def _batch_push(
    t_input: Value, t_weight: Value, t_bias: Value, input: Value, weight: Value, running_mean: Value, running_var:
    Value,
    training: bool, eps: float,
) -> Any:  # fmt: skip
    shape = _channel_shape(input.ndim)
    z, rstd, axes = _batch_standard(input, running_mean, running_var, training, eps)
    w, tw, tb = (None if v is None else reshape(v, shape) for v in (weight, t_weight, t_bias))
    if training or t_input is None:
        return affine_push(t_input, tw, tb, z, rstd, w, axes), None, None, None
    parts = times(t_input * rstd, w)
    for p in (None if tw is None else z * tw, tb):
        parts = parts if p is None else parts + p
    return parts, None, None, None


_batch = Op(
    "native_batch_norm", _batch_forward, _batch_rule, _batch_push,
    tensors=("input", "weight", "bias", "running_mean", "running_var"), outputs=4, nondiff=(1, 2, 3), out_arg=False,
)  # fmt: skip
_batch.graded = _batch.positions[:3]  # the running statistics have no gradient


def native_batch_norm(
    input: Value, weight: Value, bias: Value, running_mean: Value, running_var: Value, training: bool, momentum: float,
    eps: float, *, out: Any = None,
) -> Any:  # fmt: skip
    """`batch_norm`, and the means and inverse deviations of the channels."""
    made = _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)[:3]
    if out is None:
        return made
    for o, r in zip(out, made, strict=True):
        if o.dtype is not r.dtype:
            raise RuntimeError(f"expected scalar type {r.dtype.legacy} but found {o.dtype.legacy}")
        if o is not out[0] and not training and o.ndim != 1:
            raise RuntimeError(f"TensorAccessor expected 1 dims but tensor has {o.ndim}")
    # outside training there are no statistics to put anywhere
    return tuple(
        into("native_batch_norm", o, r) if training or o is out[0] else o for o, r in zip(out, made, strict=True)
    )


_refuse = refusal("bic", "batch_norm")


def _batch_norm(
    input: Value, weight: Value, bias: Value, running_mean: Value, running_var: Value, training: bool, momentum: float,
    eps: float,
) -> Any:  # fmt: skip
    n = input.shape[1] if input.ndim > 1 else 0
    if running_mean is None and not training:
        raise RuntimeError("running_mean must be defined in evaluation mode")
    if running_var is None and not training:
        raise RuntimeError("running_var must be defined in evaluation mode")
    for name, v in (("running_mean", running_mean), ("running_var", running_var), ("weight", weight), ("bias", bias)):
        if v is not None and v.numel() != n:
            raise RuntimeError(f"{name} should contain {n} elements not {v.numel()}")
    for name, v in (("running_mean", running_mean), ("running_var", running_var)):
        not_differentiable("native_batch_norm", name, v)
    _refuse("", input.dtype)
    refuse_mixed(input, weight, bias, running_mean, running_var)
    if training:  # the running statistics are written below, and not read
        outs = _batch.call(input, weight, bias, None, None, True, eps)
    else:
        outs = _batch.call(input, weight, bias, running_mean, running_var, False, eps)
    if training and running_mean is not None:
        with no_grad():
            m, v = outs[1], outs[3]
            if isinstance(m, Batched) and not isinstance(running_mean, Batched):
                raise RuntimeError(
                    "Batch norm got a batched tensor as input while the running_mean or running_var, which will be "
                    "updated in place, were not batched.\nIf you are using a module and do not need eval mode, please "
                    "set `track_running_stats` to be False.If you are using a prebuilt module and do not need eval "
                    "mode, please see the functorch website for resources on how to patch your module to work with vmap"
                )
            count = input.numel() // n if n else 0
            _mix(running_mean, m, momentum)
            _mix(running_var, v if count < 2 else v * (count / (count - 1)), momentum)
    return outs


def _mix(running: Value, new: Value, momentum: float) -> None:
    """running = (1 - momentum) * running + momentum * new, in place."""
    a, b = getattr(running, "_a", None), getattr(new, "_a", None)
    if a is not None and b is not None and a.dtype is b.dtype and a.shape == b.shape and writes_plainly(running, a):
        kind = a.dtype.char
        np.multiply(a, number(1 - momentum, kind), a)
        np.add(a, b * number(momentum, kind), a)
        running._v[0] += 2
    elif running.dtype is new.dtype:
        running.mul_(1 - momentum).add_(new, alpha=momentum)
    else:  # rounded once
        running.copy_(running * (1 - momentum) + new * momentum)


def batch_norm(
    input: Value, weight: Value, bias: Value, running_mean: Value, running_var: Value, training: bool, momentum: float,
    eps: float, cudnn_enabled: bool = True,
) -> Value:  # fmt: skip
    """Each channel (dimension 1) normalised over the batch, or by the running statistics unless training."""
    return _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


def f_batch_norm(
    input: Value, running_mean: Value, running_var: Value, weight: Value = None, bias: Value = None,
    training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Value:  # fmt: skip
    """(input - mean) / sqrt(var + eps) * weight + bias for each channel (dimension 1).

    Training takes mean and variance over the batch and mixes them into the running ones, in place (with the unbiased
    variance); otherwise the running ones count.

    **Raises** ValueError for a batch of one value a channel when training. Source: torch.nn.functional.batch_norm.
    """
    if training:
        _more_than_one(input.size())
        if eps <= 0.0:
            raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    elif eps < 0.0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    return _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


def _more_than_one(size: Any) -> None:
    """Raise where a channel has one value only."""
    plain = tuple(size)
    if math.prod(plain[:1]) * math.prod(plain[2:]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")


def instance_norm(
    input: Value, weight: Value, bias: Value, running_mean: Value, running_var: Value, use_input_stats: bool,
    momentum: float, eps: float, cudnn_enabled: bool = True,
) -> Value:  # fmt: skip
    """Each channel of each sample normalised on its own."""
    if not (use_input_stats or (running_mean is not None and running_var is not None)):
        raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
    b, c = input.shape[0], input.shape[1]

    def each(v: Value) -> Value:
        return None if v is None else v.repeat(b)

    rm, rv = each(running_mean), each(running_var)
    x = input.contiguous().view((1, b * c, *input.shape[2:]))
    out = batch_norm(x, each(weight), each(bias), rm, rv, use_input_stats, momentum, eps)
    if use_input_stats:
        with no_grad():
            for running, wide in ((running_mean, rm), (running_var, rv)):
                if running is not None:
                    running.copy_(wide.view((b, c)).mean(0))
    return out.view(tuple(input.shape))


def f_instance_norm(
    input: Value, running_mean: Value = None, running_var: Value = None, weight: Value = None, bias: Value = None,
    use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> Value:  # fmt: skip
    """(input - mean) / sqrt(var + eps) * weight + bias for each channel of each sample.

    Source: torch.nn.functional.instance_norm.
    """
    if use_input_stats and math.prod(input.size()[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.size()}")
    return instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps)


# ------------------------------------------------------------------ group norm


def _group_forward(input: Any, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float) -> Any:
    dt = input.dtype
    work = np.dtype(np.float32) if dt.itemsize == 2 else dt
    x = np.ascontiguousarray(input, work).reshape(N * group, C // group * HxW)
    out, m, rstd = channels.grouped_forward(x, C // group, weight, bias, eps)
    out = out.astype(dt, copy=False)
    return like_input(
        (laid_as(out.reshape(input.shape), input), m.reshape(N, group), rstd.reshape(N, group)), input, weight, bias
    )


def _group_rule(
    g0: Value, g1: Value, g2: Value, input: Value, weight: Value, out1: Value, out2: Value, N: int, C: int, HxW:
    int, group: int, eps: float,
    needs: Any,
) -> Any:  # fmt: skip
    wants = three(needs)
    if g0.__class__ is ndarray:
        return _group_numbers(g0, g1, g2, input, weight, out1, out2, N, C, HxW, group, wants)
    x, g = reshape(input, (N, group, C // group * HxW)), reshape(g0, (N, C, HxW))
    z, rstd = standard(x, (2,), eps)
    h = g if weight is None else g * reshape(weight, (C, 1))
    zc = reshape(z, (N, C, HxW))
    gx = None
    if wants[0]:
        gx = pull(reshape(h, (N, group, C // group * HxW)), z, rstd, (2,)) + _from_statistics(g1, g2, z, rstd)
        gx = reshape(gx, tuple(input.shape))
    return (gx, sum(g * zc, (0, 2)) if wants[1] else None, sum(g, (0, 2)) if wants[2] else None)


def _from_statistics(g1: Value, g2: Value, z: Value, rstd: Value) -> Value:
    """What comes from the cotangents of the means and the inverse deviations."""
    shape = (*tuple(g1.shape), 1)
    return (reshape(g1, shape) - reshape(g2, shape) * rstd * rstd * z) / z.shape[2]


def _group_numbers(
    g0: Any,
    g1: Any,
    g2: Any,
    input: Any,
    weight: Any,
    m: Any,
    rstd: Any,
    N: int,
    C: int,
    HxW: int,
    group: int,
    wants: Any,
) -> Any:
    dt = input.dtype
    work = np.dtype(np.float32) if dt.itemsize == 2 else dt
    shape = (N * group, C // group * HxW)
    g, x = (np.ascontiguousarray(v, work).reshape(shape) for v in (g0, input))
    m, rstd = (v.astype(work, copy=False).reshape(-1, 1) for v in (m, rstd))
    gx, gw, gb = channels.grouped_backward(g, x, C // group, group, weight, m, rstd, wants)
    if wants[0] and (g1.any() or g2.any()):
        z = ((x - m) * rstd).reshape(N, group, -1)
        gx = gx.reshape(shape) + _from_statistics(g1, g2, z, rstd.reshape(N, group, 1)).reshape(shape)
    return (
        gx.reshape(input.shape).astype(dt, copy=False) if wants[0] else None,
        gw.astype(dt, copy=False) if wants[1] else None,
        gb.astype(dt, copy=False) if wants[2] else None,
    )


def _group_push(
    t_input: Value, t_weight: Value, t_bias: Value, input: Value, weight: Value, N: int, C: int, HxW: int, group: int,
    eps: float,
) -> Any:  # fmt: skip
    x = reshape(input, (N, group, C // group * HxW))
    z, rstd = standard(x, (2,), eps)
    zc = reshape(z, (N, C, HxW))
    total = None
    if t_input is not None:
        total = reshape(pull(reshape(t_input, (N, group, C // group * HxW)), z, rstd, (2,)), (N, C, HxW))
        total = total if weight is None else total * reshape(weight, (C, 1))
    if t_weight is not None:
        part = zc * reshape(t_weight, (C, 1))
        total = part if total is None else total + part
    if t_bias is not None:
        part = reshape(t_bias, (C, 1)) + zc * 0
        total = part if total is None else total + part
    t_mean = t_rstd = None
    if t_input is not None:
        t = reshape(t_input, (N, group, C // group * HxW))
        t_mean = mean(t, (2,))
        t_rstd = -mean(t * z, (2,)) * reshape(rstd * rstd, (N, group))
    return reshape(total, tuple(input.shape)), t_mean, t_rstd


_group = Op(
    "native_group_norm", _group_forward, _group_rule, _group_push, tensors=("input", "weight", "bias"), outputs=3,
    out_arg=False,
)  # fmt: skip


def native_group_norm(
    input: Value, weight: Value, bias: Value, N: int, C: int, HxW: int, group: int, eps: float
) -> Any:
    """`group_norm`, and the means and inverse deviations of the groups."""
    refuse_mixed(input, weight, bias)
    refusal("bic", "GroupNormKernelImpl")("", input.dtype)
    return _group.call(input, weight, bias, N, C, HxW, group, eps)


def group_norm(
    input: Value, num_groups: int, weight: Value = None, bias: Value = None, eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Value:  # fmt: skip
    """Each group of channels of each sample normalised on its own."""
    n, c, *rest = input.shape
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    if c % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.shape)} and num_groups={num_groups}"
        )
    for name, v in (("weight", weight), ("bias", bias)):
        if v is not None and (v.ndim != 1 or v.numel() != c):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of "
                f"shape {list((v if weight is None else weight).shape)} and input of shape {list(input.shape)}"
            )
    return native_group_norm(input, weight, bias, n, c, math.prod(rest), num_groups, eps)[0]


def f_group_norm(input: Value, num_groups: int, weight: Value = None, bias: Value = None, eps: float = 1e-5) -> Value:
    """(input - mean) / sqrt(var + eps) * weight + bias for each of `num_groups` groups of channels of each sample.

    Source: torch.nn.functional.group_norm.
    """
    if input.ndim < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    n, c, *rest = input.size()
    if n * c // num_groups * math.prod(rest) == 1:
        shown = [n * c // num_groups, num_groups, *rest]
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {shown}")
    return group_norm(input, num_groups, weight, bias, eps)


# ------------------------------------------------------------------ across channels


def local_response_norm(input: Value, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Value:
    """input / (k + alpha * mean of squares over `size` neighbouring channels)**beta."""
    from .padding import pad
    from .pooling import avg_pool2d, avg_pool3d

    n = input.ndim
    if n < 3:
        raise ValueError(f"Expected 3D or higher dimensionality                          input (got {n} dimensions)")
    if input.numel() == 0:
        return input
    div = input * input
    before, after = size // 2, (size - 1) // 2
    if n == 3:
        div = pad(div.unsqueeze(1), (0, 0, before, after))
        div = avg_pool2d(div, (size, 1), stride=1).squeeze(1)
    else:
        sizes = input.size()
        div = div.view((sizes[0], 1, sizes[1], sizes[2], -1))
        div = pad(div, (0, 0, 0, 0, before, after))
        div = avg_pool3d(div, (size, 1, 1), stride=1).squeeze(1)
        div = div.view(tuple(sizes))
    return input / (div * alpha + k) ** beta
