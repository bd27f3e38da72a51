"""How ops treat batches, beyond those of `batch_dims.py`: layers, losses, indexing, copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .batch import RULES, batch_size, is_batched, materialize, no_room, rule, shift, sizes, unwrap
from .batch_dims import dims_move_on, reshaped
from .subclass import Special
from .tensor import Tensor

NONE, MEAN = 0, 1  # reductions


# ------------------------------------------------------------------ ops of samples: the batch joins the first dimension


def _fold(v: Any, level: int, n: int) -> Any:
    """(batch, N, ...) as (batch * N, ...)."""
    v = materialize(v, level, n)
    _, samples, *rest = sizes(v)
    return reshaped(v, (n * samples, *rest))


def _unfold(v: Any, n: int) -> Any:
    first, *rest = sizes(v)
    return reshaped(v, (n, first // max(n, 1), *rest))


@rule(
    *[f"{name}{d}d" for name in ("avg_pool", "adaptive_avg_pool", "adaptive_max_pool", "max_pool") for d in (2, 3)],
    *[f"{name}{d}d" for name in ("reflection_pad", "replication_pad") for d in (1, 2, 3)],
    *[f"upsample_nearest{d}d" for d in (1, 2, 3)], *[f"_upsample_nearest_exact{d}d" for d in (1, 2, 3)],
    "max_pool2d_with_indices", "max_pool3d_with_indices", "upsample_linear1d", "upsample_bilinear2d",
    "upsample_trilinear3d",
    "upsample_bicubic2d", "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa", "im2col", "col2im",
    "native_channel_shuffle",
    "grid_sampler_2d", "grid_sampler_3d", "max_unpool2d", "max_unpool3d",
)  # fmt: skip
def _of_samples(op: Any, args: Sequence[Any], level: int) -> Any:
    """Ops that treat every sample (the first dimension) alike and apart."""
    n = batch_size(op, args, level)
    full = list(args)
    ndim = args[op.positions[0]].ndim
    if op.name != "native_channel_shuffle":  # of any number of dimensions
        digits = [int(c) for c in op.name if "0" < c < "4"] or [2]
        spatial = 1 if op.name == "col2im" else digits[0]
        if ndim == spatial + 1:  # one sample, without its dimension: that of the batch takes the place
            return op.call(*[materialize(v, level, n) if i in op.positions else v for i, v in enumerate(args)])
        if ndim != spatial + 2:
            return NotImplemented
    for p in op.positions:
        full[p] = _fold(args[p], level, n)
    got = op.call(*full)
    return tuple(_unfold(g, n) for g in got) if isinstance(got, tuple) else _unfold(got, n)


@rule(
    "pixel_shuffle",
    "pixel_unshuffle",
    "constant_pad_nd",
    "detach",
    "to_copy",
    "alias_copy",
    "detach_copy",
    "view_as_real_copy",
    "view_as_complex_copy",
    "one_hot",
    "fill",
    "fill.number_",
    "angle.complex",
)
def _as_it_is(op: Any, args: Sequence[Any], level: int) -> Any:
    """Ops of elements, or of the last dimensions."""
    if not is_batched(args[0], level) or any(is_batched(a, level) for a in args[1:]):
        return NotImplemented
    return op.call(args[0].value, *args[1:])


@rule("pool_gather", "pool_scatter")
def _of_planes(op: Any, args: Sequence[Any], level: int) -> Any:
    x, places, *rest = args
    n = batch_size(op, args, level)
    return op.call(materialize(x, level, n), materialize(places, level, n), *rest)


@rule("as_strided")
def _as_strided(op: Any, args: Sequence[Any], level: int) -> Any:
    """The same window into the memory of every sample."""
    x, size, stride, offset = args
    v = x.value
    first = v.storage_offset() if offset is None else offset
    return op.call(v, (v.shape[0], *size), (v.stride(0), *stride), first)


@rule("_euclidean_dist", "_cdist_forward")
def _of_rows(op: Any, args: Sequence[Any], level: int) -> Any:
    a, b, *rest = args
    if a.ndim != b.ndim:
        return NotImplemented
    n = batch_size(op, args, level)
    return op.call(materialize(a, level, n), materialize(b, level, n), *rest)


@rule("convolution")
def _convolution(op: Any, args: Sequence[Any], level: int) -> Any:
    """One set of kernels: the batch joins the samples. Kernels of their own: it joins the channels, as groups."""
    x, w, bias, stride, padding, dilation, transposed, output_padding, groups = args
    if x.ndim != w.ndim:
        return NotImplemented
    n = batch_size(op, args, level)
    rest = (stride, padding, dilation, transposed, output_padding)
    later = bias is not None and (is_batched(bias, level) or is_batched(w, level))
    if not is_batched(w, level):
        x = _fold(x, level, n) if is_batched(x, level) else x
        y = op.call(x, w, None if later else bias, *rest, groups)
        y = _unfold(y, n) if is_batched(args[0], level) else y.unsqueeze(0)
    else:
        samples = x.shape[0]
        v = materialize(x, level, n).transpose(0, 1)
        _, _, channels, *rest_of = sizes(v)
        v = reshaped(v, (samples, n * channels, *rest_of))
        y = op.call(v, _fold(w, level, n), None, *rest, n * groups)
        y = y.reshape((samples, n, y.shape[1] // n, *y.shape[2:])).transpose(0, 1)
    if later:
        b = unwrap(bias, level)
        y = y + b.reshape((*b.shape[:-1], 1, b.shape[-1], *(1,) * (w.ndim - 2)) if is_batched(bias, level)
                          else (b.shape[0], *(1,) * (w.ndim - 2)))  # fmt: skip
    return y


@rule("native_layer_norm")
def _layer_norm(op: Any, args: Sequence[Any], level: int) -> Any:
    x, shape, weight, bias, eps = args
    if not is_batched(x, level):
        x = materialize(x, level, batch_size(op, args, level))
    else:
        x = x.value
    if not is_batched(weight, level) and not is_batched(bias, level):
        return op.call(x, shape, weight, bias, eps)
    y, *rest = op.call(x, shape, None, None, eps)
    lead = (1,) * (x.ndim - 1 - len(shape))
    for v, name in ((weight, "mul"), (bias, "add")):
        if v is not None:
            if is_batched(v, level):
                v = v.value.reshape((v.value.shape[0], *lead, *shape))
            y = getattr(y, name)(v)
    return (y, *rest)


@rule("embedding")
def _embedding(op: Any, args: Sequence[Any], level: int) -> Any:
    weight, indices, padding, *rest = args
    if not is_batched(weight, level):
        return op.call(weight, indices.value, padding, *rest)
    if padding is not None and padding >= 0:
        return NotImplemented
    n = weight.size_of_batch
    rows = weight.value.reshape((-1, weight.shape[-1]))
    i = materialize(indices, level, n)
    start = i.new_tensor(range(0, n * weight.shape[0], weight.shape[0])).reshape((n, *(1,) * indices.ndim))
    return op.call(rows, i + start, padding, *rest)


# ------------------------------------------------------------------ losses


def _over_sample(values: Any, reduction: int) -> Any:
    """Losses of elements, (batch, ...), reduced for every sample."""
    if reduction == NONE or values.ndim == 1:
        return values
    dims = tuple(range(1, values.ndim))
    return values.mean(dims) if reduction == MEAN else values.sum(dims)


@rule(
    "mse_loss",
    "smooth_l1_loss",
    "huber_loss",
    "soft_margin_loss",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
)
def _elementwise_loss(op: Any, args: Sequence[Any], level: int) -> Any:
    x, y = args[:2]
    if tuple(x.shape) != tuple(y.shape) or any(is_batched(a, level) for a in args[2:]):
        return NotImplemented
    if any(isinstance(a, Tensor) for a in args[2:]) and tuple(x.shape) != tuple(y.shape):
        return NotImplemented
    n = batch_size(op, args, level)
    at = op.params.index("reduction")
    full = [materialize(x, level, n), materialize(y, level, n), *args[2:]]
    full[at] = NONE
    return _over_sample(op.call(*full), args[at])


@rule("nll_loss")
def _nll_loss(op: Any, args: Sequence[Any], level: int) -> Any:
    """Losses of single samples, weighted as the reduction says."""
    x, target, weight, reduction, ignored = args
    if is_batched(weight, level) or x.ndim not in (1, 2):
        return NotImplemented
    n = batch_size(op, args, level)
    x, t = materialize(x, level, n), materialize(target, level, n)
    one = x.ndim == 2
    flat = t.reshape(-1)
    each = op.call(x.reshape((-1, x.shape[-1])), flat, weight, NONE, ignored)
    if weight is None and reduction == MEAN and not isinstance(flat, Special) and not (flat._a == ignored).any():
        return each if one or len(flat._a) == n else each.reshape((n, -1)).mean(1)  # all count alike
    if one:
        if reduction != MEAN:
            return each
        return each / _counts(each, flat, weight, ignored)
    each = each.reshape((n, -1))
    if reduction == NONE:
        return each
    if reduction != MEAN:
        return each.sum(1)
    return each.sum(1) / _counts(each, t, weight, ignored).sum(1)


def _counts(each: Any, target: Any, weight: Any, ignored: int) -> Any:
    """How much each sample weighs in a mean."""
    used = (target != ignored).to(each.dtype)
    if weight is None:
        return used
    return used * weight.index_select(0, target.reshape(-1).clamp(0, weight.shape[0] - 1)).reshape(target.shape)


# ------------------------------------------------------------------ indexing


@rule("index.one", "index_backward.one")
def _index_one(op: Any, args: Sequence[Any], level: int) -> Any:
    """One dimension by a tensor of places: the same places for all samples, or places of their own along dimension
    0."""
    x, *shape, k, d = args
    if not is_batched(k, level):
        if shape:
            return op.call(x.value, (x.value.shape[0], *shape[0]), k, d + 1)
        return op.call(x.value, k, d + 1)
    if k.dtype.name == "bool" or shape or d:
        return NotImplemented
    if not is_batched(x, level):
        return op.call(x, k.value, d)
    rows = x.value.new_tensor(range(k.size_of_batch), dtype=k.dtype).reshape((-1, *(1,) * k.ndim))
    return x.value[rows, k.value]


@rule("index_backward")
def _index_backward(op: Any, args: Sequence[Any], level: int) -> Any:
    g, shape, indices = args
    places = [i for i, k in enumerate(indices) if k is not None]
    if any(is_batched(k, level) for k in indices) or places != list(range(places[0], places[-1] + 1)):
        return NotImplemented
    return op.call(g.value, (g.value.shape[0], *shape), (None, *indices))


@rule("index_select", "index_select_backward")
def _index_select(op: Any, args: Sequence[Any], level: int) -> Any:
    x, *shape, d, k = args
    if is_batched(k, level) or not is_batched(x, level) or not x.ndim:
        return NotImplemented
    if shape:
        return op.call(x.value, (x.value.shape[0], *shape[0]), shift(d, len(shape[0])), k)
    return op.call(x.value, shift(d, x.ndim), k)


@rule("index_add", "index_copy")
def _index_write(op: Any, args: Sequence[Any], level: int) -> Any:
    x, d, k, source, *rest = args
    if is_batched(k, level) or not x.ndim or not source.ndim:
        return NotImplemented
    n = batch_size(op, args, level)
    return op.call(materialize(x, level, n), shift(d, x.ndim), k, materialize(source, level, n), *rest)


@rule("select_scatter", "slice_scatter", "diagonal_scatter", "select_scatter_clear", "slice_scatter_clear",
      "diagonal_scatter_clear")  # fmt: skip
def _scatter_into(op: Any, args: Sequence[Any], level: int) -> Any:
    n = batch_size(op, args, level)
    full = [materialize(v, level, n) if isinstance(v, Tensor) else v for v in args]
    for i, name in enumerate(op.params):
        if name in ("dim", "dim1", "dim2"):
            full[i] = shift(args[i], args[0].ndim)
    return op.call(*full)


@rule("roll")
def _roll(op: Any, args: Sequence[Any], level: int) -> Any:
    x, shifts, dims = args
    if not dims:
        v = x.value
        return op.call(v.reshape((v.shape[0], -1)), shifts, (1,)).reshape(v.shape)
    return op.call(
        x.value, shifts, tuple(shift(d, x.ndim) for d in (dims if isinstance(dims, (tuple, list)) else (dims,)))
    )


# ------------------------------------------------------------------ values and copies


@rule("copy")
def _copy(op: Any, args: Sequence[Any], level: int) -> Any:
    x, src = args
    n = batch_size(op, args, level)
    if src.ndim > x.ndim and is_batched(x, level):
        if src.numel() != x.numel():
            raise no_room(x, src)
        src = src.reshape(tuple(x.shape))  # aligned with the batch, dimensions of size one do no harm
    if is_batched(src, level):
        lacks = x.ndim - src.ndim
        v = src.value
        src = v.reshape((v.shape[0], *(1,) * lacks, *v.shape[1:])) if lacks > 0 else v
    return op.call(materialize(x, level, n), src)


@rule("median", "nanmedian")
def _middle(op: Any, args: Sequence[Any], level: int) -> Any:
    v = args[0].value
    return getattr(v.reshape((v.shape[0], -1)), op.name)(1)[0]


for _name in ("sort.stable", "argsort", "narrow_copy", "unsafe_split", "unsafe_split_with_sizes", "transpose_copy",
              "select_copy", "slice_copy", "squeeze_copy.dim", "squeeze_copy.dims", "split_copy",
              "split_with_sizes_copy",
              "unbind_copy", "unfold_copy"):  # fmt: skip
    RULES[_name] = dims_move_on
for _name in ("permute", "unsqueeze", "expand", "view", "squeeze", "t", "diagonal"):
    RULES[_name + "_copy"] = RULES[_name]
