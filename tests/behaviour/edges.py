"""Edges: short sessions, each line answered as Python's prompt would, errors and all."""

from __future__ import annotations

import ast
from typing import Any


def session(torch: Any, text: str) -> None:
    """Run a text statement by statement; print what expressions give and what fails."""
    import numpy as np

    scope = {"torch": torch, "np": np, "nn": torch.nn, "F": torch.nn.functional, "__name__": "edges"}
    for statement in ast.parse(text).body:
        try:
            if isinstance(statement, ast.Expr):
                value = eval(compile(ast.Expression(statement.value), "<edges>", "eval"), scope)
                if value is not None:
                    print(repr(value))
            else:
                exec(compile(ast.Module([statement], []), "<edges>", "exec"), scope)
        except Exception as error:
            print(f"{ast.unparse(statement)[:80]}: {type(error).__name__}: {error}")


def comparisons_in_place(torch: Any) -> None:
    session(
        torch,
        """
x = torch.ones(3, requires_grad=True)
x.eq_(1)
y = x * 2
y.eq_(2)
y.grad_fn.next_functions
y.sum().backward()
x.grad
z = torch.ones(3)
z.lt_(x * 2)
z.grad_fn.next_functions
z.sum().backward()
x.grad
w = x * 1
w[:1].ge_(w[1:2])
w.grad_fn
w.sum().backward()
x.grad
w = x * 1
w.ne_(w)
w.grad_fn.next_functions
v = torch.ones(2, 3)
v.gt_(x * 2)
v.sum().backward()
x.grad
x.logical_not_()
x._version
x[0].logical_not_()
y = x * 2
y.logical_and_(torch.ones(3))
y.grad_fn
a, b = (x * 1).split([1, 2])
a.logical_xor_(torch.ones(1))
(y * 1).fmod_(2).grad_fn.next_functions
(y % 2).grad_fn.next_functions
(2 - y).grad_fn.next_functions
torch.xlogy(y, 2).grad_fn.next_functions
torch.xlogy(2, y).grad_fn.next_functions
(y * 2).grad_fn.next_functions
""",
    )


def writes_to_expanded(torch: Any) -> None:
    session(
        torch,
        """
x = torch.ones(1).expand(3)
x.masked_fill_(torch.tensor([True, False, True]), 2)
x.masked_fill_(torch.tensor([True, False, False]), torch.tensor(3))
x.index_fill_(0, torch.tensor([0]), 4.)
x.index_put_((torch.tensor([0]),), torch.tensor(5.))
x.index_put_((torch.tensor([0]),), torch.tensor(5.), accumulate=True)
x[[0]] = 6
x
e = torch.ones(2, 1).expand(2, 3)
e[:, [0, 1]] = torch.arange(4.).view(2, 2)
e[0] = 1
e.add_(1)
e.tril_()
e.index_add_(0, torch.tensor([0]), torch.ones(1, 3))
y = (torch.ones(1, requires_grad=True) * 1).expand(3)
y.masked_fill_(torch.tensor([True, False, True]), 2)
y.grad_fn
""",
    )


def whole_assignments(torch: Any) -> None:
    session(
        torch,
        """
b = torch.ones(2, 3, requires_grad=True) * 1
z = torch.zeros(2, 3)
z[:] = b
z.grad_fn
z = torch.zeros(2, 3)
z[0:2] = b
z.grad_fn.next_functions
z = torch.zeros(2, 3)
z[...] = b[0, 0]
z.grad_fn.next_functions
z[:] = b.sum()
z.grad_fn
z[[0]] = b[[0]]
z.grad_fn.next_functions
z[0] = b[[0]]
torch.autograd.grad(z.sum(), b)
i = torch.zeros(2, dtype=torch.long)
i[:] = torch.tensor(2.5)
i
x = torch.zeros(2, 3)
x[x > 100] = torch.ones(0, 3)
x[:1] = x[0]
x[:] = x[0, 0]
x[1:] = torch.ones(2, 1, 3)
""",
    )


