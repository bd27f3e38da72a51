"""Docstrings for ops that are declared in a line."""

from __future__ import annotations

from typing import Any


def describe(family: dict[str, Any], text: str, source: str = "torch") -> None:
    """Give functions of a family their docstrings, from lines `name: what it gives`."""
    for line in text.strip().splitlines():
        name, _, words = line.strip().partition(": ")
        family[name].__doc__ = f"{words} Source: {source}.{name}."
