"""What PyTorch prints about views and in-place ops: the programs of behaviour/views.py."""

import pytest
from behaviour import programs, recorded, text_of

import tidu as torch

PRINTED = recorded("views")


@pytest.mark.parametrize("name", programs("views"))
def test_prints_what_pytorch_prints(name):
    assert text_of(programs("views")[name], torch) == PRINTED[name]


def test_every_program_was_recorded():
    assert list(programs("views")) == list(PRINTED)


def test_in_place_words():
    """What is said of a write: the shapes that do not fit, the variant of the op; integers keep no history."""
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(2\) must match the size of tensor b \(3\)"):
        torch.zeros(2).add_(torch.zeros(3))
    h = torch.ones(2, requires_grad=True) * 1
    y = h**h
    y.mul_(2)
    with pytest.raises(RuntimeError, match="which is output 0 of Pow1, is at version 1"):
        y.sum().backward()
    i = torch.zeros(2, dtype=torch.int64)
    i.copy_(torch.ones(2, requires_grad=True))
    assert not i.requires_grad
