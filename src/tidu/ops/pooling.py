"""Pooling over windows: averages, maxima, powers; and unpooling.

Averages are linear. Maxima pass the cotangent to the first element that is the maximum: at numbers by comparing once
more; where that is recorded, by the places of the maxima, from which a gather and its adjoint lead to any order.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays import pooling as kernels
from ..arrays.pooling import Window
from ..arrays.select import add_rows
from ..core.linear import linear
from ..core.op import Op
from ._dtypes import refusal
from ._hot import hot
from ._make import laid_as, planned
from .reduction import into

__all__ = [
    "avg_pool1d", "max_pool1d", "max_pool1d_with_indices", "max_pool2d",
    "max_pool3d",
]  # fmt: skip

Value = Any
Ints = tuple[int, ...]
Windows = tuple[Window, ...]
ndarray = np.ndarray


def _planes(x: Any, n: int) -> Any:
    """An array as (planes, *spatial)."""
    return np.ascontiguousarray(x).reshape(-1 if x.size else math.prod(x.shape[:-n]), *x.shape[-n:])


def _wide(x: Any) -> Any:
    return x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind in "fV" else x


# ------------------------------------------------------------------ averages


@functools.lru_cache(256)
def _divisors(windows: Windows, size: Ints, pads: Ints, include_pad: bool, override: int | None) -> Any:
    """What each window's sum is divided by: a number, or an array over the windows."""
    if override is not None:
        return override
    total: Any = 1
    n = len(windows)
    for d, (w, length, pad) in enumerate(zip(windows, size, pads, strict=True)):
        start = np.arange(w.out) * w.stride - w.before
        stop = np.minimum(start + w.kernel, length + pad)
        count = stop - start if include_pad else np.minimum(stop, length) - np.maximum(start, 0)
        first = int(count[0]) if len(count) else 1
        one = first if (count == first).all() else count.reshape(-1, *(1,) * (n - 1 - d))
        total = total * one
    return total


def _avg_forward(input: Any, windows: Windows, pads: Ints, include_pad: bool, override: int | None) -> Any:
    n = len(windows)
    x = _wide(input)
    out = kernels.sum_forward(_planes(x, n), windows)
    div = _divisors(windows, input.shape[-n:], pads, include_pad, override)
    if x.dtype.kind in "iu":
        exact = out // div
        out = exact + ((exact < 0) & (exact * div != out))  # towards zero
    else:
        np.divide(out, div if isinstance(div, int) else div.astype(x.dtype), out)
    return out.reshape(*input.shape[:-n], *out.shape[1:]).astype(input.dtype, copy=False)


def _avg_backward(g: Any, size: Ints, windows: Windows, pads: Ints, include_pad: bool, override: int | None) -> Any:
    n = len(windows)
    div = _divisors(windows, size, pads, include_pad, override)
    x = _wide(g)
    part = _planes(x, n) / (x.dtype.type(div) if isinstance(div, int) else div.astype(x.dtype))
    return kernels.sum_backward(part, windows, size).reshape(*g.shape[:-n], *size).astype(g.dtype, copy=False)


def _avg_op(n: int) -> Callable[..., Any]:
    op = linear(
        f"avg_pool{n}d",
        lambda input, windows, pads, include_pad, override: laid_as(
            _avg_forward(input, windows, pads, include_pad, override), input
        ),
        lambda g, input_shape, windows, pads, include_pad, override: back(
            g, tuple(input_shape[-n:]), windows, pads, include_pad, override
        ),
        node=f"AvgPool{n}DBackward0",
    )
    back = linear(
        f"avg_pool{n}d_backward",
        lambda g, size, windows, pads, include_pad, override: _avg_backward(
            g, size, windows, pads, include_pad, override
        ),
        lambda g, windows, pads, include_pad, override: op(g, windows, pads, include_pad, override),
        tensor="g",
        register=False,
    )
    return op


_AVG = {n: _avg_op(n) for n in (2, 3)}


# ------------------------------------------------------------------ maxima


def _flat(x: Any, n: int) -> Any:
    return x.reshape(*x.shape[: x.ndim - n], math.prod(x.shape[x.ndim - n :]))


scatter_places: Any = linear(
    "pool_scatter",
    lambda input, indices, size: _scatter(input, indices, size),
    lambda g, indices, size: gather_places(g, indices, len(size)),
    tensors=("input", "indices"),
    register=False,
)
gather_places: Any = linear(
    "pool_gather",
    lambda input, indices, n: np.take_along_axis(_flat(input, n), _flat(indices, n), -1).reshape(indices.shape),
    lambda g, input_shape, indices, n: scatter_places(g, indices, tuple(input_shape[len(input_shape) - n :])),
    tensors=("input", "indices"),
    register=False,
)


