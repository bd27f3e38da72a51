"""The same program on both libraries: results or errors must agree.

A program is Python text in which `torch` means the library, so that a test reads as a user writes. What its last
expression gives is compared: numbers, dtypes, shapes, strides, and error class and message alike.
"""

from __future__ import annotations

import ast
import math
import operator
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .bridge import Side
from .compare import Mismatch, Raised, compare, snapshot
from .programs import raised

TORCH = Side("torch")


def run(text: str, lib: Any) -> Any:
    """Execute the text and give the value of its last expression, or `Raised`."""
    tree = ast.parse(text)
    last = tree.body[-1] if tree.body else None
    value = ast.Expression(last.value) if isinstance(last, ast.Expr) else None
    if value is not None:
        tree.body.pop()
    scope: dict[str, Any] = {"torch": lib, "np": np, "math": math, "operator": operator, "pickle": pickle}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            exec(compile(tree, "<program>", "exec"), scope)
            return None if value is None else eval(compile(value, "<program>", "eval"), scope)
        except Exception as error:
            return raised(error)


def agree(side: Side, text: str, strides: bool = True, error: bool | None = None, scale: float = 1.0) -> None:
    """Run the text on both and compare; `error` says whether PyTorch must raise, or must not."""
    expected = snapshot(TORCH, run(text, torch))
    assert error in (None, isinstance(expected, Raised)), f"in PyTorch itself: {expected}"
    compare_or_show(text, expected, lambda: snapshot(side, run(text, side.lib)), strides, scale)


def compare_or_show(text: str, expected: Any, got: Callable[[], Any], strides: bool = True, scale: float = 1.0) -> None:
    try:
        compare(expected, got(), strides=strides, scale=scale)
    except Mismatch as error:
        raise AssertionError(f"{error}\n{text}") from None


def outcome(side: Side, program: Callable[[Any], Any], values: bool = True) -> Any:
    """What a Python function of the library gives or raises, taken down."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return snapshot(side, program(side.lib), values=values)
        except Exception as error:
            return raised(error)
