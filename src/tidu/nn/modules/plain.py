"""Modules that are a function and its settings. Source: torch.nn.modules.flatten, .fold, .pixelshuffle, ..."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from .module import Module
from .utils import _ntuple, shows

# The files of their own that PyTorch has them in, by which saved modules know the classes.
FILES = {
    "flatten": "Flatten Unflatten",
    "fold": "Fold Unfold",
    "pixelshuffle": "PixelShuffle PixelUnshuffle",
    "channelshuffle": "ChannelShuffle",
    "upsampling": "Upsample UpsamplingBilinear2d UpsamplingNearest2d",
    "distance": "CosineSimilarity PairwiseDistance",
    "dropout": "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout _DropoutNd",
    "padding": (
        "CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d ReflectionPad1d ReflectionPad2d "
        "ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d _CircularPadNd "
        "_ConstantPadNd"
    ),
}


class Flatten(Module):
    """Dimensions start_dim to end_dim joined into one."""

    __constants__ = ["start_dim", "end_dim"]

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Any) -> Any:
        return input.flatten(self.start_dim, self.end_dim)

    extra_repr = shows("start_dim end_dim")


class Unflatten(Module):
    """A dimension split into several."""

    __constants__ = ["dim", "unflattened_size"]

    def __init__(self, dim: Any, unflattened_size: Any) -> None:
        super().__init__()
        self._require_tuple_int(unflattened_size)
        self.dim, self.unflattened_size = dim, unflattened_size

    def _require_tuple_int(self, input: Any) -> None:
        if not isinstance(input, (tuple, list)):
            raise TypeError(f"unflattened_size must be a tuple of ints, but found type {type(input).__name__}")
        for at, elem in enumerate(input):
            if not isinstance(elem, int):
                raise TypeError(
                    f"unflattened_size must be tuple of ints, but found element of type {type(elem).__name__} at "
                    f"pos {at}"
                )

    def forward(self, input: Any) -> Any:
        return input.unflatten(self.dim, self.unflattened_size)

    extra_repr = shows("dim unflattened_size")


class Fold(Module):
    """Patches, laid out as columns, added up to pictures."""

    __constants__ = ["output_size", "kernel_size", "dilation", "padding", "stride"]

    def __init__(
        self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__()
        self.output_size, self.kernel_size, self.dilation = output_size, kernel_size, dilation
        self.padding, self.stride = padding, stride

    def forward(self, input: Any) -> Any:
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    extra_repr = shows("output_size kernel_size dilation padding stride")


class Unfold(Module):
    """The patches of pictures, laid out as columns."""

    __constants__ = ["kernel_size", "dilation", "padding", "stride"]

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input: Any) -> Any:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    extra_repr = shows("kernel_size dilation padding stride")


class PixelShuffle(Module):
    """(N, C r^2, H, W) to (N, C, H r, W r)."""

    __constants__ = ["upscale_factor"]

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Any) -> Any:
        return F.pixel_shuffle(input, self.upscale_factor)

    extra_repr = shows("upscale_factor")


class PixelUnshuffle(Module):
    """(N, C, H r, W r) to (N, C r^2, H, W)."""

    __constants__ = ["downscale_factor"]

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Any) -> Any:
        return F.pixel_unshuffle(input, self.downscale_factor)

    extra_repr = shows("downscale_factor")


class ChannelShuffle(Module):
    """Channels in groups, dealt out anew."""

    __constants__ = ["groups"]

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Any) -> Any:
        return F.channel_shuffle(input, self.groups)

    extra_repr = shows("groups")


class Upsample(Module):
    """To another size: see `functional.interpolate`."""

    __constants__ = ["size", "scale_factor", "mode", "align_corners", "name", "recompute_scale_factor"]

    def __init__(
        self, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor: Any = tuple(float(f) for f in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode, self.align_corners, self.recompute_scale_factor = (mode, align_corners, recompute_scale_factor)

    def forward(self, input: Any) -> Any:
        return F.interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )  # fmt: skip

    def __setstate__(self, state: Any) -> None:
        state.setdefault("recompute_scale_factor", True)
        super().__setstate__(state)

    def extra_repr(self) -> str:
        if self.scale_factor is not None:
            return f"scale_factor={self.scale_factor!r}, mode={self.mode!r}"
        return f"size={self.size!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """To another size, by the nearest pixel."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """To another size, bilinearly between the corners."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class PairwiseDistance(Module):
    """|x1 - x2 + eps|_p over the last dimension."""

    __constants__ = ["norm", "eps", "keepdim"]

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Any, x2: Any) -> Any:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """x1 . x2 / (|x1| |x2|) along a dimension."""

    __constants__ = ["dim", "eps"]

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1: Any, x2: Any) -> Any:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class _DropoutNd(Module):
    __constants__ = ["p", "inplace"]
    p: float
    inplace: bool

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    extra_repr = shows("p inplace")


