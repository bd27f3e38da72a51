"""torch.func: each transform, and each in each other."""

from __future__ import annotations

import warnings
from typing import Any

from . import attempt


def grads(torch: Any) -> None:
    f = torch.func
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    print(f.grad(lambda x: (x**2).sum())(x))
    print(f.grad(lambda x, y: (x * y).sum(), argnums=1)(x, y))
    print(f.grad(lambda x, y: (x * y).sum(), argnums=(0, 1))(x, y))
    print(f.grad(lambda x, y: (x * y).sum(), argnums=(-1,))(x, y))
    print(f.grad(lambda x: ((x**2).sum(), {"aux": x * 3}), has_aux=True)(x))
    print(f.grad_and_value(lambda x: (x**2).sum())(x))
    print(f.grad_and_value(lambda x: ((x**2).sum(), x * 3), has_aux=True)(x))
    print(f.grad(lambda p: (p["a"] * p["b"][0]).sum())({"a": x, "b": [y]}))
    print(f.grad(lambda x, k=2: (x * k).sum())(x, k=5))
    print(f.grad(lambda x: torch.ones(()))(x))
    print(f.grad(torch.sin)(torch.tensor(0.0)))


def grad_misuse(torch: Any) -> None:
    f = torch.func
    x = torch.tensor([1.0, 2.0])
    attempt(f.grad(lambda x: x * 2), x)
    attempt(f.grad(lambda x: (x.sum(), x)), x)
    attempt(f.grad(lambda x: x.sum(), has_aux=True), x)
    attempt(f.grad(lambda x: 3.0), x)
    attempt(f.grad(lambda x: x.sum(), argnums=1), x)
    attempt(f.grad(lambda x: x.sum(), argnums="a"), x)
    attempt(f.grad(lambda x: x.sum(), argnums=(0, 0)), x)
    attempt(f.grad(lambda x: x.sum()), 3)
    attempt(f.grad(lambda x: x.sum()), torch.tensor([1, 2]))


def higher_orders(torch: Any) -> None:
    grad = torch.func.grad
    f = lambda x: x**5  # noqa: E731
    for _ in range(7):
        print(f(torch.tensor(2.0)))
        f = grad(f)


def with_what_surrounds(torch: Any) -> None:
    """Gradients of what is closed over, and of results."""
    w = torch.tensor(3.0, requires_grad=True)
    x = torch.tensor(2.0, requires_grad=True)
    g = torch.func.grad(lambda x: w * x**2)(x)
    print(g.requires_grad)
    print(torch.autograd.grad(g, [w, x]))
    g = torch.func.grad(lambda x: x**2)(torch.tensor(2.0))
    print(g.requires_grad)
    with torch.no_grad():
        print(torch.func.grad(lambda x: x**2)(torch.tensor(2.0)))
    print(torch.func.grad(lambda x: torch.func.grad(lambda y: x * y * y)(x))(torch.tensor(2.0)))

    def inner(x: Any) -> Any:
        with torch.no_grad():
            c = x**2
        return x**2 - c

    print(torch.func.grad(inner)(torch.tensor(3.0)))
    print(torch.func.grad(lambda x: x * x.detach())(torch.tensor(3.0)))


def vjps(torch: Any) -> None:
    f = torch.func
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    out, back = f.vjp(torch.sin, x)
    print(out, back(torch.ones(2)), back(torch.ones(2)))
    out, back = f.vjp(lambda x, y: (x * y, {"s": x.sum()}), x, y)
    print(out, back((x, {"s": torch.tensor(1.0)})))
    out, back, aux = f.vjp(lambda x: (x * 2, x.sum()), x, has_aux=True)
    print(out, back(x), aux)
    attempt(back, torch.ones(3))
    attempt(back, (torch.ones(2), torch.ones(2)))
    attempt(f.vjp, lambda x: (x, 3), x)
    attempt(f.vjp, torch.sin, 3.0)
    out, back = f.vjp(lambda p: p["a"] * 2, {"a": x, "b": y})
    print(back(x))


