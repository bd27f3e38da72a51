"""Whole training steps with nn, optim and utils.data, as published programs write them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

from benchmarks.row import Inputs, row
from benchmarks.rows.groups import PROGRAMS


def training(model: Any, optimizer: Any, loss_of: Callable[[], Any]) -> Callable[[], Any]:
    """zero_grad, loss, backward, step; what is compared is the loss and one parameter."""
    watched = next(iter(model.parameters()))

    def step() -> Any:
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        return loss, watched

    return step


@row("CNN step, batch 32 of 1x28x28", PROGRAMS, tol=1e-3)
def cnn(torch: ModuleType) -> Callable[[], Any]:
    """Two convolutions, two linear layers, SGD with momentum."""
    nn = torch.nn
    inputs = Inputs(torch)
    model = nn.Sequential(
        nn.Conv2d(1, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(512, 128), nn.ReLU(), nn.Linear(128, 10),
    )  # fmt: skip
    inputs.fill(model, scale=0.05)
    x, target = inputs.normal(32, 1, 28, 28), inputs.integers(10, 32)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    return training(model, optimizer, lambda: criterion(model(x), target))


@row("LSTM step, T 50, batch 16, hidden 64", PROGRAMS, tol=1e-3)
def lstm(torch: ModuleType) -> Callable[[], Any]:
    """One layer and a linear head."""
    nn = torch.nn
    inputs = Inputs(torch)
    recurrent, head = inputs.fill(nn.LSTM(32, 64)), inputs.fill(nn.Linear(64, 8))
    x, target = inputs.normal(50, 16, 32), inputs.normal(50, 16, 8)
    model = nn.ModuleList([recurrent, head])
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    return training(model, optimizer, lambda: nn.functional.mse_loss(head(recurrent(x)[0]), target))


@row("transformer block step, 8x64x128, 4 heads", PROGRAMS, tol=1e-3)
def transformer(torch: ModuleType) -> Callable[[], Any]:
    """``nn.TransformerEncoderLayer``, no dropout, Adam."""
    nn = torch.nn
    inputs = Inputs(torch)
    model = nn.TransformerEncoderLayer(128, 4, 512, dropout=0.0, activation="gelu", batch_first=True)
    inputs.fill(model, scale=0.05)
    x, target = inputs.normal(8, 64, 128), inputs.normal(8, 64, 128)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    return training(model, optimizer, lambda: nn.functional.mse_loss(model(x), target))


def gpt_model(torch: ModuleType, vocabulary: int, context: int, width: int, heads: int, depth: int) -> Any:
    """A decoder-only language model in the usual dozen lines."""
    nn, functional = torch.nn, torch.nn.functional

    class Block(nn.Module):
        """Attention and MLP, each after a norm and with a shortcut."""

        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x: Any) -> Any:
            b, t, c = x.shape
            q, k, v = (
                part.view(b, t, heads, c // heads).transpose(1, 2) for part in self.qkv(self.norm1(x)).split(c, dim=2)
            )
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
            return x + self.mlp(self.norm2(x))

    class GPT(nn.Module):
        """Tokens to scores of the next token."""

        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
            self.blocks = nn.ModuleList(Block() for _ in range(depth))
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

        def forward(self, index: Any) -> Any:
            x = self.tokens(index) + self.places(torch.arange(index.shape[1]))
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x))

    return GPT()


@row("GPT step, 4 layers of 64, batch 12x64", PROGRAMS, tol=1e-3)
def gpt(torch: ModuleType) -> Callable[[], Any]:
    """A character-level model trained with AdamW."""
    inputs = Inputs(torch)
    model = inputs.fill(gpt_model(torch, 65, 64, 64, 4, 4), scale=0.05)
    tokens, target = inputs.integers(65, 12, 64), inputs.integers(65, 12, 64)
    # SGD's update is linear in the gradient; AdamW's first is its sign, which rounding can flip near zero,
    # so the loss after the first update is what shows that the step is right
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    cross_entropy = torch.nn.functional.cross_entropy
    return training(model, optimizer, lambda: cross_entropy(model(tokens).view(-1, 65), target.view(-1)))


@row("Adam step over 100 tensors of 64x64", PROGRAMS)
def adam(torch: ModuleType) -> Callable[[], Any]:
    """The update alone."""
    inputs = Inputs(torch)
    params = [inputs.normal(64, 64, grad=True) for _ in range(100)]
    for p in params:
        p.grad = inputs.normal(64, 64)
    optimizer = torch.optim.Adam(params, lr=1e-5)

    def step() -> Any:
        optimizer.step()
        return params[0], params[-1]

    return step


@row("DataLoader, an epoch of 2048 samples by 64", PROGRAMS)
def loader(torch: ModuleType) -> Callable[[], Any]:
    """In the same process, in order."""
    data = importlib.import_module(f"{torch.__name__}.utils.data")
    inputs = Inputs(torch)
    samples = data.TensorDataset(inputs.normal(2048, 64), inputs.integers(10, 2048))
    batches = data.DataLoader(samples, batch_size=64)

    def step() -> Any:
        for x, y in batches:  # noqa: B007
            pass
        return x, y

    return step
