"""Images of another size: interpolate and its kin. Every mode is linear, and takes a dimension after another."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import resample
from ..core.linear import linear
from ._make import laid_as
from .adaptive import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

__all__: list[str] = []
METHODS = ""

Value = Any
Ints = tuple[int, ...]
Scales = tuple[float | None, ...]


def _taps(mode: str, n: int, m: int, scale: float | None, corners: bool, real: Any) -> Any:
    if mode in ("nearest", "nearest_exact"):
        return resample.nearest(n, m, scale, mode == "nearest_exact")
    if mode == "linear":
        return resample.linear(n, m, scale, corners, real)
    if mode == "cubic":
        return resample.cubic(n, m, scale, corners, real)
    return resample.antialiased(n, m, scale, corners, real, mode.removesuffix("_aa"))


def _real(dt: Any) -> Any:
    return np.float64 if dt == np.float64 else np.float32


def _forward(mode: str, input: Any, sizes: Ints, scales: Scales, corners: bool) -> Any:
    dt = input.dtype
    if dt.kind == "u" and not mode.startswith("nearest"):
        return laid_as(_bytes(mode, input, sizes, scales, corners), input)
    real = _real(dt)
    x = input.astype(real) if dt.itemsize == 2 else input
    n = len(sizes)
    for d, (m, scale) in enumerate(zip(sizes, scales, strict=True)):
        axis = x.ndim - n + d
        if mode.startswith("nearest") and x.shape[axis] == m and scale is None:
            continue
        x = resample.apply(x, _taps(mode, x.shape[axis], m, scale, corners, real), axis)
    out = x.copy() if x is input else x.astype(dt, copy=False)
    return laid_as(np.ascontiguousarray(out), input)


def _bytes(mode: str, x: Any, sizes: Ints, scales: Scales, corners: bool) -> Any:
    """Bytes by whole numbers: weights as 16-bit fractions, and rounding after each dimension, the last one first."""
    n = len(sizes)
    for d in reversed(range(n)):
        axis = x.ndim - n + d
        if x.shape[axis] == sizes[d]:
            continue
        index, w = _taps(mode, x.shape[axis], sizes[d], scales[d], corners, np.float64)
        w = w.copy()
        for k in range(1, w.shape[-1]):  # taps that the border has moved to one place are one
            same = index[:, k] == index[:, k - 1]
            w[:, k] += np.where(same, w[:, k - 1], 0)
            w[same, k - 1] = 0
        bits = 0
        while bits < 22 and int(0.5 + w.max() * (1 << (bits + 1))) < 1 << 15:
            bits += 1
        whole = np.trunc(w * (1 << bits) + np.where(w < 0, -0.5, 0.5))
        total = resample.apply(x.astype(np.float64), (index, whole), axis) + (1 << (bits - 1))
        x = np.clip(np.floor(total / (1 << bits)), 0, 255)
    return np.ascontiguousarray(x).astype(np.uint8)


def _back(mode: str, g: Any, size: Ints, scales: Scales, corners: bool) -> Any:
    dt = g.dtype
    real = _real(dt)
    x = g.astype(real) if dt.itemsize == 2 else g
    n = len(size)
    for d in reversed(range(n)):
        axis = x.ndim - n + d
        x = resample.adjoint(x, _taps(mode, size[d], x.shape[axis], scales[d], corners, real), size[d], axis)
    return np.ascontiguousarray(x).astype(dt, copy=False)


def _op(name: str, mode: str, node: str) -> Callable[..., Any]:
    op = linear(
        name,
        lambda input, sizes, scales, corners: _forward(mode, input, sizes, scales, corners),
        lambda g, input_shape, scales, corners: back(g, tuple(input_shape[2:]), scales, corners),
        node=node,
        out_arg=False,
    )
    back = linear(
        name + "_backward",
        lambda input, sizes, scales, corners: _back(mode, input, sizes, scales, corners),
        lambda g, input_shape, scales, corners: op(g, tuple(input_shape[2:]), scales, corners),
        register=False,
    )
    return op


# (mode of interpolate, spatial dimensions, antialias) -> the op
_OPS = {
    ("nearest", n, False): _op(f"upsample_nearest{n}d", "nearest", f"UpsampleNearest{n}DBackward0") for n in (1, 2, 3)
} | {
    ("nearest-exact", n, False): _op(
        f"_upsample_nearest_exact{n}d", "nearest_exact", f"UpsampleNearestExact{n}DBackward0"
    )
    for n in (1, 2, 3)
} | {
    ("linear", 1, False): _op("upsample_linear1d", "linear", "UpsampleLinear1DBackward0"),
    ("bilinear", 2, False): _op("upsample_bilinear2d", "linear", "UpsampleBilinear2DBackward0"),
    ("trilinear", 3, False): _op("upsample_trilinear3d", "linear", "UpsampleTrilinear3DBackward0"),
    ("bicubic", 2, False): _op("upsample_bicubic2d", "cubic", "UpsampleBicubic2DBackward0"),
    ("bilinear", 2, True): _op("_upsample_bilinear2d_aa", "linear_aa", "UpsampleBilinear2DAaBackward0"),
    ("bicubic", 2, True): _op("_upsample_bicubic2d_aa", "cubic_aa", "UpsampleBicubic2DAaBackward0"),
    ("lanczos", 2, True): _op("_upsample_lanczos2d_aa", "lanczos_aa", "UpsampleLanczos2DAaBackward0"),
}  # fmt: skip

_KERNELS = {
    "nearest": "compute_indices_weights_nearest", "nearest-exact": "compute_indices_weights_nearest",
    "linear": "compute_indices_weights_linear", "trilinear": "compute_indices_weights_linear",
    "bicubic": "compute_indices_weights_cubic", "bilinear": "upsample_bilinear2d_channels_last",
}  # fmt: skip
_SIDES = {1: "W", 2: "HW", 3: "DHW"}


def _check(input: Value, mode: str, sizes: Ints, antialias: bool) -> None:
    n = len(sizes)
    have = tuple(input.shape[2:])
    if any(v <= 0 for v in (*have, *sizes)):
        names = _SIDES[n]
        a, b = (", ".join(f"{c}: {v}" for c, v in zip(names, vs, strict=True)) for vs in (have, sizes))
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input ({a}) {'and ' * (n == 1)}output ({b})"
        )
    if 0 in input.shape[1:]:
        raise RuntimeError(f"Non-empty {n + 2}D data tensor expected but got a tensor with sizes {list(input.shape)}")
    d = input.dtype
    good = d.category == 2 or (d.name == "uint8" and mode not in ("linear", "trilinear"))
    if not good:
        word = _KERNELS.get(mode, "")
        if mode.startswith("nearest") and n == 2:
            word = "upsample_nearest2d_channels_last"
        raise NotImplementedError(f"\"{word}\" not implemented for '{d.legacy}'")


_MODES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"
_RANK = {"linear": 3, "bilinear": 4, "trilinear": 5, "bicubic": 4, "lanczos": 4}


def interpolate(
    input: Value, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None, antialias: bool = False,
) -> Value:  # fmt: skip
    """(N, C, ...) resampled to another spatial `size`, or by `scale_factor`.

    **Arguments** mode: "nearest", "nearest-exact", "linear" (3-d input), "bilinear", "bicubic", "lanczos" (4-d),
    "trilinear" (5-d) or "area"; align_corners: let the outermost elements coincide, instead of the edges of their
    squares; recompute_scale_factor: go by the sizes, not by scale_factor; antialias: filter when shrinking.
    Source: torch.nn.functional.interpolate.

    >>> import tidu as torch
    >>> torch.nn.functional.interpolate(torch.tensor([[[1., 2.]]]), scale_factor=2)
    tensor([[[1., 1., 2., 2.]]])
    """
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | bilinear | "
                "bicubic | trilinear"
            )
    elif align_corners is None:
        align_corners = False
    n = input.ndim - 2
    scales: Any = None
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if isinstance(size, (list, tuple)):
            if len(size) != n:
                raise ValueError(
                    "Input and output must have the same number of spatial dimensions, but got input with spatial "
                    f"dimensions of {list(input.shape[2:])} and output size of {size}. Please provide input "
                    "tensor in (N, C, "
                    "d1, d2, ...,dK) format and output size in (o1, o2, ...,oK) format."
                )
            sizes = tuple(size)
        else:
            sizes = (size,) * n
    elif scale_factor is not None:
        if isinstance(scale_factor, (list, tuple)):
            if len(scale_factor) != n:
                raise ValueError(
                    "Input and scale_factor must have the same number of spatial dimensions, but got input "
                    "with spatial "
                    f"dimensions of {list(input.shape[2:])} and scale_factor of shape {scale_factor}. Please "
                    "provide input "
                    "tensor in (N, C, d1, d2, ...,dK) format and scale_factor in (s1, s2, ...,sK) format."
                )
            scales = tuple(scale_factor)
        else:
            scales = (scale_factor,) * n
        sizes = tuple(math.floor(float(m) * s) for m, s in zip(input.shape[2:], scales, strict=True))
    else:
        raise ValueError("either size or scale_factor should be defined")
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if recompute_scale_factor:
        scales = None
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and input.ndim == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    if mode == "lanczos":
        if align_corners:
            raise ValueError("Lanczos mode does not support align_corners=True")
        if not antialias:
            raise ValueError("Lanczos mode requires antialias=True")
    if n not in (1, 2, 3) or mode not in _MODES.split(" | "):
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D) for the modes: "
            f"{_MODES} (got "
            f"{mode})"
        )
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[n - 1](input, sizes)
    rank = _RANK.get(mode)
    if rank is not None and rank != input.ndim:
        if mode in ("linear", "bilinear", "trilinear"):
            raise NotImplementedError(f"Got {input.ndim}D input, but {mode} mode needs {rank}D input")
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D) for the modes: "
            f"{_MODES} (got "
            f"{mode})"
        )
    whole = []
    for s in sizes:
        if not hasattr(s, "__index__"):
            raise TypeError(
                "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], "
                "but got size with "
                f"types {[type(x) for x in sizes]}"
            )
        whole.append(s.__index__())
    _check(input, mode, tuple(whole), antialias)
    op = _OPS[mode, n, antialias]
    return op(input, tuple(whole), (None,) * n if scales is None else scales, bool(align_corners))


def upsample(
    input: Value, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Value:
    """`interpolate`; deprecated. Source: torch.nn.functional.upsample."""
    warnings.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Value, size: Any = None, scale_factor: Any = None) -> Value:
    """`interpolate` with mode "nearest"; deprecated. Source: torch.nn.functional.upsample_nearest."""
    warnings.warn(
        "`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2
    )
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input: Value, size: Any = None, scale_factor: Any = None) -> Value:
    """`interpolate` with mode "bilinear" and aligned corners; deprecated.

    Source: torch.nn.functional.upsample_bilinear.
    """
    warnings.warn(
        "`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2
    )
    return interpolate(input, size, scale_factor, "bilinear", True)