def jvps(torch: Any) -> None:
    f = torch.func
    x, t = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0])
    print(f.jvp(torch.sin, (x,), (t,)))
    print(f.jvp(lambda x, y: (x * y, x.sum()), (x, t), (t, x)))
    print(f.jvp(lambda x: (x * 2, {"a": x}), (x,), (t,), has_aux=True))
    print(f.jvp(lambda x: torch.ones(2), (x,), (t,)))
    attempt(f.jvp, lambda x: torch.ones(2), (x,), (t,), strict=True)
    attempt(f.jvp, torch.sin, x, t)
    attempt(f.jvp, torch.sin, (x,), t)
    attempt(f.jvp, torch.sin, (x,), (t, t))
    attempt(f.jvp, torch.sin, (x,), (torch.ones(3),))
    attempt(f.jvp, torch.sin, (3.0,), (t,))
    attempt(f.jvp, lambda x: 3.0, (x,), (t,))
    print(f.jvp(lambda p: p["a"] * p["b"], ({"a": x, "b": t},), ({"a": t, "b": x},)))


def linearized(torch: Any) -> None:
    f = torch.func
    x = torch.tensor([1.0, 2.0])
    out, push = f.linearize(lambda x: x**3, x)
    print(out, push(torch.ones(2)), push(torch.tensor([1.0, 0.0])))
    out, push = f.linearize(lambda x, y: {"p": x * y, "s": x.sum()}, x, x)
    print(out, push(torch.ones(2), torch.zeros(2)))


def jacobians(torch: Any) -> None:
    f = torch.func
    x, y = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    for jac in (f.jacrev, f.jacfwd):
        print(jac(torch.sin)(x))
        print(jac(lambda x, y: y @ x, argnums=(0, 1))(x, y))
        print(jac(lambda x: (x.sum(), {"a": x * 2}))(x))
        print(jac(lambda x: (x * 2, x.sum()), has_aux=True)(x))
        print(jac(lambda p: p["a"] * p["b"])({"a": x, "b": x * 2}))
        print(jac(lambda x: x.sum())(y))
        print(jac(lambda x, y: x * 2, argnums=1)(x, y))
        attempt(jac(lambda x: (x, 3)), x)
        attempt(jac(lambda x: x, argnums=1), x)
    print(f.jacrev(torch.sin, chunk_size=2)(x))
    print(f.jacrev(torch.sin, chunk_size=1)(x))
    attempt(lambda: f.jacrev(torch.sin, chunk_size=0)(x))


def hessians(torch: Any) -> None:
    f = torch.func
    x = torch.tensor([1.0, 2.0])
    g = lambda x: (x**3).sum() + x[0] * x[1] ** 2  # noqa: E731
    print(f.hessian(g)(x))
    for outer in (f.jacrev, f.jacfwd):
        for inner in (f.jacrev, f.jacfwd):
            print(outer(inner(g))(x))
    print(f.hessian(lambda x, y: (x * y * y).sum(), argnums=(0, 1))(x, x))
    print(f.jacfwd(f.jacfwd(f.jacrev(lambda x: (x**4).sum())))(x))


def maps(torch: Any) -> None:
    vmap = torch.func.vmap
    x, y = torch.arange(6.0).view(2, 3), torch.arange(6.0).view(3, 2)
    print(vmap(torch.sum)(x))
    print(vmap(torch.dot)(x, x))
    print(vmap(torch.dot, in_dims=(0, 1))(x, y))
    print(vmap(lambda a, b: a + b, in_dims=(0, None))(x, torch.ones(3)))
    print(vmap(lambda a: a * 2, in_dims=-1, out_dims=1)(x))
    print(vmap(lambda a: (a.sum(), a * 2), out_dims=(0, 1))(x))
    print(vmap(lambda d: d["a"] * d["b"], in_dims=({"a": 0, "b": None},))({"a": x, "b": torch.ones(3) * 2}))
    print(vmap(lambda a, k: a * k, in_dims=(0, None))(x, 3))
    print(vmap(lambda a: a, chunk_size=1)(x))
    print(vmap(vmap(lambda a: a * 2))(x))
    print(vmap(lambda a: vmap(lambda b: a * b)(a))(x))
    print(vmap(lambda a: torch.ones(2))(x))
    print(vmap(lambda a: {"p": a, "q": [a.sum()]})(x))
    print(vmap(lambda a, *, k: a * k)(x, k=x))


