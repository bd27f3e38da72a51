"""What a graph holds, and when it lets go: long chains, no reference cycles, nothing kept that is not read."""

import gc
import time
import weakref

import pytest

import tidu as torch


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def dies(make):
    """Whether a tensor's memory is freed with the last reference to it, the collector off."""
    out, watched = make()
    refs = [weakref.ref(w) for w in watched]
    del watched
    del out
    return all(r() is None for r in refs)


def test_the_graph_goes_with_its_output(no_collector):
    x = torch.ones(10, requires_grad=True)

    def make():
        a = x.exp()
        b = a * a
        c = b.tanh().softmax(0)
        return c.sum(), [a, b, c, a.grad_fn, b.grad_fn, c.grad_fn]

    assert dies(make)


def test_backward_leaves_no_cycle(no_collector):
    x = torch.ones(10, requires_grad=True)

    def make():
        a = x.exp()
        b = (a * a).sum()
        b.backward(retain_graph=True)
        (g,) = torch.autograd.grad(b, x, create_graph=True)
        (h,) = torch.autograd.grad(g.sum(), x)
        return b, [a, b, g, h, a.grad_fn, g.grad_fn]

    assert dies(make)


def test_views_and_writes_leave_no_cycle(no_collector):
    x = torch.ones(10, requires_grad=True)

    def make():
        a = x * 1
        v = a[2:5]
        v.mul_(2)
        a.exp_()
        w = a.view(2, 5).t()
        w[0] = 3.0
        return (a.sum() + w.sum()), [a, v, w, a.grad_fn, v.grad_fn]

    assert dies(make)


def test_functions_leave_no_cycle(no_collector):
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y, mid = x.exp(), x * 2
            ctx.save_for_backward(x, y, mid)
            return y, mid

        @staticmethod
        def backward(ctx, g, h):
            x, y, mid = ctx.saved_tensors
            return g * y + 2 * h

    x = torch.ones(10, requires_grad=True)

    def make():
        y, mid = Exp.apply(x)
        return y.sum() + mid.sum(), [y, mid, y.grad_fn]

    assert dies(make)


def test_hooks_leave_no_cycle(no_collector):
    x = torch.ones(10, requires_grad=True)

    def make():
        y = x * 2
        y.register_hook(lambda g: g * 2)
        y.retain_grad()
        y.grad_fn.register_hook(lambda i, o: None)
        torch.autograd.graph.register_multi_grad_hook((y,), lambda gs: None)
        z = y.sum()
        z.backward()
        return z, [y, z, y.grad_fn]

    assert dies(make)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        assert dies(make)


def test_transforms_leave_no_cycle(no_collector):
    kept = []

    def f(a):
        b = a * a
        kept.append(weakref.ref(b))
        return b.sum()

    x = torch.ones(4)
    for transform in (torch.func.grad, torch.func.jacrev, torch.func.jacfwd, torch.func.hessian, torch.func.vmap):
        transform(f)(x)
    torch.func.jvp(f, (x,), (x,))
    assert kept and all(r() is None for r in kept)


@pytest.mark.parametrize("retain", [False, True])
def test_saved_values_go_with_backward(no_collector, retain):
    x = torch.ones(10, requires_grad=True)
    a = x.exp()
    ref = weakref.ref(a)
    y = (a * a).sum()
    del a
    assert ref() is not None
    y.backward(retain_graph=retain)
    assert (ref() is None) is not retain


def chain(n):
    x = torch.ones((), requires_grad=True)
    y = x
    start = time.perf_counter()
    for _ in range(n):
        y = y * 1.0
    forward = time.perf_counter()
    y.backward()
    backward = time.perf_counter()
    del y
    freed = time.perf_counter()
    assert x.grad.item() == 1
    return forward - start, backward - forward, freed - backward


def test_a_chain_of_a_million_ops():
    short = chain(100_000)
    long = chain(1_000_000)
    for a, b in zip(short, long):
        assert b < 25 * a + 1, (short, long)


def test_a_long_chain_is_freed_without_backward():
    x = torch.ones((), requires_grad=True)
    y = x
    for _ in range(300_000):
        y = y + 1
    del y
    z = x
    for _ in range(100_000):
        z = torch.sin(z) * z
    del z
    v = x * torch.ones(4)
    for _ in range(50_000):
        v = v[:]
    del v
    w = x * torch.ones(4)
    for _ in range(50_000):
        w.mul_(1.0)
    w.sum().backward()
    del w


def test_a_long_chain_of_double_backward_is_freed():
    x = torch.ones((), requires_grad=True)
    y = x
    for _ in range(30_000):
        y = y * x
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    assert h.item() > 0
    del g, y
