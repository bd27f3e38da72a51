"""A recurrent layer as one op against the same layer by elementary ops."""

import itertools

import pytest

import tidu as torch
from tidu.nn import _recurrent


def _arguments(mode, steps, batch, inputs, hidden, bias):
    gates, states = _recurrent.GATES[mode], 2 if mode == "LSTM" else 1
    shapes = [
        (steps, batch, inputs),
        *[(batch, hidden)] * states,
        (gates * hidden, inputs),
        (gates * hidden, hidden),
    ]
    shapes += [(gates * hidden,)] * 2 if bias else []
    torch.manual_seed(0)
    made = [(0.3 * torch.randn(shape, dtype=torch.float64)).requires_grad_() for shape in shapes]
    return made + [None] * (0 if bias else 2), states


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("steps", "batch", "hidden"), [(1, 1, 3), (4, 3, 2), (7, 64, 40)]
)  # the last in several chunks
@pytest.mark.parametrize("mode", ["LSTM", "GRU", "RNN_TANH", "RNN_RELU"])
def test_a_layer_is_its_steps(mode, steps, batch, hidden, bias):
    args, states = _arguments(mode, steps, batch, 5, hidden, bias)
    x, first, weights = args[0], tuple(args[1 : 1 + states]), args[1 + states :]
    got = _recurrent.layer(mode, x, first, weights)
    want = _recurrent._stepwise(mode, x, first, weights)
    torch.testing.assert_close(got, want)
    leaves = [a for a in args if a is not None]
    cots = [torch.randn_like(out) for out in want]
    for used in itertools.product((True, False), repeat=len(want)):
        if any(used):
            grads = [
                torch.autograd.grad(
                    [o for o, u in zip(outs, used) if u], leaves, [c for c, u in zip(cots, used) if u],
                    retain_graph=True, allow_unused=True,
                )
                for outs in (got, want)
            ]  # fmt: skip
            for mine, theirs in zip(*grads):
                theirs = torch.zeros_like(mine) if theirs is None else theirs
                torch.testing.assert_close(mine, theirs)
                assert mine.is_contiguous()


def test_a_layer_computes_no_cotangent_that_nobody_wants():
    args, _ = _arguments("LSTM", 3, 2, 4, 5, True)
    out = _recurrent.layer(
        "LSTM", args[0].detach(), (args[1].detach(), args[2]), [a.detach() for a in args[3:]]
    )[0]
    out.sum().backward()
    assert args[2].grad is not None and args[0].grad is None
