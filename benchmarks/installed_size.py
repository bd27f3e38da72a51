"""What ``pip install .`` puts on the disk, dependencies and all: ``python -m benchmarks.installed_size``.

Two fresh environments, one as pip leaves it and one without the bytecode that pip compiles from every Python file it
unpacks (``--no-compile``); Python then compiles what a program imports, when it first does.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
from pathlib import Path

BAR = 200e6
ROOT = Path(__file__).parents[1]


def installed(folder: Path, *options: str) -> tuple[int, int, float]:
    """Install the checkout in a new environment: bytes in all, those of bytecode, and the seconds that pip took."""
    venv.create(folder, with_pip=True)
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)}))
    own = set(site.iterdir())  # pip itself, which compiles what it uses
    start = time.perf_counter()
    command = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *options, str(ROOT)]
    subprocess.run(command, check=True)
    seconds = time.perf_counter() - start
    files = [p for top in set(site.iterdir()) - own for p in top.rglob("*") if p.is_file()]
    sizes = [(p.stat().st_size, p.suffix) for p in files]
    return sum(n for n, _ in sizes), sum(n for n, kind in sizes if kind == ".pyc"), seconds


def main(argv: list[str] | None = None) -> int:
    """Prints the sizes; the exit status tells whether the files as shipped are within the bar."""
    argparse.ArgumentParser(prog="python -m benchmarks.installed_size", description=__doc__).parse_args(argv)
    shipped = 0
    for options in ((), ("--no-compile",)):
        with tempfile.TemporaryDirectory() as folder:
            total, compiled, seconds = installed(Path(folder), *options)
        shipped = total - compiled
        print(
            f"pip install {' '.join((*options, '.')):<16}{total / 1e6:7.1f} MB, {compiled / 1e6:.1f} of them bytecode; "
            f"{seconds:.0f} s"
        )
    passed = shipped <= BAR
    print(f"{'pass' if passed else 'FAIL'}  the packages' own files: {shipped / 1e6:.1f} MB (bar {BAR / 1e6:.0f} MB)")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
