"""Custom functions: forward, backward, jvp, vmap, and every way to misuse them."""

from __future__ import annotations

from typing import Any

from . import attempt


def _double(torch: Any) -> Any:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    return Double


def _returning(torch: Any, value: Any, forward: Any = None) -> Any:
    class Odd(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *args: Any) -> Any:
            return forward(*args) if forward else args[0] * 2

        @staticmethod
        def backward(ctx: Any, *g: Any) -> Any:
            return value(*g) if callable(value) else value

    return Odd


def basics(torch: Any) -> None:
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x.exp()
            ctx.save_for_backward(y)
            print(ctx.needs_input_grad, torch.is_grad_enabled(), x.requires_grad)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (y,) = ctx.saved_tensors
            print(torch.is_grad_enabled(), y.grad_fn is not None)
            return g * y

    x = torch.tensor([0.0, 1.0], requires_grad=True)
    y = Exp.apply(x)
    print(y, type(y.grad_fn).__name__, y.grad_fn.name(), y.grad_fn.next_functions[0][0].name())
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    print(x.grad)
    attempt(y.sum().backward)
    (g,) = torch.autograd.grad(Exp.apply(x).sum(), x, create_graph=True)
    print(g, torch.autograd.grad(g.sum(), x))
    print(Exp.apply(x.detach()))
    with torch.no_grad():
        print(Exp.apply(x))


