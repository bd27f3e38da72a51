"""What tests/examples_output/ says PyTorch prints for the examples, PyTorch prints."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import recorded_programs  # noqa: E402
from recorded_programs import EXAMPLES  # noqa: E402


@pytest.mark.parametrize("name", recorded_programs.names(EXAMPLES))
def test_recorded_output_is_pytorchs(name):
    if "sklearn" in (EXAMPLES / f"{name}.py").read_text():
        pytest.importorskip("sklearn", reason="scikit-learn, from tidu[examples], ships the digits")
    found = recorded_programs.example_differences(name, recorded_programs.example(name).stdout)
    assert not found, "\n".join(found[:5])
