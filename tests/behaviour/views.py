"""Views and in-place ops: versions, history, and what is refused."""

from __future__ import annotations

from typing import Any

from . import attempt


def versions(torch: Any) -> None:
    x = torch.ones(4)
    v = x[1:]
    d = x.detach()
    a = x.data
    print(x._version, v._version, d._version, a._version)
    x.add_(1)
    print(x._version, v._version, d._version, a._version)
    v.mul_(2)
    print(x._version, v._version, d._version, a._version)
    d.mul_(2)
    print(x._version, v._version, d._version, a._version)
    a.mul_(2)
    print(x._version, v._version, d._version, a._version)
    with torch.no_grad():
        x.zero_()
    print(x._version, a._version, x)
    x[0] = 5
    print(x._version)
    torch.add(x, 1, out=x)
    print(x._version)
    x.copy_(torch.zeros(4))
    print(x._version)


def modified_saved(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = y * y
    y.add_(1)
    attempt(z.sum().backward)
    y = x.exp()
    y.mul_(2)
    attempt(y.sum().backward)
    y = x.exp()
    y[0] = 0
    attempt(y.sum().backward)
    w = torch.ones(2)
    y = x * w
    w.add_(1)
    attempt(y.sum().backward)
    w = torch.ones(2)
    y = x + w
    w.add_(1)
    attempt(y.sum().backward)
    w = torch.ones(2)
    y = x * w
    w.data.add_(1)
    attempt(y.sum().backward)
    print(x.grad)
    w = torch.ones(2)
    y = x * w
    w.detach().add_(1)
    attempt(y.sum().backward)
    m = torch.ones(2, 2, requires_grad=True)
    q = m.mm(m.detach().clone().requires_grad_())
    with torch.no_grad():
        m.add_(1)
    attempt(q.sum().backward)
    s = (x * 1).sigmoid()
    s.sub_(1)
    attempt(s.sum().backward)
    t = x * 1
    u = t[0] * t[1]
    t[0] = 7
    attempt(u.backward)


def leaf_in_place(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    attempt(x.add_, 1)
    attempt(x.__setitem__, 0, 1.0)
    attempt(x[0].add_, 1)
    attempt(x.view(2).zero_)
    attempt(lambda: x.view(2)[0].fill_(3))
    with torch.no_grad():
        x.add_(1)
        x[0] = 5
    print(x, x._version)
    x.data.add_(1)
    print(x, x._version)
    x.detach().add_(1)
    print(x, x._version)
    y = torch.zeros(2)
    y.add_(x)
    print(y, y.requires_grad, y.is_leaf)
    z = torch.zeros(2)
    z[0] = x[0]
    print(z)
    z.sum().backward()
    print(x.grad)


def base_then_view(torch: Any) -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    b = x * 1
    v = b[0]
    b.mul_(2)
    print(v, b)
    (v * v).sum().backward()
    print(x.grad)


def view_then_base(torch: Any) -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    b = x * 1
    v = b[0]
    v.mul_(3)
    print(v, b, v._base is b)
    (b * b).sum().backward()
    print(x.grad)
    x.grad = None
    b = x * 1
    b.t()[0].mul_(b.detach()[1].clone())
    b[1].exp_()
    print(b)
    b.sum().backward()
    print(x.grad)


def chains_of_views(torch: Any) -> None:
    x = torch.arange(12.0).view(3, 4).requires_grad_()
    b = x * 1
    v = b.t()[1:3].unsqueeze(0)[..., 1:]
    w = b.view(-1)[::3]
    v.mul_(2)
    w.add_(1)
    print(v.grad_fn, w.grad_fn, b.grad_fn)
    out = (b * b).sum() + v.sum() * w.sum()
    out.backward()
    print(x.grad)
    print(v._base is b, w._base is b, v.requires_grad)


def value_into_view(torch: Any) -> None:
    base = torch.zeros(2, 2)
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    v = base[0]
    u = base[1]
    print(v.requires_grad, u.requires_grad, base.requires_grad)
    v.copy_(x)
    print(v.requires_grad, u.requires_grad, base.requires_grad, u.is_leaf, u.grad_fn)
    (base * base).sum().backward()
    print(x.grad, base.grad_fn)


def multi_output_views(torch: Any) -> None:
    x = torch.arange(6.0).requires_grad_()
    b = x * 1
    p, q = b.chunk(2)
    attempt(p.add_, 1)
    r = b.unbind()[0]
    attempt(r.add_, 1)
    s, t = b.split(3)
    with torch.no_grad():
        s.add_(1)
    print(b)
    attempt(lambda: (s * 2).sum().backward())
    attempt(lambda: p.grad_fn)
    b = x * 1
    p, q = b.chunk(2)
    b.add_(1)
    attempt(lambda: p.grad_fn)
    attempt(lambda: p * 2)
    base = torch.zeros(4)
    p, q = base.chunk(2)
    p.add_(1)
    print(base)
    attempt(p.add_, torch.ones(2, requires_grad=True))
    c = torch.ones(2, 2, requires_grad=True).clone()
    for row in c:
        attempt(row.mul_, 2)


def views_under_no_grad(torch: Any) -> None:
    x = torch.ones(4, requires_grad=True)
    b = x * 1
    with torch.no_grad():
        v = b[:2]
    print(v.requires_grad, v.grad_fn, v.is_leaf)
    attempt(v.add_, 1)
    with torch.no_grad():
        v.add_(1)
    print(b)
    attempt(lambda: v.grad_fn)
    attempt(lambda: v * 2)
    base = torch.zeros(4)
    with torch.no_grad():
        w = base[:2]
    attempt(w.add_, 1)
    attempt(w.add_, torch.ones(2, requires_grad=True))
    with torch.no_grad():
        w = base[:2]
    base.add_(torch.ones(4, requires_grad=True))
    attempt(lambda: w.grad_fn)
    attempt(lambda: w.requires_grad)


def views_in_inference_mode(torch: Any) -> None:
    x = torch.ones(4, requires_grad=True)
    b = x * 1
    with torch.inference_mode():
        v = b[:2]
        print(v.is_inference())
        v.add_(1)
    attempt(v.add_, 1)
    print(b._version)
    attempt(lambda: v.grad_fn)


def detach_and_data(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    d = y.detach()
    print(d.requires_grad, d.is_leaf, d._base, d._is_view(), d.data_ptr() == y.data_ptr())
    d.zero_()
    print(y)
    z = y * y
    y.detach_()
    print(y.requires_grad, y.grad_fn, z.requires_grad)
    b = x * 1
    v = b[0]
    attempt(v.detach_)
    b.detach_()
    attempt(lambda: v.grad_fn)
    e = torch.ones(2)

    def set_data() -> None:
        e.data = torch.zeros(3)

    attempt(set_data)
    print(e, e._version)
    e.data = torch.zeros(2, dtype=torch.float64)
    print(e.dtype)
    p = torch.ones(2, requires_grad=True)
    q = (p * p).sum()
    p.data = torch.full((2,), 5.0)
    attempt(q.backward)
    print(p.grad)


def expanded(torch: Any) -> None:
    x = torch.ones(1, 3)
    e = x.expand(2, 3)
    attempt(e.add_, 1)
    attempt(e.zero_)
    attempt(e.fill_, 3)
    attempt(e.copy_, torch.ones(2, 3))
    attempt(e.__setitem__, (slice(None), 0), 5.0)
    print(x)
    y = torch.ones(3, requires_grad=True)
    z = (y * 1).expand(2, 3)
    (z * torch.tensor([[1.0], [2.0]])).sum().backward()
    print(y.grad)


def in_place_nodes(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    for write in (
        lambda: y.add_(1),
        lambda: y.mul_(y.detach().clone()),
        lambda: y.exp_(),
        lambda: y.clamp_(0, 100),
        lambda: y.fill_(2),
        lambda: y.zero_(),
        lambda: y.copy_(x),
        lambda: y.__setitem__(0, x[2]),
        lambda: y.masked_fill_(y > 2.5, 0.5),
        lambda: y.index_fill_(0, torch.tensor([1]), 4),
        lambda: y.t_(),
        lambda: y.unsqueeze_(0),
        lambda: y.squeeze_(0),
        lambda: y.relu_(),
        lambda: y.pow_(2),
        lambda: y.div_(2),
        lambda: y.sigmoid_(),
        lambda: y.cumsum_(0),
    ):
        attempt(lambda w=write: (w(), y.grad_fn)[1])
    y.sum().backward()
    print(x.grad)


def in_place_results(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 1
    attempt(y.add_, torch.ones(3, 2))
    attempt(torch.ones(2, dtype=torch.int64).add_, 1.5)
    attempt(torch.ones(2).add_, torch.ones(2, dtype=torch.complex64))
    print(y, y._version)
    i = torch.ones(2, dtype=torch.int64)
    attempt(i.add_, x)
    print(i, i.requires_grad)


def out_arguments(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    attempt(lambda: torch.add(x, 1, out=torch.empty(2)))
    attempt(lambda: torch.add(x.detach(), 1, out=x))
    with torch.no_grad():
        print(torch.add(x, 1, out=x))
    print(x)
    o = torch.empty(0)
    torch.mul(torch.ones(2), 3, out=o)
    print(o)


def hooks_and_retain(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: print("before the write", g))
    y.mul_(3)
    y.register_hook(lambda g: print("after the write", g))
    (y * 5).sum().backward()
    print(y.grad, x.grad)
    b = x * 1
    v = b[0]
    v.retain_grad()
    b.retain_grad()
    v.mul_(7)
    (b * 2).sum().backward()
    print(b.grad, v.grad)


def double_backward_through_views(torch: Any) -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    b = x * x
    b[0].mul_(x[1])
    b.t()[1].exp_()
    (g,) = torch.autograd.grad(b.sum(), x, create_graph=True)
    (h,) = torch.autograd.grad((g * g).sum(), x)
    print(g)
    print(h)


def as_strided_views(torch: Any) -> None:
    x = torch.arange(6.0).requires_grad_()
    b = x * 1
    w = b.as_strided((2, 3), (1, 2), 1)
    attempt(lambda: w * 1)
    w = b.as_strided((2, 2), (3, 1), 1)
    w.mul_(2)
    (b * b).sum().backward()
    print(x.grad)
    o = (x * 1).as_strided((3, 2), (1, 1))
    o.sum().backward()
    print(x.grad)


def complex_views(torch: Any) -> None:
    x = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    b = x * 1
    r = torch.view_as_real(b)
    r.mul_(2)
    b.abs().sum().backward()
    print(x.grad)
    x.grad = None
    b = x * 1
    attempt(b.real.mul_, 3)
    b.abs().sum().backward()
    print(x.grad, b.grad_fn)
    b = x * 1
    b.mul_(2j)
    print(b)


def functions_of_views_later(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    b = x.clone()
    v = b.view(2, 2)
    w = v[0]
    first = w * 2
    b[0] = 10.0
    second = w * 2
    (first.sum() + second.sum()).backward()
    print(x.grad, first, second)
    print(w.grad_fn, v.grad_fn)


def setitem_forms(torch: Any) -> None:
    x = torch.arange(6.0).view(2, 3).requires_grad_()
    v = torch.tensor([5.0, 6.0], requires_grad=True)
    b = x * 1
    b[:, 1] = v
    b[torch.tensor([0, 1]), torch.tensor([2, 0])] = v * 2
    b[b > 11] = 0
    b[0, 0] = v[0]
    b[..., None][1] += 1
    print(b)
    (b * b).sum().backward()
    print(x.grad, v.grad)


def swaps_in_place(torch: Any) -> None:
    x = torch.ones(2, 3, requires_grad=True)
    y = x * 1
    y.t_()
    print(y.shape, y.grad_fn, y._version)
    z = y * torch.arange(6.0).view(3, 2)
    z.sum().backward()
    print(x.grad)
    attempt(lambda: x.t_())
    attempt(lambda: (x * 1).resize_(6))


def view_of_view_under_modes(torch: Any) -> None:
    x = torch.ones(4, requires_grad=True)
    b = x * 1
    v = b[:3]
    with torch.no_grad():
        w = v[:2]
    attempt(w.mul_, 2)
    u = w[:1]
    attempt(u.mul_, 2)
    p = b.chunk(2)[0]
    q = p[:1]
    attempt(q.mul_, 2)
    print(b)


def fast_in_place_on_non_views(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    y.mul_(y)
    attempt(y.sum().backward)
    print(x.grad)
    y = x * 1
    y += y
    y *= x
    y -= x
    y /= 2
    y **= 2
    y.sum().backward()
    print(y, x.grad)


def an_element_of_what_is_written(torch: Any) -> None:
    for name in "add_ sub_ mul_ div_ pow_ remainder_ atan2_ eq_ hypot_ copy_ fill_".split():
        for x in (torch.arange(1.0, 4.0), torch.arange(1.0, 4.0).requires_grad_() * 1):
            attempt(getattr(x, name), x[1])
    x = torch.arange(1.0, 4.0)
    x[1:] -= x[0]
    x[1] -= x[1]
    print(x)
    x[:] = x[2]
    print(x)
    one = torch.ones(1)
    attempt(one.sub_, one[0])
    attempt(one.sub_, one.view(1))
    attempt(torch.ones(2, 2).sub_, torch.ones(()))


def leaves_that_are_views(torch: Any) -> None:
    for f in (lambda y: y.split(2), lambda y: (y[:2], y[2:])):
        y = torch.ones(4)
        a, b = f(y)
        a.requires_grad_()
        b.add_(1)
        print(a, b, a.is_leaf, y.requires_grad)
        (a * 2).sum().backward()
        attempt(a.mul_, 2)
        y.mul_(2)
        print(a, a.grad)
        attempt(y.mul_, torch.ones(4, requires_grad=True))
        attempt(lambda a=a: (a.is_leaf, a.grad_fn))


def retained_by_a_view_whose_base_is_written(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    for asked in (True, False):
        y = x * 2
        v = y[0]
        v.retain_grad()
        v.register_hook(lambda g: print("first", g))
        w = v * 2
        y.mul_(3)
        if asked:
            print(v.grad_fn)
            v.register_hook(lambda g: print("second", g))
        (w + v).backward()
        print(v.grad, x.grad)


def views_without_history(torch: Any) -> None:
    x = torch.ones(4, requires_grad=True)
    for base in (x, x * 2):
        with torch.no_grad():
            v = base[:2]
        v.register_hook(lambda g: print("hook", g))
        v.register_post_accumulate_grad_hook(lambda p: print("after", p))
        (v * 2).sum().backward()
        print(v.grad, x.grad, v.is_leaf, v.requires_grad)
        attempt(torch.autograd.grad, (v * 2).sum(), v)
        print(torch.autograd.grad((v * 2).sum(), v, allow_unused=True))


def copied_from_more_dimensions(torch: Any) -> None:
    for dtype in (torch.float32, torch.float64):
        attempt(torch.ones(3).copy_, torch.ones(1, 3, dtype=dtype))
        attempt(torch.ones(()).copy_, torch.ones(1, dtype=dtype))
        print(torch.ones(2, 3).copy_(torch.ones(2, 1, dtype=dtype) * 2))
    attempt(torch.ones(3).copy_, torch.ones(1, 3, requires_grad=True))
    x = torch.zeros(3)
    x[:] = torch.ones(1, 3)
    print(x)
    for name, kw in (("add_", {"alpha": 2}), ("sub_", {"alpha": 2}), ("lerp_", {"weight": 0.5})):
        attempt(getattr(x, name), x[1], **kw)
        attempt(getattr(x, name), x, **kw)


def views_of_what_was_cut_off(torch: Any) -> None:
    x = torch.ones(4, requires_grad=True)
    y = x * 2
    v = y[:2]
    y.mul_(3)
    y.detach_()
    print(v.requires_grad, v.is_leaf, v.grad_fn)
    (v * v).sum().backward()
    print(x.grad)
    leaf = torch.arange(6.0).view(2, 3).requires_grad_()
    flat, row = leaf.view(6), leaf[0]
    with torch.no_grad():
        leaf.mul_(2)
    print(flat.grad_fn, row.grad_fn)
    (flat.sum() + row.sum() + leaf.sum()).backward()
    print(leaf.grad)
    for detached in (True, False):
        y = x * 2
        with torch.no_grad():
            v = y[:2]
        if detached:
            y.detach_()
            print(v.requires_grad, v.mul_(3))
        v.requires_grad_()
        (v * 3).sum().backward()
        print(v.grad, x.grad)
    print(torch.ones(1, 3).expand(2, 1, 3).detach().squeeze_(1).shape)
