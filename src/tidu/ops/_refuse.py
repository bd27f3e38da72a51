"""What dtypes an op refuses, and PyTorch's words for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.promote import Policy
from ..dtypes import dtype

CATEGORIES = "bifc"  # bool, integers, floating, complex: the categories of dtypes.py in their order


def refuse(
    categories: str,
    word: str = "",
    floats: bool = False,
    error: type[Exception] = NotImplementedError,
    **options: Any,
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
