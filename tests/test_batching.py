"""vmap of layers, losses and indexing is a loop over the samples, whichever arguments are mapped, gradients too."""

import itertools

import numpy as np
import pytest

import tidu as torch
from tidu.core import batch
from tidu.nn import functional as F


def real(*shape, seed=0):
    return torch.tensor(np.random.default_rng(seed).standard_normal(shape))


def ints(high, *shape):
    return torch.tensor(np.random.default_rng(3).integers(0, high, shape))


# name: (function, shapes of the mapped arguments (one sample), or tensors that are the same for all)
CASES = {
    "conv2d": (lambda x, w, b: F.conv2d(x, w, b, padding=1), [real(2, 3, 5, 5), real(4, 3, 3, 3), real(4)]),
    "conv1d grouped": (lambda x, w: F.conv1d(x, w, groups=2, stride=2), [real(2, 4, 7), real(6, 2, 3)]),
    "conv2d one sample": (lambda x, w: F.conv2d(x[None], w), [real(3, 5, 5), real(4, 3, 3, 3)]),
    "conv_transpose2d": (lambda x, w, b: F.conv_transpose2d(x, w, b, 2), [real(2, 3, 4, 4), real(3, 2, 3, 3), real(2)]),
    "linear": (F.linear, [real(2, 3), real(4, 3), real(4)]),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (3,), w, b), [real(4, 3), real(3), real(3)]),
    "max_pool2d": (lambda x: F.max_pool2d(x, 2), [real(2, 3, 4, 4)]),
    "max_pool2d of one": (lambda x: F.max_pool2d(x, 2), [real(3, 4, 4)]),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 2), [real(2, 3, 4, 4)]),
    "adaptive": (lambda x: F.adaptive_avg_pool2d(x, 2), [real(2, 3, 5, 4)]),
    "pad": (lambda x: F.pad(x, (1, 2, 0, 1)), [real(2, 3)]),
    "pad reflect": (lambda x: F.pad(x, (1, 1), mode="reflect"), [real(2, 3, 4)]),
    "unfold": (lambda x: F.unfold(x, 2), [real(2, 3, 4, 4)]),
    "mse": (F.mse_loss, [real(3, 2), real(3, 2, seed=1)]),
    "mse sum": (lambda x, y: F.mse_loss(x, y, reduction="sum"), [real(3, 2), real(3, 2, seed=1)]),
    "smooth_l1": (F.smooth_l1_loss, [real(3), real(3, seed=1)]),
    "bce logits": (F.binary_cross_entropy_with_logits, [real(3), real(3, seed=1).sigmoid()]),
    "cross_entropy": (F.cross_entropy, [real(4, 3), ints(3, 4)]),
    "cross_entropy of one": (F.cross_entropy, [real(3), ints(3)]),
    "cross_entropy ignoring": (lambda x, t: F.cross_entropy(x, t, ignore_index=1), [real(4, 3), ints(3, 4)]),
    "cross_entropy weighted": (
        lambda x, t: F.cross_entropy(x, t, torch.tensor([1.0, 2.0, 3.0]).double()),
        [real(4, 3), ints(3, 4)],
    ),
    "cross_entropy none": (lambda x, t: F.cross_entropy(x, t, reduction="none"), [real(4, 3), ints(3, 4)]),
    "embedding": (lambda w, i: F.embedding(i, w), [real(5, 2), ints(5, 2, 3)]),
    "index": (lambda x, i: x[i], [real(4, 3), ints(4, 2)]),
    "index list": (lambda x: x[[2, 0]], [real(4, 3)]),
    "index second": (lambda x: x[:, [2, 0]], [real(4, 3)]),
    "index_select": (lambda x: x.index_select(1, torch.tensor([0, 2])), [real(4, 3)]),
    "index_add": (lambda x, s: x.index_add(0, torch.tensor([0, 2]), s), [real(4, 3), real(2, 3)]),
    "gather": (lambda x, i: x.gather(0, i), [real(4, 3), ints(4, 2, 3)]),
    "roll": (lambda x: x.roll(1), [real(4, 3)]),
    "roll dims": (lambda x: x.roll((1, 2), (0, 1)), [real(4, 3)]),
    "median": (lambda x: x.median(), [real(5)]),
    "select_scatter": (lambda x, s: torch.select_scatter(x, s, 0, 1), [real(4, 3), real(3)]),
    "cdist": (lambda a, b: torch.cdist(a, b), [real(4, 3), real(2, 3)]),
    "copy": (lambda x: x.clone().copy_(x[0]) * x, [real(4, 3)]),
    "group_norm": (lambda x: F.group_norm(x, 2), [real(2, 4, 3)]),
    "batch_norm": (lambda x: F.batch_norm(x, None, None, training=True), [real(5, 4)]),
    "interpolate": (lambda x: F.interpolate(x, scale_factor=2), [real(2, 3, 4)]),
    "attention": (F.scaled_dot_product_attention, [real(2, 4, 3), real(2, 4, 3, seed=1), real(2, 4, 3, seed=2)]),
}
ALONG = [  # what runs sample by sample, correctly and slowly
    "group_norm", "batch_norm", "attention",
]  # fmt: skip


