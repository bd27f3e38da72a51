"""A hot path for ops of one tensor and plain arguments, and rules with a kernel for arrays.

    leaky_relu = hot(elementwise("leaky_relu", _leaky_relu, {"input": fast(_kernel, _formula)}))

The op is declared as ever; `hot` gives it a call that does at once what most programs ask for, tensors of float32 or
float64, and leaves all else to the op's own.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..arrays.threads import BIG
from ..core.elementwise import F32, F64, blocked
from ..core.modes import state
from ..core.node import Node, freed, modified, next_seq
from ..core.op import check_savable
from ..core.tensor import Tensor, live_node, new, tensor_of

ndarray, generic = np.ndarray, np.generic


def fast(kernel: Callable[..., Any] | None, formula: Callable[..., Any]) -> Callable[..., Any]:
    """A rule: `kernel` where its first argument, the cotangent, is an array, else `formula`, of the same arguments.

    Without a kernel the formula itself goes over large arrays a block at a time.
    """
    if kernel is None:

        def numbers(g: Any, *values: Any) -> Any:
            return blocked(formula, g, *values) if g.size > BIG else formula(g, *values)

        kernel = numbers

    @functools.wraps(formula)
    def rule(*values: Any) -> Any:
        return kernel(*values) if values[0].__class__ is ndarray else formula(*values)

    rule.__signature__ = inspect.signature(formula)
    return rule


def as_op(call: Callable[..., Any], formula: Callable[..., Any]) -> Callable[..., Any]:
    """A rule: `formula` of numbers, but the op `call` of tensors, so that it is one node where backward is recorded."""

    @functools.wraps(formula)
    def rule(*values: Any) -> Any:
        return call(*values) if isinstance(values[0], Tensor) else formula(*values)

    rule.__signature__ = inspect.signature(formula)
    return rule


def in_blocks(forward: Callable[..., Any]) -> Callable[..., Any]:
    """An elementwise forward of one array that goes over a large one a block at a time."""

    @functools.wraps(forward)
    def kernel(input: Any) -> Any:
        return blocked(forward, input) if input.size > BIG else forward(input)

    return kernel


class HotNode(Node):
    """The node of such an op: the input or the output, as its rule reads it, and the arguments."""

    __slots__ = ("args", "cell", "out", "version", "x")
    pull: Callable[..., Any]
    remakes = False  # PyTorch's node does not keep the output: one that was written to is computed again

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        version = self.version
        if version is None:
            raise freed(self)
        x, out = self.x, self.out
        if x.__class__ is not tuple:  # a tuple is the shape of an input whose values nobody reads
            if x._v[0] != version:
                raise modified(self, x, x._v, version)
            if raw:
                x = x._a
        if out is not None:
            if self.cell[0]:
                if not self.remakes:
                    raise modified(self, out, self.cell, 0)
                self.out = out = self.op.forward(self.x._a, *self.args)
                self.cell = [0]
            if not raw:
                out = tensor_of(out)
                out._node, out._v = self, self.cell
        return (self.pull(g, x, out, *self.args),)

    def release(self) -> None:
        if self.out is not None or self.x.__class__ is not tuple:
            self.x = self.out = self.version = None

    def saved_arrays(self) -> Iterator[Any]:
        if self.x.__class__ is not tuple:
            yield self.x._a
        if self.out is not None:
            yield self.out


def _pull(op: Any) -> Callable[..., Any]:
    """The op's rule as a function of the cotangent, the input or its shape, the output, and the arguments."""
    reader, first = op.rules[0], op.params[0]
    names = [op.sources[r] if r >= 0 else "g" for r in reader.reads]
    shape = "tuple(x.shape)" if first in names else "x"
    words = {first: "x", first + "_shape": shape, "out": "out", "g": "g"}
    read = ", ".join(words.get(n, n) for n in names)
    return eval(f"lambda g, x, out, {''.join(p + ', ' for p in op.params[1:])}: fn({read})", {"fn": reader.fn})


def hot(call: Callable[..., Any], blocks: bool = True, remakes: bool = False) -> Callable[..., Any]:
    """Give the op behind `call`, of one tensor with one rule and one output, its hot path.

    `blocks`: an elementwise forward goes over large arrays a block at a time, unless it sees to that itself.
    """
    op = call.op
    n_args, forward, general, bind = len(op.params) - 1, op.forward, op.general, op.bind
    elementwise = blocks and op.kind == "elementwise"
    cls: Any = None
    save_x = save_out = False

    def prepare() -> Any:  # when a node is first made: importing the library must not take long
        nonlocal cls, save_x, save_out
        save_x, save_out = op.params[0] in op.sources, "out" in op.sources
        cls = type(
            op.node_name, (HotNode,), {"__slots__": (), "op": op, "pull": staticmethod(_pull(op)), "remakes": remakes}
        )
        return cls

    def quick(input: Any, *args: Any, out: Any = None, **kw: Any) -> Any:
        if kw or len(args) != n_args:
            input, *args = bind((input, *args), kw)
        try:
            a = input._a
        except AttributeError:
            if input.__class__ is ndarray and out is None:
                return op.on_arrays((input, *args))
            return general((input, *args), out)
        dt = a.dtype
        record = state.record
        if (dt is not F32 and dt is not F64) or out is not None or (record is not True and record is not False):
            return general((input, *args), out)
        for v in args:
            if isinstance(v, generic):  # beside arrays NumPy's numbers would widen the result
                return quick(input, *[v.item() if isinstance(v, generic) else v for v in args])
        r = blocked(forward, a, *args) if elementwise and a.size > BIG else forward(a, *args)
        e = input._node if input._view is None else live_node(input)
        t = new(Tensor)
        t._a = r if r.__class__ is ndarray else np.asarray(r)
        cell = t._v = [0]
        t._node = t._view = t._grad = t._extra = None
        if e is None or not record:
            return t
        t._node = n = new(cls or prepare())
        n.seq = next_seq()
        n._hooks = None
        n.edges = (input if e is True else e,)
        n.args = args
        if save_x:
            n.x = input
            n.version = input._v[0] if input._v.__class__ is list else check_savable(input)._v[0]
        else:
            n.x = a.shape
            n.version = 0
        if save_out:
            n.out, n.cell = r, cell
        else:
            n.out = None
        return t

    quick.__name__ = quick.__qualname__ = op.name
    quick.__doc__ = op.forward.__doc__
    quick.op = op
    op.call = quick
    return quick
