"""The graph from outside: nodes, edges, saved values, hooks on them."""

from __future__ import annotations

from typing import Any

from . import attempt


def node_face(torch: Any) -> None:
    x = torch.ones(2, 3, requires_grad=True)
    w = torch.ones(3, requires_grad=True)
    y = (x * w).sum()
    n = y.grad_fn
    print(n, n.name(), type(n).__name__, n.next_functions[0][0].name())
    print([f.name() if f else f for f, _ in n.next_functions[0][0].next_functions])
    print(n.metadata, isinstance(n, torch.autograd.graph.Node))
    n.metadata["k"] = 1
    print(n.metadata, y.grad_fn is n)
    print(n._sequence_nr() > n.next_functions[0][0]._sequence_nr())
    print(x.grad_fn, y.output_nr)


def saved_values(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([3.0, 4.0])
    m = (x * w).grad_fn
    print(m._saved_self, m._saved_other)
    m = (x * w.requires_grad_()).grad_fn
    print(m._saved_self is x, m._saved_other)
    e = x.exp()
    print(e.grad_fn._saved_result, e.grad_fn._saved_result.grad_fn is e.grad_fn)
    print((x**2).grad_fn._saved_exponent, (x**2).grad_fn._saved_self)
    print(x.view(2, 1).grad_fn._saved_self_sym_sizes)
    print(x.sum(0).grad_fn._saved_dim, x.sum().grad_fn._saved_self_sym_sizes)
    print(x.softmax(0).grad_fn._saved_dim, x.softmax(0).grad_fn._saved_result)
    y = (x * x).sum()
    n = y.grad_fn.next_functions[0][0]
    y.backward()
    attempt(lambda: n._saved_self)
    attempt(lambda: e.grad_fn._saved_nothing)
    attempt(lambda: m._raw_saved_self)


def raw_saved(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: t * 2, lambda t: t * 3)
    y.sum().backward()
    print(x.grad)
    z = x * x
    raw = z.grad_fn._raw_saved_self
    attempt(raw.register_hooks, 1, 2)
    raw.register_hooks(lambda t: t.clone(), lambda t: t)
    attempt(raw.register_hooks, lambda t: t, lambda t: t)
    (z * 1).sum().backward()
    attempt(lambda: raw.register_hooks(lambda t: t, lambda t: t))
    print(type(raw).__name__)


def pack_and_unpack(torch: Any) -> None:
    hooks = torch.autograd.graph.saved_tensors_hooks

    def pack(t: Any) -> Any:
        print("pack", t, t.requires_grad, t.is_leaf)
        return t * 2

    def unpack(t: Any) -> Any:
        print("unpack", t)
        return t

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([3.0, 4.0])
    with hooks(pack, unpack):
        y = x * w
        z = y.exp()
    z.sum().backward()
    print(x.grad)


def hooks_nested(torch: Any) -> None:
    hooks = torch.autograd.graph.saved_tensors_hooks
    x = torch.tensor([1.0, 2.0], requires_grad=True)

    def named(name: str) -> Any:
        return hooks(lambda t: (print("pack", name), t)[1], lambda t: (print("unpack", name), t)[1])

    with named("outer"):
        a = x.exp()
        with named("inner"):
            b = a * a
        c = b.sqrt()
    c.sum().backward()
    print(x.grad)


def unpack_errors(torch: Any) -> None:
    hooks = torch.autograd.graph.saved_tensors_hooks
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with hooks(lambda t: t, lambda t: 3):
        y = x * x
    attempt(y.sum().backward)

    def pack(t: Any) -> Any:
        raise KeyError("pack")

    def wrong() -> None:
        with hooks(pack, lambda t: t):
            x.exp()

    attempt(wrong)

    def bad(t: Any) -> Any:
        raise ValueError("unpack")

    with hooks(lambda t: t, bad):
        y = x.exp()
    attempt(y.sum().backward)
    attempt(hooks, 1)
    (x * 2).sum().backward()
    print(x.grad)
    with hooks(lambda t: t.add_(1), lambda t: t):
        attempt(x.exp)
        attempt(lambda: x * torch.ones(2))


def double_backward_with_hooks(torch: Any) -> None:
    hooks = torch.autograd.graph.saved_tensors_hooks
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with hooks(lambda t: t.clone(), lambda t: t):
        y = (x**3).exp()
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        (h,) = torch.autograd.grad(g.sum(), x)
    print(g, h)


def hooks_and_writes(torch: Any) -> None:
    hooks = torch.autograd.graph.saved_tensors_hooks
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with hooks(lambda t: t.clone(), lambda t: t):
        y = x * 1
        z = y * y
        y.mul_(5)
    attempt(z.sum().backward)
    print(x.grad)
    with hooks(lambda t: t, lambda t: t):
        y = x * 1
        z = y * y
        y.mul_(5)
    attempt(z.sum().backward)


def on_cpu(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.save_on_cpu():
        y = x * x
        z = y.exp()
    with torch.autograd.graph.save_on_cpu(pin_memory=False):
        z = z * x
    z.sum().backward()
    print(x.grad)


def disabled(torch: Any) -> None:
    graph = torch.autograd.graph
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with graph.disable_saved_tensors_hooks("not here"):

        def enter() -> None:
            with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
                pass

        attempt(enter)
        print((x * x).sum())

    def inside() -> None:
        with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            with graph.disable_saved_tensors_hooks("too late"):
                pass

    attempt(inside)


def mutation_allowed(torch: Any) -> None:
    graph = torch.autograd.graph
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with graph.allow_mutation_on_saved_tensors() as ctx:
        a = x.clone()
        y = (a**2).sum()
        a.sin_()
        z = (a * a).sum()
        a.mul_(2)
        (y + z).backward()
    print(x.grad)
    with graph.allow_mutation_on_saved_tensors() as ctx:
        a = x.clone()
        out = (a.exp() * a).sum()
        a.zero_()
        ctx.clear()
        attempt(out.backward)

    def nested() -> None:
        with graph.allow_mutation_on_saved_tensors():
            with graph.allow_mutation_on_saved_tensors():
                pass

    attempt(nested)
    with graph.allow_mutation_on_saved_tensors():
        a = x.clone()
        out = (a**2).sum()
        a.add_(1)
    attempt(out.backward)


def gradient_edges(torch: Any) -> None:
    graph = torch.autograd.graph
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = (y * y).sum()
    edge = graph.get_gradient_edge(y)
    print(type(edge).__name__, edge.node.name(), edge.output_nr)
    leaf = graph.get_gradient_edge(x)
    print(leaf.node.name(), leaf.output_nr)
    print(torch.autograd.grad(z, [edge, leaf], retain_graph=True))
    print(torch.autograd.grad(edge, x, torch.ones(2), retain_graph=True))
    attempt(torch.autograd.grad, edge, x, retain_graph=True)
    torch.autograd.backward(edge, torch.ones(2), inputs=[leaf], retain_graph=True)
    print(x.grad)
    attempt(graph.get_gradient_edge, torch.ones(1))
    a, b = y.unbind()
    e = graph.get_gradient_edge(b)
    print(e.output_nr, torch.autograd.grad((a * 2 + b * 3), [e, graph.get_gradient_edge(a)]))
    attempt(torch.autograd.grad, z, [graph.get_gradient_edge(torch.ones(1, requires_grad=True))])


def version_by_hand(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 1
    z = y * y
    torch.autograd.graph.increment_version(y)
    print(y._version)
    attempt(z.sum().backward)
    torch.autograd.graph.increment_version([y, x])
    print(y._version, x._version)


def will_run(torch: Any) -> None:
    a = torch.rand(2, 3, requires_grad=True)
    b = torch.rand(2, 3, requires_grad=True)
    c = a * b
    d = c.sum()
    print(c.grad_fn.next_functions[0][0].variable is a)
    print(len(c.grad_fn.next_functions), d.grad_fn.next_functions[0][0] is c.grad_fn)


def calling_nodes(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * torch.tensor([3.0, 4.0])
    print(y.grad_fn(torch.ones(2)))
    print(y.sum().grad_fn(torch.tensor(2.0)))
    attempt(lambda: y.grad_fn())


def saved_in_views(torch: Any) -> None:
    hooks = torch.autograd.graph.saved_tensors_hooks
    x = torch.arange(4.0).requires_grad_()
    packed = []
    with hooks(lambda t: (packed.append(tuple(t.shape)), t)[1], lambda t: t):
        b = x * 1
        v = b[:2]
        w = v * v
        v.mul_(3)
        u = b.view(2, 2) @ b.view(2, 2)
        s = torch.cat([b, w]).softmax(0)
    print(packed)
    attempt(lambda: (u.sum() + s[0]).backward())
    attempt(lambda: w.sum().backward())


def wrong_hooks_of_saved_values(torch: Any) -> None:
    y = torch.ones(2, requires_grad=True).pow(2)
    for hooks in ((abs,), (), (1, 2), (abs, 3), (abs, abs, abs)):
        try:
            y.grad_fn._raw_saved_self.register_hooks(*hooks)
        except TypeError as error:
            print(str(error).partition("Invoked")[0], len(str(error).split(">, ")), str(error).split(">, ")[1:])


def profiled(torch: Any) -> None:
    """What the profiler calls nodes, leaves, functions and optimisers, and how often it sees them."""
    x, w = torch.ones(2, 2, requires_grad=True), torch.ones(2, 2, requires_grad=True)
    layer, target = torch.nn.Linear(2, 3), torch.tensor([0, 1])
    sgd = torch.optim.SGD(layer.parameters(), lr=0.1)

    class Twice(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, v: Any) -> Any:
            return v * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    def trained() -> None:
        sgd.zero_grad()
        torch.nn.functional.cross_entropy(layer(x.detach()).relu(), target).backward()
        sgd.step()

    for f in (
        lambda: (x * 2).sum().backward(),
        lambda: ((x @ w).tanh() * x).mean().backward(),
        lambda: Twice.apply(x).exp().sum().backward(),
        lambda: torch.autograd.grad((x**2).sum(), x),
        lambda: torch.autograd.grad((x**2).sum(), x, create_graph=True),
        trained,
    ):
        with torch.autograd.profiler.profile() as prof:
            f()
        top = [e.name for e in prof.function_events if e.cpu_parent is None]
        print([n for n in top if not any(s in n for s in ("like", "detach", "fill", "aten::add"))])
        counts = {e.key: e.count for e in prof.key_averages()}
        print({k: n for k, n in sorted(counts.items()) if "ackward" in k or "autograd" in k or "mm" in k or "Opt" in k})


def what_flows_to_an_edge(torch: Any) -> None:
    edge, grad = torch.autograd.graph.get_gradient_edge, torch.autograd.grad
    x = torch.ones(2, requires_grad=True)
    y = x * 3
    print(edge(x), edge(y), torch.autograd.graph.GradientEdge(y.grad_fn, 0) == edge(y))
    attempt(torch.autograd.backward, edge(y))
    attempt(torch.autograd.backward, edge(y), torch.ones(3))
    attempt(grad, edge(y.sum().to(torch.cfloat)), edge(x))
    torch.autograd.backward(edge(y.sum()))
    print(x.grad, grad([edge((x * 2).sum()), x * 5], edge(x), [None, torch.ones(2)]))
    print(grad(edge(x.unbind()[1]), x), edge(x.unbind()[1]).output_nr)
    attempt(torch.autograd.graph.increment_version, 3)


def inputs_that_are_no_leaves(torch: Any) -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            print("back", ctx.needs_input_grad)
            return g * 2

    x = torch.ones(2, requires_grad=True)
    y = Double.apply(x)
    y.grad_fn.register_prehook(lambda gs: print("pre", gs))
    y.grad_fn.register_hook(lambda gi, go: print("post", go))
    y.sum().backward(inputs=[y])
    print(y.grad, x.grad)
    print(torch.autograd.grad(y.sum(), y))
    z = x.exp()
    z.sin().backward(torch.ones(2), inputs=[z])
    attempt(z.backward, torch.ones(2))
    a, b = x.unbind()
    (a * b).backward(inputs=[b])
    print(b.grad)
