"""``python -m benchmarks``: times the rows and prints the table."""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from pathlib import Path

from benchmarks import report
from benchmarks.race import Library, Result, RowError, race
from benchmarks.row import ROWS
from benchmarks.rows import GROUPS


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    """Reads the command line."""
    installed = [name for name in ("torch", "jax") if importlib.util.find_spec(name)]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--rows", action="append", metavar="TEXT", help="only rows that have this in their name or group"
    )
    parser.add_argument("--libs", default=",".join(["tidu", *installed]), help="default: %(default)s")
    parser.add_argument("--rounds", type=int, help="turns for each library (7; 3 with --quick)")
    parser.add_argument("--quick", action="store_true", help="shorter turns: coarser figures")
    parser.add_argument("--list", action="store_true", help="print the rows' names and stop")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every round's figure")
    parser.add_argument("--md", type=Path, metavar="FILE", help="write the table as Markdown")
    return parser.parse_args(argv)


def start(names: list[str]) -> list[Library]:
    """A worker for each library that imports."""
    libraries = []
    for name in names:
        try:
            libraries.append(Library(name))
        except RowError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
    return libraries


def main(argv: list[str] | None = None) -> int:
    """Runs the benchmarks; the exit status is 1 where the first library or every row is missing."""
    options = arguments(argv)
    wanted = [
        row
        for group in GROUPS
        for row in ROWS.values()
        if row.group is group
        and (not options.rows or any(text in f"{row.name} {group.title}" for text in options.rows))
    ]
    if options.list:
        print("\n".join(row.name for row in wanted))
        return 0
    libraries = start(options.libs.split(","))
    if not wanted or not libraries or libraries[0].name != options.libs.split(",")[0]:
        print("nothing to time", file=sys.stderr)
        return 1
    names = [library.name for library in libraries]
    versions = {library.name: library.version for library in libraries}
    rounds = options.rounds or (3 if options.quick else 7)
    block, repeat = (0.005, 3) if options.quick else (0.015, 5)

    conditions = report.conditions(versions)
    print(conditions)
    results: list[Result] = []
    for row in wanted:
        if not results or results[-1].row.group is not row.group:
            print("\n" + report.line(row.group.title, report.titles(names)))
        result = race(row, libraries, rounds, block, repeat)
        results.append(result)
        print(report.line("  " + row.name, report.cells(result, names)))
        for reason in report.reasons(result, names):
            print(f"      {reason}")
        sys.stdout.flush()
    for library in libraries:
        library.close()

    for mine, baseline in report.pairs(names):
        print(f"\n{mine} / {baseline}")
        for group, members in report.grouped(results).items():
            judged = report.verdict(group, members, mine, baseline)
            if judged:
                print("  " + judged)
    if options.json:
        options.json.write_text(json.dumps(report.record(results, conditions), indent=1) + "\n")
    if options.md:
        options.md.write_text(report.markdown(results, names, conditions))
    return 0


if __name__ == "__main__":
    sys.exit(main())
