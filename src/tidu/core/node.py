"""The graph: nodes, and the edges between them.

A node is what a recorded op leaves behind: where its inputs came from (`edges`), and what its rules read of the
values (`saved`). An edge is the thing a cotangent flows to:

    a Node           it made the value, and has one output
    an OutputEdge    one output of a node with several
    a Tensor         a leaf: its `.grad` accumulates
    None             no gradient is wanted there

Nodes are numbered as they are made. Inputs are made before outputs, so descending numbers are a topological order.
Recording makes no reference cycle: a node knows its inputs, and nothing that it knows knows its outputs.
"""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .tensor import NOWHERE, Tensor, extra

next_seq = itertools.count(1).__next__

NODE, OUTPUT, LEAF = range(3)  # what kind of thing an edge is
Tensor.EDGE = LEAF


class Hooks:
    """The hooks of a node: on its incoming cotangents (by output), before it runs, and after."""

    __slots__ = ("captures", "post", "pre", "tensor_pre")

    def __init__(self) -> None:
        self.tensor_pre: OrderedDict[int, Any] = OrderedDict()  # id -> (output number, hook)
        self.pre: OrderedDict[int, Any] = OrderedDict()
        self.post: OrderedDict[int, Any] = OrderedDict()
        self.captures: dict[int, Any] = {}  # output number -> weak reference to the tensor that retains its grad


class OutputEdge:
    """One output of a node that has several."""

    __slots__ = ("node", "nr")
    EDGE = OUTPUT

    def __init__(self, node: Node, nr: int) -> None:
        self.node = node
        self.nr = nr

    @property
    def owner(self) -> Node:
        return self.node


class Node:
    """A recorded op. Source: torch.autograd.graph.Node."""

    __slots__ = ("__dict__", "__weakref__", "_hooks", "edges", "seq")
    EDGE = NODE
    nr = 0
    op: Any = None
    runs_unasked = False  # also where no cotangent has come
    avals: Any = None

    edges: tuple[Any, ...]
    seq: int
    _hooks: Hooks | None

    def __init_subclass__(cls) -> None:
        if "_forward_cls" not in cls.__dict__:
            cls.__module__ = "builtins"  # shown as <class 'MulBackward0'>

    @property
    def owner(self) -> Node:
        return self

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        """The cotangents of the inputs from that of the output, one for each edge that is not None.

        With `raw` values are NumPy arrays; otherwise they are tensors and what is done is recorded.
        """
        raise NotImplementedError

    def release(self) -> None:
        """Let go of the saved values."""

    def saved_arrays(self) -> Iterator[np.ndarray[Any, Any]]:
        """The arrays retained for backward."""
        return iter(())

    def name(self) -> str:
        """The name PyTorch gives it, such as MulBackward0."""
        name = type(self).__name__
        return name if name not in _OF_THE_ENGINE else "torch::autograd::" + name

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The nodes that made the inputs, each with the number of its output."""
        alone = type(self).__name__ in _ALONE
        shown = tuple([function_of(e) for e in self.edges if e is not None or not alone])
        self.__dict__["shown_"] = [n for n, _ in shown if isinstance(n, AccumulateGrad)]  # and the hooks on them
        return shown

    @property
    def metadata(self) -> dict[Any, Any]:
        return self.__dict__.setdefault("metadata_", {})

    def _sequence_nr(self) -> int:
        return self.seq

    def register_hook(self, fn: Any) -> Any:
        """Call `fn(grad_inputs, grad_outputs)` after the node has run."""
        from .hooks import add_hook

        return add_hook(hooks_of(self).post, fn)

    def register_prehook(self, fn: Any) -> Any:
        """Call `fn(grad_outputs)` before the node runs."""
        from .hooks import add_hook

        return add_hook(hooks_of(self).pre, fn)

    def __call__(self, *grads: Any) -> Any:
        """The cotangents of the inputs from those of the outputs, as tensors."""
        avals = getattr(self, "avals", None)
        n = 1 if avals is None else len(avals)
        if len(grads) != n:
            raise TypeError(f"expected {n} arguments, got {len(grads)} instead")
        got = tuple(self.apply(grads[0] if avals is None else list(grads), self.edges, False))
        return got if len(got) != 1 else got[0]

    def __getattr__(self, name: str) -> Any:
        if name[:7] == "_saved_" or name[:5] == "_raw_":
            from .saved import look_up

            return look_up(self, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __dir__(self) -> list[str]:
        from .saved import names

        return [*super().__dir__(), *names(self)]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"


_ALONE = frozenset(  # where a number in the other input's place has no edge
    "FmodBackward0 RemainderBackward0 RsubBackward1 SpecialXlog1PyBackward1 SpecialXlog1PyBackward2 "
    "SpecialZetaBackward1 SpecialZetaBackward2 XlogyBackward1 XlogyBackward2".split()
)
_OF_THE_ENGINE = frozenset({"CopyBackwards", "NotImplemented"})  # nodes that are not of one op


def hooks_of(node: Node) -> Hooks:
    if node._hooks is None:
        node._hooks = Hooks()
    return node._hooks


class AccumulateGrad(Node):
    """Where a gradient ends: the leaf as the graph shows it. The engine itself goes by the leaf.

    Made when somebody looks, and kept as long as they do.
    """

    __slots__ = ("variable",)

    def __init__(self, leaf: Tensor) -> None:
        self.variable = leaf
        self.edges = ()
        self.seq = 2**64 - 1
        self._hooks = None

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    def __call__(self, *grads: Any) -> Any:
        """Add a cotangent to the leaf's gradient."""
        from .engine import accumulate

        if len(grads) != 1:
            raise TypeError(f"expected 1 arguments, got {len(grads)} instead")
        leaf = self.variable
        if tuple(grads[0].shape) != tuple(leaf.shape):
            grads[0] + leaf  # the error of a sum
        accumulate(leaf, {leaf: grads[0].detach()}, raw=False)
        return ()


def accumulate_grad(leaf: Tensor) -> AccumulateGrad:
    """The AccumulateGrad of a leaf, always the same one while it lives."""
    ref = extra(leaf).accumulate
    node = None if ref is None else ref()
    if node is None:
        node = AccumulateGrad(leaf)
        leaf._extra.accumulate = weakref.ref(node)  # type: ignore[union-attr]
    return node


def function_of(edge: Any) -> tuple[Any, int]:
    """An edge as PyTorch shows it: the node and the number of the output."""
    if edge is None or edge is NOWHERE:
        return None, 0
    if edge.EDGE == LEAF:
        return accumulate_grad(edge), 0
    return edge.owner, edge.nr


def edge_of(t: Tensor) -> Any:
    """Where a cotangent of this tensor flows to. Views must have been brought up to date."""
    node = t._node
    return t if node is True else node


# ------------------------------------------------------------------ saved values


def freed(node: Node) -> RuntimeError:
    """The error of a second backward through a graph whose values are gone."""
    return RuntimeError(
        "Trying to backward through the graph a second time (or directly access saved tensors after they have "
        "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
        "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if "
        "you need to access saved tensors after calling backward."
    )


def modified(node: Node, saved: Any, cell: list[int], expected: int) -> RuntimeError:
    """The error of a saved value that was written since. `saved` is the tensor or array, as it is now."""
    from .errors import modified_error

    return modified_error(node, saved, cell, expected)


def node_class(op: Any, base: type[Node], **given: Any) -> Any:
    """The class of an op's nodes: made with the first of them, for few programs call many ops."""
    return type(op.node_name, (base,), {"__slots__": (), "op": op, **given})
