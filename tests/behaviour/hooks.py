"""Hooks on tensors, leaves and nodes: order, replacement, removal, errors."""

from __future__ import annotations

from typing import Any

from . import attempt


def order_and_replacement(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    a = y.register_hook(lambda g: print("first", g))
    y.register_hook(lambda g: g * 10)
    y.register_hook(lambda g: print("third", g))
    x.register_hook(lambda g: print("leaf", g))
    x.register_hook(lambda g: g + 1)
    y.sum().backward(retain_graph=True)
    print(x.grad)
    a.remove()
    a.remove()
    y.sum().backward()
    print(x.grad)


def bad_returns(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)

    def try_hook(fn: Any) -> None:
        y = x * 2
        y.register_hook(fn)
        attempt(y.sum().backward)

    try_hook(lambda g: 3)
    try_hook(lambda g: torch.ones(3))
    try_hook(lambda g: g.double())

    def named(g: Any) -> Any:
        return torch.ones(1)

    try_hook(named)
    try_hook(lambda g: (g,))
    with x.register_hook(lambda g: "x"):
        attempt((x * 2).sum().backward)
    (x * 2).sum().backward()
    print(x.grad)


def registering_errors(torch: Any) -> None:
    x = torch.ones(2)
    attempt(x.register_hook, print)
    attempt(x.register_post_accumulate_grad_hook, print)
    x.requires_grad_()
    y = x * 2
    attempt(y.register_post_accumulate_grad_hook, print)
    h = y.register_hook(lambda g: None)
    print(type(h).__name__, h.id >= 0)


def grad_argument_is_live(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    seen = []
    y = x * 3
    y.register_hook(seen.append)
    y.sum().backward()
    print(seen, seen[0].requires_grad)
    z = x**2
    z.register_hook(seen.append)
    torch.autograd.grad(z.sum(), x, create_graph=True)
    print(seen[1].requires_grad, seen[1])
    w = x**3
    w.register_hook(lambda g: g * x)
    (g,) = torch.autograd.grad(w.sum(), x, create_graph=True)
    print(torch.autograd.grad(g.sum(), x))


def once_per_sum(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: print("y", g))
    x.register_hook(lambda g: print("x", g))
    (y.sum() + (y * 3).sum() + x.sum()).backward()
    print(x.grad)
    a, b = (x * 1).chunk(2)
    a.register_hook(lambda g: print("a", g))
    b.register_hook(lambda g: print("b", g))
    (a * 2 + a).sum().backward()


def with_grad(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda g: g * 5)
    x.register_post_accumulate_grad_hook(lambda t: print("post", t.grad))
    y = x * 2
    y.register_hook(lambda g: g * 7)
    print(torch.autograd.grad(y.sum(), [x, y], retain_graph=True))
    print(torch.autograd.grad(y.sum(), y, retain_graph=True))
    y.sum().backward(inputs=[x])
    print(x.grad)


def post_accumulate(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)

    def step(p: Any) -> None:
        print(p is x, p.grad)
        with torch.no_grad():
            p.sub_(p.grad)
        p.grad = None

    h = x.register_post_accumulate_grad_hook(step)
    x.register_post_accumulate_grad_hook(lambda p: print("second", p.grad))
    (x * 3).sum().backward()
    print(x, x.grad)
    h.remove()
    (x * 3).sum().backward()
    x.register_post_accumulate_grad_hook(lambda p: 5)
    attempt((x * 3).sum().backward)


def node_hooks(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    w = torch.full((2,), 3.0, requires_grad=True)
    y = x * w
    node = y.grad_fn
    node.register_prehook(lambda outs: print("pre", outs))
    node.register_prehook(lambda outs: (outs[0] * 2,))
    node.register_hook(lambda ins, outs: print("post", ins, outs))
    h = node.register_hook(lambda ins, outs: (ins[0] * 10, None))
    y.register_hook(lambda g: print("tensor", g))
    y.sum().backward(retain_graph=True)
    print(x.grad, w.grad)
    h.remove()
    y.sum().backward()
    print(x.grad, w.grad)


def node_hook_errors(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    for fn in (lambda ins, outs: (1,), lambda ins, outs: (ins[0], ins[0], ins[0]), lambda ins, outs: ins[0]):
        y = x * 2
        y.grad_fn.register_hook(fn)
        attempt(y.sum().backward)
    y = x * 2
    y.grad_fn.register_prehook(lambda outs: (outs[0], outs[0]))
    attempt(y.sum().backward)
    y = x * 2
    y.grad_fn.register_prehook(lambda outs: (torch.ones(3),))
    attempt(y.sum().backward)
    y = x * 2
    y.grad_fn.register_prehook(lambda outs: outs[0] * 3)
    attempt(y.sum().backward)
    print(x.grad)


def several_outputs(torch: Any) -> None:
    x = torch.tensor([[3.0, 1.0], [2.0, 5.0]], requires_grad=True)
    a, b = (x * 1).unbind()
    b.grad_fn.register_prehook(lambda outs: print("pre", outs))
    a.register_hook(lambda g: print("a", g))
    b.register_hook(lambda g: print("b", g))
    b.sum().backward()


def accumulate_node(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    acc = (x * 2).grad_fn.next_functions[0][0]
    print(type(acc).__name__, acc.variable is x, acc.next_functions, acc.name())
    acc.register_prehook(lambda outs: print("pre", outs, x.grad))
    acc.register_hook(lambda ins, outs: print("post", ins, outs, x.grad))
    x.register_hook(lambda g: print("tensor", g))
    x.register_post_accumulate_grad_hook(lambda p: print("accumulated", p.grad))
    (x * 2).sum().backward()
    (x * 2).sum().backward()
    print(x.grad)
    print((x * 2).grad_fn.next_functions[0][0] is acc)


def all_kinds_in_order(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.grad_fn.register_hook(lambda i, o: print("node post"))
    y.grad_fn.register_prehook(lambda o: print("node pre"))
    y.register_hook(lambda g: print("tensor"))
    y.retain_grad()
    y.register_hook(lambda g: print("tensor after retain", y.grad))
    x.register_post_accumulate_grad_hook(lambda p: print("leaf post accumulate"))
    x.register_hook(lambda g: print("leaf tensor"))
    z = y * 3
    z.register_hook(lambda g: print("z"))
    z.sum().backward()
    print(y.grad)


def retain(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.retain_grad()
    y.register_hook(lambda g: g * 100)
    z = (y * 3).sum()
    z.backward(retain_graph=True)
    print(y.grad, x.grad)
    g = y.grad
    z.backward()
    print(y.grad, y.grad is g, y.retains_grad, x.retains_grad)
    v, i = (x * torch.tensor([1.0, 2.0])).max(0)
    v.retain_grad()
    v.backward()
    print(v.grad)


def hook_on_captured(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    z = y * 3
    y.retain_grad()
    print(torch.autograd.grad(z.sum(), y, retain_graph=True), y.grad)
    y.register_hook(lambda g: g * 5)
    print(torch.autograd.grad(z.sum(), [y, x], retain_graph=True))
    y.grad_fn.register_prehook(lambda g: (g[0] * 100,))
    print(torch.autograd.grad(z.sum(), [y, x]))


def multi_grad(torch: Any) -> None:
    graph = torch.autograd.graph
    a, b, c = (torch.ones(2, requires_grad=True) for _ in range(3))
    h = graph.register_multi_grad_hook((a, b, c), lambda grads: print("all", grads))
    (a * 2 + b * 3).sum().backward()
    (a * 2).sum().backward()
    (a + b + c).sum().backward()
    h.remove()
    (a + b + c).sum().backward()
    y, z = a * 2, b * 2
    graph.register_multi_grad_hook((y, z), lambda g: print("any", g), mode="any")
    (y + z * 3).sum().backward(retain_graph=True)
    (y + z * 3).sum().backward()
    attempt(graph.register_multi_grad_hook, (a,), print, mode="some")
    attempt(graph.register_multi_grad_hook, (torch.ones(1),), print)
    p = a * 2
    graph.register_multi_grad_hook((p, p * 1, a), lambda g: print("again", g))
    p.sum().backward()


def removal_while_running(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    handles = []

    def first(g: Any) -> None:
        print("first")
        handles[1].remove()

    handles.append(x.register_hook(first))
    handles.append(x.register_hook(lambda g: print("second")))
    x.sum().backward()
    x.sum().backward()


def hooks_and_gradient_modes(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: print(torch.is_grad_enabled()))
    y.sum().backward(retain_graph=True)
    y.sum().backward(create_graph=True)
    with torch.no_grad():
        z = y.detach()
    attempt(z.register_hook, print)


def hook_on_view(torch: Any) -> None:
    x = torch.ones(4, requires_grad=True)
    b = x * 1
    v = b[:2]
    v.register_hook(lambda g: print("v", g))
    b.register_hook(lambda g: print("b", g))
    (v * 2).sum().backward(retain_graph=True)
    v.mul_(3)
    v.register_hook(lambda g: print("v written", g))
    b.register_hook(lambda g: print("b written", g))
    (b * 5).sum().backward()
    print(x.grad)


def leaf_becomes_something_else(torch: Any) -> None:
    x = torch.ones(2)
    x.requires_grad_()
    x.register_hook(lambda g: print("x", g))
    x.requires_grad_(False)
    attempt(x.register_hook, print)
    x.requires_grad_()
    (x * 2).sum().backward()
    print(x._backward_hooks is not None)


def what_post_accumulate_hooks_return(torch: Any) -> None:
    v = torch.tensor([0.0, 0.0], requires_grad=True)
    for fn in (
        lambda p: p,
        lambda p: p.grad,
        lambda p: 3,
        lambda p: (None,),
        lambda p: p.data.add_(p.grad, alpha=-0.1),
    ):
        handle = v.register_post_accumulate_grad_hook(fn)
        attempt((v * 2).sum().backward)
        print(v, v.grad)
        handle.remove()


def hooks_on_what_the_graph_shows(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.grad_fn.next_functions[0][0].register_hook(lambda *given: print("after", len(given)))
    y.sum().backward()
    z = x * 2
    z.grad_fn.next_functions[0][0].register_prehook(lambda given: print("before", given))
    z.sum().backward()
    print(x.grad)


def hooks_within_vmap(torch: Any) -> None:
    func = torch.func
    x = torch.arange(1.0, 5.0).view(2, 2)

    def f(v: Any, change: Any) -> Any:
        y = v * 2
        y.register_hook(lambda g: print(tuple(g.shape)) or change(g))
        return (y * y).sum()

    for change in (lambda g: g * 3, lambda g: None):
        print(func.vmap(func.grad(f), in_dims=(0, None))(x, change))
        print(func.grad(f)(x, change))


def retained_before_a_change_of_shape(torch: Any) -> None:
    for change in (lambda y: y.squeeze_(0), lambda y: y.unsqueeze_(0), lambda y: y.t_(), lambda y: y.mul_(1)):
        x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
        y = x * 2
        y.retain_grad()
        z = y + 1
        change(y)
        ((y * y).sum() + z.sum()).backward()
        print(y.grad, x.grad)


def hooks_of_a_leaf_that_is_the_root(torch: Any) -> None:
    v = torch.zeros(3, requires_grad=True)
    step = v.register_post_accumulate_grad_hook(lambda p: print(torch.is_grad_enabled(), p.add_(p.grad, alpha=-0.5)))
    v.backward(torch.tensor([1.0, 2.0, 3.0]))
    step.remove()
    v.register_hook(lambda g: print(torch.is_grad_enabled(), g))
    v.backward(torch.ones(3))
    print(torch.autograd.grad(v, v, torch.ones(3)), torch.autograd.grad(v, v, torch.ones(3), create_graph=True))
    g = torch.ones(3)
    w = torch.zeros(3, requires_grad=True)
    w.backward(g)
    g.add_(5)
    print(w.grad)
    torch.autograd.backward([w, (w * 2).sum(), w], [torch.ones(3), None, torch.ones(3)])
    print(w.grad)
    attempt(torch.isclose, torch.ones(5, 4), torch.ones(5))
    attempt(torch.allclose, torch.ones(5, 4), torch.ones(5))
    attempt(torch.polar, torch.ones(5, 4), torch.ones(5))
