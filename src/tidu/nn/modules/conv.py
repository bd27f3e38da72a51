"""Convolutions. Source: torch.nn.modules.conv."""

from __future__ import annotations

import math
from typing import Any

from ...ops.factories import empty
from .. import functional as F
from .. import init
from ..parameter import Parameter, UninitializedParameter
from .module import Module
from .utils import LazyModuleMixin, _ntuple, _reverse_repeat_tuple

_MODES = {"zeros", "reflect", "replicate", "circular"}


class _ConvNd(Module):
    """What all convolutions have in common; `_dims` is the number of spatial dimensions."""

    __constants__ = [
        "stride", "padding", "dilation", "groups", "padding_mode", "output_padding", "in_channels", "out_channels",
        "kernel_size",
    ]  # fmt: skip
    _dims = 0
    weight: Any
    bias: Any
    padding: Any

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
        transposed: bool, output_padding: Any, groups: int, bias: bool, padding_mode: str, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        several = _ntuple(self._dims)
        kernel, stride, dilation = several(kernel_size), several(stride), several(dilation)
        if isinstance(padding, str):
            words = {"same", "valid"}
            if padding not in words:
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {words}")
            if padding == "same" and any(s != 1 for s in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        else:
            padding = several(padding)
        if padding_mode not in _MODES:
            raise ValueError(f"padding_mode must be one of {_MODES}, but got padding_mode='{padding_mode}'")
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride, self.padding, self.dilation = kernel, stride, padding, dilation
        self.transposed, self.output_padding = transposed, several(output_padding)
        self.groups, self.padding_mode = groups, padding_mode
        self._reversed_padding_repeated_twice = self._pads()
        ends = (in_channels, out_channels) if transposed else (out_channels, in_channels)
        shape = (ends[0], ends[1] // groups, *kernel)
        self.weight = Parameter(empty(shape, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _pads(self) -> Any:
        if not isinstance(self.padding, str):
            return _reverse_repeat_tuple(self.padding, 2)
        pads = [0, 0] * self._dims
        if self.padding == "same":
            for i, (d, k) in enumerate(zip(reversed(self.dilation), reversed(self.kernel_size), strict=True)):
                total = d * (k - 1)
                pads[2 * i : 2 * i + 2] = total // 2, total - total // 2
        return pads

    def reset_parameters(self) -> None:
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Any) -> Any:
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Any, weight: Any, bias: Any) -> Any:
        conv = getattr(F, f"conv{self._dims}d")
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = (0,) * self._dims
        return conv(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def extra_repr(self) -> str:
        s = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        for name, plain in (("padding", 0), ("dilation", 1), ("output_padding", 0)):
            value = getattr(self, name)
            if value != (plain,) * len(value):
                s += f", {name}={value}"
        if self.groups != 1:
            s += f", groups={self.groups}"
        if self.bias is None:
            s += ", bias=False"
        if self.padding_mode != "zeros":
            s += f", padding_mode={self.padding_mode}"
        return s

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        if not hasattr(self, "padding_mode"):
            self.padding_mode = "zeros"


class _Conv(_ConvNd):
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros", device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, False, 0, groups, bias, padding_mode,
            device, dtype,
        )  # fmt: skip


class Conv1d(_Conv):
    """A convolution of (N, C, L). Source: torch.nn.Conv1d. Args: those of `Conv2d`."""

    _dims = 1


class Conv2d(_Conv):
    """A convolution of (N, C, H, W): out[n, o] = bias[o] + sum over c of weight[o, c] * input[n, c].

    Args:
        in_channels, out_channels: the numbers of channels.
        kernel_size, stride, dilation: numbers, or one a dimension.
        padding: how much on each side; or "same" or "valid".
        groups: channels are split into so many groups that do not see each other.
        bias: whether there is one.
        padding_mode: "zeros", "reflect", "replicate" or "circular".
    """

    _dims = 2


class Conv3d(_Conv):
    """A convolution of (N, C, D, H, W). Source: torch.nn.Conv3d. Args: those of `Conv2d`."""

    _dims = 3


class _ConvTransposeNd(_ConvNd):
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, groups: int = 1, bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros",
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, True, output_padding, groups, bias,
            padding_mode, device, dtype,
        )  # fmt: skip

    def _output_padding(self, input: Any, output_size: Any) -> Any:
        """How much to add so that the output has the size asked for."""
        if output_size is None:
            return self.output_padding
        n = self._dims
        lead = 2 if input.dim() == n + 2 else 1
        sizes = output_size
        if len(sizes) == lead + n:
            sizes = sizes[lead:]
        if len(sizes) != n:
            raise ValueError(
                f"ConvTranspose{n}D: for {input.dim()}D input, output_size must have {n} or {lead + n} elements (got "
                f"{len(sizes)})"
            )
        least = [
            (input.size(d + lead) - 1) * self.stride[d]
            - 2 * self.padding[d]
            + self.dilation[d] * (self.kernel_size[d] - 1)
            + 1
            for d in range(n)
        ]
        most = [m + s - 1 for m, s in zip(least, self.stride, strict=True)]
        if any(not a <= size <= b for a, size, b in zip(least, sizes, most, strict=True)):
            raise ValueError(
                f"requested an output size of {sizes}, but valid sizes range from {least} to {most} (for an input of "
                f"{input.size()[2:]})"
            )
        return [size - a for size, a in zip(sizes, least, strict=True)]

    def forward(self, input: Any, output_size: Any = None) -> Any:
        if self.padding_mode != "zeros":
            raise ValueError(f"Only `zeros` padding mode is supported for ConvTranspose{self._dims}d")
        conv = getattr(F, f"conv_transpose{self._dims}d")
        extra = self._output_padding(input, output_size)
        return conv(input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation)


class ConvTranspose1d(_ConvTransposeNd):
    """The transpose of a convolution of (N, C, L)."""

    _dims = 1


class ConvTranspose2d(_ConvTransposeNd):
    """The transpose of a convolution of (N, C, H, W): its gradient as a layer.

    Args: those of `Conv2d`, and
        output_padding: more size on one side of the output, where several input sizes would come from one.
    """

    _dims = 2


class ConvTranspose3d(_ConvTransposeNd):
    """The transpose of a convolution of (N, C, D, H, W)."""

    _dims = 3


# ------------------------------------------------------------------ lazy


class _LazyConv(LazyModuleMixin):
    def __init__(
        self, out_channels: int, kernel_size: Any, *args: Any, bias: bool = True, device: Any = None,
        dtype: Any = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(0, 0, kernel_size, *args, bias=False, **kwargs)
        self.weight: Any = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias: Any = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Any, *args: Any, **kwargs: Any) -> None:
        if not self.has_uninitialized_params():
            return
        n = self._dims
        if input.dim() not in (n + 1, n + 2):
            raise RuntimeError(
                f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {type(self).__name__}, but got input of "
                f"size: {input.shape}"
            )
        c = self.in_channels = input.shape[1] if input.dim() == n + 2 else input.shape[0]
        if c % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        ends = (c, self.out_channels) if self.transposed else (self.out_channels, c)
        self.weight.materialize((ends[0], ends[1] // self.groups, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


class LazyConv1d(_LazyConv, Conv1d):
    """A Conv1d that finds out `in_channels` at its first call."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """A Conv2d that finds out `in_channels` at its first call."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """A Conv3d that finds out `in_channels` at its first call."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConv, ConvTranspose1d):
    """A ConvTranspose1d that finds out `in_channels` at its first call."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConv, ConvTranspose2d):
    """A ConvTranspose2d that finds out `in_channels` at its first call."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConv, ConvTranspose3d):
    """A ConvTranspose3d that finds out `in_channels` at its first call."""

    cls_to_become = ConvTranspose3d
