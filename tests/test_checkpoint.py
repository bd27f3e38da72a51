"""Checkpointing: whole programs against what PyTorch printed, and what they do not show."""

import contextlib
import gc
import weakref

import pytest
import recorded_programs

import tidu as torch
from tidu.utils import _python_dispatch
from tidu.utils import checkpoint as checkpoint_module
from tidu.utils.checkpoint import checkpoint, set_checkpoint_early_stop


def test_programs_print_what_they_print_on_pytorch():
    recorded_programs.check("checkpoints")


def block(x, w):
    return torch.tanh(x @ w).exp() * x.sum()


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_gradients_are_those_without(use_reentrant):
    x, w = (torch.randn(3, 3, dtype=torch.float64, requires_grad=True) for _ in range(2))
    want = torch.autograd.grad(block(x, w).sum(), (x, w))
    checkpoint(block, x, w, use_reentrant=use_reentrant).sum().backward()
    assert torch.equal(x.grad, want[0]) and torch.equal(w.grad, want[1])


def test_second_derivatives_are_those_without():
    x, w = (torch.randn(3, 3, dtype=torch.float64, requires_grad=True) for _ in range(2))

    def second(f):
        (g,) = torch.autograd.grad(f(x, w).sum(), x, create_graph=True)
        return torch.autograd.grad(g.pow(2).sum(), (x, w))

    want, got = second(block), second(lambda *a: checkpoint(block, *a, use_reentrant=False))
    for a, b in zip(want, got):
        torch.testing.assert_close(a, b)


def test_intermediate_values_are_not_kept():
    kept = []

    def f(x):
        y = x.exp()
        kept.append(weakref.ref(y))
        return (y * y).sin()

    x = torch.ones(3, requires_grad=True)
    gc.disable()
    try:
        out = checkpoint(f, x, use_reentrant=False)
        assert kept[0]() is None
        plain = f(x)
        assert kept[1]() is not None
        del plain
    finally:
        gc.enable()
    out.sum().backward()
    assert len(kept) == 3


def test_early_stop_leaves_out_what_is_not_needed():
    ran = []

    def f(x):
        y = x.exp()
        ran.append("after exp")
        return y + 1

    x = torch.ones(2, requires_grad=True)
    checkpoint(f, x, use_reentrant=False).sum().backward()
    assert ran == ["after exp"]
    with set_checkpoint_early_stop(False):
        out = checkpoint(f, x, use_reentrant=False)
    out.sum().backward()
    assert ran == ["after exp"] * 3


def test_an_argument_that_was_written_since_is_an_error():
    x = torch.ones(2, requires_grad=True)
    y = x * 1
    out = checkpoint(lambda t: t.sin().cos(), y, use_reentrant=False)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_selective_checkpoints_keep_what_they_are_told_to():
    made = []

    class Count(_python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            made.append(str(func))
            return func(*args, **(kwargs or {}))

    x = torch.full((2, 2), 0.5, requires_grad=True)
    ops = torch.ops.aten

    def run(keep):
        x.grad = None
        made.clear()
        first, second = checkpoint_module.create_selective_checkpoint_contexts(keep)

        @contextlib.contextmanager
        def again():
            with Count(), second:
                yield

        checkpoint(
            lambda t: (t @ t).sigmoid().sin(), x, use_reentrant=False, context_fn=lambda: (first, again())
        ).sum().backward()
        return list(made), x.grad

    plain, want = run([])
    kept, grad = run([ops.mm.default])
    assert "aten.mm.default" in plain and "aten.mm.default" not in kept and "aten.sigmoid.default" in kept
    assert torch.equal(grad, want)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_saved_tensor_hooks_see_nothing_where_nothing_is_recorded(mode):
    x = torch.ones(2, 2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: pytest.fail("packed"), lambda t: t), mode():
        for y in (x.sigmoid(), x * x, x @ x, x.softmax(0), x**2, torch.nn.functional.gelu(x)):
            assert not y.requires_grad and y.grad_fn is None
