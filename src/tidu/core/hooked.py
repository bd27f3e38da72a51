"""The engine's part in hooks: when they run, and with what. Away from the engine's own loop, which seldom needs it."""

from __future__ import annotations

from typing import Any

from .modes import state
from .node import NODE, Node
from .tensor import Tensor, tensor_of


def _shown(run: Any, g: Any) -> Any:
    """A cotangent as hooks see it: a tensor."""
    return g if g is None or isinstance(g, Tensor) else tensor_of(g)


def _back(run: Any, g: Any) -> Any:
    return g._a if run.raw and isinstance(g, Tensor) else g


def call_tensor_hook(hook: Any, g: Tensor) -> Tensor:
    """The gradient after one tensor hook; what it returns is checked as PyTorch checks it."""
    got = hook(g)
    if got is None:
        return g
    if not isinstance(got, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(got).__name__}'")
    if got.dtype is not g.dtype:
        raise RuntimeError(f"hook '{_hook_name(hook)}' has changed the type of value")
    if got.shape != g.shape:
        raise RuntimeError(f"hook '{_hook_name(hook)}' has changed the size of value")
    return got


def _hook_name(hook: Any) -> str:
    return getattr(hook, "__name__", repr(hook))


def before(run: Any, node: Node, g: Any) -> Any:
    """The node's incoming cotangents: tensor hooks, capture for `inputs=`, retained gradients, prehooks."""
    several = node.EDGE == NODE and type(g) is list
    gs = list(g) if several else [g]
    hooks = node._hooks
    if hooks is not None:
        for nr, fn in list(hooks.tensor_pre.values()):
            if gs[nr] is not None:
                gs[nr] = _back(run, call_tensor_hook(fn, _shown(run, gs[nr])))
    targets = run.targets
    if targets is not None:
        for k, c in enumerate(gs):
            key = (node, k) if several else node
            if key in targets and c is not None:
                run.captured[key] = c
    if hooks is not None:
        for nr, ref in list(hooks.captures.items()):
            t = ref()
            if t is not None and gs[nr] is not None and targets is None:
                retained = _shown(run, gs[nr])
                t._grad = retained.clone() if t._grad is None else t._grad + retained
        for fn in list(hooks.pre.values()):
            got = fn(tuple(_shown(run, c) for c in gs))
            if got is not None:
                got = got if isinstance(got, tuple) else (got,)
                gs = [_back(run, c) for c in got]
    if targets is not None and run.accumulate and hooks is None:
        pass
    return gs if several else gs[0]


def after(run: Any, node: Node, g: Any, cots: Any) -> Any:
    """The node's post hooks: `fn(grad_inputs, grad_outputs)`, which may replace grad_inputs."""
    outs = tuple(_shown(run, c) for c in (g if type(g) is list else [g]))
    for fn in list(node._hooks.post.values()):  # type: ignore[union-attr]
        got = fn(tuple(_shown(run, c) for c in cots), outs)
        if got is not None:
            got = got if isinstance(got, tuple) else (got,)
            cots = [_back(run, c) for c in got]
    return cots


def leaf_hooks_before(run: Any, leaf: Tensor) -> None:
    """Tensor hooks and prehooks of a leaf, on the sum of its cotangents."""
    extra = leaf._extra
    node = extra.accumulate() if extra.accumulate is not None else None  # type: ignore[union-attr]
    if not extra.backward_hooks and (node is None or node._hooks is None):  # type: ignore[union-attr]
        return
    g = _shown(run, run.grads[leaf])
    for fn in list((extra.backward_hooks or {}).values()):  # type: ignore[union-attr]
        g = call_tensor_hook(fn, g)
    if node is not None and node._hooks is not None:
        for nr, fn in list(node._hooks.tensor_pre.values()):
            g = call_tensor_hook(fn, g)
        for fn in list(node._hooks.pre.values()):
            got = fn((g,))
            if got is not None:
                g = got[0] if isinstance(got, tuple) else got
    run.grads[leaf] = _back(run, g)


def leaf_hooks_after(leaf: Tensor) -> None:
    """Hooks that run once a leaf's gradient has been accumulated."""
    extra = leaf._extra
    for fn in list((extra.post_hooks or {}).values()):  # type: ignore[union-attr]
        fn(leaf)
    node = extra.accumulate() if extra.accumulate is not None else None  # type: ignore[union-attr]
    if node is not None and node._hooks is not None:
        for fn in list(node._hooks.post.values()):
            fn((), (leaf._grad,))


__all__ = ["after", "before", "call_tensor_hook", "leaf_hooks_after", "leaf_hooks_before", "state"]
