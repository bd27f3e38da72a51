"""Functions that PyTorch keeps for itself, and programs meet under torch.ops.aten."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..core.broadcast import cast
from ..core.op import Op
from ..shapes import normalize_dim
from ._dtypes import refusal
from ._reduce import into
from .arithmetic import not_implemented
from .gather import gather
from .indexing import getitem, index_put
from .normalization import _batch_norm as batch_norm_of
from .normalization import native_batch_norm
from .piecewise import masked_fill
from .reduction import sum as sum_of
from .selection import clamp, where
from .shape import flatten
from .softmax import _softmax
from .upsample import _OPS as UPSAMPLE
from .windows import slice_ as _slice

__all__ = [
    "_native_batch_norm_legit", "_safe_softmax", "_softmax_backward_data", "_unsafe_masked_index",
    "_unsafe_masked_index_put_accumulate",
]  # fmt: skip
METHODS = ""
# What is found under torch.ops.aten only.
ATEN = (
    "slice", "native_dropout_backward", "_batch_norm_with_update", "_upsample_bilinear2d_aa",
    "max_pool2d_with_indices_backward",
)  # fmt: skip

Value = Any


def slice(input: Value, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Value:
    """A slice of one dimension, as a view. Source: torch.ops.aten.slice."""
    return _slice(input, dim % max(input.ndim, 1), start, end, step)


def _dropped(grad_output: Any, mask: Any, scale: float) -> Any:
    dt = grad_output.dtype if grad_output.dtype.kind in "fVc" else dtypes.get_default_dtype().np
    return grad_output.astype(dt, copy=False) * (mask.astype(dt) * np.asarray(scale, dt))


_dropout_backward = Op(
    "native_dropout_backward",
    _dropped,
    vjp={
        "grad_output": lambda g, mask, scale: _dropout_backward.call(g, mask, scale),
        "mask": not_implemented("native_dropout_backward"),
    },
    jvp={"grad_output": lambda t, mask, scale: _dropout_backward.call(t, mask, scale)},
    node="NativeDropoutBackwardBackward0",
    out_arg=False,
)


def native_dropout_backward(grad_output: Value, mask: Value, scale: float) -> Value:
    """grad_output * mask * scale. Source: torch.ops.aten.native_dropout_backward."""
    return _dropout_backward.call(grad_output, mask, scale)


def _softmax_backward_data(grad_output: Value, output: Value, dim: int, input_dtype: Any, *, out: Any = None) -> Value:
    """(grad_output - sum(grad_output * output)) * output along `dim`. Source: torch._softmax_backward_data."""
    last = normalize_dim(dim, grad_output.ndim) == max(grad_output.ndim - 1, 0)
    word = f"softmax_backward_{'lastdim_' * last}kernel_impl"
    refusal("bic", word)("_softmax_backward_data", grad_output.dtype)
    r = (grad_output - sum_of(grad_output * output, dim, True)) * output
    r = r if r.dtype is input_dtype else cast(r, input_dtype.np)
    return r if out is None else out.copy_(r)


def _safe(input: Any, dim: int) -> Any:
    out = _softmax.op.forward(input, dim)
    nothing = np.all(input == -np.inf, axis=dim, keepdims=True)
    return np.where(nothing, np.zeros((), out.dtype), out) if nothing.any() else out


_safe_op = Op("_safe_softmax", _safe, _softmax.op.vjp, _softmax.op.jvp, node="SafeSoftmaxBackward0", out_arg=False)


def _safe_softmax(input: Value, dim: int, dtype: Any = None) -> Value:
    """`softmax`, and zeros where all elements are minus infinity. Source: torch._safe_softmax."""
    return _safe_op.call(input if dtype is None else cast(input, dtype.np), dim)


def _native_batch_norm_legit(input: Value, weight: Value, bias: Value, *rest: Any, out: Any = None, **kw: Any) -> Any:
    """`native_batch_norm`, with or without running statistics. Source: torch._native_batch_norm_legit."""
    if isinstance(rest[0], bool):
        rest = (None, None, *rest)
    return native_batch_norm(input, weight, bias, *rest, out=out, **kw)


def _batch_norm_with_update(
    input: Value, weight: Value, bias: Value, running_mean: Value, running_var: Value, momentum: float, eps: float, *,
    out: Any = None, save_mean: Any = None, save_invstd: Any = None, reserve: Any = None,
) -> Any:  # fmt: skip
    """`native_batch_norm` in training, and an empty reserve. Source: torch.ops.aten._batch_norm_with_update."""
    made = batch_norm_of(input, weight, bias, running_mean, running_var, True, momentum, eps)[:3]
    made = (*made, input.new_empty((0,), dtype=dtypes.uint8))
    if out is None:
        return made
    outs = (out, save_mean, save_invstd, reserve)
    return tuple(into("_batch_norm_with_update", o, r) for o, r in zip(outs, made, strict=True))


def _upsample_bilinear2d_aa(
    input: Value, output_size: Any, align_corners: bool, scales_h: Any = None, scales_w: Any = None, *,
    scale_factors: Any = None,
) -> Value:  # fmt: skip
    """`interpolate(mode="bilinear", antialias=True)`. Source: torch.ops.aten._upsample_bilinear2d_aa."""
    scales = (scales_h, scales_w)
    if scale_factors is not None:
        scales = tuple(scale_factors)
        if output_size is None:
            output_size = [int(n * s) for n, s in zip(input.shape[2:], scales, strict=True)]
    return UPSAMPLE["bilinear", 2, True](input, tuple(output_size), scales, bool(align_corners))


def _within(input: Value, indices: Any) -> tuple[Any, ...]:
    """Indices, moved into the tensor where they lie outside."""
    return tuple(None if i is None else clamp(i, -n, n - 1) for i, n in zip(indices, input.shape, strict=False))


def _unsafe_masked_index(input: Value, mask: Value, indices: Any, fill: Any) -> Value:
    """input[indices] where the mask is true, `fill` elsewhere, where indices may lie outside. Source:
    torch._unsafe_masked_index."""
    whole = np.s_[:]
    return where(mask, getitem(input, tuple(whole if i is None else i for i in _within(input, indices))), fill)


def _unsafe_masked_index_put_accumulate(input: Value, mask: Value, indices: Any, values: Value) -> Value:
    """Add `values` at `indices` where the mask is true. Source: torch._unsafe_masked_index_put_accumulate."""
    return index_put(input, _within(input, indices), masked_fill(values, ~mask, 0), True)


def _pool_back(grad_output: Any, input: Any, indices: Any) -> Any:
    planes = np.zeros((*input.shape[:-2], input.shape[-2] * input.shape[-1]), grad_output.dtype)
    refusal("bic", "max_pool2d_backward")("max_pool2d", dtypes.from_numpy(input.dtype))
    flat = planes.reshape(-1, planes.shape[-1])
    rows = np.arange(flat.shape[0])[:, None]
    np.add.at(flat, (rows, indices.reshape(flat.shape[0], -1)), grad_output.reshape(flat.shape[0], -1))
    out = np.empty_like(input)  # which lies as the input does
    out[...] = planes.reshape(input.shape)
    return out


_pool_backward = Op(
    "max_pool2d_with_indices_backward",
    _pool_back,
    vjp={
        "grad_output": lambda g, indices: gather(flatten(g, -2), -1, flatten(indices, -2)).reshape(
            tuple(indices.shape)
        ),
        "input": lambda g: g * 0,
    },
    jvp={"grad_output": lambda t, input, indices: _pool_backward.call(t, input, indices), "input": lambda t: t * 0},
    tensors=("grad_output", "input", "indices"),
    node="MaxPool2DWithIndicesBackwardBackward0",
    out_arg=False,
)


def max_pool2d_with_indices_backward(
    grad_output: Value, input: Value, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool,
    indices: Value,
) -> Value:  # fmt: skip
    """The cotangent of `max_pool2d`. Source: torch.ops.aten.max_pool2d_with_indices_backward."""
    return _pool_backward.call(grad_output, input, indices)
