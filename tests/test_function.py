"""What PyTorch prints about custom functions: the programs of behaviour/function.py."""

import pytest
from behaviour import programs, recorded, text_of

import tidu as torch

PRINTED = recorded("function")


@pytest.mark.parametrize("name", programs("function"))
def test_prints_what_pytorch_prints(name):
    assert text_of(programs("function")[name], torch) == PRINTED[name]


def test_every_program_was_recorded():
    assert list(programs("function")) == list(PRINTED)


def test_outputs_that_are_no_tensors():
    class Mixed(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return "name", x * 2, None

        @staticmethod
        def backward(ctx, *grads):
            assert grads[0] is None and grads[2] is None
            return grads[1]

    x = torch.ones(2, requires_grad=True)
    Mixed.apply(x)[1].sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_save_for_backward_takes_tensors_alone():
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x * 2, 3)
            return x * 1

    with pytest.raises(TypeError, match="can only save variables, but argument 1 is of type int"):
        Bad.apply(torch.ones(2, requires_grad=True))
