"""backward(): collect the graph, put it in order, run it.

Descending sequence numbers are a topological order, so the engine collects the reachable nodes with an explicit
stack, sorts them once, and runs them. No recursion anywhere: a chain of a million ops is no special case.

A cotangent is an array when only numbers are wanted, a tensor when the backward pass shall itself be recorded
(`create_graph`). The first cotangent that reaches a place is kept as it is; the second one allocates the sum; from
then on the engine owns it and adds in place.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from operator import attrgetter
from sys import getrefcount
from typing import Any

import numpy as np

from ..arrays.threads import BIG, big_ufunc
from .modes import set_record, state
from .node import LEAF, OUTPUT, Node, freed
from .tensor import NOWHERE, Tensor, new, raw, tensor_of

ndarray = np.ndarray
_by_seq = attrgetter("seq")


LAYOUTS = [False]  # whether there ever was a sparse tensor, so that gradients may be some


class _Running(threading.local):
    run: Any = None
    callbacks: Sequence[tuple[Run, Any]] = ()


_running = _Running()


def queue_callback(fn: Any) -> None:
    """Call `fn()` when the backward pass at work in this thread has come to its end."""
    if _running.run is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    _running.callbacks = [*_running.callbacks, (_running.run, fn)]


def call_back(run: Run) -> None:
    while mine := [pair for pair in _running.callbacks if pair[0] is run]:
        _running.callbacks = [pair for pair in _running.callbacks if pair is not mine[0]]
        mine[0][1]()


def current() -> Any:
    return _running.run


class Run:
    __slots__ = (
        "__weakref__", "accumulate", "alone", "captured", "create_graph", "grads", "keep", "order", "owned",
        "pending", "raw", "reached", "shown", "targets", "watched", "ways",
    )  # fmt: skip

    def __init__(
        self, keep: bool, create_graph: bool, targets: Sequence[Any] | None, accumulate: bool, raw: bool | None = None
    ) -> None:
        self.keep = keep
        self.create_graph = create_graph
        # Where a mode sees ops, rules run on tensors; what comes of them is for arrays as ever.
        self.shown = raw is None and not create_graph and bool(state.function_modes) and bool(dispatching())
        self.raw = not (create_graph or self.shown) if raw is None else raw
        self.reached: set[Any] | None = None
        self.grads: dict[Any, Any] = {}  # edge or node -> cotangent so far (a list for nodes with several outputs)
        self.owned: set[Any] = set()  # edges whose sum the engine allocated
        self.pending: dict[Any, int] = {}  # leaf -> how many cotangents are still to come
        self.targets = None if targets is None else {_key(e) for e in targets if e is not None}
        self.captured: dict[Any, Any] = {}
        self.accumulate = accumulate
        self.ways: dict[Node, Sequence[Any]] | None = None  # node on a way to a target -> its edges that lead there
        self.watched: set[Node] = set()  # nodes with an output that is a target

    # ---------------------------------------------------------------- the pass

    def run(self, roots: Sequence[tuple[Any, Any]]) -> None:
        """Send the cotangents of `roots` ((edge, cotangent) pairs) down the graph."""
        edge = g = None
        order = self.collect([edge for edge, _ in roots])
        self.order = order
        if self.targets is not None and self.pending.keys() != self.targets:  # else every way leads to a target
            self.restrict(order, self.targets)
        for edge, g in roots:
            self.add(edge, g)
        leaves = [edge for edge, _ in roots if edge.EDGE == LEAF]
        self.alone = len(roots) == 1  # PyTorch starts at a single root, on the way or not
        # The caller's list is the last to hold these: without it a leaf may keep a cotangent without copying.
        del roots, edge, g
        was = set_record(self.create_graph)
        overriding = state.torch_function, state.function_modes, state.face_modes
        state.torch_function, state.function_modes, state.face_modes = (
            False,
            dispatching() if self.shown or self.create_graph else (),
            (),
        )  # subclasses are plain tensors here
        outer, _running.run = _running.run, self
        try:
            for leaf in leaves:
                self.leaf_seen(leaf)
            self.walk(order)
            if _running.callbacks:
                call_back(self)
        except ValueError as error:
            from .errors import said_of_shapes

            if (found := said_of_shapes(error)) is None:
                raise
            raise found from None
        finally:
            _running.run = outer
            set_record(was)
            state.torch_function, state.function_modes, state.face_modes = overriding

    def collect(self, roots: Sequence[Any]) -> list[Node]:
        """The reachable nodes, latest first; counts on the way how often each leaf is used."""
        pending = self.pending
        nodes: list[Node] = []
        seen: set[Any] = set()
        stack: list[Node] = []
        for e in roots:
            if e.EDGE == LEAF:
                pending[e] = pending.get(e, 0) + 1
            elif e.owner not in seen:
                seen.add(e.owner)
                stack.append(e.owner)
        push, pop, found, mark = stack.append, stack.pop, nodes.append, seen.add
        while stack:
            node = pop()
            found(node)
            for e in node.edges:
                if e is None:
                    continue
                kind = e.EDGE
                if kind == LEAF:
                    pending[e] = pending.get(e, 0) + 1
                    continue
                if kind == OUTPUT:
                    e = e.node
                if e not in seen:
                    mark(e)
                    push(e)
        nodes.sort(key=_by_seq, reverse=True)
        return nodes

    def will_reach(self, node: Any) -> bool:
        """Whether a node, or a leaf, is part of this pass."""
        if isinstance(node, Tensor):
            return node in self.pending and (self.targets is None or node in self.targets)
        if self.reached is None:
            self.reached = set(self.order)
        return node in self.reached and (self.ways is None or node in self.ways or node in self.watched)

    def restrict(self, order: list[Node], targets: set[Any]) -> None:
        """Find the nodes on a way to a target and the edges that lead there, so that nothing else is computed."""
        ways: dict[Node, Sequence[Any]] = {}
        for node in reversed(order):
            edges = node.edges
            hits = [_leads(e, targets, ways) for e in edges]
            if True in hits:
                if False in hits:
                    edges = tuple(e if h else None for e, h in zip(edges, hits, strict=True))
                ways[node] = edges
        self.ways = ways
        self.watched = {key[0] if type(key) is tuple else key for key in targets}
        if self.accumulate:  # such a target runs, though nobody wants what comes of it
            for node in self.watched:
                if node.EDGE != LEAF and node not in ways:
                    ways[node] = (None,) * len(node.edges)

    def walk(self, order: list[Node]) -> None:
        grads, raw, keep, owned = self.grads, self.raw, self.keep, self.owned
        pop, get, pending = grads.pop, grads.get, self.pending
        ways, watched = self.ways, self.watched
        simple = not state.watched
        for node in order:
            g = pop(node, None)
            hooks = node._hooks
            if g is not None and (hooks is not None or (watched and node in watched)):
                if ways is None or self.alone or node in ways or node in watched:
                    g = self.before(node, g)
            edges = node.edges
            wanted = edges if ways is None else ways.get(node)
            if g is None or wanted is None:
                if wanted is None or not node.runs_unasked:
                    if wanted is not None:
                        self.unreached(node)
                    self.skip(edges)
                    continue
                g = None if node.avals is None else [None] * len(node.avals)
            cots = node.apply(g, wanted, raw) if simple else self.apply_carefully(node, g, wanted)
            if not keep:
                node.release()
            if hooks is not None and hooks.post:
                cots = self.after(node, g, cots)
            g = None
            ready = None
            for e, c in zip(wanted, cots):  # noqa: B905 (a keyword costs as much as the zip)
                if e is None:
                    continue
                kind = e.EDGE
                if c is not None:
                    if kind == OUTPUT:
                        self.add(e, c)
                    else:
                        had = get(e)
                        if had is None:
                            grads[e] = c
                        elif had.__class__ is ndarray is c.__class__ and had.size > BIG and e is not NOWHERE:
                            grads[e] = big_ufunc(np.add, had, c, had if e in owned else None)
                            owned.add(e)
                        elif e in owned and had.__class__ is ndarray:
                            np.add(had, c, had)
                        elif e is not NOWHERE:  # where cotangents of any shape end
                            grads[e] = had + c
                            owned.add(e)
                if kind == LEAF:
                    left = pending[e] - 1
                    pending[e] = left
                    if not left:
                        ready = [e] if ready is None else [*ready, e]
            if wanted is not edges:
                ready = self.unwanted(edges, wanted, ready)
            if ready is not None:
                cots = c = had = None  # type: ignore[assignment]
                for e in ready:
                    self.finish_leaf(e)

    def unreached(self, node: Node) -> None:
        """A node on the way that no cotangent reached: nothing comes of it, but its hooks run, and it is spent."""
        from .saved import is_freed

        hooks, avals = node._hooks, getattr(node, "avals", None)
        g = None if avals is None else [None] * len(avals)
        if hooks is not None:
            self.before(node, g)
        if is_freed(node):
            raise freed(node)
        if hooks is not None and hooks.post:
            self.after(node, g, [None] * len(node.edges))
        if not self.keep:
            node.release()

    def skip(self, edges: Sequence[Any]) -> None:
        """Account for the cotangents that will not come from a node that does not run."""
        for e in edges:
            if e is not None and e.EDGE == LEAF:
                self.leaf_seen(e)

    def unwanted(self, edges: Sequence[Any], wanted: Sequence[Any], ready: list[Any] | None) -> list[Any] | None:
        for e, w in zip(edges, wanted, strict=True):
            if e is not None and w is None and e.EDGE == LEAF:
                self.pending[e] -= 1
                if not self.pending[e]:
                    ready = [*(ready or ()), e]
        return ready

    def apply_carefully(self, node: Node, g: Any, edges: Sequence[Any]) -> Sequence[Any]:
        from .careful import apply_node

        return apply_node(node, g, edges, self.raw)

    # ---------------------------------------------------------------- cotangents

    def add(self, edge: Any, g: Any) -> None:
        """Add a cotangent to those that have reached an edge."""
        if edge.EDGE == OUTPUT:
            slots = self.grads.get(edge.node)
            if slots is None:
                slots = self.grads[edge.node] = [None] * len(edge.node.avals)
            had = slots[edge.nr]
            slots[edge.nr] = g if had is None else had + g
        else:
            had = self.grads.get(edge)
            self.grads[edge] = g if had is None or edge is NOWHERE else had + g

    def leaf_seen(self, leaf: Tensor) -> None:
        self.pending[leaf] -= 1
        if not self.pending[leaf]:
            self.finish_leaf(leaf)

    def finish_leaf(self, leaf: Tensor) -> None:
        """All cotangents of a leaf have come: run its hooks, then accumulate or hand over."""
        grads = self.grads
        if self.targets is not None and leaf not in self.targets:
            grads.pop(leaf, None)
            return
        if leaf._extra is None:
            if leaf not in grads:
                return
            if self.accumulate:
                if self.shown or state.timer is not None:
                    self.accumulated(leaf)
                else:
                    accumulate(leaf, grads, self.raw)
            else:
                if state.timer is not None:
                    with state.timer(_EVALUATE + _LEAF):
                        pass
                self.captured[leaf] = grads.pop(leaf)
            return
        from .hooks import finish_hooked_leaf

        finish_hooked_leaf(self, leaf)

    def accumulated(self, leaf: Tensor) -> None:
        if state.timer is not None:
            with state.timer(_EVALUATE + _LEAF), state.timer(_LEAF):
                with state.timer("aten::detach" if leaf._grad is None else "aten::add_"):
                    return self._accumulated(leaf)
        self._accumulated(leaf)

    def _accumulated(self, leaf: Tensor) -> None:
        if not self.shown:
            return accumulate(leaf, self.grads, self.raw)
        self.grads[leaf] = raw(self.grads[leaf])
        modes, state.function_modes = state.function_modes, ()
        try:
            accumulate(leaf, self.grads, True)
        finally:
            state.function_modes = modes

    def before(self, node: Node, g: Any) -> Any:
        """Hooks on the incoming cotangents, and their capture for who asked for them."""
        from .hooks import before

        return before(self, node, g)

    def after(self, node: Node, g: Any, cots: Any) -> Any:
        from .hooks import after

        return after(self, node, g, cots)


_EVALUATE, _LEAF = "autograd::engine::evaluate_function: ", "torch::autograd::AccumulateGrad"


def dispatching() -> tuple[Any, ...]:
    return tuple([m for m in state.function_modes if hasattr(m, "sees_backward")])


def _leads(edge: Any, targets: set[Any], ways: dict[Node, Any]) -> bool | None:
    """Whether an edge points to a target or to a node on the way to one; None where there is no edge."""
    if edge is None:
        return None
    kind = edge.EDGE
    if kind == LEAF:
        return edge in targets
    if kind == OUTPUT:
        return edge.node in ways or (edge.node, edge.nr) in targets
    return edge in ways or edge in targets


def _key(edge: Any) -> Any:
    """What identifies the place an edge points to: two OutputEdges may name the same output."""
    return (edge.node, edge.nr) if edge.EDGE == OUTPUT else edge


# ------------------------------------------------------------------ leaves


# What a cotangent's reference count reads when only the engine's table holds it: measured, for it differs
# between versions of Python.
_TABLE = {0: np.zeros(1)}
ALONE = getrefcount(_TABLE[0])
_VIEW = np.zeros((2, 3)).T
BASE_ALONE = getrefcount(_VIEW.base)


def accumulate(leaf: Tensor, grads: dict[Any, Any], raw: bool) -> None:
    """Add the cotangent in `grads` to `leaf.grad`.

    A first gradient is taken as it is when nobody else can see its memory and it lies as the leaf does; otherwise it
    is copied. Later ones are added in place, so that `.grad` keeps its identity, unless a graph is being made.
    """
    if leaf._node is not True:  # it asks for no gradient any more
        del grads[leaf]
        if leaf._node is not None and leaf._view is None:
            raise RuntimeError("leaf variable has been moved into the graph interior")
        return
    with LOCKS[hash(leaf) & 63]:
        had = leaf._grad
        if not raw:
            c = grads.pop(leaf)
            if c.dtype is not leaf.dtype:
                c = c.to(leaf.dtype)
            leaf._grad = _copied(c, leaf) if had is None else had + c
            return
        alone = getrefcount(grads[leaf]) <= ALONE
        c = grads.pop(leaf)
        if c.__class__ is not ndarray:
            if isinstance(c, Tensor):
                return _accumulate_tensor(leaf, had, c)
            c, alone = np.asarray(c), True
        try:
            a = leaf._a
            if had is not None:
                if c.dtype is not a.dtype:
                    c = c.astype(a.dtype)
                had._v[0] += 1
                np.add(had._a, c, had._a, casting="unsafe")
                return
        except AttributeError:
            return _accumulate_tensor(leaf, had, tensor_of(c))
        if alone and c.base is not None:  # a view of memory that nobody else sees
            alone = getrefcount(c.base) <= BASE_ALONE and c.base.__class__ is ndarray and c.base.size == c.size
            alone = alone and c.base.base is None
        if (
            not alone
            or c.dtype is not a.dtype
            or (c.strides != a.strides and state.grad_layout)
            or not c.flags.writeable
        ):
            c = _copy_like(c, a)
        t = new(Tensor)
        t._a = c
        t._v = [0]
        t._node = t._view = t._grad = t._extra = None
        leaf._grad = t


# Threads may accumulate into one leaf at the same time.
LOCKS = tuple(threading.Lock() for _ in range(64))


def _accumulate_tensor(leaf: Tensor, had: Any, c: Any) -> None:
    """The same where one of them is of another layout: dense and sparse make dense."""
    if had is None:
        leaf._grad = c.clone() if hasattr(c, "_a") else c.as_gradient()
    elif hasattr(c, "_a") and not hasattr(had, "_a"):
        leaf._grad = c + had
    else:
        had.add_(c)


def _copied(c: Tensor, leaf: Tensor) -> Tensor:
    """A copy that records, laid out as the leaf is."""
    a = getattr(leaf, "_a", None)
    if a is None or getattr(c, "_a", None) is None:
        return c.clone()
    made = tensor_of(np.empty_like(a, order="K" if _dense(a) else "C", subok=False))
    return made.copy_(c)


def _copy_like(c: ndarray[Any, Any], a: ndarray[Any, Any]) -> ndarray[Any, Any]:
    """A copy of `c` that lies in memory as `a` does, if `a` is dense; else in C order."""
    if c.dtype.kind == "c" and a.dtype.kind != "c":
        c = c.real
    out = np.empty_like(a, order="K" if _dense(a) else "C", subok=False)
    out[...] = c
    return out


def _dense(a: ndarray[Any, Any]) -> bool:
    """Whether the elements fill their memory without gaps or overlaps, in whatever order of dimensions."""
    if a.flags.forc:
        return True
    step = a.itemsize
    for stride, size in sorted((s, n) for s, n in zip(a.strides, a.shape, strict=True) if n > 1):
        if stride != step:
            return False
        step *= size
    return True


# ------------------------------------------------------------------ the face


def run_backward(
    roots: Sequence[tuple[Any, Any]],
    *,
    keep: bool,
    create_graph: bool,
    targets: Sequence[Any] | None = None,
    accumulate: bool = True,
    raw_values: bool | None = None,
) -> dict[Any, Any]:
    """Run the graph from `roots`, (edge, cotangent) pairs with cotangents as tensors.

    Without `targets` every leaf accumulates. With `targets` (edges) only they are computed; they accumulate if told to,
    or else the dictionary returned holds the cotangents of those that were reached. Cotangents that are not arrays
    (batches, duals) ask for `raw_values=False`: rules then run on tensors, recorded only to create a graph.
    """
    run = Run(keep, create_graph, targets, accumulate, raw_values)
    try:
        pairs = [(e, raw(g) if run.raw else g) for e, g in roots]
    except AttributeError:  # a sparse cotangent
        pairs = [(e, getattr(g, "_a", g)) for e, g in roots]
    run.run(pairs)
    return run.captured


def captured_for(captured: dict[Any, Any], edge: Any) -> Any:
    """The cotangent of one target as a tensor, None when no way led there."""
    g = captured.get(_key(edge)) if edge is not None and edge is not NOWHERE else None
    return g if g is None or isinstance(g, Tensor) else tensor_of(g)
