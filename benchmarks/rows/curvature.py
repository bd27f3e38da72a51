"""Second derivatives on the ordinary tape."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from benchmarks.row import Inputs, row
from benchmarks.rows.groups import STEPS, TRANSFORMS


def mlp_loss(torch: ModuleType, inputs: Inputs, batch: int, sizes: tuple[int, int, int]) -> tuple[Any, Any]:
    """A two-layer tanh MLP's cross-entropy as a function of its parameters, and the parameters."""
    functional = torch.nn.functional
    x, target = inputs.normal(batch, sizes[0]), inputs.integers(sizes[2], batch)
    params = []
    for n, m in zip(sizes, sizes[1:], strict=False):
        params += [inputs.normal(n, m, scale=n**-0.5, grad=True), inputs.normal(m, scale=0.1, grad=True)]

    def loss(w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
        return functional.cross_entropy(torch.tanh(x @ w1 + b1) @ w2 + b2, target)

    return loss, params


@row("Hessian-vector product, MLP 64-64-10", STEPS)
def hvp(torch: ModuleType) -> Callable[[], Any]:
    """Backward through backward."""
    inputs = Inputs(torch)
    loss, params = mlp_loss(torch, inputs, 32, (64, 64, 10))
    vectors = [inputs.normal(*p.shape) for p in params]

    def step() -> Any:
        grads = torch.autograd.grad(loss(*params), params, create_graph=True)
        return torch.autograd.grad(grads, params, vectors)

    return step


@row("HVP, 2-layer MLP, forward over reverse", TRANSFORMS)
def hvp_func(torch: ModuleType) -> Callable[[], Any]:
    """The same product through ``torch.func``."""
    inputs = Inputs(torch)
    loss, params = mlp_loss(torch, inputs, 32, (64, 64, 10))
    primals = tuple(p.detach() for p in params)
    vectors = tuple(inputs.normal(*p.shape) for p in params)
    func = torch.func
    gradient = func.grad(loss, argnums=(0, 1, 2, 3))
    return lambda: func.jvp(gradient, primals, vectors)[1]


@hvp_func.jax
def hvp_jax(jax: ModuleType) -> Callable[[], Any]:
    """Forward over reverse, compiled."""
    np = jax.numpy
    inputs = Inputs(jax)
    x, target = inputs.normal(32, 64), inputs.integers(10, 32)
    params = []
    for n, m in ((64, 64), (64, 10)):
        params += [inputs.normal(n, m, scale=n**-0.5), inputs.normal(m, scale=0.1)]
    vectors = tuple(inputs.normal(*p.shape) for p in params)

    def loss(w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
        scores = jax.nn.log_softmax(np.tanh(x @ w1 + b1) @ w2 + b2)
        return -scores[np.arange(32), target].mean()

    gradient = jax.grad(loss, argnums=(0, 1, 2, 3))
    product = jax.jit(lambda p, v: jax.jvp(gradient, p, v)[1])
    return lambda: jax.block_until_ready(product(tuple(params), vectors))
