"""Checkpointing: run a part of a network again in backward instead of keeping its intermediate values.

The part's saved values are replaced by places in a `_Frame`. The first of them that backward asks for runs the part
again, under the same random numbers, and fills all places; as soon as the last is filled the second run is broken off.
What the rules then read belongs to the original graph, so that gradients of gradients come out right.
"""

from __future__ import annotations

import contextlib
import enum
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from .. import dtypes
from ..autograd import backward
from ..autograd.function import Function
from ..autograd.graph import saved_tensors_hooks
from ..core import engine
from ..core.errors import modified_error
from ..core.modes import enable_grad, no_grad, set_record, state
from ..core.tensor import Tensor, tensor_of
from ..devices import CPU
from ..naming import sourced_all
from ..ops._public import Operator
from ..ops._sampler import default_generator
from ..shapes import Size
from ._python_dispatch import TorchDispatchMode

__all__ = [
    "CheckpointError", "CheckpointFunction", "CheckpointPolicy", "DefaultDeviceType", "SAC_IGNORED_OPS",
    "SelectiveCheckpointContext", "check_backward_validity", "checkpoint", "checkpoint_sequential",
    "create_selective_checkpoint_contexts", "detach_variable", "get_device_states", "noop_context_fn",
    "set_checkpoint_debug_enabled", "set_checkpoint_early_stop", "set_device_states",
]  # fmt: skip


_early_stop: list[bool | None] = [None]
_debug: list[bool | None] = [None]
_TIP = (
    "\nTip: To see a more detailed error message, either pass `debug=True` "
    "to\n`torch.utils.checkpoint.checkpoint(...)` "
    "or wrap the code block\nwith `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to\n"
    "enable checkpoint\u2011debug mode globally.\n"
    "\nIf this error occurs under torch.compile with automatic_dynamic_shapes enabled,\n"
    "it may be because the recomputation selected a different compiled graph than the\n"
    "forward pass (e.g., a dynamic graph instead of the original static graph).\n"
    "To fix this, either:\n"
    "  - Use torch._dynamo.mark_dynamic() to explicitly mark varying dimensions as\n"
    "    dynamic upfront, avoiding the static-to-dynamic transition.\n"
    "  - Call torch._C._dynamo.eval_frame._set_lru_cache(False) to disable LRU cache\n"
    "    reordering, which can change which graph is checked first between forward\n"
    "    and recompute.\n"
    "See https://github.com/pytorch/pytorch/issues/166926 for more details and\n"
    "workaround examples.\n"
)


class CheckpointError(RuntimeError):
    """The second run of a checkpointed function was not like the first. Source: torch.utils.checkpoint."""


class _Stop(Exception):
    pass


class DefaultDeviceType:
    """The kind of device whose random states a checkpoint keeps besides the CPU's."""

    _default_device_type = "cpu"

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        DefaultDeviceType._default_device_type = device

    @staticmethod
    def get_device_type() -> str:
        return DefaultDeviceType._default_device_type


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """The random states of the devices of the arguments: none, for there is the CPU only."""
    return [], []


def set_device_states(devices: Any, states: Any, *, device_type: str | None = None) -> None:
    """Put random states back."""


