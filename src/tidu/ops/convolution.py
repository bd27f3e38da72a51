"""Convolution, in one to three dimensions, and transposed.

It is linear in the input and in the kernel, and its adjoints are made of the same three maps: `correlate` (the forward
pass), its adjoint in the input (the transposed convolution), its adjoint in the kernel. Their rules lead from one to
another, which is what makes derivatives of any order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays import convolution as kernels
from ..core.elementwise import conj, elementwise
from ..core.errors import type_word
from ..core.linear import bilinear
from ..core.op import Op
from ..core.tensor import Tensor, dtype_word, type_name
from ..naming import warn
from ._dtypes import refusal
from ._make import laid_as
from .comparison import view_as_real
from .reduction import sum

__all__ = [
    "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "convolution",
]  # fmt: skip

Value = Any
Ints = tuple[int, ...]
ndarray = np.ndarray


def _pairs(padding: Ints) -> list[tuple[int, int]]:
    return [(p, p) for p in padding]


# ------------------------------------------------------------------ the three maps

# With A(w) the map x -> y of a convolution: correlate(x, w) = A(w) x, back_input(y, w) = A(w)^T y, and
# back_weight(y, x)
# the kernel that is the adjoint of w -> A(w) x at y.

correlate: Any = bilinear(
    "correlate",
    lambda x, w, out, stride, padding, dilation, groups: kernels.correlate(
        x, w, None, stride, _pairs(padding), dilation, groups, out
    ),
    left=lambda g, w, x_shape, stride, padding, dilation, groups: back_input(
        g, conj(w), tuple(x_shape[2:]), stride, padding, dilation, groups
    ),
    right=lambda g, x, w_shape, stride, padding, dilation, groups: back_weight(
        g, conj(x), tuple(w_shape[2:]), stride, padding, dilation, groups
    ),
    register=False,
)
back_input: Any = bilinear(
    "correlate_back_input",
    lambda y, w, size, stride, padding, dilation, groups: kernels.adjoint_input(
        y, w, None, size, stride, _pairs(padding), dilation, groups
    ),
    left=lambda g, w, y_shape, stride, padding, dilation, groups: correlate(
        g, conj(w), tuple(y_shape[2:]), stride, padding, dilation, groups
    ),
    right=lambda g, y, w_shape, stride, padding, dilation, groups: back_weight(
        conj(y), g, tuple(w_shape[2:]), stride, padding, dilation, groups
    ),
    register=False,
)
back_weight: Any = bilinear(
    "correlate_back_weight",
    lambda y, x, kernel, stride, padding, dilation, groups: kernels.adjoint_weight(
        y, x, kernel, stride, _pairs(padding), dilation, groups
    ),
    left=lambda g, x, y_shape, stride, padding, dilation, groups: correlate(
        conj(x), g, tuple(y_shape[2:]), stride, padding, dilation, groups
    ),
    right=lambda g, y, x_shape, stride, padding, dilation, groups: back_input(
        conj(y), g, tuple(x_shape[2:]), stride, padding, dilation, groups
    ),
    register=False,
)


# ------------------------------------------------------------------ the op


def _transposed_size(size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, extra: Ints) -> Ints:
    return tuple(
        (n - 1) * s - 2 * p + d * (k - 1) + e + 1
        for n, k, s, p, d, e in zip(size, kernel, stride, padding, dilation, extra, strict=True)
    )


def _forward(
    input: Any, weight: Any, bias: Any, stride: Ints, padding: Ints, dilation: Ints, transposed: bool,
    output_padding: Ints, groups: int,
) -> Any:  # fmt: skip
    if not transposed:
        r = kernels.correlate(input, weight, bias, stride, _pairs(padding), dilation, groups)
        return laid_as(r, input, weight)
    size = _transposed_size(input.shape[2:], weight.shape[2:], stride, padding, dilation, output_padding)
    r = kernels.adjoint_input(input, weight, bias, size, stride, _pairs(padding), dilation, groups)
    return laid_as(r, input, weight)


def _input_rule(
    g: Value,
    weight: Value,
    input_shape: Any,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    groups: int,
) -> Value:
    size = tuple(input_shape[2:])
    if g.__class__ is ndarray and g.dtype.kind != "c":
        pads = _pairs(padding)
        if transposed:
            return kernels.correlate(g, weight, None, stride, pads, dilation, groups, size)
        return kernels.adjoint_input(g, weight, None, size, stride, pads, dilation, groups)
    if transposed:
        return correlate(g, conj(weight), size, stride, padding, dilation, groups)
    return back_input(g, conj(weight), size, stride, padding, dilation, groups)


def _weight_rule(
    g: Value,
    input: Value,
    weight_shape: Any,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    groups: int,
) -> Value:
    kernel = tuple(weight_shape[2:])
    if g.__class__ is ndarray and g.dtype.kind != "c":
        y, x = (input, g) if transposed else (g, input)
        return kernels.adjoint_weight(y, x, kernel, stride, _pairs(padding), dilation, groups)
    if transposed:
        return back_weight(conj(input), g, kernel, stride, padding, dilation, groups)
    return back_weight(g, conj(input), kernel, stride, padding, dilation, groups)


def _bias_rule(g: Value) -> Value:
    return sum(g, (0, *range(2, g.ndim)))


def _linear_part(
    x: Value, w: Value, stride: Ints, padding: Ints, dilation: Ints, transposed: bool, output_padding: Ints, groups: int
) -> Value:
    return _op.call(x, w, None, stride, padding, dilation, transposed, output_padding, groups)


_op = Op(
    "convolution",
    _forward,
    {"input": _input_rule, "weight": _weight_rule, "bias": _bias_rule},
    {
        "input": lambda t, weight, stride, padding, dilation, transposed, output_padding, groups: _linear_part(
            t, weight, stride, padding, dilation, transposed, output_padding, groups
        ),
        "weight": lambda t, input, stride, padding, dilation, transposed, output_padding, groups: _linear_part(
            input, t, stride, padding, dilation, transposed, output_padding, groups
        ),
        "bias": lambda t, input: t.reshape((1, -1, *(1,) * (input.ndim - 2))),
    },
    out_arg=False,
)


# ------------------------------------------------------------------ arguments


def _expand(value: Any, n: int, name: str) -> Ints:
    if isinstance(value, (tuple, list)):
        got = tuple(int(v) for v in value)
        if len(got) == 1:
            return got * n
        if len(got) != n:
            raise RuntimeError(
                f"expected {name} to be a single integer value or a list of {n} values to match the convolution "
                f"dimensions, but got {name}={list(got)}"
            )
        return got
    return (int(value),) * n


def _each(value: Any, n: int) -> Any:
    return value if isinstance(value, (tuple, list, str)) else (value,) * n


def _check(
    input: Value, weight: Value, bias: Value, stride: Ints, padding: Ints, dilation: Ints, transposed: bool,
    output_padding: Ints, groups: int,
) -> None:  # fmt: skip
    if any(p < 0 for p in padding):
        raise RuntimeError("negative padding is not supported")
    if any(p < 0 for p in output_padding):
        raise RuntimeError("negative output_padding is not supported")
    if any(s <= 0 for s in stride):
        raise RuntimeError("non-positive stride is not supported")
    if any(d < 0 for d in dilation):
        raise RuntimeError("dilation should be greater than zero")
    if any(d == 0 for d in dilation):
        raise RuntimeError("non-positive dilation is not supported")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    w, x = list(weight.shape), list(input.shape)
    _check_ranks(input, weight)
    if w[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size "
            f"{w} instead"
        )
    if w[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of "
            f"size [{w}] instead"
        )
    word = f"transposed={int(transposed)}" if transposed else f"groups={groups}"
    channels = w[0] if transposed else w[1] * groups
    if x[1] != channels:
        raise RuntimeError(
            f"Given {word}, weight of size {w}, expected input{x} to have {channels} channels, but got {x[1]} channels "
            "instead"
        )
    outs = w[1] * groups if transposed else w[0]
    if bias is not None and (bias.ndim != 1 or bias.shape[0] != outs):
        word = f"transposed={int(transposed)}, " if transposed else ""
        raise RuntimeError(
            f"Given {word}weight of size {w}, expected bias to be 1-dimensional with {outs} elements, but got bias of "
            f"size {list(bias.shape)} instead"
        )
    if transposed:
        _check_output_padding(output_padding, stride, dilation)
        made = _transposed_size(tuple(x[2:]), tuple(w[2:]), stride, padding, dilation, output_padding)
        if any(m < 1 for m in made):
            have, want = (" x ".join(map(str, v if len(v) > 1 else (1, *v))) for v in (tuple(x[2:]), made))
            raise RuntimeError(
                f"Given input size per channel: ({have}). Calculated output size per channel: ({want}). Output size is "
                "too small"
            )
        return
    seen = [n + 2 * p for n, p in zip(x[2:], padding, strict=True)]
    kernel = [d * (k - 1) + 1 for k, d in zip(w[2:], dilation, strict=True)]
    if any(a < b for a, b in zip(seen, kernel, strict=True)):
        raise RuntimeError(
            f"Calculated padded input size per channel: ({' x '.join(map(str, seen))}). Kernel size: "
            f"({' x '.join(map(str, kernel))}). Kernel size can't be greater than actual input size"
        )


def _check_ranks(input: Value, weight: Value, space: str = " ") -> None:
    if input.ndim != weight.ndim:
        raise RuntimeError(
            f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional "
            f"weight{space}{list(weight.shape)}, but got "
            f"{input.ndim}-dimensional input of size {list(input.shape)} instead"
        )


_SIDES = {1: ("height", "width"), 2: ("height", "width"), 3: ("depth", "height", "width")}


def _check_output_padding(extra: Ints, stride: Ints, dilation: Ints) -> None:
    if all(e < s or e < d for e, s, d in zip(extra, stride, dilation, strict=True)):
        return
    if len(extra) == 1:
        extra, stride, dilation = (0, *extra), (1, *stride), (1, *dilation)
    names = _SIDES[len(extra)]
    words = " ".join(
        f"{what}_{side}: {v}"
        for what, values in (("output_padding", extra), ("stride", stride), ("dilation", dilation))
        for side, v in zip(names, values, strict=True)
    )
    raise RuntimeError(f"output padding must be smaller than either stride or dilation, but got {words}")


def _check_dtypes(input: Value, weight: Value, bias: Value, n: int, dilation: Ints, transposed: bool) -> None:
    differ = input.dtype != weight.dtype
    if differ and (input.dtype.is_complex or (not transposed and input.dtype in (dtypes.float32, dtypes.bfloat16))):
        raise RuntimeError(
            f"Input type ({type_word(input.dtype)}) and weight type ({type_word(weight.dtype)}) should be the same"
            + " or input should be a MKLDNN tensor and weight is a dense tensor" * (not input.dtype.is_complex)
        )
    if transposed:
        word = f"slow_conv_transpose{max(n, 2)}d_out_cpu"
    elif any(d != 1 for d in dilation):
        word = "slow_conv_dilated<>"
    else:
        one = all(k == 1 for k in weight.shape[2:])
        word = "slow_conv2d_cpu" if n < 3 else "slow_conv3d_cpu" if one else "compute_columns3d"
    refusal("b", word)("", input.dtype)
    if differ:
        raise RuntimeError(f"expected scalar type {input.dtype.legacy} but found {weight.dtype.legacy}")


def convolution(
    input: Value, weight: Value, bias: Value, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int,
) -> Value:  # fmt: skip
    """The convolution behind all the others."""
    n = weight.ndim - 2
    if n < 1:
        raise RuntimeError("weight should have at least three dimensions")
    args = (
        _expand(stride, n, "stride"), _expand(padding, n, "padding"), _expand(dilation, n, "dilation"), transposed,
        _expand(output_padding, n, "output_padding"), groups,
    )  # fmt: skip
    if input.dtype.is_complex and weight.dtype.is_complex:
        return _complex(input, weight, bias, args)
    _check(input, weight, bias, *args)
    _check_dtypes(input, weight, bias, n, args[2], transposed)
    return _op.call(input, weight, bias, *args)


_times_i = elementwise("mul.i", lambda input: np.asarray(input * 1j), {"input": lambda: 1j}, node="MulBackward1")


def _complex(input: Value, weight: Value, bias: Value, args: Any) -> Value:
    """Three real convolutions instead of four: with a, b of the parts and c of their sums, a - b + i (c - a - b)."""

    def parts(x: Value) -> tuple[Value, Value]:
        x = view_as_real(x)
        return x.select(-1, 0), x.select(-1, 1)

    (xr, xi), (wr, wi) = parts(input), parts(weight)
    br, bi = (None, None) if bias is None else parts(bias)
    a = convolution(xr, wr, br, *args)
    b = convolution(xi, wi, None, *args)
    c = convolution(xr + xi, wr + wi, None if br is None else br + bi, *args)
    imag = c - a - b
    return (a - b) + _times_i(imag)


# ------------------------------------------------------------------ by dimensions


def _batched(fn: str, n: int, input: Value) -> bool:
    if input.ndim not in (n + 1, n + 2):
        raise RuntimeError(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {fn}, but got input of size: "
            f"{list(input.shape)}"
        )
    return bool(input.ndim == n + 2)


def _kind(v: Any) -> Any:
    a = getattr(v, "_a", v if isinstance(v, Tensor) else None)
    return a if a is None else (a.shape, a.dtype)


def _conv(
    fn: str, n: int, input: Value, weight: Value, bias: Value, stride: Any, padding: Any, dilation: Any, groups: int
) -> Value:
    key: Any = None
    known = None
    try:  # arguments that were found good before are good again
        key = _kind(input), _kind(weight), _kind(bias), stride, padding, dilation, groups
        known = _KNOWN.get(key)
    except TypeError:
        key = None
    if known is not None:
        return _op.call(input, weight, bias, *known)
    for i, (name, v) in enumerate((("input", input), ("weight", weight)), 1):
        if not isinstance(v, Tensor):
            raise TypeError(f"{fn}() argument '{name}' (position {i}) must be Tensor, not {type_name(v)}")
    if isinstance(bias, Tensor) and bias.dtype != input.dtype:
        raise RuntimeError(
            f"Input type ({dtype_word(input.dtype)}) and bias type ({dtype_word(bias.dtype)}) should be the same"
        )
    batched = _batched(fn, n, input)
    x = input if batched else input.unsqueeze(0)
    stride, dilation = _each(stride, n), _each(dilation, n)
    if isinstance(padding, str) and x.ndim != weight.ndim:
        _check_ranks(x, weight, "")
    padding = _each(padding, n)
    if isinstance(padding, str):
        x, padding = _by_word(x, weight, stride, padding, dilation)
    r = convolution(x, weight, bias, stride, padding, dilation, False, 0, groups)
    if not batched:
        return r.squeeze(0)
    if key is not None and x is input and not input.dtype.is_complex:
        if len(_KNOWN) > 1024:
            _KNOWN.clear()
        _KNOWN[key] = (
            _expand(stride, n, "stride"), _expand(padding, n, "padding"), _expand(dilation, n, "dilation"), False,
            (0,) * n, groups,
        )  # fmt: skip
    return r


_KNOWN: dict[Any, tuple[Any, ...]] = {}


def _by_word(x: Value, weight: Value, stride: Any, padding: str, dilation: Any) -> tuple[Value, Ints]:
    """What "valid" and "same" mean; where the sides of "same" differ, the input is padded first."""
    n = weight.ndim - 2
    if padding == "valid":
        return x, (0,) * n
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    if any(s != 1 for s in _expand(stride, n, "stride")):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    from .padding import constant_pad_nd

    total = [d * (k - 1) for d, k in zip(_expand(dilation, n, "dilation"), weight.shape[2:], strict=True)]
    if all(t % 2 == 0 for t in total):
        return x, tuple(t // 2 for t in total)
    warn(
        "Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy of the input be "
        "created"
    )
    more = [0 if i % 2 == 0 else total[n - 1 - i // 2] % 2 for i in range(2 * n)]
    return constant_pad_nd(x, more), tuple(t // 2 for t in total)


def conv1d(
    input: Value,
    weight: Value,
    bias: Value = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Value:
    """The convolution of (N, C, L) or (C, L) with a kernel (O, C / groups, K).

    **Arguments** bias: (O); stride, dilation: steps between places of the kernel, and within it; padding: zeros on both
    sides, or "valid", or "same"; groups: blocks of channels that are not mixed.

    >>> import tidu as torch
    >>> torch.conv1d(torch.arange(4.)[None, None], torch.tensor([[[1., 1.]]]))
    tensor([[[1., 3., 5.]]])
    """
    return _conv("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Value,
    weight: Value,
    bias: Value = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Value:
    """The convolution of (N, C, H, W) or (C, H, W) with a kernel (O, C / groups, KH, KW).

    out[n, o, i, j] = bias[o] + sum over c, u, v of input[n, c, i * stride + u * dilation - padding, ...] *
    weight[o, c, u, v]. The arguments are those of `conv1d`, numbers or pairs.
    """
    return _conv("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Value,
    weight: Value,
    bias: Value = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Value:
    """The convolution of (N, C, D, H, W) or (C, D, H, W) with a kernel (O, C / groups, KD, KH, KW)."""
    return _conv("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


def _transposed(n: int) -> Callable[..., Any]:
    name = f"conv_transpose{n}d"

    def call(
        input: Value, weight: Value, bias: Value = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
        groups: int = 1, dilation: Any = 1,
    ) -> Value:  # fmt: skip
        batched = _batched(name, n, input)
        x = input if batched else input.unsqueeze(0)
        stride, padding, dilation, output_padding = (_each(v, n) for v in (stride, padding, dilation, output_padding))
        r = convolution(x, weight, bias, stride, padding, dilation, True, output_padding, groups)
        return r if batched else r.squeeze(0)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""The transposed convolution, {n}-dimensional: the adjoint of `conv{n}d` in its input.

    **Arguments** weight: (C, O / groups, ...); output_padding: more places at the end, fewer than a step. Source:
    torch.{name}.
    """
    return call


