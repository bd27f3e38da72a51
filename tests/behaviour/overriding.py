"""Classes and modes that see what is called: `__torch_function__`, function modes, dispatch modes."""

from __future__ import annotations

import functools
from importlib import import_module
from typing import Any

from . import attempt


def a_class_that_is_no_tensor(torch: Any) -> None:
    handled: dict[Any, Any] = {}

    class Scalar:
        def __init__(self, n: int, value: float) -> None:
            self.n, self.value = n, value

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func not in handled:
                return NotImplemented
            return handled[func](*args, **(kwargs or {}))

    handled[torch.mean] = lambda x: x.value / x.n
    handled[torch.add] = lambda a, b: ("sum", type(a).__name__, type(b).__name__)
    handled[torch.nn.functional.relu] = lambda x, inplace: ("relu", inplace)
    s = Scalar(5, 2)
    print(torch.mean(s), torch.add(s, s), torch.add(torch.ones(2), s), torch.nn.functional.relu(s))
    attempt(torch.mul, s, 2)
    attempt(torch.nn.functional.relu6, s)
    attempt(torch.nn.functional.mse_loss, s, s)


def what_a_class_sees(torch: Any) -> None:
    class Log(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is not torch.Tensor.__repr__:
                print(func.__name__, len(args), kwargs)
            return super().__torch_function__(func, types, args, kwargs or {})

    x = Log([1.0, 2.0, 3.0])
    print(x, type(x + 1).__name__, x.mean(0, keepdim=True))
    print(x.shape, len(x), x.requires_grad_().is_leaf)
    (x * x).sum().backward()
    print(x.grad)
    print(x[0], x.view(3, 1).T, x.detach().numpy(), float(x[0]), 1 - x, -x)
    torch.nn.functional.softmax(x, dim=0)
    torch.nn.functional.linear(torch.ones(2, 3), x.detach().view(1, 3))
    torch.cat([x, x])
    torch.stack((x, torch.ones(3)))
    torch.einsum("i,i", x, x)
    torch.where(x > 1, x, 0)
    x.detach().add_(1)


def subclasses(torch: Any) -> None:
    class P(torch.Tensor):
        pass

    class Q(torch.Tensor):
        pass

    class R(P):
        pass

    p = P([1.0, 2.0])
    print(p, type(p * 2).__name__, type(torch.ones(2) * p).__name__, type(p.split(1)[0]).__name__)
    print(type(p.max(0).values).__name__, type(p.to(torch.float64)).__name__, type(P([1.0]) + R([1.0])).__name__)
    attempt(torch.add, p, Q([1.0, 1.0]))
    with torch._C.DisableTorchFunctionSubclass():
        print(type(p * 2).__name__)


def what_a_mode_sees(torch: Any) -> None:
    functional = torch.nn.functional

    class Log(torch.overrides.TorchFunctionMode):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            print(self.name, func.__name__, [t.__name__ for t in types], len(args), list(kwargs or {}))
            return func(*args, **(kwargs or {}))

    x = torch.ones(2, 2, requires_grad=True)
    linear = functional.linear
    with Log("a"):
        y = x * 2
        torch.ones(2)
        functional.relu(x)
        _ = x.shape, x.T, x.grad, x[0], x == x, x @ x, 1 - x, -x, len(x)
        linear(x, x)
        functional.cross_entropy(x, torch.tensor([0, 1]))
        torch.add(x, 1, alpha=2)
        torch.autograd.grad(x.sum(), x, allow_unused=False)
        y.sum().backward()
    with Log("a"), Log("b"):
        x.exp()
    x.exp()
    with Log("a"), torch._C.DisableTorchFunctionSubclass():
        x.exp()


def a_mode_that_replaces(torch: Any) -> None:
    class Zeros(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is torch.ones:
                return torch.zeros(*args, **(kwargs or {}))
            return func(*args, **(kwargs or {}))

    def fails() -> None:
        with Zeros():
            raise KeyError("inside")

    with Zeros():
        print(torch.ones(2), torch.ones(2) + 1)
    attempt(fails)
    print(torch.ones(2))


def what_a_dispatch_mode_sees(torch: Any) -> None:
    mode = import_module(torch.__name__ + ".utils._python_dispatch").TorchDispatchMode

    class Log(mode):  # type: ignore[misc, valid-type]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            print(func, len(args))
            return func(*args, **(kwargs or {}))

    class Doubled(mode):  # type: ignore[misc, valid-type]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            out = func(*args, **(kwargs or {}))
            return out * 2 if func is torch.ops.aten.mul.Tensor else out

    x = torch.ones(2, 2, requires_grad=True)
    with Log():
        y = (x * 2).sin()
        torch.nn.functional.linear(x, x) + 1
        y.sum().view(1)
        x[0].cos()
        x.log()
        x.mean()
        x**2
    with Doubled():
        z = x * 3
    print(z)
    z.sum().backward()
    print(x.grad)


def selective_checkpoints(torch: Any) -> None:
    module = import_module(torch.__name__ + ".utils.checkpoint")
    make, policies = module.create_selective_checkpoint_contexts, module.CheckpointPolicy
    x = torch.full((2, 2), 0.5, requires_grad=True)
    seen = []

    def policy(ctx: Any, op: Any, *args: Any, **kwargs: Any) -> Any:
        seen.append((str(op), ctx.is_recompute))
        return policies.MUST_SAVE if op == torch.ops.aten.mm.default else policies.PREFER_RECOMPUTE

    def f(a: Any) -> Any:
        return torch.sigmoid(a @ a).sin()

    for keep in (policy, [torch.ops.aten.mm.default], [torch.ops.aten.sigmoid.default, torch.ops.aten.mm.default]):
        x.grad = None
        y = module.checkpoint(f, x, use_reentrant=False, context_fn=functools.partial(make, keep))
        y.sum().backward()
        print(y, x.grad)
    print(seen)
    attempt(make, 3)
    print([p.name for p in policies])


def autocast_first_used_in_a_mode(torch: Any) -> None:
    class Through(import_module(torch.__name__ + ".overrides").TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    x = torch.ones(2, 2)

    def kinds() -> Any:
        return torch.mm(x, x).dtype, torch.nn.functional.linear(x, x).dtype, (x @ x).dtype

    with Through(), torch.autocast("cpu"):
        print(kinds())
    with torch.autocast("cpu"):
        print(kinds())
        with Through():
            print(kinds())
        print(kinds())
    print(kinds())


def modes_that_see_all_ops(torch: Any) -> None:
    base = import_module(torch.__name__ + ".utils._python_dispatch").TorchDispatchMode
    nn = torch.nn.functional

    class Log(base):  # type: ignore[misc]
        def __init__(self, name: str = "") -> None:
            super().__init__()
            self.name = name

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            print(self.name, func, len(args))
            return func(*args, **(kwargs or {}))

    x = torch.tensor([[0.5, 2.0], [3.0, -1.0]])
    with Log():
        (torch.ones(2), torch.zeros(2, 3), torch.randn(2), torch.arange(3), torch.arange(1, 3), torch.full((2,), 1.0))
        torch.empty(2), torch.eye(2), torch.linspace(0, 1, 3), torch.randint(0, 3, (2,)), torch.randperm(3)
        torch.tensor([1.0]), torch.zeros_like(x), torch.empty_like(x), x.new_ones(2)
        x + 1, 1 - x, 2 / x, x**2, x @ x, x > 0, -x, ~(x > 0), x % 2
        x.clone().add_(1), x.clone().clamp_(0, 1), x.clone().zero_(), x.clone().fill_(1.0)
        x.sum(), x.sum(0), x.mean(1), x.max(0), x.argmax(), x.cumsum(0)
        (
            x.view(4),
            x.t(),
            x[0],
            x[:, 0],
            x[None],
            torch.cat([x, x]),
            torch.stack([x, x]),
            x.expand(3, 2, 2),
            x.split(1),
        )
        nn.relu(x), nn.gelu(x), torch.sigmoid(x), nn.softplus(x), nn.conv2d(x[None, None], x[None, None])
        nn.max_pool2d(x[None], 2), torch.where(x > 0, x, x), x.to(torch.float64), x.detach()
        torch.einsum("ij,jk->ik", x, x), torch.matmul(x[None], x[None])
    with Log("outer"), Log("inner"):
        torch.ones(2).mul_(3).sin()

    class Tripled(base):  # type: ignore[misc]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is torch.ops.aten.sin.default:
                return torch.ops.aten.cos.default(*args)
            out = func(*args, **(kwargs or {}))
            return out * 3 if func is torch.ops.aten.mm.default else out

    class Counted(base):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.seen: dict[str, int] = {}

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.seen[str(func)] = self.seen.get(str(func), 0) + 1
            return func(*args, **(kwargs or {}))

    w = torch.ones(2, 2, requires_grad=True)
    with Tripled():
        (x @ w).sum().backward()
        print(torch.zeros(2).sin())
    print(w.grad)
    kept = w.grad
    w.register_hook(lambda g: print("hook", g.requires_grad))
    with Counted() as counted:
        (x @ w).relu().sum().backward()
    print(w.grad is kept, kept, [counted.seen.get(f"aten.{n}") for n in ("mm.default", "threshold_backward.default")])
    with Counted():
        (g,) = torch.autograd.grad((w**3).sum(), w, create_graph=True)
        print(g.requires_grad, torch.autograd.grad(g.sum(), w))
    with Counted():
        v = x[0]
        w2 = x.clone().requires_grad_()
        v.add_(1)
        (torch.exp(x, out=torch.empty(2, 2)), x.max(), torch.linalg.inv(x), nn.elu(x), nn.dropout(x), x.normal_())
        (nn.batch_norm(x, None, None, training=True), nn.layer_norm(x, (2,)), nn.cross_entropy(x, torch.tensor([0, 1])))
        x[0], x[x > 0]
        x[0], x[1] = 1.0, x[0]
        torch.optim.SGD([w2], lr=0.1).step()


def names_of_functions(torch: Any) -> None:
    name = torch.overrides.resolve_name
    print(name(torch.add), name(torch.Tensor.add_), name(torch.Tensor.shape.__get__), name(torch.Tensor.grad.__get__))
    print(name(torch.nn.functional.relu), name(torch.linalg.norm), name(torch.fft.fft), name(3))

    class Log(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            print(name(func), kwargs)
            return func(*args, **(kwargs or {}))

    with Log():
        torch.linalg.norm(torch.ones(2)).type()

    class Refuses:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return NotImplemented

    for fn in (torch.mul, lambda x, _: torch.linalg.norm(x), lambda x, _: torch.special.expit(x)):
        attempt(fn, Refuses(), 1)
    attempt(torch.ones(1).add_, Refuses())


def an_override_that_is_a_plain_method(torch: Any) -> None:
    class Counts:
        def __init__(self) -> None:
            self.n = 0

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.n += 1
            return self.n

    with __import__("warnings").catch_warnings():
        __import__("warnings").simplefilter("ignore")
        counts = Counts()
        print(torch.add(counts, 1), torch.cat([counts]), torch.nn.functional.relu(counts), torch.ones(1) + counts)
