"""Fetching a package without its dependencies, and running its tests, or a program that uses it, on either library."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tomllib
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
BUILD = ROOT / "build" / "packages"
SOURCE = ROOT / "src"

sys.path.insert(0, str(ROOT / "tests"))
import recorded_programs  # noqa: E402, F401


class Unreachable(Exception):
    """The index cannot be reached, or does not have the package."""


@dataclass
class Package:
    """An entry of packages.toml."""

    name: str
    version: str
    needs: list[str] = field(default_factory=list)
    tests: list[str] = field(default_factory=list)
    installed: bool = False
    program: str = ""
    env: dict[str, str] = field(default_factory=dict)
    lacks: dict[str, str] = field(default_factory=dict)
    ci: bool = False

    @property
    def folder(self) -> Path:
        return BUILD / f"{self.name}-{self.version}"

    @property
    def site(self) -> Path:
        return self.folder / "site"


def listed() -> list[Package]:
    entries = tomllib.loads((HERE / "packages.toml").read_text())
    return [Package(name=name, **entry) for name, entry in entries.items()]


# ------------------------------------------------------------------ fetching


def fetch(package: Package) -> None:
    """Install the package and what it needs into a folder of their own, and unpack its source if its tests are there."""
    wanted = f"{package.name}=={package.version}"
    lines = "\n".join([wanted, *package.needs])
    stamp = package.folder / "installed.txt"
    if stamp.exists() and stamp.read_text() == lines:
        return
    package.folder.mkdir(parents=True, exist_ok=True)
    _pip("install", "--upgrade", "--target", str(package.site), wanted, *package.needs)
    if package.tests and not package.installed:
        _pip("download", "--no-binary", package.name, "--dest", str(package.folder), wanted)
        for archive in package.folder.glob("*.tar.gz"):
            with tarfile.open(archive) as f:
                f.extractall(package.folder / "source", filter="data")
    stamp.write_text(lines)


def _pip(command: str, *args: str) -> None:
    call = [sys.executable, "-m", "pip", command, "--quiet", "--disable-pip-version-check", "--no-deps", *args]
    done = subprocess.run(call, capture_output=True, text=True, timeout=600)
    if done.returncode:
        reason = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise Unreachable("; ".join(reason) or done.stderr[-300:])


# ------------------------------------------------------------------ running


def run(package: Package, *command: str, on_torch: bool, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A Python command line with the package at hand, `torch` being either library, for child processes as well."""
    path = [package.site, HERE / "seed"]
    if not on_torch:
        path += [SOURCE / "tidu" / "_torch_shim", SOURCE]
    env = {
        **os.environ, **package.env, "PYTHONPATH": os.pathsep.join(map(str, path)), "PYTHONDONTWRITEBYTECODE": "1",
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
    }  # fmt: skip
    how = [] if on_torch else ["-m", "tidu", "run"]
    call = [sys.executable, "-W", "ignore", *how, *command]
    return subprocess.run(call, capture_output=True, text=True, cwd=cwd, env=env, timeout=3600)


def outcomes(package: Package, on_torch: bool) -> dict[str, str]:
    """How each of the package's own tests ended: passed, failed or skipped."""
    report = package.folder / f"{'torch' if on_torch else 'tidu'}.xml"
    report.unlink(missing_ok=True)
    folder = package.site if package.installed else next((package.folder / "source").iterdir())
    options = ["-q", "-p", "no:cacheprovider", "-p", "seed_each_test", "-W", "ignore", f"--junitxml={report}"]
    done = run(package, "-m", "pytest", *options, *package.tests, on_torch=on_torch, cwd=folder)
    if not report.exists():
        raise RuntimeError(f"{package.name}: no test ran\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        kinds = {child.tag for child in case} & {"failure", "error", "skipped"}
        name = f"{case.get('classname')}::{case.get('name')}"
        found[name] = "skipped" if kinds == {"skipped"} else "failed" if kinds else "passed"
    return found


def printed(package: Package, on_torch: bool) -> str:
    """What our program that uses the package prints."""
    path = HERE / "programs" / f"{package.program}.py"
    done = run(package, str(path), on_torch=on_torch, cwd=package.folder)
    if done.returncode:
        raise RuntimeError(f"{path.name}\n{done.stderr[-3000:]}")
    return done.stdout
