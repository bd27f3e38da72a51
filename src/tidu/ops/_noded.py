"""Rules that are one node where the backward pass is recorded; ops made of other ops, which keep their inputs alone.

    {"input": noded("GeluBackwardBackward0", _gelu_rule, "g input")}

A rule is a formula of ops, so that recording it makes a node of each. `noded` makes one of them all, under the name
that PyTorch gives it: an op whose forward is the formula over arrays, and whose own derivative is found by
differentiating the formula when somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter, Signature
from typing import Any

import numpy as np

from ..core.engine import captured_for, run_backward
from ..core.modes import set_record
from ..core.node import edge_of
from ..core.op import Op
from ..core.parameters import names_of
from ..core.tensor import Tensor, raw, tensor_of
from ..core.views import live_node


def noded(
    node: str,
    formula: Callable[..., Any],
    tensors: str,
    numbers: Callable[..., Any] | None = None,
    derivative: dict[str, Callable[..., Any]] | None = None,
) -> Callable[..., Any]:
    """The formula, as one node of the given name where its values are tensors.

    Args:
        node: PyTorch's name of it.
        formula: the rule, over values of every kind.
        tensors: which of its parameters are tensors, the cotangent among them.
        numbers: the rule over arrays, where that is written otherwise.
        derivative: its own reverse rules, where they are worth writing out. They call the rule's cotangent grad_output.
    """
    names = names_of(formula)
    wanted = tensors.split()
    call: Any = None

    def prepare() -> Any:
        nonlocal call
        own = ["grad_output" if n == "g" else n for n in names]
        places = ["grad_output" if n == "g" else n for n in wanted]

        def forward(*values: Any) -> Any:
            return np.asarray((numbers or formula)(*values))

        forward.__signature__ = Signature([Parameter(n, Parameter.POSITIONAL_OR_KEYWORD) for n in own])
        rules: Any = derivative
        if rules is None:
            rules = derivative_of(formula, [names.index(n) for n in wanted])
            rules.__signature__ = Signature(
                [Parameter(n, Parameter.POSITIONAL_OR_KEYWORD) for n in ("g", "needs", *own)]
            )
        op = Op(node.removesuffix("0"), forward, rules, tensors=places, node=node, out_arg=False, register=False)
        call = op.call
        return call

    @wraps(formula)
    def rule(*values: Any) -> Any:
        for v in values:
            if v.__class__ is not Tensor and isinstance(v, Tensor):  # of a transform, which sees into the formula
                return formula(*values)
        return (call or prepare())(*values) if isinstance(values[0], Tensor) else (numbers or formula)(*values)

    rule.__signature__ = Signature([Parameter(n, Parameter.POSITIONAL_OR_KEYWORD) for n in names])
    return rule


def derivative_of(formula: Callable[..., Any], places: Sequence[int]) -> Callable[..., Any]:
    """The cotangents of the formula's tensors from that of its value: by recording it, and going back."""

    def rule(g: Any, needs: tuple[bool, ...], *values: Any) -> list[Any]:
        numbers = not isinstance(g, Tensor)
        full = list(values)
        was = set_record(True)
        try:
            inputs = []
            for k, need in zip(places, needs, strict=True):
                full[k] = _fresh(full[k], need)
                if need:
                    inputs.append(full[k])
            out = formula(*full)
            if live_node(out) is None:
                return [None] * len(needs)
            edges = [edge_of(t) for t in inputs]
            got = run_backward(
                [(edge_of(out), tensor_of(g) if numbers else g)],
                keep=True,
                create_graph=not numbers,
                targets=edges,
                accumulate=False,
                raw_values=None if numbers or g.__class__ is Tensor else False,
            )
            cots = iter([captured_for(got, e) for e in edges])
        finally:
            set_record(was)
        found = [next(cots) if need else None for need in needs]
        return [c if c is None or not numbers else raw(c) for c in found]

    return rule


def _fresh(x: Any, wanted: bool) -> Any:
    """The same values where the formula begins: what is to be differentiated still leads to where it came from."""
    if not isinstance(x, Tensor):
        x = tensor_of(x)
    if not wanted:
        return x
    if x.requires_grad:
        return x.view_as(x)
    x = x.detach()
    x.requires_grad = True
    return x