def map_misuse(torch: Any) -> None:
    vmap = torch.func.vmap
    x = torch.arange(6.0).view(2, 3)
    f = lambda a: a * 2  # noqa: E731
    attempt(vmap(f, in_dims=2), x)
    attempt(vmap(f, in_dims="a"), x)
    attempt(vmap(f, in_dims=(0, 0)), x)
    attempt(vmap(f, in_dims=None), x)
    attempt(vmap(f), 3)
    attempt(vmap(f))
    attempt(vmap(lambda a, b: a + b), x, torch.ones(3))
    attempt(vmap(lambda a: 3), x)
    attempt(vmap(lambda a: (a, "s")), x)
    attempt(vmap(f, out_dims=3), x)
    attempt(vmap(f, out_dims=(0, 1)), x)
    attempt(vmap(f, out_dims="a"), x)
    attempt(vmap(f, randomness="some"), x)
    attempt(vmap, f, chunk_size=0)
    attempt(vmap(lambda a: a.sum(), out_dims=None), x)
    attempt(vmap(lambda a: torch.ones(2), out_dims=None), x)


def map_ops(torch: Any) -> None:
    vmap = torch.func.vmap
    F = torch.nn.functional
    x = torch.arange(24.0).view(2, 3, 4) / 10
    i = torch.tensor([[0, 2], [1, 1]])
    for fn in (
        lambda a: a.t(),
        lambda a: a.view(-1),
        lambda a: a.reshape(2, 6),
        lambda a: a[0],
        lambda a: a[:, 1:],
        lambda a: a[..., None],
        lambda a: a[[0, 2]],
        lambda a: a.mean(0),
        lambda a: a.std(),
        lambda a: a.max(1),
        lambda a: a.argmax(),
        lambda a: a.softmax(-1),
        lambda a: a.logsumexp(0),
        lambda a: a.cumsum(1),
        lambda a: a @ a.t(),
        lambda a: a.matmul(torch.ones(4)),
        lambda a: torch.einsum("ij,kj->ik", a, a),
        lambda a: torch.cat([a, a * 2], 1),
        lambda a: torch.stack([a, a]),
        lambda a: a.split(2, 1),
        lambda a: a.unbind(0),
        lambda a: a.sort(1)[0],
        lambda a: a.topk(2)[0],
        lambda a: torch.where(a > 1, a, 0.0),
        lambda a: a.masked_fill(a > 1, 0),
        lambda a: a.tril(),
        lambda a: a.diagonal(),
        lambda a: a.flip(0),
        lambda a: a.roll(1, 0),
        lambda a: a.repeat(1, 2),
        lambda a: a.expand(2, 3, 4),
        lambda a: a.unsqueeze(0).squeeze(),
        lambda a: a.norm(),
        lambda a: F.layer_norm(a, (4,)),
        lambda a: F.linear(a, torch.ones(2, 4)),
        lambda a: F.cross_entropy(a, torch.tensor([0, 1, 2])),
        lambda a: F.mse_loss(a, torch.ones(3, 4)),
        lambda a: F.pad(a, (1, 0)),
        lambda a: a.clamp(0.5, 1.5).double().int(),
        lambda a: a.new_zeros(2) + a[0, :2],
        lambda a: torch.zeros_like(a) + torch.ones(4),
        lambda a: a.shape[0] * a.sum() + a.dim() + a.numel() + a.size(1),
        lambda a: a.gather(1, torch.tensor([[0], [1], [2]])),
        lambda a: a.var(0, keepdim=True),
        lambda a: a.prod(1),
        lambda a: a.any(),
        lambda a: torch.outer(a[0], a[1]),
        lambda a: a.transpose(0, 1).contiguous(),
        lambda a: a.movedim(0, 1),
        lambda a: a.sum((0, 1)),
        lambda a: a.chunk(2, 1)[1],
        lambda a: torch.linalg.norm(a, dim=1),
    ):
        attempt(lambda fn=fn: vmap(fn)(x))
    print(vmap(lambda a, j: a[j])(x, i))
    print(vmap(lambda a, j: a.index_select(0, j))(x, i))
    print(vmap(lambda w, j: F.embedding(j, w))(x, i))
    print(vmap(lambda a, t: F.cross_entropy(a, t))(x, torch.tensor([[0, 1, 2], [3, 2, 1]])))
    print(vmap(torch.bmm)(x[None].expand(2, 2, 3, 4), x.mT[None].expand(2, 2, 4, 3)))


