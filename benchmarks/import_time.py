"""What ``import tidu`` costs beyond ``import numpy``: ``python -m benchmarks.import_time``.

Fresh interpreters import the one, the other or nothing by turns; the figures are of the whole process, so
they include what an import leaves to be done at exit.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

BAR = 0.060
STATEMENTS = {"nothing": "pass", "numpy": "import numpy", "tidu": "import tidu"}


def process_seconds(statement: str, bytecode: str) -> float:
    """How long a fresh interpreter takes to run `statement` and leave, with bytecode cached as an install does."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = bytecode
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True, env=environment)
    return time.perf_counter() - start


def main(argv: list[str] | None = None) -> int:
    """Prints the medians and the difference; the exit status tells whether it is within the bar."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.import_time", description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args(argv).rounds
    taken: dict[str, list[float]] = {name: [] for name in STATEMENTS}
    with tempfile.TemporaryDirectory() as bytecode:
        for statement in STATEMENTS.values():
            process_seconds(statement, bytecode)  # writes the bytecode
        for _ in range(rounds):
            for name, statement in STATEMENTS.items():
                taken[name].append(process_seconds(statement, bytecode))
    for name, seconds in taken.items():
        middle, best = statistics.median(seconds) * 1e3, min(seconds) * 1e3
        print(f"{STATEMENTS[name]:<14}{middle:7.1f} ms   best {best:.1f} ms")
    extra = statistics.median(a - b for a, b in zip(taken["tidu"], taken["numpy"], strict=True))
    passed = extra <= BAR
    print(f"{'pass' if passed else 'FAIL'}  tidu beyond numpy: {extra * 1e3:.1f} ms (bar {BAR * 1e3:.0f} ms)")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
