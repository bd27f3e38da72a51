"""Recording and running with more than usual care: anomaly mode, saved-tensor hooks, inference mode."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from typing import Any

import numpy as np

from .modes import state
from .node import Node
from .tensor import Tensor, tensor_of


def recorded(node: Any, outs: Sequence[Tensor]) -> None:
    """What a new node needs in a careful mode: where it was made, and its saved values packed by hooks."""
    if state.anomaly:
        node.metadata["traceback_"] = traceback.format_list(traceback.extract_stack(sys._getframe(2)))
    if state.saved_hooks:
        pack_saved(node)


class Packed:
    """A saved value as a hook's pack left it."""

    __slots__ = ("output", "packed", "unpack")

    def __init__(self, packed: Any, unpack: Any, output: int | None) -> None:
        self.packed, self.unpack, self.output = packed, unpack, output


def pack_saved(node: Any) -> None:
    """Pass what the node saved through the innermost saved-tensor hooks."""
    pack, unpack = state.saved_hooks[-1]
    versions = []
    for k, cell, version, output in node.versions:
        x = node.saved[k]
        if type(x) is list:
            versions.append((k, cell, version, output))
            continue
        was, state.saved_hooks = state.saved_hooks, ()
        state.refresh()
        try:
            t = x if isinstance(x, Tensor) else tensor_of(x)
            if output is not None:
                t._v = cell
            packed = pack(t if output is None else t)
        finally:
            state.saved_hooks = was
            state.refresh()
        node.saved[k] = Packed(packed, unpack, output)
    node.versions = versions
    node.__dict__["packed_"] = True


def apply_with_anomaly(node: Node, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
    """Run a node, and raise if a cotangent that it makes is NaN."""
    try:
        cots = node.apply(g, edges, raw)
    except RuntimeError as e:
        _show_forward(node, e)
        raise
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
