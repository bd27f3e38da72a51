"""Scans, sorting, decompositions of batches, and Fourier transforms, forward and backward."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from benchmarks.row import Inputs, row
from benchmarks.rows.groups import LINALG
from benchmarks.rows.large import forward_backward


@row("cumsum 1024x1024", LINALG)
def cumsum(torch: ModuleType) -> Callable[[], Any]:
    """Along the last dimension."""
    inputs = Inputs(torch)
    x, g = inputs.normal(1024, 1024, grad=True), inputs.normal(1024, 1024)
    return forward_backward([x], lambda: x.cumsum(-1), g)


@row("sort 256x4096", LINALG)
def sort(torch: ModuleType) -> Callable[[], Any]:
    """Along the last dimension, without ties, whose order is free; the gradient goes back through the permutation."""
    inputs = Inputs(torch)
    distinct = inputs.normal(256, 4096).numpy().argsort(-1).astype("float32")
    x, g = inputs.of(distinct, grad=True), inputs.normal(256, 4096)
    return forward_backward([x], lambda: x.sort(-1).values, g)


@row("svd of 64 8x8", LINALG, tol=1e-3)
def svd(torch: ModuleType) -> Callable[[], Any]:
    """A loss of the singular values and of a gauge-free product of the vectors."""
    inputs = Inputs(torch)
    x, g = inputs.normal(64, 8, 8, dtype="float64", grad=True), inputs.normal(64, 8, 8, dtype="float64")

    def forward() -> Any:
        u, s, vh = torch.linalg.svd(x)
        return (u * s.exp().unsqueeze(-2)) @ vh

    return forward_backward([x], forward, g)


def symmetric(torch: ModuleType, inputs: Inputs, batch: int, n: int, grad: bool = False) -> Any:
    """A batch of well-conditioned positive definite matrices."""
    a = inputs.normal(batch, n, n, dtype="float64").numpy()
    spd = a @ a.transpose(0, 2, 1) / n
    spd[:, range(n), range(n)] += 1.0
    return inputs.of(spd, grad)


@row("eigh of 64 8x8", LINALG, tol=1e-3)
def eigh(torch: ModuleType) -> Callable[[], Any]:
    """A function of a symmetric matrix."""
    inputs = Inputs(torch)
    x, g = symmetric(torch, inputs, 64, 8, grad=True), inputs.normal(64, 8, 8, dtype="float64")

    def forward() -> Any:
        w, v = torch.linalg.eigh(x)
        return (v * w.exp().unsqueeze(-2)) @ v.mT

    return forward_backward([x], forward, g)


@row("solve 64 32x32", LINALG, tol=1e-3)
def solve(torch: ModuleType) -> Callable[[], Any]:
    """Four right-hand sides each."""
    inputs = Inputs(torch)
    a = symmetric(torch, inputs, 64, 32, grad=True)
    b, g = inputs.normal(64, 32, 4, dtype="float64", grad=True), inputs.normal(64, 32, 4, dtype="float64")
    return forward_backward([a, b], lambda: torch.linalg.solve(a, b), g)


@row("cholesky of 64 32x32", LINALG, tol=1e-3)
def cholesky(torch: ModuleType) -> Callable[[], Any]:
    """The factor."""
    inputs = Inputs(torch)
    a, g = symmetric(torch, inputs, 64, 32, grad=True), inputs.normal(64, 32, 32, dtype="float64")
    return forward_backward([a], lambda: torch.linalg.cholesky(a), g)


@row("rfft and irfft 256x4096", LINALG)
def fft(torch: ModuleType) -> Callable[[], Any]:
    """A filter applied in frequency space."""
    inputs = Inputs(torch)
    x, g, gain = inputs.normal(256, 4096, grad=True), inputs.normal(256, 4096), inputs.normal(2049)
    return forward_backward([x], lambda: torch.fft.irfft(torch.fft.rfft(x) * gain, n=4096), g)


@row("fft2 32x128x128 complex64", LINALG)
def fft2(torch: ModuleType) -> Callable[[], Any]:
    """Complex in and out."""
    inputs = Inputs(torch)
    x = inputs.normal(32, 128, 128, dtype="complex64", grad=True)
    return forward_backward([x], lambda: torch.fft.fft2(x), inputs.normal(32, 128, 128, dtype="complex64"))
