"""Other kinds of value: duals, batches, tracers, subclasses that override functions.

Such a value is a `Tensor` without `_a`, so that an op's fast path stumbles over it and comes here. Each kind
belongs to an interpreter with a level; the one of the highest level among the arguments processes the op, by
calling it again on what its values wrap. So transforms nest in any order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .tensor import Tensor


class Special(Tensor):
    """A value that is not a plain array; subclasses say how ops treat them."""

    __slots__ = ()

    level: int = 0

    def process(self, op: Any, args: tuple[Any, ...]) -> Any:
        """The result of `op(*args)`, where this value is the one of the highest level in `args`."""
        raise NotImplementedError

    def numbers(self, what: str) -> Any:
        """The array behind it, for `what` reads numbers out of tensors (item, tolist, ...); raises where none is."""
        raise NotImplementedError


def interpreter_of(values: Iterable[Any]) -> Special | None:
    """The special value of the highest level, None when all are plain."""
    top = None
    for v in values:
        if isinstance(v, Special) and (top is None or v.level > top.level):
            top = v
    return top
