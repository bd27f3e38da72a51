"""Distances and similarities between vectors: of pairs, of all pairs."""

from __future__ import annotations

from typing import Any

from ..core.broadcast import cast, expand_to
from ..core.modes import no_grad
from ..core.op import Op
from ..core.promote import result_type
from ..shapes import broadcast_shapes
from ._loss import add_number
from .reduction import sum
from .selection import clamp_min
from .statistics import vector_norm, vector_norm_op

__all__ = ["cosine_similarity", "pairwise_distance"]
METHODS = ""

Value = Any


def pairwise_distance(x1: Value, x2: Value, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Value:
    """The p-norm of x1 - x2 + eps over the last dimension. Source: torch.pairwise_distance."""
    d = max(x1.ndim, x2.ndim) - 1
    return _norm(add_number(x1 - x2, eps), float(p), (d,), keepdim)


_norm = Op(
    "norm", vector_norm_op.forward, vector_norm_op.vjp, vector_norm_op.jvp, node="NormBackward1", out_arg=False,
    register=False,
).call  # fmt: skip


def cosine_similarity(x1: Value, x2: Value, dim: int = 1, eps: float = 1e-8) -> Value:
    """The dot product over `dim` over the product of the norms, each at least `eps`. Source: torch.cosine_similarity."""
    d = result_type((x1, x2))
    if d.category != 2:
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {d.legacy}")
    shape = broadcast_shapes(tuple(x1.shape), tuple(x2.shape))
    x1, x2 = (expand_to(cast(x, d.np), shape) for x in (x1, x2))
    unit1, unit2 = (x / _at_least(vector_norm(x, 2, dim, True), eps) for x in (x1, x2))
    return sum(unit1 * unit2, dim)


def _at_least(norm: Value, eps: float) -> Value:
    """The norm, raised to `eps` in place, unrecorded: its gradient passes as if it had not been."""
    norm = norm.clone()
    with no_grad():
        norm.clamp_min_(eps)
    return norm


def normalize(
    input: Value, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Value = None
) -> Value:
    """input over its p-norm along `dim`, which counts at least `eps`. Source: torch.nn.functional.normalize."""
    from .arithmetic import div
    norm = clamp_min(vector_norm(input, p, dim, True), eps).expand_as(input)
    return input / norm if out is None else div(input, norm, out=out)
