"""The functions of PyTorch's op database, made to call another library.

Most entries name a PyTorch function, whose counterpart has the same name. Others are small wrappers written in
Python inside the database (`lambda x, *a: torch.bernoulli(x, *a)`): such a function is made anew over globals and
closure cells in which everything of PyTorch's is replaced by its counterpart.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import types
from collections.abc import Iterator
from typing import Any

import torch

from .bridge import Missing, Side, resolve

NAMESPACES = (
    "",
    "nn.functional",
    "linalg",
    "fft",
    "special",
    "masked",
    "signal.windows",
    "nn.init",
    "nn",
    "autograd",
    "autograd.forward_ad",
    "func",
    "Tensor",
)


@functools.cache
def public_names() -> dict[int, str]:
    """id of each of PyTorch's public functions and methods -> the path under which programs know it."""
    names: dict[int, str] = {}
    for space in NAMESPACES:
        root = resolve(torch, space) if space else torch
        for name in sorted(dir(root), key=lambda n: (n.startswith("_"), n)):
            try:
                value = getattr(root, name)
            except Exception:
                continue
            if callable(value) or isinstance(value, types.ModuleType):
                names.setdefault(id(value), f"{space}.{name}" if space else name)
    return names


class Transplant:
    """Turns a callable of the op database into one that calls `side`'s library."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self.memo: dict[int, Any] = {}
        self.kept: list[Any] = []

    def __call__(self, value: Any) -> Any:
        if value is None or self.side.lib is torch:
            return value
        if id(value) in self.memo:
            return self.memo[id(value)]
        self.kept.append(value)
        moved = self._move(value)
        self.memo[id(value)] = moved
        return moved

    def _move(self, value: Any) -> Any:
        if value is torch:
            return self.side.lib
        if isinstance(value, types.ModuleType):
            if value.__name__.startswith("torch.") and not value.__name__.startswith("torch.testing"):
                return self._named(value.__name__.removeprefix("torch."))
            return value
        if getattr(value, "__name__", "") == "freeze_rng_state":
            return functools.partial(frozen_rng, self.side)
        name = public_names().get(id(value))
        if name is not None:
            return self._named(name)
        if isinstance(value, functools.partial):
            return functools.partial(self(value.func), *map(self, value.args), **self._dict(value.keywords))
        if isinstance(value, types.FunctionType) and value.__module__.startswith("torch.testing."):
            return self._function(value)
        if isinstance(value, torch._ops.OpOverloadPacket):
            return self._named(f"ops.aten.{value.__name__}")
        if isinstance(value, torch._ops.OpOverload):
            return self._named(f"ops.aten.{value.__name__}")
        if isinstance(value, type):
            return self._named(value.__name__) if value in (torch.dtype, torch.Size, torch.Tensor) else value
        return self.side.put(value)

    def _dict(self, values: dict[str, Any]) -> dict[str, Any]:
        return {k: self(v) for k, v in values.items()}

    def _named(self, path: str) -> Any:
        try:
            return self.side.get(path)
        except Missing as error:
            return absent(path, error)

    def _function(self, function: types.FunctionType) -> types.FunctionType:
        scope: dict[str, Any] = {"__builtins__": builtins, "__name__": function.__module__}
        cells = tuple(types.CellType() for _ in function.__closure__ or ())
        moved = types.FunctionType(function.__code__, scope, function.__name__, None, cells or None)
        self.memo[id(function)] = moved  # before its globals: it may call itself
        for name in names_used(function.__code__):
            if name in function.__globals__:
                scope[name] = self(function.__globals__[name])
        for cell, old in zip(cells, function.__closure__ or (), strict=True):
            cell.cell_contents = self(old.cell_contents)
        moved.__defaults__ = tuple(map(self, function.__defaults__)) if function.__defaults__ else None
        moved.__kwdefaults__ = self._dict(function.__kwdefaults__) if function.__kwdefaults__ else None
        return moved


def absent(path: str, error: Missing) -> Any:
    """Stands where the library lacks a name: an error only if the program gets that far."""

    def call(*args: Any, **kwargs: Any) -> Any:
        raise Missing(str(error))

    call.missing = path  # type: ignore[attr-defined]
    return call


def names_used(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_used(constant)


@contextlib.contextmanager
def frozen_rng(side: Side) -> Iterator[None]:
    state = side.get("get_rng_state")()
    try:
        yield
    finally:
        side.get("set_rng_state")(state)
