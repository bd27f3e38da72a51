"""Packages written for PyTorch, as they are on the index, with tidu in its place: those of packages.toml marked `ci`."""

from __future__ import annotations

import pytest

from .packages.harness import Package, Unreachable, fetch, listed, outcomes, printed, recorded_programs

PACKAGES = [p for p in listed() if p.ci]


def fetched(package: Package) -> Package:
    try:
        fetch(package)
    except Unreachable as error:
        pytest.skip(f"{package.name} is not to be had from the package index: {error}")
    return package


@pytest.mark.parametrize("package", [p for p in PACKAGES if p.tests], ids=lambda p: p.name)
def test_its_own_tests_pass(package: Package) -> None:
    found = outcomes(fetched(package), on_torch=False)
    failed = {name for name, how in found.items() if how == "failed"}
    assert failed == set(package.lacks)
    assert list(found.values()).count("passed") > 5


@pytest.mark.parametrize("package", [p for p in PACKAGES if p.program], ids=lambda p: p.name)
def test_a_program_prints_the_same_on_both(package: Package) -> None:
    fetched(package)
    theirs = printed(package, on_torch=True)
    found = recorded_programs.differences(printed(package, on_torch=False), theirs, recorded_programs.RECIPES)
    assert not found and theirs, "\n".join(found[:5])
