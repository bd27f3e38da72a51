"""What PyTorch prints about hooks: the programs of behaviour/hooks.py."""

import pytest
from behaviour import programs, recorded, text_of

import tidu as torch

PRINTED = recorded("hooks")


@pytest.mark.parametrize("name", programs("hooks"))
def test_prints_what_pytorch_prints(name):
    assert text_of(programs("hooks")[name], torch) == PRINTED[name]


def test_every_program_was_recorded():
    assert list(programs("hooks")) == list(PRINTED)
