"""Fourier transforms against their definition, derivatives, sizes and norms, errors; short-time transforms; masks."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest

import tidu as torch
from tidu.arrays import native, native_fourier
from tidu.autograd import gradcheck, gradgradcheck
from tidu.ops import fourier

F = torch.fft
COMPLEX = torch.complex128
NORMS = [None, "forward", "ortho"]


def random(*shape: int, dtype: Any = torch.float64, grad: bool = False) -> Any:
    rng = np.random.default_rng(sum(shape) + 7 * len(shape))
    a = rng.standard_normal(shape)
    if dtype.is_complex:
        a = a + 1j * rng.standard_normal(shape)
    return torch.tensor(a, dtype=dtype).requires_grad_(grad)


def matrix(n: int, sign: int, scale: float) -> np.ndarray:
    """The transform of n points, as a matrix."""
    k = np.arange(n)
    return np.exp(sign * 2j * math.pi * np.outer(k, k) / n) * scale


def scale(n: int, norm: str | None, forward: bool) -> float:
    if norm == "ortho":
        return n**-0.5
    return 1 / n if (norm == "forward") == forward else 1.0


# ------------------------------------------------------------------ compiled loops

FULL = slice(None)


def natively(x: np.ndarray, dims: tuple[int, ...], norm: str | None, forward: bool) -> np.ndarray:
    """A transform by the compiled loops alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fourier, "_MANY", 0)
        patch.setattr(fourier, "_FEW", 0)
        patch.setitem(sys.modules, "scipy", None)
        return (F.fftn if forward else F.ifftn)(torch.from_numpy(x), dim=dims, norm=norm).numpy()


def natively_real(x: np.ndarray, k: int, forward: bool, scale: float = 1.0) -> Any:
    return native_fourier.fourier(x, k, forward, scale, real=True)


def error(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.linalg.norm(x - y) / np.linalg.norm(y))


@pytest.fixture
def loops() -> None:
    if native.kernel("softmax") is None:
        pytest.skip("llvmlite is not installed")


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize(
    ("shape", "dims", "norm"),
    [
        ((37, 8), (1,), None),
        ((1, 16), (1,), "ortho"),
        ((3, 7, 32), (2,), "forward"),
        ((33, 64), (1,), None),
        ((17, 128), (1,), "ortho"),
        ((5, 256), (1,), "forward"),
        ((16, 512), (1,), None),
        ((4, 1024), (1,), "ortho"),
        ((31, 2048), (1,), "forward"),
        ((17, 4096), (1,), None),
        ((64, 48), (0,), "forward"),
        ((3, 8, 2, 16), (1,), None),
        ((3, 8, 32), (1, 2), "ortho"),
        ((5, 128, 128), (1, 2), None),
        ((256, 512), (0, 1), "forward"),
        ((2, 8, 64, 16), (1, 2, 3), None),
        ((2, 16, 33), (1,), "ortho"),
    ],
)
def test_compiled_transforms(shape: Any, dims: Any, norm: Any, forward: bool) -> None:
    x = random(*shape, dtype=torch.complex64).numpy()
    before = x.copy()
    wide = (np.fft.fftn if forward else np.fft.ifftn)(x.astype(np.complex128), axes=dims, norm=norm)
    result = natively(x, dims, norm, forward)
    assert result.shape == x.shape
    assert result.dtype == x.dtype
    assert error(result, wide) < 2e-7
    assert np.array_equal(x, before)
    assert np.array_equal(natively(x, dims, norm, forward), result)


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize(
    ("shape", "k"),
    [
        ((1, 16), 1),
        ((5, 32), 1),
        ((33, 64), 1),
        ((3, 7, 256), 1),
        ((2, 1024), 1),
        ((3, 8192), 1),
        ((3, 8, 32), 2),
        ((2, 64, 128), 2),
        ((1, 512, 1024), 2),
        ((2, 8, 16, 64), 3),
    ],
)
def test_compiled_transforms_of_real_numbers(shape: Any, k: int) -> None:
    x, axes = random(*shape, dtype=torch.float32).numpy(), tuple(range(-k, 0))
    before = x.copy()
    wide = np.fft.rfftn(x.astype(np.float64), axes=axes, norm="forward")
    spectrum = natively_real(x, k, True, 1 / math.prod(shape[-k:]))
    assert spectrum.dtype == np.complex64
    assert error(spectrum, wide) < 2e-7
    y = random(*wide.shape, dtype=torch.complex64).numpy()  # parts that no real numbers have are there, and ignored
    held = y.copy()
    back = natively_real(y, k, False, 2.0)
    assert back.dtype == np.float32
    assert error(back, 2 * np.fft.irfftn(y.astype(np.complex128), axes=axes, norm="forward")) < 3e-7
    assert np.array_equal(x, before)
    assert np.array_equal(y, held)


