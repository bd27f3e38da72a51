"""What PyTorch prints where things are odd: the programs of behaviour/edges.py."""

import pytest
from behaviour import programs, recorded, text_of

import tidu as torch

PRINTED = recorded("edges")


@pytest.mark.parametrize("name", programs("edges"))
def test_prints_what_pytorch_prints(name):
    assert text_of(programs("edges")[name], torch) == PRINTED[name]


def test_every_program_was_recorded():
    assert list(programs("edges")) == list(PRINTED)
