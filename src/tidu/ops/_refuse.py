"""What dtypes an op refuses, and PyTorch's words for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.errors import invalid_combination
from ..core.promote import Number, Policy
from ..core.tensor import Tensor
from ..dtypes import dtype

CATEGORIES = "bifc"  # bool, integers, floating, complex: the categories of dtypes.py in their order


def either(name: str, input: Any, other: Any, second: str = "other", first: str = "input") -> None:
    """TypeError unless one of two arguments is a tensor and the other one a tensor or a number."""
    pair = input, other
    if any(isinstance(v, Tensor) for v in pair) and all(isinstance(v, VALUES) for v in pair):
        return
    if any(isinstance(v, np.ndarray) for v in pair):  # a rule running for numbers
        return
    raise invalid_combination(
        name,
        pair,
        f"(Tensor {first}, Tensor {second}, *, Tensor out = None)",
        f"(Number {'self' if first == 'input' else first}, Tensor {second}, *, Tensor out = None)",
        f"(Tensor {first}, Number {second}, *, Tensor out = None)",
    )


VALUES = (Tensor, np.ndarray, np.generic, *Number)


def refuse(
    categories: str, word: str = "", floats: bool = False, error: type[Exception] = NotImplementedError, **options: Any
) -> Policy:
    """The policy of an op that refuses dtypes of some categories (letters of `CATEGORIES`; h: half precision).

    `word` is the name of PyTorch's kernel, which its message shows, or, with a space in it, the whole message.
    """
    return Policy(floats, refusal(categories, word, error), **options)


def refusal(categories: str, word: str, error: type[Exception] = NotImplementedError) -> Callable[..., None]:
    """The check itself: raises for a dtype of one of the categories."""

    def check(name: str, d: dtype, values: Any = ()) -> None:
        half = "h" in categories and d.itemsize == 2 and d.is_floating_point
        if half or CATEGORIES[d.category] in categories:
            raise error(word if " " in word else f"\"{word}\" not implemented for '{d.legacy}'")

    return check
