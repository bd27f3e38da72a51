"""Checkpointing, of both kinds: gradients, random numbers, nesting, errors."""

# ruff: noqa
import torch
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

nn = torch.nn
torch.manual_seed(0)
m = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Dropout(0.5), nn.Linear(8, 4))
x = torch.randn(3, 4, requires_grad=True)
for ur in (None, False, True):
    torch.manual_seed(3)
    x.grad = None
    m.zero_grad()
    y = m(x) if ur is None else checkpoint(m, x, use_reentrant=ur)
    y = y.sin()
    y.sum().backward()
    print(ur, x.grad, m[0].weight.grad.sum(), m[3].bias.grad)
    print(torch.rand(1))


# nested
def f(a):
    a = a.tanh() * 2
    return checkpoint(g, a, use_reentrant=False).exp()


n = [0]


def g(a):
    n[0] += 1
    return a.sin().cos() * a


x.grad = None
f(x).sum().backward()
e = x.grad
x.grad = None
n[0] = 0
checkpoint(f, x, use_reentrant=False).sum().backward()
print(torch.equal(e, x.grad), n)
checkpoint(lambda t: checkpoint(f, t * 2, use_reentrant=False), x, use_reentrant=False).sum().backward()
print(x.grad)
# retain graph twice
y = checkpoint(g, x, use_reentrant=False).sum()
n[0] = 0
y.backward(retain_graph=True)
y.backward()
print(n)
# errors
cnt = [0]


def bad(t):
    cnt[0] += 1
    return t.sin() if cnt[0] == 1 else t.reshape(-1)[:2].exp().sum() + t.sin()


def bad2(t):
    cnt[0] += 1
    return t.sin() if cnt[0] % 2 == 1 else t.double().sin()


def bad3(t):
    cnt[0] += 1
    return t.sin().cos() if cnt[0] % 2 == 1 else t


for b in (bad, bad2, bad3):
    cnt[0] = 0
    try:
        checkpoint(b, x, use_reentrant=False).sum().backward()
        print("ok")
    except Exception as ex:
        print(type(ex).__name__, str(ex).split("Tip")[0])
try:
    torch.autograd.grad(checkpoint(g, x, use_reentrant=True).sum(), x)
except Exception as ex:
    print(type(ex).__name__, ex)
z = x.clone()
try:
    w = z * 1
    y = checkpoint(g, w, use_reentrant=False)
    w.add_(1)
    y.sum().backward()
except Exception as ex:
    print(type(ex).__name__, str(ex)[:90])
s = nn.Sequential(*[nn.Linear(4, 4) for _ in range(6)])
for ur in (True, False):
    x.grad = None
    checkpoint_sequential(s, 3, x, use_reentrant=ur).sum().backward()
    print(x.grad)
x.grad = None
s(x).sum().backward()
print(x.grad)
with torch.no_grad():
    print(checkpoint(g, x, use_reentrant=False).requires_grad)
(gg,) = torch.autograd.grad(
    checkpoint(lambda t: t.exp().sin().prod(), x, use_reentrant=False), x, create_graph=True
)
print(gg.grad_fn is not None)
gg.pow(2).sum().backward()
print(x.grad)
a = torch.ones(2, requires_grad=True)
b = nn.Parameter(torch.zeros(2))
torch.utils.swap_tensors(a, b)
print(a, b)
