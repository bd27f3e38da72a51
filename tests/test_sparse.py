"""Sparse tensors: what PyTorch prints for the programs of behaviour/sparse.py, and what they are beneath."""

import subprocess
import sys

import numpy as np
import pytest
from behaviour import programs, recorded, text_of

import tidu as torch

PRINTED = recorded("sparse")


@pytest.mark.parametrize("name", programs("sparse"))
def test_prints_what_pytorch_prints(name):
    assert text_of(programs("sparse")[name], torch) == PRINTED[name]


def test_every_program_was_recorded():
    assert list(programs("sparse")) == list(PRINTED)


def made(n, m, nnz, seed=0, **kw):
    rng = np.random.default_rng(seed)
    at = torch.tensor(np.stack([rng.integers(n, size=nnz), rng.integers(m, size=nnz)]))
    return torch.sparse_coo_tensor(at, torch.tensor(rng.standard_normal(nnz)), (n, m), **kw)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: x + x, lambda x: x - x.t().t() * 3, lambda x: x * 2.5, lambda x: -x / 4, lambda x: x.sin() * x,
        lambda x: x.tanh(), lambda x: x.pow(3), lambda x: x.t(), lambda x: x.sum(0), lambda x: x.sum(1, keepdim=True),
        lambda x: x[2], lambda x: x.index_select(1, torch.tensor([3, 3, 0])), lambda x: torch.cat([x, x * 2], 1),
        lambda x: torch.stack([x, x]), lambda x: x.unsqueeze(1), lambda x: x * torch.arange(5.0).double(),
        lambda x: x @ torch.arange(10.0).double().reshape(5, 2), lambda x: x @ torch.arange(5.0).double(),
        lambda x: torch.arange(8.0).double().reshape(2, 4) @ x, lambda x: torch.sparse.mm(x, x.t()),
        lambda x: x.to_sparse_csr() @ torch.ones(5, 1).double(), lambda x: x.to_sparse_csr().to_dense(),
        lambda x: torch.ones(4, 5).double() + x, lambda x: torch.ones(4, 5).double() - x,
        lambda x: torch.sparse.addmm(torch.ones(4, 1).double(), x, torch.ones(5, 1).double(), beta=2, alpha=3),
        lambda x: x.norm(), lambda x: x.unbind(0)[1], lambda x: x[1, 2] * x,
    ],
)  # fmt: skip
@pytest.mark.parametrize("coalesced", [False, True])
def test_values_and_gradients_are_those_of_dense_tensors(fn, coalesced):
    x = made(4, 5, 9)
    x = x.coalesce() if coalesced else x
    dense = x.to_dense().requires_grad_()
    leaf = x._values().clone().requires_grad_()
    got = fn(torch.sparse_coo_tensor(x._indices(), leaf, x.shape, is_coalesced=coalesced)).to_dense()
    with np.errstate(all="ignore"):
        want = dense_of(fn, dense)
    torch.testing.assert_close(got, want)
    weights = torch.arange(float(want.numel())).reshape(want.shape).double()
    (got * weights).sum().backward()
    (want * weights).sum().backward()
    torch.testing.assert_close(leaf.grad, dense.grad[tuple(x._indices())])


def dense_of(fn, dense):
    """The same on dense tensors, where `torch.sparse`'s products are dense ones."""
    return fn(dense).to_dense()


def test_a_second_derivative_goes_through_values():
    v = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    d = torch.tensor([[1.0], [2.0]], requires_grad=True)
    x = torch.sparse_coo_tensor([[0, 1, 1], [1, 0, 1]], v, (2, 2))
    (g,) = torch.autograd.grad(torch.sparse.mm(x, d).pow(2).sum(), v, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), d)
    a = x.detach().to_dense().requires_grad_()
    (k,) = torch.autograd.grad((a @ d).pow(2).sum(), a, create_graph=True)
    (want,) = torch.autograd.grad((k * (a.detach() != 0)).sum(), d)
    torch.testing.assert_close(h, want)


