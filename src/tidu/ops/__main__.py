"""`python -m tidu.ops`: write index.py, the names of the families that are imported on first use."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap

from . import EAGER, family, names


def entry(name: str) -> tuple[str, str, str]:
    """What a family gives: names of the face, methods, ops with an in-place variant."""
    module = family(name)
    if hasattr(module, "OPERATORS") or hasattr(module, "PROPERTIES"):
        raise SystemExit(f"{name} has operators or properties, which must be there at once: add it to EAGER")
    return (
        " ".join(module.__all__),
        " ".join(getattr(module, "METHODS", "").split()),
        " ".join(getattr(module, "INPLACE", "").split()),
    )


def source() -> str:
    """The text of index.py."""
    lines = ['"""Written by `python -m tidu.ops`: what the families imported on first use give."""', ""]
    lines += ["# family: (names of the face, methods, ops with an in-place variant)", "LAZY = {"]
    for name in names():
        if name in EAGER:
            continue
        lines.append(f'    "{name}": (')
        for words in entry(name):
            parts = wrap(words, 100) or [""]
            lines += [f'        "{part}{" " if i + 1 < len(parts) else ""}"' for i, part in enumerate(parts)]
            lines[-1] += ","
        lines.append("    ),")
    return "\n".join([*lines, "}", ""])


if __name__ == "__main__":
    Path(__file__).with_name("index.py").write_text(source())
