"""The index of the families says what they give."""

import subprocess
import sys

import pytest

import tidu
from tidu import ops
from tidu.ops import __main__ as writer
from tidu.ops import index, names


def test_every_family_is_in_the_index():
    assert list(index.FAMILIES) == names()


@pytest.mark.parametrize("family", sorted(index.FAMILIES))
def test_the_index_is_what_the_family_declares(family):
    assert index.FAMILIES[family] == writer.entry(family), "run `python -m tidu.ops`"


def test_importing_tidu_imports_no_family():
    code = "import sys, tidu; print([m for m in tidu.ops.names() if 'tidu.ops.' + m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


@pytest.mark.parametrize("code", [
    "tidu.cumsum(tidu.ones(3), 0).tolist() == [1, 2, 3]",
    "tidu.ones(3).cumsum(0).tolist() == [1, 2, 3]",
    "tidu.ones(3).cumsum_(0).tolist() == [1, 2, 3]",
    "'cumsum' in dir(tidu)",
    "__import__('pickle').loads(__import__('pickle').dumps(tidu.cumsum)) is tidu.cumsum",
    "bool((2 - 3 * tidu.ones(3))[0] == -1)",
    "(lambda x: setattr(x, 'data', tidu.ones(3)) or x.tolist())(tidu.zeros(3)) == [1, 1, 1]",
    "bool(type('Mine', (tidu.Tensor,), {'__add__': lambda a, b: super(type(a), a).__add__(b * 2)})([1.0]) + 1 == 3)",
    "'Function' in dir(tidu.autograd) and tidu.autograd.function.Function is tidu.autograd.Function",
    "'gelu' in dir(tidu.nn.functional) and tidu.nn.functional.gelu is tidu.nn.functional.gelu",
    "'__add__' in dir(tidu.Tensor) and tidu.Tensor.__radd__.__name__ == '__add__'",
    "setattr(tidu.Tensor, 'exp', 'mine') or tidu.exp(tidu.zeros(1)) == 1 and tidu.Tensor.exp == 'mine'",
])  # fmt: skip
def test_a_name_brings_its_family(code):
    assert subprocess.check_output([sys.executable, "-c", f"import tidu; print({code})"], text=True).strip() == "True"


def test_every_name_of_the_index_is_there():
    for given in index.FAMILIES.values():
        face, methods, in_place, operators, properties = (*given, *[""] * (5 - len(given)))
        for name in face.split():
            assert getattr(tidu, name) is not None
        for name in [*ops.methods(face.split(), methods), *(n + "_" for n in in_place.split())]:
            assert hasattr(tidu.Tensor, name)
        for name in [*operators.split(), *properties.split()]:
            assert hasattr(tidu.Tensor, name)
