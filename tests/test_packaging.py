"""What is built and installed: a small pure wheel, few dependencies, and nothing loaded unasked."""

import importlib.metadata
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tidu import version
from tidu.cli import SHORT

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("hatchling", reason="hatchling, from tidu[dev], builds the wheel")
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = out.iterdir()
    return path


def test_wheel_is_pure_and_small(wheel):
    assert wheel.name == f"tidu-{version.tidu}-py3-none-any.whl"
    assert wheel.stat().st_size < 10**6


def test_wheel_holds_the_package_the_examples_and_nothing_else(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    source = ROOT / "src"
    # What git would not keep (caches, an editor's files) is no part of the package.
    package = {p.relative_to(source).as_posix() for p in source.rglob("*.py") if "__pycache__" not in p.parts}
    examples = {f"tidu/_examples/{name}.py" for name in ("_show", "fit_curve", *SHORT)}
    info = f"tidu-{version.tidu}.dist-info"
    assert len(package) > 5 and len(examples) == 5
    assert package | examples | {"tidu/py.typed", f"{info}/licenses/LICENSE"} <= names
    others = {n for n in names - package - examples if not n.startswith(info)}
    assert others == {"tidu/py.typed"}


def test_wheel_works_from_its_zip_alone(wheel, tmp_path):
    """Unpacked away from the checkout, `tidu demo` still finds its examples."""
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    code = "import sys; sys.path.insert(0, 'site'); import tidu.cli as d; print(d.examples_folder())"
    got = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert got.returncode == 0, got.stderr
    folder = Path(tmp_path, got.stdout.strip())
    assert folder.parent.parent == tmp_path / "site" and (folder / "autograd_tour.py").is_file()


def test_every_dependency_is_explained():
    listed = PROJECT["dependencies"] + sum(PROJECT["optional-dependencies"].values(), [])
    names = {re.match(r"[\w-]+", d)[0] for d in listed} - {"tidu"}
    page = (ROOT / "docs" / "dependencies.md").read_text()
    assert [n for n in sorted(names) if f"`{n}`" not in page] == []


def test_installed_size():
    """tidu with what it requires takes at most 200 MB, counted as pip records it (compiled .pyc aside)."""
    required = [re.match(r"[\w-]+", d)[0] for d in PROJECT["dependencies"]]
    total = 0
    for name in required:
        files = importlib.metadata.files(name)
        assert files, name
        total += sum(f.locate().stat().st_size for f in files if f.suffix != ".pyc" and f.locate().is_file())
    total += sum(p.stat().st_size for p in (ROOT / "src").rglob("*.py"))
    assert total < 200_000_000


def test_import_loads_no_more_than_it_needs():
    code = "import sys, tidu; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    got = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert got.returncode == 0, got.stderr
    loaded = set(got.stdout.split())
    assert {"tidu", "numpy"} <= loaded
    heavy = {"scipy", "ml_dtypes", "llvmlite", "torch", "asyncio", "multiprocessing", "unittest", "sklearn"}
    assert not loaded & heavy


def test_version_is_told_once():
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+|rc\d+)?", version.tidu)
    assert "version" in PROJECT["dynamic"]
