"""What torch.func has not in PyTorch: products, series, implicit and sparse derivatives, gradients of samples."""

import math

import numpy as np
import pytest

import tidu as torch
from tidu.func import grad, hessian, hvp, implicit, jacfwd, jacrev, jvp, taylor, vmap


def f64(*values):
    return torch.tensor(values, dtype=torch.float64)


def test_hvp():
    def f(x):
        return (x**3).prod() + x.sin().sum()

    x, v = f64(1.0, 2.0, 0.5), f64(0.3, -1.0, 2.0)
    assert np.allclose(hvp(f, x, v).numpy(), (hessian(f)(x) @ v).numpy(), atol=1e-12)

    def g(a, b):
        return (a * a * b).sum()

    got = hvp(g, (x, v), (v, x))
    h = hessian(g, argnums=(0, 1))(x, v)
    for i in range(2):
        assert np.allclose(got[i].numpy(), (h[i][0] @ v + h[i][1] @ x).numpy(), atol=1e-12)


def test_taylor():
    x, v = f64(0.4), f64(1.5)
    got = taylor(lambda x: torch.sin(x) * torch.exp(x), x, v, 6)
    t = 0.05
    value = sum(c.item() * t**k for k, c in enumerate(got))
    at = 0.4 + 1.5 * t
    assert len(got) == 7 and abs(value - math.sin(at) * math.exp(at)) < 1e-9
    assert [c.item() for c in taylor(lambda x: x**2, f64(3.0), f64(1.0), 3)] == [9, 6, 1, 0]
    g = grad(lambda x: taylor(torch.exp, x, v, 2)[2].sum())(x)
    assert abs(g.item() - math.exp(0.4) * 1.5**2 / 2) < 1e-12


def cube_root(a):
    return np.cbrt(a.numpy())


def test_implicit_derivatives_of_any_order():
    root = implicit(cube_root, lambda x, a: x**3 - a, order=4)
    a = f64(2.0, 5.0)
    assert np.allclose(root(a).numpy(), np.cbrt([2, 5]), atol=1e-14)
    f = lambda a: root(a)[0]  # noqa: E731
    exact = [1 / 3, -2 / 9, 10 / 27, -80 / 81]
    g = f
    for k, c in enumerate(exact, 1):
        g = grad(g) if k == 1 else grad(lambda a, g=g: g(a)[0])
        assert abs(g(a)[0].item() - c * 2 ** (1 / 3 - k)) < 1e-8, k
    assert np.allclose(jacfwd(root)(a).numpy(), jacrev(root)(a).numpy(), atol=1e-12)
    leaf = a.clone().requires_grad_()
    root(leaf).sum().backward()
    assert np.allclose(leaf.grad.numpy(), 1 / (3 * np.cbrt(a.numpy()) ** 2), atol=1e-12)
    assert np.allclose(jvp(root, (a,), (f64(1.0, 0.0),))[1].numpy(), [1 / (3 * 2 ** (2 / 3)), 0])


def test_implicit_minimum_and_linear_system():
    optimize = pytest.importorskip("scipy.optimize")

    def objective(x, c):
        return ((x - c) ** 2).sum() + (x**4).sum() / 4

    def minimum(c):
        best = optimize.minimize(lambda x: float(objective(torch.tensor(x), c)), np.zeros(2), tol=1e-12)
        return best.x

    solve = implicit(minimum, grad(objective))
    c = f64(1.0, -0.5)
    x = solve(c)
    expected = 2 / (2 + 3 * x.numpy() ** 2)  # of 2 (x - c) + x^3 = 0
    assert np.allclose(jacrev(solve)(c).numpy(), np.diag(expected), atol=1e-8)

    a, b = f64(2.0, 1.0, 1.0, 3.0).view(2, 2), f64(1.0, 2.0)
    linear = implicit(lambda a, b: np.linalg.solve(a.numpy(), b.numpy()), lambda x, a, b: a @ x - b)
    for k in range(2):
        got = jacrev(linear, argnums=k)(a, b)
        assert np.allclose(got.numpy(), jacrev(torch.linalg.solve, argnums=k)(a, b).numpy(), atol=1e-12)
    with pytest.raises(ValueError, match="shape of the solution"):
        implicit(lambda a: a, lambda x, a: (x - a).sum())(b)


