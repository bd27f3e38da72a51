"""What is wrong with the arguments of a call, in PyTorch's words.

A call that fails is looked at again, by the signatures of `_signatures.py`, as PyTorch's argument parser would: the
message names the argument, or lists the signatures where several could have been meant. A call that succeeds is not
looked at.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.parameters import missing
from ..core.subclass import FACES, newly_overridden
from ..core.tensor import Tensor
from ..dtypes import dtype
from ._make import word
from ._older import older
from ._signatures import METHODS, QUICK, SIGNATURES

NUMPY = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}


class Parameter(NamedTuple):
    kind: str
    name: str
    required: bool
    by_name: bool  # only
    none: bool  # whether None may be given


def guarded(fn: Callable[..., Any], name: str, method: bool = False) -> Callable[..., Any]:
    """The function with PyTorch's messages for wrong arguments, and with NumPy's names for right ones."""
    forms = getattr(fn, "forms", None)
    if forms is not None:
        return forms[method]  # type: ignore[no-any-return]
    if name not in SIGNATURES:
        name = getattr(fn, "__name__", "")  # an alias is the function that it stands for
    if name not in SIGNATURES or name in QUICK or not hasattr(fn, "__code__"):
        return fn
    known = _guarded.get((fn, method))
    if known is not None:
        return known

    @functools.wraps(fn)
    def call(*args: Any, **kw: Any) -> Any:
        if kw:
            kw = renamed(name, kw)
        try:
            return fn(*args, **kw)
        except (TypeError, AttributeError, ValueError):
            if FACES.refresh is None and newly_overridden((*args, *kw.values())):
                return call(*args, **kw)
            better = refusal(name, method, args, kw)
            if better is None:
                if any(
                    isinstance(v, np.generic) for v in (*args, *kw.values())
                ):  # NumPy's numbers are as good
                    return fn(*map(_plain, args), **{k: _plain(v) for k, v in kw.items()})
                raise
            again = older(fn, name, args, kw)
            if again is not NotImplemented:
                return again
            raise better from None

    call.__module__ = __package__.partition(".")[0]  # where pickle finds it
    _guarded[fn, method] = call
    return call


def _plain(v: Any) -> Any:
    return v.item() if isinstance(v, np.generic) else v


_guarded: dict[tuple[Callable[..., Any], bool], Callable[..., Any]] = {}


def quick(fn: Callable[..., Any], name: str, plain: Callable[[Any], Any]) -> Callable[..., Any]:
    """`guarded` for a function whose call with a tensor alone goes to `plain`, without a detour."""

    def made(method: bool) -> Callable[..., Any]:
        general = guarded(fn, name, method)

        @functools.wraps(general)
        def call(*args: Any, **kw: Any) -> Any:
            if kw or len(args) != 1:
                return general(*args, **kw)
            return plain(args[0])

        call.__name__ = call.__qualname__ = name
        return call

    function = made(False)
    function.forms = function, made(True)  # type: ignore[attr-defined]
    return function


def renamed(name: str, kw: dict[str, Any]) -> dict[str, Any]:
    """Keywords by PyTorch's names: axis is dim, unless the function has an axis."""
    if NUMPY.keys().isdisjoint(kw):
        return kw
    own = {p.name for s in SIGNATURES[name] for p in parsed(s)}
    return {k if k in own else NUMPY.get(k, k): v for k, v in kw.items()}


def refusal(name: str, method: bool, args: tuple[Any, ...], kw: dict[str, Any]) -> TypeError | None:
    """The error that PyTorch raises for such arguments; None if they fit a signature."""
    shown = signatures(name, method)
    if method:
        args = args[1:]
    problems = [problem(name, parsed(s), args, kw) for s in shown]
    if not all(problems):
        return None
    if len(shown) == 1:
        return TypeError(problems[0])
    given = len(args) + len(kw)
    plausible = [p for p, s in zip(problems, shown, strict=True) if _least(s) <= given <= len(parsed(s))]
    if len(plausible) == 1:
        return TypeError(plausible[0])
    lines = "".join(f" * ({s})\n{_mismatch(s, args, kw)}" for s in shown)
    return TypeError(
        f"{name}() received an invalid combination of arguments - got ({_given(args, kw)}), but expected one of:\n"
        f"{lines}"
    )


def _least(signature: str) -> int:
    return sum(p.required for p in parsed(signature))


@functools.cache
def signatures(name: str, method: bool) -> tuple[str, ...]:
    if not method:
        return SIGNATURES[name]
    if name in METHODS:
        return METHODS[name]
    return tuple(map(_of_method, SIGNATURES[name]))


def _of_method(signature: str) -> str:
    rest = re.sub(r"^Tensor \w+(, )?", "", signature)
    rest = re.sub(r"(, )?(Tensor|tuple of Tensors) out = None", "", rest)
    return re.sub(r"(, )?\*$", "", rest)


