"""Calls as PyTorch's first years wrote them, a number before the tensors it scales: taken, and said to be deprecated."""

import warnings

import pytest

import tidu as torch
from tidu.ops import _arguments


def x():
    return torch.full((2,), 3.0)


FORMS = {
    "add_": (lambda: x().add_(0.5, x()), 4.5),
    "sub_": (lambda: x().sub_(2, x()), -3.0),
    "add": (lambda: torch.add(x(), 2, x()), 9.0),
    "sub": (lambda: x().sub(2, x()), -3.0),
    "addcmul_": (lambda: x().addcmul_(2.0, x(), x()), 21.0),
    "addcdiv_": (lambda: x().addcdiv_(-1, x(), x()), 2.0),
    "addmv": (lambda: torch.addmv(2, x(), 3, torch.eye(2), x()), 15.0),
}


@pytest.mark.parametrize("name", FORMS)
def test_older_forms_scale_and_warn_once(name):
    call, value = FORMS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call()
    _arguments._warned.clear()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        results = [call(), call()]
    assert [r.tolist() for r in results] == [[value] * 2] * 2
    assert len(seen) == 1 and seen[0].filename == __file__
    assert str(seen[0].message).startswith(f"This overload of {name} is deprecated")


@pytest.mark.parametrize(
    "call", [lambda: x().add_(x(), 2), lambda: x().addcmul_(x(), x(), 2), lambda: torch.add(x(), x(), x())]
)
def test_numbers_after_tensors_are_refused(call):
    with pytest.raises(TypeError, match="positional argument"):
        call()


def test_a_number_may_be_scaled_too():
    assert torch.add(x(), 0.5, 2).tolist() == x().sub(0.5, -2).tolist() == x().add_(2, 0.5).tolist() == [4.0, 4.0]


def test_gradients_of_older_forms():
    a = x().requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        a.add(5, a).sum().backward()
    assert a.grad.tolist() == [6.0, 6.0]
