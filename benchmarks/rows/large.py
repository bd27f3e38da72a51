"""Arrays much larger than a cache: threads, memory traffic, and fresh pages."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from benchmarks.row import Inputs, row
from benchmarks.rows.groups import LARGE


def forward_backward(leaves: list[Any], forward: Callable[[], Any], cotangent: Any) -> Callable[[], Any]:
    """The step that runs `forward` and pulls `cotangent` back to the leaves' gradients."""

    def step() -> Any:
        for leaf in leaves:
            leaf.grad = None
        out = forward()
        out.backward(cotangent)
        return [out, *(leaf.grad for leaf in leaves)]

    return step


@row("elementwise chain, 4M float32", LARGE)
def elementwise(torch: ModuleType) -> Callable[[], Any]:
    """gelu's tanh form, written out."""
    inputs = Inputs(torch)
    x = inputs.normal(4_000_000, grad=True)
    g = inputs.normal(4_000_000)

    def forward() -> Any:
        return 0.5 * x * (1 + torch.tanh(0.79788456 * (x + 0.044715 * x * x * x)))

    return forward_backward([x], forward, g)


@row("elementwise chain, 4M float32, no gradient", LARGE)
def elementwise_forward(torch: ModuleType) -> Callable[[], Any]:
    """The same, forward only."""
    x = Inputs(torch).normal(4_000_000)

    def step() -> Any:
        return 0.5 * x * (1 + torch.tanh(0.79788456 * (x + 0.044715 * x * x * x)))

    return step


@row("softmax 4096x1024", LARGE)
def softmax(torch: ModuleType) -> Callable[[], Any]:
    """Over the last dimension."""
    inputs = Inputs(torch)
    x, g = inputs.normal(4096, 1024, grad=True), inputs.normal(4096, 1024)
    return forward_backward([x], lambda: torch.softmax(x, -1), g)


@row("layer norm 4096x1024", LARGE)
def layer_norm(torch: ModuleType) -> Callable[[], Any]:
    """With weight and bias."""
    inputs = Inputs(torch)
    x, g = inputs.normal(4096, 1024, grad=True), inputs.normal(4096, 1024)
    weight, bias = inputs.normal(1024, grad=True), inputs.normal(1024, grad=True)
    normalise = torch.nn.functional.layer_norm
    return forward_backward([x, weight, bias], lambda: normalise(x, (1024,), weight, bias), g)


@row("embedding gather and dense gradient", LARGE)
def gather(torch: ModuleType) -> Callable[[], Any]:
    """Rows of a 10,000x256 table, taken by indexing with 32x128 integers."""
    inputs = Inputs(torch)
    table, index = inputs.normal(10_000, 256, grad=True), inputs.integers(10_000, 32, 128)
    return forward_backward([table], lambda: table[index], inputs.normal(32, 128, 256))
