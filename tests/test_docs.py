"""The pages hold: links lead somewhere, commands exist, and programs print what is shown under them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import tidu
from tidu import cli

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
page = pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)


@page
def test_links_lead_somewhere(path):
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text())
    assert [t for t in targets if not (path.parent / t).exists()] == []


@page
def test_commands_exist(path):
    targets = set(re.findall(r"(?m)^([a-z]+):", (ROOT / "Makefile").read_text()))
    text = path.read_text()
    assert set(re.findall(r"(?:`|\$ )make (?:[A-Z]+=\S+ )?([a-z]+)", text)) <= targets
    assert set(re.findall(r"(?:`|\$ )tidu ([a-z]+)", text)) <= set(cli.COMMANDS)


def test_the_support_table_claims_what_there_is():
    claims = re.findall(r"(?ms)^## (torch[\w.]*)\n\n\*has\*: (.*?)\n\n", (ROOT / "docs" / "ops.md").read_text())
    assert len(claims) > 5
    for where, names in claims:
        thing = tidu
        for part in where.split(".")[1:]:
            thing = getattr(thing, part)
        wrong = [n for n in re.findall(r"`(\w+)`", names) if not hasattr(thing, n)]
        assert wrong == [], where


def programs():
    """Each ```python block that a ```text block follows at once: the program, and what it prints."""
    for path in PAGES:
        for m in re.finditer(r"```python\n((?:(?!```).)*)```\n\n?```text\n(.*?)```", path.read_text(), re.DOTALL):
            line = path.read_text()[: m.start()].count("\n") + 1
            yield pytest.param(m[1], m[2], id=f"{path.name}:{line}")


@pytest.mark.parametrize("program, output", list(programs()))
def test_programs_print_what_is_shown(program, output, tmp_path):
    (tmp_path / "script.py").write_text(program)
    command = [sys.executable, "-m", "tidu", "run", "script.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    # Pages leave out a traceback's frames, and break its notes into lines of their own width.
    printed = re.sub(r"(?s)Traceback .*?\n(?=\S)", "", done.stdout + done.stderr)
    assert output.split() == printed.split()


def test_the_readme_shows_programs_with_their_output():
    assert sum(1 for p in programs() if p.id.startswith("README.md")) >= 2
