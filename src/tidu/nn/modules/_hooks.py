"""Hooks of modules: those for every module, and the call of a module that has any."""

from __future__ import annotations

import functools
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ...core.hooks import RemovableHandle
from ...core.tensor import Tensor

__all__ = [
    "register_module_backward_hook", "register_module_buffer_registration_hook", "register_module_forward_hook",
    "register_module_forward_pre_hook", "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook", "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]  # fmt: skip

_global_forward_hooks: OrderedDict[int, Any] = OrderedDict()
_global_forward_hooks_with_kwargs: OrderedDict[int, bool] = OrderedDict()
_global_forward_hooks_always_called: OrderedDict[int, bool] = OrderedDict()
_global_forward_pre_hooks: OrderedDict[int, Any] = OrderedDict()
_global_backward_hooks: OrderedDict[int, Any] = OrderedDict()
_global_backward_pre_hooks: OrderedDict[int, Any] = OrderedDict()
_global_buffer_registration_hooks: OrderedDict[int, Any] = OrderedDict()
_global_module_registration_hooks: OrderedDict[int, Any] = OrderedDict()
_global_parameter_registration_hooks: OrderedDict[int, Any] = OrderedDict()
_full: list[bool | None] = [None]  # whether the backward hooks of all modules are full ones


class _WrappedHook:
    """A hook that is pickled with its module, to which it holds a weak reference only."""

    def __init__(self, hook: Callable[..., Any], module: Any = None) -> None:
        functools.update_wrapper(self, hook)
        self.hook, self.with_module = hook, module is not None
        if module is not None:
            self.module: Any = weakref.ref(module)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.with_module:
            return self.hook(*args, **kwargs)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        state = {"hook": self.hook, "with_module": self.with_module}
        return {**state, "module": self.module()} if self.with_module else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.hook, self.with_module = state["hook"], state["with_module"]
        if self.with_module:
            if state["module"] is None:
                raise RuntimeError("You are trying to revive the hook of a dead Module!")
            self.module = weakref.ref(state["module"])


_WrappedHook.__module__ = __name__.replace("_hooks", "module")  # as it is known in files


def add(
    hooks: OrderedDict[int, Any], hook: Any, *marks: OrderedDict[int, bool], prepend: bool = False
) -> RemovableHandle:
    """Register a hook, and its id in each of `marks`; the handle takes it off all of them."""
    handle = RemovableHandle(hooks, extra_dict=list(marks))
    hooks[handle.id] = hook
    for mark in marks:
        mark[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


# ------------------------------------------------------------------ hooks of every module


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, name, buffer)` whenever a buffer is registered; what it returns takes the buffer's place.
    Source: torch.nn.modules.module.register_module_buffer_registration_hook."""
    return add(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, name, submodule)` whenever a submodule is registered; what it returns takes its place.
    Source: torch.nn.modules.module.register_module_module_registration_hook."""
    return add(_global_module_registration_hooks, hook)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, name, parameter)` whenever a parameter is registered; what it returns takes its place.
    Source: torch.nn.modules.module.register_module_parameter_registration_hook."""
    return add(_global_parameter_registration_hooks, hook)


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, args)` before the forward of every module. Source:
    torch.nn.modules.module.register_module_forward_pre_hook."""
    return add(_global_forward_pre_hooks, hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call `hook(module, args, output)` after the forward of every module. Source:
    torch.nn.modules.module.register_module_forward_hook."""
    marks = [_global_forward_hooks_with_kwargs] * with_kwargs + [_global_forward_hooks_always_called] * always_call
    return add(_global_forward_hooks, hook, *marks)


def _take_side(full: bool) -> None:
    if _full[0] is (not full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only "
            "one of them."
        )
    _full[0] = full


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """The old kind of backward hook, for every module. Source:
    torch.nn.modules.module.register_module_backward_hook."""
    _take_side(False)
    return add(_global_backward_hooks, hook)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, grad_output)` before the backward of every module. Source:
    torch.nn.modules.module.register_module_full_backward_pre_hook."""
    return add(_global_backward_pre_hooks, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` after the backward of every module. Source:
    torch.nn.modules.module.register_module_full_backward_hook."""
    _take_side(True)
    return add(_global_backward_hooks, hook)


# ------------------------------------------------------------------ calling


def _in_tuple(x: Any) -> tuple[Any, ...]:
    return x if isinstance(x, tuple) else (x,)


