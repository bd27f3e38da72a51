"""Subclasses of Tensor that see what is done to them: `__torch_function__`.

A subclass hides its `_a` behind a property, so that an op's fast path stumbles over it and turns to `Op.general`, which
asks here. The class's `__torch_function__` is called with the public function and the arguments; PyTorch's own, which
a subclass inherits, runs the function with overriding switched off and makes what comes out instances of the subclass.
While overriding is off for a thread the property gives the array, and the fast path is open.

A class whose `__torch_function__` is `_disabled_torch_function_impl` (Parameter) hides nothing.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Sequence
from types import BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType
from typing import Any

from numpy import ndarray

from .. import dtypes
from ..shapes import Size
from .modes import state
from .parameters import REQUIRED, parameters_of
from .tensor import Tensor

_slot: Any = Tensor.__dict__["_a"]


class _Face(dict[str, Callable[..., Any]]):
    """Functions by name; one that is not there yet is imported."""

    later: Callable[[str], Callable[..., Any]]  # imports the family of a name that is not there yet

    def __missing__(self, name: str) -> Callable[..., Any]:
        return self.later(name)

    def get(self, name: str, default: Any = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return default


PUBLIC = _Face()  # the face, by which overriding functions know the ops
_public_of: dict[Any, Callable[..., Any]] = {}


class DisableTorchFunctionSubclass:
    """Within it subclasses are taken for plain tensors. Source: torch._C.DisableTorchFunctionSubclass."""

    def __enter__(self) -> None:
        self._was = state.torch_function
        state.torch_function = False

    def __exit__(self, *exc: Any) -> None:
        state.torch_function = self._was


def _disabled_torch_function_impl(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """The `__torch_function__` of classes that are to be plain tensors to every function."""
    with DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


def _foreign(func: Any) -> bool:
    """Whether a function is of a PyTorch beside tidu, which would come here for ever."""
    home = getattr(func, "__module__", None) or ""
    return (
        isinstance(func, (MethodDescriptorType, WrapperDescriptorType, BuiltinFunctionType))
        or home.partition(".")[0] == "torch"
    )


def _default_impl(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """Run the function on what lies beneath, and make its results instances of the subclass. Source:
    torch.Tensor.__torch_function__."""
    if not all(issubclass(cls, t) for t in types) or _foreign(func):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
        return result if getattr(func, "__self__", None) in _as_they_are() else convert(result, cls)


@functools.cache
def _as_they_are() -> list[Any]:
    """The attributes whose values stay of the class that they have."""
    return [Tensor.__dict__["grad"], Tensor.__dict__["_base"]]


def convert(result: Any, cls: Any) -> Any:
    """A result, or what it consists of, as instances of a subclass."""
    if cls is Tensor:
        return result
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else result.as_subclass(cls)
    if isinstance(result, (tuple, list)):
        made = [convert(r, cls) for r in result]
        return type(result)(*made) if hasattr(result, "_fields") else type(result)(made)
    return result


# ------------------------------------------------------------------ hiding


def _get(t: Any) -> Any:
    if state.torch_function:
        raise AttributeError("a subclass hides its array", name="_a", obj=t)
    return _slot.__get__(t)


_hidden = {
    "_a": property(_get, lambda t, a: _slot.__set__(t, a)),
    "shape": property(lambda t: Size(_slot.__get__(t).shape)),
    "dtype": property(lambda t: dtypes.from_numpy(_slot.__get__(t).dtype)),
    "ndim": property(lambda t: _slot.__get__(t).ndim),
}


def _init_subclass(cls: Any, **kw: Any) -> None:
    super(Tensor, cls).__init_subclass__(**kw)
    if cls.__torch_function__ is not _disabled_torch_function_impl:
        if getattr(cls.__torch_function__, "__func__", None) is not _default_impl:
            watch_for_good()
        for name, shadow in _hidden.items():
            if name not in cls.__dict__:
                setattr(cls, name, shadow)


Tensor.__init_subclass__ = classmethod(_init_subclass)  # type: ignore[assignment]
_default_impl.__qualname__ = "Tensor.__torch_function__"
Tensor.__torch_function__ = classmethod(_default_impl)


def _make_wrapper_subclass(cls: Any, *args: Any, **kw: Any) -> Any:
    """Raises: a tensor here has an array."""
    raise NotImplementedError(
        "torch.Tensor._make_wrapper_subclass: tidu has no tensors without memory of their own, and no classes with a "
        "__torch_dispatch__. Override __torch_function__, or use a torch.utils._python_dispatch.TorchDispatchMode."
    )


Tensor._make_wrapper_subclass = staticmethod(_make_wrapper_subclass)


# ------------------------------------------------------------------ public functions


class _Faces:
    """The watch over public functions, see faces.py."""

    start: Callable[[], None]
    stop: Callable[[], None]
    between: Callable[[Callable[[], None]], None] = staticmethod(lambda change: change())
    refresh: Callable[..., None] | None = None  # None: nobody watches
    for_good = False


FACES = _Faces()


def watch_for_good() -> None:
    """Watch public functions from now on: there is a class that overrides them."""
    if not FACES.for_good:
        FACES.for_good = True
        FACES.start()


def newly_overridden(values: Iterable[Any]) -> bool:
    """Whether a value that is no tensor overrides functions, which are watched from then on."""
    for v in values:
        if not isinstance(v, (Tensor, type)) and overrides(v.__class__):
            watch_for_good()
            return True
    return False


# ------------------------------------------------------------------ function modes


_modes = 0  # how many are active, in all threads
_open = {name: Tensor.__dict__[name] for name in _hidden}


def _get_in_mode(t: Any) -> Any:
    if state.function_modes and state.torch_function_modes:
        frame: Any = sys._getframe(1)
        while frame.f_code.co_name[0] == "<":  # a list being made
            frame = frame.f_back
        if "AttributeError" in frame.f_code.co_names or "_a" in frame.f_code.co_consts:  # who has another way
            raise AttributeError("a function mode sees this call", name="_a", obj=t)
    return _slot.__get__(t)


def push_mode(mode: Any) -> None:
    """Let a mode see every op: while any is active, all tensors hide their arrays."""
    state.function_modes = (*state.function_modes, mode)
    _hide()


def watch_all(mode: Any, on: bool) -> None:
    """Let a mode see every op beneath all others, in this thread and in those to come; or no more."""
    for holder in (type(state), state):
        rest = tuple([m for m in holder.function_modes if m is not mode])
        holder.function_modes = (mode, *rest) if on else rest
    if on:
        _hide()
    else:
        _show()


def _hide() -> None:
    global _modes
    _modes += 1
    if _modes == 1:
        Tensor._a = property(_get_in_mode, _hidden["_a"].fset)  # type: ignore[assignment]
        for name in ("shape", "dtype", "ndim"):
            setattr(Tensor, name, _hidden[name])


def pop_mode() -> Any:
    *rest, mode = state.function_modes
    state.function_modes = tuple(rest)
    _show()
    return mode


def _show() -> None:
    global _modes
    _modes -= 1
    if not _modes:
        for name, attribute in _open.items():
            setattr(Tensor, name, attribute)


# ------------------------------------------------------------------ calling


def overrides(cls: type) -> bool:
    """Whether instances of a class want to see what is done to them."""
    f = getattr(cls, "__torch_function__", None)
    return (
        f is not None
        and f is not _disabled_torch_function_impl
        and cls is not Tensor
        and getattr(f, "__module__", "") not in ("torch._tensor", "torch._C")  # of a PyTorch beside tidu
    )


def overloaded(values: Iterable[Any]) -> list[Any]:
    """The values whose classes override functions, one of each class, subclasses before their bases."""
    found: list[Any] = []
    for v in values:
        cls = v.__class__
        if cls is Tensor or not overrides(cls) or any(type(f) is cls for f in found):
            continue
        if not isinstance(v, Tensor):
            watch_for_good()
        at = next((i for i, f in enumerate(found) if issubclass(cls, type(f))), len(found))
        found.insert(at, v)
    return found


def call_overridden(
    func: Callable[..., Any], relevant: Iterable[Any], args: Any, kwargs: Any, plain: bool = False, python: str = ""
) -> Any:
    """Call `func` by the modes and classes that override it; TypeError if none of them will. With `plain` tensors that
    override nothing are among the types too; `python` is the name of a function that PyTorch has in Python, whose error
    is worded differently, or NotImplemented for an operator, which leaves the error to Python."""
    relevant = list(relevant)
    found = overloaded(relevant)
    types = tuple(type(v) for v in found)
    if plain and any(v.__class__ is Tensor for v in relevant):
        types += (Tensor,)
    if state.function_modes and state.torch_function_modes:
        mode = pop_mode()
        try:
            result = mode.__torch_function__(func, types, args, kwargs)
        finally:
            push_mode(mode)
        if result is not NotImplemented:
            return result
    for v in found:
        result = v.__torch_function__(func, types, args, kwargs)
        if result is not NotImplemented:
            return result
    if python == "NotImplemented":
        return NotImplemented
    if python:
        raise TypeError(
            f"no implementation found for '{python}' on types that implement __torch_function__: "
            f"{[type(v) for v in found]}"
        )
    lines = "".join(f"\n  - tensor subclass {t!r}" for t in types)
    raise TypeError(
        f"Multiple dispatch failed for '{name_of(func)}'; all __torch_function__ handlers returned NotImplemented:\n{lines}\n\n"
        "For more information, try re-running with TORCH_LOGS=not_implemented"
    )


def name_of(func: Any) -> str:
    """A function as PyTorch names it to people."""
    name: str = func.__name__
    if name == "__get__":
        attribute = func.__self__
        name = next(n for n, v in (*vars(Tensor).items(), *_hidden.items()) if v is attribute) + ".__get__"
    elif PUBLIC.get(name) is func:
        return f"torch.{name}"
    elif getattr(Tensor, name, None) is not func:
        return f"{func.__module__}.{name}".replace("tidu.", "torch.", 1)
    return f"torch.Tensor.{name}"


class Override:
    """Stands where an interpreter stands in `Op.general`."""

    level = 1 << 30

    def process(self, op: Any, args: tuple[Any, ...]) -> Any:
        if state.function_modes and hasattr(state.function_modes[-1], "dispatch"):
            return state.function_modes[-1].dispatch(op, args)
        public = _public(op)
        positional, kw = _presented(op, args)
        return call_overridden(public, op.tensor_args(args), positional, kw or None)

    def process_inplace(self, op: Any, args: Sequence[Any]) -> Any:
        if state.function_modes and hasattr(state.function_modes[-1], "dispatch"):
            return state.function_modes[-1].dispatch_inplace(op, args)
        public = PUBLIC.get(op.name + "_") or _inplace_of(op)
        positional, kw = _presented(op, args)
        return call_overridden(public, op.tensor_args(args), positional, kw or None)


OVERRIDE = Override()


def wants_override(values: Iterable[Any]) -> bool:
    """Whether a mode, or one of the values, wants to see the call."""
    if state.function_modes and state.torch_function_modes:
        return True
    return state.torch_function and any(v.__class__ is not Tensor and overrides(v.__class__) for v in values)


def wants_public(values: Iterable[Any]) -> bool:
    """The same of a public function, which a mode that sees ops does not see."""
    if state.function_modes and hasattr(state.function_modes[-1], "dispatch"):
        return any(v.__class__ is not Tensor and overrides(v.__class__) for v in values)
    return wants_override(values)


def _public(op: Any) -> Callable[..., Any]:
    """The public function that is the op, or the op itself where the arguments differ."""
    got = _public_of.get(op)
    if got is None:
        got = PUBLIC.get(op.name, op.call)
        if got is not op.call and not _takes_the_same(got, op):
            got = op.call
        _public_of[op] = got
    return got


def _takes_the_same(public: Callable[..., Any], op: Any) -> bool:
    """Whether a function takes the op's arguments as they are, perhaps with others after them."""
    names, defaults, _ = parameters_of(public)
    taken = [(n, d) for n, d in zip(names, defaults, strict=True) if n != "out"][: len(op.params)]
    if [n for n, _ in taken] != list(op.params):
        return False
    return op.name in _ALIKE or all(d is own for (_, d), own in zip(taken, op.defaults, strict=True))


