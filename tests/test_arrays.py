"""Floor 1 against float64 and plain NumPy: values, dtypes, layouts, threads, forks, repeatability."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading

import ml_dtypes
import numpy as np
import pytest
from scipy import special

from tidu.arrays import convolution, elementwise, reduce, rows, select, threads
from tidu.arrays.threads import BIG, big_ufunc, parallel

SIZES = [0, 1, 5, 4099, BIG + 77]
FLOATS = [np.float32, np.float64]
HALVES = [np.float16, ml_dtypes.bfloat16]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def normal(*shape: int, dtype: object = np.float32, seed: int = 0, scale: float = 1.0) -> np.ndarray:
    return np.asarray(rng(seed).standard_normal(shape) * scale).astype(dtype)


def eps(dtype: object) -> float:
    return {2: 1e-2, 4: 1.3e-6, 8: 1e-13}[np.dtype(dtype).itemsize]


def close(got: np.ndarray, want: np.ndarray, dtype: object, times: float = 1.0, absolute: float | None = None) -> None:
    assert type(got) is np.ndarray and got.dtype == np.dtype(dtype) and got.shape == want.shape
    tolerance = eps(dtype) * times
    np.testing.assert_allclose(
        got.astype(np.float64), want, rtol=tolerance, atol=tolerance if absolute is None else absolute
    )


@pytest.fixture
def three_threads():
    before = threads.get_num_threads()
    threads.set_num_threads(3)
    yield
    threads.set_num_threads(before)


# --- threads -------------------------------------------------------------------------------------


def test_big_ufunc_equals_the_ufunc_for_every_kind_of_operand(three_threads) -> None:
    a = normal(600, 900)
    operands = [a[::-1].copy(), a[0], a[:, :1].copy(), np.float32(3) + np.zeros((), np.float32), 2.0, 2, True,
                a.astype(np.float64), a.T.copy().T, a[None]]  # fmt: skip
    for b in operands:
        got, want = big_ufunc(np.multiply, a, b), np.multiply(a, b)
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(big_ufunc(np.exp, a), np.exp(a))
    np.testing.assert_array_equal(big_ufunc(np.less, a, 0.0), a < 0)


@pytest.mark.parametrize("layout", ["T", "permuted", "strided", "reversed", "broadcast"])
def test_big_ufunc_keeps_numpy_layouts(three_threads, layout) -> None:
    base = normal(80, 90, 100)
    a = {
        "T": base.T,
        "permuted": base.transpose(1, 0, 2),
        "strided": base[:, ::2],
        "reversed": base[::-1],
        "broadcast": np.broadcast_to(base[:1], (80, 90, 100)),
    }[layout]
    got, want = big_ufunc(np.add, a, a), np.add(a, a)
    np.testing.assert_array_equal(got, want)
    if layout in ("T", "permuted"):
        assert got.strides == want.strides
    np.testing.assert_array_equal(big_ufunc(np.sqrt, a * a), np.sqrt(a * a))


def test_big_ufunc_one_long_row_and_one_long_column() -> None:
    for shape in ((1, 500_000), (500_000, 1), (3, 200_000)):
        a = normal(*shape)
        np.testing.assert_array_equal(big_ufunc(np.negative, a), -a)


def test_parallel_runs_each_piece_once_and_raises_what_a_piece_raises(three_threads) -> None:
    seen: list[int] = []
    parallel(seen.append, 100)
    assert sorted(seen) == list(range(100))

    def bad(i: int) -> None:
        if i == 7:
            raise KeyError("seven")

    for error in (KeyError, IndexError, KeyboardInterrupt):

        def fail(i: int, error: type[BaseException] = error) -> None:
            if i == 3:
                raise error("three")

        with pytest.raises(error, match="three"):
            parallel(fail, 10)
    with pytest.raises(KeyError):
        parallel(bad, 10)
    seen.clear()
    parallel(seen.append, 5)  # still in working order
    assert sorted(seen) == list(range(5))


def test_parallel_uses_more_than_one_thread(three_threads) -> None:
    meeting = threading.Barrier(3, timeout=10)
    parallel(lambda i: meeting.wait(), 3)  # breaks unless three threads meet


def test_parallel_inside_parallel_and_from_many_threads(three_threads) -> None:
    a = normal(2 * BIG)
    want = np.exp(a)
    results: list[np.ndarray] = []
    parallel(lambda i: results.append(big_ufunc(np.exp, a)), 4)
    workers = [threading.Thread(target=lambda: results.append(big_ufunc(np.exp, a))) for _ in range(6)]
    for t in workers:
        t.start()
    for t in workers:
        t.join(30)
    assert len(results) == 10
    for r in results:
        np.testing.assert_array_equal(r, want)


def test_workers_keep_no_arrays_alive() -> None:
    import weakref

    a = normal(BIG + 1)
    ref = weakref.ref(a)
    big_ufunc(np.exp, a)
    del a
    assert ref() is None


@pytest.mark.filterwarnings("error")
def test_no_floating_point_warnings_and_settings_come_back() -> None:
    before = np.geterr(), np.getbufsize()
    a = np.zeros(BIG + 5, np.float32)
    assert np.isnan(big_ufunc(np.divide, a, a)).all()
    assert np.isinf(big_ufunc(np.log, a)).all()
    assert np.isinf(elementwise.expm1(a + 1000)).all()
    assert (np.geterr(), np.getbufsize()) == before
    with pytest.raises(ZeroDivisionError), threads.quiet():
        raise ZeroDivisionError
    assert (np.geterr(), np.getbufsize()) == before


def test_the_fallback_for_quiet_does_the_same() -> None:
    before = np.geterr(), np.getbufsize()
    with threads._quiet_by_errstate():
        inside = np.geterr(), np.getbufsize()
    with threads.quiet():
        assert (np.geterr(), np.getbufsize()) == inside
    assert (np.geterr(), np.getbufsize()) == before


def _run(code: str, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env={**os.environ, **env}, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


PREPARE = "import numpy as np, os, sys\nfrom tidu.arrays.threads import *\na = np.ones(2 * BIG, np.float32)\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_the_pool_works_in_a_forked_child() -> None:
    code = PREPARE + (
        "set_num_threads(2)\nbig_ufunc(np.exp, a)\npid = os.fork()\n"
        "r = float(big_ufunc(np.add, a, 1.0).sum())\nassert r == 4 * BIG\n"
        "if not pid: os._exit(0)\n"
        "assert os.waitpid(pid, 0)[1] == 0\nprint('both')"
    )
    assert _run(code) == "both\n"


def test_exit_does_not_hang_and_late_calls_still_work() -> None:
    code = PREPARE + (
        "import atexit\nset_num_threads(2)\natexit.register(lambda: print(big_ufunc(np.add, a, 1.0)[0]))\n"
        "big_ufunc(np.exp, a)\n"
        "class Late:\n    def __del__(self, f=big_ufunc, np=np, a=a): f(np.exp, a)\nlate = Late()\nprint('end')"
    )
    assert _run(code).startswith("end")


def test_thread_count_from_the_environment_and_the_setter() -> None:
    assert _run(PREPARE + "print(get_num_threads())", TIDU_NUM_THREADS="5") == "5\n"
    assert _run(PREPARE + "print(get_num_threads())", OMP_NUM_THREADS="1", TIDU_NUM_THREADS="") == "1\n"
    with pytest.raises(RuntimeError, match="^set_num_threads expects a positive integer$"):
        threads.set_num_threads(0)


def test_the_same_bits_on_every_run_and_for_any_number_of_threads() -> None:
    a = normal(3, BIG)
    functions = [
        elementwise.gelu,
        lambda x: rows.softmax(x, 1),
        reduce.sum_all,
        lambda x: reduce.sum_axes(x, 1),
        lambda x: reduce.sum_axes(x.reshape(-1, 64), 0),
        lambda x: rows.layer_norm_backward(*[x.reshape(-1, 64)] * 2, *rows.layer_norm(x.reshape(-1, 64), 1)[1:], 1)[1],
        lambda x: elementwise.tanh_backward(x, x),
        # one block of columns, whose product OpenBLAS would share
        lambda x: convolution.correlate(
            x.reshape(-1)[:4224].reshape(6, 8, 8, 11),
            x.reshape(-1)[-4096:].reshape(64, 8, 4, 2),
            None,
            (3, 1),
            ((1, 1), (1, 1)),
            (1, 1),
            1,
        ),
    ]
    before = threads.get_num_threads()
    try:
        for f in functions:
            threads.set_num_threads(1)
            one = f(a)
            threads.set_num_threads(2)
            for _ in range(3):
                np.testing.assert_array_equal(f(a), one)
    finally:
        threads.set_num_threads(before)


# --- memory and layout -----------------------------------------------------------------------------


def test_keep_memory_can_be_switched_off() -> None:
    code = "import tidu.arrays as n; print(n.keep_memory())"
    assert _run(code, TIDU_MALLOC="0") == "False\n"
    if "glibc" in (getattr(os, "confstr", lambda _: "")("CS_GNU_LIBC_VERSION") or ""):
        assert _run(code, TIDU_MALLOC="1") == "True\n"


# --- elementwise -----------------------------------------------------------------------------------

phi = special.ndtr
pdf = lambda x: np.exp(-x * x / 2) / math.sqrt(2 * math.pi)  # noqa: E731
sig = special.expit


def _gelu_tanh(x: np.ndarray) -> np.ndarray:
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def _numeric(f, x: np.ndarray) -> np.ndarray:
    h = 1e-5
    return (f(x + h) - f(x - h)) / (2 * h)


UNARY = {
    "erf": (elementwise.erf, special.erf),
    "sigmoid": (elementwise.sigmoid, sig),
    "tanh": (elementwise.tanh, np.tanh),
    "gelu": (elementwise.gelu, lambda x: x * phi(x)),
    "gelu tanh": (lambda a: elementwise.gelu(a, "tanh"), _gelu_tanh),
    "silu": (elementwise.silu, lambda x: x * sig(x)),
    "softplus": (elementwise.softplus, lambda x: np.logaddexp(0, x)),
    "softplus beta": (
        lambda a: elementwise.softplus(a, 2.0, 3.0),
        lambda x: np.where(2 * x > 3, x, np.logaddexp(0, 2 * x) / 2),
    ),
    "log1p": (lambda a: elementwise.log1p(abs(a)), lambda x: np.log1p(abs(x))),
    "expm1": (elementwise.expm1, np.expm1),
    "relu": (select.relu, lambda x: np.maximum(x, 0)),
}


@pytest.mark.parametrize("dtype", [*FLOATS, *HALVES], ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_elementwise_values(name: str, dtype) -> None:
    f, exact = UNARY[name]
    for size in SIZES:
        a = normal(size, dtype=dtype, scale=2)  # expm1 stays within float16
        with np.errstate(all="ignore"):
            close(f(a), exact(a.astype(np.float64)), dtype)


def x_and_g(dtype, size: int, scale: float = 2.0) -> tuple[np.ndarray, ...]:
    a, g = normal(size, dtype=dtype, scale=scale), normal(size, dtype=dtype, seed=1)
    return a, g, a.astype(np.float64), g.astype(np.float64)


@pytest.mark.parametrize("dtype", [*FLOATS, *HALVES], ids=str)
@pytest.mark.parametrize("size", SIZES)
def test_elementwise_derivatives(dtype, size: int) -> None:
    a, g, x, dy = x_and_g(dtype, size)
    e = elementwise
    close(e.gelu_backward(g, a), dy * (phi(x) + x * pdf(x)), dtype)
    close(e.gelu_backward(g, a, "tanh"), dy * _numeric(_gelu_tanh, x), dtype, 1, max(4 * eps(dtype), 1e-8))
    close(e.silu_backward(g, a), dy * sig(x) * (1 + x * sig(-x)), dtype)
    close(e.softplus_backward(g, a), dy * sig(x), dtype)
    close(e.softplus_backward(g, a, 2.0, 3.0), dy * np.where(2 * x > 3, 1, sig(2 * x)), dtype)
    y = np.tanh(x).astype(dtype)
    y64 = y.astype(np.float64)
    close(e.tanh_backward(g, y), dy * (1 - y64 * y64), dtype)
    close(e.sigmoid_backward(g, abs(y)), dy * abs(y64) * (1 - abs(y64)), dtype)
    close(select.relu_backward(g, np.maximum(a, 0).astype(dtype)), np.where(x > 0, dy, 0), dtype)


def test_erf_is_within_two_ulp_and_right_at_the_edges() -> None:
    x = np.concatenate([np.linspace(-6, 6, 400_001), 10.0 ** np.linspace(-38, 0, 5001)]).astype(np.float32)
    want = special.erf(x.astype(np.float64))
    ulp = np.spacing(np.maximum(abs(want), 1e-37).astype(np.float32)).astype(np.float64)
    error = abs(elementwise.erf(x) - want) / ulp
    assert error.max() < 2.5 and error.mean() < 0.3
    for dtype in FLOATS:
        edge = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-40], dtype)
        with np.errstate(all="ignore"):
            got = elementwise.erf(edge)
        np.testing.assert_allclose(got, [0, 0, 1, -1, np.nan, 1, -1, 1.1283791e-40], rtol=2e-5)
        assert np.signbit(got[1]) and not np.signbit(got[0])


def test_extreme_arguments_give_limits() -> None:
    for size in (1, BIG + 1):
        for dtype in FLOATS:
            big = np.full(size, 3e4, dtype)
            with np.errstate(all="ignore"):
                assert (elementwise.sigmoid(big) == 1).all() and (elementwise.sigmoid(-big) == 0).all()
                assert (elementwise.softplus(big) == big).all() and (elementwise.softplus(-big) == 0).all()
                assert (elementwise.gelu(big) == big).all() and (elementwise.gelu(-big) == 0).all()
                assert (elementwise.silu(big) == big).all() and (elementwise.silu(-big) == 0).all()
                assert (elementwise.gelu_backward(big, big) == big).all()
                assert (elementwise.silu_backward(big, big) == big).all()


def test_layouts_survive_elementwise() -> None:
    for shape in ((6, 7), (700, 800)):
        a, g = normal(*shape).T, normal(*shape[::-1], seed=1)
        out = elementwise.gelu(a)
        assert out.strides == a.strides
        np.testing.assert_allclose(out, elementwise.gelu(a.copy()), rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(
            elementwise.gelu_backward(g, a), elementwise.gelu_backward(g, a.copy()), rtol=1e-6, atol=1e-6
        )
        sparse = normal(shape[0], 2 * shape[1])[:, ::2]
        np.testing.assert_allclose(elementwise.silu(sparse), elementwise.silu(sparse.copy()), rtol=1e-6, atol=1e-6)
        one = np.broadcast_to(np.ones((), np.float32), shape)
        want = elementwise.tanh_backward(np.ones(shape, np.float32), sparse)
        np.testing.assert_allclose(elementwise.tanh_backward(one, sparse), want, rtol=1e-6, atol=1e-6)
    assert elementwise.sigmoid(np.zeros((), np.float32)).shape == ()


def test_inputs_are_not_written() -> None:
    for size in (9, BIG + 9):
        a, g = normal(size), normal(size, seed=1)
        a.flags.writeable = g.flags.writeable = False
        for f, _ in UNARY.values():
            f(a)
        for f in (
            elementwise.gelu_backward,
            elementwise.silu_backward,
            elementwise.softplus_backward,
            elementwise.tanh_backward,
            select.relu_backward,
        ):
            f(g, a)


# --- selection ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype",
    [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int8, np.int64, np.complex64, np.complex128, np.bool_],
    ids=str,
)
@pytest.mark.parametrize("size", SIZES)
def test_where(dtype, size: int) -> None:
    a, b = (normal(size, seed=s, scale=9).astype(dtype) for s in (0, 1))
    mask = rng().random(size) < 0.5
    np.testing.assert_array_equal(select.where(mask, a, b), np.where(mask, a, b))
    zero = np.zeros((), dtype)
    for x, y in ((a, zero), (zero, b)):
        got = select.where(mask, x, y)
        assert got.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(got, np.where(mask, x, y))


def test_selection_keeps_special_values_and_layouts() -> None:
    a = np.tile(np.array([np.nan, np.inf, -np.inf, -0.0, 1e-42], np.float32), 2000).reshape(100, 100)
    mask = rng().random((100, 100)) < 0.5
    for x, m in ((a, mask), (a.T, mask), (a[::-1], mask), (a, mask.T)):
        want = np.where(m, x, np.float32(0))
        got = select.where(m, x, np.float32(0))
        np.testing.assert_array_equal(got.view(np.int32), want.view(np.int32))
        np.testing.assert_array_equal(select.where(m, x, 2.5), np.where(m, x, np.float32(2.5)))
        np.testing.assert_array_equal(select.where(m, x, x.T), np.where(m, x, x.T))
    out = np.where(np.isnan(a), 0, abs(a)).astype(np.float32)
    g = np.full_like(a, np.inf)
    np.testing.assert_array_equal(select.relu_backward(g, out), np.where(out > 0, np.float32(np.inf), 0))
    assert np.isnan(select.relu(a)[0, 0])
    for x in (a, a.T, a[:, ::2], a[:3, :3], np.tile(a, (6, 6)), np.arange(50_000)):
        for ufunc in (np.maximum, np.minimum):
            got, want = select.extremum(ufunc, x, 1), ufunc(x, 1)
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)
