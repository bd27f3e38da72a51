"""torch.jit: programs for TorchScript run as the Python that they are. Source: torch.jit."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Final

from .naming import sourced_all
from .nn.modules.module import Module

__all__ = [
    "Attribute", "Final", "ScriptFunction", "ScriptModule", "annotate", "export", "fork", "freeze", "ignore", "interface",
    "is_scripting", "is_tracing", "isinstance", "load", "optimize_for_inference", "save", "script",
    "script_if_tracing", "script_method", "set_fusion_strategy", "strict_fusion", "trace", "trace_module", "unused",
    "wait",
]  # fmt: skip

ScriptModule = Module
RecursiveScriptModule = Module
_isinstance = isinstance


class ScriptFunction:
    """The class of scripted functions; nothing is an instance of it."""


def _as_it_is(what: str) -> None:
    warnings.warn(
        f"torch.jit.{what} returns its argument: it runs as the Python that it is, and is not compiled.",
        UserWarning,
        stacklevel=3,
    )


def script(obj: Any, optimize: Any = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None) -> Any:
    """The function or module itself, with a warning."""
    _as_it_is("script")
    return obj


def trace(func: Any, example_inputs: Any = None, *args: Any, **kwargs: Any) -> Any:
    """The function or module itself, with a warning."""
    _as_it_is("trace")
    return func


def trace_module(mod: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
    """The module itself, with a warning."""
    _as_it_is("trace_module")
    return mod


def script_if_tracing(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself: nothing is traced."""
    return fn


def script_method(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The method itself."""
    return fn


def freeze(mod: Any, *args: Any, **kwargs: Any) -> Any:
    """The module itself."""
    return mod


def optimize_for_inference(mod: Any, *args: Any, **kwargs: Any) -> Any:
    """The module itself."""
    return mod


def export(fn: Any) -> Any:
    """The method itself."""
    return fn


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """The method itself, as a decorator with or without arguments."""
    return drop if callable(drop) else lambda fn: fn


def unused(fn: Any) -> Any:
    """The method itself."""
    return fn


def interface(obj: Any) -> Any:
    """The class itself."""
    return obj


def is_scripting() -> bool:
    """False: nothing is scripted."""
    return False


def is_tracing() -> bool:
    """False: nothing is traced."""
    return False


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether an object is of a type; of `List[int]` and the like only the container is looked at."""
    from typing import get_origin

    types = target_type if _isinstance(target_type, tuple) else (target_type,)
    return any(_isinstance(obj, get_origin(t) or t) for t in types)


def annotate(the_type: Any, the_value: Any) -> Any:
    """The value."""
    return the_value


def Attribute(value: Any, type: Any) -> Any:
    """The value."""
    return value


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """func(*args, **kwargs), at once."""
    return func(*args, **kwargs)


def wait(future: Any) -> Any:
    """What `fork` gave."""
    return future


def set_fusion_strategy(strategy: Any) -> Any:
    """Accepted."""
    return strategy


class strict_fusion:
    """Accepted."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: Any) -> None:
        pass


def _no_files(what: str) -> RuntimeError:
    return RuntimeError(
        f"torch.jit.{what}: there is no TorchScript here. Save a module's state_dict() with torch.save, and load it "
        "into a module made by the same program."
    )


def save(m: Any, f: Any, _extra_files: Any = None) -> None:
    """Raises: there is no TorchScript."""
    raise _no_files("save")


def load(f: Any, map_location: Any = None, _extra_files: Any = None) -> Any:
    """Raises: there is no TorchScript."""
    raise _no_files("load")


sourced_all(globals())
