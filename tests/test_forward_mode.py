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
