"""Images sampled at the places of a grid, and the grids of affine maps."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ..arrays.resample import cubic_weights
from ..core.broadcast import cast, expand_to
from ..core.linear import linear
from ..core.modes import no_grad
from ..core.tensor import tensor_of
from ..shapes import Size
from ._composed import composed
from ._dtypes import refusal
from .pointwise import floor, round
from .pooling import gather_places
from .selection import where
from .shape import reshape

__all__ = ["affine_grid_generator", "grid_sampler", "grid_sampler_2d", "grid_sampler_3d"]
METHODS = ""

Value = Any
Ints = tuple[int, ...]
INT64 = np.dtype(np.int64)

BILINEAR, NEAREST, BICUBIC = range(3)
ZEROS, BORDER, REFLECTION = range(3)

# ------------------------------------------------------------------ where to look


def _place(x: Value, n: int, corners: bool) -> Value:
    """-1 ... 1 as 0 ... n - 1: the outermost elements themselves, or the edges of their squares."""
    return (x + 1) * ((n - 1) / 2) if corners else ((x + 1) * n - 1) / 2


def _clip(x: Value, n: int) -> Value:
    """Cut off at 0 and n - 1, without slope from there on."""
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


def _sampled(input: Value, grid: Value, mode: int, padding: int, corners: bool) -> Value:
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


def _op(n: int) -> Any:
    def fn(input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Any:
        if (
            isinstance(input, np.ndarray) and input.dtype.kind == "V"
        ):  # NumPy makes bfloat16 beside a number something else
            with no_grad():
                x, places = tensor_of(input), tensor_of(grid)
                return _sampled(x, places, interpolation_mode, padding_mode, align_corners)._a
        return _sampled(input, grid, interpolation_mode, padding_mode, align_corners)

    return composed(f"grid_sampler_{n}d", fn, ("input", "grid"), node=f"GridSampler{n}DBackward0", out_arg=False)


_OPS = {2: _op(2), 3: _op(3)}


def _check(input: Value, grid: Value, mode: int) -> None:
    n = input.ndim - 2
    x, g = list(input.shape), list(grid.shape)
    if x[:1] != g[:1]:
        raise RuntimeError(
            f"grid_sampler(): expected grid and input to have same batch size, but got input with sizes {x} "
            "and grid with "
            f"sizes {g}"
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
    """`grid_sample` with numbers for the modes. Source: torch.grid_sampler."""
    _check(input, grid, interpolation_mode)
    return _OPS[input.ndim - 2].call(input, grid, interpolation_mode, padding_mode, align_corners)


grid_sampler_2d = grid_sampler_3d = grid_sampler

_MODES = {"bilinear": BILINEAR, "nearest": NEAREST, "bicubic": BICUBIC}
_PADDINGS = {"zeros": ZEROS, "border": BORDER, "reflection": REFLECTION}


def _default_corners() -> bool:
    warnings.warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
        "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details.",
        stacklevel=3,
    )
    return False


def grid_sample(
    input: Value, grid: Value, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Value:
    """input (N, C, H, W) sampled at grid (N, H', W', 2), pairs (x, y) with -1 ... 1 from edge to edge; or in 3-d.

    **Arguments** mode: "bilinear", "nearest" or "bicubic"; padding_mode: what lies outside, "zeros", "border" or
    "reflection"; align_corners: whether -1 and 1 are the outermost elements' middles, or their squares' edges.
    Source: torch.nn.functional.grid_sample.
    """
    if mode not in _MODES:
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
    return grid_sampler(input, grid, _MODES[mode], _PADDINGS[padding_mode], align_corners)


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
    """`affine_grid`. Source: torch.affine_grid_generator."""
    return _affine(theta, tuple(int(s) for s in size), align_corners)


def affine_grid(theta: Value, size: Any, align_corners: bool | None = None) -> Value:
    """The grid, for `grid_sample`, of the affine maps theta (N, 2, 3) or (N, 3, 4) to images of `size`.

    Source: torch.nn.functional.affine_grid.
    """
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
        warnings.warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when "
            "align_corners=True. This is "
            "not an intended use case of affine_grid. See the documentation of affine_grid for details.",
            stacklevel=2,
        )
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return affine_grid_generator(theta, size, align_corners)
