"""Ops of a program's own, and how operators show themselves."""

import pytest

import tidu as torch
from tidu import Tensor, library


@library.custom_op("tests::power", mutates_args=())
def power(x: Tensor, exponent: float, shift: float = 0.0, *, scale: float = 1.0) -> Tensor:
    assert not torch.is_grad_enabled()
    return scale * x**exponent + shift


def setup(ctx, inputs, output, keyword_only_inputs=None):
    ctx.save_for_backward(inputs[0])
    ctx.numbers = inputs[1], (keyword_only_inputs or {}).get("scale", 1.0)


def test_an_op_has_the_derivative_that_it_is_given():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = power(x, 3.0)
    assert str(y.grad_fn).startswith("<torch.autograd.function.GeneratedBackwardFor_tests_power_defaultBackward")
    with pytest.raises(RuntimeError, match="Trying to backward through tests.power.default but no autograd formula"):
        y.sum().backward()

    def backward(ctx, g):
        exponent, scale = ctx.numbers
        return g * scale * exponent * ctx.saved_tensors[0] ** (exponent - 1), None, None

    power.register_autograd(backward, setup_context=setup)
    torch.ops.tests.power(x, 3.0, scale=2.0).sum().backward()
    assert x.grad.tolist() == [6.0, 24.0]
    assert torch.autograd.gradcheck(lambda v: power(v, 2.0), torch.rand(3, dtype=torch.float64, requires_grad=True))
    assert torch.vmap(lambda v: power(v, 2.0))(torch.ones(2, 3)).tolist() == [[1.0] * 3] * 2
    assert power(x.detach(), 2.0, shift=1.0).tolist() == [2.0, 5.0]


def test_an_op_of_several_outputs_and_one_that_writes():
    @library.custom_op("tests::both", mutates_args=())
    def both(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
        return x * n, x + n

    library.register_autograd("tests::both", lambda ctx, g, h: (3 * g + h, None))
    x = torch.ones(2, requires_grad=True)
    first, second = both(x, 3)
    (first + 2 * second).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]

    @library.custom_op("tests::put", mutates_args={"x"})
    def put(x: Tensor, y: Tensor) -> None:
        x.add_(y)

    z = torch.zeros(2)
    assert put(z, torch.ones(2)) is None and z.tolist() == [1.0, 1.0] and z._version == 1


def test_kernels_and_batches_by_name():
    @library.custom_op("tests::half", mutates_args=())
    def half(x: Tensor) -> Tensor:
        return x / 2

    library.register_kernel("tests::half", "cuda")(lambda x: x / 4)
    assert half(torch.ones(1)).item() == 0.5
    library.register_kernel("tests::half", "cpu")(lambda x: x * 0.5 + 1)
    assert half(torch.ones(1)).item() == 1.5
    assert library.register_fake("tests::half")(len) is len
    seen = []
    half.register_vmap(lambda info, dims, x: (seen.append((info.batch_size, dims)) or half(x), 0))
    assert torch.vmap(half)(torch.ones(3, 2)).tolist() == [[1.5, 1.5]] * 3 and seen == [(3, (0,))]


def test_what_an_op_refuses():
    with pytest.raises(ValueError, match="Parameter x must have a type annotation"):
        library.custom_op("tests::bare", lambda x: x, mutates_args=())

    @library.custom_op("tests::same", mutates_args=())
    def same(x: Tensor) -> Tensor:
        return x

    with pytest.raises(RuntimeError, match=r"must not also be an input to this custom operator"):
        same(torch.ones(1))
    with pytest.raises(AttributeError, match="'_OpNamespace' 'tests' object has no attribute 'nothing'"):
        torch.ops.tests.nothing  # noqa: B018
    assert repr(same) == "<CustomOpDef(tests::same)>"


def test_operators_show_themselves():
    mm, add = torch.ops.aten.mm, torch.ops.aten.add.Tensor
    assert (str(mm), repr(mm)) == ("aten.mm", "<OpOverloadPacket(op='aten.mm')>")
    assert (str(add), repr(add)) == ("aten.add.Tensor", "<OpOverload(op='aten.add', overload='Tensor')>")
    assert (add.name(), mm.default.name(), add._schema.name) == ("aten::add.Tensor", "aten::mm", "aten::add")
    assert repr(torch.ops.tests.power.default) == "<OpOverload(op='tests.power', overload='default')>"
