"""Train a classifier on handwritten digits: 1797 scans of 8x8 pixels that scikit-learn ships.

A network with one hidden layer, cross-entropy, and stochastic gradient descent with momentum, written out
with tensors so that every step can be seen. Needs scikit-learn (`pip install 'tidu[examples]'`).

    tidu run examples/digits.py --epochs 30     # or python, with PyTorch
"""

import argparse

import torch
import torch.nn.functional as F
from _show import curve, progress
from sklearn.datasets import load_digits


def load(test_size):
    """Pixels in 0..1 and labels, shuffled, as (train, test) pairs."""
    digits = load_digits()
    pixels = torch.from_numpy(digits.data).float() / 16
    labels = torch.from_numpy(digits.target)
    order = torch.randperm(len(labels))
    train, test = order[test_size:], order[:test_size]
    return (pixels[train], labels[train]), (pixels[test], labels[test])


class Network:
    """Two linear layers with a ReLU between them; weights drawn as He et al. propose for ReLU."""

    def __init__(self, inputs, hidden, outputs):
        self.w1 = (torch.randn(inputs, hidden) * (2 / inputs) ** 0.5).requires_grad_()
        self.b1 = torch.zeros(hidden, requires_grad=True)
        self.w2 = (torch.randn(hidden, outputs) * (2 / hidden) ** 0.5).requires_grad_()
        self.b2 = torch.zeros(outputs, requires_grad=True)
        self.parameters = [self.w1, self.b1, self.w2, self.b2]

    def __call__(self, x):
        return torch.relu(x @ self.w1 + self.b1) @ self.w2 + self.b2


@torch.no_grad()
def accuracy(network, pixels, labels):
    return (network(pixels).argmax(dim=1) == labels).float().mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--plot", metavar="FILE", help="draw the learning curve into a picture")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    (pixels, labels), test = load(test_size=397)
    network = Network(64, args.hidden, 10)
    print(f"{len(labels)} digits to learn from, {len(test[1])} to be tested on")
    print(f"accuracy before training: {accuracy(network, *test):.1%}")

    velocities = [torch.zeros_like(p) for p in network.parameters]
    bar = progress(range(args.epochs), desc="training", unit="epoch")
    losses = []
    for _ in bar:
        for batch in torch.randperm(len(labels)).split(args.batch):
            loss = F.cross_entropy(network(pixels[batch]), labels[batch])
            for p in network.parameters:
                p.grad = None
            loss.backward()
            with torch.no_grad():
                for p, v in zip(network.parameters, velocities):
                    v.mul_(args.momentum).add_(p.grad)
                    p -= args.lr * v
        losses.append(loss.item())
        bar.set_postfix(loss=f"{losses[-1]:.4f}")

    print(f"accuracy after training:  {accuracy(network, *test):.1%}")

    # Which digits are taken for which? Row: the true digit, column: the network's answer.
    with torch.no_grad():
        answers = network(test[0]).argmax(dim=1)
    confusion = torch.zeros(10, 10, dtype=torch.int64)
    confusion.index_put_((test[1], answers), torch.tensor(1), accumulate=True)
    print(confusion)
    curve(args.plot, "A network of two layers learns digits", loss=losses)


if __name__ == "__main__":
    main()
