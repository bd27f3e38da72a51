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
