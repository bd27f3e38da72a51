"""Random programs of ops, views, writes and draws within nested transforms: both libraries must compute the same."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

Body = Callable[[Any, Any], Any]

# Over earlier values x and y, a matrix w, indices i, and the library.
STEPS = [
    "x.sin()", "x.exp()", "x.tanh() * y", "x.relu()", "x.abs()", "x.square()", "F.softplus(x)", "x.erf()", "x + y",
    "x * y", "x - y", "x / (y * y + 1)", "torch.maximum(x, y)", "x @ y", "torch.where(x > 0, x, y)",
    "torch.add(x, y, alpha=2)", "x[0]", "x[1:]", "x.t()", "x.reshape(-1)", "x.unsqueeze(1)", "x.expand(2, *x.shape)",
    "x.flip(0)", "x.transpose(0, -1)", "torch.stack([x, x * 2], -1)", "torch.cat([x, y])", "x.diagonal()",
    "x.movedim(0, -1)", "x[..., None]", "x.sum()", "x.mean(-1)", "x.amax(0)", "x.prod(0)", "x.var(0, unbiased=False)",
    "x.logsumexp(-1)", "x.max(-1)[0]", "x.cumsum(0)", "x.softmax(-1)", "x.sum(0, keepdim=True)", "x.sort(-1)[0]", "x[i]",
    "x[..., i]", "x.index_select(0, i)", "x[x.argmax(0)]", "torch.take_along_dim(x, x.argsort(-1), -1)",
    "x.masked_fill(x > 0, 0.5)", "x.index_add(0, i[:2], y[:2])", "torch.zeros_like(x) + 1", "x.new_ones(x.shape)",
    "torch.full_like(x, 2.0)", "torch.arange(3, dtype=x.dtype) * x", "F.linear(x, w, w[0])", "F.mse_loss(x, y)",
    "F.conv1d(x.reshape(1, 1, -1), w[0].reshape(1, 1, 3), padding=1)", "F.gelu(x)", "F.log_softmax(x, 0)",
    "torch.einsum('i,j->ij', x, x)", "x.detach() * y", "x.double().float().double()",
    "func.grad(lambda v: (v * v * v).sum())(x)", "func.jvp(lambda v: v.sin(), (x,), (torch.ones_like(x),))[1]",
    "torch.vmap(lambda v: v.sum() * v)(x)", "func.vjp(lambda v: v.exp(), x)[1](y)[0]",
    "func.jacrev(lambda v: (v * v).sum(0, keepdim=True))(x).sum(0)", "func.hessian(lambda v: (v ** 3).sum())(x)",
    "func.jacfwd(lambda v: v.sin().sum(0, keepdim=True))(x).sum(0)",
    "torch.vmap(lambda v, u: v * u, in_dims=(0, None))(x, y)", "x + torch.rand(3, dtype=x.dtype)",
    "x + torch.rand_like(x)", "F.dropout(x, 0.5)", "x * torch.bernoulli(torch.full_like(x, 0.5))",
    "F.dropout(torch.ones(3, dtype=x.dtype), 0.5) * x", "torch.randint(0, 3, (3,)) * x",
]  # fmt: skip
WRITES = [
    "z[0] = y[0]", "z.add_(y)", "z.mul_(2)", "z[1:].mul_(y)", "z.copy_(y)", "z.zero_()", "z[..., 0] = y.sum()",
    "z.index_put_((i[:2],), y[:2])", "z.unsqueeze_(0)", "z.index_add_(0, i[:2], y[:2])", "z.masked_fill_(y > 0, 0.0)",
    "z[0].sin_(); z.exp_()", "z.clamp_(min=0.1)", "z.t_()", "z.sub_(y, alpha=2)", "z.addcmul_(x, y)", "z.fill_(y.sum())",
    "v = z[1:]; z.mul_(y); z = z + v.sum()", "v = z[0]; z[..., 1:] = y[..., 1:]; z = z * v",
]  # fmt: skip
MEMORY = ["x.clone()", "x * 1.5", "torch.zeros_like(x)", "x.new_zeros(x.shape)", "w * 1.0", "x.detach().clone()"]


def text_of(seed: int) -> str:
    """A function of a vector and a matrix."""
    rng = random.Random(seed)
    lines = ["values = [x, w, x * x]"]
    for _ in range(rng.randrange(1, 6)):
        x, y = (f"values[{rng.randrange(99)} % len(values)]" for _ in range(2))
        lines.append(f"x, y = {x}, {y}")
        if rng.random() < 0.25:
            lines += [f"z = {rng.choice(MEMORY)}", rng.choice(WRITES), "values.append(z)"]
        else:
            lines.append(f"values.append({rng.choice(STEPS)})")
    body = "\n    ".join([*lines, "return values[-1] * 1 + values[-2].sum() * 0.1"])
    return f"def program(x, w):\n    i = torch.tensor([1, 0, 1])\n    {body}\n"


def transforms(lib: Any) -> dict[str, Callable[[Body], Body]]:
    """What makes another such function of one."""
    func, stack = lib.func, lib.stack
    return {
        "grad": lambda f: lambda x, w: func.grad(lambda x: f(x, w).sum())(x),
        "vjp": lambda f: lambda x, w: func.vjp(lambda x: f(x, w), x)[1](f(x, w).detach().cos())[0],
        "jvp": lambda f: lambda x, w: func.jvp(lambda x: f(x, w), (x,), (x.cos(),))[1],
        "vmap": lambda f: (
            lambda x, w: func.vmap(f, in_dims=(1, None), out_dims=-1, randomness="different")(
                stack([x, x * 0.5 + 0.1], 1), w
            ).sum(-1)
        ),
        "vmap same": lambda f: (
            lambda x, w: func.vmap(f, in_dims=(0, None), randomness="same")(stack([x, x + 1]), w).sum(0)
        ),
        "vmap of w": lambda f: (
            lambda x, w: func.vmap(f, in_dims=(None, 2), randomness="different")(x, stack([w, w * 0.5, w + 1], 2)).sum(
                0
            )
        ),
        "chunks": lambda f: (
            lambda x, w: func.vmap(f, chunk_size=2)(stack([x, x * 0.5, x + 1]), stack([w, w * 0.5, w])).sum(0)
        ),
        "jacrev": lambda f: lambda x, w: func.jacrev(f)(x, w).sum(0),
        "jacfwd": lambda f: lambda x, w: func.jacfwd(f)(x, w).sum(0),
        "hessian": lambda f: lambda x, w: func.hessian(lambda x: f(x, w).sum())(x).sum(0),
        "aux": lambda f: lambda x, w: func.grad_and_value(lambda x: (f(x, w).mean(), x * 2), has_aux=True)(x)[0],
        "both": lambda f: lambda x, w: (lambda t: t[0].sum(0) + t[1].sum())(func.jacrev(f, argnums=(0, 1))(x, w)),
        "tree": lambda f: lambda x, w: func.grad(lambda d: f(d["a"], d["b"][0]).sum())({"a": x, "b": (w,)})["a"],
    }


def computed(lib: Any, text: str, names: list[str]) -> Any:
    scope = {"torch": lib, "F": lib.nn.functional, "func": lib.func}
    exec(text, scope)
    f: Any = scope["program"]
    for name in names:
        f = transforms(lib)[name](f)
    lib.manual_seed(0)
    w = lib.from_numpy(np.linspace(-0.9, 1.1, 9).reshape(3, 3) + 0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return f(lib.tensor([0.3, -0.7, 1.2], dtype=lib.float64), w).numpy()


@pytest.mark.parametrize("seed", range(400))
def test_computes_the_same(lib: Any, seed: int) -> None:
    rng = random.Random(seed + 10_000)
    names = [rng.choice(sorted(transforms(torch))) for _ in range(rng.choice([1, 1, 2, 2, 3]))]
    text = text_of(seed)
    try:
        expected = computed(torch, text, names)
    except (
        RuntimeError,
        ValueError,
        IndexError,
        TypeError,
    ) as error:  # many programs are wrong, and PyTorch has limits
        pytest.skip(f"PyTorch cannot: {str(error).splitlines()[0][:80]}")
    got = computed(lib, text, names)
    np.testing.assert_allclose(got, expected, rtol=1e-7, atol=1e-9, err_msg=f"{names}\n{text}")
