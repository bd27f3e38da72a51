"""The command line: `tidu run`, `tidu demo`, `tidu bench`, also as `python -m tidu`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from . import version

USAGE = """\
usage: tidu COMMAND ...

  run SCRIPT [ARGS...]     run a PyTorch script, with torch meaning tidu
  run -m MODULE [ARGS...]  the same for a module,
  run -c CODE [ARGS...]    for code on the command line,
  run - [ARGS...]          and for code on standard input
  demo [NAME...]           run examples that come with tidu; demo --list names all of them
  bench [ARGS...]          compare speed with PyTorch (in a checkout of the source, with PyTorch installed)
  --version                print tidu's version and the PyTorch release it follows
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out one command line (`sys.argv` unless given) and return the exit status."""
    args = list(sys.argv[1:] if argv is None else argv)
    command, rest = (args[0], args[1:]) if args else ("", [])
    if command in ("-h", "--help", "help"):
        print(USAGE, end="")
        return 0
    if command in ("-V", "--version"):
        print(f"tidu {version.tidu} (PyTorch {version.pytorch})")
        return 0
    if command not in COMMANDS:
        problem = f"tidu: no command {command!r}\n" if command else ""
        print(f"{problem}{USAGE}", end="", file=sys.stderr)
        return 2
    if rest[:1] in (["-h"], ["--help"]):
        print(USAGE, end="")
        return 0
    return COMMANDS[command](rest)


def _run(args: list[str]) -> int:
    from .running import run

    if not args or (args[0] in ("-m", "-c") and len(args) < 2):
        print(USAGE, end="", file=sys.stderr)
        return 2
    return run(args)


_HERE = Path(__file__).parent
_CHECKOUT = _HERE.parent.parent

SHORT = ("backward_gradient", "autograd_tour", "digits")  # those that run where none is named


def examples() -> list[str]:
    """The names of the examples that are here: some in an installed package, all in a checkout. What they import beyond
    `torch` is the extra tidu[examples]."""
    return sorted(path.stem for path in examples_folder().glob("[!_]*.py"))


def examples_folder() -> Path:
    """Where the examples are: inside the installed package, or beside the source in a checkout."""
    packed = _HERE / "_examples"
    return packed if packed.is_dir() else _CHECKOUT / "examples"


def demo(names: list[str]) -> int:
    """Run the named examples, or the short ones, through `tidu run`; return the first exit status that is not 0."""
    if names == ["--list"]:
        print("\n".join(examples()))
        return 0
    unknown = [name for name in names if name not in examples()]
    if unknown:
        here = ", ".join(examples())
        print(f"tidu: no example {unknown[0]!r} here; there are: {here} (the source tree has all)", file=sys.stderr)
        return 2
    statuses = []
    for name in names or SHORT:
        path = examples_folder() / f"{name}.py"
        print(f"\n=== tidu run {os.path.relpath(path)} ===\n", flush=True)
        statuses.append(subprocess.run([sys.executable, "-m", "tidu", "run", str(path)]).returncode)
    return next((s for s in statuses if s != 0), 0)


def bench(args: list[str]) -> int:
    """Run the benchmarks of a source checkout: tidu against PyTorch, so PyTorch must be installed."""
    if not (_CHECKOUT / "benchmarks" / "__main__.py").is_file():
        print("tidu: the benchmarks are in the source tree: run `make bench` there", file=sys.stderr)
        return 2
    return subprocess.run([sys.executable, "-m", "benchmarks", *args], cwd=_CHECKOUT).returncode


COMMANDS: dict[str, Callable[[list[str]], int]] = {"run": _run, "demo": demo, "bench": bench}
