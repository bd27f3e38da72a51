"""Products of Householder reflectors: geqrf's form of a QR factorization."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.elementwise import conj
from ..core.op import Op
from ..core.returns import return_type
from ..core.tensor import Tensor
from ._linalg import H, check_kernel, column, columns, legacy, like, trailing
from .decompositions import join
from .rearrange import tril

__all__ = ["geqrf", "orgqr", "ormqr"]
METHODS = "geqrf orgqr ormqr"

geqrf_result = return_type("geqrf", "a", "tau")


# ------------------------------------------------------------------ the form itself


def _geqrf_forward(input: Any) -> Any:
    """R above the diagonal, the reflectors of Q below it, and their factors tau. Source: torch.geqrf."""
    if input.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    check_kernel(input, "geqrf_cpu")
    if not input.size:
        return columns(input), np.zeros((*input.shape[:-2], min(input.shape[-2:])), input.dtype)
    h, tau = np.linalg.qr(input, "raw")
    return columns(h.mT), tau


def _no_derivative() -> Any:
    raise NotImplementedError("the derivative for 'geqrf' is not implemented.")


geqrf = Op("geqrf", _geqrf_forward, vjp={"input": _no_derivative}, outputs=2, result=geqrf_result).call
trailing("geqrf", input=2)


# ------------------------------------------------------------------ reflectors as values


def reflectors(x: Any) -> Any:
    """The vectors, below the diagonal of geqrf's matrix, with ones on it."""
    m, n = x.shape[-2:]
    return tril(x, -1) + like(np.eye(m, n), x)


def _reflect(v: Any, tau: Any, x: Any) -> Any:
    """(I - tau v v^H) x."""
    return x - (column(column(tau)) * column(v)) @ (H(column(v)) @ x)


def cotangents(v: Any, tau: Any, x: Any, g: Any) -> tuple[Any, Any]:
    """The cotangents of the reflectors (k columns) and taus of H_1 ... H_k x."""
    k = tau.shape[-1]
    right = [x]
    for i in range(k - 1, -1, -1):
        right.append(_reflect(v[..., i], tau[..., i], right[-1]))
    right.reverse()  # right[i + 1] = H_{i+1} ... H_k x
    gv, gtau = [], []
    for i in range(k):
        vi, ti = v[..., i], tau[..., i]
        r = right[i + 1]
        a, b = H(r) @ column(vi), H(g) @ column(vi)
        gtau.append(-(H(b) @ a).reshape(tuple(ti.shape)))
        t = column(column(ti))
        gv.append(-(conj(t) * (g @ a) + t * (r @ b)))
        g = _reflect(vi, conj(ti), g)
    return join(gv, -1), join([column(t) for t in gtau], -1)


def tangent(v: Any, tau: Any, x: Any, dv: Any, dtau: Any, dx: Any) -> Any:
    """The tangent of H_1 ... H_k x; None stands for no tangent."""
    for i in range(tau.shape[-1] - 1, -1, -1):
        vi, ti = column(v[..., i]), column(column(tau[..., i]))
        change = None
        if dv is not None:
            d = column(dv[..., i])
            change = (ti * d) @ (H(vi) @ x) + (ti * vi) @ (H(d) @ x)
        if dtau is not None:
            more = (column(column(dtau[..., i])) * vi) @ (H(vi) @ x)
            change = more if change is None else change + more
        moved = None if dx is None else _reflect(v[..., i], tau[..., i], dx)
        if change is not None:
            moved = -change if moved is None else moved - change
        dx = moved
        x = _reflect(v[..., i], tau[..., i], x)
    return dx


def _spread(gv: Any, shape: Any) -> Any:
    """The reflectors' cotangent as geqrf's matrix has it: below the diagonal, zeros in columns without a reflector."""
    m, n = shape[-2:]
    k = gv.shape[-1]
    if k < n:
        rest = np.zeros((*tuple(gv.shape[:-1]), n - k), gv.dtype.np if isinstance(gv, Tensor) else gv.dtype)
        gv = join([gv, like(rest, gv)], -1)
    return tril(gv, -1)


# ------------------------------------------------------------------ Q


def _product_forward(input: Any, tau: Any) -> Any:
    """The first columns of the product of Householder reflectors. Source: torch.linalg.householder_product."""
    name = "torch.linalg.householder_product"
    if input.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    m, n = input.shape[-2:]
    if m < n:
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if tau.ndim < 1 or n < tau.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    if input.ndim - tau.ndim != 1:
        raise RuntimeError(
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to {tau.ndim} and "
            f"input.ndim is equal to {input.ndim}"
        )
    if input.shape[:-2] != tau.shape[:-1]:
        raise RuntimeError(
            f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got {list(tau.shape[:-1])}"
        )
    if tau.dtype != input.dtype:
        raise RuntimeError(f"{name}: tau dtype {legacy(tau)} does not match input dtype {legacy(input)}")
    check_kernel(input, "orgqr_cpu")
    x = np.broadcast_to(np.eye(m, n, dtype=input.dtype), input.shape)
    return columns(_apply(input, tau, np.array(x), False))


