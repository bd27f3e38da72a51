"""float16 and bfloat16 beside numbers: what is rounded where. Nearly all results must be PyTorch's to the bit; the rest may
differ by one step, for its kernels fuse some products and sums."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import tidu

EXPRESSIONS = (
    """
x + 0.1|x - 0.1|0.1 - x|x * 0.1|x / 0.3|0.3 / x|x // 0.3|x % 0.3|x ** 2.1|0.3 ** x|x > 0.1|x * wide|x / wide
torch.add(x, x, alpha=0.1)|torch.sub(x, x * x, alpha=0.3)|torch.add(x, 0.3, alpha=0.1)|torch.lerp(x, x * x, 0.3)
torch.addcmul(x, x, x, value=0.3)|torch.addcdiv(x, x, x * x + 1, value=0.3)|x.clone().mul_(0.1)|x.clone().div_(0.3)
x.clone().add_(x, alpha=0.1)|torch.xlogy(x, 0.3)|torch.xlogy(0.3, x.abs())|torch.addmm(m, m, m, alpha=0.3, beta=0.1)
torch.baddbmm(m[None], m[None], m[None], alpha=0.3, beta=0.1)|torch.div(x, 0.3, rounding_mode="trunc")
torch._foreach_mul([x], 0.1)[0]|torch._foreach_div([x], 0.3)[0]|x.mean()|m.mean(0)|x.abs().rsqrt()|x.reciprocal()
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_rounds_where_pytorch_does(expression: str, dtype: str) -> None:
    values = np.random.default_rng(0).standard_normal(1024).astype(np.float32) * 3
    results = []
    for library in (tidu, torch):
        x = library.from_numpy(values).to(getattr(library, dtype))
        names = {"torch": library, "x": x, "m": x.view(32, 32), "wide": library.tensor(0.3, dtype=library.float64)}
        y = eval(expression, names)
        assert str(y.dtype).rpartition(".")[2] == ("bool" if ">" in expression else dtype)
        results.append(y.double().numpy())
    ours, theirs = results
    differ = ~((ours == theirs) | (np.isnan(ours) & np.isnan(theirs)))
    assert differ.mean() <= 0.02
    step = 2.0**-7 if dtype == "bfloat16" else 2.0**-10
    np.testing.assert_allclose(ours[differ], theirs[differ], rtol=step, atol=step / 4)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_gradients_beside_numbers(dtype: str) -> None:
    values = np.random.default_rng(1).standard_normal(200).astype(np.float32) + 4
    grads = []
    for library in (tidu, torch):
        x = library.from_numpy(values).to(getattr(library, dtype)).requires_grad_()
        ((x * 0.1) / 0.3 + 0.7 / x).backward(x.detach())
        grads.append(x.grad.double().numpy())
    assert (grads[0] != grads[1]).mean() <= 0.02
