"""Options of the parity suite, and the table that ends its run."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import dataclasses  # noqa: E402
import sys  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import pytest  # noqa: E402
import torch  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent.parent / "src"))
torch.set_num_threads(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--lib", default="tidu", help="the library under test; torch tests the harness itself")
    parser.addoption("--factor", type=float, default=1.0, help="times the usual number of samples of an op")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Collect what each op's test left in its report (from whichever worker), and print the totals."""
    from . import report
    from .checks import Outcome
    from .samples import database

    results: report.Results = {}
    for reports in terminalreporter.stats.values():
        for test in reports:
            for key, value in getattr(test, "user_properties", ()):
                if key == "parity" and test.when == "call":
                    entry, outcomes = value
                    results[entry] = {check: Outcome(**fields) for check, fields in outcomes.items()}
    if not results:
        return
    terminalreporter.section("parity")
    terminalreporter.write_line(report.totals(results))
    everything = len(results) == len(database())
    if everything and terminalreporter.config.getoption("--lib") == "tidu":
        report.write_table({name: results[name] for name in database()})
        terminalreporter.write_line(f"wrote {report.TABLE}")


def as_property(outcomes: dict[str, Any]) -> dict[str, Any]:
    """Outcomes as plain values, without the long details, as pytest-xdist carries them between processes."""
    plain = {}
    for check, outcome in outcomes.items():
        fields = dataclasses.asdict(outcome)
        fields["details"] = fields["details"][:3]
        plain[check] = fields
    return plain


@pytest.fixture(scope="session")
def side(request: pytest.FixtureRequest) -> Any:
    """The library under test."""
    from .bridge import Side

    return Side(request.config.getoption("--lib"))


@pytest.fixture(scope="session")
def lib(side: Any) -> Any:
    return side.lib
