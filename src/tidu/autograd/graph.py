"""The graph from outside: hooks on saved tensors, gradient edges, hooks over several gradients. Source:
torch.autograd.graph."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.engine import current
from ..core.hooks import RemovableHandle, register_hook
from ..core.modes import state
from ..core.node import Node, accumulate_grad
from ..core.tensor import Tensor, tensor_of
from ..core.views import live_node

__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks", "get_gradient_edge",
    "increment_version", "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks",
]  # fmt: skip


class _Place(NamedTuple):
    node: Any
    output_nr: int
    ownership_token: Any = None


class GradientEdge(_Place):
    """A place in the graph where a gradient arrives: a node, and which of its outputs."""

    like: Any = None  # a tensor of the shape and the dtype of what the node made, without its memory


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The place where the gradient of a tensor is computed. Source: torch.autograd.graph.get_gradient_edge."""
    node = live_node(tensor) if tensor.requires_grad else None
    if node is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    edge = GradientEdge(accumulate_grad(tensor), 0) if node is True else GradientEdge(node.owner, node.nr)
    if hasattr(tensor, "_a"):
        edge.like = tensor_of(np.broadcast_to(np.zeros((), tensor._a.dtype), tensor.shape))
    return edge


def increment_version(tensor: Any) -> None:
    """Tell autograd that a tensor was written where it could not see. Source:
    torch.autograd.graph.increment_version."""
    if not isinstance(tensor, (Tensor, Iterable)):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        t._v[0] += 1


class saved_tensors_hooks:
    """Within it what ops save for backward passes through `pack_hook`, and `unpack_hook` gives it back. Source:
    torch.autograd.graph.saved_tensors_hooks."""

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        if _disabled.message is not None:
            raise RuntimeError(_disabled.message)
        if not callable(self.pack_hook) or not callable(self.unpack_hook):
            raise TypeError(
                "_push_saved_tensors_default_hooks(): incompatible function arguments. The following argument types are "
                "supported:\n    1. (arg0: collections.abc.Callable, arg1: collections.abc.Callable) -> None\n\n"
                f"Invoked with: {self.pack_hook!r}, {self.unpack_hook!r}"
            )
        state.saved_hooks = (*state.saved_hooks, (self.pack_hook, self.unpack_hook))
        state.refresh()

    def __exit__(self, *exc: Any) -> None:
        state.saved_hooks = state.saved_hooks[:-1]
        state.refresh()


class save_on_cpu(saved_tensors_hooks):
    """Saved tensors are kept as copies. Source: torch.autograd.graph.save_on_cpu."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda t: (t.device, t.clone()), lambda packed: packed[1])


class _Disabled(threading.local):
    message: str | None = None


_disabled = _Disabled()


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Within it saved-tensor hooks are an error with this message. Source:
    torch.autograd.graph.disable_saved_tensors_hooks."""
    if state.saved_hooks:
        raise RuntimeError(error_message)
    was, _disabled.message = _disabled.message, error_message
    try:
        yield
    finally:
        _disabled.message = was


class _MultiHandle(RemovableHandle):
    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def __repr__(self) -> str:
        return f"<torch.autograd.graph._MultiHandle object at {id(self):#x}>"

    def remove(self) -> None:
        for h in self.handles:
            h.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., Any], *, mode: str = "all"
) -> RemovableHandle:  # fmt: skip
    """Call `fn` once in a backward pass: with all the gradients when all that will come have come ("all"), or with the
    first one ("any"). Source: torch.autograd.graph.register_multi_grad_hook."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    lock = threading.Lock()
    if mode == "any":
        ran: weakref.WeakSet[Any] = weakref.WeakSet()

        def first(grad: Tensor) -> None:
            run = current()
            with lock:
                if run in ran:
                    return
                ran.add(run)
            fn(grad)

        return _MultiHandle([register_hook(t, first) for t in tensors if t.requires_grad])
    if not all(t.requires_grad for t in tensors):
        raise AssertionError("Expected gradient function to be set")
    # The hooks hang on these places, which therefore must not be held by them.
    nodes = [live_node(t) for t in tensors]
    places = [weakref.ref(t if n is True else n.owner) for t, n in zip(tensors, nodes, strict=True)]
    del nodes
    buffers: weakref.WeakKeyDictionary[Any, list[Any]] = (
        weakref.WeakKeyDictionary()
    )  # [how many have come, the gradients]

    def collector(i: int) -> Callable[[Tensor], None]:
        def hook(grad: Tensor) -> None:
            run = current()
            with lock:
                buffer = buffers.setdefault(run, [0, [None] * len(places)])
                buffer[0] += 1
                buffer[1][i] = grad
                done = buffer[0] == sum(run.will_reach(p()) for p in places)
            if done:
                fn(buffers.pop(run)[1])

        return hook

    return _MultiHandle([register_hook(t, collector(i)) for i, t in enumerate(tensors)])


class _Handle:
    __slots__ = ("__weakref__",)


class _MutationContext:
    """Keeps what was saved while `allow_mutation_on_saved_tensors` is active."""

    def __init__(self) -> None:
        self.originals: weakref.WeakKeyDictionary[_Handle, Tensor] = weakref.WeakKeyDictionary()

    def clear(self) -> None:
        """Let go of all copies: graphs recorded so far can no longer be differentiated."""
        self.originals.clear()


_mutation = threading.local()


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_MutationContext]:
    """Within it tensors saved for backward may be written: copies of what was saved are kept. The backward pass must be
    within it too. Source: torch.autograd.graph.allow_mutation_on_saved_tensors."""
    if getattr(_mutation, "active", False):
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    ctx = _MutationContext()

    def pack(t: Tensor) -> Any:
        handle = _Handle()
        ctx.originals[handle] = t.detach().clone()
        return handle

    def unpack(handle: Any) -> Tensor:
        if handle not in ctx.originals:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was "
                "originally recorded."
            )
        return ctx.originals[handle]

    with saved_tensors_hooks(pack, unpack):
        _mutation.active = True
        try:
            yield ctx
        finally:
            _mutation.active = False
            ctx.clear()
