"""Fourier transforms of the windows of a signal, and back: stft, istft; and windows for signals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..core.tensor import Tensor, dtype_word, tensor_of
from ..naming import warn
from ._make import as_dtype, check_place, made, warn_once
from .comparison import view_as_real
from .fourier import BY_N, NONE, ROOT, c2c, c2r, r2c
from .padding import constant_pad_nd, pad
from .windows import unfold_backward

__all__ = [
    "bartlett_window", "blackman_window", "hamming_window", "hann_window", "istft", "kaiser_window", "stft",
]  # fmt: skip
METHODS = "istft stft"

_NO_WINDOW = "A window was not provided. A rectangular window will be applied{}To suppress this warning and use a rectangular window, explicitly set `window=torch.ones(n_fft, device=<device>)`."  # noqa: E501
_LEAKS = ",which is known to cause spectral leakage. Other windows such as torch.hann_window or torch.hamming_window are recommended to reduce spectral leakage."  # noqa: E501
_LOSES = ".Please provide the same window used by stft to make the inversion lossless."


def _flag(v: Any) -> str:
    return "None" if v is None else str(int(v))


def _window_word(window: Any) -> str:
    return "None" if window is None else f"torch.{window.dtype.legacy}Tensor{{{list(window.shape)}}}"


def _full_window(window: Any, win_length: int, n_fft: int) -> Any:
    if win_length == n_fft:
        return window
    left = (n_fft - win_length) // 2
    return constant_pad_nd(window, [left, n_fft - win_length - left])


def stft(
    input: Any, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Any = None,
    center: bool = True, pad_mode: str = "reflect", normalized: bool = False, onesided: bool | None = None,
    return_complex: bool | None = None, align_to_window: bool | None = None,
) -> Any:  # fmt: skip
    """The short-time Fourier transform: X[k, m] = sum_j window[j] input[m hop_length + j] exp(-2 pi i j k / n_fft).

    **Arguments** input: a signal or a batch of them, real or complex; n_fft: points of each transform; hop_length: how
    far the window moves (n_fft // 4 unless told); win_length: points of the window (n_fft), padded with zeros; center:
    pad the signal so that frame m is centred at m hop_length, by `pad_mode`; normalized: divide by the root of n_fft;
    onesided: frequencies up to n_fft // 2 only (unless something is complex); return_complex: False for a last
    dimension of real and imaginary parts.
    """
    if window is None:
        warn_once(_NO_WINDOW.format(_LEAKS))
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    x = input
    if center:
        if align_to_window is not None:
            raise RuntimeError("stft align_to_window should only be set when center = false")
        n, half = x.ndim, n_fft // 2
        shape = (*(1,) * (3 - n), *tuple(x.shape))
        x = pad(x.view(shape), [half, half], pad_mode)
        x = x.view(tuple(x.shape)[-n:]) if n < 3 else x

    complex_ = x.dtype.is_complex or (window is not None and window.dtype.is_complex)
    if return_complex is None and not complex_:
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will further require that "
            "return_complex=True in a future PyTorch release."
        )
    as_complex = complex_ if return_complex is None else return_complex
    if not as_complex:
        warn_once(
            "stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex "
            "tensors for all inputs, and return_complex=False will raise an error.\nNote: you can still call "
            "torch.view_as_real on the complex output to recover the old return format."
        )

    def wrong(what: str) -> RuntimeError:
        return RuntimeError(
            f"stft(torch.{x.dtype.legacy}Tensor[{', '.join(map(str, x.shape))}], n_fft={n_fft}, hop_length={hop}, "
            f"win_length={width}, window={_window_word(window)}, normalized={int(normalized)}, "
            f"onesided={_flag(onesided)}, "
            f"return_complex={_flag(return_complex)}, align_to_window={_flag(align_to_window)}) : {what}"
        )

    if not (x.dtype.is_floating_point or x.dtype.is_complex):
        raise wrong("expected a tensor of floating point or complex values")
    if x.ndim not in (1, 2):
        raise wrong("expected a 1D or 2D tensor")
    length = x.shape[-1]
    if not 0 < n_fft <= length:
        raise wrong(f"expected 0 < n_fft < {length}, but got n_fft={n_fft}")
    if hop <= 0:
        raise wrong(f"expected hop_length > 0, but got hop_length={hop}")
    if not 0 < width <= n_fft:
        raise wrong(f"expected 0 < win_length <= n_fft, but got win_length={width}")
    if window is not None and tuple(window.shape) != (width,):
        raise wrong(
            f"expected a 1D window tensor of size equal to win_length={width}, but got window with size "
            f"{list(window.shape)}"
        )
    single = x.ndim == 1
    x = x.unsqueeze(0) if single else x
    if align_to_window and not center:
        left = (n_fft - width) // 2
        x = constant_pad_nd(x, [left, n_fft - width - left])
    if window is None and width < n_fft:
        window = tensor_of(np.ones(width, x.dtype.np))
    frames = x.unfold(-1, n_fft, hop)
    if window is not None:
        frames = frames * _full_window(window, width, n_fft)
    complex_ = frames.dtype.is_complex
    if frames.dtype.is_floating_point and frames.dtype.itemsize == 2:
        raise RuntimeError(f"MKL FFT doesn't support tensors of type: {frames.dtype.legacy}")
    half_only = (not complex_) if onesided is None else onesided
    if half_only and complex_:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    mode = ROOT if normalized else NONE
    r = c2c(frames, (2,), mode, True) if complex_ else r2c(frames, (2,), mode, half_only)
    r = r.transpose(1, 2)
    r = r.squeeze(0) if single else r
    return r if as_complex else view_as_real(r)


def istft(
    input: Any, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Any = None,
    center: bool = True, normalized: bool = False, onesided: bool | None = None, length: int | None = None,
    return_complex: bool = False,
) -> Any:  # fmt: skip
    """The inverse of stft: overlapping frames added up and divided by the sum of the squared windows.
    RuntimeError where that sum is zero: the window must leave no gaps."""
    if window is None:
        warn_once(_NO_WINDOW.format(_LOSES))
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length

    def wrong(what: str, between: str = " : ") -> RuntimeError:
        return RuntimeError(
            f"istft(CPU{input.dtype.legacy}Type[{', '.join(map(str, input.shape))}], n_fft={n_fft}, hop_length={hop}, "
            f"win_length={width}, window={_window_word(window)}, center={int(center)}, normalized={int(normalized)}, "
            f"onesided={_flag(onesided)}, length={'None' if length is None else length}, "
            f"return_complex={int(return_complex)}){between}{what}"
        )

    if not input.dtype.is_complex:
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    if input.ndim < 2:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-input.ndim - 1}, {input.ndim}], but got -3)"
        )
    n_frames, height = input.shape[-1], input.shape[-2]
    whole = n_fft + hop * (n_frames - 1)
    if not input.numel():
        raise wrong("input tensor cannot be empty.")
    if input.ndim not in (2, 3):
        raise wrong(f"expected a tensor with 3 or 4 dimensions, but got {input.ndim + 1}")
    half_only = (height != n_fft) if onesided is None else onesided
    if height != (n_fft // 2 + 1 if half_only else n_fft):
        name = "n_fft / 2 + 1 when onesided=True" if half_only else "n_fft when onesided=False"
        raise wrong(
            f"expected the frequency dimension (3rd to the last) of the input tensor to match {name}, but got {height}"
        )
    if not 0 < hop <= width:
        raise wrong("expected 0 < hop_length <= win_length")
    if not 0 < width <= n_fft:
        raise wrong("expected 0 < win_length <= n_fft")
    if window is not None and tuple(window.shape) != (width,):
        raise wrong("Invalid window shape. window has to be 1D and length of `win_length`")
    weights = window if window is not None else tensor_of(np.ones(width, input.dtype.to_real().np))
    weights = _full_window(weights, width, n_fft)
    single = input.ndim == 2
    x = (input.unsqueeze(0) if single else input).transpose(1, 2)
    mode = ROOT if normalized else BY_N
    if return_complex:
        if half_only:
            raise RuntimeError("Cannot have onesided output if window or input is complex")
        x = c2c(x, (2,), mode, False)
    else:
        if window is not None and window.dtype.is_complex:
            raise RuntimeError("Complex windows are incompatible with return_complex=False")
        if not half_only:
            x = x.narrow(2, 0, n_fft // 2 + 1)
        x = c2r(x, (2,), mode, n_fft)
    y = unfold_backward(x * weights.view((1, 1, n_fft)), (x.shape[0], whole), 1, n_fft, hop)
    squares = weights.pow(2).view((1, 1, n_fft)).expand((1, n_frames, n_fft))
    envelope = unfold_backward(squares, (1, whole), 1, n_fft, hop)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else whole - n_fft // 2 if center else whole
    stop = min(end, whole)
    y, envelope = (v.narrow(1, start, max(stop - start, 0)) for v in (y, envelope))
    lowest = envelope.abs().min()
    if bool(lowest < 1e-11):
        raise wrong("window overlap add min: 1\n[ CPUBoolType{} ]", " ")
    y = y / envelope
    if end > whole:
        warn(
            "The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. "
            "Please check your center and hop_length settings."
        )
        y = constant_pad_nd(y, [0, end - whole])
    return y.squeeze(0) if single else y


def _window(
    fn: str, length: int, periodic: bool, formula: Callable[[Any, int], Any], dtype: Any, layout: Any, device: Any,
    pin_memory: bool, requires_grad: bool,
) -> Tensor:  # fmt: skip
    """`formula` of the numbers 0, 1, ... and the number n that stands for 1; a periodic window is one longer, without
    its last element. Computed in the window's dtype (float32 for shorter ones), as PyTorch does."""
    check_place(device, pin_memory, layout)
    d, length = dtypes.get_default_dtype() if dtype is None else as_dtype(dtype, fn), int(length)
    if d.category < dtypes.FLOATING:
        raise RuntimeError(
            f"{fn} expects floating point dtypes, got: TensorOptions(dtype={dtype_word(d)}, device=cpu, layout=Strided "
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
    """sin(pi x) ** 2 over x from 0 to 1.

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
    """alpha - beta cos(2 pi x) over x from 0 to 1."""

    def formula(x: Any, n: int) -> Any:
        return np.cos(x * (2 * np.pi / n)) * -beta + alpha

    return _window(_name, window_length, periodic, formula, dtype, layout, device, pin_memory, requires_grad)


def blackman_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """0.42 - 0.5 cos(2 pi x) + 0.08 cos(4 pi x) over x from 0 to 1."""

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
    """A triangle, 1 - |2 x - 1| over x from 0 to 1."""

    def formula(x: Any, n: int) -> Any:
        return np.where(2 * x <= n, x * (2 / n), 2 - x * (2 / n))

    return _window(
        "bartlett_window", window_length, periodic, formula, dtype, layout, device, pin_memory, requires_grad
    )


def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """i0(beta sqrt(1 - (2 x - 1) ** 2)) / i0(beta) over x from 0 to 1."""

    def formula(x: Any, n: int) -> Any:
        x = x.astype(np.float64) / n
        return np.i0(beta * np.sqrt(np.maximum(0, 1 - (2 * x - 1) ** 2))) / np.i0(np.float64(beta))

    return _window("kaiser_window", window_length, periodic, formula, dtype, layout, device, pin_memory, requires_grad)
