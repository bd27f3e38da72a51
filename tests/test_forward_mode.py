"""What PyTorch prints about forward mode: the programs of behaviour/forward_mode.py."""

import pytest
from behaviour import programs, recorded, text_of

import tidu as torch
from tidu.autograd import forward_ad

PRINTED = recorded("forward_mode")


@pytest.mark.parametrize("name", programs("forward_mode"))
def test_prints_what_pytorch_prints(name):
    assert text_of(programs("forward_mode")[name], torch) == PRINTED[name]


def test_every_program_was_recorded():
    assert list(programs("forward_mode")) == list(PRINTED)


def test_backward_of_a_dual():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with forward_ad.dual_level():
        (forward_ad.make_dual(x, torch.ones(2)) ** 2).sum().backward()
    assert x.grad.tolist() == [2, 4]


def test_memory_around_a_view_has_no_tangent():
    x = torch.arange(6.0)[2:5]
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, torch.tensor([1.0, 2.0, 3.0]))
        window = dual.as_strided((5,), (1,), 1)
        assert forward_ad.unpack_dual(window).primal.tolist() == [1, 2, 3, 4, 5]
        assert forward_ad.unpack_dual(window).tangent.tolist() == [0, 1, 2, 3, 0]
