"""An unpickler that takes orders only to build what weights are made of.

A pickle is a program. This one runs it with a short list of things that may be named, called or given a state; anything
else is an error before it happens, so that nothing of a hostile file is carried out.
"""

from __future__ import annotations

import pickle
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["RestrictedUnpickler"]

_PYTHON = {
    ("builtins", "bytearray"): bytearray, ("builtins", "complex"): complex, ("builtins", "dict"): dict,
    ("builtins", "set"): set, ("__builtin__", "bytearray"): bytearray, ("__builtin__", "complex"): complex,
    ("__builtin__", "set"): set, ("collections", "Counter"): Counter, ("collections", "OrderedDict"): OrderedDict,
    ("_codecs", "encode"): None,
}  # fmt: skip


def _encode(text: Any, encoding: Any = "latin1") -> bytes:
    """What protocol 2 writes bytes with."""
    if not isinstance(text, str) or encoding not in ("latin1", "utf-8"):
        raise pickle.UnpicklingError("Unsupported arguments of _codecs.encode")
    return text.encode(encoding)


_PYTHON["_codecs", "encode"] = _encode  # type: ignore[assignment]


_BLOCKED = ("sys", "os", "posix", "nt")
# What a pickle may order and weights have no use for: instances of old classes, the extension registry, buffers.
_REFUSED = frozenset(
    code[0]
    for code in (
        pickle.INST, pickle.OBJ, pickle.EXT1, pickle.EXT2, pickle.EXT4, pickle.NEXT_BUFFER, pickle.READONLY_BUFFER
    )
)  # fmt: skip


class _Orders(dict[int, Any]):
    """What to do by the bytes of a pickle; a byte that is no order, or none that is followed, is refused."""

    def __missing__(self, code: int) -> Any:
        def refuse(unpickler: Any) -> None:
            raise unpickler.refuse(f"Unsupported operand {code}")

        return refuse


class RestrictedUnpickler(pickle._Unpickler):
    """Loads a pickle, given what may be named.

    Args:
        file: the pickle.
        names: (module, name) -> what it is.
        safe: more classes and functions, or (class, full name) pairs.
        own_name: the full name under which a class is known in files.
        refuse: makes the error for something that is not allowed, from its words.
        stateful: classes whose instances may be given a state.
    """

    def __init__(
        self, file: Any, names: dict[tuple[str, str], Any], safe: Iterable[Any], own_name: Callable[[Any], str],
        refuse: Callable[[str], Exception], stateful: tuple[type, ...],
    ) -> None:  # fmt: skip
        super().__init__(file, encoding="utf-8")
        self.names, self.refuse = names, refuse
        self.safe: dict[str, Any] = {}
        for item in safe:
            what, name = item if isinstance(item, tuple) else (item, own_name(item))
            self.safe[name] = what
        self.callable = {id(v) for v in (*names.values(), *_PYTHON.values(), *self.safe.values())}
        given = tuple(v for v in self.safe.values() if isinstance(v, type))
        self.stateful = (OrderedDict, *stateful, *given)

    def find_class(self, module: str, name: str) -> Any:
        key = module, name
        if key in self.names:
            return self.names[key]
        if key in _PYTHON:
            return _PYTHON[key]
        full = name if module in ("builtins", "__builtin__") else f"{module}.{name}"
        if f"{module}.{name}" in self.safe:
            return self.safe[f"{module}.{name}"]
        if module.split(".")[0] in _BLOCKED:
            raise self.refuse(f"Trying to load unsupported GLOBAL {full} whose module {module} is blocked.")
        raise self.refuse(
            f"Unsupported global: GLOBAL {full} was not an allowed global by default. Please use "
            f"`torch.serialization.add_safe_globals([{full}])` or the "
            f"`torch.serialization.safe_globals([{full}])` context manager to allowlist this global if you trust "
            "this class/function."
        )

    def _check(self, fn: Any, doing: str) -> None:
        if id(fn) not in self.callable:
            raise self.refuse(f"Trying to {doing} {fn}")

    def load_reduce(self) -> None:
        args = self.stack.pop()  # type: ignore[attr-defined]
        fn = self.stack[-1]  # type: ignore[attr-defined]
        self._check(fn, "call reduce for unrecognized function")
        self.stack[-1] = fn(*args)  # type: ignore[attr-defined]

    def load_newobj(self) -> None:
        args = self.stack.pop()  # type: ignore[attr-defined]
        cls = self.stack.pop()  # type: ignore[attr-defined]
        self._check(cls, "create new object for unrecognized class")
        self.append(cls.__new__(cls, *args))  # type: ignore[attr-defined]

    def load_newobj_ex(self) -> None:
        kwargs = self.stack.pop()  # type: ignore[attr-defined]
        args = self.stack.pop()  # type: ignore[attr-defined]
        cls = self.stack.pop()  # type: ignore[attr-defined]
        self._check(cls, "create new object for unrecognized class")
        self.append(cls.__new__(cls, *args, **kwargs))  # type: ignore[attr-defined]

    def load_build(self) -> None:
        state = self.stack.pop()  # type: ignore[attr-defined]
        x = self.stack[-1]  # type: ignore[attr-defined]
        if not isinstance(x, self.stateful):
            raise self.refuse(
                "Can only build Tensor, Parameter, OrderedDict or types allowlisted via `add_safe_globals`, but got "
                f"{type(x)}"
            )
        if hasattr(type(x), "__setstate__") and type(x) is not OrderedDict:
            x.__setstate__(state)  # type: ignore[attr-defined]
        elif isinstance(state, dict):
            x.__dict__.update(state)
        else:
            raise self.refuse(f"Unsupported state of type {type(state)}")

    dispatch = _Orders({
        **{k: v for k, v in pickle._Unpickler.dispatch.items() if k not in _REFUSED},
        pickle.REDUCE[0]: load_reduce,
        pickle.NEWOBJ[0]: load_newobj,
        pickle.NEWOBJ_EX[0]: load_newobj_ex,
        pickle.BUILD[0]: load_build,
    })  # fmt: skip
