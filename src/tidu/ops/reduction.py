"""Sums, means, products, variances and norms; and what reductions share: dims, the way back, half precision, out=."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays import rows
from ..arrays.reduce import divided, mean_all, mean_axes, sum_all, sum_axes
from ..arrays.threads import quiet
from ..core.broadcast import cast, expand_to
from ..core.elementwise import conj
from ..core.linear import shaped_op
from ..core.modes import state
from ..core.op import Op
from ..core.tensor import Tensor, dtype_word
from ..dtypes import FLOATING
from ..naming import warn
from ..shapes import normalize_dims, numel
from ._arguments import quick
from ._hot import hot

__all__ = [
    "logsumexp", "mean", "nanmean", "nansum", "prod", "std", "std_mean", "sum", "var", "var_mean",
]  # fmt: skip
METHODS = "* -std_mean -var_mean"

Ints = tuple[int, ...]
INT64 = np.dtype(np.int64)


def is_low(dt: Any) -> bool:
    """Whether sums of this dtype are taken in float32: the two-byte floats."""
    return bool(dt.itemsize == 2 and dt.kind in "fV")


def packed(a: Any) -> Any:
    """An array in C order: NumPy's reductions and scans keep the order of the dimensions in memory, PyTorch's do not."""
    a = np.asarray(a)
    return a if a.flags.c_contiguous else a.copy()


def low_sum(input: Any, dim: Ints, keepdim: bool) -> Any:
    dt = input.dtype
    if dt.kind in "biu":
        return packed(np.add.reduce(input, dim, INT64, None, keepdim))
    if is_low(dt):
        return packed(np.add.reduce(input.astype(np.float32), dim, None, None, keepdim)).astype(dt)
    return packed(np.add.reduce(input, dim, None, None, keepdim))


def restore(g: Any, shape: Ints, dim: Ints, keepdim: bool) -> Any:
    """A reduction's result with the reduced dimensions back, of size one."""
    if keepdim or not shape:
        return g
    gone = set(dim)
    return g.reshape(tuple(1 if i in gone else n for i, n in enumerate(shape)))


def expand_back(g: Any, shape: Ints, dim: Ints, keepdim: bool) -> Any:
    """A reduction's cotangent, broadcast back over the dimensions that were reduced."""
    return expand_to(restore(g, shape, dim, keepdim), shape)


def divisor(shape: Any, dim: Ints) -> int:
    n = 1
    for d in dim:
        n *= shape[d]
    return n


def dim_index(name: str, dim: Any) -> int:
    if not hasattr(dim, "__index__"):
        raise TypeError(f"{name}(): argument 'dim' (position 2) must be int, not {type(dim).__name__}")
    return dim.__index__()


def check_dims(name: str, dim: Any, ndim: int, one: bool = False) -> Ints:
    """The dims of a reduction; TypeError where only one is allowed and several were given."""
    if one and not isinstance(dim, int):
        dim = dim_index(name, dim)
    return normalize_dims(dim, ndim)


def isnan(x: Any) -> Any:
    return x != x


def where(condition: Any, a: Any, b: Any) -> Any:
    from .selection import where as choose

    return choose(condition, a, b)


def nonzero_where(out: Any, value: Any) -> Any:
    """`value`, and 0 where `out` is 0."""
    return where(out == 0, 0.0, value)


def refuse_integers(input: Any, dtype: Any) -> None:
    """RuntimeError for a result of whole numbers of what is to be differentiated."""
    if dtype.category < FLOATING and state.grad and isinstance(input, Tensor) and input.requires_grad:
        raise RuntimeError(f"Autograd not support dtype: {dtype.legacy}")


EXACT = "Expected out tensor to have dtype {want_c}, but got {out_c} instead"


def into(name: str, out: Any, r: Any, exact: str = "") -> Any:
    """A computed result put into out=. `exact` is the error where out= must have the result's dtype."""
    from ..core.inplace import check_out, put_out

    if exact and isinstance(out, Tensor) and out.dtype is not r.dtype:
        raise RuntimeError(
            exact.format(
                want=r.dtype.legacy, out_word=out.dtype.legacy, want_c=dtype_word(r.dtype), out_c=dtype_word(out.dtype)
            )
        )
    check_out(Named(name), r._a, out, isinstance(r, Tensor) and r.requires_grad)  # type: ignore[arg-type]
    put_out(r._a, out)
    return out


