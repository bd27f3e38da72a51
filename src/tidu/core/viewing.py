"""Linear ops of one tensor on a hot path of their own: views, and the reductions that go everywhere.

    select = view_op("select", _select, lambda g, shape, dim, index: select_backward(g, shape, dim, index))
    total = shaped_op("sum", _total, lambda g, shape: expand_to(g, shape))

The forward takes an array and plain arguments; that of a view op returns a NumPy view of it. The adjoint reads the
cotangent, the input's shape and those arguments, in that order, so that nothing of the values is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from .linear import LinearOp
from .modes import state
from .node import Node, next_seq
from .op import named
from .parameters import names_of
from .tensor import Tensor, new
from .views import DEFAULT, NO_GRAD, live_node


class ShapedNode(Node):
    """The node of such an op: the input's shape and the arguments."""

    __slots__ = ("args", "shape")
    adjoint: Callable[..., Any]

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        return (self.adjoint(g, self.shape, *self.args),)


def view_op(
    name: str, forward: Callable[..., Any], adjoint: Callable[..., Any], *, node: str | None = None
) -> Callable[..., Any]:
    """Declare a view op, by its forward and the adjoint (g, shape, *arguments)."""
    op, cls = _declare(name, forward, adjoint, node, view=True)
    n_args = len(op.params) - 1
    general, bind = op.general, op.bind

    def call(input: Any, *args: Any, **kw: Any) -> Any:
        if kw or len(args) != n_args:
            input, *args = bind((input, *args), kw)  # type: ignore[assignment]
        try:
            a = input._a
        except AttributeError:
            if input.__class__ is ndarray:  # a rule running for numbers
                return forward(input, *args)
            return general((input, *args))
        record = state.record
        if record is not True and record is not False:
            return general((input, *args))
        try:
            r = forward(a, *args)
        except TypeError:
            return general((input, *args))
        t = new(Tensor)
        t._a = r
        cell = t._v = input._v
        t._grad = t._extra = None
        view = input._view
        if view is None:
            e = input._node
            t._view = (input, cell[0], DEFAULT if record else NO_GRAD)
        else:
            e = live_node(input)
            t._view = (view[0], cell[0], view[2] if record else NO_GRAD)
        if e is None or not record:
            t._node = None
            return t
        t._node = n = new(cls)
        n.seq = next_seq()
        n._hooks = None
        n.edges = (input if e is True else e,)
        n.shape = a.shape
        n.args = args
        return t

    return _finish(op, call)


def shaped_op(
    name: str, forward: Callable[..., Any], adjoint: Callable[..., Any], *, node: str | None = None
) -> Callable[..., Any]:
    """Declare a linear op that makes a new array, by its forward and the adjoint (g, shape, *arguments)."""
    op, cls = _declare(name, forward, adjoint, node, view=False)
    n_args = len(op.params) - 1
    general, bind = op.general, op.bind

    def call(input: Any, *args: Any, **kw: Any) -> Any:
        if kw or len(args) != n_args:
            input, *args = bind((input, *args), kw)  # type: ignore[assignment]
        try:
            a = input._a
        except AttributeError:
            if input.__class__ is ndarray:  # a rule running for numbers
                return forward(input, *args)
            return general((input, *args))
        record = state.record
        if record is not True and record is not False:
            return general((input, *args))
        try:
            r = forward(a, *args)
        except TypeError:
            return general((input, *args))
        if r.__class__ is not ndarray:
            r = np.asarray(r)
        e = input._node if input._view is None else live_node(input)
        t = new(Tensor)
        t._a = r
        t._v = [0]
        t._node = t._view = t._grad = t._extra = None
        if e is None or not record:
            return t
        t._node = n = new(cls)
        n.seq = next_seq()
        n._hooks = None
        n.edges = (input if e is True else e,)
        n.shape = a.shape
        n.args = args
        return t

    return _finish(op, call)


def _declare(
    name: str, forward: Callable[..., Any], adjoint: Callable[..., Any], node: str | None, view: bool
) -> tuple[LinearOp, Any]:
    params = list(names_of(forward))
    rule = named(lambda *values: adjoint(*values), ["g", params[0] + "_shape", *params[1:]])
    op = LinearOp(name, forward, {params[0]: rule}, "linear", view=view, node=node)
    return op, type(op.node_name, (ShapedNode,), {"__slots__": (), "op": op, "adjoint": staticmethod(adjoint)})


def _finish(op: LinearOp, call: Callable[..., Any]) -> Callable[..., Any]:
    call.__name__ = call.__qualname__ = op.name
    call.__doc__ = op.forward.__doc__
    call.op = op
    op.call = call
    return call
