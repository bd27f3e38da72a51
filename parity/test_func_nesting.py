"""Transforms of torch.func in each other, at random: both libraries must compute the same."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

F = Callable[[Any], Any]


def bases(lib: Any) -> dict[str, F]:
    """Functions from vectors to vectors of the same length, smooth where they are asked.

    No layer norm: PyTorch's reverse over forward mode of it is wrong, as finite differences of the first show.
    """
    w = lib.tensor([[0.5, -0.2, 0.1], [0.3, 0.8, -0.5], [-0.1, 0.4, 0.9]], dtype=lib.float64)
    order = lib.tensor([2, 0, 1])
    return {
        "sin": lambda x: x.sin() * x,
        "softmax": lambda x: x.softmax(0) * x,
        "matmul": lambda x: (w @ x).tanh(),
        "ratio": lambda x: x**2 / (1 + x * x),
        "cumsum": lambda x: (x * x).cumsum(0).exp() * 0.1,
        "index": lambda x: x[order] * x[[1, 2, 0]],
        "where": lambda x: lib.where(x > 0.5, x**3, x.exp()),
        "join": lambda x: lib.cat([x[1:] * x[0], lib.stack([x.prod()])]),
        "norm": lambda x: x / (1 + x.norm()),
        "outer": lambda x: lib.outer(x, x.cos()).sum(1),
        "views": lambda x: x.view(1, 3).t().flip(0).reshape(-1) * x.unsqueeze(0).expand(2, 3).sum(0),
        "written": lambda x: _written(x),
        "linear": lambda x: lib.nn.functional.linear(x, w, w[0]).sigmoid(),
        "extreme": lambda x: x * x.max() + x.sort()[0],
        "einsum": lambda x: lib.einsum("i,ij,j->i", x, w, x),
        "logs": lambda x: x.logsumexp(0) * lib.log1p(x * x),
        "variance": lambda x: x * x.var() + x.mean(),
    }


def _written(x: Any) -> Any:
    y = x * x
    y[0] = y[1] * 2
    y[1:].mul_(x[:2])
    y.add_(1)
    return y


def operators(lib: Any) -> dict[str, Callable[[F], F]]:
    """What makes another such function of one."""
    func = lib.func
    return {
        "grad": lambda f: func.grad(lambda x: f(x).sum()),
        "grad_and_value": lambda f: lambda x: func.grad_and_value(lambda x: f(x).prod())(x)[0] + 1,
        "vmap": lambda f: lambda x: func.vmap(f)(lib.stack([x, x * 0.5])).sum(0),
        "vmap out": lambda f: lambda x: func.vmap(f, in_dims=1, out_dims=1)(lib.stack([x, x * 0.5], 1)).sum(1),
        "vmap chunks": lambda f: lambda x: func.vmap(f, chunk_size=2)(lib.stack([x, x * 0.5, x])).sum(0),
        "jvp": lambda f: lambda x: func.jvp(f, (x,), (x,))[1],
        "vjp": lambda f: lambda x: func.vjp(f, x)[1](x)[0],
        "jacrev": lambda f: lambda x: func.jacrev(f)(x).sum(0),
        "jacfwd": lambda f: lambda x: func.jacfwd(f)(x).sum(1),
        "hessian": lambda f: lambda x: func.hessian(lambda y: f(y).sum())(x).sum(0),
        "vmap of grad": lambda f: lambda x: func.vmap(func.grad(lambda s: f(s * x).sum()))(x),
        "vmap of jvp": lambda f: lambda x: func.vmap(lambda v: func.jvp(f, (x,), (v,))[1])(lib.eye(3,
        dtype=x.dtype)).sum(0),
        "closure": lambda f: lambda x: func.grad(lambda y: (f(y) * x).sum())(x * 0.5),
        "vmap closure": lambda f: lambda x: func.vmap(lambda s: f(x * s))(x).sum(0),
        "detach": lambda f: lambda x: f(x) * f(x).detach(),
        "written": lambda f: lambda x: _written(f(x)),
    }  # fmt: skip


def chosen(seed: int) -> tuple[str, list[str]]:
    rng = random.Random(seed)
    depth = rng.choice([1, 2, 2, 3, 3])
    return rng.choice(sorted(bases(torch))), [rng.choice(sorted(operators(torch))) for _ in range(depth)]


def computed(lib: Any, base: str, names: list[str]) -> Any:
    f = bases(lib)[base]
    made = operators(lib)
    for name in names:
        f = made[name](f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return f(lib.tensor([0.3, 0.9, -0.6], dtype=lib.float64))


@pytest.mark.parametrize("seed", range(200))
def test_computes_the_same(lib: Any, seed: int) -> None:
    base, names = chosen(seed)
    try:
        expected = computed(torch, base, names)
    except RuntimeError as error:
        pytest.skip(f"PyTorch cannot: {str(error)[:80]}")
    got = computed(lib, base, names)
    assert tuple(got.shape) == tuple(expected.shape), (base, names)
    assert not got.requires_grad
    np.testing.assert_allclose(got.numpy(), expected.detach().numpy(), rtol=1e-8, atol=1e-10, err_msg=f"{base} {names}")
