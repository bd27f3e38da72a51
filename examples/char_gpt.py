"""Train a small GPT, character by character, to add in words: "nineteen plus four is twenty three".

Causal self-attention with several heads, pre-norm blocks, weights tied between embedding and output; AdamW with
weight decay on matrices alone, a learning rate that warms up and falls along a cosine, gradients clipped.

    tidu run examples/char_gpt.py --steps 600 --plot gpt.png     # or python, with PyTorch
"""

import argparse
import math
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from _show import curve, progress

ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()
ONES += "seventeen eighteen nineteen".split()
TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()


def word(n):
    if n < 20:
        return ONES[n]
    return TENS[n // 10] + (f" {ONES[n % 10]}" if n % 10 else "")


def make_text(up_to):
    """All sums of two numbers, a line each, in a shuffled order."""
    pairs = [(a, b) for a in range(up_to) for b in range(up_to)]
    lines = [f"{word(a)} plus {word(b)} is {word(a + b)}\n" for a, b in pairs]
    return "".join(lines[i] for i in torch.randperm(len(lines)).tolist())


@dataclass
class Config:
    vocabulary: int
    context: int = 64
    layers: int = 2
    heads: int = 4
    width: int = 64
    dropout: float = 0.1


class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads, self.rate = config.heads, config.dropout
        self.qkv = nn.Linear(config.width, 3 * config.width)
        self.out = nn.Linear(config.width, config.width)
        self.drop = nn.Dropout(config.dropout)

    def forward(self, x):
        batch, time, width = x.shape
        q, k, v = (
            part.view(batch, time, self.heads, width // self.heads).transpose(1, 2)
            for part in self.qkv(x).split(width, dim=2)
        )
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.rate if self.training else 0.0, is_causal=True)
        return self.drop(self.out(y.transpose(1, 2).reshape(batch, time, width)))


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(config.width), nn.LayerNorm(config.width)
        self.attention = CausalSelfAttention(config)
        self.mlp = nn.Sequential(
            nn.Linear(config.width, 4 * config.width),
            nn.GELU(),
            nn.Linear(4 * config.width, config.width),
            nn.Dropout(config.dropout),
        )

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(config.vocabulary, config.width)
        self.positions = nn.Embedding(config.context, config.width)
        self.drop = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.width)
        self.head = nn.Linear(config.width, config.vocabulary, bias=False)
        self.head.weight = self.tokens.weight
        self.apply(self._initialise)
        for name, p in self.named_parameters():  # what is added to the residual path, smaller the more there are
            if name.endswith(("attention.out.weight", "mlp.2.weight")):
                nn.init.normal_(p, std=0.02 / math.sqrt(2 * config.layers))

    @staticmethod
    def _initialise(module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, index, targets=None):
        place = torch.arange(index.shape[1], device=index.device)
        x = self.drop(self.tokens(index) + self.positions(place))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.reshape(-1))

    def optimiser(self, lr, weight_decay):
        parameters = [p for p in self.parameters() if p.requires_grad]
        groups = [
            {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": weight_decay},
            {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(groups, lr=lr, betas=(0.9, 0.95))

    @torch.no_grad()
    def generate(self, index, length, temperature=1.0, top_k=None):
        for _ in range(length):
            logits, _ = self(index[:, -self.config.context :])
            logits = logits[:, -1] / temperature
            if top_k is not None:
                logits[logits < torch.topk(logits, top_k).values[:, [-1]]] = float("-inf")
            index = torch.cat([index, torch.multinomial(F.softmax(logits, dim=-1), 1)], dim=1)
        return index


def rate(step, steps, lr, warmup):
    if step < warmup:
        return lr * (step + 1) / (warmup + 1)
    progress = (step - warmup) / max(1, steps - warmup)
    return 0.1 * lr + 0.45 * lr * (1 + math.cos(math.pi * progress))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--every", type=int, default=50, help="print the loss every so many steps")
    parser.add_argument("--plot", metavar="FILE", help="draw the learning curve into a picture")
    parser.add_argument("--seed", type=int, default=1337)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    text = make_text(30)
    letters = sorted(set(text))
    code = {c: i for i, c in enumerate(letters)}
    data = torch.tensor([code[c] for c in text])
    cut = int(0.9 * len(data))
    train, valid = data[:cut], data[cut:]
    model = GPT(Config(vocabulary=len(letters)))
    print(f"{len(text)} characters, {len(letters)} of them different; {sum(p.numel() for p in model.parameters())} weights")

    def batch(data):
        start = torch.randint(len(data) - model.config.context - 1, (args.batch,))
        rows = torch.stack([data[i : i + model.config.context + 1] for i in start])
        return rows[:, :-1], rows[:, 1:]

    @torch.no_grad()
    def validation():
        model.eval()
        loss = torch.stack([model(*batch(valid))[1] for _ in range(4)]).mean().item()
        model.train()
        return loss

    optimiser = model.optimiser(args.lr, weight_decay=0.1)
    losses, checks = [], ([], [])
    bar = progress(range(args.steps), desc="training", unit="step")
    for step in bar:
        for group in optimiser.param_groups:
            group["lr"] = rate(step, args.steps, args.lr, warmup=args.steps // 10)
        _, loss = model(*batch(train))
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        losses.append(loss.item())
        bar.set_postfix(loss=f"{losses[-1]:.3f}")
        if step % args.every == 0 or step == args.steps - 1:
            print(f"step {step:4d}  loss {losses[-1]:.5f}  gradient {norm.item():.5f}")
        if step % 50 == 0 or step == args.steps - 1:
            checks[0].append(step)
            checks[1].append(validation())
    print(f"validation loss {checks[1][0]:.5f} before, {checks[1][-1]:.5f} after")

    model.eval()
    prompt = torch.tensor([[code[c] for c in "\n"]])
    answer = model.generate(prompt, 60, temperature=0.8, top_k=5)[0].tolist()
    print("it writes:", repr("".join(letters[i] for i in answer)))
    curve(args.plot, "A small GPT learns to add in words", training=losses, validation=checks)


if __name__ == "__main__":
    main()
