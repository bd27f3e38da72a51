"""The cases of arrays_bench.py: name -> (our builder, PyTorch's builder). A builder makes the arrays and returns
the function to time; it imports what it needs, since each runs in a process with one library only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Builder = Callable[[], Callable[[], object]]
CASES: dict[str, tuple[Builder, Builder]] = {}


def data(*shape: int, seed: int = 0) -> Any:
    import numpy as np

    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def big(*shape: int, seed: int = 0) -> Any:
    import torch

    return torch.from_numpy(data(*shape, seed=seed))


N = 4_000_000


def _ufuncs() -> None:
    for name in ("exp", "log", "sqrt", "tanh", "mul", "add scalar", "add row"):

        def ours(name: str = name) -> Callable[[], object]:
            import numpy as np

            from tidu.arrays.threads import big_ufunc

            x, y = abs(data(4000, 1000)), data(4000, 1000, seed=1)
            if name == "mul":
                return lambda: big_ufunc(np.multiply, x, y)
            if name == "add scalar":
                return lambda: big_ufunc(np.add, x, 2.0)
            if name == "add row":
                return lambda: big_ufunc(np.add, x, y[0])
            f = getattr(np, name)
            return lambda: big_ufunc(f, x)

        def theirs(name: str = name) -> Callable[[], object]:
            import torch

            x, y = abs(big(4000, 1000)), big(4000, 1000, seed=1)
            if name == "mul":
                return lambda: x * y
            if name == "add scalar":
                return lambda: x + 2.0
            if name == "add row":
                return lambda: x + y[0]
            f = getattr(torch, name)
            return lambda: f(x)

        CASES[f"{name} 4M"] = ours, theirs


_ufuncs()


def _chain_ours() -> Callable[[], object]:
    """The tanh form of gelu as single ops, forward and backward, as a tape would call them."""
    import numpy as np

    from tidu.arrays.elementwise import tanh, tanh_backward
    from tidu.arrays.threads import big_ufunc as big_

    x, g = data(N), data(N, seed=1)
    mul, add = np.multiply, np.add

    def step() -> object:
        x2 = big_(mul, x, x)
        x3 = big_(mul, x2, x)
        a = big_(mul, x3, 0.044715)
        b = big_(add, a, x)
        c = big_(mul, b, 0.7978845608)
        t = tanh(c)
        d = big_(add, t, 1.0)
        h = big_(mul, x, 0.5)
        out = big_(mul, h, d)
        gd, gh = big_(mul, g, h), big_(mul, g, d)
        gx = big_(mul, gh, 0.5)
        gc = tanh_backward(gd, t)
        gb = big_(mul, gc, 0.7978845608)
        gx = big_(add, gx, gb)
        ga = big_(mul, gb, 0.044715)
        gx2 = big_(mul, ga, x)
        gx = big_(add, gx, big_(mul, ga, x2))
        g2 = big_(mul, gx2, x)
        gx = big_(add, gx, g2)
        gx = big_(add, gx, g2)
        return out, gx

    return step


def _chain_theirs() -> Callable[[], object]:
    import torch

    x, g = big(N).requires_grad_(), big(N, seed=1)

    def step() -> object:
        out = x * 0.5 * (torch.tanh((x * x * x * 0.044715 + x) * 0.7978845608) + 1.0)
        return torch.autograd.grad(out, x, g)

    return step


CASES["gelu chain 4M fwd+bwd"] = _chain_ours, _chain_theirs


def _functions() -> None:
    for name in ("erf", "sigmoid", "gelu", "gelu tanh", "silu", "softplus", "log1p", "expm1", "tanh", "relu"):
        for size, label in ((N, "4M"), (30_000, "30k"), (16, "16")):
            for both in (False, True):

                def ours(name: str = name, size: int = size, both: bool = both) -> Callable[[], object]:
                    from tidu.arrays import elementwise, select

                    x, g = data(size), data(size, seed=1)
                    if name == "log1p":
                        x = abs(x)
                    base, extra = (name, ()) if name != "gelu tanh" else ("gelu", ("tanh",))
                    where = select if name == "relu" else elementwise
                    f, df = getattr(where, base), getattr(where, base + "_backward")
                    of_result = name in ("sigmoid", "expm1", "tanh", "relu")
                    if not both:
                        return lambda: f(x, *extra)

                    def step() -> object:
                        out = f(x, *extra)
                        return out, df(g, out if of_result else x, *extra)

                    return step

                def theirs(name: str = name, size: int = size, both: bool = both) -> Callable[[], object]:
                    import torch
                    import torch.nn.functional as F

                    x, g = big(size), big(size, seed=1)
                    if name == "log1p":
                        x = abs(x)
                    if name == "gelu tanh":
                        f: Any = lambda a: F.gelu(a, approximate="tanh")  # noqa: E731
                    else:
                        f = getattr(torch, name, None) or getattr(F, name)
                    if not both:
                        return lambda: f(x)
                    x.requires_grad_()
                    return lambda: torch.autograd.grad(f(x), x, g)

                CASES[f"{name} {label}{' fwd+bwd' if both else ''}"] = ours, theirs


_functions()


def _rows() -> None:
    for rows, columns, axis in ((4096, 1024, 1), (4096, 1024, 0), (65536, 16, 1), (256, 10, 1), (64, 512, 1)):
        for name in ("softmax", "log_softmax", "logsumexp", "layer_norm"):
            if name == "layer_norm" and axis == 0:
                continue
            for both in (False, True):
                if name == "logsumexp" and both:
                    continue

                def ours(r: int = rows, c: int = columns, k: int = axis, n: str = name, both: bool = both) -> Any:
                    from tidu.arrays import rows as R

                    x, g, w, b = data(r, c), data(r, c, seed=1), data(c), data(c, seed=2)
                    if n == "layer_norm":
                        if not both:
                            return lambda: R.layer_norm(x, 1, w, b)

                        def step() -> object:
                            out, mean, rstd = R.layer_norm(x, 1, w, b)
                            return out, R.layer_norm_backward(g, x, mean, rstd, 1, w)

                        return step
                    f = getattr(R, n)
                    if not both:
                        return lambda: f(x, k)
                    df = getattr(R, n + "_backward")
                    return lambda: df(g, f(x, k), k)

                def theirs(r: int = rows, c: int = columns, k: int = axis, n: str = name, both: bool = both) -> Any:
                    import torch
                    import torch.nn.functional as F

                    x, g, w, b = big(r, c), big(r, c, seed=1), big(c), big(c, seed=2)
                    if n == "layer_norm":
                        if not both:
                            return lambda: F.layer_norm(x, (c,), w, b)
                        for t in (x, w, b):
                            t.requires_grad_()
                        return lambda: torch.autograd.grad(F.layer_norm(x, (c,), w, b), (x, w, b), g)
                    f = getattr(torch, n)
                    if not both:
                        return lambda: f(x, k)
                    x.requires_grad_()
                    return lambda: torch.autograd.grad(f(x, k), x, g)

                CASES[f"{name} {rows}x{columns} axis {axis}{' fwd+bwd' if both else ''}"] = ours, theirs


_rows()


def _products() -> None:
    shapes = [((4, 4), (4, 4)), ((64, 64), (64, 64)), ((256, 256), (256, 256)), ((16, 4, 4), (16, 4, 4)),
              ((256, 16, 16), (256, 16, 16)), ((64, 64, 64), (64, 64, 64)), ((16, 128, 64), (16, 64, 128)),
              ((16, 256, 256), (16, 256, 256)), ((8, 32, 64), (64, 64))]  # fmt: skip
    for sa, sb in shapes:

        def ours(sa: Any = sa, sb: Any = sb) -> Any:
            from tidu.arrays.matmul import mm

            a, b = data(*sa), data(*sb, seed=1)
            return lambda: mm(a, b)

        def theirs(sa: Any = sa, sb: Any = sb) -> Any:
            import torch

            a, b = big(*sa), big(*sb, seed=1)
            return lambda: torch.matmul(a, b)

        CASES[f"mm {'x'.join(map(str, sa))} {'x'.join(map(str, sb))}"] = ours, theirs

    def self_ours() -> Any:
        from tidu.arrays.matmul import mm

        h = data(256, 1024)
        return lambda: mm(h.T, h)

    def self_theirs() -> Any:
        h = big(256, 1024)
        return lambda: h.T @ h

    CASES["mm h.T h 256x1024"] = self_ours, self_theirs


_products()


def _mlp_ours() -> Callable[[], object]:
    import numpy as np

    from tidu.arrays.matmul import linear, linear_backward
    from tidu.arrays.rows import log_softmax, log_softmax_backward
    from tidu.arrays.select import relu, relu_backward

    sizes = (784, 1024, 1024, 10)
    w = [data(m, n, seed=n) / np.float32(30) for n, m in zip(sizes, sizes[1:])]
    b = [data(m) / np.float32(30) for m in sizes[1:]]
    x, rows = data(256, 784), np.arange(256)
    target = np.random.default_rng(0).integers(0, 10, 256)

    def step() -> object:
        z1 = linear(x, w[0], b[0])
        h1 = relu(z1)
        z2 = linear(h1, w[1], b[1])
        h2 = relu(z2)
        z3 = linear(h2, w[2], b[2])
        lp = log_softmax(z3, 1)
        loss = -lp[rows, target].mean()
        g = np.zeros_like(lp)
        g[rows, target] = -1 / 256
        g = log_softmax_backward(g, lp, 1)
        g, gw3, gb3 = linear_backward(g, h2, w[2])
        g = relu_backward(g, h2)
        g, gw2, gb2 = linear_backward(g, h1, w[1])
        g = relu_backward(g, h1)
        g, gw1, gb1 = linear_backward(g, x, w[0], (False, True, True))
        for p, gp in zip(w + b, (gw1, gw2, gw3, gb1, gb2, gb3)):
            gp *= np.float32(0.01)
            p -= gp
        return loss

    return step


def _mlp_theirs() -> Callable[[], object]:
    import numpy as np
    import torch
    import torch.nn.functional as F

    sizes = (784, 1024, 1024, 10)
    w = [(big(m, n, seed=n) / 30).requires_grad_() for n, m in zip(sizes, sizes[1:])]
    b = [(big(m) / 30).requires_grad_() for m in sizes[1:]]
    x = big(256, 784)
    target = torch.from_numpy(np.random.default_rng(0).integers(0, 10, 256))

    def step() -> object:
        h = F.relu(F.linear(x, w[0], b[0]))
        h = F.relu(F.linear(h, w[1], b[1]))
        loss = F.cross_entropy(F.linear(h, w[2], b[2]), target)
        for p in w + b:
            p.grad = None
        loss.backward()
        with torch.no_grad():
            for p in w + b:
                p.sub_(p.grad, alpha=0.01)
        return loss

    return step


CASES["mlp 256x784-1024-1024-10 step"] = _mlp_ours, _mlp_theirs


def _sums() -> None:
    cases = [
        ((4, 4), None),
        ((32, 10), None),
        ((256, 1024), None),
        ((4000, 1000), None),
        ((32, 64), 0),
        ((256, 1024), 0),
        ((256, 1024), 1),
        ((4000, 1000), 0),
        ((4000, 1000), 1),
        ((100_000, 10), 0),
    ]
    for shape, axis in cases:

        def ours(shape: Any = shape, axis: Any = axis) -> Any:
            from tidu.arrays.reduce import sum_all, sum_axes

            a = data(*shape)
            return (lambda: sum_all(a)) if axis is None else (lambda: sum_axes(a, axis))

        def theirs(shape: Any = shape, axis: Any = axis) -> Any:
            a = big(*shape)
            return (lambda: a.sum()) if axis is None else (lambda: a.sum(axis))

        CASES[f"sum {'x'.join(map(str, shape))} axis {axis}"] = ours, theirs


_sums()


def _gathers() -> None:
    for n, count, width in ((100, 64, 16), (1000, 256, 64), (10_000, 4096, 128), (50_000, 32_768, 64)):
        for both in (False, True):

            def ours(n: int = n, count: int = count, width: int = width, both: bool = both) -> Any:
                import numpy as np

                from tidu.arrays.select import add_rows, take_rows

                table, g, i = (data(n, width), data(count, width), np.random.default_rng(0).integers(0, n, count))
                if both:
                    return lambda: (take_rows(table, i), add_rows(n, i, g))
                return lambda: take_rows(table, i)

            def theirs(n: int = n, count: int = count, width: int = width, both: bool = both) -> Any:
                import numpy as np
                import torch
                import torch.nn.functional as F

                table, g = big(n, width), big(count, width)
                i = torch.from_numpy(np.random.default_rng(0).integers(0, n, count))
                if both:
                    table.requires_grad_()
                    return lambda: torch.autograd.grad(F.embedding(i, table), table, g)
                return lambda: F.embedding(i, table)

            CASES[f"embedding {n}x{width} {count}{' fwd+bwd' if both else ''}"] = ours, theirs


_gathers()
