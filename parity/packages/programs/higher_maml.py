"""higher: gradients through the steps of an inner optimiser, as meta-learning takes them."""

import higher
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 20), nn.ReLU(), nn.Linear(20, 1))
meta = torch.optim.Adam(model.parameters(), lr=1e-2)
for inner in ("SGD", "Adam", "RMSprop"):
    torch.manual_seed(1)
    for step in range(8):
        meta.zero_grad()
        total = 0.0
        optimizer = getattr(torch.optim, inner)(model.parameters(), lr=0.01)
        for _ in range(3):
            phase = torch.rand(1) * 3
            x, xq = torch.randn(10, 1), torch.randn(10, 1)
            with higher.innerloop_ctx(model, optimizer, copy_initial_weights=False) as (fmodel, diffopt):
                for _ in range(3):
                    diffopt.step((fmodel(x) - torch.sin(x + phase)).pow(2).mean())
                loss = (fmodel(xq) - torch.sin(xq + phase)).pow(2).mean()
                loss.backward()
                total += loss.item()
        meta.step()
        print(f"{inner} {step} {total:.6f}")
