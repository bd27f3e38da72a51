"""Other names and other forms of arguments, NumPy's and those of PyTorch's first years; docstrings from lines.

In the first years a number stood before the tensors that it scales, `p.add_(-rate, gradient)`. PyTorch still takes that,
and says once for each function that it is deprecated. A call that fits today's form is never looked at.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor

NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}


def numpy_names(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Let a plain function take its arguments by NumPy's names too (an op's `bind` does so itself)."""

    @functools.wraps(fn)
    def call(*args: Any, **kw: Any) -> Any:
        if kw:
            kw = {NAMES.get(k, k): v for k, v in kw.items()}
        return fn(*args, **kw)

    return call


# By function: how many tensors it takes, and the keywords that the numbers before them have become.
OLDER: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("add", "sub"), (2, "alpha")),
    **dict.fromkeys(("addcmul", "addcdiv"), (3, "value")),
    **dict.fromkeys(("addmm", "addmv", "addr", "baddbmm", "addbmm"), (3, "beta", "alpha")),
}
_FORMS = {
    "add": ("Tensor input, Number alpha, Tensor other", "Tensor input, Tensor other, *, Number alpha = 1"),
    "add_": ("Number alpha, Tensor other", "Tensor other, *, Number alpha = 1"),
    "addcmul_": ("Number value, Tensor tensor1, Tensor tensor2", "Tensor tensor1, Tensor tensor2, *, Number value = 1"),
}
_FORMS |= {"sub": _FORMS["add"], "sub_": _FORMS["add_"], "addcdiv_": _FORMS["addcmul_"]}
_warned: set[str] = set()
_PACKAGE = __name__.partition(".")[0]


def callers_level() -> int:
    """How far up the stack the caller's own code is: between lie wrappers, more or fewer of them."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        level, frame = level + 1, frame.f_back
    return level


def older(fn: Callable[..., Any], name: str, args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
    """fn, called as today, for arguments in an older order; NotImplemented where they are in none."""
    count, *keywords = OLDER.get(name.rstrip("_"), (0,))
    if not args:
        return NotImplemented
    numbers = [a for a in args[:-1] if isinstance(a, (int, float, complex))]
    tensors = [a for a in args[:-1] if isinstance(a, Tensor)] + [args[-1]]
    if len(tensors) != count or not 1 <= len(numbers) <= len(keywords) or len(tensors) + len(numbers) != len(args):
        return NotImplemented
    if name not in _warned:
        _warned.add(name)
        was, now = _FORMS.get(name, ("", ""))
        text = f":\n\t{name}({was})\nConsider using one of the following signatures instead:\n\t{name}({now})"
        warnings.warn(
            f"This overload of {name} is deprecated{text if was else '.'}", UserWarning, stacklevel=callers_level()
        )
    return fn(*tensors, **dict(zip(keywords, numbers, strict=False)), **kw)


def strayed(fn: Callable[..., Any], name: str, args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
    """`older`, for a function whose signature leaves no other place for so many arguments."""
    out = older(fn, name, args, kw)
    if out is NotImplemented:
        method = name[-1] == "_"
        takes = OLDER[name.rstrip("_")][0] - method
        plural = "s" * (takes > 1)
        raise TypeError(f"{name}() takes {takes} positional argument{plural} but {len(args) - method} were given")
    return out


def describe(family: dict[str, Any], text: str, source: str = "torch") -> None:
    """Give functions of a family their docstrings, from lines `name: what it gives`."""
    for line in text.strip().splitlines():
        name, _, words = line.strip().partition(": ")
        family[name].__doc__ = f"{words} Source: {source}.{name}."
