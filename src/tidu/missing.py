"""What tidu lacks is said to be lacking in tidu: PyTorch's message, and a note that points at the support table."""

from __future__ import annotations

from . import version
from .core.errors import E, explain

SUPPORT_TABLE = "docs/ops.md"


def missing_name(module: str, name: str) -> AttributeError:
    """The error for a name that tidu lacks: PyTorch's words for an unknown name, and whose lack it is.

    Args:
        module: the module asked, by either name ("tidu.nn" or "torch.nn").
        name: what it was asked for.
    """
    torch_module = _torch_name(module)
    error = AttributeError(f"module {torch_module!r} has no attribute {name!r}")
    return explain_lack(error, f"{torch_module}.{name}")


def explain_lack(error: E, what: str) -> E:
    """The error with the note for something that PyTorch may have and tidu lacks."""
    return explain(
        error,
        f"this is tidu {version.tidu} under the name torch, and it has no {what}. "
        f"What it has is in the support table, {SUPPORT_TABLE}.",
    )


def _torch_name(tidu_name: str) -> str:
    return "torch" + tidu_name.removeprefix("torch").removeprefix("tidu")
