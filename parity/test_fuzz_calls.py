"""Random calls, valid and not: both libraries must give the same values, nodes and gradients, or the same error.

The seeds are fixed, so that every run makes the same calls. `EXCEPTIONS` are the differences that are meant.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from .agree import TORCH, run
from .calls import Given, call
from .compare import Mismatch, compare, snapshot

BATCHES, EACH = 32, 125

# A pattern of the call, one of the mismatch, and why it may be.
EXCEPTIONS = (
    (r"(lcm|gcd|bitwise_\w+)\(.*out=", r"here NotImplementedError", "which of two refusals is said first"),
    (
        r" @ |matmul",
        r"size mismatch, got input|addmv input tensors",
        "a batch that torch folds another way, refused too",
    ),
    (
        r"(view|squeeze|add|sub|div)\w*\(.*np\.ones",
        r"no error here|class differs",
        "arrays, which rules give these too",
    ),
    (r"soft_margin_loss", r"log1p_cpu", "the loss of complex numbers"),
    (r"kl_div", r"kl_div: ", "which of two refusals is said first"),
    (
        r"\.(eq|lt)_\(",
        r"requires_grad is False",
        "a comparison in place has no node here, a node that gives 0 in torch",
    ),
    (r"(std|var)\(t0, \(\)", r"values differ|differs", "over dim=() torch divides by the wrong number in backward"),
    (r"softmax\(", r"values differ", "the gradient of half precision, rounded elsewhere"),
    (r"(lcm|gcd|bitwise_\w+)\(.*out=", r"functions with out", "integer ops have no derivative to miss"),
)

_MADE = {"b": "random(s) > 0.5", "i": "integers(0, 3, s)", "u": "integers(0, 3, s)"}


def made(k: int, given: Given, seed: int) -> str:
    """The lines that make one tensor."""
    draw = _MADE.get(given.dtype[0], "standard_normal(s)")
    imaginary = " + 1j * np.random.default_rng(7).standard_normal(s)" if given.dtype == "complex64" else ""
    lines = [
        f"s = {given.shape}",
        f"t{k} = torch.from_numpy(np.array(np.random.default_rng({seed * 10 + k}).{draw}{imaginary}))"
        f".to(torch.{given.dtype}).clone()",
    ]
    if given.turned and len(given.shape) > 1:
        lines.append(f"t{k} = t{k}.transpose(-1, -2).contiguous().transpose(-1, -2).detach()")
    if given.grad and ("float" in given.dtype or "complex" in given.dtype):
        lines.append(f"t{k}.requires_grad_()")
    return "\n".join(lines)


def program(seed: int) -> str:
    text, given = call(seed)
    names = ", ".join(f"t{k}" for k in range(len(given)))
    return "\n".join(
        [
            "F = torch.nn.functional",
            *(made(k, g, seed) for k, g in enumerate(given)),
            f"r = {text}",
            "outs = [x for x in (r if isinstance(r, (tuple, list)) else [r]) if isinstance(x, torch.Tensor)]",
            "outs = [x for x in outs if x.grad_fn is not None]",
            f"leaves = [t for t in [{names}] if t.requires_grad and t.is_leaf]",
            "total = sum(x.abs().double().sum() if x.is_complex() else (x.double() * 1.5).sum() for x in outs)",
            "g = torch.autograd.grad(total, leaves, allow_unused=True) if outs and leaves else None",
            "r, [x.grad_fn.name() for x in outs], g",
        ]
    )


def difference(side: Any, seed: int) -> str:
    """What differs; an empty string where nothing does, or where it may."""
    text = program(seed)
    try:
        compare(snapshot(TORCH, run(text, TORCH.lib)), snapshot(side, run(text, side.lib)), strides=False, scale=30)
    except Mismatch as error:
        made_call = call(seed)
        for pattern, what, _ in EXCEPTIONS:
            if re.search(pattern, made_call[0]) and re.search(what, str(error)):
                return ""
        return f"seed {seed}: {made_call[0]} {[tuple(g) for g in made_call[1]]}\n    {str(error)[:400]}"
    return ""


@pytest.mark.parametrize("batch", range(BATCHES))
def test_calls_agree(side: Any, batch: int) -> None:
    found = [d for seed in range(batch * EACH, (batch + 1) * EACH) if (d := difference(side, seed))]
    assert not found, "\n".join(found)
