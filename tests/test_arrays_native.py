"""The native kernels, where llvmlite is installed, against float64 and the NumPy route; and without llvmlite."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from scipy import special

from tidu.arrays import batch_norm, elementwise, half, matmul, native, rows, select, threads
from tidu.arrays.threads import BIG

needs_llvmlite = pytest.mark.skipif(native.kernel("softmax") is None, reason="llvmlite is not installed")


def normal(*shape: int, seed: int = 0, scale: float = 1.0) -> np.ndarray:
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def elements(name: str, *ins: np.ndarray) -> np.ndarray:
    out = np.full(ins[0].size + 1, 7.0, np.float32)
    assert native.over_elements(name, [np.ascontiguousarray(a) for a in ins], out[:-1])
    assert out[-1] == 7  # nothing is written past the end
    return out[:-1]


def matrix(name: str, *ins: np.ndarray) -> np.ndarray:
    out = np.full(ins[0].size + 1, 7.0, np.float32)
    assert native.over_rows(name, [np.ascontiguousarray(a) for a in ins], out[:-1].reshape(ins[0].shape))
    assert out[-1] == 7
    return out[:-1].reshape(ins[0].shape)


@pytest.mark.parametrize("by_numpy", [False, True])
@pytest.mark.parametrize("n", [4096, 4099, 65536, BIG + 5])
def test_half_precision_is_converted_as_numpy_does(monkeypatch: pytest.MonkeyPatch, by_numpy: bool, n: int) -> None:
    if by_numpy:
        monkeypatch.setattr(half, "halves", lambda: False)
    words = np.random.default_rng(n).integers(0, 1 << 32, n, dtype=np.uint64).astype(np.uint32)
    words[: n // 2] = np.arange(n // 2, dtype=np.uint32) << 13  # numbers that halves have, and none between
    for a, dtype in (
        (words.view(np.float32), np.float16),
        ((words >> 16).astype(np.uint16).view(np.float16), np.float32),
    ):
        with np.errstate(all="ignore"):
            want, got = a.astype(dtype), half.converted(a, np.dtype(dtype))
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
        bits = f"u{want.itemsize}"
        np.testing.assert_array_equal(got.view(bits)[~np.isnan(want)], want.view(bits)[~np.isnan(want)])
    turned = normal(70, 90).T
    got = half.converted(turned, np.dtype(np.float16))
    assert got.strides == (2, 180)
    np.testing.assert_array_equal(got, turned.astype(np.float16))


@needs_llvmlite
@pytest.mark.parametrize("n", [1, 15, 16, 17, 33, 4099, BIG + 5])
def test_elements_of_every_length(n: int) -> None:
    x, g = normal(n, scale=3), normal(n, seed=1)
    x64, g64 = x.astype(np.float64), g.astype(np.float64)
    s, cdf = special.expit(x64), special.ndtr(x64)
    pdf = np.exp(-x64 * x64 / 2) / np.sqrt(2 * np.pi)
    near = {"rtol": 1e-6, "atol": 2e-7}
    np.testing.assert_allclose(elements("sigmoid", x), s, rtol=1e-6)
    np.testing.assert_allclose(elements("silu", x), x64 * s, rtol=1e-6)
    np.testing.assert_allclose(elements("gelu", x), x64 * cdf, **near)
    y = np.tanh(x)
    y64 = y.astype(np.float64)
    np.testing.assert_allclose(elements("tanh_backward", g, y), g64 * (1 - y64 * y64), **near)
    np.testing.assert_allclose(elements("sigmoid_backward", g, y), g64 * y64 * (1 - y64), **near)
    np.testing.assert_array_equal(elements("relu_backward", g, y), np.where(y > 0, g, np.float32(0)))
    np.testing.assert_allclose(elements("silu_backward", g, x), g64 * s * (1 + x64 * (1 - s)), **near)
    np.testing.assert_allclose(elements("gelu_backward", g, x), g64 * (cdf + x64 * pdf), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("by_numpy", [False, True])
@pytest.mark.parametrize(("count", "n"), [(1, 4099), (300, 17), (128, 64), (64, 5000)])
def test_passes_over_lines(monkeypatch: pytest.MonkeyPatch, by_numpy: bool, count: int, n: int) -> None:
    if by_numpy:
        monkeypatch.setattr(batch_norm, "kernel", lambda name: None)
    x, g = normal(count, n) + 3, normal(count, n, seed=1)
    x64, g64 = x.astype(np.float64), g.astype(np.float64)
    near = {"rtol": 1e-4, "atol": 1e-3}
    mean, squares = batch_norm.moments(x)
    np.testing.assert_allclose(mean, x64.mean(1), rtol=1e-5)
    np.testing.assert_allclose(squares, x64.var(1) * n, rtol=1e-4)
    sums, products = batch_norm.dots(g, x, mean)
    np.testing.assert_allclose(sums, g64.sum(1), **near)
    np.testing.assert_allclose(products, (g64 * (x64 - mean[:, None])).sum(1), **near)
    a, b, c = (normal(count, seed=k) for k in (2, 3, 4))
    want = x64 * a[:, None] + b[:, None]
    np.testing.assert_allclose(batch_norm.line_affine(x, a, b), want, rtol=1e-5, atol=1e-5)
    want = g64 * a[:, None] - (x64 - mean[:, None]) * b[:, None] - c[:, None]
    np.testing.assert_allclose(batch_norm.pulled(g, x, mean, b, a, c), want, rtol=1e-5, atol=1e-5)


@needs_llvmlite
@pytest.mark.parametrize("n", [1, 15, 16, 17, 100, 1024, 4099])
def test_running_sums_of_every_length(n: int) -> None:
    x = normal(40, n)
    x[3, n // 2], x[4, n // 3] = np.inf, np.nan
    wide = x.astype(np.float64)
    near = {"rtol": 1e-5, "atol": 1e-4}
    np.testing.assert_allclose(matrix("cumsum", x), wide.cumsum(1), **near)
    np.testing.assert_allclose(matrix("cumsum_reverse", x), wide[:, ::-1].cumsum(1)[:, ::-1], **near)


@needs_llvmlite
@pytest.mark.parametrize(
    ("shape", "dim", "count"),
    [((51, 64), 0, 400), ((70, 100), 1, 90), ((7, 30, 40), 1, 25), ((2, 300, 700), 1, 700), ((700, 2, 300), 0, 900)],
)
def test_elements_along_a_dimension(shape: tuple[int, ...], dim: int, count: int) -> None:
    a = normal(*shape)
    named = [*shape[:dim], count, *shape[dim + 1 :]]
    index, values = np.random.default_rng(1).integers(0, shape[dim], named), normal(*named, seed=2)
    assert np.array_equal(select.take_along(a, dim, index), np.take_along_axis(a, index, dim))
    places = list(np.ogrid[tuple(slice(n) for n in named)])
    places[dim] = index
    sums, wide = a.copy(), a.astype(np.float64)
    select.add_along(sums, dim, index, values)
    np.add.at(wide, tuple(places), values)
    assert np.allclose(sums, wide, rtol=1e-5, atol=1e-5)


def test_relus_mask_keeps_special_cotangents() -> None:
    y = np.array([np.nan, -np.nan, 0.0, -0.0, 1e-45, np.inf], np.float32)
    g = np.array([1.0, 2.0, np.inf, np.nan, np.inf, np.nan], np.float32)
    np.testing.assert_array_equal(elements("relu_backward", g, y), [1, 2, 0, 0, np.inf, np.nan])


@needs_llvmlite
def test_exp_over_the_whole_range() -> None:
    # softmax of a row (x, 0) with x <= 0 is (e, 1) / (1 + e): its first element over its second is exp(x).
    x = np.concatenate([np.linspace(-103, 0, 100_001), [-200.0, -np.inf, -0.0, -1e-30]]).astype(np.float32)
    p = matrix("softmax", np.stack([x, np.zeros_like(x)], 1))
    exact = np.exp(x.astype(np.float64))
    normal_range = exact > 1.2e-38
    np.testing.assert_allclose((p[:, 0] / p[:, 1])[normal_range], exact[normal_range], rtol=4e-7)
    np.testing.assert_allclose(p[:, 0], exact / (1 + exact), rtol=4e-7, atol=1.5e-45)


@needs_llvmlite
def test_log_of_every_sum() -> None:
    # log_softmax of n zeros is -log(n).
    for n in [*range(1, 40), 63, 64, 65, 127, 1000, 4096, 100_003]:
        got = matrix("log_softmax", np.zeros((2, n), np.float32))
        np.testing.assert_allclose(got, -np.log(n), rtol=2e-7, atol=1e-9)


@needs_llvmlite
def test_special_arguments() -> None:
    x = np.array([0.0, -0.0, 3e4, -3e4, np.inf, -np.inf, np.nan, 88.9, -88.9, -100.0], np.float32)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(elements("sigmoid", x), special.expit(x.astype(np.float64)), rtol=1e-6, atol=1e-38)
        finite = np.isfinite(x)
        np.testing.assert_allclose(elements("silu", x)[finite], elementwise.silu(x)[finite], rtol=2e-6, atol=1e-35)
        np.testing.assert_allclose(elements("gelu", x)[finite], elementwise.gelu(x)[finite], rtol=1e-6, atol=1e-6)
        assert np.isnan(elements("gelu", x)[6]) and elements("gelu", x)[4] == np.inf


@needs_llvmlite
@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (5, 10), (4, 16), (7, 31), (2, 70_000), (3000, 100), (100_000, 3)])
def test_rows_of_every_length(shape) -> None:
    for scale, offset in ((1, 0), (40, 0), (1, 1000)):
        x, g = normal(*shape, scale=scale) + np.float32(offset), normal(*shape, seed=1)
        x64, g64 = x.astype(np.float64), g.astype(np.float64)
        p, lp = special.softmax(x64, 1), special.log_softmax(x64, 1)
        slack = 2e-7 * np.sqrt(shape[1])
        np.testing.assert_allclose(matrix("softmax", x), p, rtol=1e-5 if scale > 1 else 3e-6, atol=1e-37)
        np.testing.assert_allclose(matrix("log_softmax", x), lp, rtol=1e-6, atol=3e-6)
        y, ly = p.astype(np.float32), lp.astype(np.float32)
        want = y * (g64 - (g64 * y).sum(1, keepdims=True))
        np.testing.assert_allclose(matrix("softmax_backward", g, y), want, rtol=1e-5, atol=slack)
        want = g64 - np.exp(ly.astype(np.float64)) * g64.sum(1, keepdims=True)
        np.testing.assert_allclose(matrix("log_softmax_backward", g, ly), want, rtol=1e-5, atol=slack * 4)


@needs_llvmlite
def test_rows_with_infinities_and_nan() -> None:
    x = np.tile(normal(1, 37), (6, 1))
    x[1, 3], x[2], x[3, 5], x[4, 36], x[5, 0] = -np.inf, -np.inf, np.inf, np.nan, -np.inf
    p, lp = matrix("softmax", x), matrix("log_softmax", x)
    for row in (0, 1, 5):
        np.testing.assert_allclose(p[row], special.softmax(x[row].astype(np.float64)), rtol=1e-6)
    assert lp[1, 3] == -np.inf and p[1, 3] == 0
    assert np.isnan(p[[2, 4]]).all() and np.isnan(p[3, 5])


@needs_llvmlite
def test_both_routes_agree_on_large_arrays(monkeypatch) -> None:
    x, g = normal(3001, 101), normal(3001, 101, seed=1)
    w, b = normal(101, seed=2), normal(101, seed=3)

    def results() -> list[np.ndarray]:
        p, lp = rows.softmax(x, 1), rows.log_softmax(x, -1)
        out, mean, rstd = rows.layer_norm(x, 1, w, b)
        grads = rows.layer_norm_backward(g, x, mean, rstd, 1, w)
        bare = rows.layer_norm_backward(g.T.copy().T, x, *rows.layer_norm(x, 1)[1:], 1)
        few = rows.layer_norm_backward(g, x, mean, rstd, 1, w, (True, False, False))
        assert few[1] is None and few[2] is None
        maps = [elementwise.gelu(x), elementwise.gelu_backward(g, x), elementwise.silu(x), elementwise.sigmoid(x)]
        backs = [rows.softmax_backward(g, p, 1), rows.log_softmax_backward(g, lp, 1)]
        return [p, lp, out, mean, rstd, *grads, *bare, few[0], *maps, *backs]

    fast = results()
    monkeypatch.setattr(native, "kernel", lambda name: None)
    monkeypatch.setattr(rows, "kernel_of", lambda name: None)
    slow = results()
    assert not all(np.array_equal(a, b) for a, b in zip(fast, slow, strict=True))  # they are two routes
    for a, b in zip(fast, slow, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=3e-5)


@needs_llvmlite
def test_the_same_bits_on_every_run() -> None:
    x = normal(900, 500)
    first = [rows.softmax(x, 1), rows.layer_norm_backward(x, x, *rows.layer_norm(x, 1)[1:], 1)[1]]
    for _ in range(3):
        again = [rows.softmax(x, 1), rows.layer_norm_backward(x, x, *rows.layer_norm(x, 1)[1:], 1)[1]]
        assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))


def run(code: str, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env={**os.environ, **env}, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


CODE = """
import numpy as np, sys
from tidu.arrays import native, rows
x = np.ones((1000, 500), np.float32)
print(native.kernel("softmax") is None, round(float(rows.softmax(x, 1)[0, 0]) * 500, 5), "llvmlite" in sys.modules)
"""


def test_the_numpy_route_can_be_chosen() -> None:
    assert run(CODE, TIDU_NATIVE="0") == "True 1.0 False\n"


def test_without_llvmlite_there_is_the_numpy_route() -> None:
    assert run("import sys; sys.modules['llvmlite'] = None\n" + CODE) == "True 1.0 True\n"


@needs_llvmlite
def test_llvmlite_is_loaded_by_large_arrays_only() -> None:
    code = CODE.replace('native.kernel("softmax") is None, ', "").replace("1000, 500", "SIZE")
    assert run(code.replace("SIZE", "10, 500")) == "1.0 False\n"
    assert run(code.replace("SIZE", "1000, 500")).endswith("True\n")


@needs_llvmlite
def test_a_dialect_that_llvm_does_not_know_means_the_numpy_route(monkeypatch) -> None:
    from tidu.arrays import native_kernels

    def broken(loops) -> None:
        loops.intrinsic("llvm.sqrt", [loops.constant(loops.vector, 1.0)] * 2)

    monkeypatch.setitem(native_kernels.KERNELS, "broken", ("ppn", broken))
    assert native.kernel("broken") is None
    native.kernel.cache_clear()


@needs_llvmlite
@pytest.mark.parametrize("n", [elementwise._NATIVE, elementwise._NATIVE + 3, BIG])
def test_activations_of_middling_size_take_the_native_loop_on_one_thread(n: int) -> None:
    x, g = normal(n, scale=3), normal(n, seed=1)
    for name in ("gelu", "silu", "sigmoid"):
        assert getattr(elementwise, name)(x).tobytes() == elements(name, x).tobytes()
    assert elementwise.gelu_backward(g, x).tobytes() == elements("gelu_backward", g, x).tobytes()


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Loops as machines with registers of sixteen floats have them; others can run them."""
    if native._llvm() is None:
        pytest.skip("llvmlite is not installed")
    monkeypatch.setattr(native._llvm(), "wide", True)
    native.kernel.cache_clear()
    yield
    native.kernel.cache_clear()


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize(
    ("m", "k", "n"), [(1, 290, 900), (7, 2048, 40), (8, 700, 64), (203, 65, 33), (768, 64, 65), (513, 17, 129)]
)
def test_products(m: int, k: int, n: int) -> None:
    a, b = normal(m, k), normal(k, n, seed=1)
    want = a.astype(np.float64) @ b
    near = {"rtol": 1e-5, "atol": 1e-5 * np.sqrt(k)}
    wide = normal(k, 2 * n)
    wide[:, :n] = b
    for left in (a, a.T.copy().T, normal(2 * m, k)[::2] * 0 + a):
        for right in (b, b.T.copy().T, wide[:, :n]):
            out = np.full((m + 1, n), 7.0, np.float32)
            assert matmul._suits(left, right)
            assert matmul._natively([(left, right, out[:-1], None)])
            np.testing.assert_allclose(out[:-1], want, **near)
            assert (out[-1] == 7).all()
    row = normal(n, seed=2)
    out, other = np.empty((m, n), np.float32), np.empty((k, k), np.float32)
    assert matmul._natively([(a, b, out, row), (a.T, a, other, None)])
    np.testing.assert_allclose(out, want + row, **near)
    np.testing.assert_allclose(other, a.T.astype(np.float64) @ a, rtol=1e-5, atol=1e-5 * np.sqrt(m))


