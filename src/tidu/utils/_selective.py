"""Selective checkpointing: which results a checkpoint keeps, and which its second run makes again."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from ..ops._aten import Operator
from ._python_dispatch import TorchDispatchMode

__all__ = ["SAC_IGNORED_OPS", "CheckpointPolicy", "SelectiveCheckpointContext", "create_selective_checkpoint_contexts"]

SAC_IGNORED_OPS: set[Any] = set()


class CheckpointPolicy(enum.Enum):
    """What a policy function says about an op's result. Source: torch.utils.checkpoint.CheckpointPolicy."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_KEPT = frozenset({
    CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE, CheckpointPolicy.MUST_CPU_OFFLOAD,
    CheckpointPolicy.PREFER_CPU_OFFLOAD, True,
})  # fmt: skip


class SelectiveCheckpointContext:
    """What a policy function is told. Source: torch.utils.checkpoint.SelectiveCheckpointContext."""

    def __init__(self, *, is_recompute: bool) -> None:
        self.is_recompute = is_recompute


class _CachingTorchDispatchMode(TorchDispatchMode):
    """Sees the first run: keeps the results that the policy wants kept, and notes the rest, in their order."""

    def __init__(self, policy: Callable[..., Any], made: dict[Any, list[Any]]) -> None:
        self.policy, self.outs = policy, made

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        said = self.policy(SelectiveCheckpointContext(is_recompute=False), func, *args, **kwargs)
        out = func(*args, **kwargs)
        self.outs.setdefault(func, []).append((said in _KEPT, out if said in _KEPT else None))
        return out


class _CachedTorchDispatchMode(TorchDispatchMode):
    """Sees the second run: gives what was kept, and runs what was not."""

    def __init__(self, made: dict[Any, list[Any]]) -> None:
        self.outs, self.at = made, dict.fromkeys(made, 0)

    def __enter__(self) -> TorchDispatchMode:
        self.at = dict.fromkeys(self.outs, 0)
        return super().__enter__()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        at = self.at.get(func, 0)
        self.at[func] = at + 1
        calls = self.outs.get(func, [])
        if at < len(calls) and calls[at][0]:
            return calls[at][1]
        return func(*args, **(kwargs or {}))


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False
) -> tuple[TorchDispatchMode, TorchDispatchMode]:
    """Contexts for `checkpoint(context_fn=)` under which it keeps the results of some ops.

    Args:
        policy_fn_or_list: `policy(ctx, op, *args, **kwargs)` that returns a CheckpointPolicy, or a list of the operators
            (`torch.ops.aten.mm.default`) whose results are kept.
        allow_cache_entry_mutation: accepted.

    Raises:
        ValueError: what the list holds is no operator.
        TypeError: neither a function nor a list.

    Source: torch.utils.checkpoint.create_selective_checkpoint_contexts.

    >>> import functools
    >>> import tidu as torch
    >>> from tidu.utils.checkpoint import checkpoint
    >>> keep = functools.partial(create_selective_checkpoint_contexts, [torch.ops.aten.mm.default])
    >>> x = torch.ones(2, 2, requires_grad=True)
    >>> checkpoint(lambda t: (t @ t).sin(), x, use_reentrant=False, context_fn=keep).sum().backward()
    >>> x.grad
    tensor([[-1.6646, -1.6646],
            [-1.6646, -1.6646]])
    """
    policy = policy_fn_or_list
    if isinstance(policy_fn_or_list, list):
        for op in policy_fn_or_list:
            if not (isinstance(op, Operator) and hasattr(op, "overloadpacket")):
                hint = (
                    " Please update the OpOverloadPacket to a specific OpOverload." if isinstance(op, Operator) else ""
                )
                raise ValueError(
                    f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}.{hint}"
                )

        def policy(ctx: Any, op: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
            return CheckpointPolicy.MUST_SAVE if op in policy_fn_or_list else CheckpointPolicy.PREFER_RECOMPUTE

    elif not callable(policy_fn_or_list):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    made: dict[Any, list[Any]] = {}
    return _CachingTorchDispatchMode(policy, made), _CachedTorchDispatchMode(made)
