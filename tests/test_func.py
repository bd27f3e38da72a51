"""torch.func: the programs of behaviour/func.py, and what PyTorch has not."""

import functools
import warnings

import numpy as np
import pytest
from behaviour import programs, recorded, text_of

import tidu as torch
from tidu.func import grad, hessian, jacfwd, jacrev, vmap

PRINTED = recorded("func")


@pytest.mark.parametrize("name", programs("func"))
def test_prints_what_pytorch_prints(name):
    assert text_of(programs("func")[name], torch) == PRINTED[name]


def test_every_program_was_recorded():
    assert list(programs("func")) == list(PRINTED)


def test_gradients_a_hundred_deep():
    f = torch.exp
    for _ in range(100):
        f = grad(f)
    x = torch.tensor(0.3, dtype=torch.float64)
    assert abs(f(x).item() - np.exp(0.3)) < 1e-10


@pytest.mark.parametrize("outer", [jacrev, jacfwd])
@pytest.mark.parametrize("inner", [jacrev, jacfwd])
def test_hessians_agree(outer, inner):
    def f(x):
        return (torch.tanh(x).prod() + (x**3).sin().sum()) * x.norm()

    rng = np.random.default_rng(1)
    x = torch.tensor(rng.standard_normal(5))
    exact = torch.autograd.functional.hessian(f, x)
    assert np.abs((outer(inner(f))(x) - exact).numpy()).max() < 1e-10
    assert np.abs((hessian(f)(x) - exact).numpy()).max() < 1e-10


MATRIX = torch.tensor(np.random.default_rng(2).standard_normal((8, 5)))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: torch.tanh(MATRIX @ x).square().sum(),
        lambda x: (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum(),
        lambda x: x.logsumexp(0),
        lambda x: torch.logdet(torch.outer(x, x) + 2 * torch.eye(5, dtype=x.dtype)),
        lambda x: (torch.nn.functional.layer_norm(MATRIX @ x, (8,)) ** 3).sum(),
        lambda x: (x.sort()[0].cumprod(0) * x.norm()).sum(),
    ],
    ids=["mlp", "rosenbrock", "logsumexp", "logdet", "layer_norm", "sort"],
)
def test_hessians_by_all_ways_agree_with_differences(f):
    x = torch.tensor([0.3, -0.7, 1.1, 0.4, -1.3], dtype=torch.float64)
    exact = torch.autograd.functional.hessian(f, x).numpy()
    scale = max(1, np.abs(exact).max())
    ways = [outer(inner(f))(x).numpy() for outer in (jacrev, jacfwd) for inner in (jacrev, jacfwd)]
    for got in (*ways, hessian(f)(x).numpy()):
        assert np.abs(got - exact).max() < 1e-10 * scale
    step = 1e-5 * torch.eye(5, dtype=x.dtype)
    differences = torch.stack([(grad(f)(x + d) - grad(f)(x - d)) / 2e-5 for d in step]).numpy()
    assert np.abs(differences - exact).max() < 1e-6 * scale


def test_a_function_that_reads_values_is_run_sample_by_sample():
    def f(x):
        return x * 2 if x.sum() > 1 else -x

    x = torch.tensor([[0.0, 0.5], [1.0, 1.0], [3.0, -9.0]])
    with pytest.warns(UserWarning, match="one by one") as caught:
        got = vmap(f)(x)
    assert len(caught) == 1
    assert torch.equal(got, torch.stack([f(r) for r in x]))
    with pytest.warns(UserWarning, match="one by one"):
        got = vmap(lambda r: r * r[0].item())(x)
    assert torch.equal(got, x * x[:, :1])
    with pytest.warns(UserWarning, match="one by one"):
        got = vmap(grad(lambda r: f(r).sum()))(x)
    assert got.tolist() == [[-1, -1], [2, 2], [-1, -1]]


def test_results_as_long_as_the_values_say():
    x = torch.tensor([[0.0, 0.5], [1.0, 1.0], [3.0, -9.0]])
    with pytest.warns(UserWarning, match="one by one"):
        assert vmap(lambda r: r[r > 0].sum())(x).tolist() == [0.5, 2, 3]
    with pytest.warns(UserWarning, match="one by one"):
        assert vmap(lambda r: r.unique().sum())(x).tolist() == [0.5, 1, -6]