def maps_in_place(torch: Any) -> None:
    vmap = torch.func.vmap
    x = torch.arange(6.0).view(2, 3)

    def f(a: Any) -> Any:
        b = a.clone()
        b.mul_(2)
        b[0] = 100
        b += 1
        b[1:].zero_()
        return b

    print(vmap(f)(x), x)

    def h(a: Any) -> Any:
        z = a.new_zeros(3)
        z.add_(a)
        z[1].add_(a[0])
        return z

    print(vmap(h)(x))
    print(vmap(lambda a: a.mul_(2))(x), x)
    print(torch.func.grad(lambda a: f(a * 1).sum())(x[0]))
    print(vmap(torch.func.grad(lambda a: (f(a * a) * a).sum()))(x))
    print(torch.func.jvp(lambda a: f(a * 1), (x[0],), (torch.ones(3),)))
    print(torch.func.jacrev(lambda a: f(a * a))(x[0]))
    print(torch.func.jacfwd(lambda a: f(a * a))(x[0]))


def maps_of_windows(torch: Any) -> None:
    vmap, F = torch.func.vmap, torch.nn.functional

    def f(a: Any) -> Any:
        b = a.clone()
        b.as_strided((), (), 0).copy_(a[1] * 10)
        b.as_strided((2,), (1,), 1).mul_(100)
        return b, b.as_strided((2, 2), (1, 1))

    x = torch.arange(6.0).view(2, 3)
    print(vmap(f)(x))
    print(vmap(torch.func.grad(lambda a: (a.as_strided((2, 2), (1, 1)) * a[0]).sum()))(x))
    y = torch.arange(8.0).sin()
    for pool in (lambda x: F.max_pool1d(x.view(1, 1, -1), 2), lambda x: F.max_pool2d(x.view(1, 1, 2, 4), 2)):
        grad = torch.func.grad(lambda x, pool=pool: (pool(x) ** 2).sum())
        print(torch.func.jacfwd(grad)(y), torch.func.jacrev(grad)(y))


def map_of_grad(torch: Any) -> None:
    f = torch.func
    w, x = torch.tensor([1.0, 2.0]), torch.arange(6.0).view(3, 2)
    loss = lambda w, x: ((w * x).sum() ** 2) / 2  # noqa: E731
    print(f.vmap(f.grad(loss), in_dims=(None, 0))(w, x))
    print(f.vmap(f.grad(lambda x: loss(w, x)))(x))
    print(f.vmap(f.grad_and_value(loss), in_dims=(None, 0))(w, x))
    print(f.vmap(f.jacrev(lambda x: x * w))(x))
    print(f.vmap(f.jacfwd(lambda x: x * w))(x))
    print(f.vmap(f.hessian(lambda x: (x**3).sum()))(x))
    print(f.vmap(lambda x: f.jvp(torch.sin, (x,), (x,)))(x))
    print(f.vmap(lambda x: f.vjp(torch.sin, x)[1](x))(x))
    print(f.grad(lambda w: f.vmap(lambda x: loss(w, x))(x).sum())(w))
    print(f.jacrev(f.vmap(lambda x: x.sum() * x))(x[:1]))
    print(f.jacfwd(f.vmap(lambda x: x.sum() * x))(x[:1]))
    print(f.grad(f.grad(lambda s: f.vmap(lambda x: (x * s) ** 3)(x).sum()))(torch.tensor(2.0)))


