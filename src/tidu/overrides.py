"""torch.overrides: functions that call `__torch_function__`, for code that is to be overridable itself."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from .core.modes import state
from .core.subclass import (
    FACES,
    PUBLIC,
    DisableTorchFunctionSubclass,
    _disabled_torch_function_impl,  # noqa: F401  programs import it from here
    call_overridden,
    name_of,
    overrides,
    pop_mode,
    push_mode,
)
from .core.tensor import Tensor
from .naming import sourced_all

__all__ = [
    "BaseTorchFunctionMode", "DisableTorchFunction", "DisableTorchFunctionSubclass", "TorchFunctionMode",
    "enable_reentrant_dispatch", "get_ignored_functions", "get_overridable_functions", "get_testing_overrides",
    "handle_torch_function", "has_torch_function",
    "has_torch_function_unary", "has_torch_function_variadic", "is_tensor_like", "is_tensor_method_or_property",
    "resolve_name", "wrap_torch_function",
]  # fmt: skip


class DisableTorchFunction(DisableTorchFunctionSubclass):
    """Within it neither subclasses nor modes override functions. Source: torch._C.DisableTorchFunction."""

    def __enter__(self) -> None:
        super().__enter__()
        self._modes = state.torch_function_modes
        state.torch_function_modes = False

    def __exit__(self, *exc: Any) -> None:
        state.torch_function_modes = self._modes
        super().__exit__(*exc)


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether one of the arguments, or a mode, overrides functions."""
    if state.face_modes and state.torch_function_modes:
        return True
    return state.torch_function and any(overrides(type(v)) for v in relevant_args)


def has_torch_function_unary(obj: Any) -> bool:
    """`has_torch_function` of one argument."""
    return has_torch_function((obj,))


def has_torch_function_variadic(*args: Any) -> bool:
    """`has_torch_function` of several arguments."""
    return has_torch_function(args)


def handle_torch_function(public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kw: Any) -> Any:
    """Call a function by the `__torch_function__` of its arguments.

    Args:
        public_api: the function, as `__torch_function__` is to see it.
        relevant_args: the arguments that may override it.
        args, kw: what it is called with.

    Raises:
        TypeError: all of them return NotImplemented.
    """
    name = f"{public_api.__module__}.{public_api.__name__}"
    return call_overridden(public_api, tuple(relevant_args), args, kw, python=name)


def wrap_torch_function(dispatcher: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator that makes a function overridable; `dispatcher(*args, **kwargs)` gives the arguments that may."""

    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def wrapped(*args: Any, **kw: Any) -> Any:
            relevant = dispatcher(*args, **kw)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kw)
            return func(*args, **kw)

        return wrapped

    return decorate


def is_tensor_like(inp: Any) -> bool:
    """Whether an object is a tensor or takes part like one."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func: Any) -> bool:
    """Whether a function is a method of Tensor."""
    name = getattr(func, "__name__", "")
    return getattr(Tensor, name, None) is func or name == "__get__"


def get_overridable_functions() -> dict[Any, list[Any]]:
    """The functions that subclasses see, by namespace."""
    from importlib import import_module

    from .faces import NAMESPACES, UNSEEN
    from .methods import LATER

    def public(names: dict[str, Any]) -> list[Any]:
        return [f for n, f in names.items() if isinstance(f, FunctionType) and n not in UNSEEN]

    found: dict[Any, list[Any]] = {import_module(__package__): public({n: PUBLIC[n] for n in LATER})}
    for name in NAMESPACES:
        module = import_module(f"{__package__}.{name}")
        found[module] = public({n: getattr(module, n) for n in dir(module) if n[0] != "_"})
    found[Tensor] = public({n: getattr(Tensor, n) for n in list(vars(Tensor))})
    found[Tensor] += [f.__get__ for f in vars(Tensor).values() if isinstance(f, property)]
    return found


def get_testing_overrides() -> dict[Any, Callable[..., Any]]:
    """For each function that may be overridden one of the same arguments that returns -1."""

    def dummy(f: Any) -> Callable[..., Any]:
        override: Any = lambda *args, **kw: -1  # noqa: E731
        with contextlib.suppress(TypeError, ValueError):
            override.__signature__ = inspect.signature(f)
        return override

    return {f: dummy(f) for functions in get_overridable_functions().values() for f in functions}


def get_ignored_functions() -> set[Any]:
    """The functions that cannot be overridden."""
    from .faces import UNSEEN

    return {f for n in UNSEEN for f in (getattr(Tensor, n, None), PUBLIC.get(n)) if callable(f)}


def resolve_name(f: Any) -> str | None:
    """A readable name of a function that is overridden."""
    if getattr(f, "__name__", None) is None:
        return None
    home, _, name = name_of(f).rpartition(".")
    return f"{home}.{name.removeprefix(home.rpartition('.')[2] + '_')}"


class TorchFunctionMode:
    """Within it `__torch_function__` of the mode sees every public function.

    >>> import tidu as torch
    >>> class Log(torch.overrides.TorchFunctionMode):
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         print(func.__name__)
    ...         return func(*args, **(kwargs or {}))
    >>> with Log():
    ...     y = torch.ones(2).exp()
    ones
    exp
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> TorchFunctionMode:
        FACES.start()
        push_mode(self)
        state.face_modes = (*state.face_modes, self)
        return self

    def __exit__(self, *exc: Any) -> None:
        state.face_modes = state.face_modes[:-1]
        pop_mode()
        FACES.stop()

    @classmethod
    def push(cls, *args: Any, **kw: Any) -> TorchFunctionMode:
        return cls(*args, **kw)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that changes nothing."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class enable_reentrant_dispatch:
    """Does nothing: a mode is always inactive while it handles a call."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: Any) -> None:
        pass


sourced_all(globals())