class Named:
    """What `check_out` asks of an op, for a composite."""

    differentiable = True

    def __init__(self, name: str) -> None:
        self.name = name


# ------------------------------------------------------------------ sums


def _total(input: Any) -> Any:
    return sum_all(input)


def _sum(input: Any, dim: Ints, keepdim: bool) -> Any:
    return packed(sum_axes(input, dim, keepdim))


_sum_all = shaped_op("sum", _total, lambda g, shape: expand_to(g, shape))
_sum_dim = shaped_op("sum_dim", _sum, expand_back, node="SumBackward1")


class _All:
    """No dimension named; None names them all."""

    def __repr__(self) -> str:
        return "None"


_ALL: Any = _All()


def _sum_given(input: Any, dim: Any = _ALL, keepdim: bool = False, *, dtype: Any = None, out: Any = None) -> Any:
    """The sum of all elements, or over some dimensions. Integers and bools sum to int64.

    **Arguments** input: any tensor; dim: an int or a tuple of ints; keepdim: keep reduced dimensions with size one;
    dtype: convert the elements to it first. Source: torch.sum.

    >>> import tidu as torch
    >>> torch.sum(torch.tensor([[1., 2.], [3., 4.]]), dim=0)
    tensor([4., 6.])
    """
    if dim is _ALL and keepdim:
        raise TypeError("keepdim= without dim=")
    if out is not None and dtype is None:
        dtype = out.dtype  # the sum is taken in it
    if dtype is not None:
        refuse_integers(input, dtype)
        input = cast(input, dtype.np)
    r = _sum_all(input) if dim is _ALL else _sum_dim(input, normalize_dims(dim, input.ndim), keepdim)
    if dtype is not None:
        r = cast(r, dtype.np)
    return r if out is None else into("sum", out, r)


sum = quick(_sum_given, "sum", _sum_all)


def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None) -> Any:
    """The sum with NaN counted as zero."""
    if dtype is not None:
        refuse_integers(input, dtype)
    if input.dtype.is_complex:
        raise RuntimeError("nansum on CPU does not support complex inputs")
    if input.dtype.category < dtypes.FLOATING:
        return sum(input, dim, keepdim, dtype=dtype, out=out)
    if out is not None and not out.dtype.is_floating_point:
        raise NotImplementedError(f"\"nansum_cpu\" not implemented for '{out.dtype.legacy}'")
    r = _nansum.call(input, normalize_dims(dim, input.ndim), keepdim)
    if dtype is not None:
        r = cast(r, dtype.np)
    return r if out is None else into("nansum", out, r)


def _nansum_forward(input: Any, dim: Ints, keepdim: bool) -> Any:
    plain = low_sum(input, dim, keepdim)
    if not np.isnan(plain).any():
        return plain
    return low_sum(np.where(np.isnan(input), input.dtype.type(0), input), dim, keepdim)


_nansum = Op(
    "nansum",
    _nansum_forward,
    vjp={
        "input": lambda g, input, input_shape, dim, keepdim: where(
            isnan(input), 0.0, expand_back(g, input_shape, dim, keepdim)
        )
    },
    jvp={"input": lambda t, input, dim, keepdim: _sum_dim(where(isnan(input), 0.0, t), dim, keepdim)},
    out_arg=False,
)


# ------------------------------------------------------------------ means


def _check_mean(d: dtypes.dtype, what: str) -> None:
    if d.category < dtypes.FLOATING:
        raise RuntimeError(
            f"mean(): could not infer output dtype. {what} dtype must be either a floating point or complex dtype. "
            f"Got: {d.legacy}"
        )


def _mean_forward(input: Any, dim: Ints, keepdim: bool) -> Any:
    return packed(mean_axes(input, dim, keepdim))


def _mean_total(input: Any) -> Any:
    if input.dtype.kind in "biu":
        _check_mean(dtypes.from_numpy(input.dtype), "Input")
    return mean_all(input)


_mean_all = shaped_op("mean", _mean_total, lambda g, shape: expand_to(g / numel(shape), shape))
_mean_dim = shaped_op(
    "mean_dim",
    _mean_forward,
    lambda g, shape, dim, keepdim: expand_back(g / divisor(shape, dim), shape, dim, keepdim),
    node="MeanBackward1",
)


