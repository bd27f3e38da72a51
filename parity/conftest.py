"""Options of the parity suite, and the table that ends its run."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import dataclasses  # noqa: E402
import sys  # noqa: E402
import tomllib  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import pytest  # noqa: E402
import torch  # noqa: E402
from hypothesis import settings  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent.parent / "src"))
torch.set_num_threads(1)
# the same examples on every run
settings.register_profile("parity", derandomize=True, database=None, report_multiple_bugs=False)
settings.load_profile("parity")

KNOWN = Path(__file__).parent / "known.toml"  # hand-written tests known to fail: id = reason


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--lib", default="tidu", help="the library under test; torch tests the harness itself")
    parser.addoption("--update-known", action="store_true", help="rewrite parity/known.toml for the tests run")
    parser.addoption("--factor", type=float, default=1.0, help="times the usual number of samples of an op")


def known_failures() -> dict[str, str]:
    return tomllib.loads(KNOWN.read_text()) if KNOWN.exists() else {}


def short_id(nodeid: str) -> str:
    return nodeid.replace("::", "/").removeprefix("parity/")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests in known.toml must fail: one that passes is a mistake in the list."""
    if config.getoption("--lib") == "torch":
        return
    known = known_failures()
    for item in items:
        reason = known.get(short_id(item.nodeid))
        if reason is not None:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=not config.getoption("--update-known")))


def update_known(stats: dict[str, list[Any]]) -> None:
    """Rewrite known.toml for the tests that were run."""
    from .report import _quoted

    known = known_failures()
    for test in stats.get("passed", []) + stats.get("xpassed", []):
        known.pop(short_id(test.nodeid), None)
    for test in stats.get("failed", []):
        name = short_id(test.nodeid)
        if not name.startswith("test_ops.py"):
            text = str(getattr(test.longrepr, "reprcrash", test.longrepr))
            known.setdefault(name, " ".join(getattr(test.longrepr.reprcrash, "message", text).split())[:150])
    lines = ["# Hand-written tests that are known to fail: id = reason. `pytest parity --update-known` rewrites this."]
    KNOWN.write_text("\n".join(lines + [f"{_quoted(k)} = {_quoted(v)}" for k, v in sorted(known.items())]) + "\n")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Collect what each op's test left in its report (from whichever worker), and print the totals."""
    from . import report
    from .checks import Outcome
    from .samples import database

    if terminalreporter.config.getoption("--update-known"):
        update_known(terminalreporter.stats)
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
