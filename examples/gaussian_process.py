"""Fit a Gaussian process to noisy points: lengthscale, size and noise by the gradient of the marginal likelihood.

    log p(y) = -1/2 y' K^-1 y - 1/2 log det K - n/2 log 2 pi,   all three from one Cholesky factor of K

    tidu run examples/gaussian_process.py --plot gp.png     # or python, with PyTorch
"""

import argparse
import math

import torch
from _show import picture, progress
from torch import nn


class GaussianProcess(nn.Module):
    """A process with the squared exponential kernel; its parameters are positive by softplus."""

    def __init__(self):
        super().__init__()
        self.raw_lengthscale = nn.Parameter(torch.tensor(0.5))
        self.raw_scale = nn.Parameter(torch.tensor(0.5))
        self.raw_noise = nn.Parameter(torch.tensor(-1.0))

    @property
    def hyperparameters(self):
        return [nn.functional.softplus(p) for p in (self.raw_lengthscale, self.raw_scale, self.raw_noise)]

    def kernel(self, a, b):
        lengthscale, scale, _ = self.hyperparameters
        return scale**2 * torch.exp(-0.5 * torch.cdist(a, b).div(lengthscale).square())

    def factor(self, x):
        noise = self.hyperparameters[2]
        return torch.linalg.cholesky(self.kernel(x, x) + (noise**2 + 1e-6) * torch.eye(len(x)))

    def log_marginal_likelihood(self, x, y):
        L = self.factor(x)
        weights = torch.cholesky_solve(y.unsqueeze(1), L).squeeze(1)
        return -0.5 * y @ weights - L.diagonal().log().sum() - 0.5 * len(y) * math.log(2 * math.pi)

    def predict(self, x, y, at):
        L = self.factor(x)
        across = self.kernel(x, at)
        mean = across.T @ torch.cholesky_solve(y.unsqueeze(1), L).squeeze(1)
        v = torch.linalg.solve_triangular(L, across, upper=False)
        return mean, (self.kernel(at, at) - v.T @ v).diagonal().clamp_min(0).sqrt()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--every", type=int, default=25, help="print the loss every so many steps")
    parser.add_argument("--plot", metavar="FILE", help="draw the learning curve and the process into a picture")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    torch.set_default_dtype(torch.float64)
    x = torch.rand(40, 1) * 10 - 5
    y = torch.sin(2 * x.squeeze(1)) + 0.3 * x.squeeze(1) + 0.2 * torch.randn(40)

    model = GaussianProcess()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    losses = []
    bar = progress(range(args.steps), desc="fitting", unit="step")
    for step in bar:
        optimizer.zero_grad()
        loss = -model.log_marginal_likelihood(x, y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        bar.set_postfix(loss=f"{losses[-1]:.3f}")
        if step % args.every == 0 or step == args.steps - 1:
            values = "  ".join(f"{v.item():.5f}" for v in model.hyperparameters)
            print(f"step {step:3d}  -log p {losses[-1]:.6f}  lengthscale, size, noise: {values}")

    at = torch.linspace(-6, 6, 121).unsqueeze(1)
    with torch.no_grad():
        mean, deviation = model.predict(x, y, at)
    for i in (0, 25, 50, 75, 100):
        print(f"f({at[i].item():+.1f}) = {mean[i].item():+.4f} +- {deviation[i].item():.4f}")

    def draw(plt):
        figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
        left.plot(losses)
        left.set(title="- log marginal likelihood", xlabel="step")
        t, m, s = at.squeeze(1).numpy(), mean.numpy(), deviation.numpy()
        right.plot(t, m)
        right.fill_between(t, m - 2 * s, m + 2 * s, alpha=0.25)
        right.plot(x.squeeze(1).numpy(), y.numpy(), "k.")
        right.set(title="mean and two standard deviations")

    picture(args.plot, draw)


if __name__ == "__main__":
    main()
