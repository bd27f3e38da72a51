"""torch.export, to be imported: programs are not exported."""

from __future__ import annotations

from .unbuilt import unbuilt_names

_NAMES = "Dim dims draft_export export load register_dataclass save unflatten"
__all__ = _NAMES.split()

globals().update(unbuilt_names("torch.export", _NAMES, "graph capture"))


class ExportedProgram:
    """The class of exported programs, of which there are none. Source: torch.export.ExportedProgram."""
