"""What a second reading of the manual turned up: saved values by hand, callbacks, refusals, the words of errors."""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import Any

from . import attempt


def saved_values_under_hooks(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        nodes = [(x.pow(2)).grad_fn, x.exp().grad_fn, (x * x).grad_fn]
    print(nodes[0]._saved_self, nodes[1]._saved_result, nodes[2]._saved_other)
    attempt(nodes[0]._raw_saved_self.register_hooks, lambda t: t, lambda t: t)


def a_saved_tensor_by_hand(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.pow(2)
    raw = y.grad_fn._raw_saved_self
    print(raw.data, raw.unpack_hook)
    raw.register_hooks(lambda t: "packed", lambda s: torch.ones(2) * 5)
    print(raw.data, y.grad_fn._saved_self)
    attempt(raw.register_hooks, lambda t: t, lambda t: t)
    y.sum().backward()
    print(x.grad, raw.data, raw.unpack_hook)


def what_nodes_show(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for y in (
        x * 3,
        x / 3,
        x + 1,
        x - x,
        x**2,
        x**3,
        2**x,
        x**x,
        torch.where(x > 1, x, x),
        torch.cat([x, x]),
        x.cumsum(0),
    ):
        node = y.grad_fn
        names = [name for name in dir(node) if name.startswith("_saved")]
        print(node.name(), [(name, getattr(node, name)) for name in names])
    y = torch.where(x > 1, x, 0)
    y.sum().backward()
    attempt(lambda: y.grad_fn._saved_condition)


def only_leaves_take_requires_grad(torch: Any) -> None:
    y = torch.ones(2, requires_grad=True) * 2
    for on in (True, False):
        attempt(setattr, y, "requires_grad", on)
        attempt(y.requires_grad_, on)


def a_dict_of_inputs(torch: Any) -> None:
    w, b = torch.ones(1, 2, requires_grad=True), torch.zeros(1, requires_grad=True)
    other = torch.ones(1, requires_grad=True)

    def y() -> Any:
        return (torch.ones(3, 2) @ w.t() + b).sum()

    grad = torch.autograd.grad
    attempt(grad, y(), {"w": w, "b": b})
    attempt(grad, y(), {})
    attempt(grad, y(), {"w": w, "u": 3})
    attempt(grad, y(), OrderedDict(w=w))
    attempt(grad, y(), {"w": w, "u": other})
    attempt(grad, y(), {"w": w, "u": other}, materialize_grads=True, create_graph=True)
    attempt(grad, y(), torch.autograd.graph.get_gradient_edge(other), materialize_grads=True)
    y().backward(inputs={"w": w})
    print(w.grad, b.grad)


def calls_by_the_wrong_names(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    x.register_hook(hook=lambda g: print("hook", g))
    x.register_post_accumulate_grad_hook(hook=lambda p: print("post", p.grad))
    x.sum().backward()
    attempt(x.sum().backward, keep_graph=True)
    attempt(x.sum().backward, 1, 2, 3, 4, 5)
    attempt(x.register_hook)


def copies_over_themselves(torch: Any) -> None:
    m = torch.arange(9.0).view(3, 3)
    attempt(m.copy_, m.t())
    attempt(m.copy_, m)
    attempt(m.t_().copy_, m)
    for i in (torch.arange(6), torch.arange(6.0)):
        attempt(i[1:].copy_, i[:-1])
        attempt(i[:3].copy_, i[3:])
        attempt(i[::2].copy_, i[1::2])


def outputs_beside_the_output(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    F = torch.func
    for aux in (1, None, "s", (x, 2), {"a": x}, [x, [x]], []):
        for transform in (F.grad, F.grad_and_value, F.jacrev, F.jacfwd):
            attempt(transform(lambda t, aux=aux: ((t**2).sum(), aux), has_aux=True), x)
        attempt(F.jvp, lambda t, aux=aux: ((t**2).sum(), aux), (x,), (x,), has_aux=True)


def argument_numbers(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    for argnums in ((), (0,), (0, "a"), 1, (0, -1), [0]):
        for transform in (torch.func.grad, torch.func.jacrev):
            attempt(transform(lambda t: (t**2).sum(), argnums=argnums), x)


def cotangents_of_vjp(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    pull = torch.func.vjp(lambda t: t**2, x)[1]
    attempt(pull, x, True, False)
    attempt(pull, cotangents=x)
    for wrong in ((x, x), (), ([x],), (3,), (x[:1],), (x.double(),), (x.long(),)):
        attempt(pull, *wrong)


def duals_that_require_grad(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    x, t = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    with fw.dual_level():
        d = fw.make_dual(x, t)
        print(d.requires_grad_(), d._is_view())
        (d * d).sum().backward()
        print(d.grad)
        attempt(fw.make_dual, x, d)
        with torch.inference_mode():
            print(d * 2)


class _Refusing:
    """What a subclass of tensors has that implements nothing."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return NotImplemented


def operators_that_nobody_implements(torch: Any) -> None:
    refusing = type("Refusing", (_Refusing, torch.Tensor), {"__module__": "somewhere"})
    first, second = (type(n, (torch.Tensor,), {"__module__": "somewhere"}) for n in ("First", "Second"))
    n = torch.ones(2).as_subclass(refusing)
    a, b = torch.ones(1).as_subclass(first), torch.ones(1).as_subclass(second)
    attempt(lambda: n + 1)
    attempt(lambda: a * b)
    attempt(lambda: n.shape)
    attempt(torch.add, n, n)
    attempt(copy.deepcopy, a)

    def mine(t: Any) -> Any:
        return torch.overrides.handle_torch_function(mine, (t,), t)

    mine.__module__ = "somewhere"
    attempt(mine, n)
    attempt(mine, 3)


def elements_of_a_subclass(torch: Any) -> None:
    class Logged(torch.Tensor):  # type: ignore[misc, name-defined]
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            print(getattr(func, "__name__", func), len(args), kwargs)
            return super().__torch_function__(func, types, args, kwargs or {})

    x = torch.tensor([1.0, 2.0]).as_subclass(Logged)
    print([type(v).__name__ for v in list(x)])
    print(len(x.split(1)))
    y = torch.tensor([1.0, 2.0], requires_grad=True).as_subclass(Logged)
    print(len(torch.autograd.grad((y**2).sum(), y)))


def functions_that_no_gradient_reaches(torch: Any) -> None:
    class Stop(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.view_as(x)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return None

    class Seen(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any, zeros: bool) -> Any:
            ctx.set_materialize_grads(zeros)
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            print("backward", g)
            return g, None

    x = torch.ones(2, requires_grad=True)
    for zeros in (False, True):
        print(torch.autograd.grad(Stop.apply(Seen.apply(x, zeros)).sum(), x, allow_unused=True))
    print(
        torch.autograd.grad(
            Stop.apply(Seen.apply(Seen.apply(x, True) * x, False)).sum(), x, allow_unused=True
        )
    )
    Stop.apply(x * 2).sum().backward()
    print(x.grad)
    attempt(torch.autograd.gradcheck, lambda t: Seen.apply(t, True), torch.ones(1).double().requires_grad_())


def gradcheck_and_its_numbers(torch: Any) -> None:
    class Wrong(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, t: Any) -> Any:
            ctx.save_for_backward(t)
            return t**2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 3 * ctx.saved_tensors[0]

    class Unready(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, t: Any) -> Any:
            ctx.set_materialize_grads(False)
            return t * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 1

    class Shifted(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, t: Any) -> Any:
            return t * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2 + 1e-9

    check = torch.autograd.gradcheck
    x = torch.tensor([0.25, -0.5], dtype=torch.double, requires_grad=True)
    z = torch.tensor([0.5 + 0.25j], dtype=torch.cdouble, requires_grad=True)
    for fn in (
        Wrong.apply,
        Unready.apply,
        Shifted.apply,
        lambda t: t.float(),
        lambda t: 3,
        lambda t: (t, {}),
    ):
        attempt(check, fn, x)
    attempt(check, lambda t: torch.view_as_complex(Wrong.apply(torch.view_as_real(t))), z)
    attempt(check, lambda t: (t * 2, t.detach()), x)
    gradgrad = torch.autograd.gradgradcheck
    attempt(gradgrad, torch.sin, x, check_fwd_over_rev=True, check_rev_over_rev=False)
    attempt(gradgrad, torch.sin, x, check_fwd_over_rev=False, check_rev_over_rev=False)
    torch.manual_seed(0)
    attempt(gradgrad, lambda t: Wrong.apply(t) * t, x)
    print(torch.rand(1))


def reductions_spelled_out(torch: Any) -> None:
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    for dim in (None, (), (0, 1)):
        for fn in (torch.sum, torch.mean):
            y = fn(x, dim)
            print(y.item(), y.grad_fn.name())
    attempt(x.sum, keepdim=True)
    attempt(x.sum, dim=None, keepdim=True)
    attempt(x.prod, dim=None)
    for fn in (x.sum, x.prod, x.nansum):
        attempt(fn, dtype=torch.int32)
    attempt(x.cumsum, 0, dtype=torch.int64)
    with torch.no_grad():
        print(x.sum(dtype=torch.int32))
    print(torch.zeros(0).std(), torch.zeros(2, 0).var(0))
    print(x.broadcast_to(2, 2, 3).shape)


def samples_written_and_read(torch: Any) -> None:
    vmap = torch.func.vmap
    shared = torch.zeros(2)
    for name in ("add_", "mul_", "copy_"):
        attempt(vmap(lambda t, name=name: getattr(shared, name)(t)), torch.ones(3, 2))
    attempt(vmap(lambda t: t, in_dims=(None,)), shared)


def callbacks_at_the_end(torch: Any) -> None:
    later = torch.autograd.Variable._execution_engine.queue_callback
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: later(lambda: print("callback", x.grad)))
    x.register_hook(lambda g: print("hook"))
    y.sum().backward()
    attempt(later, print)


def modes_on_classes_and_versions(torch: Any) -> None:
    @torch.no_grad()
    class Made:
        def __init__(self) -> None:
            self.mode = torch.is_grad_enabled()

        def later(self) -> bool:
            return torch.is_grad_enabled()

    print(Made().mode, Made().later())
    x = torch.ones(2)
    with torch.autograd._unsafe_preserve_version_counter(x):
        x.add_(1)
    print(x._version, x)
    with torch.autograd._force_original_view_tracking(True):
        print(x.view(2, 1).shape)


def zeros_and_what_is_not_finite(torch: Any) -> None:
    inf, nan = float("inf"), float("nan")

    def slope(fn: Any, values: Any) -> Any:
        x = torch.tensor(values, requires_grad=True)
        return torch.autograd.grad(fn(x).sum(), x)[0]

    for values in (
        [2.0, 0.0, -3.0, 4.0],
        [2.0, 0.0, -3.0, 0.0, 5.0],
        [-2.0, -3.0, 0.0],
        [-inf, 0.0, 0.0],
        [nan, 0.0, 1.0],
    ):
        print(slope(lambda x: x.cumprod(0), values), slope(torch.prod, values))
    print(slope(lambda x: x.cumprod(1), [[2.0, 0.0, -3.0], [1.0, 2.0, 3.0], [0.0, 0.0, -1.0]]))
    print(slope(lambda x: x.logsumexp(0), [-inf, -inf]), slope(lambda x: x.logsumexp(0), [-inf, 0.0]))
    for p in (0.5, 1, 2, inf, -inf):
        print(p, slope(lambda x, p=p: x.norm(p), [nan, 0.0, -1.0]))
    zeros = [-0.0, 0.0, 0.5]
    print(torch.erfinv(torch.tensor(zeros)), slope(torch.logit, zeros))


def what_is_packed_and_in_which_order(torch: Any) -> None:
    F = torch.nn.functional

    def new(*shape: int) -> Any:
        return torch.full(shape, 0.5, requires_grad=True)

    programs: dict[str, Any] = {
        "index": lambda: new(2, 3)[[0, 1]], "index by two": lambda: new(2, 3)[torch.tensor([0]), torch.tensor([[1], [2]])],
        "mask": lambda: new(2, 3)[torch.ones(2, 3) > 1], "select": lambda: new(2, 3).index_select(0, torch.tensor([0])),
        "mul": lambda: new(2, 1) * new(3), "pow": lambda: new(2, 1) ** new(3), "mv": lambda: new(2, 3) @ new(3),
        "addmm": lambda: torch.addmm(new(2, 4), new(2, 3), new(3, 4)), "linear": lambda: F.linear(new(2, 5, 3), new(4, 3), new(4)),
        "conv": lambda: F.conv1d(new(1, 1, 4), new(1, 1, 2)), "lerp": lambda: torch.lerp(new(2, 1), new(3), new(1)),
        "addcmul": lambda: torch.addcmul(new(4, 2, 3), new(2, 1), new(3)), "embedding": lambda: F.embedding(torch.tensor([0]), new(3, 2)),
        "evaluated": lambda: F.batch_norm(new(4, 2), torch.zeros(2), torch.ones(2), new(2), new(2)),
        "cumprod": lambda: new(2, 3).cumprod(1), "svd": lambda: torch.linalg.svdvals(new(2, 3) * torch.eye(2, 3)),
        "put": lambda: new(2, 3).index_put((torch.tensor([0]),), new(3)),
        "scatter": lambda: new(2, 3).scatter(1, torch.tensor([[0]]), new(1, 1)),
    }  # fmt: skip
    for name, program in programs.items():
        seen: list[Any] = []

        def pack(t: Any, seen: list[Any] = seen) -> Any:
            seen.append((tuple(t.shape), t.dtype))
            return t.clone()

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            y = program()
        print(name, seen)
        y.sum().backward()
