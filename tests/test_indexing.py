"""Reading and writing by indices, masks and keys of every form, and order: against NumPy and known facts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tidu as torch

SETTINGS = settings(max_examples=60, deadline=None)
SHAPE = (3, 4, 5)
A = np.arange(60, dtype=np.float32).reshape(SHAPE)


def tensor() -> Any:
    return torch.from_numpy(A.copy())


def same(t: Any, a: Any) -> None:
    a = np.asarray(a)
    assert tuple(t.shape) == a.shape
    np.testing.assert_array_equal(t.detach().numpy(), a)


# ------------------------------------------------------------------ keys


def slices(n: int) -> st.SearchStrategy[slice]:
    ends = st.none() | st.integers(-n - 2, n + 2)
    return st.builds(slice, ends, ends, st.none() | st.integers(1, 3))


@st.composite
def basic_keys(draw: Any) -> tuple[Any, ...]:
    """A key of integers, slices, None and Ellipsis."""
    key: list[Any] = []
    taken = draw(st.integers(0, 3))
    for n in SHAPE[:taken]:
        key.append(draw(st.integers(-n, n - 1) | slices(n)))
    for _ in range(draw(st.integers(0, 2))):
        key.insert(draw(st.integers(0, len(key))), None)
    if draw(st.booleans()):
        key.append(Ellipsis)
    return tuple(key)


@st.composite
def tensor_keys(draw: Any) -> tuple[Any, ...]:
    """A key with at least one array of indices or mask among slices, as NumPy and PyTorch read alike."""
    size = draw(st.integers(1, 3))
    key: list[Any] = []
    for n in SHAPE:
        index = st.lists(st.integers(-n, n - 1), min_size=size, max_size=size).map(lambda v: np.array(v, np.int64))
        key.append(draw(index | slices(n)))
    if not any(isinstance(k, np.ndarray) for k in key):
        n = SHAPE[0]
        key[0] = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    return tuple(key)


def torch_key(key: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(torch.from_numpy(k) if isinstance(k, np.ndarray) else k for k in key)


@SETTINGS
@given(basic_keys())
def test_basic_keys_give_views(key: tuple[Any, ...]) -> None:
    x = tensor()
    y = x[key]
    same(y, A[key])
    assert y._is_view() and y._base is x
    if y.numel():
        assert np.shares_memory(y.numpy(), x.numpy())
    recorded = tensor().requires_grad_()[key]
    same(recorded, A[key])
    if recorded.numel():
        recorded.sum().backward()


@SETTINGS
@given(basic_keys())
def test_basic_keys_write(key: tuple[Any, ...]) -> None:
    expected = A.copy()
    expected[key] = -1
    x = tensor()
    x[key] = -1
    same(x, expected)
    leaf = tensor().requires_grad_()
    y = leaf * 1
    y[key] = -1.0
    same(y, expected)
    y.sum().backward()
    passed = np.ones(SHAPE)
    passed[key] = 0
    same(leaf.grad, passed)


@SETTINGS
@given(tensor_keys())
def test_tensor_keys(key: tuple[Any, ...]) -> None:
    x = tensor().requires_grad_()
    y = x[torch_key(key)]
    same(y, A[key])
    assert not y._is_view()
    g = np.arange(y.numel(), dtype=np.float32).reshape(y.shape) + 1
    y.backward(torch.from_numpy(g))
    expected = np.zeros(SHAPE, np.float32)
    np.add.at(expected, key, g)
    same(x.grad, expected)


@SETTINGS
@given(tensor_keys())
def test_tensor_keys_write(key: tuple[Any, ...]) -> None:
    expected = A.copy()
    expected[key] = -2
    x = tensor()
    x[torch_key(key)] = -2
    same(x, expected)
    leaf = tensor().requires_grad_()
    y = leaf * 1
    y[torch_key(key)] = -2.0
    same(y, expected)
    y.sum().backward()
    passed = np.ones(SHAPE)
    passed[key] = 0
    same(leaf.grad, passed)
    added = A.copy()
    np.add.at(added, key, np.float32(1))
    values = torch.ones(A[key].shape)
    indices = torch_key(tuple(np.arange(n)[k] if isinstance(k, slice) else k for n, k in zip(SHAPE, key, strict=True)))
    if all(isinstance(k, np.ndarray) for k in key):
        same(tensor().index_put(indices, values, accumulate=True), added)


def test_integers_are_applied_before_tensors() -> None:
    x = tensor()
    i = torch.tensor([0, 1])
    assert tuple(x[i, :, 0].shape) == (2, 4)
    assert tuple(x[0, :, i].shape) == (4, 2)  # NumPy puts the indexed dimension first
    assert tuple(x[i, None, :, i].shape) == (2, 1, 4)


def test_other_keys() -> None:
    x = tensor()
    same(x[True], A[True])
    same(x[False], A[False])
    same(x[[0, 2]], A[[0, 2]])
    same(x[[True, False, True]], A[[True, False, True]])
    same(x[torch.tensor(1)], A[1])
    assert x[torch.tensor(1)]._is_view()
    same(x[np.array([0, 1])], A[[0, 1]])
    same(x[np.int64(1)], A[1])
    same(x[range(2)], A[:2])
    same(x[A > 30], A[A > 30])
    same(x[[[0, 1], [1, 2]]], A[[0, 1], [1, 2]])  # a list that holds more than numbers stands for a tuple
    same(x[[]], A[:0])
    same(x[[[]]], np.zeros((0, 4, 5)))
    with pytest.warns(UserWarning, match="indexing with dtype torch.uint8 is now deprecated"):
        same(x[torch.tensor([1, 0, 1], dtype=torch.uint8)], A[[0, 2]])


def test_adding_in_place() -> None:
    x = tensor()
    x[0] += 1
    x[:, 1] *= 2
    x[torch.tensor([1, 1])] += 1
    expected = A.copy()
    expected[0] += 1
    expected[:, 1] *= 2
    expected[[1, 1]] += 1
    same(x, expected)


def test_indices_changed_before_backward_are_noticed() -> None:
    x = tensor().requires_grad_()
    i = torch.tensor([0, 1])
    for y in (x[i], x[:, i], x[i, i], x.index_select(0, i), x.gather(0, i.view(2, 1, 1))):
        i += 0
        with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
            y.sum().backward()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: x[5], IndexError, "index 5 is out of bounds for dimension 0 with size 3"),
        (lambda x: x[:, -6], IndexError, "index -6 is out of bounds for dimension 1 with size 4"),
        (lambda x: x[0, 0, 0, 0], IndexError, "too many indices for tensor of dimension 3"),
        (lambda x: x[::-1], ValueError, "step must be greater than zero"),
        (
            lambda x: x[1.0],
            IndexError,
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got "
            "float)",
        ),
        (lambda x: x[x], IndexError, "tensors used as indices must be long, int, byte or bool tensors"),
        (lambda x: x[torch.tensor([3])], IndexError, "index 3 is out of bounds for dimension 0 with size 3"),
        (
            lambda x: x[torch.tensor([True, False])],
            IndexError,
            "The shape of the mask [2] at index 0 does not match the shape of the indexed tensor [3, 4, 5] at index 0",
        ),
        (
            lambda x: x[torch.tensor([0, 1]), torch.tensor([0, 1, 2])],
            IndexError,
            "shape mismatch: indexing tensors could not be broadcast together with shapes [2], [3]",
        ),
        (
            lambda x: x[0, 0, 0][0],
            IndexError,
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
            "0-dim tensor to a number",
        ),
        (lambda x: x.__setitem__(0, [1]), TypeError, "can't assign a list to a torch.FloatTensor"),
        (
            lambda x: x.__setitem__(0, torch.ones(7)),
            RuntimeError,
            "The expanded size of the tensor (5) must match the existing size (7) at non-singleton dimension 1.  "
            "Target sizes: [4, 5].  Tensor sizes: [7]",
        ),
        (
            lambda x: x.__setitem__(torch.tensor([0]), torch.ones(7)),
            RuntimeError,
            "shape mismatch: value tensor of shape [7] cannot be broadcast to indexing result of shape [1, 4, 5]",
        ),
        (
            lambda x: x.__setitem__(torch.tensor([0]), torch.ones(5).double()),
            RuntimeError,
            "Index put requires the source and destination dtypes match, got Float for the destination and Double for "
            "the source.",
        ),
        (lambda x: x.__delitem__(0), TypeError, "Tensor does not support deleting items"),
        (
            lambda x: x.gather(0, torch.tensor([0])),
            RuntimeError,
            "Index tensor must have the same number of dimensions as input tensor",
        ),
        (
            lambda x: x.gather(1, torch.full((1, 1, 1), 4)),
            RuntimeError,
            "index 4 is out of bounds for dimension 1 with size 4",
        ),
        (lambda x: x.index_select(0, torch.tensor([3])), IndexError, "index out of range in self"),
        (
            lambda x: x.scatter(0, torch.zeros(1, 1, 1, dtype=torch.int64), torch.ones(1, 1, 1).double()),
            RuntimeError,
            "scatter(): Expected self.dtype to be equal to src.dtype",
        ),
        (
            lambda x: x.index_add_(0, torch.tensor([0, 7, 1]), x.clone()),
            RuntimeError,
            "index 7 is out of bounds for dimension 0 with size 3",
        ),
        (lambda x: x.masked_select(x), RuntimeError, "masked_select: expected BoolTensor for mask"),
        (lambda x: x.topk(6), RuntimeError, "selected index k out of range"),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    x = tensor()
    with pytest.raises(error) as caught:
        call(x)
    assert str(caught.value) == message
    same(x, A)
    assert x._version == 0


# ------------------------------------------------------------------ along a dimension


@st.composite
def along(draw: Any) -> tuple[int, np.ndarray]:
    """A dimension, and indices into it no larger than the rest."""
    d = draw(st.integers(0, 2))
    shape = [draw(st.integers(1, n)) for n in SHAPE]
    shape[d] = draw(st.integers(1, 6))
    seed = draw(st.integers(0, 99))
    return d, np.random.default_rng(seed).integers(0, SHAPE[d], shape)


def places(d: int, index: np.ndarray) -> tuple[Any, ...]:
    return tuple(index if i == d else g for i, g in enumerate(np.indices(index.shape, sparse=True)))


@SETTINGS
@given(along())
def test_gather_and_scatter(case: tuple[int, np.ndarray]) -> None:
    d, index = case
    key, k = places(d, index), torch.from_numpy(index)
    src = -np.arange(1, index.size + 1, dtype=np.float32).reshape(index.shape)
    x, s = tensor().requires_grad_(), torch.from_numpy(src).requires_grad_()
    y = x.gather(d, k)
    same(y, A[key])
    y.sum().backward()
    counts = np.zeros(SHAPE)
    np.add.at(counts, key, 1)
    same(x.grad, counts)
    put = A.copy()
    put[key] = src
    same(x.scatter(d, k, s), put)
    added = A.copy()
    np.add.at(added, key, src)
    total = x.scatter_add(d, k, s)
    same(total, added)
    (total * tensor()).sum().backward()
    same(s.grad, A[key])
    for how, ufunc in (("sum", np.add), ("amax", np.maximum), ("amin", np.minimum)):
        combined = A.copy()
        ufunc.at(combined, key, src)
        same(tensor().scatter_reduce_(d, k, s.detach(), how), combined)
    y = tensor()
    assert y.scatter_(d, k, 9.0) is y and y._version == 1
    filled = A.copy()
    filled[key] = 9
    same(y, filled)


@SETTINGS
@given(st.integers(0, 2), st.lists(st.integers(0, 2), min_size=1, max_size=5))
def test_slices_by_number(d: int, numbers: list[int]) -> None:
    k = torch.tensor(numbers)
    same(tensor().index_select(d, k), A.take(numbers, d))
    source = A.take(numbers, d) + 1
    added = np.moveaxis(A.copy(), d, 0)
    np.add.at(added, numbers, np.moveaxis(source, d, 0) * 2)
    same(tensor().index_add(d, k, torch.from_numpy(source), alpha=2), np.moveaxis(added, 0, d))
    filled = np.moveaxis(A.copy(), d, 0)
    filled[numbers] = 7
    same(tensor().index_fill_(d, k, 7), np.moveaxis(filled, 0, d))
    same(tensor().take(k), A.reshape(-1)[numbers])


@SETTINGS
@given(st.integers(0, 99))
def test_masks(seed: int) -> None:
    mask = np.random.default_rng(seed).random(SHAPE) < 0.4
    m = torch.from_numpy(mask)
    x = tensor().requires_grad_()
    y = x.masked_select(m)
    same(y, A[mask])
    y.sum().backward()
    same(x.grad, mask)
    expected = A.copy()
    expected[mask] = np.arange(mask.sum())
    same(tensor().masked_scatter(m, torch.arange(60.0)), expected)
    same(m.nonzero(), np.argwhere(mask))
    for got, want in zip(m.nonzero(as_tuple=True), mask.nonzero(), strict=True):
        same(got, want)


def test_writes_in_place_are_recorded() -> None:
    x = torch.zeros(3, requires_grad=True)
    s = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * 1).index_copy_(0, torch.tensor([2, 0]), s)
    assert y.tolist() == [2, 0, 1] and y.grad_fn.name() == "IndexCopyBackward0"
    (y * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [0, 10, 0] and s.grad.tolist() == [100, 1]


# ------------------------------------------------------------------ order


@SETTINGS
@given(st.integers(0, 99), st.integers(0, 2), st.booleans())
def test_sort(seed: int, d: int, descending: bool) -> None:
    a = np.random.default_rng(seed).integers(0, 4, SHAPE).astype(np.float32)
    if seed % 3 == 0:
        a[0, 0, 0] = np.nan
    values, indices = torch.from_numpy(a).sort(d, descending)
    order = np.argsort(a, d, kind="stable")
    if descending:  # NaN first, equal elements in their order
        flipped = np.argsort(np.flip(a, d), d, kind="stable")
        order = np.flip(a.shape[d] - 1 - flipped, d)
    same(indices, order)
    same(values, np.take_along_axis(a, order, d))


@SETTINGS
@given(st.integers(0, 99), st.integers(1, 300), st.booleans(), st.data())
def test_topk_and_kthvalue(seed: int, n: int, largest: bool, data: Any) -> None:
    a = np.random.default_rng(seed).permutation(2 * n).reshape(2, n).astype(np.float32)
    k = data.draw(st.integers(1, n))
    x = torch.from_numpy(a).requires_grad_()
    values, indices = x.topk(k, largest=largest)
    ordered = np.sort(a, 1)[:, ::-1] if largest else np.sort(a, 1)
    same(values, ordered[:, :k])
    same(x.detach().gather(1, indices), ordered[:, :k])
    values.sum().backward()
    assert x.grad.sum() == 2 * k
    same(x.kthvalue(k)[0], np.sort(a, 1)[:, k - 1])


def test_mode_is_the_smallest_of_the_most_frequent() -> None:
    values, indices = torch.tensor([[2, 2, 1, 1, 3], [5, 4, 4, 5, 5]]).mode()
    assert values.tolist() == [1, 5] and indices.tolist() == [3, 4]


def test_named_results_print_as_pytorch_prints_them() -> None:
    text = repr(torch.tensor([2, 1]).sort())
    assert text == "torch.return_types.sort(\nvalues=tensor([1, 2]),\nindices=tensor([1, 0]))"


@SETTINGS
@given(st.lists(st.integers(-3, 3), max_size=12))
def test_unique(numbers: list[int]) -> None:
    x = torch.tensor(numbers, dtype=torch.int64)
    got = torch.unique(x, return_inverse=True, return_counts=True)
    want = np.unique(np.array(numbers, np.int64), return_inverse=True, return_counts=True)
    for t, a in zip(got, want, strict=True):
        same(t, a)
    runs, inverse, counts = x.unique_consecutive(return_inverse=True, return_counts=True)
    same(runs[inverse] if numbers else runs, numbers)
    assert counts.sum() == len(numbers)
    assert all(runs[:-1] != runs[1:])


def test_unique_slices() -> None:
    x = torch.tensor([[1, 0], [0, 1], [1, 0]])
    rows, inverse, counts = torch.unique(x, dim=0, return_inverse=True, return_counts=True)
    assert rows.tolist() == [[0, 1], [1, 0]] and inverse.tolist() == [1, 0, 1] and counts.tolist() == [1, 2]


@SETTINGS
@given(st.lists(st.integers(0, 9), min_size=1, max_size=9), st.lists(st.integers(-1, 10)), st.booleans())
def test_searchsorted(bounds: list[int], values: list[int], right: bool) -> None:
    b = np.sort(bounds)
    found = np.searchsorted(b, values, "right" if right else "left")
    same(torch.searchsorted(torch.from_numpy(b), torch.tensor(values, dtype=torch.int64), right=right), found)
    rows = torch.from_numpy(np.stack([b, b + 1]))
    each = torch.tensor([values, [v + 1 for v in values]], dtype=torch.int64)
    same(torch.searchsorted(rows, each, right=right), np.stack([found, found]))


@SETTINGS
@given(st.lists(st.integers(0, 6), max_size=20))
def test_counting(numbers: list[int]) -> None:
    x = torch.tensor(numbers, dtype=torch.int64)
    same(torch.bincount(x, minlength=3), np.bincount(np.array(numbers, np.int64), minlength=3))
    same(torch.isin(x, torch.tensor([1, 5])), np.isin(numbers, [1, 5]))
    same(torch.histc(x.double(), 4, 0, 6), np.histogram(numbers, 4, (0, 6))[0])
    hist, edges = torch.histogram(x.double(), 4, range=(0.0, 6.0))
    same(hist, np.histogram(numbers, 4, (0, 6))[0])
    same(edges, np.linspace(0, 6, 5))