def test_samples_run_one_by_one_draw_numbers_as_if_together():
    def f(r):
        return torch.rand(3) * (1 if r[0] > 9 else 2)

    x = torch.zeros(4, 2)
    torch.manual_seed(0)
    first = torch.rand(4, 3) * 2
    with pytest.warns(UserWarning, match="one by one"):
        torch.manual_seed(0)
        assert torch.equal(vmap(f, randomness="different")(x), first)
        torch.manual_seed(0)
        assert torch.equal(vmap(f, randomness="same")(x), first[:1].expand(4, 3))
        with pytest.raises(RuntimeError, match="randomness error mode"):
            vmap(lambda r: r if r[0] > 9 else r + torch.rand(2))(x)
    from tidu.core.levels import maps

    assert not maps.stack and not maps.told


def test_one_by_one_inside_one_by_one_is_told_once_and_starts_from_what_was_given():
    def inner(s):
        return s * 2 if s > 0 else -s

    x = torch.tensor([[1.0, -1.0], [2.0, -3.0]])
    with pytest.warns(UserWarning, match="one by one") as caught:
        got = vmap(lambda r: vmap(inner)(r) if r.sum() < 9 else r)(x)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert got.tolist() == [[2, 1], [4, 3]]
    with pytest.raises(RuntimeError, match="an argument was written into"):
        vmap(lambda r: r.mul_(2) * r[0].item())(x)


def test_no_level_is_left_behind_by_an_error():
    from tidu.core import levels

    def bad(x):
        raise KeyError

    for transform in (grad, vmap, jacrev, jacfwd, hessian):
        with pytest.raises(KeyError):
            transform(bad)(torch.ones(2))
    with pytest.raises(KeyError):
        torch.func.jvp(bad, (torch.ones(2),), (torch.ones(2),))
    assert levels.depth() == 0
    assert torch.is_grad_enabled()


def test_results_are_free_of_graphs():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = torch.ones(2)
        for made in (jacrev(torch.exp)(x), jacfwd(torch.exp)(x), hessian(lambda x: x.exp().sum())(x)):
            assert not made.requires_grad


def test_a_function_of_one_value_has_a_jacobian_of_one_row() -> None:
    x = torch.randn(5, dtype=torch.float64)
    y = torch.randn(3, 5, dtype=torch.float64)
    for f, lead in ((lambda x: (x**3).sum(), ()), (lambda x: (x**3).sum().reshape(1, 1), (1, 1))):
        jac = torch.func.jacrev(f)
        assert torch.allclose(jac(x), (3 * x * x).reshape(*lead, 5))
        assert torch.allclose(torch.vmap(jac)(y), (3 * y * y).reshape(3, *lead, 5))
        assert torch.allclose(torch.func.hessian(f)(x), torch.diag(6 * x).reshape(*lead, 5, 5))
        assert torch.allclose(torch.func.jvp(jac, (x,), (x,))[1], (6 * x * x).reshape(*lead, 5))
    parts = torch.func.jacrev(lambda x: (x.sum(), x[:0]))(x)
    assert torch.equal(parts[0], torch.ones_like(x)) and parts[1].shape == (0, 5)


@pytest.mark.parametrize("ignored", [-100, 2])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_losses_under_vmap_count_what_is_not_ignored(reduction: str, ignored: int) -> None:
    torch.manual_seed(0)
    x, t = torch.randn(4, 5, 3), torch.tensor([[0, 1, 2, 2, 1]] * 3 + [[0, 1, 0, 0, 1]])
    loss = functools.partial(torch.nn.functional.cross_entropy, reduction=reduction, ignore_index=ignored)
    assert torch.allclose(torch.vmap(loss)(x, t), torch.stack([loss(a, b) for a, b in zip(x, t, strict=True)]))
    got = torch.vmap(torch.func.grad(lambda x, t: loss(x, t).sum()))(x, t)
    assert torch.allclose(got, torch.stack([torch.func.grad(lambda x, t: loss(x, t).sum())(a, b)
                                            for a, b in zip(x, t, strict=True)]), atol=1e-6)  # fmt: skip
    one = torch.vmap(loss)(x[:, 0], t[:, 0])
    assert torch.allclose(one, torch.stack([loss(a, b) for a, b in zip(x[:, 0], t[:, 0], strict=True)]))


