"""Programs written for PyTorch, and what they print there: the texts are to be the same, the numbers to agree.

`python tests/recorded_programs.py [NAME ...]` with PyTorch installed records anew.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from python_repr import as_here

PROGRAMS = Path(__file__).parent / "programs"
RECIPES = Path(__file__).parent / "recipes"
EXAMPLES = Path(__file__).parent.parent / "examples"
EXAMPLES_OUTPUT = Path(__file__).parent / "examples_output"
NUMBER = re.compile(r"-?\d+\.\d*(?:e[-+]?\d+)?")
# The programs print four decimals of float32 arithmetic; the recipes are held to four digits of every loss, and more.
TOLERANCE = {PROGRAMS: (2e-4, 2e-4), RECIPES: (5e-5, 2e-6)}


# The examples that train for long: a short training of each, whose losses are compared as those of the recipes.
SHORT_TRAINING = {
    "cart_pole": "--episodes 20 --every 1", "char_gpt": "--steps 21 --every 1", "digits_cnn": "--epochs 1 --every 2",
    "gaussian_process": "--steps 40 --every 2", "vae": "--epochs 1 --every 1",
}  # fmt: skip


def names(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("[!_]*.py"))


def recorded(name: str, folder: Path = PROGRAMS) -> str:
    return as_here((folder / "recorded" / f"{name}.txt").read_text())


def run(name: str, *command: str, folder: Path = PROGRAMS) -> str:
    """What a program prints, run by a Python command."""
    call = [sys.executable, "-W", "ignore", *command, str(folder / f"{name}.py")]
    done = subprocess.run(call, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.replace(f"{folder}{os.sep}", "")


def example(name: str, *command: str, more: list[str] | None = None) -> subprocess.CompletedProcess[str]:
    """An example's run, a short one of those that train for long."""
    options = [*SHORT_TRAINING.get(name, "").split(), *(more or [])]
    call = [sys.executable, *command, str(EXAMPLES / f"{name}.py"), *options]
    done = subprocess.run(call, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return done


def example_differences(name: str, got: str) -> list[str]:
    want = (EXAMPLES_OUTPUT / f"{name}.txt").read_text()
    if name in SHORT_TRAINING:
        return differences(got, want, RECIPES)
    return [] if got == want else [f"got\n{got}\nwant\n{want}"]


def differences(got: str, want: str, folder: Path = PROGRAMS) -> list[str]:
    """The lines in which two outputs differ by more than rounding."""
    a, b = got.splitlines(), want.splitlines()
    found = [] if len(a) == len(b) else [f"{len(a)} lines instead of {len(b)}"]
    for number, (x, y) in enumerate(zip(a, b), 1):
        if x != y and not _agree(x, y, *TOLERANCE[folder]):
            found.append(f"line {number}\n  got  {x[:400]}\n  want {y[:400]}")
    return found


def _agree(x: str, y: str, relative: float, absolute: float) -> bool:
    words = [re.sub(r"\s+", " ", NUMBER.sub("#", line)) for line in (x, y)]
    numbers = [[float(n) for n in NUMBER.findall(line)] for line in (x, y)]
    return words[0] == words[1] and all(
        abs(p - q) <= absolute + relative * abs(q) for p, q in zip(*numbers, strict=True)
    )


def check(name: str, folder: Path = PROGRAMS) -> None:
    """Raise unless tidu prints what PyTorch printed."""
    got = run(name, "-m", "tidu", "run", folder=folder)
    found = differences(got, recorded(name, folder), folder)
    assert not found, "\n".join(found[:5])


if __name__ == "__main__":
    for folder in (PROGRAMS, RECIPES):
        for name in names(folder):
            if not sys.argv[1:] or name in sys.argv[1:]:
                (folder / "recorded" / f"{name}.txt").write_text(run(name, folder=folder))
    for name in names(EXAMPLES):
        if not sys.argv[1:] or name in sys.argv[1:]:
            (EXAMPLES_OUTPUT / f"{name}.txt").write_text(example(name).stdout)
