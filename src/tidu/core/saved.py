"""What a node saved, as users look at it: `node._saved_self`, `node._raw_saved_result.register_hooks(...)`.

A saved value has PyTorch's name: the first input is `self`, an output `result`, a shape `self_sym_sizes`, any other
argument its own name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .careful import Packed, pack
from .node import Node, freed
from .tensor import Tensor, tensor_of


def shown_name(op: Any, source: str) -> str:
    """PyTorch's name of what an op's rules call `source`."""
    if source == "out":
        return "result"
    if op.name.partition(".")[0] in ("pow", "rpow", "square") and source in _POWERS:
        return "self" if source == "base" else "exponent" if source == "other" or "base" in op.params else "self"
    if source[:3] == "out" and source[3:].isdigit():
        return op.result.fields[int(source[3:])] if hasattr(op.result, "fields") else "result" + source[3:]
    base, _, what = source.rpartition("_")
    if what == "shape":
        return shown_name(op, base) + "_sym_sizes"
    return "self" if source == "input" and not op.node_name.startswith(("Native", "Convolution")) else source


def names(node: Node) -> list[str]:
    """The attributes under which a node shows what it saved."""
    op = node.op
    shown = {shown_name(op, source): (k, source) for k, source in enumerate(getattr(op, "sources", ()))}
    for name in ("_sym_sizes", "memory_format", "size"):
        shown.pop(name, None)
    if {"self", "result"} & set(shown) or hasattr(op, "ufunc") or getattr(op, "name", "") in _SIZELESS:
        # rules use sizes where PyTorch's do not
        shown = {name: at for name, at in shown.items() if not name.endswith("_sym_sizes")}
    found = [] if _constant(node) is None else ["_saved_" + _constant(node)[0]]  # type: ignore[index]
    for name, (k, source) in shown.items():
        try:
            kept = (node.saved or {k: None})[k] if hasattr(node, "saved") else _slot(node, source)
        except (AttributeError, IndexError, ValueError):
            continue
        found.append("_saved_" + name)
        if kept is None or isinstance(kept, (Tensor, Packed, np.ndarray)):
            found.append("_raw_saved_" + name)
    return found


def _constant(node: Any) -> tuple[str, int] | None:
    """What PyTorch's node shows that none needs here: the power 2 written by itself, the factor of a sum."""
    name = getattr(node.op, "name", "")
    return ("exponent", 2) if name == "square" else ("alpha", 1) if name in ("add", "sub") else None


_POWERS = ("input", "other", "base")
_SIZELESS = frozenset("cat clone gather permute stack t transpose unsqueeze where".split())


def look_up(node: Node, attribute: str) -> Any:
    """The value of an attribute `_saved_...` or `_raw_saved_...`; AttributeError if the node's op saves no such thing."""
    raw = attribute.startswith("_raw_saved_")
    name = attribute.removeprefix("_raw_saved_" if raw else "_saved_")
    op = node.op
    if (constant := _constant(node)) and constant[0] == name and not raw:
        return constant[1]
    for k, source in enumerate(getattr(op, "sources", ())):
        if shown_name(op, source) == name:
            try:
                return SavedTensor(node, k, source) if raw else value(node, k, source)
            except (AttributeError, IndexError, ValueError):
                break
    raise AttributeError(f"'{type(node).__name__}' object has no attribute '{attribute}'")


def value(node: Any, k: int, source: str) -> Any:
    """A saved value, checked to be as it was: a tensor in its place in the graph, or an argument."""
    if hasattr(node, "saved"):
        return _plain(node.values(False)[k])
    if is_freed(node):
        raise freed(node)
    if packed := node.__dict__.get("hooked_", {}).get(k):
        return packed.value(False)
    got = _slot(node, source)
    if got is None and (hasattr(node, "saved_slot") or hasattr(type(node), source)):
        raise freed(node)
    if source == "out" and got is not None:
        t = tensor_of(got)
        t._v, t._node = node.cell, node
        return t
    if source == "other" and isinstance(got, np.ndarray):  # 3 and 3. are kept alike
        return tensor_of(int(got) if got == got.astype(np.int64) else np.float64(got))
    return _plain(got)


_SPENT = ("saved", "versions", "version", "x_version", "index", "indices", "condition", "target")


