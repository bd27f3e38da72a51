"""torch.nn.attention: which way attention is computed. Here there is one; every choice is taken and means it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

from ..naming import submodule
from ..ops.ranges import arange

__all__ = ["SDPBackend", "bias", "sdpa_kernel"]


class SDPBackend(IntEnum):
    """The ways PyTorch has to compute attention. Source: torch.nn.attention.SDPBackend."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__}.{self.name}: {self.value}>"


@contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[dict[str, Any]]:
    """A context in which only these ways may be used: the numbers are the same by all of them.

    Source: torch.nn.attention.sdpa_kernel.
    """
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, "
            f"got {type(backends).__name__}"
        )
    yield {}


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


bias = submodule(globals(), "bias", "CausalVariant causal_lower_right causal_upper_left")
