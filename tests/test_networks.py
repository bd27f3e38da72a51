"""What PyTorch prints about nn.functional: the programs of behaviour/networks.py. And what needs no PyTorch to know."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from behaviour import programs, recorded, text_of

import tidu as torch
from tidu import nn
from tidu.nn import functional as F
from tidu.ops import conversion

PRINTED = recorded("networks")


@pytest.mark.parametrize("name", programs("networks"))
def test_prints_what_pytorch_prints(name):
    assert text_of(programs("networks")[name], torch) == PRINTED[name]


def test_every_program_was_recorded():
    assert list(programs("networks")) == list(PRINTED)


def leaf(*shape: int, seed: int = 0) -> torch.Tensor:
    rng = np.random.default_rng(seed)
    return torch.from_numpy(rng.standard_normal(shape)).requires_grad_()


CONVOLUTIONS = [
    (1, {"stride": 2, "padding": 1}), (1, {"dilation": 2}), (2, {}), (2, {"stride": (2, 1), "padding": (0, 2)}),
    (2, {"dilation": 2, "padding": 2}), (2, {"groups": 2}), (3, {"padding": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("n", "options"), CONVOLUTIONS)
def test_convolution_by_its_definition(n, options):
    x, w, b = leaf(2, 4, *(6, 7, 5)[:n]), leaf(6, 4 // options.get("groups", 1), *(3, 2, 2)[:n]), leaf(6)
    y = (F.conv1d, F.conv2d, F.conv3d)[n - 1](x, w, b, **options)

    def each(value):
        return value if isinstance(value, tuple) else (value,) * n

    stride, pad, dilation = (each(options.get(k, d)) for k, d in (("stride", 1), ("padding", 0), ("dilation", 1)))
    groups = options.get("groups", 1)
    seen = np.pad(x.detach().numpy(), [(0, 0), (0, 0), *((p, p) for p in pad)])
    for place in np.ndindex(*y.shape):
        sample, channel, *at = place
        group = channel // (6 // groups)
        total = b[channel].item()
        for c, *k in np.ndindex(*w.shape[1:]):
            where = tuple(i * s + j * d for i, s, j, d in zip(at, stride, k, dilation, strict=True))
            total += seen[(sample, group * w.shape[1] + c, *where)] * w[(channel, c, *k)].item()
        assert y[place].item() == pytest.approx(total, abs=1e-10)


@pytest.mark.parametrize("threads", [1, 2])
def test_large_convolutions_go_block_by_block(threads):
    # large enough for several blocks of rows and of samples, strided and depthwise too; against a product of matrices
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        for shape, kernel, options in [
            ((2, 32, 40, 40), (16, 32, 3, 3), {"padding": 1}), ((9, 3, 30, 30), (8, 3, 5, 5), {"stride": 2}),
            ((5, 24, 30, 30), (24, 1, 3, 3), {"groups": 24, "padding": 1}),
            ((12, 16, 12, 12), (32, 16, 5, 5), {}), ((3, 256, 6, 6), (256, 256, 3, 3), {"padding": 1}),
            ((1, 32, 50, 50), (24, 32, 3, 3), {"padding": 1}), ((6, 8, 21, 21), (16, 4, 4, 4), {"stride": 2, "groups": 2}),
        ]:  # fmt: skip
            x, w = leaf(*shape), leaf(*kernel, seed=1)
            y = F.conv2d(x, w, **options)
            groups, stride = options.get("groups", 1), options.get("stride", 1)
            columns = F.unfold(x, kernel[2:], padding=options.get("padding", 0), stride=stride)
            columns = columns.reshape(shape[0], groups, -1, columns.shape[-1])
            z = (w.reshape(groups, kernel[0] // groups, -1) @ columns).reshape(y.shape)
            assert torch.allclose(y, z)
            g = leaf(*y.shape, seed=2).detach()
            for a, b in zip(torch.autograd.grad(y, (x, w), g), torch.autograd.grad(z, (x, w), g), strict=True):
                assert torch.allclose(a, b)
    finally:
        torch.set_num_threads(before)


def test_transposed_convolution_is_the_adjoint():
    x, w = leaf(2, 3, 7, 8), leaf(4, 3, 3, 2)
    y = F.conv2d(x, w, stride=(2, 3), padding=1)
    g = leaf(*y.shape, seed=3)
    back = F.conv_transpose2d(g, w, stride=(2, 3), padding=1, output_padding=(0, 2))
    assert back.shape == x.shape
    assert (y * g).sum().item() == pytest.approx((x * back).sum().item())


def test_attention_is_softmax_of_products():
    q, k, v = leaf(2, 3, 4, 5), leaf(2, 3, 6, 5, seed=1), leaf(2, 3, 6, 5, seed=2)
    mask = torch.from_numpy(np.random.default_rng(3).standard_normal((4, 6)))
    fused = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    plain = torch.softmax(q @ k.mT / 5**0.5 + mask, -1) @ v
    assert torch.allclose(fused, plain)
    g = leaf(*fused.shape, seed=4).detach()
    for a, b in zip(*(torch.autograd.grad(y, (q, k, v), g) for y in (fused, plain)), strict=True):
        assert torch.allclose(a, b)


def test_pooling_against_windows():
    x = leaf(2, 3, 9, 8)
    windows = x.detach().unfold(2, 3, 2).unfold(3, 2, 2)
    assert torch.equal(F.max_pool2d(x, (3, 2), (2, 2)), windows.amax((-2, -1)))
    assert torch.allclose(F.avg_pool2d(x, (3, 2), (2, 2)), windows.mean((-2, -1)))
    y, index = F.max_pool2d(x, (3, 2), (2, 2), return_indices=True)
    assert torch.equal(x.flatten(2).gather(2, index.flatten(2)).reshape(y.shape), y)
    back = F.max_unpool2d(y, index, (3, 2), (2, 2), output_size=(9, 8))
    assert torch.equal(back.flatten(2).amax(2), y.flatten(2).amax(2))


def test_max_pool_keeps_nan():
    x = torch.tensor([[[[1.0, float("nan")], [float("nan"), 2.0]]]], requires_grad=True)
    y, place = F.max_pool2d(x, 2, return_indices=True)
    assert y.isnan().all() and place.item() == 2  # the last of them
    F.max_pool2d(x, 2).backward()
    assert x.grad.tolist() == [[[[0, 0], [1, 0]]]]


@pytest.mark.parametrize("options", [(2, 2, 0), (3, 2, 1), ((2, 3), 1, (1, 0)), ((1, 2), (1, 2), 0)])
def test_max_pool_gives_to_the_first_of_equals(options):
    x = torch.from_numpy(np.random.default_rng(0).integers(0, 3, (2, 3, 9, 8)).astype("float32"))
    for lowest in (0, -np.inf):  # padding is as low as the lowest, and takes nothing
        leaf = x.where(x > 0, lowest).requires_grad_()
        y, place = F.max_pool2d(leaf, *options, return_indices=True)
        F.max_pool2d(leaf, *options).backward(y.detach().exp() + 1)
        given = torch.zeros(2, 3, 72).scatter_add(2, place.flatten(2), y.detach().exp().flatten(2) + 1)
        assert torch.allclose(leaf.grad.flatten(2), given)


@pytest.mark.parametrize("size", [6, 40])
def test_infinity_stays_where_its_windows_are(size):
    x = torch.ones(1, 1, size, size)
    x[0, 0, 0, 0] = float("inf")
    many = {
        "pooled": F.avg_pool2d(x, 3, 2, 1),
        "adaptive": F.adaptive_avg_pool2d(x, 3),
        "bilinear": F.interpolate(x, scale_factor=2, mode="bilinear"),
    }
    for name, y in many.items():
        assert y[0, 0, 0, 0] == float("inf"), name
        assert (y[0, 0, 3:, :] <= 1).all() and (y[0, 0, :, 3:] <= 1).all(), name


def test_ctc_is_the_sum_over_alignments():
    log_p = torch.log_softmax(leaf(4, 1, 3), 2)
    loss = F.ctc_loss(log_p, torch.tensor([[1, 2]]), [4], [2], reduction="sum")
    p = log_p.exp().detach().numpy()[:, 0]
    total = 0.0
    for path in np.ndindex(3, 3, 3, 3):
        merged = [c for i, c in enumerate(path) if i == 0 or c != path[i - 1]]
        if [c for c in merged if c] == [1, 2]:
            total += np.prod([p[t, c] for t, c in enumerate(path)])
    assert loss.item() == pytest.approx(-np.log(total))


def test_running_statistics_are_mixed_in_place():
    mean, var = torch.zeros(3), torch.ones(3)
    x = torch.randn(8, 3, 4)
    F.batch_norm(x, mean, var, training=True, momentum=0.25)
    assert torch.allclose(mean, 0.25 * x.mean((0, 2)), atol=1e-6)
    assert torch.allclose(var, 0.75 + 0.25 * x.var((0, 2)), atol=1e-6)
    before = mean.clone()
    F.batch_norm(x, mean, var)
    assert torch.equal(mean, before)


@pytest.mark.parametrize("size", [(64, 32, 20, 20), (900, 32, 3, 4), (5, 32, 4, 4), (7, 32, 1, 1)])
@pytest.mark.parametrize("training", [True, False])
def test_batch_norm_of_all_sizes(training, size):
    # few elements, or several pieces, over the threads, of long lines and of short ones; against the definition
    x, w, b = leaf(*size), leaf(32, seed=1), leaf(32, seed=2)
    mean, var = (None, None) if training else (leaf(32, seed=3).detach(), leaf(32, seed=4).detach() ** 2 + 1)
    y = F.batch_norm(x, mean, var, w, b, training)
    m, v = (x.mean((0, 2, 3)), x.var((0, 2, 3), correction=0)) if training else (mean, var)
    s = (1, 32, 1, 1)
    z = (x - m.reshape(s)) / torch.sqrt(v.reshape(s) + 1e-5) * w.reshape(s) + b.reshape(s)
    assert torch.allclose(y, z)
    g = leaf(*y.shape, seed=5).detach()
    for a, c in zip(*(torch.autograd.grad(r, (x, w, b), g) for r in (y, z)), strict=True):
        assert torch.allclose(a, c)


@pytest.mark.parametrize("name", "leaky_relu hardswish elu mish hardtanh softshrink logsigmoid gelu silu".split())
def test_large_arrays_are_the_small_ones_joined(name):
    fn = getattr(F, name)
    x = leaf(600, 1000).detach().float().requires_grad_()
    y = fn(x)
    y.sum().backward()
    small = x.detach()[:2, :50].clone().requires_grad_()
    z = fn(small)
    z.sum().backward()
    assert torch.allclose(y[:2, :50], z, atol=1e-6)
    assert torch.allclose(x.grad[:2, :50], small.grad, atol=1e-6)


@pytest.mark.parametrize("loss", [F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss, F.soft_margin_loss])
def test_losses_of_large_arrays(loss):
    x, y = leaf(700, 500).detach().float(), leaf(700, 500, seed=1).detach().float()
    whole, parts = x.clone().requires_grad_(), x.clone().requires_grad_()
    loss(whole, y, reduction="sum").backward()
    sum(loss(a, b, reduction="sum") for a, b in zip(parts.split(10), y.split(10), strict=True)).backward()
    assert torch.allclose(whole.grad, parts.grad, atol=1e-6)


def test_second_derivatives_through_a_small_network():
    x, w, v = leaf(2, 1, 6, 6), leaf(3, 1, 3, 3, seed=1), leaf(4, 12, seed=2)

    def loss(x, w, v):
        h = F.max_pool2d(F.gelu(F.conv2d(x, w)), 2)
        h = F.layer_norm(h.flatten(1), (12,))
        return F.cross_entropy(F.linear(h, v), torch.tensor([0, 3]))

    assert torch.autograd.gradgradcheck(loss, (x, w, v))


def test_every_name_of_torch_nn_functional_is_documented():
    for name, fn in vars(F).items():
        if callable(fn) and not name.startswith("_") and name != "annotations":
            assert fn.__doc__, name


@pytest.mark.parametrize(("length", "others"), [(300, 300), (300, 200), (130, 400), (5, 7)])
def test_causal_attention_of_several_tiles(length, others):
    q, k, v = leaf(1, 2, length, 8), leaf(1, 2, others, 8, seed=1), leaf(1, 2, others, 8, seed=2)
    fused = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    seen = torch.ones(length, others, dtype=torch.bool).tril()
    plain = torch.softmax((q @ k.mT / 8**0.5).masked_fill(~seen, float("-inf")), -1) @ v
    assert torch.allclose(fused, plain)
    g = leaf(*fused.shape, seed=4).detach()
    for a, b in zip(*(torch.autograd.grad(y, (q, k, v), g) for y in (fused, plain)), strict=True):
        assert torch.allclose(a, b)


def test_warnings_are_of_the_programs_line(monkeypatch):
    monkeypatch.setattr(conversion, "_warned", False)  # said once in a process
    x, byte = torch.rand(3, 4), torch.ones(3, 4, dtype=torch.uint8)
    for call in (
        lambda: F.kl_div(x, x), lambda: F.mse_loss(x, x[:1]), lambda: F.mse_loss(x, x, size_average=True),
        lambda: nn.L1Loss()(x, x[:1]), lambda: F.dropout2d(x), lambda: F.softmax(x), lambda: x[byte],
        lambda: torch.where(byte, x, x), lambda: torch.add(x, x, out=torch.empty(2)), lambda: torch.tensor(x),
        lambda: torch.ones(1, dtype=torch.cfloat).to(torch.float), lambda: torch.ones(2, 2, 2).T,
        lambda: F.conv2d(x[None, None], x[None, None, :2, :2], padding="same"),
        lambda: torch.vmap(lambda row: row * row.sum().item())(x),
    ):  # fmt: skip
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            call()
        assert [w.filename for w in heard] == [__file__], heard
