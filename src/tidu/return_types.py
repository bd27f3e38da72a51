"""torch.return_types: the types of named results, by their names."""

from __future__ import annotations

from typing import Any

from .core.returns import TYPES


def __getattr__(name: str) -> Any:
    if name not in TYPES:
        from . import ops

        ops.families()  # the others' types are made when they are imported
    if name in TYPES:
        return TYPES[name]
    from .missing import missing_name

    raise missing_name(__name__, name)


def __dir__() -> list[str]:
    return sorted(TYPES)