def noop_context_fn() -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    """Contexts for the first and the second run that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


@contextlib.contextmanager
def _setting(cell: list[bool | None], value: bool | None) -> Iterator[None]:
    was, cell[0] = cell[0], value
    try:
        yield
    finally:
        cell[0] = was


def set_checkpoint_early_stop(enable: bool) -> AbstractContextManager[None]:
    """Within it checkpoints break off their second run early, or do not."""
    return _setting(_early_stop, enable)


def set_checkpoint_debug_enabled(enabled: bool | None) -> AbstractContextManager[None]:
    """Accepted."""
    return _setting(_debug, enabled)


# ------------------------------------------------------------------ with saved-tensor hooks


class _SavedInput:
    def __init__(self, x: Tensor) -> None:
        self.cell, self.version, self.node = x._v, x._v[0], x._node
        self.unpack: Any = None
        self.value: Any = x
        if state.saved_hooks:
            pack, self.unpack = state.saved_hooks[-1]
            was, state.saved_hooks = state.saved_hooks, ()
            recording = set_record(False)
            state.refresh()
            try:
                alias = tensor_of(x._a)
                alias._v, alias._node = x._v, x._node
                self.value = pack(alias)
            finally:
                state.saved_hooks = was
                set_record(recording)
                state.refresh()

    def get(self) -> Tensor:
        if self.cell[0] != self.version:
            raise modified_error(_Named(), self.value, self.cell, self.version)
        if self.unpack is None:
            return self.value
        t = tensor_of(self.unpack(self.value)._a)
        t._node = self.node
        return t


class _Named:
    @staticmethod
    def name() -> str:
        return "checkpoint"


class _Holder:
    __slots__ = ("__weakref__", "index")

    def __init__(self, index: int) -> None:
        self.index = index


_CHECKS: dict[str, Callable[[Tensor], Any]] = {"default": lambda x: (x._a.shape, x._a.dtype), "none": lambda _: None}


def _metadata(shape: Any, dtype: Any) -> dict[str, Any]:
    return {"shape": Size(shape), "dtype": dtypes.from_numpy(dtype), "device": CPU}


def _same(x: Any) -> Any:
    return x


class _Frame:
    """One checkpointed call: how to run it again, and what it saved."""

    def __init__(self, again: Callable[..., Any], args: Any, early_stop: bool, describe: Any) -> None:
        self.again, self.early_stop, self.describe = again, early_stop, describe
        self.args = [_SavedInput(a) if isinstance(a, Tensor) else a for a in args]
        self.holders: list[weakref.ref[_Holder]] = []
        self.described: list[Any] = []
        self.run: Any = None  # weak reference to the backward pass that the values below were made for
        self.values: dict[int, Tensor] = {}
        self.counted = 0
        self.complete = False  # whether the first run is over

    def pack(self, x: Tensor) -> _Holder:
        holder = _Holder(len(self.holders))
        self.holders.append(weakref.ref(holder))
        self.described.append(self.describe(x))
        return holder

    def unpack(self, holder: _Holder) -> Tensor:
        run = engine.current()
        if run is None or self.run is None or self.run() is not run:
            self._run_again()
            self.run = None if run is None else weakref.ref(run)
        if holder.index not in self.values:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. If you "
                "are calling ctx.saved_tensors in backward, make sure to do so only once. Otherwise please open an "
                "issue with details on your use case."
            )
        return self.values.pop(holder.index)

    def _pack_again(self, x: Tensor) -> Tensor:
        at = self.counted
        self.counted += 1
        x._node = None  # what hooks are given is theirs
        if at >= len(self.holders):
            if not self.complete:
                return x
            raise CheckpointError(
                "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original "
                f"forward pass.\n{_TIP}"
            )
        if self.holders[at]() is not None:
            self.values[at] = x
        if self.early_stop and self.counted == len(self.holders):
            raise _Stop
        return x

    def _run_again(self) -> None:
        args = [a.get() if isinstance(a, _SavedInput) else a for a in self.args]
        self.values, self.counted = {}, 0
        try:
            with saved_tensors_hooks(self._pack_again, _same), enable_grad():
                self.again(*args)
        except _Stop:
            pass
        self._check()

    def _check(self) -> None:
        if self.counted != len(self.holders):
            if self.counted > len(self.holders):
                return
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.holders)}\nNumber of tensors saved "
                f"during recomputation: {self.counted}.\n{_TIP}"
            )
        other = [
            (i, self.described[i], now)
            for i, x in sorted(self.values.items())
            if (now := self.describe(x)) != self.described[i]
        ]
        if other:
            text = "".join(
                f"tensor at position {i}:\nsaved metadata: {_metadata(*was)}\nrecomputed metadata: {_metadata(*now)}\n"
                for i, was, now in other
            )
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                f"during the forward pass.\n{text}.\n{_TIP}"
            )


class _DrawingFrom:
    """Within it random numbers from that place of the default generator on, which afterwards is where it was; None: no
    care."""

    def __init__(self, place: Any) -> None:
        self.place = place

    def __enter__(self) -> None:
        if self.place is not None:
            self.here = default_generator.stream.mark()
            default_generator.stream.back(self.place)

    def __exit__(self, *_: Any) -> None:
        if self.place is not None:
            default_generator.stream.back(self.here)


def _without_reentrance(
    fn: Callable[..., Any], preserve: bool, context_fn: Callable[[], Any], check: str, early_stop: bool, args: Any,
    kwargs: Any,
) -> Any:  # fmt: skip
    if check not in _CHECKS:
        raise ValueError(f"determinism_check should be one of {list(_CHECKS)}, but got {check}")
    first, second = context_fn()
    if not state.grad:
        return fn(*args, **kwargs)
    place = default_generator.stream.mark() if preserve else None

    def again(*args: Any) -> None:
        with _DrawingFrom(place), second:
            fn(*args, **kwargs)

    frame = _Frame(again, args, early_stop if _early_stop[0] is None else _early_stop[0], _CHECKS[check])
    with saved_tensors_hooks(frame.pack, frame.unpack), first:
        out = fn(*args, **kwargs)
    frame.complete = True
    return out


# ------------------------------------------------------------------ as a Function


class CheckpointFunction(Function):
    """Runs the function unrecorded; its backward runs it again, recorded, and goes backward through that."""

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.place = default_generator.stream.mark() if preserve_rng_state else None
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.save_for_backward(*[args[i] for i in ctx.places])
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        run = engine.current()
        if run is not None and run.targets is not None:
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
                ".backward() without passing the `inputs` argument."
            )
        args = list(ctx.others)
        for i, t in zip(ctx.places, ctx.saved_tensors, strict=True):
            args[i] = t
        args = list(detach_variable(tuple(args)))
        with _DrawingFrom(ctx.place), enable_grad():
            outs = ctx.run_function(*args)
        outs = (outs,) if isinstance(outs, Tensor) else outs
        pairs = [(o, g) for o, g in zip(outs, grads, strict=False) if isinstance(o, Tensor) and o.requires_grad]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        with enable_grad():
            backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None, *[a._grad if isinstance(a, Tensor) else None for a in args])


def detach_variable(inputs: Any) -> tuple[Any, ...]:
    """The inputs with their tensors taken out of the graph, as leaves."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    out = []
    for x in inputs:
        if isinstance(x, Tensor):
            wants = x.requires_grad
            x = x.detach()
            x.requires_grad = wants
        out.append(x)
    return tuple(out)


