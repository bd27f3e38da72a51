"""Images of another size: interpolate and its kin; images sampled at the places of a grid, and the grids of affine maps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import resampling as kernels
from ..arrays.grid import BICUBIC, BILINEAR, BORDER, NEAREST, REFLECTION, ZEROS, sample, sample_backward
from ..arrays.resampling import cubic_weights, same
from ..core.broadcast import cast, expand_to
from ..core.linear import linear
from ..core.modes import no_grad
from ..core.op import Op
from ..core.tensor import tensor_of
from ..naming import warn
from ..shapes import Size
from ._dtypes import refusal
from ._make import laid_as
from ._noded import derivative_of
from .adaptive import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from .pointwise import floor, round
from .pooling import gather_places
from .selection import where
from .shape import reshape

__all__ = [
    "affine_grid_generator", "grid_sampler", "grid_sampler_2d", "grid_sampler_3d",
]  # fmt: skip

Value = Any
Ints = tuple[int, ...]
Scales = tuple[float | None, ...]


def _taps(mode: str, n: int, m: int, scale: float | None, corners: bool, real: Any) -> Any:
    if mode in ("nearest", "nearest_exact"):
        if n == m and scale is None:
            return kernels.Taps(n, same(n), None)
        return kernels.nearest(n, m, scale, mode == "nearest_exact")
    if mode == "linear":
        return kernels.linear(n, m, scale, corners, real)
    if mode == "cubic":
        return kernels.cubic(n, m, scale, corners, real)
    return kernels.antialiased(n, m, scale, corners, real, mode.removesuffix("_aa"))


def _real(dt: Any) -> Any:
    return np.float64 if dt == np.float64 else np.float32


def _forward(mode: str, input: Any, sizes: Ints, scales: Scales, corners: bool) -> Any:
    dt = input.dtype
    if dt.kind == "u" and not mode.startswith("nearest"):
        return laid_as(_bytes(mode, input, sizes, scales, corners), input)
    real = _real(dt)
    x = input.astype(real) if dt.itemsize == 2 else input
    taps = [_taps(mode, *v, corners, real) for v in zip(input.shape[-len(sizes) :], sizes, scales, strict=True)]
    x = kernels.resample(x, taps)
    out = x.copy() if x is input else x.astype(dt, copy=False)
    return laid_as(np.ascontiguousarray(out), input)


def _bytes(mode: str, x: Any, sizes: Ints, scales: Scales, corners: bool) -> Any:
    """Bytes by whole numbers: weights as 16-bit fractions, and rounding after each dimension, the last one first."""
    n = len(sizes)
    for d in reversed(range(n)):
        axis = x.ndim - n + d
        if x.shape[axis] == sizes[d]:
            continue
        taps = _taps(mode, x.shape[axis], sizes[d], scales[d], corners, np.float64)
        index, w = taps.index, taps.weight.copy()
        for k in range(1, w.shape[-1]):  # taps that the border has moved to one place are one
            same = index[:, k] == index[:, k - 1]
            w[:, k] += np.where(same, w[:, k - 1], 0)
            w[same, k - 1] = 0
        bits = 0
        while bits < 22 and int(0.5 + w.max() * (1 << (bits + 1))) < 1 << 15:
            bits += 1
        whole = np.trunc(w * (1 << bits) + np.where(w < 0, -0.5, 0.5))
        total = kernels.apply(x.astype(np.float64), kernels.Taps(taps.n, index, whole), axis) + (1 << (bits - 1))
        x = np.clip(np.floor(total / (1 << bits)), 0, 255)
    return np.ascontiguousarray(x).astype(np.uint8)


def _back(mode: str, g: Any, size: Ints, scales: Scales, corners: bool) -> Any:
    dt = g.dtype
    real = _real(dt)
    x = g.astype(real) if dt.itemsize == 2 else g
    taps = [_taps(mode, *v, corners, real).back for v in zip(size, x.shape[-len(size) :], scales, strict=True)]
    x = kernels.resample(x, taps)
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
                    f"dimensions of {list(input.shape[2:])} and output size of {size}. Please provide input tensor in "
                    "(N, C, d1, d2, ...,dK) format and output size in (o1, o2, ...,oK) format."
                )
            sizes = tuple(size)
        else:
            sizes = (size,) * n
    elif scale_factor is not None:
        if isinstance(scale_factor, (list, tuple)):
            if len(scale_factor) != n:
                raise ValueError(
                    "Input and scale_factor must have the same number of spatial dimensions, but got input with "
                    f"spatial dimensions of {list(input.shape[2:])} and scale_factor of shape {scale_factor}. Please "
                    "provide input tensor in (N, C, d1, d2, ...,dK) format and scale_factor in (s1, s2, ...,sK) format."
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
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D) for the modes: {_MODES} "
            f"(got {mode})"
        )
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[n - 1](input, sizes)
    rank = _RANK.get(mode)
    if rank is not None and rank != input.ndim:
        if mode in ("linear", "bilinear", "trilinear"):
            raise NotImplementedError(f"Got {input.ndim}D input, but {mode} mode needs {rank}D input")
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D) for the modes: {_MODES} "
            f"(got {mode})"
        )
    whole = []
    for s in sizes:
        if not hasattr(s, "__index__"):
            raise TypeError(
                "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but got size "
                f"with types {[type(x) for x in sizes]}"
            )
        whole.append(s.__index__())
    _check(input, mode, tuple(whole), antialias)
    op = _OPS[mode, n, antialias]
    return op(input, tuple(whole), (None,) * n if scales is None else scales, bool(align_corners))


def upsample(
    input: Value, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Value:
    """`interpolate`; deprecated."""
    warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Value, size: Any = None, scale_factor: Any = None) -> Value:
    """`interpolate` with mode "nearest"; deprecated."""
    warn("`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input: Value, size: Any = None, scale_factor: Any = None) -> Value:
    """`interpolate` with mode "bilinear" and aligned corners; deprecated."""
    warn("`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, "bilinear", True)


INT64 = np.dtype(np.int64)

# ------------------------------------------------------------------ where to look


def _place(x: Value, n: int, corners: bool) -> Value:
    """-1 ... 1 as 0 ... n - 1: the outermost elements themselves, or the edges of their squares."""
    return (x + 1) * ((n - 1) / 2) if corners else ((x + 1) * n - 1) / 2


def _clip(x: Value, n: int) -> Value:
    return where(x > 0, where(x < n - 1, x, float(n - 1)), 0.0)


def _reflect(x: Value, n: int, corners: bool) -> Value:
    """Mirrored between the outermost elements, or between their squares' edges."""
    low, span = (0.0, float(n - 1)) if corners else (-0.5, float(n))
    if span == 0:
        return x * 0
    x = x - low
    x = where(x < 0, -x, x)
    turns = floor(x / span)
    rest = x - turns * span
    return where(turns - floor(turns / 2) * 2 == 0, rest + low, (span + low) - rest)


