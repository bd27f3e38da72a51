"""A network for the right side of a differential equation, learnt from a spiral; gradients by the adjoint equation."""

import torch
import torch.nn as nn


def rk4(f, t0, t1, y):
    """One step of Runge and Kutta's rule (its 3/8 form) for y' = f(t, y); y a tensor or a tuple of tensors."""
    h = t1 - t0

    def add(y, *terms):
        return tuple(a + h * sum(c * k[i] for c, k in terms) for i, a in enumerate(y))

    k1 = f(t0, y)
    k2 = f(t0 + h / 3, add(y, (1 / 3, k1)))
    k3 = f(t0 + h * 2 / 3, add(y, (1, k2), (-1 / 3, k1)))
    k4 = f(t1, add(y, (1, k1), (-1, k2), (1, k3)))
    return add(y, (0.125, k1), (0.375, k2), (0.375, k3), (0.125, k4))


class Solve(torch.autograd.Function):
    """The states at all times; backward runs the adjoint equation back in time and keeps no path."""

    @staticmethod
    def forward(ctx, func, t, y0, *parameters):
        ctx.func = func
        path = [y0]
        with torch.no_grad():
            for t0, t1 in zip(t[:-1], t[1:]):
                path.append(rk4(lambda t, y: (func(t, y[0]),), t0, t1, (path[-1],))[0])
        path = torch.stack(path)
        ctx.save_for_backward(t, path, *parameters)
        return path

    @staticmethod
    def backward(ctx, grad):
        t, path, *parameters = ctx.saved_tensors
        func = ctx.func

        def adjoint(time, state):
            y, a, *_ = state
            with torch.enable_grad():
                y = y.detach().requires_grad_()
                dy = func(time, y)
                products = torch.autograd.grad(dy, (y, *parameters), -a, allow_unused=True)
            return (dy.detach(), *(p if p is not None else torch.zeros_like(q) for p, q in zip(products, (y, *parameters))))

        with torch.no_grad():
            a, sums = grad[-1], [torch.zeros_like(p) for p in parameters]
            for i in range(len(t) - 1, 0, -1):
                _, a, *sums = rk4(adjoint, t[i], t[i - 1], (path[i], a, *sums))
                a = a + grad[i - 1]
        return None, None, a, *sums


def odeint_adjoint(func, y0, t):
    return Solve.apply(func, t, y0, *func.parameters())


def odeint(func, y0, t):
    path = [y0]
    for t0, t1 in zip(t[:-1], t[1:]):
        path.append(rk4(lambda t, y: (func(t, y[0]),), t0, t1, (path[-1],))[0])
    return torch.stack(path)


class Spiral(nn.Module):
    A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])

    def forward(self, t, y):
        return torch.mm(y**3, self.A)


class ODEFunc(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 2))
        for m in self.net.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, mean=0, std=0.1)
                nn.init.constant_(m.bias, val=0)

    def forward(self, t, y):
        return self.net(y**3)


t = torch.linspace(0.0, 10.0, 200)
true_y0 = torch.tensor([[2.0, 0.0]])
with torch.no_grad():
    true_y = odeint(Spiral(), true_y0, t)

for solver in (odeint, odeint_adjoint):
    torch.manual_seed(0)
    func = ODEFunc()
    optimiser = torch.optim.RMSprop(func.parameters(), lr=1e-3)
    print(solver.__name__)
    for step in range(20):
        start = torch.randperm(190)[:8]
        batch = torch.stack([true_y[start + i] for i in range(8)])
        optimiser.zero_grad()
        loss = (solver(func, true_y[start].squeeze(1), t[:8]) - batch.squeeze(2)).abs().mean()
        loss.backward()
        optimiser.step()
        print(f"  {step:2d} loss {loss.item():.6f}")
    with torch.no_grad():
        print(f"  whole path {(odeint(func, true_y0, t) - true_y).abs().mean().item():.6f}")
