"""The functions of `tidu.arrays` against PyTorch's kernels: `python benchmarks/arrays_bench.py [threads=N] [word ...]`.

Each library runs in a worker process of its own (two thread pools in one process disturb each other). A
round times a case first here, then there; the table shows the medians over rounds of each round's best time,
and the best of all rounds, which is what counts on a busy machine.
Only cases whose name contains one of the words are run. Needs PyTorch in the same environment.
"""

from __future__ import annotations

import importlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROUNDS = 7
ROUND_S = 0.12  # seconds a worker spends on a case in one round


def worker(side: str) -> None:
    sys.path.insert(0, str(Path(__file__).parent))
    cases = importlib.import_module("arrays_cases").CASES
    which = ("ours", "theirs").index(side)
    ready: dict[str, Callable[[], object]] = {}
    for line in sys.stdin:
        name = line.strip()
        if name not in ready:
            ready.clear()  # one case's arrays at a time
            ready[name] = cases[name][which]()
            ready[name]()
        fn = ready[name]
        best = float("inf")
        end = time.perf_counter() + ROUND_S
        while time.perf_counter() < end:
            start = time.perf_counter()
            fn()
            once = time.perf_counter() - start
            if once < 1e-4:  # too short to time alone
                count = int(2e-3 / once) + 1
                start = time.perf_counter()
                for _ in range(count):
                    fn()
                once = (time.perf_counter() - start) / count
            best = min(best, once)
        print(best, flush=True)


def ask(process: subprocess.Popen[str], name: str) -> float:
    assert process.stdin and process.stdout
    process.stdin.write(name + "\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    if not answer:
        raise SystemExit(f"the worker died at {name!r}")
    return float(answer)


def main(words: list[str]) -> None:
    env = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    if words and words[0].startswith("threads="):
        env["OMP_NUM_THREADS"] = env["OPENBLAS_NUM_THREADS"] = words.pop(0).partition("=")[2]
    source = str(Path(__file__).resolve().parent.parent / "src")
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [env.get("PYTHONPATH"), source]))
    ours, theirs = (
        subprocess.Popen(
            [sys.executable, __file__, "--worker", side],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env,
        )
        for side in ("ours", "theirs")
    )  # fmt: skip
    sys.path.insert(0, str(Path(__file__).parent))
    names = importlib.import_module("arrays_cases").CASES
    print(f"{'case':34s} {'tidu':>10s} {'torch':>10s} {'ratio':>6s}   {'least':>10s} {'torch':>10s} {'ratio':>6s}")
    for name in names:
        if words and not any(w in name for w in words):
            continue
        pairs = [(ask(ours, name), ask(theirs, name)) for _ in range(ROUNDS)]
        a, b = (statistics.median(p[k] for p in pairs) * 1e6 for k in (0, 1))
        least, least_theirs = (min(p[k] for p in pairs) * 1e6 for k in (0, 1))
        print(f"{name:34s} {a:8.2f}us {b:8.2f}us {a / b:6.2f}   {least:8.2f}us {least_theirs:8.2f}us "
              f"{least / least_theirs:6.2f}", flush=True)  # fmt: skip
    for process in (ours, theirs):
        assert process.stdin
        process.stdin.close()
        process.wait()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(sys.argv[2])
    else:
        main(sys.argv[1:])
