"""What PyTorch prints about what overrides functions: the programs of behaviour/overriding.py."""

import subprocess
import sys

import pytest
from behaviour import programs, recorded, text_of

import tidu as torch

PRINTED = recorded("overriding")


@pytest.mark.parametrize("name", programs("overriding"))
def test_prints_what_pytorch_prints(name):
    assert text_of(programs("overriding")[name], torch) == PRINTED[name]


def test_every_program_was_recorded():
    assert list(programs("overriding")) == list(PRINTED)


def test_what_is_not_there_says_so():
    with pytest.raises(NotImplementedError, match="TorchDispatchMode"):
        torch.Tensor._make_wrapper_subclass(torch.Tensor, (2,))


def test_watching_leaves_nothing_behind():
    code = torch.nn.functional.softplus.__code__

    class Watch(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    from tidu.core.subclass import FACES

    watched = FACES.refresh is not None  # for good: a class that overrides functions has been made
    with pytest.raises(KeyError), Watch():
        assert FACES.refresh is not None
        assert torch.nn.functional.softplus.__code__ is not code or watched
        raise KeyError
    assert (FACES.refresh is not None) == watched
    assert torch.nn.functional.softplus.__code__ is code
    assert torch.ones(2).shape == (2,)


def test_frames_of_watched_functions_can_be_looked_into():
    """A debugger reads the variables of every frame: also of those whose code was put in place of another's."""
    program = """
import sys, tidu as torch
from tidu.overrides import TorchFunctionMode
class Mode(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))
def look(call):
    try:
        call()
    except Exception:
        tb = sys.exc_info()[2]
        while tb is not None:
            list(tb.tb_frame.f_locals)
            tb = tb.tb_next
    else:
        raise AssertionError
ones = torch.ones
with Mode():
    look(lambda: torch.mul(ones(2), ones(3)))
    look(lambda: torch.exp("a"))
    look(lambda: ones(3).view(7))
    look(lambda: torch.nn.functional.relu(3))
with torch.autocast("cpu"):
    look(lambda: torch.mm(ones(2), ones(2)))
    look(lambda: torch.nn.functional.linear(ones(2), ones(3, 4)))
"""
    subprocess.run([sys.executable, "-c", program], check=True)
