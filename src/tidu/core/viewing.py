"""View ops: linear ops whose result shares the memory of their input, on a hot path of their own.

    select = view_op("select", _select, lambda g, input_shape, dim, index: select_backward(g, input_shape, dim, index))

The forward takes an array and plain arguments and returns a NumPy view of it. The adjoint reads the cotangent, the
input's shape and those arguments, in that order.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from .linear import LinearOp
from .modes import state
from .node import Node, next_seq
from .op import named
from .tensor import Tensor, new
from .views import live_node


class ViewNode(Node):
    """The node of a view op: nothing of the values is kept, only the input's shape and the arguments."""

    __slots__ = ("args", "shape")
    adjoint: Callable[..., Any]

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        return (self.adjoint(g, self.shape, *self.args),)


def view_op(
    name: str, forward: Callable[..., Any], adjoint: Callable[..., Any], *, node: str | None = None
) -> Callable[..., Any]:
    """Declare a view op, by its forward and the adjoint (g, input_shape, *arguments)."""
    params = list(inspect.signature(forward).parameters)
    rule = named(lambda *values: adjoint(*values), ["g", params[0] + "_shape", *params[1:]])
    op = LinearOp(name, forward, {params[0]: rule}, "linear", view=True, node=node)
    cls: Any = type(op.node_name, (ViewNode,), {"__slots__": (), "op": op, "adjoint": staticmethod(adjoint)})
    n_args = len(op.params) - 1
    general, bind = op.general, op.bind

    def call(input: Any, *args: Any, **kw: Any) -> Any:
        if kw or len(args) != n_args:
            input, *args = bind((input, *args), kw)  # type: ignore[assignment]
        try:
            a = input._a
        except AttributeError:
            return general((input, *args))
        if state.record is not True:
            return general((input, *args))
        r = forward(a, *args)
        t = new(Tensor)
        t._a = r
        cell = t._v = input._v
        t._grad = t._extra = None
        view = input._view
        if view is None:
            e = input._node
            t._view = (input, cell[0], "default")
        else:
            e = live_node(input)
            t._view = (view[0], cell[0], view[2])
        if e is None:
            t._node = None
            return t
        t._node = n = new(cls)
        n.seq = next_seq()
        n._hooks = None
        n.edges = (input if e is True else e,)
        n.shape = a.shape
        n.args = args
        return t

    call.__name__ = call.__qualname__ = name
    call.__doc__ = forward.__doc__
    call.op = op  # type: ignore[attr-defined]
    op.call = call
    return call
