"""`python -m tidu.ops`: write index.py, the names of the families of ops."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap

from . import family, names


def entry(name: str) -> tuple[str, ...]:
    """What a family gives: names of the face, methods, ops with an in-place variant, operators, properties."""
    module = family(name)
    operators: dict[str, list[str]] = {"": [], "set": []}
    for word, value in getattr(module, "OPERATORS", {}).items():
        operators["set" if hasattr(type(value), "__set__") else ""].append(word)
    given = [
        module.__all__, getattr(module, "METHODS", "").split(), getattr(module, "INPLACE", "").split(), operators[""],
        [*operators["set"], *getattr(module, "PROPERTIES", "").split()],
    ]  # fmt: skip
    while given and not given[-1]:
        given.pop()
    return tuple(map(" ".join, given))


def source() -> str:
    """The text of index.py."""
    lines = ['"""Written by `python -m tidu.ops`: what the families give."""', "", "# fmt: off"]
    lines += [
        "# family: (names of the face, methods, ops with an in-place variant, operators, properties)",
        "FAMILIES = {",
    ]
    for name in names():
        lines.append(f'    "{name}": (')
        for words in entry(name):
            parts = wrap(words, 100) or [""]
            lines += [f'        "{part}{" " if i + 1 < len(parts) else ""}"' for i, part in enumerate(parts)]
            lines[-1] += ","
        lines.append("    ),")
    return "\n".join([*lines, "}", ""])


if __name__ == "__main__":
    Path(__file__).with_name("index.py").write_text(source())
