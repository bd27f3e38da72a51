"""What PyTorch prints of what a second reading turned up: the programs of behaviour/further.py."""

import pytest
from behaviour import programs, recorded, text_of

import tidu as torch

PRINTED = recorded("further")


@pytest.mark.parametrize("name", programs("further"))
def test_prints_what_pytorch_prints(name):
    assert text_of(programs("further")[name], torch) == PRINTED[name]


def test_every_program_was_recorded():
    assert list(programs("further")) == list(PRINTED)
