"""torchsde: paths of stochastic differential equations, their gradients, and the adjoint method."""

import torch
import torchsde
from torch import nn


class Geometric(nn.Module):
    noise_type, sde_type = "diagonal", "ito"

    def __init__(self, sde_type="ito"):
        super().__init__()
        self.sde_type = sde_type
        self.mu = nn.Parameter(torch.tensor(0.5))
        self.sigma = nn.Parameter(torch.tensor(0.3))

    def f(self, t, y):
        return self.mu * y

    def g(self, t, y):
        return self.sigma * y


ts = torch.linspace(0, 1, 6)
for kind, method in (
    ("ito", "euler"),
    ("ito", "milstein"),
    ("ito", "srk"),
    ("stratonovich", "midpoint"),
    ("stratonovich", "heun"),
    ("stratonovich", "reversible_heun"),
):
    for solve in (torchsde.sdeint, torchsde.sdeint_adjoint):
        if solve is torchsde.sdeint_adjoint and (kind == "ito" or method == "heun"):
            continue
        torch.manual_seed(0)
        sde = Geometric(kind)
        y0 = torch.full((4, 2), 0.7, requires_grad=True)
        bm = torchsde.BrownianInterval(
            0.0, 1.0, size=(4, 2), entropy=7, dtype=torch.float32, levy_area_approximation="space-time"
        )
        ys = solve(sde, y0, ts, bm=bm, method=method, dt=0.05)
        loss = ys[-1].pow(2).mean()
        loss.backward()
        print(kind, method, solve.__name__, [round(v, 5) for v in ys[-1].flatten().tolist()])
        print(
            "  ",
            round(loss.item(), 6),
            round(sde.mu.grad.item(), 5),
            round(sde.sigma.grad.item(), 5),
            round(y0.grad.sum().item(), 5),
        )

print("a drift fitted to an ensemble")


class Neural(nn.Module):
    noise_type, sde_type = "general", "stratonovich"

    def __init__(self):
        super().__init__()
        self.drift = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
        self.spread = nn.Linear(2, 6)

    def f(self, t, y):
        return self.drift(y)

    def g(self, t, y):
        return 0.2 * torch.tanh(self.spread(y)).view(len(y), 2, 3)


torch.manual_seed(1)
sde = Neural()
optimizer = torch.optim.Adam(sde.parameters(), lr=1e-2)
for step in range(12):
    bm = torchsde.BrownianInterval(0.0, 1.0, size=(16, 3), entropy=step)
    ys = torchsde.sdeint_adjoint(sde, torch.ones(16, 2) * 0.5, ts, bm=bm, method="midpoint", dt=0.1)
    loss = (ys.mean(1) - torch.stack([ts.cos(), ts.sin()], 1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"  {step:2d} {loss.item():.6f}")
