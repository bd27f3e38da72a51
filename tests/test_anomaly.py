"""What PyTorch prints about anomaly mode: the programs of behaviour/anomaly.py."""

import pytest
from behaviour import programs, recorded, text_of

import tidu as torch

PRINTED = recorded("anomaly")


@pytest.mark.parametrize("name", programs("anomaly"))
def test_prints_what_pytorch_prints(name):
    assert text_of(programs("anomaly")[name], torch) == PRINTED[name]


def test_every_program_was_recorded():
    assert list(programs("anomaly")) == list(PRINTED)
