"""Optimisers and schedules: whole programs against what PyTorch printed, and what they do not show."""

import copy

import pytest
import recorded_programs

import tidu as torch
from tidu import nn
from tidu.optim import _arrays

STEPPED = ["SGD", "Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adagrad", "Adadelta", "RMSprop", "Rprop", "ASGD"]


@pytest.mark.parametrize(
    "program",
    ["optim_sgd_adam", "optimisers", "optimiser_options", "optimiser_rest", "lbfgs", "schedules", "schedules_all"],
)
def test_programs_print_what_they_print_on_pytorch(program):
    recorded_programs.check(program)


def params_of(sizes):
    g = torch.Generator().manual_seed(1)
    return [nn.Parameter(torch.randn(*s, generator=g)) for s in sizes]


def steps(opt, params, n, skip=()):
    for i in range(n):
        for k, p in enumerate(params):
            p.grad = None if (i, k) in skip else p.detach() * 2 + i
        opt.step()


@pytest.mark.parametrize("name", STEPPED)
def test_parameters_together_step_as_they_do_alone(name):
    sizes = [(3,), (2, 5), (4, 1), (7,), (200, 100)]
    together = params_of(sizes)
    steps(getattr(torch.optim, name)(together, lr=0.1), together, 4)
    alone = params_of(sizes)
    for p in alone:
        steps(getattr(torch.optim, name)([p], lr=0.1), [p], 4)
    for a, b in zip(together, alone):
        torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-7)


def test_parameters_without_a_gradient_stay_and_fall_behind_in_steps():
    params = params_of([(3,), (3,), (3,)])
    opt = torch.optim.Adam(params, lr=0.1)
    start = params[1].detach().clone()
    steps(opt, params, 2, skip={(0, 1), (1, 1)})
    assert torch.equal(params[1], start) and params[1] not in opt.state
    steps(opt, params, 3)
    assert [opt.state[p]["step"].item() for p in params] == [5, 3, 5]


def test_a_state_that_is_replaced_is_the_state():
    params = params_of([(3,), (3,)])
    opt = torch.optim.Adam(params, lr=0.1)
    steps(opt, params, 3)
    twin = copy.deepcopy(params)
    fresh = torch.optim.Adam(twin, lr=0.1)
    fresh.load_state_dict(copy.deepcopy(opt.state_dict()))
    for o, ps in ((opt, params), (fresh, twin)):
        o.state[ps[0]]["exp_avg"] = torch.ones(3)
        o.state[ps[1]]["exp_avg_sq"].fill_(2)
        steps(o, ps, 2)
    for a, b in zip(params, twin):
        torch.testing.assert_close(a, b)
    assert not torch.equal(opt.state[params[0]]["exp_avg"], torch.ones(3))


def test_optimizers_that_share_a_state_share_it():
    params, others = (params_of([(3,), (3,)]) for _ in range(2))
    opt, other = (torch.optim.Adam(ps, lr=0.1) for ps in (params, others))
    steps(opt, params, 2)
    other.load_state_dict(opt.state_dict())  # takes the tensors themselves, as PyTorch's does
    for o, ps in ((other, others), (opt, params), (other, others)):
        steps(o, ps, 1)
    assert [opt.state[p]["step"].item() for p in params] == [5, 5]
    assert torch.equal(opt.state[params[0]]["exp_avg"], other.state[others[0]]["exp_avg"])


def test_steps_write_in_place_and_say_so():
    w = nn.Parameter(torch.ones(2))
    view, opt = w.detach(), torch.optim.SGD([w], lr=0.5)
    y = (w * w).sum()
    w.grad = torch.ones(2)
    opt.step()
    assert view.tolist() == [0.5, 0.5]  # who shares the memory sees the step
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_parameters_of_two_types_in_one_group():
    params = [nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(2, dtype=torch.float64))]
    steps(torch.optim.Adam(params, lr=0.1), params, 2)
    torch.testing.assert_close(params[0][:2].double(), params[1].detach(), rtol=1e-6, atol=1e-6)


def test_transposed_parameters_and_gradients():
    a, b = nn.Parameter(torch.randn(4, 3).t()), None
    b = nn.Parameter(a.detach().clone())
    for p, make in ((a, lambda g: g), (b, lambda g: g.t().contiguous().t())):
        opt = torch.optim.Adam([p], lr=0.1)
        for i in range(3):
            p.grad = make(torch.full((3, 4), 0.5 + i))
            opt.step()
    torch.testing.assert_close(a.detach(), b.detach())


