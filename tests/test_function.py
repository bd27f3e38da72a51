"""What PyTorch prints about custom functions: the programs of behaviour/function.py."""

import pytest
from behaviour import programs, recorded, text_of

import tidu as torch

PRINTED = recorded("function")


@pytest.mark.parametrize("name", programs("function"))
def test_prints_what_pytorch_prints(name):
    assert text_of(programs("function")[name], torch) == PRINTED[name]


def test_every_program_was_recorded():
    assert list(programs("function")) == list(PRINTED)
