"""Sparse tensors: what they are made of, what ops make of them, what flows back to them, and how they print."""

from __future__ import annotations

import warnings
from typing import Any


def each(torch: Any, made: str, lines: str) -> None:
    """Print what each line gives where the statements of `made` have just been carried out."""
    warnings.filterwarnings("ignore", message="Sparse (invariant|CSR)")
    warnings.filterwarnings("ignore", message="torch.sparse.SparseTensor")
    for line in lines.strip().splitlines():
        given = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional}
        try:
            exec(made, given)
            statement, _, shown = line.strip().rpartition("; ")
            exec(statement, given)
            print(eval(shown, given))
        except Exception as error:
            message = str(error)
            # which op it names, and which backends it lists, is PyTorch's own matter
            print(f"{type(error).__name__}: {message if 'Could not run' not in message else 'Could not run'}")


COO = """
i = torch.tensor([[0, 1, 1, 0], [2, 0, 2, 2]])
v = torch.tensor([3.0, 4.0, 5.0, 1.0])
u = torch.sparse_coo_tensor(i, v, (2, 3))  # not coalesced
w = v.clone().requires_grad_()
s = torch.sparse_coo_tensor(i, w, (2, 3))  # with a history
c = s.coalesce()
a = u.clone().requires_grad_()  # a leaf
d = torch.arange(6.0).reshape(3, 2).requires_grad_()
h = torch.sparse_coo_tensor(i, torch.arange(8.0).reshape(4, 2), (2, 3, 2))  # hybrid
"""


def made_of_indices_and_values(torch: Any) -> None:
    each(torch, COO, """
        torch.sparse_coo_tensor([[0, 1], [1, 0]], [1, 2])
        torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2), dtype=torch.float64, requires_grad=True)
        torch.sparse_coo_tensor((2, 3)), torch.sparse_coo_tensor(size=(2, 3))
        torch.sparse_coo_tensor(2, 3)
        torch.sparse_coo_tensor([[0, 5], [1, 0]], [1.0, 2.0], (2, 2))
        torch.sparse_coo_tensor([[0, 5], [1, 0]], [1.0, 2.0], (2, 2), check_invariants=True)
        torch.sparse_coo_tensor([[0, -5], [1, 0]], [1.0, 2.0], (2, 2), check_invariants=True)
        torch.sparse_coo_tensor([[0, -5], [1, 0]], [1.0, 2.0])
        torch.sparse_coo_tensor([0, 1], [1.0, 2.0])
        torch.sparse_coo_tensor([0, 1], [1.0, 2.0], (2,))
        torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0, 3.0], (4,))
        torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (4, 4))
        torch.sparse_coo_tensor([[0, 1]], [[1.0], [2.0]], (4, 4))
        torch.sparse_coo_tensor([[0, 1]], [[1.0], [2.0]], (4, 1))
        torch.sparse_coo_tensor([[0.0, 1]], [1.0, 2.0], (4,))
        torch.sparse_coo_tensor([[0, 1]], 3.0)
        torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (4,), is_coalesced=True).is_coalesced()
        torch.sparse_coo_tensor([[]], [], (4,))
        torch.sparse_coo_tensor(torch.zeros(1, 0).long(), torch.zeros(0, 2), (4, 2))
        torch.sparse_coo_tensor([[0]], [1]).is_coalesced()
        torch.sparse.FloatTensor(i, v, torch.Size([2, 3]))
        torch.sparse.FloatTensor(i, v), torch.sparse.FloatTensor(2, 3), torch.sparse.FloatTensor()
        torch.sparse.DoubleTensor(i, v.double(), torch.Size([2, 3]))
        torch.sparse.FloatTensor
        [isinstance(u, t) for t in (torch.sparse.FloatTensor, torch.sparse.DoubleTensor, torch.FloatTensor, torch.Tensor)]
        torch.sparse.spdiags(torch.ones(2, 3), torch.tensor([0, 1]), (3, 3))
        u.new(2, 3), u.new_zeros(2), torch.zeros_like(u), torch.empty_like(u)
        torch.ones_like(u)
    """)


