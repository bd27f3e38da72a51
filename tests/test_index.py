"""The index of the families that are imported on first use says what they give."""

import subprocess
import sys

import pytest

import tidu
from tidu import ops
from tidu.ops import EAGER, index, names
from tidu.ops import __main__ as writer


def test_every_family_is_eager_or_in_the_index():
    assert set(EAGER) | set(index.LAZY) == set(names())


@pytest.mark.parametrize("family", sorted(index.LAZY))
def test_the_index_is_what_the_family_declares(family):
    assert index.LAZY[family] == writer.entry(family), "run `python -m tidu.ops`"


def test_importing_tidu_leaves_rare_families_alone():
    code = "import sys, tidu; print([m for m in ('convolution', 'fourier', 'lu') if 'tidu.ops.' + m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


@pytest.mark.parametrize("code", [
    "tidu.cumsum(tidu.ones(3), 0).tolist() == [1, 2, 3]",
    "tidu.ones(3).cumsum(0).tolist() == [1, 2, 3]",
    "tidu.ones(3).cumsum_(0).tolist() == [1, 2, 3]",
    "'cumsum' in dir(tidu)",
    "__import__('pickle').loads(__import__('pickle').dumps(tidu.cumsum)) is tidu.cumsum",
])  # fmt: skip
def test_a_name_brings_its_family(code):
    assert subprocess.check_output([sys.executable, "-c", f"import tidu; print({code})"], text=True).strip() == "True"


def test_every_name_of_the_index_is_there():
    for face, methods, in_place in index.LAZY.values():
        for name in face.split():
            assert getattr(tidu, name) is not None
        for name in [*ops.methods(face.split(), methods), *(n + "_" for n in in_place.split())]:
            assert hasattr(tidu.Tensor, name)
