"""What PyTorch prints about forward mode: the programs of behaviour/forward_mode.py."""

import pytest
from behaviour import programs, recorded, text_of

import tidu as torch

PRINTED = recorded("forward_mode")


@pytest.mark.parametrize("name", programs("forward_mode"))
def test_prints_what_pytorch_prints(name):
    assert text_of(programs("forward_mode")[name], torch) == PRINTED[name]


def test_every_program_was_recorded():
    assert list(programs("forward_mode")) == list(PRINTED)


def test_backward_of_a_dual():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.forward_ad.dual_level():
        (torch.autograd.forward_ad.make_dual(x, torch.ones(2)) ** 2).sum().backward()
    assert x.grad.tolist() == [2, 4]
