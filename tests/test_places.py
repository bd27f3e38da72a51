"""Points of a grid, windows, and elements picked by rank or place: the quick routes against slow and plain ones."""

from __future__ import annotations

import numpy as np
import pytest

import tidu as torch
from tidu.arrays import resampling, select
from tidu.arrays.pooling import Window, max_backward, max_forward, max_indices, sum_backward, sum_forward
from tidu.nn import functional as F


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("size", [(5, 6), (4, 3, 5), (1, 1)])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("corners", [False, True])
def test_grids_as_the_recorded_formula_has_them(size, mode, padding, corners):
    if mode == "bicubic" and len(size) == 3:
        pytest.skip("not in three dimensions")
    image = torch.tensor(draw(2, 3, *size), requires_grad=True)
    places = draw(2, 7, *(1,) * (len(size) - 1), len(size), seed=1) * 0.8
    places.reshape(-1)[:2] = np.nan, 1e20
    grid = torch.tensor(places, requires_grad=True)
    out = F.grid_sample(image, grid, mode, padding, corners)
    g = torch.tensor(draw(*out.shape, seed=2))
    quick = torch.autograd.grad(out, (image, grid), g, retain_graph=True)
    slow = torch.autograd.grad(out, (image, grid), g, create_graph=True)
    for a, b in zip(quick, slow, strict=True):
        finite = b.isfinite()
        assert torch.allclose(a[finite], b[finite])


WINDOWS = [(3, 2, 1, 1), (2, 2, 1, 0), (3, 1, 2, 1), (2, 3, 1, 1), (1, 1, 1, 0), (4, 3, 2, 2)]


@pytest.mark.parametrize("planes", [2, 60])
@pytest.mark.parametrize("first", WINDOWS)
@pytest.mark.parametrize("second", WINDOWS)
def test_windows_one_by_one(planes, first, second):
    size = (9, 12)
    windows = [
        Window(k, s, d, p, (n + 2 * p - d * (k - 1) - 1) // s + 1)
        for (k, s, d, p), n in zip((first, second), size, strict=True)
    ]
    x = np.random.default_rng(0).integers(-3, 3, (planes, *size)).astype(np.float32)
    x[1, 2, 3:5], x[0, 0] = np.nan, -np.inf
    sums = np.zeros((planes, windows[0].out, windows[1].out), np.float32)
    most, where = np.full_like(sums, -np.inf), np.zeros(sums.shape, np.int64)
    finite = np.nan_to_num(x, neginf=0)
    back, given = np.zeros_like(x), np.zeros_like(x)
    g = np.random.default_rng(1).integers(-9, 9, sums.shape).astype(np.float32)
    for at in np.ndindex(*sums.shape):
        seen = [
            [o * w.stride - w.before + j * w.dilation for j in range(w.kernel)]
            for o, w in zip(at[1:], windows, strict=True)
        ]
        inside = [(i, j) for i in seen[0] for j in seen[1] if 0 <= i < size[0] and 0 <= j < size[1]]
        best = inside[0]
        for place in inside:
            sums[at] += finite[at[0]][place]
            back[at[0]][place] += g[at]
            if x[at[0]][place] > x[at[0]][best] or np.isnan(x[at[0]][place]):
                best = place
        most[at], where[at] = x[at[0]][best], best[0] * size[1] + best[1]
        given[at[0]][best] += g[at]
    np.testing.assert_array_equal(sum_forward(finite, windows), sums)
    np.testing.assert_array_equal(sum_backward(g, windows, size), back)
    np.testing.assert_array_equal(max_forward(x, windows), most)
    for got, want in zip(max_indices(x, windows), (most, where), strict=True):
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(max_backward(g, x, most, windows), given)


@pytest.mark.parametrize("n, m", [(5, 12), (12, 5), (40, 90), (90, 41), (7, 1), (300, 150)])
@pytest.mark.parametrize("kind", ["linear", "cubic", "nearest", "antialiased", "evenly"])
def test_resampling_and_its_adjoint(n, m, kind):
    taps = {
        "linear": lambda: resampling.linear(n, m, None, False, np.float64),
        "cubic": lambda: resampling.cubic(n, m, None, True, np.float64),
        "nearest": lambda: resampling.nearest(n, m, None, False),
        "antialiased": lambda: resampling.antialiased(n, m, None, False, np.float64, "linear"),
        "evenly": lambda: resampling.evenly(n, m, np.float64),
    }[kind]()
    for shape in ((2, n), (2, n, 3), (40, n), (40, n, 50)):
        x = draw(*shape)
        line = [taps] if x.ndim == 2 else [taps, resampling.Taps(shape[2], resampling.same(shape[2]), None)]
        wide = np.moveaxis(np.moveaxis(x, 1, -1) @ taps.matrix.astype(float), -1, 1)
        np.testing.assert_allclose(resampling.resample(x, line), wide, atol=1e-12)
        g = draw(*wide.shape, seed=1)
        back = [taps.back, *line[1:]]
        np.testing.assert_allclose((resampling.resample(g, back) * x).sum(), (g * wide).sum())


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, 0.5])
def test_a_few_of_many_rows(largest, odd):
    a = draw(40, 300)
    a[::2, ::3] = odd
    a[3] = odd
    values, places = torch.topk(torch.tensor(a), 5, 1, largest)
    order = np.sort(a, 1)
    np.testing.assert_array_equal(values.numpy(), order[:, ::-1][:, :5] if largest else order[:, :5])
    np.testing.assert_array_equal(np.take_along_axis(a, places.numpy(), 1), values.numpy())
    assert all(len(set(row)) == 5 for row in places.tolist())
    value, place = torch.kthvalue(torch.tensor(a), 200, 1)
    np.testing.assert_array_equal(value.numpy(), order[:, 199])
    np.testing.assert_array_equal(a[np.arange(40), place.numpy()], order[:, 199])


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_, np.float16])
@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("turned", [False, True])
def test_slices_are_added_in_place(dtype, dim, turned):
    a = np.random.default_rng(0).integers(0, 2, (6, 40, 70)).astype(dtype)
    if turned:
        a = np.asfortranarray(a)
    index = np.array([0, 3, 3, 5, 0])
    values = np.ones(tuple(5 if d == dim else n for d, n in enumerate(a.shape)), dtype)
    want = np.moveaxis(a.copy(), dim, 0)
    (np.logical_or if dtype is np.bool_ else np.add).at(want, index, np.moveaxis(values, dim, 0))
    select.add_slices(a, dim, index, values)
    np.testing.assert_array_equal(a, np.moveaxis(want, 0, dim))