def _padded(x: Value, n: int, padding: int, corners: bool) -> Value:
    if padding == BORDER:
        return _clip(x, n)
    if padding == REFLECTION:
        return _clip(_reflect(x, n, corners), n)
    return x


def _look(input: Value, at: list[Value], size: Ints) -> tuple[Value, Value]:
    """The elements (N, C, ...) at whole places, 0 ones outside of the image, and which are inside."""
    inside: Any = None
    index: Any = 0
    for d, x in enumerate(at):
        here = (x >= 0) & (x <= size[d] - 1)
        inside = here if inside is None else inside & here
    for d, x in enumerate(at):
        index = index + cast(where(inside, x, 0.0), INT64) * math.prod(size[d + 1 :])
    n = len(size)
    shape = (*tuple(input.shape[:2]), *tuple(index.shape[1:]))
    lead = (index.shape[0], 1, *tuple(index.shape[1:]))
    flat = reshape(input, (*tuple(input.shape[:2]), *(1,) * (n - 1), math.prod(size)))
    every = expand_to(reshape(index, lead), shape)
    return gather_places(flat, every, n), reshape(inside, lead)


def _sampled(input: Value, grid: Value, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Value:
    mode, padding, corners = interpolation_mode, padding_mode, align_corners
    size = tuple(input.shape[2:])
    n = len(size)
    where_ = [_place(grid[..., n - 1 - d], size[d], corners) for d in range(n)]
    if mode == NEAREST:
        at = [round(_padded(x, m, padding, corners)) for x, m in zip(where_, size, strict=True)]
        seen, inside = _look(input, at, size)
        return where(inside, seen, 0.0)
    if mode == BILINEAR:
        where_ = [_padded(x, m, padding, corners) for x, m in zip(where_, size, strict=True)]
    low = [floor(x) for x in where_]
    part = [x - f for x, f in zip(where_, low, strict=True)]
    steps: Ints
    if mode == BILINEAR:
        steps, weights = (0, 1), [[1 - t, t] for t in part]
    else:
        steps, weights = (-1, 0, 1, 2), [cubic_weights(t) for t in part]
    total: Any = None
    for corner in np.ndindex(*(len(steps),) * n):
        at = [f + steps[c] for f, c in zip(low, corner, strict=True)]
        if mode == BICUBIC:
            at = [_padded(x, m, padding, corners) for x, m in zip(at, size, strict=True)]
        w: Any = None
        for d, c in enumerate(corner):
            w = weights[d][c] if w is None else w * weights[d][c]
        seen, inside = _look(input, at, size)
        w = reshape(w, (w.shape[0], 1, *tuple(w.shape[1:])))
        share = where(inside, seen * w, 0.0)
        total = share if total is None else total + share
    return total


def _forward_at(input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Any:
    if input.dtype.itemsize > 2:
        return sample(input, grid, interpolation_mode, padding_mode, align_corners)
    with no_grad():
        return _sampled(tensor_of(input), tensor_of(grid), interpolation_mode, padding_mode, align_corners)._a


_recorded = derivative_of(_sampled, (0, 1))


def _back_at(
    g: Any, input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool, needs: Any
) -> Any:
    values = input, grid, interpolation_mode, padding_mode, align_corners
    if g.__class__ is np.ndarray and g.dtype.itemsize > 2:
        return sample_backward(g, *values, needs)
    found = _recorded(g, needs, *values)
    return [x * 0 if c is None and need else c for c, need, x in zip(found, needs, values, strict=False)]


_SAMPLERS = {
    n: Op(
        f"grid_sampler_{n}d", _forward_at, _back_at, tensors=("input", "grid"), node=f"GridSampler{n}DBackward0",
        out_arg=False,
    )
    for n in (2, 3)
}  # fmt: skip


def _check_grid(input: Value, grid: Value, mode: int) -> None:
    n = input.ndim - 2
    x, g = list(input.shape), list(grid.shape)
    if x[:1] != g[:1]:
        raise RuntimeError(
            f"grid_sampler(): expected grid and input to have same batch size, but got input with sizes {x} and grid "
            f"with sizes {g}"
        )
    if g[-1] != n:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {n} in last dimension, but got grid with sizes {g}"
        )
    for i in range(2, input.ndim):
        if x[i] <= 0:
            raise RuntimeError(
                "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes "
                f"{x} with dimension {i} being empty"
            )
    if n not in (2, 3) or grid.ndim != input.ndim:
        raise RuntimeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with sizes "
            f"{x} and grid with sizes {g}"
        )
    if n == 3 and mode == BICUBIC:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    if input.dtype != grid.dtype:
        raise RuntimeError(f"expected scalar type {input.dtype.legacy} but found {grid.dtype.legacy}")
    refusal("bic", "grid_sampler_2d_cpu_kernel_impl" if n == 2 else "grid_sampler3d_cpu")("", input.dtype)


