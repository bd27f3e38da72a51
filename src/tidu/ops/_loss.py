"""What losses share: reductions, their deprecated arguments, and ops of an input, a target and a reduction."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays.reduce import mean_all, sum_all
from ..arrays.threads import BIG
from ..core.broadcast import sum_to
from ..core.elementwise import F32, F64, ONE, blocked, elementwise
from ..core.modes import state
from ..core.node import Node, freed, modified, next_seq
from ..core.op import Op, check_savable
from ..core.tensor import Tensor, live_node, new
from ._dtypes import refusal
from ._noded import noded
from .reduction import mean, sum

Value = Any
ndarray = np.ndarray

NONE, MEAN, SUM = 0, 1, 2
_CODES = {"none": NONE, "mean": MEAN, "sum": SUM}

# PyTorch's own code adds and multiplies plain numbers by ops of another name than Python's operators.
_add = elementwise("add.number", lambda input, other: input + _like(other, input), {"input": ONE}, node="AddBackward1")
_sub = elementwise("sub.number", lambda input, other: input - _like(other, input), {"input": ONE}, node="SubBackward1")
_mul = elementwise(
    "mul.number", lambda input, other: np.asarray(input * _like(other, input)), {"input": lambda g, other: g * other},
    node="MulBackward1",
)  # fmt: skip
_div = elementwise(
    "div.number", lambda input, other: np.asarray(input / _like(other, input)), {"input": lambda g, other: g / other},
    node="DivBackward1",
)  # fmt: skip


def _like(value: float, a: Any) -> Any:
    return a.dtype.type(value)


def add_number(x: Value, value: float) -> Value:
    return _add(x, value) if x.dtype.category >= dtypes.FLOATING else x + value


def sub_number(x: Value, value: float) -> Value:
    return _sub(x, value) if x.dtype.category >= dtypes.FLOATING else x - value


def mul_number(x: Value, value: float) -> Value:
    return _mul(x, value) if x.dtype.category >= dtypes.FLOATING else x * value


def div_number(x: Value, value: float) -> Value:
    return _div(x, value) if x.dtype.category >= dtypes.FLOATING else x / value


def code(reduction: str) -> int:
    """0, 1 or 2 for "none", "mean" or "sum"; ValueError for anything else."""
    got = _CODES.get(reduction)
    if got is None:
        if reduction == "elementwise_mean":
            warnings.warn(
                "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", stacklevel=3
            )
            return MEAN
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return got


def legacy(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The reduction that the two deprecated arguments mean, with a warning; `reduction` where neither is given."""
    if size_average is None and reduce is None:
        return reduction
    average = True if size_average is None else size_average
    word = "none" if reduce is False else "mean" if average else "sum"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{word}' instead.", stacklevel=3
    )
    return word


def reduced(x: Value, how: int) -> Value:
    """A value reduced by the ops that PyTorch composes."""
    return mean(x) if how == MEAN else sum(x) if how == SUM else x


def reduce_array(a: Any, how: int) -> Any:
    return mean_all(a) if how == MEAN else sum_all(a) if how == SUM else np.asarray(a)


def spread(g: Value, how: int, n: int) -> Value:
    """The cotangent of one element before the reduction."""
    return g / n if how == MEAN else g


def product(g: Value, p: Value) -> Value:
    """g * p, over the threads where that pays."""
    if p.__class__ is ndarray and p.size > BIG and g.__class__ is ndarray and g.dtype == p.dtype:
        if g.ndim == 0:
            return blocked(lambda x: x * g, p)
        return blocked(np.multiply, p, g)
    return g * p


class PairNode(Node):
    """The node of a loss of two floating tensors of one shape on its hot path."""

    __slots__ = ("args", "versions", "x", "y")
    pull_x: Callable[..., Any]
    pull_y: Callable[..., Any]

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        versions = self.versions
        if versions is None:
            raise freed(self)
        x, y = self.x, self.y
        if x._v[0] != versions[0]:
            raise modified(self, x, x._v, versions[0])
        if y._v[0] != versions[1]:
            raise modified(self, y, y._v, versions[1])
        if raw:
            x, y = x._a, y._a
        cx = None if edges[0] is None else self.pull_x(g, x, y, *self.args)
        if len(edges) == 1:
            return (cx,)
        return cx, None if edges[1] is None else self.pull_y(g, x, y, *self.args)

    def release(self) -> None:
        self.x = self.y = self.versions = None

    def saved_arrays(self) -> Iterator[Any]:
        yield from (v._a for v in (self.x, self.y) if v is not None)


