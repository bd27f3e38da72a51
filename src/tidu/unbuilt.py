"""Names that PyTorch has and that are there to be imported only: using them is an error that says what is lacking."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .missing import explain_lack

__all__ = ["unbuilt", "unbuilt_names"]


def unbuilt(path: str, what: str) -> Callable[..., Any]:
    """A function that raises NotImplementedError.

    Args:
        path: its name in PyTorch.
        what: what there would have to be.
    """

    def raising(*args: Any, **kw: Any) -> Any:
        raise explain_lack(NotImplementedError(f"{path} needs {what}, which tidu does not have"), path)

    raising.__name__ = raising.__qualname__ = path.rpartition(".")[2]
    raising.__doc__ = f"NotImplementedError: there are no {what}. Source: {path}."
    return raising


def unbuilt_names(module: str, names: str, what: str) -> dict[str, Callable[..., Any]]:
    """Such functions by their names in a module."""
    return {name: unbuilt(f"{module}.{name}", what) for name in names.split()}
