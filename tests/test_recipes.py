"""Trainings written to public recipes, as plain PyTorch programs: the losses are those that PyTorch printed."""

import pytest
import recorded_programs
from recorded_programs import RECIPES


@pytest.mark.parametrize("name", recorded_programs.names(RECIPES))
def test_losses_are_pytorchs(name):
    if "sklearn" in (RECIPES / f"{name}.py").read_text():
        pytest.importorskip("sklearn", reason="scikit-learn, from tidu[examples], ships the digits")
    recorded_programs.check(name, RECIPES)


def test_every_recipe_was_recorded():
    assert {p.stem for p in (RECIPES / "recorded").glob("*.txt")} == set(recorded_programs.names(RECIPES)) != set()


def test_the_comparison_of_losses_is_one_of_four_digits():
    assert recorded_programs.differences("loss 2.30258\n", "loss 2.30260\n", RECIPES) == []
    assert recorded_programs.differences("loss 2.3023\n", "loss 2.3026\n", RECIPES)
    assert recorded_programs.differences("loss 0.00231\n", "loss 0.00230\n", RECIPES)
