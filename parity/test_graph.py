"""The recorded graph as a user walks it: names, edges, output numbers, through whole programs."""

from __future__ import annotations

from typing import Any

import pytest

from .agree import TORCH, compare_or_show, outcome
from .bridge import Side
from .programs import _node_name

SETUP = """
a = (torch.arange(6.0).view(2, 3) / 4 + 0.5).requires_grad_()
b = torch.full((2, 3), 0.5, requires_grad=True)
m = torch.full((3, 2), 0.25, requires_grad=True)
v = torch.tensor([0.5, 1.0, 1.5], requires_grad=True)
s = torch.tensor(1.5, requires_grad=True)
p = torch.ones(2, 3)
i = torch.tensor([0, 1])
"""

EXPRESSIONS = """
a + b
a + 1
1 + a
a - b
1 - a
a * b
2 * a
a / b
1 / a
a // b
a % b
a ** 2
a ** b
2 ** a
-a
+a
abs(a)
a @ m
v @ v
a @ v
v @ m
a.mm(m)
torch.addmm(torch.ones(2), a, m)
F.linear(a, m.t())
F.linear(a, m.t(), v[:2])
F.linear(v, m.t(), v[:2])
torch.einsum("ij,jk->ik", a, m)
torch.outer(v, v)
torch.bmm(a[None], m[None])
a.exp().log().sin().cos().tan().tanh().sigmoid().sqrt().rsqrt().reciprocal().square()
a.asin().clamp(0, 1).clamp(min=0).erf().expm1().log1p().log2().log10().exp2()
a.relu()
F.relu(a)
F.gelu(a)
F.silu(a)
F.elu(a)
F.leaky_relu(a)
F.softplus(a)
F.hardtanh(a)
F.selu(a)
F.logsigmoid(a)
F.dropout(a, 0.5)
F.dropout(a, 0.5, training=False)
a.softmax(1)
F.softmax(a, 1)
F.log_softmax(a, 1)
a.logsumexp(1)
F.cross_entropy(a, i)
F.cross_entropy(a, i, reduction="none")
F.cross_entropy(a, p)
F.nll_loss(a, i)
F.mse_loss(a, p)
F.mse_loss(a, p, reduction="none")
F.l1_loss(a, p)
F.smooth_l1_loss(a, p)
F.huber_loss(a, p)
F.binary_cross_entropy(a.sigmoid(), p)
F.binary_cross_entropy_with_logits(a, p)
F.kl_div(a, p)
F.layer_norm(a, (3,))
F.embedding(i, a)
F.normalize(a)
F.pad(a, (1, 1))
F.one_hot(i)
F.cosine_similarity(a, b)
a.sum()
a.sum(0)
a.sum((0, 1), keepdim=True)
a.mean()
a.mean(1)
a.prod()
a.prod(1)
a.var()
a.std(1)
torch.var_mean(a, 1)
a.max()
a.max(1)
a.min(0)
torch.max(a, b)
torch.maximum(a, b)
a.amax(1)
a.median()
a.median(1)
a.norm()
a.norm(dim=1)
a.norm(1)
torch.linalg.norm(a)
torch.linalg.vector_norm(a, dim=1)
a.cumsum(1)
a.cumprod(1)
a.logcumsumexp(1)
a.view(-1)
a.reshape(-1)
a.t().reshape(-1)
a.flatten()
a.t().flatten()
a.t()
a.T
a.mT
a.transpose(0, 1)
a.permute(1, 0)
a.movedim(0, 1)
a.unsqueeze(0)
a[None]
a.unsqueeze(0).squeeze(0)
a.unsqueeze(0).squeeze()
a.expand(4, 2, 3)
a.repeat(2, 1)
a.tile(2)
a.flip(0)
a.roll(1, 0)
torch.cat([a, b])
torch.cat([a, p, b], 1)
torch.stack([a, b])
torch.hstack([a, b])
torch.vstack([a, b])
a.split(1)
a.chunk(2)
a.unbind()
a.narrow(1, 0, 2)
a.select(0, 1)
a[0]
a[0, 1]
a[:, 1]
a[0:1]
a[..., 0]
a[:, ::2]
a[i]
a[i, i]
a[a > 0]
a[:, None, i]
a[0, i]
a.diagonal()
v.diag()
a.tril()
a.triu()
a.as_strided((2,), (1,))
v.unfold(0, 2, 1)
a.gather(1, i[:, None])
a.index_select(0, i)
a.take(i)
a.masked_select(a > 0)
a.masked_fill(a > 0, 1.0)
a.scatter(1, i[:, None], 1.0)
a.scatter_add(1, i[:, None], b)
a.index_add(0, i, b)
a.index_fill(0, i, 1.0)
a.index_copy(0, i, b)
torch.where(a > 0, a, b)
torch.where(a > 0, a, 0.0)
a.sort(1)
a.topk(2, 1)
a.kthvalue(1, 1)
a.clone()
a.contiguous()
a.t().contiguous()
a.double()
a.float()
a.to(torch.float64).sum()
a.half()
a.type(torch.float64)
a.detach()
a.view_as(b)
a.expand_as(a)
torch.atan2(a, b)
torch.lerp(a, b, 0.5)
torch.lerp(a, b, s)
torch.addcmul(a, b, b)
torch.addcdiv(a, b, b)
torch.hypot(a, b)
torch.xlogy(a, b)
torch.nan_to_num(a)
torch.pow(a, 0)
torch.pow(a, s)
a.pow(2.5)
torch.tensordot(a, m, 1)
torch.kron(a, m)
torch.dot(v, v)
torch.mv(a, v)
torch.cross(v, v, dim=0)
torch.trace(a)
torch.linalg.inv(m @ a[:, :2] if False else a[:, :2])
torch.linalg.det(a[:, :2])
torch.linalg.solve(a[:, :2], v[:2])
torch.cdist(a, b)
torch.complex(a, b)
torch.complex(a, b).real
torch.complex(a, b).abs()
torch.view_as_real(torch.complex(a, b))
torch.complex(a, b).conj()
torch.fft.fft(v)
a.sgn()
a.sign()
a.floor()
a.round()
a.trunc()
a.frac()
a.fmod(b)
a.remainder(b)
torch.broadcast_to(v, (2, 3))
torch.meshgrid(v, v, indexing="ij")
torch.block_diag(a, b)
torch.atleast_3d(a)
torch.logaddexp(a, b)
a.digamma()
a.lgamma()
torch.special.expit(a)
torch.special.i0(a)
a.sum().item()
F.conv2d(a[None, None], b[None, None])
F.conv1d(a[None], b[None])
F.max_pool1d(a[None], 2)
F.avg_pool1d(a[None], 2)
F.max_pool2d(a[None], 2)
F.batch_norm(a, None, None, training=True)
F.group_norm(a[:, :2], 2)
F.scaled_dot_product_attention(a[None], b[None], b[None])
F.unfold(a[None, None], 2)
F.interpolate(a[None], scale_factor=2)
F.prelu(a, s.view(1))
F.glu(a[:, :2])
""".strip().splitlines()