def test_large_parameters_are_worked_on_by_all_threads(monkeypatch):
    monkeypatch.setattr(_arrays, "THREADED", 1 << 16)
    big, small = (nn.Parameter(torch.linspace(-1, 1, 70_000)) for _ in range(2))
    for p in (big,):
        steps(torch.optim.Adam([p], lr=0.1), [p], 2)
    monkeypatch.setattr(_arrays, "THREADED", 1 << 40)
    steps(torch.optim.Adam([small], lr=0.1), [small], 2)
    assert torch.equal(big, small)


def test_an_optimizer_of_ones_own_gets_hooks_and_groups():
    class Sign(torch.optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

        @torch.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    p.sub_(p.grad.sign(), alpha=group["lr"])

    seen = []
    p = nn.Parameter(torch.tensor([1.0, -1.0]))
    opt = Sign([{"params": [p], "lr": 0.5}], lr=1.0)
    opt.register_step_post_hook(lambda *a: seen.append(True))
    p.grad = torch.tensor([2.0, -3.0])
    opt.step()
    assert p.tolist() == [0.5, -0.5] and seen == [True]


@pytest.mark.parametrize("method", ["L-BFGS-B", "BFGS", "Newton-CG", "trust-ncg", "SLSQP", "Nelder-Mead"])
def test_scipy_minimises_rosenbrock(method):
    x = torch.tensor([-1.2, 1.0], dtype=torch.float64, requires_grad=True)
    result = torch.optim.minimize(lambda: (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2, x, method=method)
    assert result.success and x.tolist() == pytest.approx([1, 1], abs=2e-3)


def test_scipy_fits_least_squares():
    t = torch.linspace(0, 1, 20, dtype=torch.float64)
    p = torch.ones(2, dtype=torch.float64, requires_grad=True)
    torch.optim.least_squares(lambda: p[0] * torch.exp(-p[1] * t) - 2 * torch.exp(-3 * t), p)
    assert p.tolist() == pytest.approx([2, 3], abs=1e-6)


def test_foreach_ops_do_to_each_tensor_what_the_op_does_to_one():
    import tidu as torch

    a, b = [torch.rand(3) + 0.1, torch.rand(2, 2) + 0.1], [torch.rand(3) + 0.1, torch.rand(2, 2) + 0.1]
    for got, want in [
        (torch._foreach_add(a, b, alpha=2), [x + 2 * y for x, y in zip(a, b)]),
        (torch._foreach_pow(2, a), [2**x for x in a]),
        (torch._foreach_mul(a, [1.0, 3.0]), [a[0], a[1] * 3]),
        (torch._foreach_addcdiv(a, a, b, [0.5, 2.0]), [a[0] + 0.5 * a[0] / b[0], a[1] + 2 * a[1] / b[1]]),
        (torch._foreach_lerp(a, b, 0.25), [x.lerp(y, 0.25) for x, y in zip(a, b)]),
        (torch._foreach_maximum(a, b), [torch.maximum(x, y) for x, y in zip(a, b)]),
        (torch._foreach_norm(a), [x.norm() for x in a]),
    ]:
        assert isinstance(got, tuple)
        for g, w in zip(got, want):
            torch.testing.assert_close(g, w)
    c = [x.clone() for x in a]
    assert torch._foreach_sqrt_(c) is c
    torch.testing.assert_close(c[1], a[1].sqrt())


def test_states_in_shared_memory_stay_there():
    params = [nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(2))]
    opt = torch.optim.Adam(params, lr=0.1)
    for p in params:
        opt.state[p] = {"step": torch.zeros(1), "exp_avg": torch.zeros_like(p), "exp_avg_sq": torch.zeros_like(p)}
        for name in ("step", "exp_avg", "exp_avg_sq"):
            opt.state[p][name].share_memory_()
    aliases = [opt.state[p]["exp_avg"].view(-1) for p in params]
    for p in params:
        p.grad = torch.ones_like(p)
    opt.step()
    opt.step()
    for p, alias in zip(params, aliases, strict=True):
        assert all(t.is_shared() for t in opt.state[p].values())
        assert opt.state[p]["step"].tolist() == [2.0]
        assert alias.tolist() == opt.state[p]["exp_avg"].tolist() != [0.0] * len(alias)
