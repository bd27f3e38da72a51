"""Order statistics, norms, covariance, differences and integrals."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..core.broadcast import cast, sum_to
from ..core.elementwise import conj
from ..core.inplace import apply_inplace
from ..core.op import Op
from ..core.tensor import Tensor, tensor_of
from ..naming import return_type, warn
from ..shapes import broadcast_shapes, normalize_dim, normalize_dims
from ._hot import hot
from ._linalg import check_norm_dtype
from .extremes import into_pair, kth_place, last, picked, picked_at
from .reduction import Ints, check_dims, expand_back, into, is_low, packed, restore, sum, where
from .scan import cumsum

__all__ = [
    "corrcoef", "cov", "cumulative_trapezoid", "diff", "dist", "gradient", "median", "nanmedian", "nanquantile", "norm",
    "quantile", "renorm", "trapezoid", "trapz",
]  # fmt: skip
METHODS = "* renorm_ -cumulative_trapezoid -gradient -trapezoid -trapz"

median_result = return_type("median", "values", "indices")
nanmedian_result = return_type("nanmedian", "values", "indices")


# ------------------------------------------------------------------ medians


def _middle(a: Any, ignore_nan: bool) -> Any:
    """The index of the lower median along the last dimension; of a NaN where there is one, unless ignored."""
    if is_low(a.dtype):
        a = a.astype(np.float32)  # bfloat16 has no order of its own where there are NaNs
    n = a.shape[-1]
    if a.dtype.kind != "f" or not a.size or not np.isnan(np.minimum.reduce(a, None)):
        return kth_place(a, (n - 1) // 2)
    nan = np.isnan(a)
    if not ignore_nan:
        return np.where(nan.any(-1), nan.argmax(-1), kth_place(a, (n - 1) // 2))
    at = np.maximum(n - np.count_nonzero(nan, axis=-1) - 1, 0) // 2
    return np.take_along_axis(np.argsort(a, -1, "stable"), np.expand_dims(at, -1), -1)[..., 0]


def _median_dim(ignore_nan: bool) -> Any:
    def forward(input: Any, dim: int, keepdim: bool) -> Any:
        if not input.ndim:
            return input.copy(), np.zeros((), np.int64)
        return picked_at(input, _middle(last(input, dim), ignore_nan), dim, keepdim)

    return forward


def _median_all(ignore_nan: bool) -> Any:
    def forward(input: Any) -> Any:
        flat = input.reshape(-1)
        if flat.dtype.kind in "iuf" and not np.isnan(flat).any():
            middle = (len(flat) - 1) // 2
            return np.asarray(np.partition(flat, middle)[middle])
        return np.asarray(flat[_middle(flat, ignore_nan)])

    return forward


def _equal_share(input: Any, out: Any) -> Any:
    """1 at the elements that equal the median (or are NaN with it), shared among them."""
    same = (input == out) | ((input != input) & (out != out))
    if isinstance(same, Tensor):
        mask = same.to(input.dtype)
        return mask / sum(mask)
    mask = np.asarray(same).astype(input.dtype)
    return mask / mask.sum()


def _median_op(name: str, ignore_nan: bool, node: str) -> Op:
    return Op(
        name,
        _median_all(ignore_nan),
        vjp={"input": lambda g, input, out: g * _equal_share(input, out)},
        jvp={"input": lambda t, input, out: sum(t * _equal_share(input, out))},
        node=node,
        out_arg=False,
    )


_medians = {
    "median": (_median_op("median", False, "MedianBackward0"),
               picked("median_dim", _median_dim(False), "MedianBackward1", median_result), median_result),
    "nanmedian": (_median_op("nanmedian", True, "NanmedianBackward0"),
                  picked("nanmedian_dim", _median_dim(True), "NanmedianBackward1", nanmedian_result), nanmedian_result),
}  # fmt: skip


def _median(name: str, input: Any, dim: Any, keepdim: bool, out: Any) -> Any:
    whole, along, result = _medians[name]
    d = input.dtype
    refused = d.is_complex or d is dtypes.bool_
    if dim is None:
        if not input.numel():  # NaN, or what a conversion of NaN makes
            return input.new_full((), float("nan") if refused or d.is_floating_point else np.iinfo(d.np).min)
        if refused:
            raise NotImplementedError(f"\"median_cpu\" not implemented for '{d.legacy}'")
        return whole.call(input)
    k = check_dims(name, dim, input.ndim or 1, one=True)[0]
    if input.ndim and input.shape[k] == 0:
        raise IndexError(f"median(): Expected reduction dim {k} to have non-zero size.")
    if refused:
        raise NotImplementedError(f"\"median_out\" not implemented for '{d.legacy}'")
    r = along.call(input, k, keepdim)
    return r if out is None else into_pair(name, out, r, result)


def median(input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The lower median, of all elements (ties share the gradient) or along a dimension with its index; NaN if there
    is one."""
    return _median("median", input, dim, keepdim, out)


