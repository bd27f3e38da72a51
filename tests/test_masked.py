"""Functions of what a mask keeps: as if the rest were not there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tidu as torch
from tidu.autograd import gradcheck, gradgradcheck

M = torch.masked
X = np.random.default_rng(0).standard_normal((3, 5))
KEEP = np.array([[1, 0, 1, 1, 0], [0, 1, 1, 0, 0], [1, 1, 1, 1, 1]], bool)

REDUCTIONS: dict[str, tuple[Any, Any]] = {
    "sum": (M.sum, np.sum),
    "prod": (M.prod, np.prod),
    "amax": (M.amax, np.max),
    "amin": (M.amin, np.min),
    "mean": (M.mean, np.mean),
    "var": (M.var, lambda a: np.var(a, ddof=1)),
    "std": (M.std, lambda a: np.std(a, ddof=1)),
    "median": (M.median, lambda a: np.sort(a)[(len(a) - 1) // 2]),
    "norm": (lambda x, dim, mask: M.norm(x, 3.0, dim, mask=mask), lambda a: (np.abs(a) ** 3).sum() ** (1 / 3)),
    "logsumexp": (M.logsumexp, lambda a: np.log(np.exp(a).sum())),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_leave_out_what_the_mask_drops(name: str) -> None:
    ours, theirs = REDUCTIONS[name]
    x = torch.tensor(X, requires_grad=True)
    f = lambda v: ours(v, 1, mask=torch.tensor(KEEP))  # noqa: E731
    assert np.allclose(f(x).detach().numpy(), [theirs(row[keep]) for row, keep in zip(X, KEEP, strict=True)])
    assert gradcheck(f, (x,), check_forward_ad=True) and gradgradcheck(f, (x,))


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin", "normalize"])
def test_normalisations_are_those_of_what_is_kept(name: str) -> None:
    fn = getattr(M, name)
    extra = (2.0,) if name == "normalize" else ()
    x, keep = torch.tensor(X, requires_grad=True), torch.tensor(KEEP)
    got = fn(x, *extra, 1, mask=keep)
    for i in range(3):
        assert torch.allclose(got[i][keep[i]], fn(x[i][keep[i]], *extra, 0))
    assert torch.autograd.grad(got[keep].exp().sum(), x)[0][~keep].abs().max() == 0


def test_what_no_element_gives() -> None:
    x, none = torch.ones(2), torch.zeros(2, dtype=torch.bool)
    got = [M.sum(x, mask=none), M.prod(x, mask=none), M.amax(x, mask=none), M.amin(x, mask=none), M.norm(x, mask=none)]
    assert [float(v) for v in got] == [0, 1, float("-inf"), float("inf"), 0]
    assert M.mean(x, mask=none).isnan() and M.var(x, mask=none).isnan() and M.softmax(x, 0, mask=none).isnan().all()
    assert M.amax(torch.ones(2, dtype=torch.int32), mask=none) == -(2**31)
    assert M.cumsum(torch.arange(1, 4), 0, mask=torch.tensor([True, False, True])).tolist() == [1, 1, 4]
    assert M.argmax(torch.tensor([3.0, 9, 4]), 0, mask=torch.tensor([True, False, True])) == 2


def test_errors() -> None:
    x, keep = torch.tensor(X), torch.tensor(KEEP)
    with pytest.raises(IndexError, match="got mask dimensionality higher than of the input"):
        M.sum(x, mask=keep[None])
    with pytest.raises(RuntimeError, match="dim=0 appears multiple times in the list of dims"):
        M.sum(x, (0, 0), mask=keep)
    with pytest.raises(NotImplementedError, match=r"identity of amax on torch\.bool input"):
        M.amax(x > 0, 1, mask=keep)
    with pytest.raises(ValueError, match=r"mean\(\): Could not infer output dtype"):
        M.mean(x.long(), 1, mask=keep)
