"""What PyTorch prints about what overrides functions: the programs of behaviour/overriding.py."""

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