def odd_keys(torch: Any) -> None:
    session(
        torch,
        """
x = torch.arange(6).view(2, 3)
x[[0, slice(1)]]
x[[None]]
x[[...]]
x[[torch.tensor(0)]]
x[[[0]]]
x[[True, False]]
x[[0] * 33]
x[['a']]
x['a']
x[b'a']
x[[1.5]]
x[[object()]]
x[[{}]]
x[[[0, 'a']]]
x[np.array([1.5])]
x[np.float64(1)]
x[np.bool_(True)]
x[1.]
x[{0}]
x[2**63]
x[-2**63 - 1]
x[:, 2**63]
x[[2**63]]
x[..., 2**63] = 2
x[2**62]
x[2**70:]
x[[0, 2**63 - 1]]
from collections import UserList
x[UserList([0, 1])]
x[[slice(0, 1)]] = 4
x
""",
    )


def strides_of_ones(torch: Any) -> None:
    session(
        torch,
        """
z = torch.ones(2, 3)
z.t()[None].stride(), z.t()[:, None].stride(), z.t()[..., None].stride(), z.t()[None, :, None].stride()
z.t().unsqueeze(1).stride(), z.t().unsqueeze(2).stride()
z.diagonal().unsqueeze(0).stride(), z[:, ::2].unsqueeze(-1).stride(), z.expand(1, 2, 3).stride()
z.requires_grad_()
z.t()[None].stride(), z.t()[:, None, ..., None].stride()
torch.view_as_complex(torch.arange(6.)[1:5].view(2, 2))
torch.view_as_complex(torch.arange(6.)[2:6].view(2, 2))
""",
    )


def one_tensor_returned_twice(torch: Any) -> None:
    session(
        torch,
        """
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x * 2
        return y, y
    @staticmethod
    def backward(ctx, a, b):
        print(a, b)
        return a + b

x = torch.ones(2, requires_grad=True)
a, b = Twice.apply(x)
a is b, a.output_nr
(a * 3 + b).sum().backward()
x.grad
p = torch.ones(3, requires_grad=True)
q = torch.ones(3, requires_grad=True)
b = p * 1
b[0] += q[0]
g, = torch.autograd.grad((b * b).sum(), p, create_graph=True)
torch.autograd.grad((g * g).sum(), p)
(b.sum() + q.sum()).backward()
q.grad
b = p * 1
b.set_(torch.ones(2))
b.sum().backward()
b.set_(3)
""",
    )


def drawn_as_memory_lies(torch: Any) -> None:
    session(
        torch,
        """
vmap = torch.func.vmap
x = torch.ones(2, 3)
_ = torch.manual_seed(0)
vmap(torch.rand_like, in_dims=1, randomness='different')(x)
vmap(torch.randn_like, in_dims=1, randomness='different')(x)
vmap(lambda v: torch.randint_like(v, 10), in_dims=1, randomness='different')(x)
vmap(torch.rand_like, in_dims=1, randomness='same')(x)
vmap(vmap(torch.rand_like, randomness='different'), randomness='different')(x)
F.gumbel_softmax(x.t())
torch.rand_like(x.t())
""",
    )


def values_from_the_same_memory(torch: Any) -> None:
    session(
        torch,
        """
t = torch.ones(3)
t.index_put_((torch.tensor([0]),), t[0])
t[[0]] = t[1]
t[[0, 1]] = t[0:1]
t[t < 5] = t[0]
t.index_fill_(0, torch.tensor([0]), t[0])
x = torch.arange(6.).view(2, 3).t()
x.index_copy_(0, torch.tensor([0]), x[:1])
x[[0]] = x[[1]]
x
p = torch.ones(3, requires_grad=True)
p[[0]] = p[0]
s = torch.tensor(1.)
s[...] = torch.tensor(2., requires_grad=True)
s.grad_fn
s[(0,)]
s[0]
s[0:]
s[0:] = 1
z = torch.zeros(2, 3)
z[:5] = torch.ones(2, 3, requires_grad=True)
z.grad_fn
z[:5, :9].grad_fn
""",
    )


