"""Fit a small neural network to one period of a noisy sine, with nothing but tensors and backward().

    python examples/fit_curve.py --steps 300        # with PyTorch
    tidu run examples/fit_curve.py --steps 300      # without it
"""

import argparse
import math

import torch


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--hidden", type=int, default=16)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    x = torch.linspace(-math.pi, math.pi, 64).unsqueeze(1)
    y = torch.sin(x) + 0.05 * torch.randn(64, 1)

    w1 = torch.randn(1, args.hidden, requires_grad=True)
    b1 = torch.zeros(args.hidden, requires_grad=True)
    w2 = (torch.randn(args.hidden, 1) / math.sqrt(args.hidden)).requires_grad_()
    b2 = torch.zeros(1, requires_grad=True)
    parameters = [w1, b1, w2, b2]

    for step in range(args.steps):
        prediction = torch.tanh(x @ w1 + b1) @ w2 + b2
        loss = ((prediction - y) ** 2).mean()
        for p in parameters:
            p.grad = None
        loss.backward()
        with torch.no_grad():
            for p in parameters:
                p -= args.lr * p.grad
        if step % (args.steps // 5 or 1) == 0:
            print(f"step {step:4d}   loss {loss.item():.4f}")

    with torch.no_grad():
        points = torch.tensor([[-1.5], [0.0], [1.5]])
        fitted = torch.tanh(points @ w1 + b1) @ w2 + b2
    print("at", points.flatten().tolist(), "the curve is")
    print(fitted.flatten())


if __name__ == "__main__":
    main()
