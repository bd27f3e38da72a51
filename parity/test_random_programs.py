"""Random programs of views, writes, modes and backward passes: both libraries must print the same."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch

from .test_autograd import text_of

VIEWS = [
    "{a}[0]", "{a}[1:]", "{a}[:, 0]", "{a}[..., ::2]", "{a}.t()", "{a}.view(-1)", "{a}.reshape(-1)", "{a}.unsqueeze(0)",
    "{a}.squeeze()", "{a}.transpose(0, -1)", "{a}.diagonal()", "{a}.view_as({a})", "{a}.expand_as({a})",
    "{a}.narrow(0, 0, 1)",
    "{a}.select(0, 0)", "{a}.flatten()", "{a}.permute(*range({a}.dim()))", "{a}.unbind()[0]", "{a}.chunk(2)[0]",
    "{a}.split(1)[0]", "{a}[None]", "{a}.detach()", "{a}.data", "{a}[:]",
]  # fmt: skip
FRESH = [
    "{a} * 2", "{a} * {b}", "{a} + {b}", "{a}.exp()", "{a}.clone()", "{a} - {b}.mean()", "{a}.sum()", "{a} / 2",
    "{a}.sigmoid()",
    "{a}.relu()", "torch.cat([{a}, {a}])", "{a}.tanh()", "{a} ** 2", "{a}.contiguous()",
]  # fmt: skip
WRITES = [
    "{a}.add_(1)", "{a}.mul_(2)", "{a}.mul_({b})", "{a}.add_({b})", "{a}.zero_()", "{a}.copy_({b})",
    "{a}[0] = 1.5", "{a}[0] = {b}",
    "{a}.exp_()", "{a}.sigmoid_()", "{a}.fill_(0.5)", "{a}.sub_({b}.mean())", "{a}.t_()", "{a}.detach_()",
    "{a}.retain_grad()", "{a}.clamp_(-1, 1)", "{a}.masked_fill_({a} > 1, 0.25)", "{a}.unsqueeze_(0)", "{a} += {b}",
    "{a} *= 0.5",
    "{a}.div_(3)", "{a}.neg_()", "{a}.pow_(2)",
]  # fmt: skip
MODES = ["torch.no_grad()", "torch.enable_grad()", "torch.set_grad_enabled(False)"]


def program(seed: int) -> str:
    """The text of a program: each line guarded, so that one that fails does not end it."""
    rng = random.Random(seed)
    names = ["p", "q", "z"]
    lines = [
        "p = (torch.arange(6.0, dtype=torch.float64).view(2, 3) / 4 - 0.5).requires_grad_()",
        "q = torch.full((2, 3), 0.5, dtype=torch.float64, requires_grad=True)",
        "z = torch.ones(2, 3, dtype=torch.float64)",
        "b = p * 1",
    ]
    names.append("b")

    def pick() -> str:
        return rng.choice(names[-4:] if rng.random() < 0.6 else names)

    for _ in range(rng.randint(4, 12)):
        kind = rng.random()
        a, b = pick(), pick()
        if kind < 0.35:
            name = f"v{len(names)}"
            step = f"{name} = " + rng.choice(VIEWS).format(a=a, b=b)
            made = name
        elif kind < 0.55:
            name = f"v{len(names)}"
            step = f"{name} = " + rng.choice(FRESH).format(a=a, b=b)
            made = name
        else:
            step, made = rng.choice(WRITES).format(a=a, b=b), ""
        if rng.random() < 0.15:
            step = f"with {rng.choice(MODES)}: {step}"
        lines.append(f"{step}  # {made}")
        if made:
            names.append(made)
    return "\n".join(lines)


def _rounded(t: Any) -> Any:
    return None if t is None else [round(x, 6) + 0.0 for x in t.detach().reshape(-1).tolist()]


def play(text: str, lib: Any) -> None:
    """Run a program line by line, print what fails, then every value, its place in the graph, and gradients."""
    scope: dict[str, Any] = {"torch": lib}
    for line in text.splitlines():
        try:
            exec(line, scope)
        except (RuntimeError, IndexError, TypeError, ValueError) as error:
            print(f"{line}: {type(error).__name__}: {error}")
    values = {k: v for k, v in scope.items() if isinstance(v, lib.Tensor)}
    for name, v in values.items():
        try:
            node = v.grad_fn
            print(
                name,
                tuple(v.shape),
                _rounded(v),
                v.requires_grad,
                v.is_leaf,
                v._version,
                type(node).__name__,
                v._is_view(),
            )
        except RuntimeError as error:
            print(name, f"{type(error).__name__}: {error}")
    for name, v in values.items():
        try:
            grads = lib.autograd.grad(v.sum(), [scope["p"], scope["q"]], allow_unused=True, retain_graph=True)
            print(name, [_rounded(g) for g in grads])
        except RuntimeError as error:
            print(name, f"{type(error).__name__}: {error}")
    try:
        sum(v.sum() for v in values.values() if v.requires_grad).backward()
        for name, v in values.items():
            if v.is_leaf or v.retains_grad:
                print(name, "grad", _rounded(v.grad))
    except RuntimeError as error:
        print(f"{type(error).__name__}: {error}")


# Where PyTorch finds another of two faults first, forgets to look at a view's new history, or a no_grad transpose
# changes the shape of a leaf.
APART = {50, 86, 101, 150}


@pytest.mark.parametrize("seed", sorted(set(range(200)) - APART))
def test_prints_the_same(lib: Any, seed: int) -> None:
    text = program(seed)
    expected = text_of(lambda torch: play(text, torch), torch)
    assert text_of(lambda torch: play(text, torch), lib) == expected, text
