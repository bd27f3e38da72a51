"""A recurrent layer as one op against the same layer by elementary ops."""

import itertools

import numpy as np
import pytest

import tidu as torch
from tidu.arrays import native, recurrent
from tidu.nn import _recurrent


def _arguments(mode, steps, batch, inputs, hidden, bias):
    gates, states = _recurrent.GATES[mode], 2 if mode == "LSTM" else 1
    shapes = [(steps, batch, inputs), *[(batch, hidden)] * states, (gates * hidden, inputs), (gates * hidden, hidden)]
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
    out = _recurrent.layer("LSTM", args[0].detach(), (args[1].detach(), args[2]), [a.detach() for a in args[3:]])[0]
    out.sum().backward()
    assert args[2].grad is not None and args[0].grad is None


@pytest.mark.skipif(native.kernel("lstm") is None, reason="llvmlite is not installed")
@pytest.mark.parametrize(
    ("steps", "batch", "inputs", "hidden"), [(1, 4, 1, 1), (5, 7, 3, 11), (3, 9, 4, 40), (4, 16, 5, 64)]
)
@pytest.mark.parametrize("scale", [0.3, 30.0])
def test_the_native_lstm_is_the_other(monkeypatch, steps, batch, inputs, hidden, scale):
    draw = np.random.default_rng(0).standard_normal
    shapes = [(steps, batch, inputs), (batch, hidden), (batch, hidden), (4 * hidden, inputs), (4 * hidden, hidden)]
    args = [(scale * draw(shape)).astype(np.float32) for shape in [*shapes, (4 * hidden,), (4 * hidden,)]]
    exact = [a.astype(np.float64) for a in args]
    gy, gc = draw((2, steps, batch, hidden))
    monkeypatch.setattr(recurrent, "_NATIVE", 0)
    for cells in (None, gc):
        made, want = recurrent.lstm(*args), recurrent.lstm(*exact)
        assert made[0].dtype == np.float32
        given = gy.astype(np.float32), None if cells is None else cells.astype(np.float32)
        grads = recurrent.lstm_backward(*given, (*args, *made), (True,) * 7)
        exact_grads = recurrent.lstm_backward(gy, cells, (*exact, *want), (True,) * 7)
        again = recurrent.lstm_backward(*given, (*args, *recurrent.lstm(*args)), (True,) * 7)
        for mine, second in zip(grads, again, strict=True):
            assert mine.tobytes() == second.tobytes()
        near = 1e-5 if scale < 1 else 2e-3
        for mine, theirs in zip([*made, *grads], [*want, *exact_grads], strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=near * np.abs(theirs).max() + 1e-6)


@pytest.mark.skipif(native.kernel("lstm") is None, reason="llvmlite is not installed")
def test_threads_do_not_change_the_native_lstm(monkeypatch):
    draw = np.random.default_rng(1).standard_normal
    shapes = [(6, 21, 3), (21, 24), (21, 24), (96, 3), (96, 24), (96,), (96,)]
    args = [draw(shape).astype(np.float32) for shape in shapes]
    monkeypatch.setattr(recurrent, "_NATIVE", 0)
    results = []
    for count in (1, 2, 3):
        monkeypatch.setattr(recurrent, "get_num_threads", lambda count=count: count)
        made = recurrent.lstm(*args)
        grads = recurrent.lstm_backward(made[0], None, (*args, *made), (True,) * 7)
        results.append([a.tobytes() for a in (*made, *grads)])
    assert results[0] == results[1] == results[2]
