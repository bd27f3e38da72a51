"""torch.nn.attention.bias: causal masks for queries and keys of different lengths."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from ...ops.ranges import arange

__all__ = ["CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(IntEnum):
    """From which corner the triangle is counted. Source: torch.nn.attention.bias.CausalVariant."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


def _triangle(size: tuple[int, ...], shift: int) -> Any:
    rows, columns = arange(size[0]), arange(size[1])
    return columns <= rows.view(-1, 1) + shift


def causal_upper_left(*size: int) -> Any:
    """A mask that lets query i see the keys up to i. Source: torch.nn.attention.bias.causal_upper_left.

    PyTorch makes a tensor of a class of its own; here it is a boolean mask for `attn_mask`.

    >>> causal_upper_left(2, 3)
    tensor([[ True, False, False],
            [ True,  True, False]])
    """
    if len(size) != 2:
        raise AssertionError("causal_upper_left only supports 2D tensors")
    return _triangle(size, 0)


def causal_lower_right(*size: int) -> Any:
    """A mask that lets the last query see all keys, the one before all but the last, and so on.

    Source: torch.nn.attention.bias.causal_lower_right.

    >>> causal_lower_right(2, 3)
    tensor([[ True,  True, False],
            [ True,  True,  True]])
    """
    if len(size) != 2:
        raise AssertionError("causal_lower_right only supports 2D tensors")
    return _triangle(size, size[1] - size[0])
