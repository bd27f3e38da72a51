"""Attention over a graph's edges: scores per edge, a softmax over the edges into each node, several heads."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def ring_of_cliques(cliques=6, size=5):
    """Cliques of nodes joined to a ring: every clique is a class."""
    edges = []
    for c in range(cliques):
        first = c * size
        edges += [(first + i, first + j) for i in range(size) for j in range(size)]
        after = (first + size) % (cliques * size)
        edges += [(first, after), (after, first)]
    return torch.tensor(edges).T, torch.arange(cliques).repeat_interleave(size)


class GraphAttention(nn.Module):
    def __init__(self, inputs, outputs, heads, concat=True):
        super().__init__()
        self.heads, self.outputs, self.concat = heads, outputs, concat
        self.linear = nn.Linear(inputs, heads * outputs, bias=False)
        self.from_source = nn.Parameter(torch.empty(1, heads, outputs))
        self.from_target = nn.Parameter(torch.empty(1, heads, outputs))
        for p in (self.linear.weight, self.from_source, self.from_target):
            nn.init.xavier_uniform_(p, gain=1.414)
        self.leaky = nn.LeakyReLU(0.2)

    def forward(self, x, edges):
        source, target = edges
        h = self.linear(x).view(-1, self.heads, self.outputs)
        score = (h * self.from_source).sum(-1)[source] + (h * self.from_target).sum(-1)[target]
        score = self.leaky(score)
        # softmax over the edges that share a target
        index = target.unsqueeze(1).expand_as(score)
        top = score.new_full((len(x), self.heads), float("-inf")).scatter_reduce(0, index, score, "amax")
        weight = (score - top.detach()[target]).exp()
        total = torch.zeros(len(x), self.heads).scatter_add_(0, index, weight)
        attention = F.dropout(weight / (total[target] + 1e-16), 0.2, self.training)
        out = torch.zeros_like(h).index_add(0, target, h[source] * attention.unsqueeze(-1))
        return F.elu(out.flatten(1)) if self.concat else out.mean(1)


class GAT(nn.Module):
    def __init__(self, inputs, hidden, classes):
        super().__init__()
        self.layers = nn.ModuleList(
            [GraphAttention(inputs, hidden, heads=4), GraphAttention(4 * hidden, classes, heads=2, concat=False)]
        )

    def forward(self, x, edges):
        for layer in self.layers:
            x = layer(F.dropout(x, 0.1, self.training), edges)
        return x


torch.manual_seed(3)
edges, label = ring_of_cliques()
x = torch.randn(len(label), 12)
train = torch.arange(0, len(label), 2)
model = GAT(12, 8, 6)
optimiser = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=5e-4)
print(sum(p.numel() for p in model.parameters()), "parameters", edges.shape[1], "edges")
for epoch in range(25):
    model.train()
    optimiser.zero_grad(set_to_none=True)
    loss = F.cross_entropy(model(x, edges)[train], label[train])
    loss.backward()
    optimiser.step()
    model.eval()
    with torch.no_grad():
        output = model(x, edges)
    print(
        f"{epoch:2d} loss {loss.item():.6f} all {F.cross_entropy(output, label).item():.6f} "
        f"right {(output.argmax(1) == label).sum().item()}"
    )
