"""Images taken apart and put together: windows as columns, pixels as channels, channels between one another."""

from __future__ import annotations

import math
from typing import Any

from ..arrays import convolution as kernels
from ..core.linear import linear
from ._dtypes import refusal

__all__ = ["channel_shuffle", "native_channel_shuffle", "pixel_shuffle", "pixel_unshuffle"]
METHODS = ""

Value = Any
Ints = tuple[int, ...]

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
    """The windows of (N, C, H, W) or (C, H, W) as columns, (N, C * KH * KW, places).

    Source: torch.nn.functional.unfold.
    """
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
            f"dilation=({dil[0]}, {dil[1]}), padding=({pad[0]}, {pad[1]}), calculated shape of the array of "
            "sliding blocks "
            f"as ({out[0]}, {out[1]}), but its components must be at least one."
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
    """The adjoint of `unfold`: columns (N, C * KH * KW, places) added up to images of `output_size`.

    Source: torch.nn.functional.fold.
    """
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
            f"Given {words}, calculated shape of the array of sliding blocks as ({out[0]}, {out[1]}), which "
            "is too small "
            "(non-positive)"
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
    """(..., C r^2, H, W) to (..., C, H r, W r): channels become pixels. Source: torch.pixel_shuffle."""
    shape = list(input.shape)
    if len(shape) < 3:
        raise RuntimeError(
            f"pixel_shuffle expects input to have at least 3 dimensions, but got input with {len(shape)} dimension(s)"
        )
    if upscale_factor <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {upscale_factor}")
    if shape[-3] % upscale_factor**2:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
            "upscale_factor, but "
            f"input.size(-3)={shape[-3]} is not divisible by {upscale_factor**2}"
        )
    return _pixel_shuffle(input, upscale_factor)


def pixel_unshuffle(input: Value, downscale_factor: int) -> Value:
    """(..., C, H r, W r) to (..., C r^2, H, W): pixels become channels. Source: torch.pixel_unshuffle."""
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
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"input.size({d})={shape[d]} is not "
                f"divisible by {downscale_factor}"
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
    """The channels of the groups in turn: those of (N, g * c, ...) seen as (g, c), transposed.

    Source: torch.channel_shuffle.
    """
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
    """`channel_shuffle`. Source: torch.native_channel_shuffle."""
    return channel_shuffle(input, groups)