PROGRAMS = """
x = a * 1
x.add_(1)
x
---
x = a * 1
x.mul_(b)
x
---
x = a * 1
x[0] = 1.0
x
---
x = a * 1
x[0] = v
x
---
x = a * 1
x[i] = b
x
---
x = a * 1
y = x[0]
y.mul_(2)
[x, y]
---
x = a * 1
y = x.t()
z = y[0]
z.add_(1)
[x, y, z]
---
x = a * 1
y = x.view(-1)
x.mul_(2)
[x, y]
---
x = torch.zeros(2, 3)
x[0] = v
x
---
x = torch.zeros(2, 3)
y = x[0]
y.copy_(v)
[x, y]
---
x = torch.zeros(2, 3)
x.add_(a)
x
---
x = torch.zeros(2, 3)
x.copy_(a)
x
---
x = a * 1
x.zero_()
x
---
x = a * 1
x.fill_(2)
x
---
x = a.exp()
x.detach_()
x
---
x = a * 2
x.masked_fill_(x > 1, 0)
x
---
x = a * 2
x.clamp_(0, 1)
x
---
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
Double.apply(a)
---
class Two(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x * 2, y * 3
    @staticmethod
    def backward(ctx, g, h):
        return g * 2, h * 3
Two.apply(a, p)
---
with torch.no_grad():
    x = a * 2
x
---
(g,) = torch.autograd.grad((a * a * b).sum(), a, create_graph=True)
g
---
(g,) = torch.autograd.grad(a.exp().sum(), a, create_graph=True)
g
---
lin = torch.nn.Linear(3, 2)
lin(a)
---
torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))(a).sum()
---
torch.nn.MSELoss()(a, p)
""".strip().split("\n---\n")


def walk(lib: Any, text: str, depth: int) -> Any:
    """The result's graph as nested lists: name, then for each edge the output number and the node behind it."""
    import ast

    scope: dict[str, Any] = {"torch": lib}
    tree = ast.parse(SETUP + text)
    if "F." in text:
        scope["F"] = lib.nn.functional
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    exec(compile(tree, "<program>", "exec"), scope)
    value = eval(compile(ast.Expression(last.value), "<program>", "eval"), scope)

    def node(n: Any, left: int) -> Any:
        if n is None:
            return "None"
        after = [[nr, node(next_, left - 1)] for next_, nr in n.next_functions] if left else []
        return [_node_name(n), *after]

    def one(t: Any) -> Any:
        if isinstance(t, (tuple, list)):
            return [one(item) for item in t]
        if not isinstance(t, lib.Tensor):
            return "no tensor"
        return [t.requires_grad, t.is_leaf, t.output_nr, node(t.grad_fn, depth)]

    return one(value)


OF_GRADIENTS = [
    f"torch.autograd.grad({e}, a, torch.ones_like({e}).requires_grad_(), create_graph=True)[0]"
    for e in (
        "F.celu(a); F.cross_entropy(a, torch.tensor([0, 1])); F.elu(a); F.gelu(a); F.gelu(a, approximate='tanh'); "
        "F.glu(a[:, :2]); F.hardshrink(a); F.hardswish(a); F.hardtanh(a); F.huber_loss(a, p); F.leaky_relu(a); "
        "F.log_softmax(a, 1); F.logsigmoid(a); F.mse_loss(a, p); F.relu(a); F.selu(a); F.smooth_l1_loss(a, p); "
        "F.softmax(a, 0); F.softplus(a); F.softshrink(a); F.threshold(a, 0.1, 0.0); a.sigmoid(); a.tanh()"
    ).split("; ")
]


@pytest.mark.parametrize("text", OF_GRADIENTS)
def test_graph_of_a_gradient(side: Side, text: str) -> None:
    compare_or_show(
        text, outcome(TORCH, lambda lib: walk(lib, text, 0)), lambda: outcome(side, lambda lib: walk(lib, text, 0))
    )


@pytest.mark.parametrize("text", EXPRESSIONS + PROGRAMS)
def test_graph(side: Side, text: str) -> None:
    # the inner structure of gradients of gradients is nobody's business, beyond their top
    depth = 1 if "create_graph" in text else 12

    def program(lib: Any) -> Any:
        return walk(lib, text, depth)

    compare_or_show(text, outcome(TORCH, program), lambda: outcome(side, program))
