"""Padding; images taken apart and put together: windows as columns, pixels as channels, channels between one another.

All but the circle are one linear op each, whose adjoint adds the padding's cotangent to the places it was taken from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..arrays import convolution as kernels
from ..arrays.resampling import Taps, apply
from ..core.linear import linear
from ..core.op import Op
from ._dtypes import refusal
from ._make import planned

__all__ = ["channel_shuffle", "constant_pad_nd", "native_channel_shuffle", "pixel_shuffle", "pixel_unshuffle"]

Value = Any
Ints = tuple[int, ...]
_FEW = 1 << 12  # elements up to which few calls count for more than few passes

# ------------------------------------------------------------------ a constant


def _slices(shape: Sequence[int], pad: Sequence[int]) -> tuple[tuple[slice, ...], tuple[slice, ...], Ints]:
    """Where the kept part lies in the input, where in the output, and the output's shape."""
    source, target, size = [], [], []
    n = len(shape)
    for d, length in enumerate(shape):
        k = n - 1 - d
        before, after = (pad[2 * k], pad[2 * k + 1]) if 2 * k < len(pad) else (0, 0)
        source.append(slice(max(0, -before), length - max(0, -after)))
        target.append(slice(max(0, before), length + before + after - max(0, after)))
        size.append(length + before + after)
    return tuple(source), tuple(target), tuple(size)


def _constant(input: Any, pad: Ints, value: float) -> Any:
    source, target, size = _slices(input.shape, pad)
    kept = input[source]
    if kept.shape == size:
        return kept.copy()
    out = np.zeros(size, input.dtype) if value == 0 else np.full(size, value, input.dtype)
    out[target] = kept
    return out


_constant_op = Op(
    "constant_pad_nd",
    _constant,
    {"input": lambda g, pad: _constant_op.call(g, tuple(-p for p in pad), 0)},
    {"input": lambda t, pad: _constant_op.call(t, pad, 0)},
)


