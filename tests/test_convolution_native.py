"""Convolutions by native loops, where llvmlite is installed, against the columns of the NumPy route."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tidu.arrays import columns, convolution, native
from tidu.arrays.native import kernel
from tidu.arrays.threads import get_num_threads, set_num_threads

pytestmark = pytest.mark.skipif(kernel("softmax") is None, reason="llvmlite is not installed")

# samples, channels, output channels, size, kernel, stride, padding
CASES = [
    (5, 1, 16, (28, 28), (5, 5), (1, 1), ((0, 0), (0, 0))),
    (9, 16, 32, (12, 12), (5, 5), (1, 1), ((2, 2), (2, 2))),
    (4, 32, 16, (8, 8), (5, 5), (1, 1), ((4, 4), (4, 4))),
    (5, 3, 16, (17, 37), (3, 3), (2, 2), ((1, 0), (0, 1))),
    (2, 16, 48, (7, 7), (3, 1), (1, 3), ((1, 1), (0, 0))),
    (3, 16, 48, (30, 30), (2, 4), (1, 2), ((1, 2), (2, 0))),
    (2, 8, 64, (11, 28), (3, 3), (1, 1), ((1, 1), (1, 1))),
]


@pytest.fixture(params=[8, 16], ids="registers of {} floats".format)
def registers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Loops as machines with such registers have them."""
    monkeypatch.setattr(native._llvm(), "wide", request.param == 16)
    columns._kernel.cache_clear()
    yield
    columns._kernel.cache_clear()


def by_columns(monkeypatch: pytest.MonkeyPatch, run: Callable[..., Any], *args: Any) -> Any:
    with monkeypatch.context() as patch:
        patch.setattr(columns, "_LEAST", 1 << 60)
        return run(*args)


def close(got: np.ndarray, wanted: np.ndarray) -> None:
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-5 * float(np.abs(wanted).max()))


@pytest.mark.usefixtures("registers")
@pytest.mark.parametrize(("n", "c", "o", "size", "places", "stride", "pads"), CASES)
def test_a_convolution_and_its_adjoints(
    monkeypatch: pytest.MonkeyPatch, n: int, c: int, o: int, size: Any, places: Any, stride: Any, pads: Any
) -> None:
    monkeypatch.setattr(columns, "_LEAST", 1)
    draw = np.random.default_rng(0)
    x, w, bias = (draw.standard_normal(shape).astype(np.float32) for shape in ((n, c, *size), (o, c, *places), o))
    ends = (stride, pads, (1, 1), 1)
    y = convolution.correlate(x, w, bias, *ends)
    assert columns.fits(x, o, places, y.shape[2:], (1, 1), 1)
    close(y, by_columns(monkeypatch, convolution.correlate, x, w, bias, *ends))
    g = draw.standard_normal(y.shape).astype(np.float32)
    args = (g, x, places, *ends)
    close(convolution.adjoint_weight(*args), by_columns(monkeypatch, convolution.adjoint_weight, *args))
    args = (g, w, None, size, *ends)
    close(convolution.adjoint_input(*args), by_columns(monkeypatch, convolution.adjoint_input, *args))


@pytest.mark.usefixtures("registers")
def test_the_same_bits_on_any_number_of_threads() -> None:
    draw = np.random.default_rng(1)
    x, w = (draw.standard_normal(s).astype(np.float32) for s in ((10, 16, 12, 12), (32, 16, 5, 5)))
    ends = ((1, 1), ((0, 0), (0, 0)), (1, 1), 1)
    threads = get_num_threads()

    def results() -> list[np.ndarray]:
        y = convolution.correlate(x, w, None, *ends)
        return [y, convolution.adjoint_weight(y, x, (5, 5), *ends)]

    many = results()
    try:
        set_num_threads(1)
        alone = results()
    finally:
        set_num_threads(threads)
    for a, b in zip(many, alone, strict=True):
        np.testing.assert_array_equal(a, b)
