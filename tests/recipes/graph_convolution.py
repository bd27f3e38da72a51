"""Semi-supervised classes of a graph's nodes: graph convolution over an index of edges, and over a dense matrix."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def community_graph(nodes=90, classes=3, features=24):
    """A graph in which nodes of a class are linked more often, with features that only hint at the class."""
    label = torch.arange(nodes) % classes
    same = label[:, None] == label
    links = torch.triu(torch.rand(nodes, nodes) < torch.where(same, 0.25, 0.02), 1)
    hint = F.one_hot(label, features).float()
    return label, (links | links.T).float(), hint + 0.8 * torch.randn(nodes, features)


def normalised(adjacency):
    """D^-1/2 (A + I) D^-1/2."""
    a = adjacency + torch.eye(len(adjacency))
    root = a.sum(1).pow(-0.5)
    return root[:, None] * a * root


class GraphConvolution(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.empty(outputs))
        bound = 1.0 / math.sqrt(outputs)
        self.weight.data.uniform_(-bound, bound)
        self.bias.data.uniform_(-bound, bound)

    def forward(self, x, graph):
        support = torch.mm(x, self.weight)
        if isinstance(graph, tuple):
            source, target, strength = graph
            messages = support[source] * strength.unsqueeze(1)
            out = torch.zeros_like(support).index_add_(0, target, messages)
        else:
            out = graph @ support
        return out + self.bias

    def extra_repr(self):
        return f"{self.weight.shape[0]} -> {self.weight.shape[1]}"


class GCN(nn.Module):
    def __init__(self, inputs, hidden, classes, dropout):
        super().__init__()
        self.gc1, self.gc2 = GraphConvolution(inputs, hidden), GraphConvolution(hidden, classes)
        self.dropout = dropout

    def forward(self, x, graph):
        x = F.relu(self.gc1(x, graph))
        x = F.dropout(x, self.dropout, training=self.training)
        return F.log_softmax(self.gc2(x, graph), dim=1)


def accuracy(output, labels):
    return output.max(1)[1].type_as(labels).eq(labels).double().mean().item()


torch.manual_seed(42)
label, adjacency, x = community_graph()
dense = normalised(adjacency)
source, target = dense.nonzero(as_tuple=True)
edges = (source, target, dense[source, target])
print(len(label), "nodes", len(source), "edges")
train, test = torch.arange(0, 30), torch.arange(30, 90)

for name, graph in (("dense", dense), ("edges", edges)):
    torch.manual_seed(0)
    model = GCN(x.shape[1], 16, 3, 0.5)
    print(name, model)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for epoch in range(20):
        model.train()
        optimiser.zero_grad()
        output = model(x, graph)
        loss = F.nll_loss(output[train], label[train])
        loss.backward()
        optimiser.step()
        model.eval()
        output = model(x, graph)
        print(
            f"  {epoch:2d} loss {loss.item():.6f} test loss {F.nll_loss(output[test], label[test]).item():.6f} "
            f"accuracy {accuracy(output[test], label[test]):.4f}"
        )
