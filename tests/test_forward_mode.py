"""What PyTorch prints about forward mode: the programs of behaviour/forward_mode.py."""

import math

import pytest
from behaviour import programs, recorded, text_of

import tidu as torch
from tidu.autograd import forward_ad

PRINTED = recorded("forward_mode")


@pytest.mark.parametrize("name", programs("forward_mode"))
def test_prints_what_pytorch_prints(name):
    assert text_of(programs("forward_mode")[name], torch) == PRINTED[name]


def test_every_program_was_recorded():
    assert list(programs("forward_mode")) == list(PRINTED)


def test_backward_of_a_dual():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with forward_ad.dual_level():
        (forward_ad.make_dual(x, torch.ones(2)) ** 2).sum().backward()
    assert x.grad.tolist() == [2, 4]


def test_memory_around_a_view_has_no_tangent():
    x = torch.arange(6.0)[2:5]
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, torch.tensor([1.0, 2.0, 3.0]))
        window = dual.as_strided((5,), (1,), 1)
        assert forward_ad.unpack_dual(window).primal.tolist() == [1, 2, 3, 4, 5]
        assert forward_ad.unpack_dual(window).tangent.tolist() == [0, 1, 2, 3, 0]


def _sampled(x):
    image = torch.arange(9.0, dtype=torch.float64).view(1, 1, 3, 3).sin()
    return (torch.nn.functional.grid_sample(image * x.sum(), x, align_corners=True) ** 2).sum()


def _gathered(x):
    places = torch.tensor([0, 1, 0])
    source = x.view(3, -1)[:, [0, 0, 1, 1]].view(3, 2, 2)
    return (torch.ones(2, 2, 2, dtype=torch.float64).index_reduce(0, places, source, "prod") ** 2).sum()


@pytest.mark.parametrize("f, shape", [(_sampled, (1, 3, 2, 2)), (_gathered, (3, 2))])
def test_what_forward_mode_transposes_is_differentiated_again(f, shape):
    """Ops without a forward rule of their own, below and above other transforms, against differences."""
    func = torch.func
    x = torch.linspace(-0.6, 0.7, math.prod(shape), dtype=torch.float64).view(shape)
    ones, g = torch.ones_like(x), func.grad(f)(x)

    def slope(v):
        return func.jvp(f, (v,), (ones,))[1]

    units = torch.eye(x.numel(), dtype=torch.float64).view(-1, *shape) * 1e-5
    second = torch.stack([(func.grad(f)(x + e).sum() - func.grad(f)(x - e).sum()) / 2e-5 for e in units]).view(shape)
    assert torch.allclose(slope(x), g.sum()) and not slope(x).requires_grad
    assert torch.allclose(func.grad(slope)(x), second, rtol=1e-4, atol=1e-6)
    assert torch.allclose(func.jvp(slope, (x,), (ones,))[1], second.sum(), rtol=1e-4)
    assert torch.allclose(func.vmap(slope)(torch.stack([x, x * 0.9]))[0], g.sum())
    assert torch.allclose(func.vmap(func.grad(slope))(torch.stack([x, x * 0.9]))[0], second, rtol=1e-4, atol=1e-6)
    assert torch.allclose(func.jacfwd(func.grad(f))(x).reshape(x.numel(), -1).sum(0).view(shape), second, rtol=1e-4, atol=1e-6)  # fmt: skip
    v = x.clone().requires_grad_()
    (got,) = torch.autograd.grad(func.jvp(f, (v,), (ones,))[1], v)
    assert torch.allclose(got, second, rtol=1e-4, atol=1e-6)
