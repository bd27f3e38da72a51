"""Layers, norms, attention and losses: one op each, forward and backward."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from benchmarks.row import Inputs, row
from benchmarks.rows.groups import LAYERS
from benchmarks.rows.large import forward_backward


def convolution(torch: ModuleType, x_shape: tuple[int, ...], w_shape: tuple[int, ...], padding: int) -> Any:
    """conv2d with bias."""
    inputs = Inputs(torch)
    x = inputs.normal(*x_shape, grad=True)
    weight, bias = inputs.normal(*w_shape, scale=0.1, grad=True), inputs.normal(w_shape[0], grad=True)
    side = x_shape[2] + 2 * padding - w_shape[2] + 1
    g = inputs.normal(x_shape[0], w_shape[0], side, side)
    conv2d = torch.nn.functional.conv2d
    return forward_backward([x, weight, bias], lambda: conv2d(x, weight, bias, padding=padding), g)


@row("conv2d 32x1x28x28, 16 of 5x5", LAYERS)
def conv_mnist(torch: ModuleType) -> Callable[[], Any]:
    """Few channels."""
    return convolution(torch, (32, 1, 28, 28), (16, 1, 5, 5), 0)


@row("conv2d 8x64x56x56, 64 of 3x3", LAYERS, tol=1e-3)
def conv_resnet(torch: ModuleType) -> Callable[[], Any]:
    """Many channels."""
    return convolution(torch, (8, 64, 56, 56), (64, 64, 3, 3), 1)


@row("max_pool2d 32x16x24x24, 2x2", LAYERS)
def max_pool(torch: ModuleType) -> Callable[[], Any]:
    """Without overlap."""
    inputs = Inputs(torch)
    x, g = inputs.normal(32, 16, 24, 24, grad=True), inputs.normal(32, 16, 12, 12)
    return forward_backward([x], lambda: torch.nn.functional.max_pool2d(x, 2), g)


@row("avg_pool2d 32x16x24x24, 2x2", LAYERS)
def avg_pool(torch: ModuleType) -> Callable[[], Any]:
    """Without overlap."""
    inputs = Inputs(torch)
    x, g = inputs.normal(32, 16, 24, 24, grad=True), inputs.normal(32, 16, 12, 12)
    return forward_backward([x], lambda: torch.nn.functional.avg_pool2d(x, 2), g)


@row("batch_norm 32x64x28x28, training", LAYERS, tol=1e-3)
def batch_norm(torch: ModuleType) -> Callable[[], Any]:
    """Batch statistics, running averages updated."""
    inputs = Inputs(torch)
    x, g = inputs.normal(32, 64, 28, 28, grad=True), inputs.normal(32, 64, 28, 28)
    weight, bias = inputs.normal(64, grad=True), inputs.normal(64, grad=True)
    mean, var = torch.zeros(64), torch.ones(64)
    norm = torch.nn.functional.batch_norm
    return forward_backward([x, weight, bias], lambda: norm(x, mean, var, weight, bias, training=True), g)


@row("layer_norm 64x32x128", LAYERS)
def layer_norm(torch: ModuleType) -> Callable[[], Any]:
    """The size of a small language model's."""
    inputs = Inputs(torch)
    x, g = inputs.normal(64, 32, 128, grad=True), inputs.normal(64, 32, 128)
    weight, bias = inputs.normal(128, grad=True), inputs.normal(128, grad=True)
    norm = torch.nn.functional.layer_norm
    return forward_backward([x, weight, bias], lambda: norm(x, (128,), weight, bias), g)


@row("softmax 64x4x32x32", LAYERS)
def softmax(torch: ModuleType) -> Callable[[], Any]:
    """The size of a small language model's attention weights."""
    inputs = Inputs(torch)
    x, g = inputs.normal(64, 4, 32, 32, grad=True), inputs.normal(64, 4, 32, 32)
    return forward_backward([x], lambda: torch.softmax(x, -1), g)


@row("cross_entropy 2048x1000", LAYERS)
def cross_entropy(torch: ModuleType) -> Callable[[], Any]:
    """Class indices."""
    inputs = Inputs(torch)
    x, target = inputs.normal(2048, 1000, grad=True), inputs.integers(1000, 2048)
    return forward_backward([x], lambda: torch.nn.functional.cross_entropy(x, target), None)


def attention(torch: ModuleType, *shape: int) -> Callable[[], Any]:
    """Causal scaled dot-product attention."""
    inputs = Inputs(torch)
    q, k, v = (inputs.normal(*shape, grad=True) for _ in range(3))
    attend = torch.nn.functional.scaled_dot_product_attention
    return forward_backward([q, k, v], lambda: attend(q, k, v, is_causal=True), inputs.normal(*shape))


@row("attention 8x4x64x32", LAYERS)
def attention_small(torch: ModuleType) -> Callable[[], Any]:
    """Short sequences."""
    return attention(torch, 8, 4, 64, 32)


@row("attention 4x8x512x64", LAYERS)
def attention_long(torch: ModuleType) -> Callable[[], Any]:
    """Long sequences."""
    return attention(torch, 4, 8, 512, 64)


@row("embedding 1000x64, 64x32 tokens", LAYERS)
def embedding(torch: ModuleType) -> Callable[[], Any]:
    """Many tokens share a row."""
    inputs = Inputs(torch)
    table, index = inputs.normal(1000, 64, grad=True), inputs.integers(1000, 64, 32)
    g = inputs.normal(64, 32, 64)
    return forward_backward([table], lambda: torch.nn.functional.embedding(index, table), g)


@row("scatter_add 4096x64 into 512x64", LAYERS)
def scatter_add(torch: ModuleType) -> Callable[[], Any]:
    """As in a graph network: one target for each edge."""
    inputs = Inputs(torch)
    src, base = inputs.normal(4096, 64, grad=True), inputs.normal(512, 64)
    index, g = inputs.integers(512, 4096, 64), inputs.normal(512, 64)
    return forward_backward([src], lambda: base.scatter_add(0, index, src), g)