def grid_sampler(input: Value, grid: Value, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Value:
    """`grid_sample` with numbers for the modes."""
    _check_grid(input, grid, interpolation_mode)
    return _SAMPLERS[input.ndim - 2].call(input, grid, interpolation_mode, padding_mode, align_corners)


grid_sampler_2d = grid_sampler_3d = grid_sampler

_GRID_MODES = {"bilinear": BILINEAR, "nearest": NEAREST, "bicubic": BICUBIC}
_PADDINGS = {"zeros": ZEROS, "border": BORDER, "reflection": REFLECTION}


def _default_corners() -> bool:
    warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
        "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details."
    )
    return False


def grid_sample(
    input: Value, grid: Value, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Value:
    """input (N, C, H, W) sampled at grid (N, H', W', 2), pairs (x, y) with -1 ... 1 from edge to edge; or in 3-d.

    **Arguments** mode: "bilinear", "nearest" or "bicubic"; padding_mode: what lies outside, "zeros", "border" or
    "reflection"; align_corners: whether -1 and 1 are the outermost elements' middles, or their squares' edges.
    """
    if mode not in _GRID_MODES:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in _PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    if align_corners is None:
        align_corners = _default_corners()
    return grid_sampler(input, grid, _GRID_MODES[mode], _PADDINGS[padding_mode], align_corners)


# ------------------------------------------------------------------ affine grids


def _base(size: Ints, corners: bool, dtype: Any) -> Any:
    """The places (x, y, 1) or (x, y, z, 1) of all elements, (places, n + 1)."""
    spatial = size[2:]
    lines = []
    for m in spatial:
        line = np.linspace(-1, 1, m) if m > 1 else np.zeros(1)
        lines.append(line if corners else line * (m - 1) / m)
    mesh = np.meshgrid(*lines, indexing="ij")
    return np.stack([*(v.reshape(-1) for v in reversed(mesh)), np.ones(math.prod(spatial))], 1).astype(dtype)


_affine: Any = linear(
    "affine_grid_generator",
    lambda theta, size, align_corners: np.matmul(_base(size, align_corners, theta.dtype), theta.swapaxes(1, 2)).reshape(
        size[0], *size[2:], len(size) - 2
    ),
    lambda g, size, align_corners: _affine_back(g, size, align_corners),
    out_arg=False,
)
_affine_back: Any = linear(
    "affine_grid_generator_backward",
    lambda grad, size, align_corners: np.matmul(
        grad.reshape(size[0], -1, len(size) - 2).swapaxes(1, 2), _base(size, align_corners, grad.dtype)
    ),
    lambda g, size, align_corners: _affine(g, size, align_corners),
    register=False,
)


def affine_grid_generator(theta: Value, size: Any, align_corners: bool) -> Value:
    """`affine_grid`."""
    return _affine(theta, tuple(int(s) for s in size), align_corners)


def affine_grid(theta: Value, size: Any, align_corners: bool | None = None) -> Value:
    """The grid, for `grid_sample`, of the affine maps theta (N, 2, 3) or (N, 3, 4) to images of `size`."""
    if align_corners is None:
        align_corners = _default_corners()
    if theta.dtype.category != 2:
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    n = len(size) - 2
    if n not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got "
            f"size {size}."
        )
    if theta.ndim != 3 or theta.shape[-2] != n or theta.shape[-1] != n + 1:
        raise ValueError(
            f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {size}. Got {Size(theta.shape)}."
        )
    if align_corners and min(size[2:]) == 1:
        warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This "
            "is not an intended use case of affine_grid. See the documentation of affine_grid for details."
        )
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return affine_grid_generator(theta, size, align_corners)
