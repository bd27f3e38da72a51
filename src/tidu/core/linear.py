"""The linear and bilinear kinds: the rules follow from the op itself and its adjoints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from .modes import state
from .node import Node, freed, modified, next_seq, node_class
from .op import Op, Rule, check_savable, known, named
from .parameters import names_of
from .subclass import special_among
from .tensor import Tensor, new
from .views import DEFAULT, NO_GRAD, live_node


class LinearOp(Op):
    """An op linear in its first argument: it carries tangents itself, and cotangents by its adjoint."""

    kind = "linear"


class BilinearOp(Op):
    """An op linear in each of its first two arguments."""

    kind = "bilinear"


def linear(
    name: str,
    forward: Callable[..., Any],
    adjoint: Rule | None,
    *,
    tensor: str | None = None,
    jvp: Any = "linear",
    **options: Any,
) -> Callable[..., Any]:
    """Declare an op linear in one tensor argument (the first, unless `tensor` names it)."""
    if tensor is None:
        tensor = forward.__code__.co_varnames[0]
    rules = {} if adjoint is None else {tensor: adjoint}
    options.setdefault("tensors", (tensor,))
    return LinearOp(name, forward, rules, jvp, **options).call


class ProductNode(Node):
    """The node of a bilinear op on its hot path: each factor kept for the other's cotangent."""

    __slots__ = ("columns", "x", "x_version", "y", "y_version")
    left: Rule
    right: Rule
    right_columns: Rule

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        if self.x_version is None:
            raise freed(self)
        x, y = self.x, self.y
        ex, ey = edges
        cx = cy = None
        if ex is not None:
            if y._v[0] != self.y_version:
                raise modified(self, y, y._v, self.y_version)
            cx = self.left(g, y._a if raw else y)
        if ey is not None:
            if x._v[0] != self.x_version:
                raise modified(self, x, x._v, self.x_version)
            cy = self.right_columns(g, x._a) if raw and self.columns else self.right(g, x._a if raw else x)
        return cx, cy

    def release(self) -> None:
        self.x = self.y = self.x_version = None

    @property
    def version(self) -> int | None:
        return self.x_version

    def saved_arrays(self) -> Iterator[Any]:
        yield from (v._a for v in (self.x, self.y) if v is not None)


def bilinear(
    name: str,
    forward: Callable[..., Any],
    left: Rule,
    right: Rule,
    *,
    right_columns: Rule | None = None,
    **options: Any,
) -> Callable[..., Any]:
    """Declare an op linear in each of its first two arguments, by the adjoint with respect to either.

    An op of two arguments whose adjoints read just the cotangent and the other factor, `left=lambda g, mat2` and
    `right=lambda g, input`, gets a hot path. `right_columns` is `right` for arrays, laid out for a second factor that lies
    by columns, such as a transposed weight, whose gradient shall lie as it does.
    """
    a, b = forward.__code__.co_varnames[:2]
    options.setdefault("tensors", (a, b))
    op = BilinearOp(name, forward, {a: left, b: right}, "bilinear", **options)
    reads = [names_of(r) for r in (left, right)]
    if len(op.params) != 2 or reads != [("g", b), ("g", a)]:
        return op.call
    rules = {"left": left, "right": right, "right_columns": right_columns or right}
    cls: Any = type(
        op.node_name, (ProductNode,), {"__slots__": (), "op": op, **{k: staticmethod(r) for k, r in rules.items()}}
    )
    general = op.call

    def call(*args: Any, **kw: Any) -> Any:
        try:
            x, y = args
            p, q = x._a, y._a
            record = state.record
            if kw or record.__class__ is not bool or p.dtype is not q.dtype:
                return general(*args, **kw)
        except (AttributeError, ValueError):
            top = None if kw or len(args) != 2 else special_among(args, (0, 1))
            return general(*args, **kw) if top is None else top.process(op, args)
        t = new(Tensor)
        t._a = forward(p, q)
        t._v = [0]
        t._node = t._view = t._grad = t._extra = None
        if not record:
            return t
        ex = x._node if x._view is None else live_node(x)
        ey = y._node if y._view is None else live_node(y)
        if ex is None and ey is None:
            return t
        if p.dtype.kind not in "fcV":
            return t
        n = new(cls)
        n.seq = next_seq()
        n._hooks = None
        n.edges = (x if ex is True else ex, y if ey is True else ey)
        n.x_version = x._v[0]
        n.y_version = y._v[0]
        n.x = n.y = None
        n.columns = ey is not None and not q.flags.c_contiguous
        if ex is not None:
            n.y = y if y._v.__class__ is list else check_savable(y)
        if ey is not None:
            n.x = x if x._v.__class__ is list else check_savable(x)
        t._node = n
        return t

    op.call = known(op, call)
    return op.call


