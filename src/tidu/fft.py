"""torch.fft: discrete Fourier transforms. The face of ops/fourier.py; nothing is defined here."""

from __future__ import annotations

from typing import Any as _Any

from .ops._public import FFT as _FFT
from .ops._public import publish as _publish

_publish(globals(), "fft_", _FFT, "fourier", {})
__all__ = list(_FFT)


def __getattr__(name: str) -> _Any:
    from .core.errors import missing_name

    raise missing_name(__name__, name)
