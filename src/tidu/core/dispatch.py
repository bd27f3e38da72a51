"""Other kinds of value: duals, batches, tracers, subclasses that override functions.

Such a value is a `Tensor` without `_a`, so that an op's fast path stumbles over it and comes here. Each kind
belongs to an interpreter with a level; the one of the highest level among the arguments processes the op, by
calling it again on what its values wrap. So transforms nest in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy import ndarray

from .modes import state
from .subclass import OVERRIDE, _disabled_torch_function_impl, wants_override
from .tensor import Tensor

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
    """A value of a transform."""

    __slots__ = ()


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
