"""Tensor's methods and operators, from what the families of ops declare. One table, no logic."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from types import FunctionType, ModuleType
from typing import Any

from . import ops
from .core.hooks import register_hook, register_post_accumulate_grad_hook, retain_grad
from .core.levels import depth, transforming
from .core.subclass import FACES, PUBLIC, Special
from .core.tensor import Tensor, set_requires_grad
from .devices import REFUSE
from .naming import sourced
from .ops.index import FAMILIES

LATER: dict[str, str] = {}  # the names of the face, which PUBLIC has once they are used, and their families


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Mark a leaf as one that wants a gradient, or not any more; returns it. Source: torch.Tensor.requires_grad_."""
    if requires_grad.__class__ is not bool:
        kind = type(requires_grad).__name__
        raise TypeError(f"requires_grad_(): argument 'requires_grad' (position 1) must be bool, not {kind}")
    if transforming():
        raise RuntimeError(
            "You are attempting to call Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs) "
            "inside of a function being transformed by a functorch transform. This is unsupported, please attempt to "
            "use the functorch transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call requires_grad_() outside "
            "of a function being transformed instead."
        )
    set_requires_grad(self, requires_grad, method=True)
    return self


def _repr(self: Tensor, *, tensor_contents: str | None = None) -> str:
    """The text of the tensor. Source: torch.Tensor.__repr__."""
    from .printing import tensor_repr, tracked_repr

    if depth() and tensor_contents is None:  # transforms are at work
        return tracked_repr(self)
    return tensor_repr(self, tensor_contents=tensor_contents)


def _special_repr(self: Any, **_: Any) -> str:
    from .printing import special_repr

    return special_repr(self)


def _format(self: Tensor, spec: str) -> str:
    from .printing import tensor_format

    return tensor_format(self, spec)


def _wrong_device(args: Any, kw: Any) -> Exception:
    from .ops._arguments import wrong

    return wrong("device", False, args, kw) or TypeError("device(): wrong arguments")


def later(name: str) -> Any:
    """A function of the face, whose family is imported for it."""
    _install(LATER[name], name)
    return PUBLIC[name]


def _install(home: str, name: str) -> None:
    """Give the library's face, and Tensor, what a family has of a name. Several threads may ask for it at a time."""
    from .core.inplace import inplace
    from .ops._arguments import guarded

    family = ops.family(home)
    with _lock:
        in_place = name[-1] == "_" and name[:-1] in getattr(family, "INPLACE", "").split()
        fn: Any = getattr(family, name, None)
        known = getattr(fn, "__name__", "")
        if known in family.__all__:
            sourced(fn, known)
        if name in family.__all__:
            PUBLIC[name] = guarded(fn, name)
            if PUBLIC[name] is fn and getattr(fn, "op", None) is not None:
                fn.__module__ = family.__name__  # where pickle finds it
        if in_place:
            fn = inplace(getattr(family, name[:-1]).op, name)
            fn.__module__, fn.__qualname__ = __package__, name  # where pickle finds it
            PUBLIC.setdefault(name, guarded(fn, name))
        if isinstance(vars(Tensor).get(name), _Later):
            setattr(Tensor, name, guarded(fn, name, method=True) if in_place else _attribute(family, name))
    if FACES.refresh is not None:
        FACES.refresh([name])


def _attribute(family: ModuleType, name: str) -> Any:
    """What Tensor has by a name, from its family."""
    from .ops._arguments import guarded

    operators = getattr(family, "OPERATORS", {})
    if name in operators:
        for word, function in operators.items():
            _name(function, word)
        return operators[name]
    getter = getattr(family, "property_" + name, None)
    fn = getter or getattr(family, "method_" + name, None) or getattr(family, name)
    if fn.__name__.removeprefix("method_").removeprefix("property_") == name:  # no other name for it
        sourced(fn, "Tensor." + name)
    if getter is not None:
        return property(getter, getattr(family, "set_property_" + name, None) or read_only(name))
    return guarded(fn, name, method=True)


def _name(fn: Any, name: str) -> None:
    """Call a function by Tensor's name for it, unless it is another of Tensor's."""
    if isinstance(fn, FunctionType) and fn.__name__ not in vars(Tensor):
        fn.__name__ = name


_lock = RLock()
PUBLIC.later = later


def read_only(name: str) -> Callable[[Any, Any], None]:
    """What stands for the setter of a property that has none."""

    def refuse(self: Any, value: Any) -> None:
        raise AttributeError(f"attribute '{name}' of 'torch._C.TensorBase' objects is not writable")

    return refuse


class _Later:
    """What stands for an attribute of Tensor until it is asked for, which imports its family."""

    __slots__ = ("family", "name")

    def __init__(self, family: str, name: str) -> None:
        self.family, self.name = family, name

    def __get__(self, instance: Any, owner: Any) -> Any:
        _install(self.family, self.name)
        value = vars(Tensor)[self.name]
        get = getattr(type(value), "__get__", None)
        return value if get is None else get(value, instance, owner)


class _LaterProperty(_Later):
    """The same for one that may be set."""

    __slots__ = ()

    def __set__(self, instance: Any, value: Any) -> None:
        _install(self.family, self.name)
        setattr(instance, self.name, value)


def _postpone(
    family: str, face: str = "", methods: str = "", in_place: str = "", operators: str = "", properties: str = ""
) -> None:
    names = face.split()
    LATER.update(dict.fromkeys(names, family))
    for name in (*ops.methods(names, methods), *operators.split()):
        setattr(Tensor, name, _Later(family, name))
    for name in in_place.split():
        setattr(Tensor, name + "_", _Later(family, name + "_"))
        LATER.setdefault(name + "_", family)
    for name in properties.split():
        setattr(Tensor, name, _LaterProperty(family, name))


for _given in FAMILIES.items():
    _postpone(_given[0], *_given[1])
for _fn in (register_hook, register_post_accumulate_grad_hook, retain_grad, requires_grad_):
    setattr(Tensor, _fn.__name__, _fn)
    _fn.__qualname__ = "Tensor." + _fn.__name__  # as Python's errors name it
Special.__repr__ = _special_repr  # type: ignore[method-assign]
REFUSE[0] = _wrong_device
Tensor.__repr__, Tensor.__format__ = _repr, _format  # type: ignore[assignment, method-assign]
for _word, _fn in vars(Tensor).items():
    if _word[:2] == "__":
        _name(_fn, _word)
for _word, _property in list(vars(Tensor).items()):
    if isinstance(_property, property) and _property.fset is None:
        setattr(Tensor, _word, _property.setter(read_only(_word)))