def what_one_is(torch: Any) -> None:
    each(torch, COO, """
        s
        c
        h
        u.is_sparse, u.is_sparse_csr, u.layout, u.dtype, u.shape, u.size(1), u.dim(), u.ndim, u.numel(), len(u)
        u.sparse_dim(), u.dense_dim(), u._nnz(), u.is_coalesced(), c.is_coalesced(), c._nnz(), h.sparse_dim(), h.dense_dim()
        u.device, u.is_cuda, u.requires_grad, s.requires_grad, s.is_leaf, a.is_leaf, u.element_size(), u.itemsize
        u.type(), torch.is_tensor(u), u.is_floating_point(), u.is_contiguous(), u.stride(), u._is_view(), u._version
        s._values(), s._indices(), c.values(), c.indices()
        s.values()
        s.indices()
        v.values()
        v.indices()
        v.coalesce()
        v._nnz()
        v.crow_indices()
        u.crow_indices()
        u.coalesce() is u, c.coalesce() is c, c.to_sparse() is c, u.to("cpu") is u, u.float() is u, u.detach() is u
        torch.sparse_coo_tensor(i, v.int(), (2, 3)), torch.sparse_coo_tensor(i, v.bool(), (2, 3)).coalesce()
        torch.sparse_coo_tensor(i, v.to(torch.complex64), (2, 3)).coalesce()
        torch.sparse_coo_tensor(torch.arange(2000).reshape(2, 1000), torch.ones(1000), (3000, 3000))
        nn.Parameter(u)
        "%s" % u == str(u) == format(u) == repr(u)
        list(u)
        u.numpy()
        u.tolist()
        u.item()
        bool(u)
        u.data_ptr()
        u.untyped_storage()
        u.nbytes
        u.contiguous()
    """)


def there_and_back(torch: Any) -> None:
    each(torch, COO, """
        s.to_dense(), h.to_dense()
        d.to_sparse()
        d.to_sparse(1)
        torch.tensor(3.0).to_sparse()
        torch.zeros(4, 4).to_sparse(3)
        torch.zeros(4, 4).to_sparse(0)
        d.to_sparse().to_dense().sum().backward(); d.grad
        d.to_sparse(1).to_dense().pow(2).sum().backward(); d.grad
        a.to_dense().sum().backward(); a.grad
        s.to_dense().pow(2).sum().backward(); w.grad
        c.values().pow(2).sum().backward(); w.grad
        a.coalesce().values().sum().backward(); a.grad
        s.double(), s.to(torch.float64).dtype, u.long(), u.bool(), u.to(torch.complex64)
        s.double().to_dense().pow(2).sum().backward(); w.grad
        s.detach(), s.data, s.clone()
        d.t().sparse_mask(c)
        s.sparse_mask(c), u.sparse_mask(u)
        (d.t().sparse_mask(c) * 2).to_dense().sum().backward(); d.grad
        f = io.BytesIO(); torch.save([u, c.detach()], f); f.seek(0); x = torch.load(f); x, [t.is_coalesced() for t in x]
        copy.deepcopy(u), copy.copy(u), pickle.loads(pickle.dumps(u))
    """.replace("f = io", "import io; f = io").replace("copy.deepcopy(u)", "import copy, pickle; copy.deepcopy(u)"))


def elementwise(torch: Any) -> None:
    each(torch, COO, """
        s + s, s - s, s * 2, 2 * s, s * 2.5, s / 2, -s, s // 2
        u + torch.sparse_coo_tensor([[0], [0]], [1], (2, 3)), torch.add(u, u, alpha=2), torch.sub(u, u, alpha=2)
        s * s, c * c, u * c
        u * torch.tensor(2.0), torch.tensor(2.0) * u, u / torch.tensor(2.0), u * torch.ones(3)
        s * torch.ones(2, 3), torch.ones(2, 3) * s
        torch.ones(2, 3) + s, torch.ones(2, 3) - s
        s + torch.ones(2, 3)
        s - torch.ones(2, 3)
        s + 1
        s / torch.ones(2, 3)
        2 / u
        u + torch.sparse_coo_tensor([[0], [0]], [1.0], (2, 2))
        u * torch.sparse_coo_tensor([[0], [0]], [1.0], (2, 2))
        s.abs(), s.sqrt(), s.tanh(), s.relu(), F.relu(s), s.pow(2), s ** 2, s.square(), s.sign(), s.log1p(), s.expm1()
        s.isnan(), s.floor(), s.neg()
        s.exp()
        s.cos()
        s == s
        s.clamp(0, 1)
        s.max()
        s.mean()
        u.any()
        u.mul_(2), u.div_(2), u.neg_(), u.add_(c.detach()), u.sub_(u), u._version
        u.zero_()
        u.abs_()
        u.copy_(c)
        u.copy_(torch.ones(2, 3))
        torch.ones(2, 3).copy_(u)
        a.mul_(2)
        x = torch.ones(2, 3); (x.add_(u, alpha=2), x.sub_(u, alpha=2), x.mul_(u), x._version)
        (a * 2).to_dense().sum().backward(); a.grad
        (a * a).to_dense().sum().backward(); a.grad
        (a + a).to_dense().sum().backward(); a.grad
        e = torch.ones(2, 3, requires_grad=True); (a * e).to_dense().sum().backward(); a.grad, e.grad
        e = torch.ones(2, 3, requires_grad=True); (e + a).sum().backward(); a.grad, e.grad
        s.pow(2).to_dense().sum().backward(); w.grad
        s.relu().to_dense().sum().backward(); w.grad
    """)


