"""Channels last in memory, through layers and their gradients; memory that processes share."""

# ruff: noqa
import torch, torch.nn as nn, torch.nn.functional as F, torch.multiprocessing as mp

last = torch.channels_last
def train(m):
    with torch.no_grad():
        for p in m.parameters(): p.add_(1.0)
def fill(t): t.fill_(5)
def work(m, todo, done, whole, part):
    whole.add_(1), part.add_(1)
    while (t := todo.get()) is not None:
        train(m)
        t[1:].mul_(2)
        done.put(t[1:])
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
    spawn = mp.get_context("spawn")
    todo, done, whole = spawn.Queue(), spawn.Queue(), torch.zeros(4).share_memory_()
    m = nn.Sequential(nn.Linear(2, 1), nn.BatchNorm1d(1)).share_memory()
    m[0].bias.requires_grad_(False)
    before = [p.detach().clone() for p in m.parameters()]
    p = spawn.Process(target=work, args=(m, todo, done, whole, whole[2:])); p.start()
    t = torch.arange(6.0).view(3, 2).to(torch.bfloat16).share_memory_()
    for sent in (t, t.t()): todo.put(sent); got = done.get(); print(got, got.is_shared(), t)
    got.zero_()
    print(t, [p - b for p, b in zip(m.parameters(), before)])
    todo.put(None); p.join()
    print(whole, whole.untyped_storage().nbytes(), torch.zeros(1 << 19).share_memory_().is_shared(), torch.empty(0).share_memory_().is_shared())
    from multiprocessing.reduction import ForkingPickler
    try: ForkingPickler.dumps(m[0].weight * 2)
    except RuntimeError as e: print(e)
