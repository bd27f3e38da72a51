"""Floor 1, functions of whole rows, against float64 and plain NumPy: softmax, layer norm, products, sums, gathers."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
from scipy import special

from tidu.arrays import matmul, reduce, rows, select
from tidu.arrays.threads import get_num_threads, set_num_threads

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


# --- rows ------------------------------------------------------------------------------------------

SHAPES = [
    ((3,), 0),
    ((1, 1), 1),
    ((4, 10), 1),
    ((4, 10), 0),
    ((5, 3, 7), 1),
    ((700, 300), 1),
    ((700, 300), 0),
    ((300, 700), -1),
    ((2, 9000), 1),
    ((40, 3, 900), 1),
    ((2, 5, 60_000), 1),
    ((60_000, 5), 1),
    ((600, 600), 0),
    ((2, 2, 70_000), 1),
    ((0, 4), 1),
    ((3, 0, 2), 2),
]


@pytest.mark.parametrize("dtype", [*FLOATS, *HALVES], ids=str)
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_softmax_family(dtype, shape, axis) -> None:
    for scale, offset in ((1, 0), (30, 0), (1, 500)):
        a, g = (normal(*shape, scale=scale) + offset).astype(dtype), normal(*shape, dtype=dtype, seed=1)
        x, dy = a.astype(np.float64), g.astype(np.float64)
        want = special.softmax(x, axis) if x.size else x
        close(rows.softmax(a, axis), want, dtype, 3)
        want_log = special.log_softmax(x, axis) if x.size else x
        close(rows.log_softmax(a, axis), want_log, dtype, 3, eps(dtype) * max(1, abs(offset) / 20))
        y = want.astype(dtype)
        y64 = y.astype(np.float64)
        slack = eps(dtype) * (1 + math.sqrt(shape[axis]))
        close(rows.softmax_backward(g, y, axis), y64 * (dy - (dy * y64).sum(axis, keepdims=True)), dtype, 1, slack)
        log = want_log.astype(dtype)
        exact = dy - np.exp(log.astype(np.float64)) * dy.sum(axis, keepdims=True)
        close(rows.log_softmax_backward(g, log, axis), exact, dtype, 2, slack * 4)
        if shape[axis]:
            for keepdims in (False, True):
                lse = (
                    special.logsumexp(x, axis, keepdims=keepdims)
                    if x.size
                    else np.zeros(rows.logsumexp(a, axis, keepdims).shape)
                )
                close(rows.logsumexp(a, axis, keepdims), lse, dtype)


def test_softmax_of_infinities() -> None:
    inf = np.inf
    for columns in (3, 20_000):
        a = np.full((5, columns), -1.0, np.float32)
        a[1, 0], a[2], a[3, 1], a[4, 2] = -inf, -inf, inf, np.nan
        with np.errstate(all="ignore"):
            p, lse = rows.softmax(a, 1), rows.logsumexp(a, 1)
            lp = rows.log_softmax(a, 1)
        assert p[1, 0] == 0 and lp[1, 0] == -inf and abs(p[:2].sum(1) - 1).max() < 1e-5
        assert np.isnan(p[2:]).all(1)[[0, 2]].all()
        assert lse[2] == -inf and lse[3] == inf and np.isnan(lse[4])
    assert rows.logsumexp(np.zeros((2, 0), np.float32), 1).tolist() == [-inf, -inf]


def test_softmax_of_a_strided_input_and_of_a_broadcast_cotangent() -> None:
    a = normal(40, 60).T[::2]
    for axis in (0, 1):
        y = rows.softmax(a, axis)
        np.testing.assert_allclose(y, special.softmax(a.astype(np.float64), axis), rtol=1e-5, atol=1e-7)
        one = np.broadcast_to(np.ones((), np.float32), a.shape)
        assert abs(rows.softmax_backward(one, y, axis)).max() < 1e-6


@pytest.mark.parametrize("dtype", [*FLOATS, *HALVES], ids=str)
@pytest.mark.parametrize(
    ("shape", "n_axes"),
    [((4, 10), 1), ((3, 4, 5), 2), ((7,), 1), ((900, 400), 1), ((3, 9000), 1), ((30_000, 9), 1), ((2, 1), 1)],
)
def test_layer_norm(dtype, shape, n_axes) -> None:
    tail = shape[len(shape) - n_axes :]
    axes = tuple(range(len(shape) - n_axes, len(shape)))
    n = math.prod(tail)
    a, g = (normal(*shape, scale=2) + 1).astype(dtype), normal(*shape, dtype=dtype, seed=1)
    w, b = normal(*tail, dtype=dtype, seed=2), normal(*tail, dtype=dtype, seed=3)
    x, dy = a.astype(np.float64), g.astype(np.float64)
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    r = 1 / np.sqrt(var + 1e-5)
    z = (x - mean) * r
    for weight, bias in ((w, b), (w, None), (None, None)):
        w64 = 1.0 if weight is None else weight.astype(np.float64)
        out, got_mean, got_rstd = rows.layer_norm(a, n_axes, weight, bias)
        close(out, z * w64 + (0 if bias is None else bias.astype(np.float64)), dtype, 5)
        np.testing.assert_allclose(got_mean, mean, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(got_rstd, r, rtol=1e-5)
        h = dy * w64
        ga = r * (h - h.mean(axes, keepdims=True) - z * (h * z).mean(axes, keepdims=True))
        got = rows.layer_norm_backward(g, a, got_mean, got_rstd, n_axes, weight)
        close(got[0], ga, dtype, 10, eps(dtype) * (1 if n > 1 else 1e3))
        lead = tuple(range(len(shape) - n_axes))
        size = math.sqrt(x.size / n)
        close(got[1], (dy * z).sum(lead), dtype, 5 * size)
        close(got[2], dy.sum(lead), dtype, 5 * size)
    for k in range(3):
        need = tuple(i == k for i in range(3))
        alone = rows.layer_norm_backward(g, a, got_mean, got_rstd, n_axes, w, need)
        assert [p is not None for p in alone] == list(need)
    assert rows.layer_norm(a[:0], n_axes)[0].shape == a[:0].shape


# --- products --------------------------------------------------------------------------------------

PRODUCTS = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3, 4)),
    ((5, 2, 3), (3,)),
    ((3,), (5, 3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((6, 1, 2, 3), (5, 3, 4)),
    ((0, 3), (3, 2)),
    ((2, 0), (0, 3)),
    ((64, 40, 50), (64, 50, 60)),
    ((1, 40, 50), (64, 50, 60)),
    ((4, 16, 40, 50), (16, 50, 60)),
    ((100, 200), (200, 90)),
]


@pytest.mark.parametrize(("sa", "sb"), PRODUCTS)
def test_mm_has_matmuls_values(sa, sb) -> None:
    for dtype in (np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.complex64, np.int32, np.int64, np.uint8):
        a, b = normal(*sa, scale=3).astype(dtype), normal(*sb, seed=1, scale=3).astype(dtype)
        wide = (
            np.complex128 if np.dtype(dtype).kind == "c" else np.int64 if np.dtype(dtype).kind in "iu" else np.float64
        )
        want = np.asarray(np.matmul(a.astype(wide), b.astype(wide)))
        got = matmul.mm(a, b)
        assert type(got) is np.ndarray and got.dtype == np.dtype(dtype) and got.shape == want.shape
        if wide is np.int64:
            np.testing.assert_array_equal(got, want.astype(dtype))
        else:
            tolerance = {np.float16: 3e-3, ml_dtypes.bfloat16: 2e-2, np.float64: 1e-12}.get(dtype, 1e-5)
            scale = max(1.0, float(abs(want).max())) if want.size else 1.0
            np.testing.assert_allclose(got.astype(wide), want, rtol=tolerance, atol=tolerance * scale)


def test_mm_of_transposed_strided_and_self() -> None:
    h = normal(150, 200)
    exact = h.astype(np.float64)
    np.testing.assert_allclose(matmul.mm(h.T, h), exact.T @ exact, atol=1e-3)
    np.testing.assert_allclose(matmul.mm(h, h.T), exact @ exact.T, atol=1e-3)
    np.testing.assert_allclose(matmul.mm(h[:, ::2], h[:, 1::2].T), exact[:, ::2] @ exact[:, 1::2].T, atol=1e-3)
    batch = normal(64, 40, 50)
    turned = batch.transpose(0, 2, 1)
    np.testing.assert_allclose(matmul.mm(batch, turned), np.matmul(batch, turned), atol=1e-3)
    v = normal(200)
    np.testing.assert_allclose(matmul.mm(np.broadcast_to(v, (70, 200)), h.T), np.tile(v, (70, 1)) @ h.T, atol=1e-3)


def test_integer_products_wrap_around_small_and_large() -> None:
    for n in (2, 200):
        a = np.full((n, n), 100, np.int8)
        np.testing.assert_array_equal(matmul.mm(a, a), (a.astype(np.int64) @ a.astype(np.int64)).astype(np.int8))
        b = np.full((n, n), 2**62, np.int64)
        np.testing.assert_array_equal(matmul.mm(b, b), np.matmul(b, b))


def test_mm_of_unfitting_shapes_is_numpys_error() -> None:
    for sa, sb in (
        ((2, 3), (2, 3)),
        ((3,), (4,)),
        ((5, 2, 3), (5, 2, 3)),
        ((64, 64, 64), (3, 64, 64)),
        ((200, 90, 80), (200, 90, 80)),
    ):
        with pytest.raises(ValueError):
            matmul.mm(np.zeros(sa, np.float32), np.zeros(sb, np.float32))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16], ids=str)
@pytest.mark.parametrize("lead", [(), (5,), (3, 4), (300,)])
def test_linear(dtype, lead) -> None:
    x, w, b = (normal(*lead, 30, dtype=dtype), normal(300, 30, dtype=dtype, seed=1), normal(300, dtype=dtype, seed=2))
    g = normal(*lead, 300, dtype=dtype, seed=3)
    x64, w64, b64, g64 = (v.astype(np.float64) for v in (x, w, b, g))
    slack = eps(dtype) * 30
    close(matmul.linear(x, w, b), x64 @ w64.T + b64, dtype, 10, slack)
    close(matmul.linear(x, w), x64 @ w64.T, dtype, 10, slack)
    rows_x, rows_g = x64.reshape(-1, 30), g64.reshape(-1, 300)
    gx, gw, gb = matmul.linear_backward(g, x, w)
    close(gx, g64 @ w64, dtype, 10, slack * 3)
    close(gw, rows_g.T @ rows_x, dtype, 10, slack * 3)
    close(gb, rows_g.sum(0), dtype, 10, slack)
    assert [v is None for v in matmul.linear_backward(g, x, w, (False, True, False))] == [True, False, True]


def test_addmm() -> None:
    c, a, b = normal(4, 5), normal(4, 3, seed=1), normal(3, 5, seed=2)
    np.testing.assert_allclose(matmul.addmm(c, a, b, 0.5, 2), 0.5 * c + 2 * (a @ b), rtol=1e-5)
    np.testing.assert_allclose(matmul.addmm(c[0], a, b), c[0] + a @ b, rtol=1e-5)
    assert not np.isnan(matmul.addmm(np.full_like(c, np.nan), a, b, beta=0)).any()
    i = np.arange(4).reshape(2, 2)
    assert matmul.addmm(i, i, i, beta=2.5).dtype == i.dtype


# --- sums ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*FLOATS, *HALVES, np.int8, np.int64, np.bool_, np.complex64], ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (4, 4), (17, 31), (5, 0, 3), (300, 70), (3, 90_001), (700, 20, 30)])
def test_sums_and_means(dtype, shape) -> None:
    a = np.asarray(normal(*shape, scale=3) + 1).astype(dtype)
    kind = np.dtype(dtype).kind
    wide = np.complex128 if kind == "c" else np.int64 if kind in "iub" else np.float64
    out_dtype = np.int64 if kind in "iub" else dtype
    x = a.astype(wide)

    def check(got: np.ndarray, want: np.ndarray, count: int) -> None:
        assert type(got) is np.ndarray and got.dtype == np.dtype(out_dtype) and got.shape == want.shape
        if dtype is np.float16:
            want = np.where(abs(want) > 65504, np.inf, want)
        tolerance = 0 if wide is np.int64 else {2: 1e-2, 4: 1e-6, 8: 1e-6 if kind == "c" else 1e-13}[a.itemsize]
        np.testing.assert_allclose(got.astype(wide), want, rtol=tolerance, atol=tolerance * 10 * math.sqrt(count))

    check(reduce.sum_all(a), np.asarray(x.sum()), a.size)
    rank = a.ndim
    choices = [k for k in range(-rank, rank)] + [tuple(range(rank)), (0, -1) if rank > 1 else ()]
    with np.errstate(all="ignore"):
        for axes in choices:
            for keepdims in (False, True):
                want = np.asarray(x.sum(axes, keepdims=keepdims))
                check(reduce.sum_axes(a, axes, keepdims), want, a.size)
                if rank > 1:
                    turned = a.swapaxes(0, 1)
                    check(
                        reduce.sum_axes(turned, axes, keepdims),
                        np.asarray(x.swapaxes(0, 1).sum(axes, keepdims=keepdims)),
                        a.size,
                    )
        if kind in "fcV" and a.size:
            assert reduce.mean_all(a).dtype == np.dtype(dtype)
            np.testing.assert_allclose(reduce.mean_all(a).astype(wide), x.mean(), rtol=1e-2, atol=1e-3)
            if rank:
                np.testing.assert_allclose(
                    reduce.mean_axes(a, 0, True).astype(wide), x.mean(0, keepdims=True), rtol=2e-2, atol=1e-3
                )


def test_long_sums_are_as_accurate_as_pairwise_summation() -> None:
    a = rng().random((2_000_000, 2), dtype=np.float32)
    exact = a.astype(np.float64)
    assert abs(reduce.sum_all(a) / exact.sum() - 1) < 3e-7
    assert abs(reduce.sum_axes(a, 0) / exact.sum(0) - 1).max() < 1e-6
    assert abs(reduce.sum_axes(a.reshape(2, -1), 1) / exact.reshape(2, -1).sum(1) - 1).max() < 1e-6
    halves = np.full(70_000, 0.5, np.float16)
    assert reduce.sum_all(halves) == 35_000 and reduce.sum_all(np.ones(5000, ml_dtypes.bfloat16)) == 5000
    assert np.isnan(reduce.mean_all(np.zeros(0, np.float32))) and reduce.mean_all(np.array([1, 2, 3], np.float32)) == 2


# --- rows by index ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype", [np.float32, np.float64, np.complex64, np.float16, ml_dtypes.bfloat16, np.int32], ids=str
)
@pytest.mark.parametrize(
    ("n", "index_shape", "rest"),
    [
        (5, (7,), (3,)),
        (5, (2, 3), ()),
        (5, (0,), (2,)),
        (9, (4000,), (20,)),
        (3, (40,), (5, 70)),
        (40, (3, 9000), (60,)),
    ],
)
def test_take_rows_and_add_rows(dtype, n, index_shape, rest) -> None:
    index = rng().integers(-n, n, index_shape)
    table = normal(n, *rest, scale=5).astype(dtype)
    np.testing.assert_array_equal(select.take_rows(table, index), table[index])
    np.testing.assert_array_equal(select.take_rows(np.asfortranarray(table), index.astype(np.int32)), table[index])
    g = normal(*index_shape, *rest, seed=1, scale=5).astype(dtype)
    wide = np.complex128 if np.dtype(dtype).kind == "c" else np.float64
    want = np.zeros((n, *rest), wide)
    np.add.at(want, index, g.astype(wide))
    got = select.add_rows(n, index, g)
    assert got.dtype == np.dtype(dtype) and got.shape == want.shape
    scale = max(1.0, float(abs(want).max()))
    tolerance = {2: 1e-2, 4: 1e-5, 8: 1e-5 if dtype is np.complex64 else 1e-12}[np.dtype(dtype).itemsize]
    np.testing.assert_allclose(got.astype(wide), want, rtol=tolerance, atol=tolerance * scale)
    np.testing.assert_array_equal(select.add_rows(n, index, g), got)


def test_rows_are_added_in_order_with_and_without_scipy(monkeypatch) -> None:
    index, g = rng().integers(0, 10, 5000), normal(5000, 7)
    with_scipy = select.add_rows(10, index, g)
    monkeypatch.setattr(select, "_looked", True)
    monkeypatch.setattr(select, "_kernels", None)
    np.testing.assert_array_equal(select.add_rows(10, index, g), with_scipy)


def test_an_index_out_of_bounds_is_an_index_error() -> None:
    for size in (3, 100_000):
        index = np.zeros(size, np.int64)
        for bad in (5, -6):
            index[1] = bad
            with pytest.raises(IndexError, match=f"index {bad} is out of bounds for dimension 0 with size 5"):
                select.add_rows(5, index, np.ones((size, 20), np.float32))
            with pytest.raises(IndexError, match=f"index {bad} is out of bounds"):
                select.take_rows(np.ones((5, 20), np.float32), index)


# --- running sums -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["f", "d", "D"])
@pytest.mark.parametrize("shape, axis", [
    ((3,), 0), ((40, 200), 1), ((400, 1003), 1), ((1003, 300), 0), ((4, 70, 90), 1), ((5, 0), 1), ((7, 1), -1),
    ((128, 64), 1), ((2, 9000), -1),
])  # fmt: skip
def test_cumsum(kind, shape, axis) -> None:
    a = np.random.default_rng(0).standard_normal(shape).astype(kind)
    wide = a.astype("D" if kind == "D" else "d")
    tol = 1e-3 if kind == "f" else 1e-11
    np.testing.assert_allclose(reduce.cumsum(a, axis), np.cumsum(wide, axis), atol=tol)
    back = np.flip(np.cumsum(np.flip(wide, axis), axis), axis)
    np.testing.assert_allclose(reduce.cumsum(a, axis, reverse=True), back, atol=tol)
    np.testing.assert_allclose(reduce.cumsum(np.asfortranarray(a), axis), np.cumsum(wide, axis), atol=tol)


@pytest.mark.parametrize("reverse", [False, True])
def test_cumsum_keeps_infinities_where_they_are(reverse) -> None:
    a = np.ones((64, 200), np.float32)
    a[3, 37], a[5, 90], a[5, 91], a[7, 150], a[9, 10] = np.inf, np.inf, -np.inf, np.nan, 3e38
    a[9, 11], a[9, 12] = 3e38, -3e38
    want = np.cumsum(a[:, ::-1], 1)[:, ::-1] if reverse else np.cumsum(a, 1)
    got = reduce.cumsum(a, 1, reverse)
    np.testing.assert_array_equal(np.isfinite(got), np.isfinite(want))
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))


def test_cumsum_of_whole_numbers_is_exact() -> None:
    a = np.random.default_rng(0).integers(-50, 50, (300, 777)).astype(np.float32)
    np.testing.assert_array_equal(reduce.cumsum(a, 1), np.cumsum(a.astype(int), 1))


def test_cumsum_has_the_same_bits_with_one_thread() -> None:
    a = np.random.default_rng(0).standard_normal((512, 512)).astype(np.float32)
    with_threads = reduce.cumsum(a, 1)
    before = get_num_threads()
    try:
        set_num_threads(1)
        np.testing.assert_array_equal(reduce.cumsum(a, 1), with_threads)
    finally:
        set_num_threads(before)


# --- elements by an index along a dimension -----------------------------------------------------


@pytest.mark.parametrize("shape, index_shape", [
    ((512, 64), (4096, 64)), ((7,), (5000,)), ((3, 4, 5), (3, 900, 5)), ((3, 4, 5), (3, 4, 500)),
    ((3, 40, 5), (2, 600, 3)), ((1, 1, 1), (70000, 1, 1)), ((600, 3, 100), (600, 2, 100)), ((70000, 3), (70000, 1)),
    ((5, 4), (0, 4)),
])  # fmt: skip
def test_take_and_add_along(shape, index_shape) -> None:
    r = np.random.default_rng(0)
    for dim in range(len(shape)):
        if any(i > n for d, (i, n) in enumerate(zip(index_shape, shape, strict=True)) if d != dim):
            continue
        a = r.standard_normal(shape).astype("f")
        index, values = r.integers(0, shape[dim], index_shape), r.standard_normal(index_shape).astype("f")
        rank = len(shape)
        grids = [np.arange(n).reshape((-1,) + (1,) * (rank - 1 - d)) for d, n in enumerate(index_shape)]
        key = tuple(index if d == dim else grid for d, grid in enumerate(grids))
        np.testing.assert_array_equal(select.take_along(a, dim, index), a[key])
        got, want = a.copy(), a.copy()
        select.add_along(got, dim, index, values)
        np.add.at(want, key, values)
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("offset", [0.0, 0.5, 30.0, 1e4])
def test_layer_norm_of_short_rows_keeps_its_accuracy_far_from_zero(offset) -> None:
    r = np.random.default_rng(0)
    a = (r.standard_normal((300, 64)) + offset).astype(np.float32)
    a[7] = 0.0
    w, b = r.standard_normal(64).astype(np.float32), r.standard_normal(64).astype(np.float32)
    got, mean, rstd = rows.layer_norm(a, 1, w, b)
    want, mean64, rstd64 = rows.layer_norm(a.astype("d"), 1, w.astype("d"), b.astype("d"))
    np.testing.assert_allclose(rstd, rstd64, rtol=2e-6 * max(1.0, offset))
    np.testing.assert_allclose(got, want, atol=4e-6 * max(1.0, offset))


def test_layer_norm_of_short_rows_with_infinities() -> None:
    a = np.random.default_rng(0).standard_normal((300, 64)).astype(np.float32)
    w = np.ones(64, np.float32)
    w[3] = np.inf
    with np.errstate(all="ignore"):
        got = rows.layer_norm(a, 1, w)[0]
    assert np.isfinite(np.delete(got, 3, 1)).all()
    np.testing.assert_array_equal(np.isinf(got[:, 3]), True)


@pytest.mark.parametrize("shape", [(400, 100), (5000, 64), (40, 3000)])
@pytest.mark.parametrize("fill", [-np.inf, -1e9])
def test_masked_rows(shape, fill):
    """Exponentials that underflow are taken another way than those that do not."""
    r = np.random.default_rng(0)
    x = r.standard_normal(shape).astype(np.float32)
    x[r.random(shape) < 0.4] = fill
    x[:, 0] = 1
    wide = x.astype(np.float64)
    want = np.exp(wide - wide.max(1, keepdims=True))
    want /= want.sum(1, keepdims=True)
    got = rows.softmax(x, 1)
    assert np.allclose(got, want, rtol=1e-5, atol=1e-7) and not got[want == 0].any()
    logs = rows.log_softmax(x, 1)
    with np.errstate(divide="ignore"):
        assert np.allclose(np.where(want > 0, logs, 0), np.where(want > 0, np.log(want), 0), rtol=1e-5, atol=1e-5)
