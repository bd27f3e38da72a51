"""Recording and running with more than usual care: anomaly mode, saved-tensor hooks, inference mode."""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from .modes import CAREFUL, state
from .node import Node
from .tensor import Tensor, raw, tensor_of


def recorded(node: Any, outs: Sequence[Tensor]) -> None:
    """What a new node needs in a careful mode: where it was made, and its saved values packed by hooks."""
    if state.anomaly or state.debug:
        trace(node)
    if state.saved_hooks:
        pack_saved(node)


class _Running(threading.local):
    node: Any = None  # the node that runs in anomaly mode


_running = _Running()


def trace(node: Any) -> None:
    """Note where a node is made, and the node whose backward makes it."""
    lines = here() if state.debug else _call()
    node.metadata["traceback_"] = lines
    if _running.node is not None:
        node.metadata["parent_"] = _running.node


class Packed:
    """A saved value as a hook packed it, and its place in the graph, to which it returns when unpacked."""

    __slots__ = ("edge", "packed", "unpack")

    def __init__(self, x: Tensor, edge: Any, hooks: Any) -> None:
        pack, self.unpack = hooks
        self.edge = edge
        alias = tensor_of(x._a)
        alias._node = x._node
        cell = alias._v = x._v
        before = cell[0]
        self.packed = pack(alias)
        if cell[0] != before:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook "
                "cannot be modified by in-place operations as this can lead to unexpected side-effects. Please open an "
                "issue if you need to perform in-place operations on the input to a pack hook."
            )

    def value(self, raw: bool) -> Any:
        """The value again: an array, or a tensor where it was in the graph."""
        t = self.unpack(self.packed)
        if not isinstance(t, Tensor):
            raise TypeError(
                f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type(t).__name__}"
            )
        if raw:
            return t._a
        placed = tensor_of(t._a)
        placed._node = self.edge
        return placed


_NEVER = [0]  # the version cell of what is packed: nobody writes it


def hooks_off() -> tuple[Any, ...]:
    """Record nothing, for hooks are about to run; what was."""
    was = state.saved_hooks, state.grad, state.record
    state.saved_hooks, state.grad, state.record = (), False, CAREFUL if state.inference else False
    return was


def pack(x: Tensor, edge: Any, hooks: Any) -> Packed:
    """Pass a value with its place in the graph through a pair of hooks, which are not themselves recorded."""
    was = hooks_off()
    try:
        return Packed(x, edge, hooks)
    finally:
        state.saved_hooks, state.grad, state.record = was


def pack_saved(node: Any) -> None:
    """Pass what the node saved through the innermost saved-tensor hooks."""
    op, saved, versions = node.op, node.saved, node.versions
    if not versions:
        return
    edges = op.edges_of_sources(node.edges)
    if len(versions) > 1:  # PyTorch's order: by name, a list's values under one
        ranks = op.ranks
        versions = sorted({v[0]: v for v in versions}.values(), key=lambda v: ranks[v[0]])
    hooks = state.saved_hooks[-1]
    was = hooks_off()
    try:
        for k, cell, _, output in versions:
            x = saved[k]
            if type(x) is list:
                places = edges.get(k) or [None] * len(x)
                saved[k] = [Packed(v, e, hooks) for v, e in zip(x, places, strict=True)]
            elif output is None:
                saved[k] = Packed(x, edges.get(k), hooks)
            else:
                saved[k] = Packed(node._output(x, cell, output), (output,), hooks)
    finally:
        state.saved_hooks, state.grad, state.record = was
    node.versions = [(v[0], _NEVER, 0, None) for v in versions]


