"""The command line: `tidu run`, `tidu demo`, `tidu bench`, also as `python -m tidu`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

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


def _demo(args: list[str]) -> int:
    from .demos import demo

    return demo(args)


def _bench(args: list[str]) -> int:
    from .demos import bench

    return bench(args)


COMMANDS: dict[str, Callable[[list[str]], int]] = {"run": _run, "demo": _demo, "bench": _bench}