def nested_orders(torch: Any) -> None:
    f = torch.func
    x, v = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5])
    g = lambda x: (x**3).prod()  # noqa: E731
    print(f.jvp(f.grad(g), (x,), (v,)))
    print(f.grad(lambda x: f.jvp(g, (x,), (v,))[1])(x))
    print(f.vjp(f.grad(g), x)[1](v))
    print(f.jvp(lambda x: f.jvp(g, (x,), (v,))[1], (x,), (v,)))
    print(f.grad(lambda x: f.vjp(g, x)[1](torch.tensor(1.0))[0].sum())(x))
    print(f.jacfwd(f.jacrev(f.grad(g)))(x))
    print(f.vmap(f.jacfwd(f.grad(g)))(torch.stack([x, v])))
    print(f.vmap(f.vmap(f.grad(lambda s: s**3)))(torch.stack([x, v])))
    print(f.jvp(f.vmap(f.grad(lambda s: s**3)), (x,), (v,)))
    print(f.grad(lambda x: f.vmap(lambda t: f.jvp(g, (x,), (t,))[1])(torch.eye(2)).sum())(x))
    print(f.linearize(lambda x: f.grad(g)(x), x)[1](v))


def randomness(torch: Any) -> None:
    vmap = torch.func.vmap
    x = torch.zeros(3, 2)
    attempt(vmap(lambda a: a + torch.rand(2)), x)
    attempt(vmap(lambda a: torch.nn.functional.dropout(a + 1, 0.5)), x)
    attempt(vmap(lambda a: a + torch.randn_like(a)), x)
    attempt(vmap(lambda a: torch.bernoulli(a)), x)
    for fn in (
        lambda a: a + torch.rand(2),
        lambda a: a + torch.randn(2),
        lambda a: torch.rand_like(a) + a,
        lambda a: torch.randn_like(a) + a,
        lambda a: a + torch.randint(0, 100, (2,)),
        lambda a: torch.nn.functional.dropout(a + 1, 0.5),
        lambda a: a.clone().uniform_(),
        lambda a: torch.randperm(5) + a[0].long(),
    ):
        torch.manual_seed(1)
        same = vmap(fn, randomness="same")(x)
        print(bool((same == same[0]).all()), same.shape)
        torch.manual_seed(1)
        different = vmap(fn, randomness="different")(x)
        print(bool((different == different[0]).all()), different.shape)
        print(same, different)
    for fn in (lambda a: torch.bernoulli(a + 0.5), lambda a: torch.normal(a, 1.0)):
        attempt(vmap(fn, randomness="same"), x)
        attempt(lambda fn=fn: vmap(fn, randomness="different")(x).shape)
    torch.manual_seed(1)
    print(vmap(vmap(lambda a: a + torch.randn(3), randomness="different"), randomness="different")(torch.zeros(2, 4)))


