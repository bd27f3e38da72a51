"""The losses that tests/recipes/recorded/ holds are those of the live PyTorch, and tidu's."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import recorded_programs  # noqa: E402
from recorded_programs import RECIPES  # noqa: E402


@pytest.mark.parametrize("name", recorded_programs.names(RECIPES))
def test_losses_agree(name: str) -> None:
    if "sklearn" in (RECIPES / f"{name}.py").read_text():
        pytest.importorskip("sklearn", reason="scikit-learn, from tidu[examples], ships the digits")
    torch = recorded_programs.run(name, folder=RECIPES)
    for other in (
        recorded_programs.recorded(name, RECIPES),
        recorded_programs.run(name, "-m", "tidu", "run", folder=RECIPES),
    ):
        found = recorded_programs.differences(other, torch, RECIPES)
        assert not found, "\n".join(found[:5])
