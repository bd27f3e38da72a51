"""Forward mode: dual levels, duals through ops, views and writes."""

from __future__ import annotations

from typing import Any

from . import attempt


def basics(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    x, t = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0])
    with fw.dual_level():
        d = fw.make_dual(x, t)
        print(d)
        print(fw.unpack_dual(d))
        y = (d * d).exp().sum()
        print(fw.unpack_dual(y).tangent, y.requires_grad)
        print(fw.unpack_dual(x).tangent)
        print(fw.unpack_dual(d.detach()).tangent)
    print(fw.unpack_dual(d).tangent)
    p, q = fw.unpack_dual(x)
    print(p is x, q)


def misuse(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    x = torch.tensor([1.0, 2.0])
    attempt(fw.make_dual, x, x)
    with fw.dual_level():
        attempt(fw.make_dual, x, torch.ones(3))
        attempt(fw.make_dual, x, torch.ones(2, dtype=torch.float64))
        attempt(fw.make_dual, torch.tensor([1, 2]), x)
        attempt(fw.make_dual, x, torch.tensor([1, 2]))
        d = fw.make_dual(x, x)
        attempt(fw.make_dual, d, x)

        def nest() -> None:
            with fw.dual_level():
                pass

        attempt(nest)
    attempt(fw.exit_dual_level)
    level = fw.enter_dual_level()
    print(level)
    fw.exit_dual_level(level=level)


def with_reverse(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    t = torch.tensor([1.0, 0.5])
    with fw.dual_level():
        d = fw.make_dual(x, t)
        y = (d**3).sum()
        moved = fw.unpack_dual(y).tangent
        print(moved)
        print(torch.autograd.grad(moved, x, retain_graph=True))
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        print(fw.unpack_dual(g).primal.detach(), fw.unpack_dual(g).tangent.detach())


def several_outputs(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    x, t = torch.tensor([[3.0, 1.0], [2.0, 5.0]]), torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    with fw.dual_level():
        d = fw.make_dual(x, t)
        v, i = d.max(1)
        print(fw.unpack_dual(v).tangent, fw.unpack_dual(i).tangent)
        a, b = d.unbind()
        print(fw.unpack_dual(b).tangent)
        s = torch.cat([d, x])
        print(fw.unpack_dual(s).tangent)
        print(fw.unpack_dual(torch.stack([x, d]).sum(0)).tangent)


def comparisons_and_integers(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    x, t = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0])
    with fw.dual_level():
        d = fw.make_dual(x, t)
        print(fw.unpack_dual(d > 1).tangent, fw.unpack_dual(d.long()).tangent, fw.unpack_dual(d.argmax()).tangent)
        print(fw.unpack_dual(torch.where(d > 1, d * 2, x)).tangent)
        print(fw.unpack_dual(d.round()).tangent, fw.unpack_dual(torch.ones_like(d)).tangent)
        if d[0] < 2:
            print(d[1].item(), float(d[0]), d.shape, d.tolist())


def views_of_duals(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    x, t = torch.arange(6.0).view(2, 3), torch.arange(6.0).view(2, 3) * 10
    with fw.dual_level():
        d = fw.make_dual(x, t)
        v = d[0].view(3, 1).t()
        print(fw.unpack_dual(v).tangent)
        print(fw.unpack_dual(d.t()[1:]).tangent, fw.unpack_dual(d.expand(2, 2, 3)).tangent.shape)
        p = fw.unpack_dual(d)
        print(p.primal.data_ptr() == x.data_ptr(), p.tangent.data_ptr() == t.data_ptr())


def writes(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    x, t = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0])
    with fw.dual_level():
        d = fw.make_dual(x.clone(), t.clone())
        y = d * 1
        y.mul_(3)
        print(fw.unpack_dual(y))
        y.add_(d)
        print(fw.unpack_dual(y).tangent)
        y.zero_()
        print(fw.unpack_dual(y).tangent)
        z = torch.zeros(2)
        z.add_(d)
        print(fw.unpack_dual(z))
        z.copy_(d * 2)
        print(fw.unpack_dual(z).tangent)
        w = d * 1
        w[0] = 5.0
        print(fw.unpack_dual(w))
        w[1] = d[0]
        print(fw.unpack_dual(w))


def writes_through_views(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    x, t = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 10.0, 100.0])
    with fw.dual_level():
        d = fw.make_dual(x.clone(), t.clone())
        y = d * 1
        v = y[1:]
        v.mul_(2)
        print(fw.unpack_dual(y))
        y.add_(d)
        print(fw.unpack_dual(v))
        base = torch.zeros(3)
        base[0:2].copy_(d[1:])
        print(fw.unpack_dual(base))


def linear_algebra(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    a, t = torch.tensor([[2.0, 1.0], [1.0, 3.0]]), torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    with fw.dual_level():
        d = fw.make_dual(a, t)
        print(fw.unpack_dual(d @ d).tangent)
        print(fw.unpack_dual(torch.linalg.inv(d)).tangent)
        print(fw.unpack_dual(torch.softmax(d, 1)).tangent)
        print(fw.unpack_dual(torch.nn.functional.layer_norm(d, (2,))).tangent)
        print(fw.unpack_dual(torch.nn.functional.cross_entropy(d, torch.tensor([0, 1]))).tangent)


def complex_duals(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    x = torch.tensor([1 + 2j, 3 - 1j])
    with fw.dual_level():
        d = fw.make_dual(x, torch.tensor([1j, 1 + 0j]))
        print(fw.unpack_dual(d * d).tangent)
        print(fw.unpack_dual(d.abs()).tangent)
        print(fw.unpack_dual(d.conj() * d).tangent, fw.unpack_dual(d.real).tangent)


def no_grad_does_not_matter(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    with fw.dual_level(), torch.no_grad():
        d = fw.make_dual(torch.ones(2), torch.ones(2))
        print(fw.unpack_dual(d * 3).tangent)


def modules(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    linear = torch.nn.Linear(2, 1)
    with torch.no_grad():
        linear.weight.copy_(torch.tensor([[1.0, 2.0]]))
        linear.bias.zero_()
    with fw.dual_level():
        d = fw.make_dual(torch.ones(1, 2), torch.tensor([[1.0, 10.0]]))
        print(fw.unpack_dual(linear(d)).tangent.detach())
        out = torch.func.functional_call(
            linear, {"weight": fw.make_dual(linear.weight, torch.ones(1, 2)), "bias": linear.bias}, (torch.ones(1, 2),)
        )
        print(fw.unpack_dual(out).tangent.detach())


def writes_into_parts_of_what_is_no_dual(torch: Any) -> None:
    f = torch.func
    x = torch.arange(1.0, 5.0)

    def shifted(x: Any) -> Any:
        y = torch.zeros_like(x)
        y[1:] += x[:-1] ** 2
        return y

    def back_again(x: Any) -> Any:
        y = torch.zeros(4)
        v = y[1:]
        v += x[:-1] ** 2
        y[1:] = v
        return y

    def by_elements(x: Any) -> Any:
        y = torch.zeros(4)
        y[0] = x[0]
        y[1:] *= x[1:]
        y[1:] = x[0]
        y[2] -= y[3].detach() * x[1]
        return y

    def seen_by_an_earlier_view(x: Any) -> Any:
        y = torch.zeros(4)
        v = y.view(2, 2).t()
        y[1:] += x[:-1] ** 2
        return y * v[1, 0] + v.reshape(4)

    for fn in (shifted, back_again, by_elements, seen_by_an_earlier_view):
        print(f.jvp(fn, (x,), (x,)))
        print(f.jacfwd(fn)(x), f.jacrev(fn)(x))
        print(f.grad(lambda x, fn=fn: f.jvp(fn, (x,), (x,))[1].sum())(x))
