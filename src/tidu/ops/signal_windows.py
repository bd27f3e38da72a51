"""Windows for signal processing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..core.tensor import Tensor
from ._make import as_dtype, check_place, made

__all__ = ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"]


def _window(
    fn: str, length: int, periodic: bool, formula: Callable[[Any, int], Any], dtype: Any, layout: Any, device: Any,
    pin_memory: bool, requires_grad: bool,
) -> Tensor:  # fmt: skip
    """`formula` of the numbers 0, 1, ... and the number n that stands for 1; a periodic window is one longer, without
    its last element. Computed in the window's dtype (float32 for shorter ones), as PyTorch does."""
    check_place(device, pin_memory, layout)
    d, length = dtypes.get_default_dtype() if dtype is None else as_dtype(dtype, fn), int(length)
    if d.category < dtypes.FLOATING:
        name = {"int64": "long int", "int32": "int", "uint8": "unsigned char", "bool": "bool"}.get(d.name, d.name)
        raise RuntimeError(
            f"{fn} expects floating point dtypes, got: TensorOptions(dtype={name}, device=cpu, layout=Strided "
            "(default), requires_grad=false (default), pinned_memory=false, memory_format=(nullopt))"
        )
    if length < 0:
        raise RuntimeError(f"{fn} requires non-negative window_length, got window_length={length}")
    if length < 2:
        return made(np.ones(length, d.np), requires_grad)
    n = length if periodic else length - 1
    kind = np.float32 if d.itemsize < 8 else np.float64
    with np.errstate(all="ignore"):
        return made(formula(np.arange(length, dtype=kind), n).astype(d.np), requires_grad)


def hann_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """sin(pi x) ** 2 over x from 0 to 1. Source: torch.hann_window.

    Args:
        window_length: the number of elements.
        periodic: a window one longer without its last element, for use with a Fourier transform.

    >>> import tidu as torch
    >>> torch.hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return hamming_window(
        window_length, periodic, 0.5, 0.5, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory,
        requires_grad=requires_grad, _name="hann_window",
    )  # fmt: skip


def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *, dtype: Any = None,
    layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
    _name: str = "hamming_window",
) -> Tensor:  # fmt: skip
    """alpha - beta cos(2 pi x) over x from 0 to 1. Source: torch.hamming_window."""

    def formula(x: Any, n: int) -> Any:
        return np.cos(x * (2 * np.pi / n)) * -beta + alpha

    return _window(_name, window_length, periodic, formula, dtype, layout, device, pin_memory, requires_grad)


def blackman_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """0.42 - 0.5 cos(2 pi x) + 0.08 cos(4 pi x) over x from 0 to 1. Source: torch.blackman_window."""

    def formula(x: Any, n: int) -> Any:
        x = x * (np.pi / n)
        return np.cos(x * 4) * 0.08 - np.cos(x * 2) * 0.5 + 0.42

    return _window(
        "blackman_window", window_length, periodic, formula, dtype, layout, device, pin_memory, requires_grad
    )


def bartlett_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A triangle, 1 - |2 x - 1| over x from 0 to 1. Source: torch.bartlett_window."""

    def formula(x: Any, n: int) -> Any:
        return np.where(2 * x <= n, x * (2 / n), 2 - x * (2 / n))

    return _window(
        "bartlett_window", window_length, periodic, formula, dtype, layout, device, pin_memory, requires_grad
    )


def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """i0(beta sqrt(1 - (2 x - 1) ** 2)) / i0(beta) over x from 0 to 1. Source: torch.kaiser_window."""

    def formula(x: Any, n: int) -> Any:
        x = x.astype(np.float64) / n
        return np.i0(beta * np.sqrt(np.maximum(0, 1 - (2 * x - 1) ** 2))) / np.i0(np.float64(beta))

    return _window("kaiser_window", window_length, periodic, formula, dtype, layout, device, pin_memory, requires_grad)