def products(torch: Any) -> None:
    each(torch, COO, """
        s @ d, torch.mm(s, d), torch.spmm(s, d), s.mm(d), s.matmul(d)
        torch.sparse.mm(s, d), torch.sparse.mm(u, d)
        torch.mv(s, d[:, 0]), s @ d[:, 0]
        d.t() @ s.t(), torch.ones(3, 2) @ s, F.linear(u, torch.ones(4, 3))
        torch.sparse.mm(c, c.t())
        torch.sparse.addmm(torch.ones(2, 2, requires_grad=True), s, d)
        torch.addmm(torch.ones(2, 2), s, d, beta=2, alpha=3)
        torch.smm(s, d), s.smm(d), torch.hspmm(s, d)
        u @ torch.ones(2, 2)
        torch.sparse.mm(u, torch.ones(2, 2))
        torch.mv(u, torch.ones(2))
        torch.sparse.mm(u, torch.ones(3, 2).double())
        torch.sparse.mm(torch.ones(2, 2), torch.ones(2, 2)), torch.sparse.mm(torch.ones(2, 2), u)
        (a @ d).sum().backward(); a.grad, d.grad
        (a @ d[:, 0]).sum().backward(); a.grad, d.grad
        torch.sparse.mm(a, d).sum().backward(); a.grad, d.grad
        (d.t() @ a.t()).pow(2).sum().backward(); a.grad, d.grad
        torch.sparse.mm(s, d).pow(2).sum().backward(); w.grad, d.grad
        (s @ d).pow(2).sum().backward(); w.grad, d.grad
        torch.sparse.mm(c, c.t()).to_dense().pow(2).sum().backward(); w.grad
        b = torch.ones(2, 2).requires_grad_(); torch.sparse.addmm(b, s, d, beta=2, alpha=3).pow(2).sum().backward(); b.grad, w.grad
        g, = torch.autograd.grad(torch.sparse.mm(u, d).pow(2).sum(), d, create_graph=True); g.sum().backward(); g, d.grad
    """)


def dimensions(torch: Any) -> None:
    each(torch, COO, """
        s.t(), s.transpose(0, 1), s.permute(1, 0), s.T, s.mT, u.H, u.t().t()
        h.transpose(0, 1), h.transpose(0, 2)
        u.transpose(0, 5)
        a.t().to_dense().sum().backward(); a.grad
        s[0], s[0, 2], s[:, 0], h[0], h[:, :, 0], s.unbind(1)
        s[0:1]
        s.index_select(0, torch.tensor([1])), u.index_select(1, torch.tensor([2, 2]))
        torch.cat([s, s]), torch.cat([u, u], 1), torch.stack([s, s]), torch.stack([u, u], 2)
        torch.cat([u, torch.ones(2, 3)])
        s.unsqueeze(0)
        s.view(6)
        s.reshape(6)
        s.expand(2, 2, 3)
        s.narrow(0, 0, 1)
        u.sparse_resize_((3, 3), 2, 0), u.sparse_resize_and_clear_((3, 3), 2, 0)
    """)


def reductions(torch: Any) -> None:
    each(torch, COO, """
        s.sum(), torch.sparse.sum(s), torch.sparse.sum(s, 0), torch.sum(s, 0), s.sum(1, keepdim=True)
        s.sum(dtype=torch.float64), torch.sparse.sum(u, dim=1, dtype=torch.float64), u.sum(dim=(0, 1)), u.norm(), u.norm(1)
        torch.sparse.sum(h, 2), torch.sparse.sum(h, (0, 1)), torch.sparse.sum(h, (0, 2))
        torch.sparse.softmax(s, 1), torch.sparse.log_softmax(s, 0)
        torch.sparse.softmax(torch.ones(2, 2), 1)
        u.norm(dim=0)
        a.sum().backward(); a.grad
        torch.sparse.sum(a).backward(); a.grad
        torch.sparse.sum(a, 0).to_dense().pow(2).sum().backward(); a.grad
        torch.sparse.softmax(s, 1).to_dense().pow(2).sum().backward(); w.grad
        torch.sparse.log_softmax(s, 1).to_dense().sum().backward(); w.grad
    """)