def _apply(input: Any, tau: Any, x: Any, adjoint: bool) -> Any:
    """Q x or Q^H x, reflector by reflector over the whole batch."""
    k = tau.shape[-1]
    v = np.tril(input, -1) + np.eye(*input.shape[-2:], dtype=input.dtype)
    for i in range(k) if adjoint else range(k - 1, -1, -1):
        t = tau[..., i].conj() if adjoint else tau[..., i]
        w = v[..., i]
        x = x - (t[..., None] * w)[..., None] * (w[..., None, :].conj() @ x)
    return x


def _first_columns(x: Any) -> Any:
    m, n = x.shape[-2:]
    lead = tuple(x.shape[:-2])
    return like(np.broadcast_to(np.eye(m, n), (*lead, m, n)), x)


def _product_vjp(g: Any, input: Any, tau: Any, input_shape: Any) -> Any:
    if 0 in tuple(tau.shape) or 0 in input_shape:
        return None, None
    gv, gtau = cotangents(reflectors(input), tau, _first_columns(input), g)
    return _spread(gv, input_shape), gtau


def _product_jvp(input: Any, tau: Any, out: Any, t_input: Any, t_tau: Any) -> Any:
    dv = None if t_input is None else tril(t_input, -1)
    d = tangent(reflectors(input), tau, _first_columns(input), dv, t_tau, None)
    return out * 0 if d is None else d


householder_product = Op(
    "linalg_householder_product", _product_forward, vjp=_product_vjp, jvp=_product_jvp, tensors=("input", "tau")
).call
trailing("linalg_householder_product", input=2, tau=1)


def orgqr(input: Any, tau: Any, *, out: Any = None) -> Any:
    """The first columns of the product of Householder reflectors. Source: torch.orgqr."""
    return householder_product(input, tau, out=out)


# ------------------------------------------------------------------ Q times a matrix


def _ormqr_forward(input: Any, tau: Any, other: Any, left: bool = True, transpose: bool = False) -> Any:
    """Q other, Q^H other if `transpose`; other Q unless `left`; Q of geqrf's form. Source: torch.ormqr."""
    name = "torch.ormqr"
    if input.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if other.ndim < 2:
        raise RuntimeError(f"{name}: other must have at least 2 dimensions.")
    d = -2 if left else -1
    if other.shape[d] != input.shape[-2]:
        raise RuntimeError(f"{name}: other.shape[{d}] must be equal to input.shape[-2]")
    if tau.shape[-1] != min(other.shape[d], input.shape[-1]):
        raise RuntimeError(f"{name}: tau.shape[-1] must be equal to min(other.shape[{d}], input.shape[-1])")
    if input.ndim - tau.ndim != 1:
        raise RuntimeError(
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to {tau.ndim} and "
            f"input.ndim is equal to {input.ndim}"
        )
    if input.ndim != other.ndim:
        raise RuntimeError(
            f"{name}: Expected other to have the same number of dimensions as input, but got other.ndim equal to "
            f"{other.ndim} and input.ndim is equal to {input.ndim}"
        )
    for n, v, lead in (("tau", tau, tau.shape[:-1]), ("other", other, other.shape[:-2])):
        if lead != input.shape[:-2]:
            raise RuntimeError(
                f"{name}: Expected batch dimensions of {n} to be equal to input.shape[:-2], but got {list(lead)}"
            )
        if v.dtype != input.dtype:
            raise RuntimeError(
                f"{name}: Expected input and {n} to have the same dtype, but input has "
                f"dtype{legacy(input)} and {n} has "
                f"dtype {legacy(v)}"
            )
    check_kernel(input, "ormqr_cpu")
    if left:
        return columns(_apply(input, tau, other, transpose))
    return H(_apply(input, tau, H(other), not transpose))


def _ormqr_vjp(
    g: Any, input: Any, tau: Any, other: Any, left: bool, transpose: bool, input_shape: Any, needs: Any
) -> Any:
    gi = gt = go = None
    if needs[2]:
        go = ormqr(input, tau, g, left, not transpose)
    if (needs[0] or needs[1]) and 0 not in tuple(tau.shape) and 0 not in input_shape:
        # Each case is <a, Q b>: Q^H swaps the two, a factor on the right is one on the left of the transposes.
        a, b = (g, other) if left else (H(g), H(other))
        if transpose == left:
            a, b = b, a
        gv, gt = cotangents(reflectors(input), tau, b, a)
        gi = _spread(gv, input_shape)
    return gi, gt, go


def _ormqr_jvp(
    input: Any, tau: Any, other: Any, out: Any, t_input: Any, t_tau: Any, t_other: Any, left: bool, transpose: bool
) -> Any:  # fmt: skip
    total = None if t_other is None else ormqr(input, tau, t_other, left, transpose)
    if t_input is not None or t_tau is not None:
        # The tangent of Q itself, by its product with the identity.
        m = input.shape[-2]
        eye = like(np.broadcast_to(np.eye(m), (*tuple(input.shape[:-2]), m, m)), input)
        dv = None if t_input is None else tril(t_input, -1)
        dq = tangent(reflectors(input), tau, eye, dv, t_tau, None)
        if dq is not None:
            dq = H(dq) if transpose else dq
            part = dq @ other if left else other @ dq
            total = part if total is None else total + part
    return out * 0 if total is None else total


ormqr = Op("ormqr", _ormqr_forward, vjp=_ormqr_vjp, jvp=_ormqr_jvp, tensors=("input", "tau", "other")).call
trailing("ormqr", input=2, tau=1, other=2)
