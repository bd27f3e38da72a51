"""The nodes of the elementwise hot path: one or two inputs, real floating point, and just what the partials read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..arrays.threads import BIG, big_ufunc
from ..arrays.threads import blocked as _blocked
from .broadcast import sum_to
from .node import Node, freed, modified
from .parameters import names_of
from .tensor import Tensor, tensor_of

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
ndarray = np.ndarray


def ONE() -> int:
    """The partial of an op that hands its cotangent on."""
    return 1


def NEG() -> int:
    """The partial of an op that hands its cotangent on negated."""
    return -1


def reads_of(partial: Callable[..., Any] | None) -> tuple[str, ...]:
    return () if partial is None else names_of(partial)


def blocked(rule: Callable[..., Any], *values: Any) -> Any:
    """`rule(*values)` for large arrays, a block at a time over the threads, so that what a rule makes on its way
    stays in cache. Arrays of one shape and layout only; anything else in one go.
    """
    whole = getattr(rule, "whole", None)
    if whole is not None:
        return whole(*values)
    arrays = [v for v in values if v.__class__ is ndarray and v.size > 1]
    first = arrays[0]
    if any(v.shape != first.shape or not v.flags.c_contiguous for v in arrays):
        return rule(*values)
    places = [i for i, v in enumerate(values) if v.__class__ is ndarray and v.size > 1]
    out = np.empty(first.shape, first.dtype)

    def kernel(*blocks: Any) -> None:
        full = list(values)
        for i, b in zip(places, blocks, strict=False):
            full[i] = b
        blocks[-1][...] = rule(*full)

    _blocked(kernel, [v.reshape(-1) for v in arrays], out.reshape(-1))
    return out


class UnaryNode(Node):
    """The node of the hot path: one input, real floating point."""

    __slots__ = ("cell", "out", "version", "x")
    pull: Callable[[Any, Any, Any], Any]

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        version = self.version
        if version is None:
            raise freed(self)
        x = self.x
        if x is not None:
            if x._v[0] != version:
                raise modified(self, x, x._v, version)
            if raw:
                x = x._a
        out = self.out
        if out is not None:
            if self.cell[0]:
                raise modified(self, out, self.cell, 0)
            if not raw:
                out = _output(self, out, self.cell)
        if raw and g.size > BIG:
            return (blocked(self.pull, g, x, out),)
        return (self.pull(g, x, out),)

    def release(self) -> None:
        if self.x is not None or self.out is not None:
            self.x = self.out = self.version = None

    def saved_arrays(self) -> Iterator[ndarray[Any, Any]]:
        if self.x is not None:
            yield self.x._a
        if self.out is not None:
            yield self.out


class PassNode(UnaryNode):
    """A unary node whose partial is a constant: nothing saved."""

    __slots__ = ()
    sign = 1

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        return (g,) if self.sign == 1 else (-g,)

    def release(self) -> None:
        pass

    def saved_arrays(self) -> Iterator[ndarray[Any, Any]]:
        return iter(())


class BinaryNode(Node):
    """The node of the hot path: two inputs, real floating point. `shapes` is None where nothing was broadcast."""

    # Two numbers rather than a tuple of them: each object that lives is one more for the garbage collector to visit.
    __slots__ = ("cell", "out", "shapes", "x", "x_version", "y", "y_version")
    pull_x: Callable[..., Any]
    pull_y: Callable[..., Any]

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        version = self.x_version
        if version is None:
            raise freed(self)
        x, y, out = self.x, self.y, self.out
        if x is not None:
            if x._v[0] != version:
                raise modified(self, x, x._v, version)
            if raw:
                x = x._a
        if y is not None and (version := self.y_version) is not None:  # None for a number
            if y._v[0] != version:
                raise modified(self, y, y._v, version)
            if raw:
                y = y._a
        if out is not None:
            if self.cell[0]:
                raise modified(self, out, self.cell, 0)
            if not raw:
                out = _output(self, out, self.cell)
        ex, ey = edges
        cx = cy = None
        if raw and g.size > BIG and self.shapes is None:
            if ex is not None:
                cx = g if self.pull_x is ONE else blocked(self.pull_x, g, x, y, out)
            if ey is not None:
                cy = g if self.pull_y is ONE else blocked(self.pull_y, g, x, y, out)
            return cx, cy
        if ex is not None:
            p = self.pull_x
            cx = g if p is ONE else p(g, x, y, out)
        if ey is not None:
            p = self.pull_y
            cy = g if p is ONE else p(g, x, y, out)
        if self.shapes is not None:
            if cx is not None:
                cx = sum_to(cx, self.shapes[0])
            if cy is not None:
                cy = sum_to(cy, self.shapes[1])
        return cx, cy

    def release(self) -> None:
        if self.x is not None or self.y is not None or self.out is not None:
            self.x = self.y = self.out = self.x_version = None

    @property
    def version(self) -> int | None:
        return self.x_version

    def saved_arrays(self) -> Iterator[ndarray[Any, Any]]:
        for v in (self.x, self.y):
            if isinstance(v, Tensor):
                yield v._a
        if self.out is not None:
            yield self.out


def _output(node: Node, a: Any, cell: list[int]) -> Tensor:
    t = tensor_of(a)
    t._node, t._v = node, cell
    return t


_SAME = (lambda x: x).__code__.co_code  # of a product's partials


def pull_of(p: Callable[..., Any] | None, order: str) -> Any:
    """The cotangent of an input, as a function of g and all that a partial might read, in a fixed order."""
    if p is None or p is ONE:
        return p
    if p is NEG:
        return eval(f"lambda g, {order}: -g")
    reads = reads_of(p)
    handed_on = getattr(p, "__code__", None) is not None and p.__code__.co_code == _SAME
    product = reads[0] if handed_on else f"p({', '.join(reads)})"
    pull = eval(f"lambda g, {order}: {product if 'g' in reads else 'g * ' + product}", {"p": p})
    if handed_on and "g" not in reads:
        factor = 1 + order.split(", ").index(product)
        pull.whole = lambda *values: big_ufunc(np.multiply, values[0], values[factor])
    elif hasattr(p, "shares"):  # its work between the threads
        pull.whole = pull
    return pull