def what_no_gradient_reaches(torch: Any) -> None:
    session(
        torch,
        """
class Stops(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1
    @staticmethod
    def backward(ctx, g):
        return None

x = torch.ones(2, requires_grad=True)
y = x * 2
w = y.sin()
z = Stops.apply(w)
for name, t in dict(x=x, y=y, w=w, z=z).items():
    _ = t.register_hook(lambda g, name=name: print("hook", name, g))
for name, t in dict(y=y, w=w, z=z).items():
    _ = t.grad_fn.register_prehook(lambda g, name=name: print("pre", name, g))
    _ = t.grad_fn.register_hook(lambda gi, go, name=name: print("post", name, gi, go))
y.retain_grad()
_ = x.register_post_accumulate_grad_hook(lambda p: print("accumulated", p.grad))
_ = y.grad_fn.next_functions[0][0].register_hook(lambda gi, go: print("leaf's node", gi, go))
z.sum().backward()
x.grad is None and y.grad is None
torch.autograd.grad(Stops.apply(w).sum(), x, allow_unused=True)
v = x * 1
_ = v.register_hook(lambda g: g * 2)
Stops.apply(v).sum().backward()
a = torch.ones(2, requires_grad=True)
b = a.exp()
_ = b.register_hook(lambda g: print("not on the way"))
torch.autograd.grad([b, x * 3], [x], [torch.ones(2)] * 2)
_ = (c := a.sin()).register_hook(lambda g: print("alone", g))
torch.autograd.grad(c, [x], torch.ones(2), allow_unused=True)
values, places = torch.ones(3, requires_grad=True).mul(1).sort()
_ = values.grad_fn.register_prehook(lambda g: print("pre", g))
_ = values.grad_fn.register_hook(lambda gi, go: print("post", gi, go))
values.sum().backward()
f = (x + 1).floor()
f.sum().backward()
f.sum().backward()
""",
    )


def transforms_show_plain_tensors(torch: Any) -> None:
    session(
        torch,
        """
vmap = torch.func.vmap
v = vmap(lambda x: (print(type(x).__name__, isinstance(x, torch.Tensor)), x)[1])(torch.ones(2))
vmap(lambda x: x.blah)(torch.ones(2))
torch.func.grad(lambda x: x.blah)(torch.ones(2))
fw = torch.autograd.forward_ad
with fw.dual_level():
    d = fw.make_dual(torch.ones(2), torch.ones(2))
    print(type(d).__name__)
    print(torch.tensor([d[0], d[1]]))
""",
    )


def results_given(torch: Any) -> None:
    session(
        torch,
        """
x = torch.tensor([[3., 1], [2, 4]])
empty = lambda: torch.empty(0)
places = lambda: torch.empty(0, dtype=torch.long)
torch.max(x, 0, out=(empty(), places()))
torch.sort(x, out=(empty(), places()))
torch.cummin(x, 0, out=(empty(), places()))
torch.median(x, 0, out=(empty(), places()))
torch.aminmax(x, out=(empty(), empty()))
torch.frexp(x, out=(empty(), torch.empty(0, dtype=torch.int)))
torch.linalg.inv_ex(x, out=(empty(), torch.empty(0, dtype=torch.int)))
torch.return_types.max_out
torch.max(x, 0)
p = torch.ones(2, 3)
torch.add(torch.zeros(2, 3), 5, out=p.t())
p
q = torch.arange(6.)
v = q[1:3]
torch.add(torch.zeros(3), 5, out=v)
q, v
with torch.inference_mode():
    w = torch.ones(2, requires_grad=True)
y = torch.ones(2, requires_grad=True) * 2
with torch.inference_mode():
    y.detach_()
y.requires_grad
z = torch.zeros(2, 2)
z[:, 1] = torch.ones(2, requires_grad=True)[:1]
z.grad_fn.next_functions
with torch.no_grad() as mode:
    print(mode)
n = torch.no_grad()
n.prev, n.clone()
with torch.autograd.graph.saved_tensors_hooks(lambda t: 3, lambda t: torch.ones(5)):
    s = torch.ones(2, requires_grad=True).exp()
s.sum().backward()
""",
    )


def products_in_place(torch: Any) -> None:
    session(
        torch,
        """
b = torch.ones(3, 2)
b.addmm_(torch.ones(3, 2), torch.ones(2, 3))
b.addmm_(torch.ones(3, 2), torch.ones(3, 3))
torch.ones(1, 2).addmm_(torch.ones(3, 2), torch.ones(2, 2))
torch.ones(1).addmv_(torch.ones(3, 2), torch.ones(2))
torch.ones(2, 2).baddbmm_(torch.ones(1, 2, 2), torch.ones(1, 2, 2))
b.addmm_(torch.ones(3, 2), torch.ones(2, 2))
x = torch.ones(2)
x.copy_(np.int64(3)), x.copy_(np.float32(2))
torch.ones(4).resize(2, 2)
torch.ones(4).resize(3)
torch.ones(4).resize_as(torch.ones(2, 3))
torch.slogdet(torch.eye(2), out=(torch.empty(0), torch.empty(0)))
nn.NLLLoss2d()
nn.Hardtanh(min_value=-1, max_value=1)
""",
    )