_ALIKE = frozenset("cat clone log_softmax softmax stack".split())  # the op knows fewer defaults


def _inplace_of(op: Any) -> Callable[..., Any]:
    from .inplace import inplace

    return inplace(op)


def _presented(op: Any, args: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments as a caller would have written them: defaults at the end left out, keywords as such."""
    given = list(zip(op.params, args, op.defaults, strict=True))
    n = op.positional
    kw = {name: v for name, v, default in given[n:] if v is not default}
    head = given[:n]
    while head and head[-1][1] is head[-1][2] and head[-1][2] is not REQUIRED:
        head.pop()
    return tuple(v for _, v, _ in head), kw


# ------------------------------------------------------------------ other kinds of value: duals, batches, tracers

# Such a value is a `Tensor` without `_a`, so that an op's fast path stumbles over it and comes here. Each kind belongs to
# an interpreter with a level; the one of the highest level among the arguments processes the op, by calling it again on
# what its values wrap. So transforms nest in any order.

_SPECIAL: set[type] = set()  # the kinds
_PLAIN = frozenset((Tensor, ndarray, int, float, bool, type(None)))  # what leaves the choice to others


class Kind(Tensor):
    """A value that is not a plain array; subclasses say how ops treat them."""

    __slots__ = ()

    def __init_subclass__(cls, **kw: Any) -> None:
        super().__init_subclass__(**kw)
        _SPECIAL.add(cls)

    __torch_function__ = _disabled_torch_function_impl
    level: int

    def process(self, op: Any, args: tuple[Any, ...]) -> Any:
        """The result of `op(*args)`, where this value is the one of the highest level in `args`."""
        raise NotImplementedError

    def numbers(self, what: str) -> Any:
        """The array behind it, for `what` reads numbers out of tensors (item, tolist, ...); raises where none is."""
        raise NotImplementedError


class Special(Kind):
    """A value of a transform, which passes for a plain tensor."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        cls.__name__ = cls.__qualname__ = "Tensor"
        cls.torch_name = "torch.Tensor"


def special_among(args: Sequence[Any], positions: Sequence[int]) -> Any:
    """The special value that processes an op on `args`, where nothing but special and plain values are at `positions`;
    else None, and `interpreter_of` shall say."""
    top = None
    for i in positions:
        v = args[i]
        cls = v.__class__
        if cls in _SPECIAL:
            if top is None or v.level > top.level:
                top = v
        elif cls not in _PLAIN:
            return None
    return None if state.function_modes else top


def interpreter_of(values: Sequence[Any]) -> Any:
    """What processes an op on these values: overriding classes, else the special value of the highest level."""
    top = None
    other = False
    for v in values:
        if v.__class__ is Tensor:
            continue
        if isinstance(v, Kind):
            if top is None or v.level > top.level:
                top = v
        else:
            other = True
    if (other or state.function_modes) and wants_override(values):
        return OVERRIDE
    return top
