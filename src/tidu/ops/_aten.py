"""torch.ops.aten: the functions under the names of PyTorch's operators."""

from __future__ import annotations

import sys
import threading
from types import ModuleType
from typing import Any

from . import family

_PREFIXES = {"linalg_": "linalg", "fft_": "fft", "special_": "special"}


class _Runs(threading.local):
    """What an operator does while a mode handles its call."""

    def __init__(self) -> None:
        self.now: dict[Any, Any] = {}


RUNS = _Runs()


class Operator:
    """A function, and its overloads, which are the function too: it looks at its arguments."""

    namespace = "aten"

    def __init__(self, name: str, function: Any, packet: Any = None) -> None:
        self.__name__ = self.__qualname__ = name
        self._function = function
        if packet is not None:  # an overload
            self.overloadpacket, self._overloadname = packet, name.rpartition(".")[2]

    def __call__(self, *args: Any, **kw: Any) -> Any:
        return RUNS.now.get(self, self._function)(*args, **kw)

    def __getattr__(self, overload: str) -> Any:
        if overload.startswith("__"):
            raise AttributeError(overload)
        made = Operator(f"{self.__name__}.{overload}", self._function, self)
        setattr(self, overload, made)
        return made

    def __repr__(self) -> str:
        return f"aten.{self.__name__}"


def _function(name: str) -> Any:
    """The function of an operator: an internal one, the library's, a method, or one of a namespace."""
    internal = family("internal")
    if name in internal.ATEN:
        return getattr(internal, name)
    root = sys.modules[__name__.partition(".")[0]]  # the library, which stands above and is there by now
    for home in (root, root.Tensor, root.nn.functional):
        found = getattr(home, name, None)
        if callable(found):
            return found
    for prefix, space in _PREFIXES.items():
        if name.startswith(prefix):
            return getattr(getattr(root, space), name.removeprefix(prefix), None)
    return None


class _Operators(ModuleType):
    def __getattr__(self, name: str) -> Any:
        function = None if name.startswith("__") else _function(name)
        if function is None:
            raise AttributeError(f"'_OpNamespace' 'aten' object has no attribute '{name}'")
        operator = Operator(name, function)
        setattr(self, name, operator)
        return operator


aten = _Operators("torch.ops.aten", __doc__)
