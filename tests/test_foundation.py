"""What PyTorch prints about numbers, types and arrays: the programs of behaviour/foundation.py."""

import pytest
from behaviour import programs, recorded, text_of

import tidu as torch

PRINTED = recorded("foundation")


@pytest.mark.parametrize("name", programs("foundation"))
def test_prints_what_pytorch_prints(name):
    assert text_of(programs("foundation")[name], torch) == PRINTED[name]


def test_every_program_was_recorded():
    assert list(programs("foundation")) == list(PRINTED)
