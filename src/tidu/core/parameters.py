"""Functions' parameters, read off their code: `inspect.signature` was most of what importing the ops cost. And code put in
place of a function's own, so that the function stays the object that everybody has references to."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from types import CodeType, FunctionType
from typing import Any

REQUIRED = inspect.Parameter.empty  # the default of a parameter that has none
_STARRED = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


def named(fn: Callable[..., Any], names: Sequence[str]) -> Callable[..., Any]:
    """Give a rule that takes `*values` the parameter names by which it is known."""
    fn.parameter_names = tuple(names)
    return fn


def names_of(fn: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a function's parameters."""
    given = getattr(fn, "parameter_names", None)
    if given is not None:
        return given
    return parameters_of(fn)[0]


def _told_by(fn: Any) -> FunctionType | None:
    """The function whose code says what the parameters are: itself, or what it wraps. None where only inspect can tell."""
    while isinstance(fn, FunctionType) and "__signature__" not in fn.__dict__:
        wrapped = fn.__dict__.get("__wrapped__")
        if wrapped is None:
            return None if fn.__code__.co_flags & _STARRED else fn
        fn = wrapped
    return None


def parameters_of(fn: Callable[..., Any]) -> tuple[tuple[str, ...], tuple[Any, ...], int]:
    """The names of a function's parameters, their defaults, and how many may be given by position."""
    own = _told_by(fn)
    if own is not None:
        code, n = own.__code__, own.__code__.co_argcount
        names = code.co_varnames[: n + code.co_kwonlyargcount]
        defaults, by_name = own.__defaults__ or (), own.__kwdefaults__ or {}
        values = (REQUIRED,) * (n - len(defaults)) + defaults
        return names, (*values, *(by_name.get(name, REQUIRED) for name in names[n:])), n
    parameters = inspect.signature(fn).parameters.values()
    keyword = inspect.Parameter.KEYWORD_ONLY
    return (
        tuple(p.name for p in parameters),
        tuple(p.default for p in parameters),
        sum(p.kind is not keyword for p in parameters),
    )


def missing(name: str, lacking: Sequence[str]) -> TypeError:
    """The error of a call without arguments that it must have."""
    many = "s" if len(lacking) == 1 else ""  # so PyTorch says
    words = ", ".join(f'"{p}"' for p in lacking)
    return TypeError(f"{name}() missing {len(lacking)} required positional argument{many}: {words}")


def hand_over(fn: Any, to: Any) -> None:
    """Make `fn(*args, **kw)` return `to(args, kw)`."""
    fn.__code__ = _handing_over(len(fn.__code__.co_freevars)).replace(co_name=fn.__code__.co_name)
    fn.__kwdefaults__ = {"_to_": to}


def twin(fn: Any) -> FunctionType:
    """A function of its own that does what `fn` does now."""
    plain = FunctionType(fn.__code__, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
    plain.__kwdefaults__, plain.__qualname__ = fn.__kwdefaults__, fn.__qualname__
    return plain


@cache
def _handing_over(free: int) -> CodeType:
    """The code, for a function with so many free variables.

    They must be free in this code too, and as the compiler does it: a frame that says it has them and has not taken them
    over crashes the interpreter when a debugger reads its variables. A line that never runs names them.
    """
    names = ", ".join([f"v{k}" for k in range(free)])
    never = f"        if 0: {names}\n" if free else ""
    namespace: dict[str, Any] = {}
    exec(
        f"def outer({names}):\n    def handing(*args, _to_, **kw):\n{never}"
        "        return _to_(args, kw)\n    return handing",
        namespace,
    )
    code: CodeType = namespace["outer"](*range(free)).__code__
    return code.replace(co_filename=__file__)