class Dropout(_DropoutNd):
    """In training, each element is zero with probability p, else divided by 1 - p."""

    def forward(self, input: Any) -> Any:
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Dropout of whole channels of (N, C, L)."""

    def forward(self, input: Any) -> Any:
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Dropout of whole channels of (N, C, H, W)."""

    def forward(self, input: Any) -> Any:
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Dropout of whole channels of (N, C, D, H, W)."""

    def forward(self, input: Any) -> Any:
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout that keeps mean and variance, for SELU networks."""

    def forward(self, input: Any) -> Any:
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """AlphaDropout of whole channels."""

    def forward(self, input: Any) -> Any:
        return F.feature_alpha_dropout(input, self.p, self.training)


class _Pad(Module):
    """Padding of the last `_dims` dimensions: two numbers for each, the last dimension first."""

    __constants__ = ["padding"]
    _dims = 0
    _mode = "constant"

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = _ntuple(2 * self._dims)(padding)

    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
        return F.pad(input, self.padding, self._mode)

    def _check_input_dim(self, input: Any) -> None:
        pass

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _CircularPadNd(_Pad):
    _mode = "circular"

    def _check_input_dim(self, input: Any) -> None:
        n = self._dims + 1
        if input.dim() not in (n, n + 1):
            raise ValueError(f"expected {n}D or {n + 1}D input (got {input.dim()}D input)")


class CircularPad1d(_CircularPadNd):
    """Padding with what is at the other end, of (N, C, L)."""

    _dims = 1


class CircularPad2d(_CircularPadNd):
    """Padding with what is at the other end, of (N, C, H, W)."""

    _dims = 2


class CircularPad3d(_CircularPadNd):
    """Padding with what is at the other end, of (N, C, D, H, W)."""

    _dims = 3


class _ConstantPadNd(_Pad):
    __constants__ = ["padding", "value"]

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Any) -> Any:
        return F.pad(input, self.padding, "constant", self.value)

    extra_repr = shows("padding value")


class ConstantPad1d(_ConstantPadNd):
    """Padding with a value, of (N, C, L)."""

    _dims = 1


class ConstantPad2d(_ConstantPadNd):
    """Padding with a value, of (N, C, H, W)."""

    _dims = 2


class ConstantPad3d(_ConstantPadNd):
    """Padding with a value, of (N, C, D, H, W)."""

    _dims = 3


class ReflectionPad1d(_Pad):
    """Padding with the reflection at the edge, of (N, C, L)."""

    _dims, _mode = 1, "reflect"


class ReflectionPad2d(_Pad):
    """Padding with the reflection at the edge, of (N, C, H, W)."""

    _dims, _mode = 2, "reflect"


class ReflectionPad3d(_Pad):
    """Padding with the reflection at the edge, of (N, C, D, H, W)."""

    _dims, _mode = 3, "reflect"


class ReplicationPad1d(_Pad):
    """Padding with the edge, of (N, C, L)."""

    _dims, _mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    """Padding with the edge, of (N, C, H, W)."""

    _dims, _mode = 2, "replicate"


class ReplicationPad3d(_Pad):
    """Padding with the edge, of (N, C, D, H, W)."""

    _dims, _mode = 3, "replicate"


class _Zeros:
    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)  # type: ignore[call-arg]

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_Zeros, ConstantPad1d):
    """Padding with zeros, of (N, C, L)."""


class ZeroPad2d(_Zeros, ConstantPad2d):
    """Padding with zeros, of (N, C, H, W)."""


class ZeroPad3d(_Zeros, ConstantPad3d):
    """Padding with zeros, of (N, C, D, H, W)."""
