"""What PyTorch prints about nodes, edges and saved values: the programs of behaviour/graph.py."""

import pytest
from behaviour import programs, recorded, text_of

import tidu as torch

PRINTED = recorded("graph")


@pytest.mark.parametrize("name", programs("graph"))
def test_prints_what_pytorch_prints(name):
    assert text_of(programs("graph")[name], torch) == PRINTED[name]


def test_every_program_was_recorded():
    assert list(programs("graph")) == list(PRINTED)
