"""Training steps of multilayer perceptrons, by hand on tensors and with nn and optim."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from benchmarks.row import Inputs, row
from benchmarks.rows.groups import LARGE, NN_STEPS, STEPS

RATE = 1e-3


def by_hand(torch: ModuleType, batch: int, sizes: tuple[int, ...]) -> Callable[[], Any]:
    """tanh layers, cross-entropy, and gradient descent written out under ``no_grad``."""
    functional = torch.nn.functional
    inputs = Inputs(torch)
    x, target = inputs.normal(batch, sizes[0]), inputs.integers(sizes[-1], batch)
    layers = [
        (inputs.normal(m, n, scale=n**-0.5, grad=True), inputs.normal(m, scale=0.1, grad=True))
        for n, m in zip(sizes, sizes[1:], strict=False)
    ]
    params = [p for layer in layers for p in layer]

    def step() -> Any:
        h = x
        for weight, bias in layers[:-1]:
            h = torch.tanh(functional.linear(h, weight, bias))
        loss = functional.cross_entropy(functional.linear(h, *layers[-1]), target)
        loss.backward()
        with torch.no_grad():
            for p in params:
                p -= RATE * p.grad
                p.grad = None
        return loss, params[0], params[-1]

    return step


def with_modules(torch: ModuleType, batch: int, sizes: tuple[int, ...]) -> Callable[[], Any]:
    """The same step with ``nn.Sequential`` and ``optim.SGD``."""
    nn = torch.nn
    inputs = Inputs(torch)
    x, target = inputs.normal(batch, sizes[0]), inputs.integers(sizes[-1], batch)
    layers: list[Any] = []
    for n, m in zip(sizes, sizes[1:], strict=False):
        layers += [nn.Linear(n, m), nn.Tanh()]
    model = inputs.fill(nn.Sequential(*layers[:-1]), scale=sizes[0] ** -0.5)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    params = list(model.parameters())

    def step() -> Any:
        optimizer.zero_grad()
        loss = criterion(model(x), target)
        loss.backward()
        optimizer.step()
        return loss, params[0], params[-1]

    return step


@row("MLP step, batch 32, 64-64-10", STEPS)
def small(torch: ModuleType) -> Callable[[], Any]:
    """The overhead of a step."""
    return by_hand(torch, 32, (64, 64, 10))


@row("MLP step, batch 256, 784-1024-1024-10", LARGE)
def big(torch: ModuleType) -> Callable[[], Any]:
    """Mostly matrix products."""
    return by_hand(torch, 256, (784, 1024, 1024, 10))


@row("nn MLP step, batch 32, 64-64-10", NN_STEPS)
def small_nn(torch: ModuleType) -> Callable[[], Any]:
    """The overhead of a step, of the modules and of the optimiser."""
    return with_modules(torch, 32, (64, 64, 10))


@row("nn MLP step, batch 256, 784-1024-1024-10", NN_STEPS)
def big_nn(torch: ModuleType) -> Callable[[], Any]:
    """Mostly matrix products, and four updates of a million numbers."""
    return with_modules(torch, 256, (784, 1024, 1024, 10))
