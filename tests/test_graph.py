"""What PyTorch prints about nodes, edges and saved values: the programs of behaviour/graph.py."""

import pytest
from behaviour import programs, recorded, text_of

import tidu as torch

PRINTED = recorded("graph")


@pytest.mark.parametrize("name", programs("graph"))
def test_prints_what_pytorch_prints(name):
    assert text_of(programs("graph")[name], torch) == PRINTED[name]


def test_every_program_was_recorded():
    assert list(programs("graph")) == list(PRINTED)


def test_how_nodes_show_themselves():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = torch.ones(2, requires_grad=True)
    assert repr(Twice.apply(x).grad_fn).startswith("<torch.autograd.function.TwiceBackward object at 0x")
    assert (x * 1).copy_(x).grad_fn.name() == "torch::autograd::CopyBackwards"
    assert [a for a in dir(x.exp().grad_fn) if a.startswith("_saved")] == ["_saved_result"]
    assert repr(x.register_hook(print)).startswith("<torch.utils.hooks.RemovableHandle object")
    with pytest.raises(AttributeError, match="attribute 'grad_fn' of 'torch._C.TensorBase' objects is not writable"):
        x.grad_fn = None
    with pytest.raises(AttributeError, match="attribute 'T' of 'torch._C.TensorBase' objects is not writable"):
        x.T = x
