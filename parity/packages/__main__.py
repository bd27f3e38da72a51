"""`python -m parity.packages [NAME ...]`: run the packages on both libraries and show what came out.

--write    put the table into docs/packages.md (with no NAME: all rows)
--verbose  name the tests that pass on PyTorch alone
"""

from __future__ import annotations

import argparse
import re
from collections import Counter

from .harness import ROOT, Package, Unreachable, fetch, listed, outcomes, printed, recorded_programs

PAGE = ROOT / "docs" / "packages.md"
HEAD = (
    "| package | needs beside NumPy and SciPy | run | on PyTorch | on tidu | right on PyTorch alone |\n"
    "| --- | --- | --- | --- | --- | --- |"
)


def measured(package: Package, verbose: bool) -> str:
    """A row of the table."""
    needs = ", ".join(re.split("[=<>]", n)[0] for n in package.needs) or "nothing"
    row = f"| {package.name} {package.version} | {needs} "
    try:
        fetch(package)
    except Unreachable as error:
        return row + f"| not fetched: {error} | | | |"
    if package.program:
        ours, theirs = (printed(package, on_torch) for on_torch in (False, True))
        differ = recorded_programs.differences(ours, theirs, recorded_programs.RECIPES)
        if verbose:
            print("\n".join(differ))
        n = len(theirs.splitlines())
        where = f"[{package.program}.py](../parity/packages/programs/{package.program}.py)"
        return row + f"| {where} | {n} lines | {n - len(differ)} the same | {len(differ)} |"
    theirs, ours = (outcomes(package, on_torch) for on_torch in (True, False))
    alone = [name for name, how in theirs.items() if how == "passed" and ours.get(name) != "passed"]
    if verbose:
        print("\n".join(alone))
    return row + f"| its own tests | {_counts(theirs)} | {_counts(ours)} | {len(alone)} |"


def _counts(found: dict[str, str]) -> str:
    n = Counter(found.values())
    return ", ".join(f"{n[how]} {how}" for how in ("passed", "failed", "skipped") if n[how])


def write(rows: dict[str, str]) -> None:
    """Replace the rows of these packages in the page."""
    before, _, rest = PAGE.read_text().partition("<!-- measured -->\n")
    table, _, after = rest.partition("<!-- end -->")
    kept = {line.split()[1]: line for line in table.splitlines()[2:]}
    order = [p.name for p in listed()]
    kept = {name: line for name, line in {**kept, **rows}.items() if name in order}
    lines = [kept[name] for name in order if name in kept]
    PAGE.write_text(f"{before}<!-- measured -->\n" + "\n".join([HEAD, *lines]) + "\n<!-- end -->" + after)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m parity.packages", description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    packages = [p for p in listed() if not args.names or p.name in args.names]
    print(HEAD)
    rows = {}
    for package in packages:
        rows[package.name] = measured(package, args.verbose)
        print(rows[package.name], flush=True)
        if args.write:
            write({package.name: rows[package.name]})


if __name__ == "__main__":
    main()