def modules(torch: Any) -> None:
    f = torch.func
    linear = torch.nn.Linear(2, 1)
    with torch.no_grad():
        linear.weight.copy_(torch.tensor([[1.0, 2.0]]))
        linear.bias.fill_(0.5)
    x = torch.tensor([[1.0, 1.0], [2.0, 0.0]])
    params = {"weight": torch.tensor([[10.0, 20.0]]), "bias": torch.tensor([1.0])}
    print(f.functional_call(linear, params, x))
    print(f.functional_call(linear, {"bias": torch.tensor([7.0])}, (x,)).detach())
    print(f.grad(lambda p: f.functional_call(linear, p, (x,)).sum())(params))
    attempt(f.functional_call, linear, {"nothing": x}, (x,))
    attempt(f.functional_call, linear, {"bias": torch.tensor([7.0])}, (x,), strict=True)
    print(f.vmap(lambda p, x: f.functional_call(linear, p, (x,)), in_dims=(None, 0))(params, x))
    print(f.vmap(f.grad(lambda p, x: f.functional_call(linear, p, (x,)).sum()), in_dims=(None, 0))(params, x))
    models = [torch.nn.Linear(2, 1) for _ in range(3)]
    stacked, buffers = f.stack_module_state(models)
    print({k: (v.shape, v.requires_grad, v.is_leaf) for k, v in stacked.items()}, buffers)
    out = f.vmap(lambda p: f.functional_call(models[0], p, (x,)))(stacked)
    print(torch.allclose(out, torch.stack([m(x) for m in models])))
    attempt(f.stack_module_state, [])
    attempt(f.stack_module_state, [torch.nn.Linear(2, 1), torch.nn.ReLU()])
    print(linear.weight.requires_grad, type(linear.weight).__name__)


def custom_losses(torch: Any) -> None:
    """A small network: per-sample gradients two ways."""
    f, F = torch.func, torch.nn.functional
    w1, w2 = torch.arange(6.0).view(3, 2) / 10, torch.arange(3.0).view(1, 3) / 10
    x, y = torch.arange(8.0).view(4, 2) / 5, torch.arange(4.0).view(4, 1)

    def loss(params: Any, x: Any, y: Any) -> Any:
        return F.mse_loss(F.linear(torch.tanh(F.linear(x, params[0])), params[1]), y)

    per_sample = f.vmap(f.grad(loss), in_dims=(None, 0, 0))((w1, w2), x, y)
    print(per_sample[0], per_sample[1])
    one = [f.grad(loss)((w1, w2), a, b) for a, b in zip(x, y)]
    print(torch.allclose(torch.stack([g[0] for g in one]), per_sample[0]))
    print(f.vmap(f.jacrev(lambda x: torch.tanh(F.linear(x, w1))))(x)[1])


def shapes_seen_inside(torch: Any) -> None:
    def f(a: Any) -> Any:
        print(a.shape, a.ndim, a.dtype, a.numel(), a.size(), len(a), a.is_floating_point(), isinstance(a, torch.Tensor))
        return a

    torch.func.vmap(f)(torch.ones(2, 3))
    torch.func.vmap(f, in_dims=1)(torch.ones(2, 3))
    torch.func.grad(lambda a: f(a).sum())(torch.ones(3))
    torch.func.vmap(torch.func.grad(lambda a: f(a).sum()))(torch.ones(2, 3))


def value_reading(torch: Any) -> None:
    """Branches on values in grad and jvp, where there is one."""

    def f(x: Any) -> Any:
        return x * 2 if x > 1 else x**2

    for at in (0.5, 2.0):
        print(torch.func.grad(f)(torch.tensor(at)), torch.func.jvp(f, (torch.tensor(at),), (torch.tensor(1.0),)))
    print(torch.func.grad(lambda x: x * x.item())(torch.tensor(3.0)))


def functionalized(torch: Any) -> None:
    def f(x: Any) -> Any:
        y = x.clone()
        y[0] = 5
        return y * x

    x = torch.tensor([1.0, 2.0])
    print(torch.func.functionalize(f)(x))
    attempt(torch.func.functionalize, f, remove="nothing")


def chunked(torch: Any) -> None:
    x = torch.arange(10.0).view(5, 2)
    for size in (1, 2, 3, 5, 7):
        print(torch.func.vmap(lambda a: (a.sum(), a * 2), out_dims=(0, 1), chunk_size=size)(x))


