"""The programs of tests/golden_basics.json: PyTorch says the same, and tidu agrees in value, not only in text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from .agree import agree, run
from .bridge import Side
from .compare import Raised

PROGRAMS = json.loads((Path(__file__).parent.parent / "tests" / "golden_basics.json").read_text())


@pytest.fixture(autouse=True)
def _default_dtype() -> object:
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("program", PROGRAMS)
def test_basics(side: Side, program: str) -> None:
    got = run(program, torch)
    if not isinstance(got, Raised):
        assert repr(got) == PROGRAMS[program]
    default = side.lib.get_default_dtype()
    try:
        agree(side, program)
    finally:
        side.lib.set_default_dtype(default)
