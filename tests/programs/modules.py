"""Modules: parameters, buffers, states, errors, hooks, copies, texts, initial values."""

# ruff: noqa
import copy

import torch

nn = torch.nn
torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 5)
        self.b = nn.Sequential(
            nn.Linear(5, 5),
            nn.ReLU(),
            nn.Dropout(0.3),
            nn.Sequential(nn.Linear(5, 3), nn.LeakyReLU(0.2, True)),
        )
        self.l = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])
        self.d = nn.ModuleDict({"x": nn.Linear(3, 2), "y": nn.Identity()})
        self.p = nn.Parameter(torch.ones(2))
        self.register_buffer("buf", torch.zeros(2))
        self.register_buffer("np", torch.zeros(2), persistent=False)
        self.pl = nn.ParameterList([torch.zeros(3), torch.ones(2, 2)])
        self.pd = nn.ParameterDict({"q": torch.zeros(3)})

    def forward(self, x):
        x = self.b(self.a(x))
        for l in self.l:
            x = x + l(x)
        return self.d["x"](x) * self.p


n = Net()
print(n)
print(n.state_dict())
x = torch.randn(3, 4)
y = n(x)
print(y)
y.sum().backward()
print([(k, p.grad) for k, p in n.named_parameters()])
for bad in [
    lambda: n.load_state_dict({"p": torch.zeros(3), "zz": torch.zeros(1)}),
    lambda: n.load_state_dict(3),
    lambda: n.q,
    lambda: setattr(n, "p", 3),
    lambda: setattr(n, "a", 3),
    lambda: n.register_buffer("a", None),
    lambda: n.register_parameter("x.y", None),
    lambda: n.get_submodule("b.7"),
    lambda: n.add_module("t", 3),
    lambda: n.to(torch.int32),
    lambda: setattr(n, "buf", "s"),
    lambda: n.train(1),
    lambda: nn.Linear(2, 2, foo=1),
    lambda: nn.Module(3),
    lambda: nn.Module()(2),
    lambda: n.l[7],
    lambda: n.b[9],
    lambda: nn.Sequential(3),
    lambda: n.b + 3,
    lambda: n.get_parameter("a.foo"),
    lambda: n.get_buffer("p"),
]:
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, e)
m = copy.deepcopy(n)
print(m.p is n.p, torch.equal(m.a.weight, n.a.weight))
m.double()
print(m.p, m.buf.dtype, m.a.weight.dtype)
print(n.load_state_dict(n.state_dict()))
print(n.load_state_dict({"p": torch.full((2,), 5.0)}, strict=False))


def h(name):
    return lambda *a: print(name, [type(q).__name__ for q in a])


hs = [
    n.a.register_forward_hook(h("f")),
    n.a.register_forward_pre_hook(h("fp")),
    n.a.register_full_backward_hook(lambda m, gi, go: print("fb", gi, go)),
    n.a.register_full_backward_pre_hook(lambda m, go: print("fbp", go)),
]
n.eval()
n(x.requires_grad_()).sum().backward()
print(x.grad)
for q in hs:
    q.remove()
print(n.a._forward_hooks)
hh = n.d["x"].register_full_backward_hook(lambda m, gi, go: (gi[0] * 0,))
x.grad = None
n(x).sum().backward()
print(x.grad)
hh.remove()
for L in [
    nn.BatchNorm1d(3),
    nn.LayerNorm(3),
    nn.GroupNorm(1, 3),
    nn.InstanceNorm1d(3),
    nn.RMSNorm(3),
    nn.Embedding(4, 3, padding_idx=0),
    nn.Flatten(),
    nn.CrossEntropyLoss(),
    nn.GELU(),
    nn.Softmax(1),
    nn.PReLU(),
    nn.ELU(),
    nn.Hardtanh(),
    nn.ReLU6(),
    nn.Bilinear(2, 3, 4),
    nn.MultiheadAttention(4, 2),
    nn.Threshold(0.1, 2),
    nn.Softplus(),
    nn.BCELoss(),
    nn.LazyLinear(3),
    nn.Unflatten(1, (2, 2)),
    nn.EmbeddingBag(3, 2),
    nn.LocalResponseNorm(2),
    nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2), nn.ReLU()]),
    nn.Hardsigmoid(),
    nn.Hardshrink(),
    nn.GLU(),
    nn.RReLU(),
    nn.ParameterList([torch.zeros(2)]),
]:
    print(L)
    print(L.state_dict() if not "Lazy" in str(L) else "")
for f in [
    "xavier_uniform_",
    "xavier_normal_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "orthogonal_",
    "trunc_normal_",
    "eye_",
    "uniform_",
    "normal_",
]:
    print(f, getattr(nn.init, f)(torch.empty(3, 2)))
    print(f, getattr(nn.init, f)(torch.empty(2, 4)))
print(
    nn.init.dirac_(torch.empty(2, 2, 3)),
    nn.init.sparse_(torch.empty(4, 3), 0.5),
    nn.init.trunc_normal_(torch.empty(5), 0, 1, 1, 3),
)
