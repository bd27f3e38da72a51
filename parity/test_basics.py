"""The programs of tests/golden_basics.json: PyTorch says the same, and tidu agrees in value, not only in text."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
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


# ---- spaced numbers, to the bit


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_arange_to_the_bit(side: Side, dtype: str) -> None:
    random = np.random.default_rng(0)
    for _ in range(100):
        start, step, n = random.normal(), abs(random.normal()) / 10, random.integers(1, 200)
        args = float(start), float(start + step * (n - 0.5)), float(step)
        got = side.lib.arange(*args, dtype=getattr(side.lib, dtype))
        assert got.tolist() == torch.arange(*args, dtype=getattr(torch, dtype)).tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64"])
def test_linspace_to_the_bit(side: Side, dtype: str) -> None:
    random = np.random.default_rng(0)
    for _ in range(100):
        args = float(random.normal() * 9), float(random.normal() * 9), int(random.integers(1, 200))
        got = side.lib.linspace(*args, dtype=getattr(side.lib, dtype))
        assert got.tolist() == torch.linspace(*args, dtype=getattr(torch, dtype)).tolist()