def wrong_gradients(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    for value in (
        None,
        torch.ones(3),
        torch.ones(1),
        (torch.ones(2), torch.ones(2)),
        (torch.ones(2), None),
        (),
        3,
        "grad",
        torch.ones(2, dtype=torch.float64),
        torch.ones(3, 2),
        [torch.ones(2)],
    ):
        x.grad = None
        attempt(_returning(torch, value).apply(x).sum().backward)
        print(x.grad)


def wrong_gradients_of_several(torch: Any) -> None:
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    F = _returning(torch, lambda g: g, lambda a, b, c: a * b)
    attempt(F.apply(x, w, 3).sum().backward)
    F = _returning(torch, lambda g: (g, g, g), lambda a, b, c: a * b)
    attempt(F.apply(x, w, 3).sum().backward)
    F = _returning(torch, lambda g: (g, None), lambda a, b, c: a * b)
    attempt(F.apply(x, w, 3).sum().backward)
    F = _returning(torch, lambda g: (g, None, None, None), lambda a, b, c: a * b)
    attempt(F.apply(x, w, 3).sum().backward)
    print(x.grad, w.grad)
    F = _returning(torch, lambda g: (g, g), lambda a, b: a * b)
    attempt(F.apply(x, torch.ones(2)).sum().backward)
    print(x.grad)


def forward_results(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    for made in (
        None,
        3,
        "s",
        lambda: [x * 2],
        lambda: (x * 2, 5, None),
        lambda: (x * 2).detach(),
        lambda: torch.ones(2),
        lambda: torch.tensor([1, 2]),
        lambda: (torch.tensor([1, 2]), x * 1.5),
    ):
        F = _returning(torch, lambda *g: g[0], lambda x, made=made: made() if callable(made) else made)

        def show(F: Any = F) -> Any:
            got = F.apply(x)
            return got, getattr(got, "requires_grad", None)

        attempt(show)


def non_tensor_arguments(torch: Any) -> None:
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, k: Any, name: Any = "n", flag: Any = None) -> Any:
            ctx.k = k
            print(ctx.needs_input_grad, name, flag)
            return x * k

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.k, None, None, None

    x = torch.ones(2, requires_grad=True)
    Scale.apply(x, 3, "a", [1]).sum().backward()
    print(x.grad)
    attempt(Scale.apply, x, 3)
    attempt(lambda: Scale.apply(x, k=2))
    attempt(lambda: Scale.apply(x, 3).sum().backward())
    attempt(Scale.apply)
    attempt(Scale)
    attempt(lambda: Scale()(x))


def several_outputs(torch: Any) -> None:
    class Split(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, a: Any, b: Any) -> Any:
            print(a, b)
            return a * 2 + b * 3

    x = torch.ones(2, requires_grad=True)
    p, q = Split.apply(x)
    print(p.grad_fn is q.grad_fn, p.output_nr, q.output_nr)
    q.sum().backward()
    print(x.grad)
    p, q = Split.apply(x)
    (p.sum() + q.sum()).backward()
    print(x.grad)


def materialize(torch: Any) -> None:
    class Pick(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, a: Any, b: Any) -> Any:
            print(a, b)
            return None if a is None else a * 2

    x = torch.ones(2, requires_grad=True)
    p, q = Pick.apply(x)
    q.sum().backward()
    print(x.grad)
    p, q = Pick.apply(x)
    p.sum().backward()
    print(x.grad)


def dirty(torch: Any) -> None:
    class Inplace(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    x = torch.ones(2, requires_grad=True)
    attempt(Inplace.apply, x)
    y = x * 1
    z = Inplace.apply(y)
    print(z is y, y, y._version, y.grad_fn.name())
    z.sum().backward()
    print(x.grad)
    b = x * 1
    v = b[0:1]
    w = Inplace.apply(v)
    print(w is v, b, b.grad_fn.name(), v.grad_fn.name())
    (b * 3).sum().backward()
    print(x.grad)
    t = torch.ones(2)
    print(Inplace.apply(t), t._version)

    class NotReturned(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            x.mul_(2)
            ctx.mark_dirty(x)
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

    attempt(NotReturned.apply, x * 1)

    class MarksOther(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x * 2
            ctx.mark_dirty(y)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

    attempt(MarksOther.apply, x * 1)


def not_marked_dirty(torch: Any) -> None:
    class Forgot(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            x.mul_(2)
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    x = torch.ones(2, requires_grad=True)
    y = x * 1
    z = Forgot.apply(y)
    print(z is y, y._version, z.grad_fn.name(), y.grad_fn.name())


def returning_inputs(torch: Any) -> None:
    class Identity(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 10

    x = torch.ones(2, requires_grad=True)
    y = Identity.apply(x)
    print(y is x, y.data_ptr() == x.data_ptr(), y._is_view(), y.grad_fn.name())
    y.sum().backward()
    print(x.grad)
    attempt(y.add_, 1)
    y = Identity.apply(x * 1)
    attempt(y.add_, 1)
    t = torch.ones(2)
    print(Identity.apply(t) is t, Identity.apply(t)._is_view())

    class Pair(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, k: Any) -> Any:
            return x, x * 2, k

        @staticmethod
        def backward(ctx: Any, *g: Any) -> Any:
            return g[0] + 2 * g[1], g[2]

    k = torch.ones(1)
    a, b, c = Pair.apply(x, k)
    print(a.requires_grad, b.requires_grad, c.requires_grad, c is k)
    a, b, c = Pair.apply(x, k.requires_grad_())
    (a.sum() + b.sum() + c.sum()).backward()
    print(x.grad, k.grad)


def returning_views(torch: Any) -> None:
    class View(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.view(2, 2)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g.view(4)

    x = torch.ones(4, requires_grad=True)
    y = View.apply(x)
    print(y._is_view(), y.grad_fn.name())
    attempt(y.mul_, 2)
    b = x * 1
    y = View.apply(b)
    attempt(y.mul_, 2)
    attempt(y[0].mul_, 2)
    b.mul_(2)
    attempt(lambda: y * 1)
    y.sum().backward() if False else None

    class TwoViews(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x[:2], x[2:]

        @staticmethod
        def backward(ctx: Any, a: Any, b: Any) -> Any:
            return torch.cat([a, b])

    p, q = TwoViews.apply(x * 1)
    attempt(p.mul_, 2)


def non_differentiable(torch: Any) -> None:
    class Sort(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            s, i = x.sort()
            f = x * 0 + 5
            ctx.mark_non_differentiable(i, f)
            ctx.save_for_backward(i)
            return s, i, f

        @staticmethod
        def backward(ctx: Any, g: Any, gi: Any, gf: Any) -> Any:
            (i,) = ctx.saved_tensors
            print(g, gi, gf)
            out = torch.zeros_like(g)
            out[i] = g
            return out

    x = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
    s, i, f = Sort.apply(x)
    print(s.requires_grad, i.requires_grad, f.requires_grad, f.grad_fn)
    (s * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    print(x.grad)


def saving(torch: Any) -> None:
    class Saves(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, what: Any) -> Any:
            ctx.save_for_backward(*what)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            print(ctx.saved_tensors)
            return g, None

    x = torch.ones(2, requires_grad=True)
    attempt(Saves.apply(x, (None, x)).sum().backward)
    attempt(lambda: Saves.apply(x, (3,)))
    attempt(lambda: Saves.apply(x, ([x],)))
    y = Saves.apply(x, ())
    y.sum().backward()
    attempt(y.sum().backward)
    w = torch.ones(2)
    y = Saves.apply(x, (w,))
    w.add_(1)
    attempt(y.sum().backward)
    y = Saves.apply(x, (w,))
    y.sum().backward()
    attempt(lambda: y.grad_fn.saved_tensors)
    y = Saves.apply(x, (w, x))
    print(y.grad_fn.saved_tensors, y.grad_fn.saved_tensors[1] is x, y.grad_fn.needs_input_grad)

    class SavesResult(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x.exp()
            mid = x * 3
            ctx.save_for_backward(y, mid)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            y, mid = ctx.saved_tensors
            print(y.requires_grad, mid.requires_grad)
            return g * y

    y = SavesResult.apply(x)
    y.sum().backward(retain_graph=True)
    y.mul_(2)
    attempt(y.sum().backward)


def split_context(torch: Any) -> None:
    class Power(torch.autograd.Function):
        @staticmethod
        def forward(x: Any, n: Any) -> Any:
            return x**n, x * 2

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            x, ctx.n = inputs
            print(type(output).__name__, ctx.needs_input_grad)
            ctx.save_for_backward(x)
            ctx.mark_non_differentiable(output[1])

        @staticmethod
        def backward(ctx: Any, g: Any, _: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * ctx.n * x ** (ctx.n - 1), None

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y, z = Power.apply(x, 3)
    print(z.requires_grad)
    y.sum().backward()
    print(x.grad)
    (g,) = torch.autograd.grad(Power.apply(x, 3)[0].sum(), x, create_graph=True)
    print(torch.autograd.grad(g.sum(), x))


def missing_methods(torch: Any) -> None:
    class Nothing(torch.autograd.Function):
        pass

    class OnlyForward(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def vjp(ctx: Any, g: Any) -> Any:
            return g * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    class Vjp(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def vjp(ctx: Any, g: Any) -> Any:
            return g * 2

    x = torch.ones(2, requires_grad=True)
    attempt(Nothing.apply, x)
    attempt(lambda: OnlyForward.apply(x).sum().backward())
    attempt(lambda: Both.apply(x).sum().backward())
    attempt(lambda: Vjp.apply(x).sum().backward())
    print(x.grad)


def once(torch: Any) -> None:
    once_differentiable = torch.autograd.function.once_differentiable

    class Once(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        @once_differentiable
        def backward(ctx: Any, g: Any) -> Any:
            print(torch.is_grad_enabled())
            return 2 * ctx.saved_tensors[0] * g

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    Once.apply(x).sum().backward()
    print(x.grad)
    (g,) = torch.autograd.grad(Once.apply(x).sum(), x, create_graph=True)
    print(g)
    attempt(lambda: torch.autograd.grad(g.sum(), x))
    w = torch.ones(2, requires_grad=True)
    (g,) = torch.autograd.grad((Once.apply(x) * w).sum(), x, create_graph=True)
    print(g.requires_grad, g.grad_fn.name())
    attempt(lambda: torch.autograd.grad(g.sum(), w))


def forward_mode(torch: Any) -> None:
    fw = torch.autograd.forward_ad

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, k: Any) -> Any:
            ctx.save_for_forward(x)
            ctx.k = k
            return x * x * k

        @staticmethod
        def jvp(ctx: Any, t: Any, tk: Any) -> Any:
            (x,) = ctx.saved_for_forward
            print(tk)
            return 2 * x * t * ctx.k

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g, None

    x = torch.tensor([1.0, 2.0])
    with fw.dual_level():
        y = Square.apply(fw.make_dual(x, torch.tensor([1.0, 10.0])), 3)
        print(fw.unpack_dual(y))
    with fw.dual_level():
        attempt(_double(torch).apply, fw.make_dual(x, x))


def under_vmap(torch: Any) -> None:
    class Scale(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any, w: Any) -> Any:
            return x * w

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, w = ctx.saved_tensors
            return g * w, g * x

    x, w = torch.arange(6.0).view(3, 2), torch.tensor([1.0, 10.0])
    print(torch.func.vmap(Scale.apply, in_dims=(0, None))(x, w))
    print(
        torch.func.vmap(torch.func.grad(lambda a, b: Scale.apply(a, b).sum(), argnums=(0, 1)), in_dims=(0, None))(x, w)
    )
    print(torch.func.jacrev(Scale.apply)(w, w))

    class Own(torch.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x.sum()

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.shape = inputs[0].shape

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g.expand(ctx.shape)

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any) -> Any:
            print(info.batch_size, info.randomness)
            return x.sum(1 - in_dims[0]), 0

    print(torch.func.vmap(Own.apply, in_dims=1)(x))


def under_transforms(torch: Any) -> None:
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x**3

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(inputs[0])
            ctx.save_for_forward(inputs[0])

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 3 * x**2 * g

        @staticmethod
        def jvp(ctx: Any, t: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 3 * x**2 * t

    x = torch.tensor(2.0)
    grad = torch.func.grad
    print(grad(Cube.apply)(x), grad(grad(Cube.apply))(x), grad(grad(grad(Cube.apply)))(x))
    print(torch.func.jvp(Cube.apply, (x,), (torch.tensor(1.0),)))


def hooks_and_graph(torch: Any) -> None:
    D = _double(torch)
    x = torch.ones(2, requires_grad=True)
    y = D.apply(x)
    y.register_hook(lambda g: g * 3)
    y.grad_fn.register_hook(lambda i, o: print(i, o))
    y.grad_fn.register_prehook(lambda o: print(o))
    y.retain_grad()
    y.sum().backward()
    print(x.grad, y.grad)
    print(isinstance(y.grad_fn, torch.autograd.graph.Node), y.grad_fn.metadata)


def intermediate_leaves(torch: Any) -> None:
    class Inner(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            with torch.enable_grad():
                ctx.inner = x.detach().requires_grad_()
                ctx.out = (ctx.inner**3).sum()
            return ctx.out.detach()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (gx,) = torch.autograd.grad(ctx.out, ctx.inner, g)
            return gx

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    Inner.apply(x).backward()
    print(x.grad)


def raising(torch: Any) -> None:
    class Raises(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            raise ZeroDivisionError("in backward")

    x = torch.ones(2, requires_grad=True)
    attempt(Raises.apply(x).sum().backward)
    print(torch.is_grad_enabled())

    class RaisesForward(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            raise ZeroDivisionError("in forward")

    attempt(RaisesForward.apply, x)
    print(torch.is_grad_enabled(), (x * 2).requires_grad)


def attributes(torch: Any) -> None:
    class Keeps(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.note = "kept"
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            print(ctx.note)
            return g

    x = torch.ones(2, requires_grad=True)
    y = Keeps.apply(x)
    print(y.grad_fn.note)
    y.sum().backward()
    print(issubclass(Keeps, torch.autograd.Function), Keeps.__name__)
    attempt(lambda: y.grad_fn.nothing)


def mixed_dtypes(torch: Any) -> None:
    class Cast(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, i: Any) -> Any:
            print(ctx.needs_input_grad)
            return x.double() * i

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            print(g.dtype)
            return g, None

    x = torch.ones(2, requires_grad=True)
    Cast.apply(x, torch.tensor([1, 2])).sum().backward()
    print(x.grad)


def complex_values(torch: Any) -> None:
    D = _returning(torch, lambda g: g * (1 + 1j), lambda x: x * 2)
    z = torch.ones(2, dtype=torch.complex64, requires_grad=True)
    D.apply(z).abs().sum().backward()
    print(z.grad)


def tangents_that_are_not_there(torch: Any) -> None:
    fw = torch.autograd.forward_ad

    def scaled(materialize: Any) -> Any:
        class Scaled(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any, y: Any, k: Any, i: Any) -> Any:
                if materialize is not None:
                    ctx.set_materialize_grads(materialize)
                return x * y * k

            @staticmethod
            def jvp(ctx: Any, *tangents: Any) -> Any:
                print(tangents)
                return next(t for t in tangents if t is not None)

        return Scaled

    a, i = torch.tensor([1.0, 2.0]), torch.tensor(1)
    for materialize in (None, True, False):
        with fw.dual_level():
            d = fw.make_dual(a.clone(), a.clone())
            print(fw.unpack_dual(scaled(materialize).apply(d, torch.ones(2), 2.0, i)).tangent)
            print(fw.unpack_dual(scaled(materialize).apply(torch.ones(2), d, 2.0, torch.ones(3))).tangent)

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(x: Any, y: Any) -> Any:
            return x * y

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_forward(*inputs)

        @staticmethod
        def jvp(ctx: Any, tx: Any, ty: Any) -> Any:
            x, y = ctx.saved_tensors
            return x * ty + y * tx

    print(torch.func.jvp(lambda x: Product.apply(x, torch.ones(2)), (a,), (a,)))
    print(torch.func.jvp(lambda x: Product.apply(torch.ones(2), x), (a,), (a,)))


def saved_tensors_that_are_read_once(torch: Any) -> None:
    class Once(torch.autograd.Function):
        clear_saved_tensors_on_access = True

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * x

    x = torch.ones(2, requires_grad=True)
    y = Once.apply(x)
    print(y.grad_fn.saved_tensors)
    attempt(lambda: y.grad_fn.saved_tensors)
    for keep in (True, False):
        y = Once.apply(x)
        y.sum().backward(retain_graph=keep)
        attempt(y.sum().backward)
        attempt(lambda y=y: y.grad_fn.saved_tensors)
    print(x.grad)


def gradients_in_a_list(torch: Any) -> None:
    class Boxed(torch.autograd.Function):
        boxed_grads_call = True

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, gs: Any) -> Any:
            print(gs)
            return gs.pop() * 3 + gs.pop() * 2

    x = torch.ones(2, requires_grad=True)
    a, b = Boxed.apply(x)
    (a * b).sum().backward()
    print(x.grad)
    Boxed.apply(x)[0].sum().backward()
    print(x.grad)


def vjp_is_another_name_of_backward(torch: Any) -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def vjp(ctx: Any, g: Any) -> Any:
            return g * 2

    x = torch.ones(2, requires_grad=True)
    Double.apply(x).sum().backward()
    print(x.grad, torch.autograd.Function.vjp is torch.autograd.Function.backward)
    Double.backward = staticmethod(lambda ctx, g: g)
    attempt(Double.apply(x).sum().backward)