@pytest.mark.usefixtures("wide")
def test_products_are_the_same_bits_on_any_number_of_threads() -> None:
    a, b = normal(500, 300), normal(300, 70, seed=1)
    before = threads.get_num_threads()
    results = []
    try:
        for count in (1, 2, 5):
            threads.set_num_threads(count)
            results.append(matmul.mm(a, b))
    finally:
        threads.set_num_threads(before)
    assert all(np.array_equal(r, results[0]) for r in results)


@pytest.mark.parametrize("by_numpy", [False, True])
@pytest.mark.parametrize("shape", [(40, 30), (6, 100, 30), (1500, 30)])
def test_linear_and_its_cotangents(monkeypatch: pytest.MonkeyPatch, by_numpy: bool, shape: tuple[int, ...]) -> None:
    if by_numpy:
        monkeypatch.setattr(matmul, "_NATIVE", 1 << 62)
    else:
        monkeypatch.setattr(matmul, "_NATIVE", 1)
    x, w, b, g = normal(*shape), normal(50, 30, seed=1), normal(50, seed=2), normal(*shape[:-1], 50, seed=3)
    np.testing.assert_allclose(matmul.linear(x, w, b), x.astype(np.float64) @ w.T + b, rtol=1e-4, atol=1e-4)
    gx, gw, gb = matmul.linear_backward(g, x, w)
    rows_of_g, rows_of_x = g.reshape(-1, 50).astype(np.float64), x.reshape(-1, 30)
    np.testing.assert_allclose(gx, g.astype(np.float64) @ w, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(gw, rows_of_g.T @ rows_of_x, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(gb, rows_of_g.sum(0), rtol=1e-4, atol=1e-3)
    for need in ((True, False, False), (False, True, False), (False, False, True)):
        some = matmul.linear_backward(g, x, w, need)
        assert [v is not None for v in some] == list(need)


@needs_llvmlite
@pytest.mark.parametrize(("rows_", "columns"), [(1, 1), (16, 16), (33, 50), (5, 70), (128, 512)])
def test_turning(rows_: int, columns: int) -> None:
    x = normal(rows_, columns)
    out = np.full((columns + 1, rows_), 7.0, np.float32)
    kernel = native.kernel("turn")
    assert kernel is not None
    kernel(native.address(x), columns, rows_, columns, native.address(out), rows_, 2.0)
    np.testing.assert_array_equal(out[:-1], 2 * x.T)
    assert (out[-1] == 7).all()


@needs_llvmlite
def test_first_transforms_by_several_threads() -> None:
    """Tables that each thread would make for itself must outlive their use."""
    from tidu.arrays.native_fourier import fourier, turns

    x = normal(256, 4096)
    want = np.fft.rfft(x.astype(np.float64))
    for _ in range(20):
        turns.cache_clear()
        got = fourier(x, 1, True, 1.0, True)
        assert got is not None
        np.testing.assert_allclose(got, want, atol=1e-3)