conv_transpose1d, conv_transpose2d, conv_transpose3d = _transposed(1), _transposed(2), _transposed(3)


# ------------------------------------------------------------------ time first


_tbc = Op(
    "conv_tbc",
    lambda input, weight, bias, pad: kernels.correlate(
        input.transpose(1, 2, 0), weight.transpose(2, 1, 0), bias, (1,), [(pad, pad)], (1,), 1
    ).transpose(2, 0, 1),
    {
        "input": lambda g, weight, input_shape, pad: _axes(
            back_input(_axes(g, 1, 2, 0), _axes(weight, 2, 1, 0), (input_shape[0],), (1,), (pad,), (1,), 1), 2, 0, 1
        ),
        "weight": lambda g, input, weight_shape, pad: _axes(
            back_weight(_axes(g, 1, 2, 0), _axes(input, 1, 2, 0), (weight_shape[0],), (1,), (pad,), (1,), 1), 2, 1, 0
        ),
        "bias": lambda g: sum(g, (0, 1)),
    },
    out_arg=False,
)


def _axes(x: Value, *order: int) -> Value:
    from .shape import permute

    return permute(x, order)


def conv_tbc(input: Value, weight: Value, bias: Value, pad: int = 0) -> Value:
    """The convolution of (T, N, C) with a kernel (K, C, O)."""
    if input.ndim != 3:
        raise RuntimeError("Input must have 3 dims: time, batch, in_channel")
    if weight.ndim != 3:
        raise RuntimeError("Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.")
    if bias.ndim != 1:
        raise RuntimeError("Bias must be 1-D")
    if input.shape[2] != weight.shape[1]:
        raise RuntimeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor")
    if weight.shape[2] != bias.shape[0]:
        raise RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels).")
    return _tbc.call(input, weight, bias, pad)
