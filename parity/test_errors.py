"""Wrong calls that users of autograd meet: the same class and the same message."""

from __future__ import annotations

import pytest

from .agree import agree
from .bridge import Side

LINES = """
torch.ones(2, requires_grad=True).backward()
torch.ones(2).sum().backward()
torch.ones(2, 3, requires_grad=True).mul(2).backward()
torch.ones(2, requires_grad=True).mul(2).backward(torch.ones(3))
torch.ones(2, requires_grad=True).mul(2).backward(torch.ones(2, 2))
torch.ones(2, requires_grad=True).mul(2).backward(torch.ones(()))
torch.ones(2, requires_grad=True).mul(2).backward(torch.ones(2, dtype=torch.complex64))
torch.ones(2, requires_grad=True).mul(2).backward(1.0)
torch.ones(2, requires_grad=True).mul(2).backward([1.0, 1.0])
torch.ones(2, requires_grad=True).sum().backward(inputs=[])
torch.ones(2, requires_grad=True).sum().backward(inputs=torch.ones(2))
torch.ones(2, dtype=torch.complex64, requires_grad=True).sum().backward()
torch.tensor([1, 2], requires_grad=True)
torch.ones(2, dtype=torch.int64).requires_grad_()
torch.ones(2, dtype=torch.bool, requires_grad=True)
torch.ones(2, requires_grad=True).mul(2).requires_grad_(False)
torch.ones(2, requires_grad=True).numpy()
(torch.ones(2, requires_grad=True) * 2).numpy()
torch.ones(2, requires_grad=True).add_(1)
torch.ones(2, requires_grad=True)[0].fill_(1)
torch.ones(2, requires_grad=True).view(1, 2).mul_(2)
torch.ones(2, requires_grad=True).zero_()
torch.ones(2, requires_grad=True).copy_(torch.zeros(2))
torch.ones(2, requires_grad=True).unbind()[0].mul_(2)
(torch.ones(2, requires_grad=True) * 2).unbind()[0].mul_(2)
(torch.ones(4, requires_grad=True) * 2).split(2)[0].mul_(2)
(torch.ones(4, requires_grad=True) * 2).chunk(2)[0].add_(1)
torch.ones(3).expand(2, 3).add_(1)
torch.ones(3).expand(2, 3).fill_(1)
torch.autograd.grad(torch.ones(2), torch.ones(2))
torch.autograd.grad(torch.ones((), requires_grad=True) * 2, torch.ones(2, requires_grad=True))
torch.autograd.grad(torch.ones(2, requires_grad=True) * 2, torch.ones(2, requires_grad=True))
torch.autograd.grad(torch.ones(2, requires_grad=True).sum(), torch.ones(2))
torch.autograd.grad([], [])
torch.autograd.grad(torch.ones(2, requires_grad=True).sum(), [])
torch.autograd.backward([torch.ones(2, requires_grad=True).sum()], [torch.ones(()), torch.ones(())])
torch.autograd.backward(torch.ones(2))
torch.ones(2, 3) + torch.ones(4)
torch.ones(2, 3) * torch.ones(3, 2)
torch.ones(2, 3) == torch.ones(2)
torch.ones(2).add_(torch.ones(3))
torch.ones(2).add_(torch.ones(2, 2))
torch.ones(2, dtype=torch.int64).add_(1.5)
torch.ones(2, dtype=torch.int64).mul_(torch.ones(2))
torch.ones(2, dtype=torch.bool).add_(1)
torch.ones(2, dtype=torch.int64).div_(2)
torch.ones(2).add_(1j)
torch.ones(2, 3) @ torch.ones(2, 3)
torch.ones(3) @ torch.ones(2)
torch.ones(2, 3) @ torch.ones(2)
torch.ones(2) @ torch.ones(3, 2)
torch.ones(()) @ torch.ones(2)
torch.ones(2, 3, 4) @ torch.ones(3, 4, 5)
torch.ones(2, 3) @ torch.ones(3, 2, dtype=torch.float64)
torch.ones(2, 3, dtype=torch.int64) @ torch.ones(3, 2)
torch.mm(torch.ones(2, 3), torch.ones(2, 3))
torch.mm(torch.ones(2), torch.ones(2, 3))
torch.mm(torch.ones(2, 3), torch.ones(3))
torch.bmm(torch.ones(2, 3), torch.ones(3, 2))
torch.bmm(torch.ones(2, 3, 4), torch.ones(3, 4, 5))
torch.mv(torch.ones(2, 3), torch.ones(2))
torch.mv(torch.ones(2), torch.ones(2))
torch.dot(torch.ones(2), torch.ones(3))
torch.dot(torch.ones(2, 2), torch.ones(2))
torch.dot(torch.ones(2), torch.ones(2, dtype=torch.int64))
torch.outer(torch.ones(2, 2), torch.ones(2))
torch.addmm(torch.ones(2), torch.ones(2, 3), torch.ones(4, 5))
torch.addmm(torch.ones(3, 3), torch.ones(2, 3), torch.ones(3, 5))
torch.baddbmm(torch.ones(2), torch.ones(2, 3), torch.ones(4, 5))
torch.einsum("ij,jk->ik", torch.ones(2, 3), torch.ones(2, 3))
torch.einsum("ij->ik", torch.ones(2, 3))
torch.einsum("ij", torch.ones(2))
torch.einsum("i,i", torch.ones(2))
torch.einsum("i1", torch.ones(2, 2))
torch.einsum("ij->iij", torch.ones(2, 2))
torch.tensordot(torch.ones(2, 3), torch.ones(2, 3), dims=1)
torch.nn.functional.linear(torch.ones(2, 3), torch.ones(4, 2))
torch.nn.functional.linear(torch.ones(2, 3), torch.ones(4, 3), torch.ones(3))
torch.ones(2, 3).view(5)
torch.ones(2, 3).view(-1, -1)
torch.ones(2, 3).view(-2, 3)
torch.ones(2, 3).view(4, -1)
torch.ones(2, 3).t().view(6)
torch.ones(2, 3).reshape(5)
torch.ones(0).view(-1, 0)
torch.ones(2, 3).view("a")
torch.ones(2, 3).transpose(0, 2)
torch.ones(2, 3).transpose(0)
torch.ones(2, 3, 4).t()
torch.ones(2, 3).permute(0)
torch.ones(2, 3).permute(0, 0)
torch.ones(2, 3).permute(0, 2)
torch.ones(2, 3).squeeze(2)
torch.ones(2, 3).unsqueeze(4)
torch.ones(2, 3).flatten(1, 0)
torch.ones(2, 3).unflatten(1, (2, 2))
torch.ones(2, 3).expand(3, 3)
torch.ones(2, 3).expand(2)
torch.ones(2, 3).expand(-1, 2, 3)
torch.ones(2, 3).repeat(2)
torch.ones(2, 3).repeat(-1, 2)
torch.ones(2, 3).flip(2)
torch.ones(2, 3).flip((0, 0))
torch.ones(2, 3).roll((1, 2), (0,))
torch.ones(2, 3).movedim(0, 3)
torch.ones(2, 3).movedim((0, 1), (0,))
torch.cat([])
torch.cat([torch.ones(2, 3), torch.ones(3, 2)])
torch.cat([torch.ones(2, 3), torch.ones(3)])
torch.cat([torch.ones(2, 3)], 2)
torch.cat(torch.ones(2, 3))
torch.cat([torch.ones(()), torch.ones(())])
torch.cat([torch.ones(2), 1])
torch.stack([])
torch.stack([torch.ones(2), torch.ones(3)])
torch.stack([torch.ones(2)], 2)
torch.ones(5).split(0)
torch.ones(5).split([2, 2])
torch.ones(5).split(-1)
torch.ones(5).split(2, dim=1)
torch.ones(5).chunk(0)
torch.ones(()).unbind()
torch.ones(5).narrow(0, 3, 4)
torch.ones(5).narrow(0, 6, 1)
torch.ones(5).narrow(1, 0, 1)
torch.ones(5).select(0, 5)
torch.ones(()).select(0, 0)
torch.ones(2, 3).diagonal(0, 0, 0)
torch.ones(2).diagonal()
torch.ones(2).tril()
torch.ones(2).unfold(0, 3, 1)
torch.ones(2).unfold(0, 1, 0)
torch.ones(4).as_strided((2, 2), (1,))
torch.ones(4).as_strided((3, 3), (3, 1))
torch.ones(4).as_strided((2,), (-1,))
torch.ones(2, 3).sum(2)
torch.ones(2, 3).sum((0, 0))
torch.ones(2, 3).mean(-3)
torch.ones(2, dtype=torch.int64).mean()
torch.ones(2, dtype=torch.bool).mean()
torch.ones(2, dtype=torch.int64).std()
torch.ones(2, 3).std(5)
torch.ones(0).max()
torch.ones(0, 3).max(0)
torch.ones(0).argmax()
torch.ones(0).amax()
torch.ones(0, 2).median(0)
torch.ones(2, 3).max(2)
torch.ones(2, 3).argmin(2)
torch.ones(2, 3).cumsum(2)
torch.ones(2, 3).cumsum()
torch.ones(2, 3).cumprod(-4)
torch.ones(2, 3).prod(4)
torch.ones(2, 3).softmax(2)
torch.softmax(torch.ones(2, dtype=torch.int64), 0)
torch.ones(2, 3).logsumexp(3)
torch.ones(2, 3).norm(dim=3)
torch.ones(2, dtype=torch.int64).norm()
torch.ones(2).quantile(2.0)
torch.ones(2).quantile(torch.tensor([0.5], dtype=torch.float64))
torch.ones(2, dtype=torch.int64).quantile(0.5)
torch.ones(2, 3).sort(2)
torch.ones(2, 3).topk(4)
torch.ones(2, 3).topk(2, dim=3)
torch.ones(3).kthvalue(0)
torch.ones(3).kthvalue(4)
torch.ones(2, 3)[2]
torch.ones(2, 3)[0, 3]
torch.ones(2, 3)[0, 0, 0]
torch.ones(())[0]
torch.ones(2, 3)[-3]
torch.ones(3)["a"]
torch.ones(3)[1.0]
torch.ones(3)[torch.tensor([3])]
torch.ones(3)[torch.tensor([-4])]
torch.ones(3)[torch.tensor([1.0])]
torch.ones(3)[torch.tensor([True, False])]
torch.ones(2, 3)[torch.ones(3, 2, dtype=torch.bool)]
torch.ones(2, 3)[torch.tensor([0, 1]), torch.tensor([0, 1, 2])]
torch.ones(3)[::-1]
torch.ones(3)[::0]
torch.ones(2, 3)[..., ..., 0]
torch.ones(2, 3).gather(0, torch.zeros(2, 4, dtype=torch.int64))
torch.ones(2, 3).gather(0, torch.full((2, 3), 2))
torch.ones(2, 3).gather(0, torch.zeros(2, dtype=torch.int64))
torch.ones(2, 3).gather(0, torch.zeros(2, 3))
torch.ones(2, 3).gather(2, torch.zeros(2, 3, dtype=torch.int64))
torch.ones(2, 3).scatter(0, torch.full((2, 3), 2), 1.0)
torch.ones(2, 3).scatter(0, torch.zeros(2, 3), 1.0)
torch.ones(2, 3).scatter_add(0, torch.zeros(2, 3, dtype=torch.int64), torch.ones(2, 2))
torch.ones(2, 3).scatter_add(0, torch.zeros(2, 3, dtype=torch.int64), torch.ones(2, 3, dtype=torch.float64))
torch.ones(2, 3).index_select(0, torch.tensor([2]))
torch.ones(2, 3).index_select(0, torch.tensor([[1]]))
torch.ones(2, 3).index_select(2, torch.tensor([1]))
torch.ones(2, 3).index_select(0, torch.tensor([1.0]))
torch.ones(2, 3).index_add(0, torch.tensor([0]), torch.ones(2, 3))
torch.ones(2, 3).index_add(0, torch.tensor([5]), torch.ones(1, 3))
torch.ones(2, 3).index_fill(0, torch.tensor([5]), 1.0)
torch.ones(2, 3).index_copy(0, torch.tensor([0]), torch.ones(2, 3))
torch.ones(2, 3).take(torch.tensor([6]))
torch.ones(2, 3).take(torch.tensor([1.0]))
torch.ones(2, 3).masked_fill(torch.ones(2, 3), 1.0)
torch.ones(2, 3).masked_fill(torch.ones(2, dtype=torch.bool), 1.0)
torch.ones(2, 3).masked_fill(torch.ones(2, 3, dtype=torch.bool), torch.ones(2))
torch.ones(2, 3).masked_select(torch.ones(2, 3))
torch.ones(2, 3).masked_select(torch.ones(4, dtype=torch.bool))
torch.where(torch.ones(2), torch.ones(2), torch.ones(2))
torch.where(torch.ones(2, dtype=torch.bool), torch.ones(3), torch.ones(2))
torch.clamp(torch.ones(2))
torch.clamp(torch.ones(2), "a")
torch.ones(2) + "a"
torch.ones(2) + None
torch.ones(2) + [1, 2]
"a" + torch.ones(2)
None * torch.ones(2)
torch.ones(2) < "a"
torch.ones(2) ** "a"
-torch.ones(2, dtype=torch.bool)
torch.ones(2, dtype=torch.bool) - torch.ones(2, dtype=torch.bool)
torch.ones(2, dtype=torch.bool) - 1
1 - torch.ones(2, dtype=torch.bool)
~torch.ones(2)
torch.ones(2) & torch.ones(2)
torch.ones(2) << 1
torch.ones(2, dtype=torch.int64) // 0
torch.ones(2, dtype=torch.int64) % 0
torch.tensor([2, 3]) ** -1
torch.tensor([2, 3]) ** torch.tensor([-1, 2])
torch.sin("a")
torch.sin()
torch.sin(1.0)
torch.sin(torch.ones(2), torch.ones(2))
torch.exp([1.0])
torch.sum([1.0, 2.0])
torch.add(torch.ones(2))
torch.add(1, 2)
torch.sum(torch.ones(2), dim="a")
torch.ones(2).sum(keepdim=True)
torch.ones(2).nonsense
torch.nonsense
torch.ones(2).sum(foo=1)
torch.sigmoid(torch.ones(2), foo=1)
torch.floor(torch.ones(2, dtype=torch.complex64))
torch.ones(2, dtype=torch.complex64) < 1
torch.ones(2, dtype=torch.complex64).max()
torch.ones(2, dtype=torch.complex64).sort()
torch.ones(2, dtype=torch.complex64).clamp(0)
torch.atan2(torch.ones(2, dtype=torch.complex64), torch.ones(2))
torch.nn.functional.cross_entropy(torch.ones(2, 3), torch.tensor([0, 3]))
torch.nn.functional.cross_entropy(torch.ones(2, 3), torch.tensor([0]))
torch.nn.functional.cross_entropy(torch.ones(2, 3), torch.ones(2))
torch.nn.functional.cross_entropy(torch.ones(2, 3), torch.tensor([0, 1]), reduction="x")
torch.nn.functional.cross_entropy(torch.ones(2, 3), torch.tensor([0, 1]), weight=torch.ones(2))
torch.nn.functional.nll_loss(torch.ones(2, 3), torch.tensor([0, -1]))
torch.nn.functional.nll_loss(torch.ones(2, 3), torch.tensor([0, 1], dtype=torch.int32))
torch.nn.functional.mse_loss(torch.ones(2), torch.ones(3))
torch.nn.functional.binary_cross_entropy(torch.tensor([2.0]), torch.ones(1))
torch.nn.functional.binary_cross_entropy(torch.ones(2), torch.ones(3))
torch.nn.functional.binary_cross_entropy_with_logits(torch.ones(2), torch.ones(3))
torch.nn.functional.kl_div(torch.ones(2), torch.ones(2), reduction="x")
torch.nn.functional.embedding(torch.tensor([5]), torch.ones(3, 2))
torch.nn.functional.embedding(torch.tensor([0.5]), torch.ones(3, 2))
torch.nn.functional.one_hot(torch.tensor([3]), 2)
torch.nn.functional.one_hot(torch.tensor([-1]))
torch.nn.functional.one_hot(torch.tensor([1.0]))
torch.nn.functional.dropout(torch.ones(2), 1.5)
torch.nn.functional.layer_norm(torch.ones(2, 3), (2,))
torch.nn.functional.glu(torch.ones(3))
torch.nn.functional.gelu(torch.ones(2), approximate="x")
torch.nn.functional.prelu(torch.ones(2, 3), torch.ones(2))
torch.bernoulli(torch.tensor([2.0]))
torch.multinomial(torch.tensor([-1.0, 2.0]), 1)
torch.multinomial(torch.tensor([1.0, 2.0]), 3)
torch.multinomial(torch.tensor([0.0, 0.0]), 1)
torch.normal(torch.zeros(2), torch.tensor([-1.0, 1.0]))
torch.randint(0, 0, (2,))
torch.randint(3, 1, (2,))
torch.randperm(-1)
torch.rand(-1)
torch.randn("a")
torch.rand(2, dtype=torch.int64)
torch.manual_seed("a")
torch.linalg.inv(torch.zeros(2, 2))
torch.linalg.inv(torch.ones(2, 3))
torch.linalg.cholesky(-torch.eye(2))
torch.linalg.solve(torch.zeros(2, 2), torch.ones(2))
torch.linalg.det(torch.ones(2, 3))
torch.bincount(torch.tensor([-1]))
torch.broadcast_to(torch.ones(2), (3,))
torch.broadcast_tensors(torch.ones(2), torch.ones(3))
torch.searchsorted(torch.ones(2, 3), torch.ones(3, 2))
torch.kron(1, torch.ones(2))
torch.set_grad_enabled()
torch.autograd.set_grad_enabled("a")
torch.autograd.functional.jacobian(lambda x: 1, torch.ones(2))
torch.tensor(1.0, requires_grad=True).grad_fn.name()
torch.ones(2).retain_grad()
torch.ones(2).register_hook(lambda g: g)
torch.ones(2, requires_grad=True).register_hook(3).remove()
(torch.ones(2, requires_grad=True) * 2).register_post_accumulate_grad_hook(lambda t: None)
torch.ones(2, 3).T.resize_(4).requires_grad_().resize_(2)
torch.autograd.forward_ad.make_dual(torch.ones(2), torch.ones(2))
""".strip().splitlines()

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


@pytest.mark.parametrize("text", LINES + PROGRAMS)
def test_error(side: Side, text: str) -> None:
    agree(side, text)
