"""backward and grad: the programs of behaviour/engine.py, and what no text shows."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from behaviour import programs, recorded, text_of

import tidu as torch

PRINTED = recorded("engine")


@pytest.mark.parametrize("name", programs("engine"))
def test_prints_what_pytorch_prints(name):
    assert text_of(programs("engine")[name], torch) == PRINTED[name]


def test_every_program_was_recorded():
    assert list(programs("engine")) == list(PRINTED)


def test_create_graph_warns_once_in_a_process():
    code = (
        "import warnings; warnings.simplefilter('always'); import tidu as torch\n"
        "x = torch.ones(1, requires_grad=True)\n"
        "for _ in range(2): (x * x).backward(create_graph=True)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("will create a reference cycle between the parameter and its gradient") == 1


def test_a_first_gradient_is_not_copied_when_nobody_else_sees_it():
    x = torch.ones(1000, requires_grad=True)
    kept = []
    y = x * torch.ones(1000)
    y.grad_fn.register_hook(lambda ins, outs: kept.append(ins[0]))
    y.sum().backward()
    assert x.grad.data_ptr() != kept[0].data_ptr()  # the hook's tensor stays its own
    x.grad = None
    made = []
    y = x * torch.ones(1000)
    y.grad_fn.register_hook(lambda ins, outs: made.append(ins[0].data_ptr()))
    y.sum().backward()
    assert x.grad.data_ptr() == made[0]


def test_the_same_bits_on_every_run():
    rng = np.random.default_rng(0)
    w = rng.standard_normal((200, 200)).astype(np.float32)

    def run():
        x = torch.tensor(w, requires_grad=True)
        y = x
        for _ in range(5):
            y = torch.tanh(y @ x) + x * y
        y.square().mean().backward()
        return x.grad.numpy().tobytes()

    assert len({run() for _ in range(4)}) == 1


def test_batched_cotangents_take_one_pass():
    x = torch.arange(4.0).requires_grad_()
    runs = []
    y = x.exp()
    y.register_hook(lambda g: runs.append(tuple(g.shape)))
    (jac,) = torch.autograd.grad(y, x, torch.eye(4), is_grads_batched=True)
    assert torch.equal(jac, torch.diag(x.exp().detach()))
    assert runs == [(4,)]


def test_no_warning_without_reason():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = torch.ones(2, requires_grad=True)
        (x * x).sum().backward()
        assert x.grad.tolist() == [2, 2]


def test_gradients_that_are_no_tensors():
    y = torch.ones(2, requires_grad=True) * 2
    with pytest.raises(TypeError, match="gradients can be either Tensors or None, but got float"):
        y.backward([1.0, 1.0])


def test_maximum_written_after_use():
    """What was the maximum is nowhere in the input any more: no gradient, and no NaN."""
    h = torch.tensor([1.0, 3.0], requires_grad=True) * 1
    h.retain_grad()
    m = h.max()
    h.data.zero_()
    m.backward()
    assert h.grad.tolist() == [0, 0]


def test_the_layout_of_a_first_gradient_may_be_left_as_it_is():
    def strides():
        x = torch.ones(3, 2).t().requires_grad_()
        (x * 2).backward(torch.ones(2, 3))
        return x.grad.stride()

    assert strides() == (1, 2)
    with torch.autograd.enforce_grad_layout_policy(False):
        assert strides() == (3, 1)
    assert strides() == (1, 2)
    torch.autograd.enforce_grad_layout_policy(False)
    assert strides() == (3, 1)
    torch.autograd.enforce_grad_layout_policy(True)
    assert strides() == (1, 2)
