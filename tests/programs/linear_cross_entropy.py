"""Cross entropy of a linear map, as one module."""

import torch
import torch.nn as nn

torch.manual_seed(0)
options = nn.LinearCrossEntropyOptions(batch_chunk_size=2, allow_retain_graph=True)
for how in (
    {},
    {"bias": True, "label_smoothing": 0.1, "reduction": "sum"},
    {"weight": torch.rand(5), "ignore_index": 1, "options": options},
):
    m = nn.LinearCrossEntropyLoss(4, 5, **how)
    x = torch.randn(7, 4, requires_grad=True)
    loss = m(x, torch.randint(5, (7,)))
    loss.backward()
    print(m, loss.item(), x.grad, m.linear.weight.grad, list(m.state_dict()))
m = nn.LinearCrossEntropyLoss(4, 5, out_features=(3, 2))
print(m(torch.randn(7, 4), torch.randint(5, (7, 3, 2))))
for how in ({"weight": torch.rand(4)}, {"label_smoothing": 2}):
    try:
        nn.LinearCrossEntropyLoss(4, 5, **how)
    except RuntimeError as error:
        print(error)
