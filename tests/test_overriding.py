"""What PyTorch prints about what overrides functions: the programs of behaviour/overriding.py."""

import pytest
from behaviour import programs, recorded, text_of

import tidu as torch

PRINTED = recorded("overriding")


@pytest.mark.parametrize("name", programs("overriding"))
def test_prints_what_pytorch_prints(name):
    assert text_of(programs("overriding")[name], torch) == PRINTED[name]


def test_every_program_was_recorded():
    assert list(programs("overriding")) == list(PRINTED)
