"""Discrete Fourier transforms: three linear ops, by what is real, and the functions that name their uses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays.threads import BIG, get_num_threads
from ..core.linear import linear
from ..core.tensor import Tensor
from ..shapes import normalize_dim
from ._linalg import like
from ._make import check_place, finish, type_for
from .padding import constant_pad_nd
from .rearrange import roll
from .reduction import into

__all__: list[str] = []

Ints = tuple[int, ...]
NONE, ROOT, BY_N = 0, 1, 2  # what a transform of n points is multiplied by: 1, 1 / sqrt(n), 1 / n
_FORWARD = {NONE: "backward", ROOT: "ortho", BY_N: "forward"}  # NumPy's words for that
_INVERSE = {NONE: "forward", ROOT: "ortho", BY_N: "backward"}


# ------------------------------------------------------------------ the ops


_FEW = 4096  # elements, below which it is not worth importing SciPy, whose transforms are several times as fast
_MANY = 1 << 16  # elements, from which on it is worth compiling loops, which are twice as fast again


def _over(name: str, x: Any, dim: Ints, norm: int, *size: Any) -> Any:
    """A transform over some dimensions, which are the innermost in memory afterwards, the last of them in place."""
    k = len(dim)
    inner = (*sorted(dim[:-1], key=lambda d: -abs(x.strides[d])), dim[-1])
    order = (*[d for d in range(x.ndim) if d not in dim], *inner)
    moved, axes = x.transpose(order), range(-k, 0)
    forward = name in ("fftn", "rfftn")
    r = _by_loops(name, moved, k, norm, *size) if x.size >= _MANY else None
    if r is None:
        word = (_FORWARD if forward else _INVERSE)[norm]
        if x.size < _FEW:
            r = getattr(np.fft, name)(moved, *size, axes=axes, norm=word)
        else:
            from scipy import fft

            workers = get_num_threads() if x.size >= BIG else 1
            r = getattr(fft, name)(moved, *size, axes=tuple(axes), norm=word, workers=workers)
    return np.ascontiguousarray(r).transpose(np.argsort(order))


def _by_loops(name: str, x: Any, k: int, norm: int, size: Any = None) -> Any:
    """A transform over the last k dimensions; None where the compiled loops do not serve."""
    from ..arrays.native_fourier import fourier

    if size and size[-1] != 2 * (x.shape[-1] - 1):
        return None
    n = math.prod((size or x.shape)[-k:])
    return fourier(x, k, name in ("fftn", "rfftn"), (1.0, n**-0.5, 1 / n)[norm], "r" in name)


def _c2c(input: Any, dim: Ints, norm: int, forward: bool) -> Any:
    if not dim:
        return input.copy()
    dim = tuple(sorted(dim, key=lambda d: -abs(input.strides[d])))
    return _over("fftn" if forward else "ifftn", input, dim, norm)


def _r2c(input: Any, dim: Ints, norm: int, onesided: bool) -> Any:
    return _over("rfftn" if onesided else "fftn", input, dim, norm)


def _c2r(input: Any, dim: Ints, norm: int, last: int) -> Any:
    dim = (*sorted(dim[:-1], key=lambda d: -abs(input.strides[d])), dim[-1])
    return _over("irfftn", input, dim, norm, [*(input.shape[d] for d in dim[:-1]), last])


def _weighted(x: Any, d: int, n: int, inner: float) -> Any:
    """A half spectrum of n points with the frequencies that stand for two multiplied by `inner`."""
    k = n // 2 + 1
    weights = np.full(k, inner)
    weights[0] = 1
    if n % 2 == 0:
        weights[-1] = 1
    shape = [1] * x.ndim
    shape[d] = k
    return x * like(weights.reshape(shape), x.real)


c2c = linear(
    "fft_c2c", _c2c, lambda g, dim, norm, forward: c2c(g, dim, norm, not forward), node="FftC2CBackward0", out_arg=False
)


def _r2c_adjoint(g: Any, dim: Ints, norm: int, onesided: bool, input_shape: Any) -> Any:
    if not onesided:
        return c2c(g, dim, norm, False).real
    n = input_shape[dim[-1]]
    return c2r(_weighted(g, dim[-1], n, 0.5), dim, norm, n)


r2c = linear("fft_r2c", _r2c, _r2c_adjoint, node="FftR2CBackward0", out_arg=False)
c2r = linear(
    "fft_c2r",
    _c2r,
    lambda g, dim, norm, last: _weighted(r2c(g, dim, norm, True), dim[-1], last, 2.0),
    node="FftC2RBackward0",
    out_arg=False,
)


# ------------------------------------------------------------------ arguments


def _norm(norm: Any, forward: bool) -> int:
    if norm is None or norm == "backward":
        return NONE if forward else BY_N
    if norm == "forward":
        return BY_N if forward else NONE
    if norm == "ortho":
        return ROOT
    raise RuntimeError(f'Invalid normalization mode: "{norm}"')


def _promoted(x: Any, to_complex: bool = False) -> Any:
    """The input in floats, and complex if asked for; half precision has no transform on the CPU."""
    d = x.dtype
    if d.category < dtypes.FLOATING:
        d = dtypes.get_default_dtype()
    if d.is_floating_point and d.itemsize == 2:
        raise RuntimeError(f"Unsupported dtype {d.legacy}")
    if to_complex:
        d = d.to_complex()
    return x if d is x.dtype else x.to(d)


def _axis(x: Any, dim: int) -> int:
    if not x.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return normalize_dim(dim, x.ndim)


def _points(n: int) -> int:
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")
    return n


def _resized(x: Any, dims: Sequence[int], sizes: Sequence[int]) -> Any:
    """Cut or padded with zeros at the end of some dimensions."""
    pad = [0] * (2 * x.ndim)
    for d, n in zip(dims, sizes, strict=True):
        if n == -1 or x.shape[d] == n:
            continue
        if x.shape[d] > n:
            x = x.narrow(d, 0, n)
        else:
            pad[2 * (x.ndim - d) - 1] = n - x.shape[d]
    while pad and pad[-2:] == [0, 0]:
        pad = pad[:-2]
    return constant_pad_nd(x, pad) if pad else x


def _shape_and_dims(x: Any, s: Any, dim: Any) -> tuple[list[int], list[int]]:
    """The dims to transform and their sizes, -1 for as they are."""
    s = None if s is None else [s] if isinstance(s, int) else list(s)
    if dim is None:
        if s is None:
            return list(range(x.ndim)), [-1] * x.ndim
        if len(s) > x.ndim:
            raise RuntimeError(f"Got shape with {len(s)} values but input tensor only has {x.ndim} dimensions.")
        dims = list(range(x.ndim - len(s), x.ndim))
    else:
        dims = [_axis(x, d) for d in ((dim,) if isinstance(dim, int) else dim)]
        if len(set(dims)) != len(dims):
            raise RuntimeError("FFT dims must be unique")
        if s is None:
            return dims, [-1] * len(dims)
        if len(s) != len(dims):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
    return dims, s


def _checked(x: Any, dims: Sequence[int], sizes: Sequence[int]) -> list[int]:
    return [_points(x.shape[d] if n == -1 else n) for d, n in zip(dims, sizes, strict=True)]


def _done(name: str, r: Any, out: Any, laid_out: bool = False) -> Any:
    if out is None:
        return r
    resized = laid_out and isinstance(out, Tensor) and out.shape != r.shape
    into("fft_" + name, out, r)
    if resized:
        out._a = r._a.astype(out._a.dtype, "K")
    return out


# ------------------------------------------------------------------ one dimension


def _one(name: str, forward: bool) -> Callable[..., Any]:
    def transform(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None) -> Any:
        x = _promoted(input)
        d = _axis(x, dim)
        if n is not None:
            _points(n)
            x = _resized(x, [d], [n])
        _points(x.shape[d])
        mode = _norm(norm, forward)
        if x.dtype.is_complex:
            r = c2c(x, (d,), mode, forward)
        else:
            r = r2c(x, (d,), mode, False)
            r = r if forward else r.conj()
        return _done(name, r, out, not forward and not x.dtype.is_complex)

    return transform


def _one_real(name: str, forward: bool) -> Callable[..., Any]:
    def transform(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None) -> Any:
        if input.dtype.is_complex:
            raise RuntimeError(f"{name} expects a real input tensor, but got {input.dtype.legacy}")
        x = _promoted(input)
        d = _axis(x, dim)
        if n is not None:
            _points(n)
            x = _resized(x, [d], [n])
        _points(x.shape[d])
        r = r2c(x, (d,), _norm(norm, forward), True)
        return _done(name, r if forward else r.conj(), out, not forward)

    return transform


def _one_to_real(name: str, forward: bool) -> Callable[..., Any]:
    def transform(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None) -> Any:
        x = _promoted(input, True)
        d = _axis(x, dim)
        points = _points(2 * (x.shape[d] - 1) if n is None else n)
        if n is not None:
            x = _resized(x, [d], [points // 2 + 1])
        return _done(name, c2r(x.conj() if forward else x, (d,), _norm(norm, forward), points), out)

    return transform


fft, ifft = _one("fft", True), _one("ifft", False)
rfft, ihfft = _one_real("rfft", True), _one_real("ihfft", False)
irfft, hfft = _one_to_real("irfft", False), _one_to_real("hfft", True)


# ------------------------------------------------------------------ several dimensions


def _several(name: str, forward: bool) -> Callable[..., Any]:
    def transform(input: Any, s: Any = None, dim: Any = None, norm: str | None = None, *, out: Any = None) -> Any:
        dims, sizes = _shape_and_dims(input, s, dim)
        x = _promoted(input, True)
        _checked(x, dims, sizes)
        x = _resized(x, dims, sizes)
        mode = _norm(norm, forward)
        return _done(name, c2c(x, tuple(dims), mode, forward) if dims else x, out)

    return transform


def _one_axis_at_least(name: str, dims: Sequence[int]) -> None:
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")


def _several_real(name: str, forward: bool) -> Callable[..., Any]:
    def transform(input: Any, s: Any = None, dim: Any = None, norm: str | None = None, *, out: Any = None) -> Any:
        if input.dtype.is_complex:
            raise RuntimeError(
                f"rfftn expects a real-valued input tensor, but got {input.dtype.legacy}"
                if forward
                else f"Only supports floating-point dtypes, but found: {input.dtype.legacy}"
            )
        dims, sizes = _shape_and_dims(input, s, dim)
        _one_axis_at_least(name, dims)
        x = _promoted(input)
        _checked(x, dims, sizes)
        x = _resized(x, dims, sizes)
        mode = _norm(norm, forward)
        if forward:
            return _done(name, r2c(x, tuple(dims), mode, True), out)
        r = r2c(x, (dims[-1],), mode, True)
        if len(dims) == 1:
            return _done(name, r.conj(), out)
        return _done(name, c2c(r.conj_physical(), tuple(dims[:-1]), mode, False), out)

    return transform


def _several_to_real(name: str, forward: bool) -> Callable[..., Any]:
    def transform(input: Any, s: Any = None, dim: Any = None, norm: str | None = None, *, out: Any = None) -> Any:
        dims, sizes = _shape_and_dims(input, s, dim)
        _one_axis_at_least(name, dims)
        x = _promoted(input, True)
        last = sizes[-1] if sizes[-1] != -1 and s is not None else 2 * (x.shape[dims[-1]] - 1)
        points = _checked(x, dims[:-1], sizes[:-1])
        _points(last)
        x = _resized(x, dims, [*points, last // 2 + 1])
        mode = _norm(norm, forward)
        if not forward:
            return _done(name, c2r(x, tuple(dims), mode, last), out)
        if len(dims) > 1:
            x = c2c(x, tuple(dims[:-1]), mode, True)
        return _done(name, c2r(x.conj(), (dims[-1],), mode, last), out)

    return transform


fftn, ifftn = _several("fftn", True), _several("ifftn", False)
rfftn, ihfftn = _several_real("rfftn", True), _several_real("ihfftn", False)
irfftn, hfftn = _several_to_real("irfftn", False), _several_to_real("hfftn", True)


def _two(name: str, several: Callable[..., Any]) -> Callable[..., Any]:
    def transform(input: Any, s: Any = None, dim: Any = (-2, -1), norm: str | None = None, *, out: Any = None) -> Any:
        if dim is None:
            raise TypeError(f"{name}() takes two dims")
        return several(input, s, dim, norm, out=out)

    return transform


fft2, ifft2, rfft2 = _two("fft2", fftn), _two("ifft2", ifftn), _two("rfft2", rfftn)
irfft2, hfft2, ihfft2 = _two("irfft2", irfftn), _two("hfft2", hfftn), _two("ihfft2", ihfftn)

_WHAT = {
    "fft": "X_k = sum_j x_j exp(-2 pi i j k / n), the discrete Fourier transform",
    "ifft": "x_j = 1/n sum_k X_k exp(2 pi i j k / n), the inverse of the discrete Fourier transform",
    "rfft": "The discrete Fourier transform of real input, frequencies 0 to n // 2",
    "irfft": "The inverse of rfft: real output of n points (2 (m - 1) unless told) from m frequencies",
    "hfft": "The discrete Fourier transform of a signal that is conjugate-symmetric, of which half "
    "is given: real output",
    "ihfft": "The inverse of hfft",
}


def _document() -> None:
    for base, what in _WHAT.items():
        for ending, over in (
            ("", "along a dimension"), ("2", "over two dimensions"), ("n", "over several dimensions"),
        ):  # fmt: skip
            fn = globals()[base + ending]
            fn.__name__ = fn.__qualname__ = base + ending
            size = "n" if not ending else "s"
            fn.__doc__ = (
                f"{what}, {over}. Source: torch.fft.{base}{ending}.\n\n    `{size}` cuts the input, or pads it "
                'with zeros, first. `norm` says which direction is divided by the number of points: "backward" (the '
                'inverse, and the default), "forward", or "ortho", both by its root.\n    '
            )


_document()


# ------------------------------------------------------------------ frequencies and shifts


def _freq_dtype(name: str, dtype: Any, out: Any) -> Any:
    d = type_for(dtype, out, name)
    if np.dtype(d).kind not in "fcV":
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    return d


def fftfreq(
    n: int, d: float = 1.0, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The frequencies of fft's results, [0, 1, ..., -2, -1] / (n d).

    >>> import tidu as torch
    >>> torch.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    check_place(device, False, layout)
    k = np.arange(n)
    k[(n + 1) // 2 :] -= n
    return _frequencies("fftfreq", n, d, k, dtype, out, requires_grad)


def _frequencies(name: str, n: int, d: float, k: Any, dtype: Any, out: Any, requires_grad: bool) -> Tensor:
    kind = _freq_dtype(name, dtype, out)
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    with np.errstate(all="ignore"):
        return finish(k.astype(kind) * np.dtype(kind).type(1.0 / (n * d) if n * d else np.inf), out, requires_grad)


def rfftfreq(
    n: int, d: float = 1.0, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The frequencies of rfft's results, [0, 1, ..., n // 2] / (n d)."""
    check_place(device, False, layout)
    return _frequencies("rfftfreq", n, d, np.arange(n // 2 + 1), dtype, out, requires_grad)


def _shifted(input: Any, dim: Any, half: Callable[[int], int]) -> Any:
    dims = list(range(input.ndim)) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    if dims and not input.ndim:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    dims = [normalize_dim(d, input.ndim) for d in dims]
    return roll(input, [half(input.shape[d]) for d in dims], dims)


def fftshift(input: Any, dim: Any = None) -> Any:
    """The zero frequency moved to the middle of some dimensions, all of them unless told.

    >>> import tidu as torch
    >>> torch.fft.fftshift(torch.arange(4))
    tensor([2, 3, 0, 1])
    """
    return _shifted(input, dim, lambda n: n // 2)


def ifftshift(input: Any, dim: Any = None) -> Any:
    """The inverse of fftshift."""
    return _shifted(input, dim, lambda n: (n + 1) // 2)