def complex_derivatives(torch: Any) -> None:
    f = torch.func
    z = torch.tensor([1 + 2j, 3 - 1j])
    print(f.grad(lambda z: z.abs().sum())(z))
    print(f.vjp(lambda z: z**2, z)[1](torch.ones(2, dtype=torch.complex64)))
    print(f.jvp(lambda z: z**2, (z,), (torch.ones(2, dtype=torch.complex64),)))
    print(f.vmap(lambda z: z.conj() * z)(z))
    attempt(f.jacfwd(lambda z: z**2), z)
    attempt(f.jacrev(lambda z: z**2), z)
    attempt(f.jacfwd(lambda x: x * 1j), torch.tensor([1.0, 2.0]))
    attempt(f.jacrev(lambda x: x * 1j), torch.tensor([1.0, 2.0]))


def pytrees(torch: Any) -> None:
    from collections import OrderedDict, namedtuple

    P = namedtuple("P", "a b")
    x = torch.tensor([1.0, 2.0])
    print(torch.func.grad(lambda p: (p.a * p.b[0]).sum())(P(x, [x * 2])))
    print(torch.func.grad(lambda p: sum(v.sum() * 2 for v in p.values()))(OrderedDict(q=x, r=x)))
    print(torch.func.vmap(lambda p: P(p.a * 2, p.b))(P(x, x)))
    print(torch.func.vmap(lambda p: (p, [p, (p,)]))(x))
    print(torch.func.jacrev(lambda p: P(p["u"], p["v"] * 2))({"u": x, "v": x}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        print(torch.func.vjp(lambda a, b: [a * b, (a,)], x, x)[1]([x, (x,)]))


def tied_and_normalised(torch: Any) -> None:
    class Tied(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.foo = torch.nn.Parameter(torch.ones(1))
            self.tied = self.foo
            self.a = self.b = torch.nn.Linear(1, 1, bias=False)
            torch.nn.init.ones_(self.a.weight)

        def forward(self, x: Any) -> Any:
            return self.foo * x + self.tied + self.b(x) + self.a(x)

    net, zero, x = Tied(), torch.zeros(1), torch.ones(1)
    w = torch.full((1, 1), 5.0)
    for given in ({"foo": zero, "tied": zero + 1}, {"foo": zero, "tied": zero}, {"b.weight": w},
                  {"a.weight": w, "b.weight": w + 1}):  # fmt: skip
        for tie in (True, False):
            attempt(torch.func.functional_call, net, given, (x,), tie_weights=tie)
    for norm in (
        torch.nn.BatchNorm1d(3),
        torch.nn.BatchNorm1d(3).eval(),
        torch.nn.BatchNorm1d(3, track_running_stats=False),
    ):
        attempt(lambda norm=norm: torch.func.vmap(norm)(torch.ones(2, 4, 3)).shape)


def hessians_where_recording_is_off(torch: Any) -> None:
    func = torch.func
    x = torch.tensor([0.5, -2.0, 3.0])

    def constant(v: Any) -> Any:
        with torch.no_grad():
            c = v * 2
        return (c * v**2).sum()

    def whole(v: Any) -> Any:
        with torch.no_grad():
            return (v**3).sum()

    def switched(v: Any) -> Any:
        with torch.set_grad_enabled(False):
            c = v.exp()
        return (c + v) ** 2

    def back_on(v: Any) -> Any:
        with torch.no_grad(), torch.enable_grad():
            return (v**3).sum()

    for f in (constant, whole, switched, back_on, lambda v: (v.detach() * v**2).sum(), lambda v: v.sum()):
        print(func.hessian(f)(x) + 0)
    print(func.hessian(lambda a, b: (a * b**2).sum(), argnums=(0, 1))(x, x)[1][0] + 0)


def functions_of_what_has_no_derivative(torch: Any) -> None:
    func = torch.func
    x, n = torch.tensor([0.5, -2.0]), torch.arange(2)
    for transform in (func.jacrev, func.jacfwd, func.hessian):
        attempt(transform(lambda v: v * 2.0), n)
        attempt(transform(lambda v: v.long()), x)
        attempt(transform(lambda v: v > 0), x)
        attempt(transform(lambda v: ()), x)
        attempt(transform(lambda v: (v * v.conj()).real), x.to(torch.complex64))
    attempt(func.vjp, lambda v: v.long(), x)
    attempt(func.vjp, lambda v: (v, v.long()), x)
    attempt(func.vjp, lambda v: (), x)
    attempt(func.grad(lambda v: v.long().sum()), x)
    for p, t in ((n, n), (n, x), (x, n)):
        attempt(func.jvp, lambda v: v * 2.0, (p,), (t,))
    attempt(func.jvp, lambda v: v, (), ())
    attempt(func.jvp, lambda v: (), (x,), (x,))
    attempt(func.jvp, lambda v: v.long(), (x,), (x,))


def batches_of_no_samples(torch: Any) -> None:
    none, vmap = torch.ones(0, 3), torch.func.vmap
    print(vmap(torch.sum)(none), vmap(lambda x: (x, x.sum()))(none), vmap(torch.sin, 1, 1)(torch.ones(3, 0)))
    print(vmap(torch.mm)(torch.ones(0, 2, 3), torch.ones(0, 3, 4)).shape, vmap(torch.linalg.inv)(torch.ones(0, 2, 2)))
    print(vmap(lambda x: x.sort()[1])(none), vmap(lambda x: torch.nn.functional.layer_norm(x, (3,)))(none))
    print(vmap(lambda x: torch.nn.functional.conv1d(x[None], torch.ones(2, 3, 2)))(torch.ones(0, 3, 5)))
    print(vmap(vmap(torch.sin))(torch.ones(2, 0, 3)), vmap(torch.func.grad(lambda x: x.sum()))(none))
    print(vmap(torch.func.jacrev(torch.sin))(none), torch.func.jacfwd(torch.sin)(torch.ones(0)))
    print(torch.func.hessian(lambda x: x.sum())(torch.ones(0)))


def what_wants_a_gradient_within_transforms(torch: Any) -> None:
    x, func = torch.ones(2, 3), torch.func
    attempt(func.vmap(lambda x: x.requires_grad_()), x)
    attempt(func.jvp, lambda x: x.requires_grad_(), (x,), (x,))
    attempt(func.grad(lambda x: torch.ones(2).requires_grad_(False).sum()), x)
    attempt(func.vjp, lambda x: x.detach().requires_grad_(), x)
    attempt(func.grad(lambda x: torch.ones(2, requires_grad=True).sum()), x)
    leaf = torch.ones(2, requires_grad=True)
    made = leaf * 2
    made.register_hook(lambda g: print(torch.ones(1).requires_grad_()))
    print(torch.autograd.grad(made, leaf, torch.eye(2), is_grads_batched=True))
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(torch.ones(2), torch.ones(2))
        print(dual.requires_grad_().requires_grad)


def gradients_of_complex_results(torch: Any) -> None:
    attempt(torch.func.grad(lambda x: x.to(torch.cfloat).sum()), torch.ones(2))
    attempt(torch.func.grad_and_value(lambda x: (x * 1j).sum()), torch.ones(2))
    attempt(torch.func.grad(lambda x: torch.tensor(1j)), torch.ones(2))
    attempt(torch.func.grad(lambda z: z.abs().sum()), torch.ones(2, dtype=torch.cfloat))


def sizes_are_trees(torch: Any) -> None:
    tree = torch.utils._pytree
    print(
        tree.tree_flatten(torch.ones(2, 3).shape)[0], tree.tree_map(lambda x: x + 1, {"a": [1], "b": torch.Size([3])})
    )
    attempt(torch.func.vmap(lambda x: x.shape), torch.ones(2, 3))


def modules_of_what_is_no_tensor(torch: Any) -> None:
    layer, norm = torch.nn.Linear(2, 1), torch.nn.BatchNorm1d(2)
    for wrong in (3, None):
        attempt(torch.func.functional_call, layer, {"weight": wrong}, torch.ones(2))
    attempt(torch.func.functional_call, norm, {"running_mean": 3}, torch.ones(2, 2))
    print(norm.num_batches_tracked, layer.weight.shape)
