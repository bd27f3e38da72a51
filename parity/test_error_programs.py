"""Whole programs that end in an error: what users of autograd run into, with the same class and message."""

from __future__ import annotations

import pytest

from .agree import agree
from .bridge import Side

PROGRAMS = """
x = torch.ones(2, requires_grad=True)
y = (x * x).sum()
y.backward()
y.backward()
---
x = torch.ones(2, requires_grad=True)
y = x.exp().sum()
torch.autograd.grad(y, x)
torch.autograd.grad(y, x)
---
x = torch.ones(2, requires_grad=True)
y = x.exp()
y.add_(1)
y.sum().backward()
---
x = torch.ones(2, requires_grad=True)
y = x * 1
z = y * y
y.mul_(2)
z.sum().backward()
---
x = torch.ones(2, requires_grad=True)
w = torch.ones(2, requires_grad=True)
z = (x * w).sum()
with torch.no_grad():
    w += 1
z.backward()
---
x = torch.ones(2, 3, requires_grad=True)
y = x.sigmoid()
y[0] = 0
y.sum().backward()
---
x = torch.ones(3, requires_grad=True)
x[0] = 5
---
x = torch.ones(3, requires_grad=True)
x += 1
---
x = torch.ones(3, requires_grad=True)
y = x[:2]
y += 1
---
x = torch.ones(3, requires_grad=True)
with torch.no_grad():
    v = x[:2]
v += 1
---
x = torch.ones(3, requires_grad=True)
y = x * 2
with torch.no_grad():
    v = y[:2]
v += 1
---
x = torch.ones(3, requires_grad=True) * 2
a, b, c = x.unbind()
a.add_(1)
---
x = torch.ones(3, requires_grad=True)
x.data = torch.ones(3, dtype=torch.int64)
---
x = torch.ones(3, requires_grad=True)
x.grad = torch.ones(2)
---
x = torch.ones(3, requires_grad=True)
x.grad = torch.ones(3, dtype=torch.float64)
---
x = torch.ones(3, requires_grad=True)
x.grad = 1.0
---
x = torch.ones(3, requires_grad=True)
x.grad = x
---
x = torch.ones(3, requires_grad=True)
y = x * 2
y.requires_grad = False
---
x = torch.ones(3, requires_grad=True)
torch.add(x, 1, out=torch.empty(3))
---
x = torch.ones(3)
torch.add(x, 1, out=torch.empty(3, requires_grad=True))
---
torch.add(torch.ones(3), 1.5, out=torch.empty(3, dtype=torch.int64))
---
with torch.inference_mode():
    x = torch.ones(2)
x.requires_grad_()
---
with torch.inference_mode():
    x = torch.ones(2)
x.add_(1)
---
with torch.inference_mode():
    x = torch.ones(2)
(torch.ones(2, requires_grad=True) * x).sum().backward()
---
with torch.inference_mode():
    x = torch.ones(2)
x._version
---
with torch.inference_mode():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
y.sum().backward()
---
x = torch.ones(2, requires_grad=True)
y = torch.ones(2, requires_grad=True)
torch.autograd.grad((x * 2).sum(), [x, y])
---
x = torch.ones(2, requires_grad=True)
y = x * 2
torch.autograd.grad(y.sum(), x)
g = torch.autograd.grad((x * 3).sum(), x)[0]
torch.autograd.grad(g.sum(), x)
---
x = torch.ones(2, requires_grad=True)
y = (x ** 2).sum()
torch.autograd.grad(y, x, torch.ones(2))
---
x = torch.ones(2, requires_grad=True)
torch.autograd.grad([x.sum(), x.prod()], x, [torch.ones(())])
---
x = torch.ones(2, requires_grad=True)
torch.autograd.grad(x * 2, x, is_grads_batched=True)
---
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g, g
x = torch.ones(2, requires_grad=True)
F.apply(x).sum().backward()
---
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g[0]
x = torch.ones(2, requires_grad=True)
F.apply(x).sum().backward()
---
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
x = torch.ones(2, requires_grad=True)
F.apply(x).sum().backward()
---
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x
x = torch.ones(2, requires_grad=True)
y = F.apply(x).sum()
y.backward()
y.backward()
---
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(3)
        return x * 2
F.apply(torch.ones(2, requires_grad=True))
---
class F(torch.autograd.Function):
    def forward(ctx, x):
        return x * 2
    def backward(ctx, g):
        return g
F()(torch.ones(2, requires_grad=True))
---
x = torch.ones(2, requires_grad=True)
y = x * 2
y.register_hook(lambda g: torch.ones(3))
y.sum().backward()
---
x = torch.ones(2, requires_grad=True)
y = x * 2
y.register_hook(lambda g: 3)
y.sum().backward()
---
x = torch.ones(2, requires_grad=True)
(x * 2).backward(torch.ones(2, 1))
---
x = torch.ones(2, requires_grad=True)
with torch.autograd.detect_anomaly():
    (x.sub(1).sqrt() * 0).sum().backward()
---
x = torch.ones(2)
with torch.enable_grad():
    y = x * 2
y.sum().backward()
---
x = torch.ones(2, requires_grad=True)
with torch.no_grad():
    y = x * 2
y.sum().backward()
---
x = torch.ones(2, requires_grad=True)
y = x.detach() * 2
y.sum().backward()
---
x = torch.ones(2, requires_grad=True)
(x * 2 > 1).sum().backward()
---
x = torch.ones(2, requires_grad=True)
x.argmax().backward()
---
x = torch.ones(2, requires_grad=True)
x.detach_()
y = x[0]
y.sum().backward()
---
x = torch.ones(2, 2, requires_grad=True)
x[0].detach_()
---
x = torch.ones(3)
x[torch.tensor([0, 1])] = torch.ones(3)
---
x = torch.ones(3)
x[5] = 1
---
x = torch.ones(3)
x[0] = torch.ones(2)
---
x = torch.ones(3)
x[0] = "a"
---
x = torch.ones(3, dtype=torch.int64)
x[torch.tensor([0])] = torch.ones(1)
---
x = torch.ones(3)
x[torch.tensor([True, False])] = 1
---
x = torch.ones(2, 2)
x[:, 0] = torch.ones(3)
---
x = torch.ones(3)
del x[0]
---
x = torch.ones(2, requires_grad=True)
y = x.clone()
y.resize_(3)
---
x = torch.ones(4)
x[:2].copy_(torch.ones(3))
---
x = torch.ones(4)
x[1:].add_(x[:3])
---
x = torch.ones(4)
torch.add(x[1:], 1, out=x[:3])
---
x = torch.arange(4.0)
x.swap_axes
---
torch.set_default_dtype("float")
---
x = torch.ones(2, requires_grad=True)
len(torch.ones(()))
---
for _ in torch.ones(()):
    pass
---
if torch.ones(2):
    pass
---
torch.ones(2).backward()
---
a, b = torch.ones(3)
---
x = torch.ones(2, requires_grad=True)
math.sin(x)
---
x = torch.ones(2, requires_grad=True)
range(torch.ones(2))
---
[1, 2, 3][torch.tensor([1, 2])]
---
x = torch.ones(2, requires_grad=True)
x.grad_fn.next_functions
---
x = torch.ones(2, requires_grad=True)
y = x.exp()
y.grad_fn._saved_nonsense
---
torch.vmap(lambda x: x)(3)
---
torch.vmap(lambda x: x, in_dims=2)(torch.ones(2))
---
torch.vmap(lambda x, y: x + y)(torch.ones(2), torch.ones(3))
---
torch.vmap(lambda x: x.item())(torch.ones(2))
---
torch.vmap(lambda x: 1.0)(torch.ones(2))
---
torch.vmap(lambda x: bool(x > 0))(torch.ones(2))
---
torch.func.grad(lambda x: x * 2)(torch.ones(2))
---
torch.func.grad(lambda x: 1.0)(torch.ones(2))
---
torch.func.jacrev(lambda x: 1.0)(torch.ones(2))
---
torch.func.vjp(lambda x: x * 2, torch.ones(2))[1](torch.ones(3))
---
torch.func.jvp(lambda x: x * 2, (torch.ones(2),), (torch.ones(3),))
---
torch.func.grad(lambda x: x.sum(), argnums=1)(torch.ones(2))
""".strip().split("\n---\n")


@pytest.mark.parametrize("text", PROGRAMS)
def test_error(side: Side, text: str) -> None:
    agree(side, text)