def batched(args, mapped):
    """Three samples of each mapped argument, different where they are real."""
    return [
        (torch.stack([a, a.flip(0) if a.ndim else a, a * 2 if a.dtype.is_floating_point else a])) if m else a
        for a, m in zip(args, mapped)
    ]


@pytest.mark.parametrize("name", CASES)
def test_is_a_loop(name):
    fn, args = CASES[name]
    for mapped in itertools.product((True, False), repeat=len(args)):
        if not any(mapped):
            continue
        given = batched(args, mapped)
        dims = tuple(0 if m else None for m in mapped)
        got = torch.func.vmap(fn, in_dims=dims)(*given)
        rows = [fn(*[g[i] if m else g for g, m in zip(given, mapped)]) for i in range(3)]
        assert np.allclose(got.numpy(), torch.stack(rows).numpy(), atol=1e-12), mapped

        places = tuple(i for i, a in enumerate(args) if a.dtype.is_floating_point)
        weigh = real(*got.shape[1:], seed=5)
        grad = torch.func.grad(lambda *a, weigh=weigh: (fn(*a) * weigh).sum(), argnums=places)
        per_sample = torch.func.vmap(grad, in_dims=dims)(*given)
        for i in range(3):
            one = grad(*[g[i] if m else g for g, m in zip(given, mapped)])
            for a, b in zip(one, per_sample):
                assert np.allclose(a.numpy(), b[i].numpy(), atol=1e-10), (mapped, i)


@pytest.mark.parametrize("name", [n for n in CASES if n not in ALONG])
def test_takes_one_call(name, monkeypatch):
    fn, args = CASES[name]
    looped = []
    slices = batch.slice_by_slice
    monkeypatch.setattr(batch, "slice_by_slice", lambda op, *rest: looped.append(op.name) or slices(op, *rest))
    torch.func.vmap(fn)(*batched(args, [True] * len(args)))
    assert not looped


def written(x, w):
    z = w * 1.5
    v = z[1:]
    z[0] = x[0]
    z.view(-1)[1:2].mul_(x[1])
    v.add_(x[1:])
    return z * v.sum()


@pytest.mark.parametrize("depth", [1, 2])
def test_writes_with_tangents_reach_all_that_shares_the_memory(depth):
    xs, ws = real(3, 4), real(3, 4, seed=1)

    def moved(x, w):
        f = lambda x: written(x, w)  # noqa: E731
        for _ in range(depth):
            f = lambda x, f=f: torch.func.jvp(f, (x,), (x.cos(),))[1]  # noqa: E731
        return f(x)

    rows = [moved(x, w) for x, w in zip(xs, ws)]
    assert torch.allclose(torch.vmap(moved)(xs, ws), torch.stack(rows))
    step = 1e-6
    if depth == 1:
        near = [written(x + s * step * x.cos(), w) for x, w in zip(xs, ws) for s in (1, -1)]
        assert torch.allclose(
            torch.stack(rows), torch.stack([(a - b) / (2 * step) for a, b in zip(near[::2], near[1::2])])
        )


