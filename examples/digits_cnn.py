"""Train a convolutional network on handwritten digits: the recipe of MNIST tutorials, on the digits of scikit-learn.

Two convolutions, pooling, dropout, two linear layers; Adadelta, with a rate that falls after each epoch.

    tidu run examples/digits_cnn.py --epochs 6 --plot cnn.png     # or python, with PyTorch
"""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from _show import curve, progress
from sklearn.datasets import load_digits
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, 1, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, 1)
        self.dropout1 = nn.Dropout(0.25)
        self.dropout2 = nn.Dropout(0.5)
        self.fc1 = nn.Linear(288, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = F.max_pool2d(x, 2)
        x = self.dropout1(x)
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        x = self.dropout2(x)
        return F.log_softmax(self.fc2(x), dim=1)


def train(args, model, loader, optimizer, epoch):
    model.train()
    losses = []
    for batch, (data, target) in enumerate(loader):
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if batch % args.every == 0:
            print(f"epoch {epoch} [{batch * len(data):4d}/{len(loader.dataset)}]  loss {loss.item():.6f}")
    return losses


def test(model, loader):
    model.eval()
    loss, correct = 0.0, 0
    with torch.no_grad():
        for data, target in loader:
            output = model(data)
            loss += F.nll_loss(output, target, reduction="sum").item()
            correct += output.argmax(dim=1, keepdim=True).eq(target.view_as(output.argmax(1, True))).sum().item()
    n = len(loader.dataset)
    print(f"test: average loss {loss / n:.4f}, accuracy {correct}/{n}")
    return loss / n


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--lr", type=float, default=1.0)
    parser.add_argument("--gamma", type=float, default=0.7)
    parser.add_argument("--every", type=int, default=20, help="print the loss every so many batches")
    parser.add_argument("--plot", metavar="FILE", help="draw the learning curve into a picture")
    parser.add_argument("--save", metavar="FILE", help="save the weights")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    images = (images - images.mean()) / images.std()
    data = TensorDataset(images, torch.tensor(digits.target))
    cut = 1400
    learn, check = torch.utils.data.random_split(data, [cut, len(data) - cut])
    train_loader = DataLoader(learn, batch_size=args.batch, shuffle=True)
    test_loader = DataLoader(check, batch_size=200)

    model = Net()
    optimizer = optim.Adadelta(model.parameters(), lr=args.lr)
    scheduler = StepLR(optimizer, step_size=1, gamma=args.gamma)
    losses, tests = [], ([], [])
    bar = progress(range(1, args.epochs + 1), desc="training", unit="epoch")
    for epoch in bar:
        losses += train(args, model, train_loader, optimizer, epoch)
        tests[0].append(len(losses))
        tests[1].append(test(model, test_loader))
        bar.set_postfix(test=f"{tests[1][-1]:.4f}")
        scheduler.step()
    if args.save:
        torch.save(model.state_dict(), args.save)
    curve(args.plot, "A convolutional network learns digits", training=losses, test=tests)


if __name__ == "__main__":
    main()
