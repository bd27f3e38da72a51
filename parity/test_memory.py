"""Bytes retained for backward by whole programs: at most PyTorch's. (By op: the `memory` column of the table.)"""

from __future__ import annotations

from typing import Any

import pytest
import torch

from .bridge import Side
from .programs import _retained

PROGRAMS = """
(x + y).sum()
(x * y).sum()
(x * 2 + 1).sum()
(x - y).pow(2).mean()
x.exp().log().sum()
x.tanh().sigmoid().relu().sum()
x.sum(0).mean()
(x @ y.t()).sum()
(x @ y.t() @ x).relu().sum()
x.softmax(1).sum()
x.log_softmax(1).sum()
F.cross_entropy(x, i)
F.mse_loss(x, y)
F.layer_norm(x, (64,)).sum()
F.gelu(x).sum()
F.silu(x).sum()
F.dropout(x, 0.5).sum()
x.view(-1)[::2].sum()
x.t().contiguous().sum()
torch.cat([x, y]).sum()
torch.stack([x, y]).mean()
x[i].sum()
x.gather(1, i[:, None]).sum()
x.max(1).values.sum()
x.max()
x.sort(1).values.sum()
x.cumsum(1).sum()
x.var(1).sum()
x.norm()
torch.where(x > 0, x, y).sum()
x.clamp(0, 1).sum()
x.masked_fill(x > 0, 0.0).sum()
x.expand(4, 64, 64).sum()
x.repeat(4, 1).sum()
x.abs().sqrt().sum()
(x / y).sum()
F.linear(F.relu(F.linear(x, w, w[0])), w).sum()
F.embedding(i, x).sum()
x.unbind()[0].sum()
x.clone().mul_(2).add_(1).sum()
x.double().sum()
torch.einsum("ij,kj->ik", x, y).sum()
""".strip().splitlines()

SETUP = """
x = (torch.arange(4096.0).view(64, 64) / 4096 + 0.1).requires_grad_()
y = (torch.arange(4096.0).view(64, 64) / 4096 + 0.2).requires_grad_()
w = (torch.arange(4096.0).view(64, 64) / 4096).requires_grad_()
i = torch.arange(64)
"""


def run(text: str, lib: Any) -> Any:
    scope: dict[str, Any] = {"torch": lib}
    exec(SETUP, scope)
    if "F." in text:
        scope["F"] = lib.nn.functional
    return eval(text, scope)


@pytest.mark.parametrize("text", PROGRAMS)
def test_bytes_retained(side: Side, text: str) -> None:
    storages: dict[int, int] = {}
    kept = []  # so that no address is used twice

    def pack(t: torch.Tensor) -> torch.Tensor:
        kept.append(t)
        storages[t.untyped_storage().data_ptr()] = t.untyped_storage().nbytes()
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        run(text, torch)
    if side.lib is torch:
        pytest.skip("nothing to compare: PyTorch's own bytes are the bound")
    ours = sum(_retained([run(text, side.lib).grad_fn]).values())
    assert ours <= sum(storages.values())


def test_the_walk_counts(side: Side) -> None:
    """exp retains its result, and the walk sees it."""
    if side.lib is torch:
        pytest.skip("walks tidu's nodes")
    assert sum(_retained([run("x.exp()", side.lib).grad_fn]).values()) == 64 * 64 * 4
