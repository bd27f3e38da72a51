"""Reductions that look at large inputs as they come before they take the general route."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tidu as torch


@pytest.mark.parametrize(
    ("shape", "dim", "keepdim"),
    [((3000,), 0, False), ((7, 1001), 1, True), ((3, 40, 50), (1, 2), False), ((2, 700), (0, 1), True)],
)
def test_products_of_many(shape: Any, dim: Any, keepdim: bool) -> None:
    a = np.exp(np.random.default_rng(0).standard_normal(shape) / 30).astype(np.float32)
    a.reshape(-1)[::7] *= -1
    r = torch.tensor(a)
    for d in sorted(np.atleast_1d(dim), reverse=True):
        r = r.prod(int(d), keepdim=keepdim)
    wide = np.prod(a.astype(np.float64), axis=dim, keepdims=keepdim)
    assert r.shape == wide.shape
    assert np.allclose(r.numpy(), wide, rtol=1e-4)
    if np.ndim(dim) == 0:
        return
    whole = torch.tensor(a).prod() if len(dim) == len(shape) else None
    assert whole is None or np.allclose(whole.item(), wide.item(), rtol=1e-4)


def test_sums_without_nans() -> None:
    x = torch.tensor([[1.0, math.nan, 2.0], [1.0, math.inf, -math.inf], [1.0, 2.0, 4.0]])
    result = x.nansum(1)
    assert result[0] == 3
    assert result[1].isnan()
    assert result[2] == 7
    assert x[2:].nansum() == 7


@pytest.mark.parametrize("n", [1, 2, 9, 5000])
def test_medians_of_all(n: int) -> None:
    a = np.random.default_rng(n).standard_normal(n).astype(np.float32)
    assert torch.tensor(a).median() == np.sort(a)[(n - 1) // 2]
    a[n // 3] = math.nan
    assert torch.tensor(a).median().isnan()
    rest = np.sort(a[~np.isnan(a)])
    assert n == 1 or torch.tensor(a).nanmedian() == rest[(n - 2) // 2]


def test_equality_of_large_tensors() -> None:
    x = torch.arange(6000.0).reshape(60, 100)
    for place in ((0, 0), (59, 99)):
        y = x.clone()
        assert torch.equal(x, y)
        y[place] = -1
        assert not torch.equal(x, y)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_angles_of_real_numbers(dtype: Any) -> None:
    r = torch.tensor([-2.0, -0.0, 0.0, 3.0, math.inf, -math.inf, math.nan], dtype=dtype).angle()
    pi = torch.tensor(math.pi, dtype=dtype).item()
    assert r.dtype is dtype
    assert r[:-1].tolist() == [pi, 0, 0, 0, 0, pi]
    assert r[-1].isnan()
