"""A cubic fitted to a sine in all forms that textbooks go through, from tensors alone to a module of its own."""

import math

import torch
from torch import nn

STEPS = 20
torch.set_printoptions(precision=5)
x = torch.linspace(-math.pi, math.pi, 2000)
y = torch.sin(x)


def report(step, loss, *, every=1):
    if step % every == 0:
        print(f"  {step:3d} {float(loss):.6f}")


def by_hand():
    """Tensors as arrays: the gradient is derived on paper."""
    a, b, c, d = torch.randn(4).tolist()
    rate = 1e-6
    for step in range(STEPS):
        prediction = a + b * x + c * x**2 + d * x**3
        report(step, (prediction - y).pow(2).sum().item())
        g = 2.0 * (prediction - y)
        a -= rate * g.sum().item()
        b -= rate * (g * x).sum().item()
        c -= rate * (g * x**2).sum().item()
        d -= rate * (g * x**3).sum().item()
    print(f"  y = {a:.5f} + {b:.5f} x + {c:.5f} x^2 + {d:.5f} x^3")


def by_autograd():
    a, b, c, d = (torch.randn((), requires_grad=True) for _ in range(4))
    rate = 1e-6
    for step in range(STEPS):
        loss = (a + b * x + c * x**2 + d * x**3 - y).pow(2).sum()
        report(step, loss)
        loss.backward()
        with torch.no_grad():
            for p in (a, b, c, d):
                p -= rate * p.grad
                p.grad = None
    print(f"  y = {a.item():.5f} + {b.item():.5f} x + {c.item():.5f} x^2 + {d.item():.5f} x^3")


class Legendre(torch.autograd.Function):
    """P3(x) = (5x^3 - 3x) / 2 with a backward pass of its own."""

    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return 0.5 * (5 * input**3 - 3 * input)

    @staticmethod
    def backward(ctx, grad):
        (input,) = ctx.saved_tensors
        return grad * 1.5 * (5 * input**2 - 1)


def by_function():
    a, b, c, d = (torch.full((), v, requires_grad=True) for v in (0.0, -1.0, 0.0, 0.3))
    rate = 5e-6
    for step in range(STEPS):
        loss = (a + b * Legendre.apply(c + d * x) - y).pow(2).sum()
        report(step, loss)
        loss.backward()
        with torch.no_grad():
            for p in (a, b, c, d):
                p -= rate * p.grad
                p.grad = None
    print(f"  y = {a.item():.5f} + {b.item():.5f} P3({c.item():.5f} + {d.item():.5f} x)")


def features():
    return x.unsqueeze(-1).pow(torch.tensor([1, 2, 3]))


def by_nn():
    model = nn.Sequential(nn.Linear(3, 1), nn.Flatten(0, 1))
    measure, xx, rate = nn.MSELoss(reduction="sum"), features(), 1e-6
    for step in range(STEPS):
        loss = measure(model(xx), y)
        report(step, loss)
        model.zero_grad()
        loss.backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= rate * p.grad
    print("  bias", model[0].bias, "weight", model[0].weight)


def by_optim():
    model = nn.Sequential(nn.Linear(3, 1), nn.Flatten(0, 1))
    measure, xx = nn.MSELoss(reduction="sum"), features()
    optimiser = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    for step in range(STEPS):
        loss = measure(model(xx), y)
        report(step, loss)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    print(optimiser)


class Cubic(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c, self.d = (nn.Parameter(torch.randn(())) for _ in range(4))

    def forward(self, x):
        return self.a + self.b * x + self.c * x**2 + self.d * x**3


def train(model, steps, every, **options):
    measure = nn.MSELoss(reduction="sum")
    optimiser = torch.optim.SGD(model.parameters(), **options)
    for step in range(steps):
        loss = measure(model(x), y)
        report(step, loss, every=every)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


def by_module():
    model = Cubic()
    train(model, STEPS, 1, lr=1e-6)
    print({name: round(p.item(), 5) for name, p in model.named_parameters()})


class Varying(nn.Module):
    """Terms of the fourth and fifth order that share one weight, and are there or not as chance has it."""

    def __init__(self):
        super().__init__()
        for name in "abcde":
            setattr(self, name, nn.Parameter(torch.randn(())))

    def forward(self, x):
        value = self.a + self.b * x + self.c * x**2 + self.d * x**3
        for exponent in range(4, int(torch.randint(4, 7, ()))):
            value = value + self.e * x**exponent
        return value


def by_control_flow():
    model = Varying()
    train(model, 400, 20, lr=1e-8, momentum=0.9)
    print({name: round(p.item(), 5) for name, p in model.named_parameters()})


for form in (by_hand, by_autograd, by_function, by_nn, by_optim, by_module, by_control_flow):
    torch.manual_seed(0)
    print(form.__name__)
    form()