def _pre_hooks(module: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    for id_, hook in (*_global_forward_pre_hooks.items(), *module._forward_pre_hooks.items()):
        if id_ not in module._forward_pre_hooks_with_kwargs:
            got = hook(module, args)
            if got is not None:
                args = _in_tuple(got)
            continue
        got = hook(module, args, kwargs)
        if got is None:
            continue
        if not (isinstance(got, tuple) and len(got) == 2):
            raise RuntimeError(
                f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {got}."
            )
        args, kwargs = got
    return args, kwargs


def call_with_hooks(module: Any, args: Any, kwargs: Any) -> Any:
    """module(*args, **kwargs) for a module that has hooks, or while every module has."""
    called: set[int] = set()
    result: Any = None
    try:
        full, old = module._get_backward_hooks()
        pre = module._get_backward_pre_hooks()
        args, kwargs = _pre_hooks(module, args, kwargs)
        backward = None
        if full or pre:
            from ...utils.hooks import BackwardHook

            backward = BackwardHook(module, full, pre)
            args = backward.setup_input_hook(args)
        result = module.forward(*args, **kwargs)
        for id_, hook in (*_global_forward_hooks.items(), *module._forward_hooks.items()):
            called.add(id_)
            if id_ in module._forward_hooks_with_kwargs or id_ in _global_forward_hooks_with_kwargs:
                got = hook(module, args, kwargs, result)
            else:
                got = hook(module, args, result)
            if got is not None:
                result = got
        if backward is not None:
            if not isinstance(result, (Tensor, tuple)):
                warnings.warn(
                    "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
                    f"received {type(result)}",
                    stacklevel=2,
                )
            result = backward.setup_output_hook(result)
        if old:
            _attach_old(module, old, args, result)
        return result
    except Exception:
        _always_called(module, called, args, kwargs, result)
        raise


def _always_called(module: Any, called: set[int], args: Any, kwargs: Any, result: Any) -> None:
    """After an error: the hooks that are to run whatever happens and have not yet."""
    for hooks, always in (
        (_global_forward_hooks, _global_forward_hooks_always_called),
        (module._forward_hooks, module._forward_hooks_always_called),
    ):
        for id_, hook in hooks.items():
            if id_ not in always or id_ in called:
                continue
            try:
                if id_ in module._forward_hooks_with_kwargs or id_ in _global_forward_hooks_with_kwargs:
                    got = hook(module, args, kwargs, result)
                else:
                    got = hook(module, args, result)
                if got is not None:
                    result = got
            except Exception as e:
                where = "global module" if hooks is _global_forward_hooks else "module"
                warnings.warn(
                    f"{where} forward hook with ``always_call=True`` raised an exception that was silenced as another "
                    f"error was raised in forward: {e}",
                    stacklevel=2,
                )


def _attach_old(module: Any, hooks: Any, args: Any, result: Any) -> None:
    """Old backward hooks: they hang on the node of the first tensor of the result."""
    var = result
    while not isinstance(var, Tensor):
        var = next(v for v in var.values() if isinstance(v, Tensor)) if isinstance(var, dict) else var[0]
    node = var.grad_fn
    if node is not None:
        for hook in hooks:
            node.register_hook(functools.partial(hook, module))
        _warn_old(module, args, result, node)


def _warn_old(module: Any, args: Any, result: Any, node: Any) -> None:
    """What is wrong with old backward hooks, for this module's inputs and outputs."""

    def warn(text: str) -> None:
        warnings.warn(text, FutureWarning, stacklevel=2)

    if not isinstance(result, Tensor):
        if not (isinstance(result, tuple) and all(isinstance(r, Tensor) for r in result)):
            return warn(
                "Using non-full backward hooks on a Module that does not return a single Tensor or a tuple of Tensors "
                "is deprecated and will be removed in future versions. This hook will be missing some of the "
                "grad_output. Please use register_full_backward_hook to get the documented behavior."
            )
    else:
        result = (result,)
    if not isinstance(args, Tensor):
        if not (isinstance(args, tuple) and all(isinstance(a, Tensor) for a in args)):
            return warn(
                "Using non-full backward hooks on a Module that does not take as input a single Tensor or a tuple of "
                "Tensors is deprecated and will be removed in future versions. This hook will be missing some of the "
                "grad_input. Please use register_full_backward_hook to get the documented behavior."
            )
    else:
        args = (args,)
    made_by = {r.grad_fn for r in result if r.grad_fn is not None}
    if len(made_by) < 2 and node not in made_by:
        return warn(
            "Using a non-full backward hook when outputs are nested in python data structure is deprecated and will be "
            "removed in future versions. This hook will be missing some grad_output."
        )
    if len(made_by) > 1:
        return warn(
            "Using a non-full backward hook when outputs are generated by different autograd Nodes is deprecated and "
            "will be removed in future versions. This hook will be missing some grad_output. Please use "
            "register_full_backward_hook to get the documented behavior."
        )
    following = {n for n, _ in node.next_functions}
    inputs = {a.grad_fn for a in args if a.grad_fn is not None}
    if inputs != following:
        warn(
            "Using a non-full backward hook when the forward contains multiple autograd Nodes is deprecated and will "
            "be removed in future versions. This hook will be missing some grad_input. Please use "
            "register_full_backward_hook to get the documented behavior."
        )
    return None