def _scatter(input: Any, indices: Any, size: Ints) -> Any:
    """Zeros of the spatial `size`, to which each element is added at its place."""
    n, length = len(size), math.prod(size)
    lead = input.shape[: input.ndim - n]
    planes = math.prod(lead)
    index = _flat(indices, n).reshape(planes, -1 if indices.size else 0) + np.arange(planes)[:, None] * length
    out = add_rows(planes * length, index.reshape(-1), input.reshape(-1, 1))
    return out.reshape(*lead, *size)


def _max_forward(input: Any, windows: Windows) -> Any:
    n = len(windows)
    out = kernels.max_forward(_planes(_wide(input), n), windows)
    return laid_as(out.reshape(*input.shape[:-n], *out.shape[1:]).astype(input.dtype, copy=False), input)


def _places(input: Any, windows: Windows) -> Any:
    return _with_places(input, windows)[1]


_places_op = Op("max_pool_places", _places, register=False)


def _max_rule(g: Value, input: Value, out: Value, windows: Windows) -> Value:
    n = len(windows)
    if g.__class__ is ndarray:
        back = kernels.max_backward(_planes(g, n), _planes(input, n), _planes(out, n), windows)
        return back.reshape(input.shape)
    return scatter_places(g, _places_op.call(input, windows), tuple(input.shape[input.ndim - n :]))


def _max_push(t: Value, input: Value, windows: Windows) -> Value:
    return gather_places(t, _places_op.call(input, windows), len(windows))


def _with_places(input: Any, windows: Windows) -> Any:
    n = len(windows)
    out, index = kernels.max_indices(_planes(_wide(input), n), windows)
    shape = (*input.shape[:-n], *out.shape[1:])
    return laid_as(out.reshape(shape).astype(input.dtype, copy=False), input), laid_as(index.reshape(shape), input)


