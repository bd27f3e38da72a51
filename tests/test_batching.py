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
