"""What PyTorch prints about autograd.functional and gradcheck: the programs of behaviour/functional.py."""

import pytest
from behaviour import programs, recorded, text_of

import tidu as torch

PRINTED = recorded("functional")


@pytest.mark.parametrize("name", programs("functional"))
def test_prints_what_pytorch_prints(name):
    assert text_of(programs("functional")[name], torch) == PRINTED[name]


def test_every_program_was_recorded():
    assert list(programs("functional")) == list(PRINTED)