@pytest.mark.parametrize("shape", [(64, 2048), (300, 300), (16, 64, 128), (16, 64, 127)])
def test_large_transforms_of_real_numbers_and_their_derivative(shape: Any) -> None:
    k = len(shape) - 1
    dims = tuple(range(1, k + 1))
    x = random(*shape, dtype=torch.float32, grad=True)
    y = F.rfftn(x, dim=dims)
    x64 = x.detach().double().requires_grad_()
    y64 = F.rfftn(x64, dim=dims)
    g = random(*y.shape, dtype=torch.complex64)
    (z, z64) = (F.irfftn(v * v, s=shape[1:], dim=dims) for v in (y, y64))
    y.backward(g, retain_graph=True)
    y64.backward(g.to(COMPLEX), retain_graph=True)
    z.sum().backward()
    z64.sum().backward()
    for a, b in ((y, y64), (z, z64), (x.grad, x64.grad)):
        assert error(a.detach().numpy(), b.detach().numpy()) < 1e-6


@pytest.mark.usefixtures("loops")
def test_one_transform_does_not_touch_another() -> None:
    x = random(20, 64, dtype=torch.complex64).numpy()
    clean = natively(x, (1,), None, True)
    x[3, 5] = math.nan
    dirty = natively(x, (1,), None, True)
    assert np.isnan(dirty[3]).all()
    assert np.array_equal(np.delete(dirty, 3, 0), np.delete(clean, 3, 0))


@pytest.mark.usefixtures("loops")
def test_what_the_loops_do_not_serve() -> None:
    x = random(32, 64, dtype=torch.complex64).numpy()
    assert native_fourier.fourier(x, 1, True, 1.0) is not None
    for other in (
        x.astype(np.complex128),
        x.real,
        x[:, :48],
        x[::2],
        x[:, ::2],
        x[:, :4].copy(),
        x[:5].copy().T,
        x[:0],
    ):
        assert native_fourier.fourier(other, 1, True, 1.0) is None
    real = random(32, 66, dtype=torch.float32).numpy()
    for other in (real, real.astype(np.float64), real[:, :63].copy(), real[:, :64], x):
        assert natively_real(other, 1, True) is None
    assert natively_real(x, 1, False) is None
    assert natively_real(x[:, :33], 1, False) is None
    assert native_fourier.fourier(x.T, 2, True, 1.0) is None


