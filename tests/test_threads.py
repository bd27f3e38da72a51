"""Many threads at once: exact sums, modes of their own, hooks once a call, nothing stuck after errors."""

import sys
import threading

import numpy as np
import pytest

import tidu as torch
from tidu.arrays.threads import BIG

THREADS = 32


@pytest.fixture(autouse=True)
def _quick_switches():
    """Threads take turns as often as they can."""
    was = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(was)


def in_threads(work, n=THREADS):
    """Run work(0) ... work(n - 1) at the same time; what one raises is raised here."""
    failed = []
    start = threading.Barrier(n)

    def run(i):
        try:
            start.wait()
            work(i)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if failed:
        raise failed[0]


def test_shared_leaves_get_the_exact_sum():
    w = torch.ones(50, requires_grad=True)
    b = torch.zeros(3, requires_grad=True)

    def work(i):
        for k in range(20):
            ((w * float(i + k)).sum() + (b * b).sum() + b.sum()).backward()

    in_threads(work)
    total = sum(i + k for i in range(THREADS) for k in range(20))
    assert w.grad.tolist() == [total] * 50
    assert b.grad.tolist() == [THREADS * 20] * 3


def test_one_graph_from_many_threads():
    w = torch.ones(10, requires_grad=True)
    y = (w * 3).exp().log().sum()
    in_threads(lambda i: [y.backward(retain_graph=True) for _ in range(10)])
    assert np.allclose(w.grad.numpy(), 3 * 10 * THREADS)


def test_create_graph_accumulates_exactly():
    w = torch.ones(5, dtype=torch.float64, requires_grad=True)
    in_threads(lambda i: [(w * w).sum().backward(create_graph=True) for _ in range(5)], 8)
    assert w.grad.tolist() == [2 * 8 * 5] * 5
    w.grad = None


def test_modes_are_a_threads_own():
    w = torch.ones(2, requires_grad=True)

    def work(i):
        for _ in range(50):
            assert torch.is_grad_enabled() and (w * 2).requires_grad
            if i % 3 == 0:
                with torch.no_grad():
                    assert not (w * 2).requires_grad
            elif i % 3 == 1:
                with torch.inference_mode():
                    assert (w * 2).is_inference()
            else:
                with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
                    (w * w).sum()
            with torch.autograd.forward_ad.dual_level():
                d = torch.autograd.forward_ad.make_dual(w.detach(), torch.ones(2))
                assert torch.autograd.forward_ad.unpack_dual(d * i).tangent.tolist() == [i, i]

    in_threads(work)
    with torch.no_grad():
        seen = []
        t = threading.Thread(target=lambda: seen.append(torch.is_grad_enabled()))
        t.start()
        t.join()
        assert seen == [True]


def test_hooks_run_once_a_call():
    w = torch.ones(4, requires_grad=True)
    calls, sums = [], []
    w.register_hook(lambda g: calls.append(1))
    w.register_post_accumulate_grad_hook(lambda t: sums.append(1))
    in_threads(lambda i: [(w * 2).sum().backward() for _ in range(10)])
    assert len(calls) == len(sums) == 10 * THREADS
    assert w.grad.tolist() == [20 * THREADS] * 4


def test_functions_from_threads():
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, k):
            ctx.save_for_backward(x)
            ctx.k = k
            return x * k

        @staticmethod
        def backward(ctx, g):
            assert ctx.saved_tensors[0].shape == g.shape
            return g * ctx.k, None

    w = torch.ones(4, requires_grad=True)
    in_threads(lambda i: [Scale.apply(w, i).sum().backward() for _ in range(10)])
    assert w.grad.tolist() == [10 * sum(range(THREADS))] * 4


def test_transforms_in_threads():
    x = torch.arange(6.0).view(3, 2)
    expected = torch.func.vmap(torch.func.hessian(lambda a: (a**3).sum()))(x)

    def work(i):
        for _ in range(3):
            got = torch.func.vmap(torch.func.hessian(lambda a: (a**3).sum()))(x)
            assert torch.equal(got, expected)

    in_threads(work, 8)


def test_errors_from_hooks_leave_nothing_stuck():
    """Exceptions everywhere, in half of the calls; the other half must not notice."""
    w = torch.ones(3, requires_grad=True)

    def bad(*_):
        raise ZeroDivisionError

    class Raises(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise ZeroDivisionError

    def failing(kind):
        y = w * 2
        if kind == 0:
            y.register_hook(bad)
        elif kind == 1:
            y.grad_fn.register_prehook(bad)
        elif kind == 2:
            y.grad_fn.register_hook(bad)
        elif kind == 3:
            y = Raises.apply(w)
        elif kind == 4:
            with torch.autograd.graph.saved_tensors_hooks(lambda t: t, bad):
                y = w * w
        elif kind == 5:
            with torch.autograd.graph.saved_tensors_hooks(bad, lambda t: t):
                w * w
        elif kind == 6:
            torch.func.grad(bad)(w.detach())
        else:
            torch.func.vmap(bad)(w.detach())
        y.sum().backward()

    def work(i):
        for k in range(16):
            if (i + k) % 2:
                with pytest.raises(ZeroDivisionError):
                    failing(k % 8)
            else:
                (w * 2).sum().backward()
            assert torch.is_grad_enabled() and (w * 2).requires_grad and not torch.is_anomaly_enabled()

    in_threads(work)
    assert w.grad.tolist() == [2 * 8 * THREADS] * 3


def test_large_cotangents_that_meet():
    values = np.random.default_rng(3).standard_normal((2, BIG + 7)).astype(np.float32)
    x, g = torch.tensor(values[0], requires_grad=True), torch.tensor(values[1])
    y = x * 3
    (y * x + y + x.reshape(1, -1).tanh()[0] + x).backward(g)
    a, b = values.astype(np.float64)
    np.testing.assert_allclose(x.grad.numpy(), b * (6 * a + 4 + 1 - np.tanh(a) ** 2), rtol=0, atol=1e-4)