def test_what_is_made_like_a_sample_is_written_by_each(recwarn):
    xs = real(3, 2)
    made = ("zeros_like", "ones_like", "empty_like")
    for f in [
        *[lambda x, n=n: getattr(torch, n)(x).copy_(x) for n in made],
        lambda x: torch.full_like(x, 2).sub_(2).add_(x),
    ]:
        assert torch.allclose(torch.vmap(f)(xs), xs)
        assert torch.allclose(torch.vmap(torch.func.jacfwd(f))(xs), torch.eye(2).double().expand(3, 2, 2))
    assert not recwarn


def test_masks_keep_their_type():
    x = torch.tensor([0.3, -0.7, 1.2])
    f = lambda v: v.masked_fill(v > 0, 1).double() * v  # noqa: E731
    got = torch.func.hessian(lambda x: torch.vmap(f)(torch.stack([x, x * 2])).sum())(x)
    assert torch.allclose(got, torch.diag(torch.tensor([0.0, 10.0, 0.0])))


SHARED = {
    "dropout": lambda t: F.dropout(t),
    "bernoulli": lambda t: torch.bernoulli(t * 0.5),
    "multinomial": lambda t: torch.multinomial(t, 3),
    "alpha_dropout": lambda t: F.alpha_dropout(t, training=True),
    "rand": lambda t: torch.rand(*t.shape),
    "normal": lambda t: torch.normal(0.0, t),
    "poisson": lambda t: torch.poisson(t),
}


@pytest.mark.parametrize("name", SHARED)
def test_samples_draw_numbers_of_their_own_for_what_they_share(name):
    draw = SHARED[name]
    torch.manual_seed(1)
    want = draw(torch.ones(3, 8))
    for wrapped in (lambda f: f, lambda f: lambda x: torch.func.grad(lambda y: (f(x) * y).sum())(torch.ones(()))):
        torch.manual_seed(1)
        got = torch.vmap(wrapped(lambda x: draw(torch.ones(8)) * x), randomness="different")(torch.ones(3))
        if got.ndim == 2:
            assert torch.equal(got, want * 1.0)
        else:  # sums of eight numbers, added in another order
            assert torch.allclose(got, (want * 1.0).sum(1))


def test_what_the_samples_share_is_not_filled_differently():
    with pytest.raises(RuntimeError, match="Cannot ask for different inplace randomness"):
        torch.vmap(lambda x: torch.empty(3).normal_() * x, randomness="different")(torch.ones(2))
    with pytest.raises(RuntimeError, match="randomness error mode"):
        torch.func.hessian(lambda x: (x * torch.rand(3)).sum())(torch.ones(3))


def test_results_that_do_not_fit_what_is_written():
    def add(x, y):
        return x.clone().add_(y)

    with pytest.raises(
        RuntimeError, match=r"output with shape \[2, 1, 3\] doesn't match the broadcast shape \[2, 3, 3\]"
    ):
        torch.vmap(add)(torch.ones(2, 3), torch.ones(2, 3, 3))
    with pytest.raises(
        RuntimeError, match=r"output with shape \[2, 1, 3\] doesn't match the broadcast shape \[2, 3, 3\]"
    ):
        torch.vmap(lambda x, y: x.clone().copy_(y), (0, None))(torch.ones(2, 3), torch.ones(3, 3))
    with pytest.raises(RuntimeError, match=r"output with shape \[3\] doesn't match the broadcast shape \[3, 3\]"):
        torch.func.jvp(lambda x: torch.ones(3).addcmul_(x, torch.ones(3, 3)), (torch.ones(3),), (torch.ones(3),))
    assert torch.equal(torch.vmap(add)(torch.ones(2, 3), torch.ones(2, 1, 3)), torch.full((2, 3), 2.0))