def _mean_given(input: Any, dim: Any = _ALL, keepdim: bool = False, *, dtype: Any = None, out: Any = None) -> Any:
    """The mean of all elements, or over some dimensions; NaN where there are none."""
    if dtype is not None:
        _check_mean(dtype, "Optional")
        input = cast(input, dtype.np)
    if input.dtype.category < FLOATING:
        _check_mean(input.dtype, "Input")
    if dim is _ALL and keepdim:
        raise TypeError("keepdim= without dim=")
    if dim is _ALL:
        r = _mean_all(input)
    else:
        r = _mean_dim(input, normalize_dims(dim, input.ndim), keepdim)
    return r if out is None else into("mean", out, r)


mean = quick(_mean_given, "mean", _mean_all)


def nanmean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None) -> Any:
    """The mean of what is not NaN."""
    if input.dtype.category < dtypes.FLOATING:
        raise RuntimeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {input.dtype.legacy}"
        )
    if out is not None and not out.dtype.is_floating_point:
        raise NotImplementedError(f"\"nansum_cpu\" not implemented for '{out.dtype.legacy}'")
    r = nansum(input, dim, keepdim, dtype=dtype) / sum(isnan(input).logical_not(), dim, keepdim)
    return r if out is None else into("nanmean", out, r)


# ------------------------------------------------------------------ products


