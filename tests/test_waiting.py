"""OpenBLAS's threads sleep when idle, whether NumPy was loaded before tidu or after; who sets the variable has the say."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os
{first}
import tidu as torch
import tidu.waiting
a = torch.ones(700, 700)
before = (a @ a).sum().item()
torch.ones(3_000_000).exp()  # our own threads start
assert (a @ a).sum().item() == before == 700.0**3
print(os.environ["OPENBLAS_THREAD_TIMEOUT"], tidu.waiting._late)
"""


@pytest.mark.parametrize("first", ["", "import numpy"])
def test_threads_are_told_not_to_spin(first):
    env = {k: v for k, v in os.environ.items() if k != "OPENBLAS_THREAD_TIMEOUT"} | {"TIDU_NUM_THREADS": "2"}
    run = [sys.executable, "-c", PROGRAM.format(first=first)]
    assert subprocess.run(run, env=env, capture_output=True, text=True, check=True).stdout.split() == ["16", "False"]


def test_the_environment_has_the_say():
    env = os.environ | {"OPENBLAS_THREAD_TIMEOUT": "20"}
    run = [sys.executable, "-c", PROGRAM.format(first="import numpy")]
    done = subprocess.run(run, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["20", "True"]
