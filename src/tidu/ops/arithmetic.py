"""Arithmetic: the four operations, remainders and powers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.elementwise import NEG, ONE, binary, unary
from ..core.promote import FLOATS, SAME

__all__ = ["add", "div", "divide", "mul", "multiply", "neg", "negative", "sub", "subtract", "true_divide"]
METHODS = "add div divide mul multiply neg negative sub subtract true_divide"
INPLACE = "mul neg"

mul = multiply = binary("mul", np.multiply, lambda y: y, lambda x: x)
neg = negative = unary("neg", np.negative, NEG, policy=SAME)
_add = binary("add", np.add, ONE, ONE)
_sub = binary("sub", np.subtract, ONE, NEG)
_true_div = binary("div", np.true_divide, lambda y: 1 / y, lambda y, out: -out / y, policy=FLOATS)


def add(input: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Any:
    """input + alpha * other, broadcast together. Source: torch.add."""
    return _add(input, other if alpha == 1 else mul(other, alpha), out=out)


def sub(input: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Any:
    """input - alpha * other, broadcast together. Source: torch.sub."""
    return _sub(input, other if alpha == 1 else mul(other, alpha), out=out)


def div(input: Any, other: Any, *, rounding_mode: str | None = None, out: Any = None) -> Any:
    """input / other, broadcast together. Source: torch.div."""
    return _true_div(input, other, out=out)


subtract, divide, true_divide = sub, div, div

OPERATORS = {
    "__add__": _add,
    "__radd__": _add,
    "__sub__": _sub,
    "__mul__": mul,
    "__rmul__": mul,
    "__truediv__": _true_div,
    "__neg__": neg,
}
