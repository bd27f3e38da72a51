"""What PyTorch prints about views and in-place ops: the programs of behaviour/views.py."""

import numpy as np
import pytest
from behaviour import programs, recorded, text_of

import tidu as torch

PRINTED = recorded("views")


@pytest.mark.parametrize("name", programs("views"))
def test_prints_what_pytorch_prints(name):
    assert text_of(programs("views")[name], torch) == PRINTED[name]


def test_every_program_was_recorded():
    assert list(programs("views")) == list(PRINTED)


def test_in_place_words():
    """What is said of a write: the shapes that do not fit, the variant of the op; integers keep no history."""
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(2\) must match the size of tensor b \(3\)"):
        torch.zeros(2).add_(torch.zeros(3))
    h = torch.ones(2, requires_grad=True) * 1
    y = h**h
    y.mul_(2)
    with pytest.raises(RuntimeError, match="which is output 0 of Pow1, is at version 1"):
        y.sum().backward()
    i = torch.zeros(2, dtype=torch.int64)
    i.copy_(torch.ones(2, requires_grad=True))
    assert not i.requires_grad


def test_second_derivative_through_a_written_view():
    b0 = torch.tensor([0.5, -1.0], requires_grad=True)
    b = b0 * 1
    v = b.unsqueeze(0)
    v.sigmoid_()
    (g,) = torch.autograd.grad(b.cos().sum() + v.sum(), b0, create_graph=True)
    (h,) = torch.autograd.grad((g**2).sum(), b0)

    def first(x):
        s = 1 / (1 + np.exp(-x))
        return (1 - np.sin(s)) * s * (1 - s)

    x, e = np.array([0.5, -1.0]), 1e-5
    want = (first(x + e) ** 2 - first(x - e) ** 2) / (2 * e)
    np.testing.assert_allclose(h.numpy(), want, rtol=1e-3)


def test_views_made_without_recording_end_cotangents_of_any_shape():
    a = torch.ones(3, 2, requires_grad=True) * 1
    with torch.no_grad():
        v, w = a.t(), a.flatten()
    y = (v * 2).sum() + (w * 3).sum() + a.sum()
    y.backward()  # v and w lead nowhere
    assert v.requires_grad and v.grad_fn is None


def test_a_view_follows_a_write_under_no_grad():
    a = torch.ones(2, 3, requires_grad=True) * 1
    v = a.t()
    with torch.no_grad():
        a.mul_(2)
        assert v.grad_fn.name() == "AsStridedBackward0"


def test_windows_that_overlap_may_be_written():
    x = torch.zeros(4)
    x.unfold(0, 2, 1).add_(1)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        x[:1].expand(3).add_(1)
    y = torch.arange(4.0).reshape(2, 2)
    y[None] = y
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor"):
        y.addcmul_(y.t(), y)


def test_complex_products_in_place_are_recorded():
    a = torch.randn(4, dtype=torch.complex128, requires_grad=True)
    b = torch.randn(4, dtype=torch.complex128, requires_grad=True)
    z = (a * 1).mul_(b * 2)
    got = torch.autograd.grad(z.abs().sum(), (a, b))
    want = torch.autograd.grad((a * (b * 2)).abs().sum(), (a, b))
    assert all(torch.allclose(x, y) for x, y in zip(got, want))


@pytest.mark.parametrize("write", [lambda x: x.add_(1), lambda x: x.lt_(1), lambda x: x[:1].zero_()])
def test_a_view_that_was_made_a_leaf_is_not_written(write):
    x = torch.ones(3)[1:].requires_grad_()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        write(x)
    with torch.no_grad():
        x.add_(1)
    assert x.tolist() == [2, 2]


def test_out_is_refused_before_the_shapes_are_looked_at():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="functions with out="):
        torch.add(x, torch.ones(3), out=torch.ones(2))
    with pytest.raises(RuntimeError, match="Found dtype Double but expected Float"):
        torch.neg(torch.ones(2), out=torch.ones(2).double())


def test_what_scatters_into_itself_is_refused():
    x = torch.arange(4.0).reshape(2, 2)
    index = torch.tensor([[0, 1], [1, 0]])
    for write in (x.scatter_, x.scatter_add_):
        with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor"):
            write(0, index, x)
    x[:] = x
