"""Ops made of other ops, which keep their inputs alone: forward runs unrecorded, and once more for backward."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.engine import captured_for, run_backward
from ..core.modes import set_record
from ..core.node import edge_of
from ..core.op import Op, named
from ..core.tensor import tensor_of


def composed(name: str, fn: Callable[..., Any], tensors: Sequence[str], **options: Any) -> Op:
    """An op of one output whose rule follows from `fn`, written over values; its tensor arguments come first.

    Backward evaluates `fn` again, recording, and takes the gradient of that, recording that too where it is asked to.
    """
    n = len(tensors)

    def rule(g: Any, *values: Any) -> Any:
        *args, needs = values
        raw = isinstance(g, np.ndarray)
        was = set_record(True)
        try:
            fresh: list[Any] = list(args)
            for i in range(n):
                if raw and args[i] is not None:
                    fresh[i] = tensor_of(args[i])
                    fresh[i]._node = True if needs[i] else None
                elif needs[i]:
                    fresh[i] = args[i].clone()  # a place of its own in the graph
            out = fn(*fresh)
            edges = [edge_of(fresh[i]) if needs[i] else None for i in range(n)]
            got: dict[Any, Any] = {}
            if out._node is not None:
                root = (out._node, tensor_of(g) if raw else g)
                got = run_backward(
                    [root], keep=not raw, create_graph=not raw, targets=[e for e in edges if e is not None],
                    accumulate=False,
                )  # fmt: skip
        finally:
            set_record(was)
        cots: list[Any] = []
        for x, e in zip(fresh, edges, strict=False):
            c = None if e is None else captured_for(got, e)
            if e is not None and c is None:
                c = tensor_of(np.zeros_like(x._a))
            cots.append(c._a if raw and c is not None else c)
        return cots

    params = list(inspect.signature(fn).parameters)
    return Op(name, fn, named(rule, ["g", *params, "needs"]), tensors=tensors, **options)