def test_accumulating_raises_before_it_writes():
    x = torch.zeros(3, 4)
    rows, columns = torch.tensor([0, 2, 2, -1]), torch.tensor([0, 1, 1, -4])
    x.index_put_((rows, columns), torch.ones(4), accumulate=True)
    assert x.tolist() == [[1, 0, 0, 0], [0, 0, 0, 0], [1, 2, 0, 0]]
    kept = x.clone()
    with pytest.raises(IndexError, match="index 4 is out of bounds for dimension 1 with size 4"):
        x.index_put_((rows, torch.tensor([0, 1, 4, 0])), torch.ones(4), accumulate=True)
    with pytest.raises(RuntimeError, match="shape mismatch"):
        x.index_put_((rows, columns), torch.ones(3), accumulate=True)
    assert torch.equal(x, kept)


IMAGE = torch.arange(72.0).reshape(1, 2, 6, 6)
KEPT = {
    "max_pool": lambda: F.max_pool2d(IMAGE, 3, 2, 1, return_indices=True),
    "adaptive_max_pool": lambda: F.adaptive_max_pool2d(IMAGE, 3, return_indices=True),
    "avg_pool": lambda: (F.avg_pool2d(IMAGE, 3, 2, 1),),
    "adaptive_avg_pool": lambda: (F.adaptive_avg_pool2d(IMAGE, 3), F.adaptive_avg_pool2d(IMAGE, 6)),
    "interpolate": lambda: tuple(F.interpolate(IMAGE, size=(n, 6), mode="bilinear") for n in (4, 6)),
    "nearest": lambda: (F.interpolate(IMAGE, scale_factor=2),),
    "pad": lambda: (F.pad(IMAGE, (1, 1, 1, 1), mode="reflect"),),
    "tril_indices": lambda: (torch.tril_indices(4, 4),),
    "combinations": lambda: (torch.combinations(torch.arange(4)),),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_is_kept_by_shape_is_not_handed_out(name):
    image, first = IMAGE.clone(), KEPT[name]()
    before = [x.clone() for x in first]
    for x in first:
        x.fill_(-7)
    assert torch.equal(IMAGE, image)
    assert all(torch.equal(x, y) for x, y in zip(KEPT[name](), before, strict=True))