def pair_loss(
    name: str,
    values: Callable[..., Any],
    partial_x: Callable[..., Any],
    partial_y: Callable[..., Any] | None | bool,
    kernel: str,
    extra: str = "",
    wide: bool = True,
    recorded: str = "",
) -> Callable[..., Any]:
    """Declare a loss op(input, target, reduction[, extra]).

    `values(x, y[, extra])` are the elements before the reduction, `partial_x` and `partial_y` their derivatives,
    written
    over values; None for the second: minus the first; False:
    no derivative. Half precision is computed in float32 if `wide`. Shapes broadcast. `recorded` names the one node that
    a rule is where the backward pass is recorded.
    """
    tail = [extra] if extra else []
    refuse = refusal("bic", kernel)

    def elements(input: Any, target: Any, args: Any) -> Any:
        if input.dtype != target.dtype:
            both = dtypes.promote_types(dtypes.from_numpy(input.dtype), dtypes.from_numpy(target.dtype)).np
            input, target = input.astype(both, copy=False), target.astype(both, copy=False)
        dt = input.dtype
        if dt.kind not in "fV":
            refuse(name, dtypes.from_numpy(dt))
        if dt.itemsize == 2 and wide:
            return np.asarray(values(input.astype(np.float32), target.astype(np.float32), *args)).astype(dt)
        return values(input, target, *args)

    def forward(input: Any, target: Any, reduction: int, *args: Any) -> Any:
        return reduce_array(elements(input, target, args), reduction)

    def size(x: Value, y: Value) -> int:
        n = 1
        for d in np.broadcast_shapes(tuple(x.shape), tuple(y.shape)) if tuple(x.shape) != tuple(y.shape) else x.shape:
            n *= d
        return n

    def part(rule: Callable[..., Any], input: Value, target: Value, *args: Any) -> Value:
        if input.__class__ is ndarray and input.size > BIG:
            return blocked(rule, input, target, *args)
        return rule(input, target, *args)

    def pull_x(g: Value, input: Value, target: Value, reduction: int, *args: Any) -> Value:
        g = spread(g, reduction, size(input, target))
        return sum_to(product(g, part(partial_x, input, target, *args)), tuple(input.shape))

    def pull_y(g: Value, input: Value, target: Value, reduction: int, *args: Any) -> Value:
        g = spread(g, reduction, size(input, target))
        p = part(partial_y, input, target, *args) if callable(partial_y) else -part(partial_x, input, target, *args)
        return sum_to(product(g, p), tuple(target.shape))

    def push_x(t: Value, input: Value, target: Value, reduction: int, *args: Any) -> Value:
        return reduced(t * partial_x(input, target, *args), reduction)

    def push_y(t: Value, input: Value, target: Value, reduction: int, *args: Any) -> Value:
        p = partial_y(input, target, *args) if callable(partial_y) else -partial_x(input, target, *args)
        return reduced(t * p, reduction)

    reads = ["input", "target", "reduction", *tail]
    if recorded:
        pull_x = noded(recorded, signed(pull_x, ["g", *reads]), "g input target", pull_x)
        pull_y = noded(recorded, signed(pull_y, ["g", *reads]), "g input target", pull_y)
    vjp: Any = {"input": signed(pull_x, ["g", *reads])}
    jvp: Any = {"input": signed(push_x, ["t", *reads])}
    if partial_y is not False:
        vjp["target"], jvp["target"] = signed(pull_y, ["g", *reads]), signed(push_y, ["t", *reads])
    op = Op(name, signed(forward, reads), vjp, jvp, tensors=("input", "target"))
    cls: Any = type(
        op.node_name, (PairNode,),
        {"__slots__": (), "op": op, "pull_x": staticmethod(pull_x), "pull_y": staticmethod(pull_y)},
    )  # fmt: skip
    general, count = op.call, len(vjp)

    def call(input: Value, target: Value, *args: Any) -> Value:
        try:
            x, y = input._a, target._a
        except AttributeError:
            return general(input, target, *args)
        dt = x.dtype
        if (dt is not F32 and dt is not F64) or y.dtype is not dt or x.shape != y.shape or state.record is not True:
            return general(input, target, *args)
        each = blocked(values, x, y, *args[1:]) if x.size > BIG else values(x, y, *args[1:])
        r = reduce_array(each, args[0])
        ex = input._node if input._view is None else live_node(input)
        ey = target._node if target._view is None else live_node(target)
        t = new(Tensor)
        t._a = r
        t._v = [0]
        t._node = t._view = t._grad = t._extra = None
        if ex is None and ey is None:
            return t
        t._node = n = new(cls)
        n.seq = next_seq()
        n._hooks = None
        n.edges = (input if ex is True else ex, target if ey is True else ey)[:count]
        n.x, n.y, n.args = check_savable(input), check_savable(target), args
        n.versions = (input._v[0], target._v[0])
        return t

    call.op = op
    return call


def signed(fn: Callable[..., Any], names: Sequence[str]) -> Callable[..., Any]:
    """A function of any arguments, with names for them."""
    import inspect

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    fn.__signature__ = inspect.Signature([inspect.Parameter(n, kind) for n in names])
    return fn


def not_differentiable(fn: str, name: str, value: Any) -> None:
    """Raise for an argument that PyTorch takes no gradient with respect to."""
    if isinstance(value, Tensor) and value.requires_grad and state.grad:
        raise RuntimeError(
            f"The function '{fn}' is not differentiable with respect to argument '{name}'. This input cannot have "
            "requires_grad True."
        )


__all__: list[str] = []
