"""Train a variational autoencoder on handwritten digits, and draw new ones from it.

The encoder gives mean and log-variance of a normal distribution, z = mean + exp(logvar / 2) * noise carries the
gradient through the draw, and the loss is the reconstruction's cross-entropy and the divergence from N(0, 1).

    tidu run examples/vae.py --epochs 20 --plot vae.png     # or python, with PyTorch
"""

import argparse

import torch
from _show import picture, progress
from sklearn.datasets import load_digits
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


class VAE(nn.Module):
    def __init__(self, pixels=64, hidden=96, latent=8):
        super().__init__()
        self.fc1 = nn.Linear(pixels, hidden)
        self.fc21 = nn.Linear(hidden, latent)
        self.fc22 = nn.Linear(hidden, latent)
        self.fc3 = nn.Linear(latent, hidden)
        self.fc4 = nn.Linear(hidden, pixels)

    def encode(self, x):
        h = F.relu(self.fc1(x))
        return self.fc21(h), self.fc22(h)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + torch.randn_like(std) * std

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x):
        mu, logvar = self.encode(x)
        return self.decode(self.reparameterize(mu, logvar)), mu, logvar


def loss_function(reconstructed, x, mu, logvar):
    cross_entropy = F.binary_cross_entropy(reconstructed, x, reduction="sum")
    divergence = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return cross_entropy + divergence


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--every", type=int, default=25, help="print the loss every so many batches")
    parser.add_argument("--plot", metavar="FILE", help="draw the learning curve, and new digits, into a picture")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    pixels = torch.tensor(load_digits().data, dtype=torch.float32) / 16
    train, test = pixels[:1500], pixels[1500:]
    loader = DataLoader(TensorDataset(train), batch_size=args.batch, shuffle=True)
    model = VAE()
    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    curve = []
    for epoch in progress(range(1, args.epochs + 1), desc="training", unit="epoch"):
        model.train()
        total = 0.0
        for batch, (x,) in enumerate(loader):
            optimizer.zero_grad()
            loss = loss_function(*_in_order(model, x))
            loss.backward()
            total += loss.item()
            optimizer.step()
            if batch % args.every == 0:
                print(f"epoch {epoch} [{batch * args.batch:4d}/{len(train)}]  loss {loss.item() / len(x):.5f}")
        model.eval()
        with torch.no_grad():
            curve.append(loss_function(*_in_order(model, test)).item() / len(test))
        print(f"epoch {epoch} average loss {total / len(train):.4f}, test {curve[-1]:.4f}")

    with torch.no_grad():
        drawn = F.pad(model.decode(torch.randn(16, 8)).view(4, 4, 8, 8), (1, 1, 1, 1))

    def draw(plt):
        figure, (left, right) = plt.subplots(1, 2, figsize=(8, 4))
        left.plot(range(1, len(curve) + 1), curve)
        left.set(title="test loss", xlabel="epoch")
        right.imshow(drawn.permute(0, 2, 1, 3).reshape(40, 40).numpy(), cmap="gray_r")
        right.set(title="new digits", xticks=[], yticks=[])

    picture(args.plot, draw)


def _in_order(model, x):
    reconstructed, mu, logvar = model(x)
    return reconstructed, x, mu, logvar


if __name__ == "__main__":
    main()