CSR = COO + """
r = torch.sparse_csr_tensor([0, 1, 2], [0, 1], [1.0, 2.0], (2, 3))
"""


def rows(torch: Any) -> None:
    each(torch, CSR, """
        torch.sparse_csr_tensor([0, 1, 2], [0, 1], [1.0, 2.0]), r
        r.to_dense(), r.to_sparse(), r.to_sparse_coo(), r.crow_indices(), r.col_indices(), r.values()
        r.is_sparse, r.is_sparse_csr, r.layout, r._nnz(), r.sparse_dim(), r.shape, r.dtype
        r @ d, torch.sparse.mm(r, d), r @ torch.ones(3)
        r * 2, r.sin(), r + r, r.double(), r.sum()
        u.to_sparse_csr(), u.to_sparse(layout=torch.sparse_csr), d.to_sparse_csr(), s.to_sparse_csr()
        r.indices()
        r.type()
        r.numpy()
        r.exp()
        torch.sparse_csr_tensor([0, 1], [0, 1], [1.0, 2.0], (2, 3), check_invariants=True)
        torch.sparse_csr_tensor([0, 1, 2], [0, 1], [1.0, 2.0], (2, 3), requires_grad=True)
        x = r.clone().requires_grad_(); torch.sparse.mm(x, d).sum().backward(); x.grad, d.grad
        torch.sparse_compressed_tensor([0, 1, 2], [0, 1], [1.0, 2.0], (2, 3), layout=torch.sparse_csr)
    """)


EMBEDDED = """
torch.manual_seed(0)
p = torch.ones(5, 2, requires_grad=True)
at = torch.tensor([1, 1, 2])
def twice(n=2, **kw):
    table = getattr(nn, kw.pop("kind", "Embedding"))(5, 2, sparse=True, **kw)
    for _ in range(n):
        (table(torch.tensor([[1, 3], [1, 0]])) * torch.tensor([1.0, 2.0])).sum().backward()
    return table.weight.grad
"""


def gradients_of_tables(torch: Any) -> None:
    each(torch, EMBEDDED, """
        twice(1), twice(2)
        twice(padding_idx=1)
        twice(scale_grad_by_freq=True)
        twice(kind="EmbeddingBag", mode="sum"), twice(kind="EmbeddingBag", mode="mean")
        twice(1, kind="EmbeddingBag", mode="sum", padding_idx=1)
        twice(kind="EmbeddingBag", mode="max")
        F.embedding(at, p, sparse=True).sum().backward(); (p * 2).sum().backward(); p.grad
        (p * 2).sum().backward(); g = p.grad; F.embedding(at, p, sparse=True).sum().backward(); p.grad, g is p.grad
        (F.embedding(at, p, sparse=True).sum() + (p * 2).sum()).backward(); p.grad
        torch.autograd.grad(F.embedding(at, p, sparse=True).sum(), p)
        torch.autograd.grad(F.embedding(at, p, sparse=True).pow(2).sum(), p, create_graph=True)
        p.register_hook(print); F.embedding(at, p, sparse=True).sum().backward(); p.grad.zero_()
        F.embedding(at, p, sparse=True).sum().backward(); nn.utils.clip_grad_norm_([p], 1.0)
        F.embedding(at, p, sparse=True).sum().backward(); nn.utils.clip_grad_value_([p], 1.0)
        p.grad = torch.sparse_coo_tensor([[1]], torch.ones(1, 2), (5, 2)); p.grad
    """)


STEPS = EMBEDDED + """
def steps(name, **kw):
    opt = getattr(torch.optim, name)([p], **kw)
    for k in range(3):
        opt.zero_grad()
        F.embedding(torch.tensor([1, 1, 2, k]), p, sparse=True).pow(2).sum().backward()
        opt.step()
    return p.detach(), opt.state[p]
def stepped(q):
    torch.optim.SGD([p, q], 0.5).step()
    return p, q
"""


