"""Views, joins, splits and rearrangements, against NumPy and against what PyTorch promises about memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tidu as torch

SETTINGS = settings(max_examples=40, deadline=None)
shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)
full_shapes = st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple)


def numbers(shape: tuple[int, ...]) -> np.ndarray:
    return np.arange(math.prod(shape), dtype=np.float32).reshape(shape)


def tensor(shape: tuple[int, ...]) -> Any:
    return torch.from_numpy(numbers(shape).copy())


def same(t: Any, a: Any) -> None:
    a = np.asarray(a)
    assert tuple(t.shape) == a.shape
    np.testing.assert_array_equal(t.detach().numpy(), a)


def shares(view: Any, x: Any) -> bool:
    return bool(np.shares_memory(view.detach().numpy(), x.detach().numpy()))


# ------------------------------------------------------------------ views


@SETTINGS
@given(full_shapes, st.data())
def test_view_and_reshape(shape: tuple[int, ...], data: Any) -> None:
    x = tensor(shape)
    n = math.prod(shape)
    rows = data.draw(st.sampled_from([d for d in range(1, n + 1) if n % d == 0]))
    y = x.view(rows, -1)
    same(y, numbers(shape).reshape(rows, -1))
    assert shares(y, x) and y._base is x
    back = x.permute(*reversed(range(len(shape))))
    same(back.reshape(n), numbers(shape).T.reshape(n))


@SETTINGS
@given(shapes, st.data())
def test_orders_of_dimensions(shape: tuple[int, ...], data: Any) -> None:
    x, a = tensor(shape), numbers(shape)
    order = tuple(data.draw(st.permutations(range(len(shape)))))
    same(x.permute(order), a.transpose(order))
    if shape:
        i, j = data.draw(st.tuples(st.integers(-len(shape), len(shape) - 1), st.integers(-len(shape), len(shape) - 1)))
        same(x.transpose(i, j), a.swapaxes(i, j))
        same(x.movedim(i, j), np.moveaxis(a, i, j))
    if math.prod(shape):
        assert shares(x.permute(order), x)


@SETTINGS
@given(shapes, st.data())
def test_dimensions_of_size_one(shape: tuple[int, ...], data: Any) -> None:
    x, a = tensor(shape), numbers(shape)
    d = data.draw(st.integers(-len(shape) - 1, len(shape)))
    same(x.unsqueeze(d), np.expand_dims(a, d))
    same(x.unsqueeze(d).squeeze(d), a)
    same(x.squeeze(), a.squeeze())
    wide = (3, *(4 if n == 1 else n for n in shape))
    same(x.expand(wide), np.broadcast_to(a, wide))
    assert x.expand(wide).stride(0) == 0 or not math.prod(wide)


@SETTINGS
@given(full_shapes, st.data())
def test_writes_through_views_are_seen(shape: tuple[int, ...], data: Any) -> None:
    x = tensor((*shape, 3))
    for view in (x.view(-1), x.transpose(0, -1), x[..., 1:], x.narrow(-1, 0, 2), x.unsqueeze(0), x.select(-1, 1)):
        before = x._version
        view.fill_(7)
        assert x._version == before + 1
        expected = view.clone()
        same(expected, np.full(tuple(view.shape), 7, np.float32))
    assert x[..., 1].eq(7).all()


@SETTINGS
@given(st.integers(1, 6), st.integers(1, 6), st.integers(-7, 7))
def test_diagonals(m: int, n: int, offset: int) -> None:
    x, a = tensor((m, n)), numbers((m, n))
    same(x.diagonal(offset), a.diagonal(offset))
    same(torch.diag(x, offset), np.diag(a, offset))
    same(torch.diag(x[0], offset), np.diag(a[0], offset))
    same(torch.diag_embed(x, offset)[0], np.diag(a[0], offset))
    same(x.tril(offset), np.tril(a, offset))
    same(x.triu(offset), np.triu(a, offset))


@SETTINGS
@given(st.integers(1, 8), st.integers(0, 8), st.integers(1, 3))
def test_unfold(n: int, size: int, step: int) -> None:
    x = tensor((2, n))
    if size > n:
        with pytest.raises(RuntimeError, match=f"maximum size for tensor at dimension 1 is {n} but size is {size}"):
            x.unfold(1, size, step)
        return
    if size:
        same(x.unfold(1, size, step), np.lib.stride_tricks.sliding_window_view(numbers((2, n)), size, 1)[:, ::step])
    g = x.double().requires_grad_()
    g.unfold(1, size, step).sum().backward()
    counts = np.zeros(n)
    for start in range(0, n - size + 1, step):
        counts[start : start + size] += 1
    same(g.grad, np.broadcast_to(counts, (2, n)))


def test_view_as_another_dtype() -> None:
    x = torch.tensor([1.0, 2.0])
    bits = x.view(torch.int32)
    assert bits.tolist() == [0x3F800000, 0x40000000]
    bits[0] = 0
    assert x.tolist() == [0.0, 2.0] and x._version == 1
    assert torch.zeros(2, 4).view(torch.float64).shape == (2, 2)
    assert torch.zeros(2, 4).view(torch.uint8).shape == (2, 16)


# ------------------------------------------------------------------ the tensor itself becomes the view


def test_in_place_view_ops() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    y = x * 2
    part = y[0]
    assert y.t_() is y and tuple(y.shape) == (3, 2) and y.stride() == (1, 3) and y._version == 1
    assert y.grad_fn.name() == "TBackward1" and part.grad_fn.name() == "AsStridedBackward0"
    y.unsqueeze_(0).squeeze_(0).transpose_(0, 1)
    assert y.grad_fn.name() == "TransposeBackward1" and tuple(y.shape) == (2, 3)
    (y * torch.arange(6.0).view(2, 3)).sum().backward()
    same(x.grad, 2 * numbers((2, 3)))
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        x.t_()
    assert tuple(x.shape) == (2, 3)


def test_a_view_that_changes_its_shape_stays_a_view() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    y = x * 2
    z = y[0]
    z.unsqueeze_(0)
    z.mul_(3)
    (y * torch.arange(6.0).view(2, 3)).sum().backward()
    same(x.grad, [[0, 6, 12], [6, 8, 10]])


# ------------------------------------------------------------------ joined and cut


@SETTINGS
@given(full_shapes, st.lists(st.integers(0, 3), min_size=1, max_size=3), st.data())
def test_cat(shape: tuple[int, ...], lengths: list[int], data: Any) -> None:
    d = data.draw(st.integers(-len(shape), len(shape) - 1))
    parts = []
    for n in lengths:
        s = list(shape)
        s[d] = n
        parts.append(tuple(s))
    same(torch.cat([tensor(s) for s in parts], d), np.concatenate([numbers(s) for s in parts], d))


@SETTINGS
@given(shapes, st.integers(1, 3), st.data())
def test_stack(shape: tuple[int, ...], n: int, data: Any) -> None:
    d = data.draw(st.integers(-len(shape) - 1, len(shape)))
    same(torch.stack([tensor(shape) + i for i in range(n)], d), np.stack([numbers(shape) + i for i in range(n)], d))
    same(torch.hstack([tensor(shape)] * n), np.hstack([numbers(shape)] * n))
    same(torch.vstack([tensor(shape)] * n), np.vstack([numbers(shape)] * n))
    same(torch.dstack([tensor(shape)] * n), np.dstack([numbers(shape)] * n))
    if len(shape) < 3:
        same(torch.column_stack([tensor(shape)] * n), np.column_stack([np.atleast_1d(numbers(shape))] * n))


@SETTINGS
@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 1))
def test_split(n: int, size: int, d: int) -> None:
    x = tensor((n, n))
    a = numbers((n, n))
    for got, want in zip(x.split(size, d), np.split(a, range(size, n, size), d), strict=True):
        same(got, want)
        assert got._base is x
    for got, want in zip(x.tensor_split(size, d), np.array_split(a, size, d), strict=True):
        same(got, want)
    same(torch.cat(x.chunk(size, d), d), a)
    assert all(len(c) == -(-n // size) for c in x.chunk(size, 0)[:-1])
    same(torch.stack(x.unbind(d), d), a)
    same(torch.stack(list(x)), a)


def test_parts_may_not_be_written() -> None:
    x = torch.ones(4, requires_grad=True) * 1
    message = "Output 0 of Split is a view and is being modified inplace"
    with pytest.raises(RuntimeError, match=message):
        x.split(2)[0].mul_(2)
    with torch.no_grad():
        x.split(2)[0].mul_(2)
    assert x.tolist() == [2, 2, 1, 1]


def test_the_cotangent_of_a_part_that_nobody_used_is_zero() -> None:
    x = torch.arange(6.0, requires_grad=True)
    a, b, c = x.split(2)
    (b * 3).sum().backward()
    assert x.grad.tolist() == [0, 0, 3, 3, 0, 0]


def test_cat_promotes_and_gives_each_its_own_dtype_back() -> None:
    a = torch.ones(2, dtype=torch.float32, requires_grad=True)
    b = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y = torch.cat([a, b, torch.tensor([1])])
    assert y.dtype is torch.float64
    y.sum().backward()
    assert a.grad.dtype is torch.float32 and b.grad.dtype is torch.float64


# ------------------------------------------------------------------ copies


@SETTINGS
@given(full_shapes, st.data())
def test_rearranged(shape: tuple[int, ...], data: Any) -> None:
    x, a = tensor(shape), numbers(shape)
    dims = tuple(data.draw(st.sets(st.integers(0, len(shape) - 1))))
    same(x.flip(dims), np.flip(a, dims))
    shifts = tuple(data.draw(st.integers(-9, 9)) for _ in dims)
    if dims:
        same(x.roll(shifts, dims), np.roll(a, shifts, dims))
    same(x.roll(3), np.roll(a, 3))
    counts = tuple(data.draw(st.integers(0, 3)) for _ in shape)
    same(x.repeat(counts), np.tile(a, counts))
    same(x.tile(2), np.tile(a, 2))
    n = data.draw(st.integers(0, 3))
    same(x.repeat_interleave(n, 0), np.repeat(a, n, 0))
    each = data.draw(st.lists(st.integers(0, 3), min_size=shape[0], max_size=shape[0]))
    same(x.repeat_interleave(torch.tensor(each, dtype=torch.int64), 0), np.repeat(a, each, 0))
    if len(shape) > 1:
        for k in range(-4, 5):
            same(x.rot90(k), np.rot90(a, k))


def test_copies_share_nothing() -> None:
    x = tensor((3, 3))
    for y in (x.flip(0), x.roll(1, 0), x.repeat(1, 1), x.tril(), torch.diag(x), x.rot90(0), torch.cat([x])):
        assert not shares(y, x)


# ------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: x.view(5, 5), RuntimeError, "shape '[5, 5]' is invalid for input of size 24"),
        (lambda x: x.view(-1, -1), RuntimeError, "only one dimension can be inferred"),
        (lambda x: x.view(-2, 3), RuntimeError, "invalid shape dimension -2 at index 0 of shape [-2, 3]"),
        (
            lambda x: x.mT.view(24),
            RuntimeError,
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead.",
        ),
        (
            lambda x: x.transpose(0, 5),
            IndexError,
            "Dimension out of range (expected to be in range of [-3, 2], but got 5)",
        ),
        (lambda x: x.permute(0, 0, 1), RuntimeError, "permute(): duplicate dims are not allowed."),
        (lambda x: x.flatten(2, 1), RuntimeError, "flatten() has invalid args: start_dim cannot come after end_dim"),
        (
            lambda x: x.expand(5, 3, 4),
            RuntimeError,
            "The expanded size of the tensor (5) must match the existing size (2) at non-singleton dimension 0.  "
            "Target sizes: [5, 3, 4].  Tensor sizes: [2, 3, 4]",
        ),
        (lambda x: x.narrow(0, 1, 5), RuntimeError, "start (1) + length (5) exceeds dimension size (2)."),
        (lambda x: torch.cat([]), ValueError, "torch.cat(): expected a non-empty list of Tensors"),
        (
            lambda x: torch.cat([x, x[:, :2]]),
            RuntimeError,
            "Sizes of tensors must match except in dimension 0. Expected size 3 but got size 2 for tensor number 1 in "
            "the list.",
        ),
        (
            lambda x: torch.stack([x, x[0]]),
            RuntimeError,
            "stack expects each tensor to be equal size, but got [2, 3, 4] at entry 0 and [3, 4] at entry 1",
        ),
        (
            lambda x: x.split([1, 2]),
            RuntimeError,
            "split_with_sizes expects split_sizes to sum exactly to 2 (input tensor's size at dimension 0), but got "
            "split_sizes=[1, 2]",
        ),
        (lambda x: x.chunk(0), RuntimeError, "chunk expects `chunks` to be greater than 0, got: 0"),
        (lambda x: x[0, 0, 0].unbind(), IndexError, "Dimension specified as 0 but tensor has no dimensions"),
        (lambda x: x.flip(0, 0), RuntimeError, "dim 0 appears multiple times in the list of dims"),
        (
            lambda x: x.as_strided((100,), (1,)),
            RuntimeError,
            "setStorage: sizes [100], strides [1], storage offset 0, and itemsize 4 requiring a storage size of 400 "
            "are out of bounds for storage of size 96",
        ),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    x = tensor((2, 3, 4))
    with pytest.raises(error) as caught:
        call(x)
    assert str(caught.value) == message
    same(x, numbers((2, 3, 4)))
