"""Dimensions by name: `rearrange(images, "b h w c -> b (h w) c")`. Source: torch.func.rearrange."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..core.tensor import Tensor

Axes = list[list[str]]  # one list a dimension: the names that make it up
ALL = "... "  # the dots where they stand alone, not in parentheses


def rearrange(tensor: Any, pattern: str, **axes_lengths: int) -> Any:
    """A tensor with its dimensions reordered, split and joined as a pattern says.

    Args:
        tensor: a tensor, or a sequence of tensors, which are stacked first.
        pattern: names of the dimensions before and after "->"; names in parentheses make up one dimension, "..." stands
            for any number of dimensions, 1 for a dimension of that size.
        axes_lengths: sizes of names that the shape does not give.

    Raises:
        ValueError: a pattern that does not fit itself or the shape.

    Source: torch.func.rearrange.

    >>> import tidu as torch
    >>> torch.func.rearrange(torch.arange(6).view(2, 3), "a b -> (b a)")
    tensor([0, 3, 1, 4, 2, 5])
    """
    if not isinstance(tensor, Tensor):
        from ..ops.joining import stack

        tensor = stack(list(tensor))
    left, right = _sides(pattern)
    shape = tuple(tensor.shape)
    left, right = _without_dots(left, right, len(shape), pattern)
    if len(left) != len(shape):
        raise ValueError(f"rearrange: the pattern {pattern!r} has {len(left)} dimensions, the tensor {len(shape)}")
    sizes = dict(axes_lengths)
    for names, size in zip(left, shape, strict=True):
        _measure(names, size, sizes, pattern)
    inner, outer = [n for names in left for n in names], [n for names in right for n in names]
    if sorted(inner) != sorted(outer) or len(set(inner)) != len(inner):
        raise ValueError(f"rearrange: each name must be once on both sides of {pattern!r}")
    split = tensor.reshape([sizes[n] for n in inner])
    moved = split.permute([inner.index(n) for n in outer]) if outer else split
    return moved.reshape([_product([sizes[n] for n in names]) for names in right])


def _sides(pattern: str) -> tuple[Axes, Axes]:
    before, arrow, after = pattern.partition("->")
    if not arrow or "->" in after:
        raise ValueError(f"rearrange: expected one '->' in the pattern {pattern!r}")
    return _parse(before, pattern), _parse(after, pattern)


def _parse(text: str, pattern: str) -> Axes:
    made: Axes = []
    for group, name, other in re.findall(r"\(([^()]*)\)|(\.\.\.|\w+)|(\S)", text):
        if other:
            raise ValueError(f"rearrange: {other!r} is out of place in the pattern {pattern!r}")
        if name:
            made.append([] if name == "1" else [ALL] if name == "..." else [name])
        else:
            made.append([n for n in group.split() if n != "1"])
    return made


def _without_dots(left: Axes, right: Axes, ndim: int, pattern: str) -> tuple[Axes, Axes]:
    """Names in the place of "..."."""
    flat = [n for names in left for n in names]
    if ALL not in flat and "..." not in flat:
        return left, right
    if flat.count(ALL) != 1 or "..." in flat:
        raise ValueError(f"rearrange: '...' must stand alone, and once, on the left of {pattern!r}")
    names = [f"...{k}" for k in range(ndim - len(left) + 1)]
    return _expanded(left, names), _expanded(right, names)


def _expanded(side: Axes, names: Sequence[str]) -> Axes:
    made: Axes = []
    for axis in side:
        if axis == [ALL]:
            made += [[n] for n in names]
        elif "..." in axis:
            at = axis.index("...")
            made.append([*axis[:at], *names, *axis[at + 1 :]])
        else:
            made.append(axis)
    return made


def _measure(names: Sequence[str], size: int, sizes: dict[str, int], pattern: str) -> None:
    """Work out the sizes of the names that make up a dimension."""
    unknown = [n for n in names if n not in sizes]
    known = _product([sizes[n] for n in names if n in sizes])
    if len(unknown) > 1:
        raise ValueError(f"rearrange: give the sizes of all but one of {', '.join(unknown)} in {pattern!r}")
    if size % known or (not unknown and known != size):
        raise ValueError(f"rearrange: a dimension of size {size} is not made up of sizes of product {known}")
    if unknown:
        sizes[unknown[0]] = size // known


def _product(sizes: Sequence[int]) -> int:
    made = 1
    for s in sizes:
        made *= s
    return made