def _max_ops(n: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    node = f"MaxPool{n}DWithIndicesBackward0"
    op = Op(f"max_pool{n}d", _max_forward, {"input": _max_rule}, {"input": _max_push}, node=node)
    alone = hot(op.call, remakes=True)
    both = Op(
        f"max_pool{n}d_with_indices",
        _with_places,
        {"input": lambda g0, out1, input_shape: scatter_places(g0, out1, tuple(input_shape[len(input_shape) - n :]))},
        {"input": lambda t, out1: (gather_places(t, out1, n), None)},
        node=node,
        outputs=2,
        nondiff=(1,),
    ).call
    return alone, both


_MAX = {n: _max_ops(n) for n in (2, 3)}


# ------------------------------------------------------------------ arguments


def _each(value: Any, n: int, fn: str, name: str) -> Ints:
    """A number, or a sequence of one or n, as n."""
    if isinstance(value, (tuple, list)):
        got = tuple(int(v) for v in value)
        if len(got) == 1:
            return got * n
        if len(got) != n:
            words = {2: "two ints", 3: "three ints"}[n]
            be = "be" if fn == "avg_pool3d" else "either be"
            raise RuntimeError(f"{fn}: {name} must {be} a single int, or a tuple of {words}")
        return got
    return (int(value),) * n


def _stride(stride: Any, kernel: Ints, n: int, fn: str) -> Ints:
    if stride is None or (isinstance(stride, (tuple, list)) and not len(stride)):
        return kernel
    if isinstance(stride, (tuple, list)) and len(stride) not in (1, n):
        words = {2: "two ints", 3: "three ints"}[n]
        be = "be" if fn == "avg_pool3d" else "either be"
        raise RuntimeError(f"{fn}: stride must {be} omitted, a single int, or a tuple of {words}")
    return _each(stride, n, fn, "stride")


def _count(n: int, k: int, s: int, p: int, d: int, ceil_mode: bool) -> int:
    out = (n + 2 * p - d * (k - 1) - 1 + (s - 1 if ceil_mode else 0)) // s + 1
    if ceil_mode and (out - 1) * s >= n + p:
        out -= 1
    return out


def _check_pads(kernel: Ints, padding: Ints, dilation: Ints) -> None:
    for k, p, d in zip(kernel, padding, dilation, strict=True):
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > ((k - 1) * d + 1) // 2:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and "
                f"dilation={d}"
            )
    if any(p > k // 2 for k, p in zip(kernel, padding, strict=True)):
        if len(kernel) == 3:
            (t, h, w), (pt, ph, pw) = kernel, padding
            words = f"kT: {t} kW: {w} kH: {h} padT: {pt} padW: {pw} padH: {ph}"
        else:
            (h, w), (ph, pw) = kernel, padding
            words = f"padW = {pw}, padH = {ph}, kW = {w}, kH = {h}"
        raise RuntimeError(f"pad should be smaller than or equal to half of kernel size, but got {words}")


_LETTERS = {2: "HW", 3: "THW"}


def _windows(
    fn: str, shape: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool
) -> Windows:
    """The windows of a pooling op, once its arguments are found to be good."""
    n = len(kernel)
    if any(s == 0 for s in stride):
        raise RuntimeError("stride should not be zero")
    letters = _LETTERS[n]
    for name, values in (("kernel size", kernel), ("stride", stride)):
        if any(v <= 0 for v in values):
            short = "k" if name == "kernel size" else "d"
            words = " ".join(f"{short}{c}: {v}" for c, v in zip(letters, values, strict=True))
            raise RuntimeError(f"{name} should be greater than zero, but got {words}")
    if any(d <= 0 for d in dilation):
        words = " ".join(f"dilation{c}: {v}" for c, v in zip(letters, dilation, strict=True))
        raise RuntimeError(f"dilation should be greater than zero, but got {words}")
    _check_pads(kernel, padding, dilation)
    rank = len(shape)
    good = rank in (n + 1, n + 2) and all(shape[-n:]) and (shape[-n - 1] != 0)
    if not good:
        if n == 2:
            raise RuntimeError(
                f"Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:{list(shape)}"
            )
        raise RuntimeError(
            "non-empty 4D or 5D (batch mode) tensor expected for input"
            if rank not in (4, 5)
            else f"{fn}_with_indices_out_cpu_template(): Expected input's non-batch dimensions to have positive "
            f"length, but input has a shape of {list(shape)} and non-batch dimension 0 has length zero!"
        )
    outs = [
        _count(m, k, s, p, d, ceil_mode)
        for m, k, s, p, d in zip(shape[-n:], kernel, stride, padding, dilation, strict=True)
    ]
    if any(o < 1 for o in outs):
        if fn == "avg_pool3d":
            have = " ".join(f"{a}: {v}" for a, v in zip("THW", shape[-n:], strict=True))
            want = " ".join(f"k{a}: {v}" for a, v in zip("THW", kernel, strict=True))
            raise RuntimeError(f"input image ({have}) smaller than kernel size ({want})")
        size, made = ("x".join(map(str, v)) for v in ((shape[-n - 1], *shape[-n:]), (shape[-n - 1], *outs)))
        raise RuntimeError(f"Given input size: ({size}). Calculated output size: ({made}). Output size is too small")
    return tuple(Window(k, s, d, p, o) for k, s, d, p, o in zip(kernel, stride, dilation, padding, outs, strict=True))


@planned
def _plan(
    fn: str, n: int, shape: Ints, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Windows:
    rank = len(shape)
    if n == 2 and rank not in (3, 4) and fn.startswith("max"):
        raise RuntimeError("non-empty 3D or 4D (batch mode) tensor expected for input")
    if n == 2 and rank < 3:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-max(rank, 1)}, {max(rank, 1) - 1}], but got -3)"
        )
    kernel = _each(kernel_size, n, fn, "kernel_size")
    return _windows(
        fn, shape, kernel, _stride(stride, kernel, n, fn), _each(padding, n, fn, "padding"),
        _each(dilation, n, fn, "dilation"), ceil_mode,
    )  # fmt: skip


# ------------------------------------------------------------------ max pooling


