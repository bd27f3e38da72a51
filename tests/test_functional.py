"""What PyTorch prints about autograd.functional and gradcheck: the programs of behaviour/functional.py."""

import numpy as np
import pytest
from behaviour import programs, recorded, text_of

import tidu as torch
from tidu.autograd.gradcheck import GradcheckError

PRINTED = recorded("functional")


@pytest.mark.parametrize("name", programs("functional"))
def test_prints_what_pytorch_prints(name):
    assert text_of(programs("functional")[name], torch) == PRINTED[name]


def test_every_program_was_recorded():
    assert list(programs("functional")) == list(PRINTED)


# ---- gradcheck finds what is wrong


class Wrong(torch.autograd.Function):
    """A derivative that is right in backward, and wrong where `kind` says."""

    generate_vmap_rule = False

    @staticmethod
    def forward(x, kind):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.kind = inputs
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * g * (2 if ctx.kind == "backward" else 1), None

    @staticmethod
    def jvp(ctx, t, _):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * t * (2 if ctx.kind == "forward" else 1)

    @staticmethod
    def vmap(info, in_dims, x, kind):
        return (x**3 if kind != "batch" else x**3 * 2 - x**3 * 1.001), 0


@pytest.mark.parametrize("fast_mode", [False, True])
def test_gradcheck_modes(fast_mode):
    x = torch.tensor([0.5, -1.5], dtype=torch.float64, requires_grad=True)
    check = torch.autograd.gradcheck
    options = {"fast_mode": fast_mode, "check_forward_ad": True}
    assert check(lambda x: Wrong.apply(x, ""), x, **options)
    assert check(lambda x: (x.sin(), x.detach() * 0 + 1, x[:0]), x, **options, check_batched_forward_grad=True)
    with pytest.raises(GradcheckError, match="^Jacobian mismatch for output 0"):
        check(lambda x: Wrong.apply(x, "backward"), x, **options)
    with pytest.raises(RuntimeError, match="forward mode mismatch for output 0 with respect to input 0"):
        check(lambda x: Wrong.apply(x, "forward"), x, **options)
    assert not check(lambda x: Wrong.apply(x, "forward"), x, **options, raise_exception=False)
    with pytest.raises(RuntimeError, match="expected to be zero"):
        check(lambda x: x.detach() * 2, x, fast_mode=fast_mode)
    assert check(lambda x: (x * 2, x.detach() * 2), x, fast_mode=fast_mode)


def test_gradcheck_takes_one_direction_in_fast_mode():
    calls = []
    x = torch.tensor(np.random.default_rng(0).standard_normal(40), requires_grad=True)

    def f(x):
        calls.append(1)
        return x.sin()

    assert torch.autograd.gradcheck(f, x, fast_mode=True)
    assert len(calls) < 8
