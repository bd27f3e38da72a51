"""Recording and running with more than usual care: anomaly mode, saved-tensor hooks, inference mode."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Sequence
from typing import Any

import numpy as np

from .modes import set_record, state
from .node import Node
from .tensor import Tensor, tensor_of


def recorded(node: Any, outs: Sequence[Tensor]) -> None:
    """What a new node needs in a careful mode: where it was made, and its saved values packed by hooks."""
    if state.anomaly:
        trace(node)
    if state.saved_hooks:
        pack_saved(node)


class _Running(threading.local):
    node: Any = None  # the node that runs in anomaly mode


_running = _Running()


def trace(node: Any) -> None:
    """Note where a node is made, and the node whose backward makes it."""
    node.metadata["traceback_"] = traceback.format_list(traceback.extract_stack(sys._getframe(2)))
    if _running.node is not None:
        node.metadata["parent_"] = _running.node


class Packed:
    """A saved value as a hook packed it, and its place in the graph, to which it returns when unpacked."""

    __slots__ = ("edge", "packed", "unpack")

    def __init__(self, x: Tensor, edge: Any, hooks: Any = None) -> None:
        pack, self.unpack = hooks or state.saved_hooks[-1]
        self.edge = edge
        was_hooks, state.saved_hooks = state.saved_hooks, ()
        was_grad = set_record(False)
        state.refresh()
        try:
            alias = tensor_of(x._a)
            alias._v, alias._node = x._v, x._node
            version = alias._v[0]
            self.packed = pack(alias)
            if alias._v[0] != version:
                raise RuntimeError(
                    "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook "
                    "cannot be modified by in-place operations as this can lead to unexpected side-effects. Please open an "
                    "issue if you need to perform in-place operations on the input to a pack hook."
                )
        finally:
            state.saved_hooks = was_hooks
            set_record(was_grad)
            state.refresh()

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


def pack_saved(node: Any) -> None:
    """Pass what the node saved through the innermost saved-tensor hooks."""
    edges = node.op.edges_of_sources(node.edges)
    packed = []
    for k, cell, version, output in node.versions:
        x = node.saved[k]
        if k in packed:
            continue
        packed.append(k)
        if type(x) is list:
            node.saved[k] = [Packed(v, e) for v, e in zip(x, edges[k], strict=True)]
        elif output is None:
            node.saved[k] = Packed(x, edges[k])
        else:
            node.saved[k] = Packed(node._output(x, cell, output), (output,))
    node.versions = [(k, [0], 0, None) for k in packed]


def apply_with_anomaly(node: Node, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
    """Run a node, and raise if a cotangent that it makes is NaN."""
    outer, _running.node = _running.node, node
    try:
        cots = node.apply(g, edges, raw)
    except Exception as e:
        _show_forward(node, e)
        raise
    finally:
        _running.node = outer
    if state.check_nan:
        for k, (e, c) in enumerate(zip(edges, cots, strict=False)):
            a = c._a if isinstance(c, Tensor) else c
            if e is not None and a is not None and np.isnan(np.sum(a)) and np.isnan(a).any():
                error = RuntimeError(f"Function '{node.name()}' returned nan values in its {k}th output.")
                _show_forward(node, error)
                raise error
    return cots


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
