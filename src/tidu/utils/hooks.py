"""torch.utils.hooks: the handles of hooks, and what runs a module's backward hooks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ..autograd.function import Function
from ..core.hooks import RemovableHandle, warn_if_has_hooks
from ..core.modes import state
from ..core.tensor import Tensor

__all__ = ["BackwardHook", "RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(f: Any) -> Any:
    """Mark a hook as one that is not saved with its tensor. Source: torch.utils.hooks.unserializable_hook."""
    f.__torch_unserializable__ = True
    return f


class BackwardHookFunction(Function):
    """The identity, as a place in the graph to hang hooks on."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        ctx.mark_non_differentiable(*[a for a in args if not a.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads


class BackwardHook:
    """Runs the backward hooks of a module around one call of it. Source: torch.utils.hooks.BackwardHook.

    An identity goes before the module and one after it. The one after it sees the gradients of the outputs, the one
    before it those of the inputs.
    """

    def __init__(self, module: Any, user_hooks: Sequence[Any], user_pre_hooks: Sequence[Any]) -> None:
        self.module, self.user_hooks, self.user_pre_hooks = module, user_hooks, user_pre_hooks
        self.grad_outputs: Any = None
        self.inputs_at: list[int] | None = None  # where tensors are among the arguments
        self.outputs_at: list[int] | None = None
        self.n_inputs = self.n_outputs = -1

    def setup_input_hook(self, args: Any) -> Any:
        self.n_inputs = len(args)
        args, self.inputs_at = _through(args, lambda node: node.register_hook(self._inputs_known))
        return args

    def setup_output_hook(self, args: Any) -> Any:
        single = not isinstance(args, tuple)
        outs = (args,) if single else args
        self.n_outputs = len(outs)
        outs, self.outputs_at = _through(outs, lambda node: node.register_prehook(self._outputs_known))
        return outs[0] if single else outs

    def _outputs_known(self, grads: Any) -> Any:
        self.grad_outputs = _spread(self.outputs_at, grads, self.n_outputs)
        if self.user_pre_hooks:
            n = len(self.grad_outputs)
            for hook in self.user_pre_hooks:
                got = hook(self.module, self.grad_outputs)
                if got is None:
                    continue
                if len(got) != n:
                    raise RuntimeError(
                        f"Backward pre hook returned an invalid number of grad_output, got {len(got)}, but expected {n}"
                    )
                self.grad_outputs = got
        now = self.grad_outputs
        if self.inputs_at is None:  # no gradient will come to the inputs: this is the end
            warnings.warn(
                "Full backward hook is firing when gradients are computed with respect to module outputs since no "
                "inputs require gradients. See https://docs.pytorch.org/docs/main/generated/"
                "torch.nn.Module.html#torch.nn.Module.register_full_backward_hook for more details.",
                stacklevel=5,
            )
            for hook in self.user_hooks:
                got = hook(self.module, (None,) * self.n_inputs, self.grad_outputs)
                if got is not None and not (isinstance(got, tuple) and all(g is None for g in got)):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always return None or None "
                        "for all gradients."
                    )
            self.grad_outputs = None
        return None if now is None else tuple(now[i] for i in self.outputs_at or ())

    def _inputs_known(self, grad_input: Any, _: Any) -> Any:
        if self.grad_outputs is None:
            return None  # a gradient that did not come by way of the module's outputs
        now = _spread(self.inputs_at, grad_input, self.n_inputs)
        for hook in self.user_hooks:
            got = hook(self.module, now, self.grad_outputs)
            if got is None:
                continue
            if len(got) != len(now):
                raise RuntimeError(
                    f"Backward hook returned an invalid number of grad_input, got {len(got)}, but expected {len(now)}"
                )
            now = got
        self.grad_outputs = None
        return tuple(now[i] for i in self.inputs_at or ())

    _inputs_known.__name__ = _outputs_known.__name__ = "hook"  # as errors about what they returned call them


def _spread(places: Sequence[int] | None, values: Any, n: int) -> tuple[Any, ...]:
    full = [None] * n
    for i, v in zip(places or (), values, strict=True):
        full[i] = v
    return tuple(full)


def _through(args: Any, hang: Callable[[Any], Any]) -> tuple[Any, list[int] | None]:
    """The arguments with their tensors sent through an identity, whose node is given to `hang`; and where they are."""
    places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
    if not (state.grad and any(args[i].requires_grad for i in places)):
        return args, None
    outs = BackwardHookFunction.apply(*[args[i] for i in places])
    nodes = [t.grad_fn for t in outs if t.grad_fn is not None]
    if not nodes:
        raise RuntimeError(
            "Error while setting up backward hooks. Please open an issue with a code sample to reproduce this."
        )
    hang(nodes[0])
    full = list(args)
    for i, t in zip(places, outs, strict=True):
        full[i] = t
    if hasattr(args, "_fields"):
        return type(args)(*full), places
    return tuple(full), places
