"""What tests/examples_output/ says PyTorch prints for the examples, PyTorch prints."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OUTPUTS = sorted((ROOT / "tests" / "examples_output").glob("*.txt"))


@pytest.mark.parametrize("recorded", OUTPUTS, ids=lambda p: p.stem)
def test_recorded_output_is_pytorchs(recorded):
    command = [sys.executable, str(ROOT / "examples" / f"{recorded.stem}.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout == recorded.read_text()
