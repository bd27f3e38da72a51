"""Run the parity checks without pytest: `python -m parity.sweep --ops cumsum,sort -v`."""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

from . import pool, report  # noqa: E402
from .checks import CHECKS, EXTRA, FAIL, Checker, Outcome  # noqa: E402
from .samples import database  # noqa: E402


def chosen(words: str, everyday: bool) -> list[str]:
    """Names of entries: all, those that contain one of the words (`=sum` is exactly sum), or the everyday ones."""
    names = list(database())
    if everyday:
        from .everyday import ENTRIES

        names = [n for n in names if n in ENTRIES]
    if words:
        parts = words.split(",")
        for p in parts:
            if p[0:1] == "=" and p[1:] not in names:
                raise SystemExit(f"no entry is called {p[1:]}")
        names = [n for n in names if any(n == p[1:] if p.startswith("=") else p in n for p in parts)]
    if words and not names:
        raise SystemExit(f"no entry's name has {words} in it")
    return names


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m parity.sweep", description=__doc__)
    parser.add_argument("--ops", default="", help="words, comma-separated; =name for an exact one")
    parser.add_argument("--checks", default="", help=f"comma-separated, of {', '.join(CHECKS + EXTRA)}")
    parser.add_argument("--everyday", action="store_true", help="only the entries that must be whole")
    parser.add_argument("--lib", default="tidu", help="the library under test (torch: a test of the harness)")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--factor", type=float, default=1.0, help="times the usual number of samples")
    parser.add_argument("-v", "--verbose", action="store_true", help="every failing sample, with where it failed")
    parser.add_argument("--most", type=int, default=60, help="groups of failures to print")
    parser.add_argument("--slow", type=int, default=0, help="print the slowest so many entries")
    parser.add_argument("--update", action="store_true", help="rewrite parity/expected.toml for what was run")
    parser.add_argument("--table", action="store_true", help="write docs/parity.md (from a run of everything)")
    options = parser.parse_args(argv)

    names = chosen(options.ops, options.everyday)
    checks = tuple(options.checks.split(",")) if options.checks else CHECKS + EXTRA
    checker = Checker(options.lib, options.factor)
    started = time.perf_counter()

    def work(name: str) -> dict[str, Outcome]:
        return checker.run(database()[name], checks)

    results: report.Results = {}
    for name, outcomes in pool.run(options.jobs, names, work):
        results[name] = outcomes or {c: Outcome(FAIL, "the process died") for c in checks}
        if options.verbose:
            show(name, results[name])
    results = {n: results[n] for n in names}
    print(report.groups(results, options.most))
    print(report.totals(results))
    print(f"{time.perf_counter() - started:.0f} s")
    if options.slow:
        by_time: list[Any] = sorted(((sum(o.seconds for o in r.values()), n) for n, r in results.items()), reverse=True)
        print("\n".join(f"{s:6.1f} s  {n}" for s, n in by_time[: options.slow]))
    expected = report.expected_failures()
    if options.update:
        report.write_expected(results, expected)
    if options.table:
        report.write_table(results)
    unexpected = report.surprises(results, expected)
    print(f"{len(unexpected)} surprises against parity/expected.toml")
    return 1 if unexpected and not options.update else 0


def show(name: str, outcomes: dict[str, Outcome]) -> None:
    for check, outcome in outcomes.items():
        if outcome.status == FAIL:
            print(f"{name}.{check}: {outcome.failed} of {outcome.tried} fail: {outcome.reason}")
            for line in outcome.details[:8] if not outcome.reason.startswith("missing") else ():
                print("  " + line)


if __name__ == "__main__":
    sys.exit(main())
