"""lion-pytorch: the sign of the momentum, with decoupled weight decay."""

import torch
from lion_pytorch import Lion

for options in ({}, {"weight_decay": 1e-2, "decoupled_weight_decay": True}):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.GELU(), torch.nn.Linear(12, 1))
    optimizer = Lion(model.parameters(), lr=1e-3, **options)
    x, y = torch.randn(32, 6), torch.randn(32, 1)
    for step in range(20):
        loss = (model(x) - y).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{step:2d} {loss.item():.6f}")