@pytest.mark.parametrize("shape", [(512, 128), (256, 256), (4, 128, 128), (100, 700)])
@pytest.mark.parametrize("compiled", [True, False])
def test_large_transforms_and_their_derivative(shape: Any, compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not compiled:
        monkeypatch.setattr(native_fourier, "_kernel", lambda *_: None)
    x = random(*shape, dtype=torch.complex64)
    for view in (x, x.mT, x[..., ::2]):
        z, g = view.detach().requires_grad_(), random(*view.shape, dtype=torch.complex64).flip(-1)
        y = F.fft2(z)
        y.backward(g)
        z64, g64 = (t.detach().numpy().astype(np.complex128) for t in (z, g))
        assert error(y.detach().numpy(), np.fft.fft2(z64)) < 2e-7
        assert error(z.grad.numpy(), np.fft.ifft2(g64, norm="forward")) < 2e-7


# ------------------------------------------------------------------ definitions


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("n", [1, 4, 5])
def test_transforms_are_their_sums(n: int, norm: str | None) -> None:
    x, z = random(3, n), random(3, n, dtype=COMPLEX)
    f, b = matrix(n, -1, scale(n, norm, True)), matrix(n, 1, scale(n, norm, False))
    half = n // 2 + 1
    assert np.allclose(F.fft(z, norm=norm).numpy(), z.numpy() @ f)
    assert np.allclose(F.fft(x, norm=norm).numpy(), x.numpy() @ f)
    assert np.allclose(F.ifft(z, norm=norm).numpy(), z.numpy() @ b)
    assert np.allclose(F.ifft(x, norm=norm).numpy(), x.numpy() @ b)
    assert np.allclose(F.rfft(x, norm=norm).numpy(), (x.numpy() @ f)[:, :half])
    assert np.allclose(F.ihfft(x, norm=norm).resolve_conj().numpy(), (x.numpy() @ b)[:, :half])
    assert np.allclose(F.irfft(F.rfft(x, norm=norm), n, norm=norm).numpy(), x.numpy())
    assert np.allclose(F.hfft(F.ihfft(x, norm=norm), n, norm=norm).numpy(), x.numpy())


@pytest.mark.parametrize("norm", NORMS)
def test_several_dimensions_are_one_after_the_other(norm: str | None) -> None:
    x, z = random(3, 4, 5), random(3, 4, 5, dtype=COMPLEX)
    assert torch.allclose(F.fftn(z, norm=norm), F.fft(F.fft(F.fft(z, dim=0, norm=norm), dim=1, norm=norm), norm=norm))
    assert torch.allclose(F.rfftn(x, dim=(0, 2), norm=norm), F.fft(F.rfft(x, norm=norm), dim=0, norm=norm))
    assert torch.allclose(F.irfft2(F.rfft2(x, norm=norm), s=(4, 5), norm=norm), x)
    assert torch.allclose(F.ifft2(F.fft2(x, norm=norm), norm=norm).real, x)
    assert torch.allclose(F.hfftn(F.ihfftn(x, norm=norm), s=x.shape, norm=norm), x)
    assert torch.allclose(F.hfft2(z, norm=norm), F.hfft(F.fft(z, dim=-2, norm=norm), norm=norm))


def test_sizes_cut_and_pad() -> None:
    z = random(4, 3, dtype=COMPLEX)
    zeros = torch.zeros(4, 2, dtype=COMPLEX)
    assert torch.allclose(F.fft(z, n=5), F.fft(torch.cat([z, zeros], 1)))
    assert torch.allclose(F.fft(z, n=2, dim=0), F.fft(z[:2], dim=0))
    assert F.fftn(z, s=(2, -1)).shape == (2, 3) and F.irfft(z, n=5).shape == (4, 5) and F.irfft(z).shape == (4, 4)
    assert F.hfftn(z, s=(6,)).shape == (4, 6) and F.rfftn(z.real, s=(8, 8)).shape == (8, 5)


def test_precision_is_kept() -> None:
    for dtype, wide in ((torch.float32, torch.complex64), (torch.float64, torch.complex128)):
        for shape in ((4, 6), (64, 128)):
            x = torch.ones(shape, dtype=dtype)
            assert F.fft(x).dtype is wide and F.rfft2(x).dtype is wide and F.irfft(x).dtype is dtype
            assert F.fft(x.to(wide)).dtype is wide
    assert F.fft(torch.ones(3, dtype=torch.int64)).dtype is torch.complex64


def test_large_transforms_agree_with_small_ones() -> None:
    # Above a certain size another library does the work.
    x = random(64, 128, dtype=COMPLEX)
    assert torch.allclose(F.fft(x), torch.stack([F.fft(row) for row in x]))
    assert torch.allclose(F.fft(x, dim=0), torch.stack([F.fft(column) for column in x.mT], 1))
    assert torch.allclose(F.irfft(F.rfft(x.real)), x.real)


def test_frequencies_and_shifts() -> None:
    assert F.fftfreq(5, 0.1).tolist() == pytest.approx([0, 2, 4, -4, -2])
    assert F.rfftfreq(5, dtype=torch.float64).tolist() == pytest.approx([0, 0.2, 0.4])
    x = torch.arange(15).reshape(3, 5)
    assert np.array_equal(F.fftshift(x).numpy(), np.fft.fftshift(x.numpy()))
    assert np.array_equal(F.fftshift(x, dim=1).numpy(), np.fft.fftshift(x.numpy(), 1))
    assert np.array_equal(F.ifftshift(F.fftshift(x)).numpy(), x.numpy())


# ------------------------------------------------------------------ derivatives

OF_COMPLEX: dict[str, Any] = {
    "fft": lambda z: F.fft(z, norm="ortho"),
    "ifft": lambda z: F.ifft(z, n=5, dim=0),
    "irfft": lambda z: F.irfft(z, n=5),
    "irfft_even": F.irfft,
    "hfft": lambda z: F.hfft(z, n=4),
    "fftn": lambda z: F.fftn(z, norm="forward"),
    "irfftn": lambda z: F.irfftn(z, s=(5, 4)),
    "hfft2": F.hfft2,
    "fftshift": F.fftshift,
}
OF_REAL: dict[str, Any] = {
    "fft": F.fft,
    "rfft": lambda x: F.rfft(x, n=5),
    "rfft_even": lambda x: F.rfft(x, dim=0),
    "ihfft": F.ihfft,
    "rfftn": lambda x: F.rfftn(x, s=(3, 5), norm="ortho"),
    "ihfftn": lambda x: F.ihfftn(x, norm="forward"),
    "stft": lambda x: torch.stft(x.reshape(-1), 4, 1, 3, torch.ones(3, dtype=torch.float64), return_complex=True),
    "istft": lambda x: torch.istft(x.to(COMPLEX), 6, 2, window=torch.ones(6, dtype=torch.float64)),
}


@pytest.mark.parametrize("name", OF_COMPLEX)
def test_derivatives_of_complex_input(name: str) -> None:
    z = random(4, 3, dtype=COMPLEX, grad=True)
    assert gradcheck(OF_COMPLEX[name], (z,), check_forward_ad=True) and gradgradcheck(OF_COMPLEX[name], (z,))


@pytest.mark.parametrize("name", OF_REAL)
def test_derivatives_of_real_input(name: str) -> None:
    x = random(4, 3, grad=True)
    assert gradcheck(OF_REAL[name], (x,), check_forward_ad=True) and gradgradcheck(OF_REAL[name], (x,))


def test_nodes_are_named_as_in_pytorch() -> None:
    x, z = random(4, 3, grad=True), random(4, 3, dtype=COMPLEX, grad=True)
    assert F.fft(x).grad_fn.name() == F.rfftn(x).grad_fn.name() == "FftR2CBackward0"
    assert F.ifft(z).grad_fn.name() == F.fft2(x).grad_fn.name() == "FftC2CBackward0"
    assert F.irfft(z).grad_fn.name() == F.hfft2(z).grad_fn.name() == "FftC2RBackward0"


def test_vmap_moves_the_dims_on() -> None:
    z = random(2, 4, 3, dtype=COMPLEX)
    assert torch.allclose(torch.func.vmap(lambda v: F.fft(v, dim=0))(z), F.fft(z, dim=1))
    assert torch.allclose(torch.func.vmap(F.irfftn, in_dims=2)(z), F.irfftn(z.movedim(2, 0), dim=(1, 2)))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: F.rfft(x + 0j), RuntimeError, "rfft expects a real input tensor, but got ComplexDouble"),
        (lambda x: F.fft(x.half()), RuntimeError, "Unsupported dtype Half"),
        (lambda x: F.fft(x, n=0), RuntimeError, "Invalid number of data points (0) specified"),
        (lambda x: F.fft(x, norm="x"), RuntimeError, 'Invalid normalization mode: "x"'),
        (lambda x: F.fftn(x, dim=(0, 0)), RuntimeError, "FFT dims must be unique"),
        (lambda x: F.fftn(x, s=(2, 2), dim=(0,)), RuntimeError, "When given, dim and shape arguments must have"),
        (lambda x: F.fft(x[0, 0]), IndexError, "Dimension specified as -1 but tensor has no dimensions"),
        (lambda x: F.irfftn(x, dim=()), RuntimeError, "irfftn must transform at least one axis"),
        (lambda x: torch.stft(x[0], 4), RuntimeError, "stft requires the return_complex parameter be given"),
        (lambda x: torch.stft(x[0], 4, 0, return_complex=True), RuntimeError, "expected hop_length > 0, but got hop_l"),
        (lambda x: torch.istft(x, 4), RuntimeError, "istft requires a complex-valued input tensor"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:A window was not provided")
def test_errors(call: Any, error: Any, words: str) -> None:
    with pytest.raises(error) as caught:
        call(torch.ones(4, 6, dtype=torch.float64))
    assert words in str(caught.value)


# ------------------------------------------------------------------ windows of a signal


@pytest.mark.parametrize(
    "options", [{}, {"normalized": True}, {"onesided": False}, {"hop_length": 3, "win_length": 12}]
)
def test_istft_undoes_stft(options: dict[str, Any]) -> None:
    x = random(2, 60)
    window = torch.hann_window(options.get("win_length", 16), dtype=torch.float64) + 0.1
    spectrum = torch.stft(x, 16, window=window, return_complex=True, **options)
    assert torch.allclose(torch.istft(spectrum, 16, window=window, length=60, **options), x)


def test_stft_frames() -> None:
    x, window = random(20), random(6)
    spectrum = x.stft(6, 2, window=window, center=False, return_complex=True)
    frames = np.stack([x.numpy()[i : i + 6] * window.numpy() for i in range(0, 15, 2)])
    assert np.allclose(spectrum.numpy(), np.fft.rfft(frames).T)
    with pytest.raises(RuntimeError, match="window overlap add min: 1"):
        torch.istft(spectrum, 6, 2, window=torch.zeros(6), center=False)