# ------------------------------------------------------------------ views and shaped ops

# Linear ops of one tensor on a hot path of their own: views, and the reductions that go everywhere.
#
#     select = view_op("select", _select, lambda g, shape, dim, index: select_backward(g, shape, dim, index))
#     total = shaped_op("sum", _total, lambda g, shape: expand_to(g, shape))
#
# The forward takes an array and plain arguments; that of a view op returns a NumPy view of it. The adjoint reads the
# cotangent, the input's shape and those arguments, in that order, so that nothing of the values is kept.


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
    op = _declare(name, forward, adjoint, node, view=True)
    n_args, arrays = len(op.params) - 1, ndarray
    general, bind = op.general, op.bind
    cls: Any = None

    def first() -> Any:
        nonlocal cls
        cls = node_class(op, ShapedNode, adjoint=staticmethod(adjoint))
        return new(cls)

    def call(input: Any, *args: Any, **kw: Any) -> Any:
        if kw or len(args) != n_args:
            input, *args = bind((input, *args), kw)  # type: ignore[assignment]
        try:
            a = input._a
        except AttributeError:
            if input.__class__ is arrays:  # a rule running for numbers
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
        try:
            n = new(cls)
        except TypeError:
            n = first()
        t._node = n
        n.seq = next_seq()
        n._hooks = None
        n.edges = (input if e is True else e,)
        n.shape = a.shape
        n.args = args
        return t

    op.call = known(op, call)
    return op.call


def shaped_op(
    name: str, forward: Callable[..., Any], adjoint: Callable[..., Any], *, node: str | None = None
) -> Callable[..., Any]:
    """Declare a linear op that makes a new array, by its forward and the adjoint (g, shape, *arguments)."""
    op = _declare(name, forward, adjoint, node, view=False)
    n_args, arrays = len(op.params) - 1, ndarray
    general, bind = op.general, op.bind
    cls: Any = None

    def first() -> Any:
        nonlocal cls
        cls = node_class(op, ShapedNode, adjoint=staticmethod(adjoint))
        return new(cls)

    def call(input: Any, *args: Any, **kw: Any) -> Any:
        if kw or len(args) != n_args:
            input, *args = bind((input, *args), kw)  # type: ignore[assignment]
        try:
            a = input._a
        except AttributeError:
            if input.__class__ is arrays:  # a rule running for numbers
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
        try:
            n = new(cls)
        except TypeError:
            n = first()
        t._node = n
        n.seq = next_seq()
        n._hooks = None
        n.edges = (input if e is True else e,)
        n.shape = a.shape
        n.args = args
        return t

    op.call = known(op, call)
    return op.call


def _declare(
    name: str, forward: Callable[..., Any], adjoint: Callable[..., Any], node: str | None, view: bool
) -> LinearOp:
    params = list(names_of(forward))
    rule = named(lambda *values: adjoint(*values), ["g", params[0] + "_shape", *params[1:]])
    return LinearOp(name, forward, {params[0]: rule}, "linear", view=view, node=node)
