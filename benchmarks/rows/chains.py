"""Graphs of many small ops: what the tape and the engine cost."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from benchmarks.row import Inputs, row
from benchmarks.rows.groups import STEPS


@row("chain of 100 small ops", STEPS)
def chain(torch: ModuleType) -> Callable[[], Any]:
    """4x4 products, sums and a bounded function now and then."""
    inputs = Inputs(torch)
    x, a, b = inputs.normal(4, 4, grad=True), inputs.normal(4, 4), inputs.normal(4, 4)
    g = inputs.normal(4, 4)

    def step() -> Any:
        x.grad = None
        y = x
        for _ in range(33):
            y = torch.tanh(y * a + b)
        y = y * a
        y.backward(g)
        return y, x.grad

    return step


@row("scalar expression graph, 500 nodes", STEPS)
def scalars(torch: ModuleType) -> Callable[[], Any]:
    """A network written number by number, as in teaching: two layers of neurons over 0-d tensors."""
    inputs = Inputs(torch)
    xs = [inputs.normal() for _ in range(6)]
    hidden = [[inputs.normal(scale=0.5, grad=True) for _ in range(7)] for _ in range(33)]
    last = [inputs.normal(scale=0.5, grad=True) for _ in range(34)]
    leaves = [w for neuron in hidden for w in neuron] + last

    def step() -> Any:
        for w in leaves:
            w.grad = None
        total = last[-1]
        for neuron, weight in zip(hidden, last, strict=False):
            s = neuron[-1]
            for w, x in zip(neuron, xs, strict=False):
                s = s + w * x
            total = total + s.tanh() * weight
        loss = (1 - total) ** 2 / 2
        loss.backward()
        return loss, leaves[0].grad, leaves[-1].grad

    return step


@row("chain of 100,000 ops", STEPS, tol=1e-3)
def long_chain(torch: ModuleType) -> Callable[[], Any]:
    """Deep rather than wide: nothing may recurse, nothing may grow faster than the chain."""
    inputs = Inputs(torch)
    x = inputs.normal(4, 4, grad=True)
    a, b = inputs.of(inputs.normal(4, 4).numpy() * 0 + 0.9999), inputs.normal(4, 4, scale=1e-3)

    def step() -> Any:
        x.grad = None
        y = x
        for _ in range(50_000):
            y = y * a + b
        y.sum().backward()
        return y, x.grad

    return step
