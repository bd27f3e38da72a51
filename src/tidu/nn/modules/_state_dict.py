"""The state of a module as a flat dict, and back."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...core.hooks import RemovableHandle
from ...core.modes import no_grad
from ...core.tensor import Tensor
from ..parameter import Parameter, is_lazy
from ._hooks import _WrappedHook, add

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class StateDict:
    """What `Module` has for its state: state_dict, load_state_dict, and their hooks."""

    _version = 1
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_hooks: OrderedDict[int, Any]
    _state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_post_hooks: OrderedDict[int, Any]

    # ---------------------------------------------------------------- extra state

    def get_extra_state(self) -> Any:
        """More to be saved with the state, for modules that override it."""
        raise _unreachable("get_extra_state")

    def set_extra_state(self, state: Any) -> None:
        """Take what `get_extra_state` gave."""
        raise _unreachable("set_extra_state")

    # ---------------------------------------------------------------- hooks

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously registered via "
                "register_state_dict_post_hook"
            )
        return add(self._state_dict_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` after `state_dict`; it may change the dict in place."""
        hook._from_public_api = True
        return add(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before `state_dict`."""
        return add(self._state_dict_pre_hooks, hook)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        return add(self._load_state_dict_pre_hooks, _WrappedHook(hook, self if with_module else None))

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)`
        before the module's own state is loaded."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after `load_state_dict`; it may change the lists."""
        return add(self._load_state_dict_post_hooks, hook)

    # ---------------------------------------------------------------- saving

    def _saved(self) -> Iterator[tuple[str, Any]]:
        yield from self._parameters.items()
        skip = self._non_persistent_buffers_set
        yield from (item for item in self._buffers.items() if item[0] not in skip)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put the module's own state, not that of its children, into `destination`."""
        for name, t in self._saved():
            if t is not None:
                destination[prefix + name] = t if keep_vars else t.detach()
        if type(self).get_extra_state is not StateDict.get_extra_state:
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """All parameters and persistent buffers by their full names, an OrderedDict. They are not copied.

        Args:
            destination: a dict to put them into.
            prefix: what to put before the names.
            keep_vars: keep the parameters as they are, not detached.
        """
        if args:
            import warnings

            warnings.warn(
                "Positional args are being deprecated, use kwargs instead. Refer to "
                "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.",
                FutureWarning,
                stacklevel=2,
            )
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and prefix == "" else prefix
            keep_vars = args[2] if len(args) > 2 and keep_vars is False else keep_vars
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            got = hook(self, destination, prefix, metadata)
            if getattr(hook, "_from_public_api", False):
                if got is not None:
                    raise RuntimeError("state_dict post-hook must return None")
            elif got is not None:
                destination = got
        return destination

    # ---------------------------------------------------------------- loading

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: list[str],
        unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        """Take the module's own state, not that of its children; what goes wrong is added to the lists."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        own = {name: t for name, t in self._saved() if t is not None}
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, t in own.items():
            key = prefix + name
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
                continue
            problem = self._load_one(name, t, key, state_dict[key], assign)
            if problem is not None:
                error_msgs.append(problem)
        extra_key = prefix + _EXTRA_STATE_KEY_SUFFIX
        if type(self).set_extra_state is not StateDict.set_extra_state:
            if extra_key in state_dict:
                self.set_extra_state(state_dict[extra_key])
            elif strict:
                missing_keys.append(extra_key)
        elif strict and extra_key in state_dict:
            unexpected_keys.append(extra_key)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra_key:
                    head, dot, _ = key[len(prefix) :].partition(".")
                    if head not in (self._modules if dot else own):
                        unexpected_keys.append(key)

    def _load_one(self, name: str, t: Any, key: str, value: Any, assign: bool) -> str | None:
        """Put one value of a state in its place; what is wrong with it, if anything is."""
        if not isinstance(value, Tensor) and not hasattr(value, "__torch_function__"):
            return (
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                "checkpoint "
                f"but received {type(value)}"
            )
        if not is_lazy(t):
            if t.shape == () and tuple(value.shape) == (1,):
                value = value[0]  # as files of the earliest versions have it
            if value.shape != t.shape:
                return (
                    f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, the shape in "
                    f"current model is {t.shape}."
                )
        try:
            with no_grad():
                if not assign:
                    t.copy_(value)
                    return None
                if isinstance(t, Parameter):
                    if isinstance(value, Parameter):
                        value.requires_grad_(t.requires_grad)
                    else:
                        value = Parameter(value, requires_grad=t.requires_grad)
                setattr(self, name, value)
        except Exception as e:
            return (
                f'While copying the parameter named "{key}", whose dimensions in the model are {t.size()} and whose '
                f"dimensions in the checkpoint are {value.size()}, an exception occurred : {e.args}."
            )
        return None

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Take over parameters and buffers from what `state_dict` gave.

        Args:
            strict: the names must be exactly the module's.
            assign: take the tensors themselves instead of copying their values.

        Returns:
            A named tuple of the `missing_keys` and the `unexpected_keys`.

        Raises:
            TypeError: no mapping.
            RuntimeError: names (if strict) or sizes that do not fit.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        metadata = getattr(state_dict, "_metadata", None)
        own = OrderedDict(state_dict)  # hooks may change it
        if metadata is not None:
            own._metadata = metadata

        def load(module: Any, state: Any, prefix: str) -> None:
            local = {} if metadata is None else metadata.get(prefix[:-1], {})
            if assign:
                local["assign_to_params_buffers"] = assign
            module._load_from_state_dict(state, prefix, local, True, missing, unexpected, errors)
            for name, child in module._modules.items():
                if child is not None:
                    inner = f"{prefix}{name}."
                    load(child, {k: v for k, v in state.items() if k.startswith(inner)}, inner)
            keys = _IncompatibleKeys(missing, unexpected)
            for hook in module._load_state_dict_post_hooks.values():
                if hook(module, keys) is not None:
                    raise AssertionError(
                        "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new "
                        "values, if incompatible_keys need to be modified, it should be done inplace."
                    )

        load(self, own, "")
        if strict:
            if unexpected:
                errors.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. ")
            if missing:
                errors.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}. ")
        if errors:
            raise RuntimeError(
                "Error(s) in loading state_dict for {}:\n\t{}".format(type(self).__name__, "\n\t".join(errors))
            )
        return _IncompatibleKeys(missing, unexpected)


def _quoted(keys: list[str]) -> str:
    return ", ".join(f'"{k}"' for k in keys)


def _unreachable(method: str) -> RuntimeError:
    return RuntimeError(
        f"Reached a code path in Module.{method}() that should never be called. Please file an issue at "
        "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this bug."
    )
