"""Grad modes: whether ops record, each thread for itself.

`state.record` is what an op's fast path reads: True (record), False (do not), or a non-bool object when recording
needs more than the fast path does (inference mode, saved-tensor hooks, anomaly mode). The rest of the state
says why; `_refresh` keeps the two in step.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

CAREFUL = "careful"  # a truthy record state: go through the general path


class _State(threading.local):
    record: Any = True
    grad: bool = True
    inference: bool = False
    switched: int = 0  # how often a program has turned recording off
    said: bool = False  # what is_grad_enabled says in inference mode, where nothing records
    anomaly: bool = False
    check_nan: bool = True
    check_inf: bool = False
    check_forward: bool = False  # whether anomaly mode looks at results too
    debug: bool = False  # whether lines are noted for the errors of writes
    grad_layout: bool = True  # whether a first gradient must lie as its leaf does
    masked: bool = False  # whether zero times infinity is zero in backward
    timer: Any = None  # what a profiler makes of a name: a context manager
    watched: bool = False  # whether any of these wants to see nodes run
    saved_hooks: tuple[Any, ...] = ()
    forward_off: int | None = None  # the level of forward mode that is switched off
    interpreters: int = 0  # transforms at work (forward mode, vmap)
    torch_function: bool = True  # whether subclasses override functions
    function_modes: tuple[Any, ...] = ()  # the modes that see ops,
    face_modes: tuple[Any, ...] = ()  # those that see public functions,
    torch_function_modes: bool = True  # and whether they are heeded

    def __init__(self) -> None:  # once a thread
        # Like PyTorch's, ops do not warn about infinities and NaNs. An errstate around each call would double its cost.
        np.seterr(all="ignore")
        if self.anomaly:
            self.refresh()

    def refresh(self) -> None:
        self.watched = self.anomaly or self.masked or self.timer is not None
        if self.inference or (self.grad and (self.anomaly or self.saved_hooks or self.debug)):
            self.record = CAREFUL
        else:
            self.record = self.grad


state = _State()


def in_all_threads(**settings: Any) -> None:
    """Set what holds in every thread. Those that run already notice when next a mode of theirs changes."""
    for name, value in settings.items():
        setattr(_State, name, value)
    state.refresh()


def is_grad_enabled() -> bool:
    """Whether ops record for backward in this thread. Source: torch.is_grad_enabled."""
    return state.said if state.inference else state.grad


def is_inference_mode_enabled() -> bool:
    """Whether this thread is in inference mode. Source: torch.is_inference_mode_enabled."""
    return state.inference


def set_record(on: bool) -> bool:
    """Turn recording on or off, returning what it was: for the engine, which needs no context manager."""
    if state.inference:
        was, state.said = state.said, on
        return was
    was = state.grad
    if was is not on:
        state.grad = on
        state.refresh()
    return was


class _Mode:
    """A context manager that is also a decorator, of functions, generators and coroutines."""

    def clone(self) -> _Mode:
        return self.__class__()

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, *exc: Any) -> None:
        raise NotImplementedError

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isclass(fn):
            import warnings

            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. You should only decorate "
                "functions or methods. To preserve the current behavior of class decoration, you can directly decorate the "
                "`__init__` method and nothing else.",
                FutureWarning,
                stacklevel=2,
            )
            fn.__init__ = self(fn.__init__)  # type: ignore[method-assign]
            return fn
        if inspect.isgeneratorfunction(fn):
            return self._wrap_generator(fn)

        @functools.wraps(fn)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return fn(*args, **kwargs)

        return decorated

    def _wrap_generator(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        # The mode holds while the generator runs, not while it is suspended.
        @functools.wraps(fn)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            gen = fn(*args, **kwargs)
            send: Callable[[], Any] = lambda: next(gen)  # noqa: E731
            while True:
                try:
                    with self.clone():
                        item = send()
                except StopIteration as stop:
                    return stop.value
                try:
                    got = yield item
                except GeneratorExit:
                    with self.clone():
                        gen.close()
                    raise
                except BaseException as e:
                    error = e
                    send = lambda: gen.throw(error)  # noqa: B023, E731
                else:
                    send = lambda: gen.send(got)  # noqa: B023, E731

        return decorated


class no_grad(_Mode):
    """Within it nothing is recorded for backward. Source: torch.no_grad.

    >>> import tidu as torch
    >>> x = torch.tensor([1.], requires_grad=True)
    >>> with torch.no_grad():
    ...     (x * 2).requires_grad
    False
    """

    def __new__(cls, fn: Callable[..., Any] | None = None) -> Any:
        self = object.__new__(cls)
        return self if fn is None else self(fn)

    def __init__(self, fn: Callable[..., Any] | None = None) -> None:
        self.prev = False

    def __enter__(self) -> None:
        self.prev = set_record(False)
        state.switched += 1

    def __exit__(self, *exc: Any) -> None:
        set_record(self.prev)


class enable_grad(_Mode):
    """Within it ops record, even inside `no_grad`. Source: torch.enable_grad."""

    def __new__(cls, fn: Callable[..., Any] | None = None) -> Any:
        self = object.__new__(cls)
        return self if fn is None else self(fn)

    def __init__(self, fn: Callable[..., Any] | None = None) -> None:
        self.prev = False

    def __enter__(self) -> None:
        self.prev = set_record(True)

    def __exit__(self, *exc: Any) -> None:
        set_record(self.prev)


class set_grad_enabled(_Mode):
    """Set recording on or off, at once; as a context manager, put it back on leaving. Source: torch.set_grad_enabled."""

    def __init__(self, mode: bool) -> None:
        if mode.__class__ is not bool:
            kind = type(mode).__name__
            raise TypeError(f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {kind}")
        self.mode = mode
        self.prev = set_record(mode)
        state.switched += not mode

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    def clone(self) -> _Mode:
        return self.__class__(self.mode)

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        set_record(self.prev)  # as a decorator it acts only while the function runs
        return super().__call__(fn)

    def __enter__(self) -> None:
        set_record(self.mode)
        state.switched += not self.mode

    def __exit__(self, *exc: Any) -> None:
        set_record(self.prev)


class inference_mode(_Mode):
    """Like `no_grad`, and what is made within can never take part in autograd. Source: torch.inference_mode."""

    def __new__(cls, mode: Any = True) -> Any:
        self = object.__new__(cls)
        if isinstance(mode, bool):
            return self
        self.__init__()  # type: ignore[misc]
        return self(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def clone(self) -> _Mode:
        return self.__class__(self.mode)

    def __enter__(self) -> None:
        self._was = state.inference, state.grad, state.said
        state.inference, state.grad, state.said = self.mode, not self.mode, False
        state.refresh()

    def __exit__(self, *exc: Any) -> None:
        state.inference, state.grad, state.said = self._was
        state.refresh()


class set_multithreading_enabled(_Mode):
    """Accepted and without effect: a backward pass runs in the thread that asks for it. Source:
    torch.autograd.grad_mode.set_multithreading_enabled."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def clone(self) -> _Mode:
        return self.__class__(self.mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: Any) -> None:
        pass
