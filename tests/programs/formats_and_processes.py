"""Channels last in memory, through layers and their gradients; memory that processes share."""

# ruff: noqa
import torch, torch.nn as nn, torch.nn.functional as F, torch.multiprocessing as mp

last = torch.channels_last
def train(m):
    with torch.no_grad():
        for p in m.parameters(): p.add_(1.0)
def fill(t): t.fill_(5)
if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(2, 3, 8, 8).to(memory_format=last)
    conv = nn.Conv2d(3, 4, 3).to(memory_format=last)
    net = nn.Sequential(conv, nn.BatchNorm2d(4), nn.ReLU(), nn.AvgPool2d(2))
    print(conv.weight.stride(), conv.bias.stride())
    for f in (nn.Conv2d(3, 4, 3), nn.Conv2d(3, 3, 3, padding=1, groups=3), nn.ConvTranspose2d(3, 4, 3), nn.BatchNorm2d(3), nn.BatchNorm2d(3).eval(), nn.GroupNorm(3, 3), nn.InstanceNorm2d(3),
              nn.MaxPool2d(2), nn.AvgPool2d(2), nn.ReLU(), nn.GELU(), nn.Upsample(scale_factor=2), conv, net, net.eval()):
        y = f(x)
        print(type(f).__name__, y.stride(), y.is_contiguous(memory_format=last), f"{y.sum().item():.4f}", f(x.contiguous()).stride())
    v = x.clone().requires_grad_()
    net.train()(v).pow(2).sum().backward()
    w = x.contiguous().requires_grad_()
    net.train()(w).pow(2).sum().backward()
    print(v.grad.stride(), torch.allclose(v.grad, w.grad, atol=1e-6))
    m = nn.Linear(2, 2)
    print(m.share_memory() is m, m.weight.is_shared(), torch.ones(1).is_shared())
    before = m.weight.detach().clone()
    workers = [mp.Process(target=train, args=(m,)) for _ in range(2)]
    for p in workers: p.start(); p.join()
    print(m.weight - before)
    t = torch.zeros(3).share_memory_()
    p = mp.Process(target=fill, args=(t,)); p.start(); p.join()
    print(t, t.is_shared(), t[1:].is_shared(), (t + 1).is_shared())
