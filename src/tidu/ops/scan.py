"""Scans: running sums, products, extremes; differences and integrals along a dimension."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..arrays.reduce import cumsum as cumsum_array
from ..arrays.rows import number
from ..core.elementwise import conj
from ..core.linear import linear
from ..core.op import Op
from ..core.tensor import Tensor, dtype_word
from ..naming import given_out, return_type
from ..shapes import normalize_dim
from ._hot import hot
from .reduction import INT64, Ints, dim_index, into, is_low, packed, refuse_integers

__all__ = ["cummax", "cummin", "cumprod", "cumsum", "logcumsumexp"]
METHODS = "*"
INPLACE = "cumprod cumsum"


def _dim(name: str, dim: Any, ndim: int) -> int:
    return normalize_dim(dim if isinstance(dim, int) else dim_index(name, dim), ndim)


# ------------------------------------------------------------------ sums


def _cumsum(input: Any, dim: int, *, dtype: Any = None) -> Any:
    d = _dim("cumsum", dim, input.ndim)
    if dtype is not None:
        input = input.astype(dtype.np)
    if not input.ndim:
        return input.astype(INT64) if input.dtype.kind in "biu" else input.copy()
    if input.dtype.kind in "biu":
        return np.ascontiguousarray(np.add.accumulate(input, d, INT64 if dtype is None else dtype.np))
    r = _running_sum(input, d)
    if input.size <= 4096 or not np.take(input, 0, d).all():
        np.add(r, number(0, r.dtype.char) if r.itemsize > 2 else 0, r)  # sums begin with 0.: that of -0. is no -0.
    return r


def _running_sum(a: Any, dim: int, reverse: bool = False) -> Any:
    if is_low(a.dtype):
        return cumsum_array(a.astype(np.float32), dim, reverse).astype(a.dtype)
    return cumsum_array(a, dim, reverse)


def _reversed(x: Any, dim: int) -> Any:
    return np.flip(x, dim) if isinstance(x, np.ndarray) and x.ndim else x if not x.ndim else x.flip(dim)


def _reverse_cumsum(g: Any, dim: int) -> Any:
    if isinstance(g, Tensor):
        return _reversed(cumsum(_reversed(g, dim), dim), dim)
    g = np.asarray(g)
    return _running_sum(g, dim, True) if g.ndim else g


_cumsum_op = hot(linear("cumsum", _cumsum, lambda g, dim: _reverse_cumsum(g, dim)))


def _scanned(op: Any, input: Any, dim: Any, dtype: Any, out: Any) -> Any:
    if dtype is dtypes.bool_ and out is None and input.ndim and input.numel():
        normalize_dim(dim, input.ndim)
        raise NotImplementedError(f"\"{op.op.name}_out_cpu\" not implemented for 'Bool'")
    if out is None:
        if dtype is not None:
            refuse_integers(input, dtype)
        return op(input, dim, dtype)
    if dtype is not None and dtype is not out.dtype:
        raise RuntimeError(
            f"Expected out tensor to have dtype {dtype_word(dtype)}, but got {dtype_word(out.dtype)} instead"
        )
    return op(input, dim, out.dtype, out=out)


def cumsum(input: Any, dim: int, *, dtype: Any = None, out: Any = None) -> Any:
    """The running sum along a dimension. Integers and bools sum to int64."""
    return _scanned(_cumsum_op, input, dim, dtype, out)


cumsum.op = _cumsum_op.op


# ------------------------------------------------------------------ products


def _cumprod(input: Any, dim: int, *, dtype: Any = None) -> Any:
    d = _dim("cumprod", dim, input.ndim)
    if dtype is not None:
        input = input.astype(dtype.np)
    if not input.ndim:
        return input.astype(INT64) if input.dtype.kind in "biu" else input.copy()
    if input.dtype.kind in "biu":
        return packed(np.multiply.accumulate(input, d, INT64 if dtype is None else dtype.np))
    if is_low(input.dtype):
        return packed(np.multiply.accumulate(input.astype(np.float32), d)).astype(input.dtype)
    return packed(np.multiply.accumulate(input, d))


def _cumprod_backward(g: Any, input: Any, out: Any, dim: int) -> Any:
    """sum_{j >= i} g_j prod_{k <= j, k != i} x_k: by division where no element is zero, else by a recurrence."""
    if not isinstance(input, Tensor) and input.all():
        return _reverse_cumsum(g * conj(out), dim) / conj(input)
    if g.__class__ is np.ndarray:
        return _beside_zeros(g, conj(input), conj(out), dim) if g.ndim else g
    # a_i = prod_{k < i} x_k; b_i = g_i + x_{i+1} b_{i+1}: d_i = a_i b_i, with no division at all.
    x = conj(input)
    return exclusive_cumprod(x, dim, False) * backward_recurrence(g, x, dim)


def _beside_zeros(g: Any, x: Any, out: Any, dim: int) -> Any:
    """Where some element is zero: what lies before the first zero by division, the zero itself by the products from it
    to the second one, and nothing beyond."""
    zero = x == 0
    seen = np.cumsum(zero, dim)
    before, within = seen == 0, seen == 1
    made = np.zeros_like(x)
    np.copyto(made, _reverse_cumsum(np.where(before, out * g, 0), dim) / x, where=before)
    first = zero & within
    at = np.expand_dims(first.argmax(dim), dim)
    ahead = np.where(at == 0, 1, np.take_along_axis(out, np.maximum(at - 1, 0), dim))
    behind = np.multiply.accumulate(np.where(within & ~first, x, 1), dim) * np.where(within, g, 0)
    np.copyto(made, np.add.reduce(behind, dim, keepdims=True) * ahead, where=first)
    return made


_cumprod_op = Op(
    "cumprod",
    _cumprod,
    vjp={"input": _cumprod_backward},
    jvp={"input": lambda t, input, dim: forward_recurrence(t * exclusive_cumprod(input, dim, False), input, dim)},
).call


def cumprod(input: Any, dim: int, *, dtype: Any = None, out: Any = None) -> Any:
    """The running product along a dimension. Integers and bools multiply to int64."""
    return _scanned(_cumprod_op, input, dim, dtype, out)


cumprod.op = _cumprod_op.op


def _shift(x: Any, dim: int, fill: float, backward: bool) -> Any:
    """The elements moved on by one place along a dimension, `fill` where none comes from."""
    n = x.shape[dim]
    index = [slice(None)] * x.ndim
    index[dim] = slice(1, None) if backward else slice(0, n - 1)
    kept = x[tuple(index)]
    if isinstance(x, Tensor):
        shape = list(x.shape)
        shape[dim] = 1
        from . import joining

        edge = x.new_full(tuple(shape), fill)
        return joining.cat([kept, edge] if backward else [edge, kept], dim)
    out = np.full(x.shape, fill, x.dtype)
    index[dim] = slice(0, n - 1) if backward else slice(1, None)
    out[tuple(index)] = kept
    return out


def exclusive_cumprod(x: Any, dim: int, backward: bool) -> Any:
    """For every element the product of those before it (or after it) along a dimension."""
    if not x.ndim:
        return x * 0 + 1
    if not x.shape[dim]:
        return x
    moved = _shift(x, dim, 1, backward)
    if isinstance(x, Tensor):
        return moved.flip(dim).cumprod(dim).flip(dim) if backward else cumprod(moved, dim)
    return np.flip(np.multiply.accumulate(np.flip(moved, dim), dim), dim) if backward else np.multiply.accumulate(moved, dim)  # fmt: skip


def _doubling(g: Any, x: Any, dim: int) -> Any:
    """b_i = g_i + x_i b_{i-1} along a dimension, in log2(n) steps over whole arrays."""
    n = x.shape[dim] if x.ndim else 1
    step = 1
    while step < n:
        moved_g, moved_x = _move(g, dim, step, 0), _move(x, dim, step, 1)
        g = g + x * moved_g
        x = x * moved_x
        step *= 2
    return g


def _move(x: Any, dim: int, step: int, fill: float) -> Any:
    n = x.shape[dim]
    index = [slice(None)] * x.ndim
    index[dim] = slice(0, n - step)
    kept = x[tuple(index)]
    shape = list(x.shape)
    shape[dim] = step
    if isinstance(x, Tensor):
        from . import joining

        return joining.cat([x.new_full(tuple(shape), fill), kept], dim)
    return np.concatenate([np.full(shape, fill, x.dtype), kept], dim)


def forward_recurrence(g: Any, x: Any, dim: int) -> Any:
    """b_i = g_i + x_i b_{i-1}."""
    return _doubling(g, x, dim) if x.ndim else g


def backward_recurrence(g: Any, x: Any, dim: int) -> Any:
    """b_i = g_i + x_{i+1} b_{i+1}."""
    if not x.ndim or not x.shape[dim]:
        return g
    r = _doubling(_reversed(g, dim), _reversed(_shift(x, dim, 1, True), dim), dim)
    return _reversed(r, dim)


# ------------------------------------------------------------------ extremes

cummax_result = return_type("cummax", "values", "indices")
cummin_result = return_type("cummin", "values", "indices")


def _running(ufunc: Any) -> Any:
    def forward(input: Any, dim: int) -> Any:
        if not input.ndim:
            return input.copy(), np.zeros((), np.int64)
        values = ufunc.accumulate(input, dim)
        new = input == values
        if input.dtype.kind in "fV":
            new |= np.isnan(input)
        shape = [1] * input.ndim
        shape[dim] = input.shape[dim]
        places = np.where(new, np.arange(input.shape[dim]).reshape(shape), 0)
        return packed(values), packed(np.maximum.accumulate(places, dim))

    return forward


def _running_backward(g0: Any, input_shape: Ints, dim: int, out1: Any) -> Any:
    from .gather import gather_adjoint

    return gather_adjoint(g0, input_shape, dim, out1) if input_shape else g0


def _running_op(name: str, ufunc: Any, result: Any) -> Op:
    return Op(
        name,
        _running(ufunc),
        vjp={"input": _running_backward},
        jvp={"input": lambda t, dim, out1: (t.gather(dim, out1) if t.ndim else t, None)},
        outputs=2,
        nondiff=(1,),
        result=result,
        out_arg=False,
    )


_cummax, _cummin = (_running_op("cummax", np.maximum, cummax_result), _running_op("cummin", np.minimum, cummin_result))


def _running_extreme(name: str, op: Op, result: Any, input: Any, dim: Any, out: Any) -> Any:
    if input.dtype.is_complex:
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{input.dtype.legacy}'")
    r = op.call(input, _dim(name, dim, input.ndim))
    if out is None:
        return r
    for o, v in zip(out, r, strict=True):
        into(name, o, v)
    return given_out(result)(*out)


def cummax(input: Any, dim: int, *, out: Any = None) -> Any:
    """The greatest so far along a dimension, and where it is (the last of equals)."""
    return _running_extreme("cummax", _cummax, cummax_result, input, dim, out)


def cummin(input: Any, dim: int, *, out: Any = None) -> Any:
    """The least so far along a dimension, and where it is (the last of equals)."""
    return _running_extreme("cummin", _cummin, cummin_result, input, dim, out)


# ------------------------------------------------------------------ logcumsumexp


def _logcumsumexp_forward(input: Any, dim: int) -> Any:
    if not input.ndim:
        return input.copy()
    x = input.astype(np.float32) if is_low(input.dtype) else input
    with np.errstate(all="ignore"):
        if x.dtype.kind == "c":
            return _complex_logcumsumexp(x, dim)
        return packed(np.logaddexp.accumulate(x, dim)).astype(input.dtype, copy=False)


def _complex_logcumsumexp(x: Any, dim: int) -> Any:
    """Step by step along the dimension, over whole slices: the imaginary part goes on where a logarithm would wrap."""
    rows = np.moveaxis(x, dim, 0)
    out = np.empty_like(rows)
    for i in range(rows.shape[0]):
        if not i:
            out[0] = rows[0]
            continue
        a, b = out[i - 1], rows[i]
        swap = a.real < b.real
        high, low = np.where(swap, b, a), np.where(swap, a, b)
        same = (high.real == low.real) & np.isinf(high.real)
        out[i] = np.where(same, high, high + np.log1p(np.exp(low - high)))
    return np.moveaxis(out, 0, dim)


def _logcumsumexp_backward(g: Any, input: Any, out: Any, dim: int) -> Any:
    """sum_{j >= i} g_j exp(x_i - out_j), with positive and negative cotangents apart so that each can be summed by
    its logarithm."""
    from .pointwise import exp

    if not input.ndim:
        return g
    if _is_complex(input):
        m = input.real.amax(dim, True) if isinstance(input, Tensor) else np.max(input.real, dim, keepdims=True)
        return conj(exp(input - m)) * _reverse_cumsum(g * conj(exp(m - out)), dim)
    pos, neg = _log_part(g, True), _log_part(g, False)
    return exp(_reverse_logcumsumexp(pos - out, dim) + input) - exp(_reverse_logcumsumexp(neg - out, dim) + input)


def _is_complex(x: Any) -> bool:
    return x.dtype.is_complex if isinstance(x, Tensor) else x.dtype.kind == "c"


def _log_part(g: Any, positive: bool) -> Any:
    """The logarithm of the positive (negative) part of a cotangent, the least number where there is none."""
    from .pointwise import log
    from .selection import where

    least = dtypes.finfo(g.dtype if isinstance(g, Tensor) else dtypes.from_numpy(g.dtype)).min
    picked = where(g > 0, g, 1.0) if positive else where(g < 0, -g, 1.0)
    return where(g > 0 if positive else g < 0, log(picked), least)


def _reverse_logcumsumexp(x: Any, dim: int) -> Any:
    if isinstance(x, Tensor):
        return _logcumsumexp.call(x.flip(dim), dim).flip(dim)
    return np.flip(_logcumsumexp_forward(np.flip(x, dim), dim), dim)


def _logcumsumexp_tangent(t: Any, input: Any, out: Any, dim: int) -> Any:
    from .pointwise import exp

    if not input.ndim:
        return t
    m = input.amax(dim, True) if not _is_complex(input) else 0.0
    return cumsum(t * exp(input - m), dim) / exp(out - m)


_logcumsumexp = Op(
    "logcumsumexp",
    _logcumsumexp_forward,
    vjp={"input": _logcumsumexp_backward},
    jvp={"input": _logcumsumexp_tangent},
    out_arg=False,
)


def logcumsumexp(input: Any, dim: int, *, out: Any = None) -> Any:
    """log(cumsum(exp(input))) along a dimension, without overflow."""
    d = _dim("logcumsumexp", dim, input.ndim)
    if input.dtype.category < dtypes.FLOATING:
        raise NotImplementedError(f"\"logcumsumexp_out_cpu\" not implemented for '{input.dtype.legacy}'")
    r = _logcumsumexp.call(input, d)
    return r if out is None else into("logcumsumexp", out, r)