def is_freed(node: Any) -> bool:
    return any(getattr(node, slot, 0) is None for slot in _SPENT)


def _slot(node: Any, source: str) -> Any:
    """What a node of a hot path has in the place of a source."""
    params = node.op.params
    if hasattr(node, "saved_slot"):
        return node.saved_slot(source)
    if source == "out" or hasattr(type(node), source):
        return getattr(node, source)
    if source == params[0]:
        return node.x
    if source.endswith("_shape"):
        return node.shape if hasattr(node, "shape") else node.x
    if source == params[1] and hasattr(node, "y"):
        return node.y
    return node.args[range(len(node.args))[params.index(source) - len(params)]]


def _plain(x: Any) -> Any:
    """Numbers that were saved as arrays as numbers again."""
    return x.item() if isinstance(x, np.ndarray) and not x.ndim else x


class SavedTensor:
    """A tensor that a node saved. Source: torch._C._autograd.SavedTensor."""

    __module__ = "torch._C._autograd"

    def __init__(self, node: Node, k: int, source: str) -> None:
        self.node, self.k, self.source = node, k, source

    def register_hooks(self, *hooks: Callable[[Any], Any]) -> None:
        """Pass the value through the first hook now, and what that gives through the second when the node runs."""
        if len(hooks) != 2 or not all(callable(h) for h in hooks):
            raise TypeError(
                "register_hooks(): incompatible function arguments. The following argument types are supported:\n"
                "    1. (self: torch._C._autograd.SavedTensor, arg0: collections.abc.Callable, arg1: "
                "collections.abc.Callable) -> None\n\nInvoked with: " + ", ".join(map(repr, (self, *hooks)))
            )
        node: Any = self.node
        hooked = node.__dict__.setdefault("hooked_", {})
        if self._packed() and not is_freed(node):
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks "
                "is allowed at a time."
            )
        try:
            t = value(node, self.k, self.source)
        except RuntimeError:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph "
                "are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward "
                "through the graph a second time or if you need to access saved variables after calling backward."
            ) from None
        edge = t if t._node is True else t._node
        if hasattr(node, "saved"):
            output = next((o for k, _, _, o in node.versions if k == self.k), None)
            hooked[self.k] = node.saved[self.k] = pack(t, edge if output is None else (output,), hooks)
            node.versions = [(k, [0], 0, None) if k == self.k else (k, c, v, o) for k, c, v, o in node.versions]
        else:
            packed = hooked[self.k] = pack(t, edge, hooks)
            _run_unpacked(node, self.source, packed)

    @property
    def data(self) -> Any:
        """What is kept: the tensor, or what a hook made of it; None once freed."""
        if is_freed(self.node):
            return None
        if packed := self._packed():
            return packed.packed
        t = value(self.node, self.k, self.source)
        return t if t.is_leaf else t.detach()

    @property
    def unpack_hook(self) -> Any:
        """The hook that makes the tensor again, None without one."""
        packed = self._packed()
        return packed.unpack if packed and not is_freed(self.node) else None

    def _packed(self) -> Packed | None:
        saved = getattr(self.node, "saved", None)
        kept = saved[self.k] if saved else None
        return kept if isinstance(kept, Packed) else self.node.__dict__.get("hooked_", {}).get(self.k)

    def __repr__(self) -> str:
        return f"<torch._C._autograd.SavedTensor object at {id(self):#x}>"


def _run_unpacked(node: Any, source: str, packed: Packed) -> None:
    """Let a node of a hot path, which keeps its values in slots, fill one just before it runs."""
    slot = "out" if source == "out" else "x" if source == node.op.params[0] else "y"
    apply = node.apply
    setattr(node, slot, tensor_of(np.empty(0)) if slot != "out" else np.empty(0))  # the value is the hook's now

    def unpacked(g: Any, edges: Any, raw: bool) -> Any:
        t = packed.value(raw)
        if slot == "out":
            setattr(node, slot, t if raw else t._a)
        else:
            if raw:
                t = tensor_of(t)
            t._v = _known_version(node, slot)
            setattr(node, slot, t)
        return apply(g, edges, raw)

    node.apply = unpacked


def _known_version(node: Any, slot: str) -> list[int]:
    """A version cell that is as the node expects."""
    versions = getattr(node, "versions", None)
    return [node.version if versions is None else versions[slot == "y"]]
