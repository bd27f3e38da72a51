"""Tensors to test with: with the same seed, PyTorch's. Source: torch.testing.make_tensor."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from .. import dtypes
from ..core.tensor import Tensor
from ..ops.comparison import view_as_real
from ..ops.factories import empty
from ..ops.random import randint

__all__ = ["make_tensor"]


def _bounds(
    d: dtypes.dtype, low: Any, high: Any, least: float, most: float, default: tuple[float, float]
) -> tuple[Any, Any]:
    """The bounds asked for, within those of the dtype."""
    low = default[0] if low is None else low
    high = default[1] if high is None else high
    floating = d.is_floating_point or d.is_complex
    if any(isinstance(v, float) and math.isnan(v) for v in (low, high)):
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={low!r} and high={high!r}")
    if low == high and floating:
        warnings.warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is deprecated since 2.1 "
            "and will be removed in 2.3. Use `torch.full(...)` instead.",
            FutureWarning,
            stacklevel=4,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < least or low >= most:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {d} only supports "
            f"[{least}, {most})"
        )
    low, high = (min(max(v, least), most) for v in (low, high))
    return (low, high) if floating else (math.ceil(low), math.ceil(high))


def make_tensor(
    *shape: Any, dtype: dtypes.dtype, device: Any, low: float | None = None, high: float | None = None,
    requires_grad: bool = False, noncontiguous: bool = False, exclude_zero: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """A tensor of random numbers in [low, high), by default [-9, 9), integers up to 9.

    Args:
        shape: the sizes.
        dtype, device: of the tensor.
        low, high: the bounds.
        requires_grad: whether it wants a gradient.
        noncontiguous: every other element of a larger one.
        exclude_zero: no zeros.

    Source: torch.testing.make_tensor.

    >>> import tidu as torch
    >>> _ = torch.manual_seed(0)
    >>> make_tensor(3, dtype=torch.int64, device="cpu")
    tensor([2, 1, 8])
    """
    sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], Sequence) else tuple(shape)
    floating = dtype.is_floating_point or dtype.is_complex
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"noncontiguous={noncontiguous!r} and memory_format={memory_format!r}"
        )
    if requires_grad and not floating:
        raise ValueError(
            f"`requires_grad=True` is not supported for boolean and integral dtypes, but got dtype={dtype!r}"
        )
    noncontiguous = noncontiguous and math.prod(sizes) > 1
    if noncontiguous:
        sizes = (*sizes[:-1], 2 * sizes[-1])
    if dtype is dtypes.bool_:
        low, high = _bounds(dtype, low, high, 0, 2, (0, 2))
    elif floating:
        info = dtypes.finfo(dtype)
        low, high = _bounds(dtype, low, high, info.min, info.max, (-9, 9))
    else:
        limits = dtypes.iinfo(dtype)
        most = limits.max + (dtype is not dtypes.int64)
        low, high = _bounds(dtype, low, high, limits.min, most, (-9, 10))
    if floating:
        t: Any = empty(sizes, device=device, dtype=dtype)
        real = view_as_real(t) if dtype.is_complex else t
        if high - low >= dtypes.finfo(real.dtype).max:
            real.uniform_(low / 2, high / 2).mul_(2)
        else:
            real.uniform_(low, high)
    else:
        t = randint(low, high, sizes, device=device, dtype=dtype)
    if noncontiguous:
        t = t[..., 1::2]
    elif memory_format is not None:
        t = t.clone(memory_format=memory_format)
    if exclude_zero:
        t[t == 0] = dtypes.finfo(dtype).tiny if floating else 1
    if floating:
        t.requires_grad = requires_grad
    return t
