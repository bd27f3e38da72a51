"""Averaged models, autocast, scaled losses."""

# ruff: noqa
import torch
import torch.amp as A
import torch.optim.swa_utils as S

nn = torch.nn
torch.manual_seed(0)
m = nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Linear(5, 2))
x = torch.randn(8, 4)
for kw in (
    {},
    {"multi_avg_fn": S.get_ema_multi_avg_fn(0.9)},
    {"avg_fn": S.get_ema_avg_fn(0.8)},
    {"use_buffers": True},
):
    a = S.AveragedModel(m, **kw)
    o = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(4):
        o.zero_grad()
        m(x).pow(2).sum().backward()
        o.step()
        a.update_parameters(m)
    S.update_bn([x[:4], x[4:]], a)
    print(
        a.n_averaged,
        [round(p.sum().item(), 4) for p in a.parameters()],
        a.module[1].running_mean,
        list(a.state_dict())[:3],
    )
s = S.SWALR(o, 0.05, 3)
l = []
for i in range(6):
    o.step()
    s.step()
    l.append(o.param_groups[0]["lr"])
print(l)
with torch.autocast("cpu"):
    y = m(x)
    print(
        y.dtype,
        (x @ x.t()).dtype,
        (x + x).dtype,
        nn.functional.mse_loss(y, torch.zeros_like(y)).dtype,
        torch.nn.functional.softmax(x, 1).dtype,
        nn.functional.conv1d(x[None], torch.ones(1, 8, 2)).dtype,
        torch.is_autocast_enabled("cpu"),
    )
    with torch.autocast("cpu", enabled=False):
        print(m(x).dtype)
    print(torch.cat([y, x[:, :2]], 1).dtype)
    loss = nn.functional.cross_entropy(m(x), torch.zeros(8, dtype=torch.long))
loss.backward()
print(m[0].weight.grad.dtype)
print((x @ x.t()).dtype)
g = A.GradScaler("cpu", growth_interval=2)
o = torch.optim.SGD(m.parameters(), lr=0.01)
for i in range(5):
    o.zero_grad()
    l = m(x).pow(2).sum()
    g.scale(l * (float("inf") if i == 3 else 1)).backward()
    if i == 1:
        g.unscale_(o)
    g.step(o)
    g.update()
    print(g.get_scale(), round(m[0].weight.sum().item(), 4))
print(g.state_dict())