@functools.cache
def parsed(signature: str) -> tuple[Parameter, ...]:
    found: list[Parameter] = []
    by_name = False
    for part in signature.split(", ") if signature else ():
        if part == "*":
            by_name = True
            continue
        kind_and_name, _, default = part.partition(" = ")
        kind, _, name = kind_and_name.rpartition(" ")
        found.append(Parameter(kind, name, not default, by_name, default == "None"))
    return tuple(found)


def problem(name: str, parameters: Sequence[Parameter], args: tuple[Any, ...], kw: dict[str, Any]) -> str:
    """Why the arguments do not fit one signature; an empty string if they do."""
    positional = [p for p in parameters if not p.by_name]
    spread = len(positional) == 1 and positional[0].kind == "tuple of ints" and positional[0].name in _SIZES
    if len(args) > len(positional) and not (spread and all(_is_int(a) for a in args)):
        least = sum(p.required for p in positional)
        most = f"{len(positional)} positional argument{'s' * (len(positional) != 1)}"
        if least < len(positional):
            most = f"from {least} to {len(positional)} positional arguments"
        return f"{name}() takes {most} but {len(args)} {'was' if len(args) == 1 else 'were'} given"
    for i, p in enumerate(parameters):
        by_place = i < len(args) and not p.by_name
        if by_place and p.name in kw:
            return f"{name}() got multiple values for argument '{p.name}'"
        if not by_place and p.name not in kw:
            if p.required:
                lacking = [
                    q.name for q in parameters[i:] if q.required and not q.by_name and q.name not in kw
                ]
                return str(missing(name, lacking))
            continue
        value = args[i] if by_place else kw[p.name]
        if not fits(p, value) and not (spread and by_place and len(args) > 1):
            place = f" (position {i + 1})" if by_place else ""
            return f"{name}(): argument '{p.name}'{place} must be {p.kind}, not {word(value)}"
    names = {p.name for p in parameters}
    unknown = next((k for k in kw if k not in names), None)
    return "" if unknown is None else f"{name}() got an unexpected keyword argument '{unknown}'"


_SIZES = ("size", "sizes", "shape", "dims", "repeats")


def fits(p: Parameter, v: Any) -> bool:
    """Whether a value may be given for a parameter."""
    if v is None:
        return p.none
    kind = p.kind
    if kind == "Tensor":
        return isinstance(v, Tensor)
    if kind == "int":
        return _is_int(v)
    if kind == "bool":
        return isinstance(v, (bool, np.bool_))
    if kind in ("Number", "float"):
        real = isinstance(v, (int, float, np.integer, np.floating)) or (isinstance(v, Tensor) and not v.ndim)
        return real or (kind == "Number" and isinstance(v, (complex, np.complexfloating)))
    if kind == "tuple of ints":
        if _is_int(v):
            return p.name not in _SIZES
        return isinstance(v, (tuple, list)) and all(_is_int(x) for x in v[:1])
    if kind == "tuple of Tensors":
        return isinstance(v, (tuple, list))
    if kind == "torch.dtype":
        return isinstance(v, (dtype, type))
    return isinstance(v, str) if kind == "str" else True


def _is_int(v: Any) -> bool:
    if isinstance(v, Tensor):
        return not v.ndim and not (v.dtype.is_floating_point or v.dtype.is_complex)
    return isinstance(v, (int, np.integer)) and not isinstance(v, bool)


# ------------------------------------------------------------------ the list of signatures


def _given(args: tuple[Any, ...], kw: dict[str, Any]) -> str:
    text = ", ".join([*map(word, args), *(f"{k}={word(v)}" for k, v in kw.items())])
    return text + ", " if len(kw) == 1 and not args else text


def _mismatch(signature: str, args: tuple[Any, ...], kw: dict[str, Any]) -> str:
    """The line that PyTorch adds under a signature with as many parts as there are arguments."""
    parts = signature.split(", ") if signature else [""]
    if len(args) + len(kw) != len(parts):
        return ""
    parameters = parsed(signature)
    unknown = [k for k in kw if k not in {p.name for p in parameters}]
    if unknown:
        return f"      didn't match because some of the keywords were incorrect: {', '.join(unknown)}\n"
    shown = [_marked(p, v) for p, v in zip(parts, args, strict=False)]
    named = {p.name: p.kind for p in parameters}
    shown += [f"{k}={_marked(f'{named[k]} {k}', v)}" for k, v in kw.items()]
    text = ", ".join(shown) + (", " if len(kw) == 1 and not args else "")
    return f"      didn't match because some of the arguments have invalid types: ({text})\n"


def _marked(part: str, v: Any) -> str:
    """A value's type, between exclamation marks unless it is plainly the one asked for."""
    kind = part.partition(" = ")[0].rpartition(" ")[0]
    plain = {"Tensor": Tensor, "int": int, "bool": bool, "float": float, "str": str}.get(kind)
    ok = plain is not None and isinstance(v, plain) and not (kind == "int" and isinstance(v, bool))
    return word(v) if ok else f"!{word(v)}!"
