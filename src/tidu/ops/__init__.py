"""The rulebook: one file a family. A family says what it gives to the library's face:

    __all__      names in the top-level namespace (tidu.exp)
    METHODS      names that are methods of Tensor (x.exp()); the function is `method_<name>` where the family
                 defines one, because the method's arguments differ from the function's, else `<name>`;
                 a first `*` stands for the names of `__all__` but for those that follow as `-name`
    PROPERTIES   names that are properties of Tensor (x.T); the getter is `property_<name>`, the setter `set_property_<name>`
    INPLACE      ops with an in-place variant (x.exp_(), tidu.exp_)
    OPERATORS    Python's operators: {"__add__": add, ...}

A family is imported when one of its names is first used; `index.py`, written by `python -m tidu.ops`, says which names
these are, and a test that it is true.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

NOT_FAMILIES = ("index",)


def family(name: str) -> ModuleType:
    """The module of one family."""
    return import_module(f"{__name__}.{name}")


def methods(face: Sequence[str], given: str) -> list[str]:
    """The names that METHODS gives."""
    words = given.split()
    if words[:1] == ["*"]:
        words = [*(n for n in face if "-" + n not in words), *words[1:]]
    return [w for w in words if w[0] != "-"]


def names() -> list[str]:
    """The names of all families: every public file in this folder."""
    from pkgutil import iter_modules

    return [m.name for m in iter_modules(__path__) if not m.name.startswith("_") and m.name not in NOT_FAMILIES]


def families() -> list[ModuleType]:
    """The modules of all families, so that the registry holds every op."""
    return [family(name) for name in names()]


def __getattr__(name: str) -> Any:
    """torch.ops.aten, which few programs need."""
    if name == "aten":
        from ._public import aten

        return aten
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