def constant_pad_nd(input: Value, pad: Sequence[int], value: Any = 0, *, out: Value = None) -> Value:
    """`value` put before and after, from the last dimension on: (left, right, top, bottom, ...); negative cuts off.

    >>> import tidu as torch
    >>> torch.constant_pad_nd(torch.ones(2), (1, 2), 5.)
    tensor([5., 1., 1., 5., 5.])
    """
    pad = tuple(int(p) for p in pad)
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. Pad length is "
            f"{len(pad)}while the input has {input.ndim}dimensions."
        )
    for k in range(len(pad) // 2):
        d = input.ndim - 1 - k
        if input.shape[d] + min(pad[2 * k], 0) + min(pad[2 * k + 1], 0) < 0:
            raise RuntimeError("narrow(): length must be non-negative.")
    return _constant_op.call(input, pad, value, out=out)


# ------------------------------------------------------------------ taken from the input


def _gather(input: Any, pad: Ints, mode: str) -> Any:
    """The middle is the input; the sides come from the middle, a dimension after another."""
    places = _places(mode, input.shape, pad)
    if input.size < _FEW or min(pad) < 0:  # where a side may come from what the other one cuts off
        for axis, index in places:
            input = input.take(index, axis)
        return input
    source, target, size = _slices(input.shape, pad)
    out = np.empty(size, input.dtype)
    out[target] = input[source]
    for (axis, index), k in zip(places, range(0, len(pad), 2), strict=True):
        lo, after = pad[k : k + 2]
        for part in (slice(0, lo), slice(size[axis] - after, size[axis])):
            if part.start < part.stop:
                at: Any = (..., part, *(slice(None),) * (k // 2))
                out[at] = out.take(index[part] + lo, axis)
    return out


def _scatter(g: Any, pad: Ints, mode: str, shape: Ints) -> Any:
    """The adjoint of `_gather`."""
    places = _places(mode, shape, pad)
    if min(pad) < 0:
        wide = g.astype(np.float32) if g.dtype.itemsize == 2 else g
        for axis, index in places:
            wide = apply(wide, Taps(shape[axis], index[:, None], None).back, axis)
        return wide.astype(g.dtype)
    g = g.copy()
    for (_, index), k in reversed(list(zip(places, range(0, len(pad), 2), strict=True))):
        lo, after = pad[k : k + 2]
        tail = (slice(None),) * (k // 2)
        for i in (*range(lo), *range(len(index) - after, len(index))):
            g[(..., index[i] + lo, *tail)] += g[(..., i, *tail)]
    return np.ascontiguousarray(g[_slices(shape, pad)[1]])


@lru_cache(256)
def _places(mode: str, shape: Ints, pad: Ints) -> list[tuple[int, Any]]:
    """For each dimension, from the last one on, where its elements come from."""
    found = []
    for k in range(len(pad) // 2):
        axis = len(shape) - 1 - k
        n = shape[axis]
        i = np.arange(-pad[2 * k], n + pad[2 * k + 1])
        if mode == "reflection":
            i = np.abs(i)
            found.append((axis, np.where(i >= n, 2 * (n - 1) - i, i)))
        else:
            found.append((axis, np.clip(i, 0, n - 1)))
    return found


def _padded(mode: str, n: int) -> Callable[..., Any]:
    """The op of one mode for one number of dimensions."""
    name = f"{mode}_pad{n}d"
    op = linear(
        name,
        lambda input, padding: _gather(input, padding, mode),
        lambda g, input_shape, padding: back(g, padding, tuple(input_shape)),
        node=f"{mode.title()}Pad{n}DBackward0",
        out_arg=False,
    )
    back = linear(
        name + "_backward",
        lambda g, padding, shape: _scatter(g, padding, mode, shape),
        lambda g, padding, shape: op(g, padding),
        register=False,
    )
    return op


_OPS = {
    (mode, n): _padded(mode, n) for mode in ("reflection", "replication") for n in (1, 2, 3)
}  # fmt: skip


@planned
def _check_sides(shape: Ints, pad: Ints, mode: str) -> None:
    n, rank = len(pad) // 2, len(shape)
    lengths = [shape[rank - 1 - k] for k in range(n)]
    if any(d == 0 for i, d in enumerate(shape) if i or rank == n + 1):
        raise RuntimeError(
            f"Expected {n + 1}D or {n + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(shape)}"
        )
    for k in range(n):
        left, right, d = pad[2 * k], pad[2 * k + 1], rank - 1 - k
        if mode == "reflect" and (left >= lengths[k] or right >= lengths[k]):
            place = 4 + 2 * k
            raise RuntimeError(
                f"Argument #{place}: Padding size should be less than the corresponding input dimension, but got: "
                f"padding ({left}, {right}) at dimension {d} of input {list(shape)}"
            )
    sizes = [lengths[k] + pad[2 * k] + pad[2 * k + 1] for k in range(n)]
    if all(s < 1 for s in sizes):
        back = range(n - 1, -1, -1)
        have = f"{', ' if n > 1 else ''}".join(f"{'WHD'[k]}: {lengths[k]}" for k in back)
        want = " ".join(f"{'WHD'[k]}: {sizes[k]}" for k in back)
        end = " " if mode == "replicate" and n > 1 else ""
        raise RuntimeError(f"input ({have}{end}) is too small. Calculated output {want}")
    if any(s < 0 for s in sizes):
        made = [*shape[: rank - n], *reversed(sizes)]
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(sizes)}: {made}")


def _pad_from(input: Value, pad: Ints, mode: str) -> Value:
    _check_sides(tuple(input.shape), pad, mode)
    n = len(pad) // 2
    word = "reflection" if mode == "reflect" else "replication"
    refusal("b", f"{word}_pad{n}d")("", input.dtype)
    return _OPS[word, n](input, pad)


def _pad_circular(input: Value, pad: Ints) -> Value:
    """The middle copied, then each side from the other end, a dimension after another."""
    n = len(pad) // 2
    size = list(input.shape)
    for k in range(n):
        d = input.ndim - 1 - k
        left, right = pad[2 * k], pad[2 * k + 1]
        if left > input.shape[d] or right > input.shape[d]:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        size[d] += left + right
        if size[d] < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
    out = input.new_empty(tuple(size))

    place, kept = out, input
    for k in range(n):
        d = input.ndim - 1 - k
        left, right = pad[2 * k], pad[2 * k + 1]
        place = place.narrow(d, max(left, 0), size[d] - max(left, 0) - max(right, 0))
        kept = kept.narrow(d, max(-left, 0), input.shape[d] - max(-left, 0) - max(-right, 0))
    place.copy_(kept)
    for k in range(n):
        d = input.ndim - 1 - k
        left, right = max(pad[2 * k], 0), max(pad[2 * k + 1], 0)
        if left:
            out.narrow(d, 0, left).copy_(out.narrow(d, size[d] - left - right, left))
        if right:
            out.narrow(d, size[d] - right, right).copy_(out.narrow(d, left, right))
    return out


_RANKS = {2: (2, 3), 4: (3, 4), 6: (4, 5)}


def pad(input: Value, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Value:
    """The tensor made larger at its last dimensions: (left, right, top, bottom, front, back, ...).

    **Arguments** mode: "constant" (with `value`), "reflect" (mirrored at the edge, which is not repeated), "replicate"
    (the edge repeated) or "circular"; negative sizes cut off.

    >>> import tidu as torch
    >>> torch.nn.functional.pad(torch.arange(3.)[None], (2, 0), "reflect")
    tensor([[2., 1., 0., 1., 2.]])
    """
    pads = tuple(int(p) for p in pad)
    if len(pads) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pads) > 2 * input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pads)} and input of dimension {input.ndim}"
        )
    if mode == "constant":
        return constant_pad_nd(input, pads, 0 if value is None else value)
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if input.ndim not in _RANKS.get(len(pads), ()):
        if mode in ("reflect", "replicate", "circular"):
            raise NotImplementedError(
                f"Padding size {len(pads)} is not supported for {input.ndim}D input tensor.\nSupported combinations "
                "for non-constant padding:\n  - 2D or 3D input: padding size = 2 (pads last dimension)\n  - 3D or 4D "
                "input: padding size = 4 (pads last 2 dimensions)\n  - 4D or 5D input: padding size = 6 (pads last 3 "
                "dimensions)"
            )
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if mode == "circular":
        return _pad_circular(input, pads)
    if mode not in ("reflect", "replicate"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    return _pad_from(input, pads, mode)


# ------------------------------------------------------------------ windows as columns


def _pairs(padding: Ints) -> list[tuple[int, int]]:
    return [(p, p) for p in padding]


_im2col: Any = linear(
    "im2col",
    lambda input, kernel, dilation, padding, stride: kernels.im2col(input, kernel, stride, _pairs(padding), dilation),
    lambda g, input_shape, kernel, dilation, padding, stride: _col2im(
        g, tuple(input_shape[2:]), kernel, dilation, padding, stride
    ),
    node="Im2ColBackward0",
)
_col2im: Any = linear(
    "col2im",
    lambda input, size, kernel, dilation, padding, stride: kernels.col2im(
        input, size, kernel, stride, _pairs(padding), dilation
    ),
    lambda g, kernel, dilation, padding, stride: _im2col(g, kernel, dilation, padding, stride),
    node="Col2ImBackward0",
)


def _two(value: Any) -> Ints:
    return tuple(int(v) for v in value) if isinstance(value, (tuple, list)) else (int(value), int(value))


def _positive(name: str, values: Ints) -> None:
    if any(v <= 0 for v in values):
        words = f"{name}_height: {values[0]} {name}_width: {values[1]}"
        raise RuntimeError(f"{name.split('_')[0]} should be greater than zero, but got {words}")


def unfold(input: Value, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Value:
    """The windows of (N, C, H, W) or (C, H, W) as columns, (N, C * KH * KW, places)."""
    kernel, dil, pad, step = (_two(v) for v in (kernel_size, dilation, padding, stride))
    for name, values in (("kernel_size", kernel), ("dilation", dil), ("padding", pad), ("stride", step)):
        if len(values) != 2:
            raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(values)}")
    _positive("kernel", kernel)
    _positive("dilation", dil)
    if any(p < 0 for p in pad):
        raise RuntimeError(f"padding should be non-negative, but got pad_height: {pad[0]} pad_width: {pad[1]}")
    _positive("stride", step)
    n = input.ndim
    shape = list(input.shape)
    if not (n in (3, 4) and all(shape[-3:])):
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
            f"but got: {shape}"
        )
    out = kernels.output_size(shape[-2:], kernel, step, _pairs(pad), dil)
    if any(o < 1 for o in out):
        raise RuntimeError(
            f"Given input with spatial size ({shape[-2]}, {shape[-1]}), kernel_size=({kernel[0]}, {kernel[1]}), "
            f"dilation=({dil[0]}, {dil[1]}), padding=({pad[0]}, {pad[1]}), calculated shape of the array of sliding "
            f"blocks as ({out[0]}, {out[1]}), but its components must be at least one."
        )
    refusal("i", "im2col_out_cpu")("", input.dtype)
    if n == 4:
        return _im2col(input, kernel, dil, pad, step)
    return _alone(input, lambda x: _im2col(x, kernel, dil, pad, step))


def _alone(input: Value, fn: Any) -> Value:
    """A sample without a batch."""
    return fn(input.unsqueeze(0)).squeeze(0)


def fold(
    input: Value, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Value:
    """The adjoint of `unfold`: columns (N, C * KH * KW, places) added up to images of `output_size`."""
    size, kernel, dil, pad, step = (_two(v) for v in (output_size, kernel_size, dilation, padding, stride))
    for name, values in (
        ("output_size", size), ("kernel_size", kernel), ("dilation", dil), ("padding", pad), ("stride", step)
    ):  # fmt: skip
        if len(values) != 2:
            raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(values)}")
    _positive("kernel", kernel)
    _positive("dilation", dil)
    if any(p < 0 for p in pad):
        raise RuntimeError(f"padding should be non-negative, but got pad_height: {pad[0]} pad_width: {pad[1]}")
    _positive("stride", step)
    n, shape = input.ndim, list(input.shape)
    if not (n in (2, 3) and all(shape[-2:])):
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for "
            f"input, but got: {shape}"
        )
    planes, count = shape[-2], math.prod(kernel)
    if planes % count:
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)="
            f"{planes} and kernel_size=({kernel[0]}, {kernel[1]})."
        )
    out = kernels.output_size(size, kernel, step, _pairs(pad), dil)
    words = (
        f"output_size=({size[0]}, {size[1]}), kernel_size=({kernel[0]}, {kernel[1]}), dilation=({dil[0]}, {dil[1]}), "
        f"padding=({pad[0]}, {pad[1]}), stride=({step[0]}, {step[1]})"
    )
    if shape[-1] != math.prod(out):
        raise RuntimeError(
            f"Given {words}, expected size of input's dimension 2 to match the calculated number of sliding blocks "
            f"{out[0]} * {out[1]} = {math.prod(out)}, but got input.size(2)={shape[-1]}."
        )
    if any(o < 1 for o in out):
        raise RuntimeError(
            f"Given {words}, calculated shape of the array of sliding blocks as ({out[0]}, {out[1]}), which is too "
            "small (non-positive)"
        )
    refusal("bi", "col2im_out_cpu")("", input.dtype)
    if n == 3:
        return _col2im(input, size, kernel, dil, pad, step)
    return _alone(input, lambda x: _col2im(x, size, kernel, dil, pad, step))