def check_backward_validity(inputs: Any) -> None:
    """Warn if no input wants a gradient."""
    if not any(x.requires_grad for x in inputs if isinstance(x, Tensor)):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)


# ------------------------------------------------------------------ the public functions


def checkpoint(
    function: Callable[..., Any], *args: Any, use_reentrant: bool | None = None,
    context_fn: Callable[[], Any] = noop_context_fn, determinism_check: str = "default", debug: bool = False,
    early_stop: bool = True, **kwargs: Any,
) -> Any:  # fmt: skip
    """function(*args, **kwargs), whose intermediate values are not kept: backward runs it again.

    Args:
        function: what to run.
        use_reentrant: False (recommended): any structure of arguments and results, gradients of gradients. True: the
            older way, by a Function.
        context_fn: gives two context managers, for the first and the second run.
        determinism_check: "default" compares shapes and dtypes of the two runs, "none" does not.
        early_stop: break off the second run once it has made what is needed.
        preserve_rng_state: the second run draws the random numbers of the first (default True).

    >>> import tidu as torch
    >>> x = torch.tensor(2., requires_grad=True)
    >>> checkpoint(lambda t: t.exp().sin(), x, use_reentrant=False).backward()
    >>> x.grad
    tensor(3.3150)
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch 2.9, "
            "calling checkpoint without use_reentrant will raise an exception. use_reentrant=False is recommended, but "
            "if you need to preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for "
            "more details on the differences between the two variants.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if not use_reentrant:
        return _without_reentrance(function, preserve, context_fn, determinism_check, early_stop, args, kwargs)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if context_fn is not noop_context_fn or debug is not False:
        raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
    return CheckpointFunction.apply(function, preserve, *args)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """The functions one after the other, in segments of which all but the last are checkpointed.

    Args:
        functions: a Sequential, or a list of functions.
        segments: how many.
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. In "
            "version 2.9 we will raise an exception if use_reentrant is not passed. use_reentrant=False is "
            "recommended, "
            "but if you need to preserve the current default behavior, you can pass use_reentrant=True. Refer to docs "
            "for more details on the differences between the two variants.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    steps = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(steps) // segments

    def chain(part: list[Any]) -> Callable[[Any], Any]:
        def run(x: Any) -> Any:
            for f in part:
                x = f(x)
            return x

        return run

    at = 0
    for at in range(0, size * (segments - 1), size):
        part = chain(steps[at : at + size])
        input = checkpoint(part, input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return chain(steps[size * (segments - 1) :])(input)


SAC_IGNORED_OPS: set[Any] = set()


class CheckpointPolicy(enum.Enum):
    """What a policy function says about an op's result."""

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
    """What a policy function is told."""

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


sourced_all(globals())
