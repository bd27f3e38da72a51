"""Hooks: functions that programs hang on tensors and nodes, and the handles that take them off again."""

from __future__ import annotations

import warnings
import weakref
from collections import OrderedDict
from typing import Any

from .node import NODE, Node, OutputEdge, hooks_of
from .subclass import Special
from .tensor import NOWHERE, Tensor, extra, tensor_of
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


def warn_if_has_hooks(tensor: Tensor) -> None:
    """Warn of the hooks of a tensor that saving would lose. Source: torch.utils.hooks.warn_if_has_hooks."""
    for hook in (getattr(tensor, "_backward_hooks", None) or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the "
                "function with @torch.utils.hooks.unserializable_hook to suppress this warning",
                stacklevel=2,
            )


# ------------------------------------------------------------------ the engine's part: when they run, and with what


def _shown(run: Any, g: Any) -> Any:
    """A cotangent as hooks see it: a tensor."""
    return g if g is None or isinstance(g, Tensor) else tensor_of(g)


def _back(run: Any, g: Any) -> Any:
    return getattr(g, "_a", g) if run.raw else g


def call_tensor_hook(hook: Any, g: Any) -> Any:
    """The gradient after one tensor hook; what it returns is checked as PyTorch checks it."""
    got = hook(g)
    if got is None:
        return g
    return _checked(hook, g, got)


def _checked(hook: Any, g: Any, got: Any) -> Any:
    """What a hook puts in the place of a gradient."""
    if not isinstance(got, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(got).__name__}'")
    if g is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if got.dtype is not g.dtype:
        raise RuntimeError(
            f"hook '{_hook_name(hook)}' has changed the type of value (was torch.{g.dtype.legacy}Tensor got "
            f"torch.{got.dtype.legacy}Tensor)"
        )
    if got.shape != g.shape:
        raise RuntimeError(f"hook '{_hook_name(hook)}' has changed the size of value")
    return got


def _checked_all(hook: Any, gs: list[Any], got: Any) -> list[Any]:
    """What a node's hook puts in the place of all its gradients."""
    if not isinstance(got, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(got).__name__}'")
    if len(got) != len(gs):
        raise RuntimeError(
            f"hook '{_hook_name(hook)}' has returned an incorrect number of values (got {len(got)}, but expected "
            f"{len(gs)})"
        )
    return [n if n is None else _checked(hook, g, n) for g, n in zip(gs, got, strict=True)]


def _hook_name(hook: Any) -> str:
    return getattr(hook, "__name__", repr(hook))


def before(run: Any, node: Node, g: Any) -> Any:
    """The node's incoming cotangents after tensor hooks, retained gradients and prehooks.

    A node that runs hands over what was asked for as it came; one at which the pass ends, after its tensor hooks.
    """
    several = node.EDGE == NODE and type(g) is list
    gs = list(g) if several else [g]
    runs = run.ways is None or node in run.ways
    if runs:
        _capture(run, node, gs, several)
    hooks = node._hooks
    if hooks is not None:
        if hooks.tensor_pre:
            for nr, fn in list(hooks.tensor_pre.values()):
                gs[nr] = _back(run, call_tensor_hook(fn, _shown(run, gs[nr])))
        for nr, ref in list(hooks.captures.items()):
            t = ref()
            if t is not None and gs[nr] is not None:
                retained = _shown(run, gs[nr])
                t._grad = retained.clone() if t._grad is None else t._grad + retained
        if runs and hooks.pre:
            places = _differentiable(node, gs)
            seen = [_shown(run, gs[k]) for k in places]
            for fn in list(hooks.pre.values()):
                got = fn(tuple(seen))
                if got is not None:
                    seen = _checked_all(fn, seen, got)
            for k, c in zip(places, seen, strict=True):
                gs[k] = _back(run, c)
    if not runs:
        _capture(run, node, gs, several)
    return gs if several else gs[0]


def _differentiable(node: Node, gs: list[Any]) -> list[int]:
    """The outputs that hooks see."""
    fixed = getattr(getattr(node, "op", None), "nondiff", ())
    return [k for k in range(len(gs)) if k not in fixed]


def _capture(run: Any, node: Node, gs: list[Any], several: bool) -> None:
    targets = run.targets
    if targets is None or run.accumulate:  # a target that accumulates does so as a retained gradient
        return
    for k, c in enumerate(gs):
        key = (node, k) if several else node
        if key in targets and c is not None:
            run.captured[key] = c


def after(run: Any, node: Node, g: Any, cots: Any) -> Any:
    """The node's post hooks: `fn(grad_inputs, grad_outputs)`, which may replace grad_inputs."""
    gs = g if type(g) is list else [g]
    outs = tuple([_shown(run, gs[k]) for k in _differentiable(node, gs)])
    ins = [_shown(run, c) for c in cots]
    for fn in list(node._hooks.post.values()):  # type: ignore[union-attr]
        got = fn(tuple(ins), outs)
        if got is not None:
            ins = _checked_all(fn, ins, got)
    return [_back(run, c) for c in ins]


def finish_hooked_leaf(run: Any, leaf: Tensor) -> None:
    """All cotangents of a leaf with hooks have come: tensor hooks, prehooks, accumulation, and what follows it."""
    extra: Any = leaf._extra
    node = extra.accumulate() if extra.accumulate is not None else None
    hooks = None if node is None else node._hooks
    if extra.backward_hooks or hooks is not None:
        g = _shown(run, run.grads.pop(leaf, None))
        g = g.to(extra.grad_dtype) if extra.grad_dtype and g is not None else g
        for fn in list((extra.backward_hooks or {}).values()):
            g = call_tensor_hook(fn, g)
        if hooks is not None and run.accumulate:
            for fn in list(hooks.pre.values()):
                got = fn((g,))
                if got is not None:
                    (g,) = _checked_all(fn, [g], got)
        if g is not None:
            run.grads[leaf] = _back(run, g)
        g = None if hooks is None or not hooks.post else g
    come = leaf in run.grads
    if not run.accumulate:
        if come:
            run.captured[leaf] = run.grads.pop(leaf)
        return
    if come:
        run.accumulated(leaf)
    if extra.grad_dtype and leaf._grad is not None:
        leaf._grad = leaf._grad.to(extra.grad_dtype)
    for fn in list((extra.post_hooks or {}).values()):
        got = fn(leaf)
        if isinstance(got, Tensor):
            if got is not leaf:
                raise RuntimeError("Tensor post accumulate grad hooks should return None.")
        elif got is not None:
            raise TypeError(f"expected Variable, but hook returned '{type(got).__name__}'")
    if hooks is not None:
        for fn in list(hooks.post.values()):
            got = fn((), (g,))
            if got is not None:
                _checked_all(fn, [], got)
