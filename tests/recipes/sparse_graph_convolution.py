"""Graph convolution over a sparse adjacency matrix, three ways: Kipf and Welling's recipe from a SciPy matrix, PyTorch's
example with a tensor made of coordinates, and a sparse attention whose products have a Function of their own."""

import math

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parameter import Parameter


def community_graph(nodes=90, classes=3, features=24, seed=1):
    """A graph in which nodes of a class are linked more often, with features that only hint at the class."""
    rng = np.random.RandomState(seed)
    label = np.arange(nodes) % classes
    same = label[:, None] == label
    links = np.triu(rng.rand(nodes, nodes) < np.where(same, 0.25, 0.02), 1)
    edges = np.stack(np.nonzero(links), 1)
    adj = sp.coo_matrix((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(nodes, nodes), dtype=np.float32)
    adj = adj + adj.T.multiply(adj.T > adj) - adj.multiply(adj.T > adj)
    features = np.eye(features)[label] + 0.8 * rng.randn(nodes, features)
    return label, adj, sp.csr_matrix(features, dtype=np.float32)


def normalize(mx):
    """Row-normalize sparse matrix"""
    rowsum = np.array(mx.sum(1))
    r_inv = np.power(rowsum, -1).flatten()
    r_inv[np.isinf(r_inv)] = 0.0
    return sp.diags(r_inv).dot(mx)


def sparse_mx_to_torch_sparse_tensor(sparse_mx):
    sparse_mx = sparse_mx.tocoo().astype(np.float32)
    indices = torch.from_numpy(np.vstack((sparse_mx.row, sparse_mx.col)).astype(np.int64))
    values = torch.from_numpy(sparse_mx.data)
    return torch.sparse.FloatTensor(indices, values, torch.Size(sparse_mx.shape))


def coordinates(adj):
    """The symmetrically normalised adjacency as PyTorch's example makes it: coordinates, degrees, products."""
    adj = torch.from_numpy(adj.toarray()).to_sparse()
    n = adj.size(0)
    eye = torch.sparse_coo_tensor(torch.arange(n).repeat(2, 1), torch.ones(n), (n, n))
    adj = (adj + eye).coalesce()
    degree = torch.sparse.sum(adj, dim=1).to_dense().pow(-0.5)
    i, j = adj.indices()
    return torch.sparse_coo_tensor(adj.indices(), adj.values() * degree[i] * degree[j], adj.size(), dtype=torch.float32)


class GraphConvolution(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.weight = Parameter(torch.FloatTensor(in_features, out_features))
        if bias:
            self.bias = Parameter(torch.FloatTensor(out_features))
        else:
            self.register_parameter("bias", None)
        stdv = 1.0 / math.sqrt(self.weight.size(1))
        self.weight.data.uniform_(-stdv, stdv)
        if self.bias is not None:
            self.bias.data.uniform_(-stdv, stdv)

    def forward(self, input, adj):
        support = torch.mm(input, self.weight)
        output = torch.spmm(adj, support)
        return output if self.bias is None else output + self.bias


class GCN(nn.Module):
    def __init__(self, nfeat, nhid, nclass, dropout, layer=GraphConvolution):
        super().__init__()
        self.gc1, self.gc2 = layer(nfeat, nhid), layer(nhid, nclass)
        self.dropout = dropout

    def forward(self, x, adj):
        x = F.relu(self.gc1(x, adj))
        x = F.dropout(x, self.dropout, training=self.training)
        return F.log_softmax(self.gc2(x, adj), dim=1)


class SpecialSpmmFunction(torch.autograd.Function):
    """A product that differentiates by the values of the sparse factor alone."""

    @staticmethod
    def forward(ctx, indices, values, shape, b):
        assert not indices.requires_grad
        a = torch.sparse_coo_tensor(indices, values, shape)
        ctx.save_for_backward(a, b)
        ctx.N = shape[0]
        return torch.matmul(a, b)

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        grad_values = grad_b = None
        if ctx.needs_input_grad[1]:
            grad_a_dense = grad_output.matmul(b.t())
            edge_idx = a._indices()[0, :] * ctx.N + a._indices()[1, :]
            grad_values = grad_a_dense.view(-1)[edge_idx]
        if ctx.needs_input_grad[3]:
            grad_b = a.t().matmul(grad_output)
        return None, grad_values, None, grad_b


class SpGraphAttentionLayer(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.W = nn.Parameter(torch.zeros(size=(in_features, out_features)))
        nn.init.xavier_normal_(self.W.data, gain=1.414)
        self.a = nn.Parameter(torch.zeros(size=(1, 2 * out_features)))
        nn.init.xavier_normal_(self.a.data, gain=1.414)

    def forward(self, input, adj):
        n = input.size()[0]
        edge = adj.to_dense().nonzero().t()
        h = torch.mm(input, self.W)
        edge_h = torch.cat((h[edge[0, :], :], h[edge[1, :], :]), dim=1).t()
        edge_e = torch.exp(-F.leaky_relu(self.a.mm(edge_h).squeeze(), 0.2))
        rowsum = SpecialSpmmFunction.apply(edge, edge_e, torch.Size([n, n]), torch.ones(size=(n, 1)))
        h_prime = SpecialSpmmFunction.apply(edge, edge_e, torch.Size([n, n]), h)
        return h_prime.div(rowsum)


class LearnedStrengths(nn.Module):
    """A layer whose edges have strengths of their own, normalised by a sparse softmax."""

    def __init__(self, in_features, out_features, edges=None):
        super().__init__()
        self.lin = nn.Linear(in_features, out_features)
        self.strength = nn.Parameter(torch.zeros(edges))

    def forward(self, x, adj):
        graph = torch.sparse_coo_tensor(adj.indices(), adj.values() + self.strength, adj.size())
        return torch.sparse.mm(torch.sparse.softmax(graph, dim=1), self.lin(x))


def accuracy(output, labels):
    preds = output.max(1)[1].type_as(labels)
    correct = preds.eq(labels).double()
    return correct.sum() / len(labels)


labels, adj, features = community_graph()
kipf = sparse_mx_to_torch_sparse_tensor(normalize(adj + sp.eye(adj.shape[0])))
features = torch.FloatTensor(np.array(normalize(features).todense()))
labels = torch.LongTensor(labels)
symmetric = coordinates(adj).coalesce()
idx_train, idx_test = torch.LongTensor(range(30)), torch.LongTensor(range(30, 90))
print(kipf.shape, kipf._nnz(), kipf.is_sparse, kipf.layout, symmetric.is_coalesced())

models = {
    "kipf": (kipf, GraphConvolution),
    "example": (symmetric, GraphConvolution),
    "attention": (symmetric, SpGraphAttentionLayer),
    "strengths": (symmetric, lambda i, o: LearnedStrengths(i, o, symmetric._nnz())),
}
for name, (graph, layer) in models.items():
    torch.manual_seed(0)
    model = GCN(features.shape[1], 16, 3, 0.5, layer)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for epoch in range(15):
        model.train()
        optimizer.zero_grad()
        output = model(features, graph)
        loss_train = F.nll_loss(output[idx_train], labels[idx_train])
        loss_train.backward()
        optimizer.step()
        model.eval()
        output = model(features, graph)
        loss_test = F.nll_loss(output[idx_test], labels[idx_test])
        print(
            f"{name} {epoch:2d} loss {loss_train.item():.6f} test loss {loss_test.item():.6f} "
            f"accuracy {accuracy(output[idx_test], labels[idx_test]).item():.4f}"
        )

# Vectors of the nodes, trained on the links alone: sparse gradients of a table.
torch.manual_seed(0)
rows, cols = symmetric.indices()
for optimizer_of in (torch.optim.SparseAdam, torch.optim.Adagrad, torch.optim.SGD):
    table = nn.Embedding(len(labels), 8, sparse=True)
    optimizer = optimizer_of(table.parameters(), lr=0.05)
    for step in range(10):
        pick = torch.randint(len(rows), (64,))
        other = torch.randint(len(labels), (64,))
        u, v, w = table(rows[pick]), table(cols[pick]), table(other)
        loss = -F.logsigmoid((u * v).sum(1)).mean() - F.logsigmoid(-(u * w).sum(1)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{optimizer_of.__name__} {step} loss {loss.item():.6f} rows {table.weight.grad.coalesce()._nnz()}")
