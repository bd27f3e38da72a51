"""Distances and similarities between vectors: of pairs, of all pairs."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..core.broadcast import cast, expand_to, sum_to
from ..core.modes import no_grad
from ..core.op import Op
from ..core.promote import result_type
from ..core.tensor import Tensor
from ..shapes import broadcast_shapes
from .loss import add_number
from .reduction import sum
from .selection import clamp_min, where
from .shape import reshape
from .statistics import _norm_partial as norm_partial
from .statistics import vector_norm, vector_norm_op

__all__ = ["cdist", "cosine_similarity", "pairwise_distance", "pdist"]

Value = Any
Ints = tuple[int, ...]


def pairwise_distance(x1: Value, x2: Value, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Value:
    """The p-norm of x1 - x2 + eps over the last dimension."""
    d = max(x1.ndim, x2.ndim) - 1
    return _norm(add_number(x1 - x2, eps), float(p), (d,), keepdim)


_norm = Op(
    "norm", vector_norm_op.forward, vector_norm_op.vjp, vector_norm_op.jvp, node="NormBackward1", out_arg=False,
    register=False,
).call  # fmt: skip


def cosine_similarity(x1: Value, x2: Value, dim: int = 1, eps: float = 1e-8) -> Value:
    """The dot product over `dim` over the product of the norms, each at least `eps`."""
    d = x1.dtype
    if d.category != 2 or x2.dtype is not d:
        d = result_type((x1, x2))
    if d.category != 2:
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {d.legacy}")
    shape, other = tuple(x1.shape), tuple(x2.shape)
    if shape != other or x1.dtype is not x2.dtype:
        shape = broadcast_shapes(shape, other)
        x1, x2 = (expand_to(cast(x, d.np), shape) for x in (x1, x2))
    unit1, unit2 = [x / _at_least(vector_norm(x, 2, dim, True), eps) for x in (x1, x2)]
    return sum(unit1 * unit2, dim)


def _at_least(norm: Value, eps: float) -> Value:
    """The norm, raised to `eps` in place, unrecorded: its gradient passes as if it had not been."""
    norm = norm.clone()
    if norm.__class__ is Tensor:  # nobody has seen it
        np.maximum(norm._a, eps, out=norm._a, casting="unsafe")
        return norm
    with no_grad():
        norm.clamp_min_(eps)
    return norm


def normalize(input: Value, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Value = None) -> Value:
    """input over its p-norm along `dim`, which counts at least `eps`."""
    from .arithmetic import div

    norm = clamp_min(vector_norm(input, p, dim, True), eps).expand_as(input)
    return input / norm if out is None else div(input, norm, out=out)


# ------------------------------------------------------------------ all pairs

_BLOCK = 1 << 16  # elements of a block of differences


def _blocks(x: Any, y: Any, upper: bool) -> Any:
    """The differences between some rows of x (..., n, d) and the rows of y (..., m, d) at a time, d first, and which
    rows and columns these are; with `upper` nothing far below the diagonal."""
    rank = max(x.ndim, y.ndim)
    a, b = (np.ascontiguousarray(np.moveaxis(v.reshape((1,) * (rank - v.ndim) + v.shape), -1, 0)) for v in (x, y))
    step = max(1, _BLOCK // max(1, y.size))
    for i in range(0, x.shape[-2], step):
        rows, columns = slice(i, i + step), slice(i if upper else 0, None)
        yield a[..., rows, None] - b[..., None, columns], rows, columns


def _pair_norms(x: Any, y: Any, p: float, upper: bool = False) -> Any:
    """The p-norms of all differences between the rows of x (..., n, d) and y (..., m, d)."""
    shape = (*np.broadcast_shapes(x.shape[:-2], y.shape[:-2]), x.shape[-2], y.shape[-2])
    out = np.empty(shape, x.dtype)
    if not out.size or not x.shape[-1]:
        out[...] = 0
        return out
    for d, rows, columns in _blocks(x, y, upper):
        out[..., rows, columns] = vector_norm_op.forward(d, p, (0,), False)
    return out


def _pulled(g: Any, x: Any, y: Any, out: Any, p: float, upper: bool = False) -> tuple[Any, Any]:
    """The cotangents of the rows of both."""
    lead = out.shape[:-2]
    gx, gy = (np.zeros((v.shape[-1], *lead, v.shape[-2]), g.dtype) for v in (x, y))
    if gx.size and gy.size:
        for d, rows, columns in _blocks(x, y, upper):
            at = (..., rows, columns)
            if p == 2:
                np.multiply(d, _ratio(g[at], out[at]), d)
            else:
                d = g[at] * norm_partial(d, out[at], p, (0,), False)
            gx[..., rows] += d.sum(-1)
            gy[..., columns] -= d.sum(-2)
    return tuple(sum_to(np.ascontiguousarray(np.moveaxis(v, 0, -1)), w.shape) for v, w in ((gx, x), (gy, y)))


def _euclid(x: Any, y: Any) -> Any:
    squares = (x * x).sum(-1)[..., :, None] + (y * y).sum(-1)[..., None, :] - 2 * np.matmul(x, y.swapaxes(-1, -2))
    return np.sqrt(np.maximum(squares, 0))


def _apart(x1: Value, x2: Value) -> tuple[Ints, Ints]:
    """The shapes in which the rows broadcast against each other."""
    return (*tuple(x1.shape[:-1]), 1, x1.shape[-1]), (*tuple(x2.shape[:-2]), 1, *tuple(x2.shape[-2:]))


def _slopes(x1: Value, x2: Value, out: Value, p: float) -> Value:
    """The derivative of every distance in its difference, (..., n, m, d)."""
    a, b = _apart(x1, x2)
    diff = reshape(x1, a) - reshape(x2, b)
    return norm_partial(diff, out, p, (diff.ndim - 1,), False)


def _cdist_push(t_x1: Value, t_x2: Value, x1: Value, x2: Value, out: Value, p: float) -> Value:
    a, b = _apart(x1, x2)
    slopes = _slopes(x1, x2, out, p)
    total: Any = None
    if t_x1 is not None:
        total = slopes * reshape(t_x1, a)
    if t_x2 is not None:
        part = slopes * reshape(t_x2, b)
        total = -part if total is None else total - part
    return sum(total, total.ndim - 1)


def _cdist_rule(g: Value, x1: Value, x2: Value, out: Value, p: float, needs: Any) -> Any:
    if g.__class__ is np.ndarray:
        return _pulled(g, x1, x2, out, p)
    each = reshape(g, (*tuple(g.shape), 1)) * _slopes(x1, x2, out, p)
    n = each.ndim
    return (
        sum_to(sum(each, n - 2), tuple(x1.shape)) if needs[0] else None,
        sum_to(-sum(each, n - 3), tuple(x2.shape)) if needs[1] else None,
    )


def _ratio(g: Value, out: Value) -> Value:
    return where(out == 0, 0.0, g / out)


def _euclidean_rule(g: Value, x1: Value, x2: Value, out: Value, needs: Any) -> Any:
    """By products of matrices, too: the sum over k of ratio[i, k] * (x1[i] - x2[k])."""
    ratio = _ratio(g, out)

    def pulled(r: Value, x: Value, y: Value) -> Value:
        return sum_to(x * sum(r, r.ndim - 1, True) - r @ y, tuple(x.shape))

    return (pulled(ratio, x1, x2) if needs[0] else None, pulled(ratio.swapaxes(-1, -2), x2, x1) if needs[1] else None)


def _cdist_op(name: str, node: str, forward: Any, rule: Any) -> Op:
    return Op(name, forward, rule, _cdist_push, tensors=("x1", "x2"), node=node, out_arg=False)


_cdist = _cdist_op("_cdist_forward", "CdistBackward0", lambda x1, x2, p: _pair_norms(x1, x2, p), _cdist_rule)
_euclidean = _cdist_op("_euclidean_dist", "EuclideanDistBackward0", lambda x1, x2, p: _euclid(x1, x2), _euclidean_rule)
_MODES = {"use_mm_for_euclid_dist_if_necessary": 0, "use_mm_for_euclid_dist": 1, "donot_use_mm_for_euclid_dist": 2}


def cdist(x1: Value, x2: Value, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Value:
    """The p-norms of the differences between all rows of x1 (..., n, d) and x2 (..., m, d), as (..., n, m).

    **Arguments** compute_mode: whether 2-norms may come from a product of matrices, which is faster and less exact.
    """
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    for name, x in (("X1", x1), ("X2", x2)):
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D")
    *lead1, n, d = tuple(x1.shape)
    *lead2, m, d2 = tuple(x2.shape)
    if d != d2:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {d} X2: {d2}")
    for name, x in (("X1", x1), ("X2", x2)):
        if x.dtype.category != 2:
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {x.dtype.legacy}")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if x1.dtype != x2.dtype:
        raise RuntimeError(f"expected scalar type {x1.dtype.legacy} but found {x2.dtype.legacy}")
    if x1.dtype.itemsize == 2:
        raise NotImplementedError(f"\"cdist\" not implemented for '{x1.dtype.legacy}'")
    lead = broadcast_shapes(lead1, lead2)
    mode = _MODES[compute_mode]
    if p == 2 and 0 not in (n, m, d) and (mode == 1 or (mode == 0 and (n > 25 or m > 25))):
        a, b = expand_to(x1, (*lead, n, d)), expand_to(x2, (*lead, m, d))
        return _euclidean.call(a, b, 2.0).view((*lead, n, m))
    return _cdist.call(x1, x2, float(p))


@lru_cache(8)
def _upper(n: int) -> Any:
    return np.triu_indices(n, 1)


def _pdist_forward(input: Any, p: float) -> Any:
    return _pair_norms(input, input, p, True)[_upper(len(input))]


def _pairs_of(x: Value) -> Value:
    return _difference.call(x)


def _difference_forward(input: Any) -> Any:
    i, j = _upper(len(input))
    return input[i] - input[j]


def _spread(pairs: Any, n: int) -> Any:
    from ..arrays.select import add_rows

    i, j = _upper(n)
    return add_rows(n, i, pairs) - add_rows(n, j, pairs)


_difference: Any = Op(
    "pair_differences", _difference_forward,
    {"input": lambda g, input_shape: _gathered.call(g, input_shape[0])}, "linear",
    register=False,
)  # fmt: skip
_gathered: Any = Op(
    "pair_differences_backward", _spread, {"pairs": lambda g: _difference.call(g)}, "linear", register=False
)


def _pdist_rule(g: Value, input: Value, out: Value, input_shape: Any, p: float) -> Value:
    if g.__class__ is np.ndarray:
        square = np.zeros((2, len(input), len(input)), g.dtype)
        square[(slice(None), *_upper(len(input)))] = g, out
        square[1] += square[1].T
        return np.add(*_pulled(square[0], input, input, square[1], p, True))
    d = _pairs_of(input)
    return _gathered.call(reshape(g, (-1, 1)) * norm_partial(d, out, p, (1,), False), input_shape[0])


def _pdist_push(t: Value, input: Value, out: Value, p: float) -> Value:
    return sum(norm_partial(_pairs_of(input), out, p, (1,), False) * _pairs_of(t), 1)


_pdist = Op(
    "_pdist_forward",
    _pdist_forward,
    {"input": _pdist_rule},
    {"input": _pdist_push},
    node="PdistBackward0",
    out_arg=False,
)


def pdist(input: Value, p: float = 2) -> Value:
    """The p-norms of the differences of all pairs of rows, as a vector."""
    if input.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    if input.dtype.category != 2:
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    if input.dtype.itemsize == 2:
        raise NotImplementedError(f"\"pdist\" not implemented for '{input.dtype.legacy}'")
    return _pdist.call(input, float(p))
