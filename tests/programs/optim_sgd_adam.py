"""SGD, Adam, AdamW: updates, options, groups, states, errors, recorded steps."""

# ruff: noqa
import copy

import torch

nn = torch.nn


def run(mk, steps=5, dt=torch.float32, n=3):
    torch.manual_seed(1)
    m = nn.Sequential(nn.Linear(7, 9), nn.Tanh(), nn.Linear(9, 9), nn.Tanh(), nn.Linear(9, 2)).to(dt)
    big = nn.Parameter(torch.randn(300, 70).to(dt))
    opt = mk([*m.parameters(), big])
    x = torch.randn(5, 7).to(dt)
    t = torch.randn(5, 2).to(dt)
    for i in range(steps):

        def closure():
            opt.zero_grad()
            loss = ((m(x) - t) ** 2).mean() + (big**2).mean() * 0.3
            loss.backward()
            return loss

        loss = opt.step(closure)
    print(
        loss.item().__round__(5),
        [round(p.sum().item(), 5) for p in m.parameters()],
        round(big.sum().item(), 3),
    )
    sd = opt.state_dict()
    print(sd["param_groups"])
    print(
        list(sd["state"])[:2],
        [
            (k, v.shape if isinstance(v, torch.Tensor) else v, v.dtype)
            for k, v in sd["state"].get(0, {}).items()
        ],
    )
    opt.load_state_dict(sd)
    opt.step(closure)
    print([round(p.sum().item(), 5) for p in m.parameters()])
    o2 = copy.deepcopy(opt)
    return opt


O = torch.optim
print(run(lambda p: O.SGD(p, lr=0.1)))
run(lambda p: O.SGD(p, lr=0.1, momentum=0.9))
run(lambda p: O.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1))
run(lambda p: O.SGD(p, lr=0.1, momentum=0.9, dampening=0.5, maximize=True))
run(lambda p: O.SGD(p, lr=0.1, maximize=True), dt=torch.float64)
run(lambda p: O.Adam(p, lr=0.1))
print(run(lambda p: O.Adam(p, lr=0.1, amsgrad=True, weight_decay=0.1)))
run(lambda p: O.AdamW(p, lr=0.1))
run(lambda p: O.AdamW(p, lr=0.1, maximize=True), dt=torch.float64)
run(lambda p: O.Adam(p, lr=torch.tensor(0.1)))
for f in [
    lambda: O.SGD([]),
    lambda: O.SGD(torch.zeros(1)),
    lambda: O.SGD([3]),
    lambda: O.SGD([torch.zeros(1)], lr=-1),
    lambda: O.Adam([torch.zeros(1)], betas=(1.0, 0.0)),
    lambda: O.SGD([torch.ones(1, requires_grad=True) * 2]),
    lambda: O.SGD({torch.zeros(1)}),
    lambda: O.SGD([torch.zeros(1)], nesterov=True),
    lambda: O.SGD([torch.zeros(1)]).load_state_dict({"state": {}, "param_groups": []}),
]:
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)
# differentiable
x = torch.tensor(2.0, requires_grad=True)
lr = torch.tensor(0.3, requires_grad=True)
for mk in (
    lambda p: O.SGD(p, lr=lr, differentiable=True),
    lambda p: O.Adam(p, lr=lr, differentiable=True),
):
    p = x.clone()
    p.retain_grad()
    opt = mk([p])
    x.grad = lr.grad = None
    p.grad = x**3
    opt.step()
    p.backward()
    print(p, x.grad, lr.grad)
