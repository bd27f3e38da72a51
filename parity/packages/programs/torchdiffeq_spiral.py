"""torchdiffeq: solvers against known solutions, the adjoint method, events, and a network fitted to a spiral."""

import torch
from torch import nn
from torchdiffeq import odeint, odeint_adjoint, odeint_event

torch.manual_seed(0)

print("solvers: y' = -2 y + sin t, y(0) = 1, in double precision")
t = torch.linspace(0.0, 2.0, 9, dtype=torch.float64)
y0 = torch.ones(3, dtype=torch.float64) * torch.tensor([1.0, 2.0, -1.0])
exact = (y0 + 0.2) * torch.exp(-2 * t[:, None]) + 0.4 * torch.sin(t)[:, None] - 0.2 * torch.cos(t)[:, None]
for method in (
    "dopri8", "dopri5", "bosh3", "fehlberg2", "adaptive_heun", "euler", "midpoint", "heun2", "heun3", "rk4",
    "explicit_adams", "implicit_adams", "scipy_solver",
):  # fmt: skip
    options = (
        {"step_size": 0.05}
        if method in ("euler", "midpoint", "heun2", "heun3", "rk4", "explicit_adams", "implicit_adams")
        else None
    )
    if method == "scipy_solver":
        options = {"solver": "LSODA"}
    y = odeint(
        lambda t, y: -2 * y + torch.sin(t), y0, t, method=method, options=options, rtol=1e-8, atol=1e-10
    )
    print(
        f"  {method:15s} error below 1e-{int(-torch.log10((y - exact).abs().max()))} at the end {[round(v, 7) for v in y[-1].tolist()]}"
    )

print("adjoint and direct gradients")


class Linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.A = nn.Parameter(torch.tensor([[-0.1, 2.0], [-2.0, -0.1]], dtype=torch.float64))

    def forward(self, t, y):
        return y**3 @ self.A


f = Linear()
start = torch.tensor([[1.5, 0.3]], dtype=torch.float64, requires_grad=True)
times = torch.linspace(0, 1, 5, dtype=torch.float64, requires_grad=True)
for solve in (odeint, odeint_adjoint):
    y = solve(f, start, times, rtol=1e-9, atol=1e-11)
    gradients = torch.autograd.grad((y * y.detach().cos()).sum(), (f.A, start, times))
    print(" ", solve.__name__, [[round(v, 6) for v in g.flatten().tolist()] for g in gradients])

print("a bouncing ball: the time at which it meets the ground")


class Falling(nn.Module):
    def __init__(self):
        super().__init__()
        self.gravity = nn.Parameter(torch.tensor(9.8))

    def forward(self, t, state):
        height, speed = state
        return speed, -self.gravity * torch.ones_like(height)


ball = Falling()
event_t, event_y = odeint_event(
    ball, (torch.tensor([10.0]), torch.tensor([1.0])), torch.tensor(0.0), event_fn=lambda t, y: y[0].sum(),
    odeint_interface=odeint, atol=1e-8, rtol=1e-8,
)  # fmt: skip
event_t.backward()
print(f"  t {event_t.item():.5f} dt/dg {ball.gravity.grad.item():.5f}")

print("a network for the right side")
true_A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
t = torch.linspace(0.0, 5.0, 100)
with torch.no_grad():
    true_y = odeint(lambda t, y: y**3 @ true_A, torch.tensor([[2.0, 0.0]]), t, method="dopri5")


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 20), nn.Tanh(), nn.Linear(20, 2))

    def forward(self, t, y):
        return self.net(y**3)


for solve in (odeint, odeint_adjoint):
    torch.manual_seed(1)
    field = Field()
    optimizer = torch.optim.RMSprop(field.parameters(), lr=1e-3)
    for step in range(20):
        s = torch.randperm(90)[:6]
        optimizer.zero_grad()
        pred = solve(field, true_y[s], t[:8], method="rk4")
        loss = (pred - torch.stack([true_y[s + i] for i in range(8)])).abs().mean()
        loss.backward()
        optimizer.step()
        print(f"  {solve.__name__} {step:2d} {loss.item():.6f}")
