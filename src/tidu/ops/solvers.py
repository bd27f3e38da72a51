"""Inverses, solutions and determinants of square matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.batch import batch_size, materialize, rule
from ..core.broadcast import sum_to
from ..core.elementwise import conj
from ..core.op import Op
from ..naming import given_out, return_type
from ._linalg import (
    INT32,
    H,
    batched_over,
    broadcast_batches,
    by_columns,
    check_floating,
    check_kernel,
    check_same_dtype,
    check_solvable,
    check_square,
    column,
    columns,
    diag,
    each,
    few_threads,
    into,
    into_pair,
    is_complex,
    is_small,
    lapack,
    like,
    numbers,
    over_batch,
    raise_for,
    real,
    small_det,
    times_columns,
    trailing,
)
from .reduction import where

__all__ = ["det", "inverse", "logdet", "slogdet"]
METHODS = "*"

inv_ex_result = return_type("linalg_inv_ex", "inverse", "info")
solve_ex_result = return_type("linalg_solve_ex", "result", "info")
linalg_slogdet_result = return_type("linalg_slogdet", "sign", "logabsdet")
slogdet_result = return_type("slogdet", "sign", "logabsdet")


# ------------------------------------------------------------------ inverses


def invert(a: Any) -> tuple[Any, Any]:
    info = np.zeros(a.shape[:-2], INT32)
    try:
        return over_batch(np.linalg.inv, 0.015 * a.shape[-1] ** 2, a.mT).mT, info
    except np.linalg.LinAlgError:
        pass
    out = np.empty_like(a, order="C")
    getrf, getri = lapack("getrf getri", a)

    def one(m: Any) -> Any:
        lu, pivots, code = getrf(m)
        if code:
            return np.full_like(m, np.inf), code
        return getri(lu, pivots)[0], 0

    each(one, a.shape[:-2], (out, info), a)
    return columns(out), info


def _inv_ex(A: Any, check_errors: bool, api: str) -> Any:
    check_square(A, "linalg.inv")
    check_floating(A, "linalg.inv")
    inverse, info = invert(A)
    if check_errors:
        raise_for(info, api, "inv")
    return inverse, info


def _inverse_cotangent(g0: Any, out0: Any) -> Any:
    x = H(out0)
    return -(x @ (g0 @ x))


_inv = Op(
    "linalg_inv_ex",
    _inv_ex,
    vjp={"A": _inverse_cotangent},
    jvp={"A": lambda t, out0, out1: (-(out0 @ (t @ out0)), out1)},
    outputs=2,
    nondiff=(1,),
    result=inv_ex_result,
)
trailing("linalg_inv_ex", A=2)


def inv_value(a: Any) -> Any:
    return _inv.call(a, False, "")[0]


def linalg_inv(A: Any, *, out: Any = None) -> Any:
    """The inverse of a square matrix, or of a batch of them.

    Raises LinAlgError where a matrix is singular.

    >>> import tidu as torch
    >>> torch.linalg.inv(torch.tensor([[2., 0.], [0., 4.]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    r = _inv.call(A, True, "linalg.inv")[0]
    return r if out is None else into("linalg_inv", out, r)


def linalg_inv_ex(A: Any, *, check_errors: bool = False, out: Any = None) -> Any:
    """The inverse and LAPACK's code, 0 where there is one; no error unless asked for."""
    r = _inv.call(A, check_errors, "linalg.inv_ex")
    return r if out is None else into_pair("linalg_inv_ex", out, r, inv_ex_result)


def inverse(input: Any, *, out: Any = None) -> Any:
    """The inverse of a square matrix, or of a batch of them."""
    return linalg_inv(input, out=out)


# ------------------------------------------------------------------ linear systems


def is_vector(a: Any, b: Any) -> bool:
    """Whether the right-hand side is a vector, or a batch of them of the matrices' batch."""
    return bool(b.ndim == 1 or (a.ndim - 1 == b.ndim and tuple(b.shape) == tuple(a.shape[:-1])))


def _solve_ex(A: Any, B: Any, left: bool, check_errors: bool, api: str) -> Any:
    check_floating(A, "linalg.solve", low=True)
    check_same_dtype(A, B, "linalg.solve")
    check_square(A, "linalg.solve")
    vector = is_vector(A, B)
    b = B[..., None] if vector else B
    check_solvable(A, b, left, "linalg.solve")
    lead = broadcast_batches(A, b)
    check_kernel(A, "lu_cpu")
    info = np.zeros(lead, INT32)
    try:
        cost = 0.007 * A.shape[-1] ** 2
        if left:
            x = over_batch(np.linalg.solve, cost, A, b)
            x = x if vector else columns(x)
        else:
            x = over_batch(np.linalg.solve, cost, A.mT, b.mT).mT
    except np.linalg.LinAlgError:
        x, info = _solve_each(A, b, left, lead)
    x = x.reshape((*lead, *x.shape[-2:])) if x.ndim != len(lead) + 2 else x
    if check_errors:
        raise_for(info, api, "solve")
    return (x[..., 0] if vector else x), info


def _solve_each(a: Any, b: Any, left: bool, lead: Any) -> Any:
    a = np.broadcast_to(a, (*lead, *a.shape[-2:]))
    b = np.broadcast_to(b, (*lead, *b.shape[-2:]))
    x, info = np.empty(b.shape, b.dtype), np.zeros(lead, INT32)
    gesv = lapack("gesv", a)

    def one(m: Any, v: Any) -> Any:
        _, _, r, code = gesv(m if left else m.T, v if left else v.T)
        r = np.full_like(v, np.nan) if code else r if left else r.T
        return r, code

    each(one, lead, (x, info), a, b)
    return x, info


def solve_value(a: Any, b: Any, left: bool = True) -> Any:
    return _solve.call(a, b, left, False, "")[0]


def _solve_vjp(g0: Any, A: Any, out0: Any, A_shape: Any, B_shape: Any, left: bool, needs: Any) -> Any:
    g = solve_value(H(A), g0, left)
    x = out0
    gb = sum_to(g, B_shape) if needs[1] else None
    if not needs[0]:
        return None, gb
    if len(B_shape) == 1 or (len(A_shape) - 1 == len(B_shape) and tuple(B_shape) == tuple(A_shape[:-1])):
        g, x = column(g), column(x)
    return sum_to(-(g @ H(x)) if left else -(H(x) @ g), A_shape), gb


def _solve_jvp(A: Any, B: Any, out0: Any, out1: Any, t_A: Any, t_B: Any, left: bool) -> Any:
    right = t_B
    if t_A is not None:
        if is_vector(A, B):
            change = (t_A @ column(out0)).squeeze(-1)
        else:
            change = t_A @ out0 if left else out0 @ t_A
        right = -change if right is None else right - change
    return solve_value(A, right, left), out1


_solve = Op(
    "linalg_solve_ex",
    _solve_ex,
    vjp=_solve_vjp,
    jvp=_solve_jvp,
    tensors=("A", "B"),
    outputs=2,
    nondiff=(1,),
    result=solve_ex_result,
)


@rule("linalg_solve_ex")
def _solve_batched(op: Any, args: Any, level: int) -> Any:
    a, b = args[:2]
    if not is_vector(a, b):
        return batched_over(A=2, B=2)(op, args, level)
    n = batch_size(op, args, level)
    a, b = materialize(a, level, n), materialize(b, level, n)
    if a.ndim - 1 != b.ndim:  # one vector for a batch of matrices
        b = b.reshape((n, *(1,) * (a.ndim - 1 - b.ndim), b.shape[-1]))
    x, info = op.call(a, column(b), *args[2:])
    return x.squeeze(-1), info


def linalg_solve(A: Any, B: Any, *, left: bool = True, out: Any = None) -> Any:
    """The X with A X = B, or X A = B unless `left`. B is a matrix, a vector, or a batch.

    Raises LinAlgError where A is singular.

    >>> import tidu as torch
    >>> torch.linalg.solve(torch.tensor([[2., 0.], [0., 4.]]), torch.tensor([2., 2.]))
    tensor([1.0000, 0.5000])
    """
    r = _solve.call(A, B, left, True, "torch.linalg.solve")[0]
    return r if out is None else into("linalg_solve", out, r)


def linalg_solve_ex(A: Any, B: Any, *, left: bool = True, check_errors: bool = False, out: Any = None) -> Any:
    """The solution and LAPACK's code; no error unless asked for."""
    r = _solve.call(A, B, left, check_errors, "torch.linalg.solve_ex")
    return r if out is None else into_pair("linalg_solve_ex", out, r, solve_ex_result)


# ------------------------------------------------------------------ determinants


def _det_forward(A: Any) -> Any:
    """The determinant of a square matrix, or of a batch of them."""
    check_square(A, "linalg.det")
    check_floating(A, "linalg.det", low=True)
    check_kernel(A, "lu_cpu")
    if is_small(A):
        diagonal, sign = small_det(A)
        return np.asarray(np.multiply.reduce(diagonal, -1) * sign)
    with few_threads(A):
        return np.asarray(np.linalg.det(A))


def _cofactors(A: Any, out: Any) -> Any:
    """The conjugates of d det / d A: of the inverse where there is a good one, else of the singular values."""
    a = numbers(out)
    with np.errstate(all="ignore"):
        if a is not None and a.size and np.all(np.isfinite(a)) and np.all(a != 0):
            return column(column(conj(out))) * H(inv_value(A))
    from .decompositions import svd_value
    from .reduction import products_of_others

    u, s, vh = svd_value(A)
    unitary = det_op.call(u) * det_op.call(vh)
    others = products_of_others(s, (s.ndim - 1,))
    if is_complex(A):
        others = others + like(0, A)
    return column(column(conj(unitary))) * (times_columns(u, others) @ vh)


det_op = Op(
    "linalg_det",
    _det_forward,
    vjp={"A": lambda g, A, out: column(column(g)) * _cofactors(A, out)},
    jvp={"A": lambda t, A, out: (conj(_cofactors(A, out)) * t).sum((-2, -1))},
)
trailing("linalg_det", A=2)


def linalg_det(A: Any, *, out: Any = None) -> Any:
    """The determinant of a square matrix, or of a batch of them.

    >>> import tidu as torch
    >>> torch.linalg.det(torch.tensor([[2., 0.], [0., 4.]]))
    tensor(8.)
    """
    return det_op.call(A, out=out)


def det(input: Any) -> Any:
    """The determinant of a square matrix, or of a batch of them."""
    return det_op.call(input)


def _slogdet_forward(A: Any, api: str) -> Any:
    check_square(A, api)
    check_floating(A, api)
    with np.errstate(all="ignore"), few_threads(A):
        if is_small(A):
            diagonal, sign = small_det(A)
            return np.asarray(sign * np.sign(diagonal).prod(-1)), np.asarray(np.log(np.abs(diagonal)).sum(-1))
        sign, log = np.linalg.slogdet(A)
    return np.asarray(sign), np.asarray(log)


def _slogdet_vjp(g0: Any, g1: Any, A: Any, out0: Any) -> Any:
    """d log|det| = Re tr(A^-1 dA), and the sign turns by the imaginary part of that trace."""
    if is_complex(A):
        turn = conj(g0) * out0
        weight = g1 - (turn - conj(turn)) * 0.5
    else:
        weight = g1
    return column(column(weight)) * H(inv_value(A))


def _slogdet_jvp(t: Any, A: Any, out0: Any) -> Any:
    trace = diag(solve_value(A, t)).sum(-1)
    if is_complex(A):
        return out0 * (trace - real(trace)), real(trace)
    return out0 * 0, trace


_slogdet = Op(
    "linalg_slogdet",
    _slogdet_forward,
    vjp={"A": _slogdet_vjp},
    jvp={"A": _slogdet_jvp},
    outputs=2,
    result=linalg_slogdet_result,
)
trailing("linalg_slogdet", A=2)


def linalg_slogdet(A: Any, *, out: Any = None) -> Any:
    """The sign of the determinant (a number on the unit circle) and the logarithm of its absolute value."""
    return _slogdet.call(A, "linalg.slogdet", out=out)


def slogdet(input: Any, *, out: Any = None) -> Any:
    """The sign of the determinant and the logarithm of its absolute value."""
    result = slogdet_result if out is None else given_out(slogdet_result)
    return result(*_slogdet.call(input, "linalg.slogdet", out=out))


def logdet(input: Any) -> Any:
    """The logarithm of the determinant; NaN where that is negative."""
    sign, log = _slogdet.call(input, "logdet")
    if input.dtype.is_complex:
        return sign.log() + log
    return where(sign == -1, float("nan"), log)


by_columns(_inv, _solve)