def test_implicit_under_vmap_runs_the_samples():
    root = implicit(cube_root, lambda x, a: x**3 - a)
    a = f64(1.0, 8.0, 27.0)
    with pytest.warns(UserWarning, match="one by one"):
        got = vmap(grad(root))(a)
    assert np.allclose(got.numpy(), [1 / 3, 1 / 12, 1 / 27])


def test_gradients_of_samples_on_an_ordinary_graph():
    w = torch.tensor(np.random.default_rng(0).standard_normal((3, 2)), requires_grad=True)
    b = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    x = torch.tensor(np.random.default_rng(1).standard_normal((5, 3)))
    losses = torch.tanh(x @ w + b).square().sum(1)
    got = torch.autograd.grad(losses, (w, b), per_sample=True, retain_graph=True)
    assert got[0].shape == (5, 3, 2) and got[1].shape == (5, 2)
    for i in range(5):
        one = torch.autograd.grad(losses[i], (w, b), retain_graph=True)
        assert all(np.allclose(g[i].numpy(), o.numpy()) for g, o in zip(got, one))
    for bad in (losses.sum(), [losses]):
        with pytest.raises(ValueError, match="vector of losses"):
            torch.autograd.grad(bad, w, per_sample=True)


# ---- sparse derivatives

sparse = pytest.importorskip("scipy.sparse")


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def passes(monkeypatch):
    """How many derivatives are taken: the number of directions."""
    from tidu.func import sparsity

    seen = []
    directions = sparsity._directions
    monkeypatch.setattr(sparsity, "_directions", lambda c, x: seen.append(int(c.max()) + 1) or directions(c, x))
    return seen


MATRIX = f64(1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 0.0, 0.0, 4.0, 5.0, 0.0, 0.0).view(3, 4)


@pytest.mark.parametrize(
    "f, colours",
    [
        (lambda x: x[1:] - x[:-1] ** 2, 2),
        (lambda x: x.exp(), 1),
        (lambda x: torch.cat([x[2:], x[:2].sin(), torch.ones(1, dtype=torch.float64)]) * x.new_ones(()), 1),
        (lambda x: torch.stack([x, x.flip(0)]).sum(0), 2),
        (lambda x: MATRIX @ x, 2),
        (lambda x: x @ MATRIX.T + x[:3].tanh(), 3),
        (lambda x: (x.view(2, 2) * x[0]).sum(1), 3),
        (lambda x: x.view(2, 2).mean(0), 2),
        (lambda x: x[torch.tensor([3, 1])] * x[torch.tensor([0, 1])], 2),
        (lambda x: torch.where(x > 0, x, x[0]), 2),
        (lambda x: x.clone().mul_(x.roll(1, 0)), 2),
        (lambda x: x.softmax(0), 4),
        (lambda x: x.sum(), 1),  # by one row
        (lambda x: torch.ones(2, dtype=torch.float64), 0),
        (lambda x: x.view(2, 2) @ x.view(2, 2), 4),
    ],
)
def test_sparse_jacobians(f, colours, monkeypatch):
    seen = passes(monkeypatch)
    x = f64(0.3, -1.2, 2.0, 0.7)
    got = torch.func.jacobian(f, sparse=True)(x)
    assert isinstance(got, sparse.csr_array)
    dense = jacrev(f)(x).numpy()
    assert np.allclose(got.toarray(), dense.reshape(-1, 4), atol=1e-12)
    assert (seen or [0])[0] <= colours


@pytest.mark.parametrize(
    "f",
    [
        rosenbrock,
        lambda x: (x**3).sum() + x[0] * x[3],
        lambda x: x.sum(),
        lambda x: (MATRIX @ x).square().sum() + x.exp().mean(),
        lambda x: x[:2] @ x[2:],
        lambda x: x.view(2, 2).prod(0).sum(),
        lambda x: (1 / x[0]) * x[1] + (x[2] / x[3]),
        lambda x: torch.linalg.vector_norm(x[:2]) + x[2] ** 2,
    ],
)
def test_sparse_hessians(f):
    x = f64(0.3, -1.2, 2.0, 0.7)
    got = torch.func.hessian(f, sparse=True)(x)
    assert np.allclose(got.toarray(), hessian(f)(x).numpy(), atol=1e-12)


