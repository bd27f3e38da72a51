"""What all optimisers have in common. Source: torch.optim.optimizer."""

from __future__ import annotations

import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

from ..core.hooks import RemovableHandle
from ..core.inplace import note
from ..core.modes import enable_grad, set_record, state
from ..core.tensor import Tensor
from ..devices import strided

__all__ = [
    "Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook",
]  # fmt: skip

_global_optimizer_pre_hooks: OrderedDict[int, Any] = OrderedDict()
_global_optimizer_post_hooks: OrderedDict[int, Any] = OrderedDict()
ParamsT = Iterable[Any]


class _RequiredParameter:
    """The default of an option that has none."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()

_HOOKS = (
    "_optimizer_step_pre_hooks", "_optimizer_step_post_hooks", "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks", "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)  # fmt: skip


def _add(hooks: OrderedDict[int, Any], hook: Any, prepend: bool = False) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` before every step of every optimiser. Source:
    torch.optim.optimizer.register_optimizer_step_pre_hook."""
    return _add(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` after every step of every optimiser. Source:
    torch.optim.optimizer.register_optimizer_step_post_hook."""
    return _add(_global_optimizer_post_hooks, hook)


def _use_grad_for_differentiable(func: Callable[..., Any]) -> Callable[..., Any]:
    """A `step` that records only if the optimiser is differentiable."""

    @functools.wraps(func)
    def step(*args: Any, **kwargs: Any) -> Any:
        was = set_record(args[0].defaults["differentiable"])
        try:
            return func(*args, **kwargs)
        finally:
            set_record(was)

    return step


def sparse_ones(params: Iterable[Any]) -> list[Any]:
    """The parameters whose gradients are sparse."""
    return [p for p in params if p._grad is not None and p._grad.layout is not strided]


def _to_scalar(x: Any) -> Any:
    """A one-element tensor without dimensions, anything else as it is."""
    return x.squeeze() if isinstance(x, Tensor) and x.dim() != 0 else x


class Optimizer:
    """Base of all optimisers: parameter groups with options, and a state for each parameter.

    Args:
        params: parameters, or dicts {"params": ..., option: value}, or (name, parameter) pairs.
        defaults: the options of groups that do not give their own.
    """

    OptimizerPreHook = Any
    OptimizerPostHook = Any
    defaults: dict[str, Any]
    state: Any
    param_groups: list[dict[str, Any]]

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        for name in _HOOKS:
            setattr(self, name, OrderedDict())
        self._patch_step_function()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                + params.type()
            )
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)
        self._warned_capturable_if_run_uncaptured = True

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in _HOOKS:
            self.__dict__.setdefault(name, OrderedDict())
        self._patch_step_function()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        parts = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines = (f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params")
            parts += [f"\nParameter Group {i}\n", *lines]
        return "".join(parts) + ")"

    # ---------------------------------------------------------------- stepping

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters by their gradients.

        Args:
            closure: computes the loss anew and returns it, for optimisers that ask for it several times.
        """
        raise NotImplementedError

    def _patch_step_function(self) -> None:
        """Let the class's `step` call the hooks; once for each class."""
        self._zero_grad_profile_name = f"Optimizer.zero_grad#{type(self).__name__}.zero_grad"
        cls: Any = type(self)
        if not getattr(cls.step, "hooked", None):
            cls.step = self.profile_hook_step(cls.step)
            cls.step.hooked = True

    @staticmethod
    def profile_hook_step(func: Callable[..., Any]) -> Callable[..., Any]:
        """A `step` that calls the hooks before and after itself."""

        @functools.wraps(func)
        def step(*args: Any, **kwargs: Any) -> Any:
            if state.timer is None:
                return stepped(*args, **kwargs)
            with state.timer(f"Optimizer.step#{type(args[0]).__name__}.step"):
                return stepped(*args, **kwargs)

        def stepped(*args: Any, **kwargs: Any) -> Any:
            self = args[0]
            pre, post = self._optimizer_step_pre_hooks, self._optimizer_step_post_hooks
            if not (pre or post or _global_optimizer_pre_hooks or _global_optimizer_post_hooks):
                out = func(*args, **kwargs)
                if state.debug:
                    self._note_writes()
                return out
            for hook in chain(_global_optimizer_pre_hooks.values(), pre.values()):
                got = hook(self, args, kwargs)
                if got is not None:
                    if not (isinstance(got, tuple) and len(got) == 2):
                        raise RuntimeError(
                            f"{func} must return None or a tuple of (new_args, new_kwargs), but got {got}."
                        )
                    args, kwargs = got
            out = func(*args, **kwargs)
            for hook in chain(post.values(), _global_optimizer_post_hooks.values()):
                hook(self, args, kwargs)
            if state.debug:
                self._note_writes()
            return out

        return step

    def _note_writes(self) -> None:
        """Note the line that calls `step`, for the error of who needs what the parameters were."""
        for group in self.param_groups:
            for p in group["params"]:
                note(p)

    def _loss_of(self, closure: Callable[[], Any] | None) -> Any:
        """What the closure returns, if there is one, computed with recording on."""
        if closure is None:
            return None
        with enable_grad():
            return closure()

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or fill them with zeros."""
        if state.timer is None:
            return self._zero_grad(set_to_none)
        with state.timer(f"Optimizer.zero_grad#{type(self).__name__}.zero_grad"):
            self._zero_grad(set_to_none)

    def _zero_grad(self, set_to_none: bool) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none:
                    p._grad = None
                    continue
                g = p._grad
                if g is None:
                    continue
                if g.grad_fn is not None:
                    g.detach_()
                else:
                    g.requires_grad_(False)
                g.zero_()

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before `step`; it may return other arguments."""
        return _add(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after `step`."""
        return _add(self._optimizer_step_post_hooks, hook)

    # ---------------------------------------------------------------- the state as a dict

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` before `state_dict`."""
        return _add(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` after `state_dict`; it may return another one."""
        return _add(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` before `load_state_dict`; it may return another one."""
        return _add(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` after `load_state_dict`."""
        return _add(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    def state_dict(self) -> Any:
        """The states and the groups' options, with numbers in the place of parameters."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        number: dict[int, int] = {}
        groups = []
        first = 0
        for group in self.param_groups:
            for i, p in enumerate(group["params"], first):
                number.setdefault(id(p), i)
            packed = {k: v for k, v in group.items() if k != "params"}
            packed["params"] = [number[id(p)] for p in group["params"]]
            groups.append(packed)
            first += len(group["params"])
        states = {number[id(k)] if isinstance(k, Tensor) else k: v for k, v in self.state.items()}
        out: Any = {"state": states, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            got = hook(self, out)
            if got is not None:
                out = got
        return out

    @staticmethod
    def _process_value_according_to_param_policy(
        param: Any, value: Any, param_id: int, param_groups: list[dict[Any, Any]], key: Hashable = None
    ) -> Any:
        """A loaded tensor in the dtype that it has in the state: that of the parameter, but for counts of steps."""
        if key == "step":
            for group in param_groups:
                if param_id in group["params"] and (group.get("capturable") or group.get("fused")):
                    from ..dtypes import float32

                    return value.to(float32)
            return value
        return value.to(param.dtype) if param.dtype.is_floating_point else value

    def load_state_dict(self, state_dict: Any) -> None:
        """Take over what `state_dict` gave.

        Raises:
            ValueError: groups that do not fit.
        """
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            got = hook(self, state_dict)
            if got is not None:
                state_dict = got
        groups, saved = self.param_groups, deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(g["params"]) != len(s["params"]) for g, s in zip(groups, saved, strict=True)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        ids = chain.from_iterable(s["params"] for s in saved)
        param_of = dict(zip(ids, chain.from_iterable(g["params"] for g in groups), strict=True))

        def cast(param: Any, value: Any, at: Any, key: Any = None) -> Any:
            if isinstance(value, Tensor):
                return self._process_value_according_to_param_policy(param, value, at, state_dict["param_groups"], key)
            if isinstance(value, dict):
                return {k: cast(param, v, at, k) for k, v in value.items()}
            if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
                return type(value)(cast(param, v, at) for v in value)  # type: ignore[call-arg]
            return value

        states: Any = defaultdict(dict)
        for k, v in state_dict["state"].items():
            if k in param_of:
                states[param_of[k]] = cast(param_of[k], v, k)
            else:
                states[k] = v
        for group, new in zip(groups, saved, strict=True):
            new["params"] = group["params"]
            if "param_names" in group and "param_names" not in new:
                new["param_names"] = group["param_names"]
        self.__setstate__({"state": states, "param_groups": saved})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    # ---------------------------------------------------------------- groups

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters with options of its own.

        Raises:
            TypeError: not a dict, or not of tensors in an order.
            ValueError: a tensor that is no leaf, or that is in a group already.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        given = param_group["params"]
        if isinstance(given, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead."
            )
        given = [given] if isinstance(given, Tensor) else list(given)
        names = [p[0] for p in given if isinstance(p, tuple)]
        params = param_group["params"] = [p[1] if isinstance(p, tuple) else p for p in given]
        if names:
            if len(names) != len(params):
                raise ValueError("all optimizer params should be with/without names. Some param names are missing")
            param_group["param_names"] = names
        for p in params:
            if not isinstance(p, Tensor):
                from ..elsewhere import typename

                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {typename(p)}")
            if not self.defaults.get("differentiable") and not (p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        if len(params) != len({id(p) for p in params}):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        for group in self.param_groups:
            if ("param_names" in param_group) != ("param_names" in group):
                text = "with names" if "param_names" in param_group else "without names"
                raise ValueError(
                    "all optimizer param groups should be with/without names. cannot add param group "
                    f"{text} to the optimizer"
                )
        known = {id(p) for group in self.param_groups for p in group["params"]}
        if any(id(p) in known for p in params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)
