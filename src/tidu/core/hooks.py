"""Hooks: functions that programs hang on tensors and nodes, and the handles that take them off again."""

from __future__ import annotations

import warnings
import weakref
from collections import OrderedDict
from typing import Any

from .dispatch import Special
from .node import Node, OutputEdge, accumulate_grad, hooks_of
from .tensor import NOWHERE, Tensor, extra
from .views import live_node


class RemovableHandle:
    """What registering a hook returns; `remove()` takes the hook off. Source: torch.utils.hooks.RemovableHandle."""

    next_id = 0

    def __repr__(self) -> str:
        return f"<torch.utils.hooks.RemovableHandle object at {id(self):#x}>"

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        self.extra_dict_ref: tuple[Any, ...] = ()
        if isinstance(extra_dict, dict):
            self.extra_dict_ref = (weakref.ref(extra_dict),)
        elif isinstance(extra_dict, list):
            self.extra_dict_ref = tuple(weakref.ref(d) for d in extra_dict)

    def remove(self) -> None:
        for ref in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = ref()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __getstate__(self) -> Any:
        hooks = self.hooks_dict_ref()
        return (
            (hooks, self.id, tuple(ref() for ref in self.extra_dict_ref)) if self.extra_dict_ref else (hooks, self.id)
        )

    def __setstate__(self, state: Any) -> None:
        hooks, self.id = state[:2]
        self.hooks_dict_ref = weakref.ref(OrderedDict() if hooks is None else hooks)
        others = state[2] if len(state) > 2 else ()
        self.extra_dict_ref = tuple(weakref.ref(OrderedDict() if d is None else d) for d in others or ())
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.remove()


def add_hook(hooks: OrderedDict[int, Any], fn: Any) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = fn
    return handle


def register_hook(self: Tensor, hook: Any) -> RemovableHandle:
    """Call `hook(grad)` whenever the gradient of the tensor is computed; what it returns replaces it. Source:
    torch.Tensor.register_hook."""
    node = live_node(self)
    if node is None:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if node is True or node is NOWHERE:
        x = extra(self)
        if x.backward_hooks is None:
            x.backward_hooks = OrderedDict()
        return add_hook(x.backward_hooks, hook)
    return add_hook(hooks_of(node.owner).tensor_pre, (node.nr, hook))


def register_post_accumulate_grad_hook(self: Tensor, hook: Any) -> RemovableHandle:
    """Call `hook(tensor)` after the gradient of a leaf has been accumulated. Source:
    torch.Tensor.register_post_accumulate_grad_hook."""
    node = live_node(self)
    if node is None:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if node is not True and node is not NOWHERE:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    x = extra(self)
    if x.post_hooks is None:
        x.post_hooks = OrderedDict()
    return add_hook(x.post_hooks, hook)


def retain_grad(t: Tensor) -> None:
    """Keep the gradient of a non-leaf in `.grad` too. Source: torch.Tensor.retain_grad."""
    node = live_node(t)
    if node is None:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if node is True or node is NOWHERE or t.retains_grad:
        return
    extra(t).retains = True
    hooks_of(node.owner).captures[node.nr] = weakref.ref(t)


def move_captures(t: Tensor, old: Any) -> None:
    """After an in-place op a retained gradient is that of the new value."""
    if t._extra is not None and t._extra.retains and old is not None and old is not True:
        hooks = old.owner._hooks
        if hooks is not None:
            hooks.captures.pop(old.nr, None)
        new = t._node
        hooks_of(new.owner).captures[new.nr] = weakref.ref(t)


def leaf_hooks(leaf: Tensor) -> bool:
    """Whether anything hangs on a leaf: its own hooks, or those of its AccumulateGrad."""
    x = leaf._extra
    if x is None:
        return False
    if x.backward_hooks or x.post_hooks:
        return True
    node = None if x.accumulate is None else x.accumulate()
    return node is not None and node._hooks is not None


def as_edge(x: Any) -> Any:
    """The edge that a tensor, a Node or a GradientEdge stands for."""
    while isinstance(x, Special) and hasattr(x, "primal"):  # a dual number has the history of its value
        x = x.primal
    if isinstance(x, Tensor):
        node = live_node(x)
        return x if node is True else node
    node, nr = x[0], x[1]
    if hasattr(node, "variable"):
        return node.variable
    return node if getattr(node, "avals", None) is None else OutputEdge(node, nr)


__all__ = [
    "Node", "RemovableHandle", "accumulate_grad", "add_hook", "as_edge", "leaf_hooks", "move_captures",
    "register_hook", "register_post_accumulate_grad_hook", "retain_grad",
]  # fmt: skip


def warn_if_has_hooks(tensor: Tensor) -> None:
    """Warn of the hooks of a tensor that saving would lose. Source: torch.utils.hooks.warn_if_has_hooks."""
    for hook in (getattr(tensor, "_backward_hooks", None) or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the "
                "function with @torch.utils.hooks.unserializable_hook to suppress this warning",
                stacklevel=2,
            )