# ------------------------------------------------------------------ pixels and channels


def _shuffle(input: Any, upscale_factor: int) -> Any:
    r = upscale_factor
    *lead, c, h, w = input.shape
    x = input.reshape(*lead, c // (r * r), r, r, h, w)
    n = len(lead)
    x = x.transpose(*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return x.copy().reshape(*lead, c // (r * r), h * r, w * r)


def _unshuffle(input: Any, downscale_factor: int) -> Any:
    r = downscale_factor
    *lead, c, h, w = input.shape
    x = input.reshape(*lead, c, h // r, r, w // r, r)
    n = len(lead)
    x = x.transpose(*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return x.copy().reshape(*lead, c * r * r, h // r, w // r)


_pixel_shuffle: Any = linear(
    "pixel_shuffle", _shuffle, lambda g, upscale_factor: _pixel_unshuffle(g, upscale_factor), out_arg=False
)
_pixel_unshuffle: Any = linear(
    "pixel_unshuffle", _unshuffle, lambda g, downscale_factor: _pixel_shuffle(g, downscale_factor), out_arg=False
)


def pixel_shuffle(input: Value, upscale_factor: int) -> Value:
    """(..., C r^2, H, W) to (..., C, H r, W r): channels become pixels."""
    shape = list(input.shape)
    if len(shape) < 3:
        raise RuntimeError(
            f"pixel_shuffle expects input to have at least 3 dimensions, but got input with {len(shape)} dimension(s)"
        )
    if upscale_factor <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {upscale_factor}")
    if shape[-3] % upscale_factor**2:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={shape[-3]} is not divisible by {upscale_factor**2}"
        )
    return _pixel_shuffle(input, upscale_factor)


def pixel_unshuffle(input: Value, downscale_factor: int) -> Value:
    """(..., C, H r, W r) to (..., C r^2, H, W): pixels become channels."""
    shape = list(input.shape)
    if len(shape) < 3:
        raise RuntimeError(
            f"pixel_unshuffle expects input to have at least 3 dimensions, but got input with {len(shape)} dimension(s)"
        )
    if downscale_factor <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {downscale_factor}")
    for name, d in (("height", -2), ("width", -1)):
        if shape[d] % downscale_factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({d})={shape[d]} "
                f"is not divisible by {downscale_factor}"
            )
    return _pixel_unshuffle(input, downscale_factor)


def _mixed(input: Any, groups: int) -> Any:
    n, c, *rest = input.shape
    x = input.reshape(n, groups, c // groups, math.prod(rest)).swapaxes(1, 2)
    return x.copy().reshape(input.shape)


_native_shuffle: Any = linear(
    "native_channel_shuffle", _mixed, lambda g, input_shape, groups: _native_shuffle(g, input_shape[1] // groups),
    node="ChannelShuffleBackward0", out_arg=False,
)  # fmt: skip


def channel_shuffle(input: Value, groups: int) -> Value:
    """The channels of the groups in turn: those of (N, g * c, ...) seen as (g, c), transposed."""
    shape = list(input.shape)
    if len(shape) < 3:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {shape}")
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if shape[1] % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {shape[1]} channels and {groups} groups."
        )
    return _native_shuffle(input, groups)


def native_channel_shuffle(input: Value, groups: int) -> Value:
    """`channel_shuffle`."""
    return channel_shuffle(input, groups)
