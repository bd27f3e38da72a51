"""Backward and grad: what is computed, accumulated, kept and refused."""

from __future__ import annotations

from typing import Any

from . import attempt


def non_scalar(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    attempt(y.backward)
    attempt(y.backward, torch.ones(3))
    attempt(y.backward, torch.ones(2, 1))
    attempt(torch.autograd.backward, [y, y], [torch.ones(2)])
    attempt(y.backward, 1.0)
    attempt(y.backward, torch.ones(2, dtype=torch.complex64))
    y.backward(torch.tensor([1.0, 10.0]))
    print(x.grad)


def no_graph(torch: Any) -> None:
    x = torch.ones(2)
    attempt(x.sum().backward)
    attempt(x.backward)
    attempt(torch.autograd.backward, [x.sum(), x.sum().requires_grad_()])
    y = torch.ones((), requires_grad=True)
    y.backward()
    print(y.grad)
    attempt(torch.autograd.grad, x.sum(), x)
    attempt(torch.autograd.grad, (y * 2), x)
    z = torch.tensor(1, dtype=torch.int64)
    attempt(z.backward)


def complex_output(torch: Any) -> None:
    x = torch.tensor([1.0 + 2j], requires_grad=True)
    attempt((x * x).sum().backward)
    (x * x.conj()).real.sum().backward()
    print(x.grad)
    attempt((x * x).backward, torch.ones(1))
    (x * x).backward(torch.ones(1, dtype=torch.complex64))
    print(x.grad)


def second_backward(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = (x * x).sum()
    y.backward()
    attempt(y.backward)
    z = (x + x).sum()
    z.backward()
    attempt(z.backward)
    w = (x * x).sum()
    w.backward(retain_graph=True)
    w.backward()
    print(x.grad)
    attempt(w.backward)
    v = x.exp()
    v.sum().backward()
    attempt(v.sum().backward)
    a = x * 2
    b = a * a
    b.sum().backward()
    attempt(lambda: (a * 3).sum().backward())
    print(x.grad)


def partly_freed(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * x
    z = y.exp()
    torch.autograd.grad(z.sum(), y)
    attempt(lambda: torch.autograd.grad(y.sum(), x))
    attempt(lambda: torch.autograd.grad(z.sum(), y))


def accumulation(torch: Any) -> None:
    x = torch.ones(2, 3, requires_grad=True)
    (x * 2).sum().backward()
    g = x.grad
    (x * 3).sum().backward()
    print(x.grad is g, g, g._version, g.requires_grad)
    x.grad = None
    (x * 2).sum().backward(create_graph=True)
    print(x.grad)
    g = x.grad
    (x * 2).sum().backward(create_graph=True)
    print(x.grad is g, x.grad)
    x.grad = None
    (x * x).sum().backward(create_graph=True)
    print(x.grad)
    g = x.grad
    (x * x).sum().backward()
    print(x.grad is g, x.grad)
    (x * x).sum().backward(create_graph=True)
    print(x.grad is g, x.grad)


def accumulate_layout(torch: Any) -> None:
    x = torch.ones(3, 2).t().requires_grad_()
    (x * 2).sum().backward()
    print(x.grad.stride())
    y = torch.ones(4, 4)[:, :2].requires_grad_()
    (y * 2).sum().backward()
    print(y.grad.stride())
    z = torch.ones(2, 3, requires_grad=True)
    z.t().contiguous().t().backward(torch.arange(6.0).view(3, 2).t())
    print(z.grad, z.grad.stride())
    w = torch.ones(1).expand(3).requires_grad_()
    w.sum().backward()
    print(w.grad, w.grad.stride())
    v = torch.ones(3, requires_grad=True)
    v.sum().backward()
    print(v.grad.stride())


def accumulate_aliasing(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    g = torch.ones(2)
    x.backward(g)
    print(x.grad is g, x.grad.data_ptr() == g.data_ptr())
    a = torch.ones(2, requires_grad=True)
    b = torch.ones(2, requires_grad=True)
    (a + b).backward(g)
    print(a.grad.data_ptr() == b.grad.data_ptr(), a.grad.data_ptr() == g.data_ptr())
    a.grad.add_(5)
    print(b.grad, g)
    c = torch.ones(2, requires_grad=True)
    c.expand(2).backward(g)
    c.grad.mul_(3)
    print(g)


def grad_of_another_kind(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)

    def assign(g: Any) -> None:
        x.grad = g

    attempt(assign, torch.ones(3))
    attempt(assign, torch.ones(2, dtype=torch.float64))
    attempt(assign, 3)
    attempt(assign, x)
    attempt(assign, torch.ones(2))
    print(x.grad)
    (x * 2).sum().backward()
    print(x.grad)
    del x.grad
    print(x.grad)


def inputs_argument(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2, requires_grad=True)
    y = x * w
    z = (y * y).sum()
    z.backward(inputs=[w], retain_graph=True)
    print(x.grad, w.grad)
    z.backward(inputs=x, retain_graph=True)
    print(x.grad, w.grad)
    z.backward(inputs=[y], retain_graph=True)
    y.retain_grad()
    print(y.grad, x.grad)
    attempt(z.backward, inputs=[])
    attempt(z.backward, inputs=[torch.ones(2)])
    unused = torch.ones(2, requires_grad=True)
    z.backward(inputs=[unused], retain_graph=True)
    print(unused.grad)


def grad_unused(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    u = torch.ones(3, requires_grad=True)
    y = (x * 2).sum()
    attempt(torch.autograd.grad, y, [x, u], retain_graph=True)
    print(torch.autograd.grad(y, [x, u], allow_unused=True, retain_graph=True))
    print(torch.autograd.grad(y, [x, u], materialize_grads=True, retain_graph=True))
    attempt(torch.autograd.grad, y, [x, u], allow_unused=False, materialize_grads=True)
    attempt(torch.autograd.grad, y, [])
    attempt(torch.autograd.grad, [], [x])
    attempt(torch.autograd.grad, [y, y], [x], [torch.ones(())])
    attempt(torch.autograd.grad, y, [x], "1")
    attempt(torch.autograd.grad, y, [x], [1.0])
    print(torch.autograd.grad([y, y * 2], x, [torch.tensor(1.0), None]))


def grad_of_intermediate(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    z = (y * x).sum()
    print(torch.autograd.grad(z, [x, y], retain_graph=True))
    print(torch.autograd.grad(z, [y, z], retain_graph=True))
    print(torch.autograd.grad(z, z))
    a, b = torch.ones(4, requires_grad=True).chunk(2)
    out = (a * 2 + b * 3).sum()
    print(torch.autograd.grad(out, [a, b], retain_graph=True))
    print(torch.autograd.grad(out, [b]))
    s = torch.ones(2, requires_grad=True)
    print(torch.autograd.grad(s, s, torch.tensor([3.0, 4.0])))
    print(torch.autograd.grad((s * 2).sum(), [s, s]))
    p = s * 1
    print(torch.autograd.grad(p.sum() + (p * 2).sum(), [p, p, s]))


def grads_batched(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x.exp() * x.sum()
    print(torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True, retain_graph=True))
    u = torch.ones(2, requires_grad=True)
    print(torch.autograd.grad(y, [x, u], torch.eye(3), is_grads_batched=True, allow_unused=True, retain_graph=True))
    got = torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True, create_graph=True)[0]
    print(torch.autograd.grad(got.sum(), x))
    m = torch.ones(2, 2, requires_grad=True)
    a, b = (m @ m).unbind()
    w = torch.arange(6.0).view(3, 2)
    print(torch.autograd.grad([a, b], m, [w, w * 2], is_grads_batched=True))
    z = x * 1
    z[1] = z[0].clone() * z[2].clone()
    print(torch.autograd.grad(z, x, torch.eye(3), is_grads_batched=True))
    attempt(torch.autograd.grad, x.sum(), x, None, is_grads_batched=True)


def create_graph_and_higher_orders(torch: Any) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = x**4
    for _ in range(5):
        attempt(print, y)
        (y,) = torch.autograd.grad(y, x, create_graph=True)
    attempt(torch.autograd.grad, y, x)
    (g,) = torch.autograd.grad(x**2, x)
    print(g.requires_grad, g.grad_fn)
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    (g,) = torch.autograd.grad((w**3).sum(), w, create_graph=True)
    (g * g).sum().backward()
    print(w.grad)
    with torch.no_grad():
        (g,) = torch.autograd.grad(
            (w.detach().requires_grad_() ** 2).sum() if False else _fresh(torch, w), w, create_graph=True
        )
    print(g.requires_grad)


def _fresh(torch: Any, w: Any) -> Any:
    with torch.enable_grad():
        return (w**2).sum()


def grad_modes(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        y = x * 2
        print(y.requires_grad, y.is_leaf, torch.is_grad_enabled())
        with torch.enable_grad():
            print((x * 2).requires_grad)
        z = torch.ones(1, requires_grad=True)
        print(z.requires_grad)

    @torch.no_grad()
    def f(x: Any) -> Any:
        return x * 2

    print(f(x).requires_grad)

    @torch.no_grad()
    def gen(x: Any) -> Any:
        yield torch.is_grad_enabled()
        yield torch.is_grad_enabled()

    for on in gen(x):
        print(on, torch.is_grad_enabled())
    torch.set_grad_enabled(False)
    print((x * 2).requires_grad)
    torch.set_grad_enabled(True)
    with torch.set_grad_enabled(False):
        print((x * 2).requires_grad)
    print(torch.is_grad_enabled())
    try:
        with torch.no_grad():
            raise KeyError
    except KeyError:
        print(torch.is_grad_enabled())


def inference(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        y = x * 2
        print(y.requires_grad, y.is_inference(), torch.is_inference_mode_enabled(), torch.is_grad_enabled())
        y.add_(1)
        v = x.view(2)
        print(v.is_inference(), v.requires_grad)
        attempt(lambda: x.detach().add_(1))
        attempt(lambda: y._version)
        with torch.inference_mode(False):
            attempt(lambda: (x * y).requires_grad)
            attempt(lambda: y.add_(1))
    attempt(lambda: x * y)
    attempt(lambda: y.add_(1))
    attempt(lambda: y.requires_grad_())
    attempt(lambda: (y + x).requires_grad)
    attempt(lambda: y.clone().add_(1).requires_grad)
    attempt(lambda: y.view(2, 1).is_inference())
    w = y.clone()
    print(w.is_inference(), w.requires_grad)


def requires_grad_flags(torch: Any) -> None:
    x = torch.ones(2)
    attempt(lambda: torch.ones(2, dtype=torch.int64).requires_grad_())
    attempt(lambda: torch.ones(2, dtype=torch.int64, requires_grad=True))
    x.requires_grad_()
    y = x * 2

    def off() -> None:
        y.requires_grad = False

    attempt(off)
    attempt(y.requires_grad_)
    print(y.detach().requires_grad, y.is_leaf, x.is_leaf, y.grad)
    y.retain_grad()
    print(y.grad, y.retains_grad, x.retains_grad)
    attempt(torch.ones(2).retain_grad)


def deep_chain(torch: Any) -> None:
    x = torch.ones((), requires_grad=True)
    y = x
    for _ in range(20000):
        y = y + 1
    y.backward()
    print(x.grad, y)
    del y


def diamond_and_reuse(torch: Any) -> None:
    x = torch.tensor([2.0], requires_grad=True)
    a = x * x
    b = a * x
    c = a + b
    d = c * a
    d.backward()
    print(x.grad)
    x.grad = None
    y = x
    for _ in range(10):
        y = y + y
    y.backward()
    print(x.grad)


def hook_inside_backward(torch: Any) -> None:
    """Re-entrant passes, from a hook and from a Function."""
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2, requires_grad=True)

    def hook(g: Any) -> Any:
        with torch.enable_grad():
            (w * 3).sum().backward()
        return g * 2

    y = x * 2
    y.register_hook(hook)
    y.sum().backward()
    print(x.grad, w.grad)

    class Recompute(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.x = x.detach().requires_grad_()
            with torch.enable_grad():
                ctx.y = ctx.x**3
            return ctx.y.detach()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            print(torch.is_grad_enabled())
            with torch.enable_grad():
                ctx.y.backward(g)
            return ctx.x.grad

    x.grad = None
    Recompute.apply(Recompute.apply(x)).sum().backward()
    print(x.grad)


def error_in_the_middle(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2, requires_grad=True)

    def bad(g: Any) -> Any:
        raise KeyError("from the hook")

    y = x * w
    y.register_hook(bad)
    z = y * 2
    attempt(z.sum().backward)
    print(torch.is_grad_enabled(), x.grad, w.grad)
    (x * 2).sum().backward()
    print(x.grad)


def dtypes_along_edges(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x.double() * 2
    y.sum().backward()
    print(x.grad)
    h = torch.ones(2, dtype=torch.float16, requires_grad=True)
    (h * x.detach()).sum().backward()
    print(h.grad)
    z = torch.ones(2, dtype=torch.complex64, requires_grad=True)
    (z * x).abs().sum().backward()
    print(z.grad, x.grad)
    r = torch.ones(2, requires_grad=True)
    (r * (1 + 2j)).abs().sum().backward()
    print(r.grad)
    k = torch.ones(2, requires_grad=True)
    (k * 2).backward(torch.ones(2, dtype=torch.float64))
    print(k.grad)


def outputs_that_repeat(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = (x * x).sum()
    torch.autograd.backward([y, y])
    print(x.grad)
    x.grad = None
    torch.autograd.backward((x, x), (torch.ones(2), torch.ones(2)))
    print(x.grad)
    x.grad = None
    a, b = x.unbind()
    torch.autograd.backward([a, b, a])
    print(x.grad)
    x.grad = None
    (x * 2).sum().backward(torch.tensor(2.0, requires_grad=True))
    print(x.grad)


def deprecated_arguments(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    torch.autograd.backward(x, grad_variables=torch.ones(2))
    print(x.grad)
    attempt(torch.autograd.backward, x, torch.ones(2), grad_variables=torch.ones(2))
    attempt(torch.autograd.grad, x.sum(), x, only_inputs=False)


def undefined_gradients(torch: Any) -> None:
    x = torch.ones(4, requires_grad=True)
    a, b = x.chunk(2)
    a.sum().backward()
    print(x.grad)
    m = torch.tensor([[3.0, 1.0], [2.0, 5.0]], requires_grad=True)
    v, i = m.max(1)
    (v * 0).sum().backward()
    print(m.grad)
    m.grad = None
    s, ind = m.sort()
    s[0, 0].backward()
    print(m.grad)


def second_order_through_accumulated_grad(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x**3).sum().backward(create_graph=True)
    g = x.grad
    print(g)
    x.grad = None
    g.sum().backward()
    print(x.grad)


def saved_tensors_cut_off_in_place(torch: Any) -> None:
    class Kept(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return ctx.saved_tensors[0] * g

    uses: dict[str, Any] = {
        "a factor": lambda y: y * y,
        "a number": lambda y: y * 3,
        "an argument": lambda y: y.sin(),
        "among several": lambda y: torch.cumprod(y, 0) * y,
        "a view": lambda y: torch.mm(y[None], y[:, None]),
        "by hand": Kept.apply,
    }
    for name, use in uses.items():
        for again in (False, True):
            x = torch.ones(3, requires_grad=True)
            y = x.exp()
            z = use(y)
            print(name, y.detach_().requires_grad, y.is_leaf, y._version)
            if again and name not in ("a view", "by hand"):
                y.add_(1)
            attempt(torch.autograd.grad, z.sum(), x)
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    w = y.detach()
    y.detach_()
    w.add_(1)
    print(y._version, w._version, y.data._version)
    y.requires_grad_()
    z = y * y + y.sin() + torch.cumsum(y, 0) * y + Kept.apply(y)
    attempt(torch.autograd.grad, z.sum(), y, retain_graph=True)
    w.add_(1)
    attempt(torch.autograd.grad, z.sum(), y)
    for _ in range(3):
        y = y.detach().mul_(x).detach_().mul_(x)
    (y * y).sum().backward()
    print(x.grad, y._version)


def gradients_of_another_dtype(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    print(x.grad_dtype)
    x.grad_dtype = torch.float16
    x.register_hook(lambda g: print(g.dtype))
    x.register_post_accumulate_grad_hook(lambda p: print(p.grad))
    (x * 0.1).sum().backward()
    x.sum().backward()
    attempt(setattr, x, "grad_dtype", torch.float64)
    attempt(setattr, x, "grad", torch.ones(2))
    attempt(setattr, x, "grad_dtype", 3)
    x.grad = None
    x.grad_dtype = torch.float64
    x.sum().backward()
    x.grad = None
    x.grad_dtype = None
    x.grad = torch.ones(2, dtype=torch.float16)
    print(x.grad_dtype, x.grad, torch.autograd.grad(x.sum(), x))
    attempt(lambda: (x * 2).grad_dtype)
    layer = torch.nn.Linear(2, 1)
    layer.weight.grad_dtype = torch.float64
    layer(torch.ones(2)).backward()
    print(layer.weight.grad.dtype, layer.bias.grad.dtype)
