"""The engine's part in hooks: when they run, and with what. Away from the engine's own loop, which seldom needs it."""

from __future__ import annotations

from typing import Any

from .node import NODE, Node
from .tensor import Tensor, tensor_of


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
            seen = [_shown(run, c) for c in gs]
            for fn in list(hooks.pre.values()):
                got = fn(tuple(seen))
                if got is not None:
                    seen = _checked_all(fn, seen, got)
            gs = [_back(run, c) for c in seen]
    if not runs:
        _capture(run, node, gs, several)
    return gs if several else gs[0]


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
    outs = tuple(_shown(run, c) for c in (g if type(g) is list else [g]))
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
        g = _shown(run, run.grads.pop(leaf))
        g = g.to(extra.grad_dtype) if extra.grad_dtype else g
        for fn in list((extra.backward_hooks or {}).values()):
            g = call_tensor_hook(fn, g)
        if hooks is not None and run.accumulate:
            for fn in list(hooks.pre.values()):
                got = fn((g,))
                if got is not None:
                    (g,) = _checked_all(fn, [g], got)
        run.grads[leaf] = _back(run, g)
        g = None if hooks is None or not hooks.post else g
    if not run.accumulate:
        run.captured[leaf] = run.grads.pop(leaf)
        return
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


__all__ = ["after", "before", "call_tensor_hook", "finish_hooked_leaf"]
