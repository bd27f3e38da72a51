"""The recorded outputs of programs over nn, optim and utils are what the live PyTorch prints."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import recorded_programs  # noqa: E402

NAMES = sorted(path.stem for path in recorded_programs.PROGRAMS.glob("*.py"))


@pytest.mark.parametrize("name", NAMES)
def test_recorded_outputs_are_pytorchs(name: str) -> None:
    try:
        printed = recorded_programs.run(name)
    except AssertionError as error:
        if "could not create a primitive descriptor" not in str(error):
            raise
        pytest.skip("PyTorch runs no LSTM in half precision on a CPU without AVX-512")
    found = recorded_programs.differences(printed, recorded_programs.recorded(name))
    assert not found, "\n".join(found[:5])


def test_every_program_is_recorded_and_run() -> None:
    assert len(NAMES) >= 11
    assert {p.stem for p in (recorded_programs.PROGRAMS / "recorded").glob("*.txt")} == set(NAMES)