def steps_by_sparse_gradients(torch: Any) -> None:
    each(torch, STEPS, """
        steps("SGD", lr=0.1), steps("SGD", lr=0.1, momentum=0.9)
        steps("SGD", lr=0.1, momentum=0.9, nesterov=True), steps("SGD", lr=0.1, maximize=True)
        steps("SGD", lr=0.1, weight_decay=0.1)
        steps("SparseAdam"), steps("SparseAdam", maximize=True, lr=0.1)
        steps("Adagrad"), steps("Adagrad", lr_decay=0.1, maximize=True)
        steps("Adagrad", weight_decay=0.1)
        steps("Adam")
        steps("AdamW")
        steps("Adamax")
        steps("NAdam")
        steps("RAdam")
        steps("RMSprop")
        steps("Rprop")
        steps("ASGD")
        steps("Adadelta")
        steps("Adafactor")
        steps("Muon")
        p.sum().backward(); torch.optim.SparseAdam([p]).step()
        torch.optim.SparseAdam([torch.sparse_coo_tensor([[0]], [1.0]).requires_grad_()])
        F.embedding(at, p, sparse=True).sum().backward(); torch.optim.SGD([p]).zero_grad(set_to_none=False); p.grad
        q = torch.ones(2, requires_grad=True); (F.embedding(at, p, sparse=True).sum() + q.sum()).backward(); stepped(q)
    """)


def checked_by_differences(torch: Any) -> None:
    each(torch, COO + "u = u.double().coalesce().requires_grad_()\no = torch.ones(3, 2, dtype=torch.float64)", """
        torch.autograd.gradcheck(lambda x: torch.sparse.mm(x, o), [u], masked=True)
        torch.autograd.gradcheck(lambda x: torch.sparse.softmax(x, 1).to_dense(), [u], masked=True)
        torch.autograd.gradcheck(lambda x: x.to_dense(masked_grad=False), [u])
        torch.autograd.gradcheck(lambda x: torch.sparse.mm(x, o), [u], raise_exception=False)
    """)


def compared(torch: Any) -> None:
    each(torch, CSR + "close = torch.testing.assert_close", """
        close(u, u * 1)
        close(u, c)
        close(u, u * 2)
        close(u, torch.sparse_coo_tensor(i.flip(1), v, (2, 3)))
        close(u, u.to_dense())
        close(u, u.to_dense(), check_layout=False)
        close(r, r * 2)
        close(r, torch.sparse_csr_tensor([0, 1, 2], [0, 2], [1.0, 2.0], (2, 3)))
        close([u], [u.double()])
    """)


def gradients_kept(torch: Any) -> None:
    each(torch, COO, """
        a.to_dense().sum().backward(); a.to_dense().sum().backward(); a.grad, a.grad.is_coalesced()
        a.to_dense().sum().backward(); (a @ torch.ones(3, 1)).sum().backward(); a.grad
        (a @ torch.ones(3, 1)).sum().backward(); a.to_dense().sum().backward(); a.grad
        b = a * 2; b.retain_grad(); b.to_dense().sum().backward(); b.grad
        h = a.register_hook(lambda g: print(g.layout)); a.to_dense().sum().backward(); a.grad * 1
        torch.autograd.grad(torch.sparse.mm(a, torch.ones(3, 2)).sum(), a)
        a.backward(u); a.grad
        (a * 2).backward(c.detach()); a.grad
        (a * 2).backward(torch.ones(2, 3)); a.grad
        torch.autograd.functional.jacobian(lambda w: torch.sparse_coo_tensor(i, w, (2, 3)).to_dense().pow(2).sum(), v)
        torch.func.grad(lambda w: torch.sparse.mm(torch.sparse_coo_tensor(i, w, (2, 3)), torch.ones(3, 1)).pow(2).sum())(v)
    """)


def halves_and_others(torch: Any) -> None:
    each(torch, COO, """
        [(u.to(t), (u.to(t) * 2).to_dense(), u.to(t).coalesce()) for t in (torch.float16, torch.bfloat16, torch.int32)]
        u.to(torch.bfloat16) @ torch.ones(3, 2, dtype=torch.bfloat16)
        u.long() @ torch.ones(3, 2).long(), u.int().sum()
        u.cfloat() @ torch.ones(3, 1).cfloat(), (u.cfloat() * 1j).to_dense()
        torch.zeros(2, 3).to_sparse(), torch.zeros(2, 3).to_sparse() @ torch.ones(3, 1), torch.zeros(0, 3).to_sparse()
        [t.is_coalesced() for t in (u.t(), c.t(), u * u, c * c, c + c, c * 2, c.abs(), torch.cat([c, c]), c[0])]
        c.index_select(0, torch.tensor([0, 1])).is_coalesced(), u.to_sparse_csr().to_sparse().is_coalesced()
    """)
