"""L-BFGS with line search, evaluation by evaluation."""

# ruff: noqa
import torch

nn = torch.nn
O = torch.optim
torch.manual_seed(1)
m = nn.Sequential(nn.Linear(7, 9), nn.Tanh(), nn.Linear(9, 9), nn.Tanh(), nn.Linear(9, 2))
o = O.LBFGS(m.parameters(), line_search_fn="strong_wolfe", max_iter=5)
x = torch.randn(50, 7)
t = torch.randn(50, 2)
n = [0]


def c():
    o.zero_grad()
    l = ((m(x) - t) ** 2).mean()
    l.backward()
    n[0] += 1
    print(n[0], round(l.item(), 5))
    return l


for i in range(5):
    o.step(c)
    print("step", i)
