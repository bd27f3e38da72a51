"""What is rarely done: arguments of the wrong kind, modes within modes, writes through views of another dtype."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

from . import attempt


def arguments_of_grad(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)

    def grad(*args: Any, **kw: Any) -> None:
        attempt(torch.autograd.grad, *args, **kw)

    for wrong in (None, "x", [None], [x, 3], []):
        grad((x * 2).sum(), wrong)
    for wrong in (None, "y", [(x * 2).sum(), None], 3):
        grad(wrong, x)
    grad((x * 2).sum(), x, [torch.ones(()), torch.ones(())])
    grad([(x * 2).sum(), x.sum()], x, [torch.ones(())])
    grad((x * 2).sum(), x, 3)
    grad(x * 2, x, torch.ones(2), is_grads_batched=True)
    grad(x * 2, x, torch.ones(4, 5, 6), is_grads_batched=True)


def arguments_of_backward(torch: Any) -> None:
    def y() -> Any:
        return (torch.ones(2, requires_grad=True) * 2).sum()

    for wrong in ([], None, "x", 3, [None]):
        attempt(torch.autograd.backward, wrong)
    for wrong in ([], 3, [3], "a"):
        attempt(torch.autograd.backward, y(), inputs=wrong)
    attempt(torch.autograd.backward, [y()], [torch.ones(()), torch.ones(())])
    attempt(torch.autograd.backward, [y(), y()], [torch.ones(())])
    attempt(y().backward, inputs="a")


def recording_in_inference_mode(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        with torch.enable_grad():
            print(torch.is_grad_enabled(), torch.is_inference_mode_enabled())
            y = x * 2
            print(y.requires_grad, y.is_inference(), y.grad_fn)
            v = x.view(2, 1)
            print(v.requires_grad, v.is_inference(), v.grad_fn)
        with torch.inference_mode(False):
            print(torch.is_grad_enabled(), (x * 2).requires_grad)
        print(torch.is_grad_enabled())
    with torch.no_grad(), torch.inference_mode(False):
        print(torch.is_grad_enabled())
    print(torch.is_grad_enabled())


def an_accumulating_node_called(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    node = (x * 2).grad_fn.next_functions[0][0]
    print(node(torch.ones(2) * 3), x.grad)
    print(node(torch.ones(2)), x.grad)
    attempt(node)


def anomaly_mode_is_everywhere(torch: Any) -> None:
    def elsewhere() -> None:
        found = []
        t = threading.Thread(
            target=lambda: found.append((torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()))
        )
        t.start()
        t.join()
        print(found)

    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        elsewhere()
    elsewhere()
    attempt(torch.autograd.set_detect_anomaly, 1)
    attempt(torch.autograd.set_detect_anomaly, True, None)
    print(torch.is_anomaly_enabled())


def forward_mode_switched_off(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(torch.ones(2), torch.ones(2))
        with fw._set_fwd_grad_enabled(False):
            print(fw.unpack_dual(d).tangent, fw.unpack_dual(d * 2).tangent)
        print(fw.unpack_dual(d * 3).tangent)
        attempt(fw.make_dual, torch.ones(2), torch.ones(2), level=1)
        attempt(fw.unpack_dual, 3)
        attempt(fw.make_dual, 3, torch.ones(2))


def complex_views(torch: Any) -> None:
    x = torch.arange(4.0).reshape(2, 2).requires_grad_()
    b = x * 1
    c = torch.view_as_complex(b)
    b.mul_(2)
    c.abs().sum().backward()
    print(c, x.grad)
    x.grad = None
    b = x * 1
    c = torch.view_as_complex(b)
    c[0].mul_(3j)
    (b * x).sum().backward()
    print(b, x.grad)
    z = torch.tensor([1 + 1j, 2 - 1j]).requires_grad_()
    w = z * 1
    w.imag.add_(w.real)
    w.abs().sum().backward()
    print(w, z.grad)


def pickles(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)

    def hook(g: Any) -> Any:
        return g

    hook.__name__ = hook.__qualname__ = "hook"
    x.register_hook(hook)
    print(pickle.loads(pickle.dumps(x)), pickle.loads(pickle.dumps(x * 2)))
    hook.__torch_unserializable__ = True  # type: ignore[attr-defined]
    pickle.dumps(x)
    attempt(copy.deepcopy, x * 2)


def hooks_over_what_is_asked_for(torch: Any) -> None:
    graph = torch.autograd.graph
    a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    y, z = a * 2, b * 3
    handle = graph.register_multi_grad_hook([y, z], lambda gs: print(gs))
    out = (y * z).sum()
    torch.autograd.grad(out, [y], retain_graph=True)
    torch.autograd.grad(out, [y, z], retain_graph=True)
    torch.autograd.grad(out, [a], retain_graph=True)
    print(handle)


def functions_misused(torch: Any) -> None:
    x = torch.ones(4, requires_grad=True)

    class Dirty(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any, x: Any) -> Any:
            ctx.mark_dirty(x.mul_(2))
            return a * 1, x

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            return g, h * 2

    attempt(Dirty.apply, x, (x * 1)[:2])

    class Number(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(3)
            return x * 2

    attempt(Number.apply, x * 1)

    class Keyword(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, scale: float = 2.0, *, flag: bool = False) -> Any:
            ctx.scale = scale
            return x * scale

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.scale, None

    attempt(Keyword.apply, x, scale=3)
    attempt(Keyword.apply, x, flag=True)
    attempt(Keyword.apply, x, other=True)

    class Split(torch.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x * 2, x.sum()

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def jvp(ctx: Any, t: Any) -> Any:
            return t

    fw = torch.autograd.forward_ad
    with fw.dual_level():
        attempt(Split.apply, fw.make_dual(torch.ones(2), torch.ones(2)))
    attempt(Split.apply)

    class Mapped(Split):
        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any) -> Any:
            return x

    attempt(torch.func.vmap(Mapped.apply), torch.ones(3, 2))


def swapping(torch: Any) -> None:
    import weakref

    a, b = torch.ones(2), torch.zeros(3, requires_grad=True)
    a.name_ = "a"
    torch.utils.swap_tensors(a, b)
    print(a, b, b.name_, hasattr(a, "name_"))
    watch = weakref.ref(a)
    attempt(torch.utils.swap_tensors, a, b)
    print(watch() is a)


def trees(torch: Any) -> None:
    import collections
    import dataclasses
    from importlib import import_module

    tree = import_module(torch.__name__ + ".utils._pytree")
    pair = collections.namedtuple("pair", "p q")  # noqa: PYI024
    t = {"a": [1, (2, 3)], "b": None, "c": collections.OrderedDict(x=1), "d": pair(4, collections.deque([5], maxlen=2))}
    leaves, spec = tree.tree_flatten(t)
    print(leaves, spec, spec.num_leaves, spec.num_nodes, spec.num_children, spec.child(0), spec.is_leaf())
    print(spec.unflatten(leaves) == t, spec == tree.tree_structure(t), tree.treespec_pprint(spec))
    attempt(tree.tree_unflatten, [1], spec)
    attempt(tree.tree_unflatten, [1], 3)
    print(tree.tree_map(lambda x, y: (x, y), {"a": 1, "b": 2}, {"b": 3, "a": 4}))
    for rest in ([1, 2], (1,), [[1]], {"a": 1}):
        attempt(tree.tree_map, lambda x, y: (x, y), [1], rest)
    attempt(tree.tree_map, lambda x, y: x, {"a": 1}, {"b": 1})
    paths, _ = tree.tree_flatten_with_path(t)
    print([(tree.keystr(path), leaf, tree.key_get(t, path) is leaf) for path, leaf in paths])
    print(tree.tree_map_with_path(lambda path, x: (len(path), x), [1, [2]]))
    print(tree.tree_map_only(int, lambda x: -x, t), tree.tree_any_only(int, lambda x: x > 4, t))
    print(tree.tree_all(lambda x: x, [1, 0]), list(tree.tree_iter([1, [2]])), tree.tree_is_leaf([]))
    text = tree.treespec_dumps(tree.tree_structure([1, {"a": 2}]))
    print(text, tree.treespec_loads(text))

    class Two:
        def __init__(self, a: Any, b: Any) -> None:
            self.a, self.b = a, b

        def __repr__(self) -> str:
            return f"Two({self.a}, {self.b})"

    def register() -> None:
        tree.register_pytree_node(Two, lambda c: ([c.a, c.b], None), lambda v, _: Two(*v))

    register()
    print(tree.tree_map(lambda x: x * 2, Two(1, [2])))
    attempt(register)
    point = dataclasses.make_dataclass("point", ["x", "y"])
    tree.register_dataclass(point)
    print(
        tree.tree_map(lambda v: v + 1, point(1, 2)),
        [tree.keystr(k) for k, _ in tree.tree_leaves_with_path(point(1, 2))],
    )


def values_of_transforms(torch: Any) -> None:
    func, fw = torch.func, torch.autograd.forward_ad

    def shown(x: Any) -> Any:
        print(x, x * 2)
        return x

    x = torch.ones(2, 3)
    func.grad(lambda v: shown(v).sum())(x)
    func.grad(func.grad(lambda v: shown(v) ** 3))(torch.tensor(1.0))
    func.vmap(shown)(x)
    func.vmap(func.vmap(shown))(x)
    func.vmap(func.grad(lambda v: shown(v).sum()))(x)
    func.grad(lambda y: func.vmap(shown)(y).sum())(x)
    func.jvp(shown, (x,), (x,))
    func.vjp(shown, x)
    func.jacrev(shown)(x[0])
    func.jacfwd(shown)(x[0])
    with fw.dual_level():
        shown(fw.make_dual(x, x))
    print(x)


def gradcheck_along_directions(torch: Any) -> None:
    import re

    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x**2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 3

    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    try:
        torch.autograd.gradcheck(Bad.apply, (x,), fast_mode=True)
    except Exception as error:  # the directions are random, and so are the products
        print(type(error).__name__, re.sub(r"(numerical:|analytical:|is: )[^\n]+", r"\1#", str(error)))
    print(torch.autograd.gradcheck(lambda a: a**2, (x,), fast_mode=True))


def scatters_of_more_than_the_index(torch: Any) -> None:
    index = torch.zeros(2, 3, dtype=torch.long)
    given, more = torch.ones(3, 4), torch.arange(12.0).view(3, 4)
    for name in ("scatter", "scatter_add", "sum", "mean", "prod", "amax", "amin"):
        for wanted in range(3):
            x, src = given.clone().requires_grad_(wanted != 1), more.clone().requires_grad_(wanted > 0)
            if name[:2] == "sc":
                y = getattr(x, name)(0, index, src)
            else:
                y = x.scatter_reduce(0, index, src, name)
            attempt(torch.autograd.grad, y.sum(), [v for v in (x, src) if v.requires_grad])
    for f in (lambda s: given.scatter_add(0, index, s), lambda s: given.scatter_reduce(0, index, s, "sum")):
        print(torch.func.jvp(f, (more,), (more,)))


def gradients_from_inference_mode(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        x.grad = torch.ones(2)
        made = torch.ones(2)
    attempt(x.sum().backward)
    attempt(x.grad.set_, torch.zeros(3))
    with torch.inference_mode():
        made += 1
        made[0] = 5
        print(made.copy_(made * 2))


def capsules(torch: Any) -> None:
    capsule = torch.utils.dlpack.to_dlpack(torch.arange(4))
    print(torch.from_dlpack(capsule), torch.from_dlpack(torch.ones(2).__dlpack__()))
    attempt(torch.from_dlpack, capsule)
    attempt(torch.from_dlpack, 3)
