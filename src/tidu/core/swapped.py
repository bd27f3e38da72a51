"""Code put in place of a function's own, so that the function stays the object that everybody has references to."""

from __future__ import annotations

from functools import cache
from types import CodeType, FunctionType
from typing import Any


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
