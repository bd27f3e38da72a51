"""A generator and a discriminator of small pictures, convolutional, each with an optimiser of its own."""

import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
NOISE, GEN, DISC = 16, 8, 8


def pictures(n, size=16):
    """Discs of any radius anywhere, in -1..1."""
    grid = torch.arange(size).float()
    centre, radius = 4 + 8 * torch.rand(n, 2, 1, 1), 2 + 3 * torch.rand(n, 1, 1)
    distance = ((grid[:, None] - centre[:, 0]) ** 2 + (grid - centre[:, 1]) ** 2).sqrt()
    return torch.tanh(2 * (radius - distance)).unsqueeze(1)


def weights_init(m):
    name = m.__class__.__name__
    if name.find("Conv") != -1:
        nn.init.normal_(m.weight, 0.0, 0.02)
    elif name.find("BatchNorm") != -1:
        nn.init.normal_(m.weight, 1.0, 0.02)
        nn.init.zeros_(m.bias)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(NOISE, GEN * 2, 4, 1, 0, bias=False),
            nn.BatchNorm2d(GEN * 2),
            nn.ReLU(True),
            nn.ConvTranspose2d(GEN * 2, GEN, 4, 2, 1, bias=False),
            nn.BatchNorm2d(GEN),
            nn.ReLU(True),
            nn.ConvTranspose2d(GEN, 1, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, input):
        return self.main(input)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(1, DISC, 4, 2, 1, bias=False),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(DISC, DISC * 2, 4, 2, 1, bias=False),
            nn.BatchNorm2d(DISC * 2),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(DISC * 2, 1, 4, 1, 0, bias=False),
            nn.Sigmoid(),
        )

    def forward(self, input):
        return self.main(input).view(-1, 1).squeeze(1)


netG, netD = Generator(), Discriminator()
netG.apply(weights_init)
netD.apply(weights_init)
print(netG)
print(netD)

criterion = nn.BCELoss()
fixed_noise = torch.randn(4, NOISE, 1, 1)
optimiserD = optim.Adam(netD.parameters(), lr=0.002, betas=(0.5, 0.999))
optimiserG = optim.Adam(netG.parameters(), lr=0.002, betas=(0.5, 0.999))
loader = DataLoader(TensorDataset(pictures(320)), batch_size=32, shuffle=True)

for epoch in range(2):
    for i, (real,) in enumerate(loader):
        netD.zero_grad()
        label = torch.full((len(real),), 1.0)
        output = netD(real)
        errD_real = criterion(output, label)
        errD_real.backward()
        D_x = output.mean().item()

        fake = netG(torch.randn(len(real), NOISE, 1, 1))
        label.fill_(0.0)
        output = netD(fake.detach())
        errD_fake = criterion(output, label)
        errD_fake.backward()
        D_G_z1 = output.mean().item()
        optimiserD.step()

        netG.zero_grad()
        label.fill_(1.0)
        output = netD(fake)
        errG = criterion(output, label)
        errG.backward()
        D_G_z2 = output.mean().item()
        optimiserG.step()
        print(
            f"[{epoch}][{i}] Loss_D {errD_real.item() + errD_fake.item():.5f} Loss_G {errG.item():.5f} "
            f"D(x) {D_x:.5f} D(G(z)) {D_G_z1:.5f} / {D_G_z2:.5f}"
        )

netG.eval()
with torch.no_grad():
    print("mean brightness of four fakes", [round(v, 4) for v in netG(fixed_noise).mean((1, 2, 3)).tolist()])
