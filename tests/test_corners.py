"""What PyTorch prints where things are rarely done: the programs of behaviour/corners.py."""

import pytest
from behaviour import programs, recorded, text_of

import tidu as torch

PRINTED = recorded("corners")


@pytest.mark.parametrize("name", programs("corners"))
def test_prints_what_pytorch_prints(name):
    assert text_of(programs("corners")[name], torch) == PRINTED[name]


def test_every_program_was_recorded():
    assert list(programs("corners")) == list(PRINTED)