def _prod_forward(input: Any, dim: Ints, keepdim: bool) -> Any:
    dt = input.dtype
    if dt.kind in "biu":
        return packed(np.multiply.reduce(input, dim, INT64, None, keepdim))
    if is_low(dt):
        return packed(np.multiply.reduce(input.astype(np.float32), dim, None, None, keepdim)).astype(dt)
    n = math.prod([input.shape[d] for d in dim])
    if n >= 512 and min(dim) == input.ndim - len(dim) and input.flags.c_contiguous:  # whole registers at a time
        lines, whole = input.reshape(-1, n), n - n % 64
        parts = np.multiply.reduce(lines[:, :whole].reshape(-1, whole // 64, 64), 1)
        r = np.multiply.reduce(parts, 1) * np.multiply.reduce(lines[:, whole:], 1)
        return r.reshape([1 if d in dim else k for d, k in enumerate(input.shape) if keepdim or d not in dim])
    return packed(np.multiply.reduce(input, dim, None, None, keepdim))


def _prod_backward(g: Any, input: Any, out: Any, input_shape: Ints, dim: Ints, keepdim: bool) -> Any:
    g = expand_back(g, input_shape, dim, keepdim)
    if isinstance(input, Tensor) or not input.all():
        return g * conj(products_of_others(input, dim))
    return g * conj(expand_back(out, input_shape, dim, keepdim) / input)


def _prod_all_backward(g: Any, input: Any, out: Any, input_shape: Ints, dim: Ints, keepdim: bool) -> Any:
    if not isinstance(input, Tensor) and np.count_nonzero(input) < input.size - 1:
        return np.zeros_like(input)  # two zeros: also beside what is not finite
    return _prod_backward(g, input, out, input_shape, dim, keepdim)


def products_of_others(x: Any, dim: Ints) -> Any:
    """For every element the product of the others along `dim`: right where some are zero, to any derivative."""
    from .scan import exclusive_cumprod

    if not dim:
        return x * 0 + 1
    if len(dim) == 1:
        return exclusive_cumprod(x, dim[0], False) * exclusive_cumprod(x, dim[0], True)
    flat = x.reshape((-1,))
    return (exclusive_cumprod(flat, 0, False) * exclusive_cumprod(flat, 0, True)).reshape(tuple(x.shape))


_RULES: dict[str, Any] = {
    "vjp": {"input": _prod_backward},
    "jvp": {"input": lambda t, input, dim, keepdim: _sum_dim(t * products_of_others(input, dim), dim, keepdim)},
}
_prod_all = Op("prod", _prod_forward, {"input": _prod_all_backward}, _RULES["jvp"], out_arg=False)
_prod_dim = Op("prod_dim", _prod_forward, **_RULES, node="ProdBackward1", out_arg=False)


def prod(input: Any, dim: Any = _ALL, keepdim: bool = False, *, dtype: Any = None, out: Any = None) -> Any:
    """The product of all elements, or along a dimension. Integers multiply to int64."""
    if dim is None or (dim is _ALL and keepdim):
        raise TypeError("dim= must be an int")
    if out is not None and dtype is None:
        dtype = out.dtype
    if dtype is not None:
        refuse_integers(input, dtype)
        input = cast(input, dtype.np)
    if dim is _ALL:
        r = _prod_all.call(input, tuple(range(input.ndim)), keepdim)
    else:
        r = _prod_dim.call(input, check_dims("prod", dim, input.ndim, one=True), keepdim)
    if dtype is not None:
        r = cast(r, dtype.np)
    return r if out is None else into("prod", out, r)


# ------------------------------------------------------------------ variances


def _var_forward(input: Any, dim: Ints, correction: float, keepdim: bool) -> Any:
    dt = input.dtype
    low = is_low(dt)
    x = input.astype(np.float32) if low else input
    d = np.asarray(x - (mean_all(x) if len(dim) == x.ndim and x.size else mean_axes(x, dim, True)))
    sq = d.real * d.real + d.imag * d.imag if dt.kind == "c" else np.multiply(d, d, d)
    n = max(divisor(input.shape, dim) - correction, 0)
    r = divided(packed(sum_axes(sq, dim, keepdim)), n)
    return r.astype(dt) if low else r


def _std_forward(input: Any, dim: Ints, correction: float, keepdim: bool) -> Any:
    r = _var_forward(input, dim, correction, keepdim)
    return np.sqrt(r, r)


def _centred(input: Any, dim: Ints) -> Any:
    return input - _mean_value(input, dim)


def _mean_value(x: Any, dim: Ints) -> Any:
    return _mean_dim(x, dim, True) if isinstance(x, Tensor) else mean_axes(x, dim, True)


def _freedom(shape: Any, dim: Ints, correction: float) -> float:
    return max(divisor(shape, dim) - correction, 0)


def _over(x: Any, n: float) -> Any:
    """x / n, where n may be zero."""
    return x / n if n else x * float("nan")


def _var_backward(g: Any, input: Any, input_shape: Ints, dim: Ints, correction: float, keepdim: bool) -> Any:
    n = _freedom(input_shape, dim, correction)
    scale = 2.0 / n if n else float("nan") if divisor(input_shape, dim) <= 1 else float("inf")
    return expand_back(g, input_shape, dim, keepdim) * scale * _centred(input, dim)


def _var_forward_rule(t: Any, input: Any, dim: Ints, correction: float, keepdim: bool) -> Any:
    n = _freedom(input.shape, dim, correction)
    d = _centred(input, dim)
    p = (conj(d) * t).real if input.dtype.is_complex else d * t
    return _over(_sum_dim(p, dim, keepdim) * 2, n)


def _std_backward(g: Any, input: Any, out: Any, input_shape: Ints, dim: Ints, correction: float, keepdim: bool) -> Any:
    scaled = nonzero_where(out, g / (out * 2))
    return _var_backward(scaled, input, input_shape, dim, correction, keepdim)


_var = Op(
    "var", _var_forward, vjp={"input": _var_backward}, jvp={"input": _var_forward_rule}, out_arg=False
)  # fmt: skip
_std = Op(
    "std",
    _std_forward,
    vjp={"input": _std_backward},
    jvp={
        "input": lambda t, input, out, dim, correction, keepdim: nonzero_where(
            out, _var_forward_rule(t, input, dim, correction, keepdim) / (out * 2)
        )
    },
    out_arg=False,
)


def _spread(op: Op, name: str, input: Any, dim: Any, unbiased: Any, correction: Any, keepdim: bool, out: Any) -> Any:
    if isinstance(dim, bool):  # var(x, False): the old form
        dim, unbiased = None, dim
    if unbiased is not None and correction is not None:
        raise TypeError(f"{name}() received an invalid combination of arguments")
    if input.dtype.category < FLOATING:
        what = name if name.endswith("_mean") else "std and var"
        raise RuntimeError(f"{what} only support floating point and complex dtypes")
    if correction is None:
        correction = 1 if unbiased is None or unbiased else 0
    shape = input.shape
    dims = normalize_dims(dim, len(shape))
    if divisor(shape, dims) <= correction or 0 in shape:
        warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
            "(input numel divided by output numel)."
        )
    r = op.call(input, dims, correction, keepdim)
    return r if out is None else into(name, out, r)


def var(
    input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None, out: Any = None
) -> Any:
    """The variance, sum |x - mean|^2 / max(n - correction, 0); correction is 1."""
    return _spread(_var, "var", input, dim, unbiased, correction, keepdim, out)


def std(
    input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None, out: Any = None
) -> Any:
    """The standard deviation, the root of `var`."""
    return _spread(_std, "std", input, dim, unbiased, correction, keepdim, out)


def _mean_cotangent(g: Any, shape: Ints, dim: Ints, keepdim: bool) -> Any:
    return expand_back(g / max(divisor(shape, dim), 1), shape, dim, keepdim)


_var_mean = Op(
    "var_mean",
    lambda input, dim, correction, keepdim: (
        _var_forward(input, dim, correction, keepdim),
        _mean_forward(input, dim, keepdim),
    ),
    vjp={
        "input": lambda g0, g1, input, input_shape, dim, correction, keepdim: (
            _var_backward(g0, input, input_shape, dim, correction, keepdim)
            + _mean_cotangent(g1, input_shape, dim, keepdim)
        )
    },
    jvp={
        "input": lambda t, input, dim, correction, keepdim: (
            _var_forward_rule(t, input, dim, correction, keepdim),
            _mean_dim(t, dim, keepdim),
        )
    },
    outputs=2,
    out_arg=False,
)
_std_mean = Op(
    "std_mean",
    lambda input, dim, correction, keepdim: (
        _std_forward(input, dim, correction, keepdim),
        _mean_forward(input, dim, keepdim),
    ),
    vjp={
        "input": lambda g0, g1, input, out0, input_shape, dim, correction, keepdim: (
            _std_backward(g0, input, out0, input_shape, dim, correction, keepdim)
            + _mean_cotangent(g1, input_shape, dim, keepdim)
        )
    },
    jvp={
        "input": lambda t, input, out0, dim, correction, keepdim: (
            nonzero_where(out0, _var_forward_rule(t, input, dim, correction, keepdim) / (out0 * 2)),
            _mean_dim(t, dim, keepdim),
        )
    },
    outputs=2,
    out_arg=False,
)


def var_mean(
    input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Any:
    """The variance and the mean."""
    return _spread(_var_mean, "var_mean", input, dim, unbiased, correction, keepdim, None)


def std_mean(
    input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Any:
    """The standard deviation and the mean."""
    return _spread(_std_mean, "std_mean", input, dim, unbiased, correction, keepdim, None)


# ------------------------------------------------------------------ logsumexp


def _logsumexp_forward(input: Any, dim: Ints, keepdim: bool) -> Any:
    dt = input.dtype
    x = input.astype(np.float32) if is_low(dt) else input
    if len(dim) == 1 and x.dtype.kind == "f" and x.size and x.ndim:
        r = rows.logsumexp(x, dim[0], keepdim)
        return r if r.dtype is dt else r.astype(dt)
    with quiet():
        if x.size:
            real = x.real if x.dtype.kind == "c" else x
            m = np.maximum.reduce(real, dim, None, None, True)
            m = np.where(np.isfinite(m), m, m.dtype.type(0))
        else:
            m = np.zeros(tuple(1 if i in dim else n for i, n in enumerate(x.shape)), x.dtype)
        total = np.log(np.add.reduce(np.exp(x - m), dim, None, None, True)) + m
    if not keepdim:
        total = total.reshape(tuple(n for i, n in enumerate(x.shape) if i not in dim))
    return packed(total).astype(dt, copy=False)


def _exp(input: Any, back: Any) -> Any:
    from .pointwise import exp

    return exp(input - back)


_logsumexp = Op(
    "logsumexp",
    _logsumexp_forward,
    vjp={
        "input": lambda g, input, out, input_shape, dim, keepdim: (
            expand_back(g, input_shape, dim, keepdim) * conj(_exp(input, expand_back(out, input_shape, dim, keepdim)))
        )
    },
    jvp={
        "input": lambda t, input, out, input_shape, dim, keepdim: _sum_dim(
            t * _exp(input, expand_back(out, input_shape, dim, keepdim)), dim, keepdim
        )
    },
    out_arg=False,
)


for _op in (_prod_all, _prod_dim, _var, _std, _logsumexp):
    hot(_op.call)


def logsumexp(input: Any, dim: Any, keepdim: bool = False, *, out: Any = None) -> Any:
    """log(sum(exp(input))) over some dimensions, without overflow."""
    if dim is None:
        raise TypeError("logsumexp() takes dimensions")
    if input.dtype.category < dtypes.FLOATING:
        input = cast(input, dtypes.get_default_dtype().np)
    r = _logsumexp.call(input, normalize_dims(dim, input.ndim), keepdim)
    return r if out is None else into("logsumexp", out, r)


sum.op, mean.op = _sum_all.op, _mean_all.op
