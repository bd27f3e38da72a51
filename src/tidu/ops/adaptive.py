"""Pooling to a given size, pooling over random windows, pooling by powers, and the way back from maxima."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.pooling import plane_places, table_max
from ..arrays.resampling import evenly, resample
from ..core.linear import linear
from ..core.op import Op
from ._dtypes import refusal
from ._make import laid_as, planned
from .activation import relu
from .pointwise import abs, sign
from .pooling import (
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    gather_places,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    scatter_places,
)
from .powers import pow
from .reduction import mean

__all__ = ["adaptive_avg_pool1d", "adaptive_max_pool1d"]

Value = Any
Ints = tuple[int, ...]

# ------------------------------------------------------------------ means


def _resize(x: Any, sizes: Ints, back: bool) -> Any:
    dt = x.dtype
    if dt.itemsize == 2:
        x = x.astype(np.float32)
    have = x.shape[x.ndim - len(sizes) :]
    real = x.dtype.type
    if back:
        taps = [evenly(m, n, real).back for n, m in zip(have, sizes, strict=True)]
    else:
        taps = [evenly(n, m, real) for n, m in zip(have, sizes, strict=True)]
    return np.ascontiguousarray(resample(x, taps)).astype(dt)


def _adaptive(n: int) -> Callable[..., Any]:
    op = linear(
        f"adaptive_avg_pool{n}d",
        lambda input, sizes: _resize(input, sizes, False),
        lambda g, input_shape: back(g, tuple(input_shape[len(input_shape) - n :])),
        node=f"AdaptiveAvgPool{n}DBackward0",
    )
    back = linear(
        f"adaptive_avg_pool{n}d_backward",
        lambda input, sizes: _resize(input, sizes, True),
        lambda g, input_shape: op(g, tuple(input_shape[len(input_shape) - n :])),
        register=False,
    )
    return op


_AVG = {n: _adaptive(n) for n in (2, 3)}


def _sizes(fn: str, n: int, shape: Ints, output_size: Any) -> Ints:
    if isinstance(output_size, (tuple, list)):
        if len(output_size) >= len(shape):
            raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
        if n == 1 and len(output_size) != 1:
            raise RuntimeError(f"{fn}() argument 'output_size' should contain one int (got {len(output_size)})")
        if n == 1:
            output_size = output_size[0]
        elif len(output_size) != n:
            if fn.startswith("adaptive_max"):
                raise RuntimeError(f"{fn}(): internal error: output_size.size() must be {n}")
            raise RuntimeError(f"{fn}: output_size must be {n}")
    if not isinstance(output_size, (tuple, list)):
        output_size = (output_size,) * n
    if len(shape) < n:
        return tuple(0 if o is None else int(o) for o in output_size)
    have = shape[len(shape) - n :]
    return tuple(h if o is None else int(o) for h, o in zip(have, output_size, strict=True))


def _check(fn: str, n: int, shape: Ints, colon: str) -> None:
    for i in range(1 if len(shape) == n + 2 else 0, len(shape)):
        if shape[i] == 0 and i >= len(shape) - n:
            raise RuntimeError(
                f"{fn}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes "
                f"{list(shape)} with dimension {i} being empty"
            )
    if len(shape) not in (n + 1, n + 2):
        raise RuntimeError(f"{fn}(): Expected {n + 1}D or {n + 2}D tensor, but got{colon} {list(shape)}")


def _check_one(fn: str, rank: int) -> None:
    if rank not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {rank}-dimensional tensor for argument #1 'self' (while "
            f"checking arguments for {fn})"
        )


@planned
def _avg_sizes(n: int, shape: Ints, output_size: Any) -> Ints:
    fn = f"adaptive_avg_pool{n}d"
    sizes = _sizes(fn, n, shape, output_size)
    if n == 1:
        _check_one(fn, len(shape))
    elif sizes == (1,) * n:
        return sizes  # the mean, of as many dimensions as there are
    elif len(shape) not in (n + 1, n + 2):
        raise RuntimeError(f"{fn}(): Expected {n + 1}D or {n + 2}D tensor, but got {list(shape)}")
    if any(s < 0 for s in sizes):
        words = f"1, {sizes[0]}" if n == 1 else ", ".join(map(str, sizes[:2])) + "".join(f",{v}" for v in sizes[2:])
        raise RuntimeError(
            f"adaptive_avg_pool{max(n, 2)}d: elements of output_size must be greater than or equal to 0 but "
            f"received {{{words}}}"
        )
    if n > 1:
        _check(fn, n, shape, "")
    return sizes


def _avg_pool(n: int, input: Value, output_size: Any) -> Value:
    sizes = _avg_sizes(n, tuple(input.shape), output_size)
    if n == 1:
        return _avg_pool(2, input.unsqueeze(-2), (1, *sizes)).squeeze(-2)
    if sizes == (1,) * n:
        return mean(input, (-1, -2) if n == 2 else (-3, -2, -1), True)
    refusal("bic", "adaptive_avg_pool2d" if n == 2 else "adaptive_avg_pool3d_cpu")("", input.dtype)
    return _AVG[n](input, sizes)


def adaptive_avg_pool1d(input: Value, output_size: Any) -> Value:
    """The means of `output_size` windows that cover the last dimension evenly."""
    return _avg_pool(1, input, output_size)


def adaptive_avg_pool2d(input: Value, output_size: Any) -> Value:
    """The means of output_size = (H, W) windows that cover the plane; None keeps a size.

    Window i of o over n elements goes from floor(i n / o) to ceil((i + 1) n / o).
    """
    return _avg_pool(2, input, output_size)


def adaptive_avg_pool3d(input: Value, output_size: Any) -> Value:
    """The means of output_size = (D, H, W) windows."""
    return _avg_pool(3, input, output_size)


# ------------------------------------------------------------------ maxima over windows from a table


def _table_max(input: Any, table: Any, sizes: Ints) -> tuple[Any, Any]:
    """Maxima to `sizes` and their places, of windows at the places of a table."""
    lead = input.shape[: input.ndim - len(sizes)]
    x = input.reshape(math.prod(lead), math.prod(input.shape[len(lead) :]))
    out, index = table_max(x, table)
    return out.reshape(*lead, *sizes), index.reshape(*lead, *sizes)


@functools.lru_cache(64)
def _even_table(size: Ints, sizes: Ints) -> Any:
    """The windows of adaptive pooling, the short ones with their last place repeated."""
    lines = []
    for n, out in zip(size, sizes, strict=True):
        taps = evenly(n, out, np.float32)
        lines.append(
            np.minimum(taps.index, taps.index[:, :1] + np.count_nonzero(taps.weight, 1, keepdims=True) - 1)[None]
        )
    return plane_places(lines, size)


def _table_op(name: str, n: int, node: str, forward: Callable[..., Any], tensors: tuple[str, ...]) -> Op:
    return Op(
        name,
        forward,
        {"input": lambda g0, out1, input_shape: scatter_places(g0, out1, tuple(input_shape[len(input_shape) - n :]))},
        {"input": lambda t, out1: (gather_places(t, out1, n), None)},
        tensors=tensors,
        node=node,
        outputs=2,
        nondiff=(1,),
    )


def _adaptive_max(input: Any, sizes: Ints) -> Any:
    return _table_max(input, _even_table(input.shape[input.ndim - len(sizes) :], sizes), sizes)


_MAX = {
    n: _table_op(f"adaptive_max_pool{n}d", n, f"AdaptiveMaxPool{n}DBackward0", _adaptive_max, ("input",))
    for n in (2, 3)
}


@planned
def _max_sizes(n: int, shape: Ints, output_size: Any) -> Ints:
    fn = f"adaptive_max_pool{n}d"
    if n == 1:
        _check_one(fn, len(shape))
    sizes = _sizes(fn, n, shape, output_size)
    _check(fn, n, shape, ":")
    if n > 1 and any(s < 0 for s in sizes):
        made = [*shape[: len(shape) - n], *sizes]
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(sizes)}: {made}")
    return sizes


def _max_pool(n: int, input: Value, output_size: Any) -> Any:
    sizes = _max_sizes(n, tuple(input.shape), output_size)
    if n == 1:
        out, index = _max_pool(2, input.unsqueeze(-2), (1, *sizes))
        return out.squeeze(-2), index.squeeze(-2)
    refusal("bic", "adaptive_max_pool2d" if n == 2 else "adaptive_max_pool3d_cpu")("", input.dtype)
    return _MAX[n].call(input, sizes)


def adaptive_max_pool1d_with_indices(input: Value, output_size: Any, return_indices: bool = False) -> Any:
    """`adaptive_max_pool1d`, and where the maxima are. Source: torch.adaptive_max_pool1d."""
    return _max_pool(1, input, output_size)


adaptive_max_pool1d = adaptive_max_pool1d_with_indices


def adaptive_max_pool2d_with_indices(input: Value, output_size: Any, return_indices: bool = False) -> Any:
    """`adaptive_max_pool2d`, and where the maxima are."""
    return _max_pool(2, input, output_size)


def adaptive_max_pool3d_with_indices(input: Value, output_size: Any, return_indices: bool = False) -> Any:
    """`adaptive_max_pool3d`, and where the maxima are."""
    return _max_pool(3, input, output_size)


def _face(n: int) -> Callable[..., Any]:
    def call(input: Value, output_size: Any, return_indices: bool = False) -> Any:
        out, index = _max_pool(n, input, output_size)
        return (out, index) if return_indices else out

    call.__name__ = call.__qualname__ = f"adaptive_max_pool{n}d"
    call.__doc__ = f"""The maxima of `output_size` windows that cover the last {n} dimension(s) evenly.

    **Arguments** return_indices: return where the maxima are too. Source: torch.nn.functional.adaptive_max_pool{n}d.
    """
    return call


f_adaptive_max_pool1d, f_adaptive_max_pool2d, f_adaptive_max_pool3d = (_face(n) for n in (1, 2, 3))


# ------------------------------------------------------------------ random windows


def _starts(samples: Any, n: int, k: int, out: int) -> Any:
    """Where the windows start, (planes, out): steps of about (n - k) / (out - 1), jittered by the samples."""
    if out == 1:
        return np.full((len(samples), 1), n - k)
    alpha = samples.dtype.type(n - k) / samples.dtype.type(out - 1)
    i = np.arange(out - 1, dtype=samples.dtype)
    first = np.trunc((i + samples[:, None]) * alpha) - np.trunc(samples * alpha)[:, None]
    return np.concatenate([first.astype(np.int64), np.full((len(samples), 1), n - k)], 1)


def _fractional(input: Any, samples: Any, kernel: Ints, sizes: Ints) -> Any:
    n = len(kernel)
    size = input.shape[input.ndim - n :]
    s = samples.reshape(-1, n)
    tables = []
    for d in range(n):
        # in two dimensions the samples are for the last one first, in three for the first one
        start = _starts(s[:, d if n == 3 else n - 1 - d], size[d], kernel[d], sizes[d])
        tables.append(start[:, :, None] + np.arange(kernel[d]))
    return _table_max(input, plane_places(tables, size), sizes)


_FRACTIONAL = {
    n: _table_op(f"fractional_max_pool{n}d", n, f"FractionalMaxPool{n}DBackward0", _fractional, ("input", "samples"))
    for n in (2, 3)
}


def _fractional_pool(
    n: int, input: Value, kernel_size: Any, output_size: Any, output_ratio: Any, random_samples: Value
) -> Any:
    fn = f"fractional_max_pool{n}d"
    if output_size is None and output_ratio is None:
        raise ValueError(f"{fn} requires specifying either an output_size or an output_ratio")

    def each(v: Any) -> Any:
        return tuple(v) if isinstance(v, (tuple, list)) else (v,) * n

    if output_size is None:
        ratio = each(output_ratio)
        if n == 2 and len(ratio) > 2:
            raise ValueError(f"{fn} requires output_ratio to either be a single Int or tuple of Ints.")
        output_size = tuple(int(input.size(input.ndim - n + i) * r) for i, r in enumerate(ratio))
    kernel, sizes = each(kernel_size), each(output_size)
    if len(kernel) != n:
        raise RuntimeError(f"{fn}: kernel_size must either be a single Int or tuple of Ints")
    if len(sizes) != n:
        raise RuntimeError(f"{fn}: output_size must either be a single Int or tuple of Ints")
    shown = fn if n == 2 else fn + "_out"
    if random_samples is None and input.ndim < n + 1:
        low = -max(input.ndim, 1)
        raise IndexError(f"Dimension out of range (expected to be in range of [{low}, {-low - 1}], but got {-n - 1})")
    for i in range(max(input.ndim - n - 1, 0), input.ndim):
        if input.shape[i] == 0:
            raise RuntimeError(
                f"{shown}(): Expected input to have non-zero size for non-batch dimensions, but got{list(input.shape)} "
                f"with dimension {i} being empty."
            )
    if input.ndim not in (n + 1, n + 2):
        raise RuntimeError(f"{shown}(): Expected {n + 1}D or {n + 2}D tensor, but got: {list(input.shape)}")
    letters = {2: ("height", "width"), 3: ("time", "height", "width")}[n]
    for name, size, k, o in zip(letters, input.shape[input.ndim - n :], kernel, sizes, strict=True):
        if o + k - 1 > size:
            raise RuntimeError(f"{shown}(): pool {name} {k} too large relative to input {name} {size}")
    if random_samples is None:
        batch = 1 if input.ndim == n + 1 else input.size(0)
        from .random import rand

        random_samples = rand(batch, input.size(input.ndim - n - 1), n, dtype=input.dtype)
    refusal("bic", f"fractional_max_pool{n}d_out_frame")("", input.dtype)
    return _FRACTIONAL[n].call(input, random_samples, kernel, sizes)


def _fractional_face(n: int, always: bool) -> Callable[..., Any]:
    def call(
        input: Value, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
        _random_samples: Value = None,
    ) -> Any:  # fmt: skip
        both = _fractional_pool(n, input, kernel_size, output_size, output_ratio, _random_samples)
        return both if always or return_indices else both[0]

    call.__name__ = call.__qualname__ = f"fractional_max_pool{n}d" + ("_with_indices" if always else "")
    call.__doc__ = f"""The maxima of windows at random places, to `output_size` or `output_ratio` times the size.

    Source: torch.nn.functional.{call.__name__}.
    """
    return call


fractional_max_pool2d, fractional_max_pool3d = _fractional_face(2, False), _fractional_face(3, False)
fractional_max_pool2d_with_indices = _fractional_face(2, True)
fractional_max_pool3d_with_indices = _fractional_face(3, True)


# ------------------------------------------------------------------ the way back from maxima


def _unpool_forward(input: Any, indices: Any, size: Ints) -> Any:
    n, length = len(size), math.prod(size)
    lead = input.shape[: input.ndim - n]
    if indices.size and (indices.min() < 0 or indices.max() >= length):
        bad = indices.reshape(-1)[(indices.reshape(-1) < 0) | (indices.reshape(-1) >= length)][0]
        words = "x".join(map(str, size))
        raise RuntimeError(f"Found an invalid max index: {bad} (output volumes are of size {words})")
    out = np.zeros((*lead, length), input.dtype)
    if input.size:
        np.put_along_axis(out, indices.reshape(*lead, -1), input.reshape(*lead, -1), -1)
    return laid_as(out.reshape(*lead, *size), input)


def _unpool(n: int) -> Callable[..., Any]:
    return linear(
        f"max_unpool{n}d",
        _unpool_forward,
        lambda g, indices, size: gather_places(g, indices, n),
        tensors=("input", "indices"),
        node=f"MaxUnpool{n}DBackward0",
    )


_UNPOOL = {n: _unpool(n) for n in (2, 3)}


def _unpool_size(input: Value, kernel: Ints, stride: Ints, padding: Ints, output_size: Any) -> Ints:
    have = input.shape[input.ndim - len(kernel) :]
    default = [(m - 1) * s + k - 2 * p for m, s, k, p in zip(have, stride, kernel, padding, strict=True)]
    if output_size is None:
        size = default
    else:
        n = len(kernel)
        size = list(output_size)
        if len(size) == n + 2:
            size = size[2:]
        if len(size) != n:
            raise ValueError(
                f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a length of "
                f"'{len(size)}'"
            )
        for d in range(n):
            low, high = default[d] - stride[d], default[d] + stride[d]
            if not low < size[d] < high:
                raise ValueError(f'invalid output_size "{output_size}" (dim {d} must be between {low} and {high})')
    for d, m in enumerate(size):
        if m < 0:
            raise ValueError(
                f"max_unpooling: output_size must contain non-negative spatial dimensions, but got output_size[{d}]={m}"
            )
    return tuple(size)


def _unpool_face(n: int) -> Callable[..., Any]:
    fn = f"max_unpool{n}d"

    def call(
        input: Value, indices: Value, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
    ) -> Value:
        kernel, pads = _as(kernel_size, n), _as(padding, n)
        steps = kernel if stride is None else _as(stride, n)
        if input.ndim < n:
            raise IndexError("tuple index out of range")
        size = _unpool_size(input, kernel, steps, pads, output_size)
        if n == 1:
            input, indices, size = input.unsqueeze(-1), indices.unsqueeze(-1), (*size, 1)
        d = max(n, 2)
        if indices.dtype.name != "int64":
            raise RuntimeError(f"elements in indices should be type int64 but got: {indices.dtype.legacy}")
        if input.shape != indices.shape:
            raise RuntimeError(
                f"Expected shape of indices to be same as that of the input tensor ({list(input.shape)}) but got "
                f"indices tensor with shape: {list(indices.shape)}"
            )
        if input.ndim not in (d + 1, d + 2):
            raise RuntimeError(
                f"Input to max_unpooling{d}d should be a {d + 1}d or {d + 2}d Tensor, but got a tensor with "
                f"{input.ndim} dimensions."
            )
        refusal("bic", f"max_unpool{d}d")("", input.dtype)
        r = _UNPOOL[d](input, indices, size)
        return r.squeeze(-1) if n == 1 else r

    call.__name__ = call.__qualname__ = fn
    call.__doc__ = f"""Zeros, with the elements at the places that `indices` name: max pooling partly undone.

    **Arguments** indices: as max_pool{n}d returned them; output_size: where several sizes pool to that of `input`.
    Source: torch.nn.functional.{fn}.
    """
    return call


def _as(value: Any, n: int) -> Ints:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * n


max_unpool1d, max_unpool2d, max_unpool3d = (_unpool_face(n) for n in (1, 2, 3))


# ------------------------------------------------------------------ powers


def _lp_pool(
    n: int,
    pool: Callable[..., Any],
    maximum: Callable[..., Any],
    input: Value,
    norm_type: float,
    kernel_size: Any,
    stride: Any,
    ceil_mode: bool,
) -> Value:
    if norm_type == math.inf:
        return maximum(input, kernel_size, stride, 0, 1, ceil_mode)
    if n == 2 and isinstance(kernel_size, (tuple, list)):
        w, h = kernel_size
    count = math.prod(_as(kernel_size, n))
    out = pool(pow(input, norm_type), kernel_size, stride, 0, ceil_mode)
    return pow(sign(out) * relu(abs(out)) * count, 1.0 / norm_type)


def lp_pool1d(input: Value, norm_type: float, kernel_size: int, stride: Any = None, ceil_mode: bool = False) -> Value:
    """The `norm_type`-norm of each window: (sum of x**p)**(1/p)."""
    return _lp_pool(1, avg_pool1d, max_pool1d, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(input: Value, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Value:
    """The `norm_type`-norm of each window of a plane."""
    return _lp_pool(2, avg_pool2d, max_pool2d, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(input: Value, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Value:
    """The `norm_type`-norm of each window of a volume."""
    return _lp_pool(3, avg_pool3d, max_pool3d, input, norm_type, kernel_size, stride, ceil_mode)