def nanmedian(input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The lower median of what is not NaN."""
    return _median("nanmedian", input, dim, keepdim, out)


# ------------------------------------------------------------------ quantiles


def _quantile(
    name: str, input: Any, q: Any, dim: Any, keepdim: bool, interpolation: str, ignore_nan: bool, out: Any
) -> Any:
    if not isinstance(q, Tensor) and not 0 <= q <= 1:
        raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got "
            f"{interpolation}"
        )
    if not input.numel():
        raise RuntimeError("quantile() input tensor must be non-empty")
    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if not isinstance(q, Tensor):
        q = tensor_of(np.array(q, input.dtype.np))
    if q.ndim > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if q.dtype is not input.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if q.numel() and hasattr(q, "_a") and not ((q._a >= 0) & (q._a <= 1)).all():
        raise RuntimeError("quantile() q values must be in the range [0, 1]")
    if dim is None:
        x = input.reshape((*(1,) * input.ndim, -1) if keepdim else (-1,))
    elif not input.ndim:
        x = input.reshape((1,))
    else:
        d = normalize_dim(dim, input.ndim)
        x = input.unsqueeze(-1).transpose(d, -1) if keepdim else input.movedim(d, -1)
    s = x.sort(-1)[0]
    n = s.shape[-1]
    valid = s.isnan().logical_not().sum(-1, True)
    last = (valid - 1).clamp(min=0) if ignore_nan else n - 1
    at = q.reshape((-1,)) * last
    if not ignore_nan:
        at = where(valid < n, float(n - 1), at)  # NaN is sorted last: pick one
    at = at.to(input.dtype)
    at = {"lower": at.floor, "higher": at.ceil, "nearest": at.round}.get(interpolation, lambda: at)()
    low = at.floor()
    r = s.gather(-1, low.to(dtypes.int64).expand((*s.shape[:-1], at.shape[-1])))
    if interpolation in ("linear", "midpoint"):
        weight = at - low if interpolation == "linear" else at.new_full(tuple(at.shape), 0.5)
        high = s.gather(-1, at.ceil().to(dtypes.int64).expand((*s.shape[:-1], at.shape[-1])))
        r = r.lerp(high, weight)
    r = r.squeeze_(-1) if q.ndim == 0 else r.unsqueeze_(0).transpose_(0, -1).squeeze_(-1)
    return r if out is None else into(name, out, r)


def quantile(
    input: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear", out: Any = None
) -> Any:
    """The q-th quantiles, over all elements or along a dimension."""
    return _quantile("quantile", input, q, dim, keepdim, interpolation, False, out)


def nanquantile(
    input: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear", out: Any = None
) -> Any:
    """The q-th quantiles of what is not NaN."""
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation, True, out)


# ------------------------------------------------------------------ norms


def _vector_norm_forward(input: Any, ord: float, dim: Ints, keepdim: bool) -> Any:
    dt = input.dtype
    x = input.astype(np.float32) if is_low(dt) else input
    if ord == 2 and x.dtype.kind == "f":
        r = np.sqrt(np.add.reduce(x * x, dim, None, None, keepdim))
        return packed(r).astype(dt, copy=False)
    a = np.abs(x)
    out_dt = a.dtype if not is_low(dt) else dt
    if ord == float("inf"):
        r = np.maximum.reduce(a, dim, None, None, keepdim, a.dtype.type(0))
    elif ord == float("-inf"):
        r = np.minimum.reduce(a, dim, None, None, keepdim)
    elif ord == 0:
        r = np.add.reduce((x != 0).astype(a.dtype), dim, None, None, keepdim)
    elif ord == 1:
        r = np.add.reduce(a, dim, None, None, keepdim)
    else:
        p = a.dtype.type(ord)
        r = np.power(np.add.reduce(np.power(a, p), dim, None, None, keepdim), 1 / p)
    return packed(r).astype(out_dt, copy=False)


def _sgn(x: Any) -> Any:
    if isinstance(x, Tensor):
        return x.sgn()
    if x.dtype.kind == "c":
        a = np.abs(x)
        return x / np.where(a == 0, 1, a)
    return np.where(x != x, x.dtype.type(0), np.sign(x))


def _abs(x: Any) -> Any:
    return abs(x) if isinstance(x, Tensor) else np.abs(x)


def _norm_partial(x: Any, out: Any, ord: float, dim: Ints, keepdim: bool) -> Any:
    """d norm / d x, with 0 where the norm is 0 and the formula is not defined."""
    shape = tuple(x.shape)
    n = expand_back(out, shape, dim, keepdim)
    if ord == 0:
        return x * 0
    if ord == 1:
        return _sgn(x)
    if isinstance(x, Tensor) and (ord == 2 or ord < 1 and ord != float("-inf")):
        # Recorded, the formula stands as PyTorch's does: its own derivative at 0 is NaN.
        with np.errstate(all="ignore"):
            if ord == 2:
                return where(n == 0, 0.0, x / n)
            return _sgn(x) * where(x == 0, 0.0, _abs(x) ** (ord - 1)) * n ** (1 - ord)
    if ord == 2:
        return where(n == 0, 0.0, x / where(n == 0, 1.0, n))
    a = _abs(x)
    if ord in (float("inf"), float("-inf")):
        same = (a == n) | ((a != a) & (n != n))
        if isinstance(same, Tensor):
            same = same.to(n.dtype)
            count = sum(same, dim, True) if dim else same
        else:
            same = np.asarray(same).astype(n.dtype)
            count = np.add.reduce(same, dim, None, None, True)
        return _sgn(x) * (same / count)
    p = _sgn(x) * where(a == 0, 0.0, where(a == 0, 1.0, a) ** (ord - 1)) if ord < 2 else x * a ** (ord - 2)
    return p * where(n == 0, 0.0, where(n == 0, 1.0, n) ** (1 - ord))


def _norm_cotangent(g: Any, input: Any, out: Any, input_shape: Ints, ord: float, dim: Ints, keepdim: bool) -> Any:
    if ord == 0:
        return None
    if ord == 2 and g.__class__ is np.ndarray and input.__class__ is np.ndarray:
        ratio = np.where(out == 0, out.dtype.type(0), g / out)
        return input * restore(ratio, input_shape, dim, keepdim)
    return expand_back(g, input_shape, dim, keepdim) * _norm_partial(input, out, ord, dim, keepdim)


def _norm_tangent(t: Any, input: Any, out: Any, ord: float, dim: Ints, keepdim: bool) -> Any:
    p = _norm_partial(input, out, ord, dim, keepdim)
    product = (p.conj() * t).real if input.dtype.is_complex else p * t
    return sum(product, dim, keepdim) if dim else product


vector_norm_op = Op(
    "linalg_vector_norm",
    _vector_norm_forward,
    vjp={"input": _norm_cotangent},
    jvp={"input": _norm_tangent},
    out_arg=False,
)
hot(vector_norm_op.call)


def vector_norm(
    x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None
) -> Any:
    """(sum |x|^ord)^(1/ord) over some dimensions (all of them unless told), as if they were one.

    **Arguments** x: a floating or complex tensor; ord: any number, inf and -inf for the extremes of |x|, 0 for the
    count of elements that are not zero.
    """
    if not isinstance(ord, (int, float, np.integer, np.floating)):
        raise TypeError(f"linalg_vector_norm(): argument 'ord' (position 2) must be Number, not {type(ord).__name__}")
    if x.dtype.category < dtypes.FLOATING:
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {x.dtype.legacy}"
        )
    check_norm_dtype(x, dtype, "linalg.vector_norm")
    if dtype is not None:
        x = cast(x, dtype.np)
    dims = normalize_dims(dim, x.ndim)
    if ord < 0 or ord == float("inf"):
        for d in dims:
            if x.shape[d] == 0:
                raise RuntimeError(
                    f"linalg.vector_norm cannot compute the {ord} norm on the dimension {d} because this dimension is "
                    "empty and the operation does not have an identity"
                    if dim is not None
                    else f"linalg.vector_norm cannot compute the {ord} norm on an empty tensor because the operation "
                    "does not have an identity"
                )
    r = vector_norm_op.call(x, float(ord), dims, keepdim)
    return r if out is None else into("linalg_vector_norm", out, r)


def norm(
    input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, out: Any = None, dtype: Any = None
) -> Any:  # fmt: skip
    """A vector norm over some dimensions; "fro" is the 2-norm, "nuc" the sum of singular values."""
    if isinstance(p, str) and p != "fro":
        from .pseudoinverse import matrix_norm

        return matrix_norm(input, p, (-2, -1) if dim is None else dim, keepdim, dtype=dtype, out=out)
    if p is None or p == "fro":
        p = 2
    return vector_norm(input, p, dim, keepdim, dtype=dtype, out=out)


def _dist_partial(input: Any, other: Any, out: Any, p: float) -> Any:
    d = input - other
    shape = tuple(d.shape)
    return _norm_partial(d, out, p, tuple(range(len(shape))), False)


def _dist_tangent(t: Any, input: Any, other: Any, out: Any, p: float) -> Any:
    d = input - other
    return _norm_tangent(t.expand(tuple(d.shape)), d, out, p, tuple(range(d.ndim)), False)


_dist = Op(
    "dist",
    lambda input, other, p: _vector_norm_forward(input - other, p, tuple(range(max(input.ndim, other.ndim))), False),
    vjp={
        "input": lambda g, input, other, out, p, input_shape: sum_to(
            g * _dist_partial(input, other, out, p), input_shape
        ),
        "other": lambda g, input, other, out, p, other_shape: sum_to(
            -g * _dist_partial(input, other, out, p), other_shape
        ),
    },
    jvp={"input": _dist_tangent, "other": lambda t, input, other, out, p: _dist_tangent(-t, input, other, out, p)},
    out_arg=False,
)


def dist(input: Any, other: Any, p: float = 2) -> Any:
    """The p-norm of input - other."""
    if input.dtype is not other.dtype or input.dtype.category < dtypes.FLOATING:
        difference = input - other
        if difference.dtype.category < dtypes.FLOATING:
            raise RuntimeError(
                "norm(): input dtype should be either floating point or complex. Got "
                f"{str(difference.dtype.legacy)} instead."
            )
        input, other = input.to(difference.dtype), other.to(difference.dtype)
    broadcast_shapes(tuple(input.shape), tuple(other.shape))
    return _dist.call(input, other, float(p))


def _factor(input: Any, p: float, dim: int, maxnorm: float) -> Any:
    """What every sub-tensor is scaled by."""
    others = tuple(i for i in range(input.ndim) if i != dim)
    if isinstance(input, np.ndarray):
        n = _vector_norm_forward(input, p, others, True)
        return np.where(n > maxnorm, maxnorm / (n + n.dtype.type(1e-7)), 1).astype(n.dtype)
    n = vector_norm(input, p, others, True)
    return where(n > maxnorm, maxnorm / (n + 1e-7), 1.0).to(n.dtype)


def _renorm_backward(g: Any, input: Any, p: float, dim: int, maxnorm: float) -> Any:
    """g times the factor, and what comes through the norm that the factor depends on."""
    others = tuple(i for i in range(input.ndim) if i != dim)
    n = vector_norm_value(input, p, others)
    inner = _sum_value((conj(input) * g).real, others)
    slope = where(n > maxnorm, -maxnorm / ((n + 1e-7) * (n + 1e-7)), 0.0)
    return g * _factor(input, p, dim, maxnorm) + _norm_partial(input, n, p, others, True) * (inner * slope)


def _renorm_tangent(t: Any, input: Any, p: float, dim: int, maxnorm: float) -> Any:
    others = tuple(i for i in range(input.ndim) if i != dim)
    n = vector_norm(input, p, others, True)
    moved = _norm_tangent(t, input, n, p, others, True)
    slope = where(n > maxnorm, -maxnorm / ((n + 1e-7) * (n + 1e-7)), 0.0)
    return t * _factor(input, p, dim, maxnorm) + input * (moved * slope)


def vector_norm_value(x: Any, p: float, dims: Ints) -> Any:
    return _vector_norm_forward(x, p, dims, True) if isinstance(x, np.ndarray) else vector_norm(x, p, dims, True)


def _sum_value(x: Any, dims: Ints) -> Any:
    return np.add.reduce(x, dims, None, None, True) if isinstance(x, np.ndarray) else sum(x, dims, True)


_renorm = Op(
    "renorm",
    lambda input, p, dim, maxnorm: packed(input * _factor(input, p, dim, maxnorm)).astype(input.dtype),
    vjp={"input": _renorm_backward},
    jvp={"input": _renorm_tangent},
)


def _renorm_args(input: Any, p: float, dim: int, maxnorm: float) -> tuple[Any, ...]:
    if input.dtype.category < dtypes.FLOATING:
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {input.dtype.legacy}"
        )
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if input.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions")
    return input, float(p), normalize_dim(dim, input.ndim), maxnorm


def renorm(input: Any, p: float, dim: int, maxnorm: float, *, out: Any = None) -> Any:
    """Sub-tensors along a dimension scaled down to norm `maxnorm` where theirs is greater."""
    return _renorm.call(*_renorm_args(input, p, dim, maxnorm), out=out)


def renorm_(self: Any, p: float, dim: int, maxnorm: float) -> Any:
    """In-place `renorm`."""
    return apply_inplace(_renorm, _renorm_args(self, p, dim, maxnorm))


# ------------------------------------------------------------------ covariance


def cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """The covariance matrix of variables in rows and observations in columns."""
    if input.ndim > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions"
        )
    if input.dtype is dtypes.bool_:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    x = input.reshape((1, -1)) if input.ndim < 2 else input
    w = None
    n = x.shape[1]
    for name, weights, kinds in (("fweights", fweights, 0), ("aweights", aweights, 1)):
        if weights is None:
            continue
        if weights.ndim > 1:
            raise RuntimeError(
                f"cov(): expected {name} to have one or fewer dimensions but got {name} with {weights.ndim} dimensions"
            )
        if kinds == 0 and (weights.dtype.category >= dtypes.FLOATING or weights.dtype is dtypes.bool_):
            raise RuntimeError(
                f"cov(): expected fweights to have integral dtype but got fweights with {weights.dtype.legacy} dtype"
            )
        if kinds == 1 and not weights.dtype.is_floating_point:
            raise RuntimeError(
                f"cov(): expected aweights to have floating point dtype but got aweights with {weights.dtype.legacy} dtype"
            )
        if weights.numel() != n:
            raise RuntimeError(
                f"cov(): expected {name} to have the same numel as there are observations in the input but got "
                f"{weights.numel()} != {n}"
            )
        if n and bool((weights < 0).any()):
            raise RuntimeError(f"cov(): {name} cannot be negative")
        w = weights if w is None else w * weights
    total: Any = n if w is None else w.sum()
    if w is not None and n and float(total) == 0:
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    average = x.sum(1) / total if w is None else (x * w).sum(1) / total
    if w is None or correction == 0 or aweights is None:
        free: Any = total - correction
    else:
        free = total - correction * (w * aweights).sum() / total
    if float(free) <= 0:
        warn("cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.")
        free = 0
    d = x - average.unsqueeze(1)
    right = (d if w is None else d * w).t()
    c = d @ (right.conj() if right.dtype.is_complex else right)
    return (c / free).squeeze()


def corrcoef(input: Any) -> Any:
    """The matrix of correlation coefficients of variables in rows."""
    if input.ndim > 2:
        raise RuntimeError(
            f"corrcoef(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions"
        )
    c = cov(input)
    if c.ndim == 0:
        return c / c
    s = c.diagonal().real.sqrt() if c.dtype.is_complex else c.diagonal().sqrt()
    c = c / s.unsqueeze(1) / s
    if c.dtype.is_complex:
        from .comparison import complex

        return complex(c.real.clamp(-1, 1), c.imag.clamp(-1, 1))
    return c.clamp(-1, 1)


# ------------------------------------------------------------------ differences and integrals


def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None, *, out: Any = None) -> Any:
    """The n-th differences of neighbours along a dimension."""
    if not input.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    d = normalize_dim(dim, input.ndim)
    if n == 0:
        r = input.new_empty(tuple(input.shape)).copy_(input)
        return r if out is None else into("diff", out, r)
    if prepend is not None or append is not None:
        from .joining import cat

        for t in (prepend, append):
            if t is not None and t.ndim != input.ndim:
                raise RuntimeError("diff expects prepend or append to be the same dimension as input")
        input = cat([t for t in (prepend, input, append) if t is not None], d)
    x = input
    for _ in range(min(n, input.shape[d])):
        a, b = x.narrow(d, 1, x.shape[d] - 1), x.narrow(d, 0, x.shape[d] - 1)
        x = a.logical_xor(b) if x.dtype is dtypes.bool_ else a - b
    return x if out is None else into("diff", out, x)


def trapezoid(y: Any, x: Any = None, *, dx: Any = None, dim: int = -1) -> Any:
    """The integral of y along a dimension by the trapezoidal rule."""
    if x is not None and (dx is not None or not isinstance(x, Tensor)):
        raise TypeError("trapezoid() takes x or dx")
    _check_trapezoid("trapezoid", y, x, dx, dim)
    d = normalize_dim(dim, y.ndim)
    n = y.shape[d]
    if n == 0:
        shape = [s for i, s in enumerate(y.shape) if i != d]
        return y.new_zeros(tuple(shape))
    if x is None and not isinstance(dx, Tensor):
        step = 1 if dx is None else dx
        return (y.sum(d) - (y.select(d, 0) + y.select(d, n - 1)) * 0.5) * step
    left, right = y.narrow(d, 0, n - 1), y.narrow(d, 1, n - 1)
    return ((left + right) * _steps(x, dx, y, d)).sum(d) * 0.5


trapz = trapezoid


def _check_trapezoid(name: str, y: Any, x: Any, dx: Any, dim: int) -> None:
    bools = [v is not None and v.dtype is dtypes.bool_ for v in (x, y)]
    if any(bools):
        given = "`y`" if x is None else "`x` or `y`"
        raise RuntimeError(f"{name}: received a bool input for {given}, but bool is not supported")
    if isinstance(dx, (bool, complex)):
        raise RuntimeError(f"{name}: Currently, we only support dx as a real number.")
    if not y.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")


def _steps(x: Any, dx: Any, y: Any, d: int) -> Any:
    if x is None:
        return dx
    if x.ndim == 1:
        if x.shape[0] != y.shape[d]:
            raise RuntimeError("trapezoid: There must be one `x` value for each sample point")
        shape = [1] * y.ndim
        shape[d] = x.shape[0]
        x = x.reshape(tuple(shape))
    else:
        x = x.reshape((*([1] * (y.ndim - x.ndim)), *x.shape)) if x.ndim < y.ndim else x
        d = d if x.ndim == y.ndim else d + x.ndim - y.ndim
    n = x.shape[d]
    return x.narrow(d, 1, n - 1) - x.narrow(d, 0, n - 1)


def cumulative_trapezoid(y: Any, x: Any = None, *, dx: Any = None, dim: int = -1) -> Any:
    """The running integral of y along a dimension by the trapezoidal rule."""
    d = normalize_dim(dim, y.ndim)
    n = y.shape[d]
    left, right = y.narrow(d, 0, max(n - 1, 0)), y.narrow(d, min(1, n), max(n - 1, 0))
    _check_trapezoid("cumulative_trapezoid", y, x, dx, dim)
    if x is None:
        return cumsum((left + right) * (0.5 * (1 if dx is None else dx)), d)
    return cumsum((left + right) * _steps(x, dx, y, d) * 0.5, d)


def gradient(input: Any, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> Any:
    """Estimates of the derivatives along some dimensions by second-order differences."""
    dims = list(normalize_dims(dim, input.ndim))
    if input.dtype is dtypes.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if spacing is None:
        spacing = 1
    if isinstance(spacing, (int, float, complex, bool)):
        spacings: list[Any] = [spacing] * len(dims)
    else:
        spacings = list(spacing)
    if len(spacings) != len(dims):
        raise RuntimeError(
            f"torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() = "
            f"{input.ndim}', since dim argument was not given, but got a list of length {len(spacings)}"
            if dim is None
            else f"torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have the "
            f"same length, but got a spacing argument of length {len(spacings)} and a dim argument of length {len(dims)}."
        )
    from .joining import cat

    made = []
    for d, h in zip(dims, spacings, strict=True):
        n = input.shape[d]
        if n < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
        at = lambda start, size, d=d: input.narrow(d, start, size)  # noqa: E731
        if isinstance(h, Tensor) and h.ndim:
            steps = h.narrow(0, 1, n - 1) - h.narrow(0, 0, n - 1)
            shape = [1] * input.ndim
            shape[d] = n - 1
            steps = steps.reshape(tuple(shape))
            h1, h2 = steps.narrow(d, 0, n - 2), steps.narrow(d, 1, n - 2)
            inner = (
                at(0, n - 2) * (-h2 / (h1 * (h1 + h2)))
                + at(1, n - 2) * ((h2 - h1) / (h1 * h2))
                + at(2, n - 2) * (h1 / (h2 * (h1 + h2)))
            )
            s0, s1 = steps.narrow(d, 0, 1), steps.narrow(d, n - 2, 1)
            first, last = (at(1, 1) - at(0, 1)) / s0, (at(n - 1, 1) - at(n - 2, 1)) / s1
            if edge_order == 2:
                s2, s3 = steps.narrow(d, 1, 1), steps.narrow(d, n - 3, 1)
                first = (
                    at(0, 1) * (-(2 * s0 + s2) / (s0 * (s0 + s2)))
                    + at(1, 1) * ((s0 + s2) / (s0 * s2))
                    - at(2, 1) * (s0 / (s2 * (s0 + s2)))
                )
                last = (
                    at(n - 3, 1) * (s1 / (s3 * (s3 + s1)))
                    - at(n - 2, 1) * ((s3 + s1) / (s3 * s1))
                    + at(n - 1, 1) * ((2 * s1 + s3) / (s1 * (s3 + s1)))
                )
        else:
            inner = (at(2, n - 2) - at(0, n - 2)) / (2 * h)
            if edge_order == 1:
                first, last = (at(1, 1) - at(0, 1)) / h, (at(n - 1, 1) - at(n - 2, 1)) / h
            else:
                first = (at(0, 1) * -1.5 + at(1, 1) * 2 - at(2, 1) * 0.5) / h
                last = (at(n - 3, 1) * 0.5 - at(n - 2, 1) * 2 + at(n - 1, 1) * 1.5) / h
        made.append(cat([first, inner, last], d))
    return tuple(made)