def test_per_sample_gradients_of_shared_matrices() -> None:
    torch.manual_seed(0)
    w, x = torch.randn(5, 7), torch.randn(6, 7)
    got = torch.vmap(torch.func.grad(lambda w, x: torch.nn.functional.linear(x, w).tanh().sum()), (None, 0))(w, x)
    want = (1 - (x @ w.T).tanh() ** 2).unsqueeze(-1) * x.unsqueeze(1)
    assert torch.allclose(got, want, atol=1e-5)
    z = torch.randn(6, 4, 5, dtype=torch.complex64, requires_grad=True)
    y = torch.randn(6, 3, 5, dtype=torch.complex64, requires_grad=True)
    torch.bmm(z, y.mT).abs().sum().backward()
    a, b = z.detach().requires_grad_(), y.detach().mT.contiguous().requires_grad_()
    torch.bmm(a, b).abs().sum().backward()
    assert torch.allclose(z.grad, a.grad, atol=1e-5) and torch.allclose(y.grad, b.grad.mT, atol=1e-5)


def _rows_written(v):
    made = torch.zeros(3)
    for i in range(3):
        made[i] = v[i] ** 2
    return made


@pytest.mark.parametrize(
    "f",
    [
        _rows_written,
        lambda v: torch.zeros(3).add_(v),
        lambda v: torch.zeros(2, 3)[1].copy_(v)._base,
        lambda v: torch.ones(3).masked_fill_(v > 2, 9.0) * v,
        lambda v: torch.mul(v, 2, out=torch.empty(3)),
        lambda v: torch.zeros(3).index_put_((torch.tensor([0]),), v[1:2]).scatter_(0, torch.tensor([1]), v[2:]),
    ],
)
def test_samples_written_into_what_the_function_makes(f):
    x = torch.arange(6.0).view(2, 3)
    with pytest.warns(UserWarning, match="written into a tensor that all share .* one by one") as caught:
        got = vmap(f)(x)
        assert len(caught) == 1
        assert torch.equal(got, torch.stack([f(r) for r in x]))
        assert torch.equal(vmap(vmap(f))(x[None])[0], got)


def test_derivatives_of_samples_written_into_what_the_function_makes():
    x = torch.arange(6.0).view(2, 3)
    with pytest.warns(UserWarning, match="one by one"):
        assert torch.equal(vmap(grad(lambda v: _rows_written(v).sum()))(x), 2 * x)
        assert torch.equal(grad(lambda x: vmap(_rows_written)(x).sum())(x), 2 * x)


def test_samples_written_into_what_others_see_are_refused():
    seen = torch.zeros(2, 3)
    array = np.zeros(3, np.float32)
    x = torch.arange(6.0).view(2, 3)
    for f in (
        lambda v: seen[0].add_(v),
        lambda v: seen.detach()[1].copy_(v),
        lambda v: seen.view(-1)[:3].mul_(v),
        lambda v: torch.from_numpy(array).add_(v),
        lambda v: torch.mul(v, 2, out=seen[0]),
    ):
        with pytest.raises(RuntimeError, match="there exists a Tensor `other`|match the broadcast shape"):
            vmap(f)(x)
    assert not seen.any() and not array.any()


def test_vmap_returns_what_is_no_tensor_where_no_dimension_is_asked_for():
    got = torch.vmap(lambda x: (x * 2, 3), out_dims=(0, None))(torch.ones(2))
    assert torch.equal(got[0], torch.full((2,), 2.0)) and got[1] == 3
    with pytest.raises(ValueError, match="must only return Tensors, got type <class 'int'>"):
        torch.vmap(lambda x: (x * 2, 3))(torch.ones(2))


def test_jvp_compares_structures_before_it_looks_at_leaves():
    with pytest.raises(RuntimeError, match="same python structure"):
        torch.func.jvp(lambda x, y: x, (torch.ones(2), 3), (torch.ones(2),))
    with pytest.raises(RuntimeError, match="primals to only contain Tensors, got <class 'int'>"):
        torch.func.jvp(lambda x, y: x, (torch.ones(2), 3), (torch.ones(2), 3))
