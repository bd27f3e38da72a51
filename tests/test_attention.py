"""The fused attention against the same by softmax and products."""

import math

import pytest

import tidu as torch
from tidu.arrays import attention, native

F = torch.nn.functional


@pytest.fixture(autouse=True, params=["natively", "by NumPy"])
def route(request, monkeypatch):
    if request.param == "natively" and native.kernel("attention") is None:
        pytest.skip("llvmlite is not installed")
    monkeypatch.setattr(attention, "_NATIVE", 0 if request.param == "natively" else 1 << 62)


def _plain(q, k, v, mask):
    """Attention with booleans or numbers to add; queries that see nothing give zeros."""
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask.dtype == torch.bool:
        mask = torch.where(mask, 0.0, -math.inf)
    scores = scores + mask.to(scores.dtype)
    blind = (scores == -math.inf).all(-1, keepdim=True)
    return torch.where(blind, 0.0, torch.softmax(scores.masked_fill(blind, 0.0), -1)) @ v


def _masks(batch, heads, length, others):
    seen = torch.rand(batch, heads, length, others) > 0.4
    blind = seen.clone()
    blind[0, 0, 1] = False
    numbers = torch.randn(length, others)
    return {
        "booleans": seen[0, 0],
        "of each head": seen,
        "of the batch": seen[:, :1],
        "a blind query": blind,
        "numbers": numbers,
        "infinities": torch.where(seen[0, 0], 0.0, -math.inf),
        "numbers and infinities": torch.where(seen, numbers, -math.inf),
    }


@pytest.mark.parametrize("scale", [1, 30])  # the second one makes the scores too large for exponentials as they are
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", list(_masks(1, 1, 2, 2)))
def test_masks(kind, dtype, scale):
    torch.manual_seed(0)
    mask = _masks(2, 3, 9, 7)[kind]
    q, k, v = (torch.randn(2, 3, n, 4, dtype=dtype) for n in (9, 7, 7))
    leaves = [t.requires_grad_() for t in (q * scale, k, v)]
    wide = [t.detach().double().requires_grad_() for t in leaves]
    mask = mask.to(dtype) if mask.is_floating_point() else mask
    fused, plain = F.scaled_dot_product_attention(*leaves, attn_mask=mask), _plain(*wide, mask)
    close = {"rtol": 1e-4, "atol": 1e-4} if dtype == torch.float32 else {"rtol": 1e-9, "atol": 1e-9}
    torch.testing.assert_close(fused.double(), plain, **close)
    g = torch.randn(2, 3, 9, 4, dtype=dtype)
    got, want = torch.autograd.grad(fused, leaves, g), torch.autograd.grad(plain, wide, g.double())
    for mine, theirs in zip(got, want, strict=True):
        torch.testing.assert_close(mine.double(), theirs, **close)


@pytest.mark.parametrize("bad", [math.inf, math.nan, 1e30])
def test_what_no_query_sees_does_no_harm(bad):
    q, k, v = (torch.randn(1, 2, 5, 4) for _ in range(3))
    clean = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    k[:, :, 4] = bad
    got = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(got[:, :, :4], clean[:, :, :4])


@pytest.mark.parametrize("causal", [True, False])
def test_any_layout_and_shared_heads(causal):
    """Heads side by side in memory, as a linear layer leaves them, and fewer heads of keys than of queries."""
    x = torch.randn(2, 150, 4 * 8 + 2 * 2 * 8, dtype=torch.float64, requires_grad=True)

    def heads(part):
        return part.unflatten(-1, (-1, 8)).transpose(1, 2)

    q, k, v = (heads(part) for part in x.split([32, 16, 16], -1))
    fused = F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=True)
    seen = torch.ones(150, 150, dtype=torch.bool)
    plain = _plain(q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1), seen.tril() if causal else seen)
    torch.testing.assert_close(fused, plain)
    g = torch.randn_like(plain)
    torch.testing.assert_close(torch.autograd.grad(fused, x, g), torch.autograd.grad(plain, x, g))
    assert fused.transpose(1, 2).is_contiguous()  # joining the heads costs no copy


def test_the_bits_do_not_change_from_run_to_run():
    q, k, v = (torch.randn(4, 4, 64, 32, requires_grad=True) for _ in range(3))

    def run():
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return (out, *torch.autograd.grad(out.sum(), (q, k, v)))

    first = run()
    for _ in range(3):
        assert all(torch.equal(a, b) for a, b in zip(run(), first, strict=True))


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(
    "shape", [(2, 3, 64, 64, 16), (1, 2, 37, 53, 7), (2, 2, 100, 40, 33), (1, 1, 5, 3, 1), (9, 4, 70, 300, 64)]
)
def test_sizes(shape, causal):
    torch.manual_seed(1)
    batch, heads, length, others, width = shape
    q = torch.randn(batch, length, heads, width).transpose(1, 2)
    k, v = (torch.randn(batch, heads, width, others).mT, torch.randn(batch, others, heads, width).transpose(1, 2))
    leaves = [t.clone().requires_grad_() for t in (q, k, v)]
    wide = [t.double().requires_grad_() for t in (q, k, v)]
    seen = torch.ones(length, others, dtype=torch.bool)
    fused = F.scaled_dot_product_attention(*leaves, is_causal=causal)
    plain = _plain(*wide, seen.tril() if causal else seen)
    torch.testing.assert_close(fused.double(), plain, rtol=1e-5, atol=1e-5)
    g = torch.randn(batch, length, heads, width).transpose(1, 2)
    got, want = torch.autograd.grad(fused, leaves, g), torch.autograd.grad(plain, wide, g.double())
    for mine, theirs in zip(got, want, strict=True):
        torch.testing.assert_close(mine.double(), theirs, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("more", [{}, {"add_zero_attn": True}, {"add_bias_kv": True}, {"bias": False}])
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("same", [(0, 0, 0), (0, 1, 1), (0, 1, 2)])
def test_the_batch_first_is_the_batch_second_turned(same, need_weights, more):
    torch.manual_seed(0)
    first = torch.nn.MultiheadAttention(8, 2, batch_first=True, dtype=torch.float64, **more)
    second = torch.nn.MultiheadAttention(8, 2, dtype=torch.float64, **more)
    second.load_state_dict(first.state_dict())
    values = [torch.randn(3, n, 8, dtype=torch.float64) for n in (4, 5, 5)]
    padding = torch.arange(4 if same == (0, 0, 0) else 5) > torch.tensor([[4], [2], [1]])
    found = []
    for layer, turn in ((first, False), (second, True)):
        leaves = [(v.transpose(0, 1).contiguous() if turn else v.clone()).requires_grad_() for v in values]
        q, k, v = (leaves[i] for i in same)
        out, weights = layer(q, k, v, key_padding_mask=padding, need_weights=need_weights)
        assert (weights is None) is not need_weights
        assert out.is_contiguous() is turn
        grads = torch.autograd.grad(out.square().sum(), [*leaves[: max(same) + 1], *layer.parameters()])
        grads = [g.transpose(0, 1) if turn and i <= max(same) else g for i, g in enumerate(grads)]
        found.append([out.transpose(0, 1) if turn else out, *([weights] if need_weights else []), *grads])
    for mine, theirs in zip(*found, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-9, atol=1e-12)
