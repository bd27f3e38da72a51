"""Errors: PyTorch's class and message, and our explanation in a note.

`explain(error, text)` adds the note. Programs that match on the message keep working; tracebacks teach.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np

from .. import dtypes, version
from ..shapes import broadcast_shapes
from .modes import set_record, state
from .tensor import NOWHERE, Detached, Tensor
from .views import live_node

E = TypeVar("E", bound=BaseException)


def explain(error: E, text: str) -> E:
    """The error with a note that says what happened and what to write instead."""
    error.add_note("  note: " + text)
    return error


def invalid_combination(name: str, args: Iterable[Any], *expected: str) -> TypeError:
    """The error for arguments that fit none of a function's signatures."""
    given = ", ".join("Tensor" if isinstance(a, Tensor) else type(a).__name__ for a in args)
    lines = "".join(f" * {signature}\n" for signature in expected)
    return TypeError(
        f"{name}() received an invalid combination of arguments - got ({given}), but expected one of:\n{lines}"
    )


def type_word(dtype: Any) -> str:
    """The name of a tensor type in PyTorch's messages: torch.FloatTensor, and CPUBoolType where it has no old one."""
    word = (dtype if isinstance(dtype, dtypes.dtype) else dtypes.from_numpy(dtype)).legacy
    return f"torch.{word}Tensor" if word in _OLD else f"CPU{word}Type"


_OLD = frozenset(("Float", "Double", "Half", "Byte", "Char", "Short", "Int", "Long"))


def made_by(node: Any) -> str:
    """The op that a node is of, as PyTorch's messages name it."""
    name: str = node.name()
    head, found, tail = name.rpartition("Backward")
    if not found or (tail and not tail.isdigit()):
        return name
    return head + tail.removeprefix("0")  # the first variant of an op goes without its number: Exp, but Max1


def _maker(t: Tensor) -> Any:
    was = set_record(True)
    try:
        return live_node(t)
    except RuntimeError:  # a view that cannot follow the write
        return t._node
    finally:
        set_record(was)


def modified_error(node: Any, saved: Any, cell: list[int], expected: int) -> RuntimeError:
    """A value saved for backward was written after it was saved."""
    tensor = saved if isinstance(saved, Tensor) else None
    while type(cell) is Detached:
        if expected <= cell.at:
            return RuntimeError(
                "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not "
                "supported, please use out-of-place `.detach()` instead"
            )
        cell, expected = cell.cell, expected - 1
    a = np.asarray(saved) if tensor is None else tensor._a
    maker = node if tensor is None else _maker(tensor)
    origin = ""
    if tensor is None and node.__dict__.get("in_view_"):  # what was written into a view is now taken out of its base
        origin = ", which is output 0 of AsStrided,"
    elif maker is not None and maker is not True and maker is not NOWHERE:
        origin = f", which is output {maker.nr} of {made_by(maker.owner)},"
    error = RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{type_word(a.dtype)} {list(a.shape)}]{origin} is at version {cell[0]}; expected version {expected} instead. "
        + (
            "Hint: the backtrace further above shows the operation that failed to compute its gradient. The "
            "variable in "
            "question was changed in there or anywhere later. Good luck!"
            if state.anomaly
            else "Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
            "torch.autograd.set_detect_anomaly(True, check_nan=False)."
        )
    )
    if state.debug:
        from .careful import writes_since

        saved_at = node.metadata.get("traceback_", ["  (not noted)\n"])[-1]
        written = "".join(writes_since(cell, expected)) or "  (not noted)\n"
        error.add_note(f"  note: {node.name()} kept it at\n{saved_at}  and it was written at\n{written}")
    return explain(
        error,
        f"{node.name()} kept this tensor to compute its gradient, and an in-place operation (x += ..., x[...] = ..., "
        f"a method ending in _) has changed it since. Write the change out of place (x = x + ...), make it before "
        f"the tensor is used, or give {node.name()} a copy: x.clone().",
    )


# ------------------------------------------------------------------ what tidu lacks is said to be lacking in tidu

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


def said_of_shapes(error: ValueError) -> Exception | None:
    """In PyTorch's words, what NumPy said in a rule about shapes that do not broadcast; None for any other error."""
    at: Any = error.__traceback__
    while at.tb_next is not None:
        at = at.tb_next
    if "broadcast together" in str(error) and at.tb_frame.f_globals["__name__"].startswith("tidu."):
        try:
            broadcast_shapes(*[tuple(map(int, re.findall(r"\d+", s))) for s in re.findall(r"\((.*?)\)", str(error))])
        except RuntimeError as found:
            return found
    return None
