"""torch.func: Hessians, Jacobians, per-sample gradients, and checkpointing; the same in JAX, compiled."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.row import Inputs, row
from benchmarks.rows.groups import SPARSE, TRANSFORMS


def rosenbrock(x: Any) -> Any:
    """The chained valley."""
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def rosenbrock_hessian(torch: ModuleType, n: int) -> Callable[[], Any]:
    """The dense Hessian at a random point."""
    x = Inputs(torch).normal(n, dtype="float64")
    hessian = torch.func.hessian(rosenbrock)
    return lambda: hessian(x)


def rosenbrock_hessian_jax(jax: ModuleType, n: int) -> Callable[[], Any]:
    """The same, compiled."""
    x = Inputs(jax).normal(n, dtype="float64")
    hessian = jax.jit(jax.hessian(rosenbrock))
    return lambda: jax.block_until_ready(hessian(x))


@row("Rosenbrock Hessian, 50 dimensions", TRANSFORMS)
def hessian_50(torch: ModuleType) -> Callable[[], Any]:
    """Mostly overhead."""
    return rosenbrock_hessian(torch, 50)


@row("Rosenbrock Hessian, 500 dimensions", TRANSFORMS)
def hessian_500(torch: ModuleType) -> Callable[[], Any]:
    """Mostly memory traffic."""
    return rosenbrock_hessian(torch, 500)


hessian_50.jax(lambda jax: rosenbrock_hessian_jax(jax, 50))
hessian_500.jax(lambda jax: rosenbrock_hessian_jax(jax, 500))


def three_products(torch: ModuleType, x: Any, probes: list[Any]) -> list[Any]:
    """Hessian-vector products by hand, for one who knows that the Hessian is tridiagonal."""
    gradient = torch.func.grad(rosenbrock)
    return [torch.func.jvp(gradient, (x,), (v,))[1] for v in probes]


def every_third(n: int) -> list[np.ndarray]:
    """The probes that tell the columns of a tridiagonal matrix apart."""
    return [(np.arange(n) % 3 == k).astype(np.float64) for k in range(3)]


@row("Rosenbrock Hessian, 10,000 dimensions, sparse", SPARSE)
def hessian_sparse(torch: ModuleType) -> Callable[[], Any]:
    """tidu finds the pattern itself at every call; PyTorch is told it, and is asked for the products alone."""
    inputs = Inputs(torch)
    x, probes = inputs.normal(10_000, dtype="float64"), [inputs.of(v) for v in every_third(10_000)]
    if "sparse" not in inspect.signature(torch.func.hessian).parameters:
        return lambda: three_products(torch, x, probes)
    hessian = torch.func.hessian(rosenbrock, sparse=True)

    def step() -> Any:
        found = hessian(x)
        return [torch.from_numpy(found @ v.numpy()) for v in probes]

    return step


@hessian_sparse.jax
def hessian_sparse_jax(jax: ModuleType) -> Callable[[], Any]:
    """The products alone, compiled."""
    inputs = Inputs(jax)
    x, probes = inputs.normal(10_000, dtype="float64"), [inputs.of(v) for v in every_third(10_000)]
    gradient = jax.grad(rosenbrock)
    products = jax.jit(lambda x, vs: [jax.jvp(gradient, (x,), (v,))[1] for v in vs])
    return lambda: jax.block_until_ready(products(x, probes))


def mlp64(lib: ModuleType, tanh: Callable[[Any], Any]) -> tuple[Callable[[Any], Any], Any]:
    """A 64-64-64 tanh MLP as a function of one input, and the input."""
    inputs = Inputs(lib)
    w1, w2 = inputs.normal(64, 64, scale=0.125), inputs.normal(64, 64, scale=0.125)
    return (lambda x: tanh(tanh(x @ w1) @ w2)), inputs.normal(64)


@row("jacrev, MLP 64 to 64", TRANSFORMS)
def jacrev(torch: ModuleType) -> Callable[[], Any]:
    """Rows of the Jacobian."""
    f, x = mlp64(torch, torch.tanh)
    jacobian = torch.func.jacrev(f)
    return lambda: jacobian(x)


@row("jacfwd, MLP 64 to 64", TRANSFORMS)
def jacfwd(torch: ModuleType) -> Callable[[], Any]:
    """Columns of the Jacobian."""
    f, x = mlp64(torch, torch.tanh)
    jacobian = torch.func.jacfwd(f)
    return lambda: jacobian(x)


@jacrev.jax
def jacrev_jax(jax: ModuleType) -> Callable[[], Any]:
    """Compiled."""
    f, x = mlp64(jax, jax.numpy.tanh)
    jacobian = jax.jit(jax.jacrev(f))
    return lambda: jax.block_until_ready(jacobian(x))


@jacfwd.jax
def jacfwd_jax(jax: ModuleType) -> Callable[[], Any]:
    """Compiled."""
    f, x = mlp64(jax, jax.numpy.tanh)
    jacobian = jax.jit(jax.jacfwd(f))
    return lambda: jax.block_until_ready(jacobian(x))


@row("per-sample gradients, CNN, vmap(grad)", TRANSFORMS, tol=1e-3)
def per_sample(torch: ModuleType) -> Callable[[], Any]:
    """Sixteen 1x14x14 images, one convolution and a linear layer."""
    functional = torch.nn.functional
    inputs = Inputs(torch)
    images, labels = inputs.normal(16, 1, 14, 14), inputs.integers(10, 16)
    params = {
        "kernel": inputs.normal(8, 1, 3, 3, scale=0.3),
        "weight": inputs.normal(10, 8 * 36, scale=0.05),
        "bias": inputs.normal(10, scale=0.1),
    }

    def loss(p: dict[str, Any], image: Any, label: Any) -> Any:
        h = functional.conv2d(image.unsqueeze(0), p["kernel"])
        h = functional.max_pool2d(torch.relu(h), 2).flatten(1)
        return functional.cross_entropy(functional.linear(h, p["weight"], p["bias"]), label.unsqueeze(0))

    gradients = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))
    return lambda: gradients(params, images, labels)


@per_sample.jax
def per_sample_jax(jax: ModuleType) -> Callable[[], Any]:
    """The same network, compiled."""
    lax = jax.lax
    inputs = Inputs(jax)
    images, labels = inputs.normal(16, 1, 14, 14), inputs.integers(10, 16)
    params = {
        "kernel": inputs.normal(8, 1, 3, 3, scale=0.3),
        "weight": inputs.normal(10, 8 * 36, scale=0.05),
        "bias": inputs.normal(10, scale=0.1),
    }

    def loss(p: dict[str, Any], image: Any, label: Any) -> Any:
        h = jax.nn.relu(lax.conv(image[None], p["kernel"], (1, 1), "VALID"))
        h = lax.reduce_window(h, -np.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID").reshape(-1)
        return -jax.nn.log_softmax(p["weight"] @ h + p["bias"])[label]

    gradients = jax.jit(jax.vmap(jax.grad(loss), in_axes=(None, 0, 0)))

    def step() -> Any:
        result = jax.block_until_ready(gradients(params, images, labels))
        return {name: result[name] for name in params}

    return step


@row("checkpointed MLP, 16 layers of 128", TRANSFORMS, tol=1e-3)
def checkpointed(torch: ModuleType) -> Callable[[], Any]:
    """Each layer recomputed in backward."""
    checkpoint = importlib.import_module(f"{torch.__name__}.utils.checkpoint").checkpoint
    inputs = Inputs(torch)
    x = inputs.normal(64, 128)
    weights = [inputs.normal(128, 128, scale=128**-0.5, grad=True) for _ in range(16)]

    def layer(h: Any, w: Any) -> Any:
        return torch.tanh(h @ w)

    def step() -> Any:
        for w in weights:
            w.grad = None
        h = x
        for w in weights:
            h = checkpoint(layer, h, w, use_reentrant=False)
        loss = (h * h).mean()
        loss.backward()
        return loss, weights[0].grad, weights[-1].grad

    return step


@checkpointed.jax
def checkpointed_jax(jax: ModuleType) -> Callable[[], Any]:
    """The same network, compiled."""
    inputs = Inputs(jax)
    x = inputs.normal(64, 128)
    weights = [inputs.normal(128, 128, scale=128**-0.5) for _ in range(16)]
    layer = jax.checkpoint(lambda h, w: jax.numpy.tanh(h @ w))

    def loss(ws: list[Any]) -> Any:
        h = x
        for w in ws:
            h = layer(h, w)
        return (h * h).mean()

    value_and_grad = jax.jit(jax.value_and_grad(loss))

    def step() -> Any:
        value, grads = jax.block_until_ready(value_and_grad(weights))
        return value, grads[0], grads[-1]

    return step
