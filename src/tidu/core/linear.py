"""The linear and bilinear kinds: the rules follow from the op itself and its adjoints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .op import Op, Rule


class LinearOp(Op):
    """An op linear in its first argument: it carries tangents itself, and cotangents by its adjoint."""

    kind = "linear"


class BilinearOp(Op):
    """An op linear in each of its first two arguments."""

    kind = "bilinear"


def linear(
    name: str, forward: Callable[..., Any], adjoint: Rule | None, *, tensor: str | None = None, **options: Any
) -> Callable[..., Any]:
    """Declare an op linear in one tensor argument (the first, unless `tensor` names it)."""
    if tensor is None:
        tensor = forward.__code__.co_varnames[0]
    rules = {} if adjoint is None else {tensor: adjoint}
    options.setdefault("tensors", (tensor,))
    return LinearOp(name, forward, rules, "linear", **options).call


def bilinear(name: str, forward: Callable[..., Any], left: Rule, right: Rule, **options: Any) -> Callable[..., Any]:
    """Declare an op linear in each of its first two arguments, by the adjoint with respect to either."""
    a, b = forward.__code__.co_varnames[:2]
    options.setdefault("tensors", (a, b))
    return BilinearOp(name, forward, {a: left, b: right}, "bilinear", **options).call
