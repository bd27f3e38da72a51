"""Programs written for PyTorch, and what they print there: the texts are to be the same, the numbers to agree.

`python tests/recorded_programs.py` with PyTorch installed records anew.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"
NUMBER = re.compile(r"-?\d+\.\d*(?:e[-+]?\d+)?")
TOLERANCE = 2e-4  # the programs print four decimals of float32 arithmetic


def recorded(name: str) -> str:
    return (PROGRAMS / "recorded" / f"{name}.txt").read_text()


def run(name: str, *command: str) -> str:
    """What a program prints, run by a Python command."""
    call = [sys.executable, "-W", "ignore", *command, str(PROGRAMS / f"{name}.py")]
    done = subprocess.run(call, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def differences(got: str, want: str) -> list[str]:
    """The lines in which two outputs differ by more than rounding."""
    a, b = got.splitlines(), want.splitlines()
    found = [] if len(a) == len(b) else [f"{len(a)} lines instead of {len(b)}"]
    for number, (x, y) in enumerate(zip(a, b), 1):
        if x != y and not _agree(x, y):
            found.append(f"line {number}\n  got  {x[:400]}\n  want {y[:400]}")
    return found


def _agree(x: str, y: str) -> bool:
    words = [re.sub(r"\s+", " ", NUMBER.sub("#", line)) for line in (x, y)]
    numbers = [[float(n) for n in NUMBER.findall(line)] for line in (x, y)]
    return words[0] == words[1] and all(
        abs(p - q) <= TOLERANCE * (1 + abs(q)) for p, q in zip(*numbers, strict=True)
    )


def check(name: str) -> None:
    """Raise unless tidu prints what PyTorch printed."""
    found = differences(run(name, "-m", "tidu", "run"), recorded(name))
    assert not found, "\n".join(found[:5])


if __name__ == "__main__":
    for path in sorted(PROGRAMS.glob("*.py")):
        (PROGRAMS / "recorded" / f"{path.stem}.txt").write_text(run(path.stem))
