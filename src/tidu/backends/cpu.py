"""torch.backends.cpu."""

from __future__ import annotations


def get_cpu_capability() -> str:
    """The vector instructions that are put to use: NumPy and the compiler choose theirs, so the plainest answer.

    Source: torch.backends.cpu.get_cpu_capability.
    """
    return "DEFAULT"