def test_a_product_is_kept_and_follows_what_is_written():
    x, d = made(4, 5, 9).coalesce(), torch.ones(5, 2).double()
    first = x @ d
    x._values().mul_(2)
    torch.testing.assert_close(x @ d, first * 2)
    torch.testing.assert_close(x.t() @ torch.ones(4).double(), x.to_dense().t() @ torch.ones(4).double())


def test_written_values_are_noticed_in_backward():
    x, d = made(4, 5, 9), torch.ones(5, 2).double().requires_grad_()
    y = (x @ d).sum()
    x._values().mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_a_graph_is_freed():
    d = torch.ones(5, 2).double().requires_grad_()
    y = (made(4, 5, 9) @ d).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        y.backward()


def test_samples_of_vmap_and_duals_meet_sparse_matrices():
    x = made(4, 5, 9)
    batch = torch.arange(15.0).double().reshape(3, 5)
    torch.testing.assert_close(torch.vmap(lambda v: x @ v)(batch), batch @ x.to_dense().t())
    _, t = torch.func.jvp(lambda v: (x @ v).sin(), (batch[0],), (batch[1],))
    dense = x.to_dense()
    torch.testing.assert_close(t, (dense @ batch[0]).cos() * (dense @ batch[1]))
    torch.testing.assert_close(torch.func.grad(lambda v: (x @ v).sum())(batch[0]), dense.sum(0))


def test_arrays_do_not_become_dense():
    n = 1_000_000
    at = torch.arange(3).repeat(2, 1) * 1000
    x = torch.sparse_coo_tensor(at, torch.ones(3), (n, n))
    y = (x * 2 + x).t().coalesce()
    assert y._nnz() == 3 and y.sum().item() == 9 and (x @ torch.ones(n, 1)).sum().item() == 3
    assert torch.sparse.mm(x, x.t())._nnz() == 3 and torch.sparse.softmax(x, 1)._nnz() == 3


def test_modules_keep_sparse_buffers(tmp_path):
    class Graph(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("adj", made(4, 5, 9))

    state = Graph().state_dict()
    torch.save(state, tmp_path / "m.pt")
    other = torch.load(tmp_path / "m.pt")["adj"]
    assert other.is_sparse and not other.is_coalesced() and repr(other) == repr(state["adj"])
    assert Graph().double().adj.dtype is torch.float64 and Graph().to("cpu").adj.is_sparse


@pytest.mark.parametrize("name", ["csc", "bsr", "bsc"])
def test_other_layouts_are_said_to_be_lacking(name):
    for call in (getattr(torch.eye(2), "to_sparse_" + name), getattr(torch, f"sparse_{name}_tensor")):
        with pytest.raises(NotImplementedError, match=f"not torch.sparse_{name}"):
            call()


def test_importing_the_library_leaves_sparse_tensors_out():
    code = "import sys, tidu; tidu.ones(2).sum(); assert 'tidu.ops.coo' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_invariants_are_checked_where_asked():
    check = torch.sparse.check_sparse_tensor_invariants
    with check(True):
        assert check.is_enabled()
        with pytest.raises(RuntimeError, match="found index 5"):
            torch.sparse_coo_tensor([[5]], [1.0], (2,))
    assert not check.is_enabled() and torch.sparse_coo_tensor([[5]], [1.0], (2,))._nnz() == 1


def test_sparse_added_in_place_to_a_table_touches_rows_and_history():
    table, rows = torch.nn.Parameter(torch.ones(3, 2)), torch.sparse_coo_tensor([[1]], [[2.0, 3.0]], (3, 2))
    with torch.no_grad():
        before = table._version
        assert table.add_(rows, alpha=-1) is table and table._version == before + 1
    assert table.tolist() == [[1.0, 1.0], [-1.0, -2.0], [1.0, 1.0]]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        table.add_(rows)
    x, s = torch.ones(3, 2).requires_grad_() * 1, rows.requires_grad_()
    x.add_(s, alpha=3).sum().backward()
    assert s.grad.tolist() == [[3.0, 3.0]] * 3
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        torch.ones(3, 2, dtype=torch.int64).add_(rows.detach())
