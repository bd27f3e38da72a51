"""The examples print on tidu what they print on PyTorch, to the last character.

What PyTorch printed is in examples_output/; `pytest parity` holds those files against a live PyTorch.
"""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
OUTPUTS = Path(__file__).parent / "examples_output"


def test_every_example_has_its_recorded_output():
    assert {p.stem for p in EXAMPLES.glob("*.py")} == {p.stem for p in OUTPUTS.glob("*.txt")} != set()


@pytest.mark.parametrize("name", sorted(p.stem for p in EXAMPLES.glob("*.py")))
def test_example_prints_what_pytorch_prints(name):
    if name == "digits":
        pytest.importorskip("sklearn", reason="scikit-learn, from tidu[examples], ships the digits")
        pytest.importorskip("tqdm")
    command = [sys.executable, "-m", "tidu", "run", str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (OUTPUTS / f"{name}.txt").read_text()
