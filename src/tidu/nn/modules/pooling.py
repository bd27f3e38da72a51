"""Pooling. Source: torch.nn.modules.pooling."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from .module import Module
from .utils import _ntuple, shows


class _Pool(Module):
    _dims = 0

    def _function(self, name: str) -> Any:
        return getattr(F, f"{name}{self._dims}d")

    def _several(self, x: Any) -> tuple[Any, ...]:
        return _ntuple(self._dims)(x)


class _MaxPoolNd(_Pool):
    __constants__ = ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"]

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        return_indices: bool = False, ceil_mode: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input: Any) -> Any:
        return self._function("max_pool")(
            input, self.kernel_size, self.stride, self.padding, self.dilation, ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )  # fmt: skip

    extra_repr = shows("kernel_size stride padding dilation ceil_mode")


class MaxPool1d(_MaxPoolNd):
    """The maximum of each window of (N, C, L)."""

    _dims = 1


class MaxPool2d(_MaxPoolNd):
    """The maximum of each window of (N, C, H, W).

    Args:
        kernel_size: the window's size.
        stride: how far it moves; by default its size.
        padding: what is added on each side, as minus infinity.
        dilation: the distance of elements in a window.
        return_indices: where the maxima were, too.
        ceil_mode: windows may go beyond the end.
    """

    _dims = 2


class MaxPool3d(_MaxPoolNd):
    """The maximum of each window of (N, C, D, H, W)."""

    _dims = 3


class _MaxUnpoolNd(_Pool):
    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = self._several(kernel_size)
        self.stride = self._several(kernel_size if stride is None else stride)
        self.padding = self._several(padding)

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        unpool = self._function("max_unpool")
        return unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    extra_repr = shows("kernel_size stride padding")


class MaxUnpool1d(_MaxUnpoolNd):
    """Maxima put back where they were."""

    _dims = 1


class MaxUnpool2d(_MaxUnpoolNd):
    """Maxima put back where they were."""

    _dims = 2


class MaxUnpool3d(_MaxUnpoolNd):
    """Maxima put back where they were."""

    _dims = 3


class AvgPool1d(_Pool):
    """The mean of each window of (N, C, L)."""

    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"]
    _dims = 1

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = self._several(kernel_size)
        self.stride = self._several(kernel_size if stride is None else stride)
        self.padding = self._several(padding)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input: Any) -> Any:
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)

    extra_repr = shows("kernel_size stride padding")


class _AvgPoolNd(_Pool):
    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override"]

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def forward(self, input: Any) -> Any:
        return self._function("avg_pool")(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad,
            self.divisor_override,
        )  # fmt: skip

    extra_repr = shows("kernel_size stride padding")


class AvgPool2d(_AvgPoolNd):
    """The mean of each window of (N, C, H, W).

    Args:
        kernel_size, stride, padding, ceil_mode: as for `MaxPool2d`; the padding is zeros.
        count_include_pad: the padding counts.
        divisor_override: divide by this instead of the window's size.
    """

    _dims = 2


class AvgPool3d(_AvgPoolNd):
    """The mean of each window of (N, C, D, H, W)."""

    _dims = 3


class _FractionalMaxPoolNd(_Pool):
    __constants__ = ["kernel_size", "return_indices", "output_size", "output_ratio"]

    def __init__(
        self, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        several = self._several
        self.kernel_size, self.return_indices = several(kernel_size), return_indices
        if self._dims == 3 and any(k <= 0 for k in self.kernel_size):
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else several(output_size)
        self.output_ratio = None if output_ratio is None else several(output_ratio)
        if output_size is None and output_ratio is None:
            raise ValueError(f"{type(self).__name__} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Any) -> Any:
        return self._function("fractional_max_pool")(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices,
            _random_samples=self._random_samples,
        )  # fmt: skip


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """The maximum of windows at random places, to a given size or ratio."""

    _dims = 2


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """The maximum of windows at random places, to a given size or ratio."""

    _dims = 3


class _LPPoolNd(_Pool):
    __constants__ = ["norm_type", "kernel_size", "stride", "ceil_mode"]

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = (norm_type, kernel_size, stride, ceil_mode)

    def forward(self, input: Any) -> Any:
        pool = self._function("lp_pool")
        return pool(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    extra_repr = shows("norm_type kernel_size stride ceil_mode")


class LPPool1d(_LPPoolNd):
    """(sum of x^p)^(1/p) over each window of (N, C, L)."""

    _dims = 1


class LPPool2d(_LPPoolNd):
    """(sum of x^p)^(1/p) over each window of (N, C, H, W)."""

    _dims = 2


class LPPool3d(_LPPoolNd):
    """(sum of x^p)^(1/p) over each window of (N, C, D, H, W)."""

    _dims = 3


class _AdaptiveMaxPoolNd(_Pool):
    __constants__ = ["output_size", "return_indices"]

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def forward(self, input: Any) -> Any:
        return self._function("adaptive_max_pool")(input, self.output_size, self.return_indices)

    extra_repr = shows("output_size")


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """Maxima of as many windows of (N, C, L) as make the output size."""

    _dims = 1


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Maxima of as many windows of (N, C, H, W) as make the output size."""

    _dims = 2


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """Maxima of as many windows of (N, C, D, H, W) as make the output size."""

    _dims = 3


class _AdaptiveAvgPoolNd(_Pool):
    __constants__ = ["output_size"]

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Any) -> Any:
        return self._function("adaptive_avg_pool")(input, self.output_size)

    extra_repr = shows("output_size")


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Means of as many windows of (N, C, L) as make the output size."""

    _dims = 1


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Means of as many windows of (N, C, H, W) as make the output size."""

    _dims = 2


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Means of as many windows of (N, C, D, H, W) as make the output size."""

    _dims = 3
