"""The benchmark rows run and compute what they say; the machinery compares and judges. No times asserted."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # the benchmarks are not part of the package

import tidu
from benchmarks import report, worker
from benchmarks.__main__ import main
from benchmarks.race import Result, difference
from benchmarks.row import ROWS, Group, Inputs, Row
from benchmarks.rows import GROUPS, large
from benchmarks.rows.groups import LARGE, RECORDED, STEPS, UNRECORDED
from benchmarks.rows.small import OPS

# rows of these need nothing but tensors and functions, so none of them may be missing
FOUNDATION = (RECORDED, UNRECORDED, STEPS, LARGE)


@pytest.mark.parametrize("name", ROWS)
def test_row_runs(name):
    try:
        results = worker.first_steps(ROWS[name].build(tidu))
    except (AttributeError, ModuleNotFoundError) as missing:
        if ROWS[name].group in FOUNDATION:
            raise
        pytest.skip(f"tidu has not got it yet: {missing}")
    assert results
    for result in results:
        assert np.isfinite(result).all()


@pytest.mark.parametrize("grad", [True, False])
def test_small_ops_against_numpy(grad):
    inputs = Inputs(np_as_library())
    x, y = inputs.normal(4, 4), inputs.normal(4, 4)
    expected = {
        "mul": x * y,
        "add": x + y,
        "matmul": x @ y,
        "exp": np.exp(x),
        "sum": x.sum(),
        "x[0]": x[0],
        "view": x.reshape(16),
        "transpose": x.T,
        "x * 2.0": x * np.float32(2),
    }
    assert expected.keys() == OPS.keys()
    for op, value in expected.items():
        work = ROWS[op if grad else f"{op}, no gradient"].build(tidu)
        assert work.names["x"].requires_grad is grad
        (result,) = worker.first_steps(work)
        assert result.dtype == np.float32
        np.testing.assert_allclose(result, value, rtol=1e-5, atol=1e-6)


def np_as_library():
    """What Inputs needs of a library, giving arrays."""
    library = type(tidu)("numpy_as_library")
    library.from_numpy = lambda array: array
    return library


def test_long_chain_against_its_closed_form():
    results = worker.first_steps(ROWS["chain of 100,000 ops"].build(tidu))
    assert len(results) == 2 * worker.CHECKED_STEPS
    np.testing.assert_allclose(results[1], np.full((4, 4), 0.9999**50_000), rtol=1e-3)


def test_softmax_gradient_against_numpy():
    _, gradient = worker.first_steps(ROWS["softmax 4096x1024"].build(tidu))[:2]
    inputs = Inputs(np_as_library())
    x, g = inputs.normal(4096, 1024).astype(float), inputs.normal(4096, 1024)
    out = np.exp(x - x.max(-1, keepdims=True))
    out /= out.sum(-1, keepdims=True)
    np.testing.assert_allclose(gradient, out * (g - (g * out).sum(-1, keepdims=True)), atol=1e-6)


def test_mlp_step_descends_the_gradient():
    results = worker.first_steps(ROWS["MLP step, batch 32, 64-64-10"].build(tidu))
    first, second = results[0], results[3]
    assert second < first


def test_forward_backward_clears_old_gradients():
    x = tidu.ones(3, requires_grad=True)
    step = large.forward_backward([x], lambda: x * 2.0, tidu.ones(3))
    step()
    assert step()[1].tolist() == [2.0, 2.0, 2.0]


def test_every_group_has_rows_and_every_row_a_group():
    assert {row.group for row in ROWS.values()} == set(GROUPS)


def test_arrays_of_copies():
    array = np.ones(2)
    (copied, second) = worker.arrays_of({"a": array, "b": (None, 3.0)})
    array[0] = 5
    assert copied.tolist() == [1.0, 1.0] and second == 3.0


def test_difference():
    a = np.array([1.0, 100.0], np.float32)
    assert difference([a], [a + np.float32(1e-3)], 1e-4) is None
    assert "largest difference 1 of 1e+02" in difference([a + 1], [a], 1e-4)
    assert difference([a], [a.astype(float)], 1e-4) == "float32[2], not float64[2]"
    assert difference([a, a], [a], 1e-4) == "2 results, not 1"
    assert difference([a * np.nan], [a], 1e-4) is not None


def outcome(name, group, **rounds):
    return Result(Row(name, group, lambda torch: None), rounds)


def test_verdict():
    group = Group("g", geomean=0.8, limit=1.0, aim=0.6)
    fast = outcome("fast", group, tidu=[1.0, 2.0, 9.0], torch=[4.0, 4.0, 4.0])
    slow = outcome("slow", group, tidu=[2.0], torch=[2.0])
    assert fast.ratio("tidu", "torch") == 0.5
    line = report.verdict(group, [fast, slow], "tidu", "torch")
    assert line == ("pass  g: geometric mean 0.71 (bar 0.8); worst 1.00, slow (bar 1.0); 1 of 2 reach the aim of 0.6")
    slower = outcome("slower", group, tidu=[2.2], torch=[2.0])
    assert report.verdict(group, [fast, slower], "tidu", "torch").startswith("FAIL")
    absent = outcome("absent", group, torch=[2.0])
    assert report.verdict(group, [fast, absent], "tidu", "torch").startswith("FAIL")
    assert report.verdict(Group("h"), [fast], "tidu", "torch").startswith("h: ")


def test_unsteady_figures_are_marked():
    group = Group("g")
    shaken = outcome("row", group, tidu=[1.0, 2.0, 2.0], torch=[4.0, 4.0, 4.1])
    assert report.cells(shaken, ["tidu", "torch"]) == ["2 s?", "4 s", "0.50?"]


def test_duration():
    assert [report.duration(s) for s in (1.06e-6, 23.4e-3, 2.0)] == ["1.06 us", "23.4 ms", "2 s"]


def test_table_from_end_to_end(tmp_path, capsys):
    files = ["--json", str(tmp_path / "t.json"), "--md", str(tmp_path / "t.md")]
    # a library that is not there is told of and left out
    status = main(["--libs", "tidu,no_such_library", "--rows", "exp, no gradient", "--rounds", "2", "--quick", *files])
    printed = capsys.readouterr()
    assert status == 0
    assert "exp, no gradient" in printed.out and " us" in printed.out
    assert "no_such_library is left out: ModuleNotFoundError" in printed.err
    (row,) = json.loads((tmp_path / "t.json").read_text())["rows"]
    assert len(row["rounds"]["tidu"]) == 2 and min(row["rounds"]["tidu"]) > 0
    assert "| exp, no gradient |" in (tmp_path / "t.md").read_text()
