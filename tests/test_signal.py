"""Window functions against their formulas."""

import math

import pytest

import tidu as torch
from tidu.signal import windows

NAMES = [n for n in windows.__all__ if n != "general_cosine"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_a_periodic_window_is_the_longer_symmetric_one_without_its_last(name, n):
    window = getattr(windows, name)
    periodic = window(n, sym=False, dtype=torch.float64)
    symmetric = window(n + 1, dtype=torch.float64)[:-1] if n > 1 else window(1, dtype=torch.float64)
    assert torch.allclose(periodic, symmetric)


@pytest.mark.parametrize("name", NAMES)
def test_symmetric_windows_are_symmetric_and_empty_ones_empty(name):
    w = getattr(windows, name)(9, dtype=torch.float64)
    assert torch.allclose(w, w.flip(0)) and w[4] == w.max()
    assert getattr(windows, name)(0).shape == (0,)


def test_formulas():
    n = torch.arange(5, dtype=torch.float64)
    assert torch.allclose(windows.hann(5, dtype=torch.float64), 0.5 - 0.5 * torch.cos(2 * math.pi * n / 4))
    assert torch.allclose(windows.gaussian(5, std=2.0, dtype=torch.float64), torch.exp(-((n - 2) ** 2) / 8))
    assert torch.allclose(windows.exponential(5, tau=3.0, dtype=torch.float64), torch.exp(-(n - 2).abs() / 3))
    assert windows.bartlett(5).tolist() == [0.0, 0.5, 1.0, 0.5, 0.0]


@pytest.mark.parametrize("call, message", [
    (lambda: windows.hann(-1), "general_cosine requires non-negative window length, got M=-1"),
    (lambda: windows.cosine(3, dtype=torch.int64), "cosine expects float32 or float64 dtypes, got: torch.int64"),
    (lambda: windows.gaussian(3, std=0.0), "Standard deviation must be positive, got: 0.0 instead."),
])  # fmt: skip
def test_errors(call, message):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value) == message
