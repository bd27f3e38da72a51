"""torch.signal: window functions, torch.signal.windows.

Each takes M, the number of points, and `sym`: a symmetric window, for filters, or (False) a periodic one, for spectra,
which is the symmetric one of M + 1 points without its last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import pi, sqrt
from typing import Any

from . import dtypes
from .devices import strided
from .naming import submodule
from .ops.creation import tensor
from .ops.factories import empty, ones
from .ops.ranges import arange, linspace
from .ops.special_functions import i0


def _window(
    name: str,
    M: int,
    formula: Callable[[dict[str, Any]], Any],
    dtype: Any,
    layout: Any,
    device: Any,
    requires_grad: bool,
) -> Any:
    """Check what all windows check, and leave the rest to `formula`, which is given dtype= and its kin."""
    dtype = dtypes.get_default_dtype() if dtype is None else dtype
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype not in (dtypes.float32, dtypes.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    options = {"dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad}
    return empty((0,), **options) if M == 0 else formula(options)


def _steps(M: int, sym: bool) -> int:
    return M - 1 if sym else M


def exponential(
    M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, dtype: Any = None, layout: Any = strided,
    device: Any = None, requires_grad: bool = False,
) -> Any:  # fmt: skip
    """exp(-|n - center| / tau). Source: torch.signal.windows.exponential."""
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")

    def formula(options: Any) -> Any:
        c = (M if not sym and M > 1 else M - 1) / 2.0 if center is None else center
        return (-linspace(-c / tau, (-c + (M - 1)) / tau, M, **options).abs()).exp()

    return _window("exponential", M, formula, dtype, layout, device, requires_grad)


def cosine(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """sin(pi (n + 1/2) / M). Source: torch.signal.windows.cosine."""

    def formula(options: Any) -> Any:
        step = pi / (M + 1 if not sym and M > 1 else M)
        return linspace(0.5 * step, (0.5 + (M - 1)) * step, M, **options).sin()

    return _window("cosine", M, formula, dtype, layout, device, requires_grad)


def gaussian(
    M: int, *, std: float = 1.0, sym: bool = True, dtype: Any = None, layout: Any = strided, device: Any = None,
    requires_grad: bool = False,
) -> Any:  # fmt: skip
    """exp(-(n - middle)^2 / (2 std^2)). Source: torch.signal.windows.gaussian."""
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")

    def formula(options: Any) -> Any:
        start, step = -(M if not sym and M > 1 else M - 1) / 2.0, 1 / (std * sqrt(2))
        return (-(linspace(start * step, (start + (M - 1)) * step, M, **options) ** 2)).exp()

    return _window("gaussian", M, formula, dtype, layout, device, requires_grad)


def kaiser(
    M: int, *, beta: float = 12.0, sym: bool = True, dtype: Any = None, layout: Any = strided, device: Any = None,
    requires_grad: bool = False,
) -> Any:  # fmt: skip
    """I0(beta sqrt(1 - x^2)) / I0(beta) for x from -1 to 1. Source: torch.signal.windows.kaiser."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")

    def formula(options: Any) -> Any:
        if M == 1:
            return ones((1,), **options)
        end = min(beta, -beta + (M - 1) * 2.0 * beta / _steps(M, sym))
        k = linspace(-beta, end, M, **options)
        b = ones((), dtype=options["dtype"]) * beta
        return i0((b * b - k**2).sqrt()) / i0(b)

    return _window("kaiser", M, formula, dtype, layout, device, requires_grad)


def general_cosine(
    M: int, *, a: Iterable[float], sym: bool = True, dtype: Any = None, layout: Any = strided, device: Any = None,
    requires_grad: bool = False,
) -> Any:  # fmt: skip
    """The sum over i of (-1)^i a_i cos(2 pi i n / steps). Source: torch.signal.windows.general_cosine."""
    return _general_cosine(M, a, sym, dtype, layout, device, requires_grad)


def _general_cosine(
    M: int, a: Any, sym: bool, dtype: Any, layout: Any, device: Any, requires_grad: bool, name: str = "general_cosine"
) -> Any:  # fmt: skip
    def formula(options: Any) -> Any:
        if M == 1:
            return ones((1,), **options)
        if not isinstance(a, Iterable):
            raise TypeError("Coefficients must be a list/tuple")
        weights = list(a)
        if not weights:
            raise ValueError("Coefficients cannot be empty")
        k = linspace(0, (M - 1) * 2 * pi / _steps(M, sym), M, **options)
        signed = tensor([(-1) ** i * w for i, w in enumerate(weights)], dtype=options["dtype"])
        i = arange(len(weights), dtype=options["dtype"])
        return (signed.unsqueeze(-1) * (i.unsqueeze(-1) * k).cos()).sum(0)

    return _window(name, M, formula, dtype, layout, device, requires_grad)


def general_hamming(
    M: int, *, alpha: float = 0.54, sym: bool = True, dtype: Any = None, layout: Any = strided, device: Any = None,
    requires_grad: bool = False,
) -> Any:  # fmt: skip
    """alpha - (1 - alpha) cos(2 pi n / steps). Source: torch.signal.windows.general_hamming."""
    return _general_cosine(M, [alpha, 1.0 - alpha], sym, dtype, layout, device, requires_grad)


def hamming(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """0.54 - 0.46 cos(2 pi n / steps). Source: torch.signal.windows.hamming."""
    return _general_cosine(M, [0.54, 1.0 - 0.54], sym, dtype, layout, device, requires_grad)


def hann(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """(1 - cos(2 pi n / steps)) / 2. Source: torch.signal.windows.hann."""
    return _general_cosine(M, [0.5, 0.5], sym, dtype, layout, device, requires_grad)


def blackman(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """0.42 - 0.5 cos(2 pi n / steps) + 0.08 cos(4 pi n / steps). Source: torch.signal.windows.blackman."""
    return _general_cosine(M, [0.42, 0.5, 0.08], sym, dtype, layout, device, requires_grad, "blackman")


def nuttall(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Nuttall's four-term window. Source: torch.signal.windows.nuttall."""
    weights = [0.3635819, 0.4891775, 0.1365995, 0.0106411]
    return _general_cosine(M, weights, sym, dtype, layout, device, requires_grad)


def bartlett(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """1 - |2 n / steps - 1|. Source: torch.signal.windows.bartlett."""

    def formula(options: Any) -> Any:
        if M == 1:
            return ones((1,), **options)
        return 1 - linspace(-1, -1 + (M - 1) * 2.0 / _steps(M, sym), M, **options).abs()

    return _window("bartlett", M, formula, dtype, layout, device, requires_grad)


windows = submodule(
    globals(), "windows",
    "bartlett blackman cosine exponential gaussian general_cosine general_hamming hamming hann kaiser nuttall",
)  # fmt: skip
__all__ = ["windows"]