class Square(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.save_for_forward(inputs[0])

    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * g

    @staticmethod
    def jvp(ctx, t):
        return 2 * ctx.saved_tensors[0] * t


def write_to_view(x):
    y = x.clone()
    y[:2].mul_(x[2:])
    return y


def write_to_base(x):
    y = x.clone()
    v = y[:2].view(2, 1)
    y.mul_(x.roll(1, 0))
    return v


def write_into_nothing(x):
    y = torch.zeros(4, dtype=torch.float64)
    v = y.view(2, 2)
    y[1:] += x[:-1] ** 2
    return y * v[0, 1]


@pytest.mark.filterwarnings("ignore:vmap")
@pytest.mark.parametrize(
    "f",
    [
        write_to_view,
        write_to_base,
        write_into_nothing,
        lambda x: x * 1 + torch.zeros(4, dtype=torch.float64).index_add_(0, torch.tensor([1, 0]), x[2:] ** 2),
        lambda x: torch.nn.functional.pad(x, (1, 2), value=1000.0) * 2,
        lambda x: torch.nn.functional.pad(x, (1, 2), value=-2.0) ** 2,
        lambda x: torch.nn.functional.pad(x.view(1, 4), (1, 2), mode="circular") ** 2,
        lambda x: x.sum(dtype=torch.float32) * x,
        lambda x: x.sort()[0] ** 2,
        lambda x: x[x > 0] * x[0],
        lambda x: x * x.detach().roll(1, 0),
        Square.apply,
        lambda x: torch.utils.checkpoint.checkpoint(lambda y: y * y, x, use_reentrant=False),
        lambda x: grad(lambda y: (y[1:] * y[:-1] ** 2).sum() * x[0])(x),
        lambda x: grad(lambda y: (y * x[:2]).sum())(torch.ones(2, dtype=torch.float64)),
        lambda x: jacrev(lambda y: y.roll(1, 0) * y)(x),
        lambda x: jvp(lambda y: y**3, (x,), (x.roll(1, 0),))[1],
        lambda x: vmap(grad(lambda a: a.prod()))(x.view(2, 2)),
        lambda x: vmap(lambda a: a.sin() * a.sum())(x.view(2, 2)),
    ],
)
def test_sparse_derivatives_of_writes_and_of_derivatives(f):
    x = f64(0.3, -1.2, 2.0, 0.7)
    assert np.allclose(torch.func.jacobian(f, sparse=True)(x).toarray(), jacfwd_one_by_one(f, x), atol=1e-12)
    square = lambda x: (f(x) ** 2).sum()  # noqa: E731
    assert np.allclose(torch.func.hessian(square, sparse=True)(x).toarray(), hessian(square)(x).numpy(), atol=1e-12)
    assert x.tolist() == [0.3, -1.2, 2.0, 0.7]


def jacfwd_one_by_one(f, x):
    columns = [jvp(f, (x,), (v,))[1].numpy().reshape(-1) for v in torch.eye(len(x), dtype=x.dtype)]
    return np.stack(columns, 1)


def test_sparse_derivatives_leave_what_was_written_into_as_it_is():
    from tidu.func import sparsity

    kept = torch.zeros(3, dtype=torch.float64)

    def f(x):
        kept[:2] = x[1:]
        return kept * x

    x = f64(1.0, 2.0, 3.0)
    assert torch.func.jacobian(f, sparse=True)(x).toarray().tolist() == [[2, 1, 0], [0, 3, 2], [0, 0, 0]]
    assert not isinstance(kept, sparsity.Tracked) and (kept + 1).tolist() == [3, 4, 1]


def test_numbers_of_elements_survive_a_smaller_dtype():
    x = torch.ones(5000, dtype=torch.float64)
    got = torch.func.jacobian(lambda x: x.half().double() * 2, sparse=True)(x)
    assert got.nnz == 5000 and (got.diagonal() == 2).all()


def test_large_sparse_derivatives_take_few_passes(monkeypatch):
    seen = passes(monkeypatch)
    x = torch.tensor(np.random.default_rng(0).standard_normal(1000))
    h = torch.func.hessian(rosenbrock, sparse=True)(x)
    assert seen == [3] and h.shape == (1000, 1000) and h.nnz == 2998
    v = torch.tensor(np.random.default_rng(1).standard_normal(1000))
    assert np.allclose(h @ v.numpy(), hvp(rosenbrock, x, v).numpy())
    j = torch.func.jacobian(lambda x: x[1:] - x[:-1] ** 2, sparse=True)(x)
    assert seen[1:] == [2] and j.nnz == 1998


def test_sparse_arguments():
    got = torch.func.jacobian(lambda a, x, k=1: a * x * k, argnums=1, sparse=True)(2.0, f64(1.0, 2.0), k=3)
    assert got.toarray().tolist() == [[6, 0], [0, 6]]
    with pytest.raises(ValueError, match="one argument"):
        torch.func.hessian(rosenbrock, argnums=(0,), sparse=True)
    with pytest.raises(RuntimeError, match="one number"):
        torch.func.hessian(torch.exp, sparse=True)(f64(1.0, 2.0))
    with pytest.raises(TypeError, match="one tensor"):
        torch.func.jacobian(lambda x: (x, x), sparse=True)(f64(1.0))


# ---- dimensions by name


def test_rearrange():
    r = torch.func.rearrange
    x = torch.arange(24).view(2, 3, 4)
    assert torch.equal(r(x, "a b c -> c (b a)"), x.permute(2, 1, 0).reshape(4, 6))
    assert torch.equal(r(x, "a b (c d) -> (a c) b d", c=2), x.view(2, 3, 2, 2).permute(0, 2, 1, 3).reshape(4, 3, 2))
    assert torch.equal(r(x, "... c -> c ..."), x.permute(2, 0, 1))
    assert torch.equal(r(x, "a ... -> (...) a"), x.permute(1, 2, 0).reshape(12, 2))
    assert torch.equal(r([x, x], "n a b c -> a n b c 1"), torch.stack([x, x], 1)[..., None])
    assert torch.equal(r(x[:1], "1 b c -> (c b)"), x[0].t().reshape(-1))
    y = torch.ones(2, 3, requires_grad=True)
    r(y, "a b -> (b a)")[0].backward()
    assert y.grad.tolist() == [[1, 0, 0], [0, 0, 0]]
    for bad in ("a b c", "a b -> b a", "a b c -> a b", "a b c -> a b c d", "a b (c d) -> a b c d", "a b c -> a b c!"):
        with pytest.raises(ValueError, match="rearrange"):
            r(x, bad)
    with pytest.raises(ValueError, match="not made up"):
        r(x, "a b (c d) -> a b c d", c=3)


def test_batch_norm_without_statistics_under_vmap():
    net = torch.nn.Sequential(torch.nn.BatchNorm1d(3))
    assert torch.func.replace_all_batch_norm_modules_(net) is net
    assert net[0].running_mean is None and not net[0].track_running_stats
    x = torch.tensor(np.random.default_rng(0).standard_normal((4, 5, 3)).astype(np.float32))
    got = vmap(net)(x)
    assert torch.allclose(got, torch.stack([net(v) for v in x]), atol=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_columns_of_one_colour_never_meet(seed):
    from scipy import sparse

    from tidu.func.sparsity import colours

    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 30, 2)
    dense = rng.random((n, m)) < rng.choice([0.02, 0.1, 0.4])
    if seed % 3 == 0:  # a band
        dense = np.abs(np.arange(n)[:, None] - np.arange(m)) <= rng.integers(0, 4)
    colour = colours(sparse.csr_array(dense))
    for c in set(colour):
        assert dense[:, colour == c].sum(1).max(initial=0) <= 1
    assert colour.max() + 1 <= max(1, m)
    if seed % 3 == 0:
        assert colour.max() + 1 == max(1, min(m, dense.sum(1).max()))


@pytest.mark.parametrize("n", [255, 256, 512])
def test_inputs_that_meet_many_times(n):
    x = torch.tensor([0.3, 0.5, 0.1], dtype=torch.float64)
    ones = torch.ones(n, dtype=torch.float64)

    def together(x):
        return ((x[0] + x[1]) * ones).sin().sum() + (x[1] * x[2] * ones).sum()

    whole = torch.func.hessian(together)(x).numpy()
    np.testing.assert_allclose(torch.func.hessian(together, sparse=True)(x).toarray(), whole)

    def summed(x):
        return x[:1].expand(n).sum(0, keepdim=True) + ones @ x[1:2].expand(n)

    assert torch.func.jacobian(summed, sparse=True)(x).toarray().tolist() == [[n, n, 0]]
