"""Pooling by native loops, where llvmlite is installed, against the NumPy route."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tidu.arrays import pooling
from tidu.arrays.native import kernel
from tidu.arrays.pooling import Window

pytestmark = pytest.mark.skipif(kernel("softmax") is None, reason="llvmlite is not installed")


def windows(kernels: tuple[int, int], strides: tuple[int, int], size: tuple[int, int]) -> list[Window]:
    return [Window(k, s, 1, 0, (n - k) // s + 1) for k, s, n in zip(kernels, strides, size, strict=True)]


def by_numpy(monkeypatch: pytest.MonkeyPatch, run: Callable[..., Any], *args: Any) -> Any:
    with monkeypatch.context() as patch:
        patch.setattr(pooling, "_NATIVE", 1 << 60)
        return run(*args)


@pytest.mark.parametrize("size", [(24, 24), (9, 41), (13, 66)])
@pytest.mark.parametrize("strides", [(1, 1), (2, 2), (1, 3), (3, 2)])
@pytest.mark.parametrize("kernels", [(1, 2), (2, 2), (3, 3), (2, 4)])
def test_every_kind_of_window(
    monkeypatch: pytest.MonkeyPatch, kernels: tuple[int, int], strides: tuple[int, int], size: tuple[int, int]
) -> None:
    monkeypatch.setattr(pooling, "_NATIVE", 1)
    draw = np.random.default_rng(0)
    ends = windows(kernels, strides, size)
    x = draw.integers(-3, 3, (40, *size)).astype(np.float32)  # with many equal maxima
    y = pooling.max_forward(x, ends)
    np.testing.assert_array_equal(y, by_numpy(monkeypatch, pooling.max_forward, x, ends))
    g = draw.integers(-9, 9, y.shape).astype(np.float32)
    back = pooling.max_backward(g, x, y, ends)
    np.testing.assert_array_equal(back, by_numpy(monkeypatch, pooling.max_backward, g, x, y, ends))
    y = pooling.sum_forward(x, ends)
    np.testing.assert_array_equal(y, by_numpy(monkeypatch, pooling.sum_forward, x, ends))
    back = pooling.sum_backward(g, ends, size)
    np.testing.assert_array_equal(back, by_numpy(monkeypatch, pooling.sum_backward, g, ends, size))


def test_nan_and_infinities(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(1)
    ends = windows((2, 2), (2, 2), (24, 24))
    x = draw.choice(np.array([0.0, 1.0, np.nan, np.inf, -np.inf], np.float32), (40, 24, 24))
    y = pooling.max_forward(x, ends)
    np.testing.assert_array_equal(y, by_numpy(monkeypatch, pooling.max_forward, x, ends))
    assert np.isnan(y).any() and np.isinf(y).any()
