"""Two towers with the same weights tell whether two handwritten digits are the same."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from sklearn.datasets import load_digits
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(1)


class Pairs(Dataset):
    """Half of the pairs show one digit twice, the others two digits."""

    def __init__(self, images, labels):
        self.images, self.labels = images, labels
        self.groups = [torch.where(labels == digit)[0] for digit in range(10)]

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        digit = int(torch.randint(10, ()))
        same = index % 2 == 0
        other = digit if same else (digit + int(torch.randint(1, 10, ()))) % 10
        one, two = (
            self.images[group[int(torch.randint(len(group), ()))]]
            for group in (self.groups[digit], self.groups[other])
        )
        return one, two, torch.tensor(float(same))


class SiameseNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.tower = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3), nn.ReLU()
        )
        self.fc = nn.Sequential(nn.Linear(2 * 16 * 2 * 2, 32), nn.ReLU(inplace=True), nn.Linear(32, 1))
        self.sigmoid = nn.Sigmoid()
        self.fc.apply(self.init_weights)

    def init_weights(self, m):
        if isinstance(m, nn.Linear):
            torch.nn.init.xavier_uniform_(m.weight)
            m.bias.data.fill_(0.01)

    def forward_once(self, x):
        return torch.flatten(self.tower(x), 1)

    def forward(self, one, two):
        return self.sigmoid(self.fc(torch.cat((self.forward_once(one), self.forward_once(two)), 1)))


digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1).div(16)
labels = torch.tensor(digits.target)
train = DataLoader(Pairs(images[:640], labels[:640]), batch_size=64, shuffle=True, drop_last=True)
test = DataLoader(Pairs(images[1400:1500], labels[1400:1500]), batch_size=50)
model, criterion = SiameseNetwork(), nn.BCELoss()
optimiser = optim.Adadelta(model.parameters(), lr=1.0)
scheduler = StepLR(optimiser, step_size=1, gamma=0.7)

for epoch in range(2):
    model.train()
    for i, (one, two, target) in enumerate(train):
        optimiser.zero_grad()
        loss = criterion(model(one, two).squeeze(), target)
        loss.backward()
        optimiser.step()
        print(f"epoch {epoch} [{i * len(one):3d}/{len(train.dataset)}] loss {loss.item():.6f}")
    model.eval()
    total = correct = 0
    with torch.no_grad():
        for one, two, target in test:
            output = model(one, two).squeeze()
            total += F.binary_cross_entropy(output, target, reduction="sum").item()
            correct += torch.where(output > 0.5, 1, 0).eq(target.view_as(output)).sum().item()
    print(f"test loss {total / len(test.dataset):.6f} correct {correct}/{len(test.dataset)}")
    scheduler.step()
    print("rate", [round(r, 6) for r in scheduler.get_last_lr()])
