"""Every entry of PyTorch's op database, every check, against the list of expected failures."""

from __future__ import annotations

from typing import Any

import pytest

from . import report
from .checks import CHECKS, FAIL, Checker
from .conftest import as_property
from .everyday import ENTRIES
from .samples import database

EXPECTED = report.expected_failures()


@pytest.fixture(scope="session")
def checker(request: pytest.FixtureRequest) -> Checker:
    return Checker(request.config.getoption("--lib"), request.config.getoption("--factor"))


@pytest.mark.parametrize("name", list(database()))
def test_op(name: str, checker: Checker, record_property: Any) -> None:
    outcomes = checker.run(database()[name])
    record_property("parity", (name, as_property(outcomes)))
    if checker.side.name == "torch":
        assert not [c for c, o in outcomes.items() if o.status == FAIL]
        return
    found = report.surprises({name: outcomes}, EXPECTED)
    details = [line for o in outcomes.values() if o.status == FAIL for line in o.details[:4]]
    assert not found, "\n".join(found + details)


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_everyday_ops_are_not_expected_to_fail(name: str) -> None:
    """The everyday ops must be whole, so nothing of theirs may stand in the list."""
    listed = [check for check in CHECKS if (name, check) in EXPECTED]
    assert not listed, f"{name} is expected to fail at {listed}"


def test_expected_failures_name_entries() -> None:
    assert {entry for entry, _ in EXPECTED} <= set(database())
    assert ENTRIES <= set(database())
