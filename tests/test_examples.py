"""The examples print on tidu what they print on PyTorch: to the last character, or, where they train for long, the losses.

What PyTorch printed is in examples_output/; `pytest parity` holds those files against a live PyTorch.
"""

import subprocess
import sys

import pytest
import recorded_programs
from recorded_programs import EXAMPLES, EXAMPLES_OUTPUT, example


def test_every_example_has_its_recorded_output():
    assert set(recorded_programs.names(EXAMPLES)) == {p.stem for p in EXAMPLES_OUTPUT.glob("*.txt")} != set()


@pytest.mark.parametrize("name", recorded_programs.names(EXAMPLES))
def test_example_prints_what_pytorch_prints(name):
    if "sklearn" in (EXAMPLES / f"{name}.py").read_text():
        pytest.importorskip("sklearn", reason="scikit-learn, from tidu[examples], ships the digits")
    found = recorded_programs.example_differences(name, example(name, "-m", "tidu", "run").stdout)
    assert not found, "\n".join(found[:5])


def test_examples_draw_without_a_screen(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="matplotlib, from tidu[examples], draws")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "MPLBACKEND"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "gp.png"
    done = example("gaussian_process", "-m", "tidu", "run", more=["--plot", str(path)])
    assert path.read_bytes().startswith(b"\x89PNG") and f"(picture: {path})" in done.stderr


def test_examples_run_without_progress_bars_and_pictures(tmp_path):
    path = tmp_path / "gp.png"
    code = (
        "import runpy, sys; sys.modules.update(tqdm=None, matplotlib=None); "
        f"sys.argv = ['x', '--steps', '2', '--plot', {str(path)!r}]; sys.path.insert(0, {str(EXAMPLES)!r}); "
        f"runpy.run_path({str(EXAMPLES / 'gaussian_process.py')!r}, run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-m", "tidu", "run", "-c", code], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "step   1" in done.stdout and not path.exists()
    assert done.stderr.count("pip install 'tidu[examples]'") == 2