def apply_node(node: Node, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
    """Run a node where somebody watches: a profiler, anomaly mode, or `masked_zeros`."""
    outer, _running.node = _running.node, node
    try:
        apply = node.apply if not state.masked else functools.partial(_apply_masked, node)
        cots = apply(g, edges, raw) if state.timer is None else _timed(node, apply, g, edges, raw)
    except Exception as e:
        if state.anomaly:
            _show_forward(node, e)
        raise
    finally:
        _running.node = outer
    if state.anomaly and state.check_nan:
        _check_cotangents(node, g, edges, cots)
    return cots


def _timed(node: Node, apply: Any, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
    with state.timer(f"autograd::engine::evaluate_function: {node.name()}"), state.timer(node.name()):
        return apply(g, edges, raw)


def _apply_masked(node: Any, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
    """Run a node for `masked_zeros`; before cotangents are summed back over what was broadcast, where there is that."""
    from copy import copy

    from .broadcast import sum_to
    from .elementwise_nodes import BinaryNode

    shapes = node.shapes if isinstance(node, BinaryNode) else None
    if shapes is None:
        return _masked(g, node.apply(g, edges, raw))
    unsummed = copy(node)  # another thread may be running the node
    unsummed.shapes = None
    cots = _masked(g, unsummed.apply(g, edges, raw))
    return [c if c is None else sum_to(c, s) for c, s in zip(cots, shapes, strict=True)]


def _masked(g: Any, cots: Sequence[Any]) -> Sequence[Any]:
    """Zero where a product of zero and infinity made NaN of a cotangent that was none."""
    if type(g) is list:
        return cots
    made = []
    for c in cots:
        if c is not None and tuple(c.shape) == tuple(g.shape):
            a, b = getattr(c, "_a", c), getattr(g, "_a", g)
            if isinstance(a, (np.ndarray, np.generic)) and isinstance(b, (np.ndarray, np.generic)):
                wrong = np.isnan(a) & ((b == 0) | np.isinf(b))
                if wrong.any():
                    c = np.where(wrong, a.dtype.type(0), a) if c is a else c.masked_fill(tensor_of(wrong), 0)
            elif isinstance(a, Tensor) or isinstance(b, Tensor):  # a value of a transform
                v, w = (tensor_of(u) if isinstance(u, np.ndarray) else u for u in (c, g))
                c = v.masked_fill(v.isnan() & ((w == 0) | w.isinf()), 0)
        made.append(c)
    return made


def _check_cotangents(node: Node, g: Any, edges: Sequence[Any], cots: Sequence[Any]) -> None:
    """Raise if a cotangent that a node made is NaN (or infinite, where that is asked for)."""
    for k, (e, c) in enumerate(zip(edges, cots, strict=False)):
        a = getattr(c, "_a", c)
        if e is None or not isinstance(a, (np.ndarray, np.generic)):  # that of a scalar may be a NumPy scalar
            continue
        a = np.asarray(a)
        wrong = _wrong(a)
        if wrong is None:
            continue
        error = RuntimeError(f"Function '{node.name()}' returned {_kind(a, wrong)} values in its {k}th output.")
        error.add_note(f"  note: {_places(a, wrong)}; the cotangent that it was given: {_summary(g)}.")
        _show_forward(node, error)
        raise error


def _wrong(a: Any) -> Any:
    """Where an array is NaN (or infinite), None if nowhere."""
    if a.dtype.kind not in "fcV" or np.isfinite(np.sum(a)):
        return None
    wrong = ~np.isfinite(a) if state.check_inf else np.isnan(a)
    return wrong if wrong.any() else None


def _kind(a: Any, wrong: Any) -> str:
    return "nan" if np.isnan(a).any() else "infinite"


def _places(a: Any, wrong: Any) -> str:
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{int(wrong.sum())} of {a.size} values, of shape {a.shape}, the first at index {first}"


def _summary(g: Any) -> str:
    parts = []
    for v in g if isinstance(g, (list, tuple)) else [g]:
        a = getattr(v, "_a", v)
        a = np.asarray(a) if isinstance(a, np.generic) else a
        if isinstance(a, np.ndarray) and a.size and a.dtype.kind in "fiub":
            parts.append(f"shape {a.shape}, from {a.min():g} to {a.max():g}")
        elif isinstance(a, np.ndarray):
            parts.append(f"shape {a.shape}")
    return "; ".join(parts) or "none"


def check_made(name: str, given: Sequence[Any], result: Any) -> None:
    """Raise if an op made a value that is NaN (or infinite) of values that were not."""
    outs = result if isinstance(result, (tuple, list)) else [result]
    for k, o in enumerate(outs):
        for what, a in _arrays(o):
            wrong = _wrong(a)
            if wrong is None:
                continue
            kind = _kind(a, wrong)
            before = [
                v for g in given for v in ([b for _, b in _arrays(g)] if isinstance(g, (Tensor, list, tuple)) else [g])
                if isinstance(v, (np.ndarray, float))
            ]  # fmt: skip
            seen = np.isnan if kind == "nan" else np.isinf
            if any(np.asarray(v).dtype.kind in "fcV" and seen(v).any() for v in before):
                continue
            error = RuntimeError(f"Function '{name}' made {kind} values in {what}its {k}th result.")
            error.add_note(f"  note: {_places(a, wrong)}; made of: {_summary(before)}; called at\n{''.join(here())}")
            raise error


def _arrays(v: Any) -> list[tuple[str, Any]]:
    if isinstance(v, (list, tuple)):
        return [pair for u in v for pair in _arrays(u)]
    if hasattr(v, "tangent"):
        return _arrays(v.primal) + [("the tangent of ", a) for _, a in _arrays(v.tangent)]
    if hasattr(v, "value"):
        return _arrays(v.value)
    return [("", raw(v))] if isinstance(v, Tensor) else []


class _Watch:
    """The mode that looks at what each op makes, where anomaly mode looks at results too."""

    def _run(self, op: Any, run: Any, args: Sequence[Any], given: Sequence[Any]) -> Any:
        was = state.function_modes
        state.function_modes = was[:-1]
        try:
            result = run(*args)
            if state.check_forward:
                check_made(op.node_name, given, result)
            return result
        finally:
            state.function_modes = was

    def dispatch(self, op: Any, args: Sequence[Any]) -> Any:
        return self._run(op, op.call, args, args)

    def dispatch_inplace(self, op: Any, args: Sequence[Any]) -> Any:
        from .inplace import inplace

        before = [v.detach().clone() if isinstance(v, Tensor) else v for v in args]
        return self._run(op, inplace(op), args, before)


WATCH = _Watch()


# ------------------------------------------------------------------ who wrote

_writes: dict[int, tuple[Any, dict[int, list[str]]]] = {}  # id of a version cell -> it, and where it was moved


def here() -> list[str]:
    """Where the program is, without the library's own lines."""
    import traceback

    inside = __name__.rpartition(".core")[0].replace(".", "/")
    return [
        line for line in traceback.format_list(traceback.extract_stack(sys._getframe(1)))
        if f"/{inside}/" not in line.partition(",")[0]
    ]  # fmt: skip


def _call() -> list[str]:
    """Where the program is, down to the call of an op: the library's lines within that say nothing."""
    import traceback

    frames = traceback.extract_stack(sys._getframe(2))
    while len(frames) > 1 and frames[-1].filename.startswith(_INSIDE):
        frames.pop()
    starts = max((i + 1 for i, f in enumerate(frames) if f.filename == _RUNNER), default=0)
    return traceback.format_list(frames[starts:])


_PACKAGE = os.path.dirname(os.path.dirname(__file__))
_RUNNER = os.path.join(_PACKAGE, "cli.py")
_INSIDE = tuple(os.path.join(_PACKAGE, part, "") for part in ("core", "ops", "autograd"))


def note_write(cell: list[int]) -> None:
    """Note where memory is written, for the error of who needs what was there."""
    _writes.setdefault(id(cell), (cell, {}))[1][cell[0]] = here()[-1:]


def writes_since(cell: list[int], version: int) -> list[str]:
    """Where the writes were that moved a version, as far as noted."""
    _, seen = _writes.get(id(cell), (None, {}))
    return [line for v, lines in sorted(seen.items()) if v > version for line in lines]


def forget_writes() -> None:
    _writes.clear()


def _show_forward(node: Node, error: BaseException) -> None:
    import warnings

    lines = node.metadata.get("traceback_")
    if lines is None:
        warnings.warn(
            f"Error detected in {node.name()}. No forward pass information available. Enable detect anomaly during "
            "forward pass for more information.",
            UserWarning,
            stacklevel=4,
        )
    else:
        text = "".join(lines)
        warnings.warn(
            f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n{text}",
            UserWarning,
            stacklevel=4,
        )
        error.add_note(f"  note: the forward call that made {node.name()}:\n{text}")
    parent = node.metadata.get("parent_")
    while parent is not None:
        lines = parent.metadata.get("traceback_")
        told = (
            "No forward pass information available.\n"
            if lines is None
            else f"Traceback of forward call that induced the previous calculation:\n{''.join(lines)}"
        )
        warnings.warn(f"\n\nPrevious calculation was induced by {parent.name()}. {told}", UserWarning, stacklevel=4)
        parent = parent.metadata.get("parent_")
