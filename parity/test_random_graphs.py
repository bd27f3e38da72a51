"""Random graphs, with hooks, retained gradients and passes of every kind on the way: both libraries print the same."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch

from .test_autograd import text_of

# fmt: off
NODES = [
    "{a} + {b}",
    "{a} * {b}",
    "{a} - {b}",
    "{a} / ({b} + 3)",
    "{a}.sin()",
    "{a}.exp()",
    "{a} ** 2",
    "{a}.tanh()",
    "{a} @ {b}.t() @ {a}",
    "{a}.unbind()[1].expand(2, 3)",
    "{a}.split([1, 2], 1)[1].sum(1, keepdim=True).expand(2, 3)",
    "{a}.max(0)[0].expand(2, 3)",
    "{a}.sort(1)[0]",
    "torch.cat([{a}, {b}])[1:3]",
    "torch.stack([{a}, {b}]).mean(0)",
    "{a}.relu()",
    "F1.apply({a})",
    "F2.apply({a}, {b})[0]",
    "F5.apply({a}, {b})[0]",
    "F5.apply({a}, {b})[2]",
    "F5.apply({a}, {b})[1]",
    "checkpoint(torch.sin, {a}, use_reentrant=False)",
    "checkpoint(lambda u, v: u * v, {a}, {b}, use_reentrant=True)",
    "{a}.detach()",
    "{a}.cumsum(0)",
    "{a}.softmax(1)",
    "torch.where({a} > 0, {a}, {b})",
    "{a}.sum() * {b}",
    "{a}.mean(1, keepdim=True) + {b}",
    "{a}.prod(0) * {b}",
    "{a}.var_mean(0)[0] + {b}",
    "{a}.view(3, 2).t()",
    "{a}.clone()",
    "F.dropout({a}, 0.5)",
    "F.layer_norm({a}, (3,))",
    "{a}.norm() * {b}",
    "torch.linalg.svd({a} + torch.eye(2, 3, dtype=torch.float64) * 3, full_matrices=False)[1].sum() * {b}",
    "{a}.abs().sqrt()",
    "{a}.topk(2)[0].sum(1, keepdim=True) * {b}",
    "{a}.clamp(-0.5, 0.5)",
    "torch.einsum('ij,ij->ij', {a}, {b})",
    "{a}.logsumexp(0) + {b}",
    "F.cross_entropy({a}, torch.tensor([0, 2])) * {b}",
    "{a}.index_select(0, torch.tensor([1, 0]))",
    "{a}[[1, 1]]",
    "{a}.gather(1, torch.tensor([[0, 2, 1], [1, 1, 0]]))",
    "{a}.masked_fill({b} > 0, 0.5)",
    "torch.lerp({a}, {b}, 0.3)",
    "{a}.diff(dim=0, prepend={b}[:1])",
    "{a}.flip(0)",
    "{a}.roll(1, 1)",
    "{a}.tril()",
    "torch.maximum({a}, {b})",
    "{a}.float().double()",
    "torch.view_as_real(torch.complex({a}, {b}).exp()).sum(-1)",
    "torch.fft.fft({a}).real",
    "{a}.log_softmax(1)",
    "{a}.kthvalue(2, 1)[0].unsqueeze(1) * {b}",
    "{a}.std() + {b}",
    "{a}.cos().detach().requires_grad_() * {b}",
]
PASSES = [
    "S({a}).backward()",
    "S({a}).backward(retain_graph=True)",
    "show(torch.autograd.grad(S({a}), [p, q], allow_unused=True))",
    "show(torch.autograd.grad(S({a}), [p, q], allow_unused=True, retain_graph=True))",
    "g = torch.autograd.grad(S({a}), [p, q], allow_unused=True, create_graph=True); show(g)",
    "[S(v).backward(retain_graph=True) for v in g if v is not None and v.requires_grad]",
    "torch.autograd.backward([{a}, {b}], [torch.ones_like({a}), torch.ones_like({b})])",
    "show(torch.autograd.grad([{a}, {b}], [p], [torch.ones_like({a})] * 2, allow_unused=True))",
    "S({a}).backward(inputs=[p])",
    "S({a}).backward(inputs=[{b}], retain_graph=True)",
    "show(torch.autograd.grad(S({a}), {b}, allow_unused=True, retain_graph=True))",
    "show(torch.autograd.grad(S({a}), [p, q], materialize_grads=True))",
    "p.grad = None",
    "q.grad = None",
    "h = {a}.register_hook(lambda g: g * 2)",
    "{a}.register_hook(lambda g: print('{a}', rnd(g)))",
    "h.remove()",
    "{a}.retain_grad()",
    "{a}.grad_fn.register_hook(lambda gi, go: print('post', [rnd(v) for v in gi], [rnd(v) for v in go]))",
    "{a}.grad_fn.register_prehook(lambda go: print('pre', [rnd(v) for v in go]))",
    "p.register_post_accumulate_grad_hook(lambda t: print('acc', rnd(t.grad)))",
    "show(torch.autograd.grad({a}, p, EYE, is_grads_batched=True, allow_unused=True, retain_graph=True))",
    "S({a}).backward(create_graph=True)",
    "S({a}).backward(gradient=torch.tensor(2., dtype=torch.float64, requires_grad=True), retain_graph=True)",
    "show([p.grad, q.grad])",
    "p.grad.zero_()",
    "show([torch.func.grad(lambda u: (u * {a}.detach()).sin().sum())(q.detach())])",
    "show([torch.autograd.functional.hvp(lambda u: (u ** 3 * {a}.detach()).sum(), q.detach(), p.detach())[1]])",
    "{a}.grad_fn.next_functions[0][0].register_hook(lambda *x: print('nf', len(x)))",
]
# fmt: on
FUNCTIONS = """
class F1(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        return 2 * g * ctx.saved_tensors[0]

class F2(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(y)
        return x + y, x.view_as(x)
    @staticmethod
    def backward(ctx, g, h):
        return g + h, g * ctx.saved_tensors[0]

class F5(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        ctx.set_materialize_grads(False)
        return x.sin(), y.detach(), x * y
    @staticmethod
    def backward(ctx, a, b, c):
        x, y = ctx.saved_tensors
        print("F5", a is None, b is None, c is None)
        gx = None if a is None else a * x.cos()
        if c is not None:
            gx = c * y if gx is None else gx + c * y
        return gx, None if c is None else c * x

def S(t):
    return (t * torch.arange(1.0, t.numel() + 1, dtype=torch.float64).view(t.shape)).sum()

p = (torch.arange(6.0, dtype=torch.float64).view(2, 3) / 4 - 0.55).requires_grad_()
q = torch.tensor([[0.3, -0.2, 0.7], [0.11, 0.5, -0.4]], dtype=torch.float64, requires_grad=True)
z = torch.tensor([[1.0, 2, 3], [4, 5, 6.5]], dtype=torch.float64)
EYE = torch.eye(6, dtype=torch.float64).view(6, 2, 3)
"""


def program(seed: int) -> list[str]:
    rng = random.Random(seed)
    names = ["p", "q", "z"]
    lines = []
    for i in range(rng.randint(3, 9)):
        a, b = rng.choice(names), rng.choice(names[-3:])
        lines.append(f"v{i} = " + rng.choice(NODES).format(a=a, b=b))
        names.append(f"v{i}")
        if rng.random() < 0.4:
            lines.append(rng.choice(PASSES).format(a=rng.choice(names[2:]), b=rng.choice(names)))
    for _ in range(rng.randint(1, 4)):
        lines.append(rng.choice(PASSES).format(a=rng.choice(names[-4:]), b=rng.choice(names)))
    return lines


def play(lines: list[str], lib: Any) -> None:
    def rnd(t: Any) -> Any:
        if not isinstance(t, lib.Tensor):
            return t
        try:
            return [round(x, 5) + 0.0 if x == x else "nan" for x in t.detach().double().reshape(-1).tolist()]
        except Exception:
            return "of a transform"

    scope: dict[str, Any] = {"torch": lib, "F": lib.nn.functional, "rnd": rnd, "__name__": "random_graphs"}
    scope["show"] = lambda gs: print([rnd(g) for g in gs])
    exec(FUNCTIONS, scope)
    scope["checkpoint"] = lib.utils.checkpoint.checkpoint
    for line in lines:
        try:
            exec(line, scope)
        except Exception as error:
            print(f"{line}: {type(error).__name__}: {error}")
    for name, v in list(scope.items()):
        if isinstance(v, lib.Tensor):
            print(name, rnd(v), v.requires_grad, v.retains_grad, rnd(v.grad), type(v.grad_fn).__name__)


@pytest.mark.parametrize("seed", range(250))
def test_prints_the_same(lib: Any, seed: int) -> None:
    lines = program(seed)
    expected = text_of(lambda torch: play(lines, torch), torch)
    assert text_of(lambda torch: play(lines, torch), lib) == expected, "\n".join(lines)