def _max_pool(
    n: int, both: bool, input: Value, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Any:
    fn = f"max_pool{n}d"
    windows = _plan(fn, n, tuple(input.shape), kernel_size, stride, padding, dilation, ceil_mode)
    refusal("bc", fn if n == 2 else "max_pool3d")("", input.dtype)
    return _MAX[n][both](input, windows)


def _one(value: Any, name: str, fn: str) -> int:
    if isinstance(value, (tuple, list)):
        if len(value) != 1:
            if fn == "avg_pool1d":
                raise RuntimeError(f"{fn}() argument '{name}' should contain one int (got {len(value)})")
            kinds = "None, an int, list of ints," if name == "stride" else "an int, list of ints"
            raise RuntimeError(f"{fn}() {name} must be {kinds} or tuple of ints of size 1 but got size {len(value)}")
        return int(value[0])
    return int(value)


def _max_pool1d(
    both: bool, input: Value, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Any:
    fn = "max_pool1d"
    if input.ndim not in (2, 3) or 0 in input.shape[-2:]:
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but "
            f"got:{list(input.shape)}"
        )
    k, p, d = (_one(v, m, fn) for v, m in ((kernel_size, "kernel_size"), (padding, "padding"), (dilation, "dilation")))
    s = k if stride is None or (isinstance(stride, (tuple, list)) and not stride) else _one(stride, "stride", fn)
    for value, name in ((k, "kernel_size"), (s, "stride"), (d, "dilation")):
        if value <= 0:
            raise RuntimeError(f"max_pool1d() {name} must be greater than zero, but got {value}")
    if p < 0 and both:
        raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
    if p < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {p}")
    if p > k // 2 and both:
        _check_pads((1, k), (0, p), (1, d))
    if p > k // 2:
        raise RuntimeError(
            f"max_pool1d() padding should be at most half of kernel size, but got padding={p} and kernel_size={k}"
        )
    out = _count(input.shape[-1], k, s, p, d, ceil_mode)
    if out <= 0:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {out}")
    refusal("bc" if both else "bic", "max_pool2d" if both else "max_pool1d_impl")("", input.dtype)
    windows = (Window(1, 1, 1, 0, 1), Window(k, s, d, p, out))
    r = _MAX[2][both](input.unsqueeze(-2), windows)
    return (r[0].squeeze(-2), r[1].squeeze(-2)) if both else r.squeeze(-2)


def max_pool1d_with_indices(
    input: Value, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """`max_pool1d`, and where the maxima are. Source: torch.nn.functional.max_pool1d_with_indices."""
    return _max_pool1d(True, input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool1d(
    input: Value, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The largest element of each window of (N, C, L) or (C, L); its gradient goes to the first that is it.

    **Arguments** stride: kernel_size if None; padding: of minus infinities on both sides; ceil_mode: windows may
    go over
    the end; return_indices: return where the maxima are too. Source: torch.nn.functional.max_pool1d.
    """
    return _max_pool1d(return_indices, input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d_with_indices(
    input: Value, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """`max_pool2d`, and where in the plane the maxima are."""
    return _max_pool(2, True, input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d(
    input: Value, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The largest element of each window of (N, C, H, W) or (C, H, W). Source: torch.nn.functional.max_pool2d.

    >>> import tidu as torch
    >>> torch.nn.functional.max_pool2d(torch.arange(16.).reshape(1, 4, 4), 2)
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """
    return _max_pool(2, return_indices, input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d_with_indices(
    input: Value, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """`max_pool3d`, and where in the volume the maxima are."""
    return _max_pool(3, True, input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d(
    input: Value, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The largest element of each window of (N, C, D, H, W) or (C, D, H, W). Source: torch.nn.functional.max_pool3d."""
    return _max_pool(3, return_indices, input, kernel_size, stride, padding, dilation, ceil_mode)


# ------------------------------------------------------------------ average pooling


def _avg_pool(
    n: int, input: Value, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, include_pad: bool,
    override: int | None,
) -> Value:  # fmt: skip
    fn = f"avg_pool{n}d"
    if override == 0:
        raise RuntimeError("divisor must be not zero")
    windows = _plan(fn, n, tuple(input.shape), kernel_size, stride, padding, 1, ceil_mode)
    word = fn if n == 2 else "avg_pool3d_out_frame"
    refusal("bc" if input.dtype is dtypes.int64 else "bic", word)("", input.dtype)
    if n == 3 and input.dtype.category == 2 and input.dtype.itemsize == 2:
        raise NotImplementedError(f"\"{word}\" not implemented for '{input.dtype.legacy}'")
    pads = tuple(w.before for w in windows)
    return _AVG[n](input, windows, pads, include_pad, override)


def avg_pool1d(
    input: Value, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Value:  # fmt: skip
    """The mean of each window of (N, C, L) or (C, L)."""
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {input.ndim}-dimensional tensor for argument #1 'self' (while "
            "checking arguments for avg_pool1d)"
        )
    k, p = _one(kernel_size, "kernel_size", "avg_pool1d"), _one(padding, "padding", "avg_pool1d")
    s = (
        k
        if stride is None or (isinstance(stride, (tuple, list)) and not stride)
        else _one(stride, "stride", "avg_pool1d")
    )
    r = _avg_pool(2, input.unsqueeze(-2), (1, k), (1, s), (0, p), ceil_mode, count_include_pad, None)
    return r.squeeze(-2)


def avg_pool2d(
    input: Value, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None, *, out: Value = None,
) -> Value:  # fmt: skip
    """The mean of each window of (N, C, H, W) or (C, H, W).

    **Arguments** count_include_pad: count the zeros of the padding; divisor_override: divide by it instead of the
    number
    of elements.
    """
    r = _avg_pool(2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return r if out is None else into("avg_pool2d", out, r)


def avg_pool3d(
    input: Value, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None, *, out: Value = None,
) -> Value:  # fmt: skip
    """The mean of each window of (N, C, D, H, W) or (C, D, H, W)."""
    r = _avg_pool(3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return r if out is None else into("avg_pool3d", out, r)
