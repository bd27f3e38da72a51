"""The rulebook: one file a family. `index.py` says what each gives to the library, and a family is imported when one of its
names is first used."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from .index import FAMILIES


def family(name: str) -> ModuleType:
    """The module of one family."""
    return import_module(f"{__name__}.{name}")


def methods(face: Sequence[str], given: str) -> list[str]:
    """The names of methods that an entry of the index stands for."""
    words = given.split()
    if words[:1] == ["*"]:
        words = [*(n for n in face if "-" + n not in words), *words[1:]]
    return [w for w in words if w[0] != "-"]


def families() -> list[ModuleType]:
    """The modules of all families, so that the registry holds every op."""
    return [family(name) for name in FAMILIES]


def __getattr__(name: str) -> Any:
    """torch.ops.aten, which few programs need."""
    if name == "aten":
        from ._public import aten

        return aten
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
