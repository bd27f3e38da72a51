"""Recorded text as the running Python shows it: the recordings were made on 3.11."""

from __future__ import annotations

import sys

_OPEN, _CLOSE = "OrderedDict([", "])"


def as_here(text: str) -> str:
    """From 3.12 on an OrderedDict is shown as a dict: OrderedDict({'a': 1}), not OrderedDict([('a', 1)])."""
    return text if sys.version_info < (3, 12) else _as_dicts(text)


def _as_dicts(text: str) -> str:
    at = text.find(_OPEN)
    if at < 0:
        return text
    items, end = _pairs(text, at + len(_OPEN))
    if end is None:  # cut off
        return text
    shown = ", ".join(f"{key}: {_as_dicts(value)}" for key, value in items)
    return f"{text[:at]}OrderedDict({{{shown}}}){_as_dicts(text[end:])}"


def _pairs(text: str, i: int) -> tuple[list[tuple[str, str]], int | None]:
    """The items of a list of pairs that begins at i, and where the text goes on after `])`."""
    found = []
    while text.startswith("(", i):
        depth, comma, j = 1, None, i + 1
        while depth:
            if j >= len(text):
                return [], None
            if text[j] in "'\"":
                j = text.find(text[j], j + 1)
                if j < 0:
                    return [], None
            elif text[j] in "([{":
                depth += 1
            elif text[j] in ")]}":
                depth -= 1
            elif text[j] == "," and depth == 1 and comma is None:
                comma = j
            j += 1
        if comma is None:
            return [], None
        found.append((text[i + 1 : comma], text[comma + 2 : j - 1]))
        i = j + 2 if text.startswith(", ", j) else j
    return found, i + len(_CLOSE) if text.startswith(_CLOSE, i) else None
