"""The other optimisers: updates, options, complex parameters, recorded steps, errors."""

# ruff: noqa
import torch

nn = torch.nn
O = torch.optim


def run(mk, steps=5, dt=torch.float32, two=False):
    torch.manual_seed(1)
    m = nn.Sequential(
        nn.Linear(7, 9, bias=not two),
        nn.Tanh(),
        nn.Linear(9, 9, bias=not two),
        nn.Tanh(),
        nn.Linear(9, 2, bias=not two),
    ).to(dt)
    big = nn.Parameter(torch.randn(300, 70).to(dt))
    opt = mk([*m.parameters(), big])
    x = torch.randn(5, 7).to(dt)
    t = torch.randn(5, 2).to(dt)

    def closure():
        opt.zero_grad()
        loss = ((m(x) - t) ** 2).mean() + (big**2).mean() * 0.3
        loss.backward()
        return loss

    for i in range(steps):
        loss = opt.step(closure)
    print(
        type(opt).__name__,
        loss.item().__round__(5),
        [round(p.sum().item(), 4) for p in m.parameters()],
        round(big.sum().item(), 3),
    )
    sd = opt.state_dict()
    print(sd["param_groups"])
    print(
        list(sd["state"])[:2],
        [
            (k, (v.shape, v.dtype) if isinstance(v, torch.Tensor) else type(v).__name__)
            for k, v in sd["state"].get(0, {}).items()
        ],
    )
    opt.load_state_dict(sd)
    opt.step(closure)
    print([round(p.sum().item(), 4) for p in m.parameters()])
    return opt


for n in ("NAdam", "RAdam", "Adamax", "Adagrad", "Adadelta", "RMSprop", "Rprop", "ASGD"):
    C = getattr(O, n)
    print(run(lambda p: C(p)))
    run(lambda p: C(p, lr=0.1, maximize=True), dt=torch.float64)
    if n not in ("Rprop",):
        run(lambda p: C(p, weight_decay=0.1), 8)
run(lambda p: O.NAdam(p, weight_decay=0.1, decoupled_weight_decay=True))
run(lambda p: O.RAdam(p, weight_decay=0.1, decoupled_weight_decay=True), 9)
run(lambda p: O.RMSprop(p, momentum=0.9, centered=True))
run(lambda p: O.RMSprop(p, centered=True))
run(lambda p: O.Adagrad(p, lr_decay=0.1, initial_accumulator_value=0.2))
run(lambda p: O.ASGD(p, t0=2, lr=0.1), 6)
print(run(lambda p: O.Adafactor(p)))
run(lambda p: O.Adafactor(p, lr=0.1, weight_decay=0.1, maximize=True))
print(run(lambda p: O.LBFGS(p, lr=0.1), 2))
run(lambda p: O.LBFGS(p, line_search_fn="strong_wolfe", history_size=3, max_iter=7), 3, dt=torch.float64)
print(run(lambda p: O.Muon(p, lr=0.1), 1, two=True))
# complex
for n in (
    "SGD",
    "Adam",
    "NAdam",
    "RAdam",
    "Adamax",
    "Adagrad",
    "Adadelta",
    "RMSprop",
    "Rprop",
    "ASGD",
    "LBFGS",
):
    torch.manual_seed(0)
    p = nn.Parameter(torch.randn(3, dtype=torch.complex64))
    o = getattr(O, n)([p], lr=0.1)

    def c():
        o.zero_grad()
        l = (p - 1j).abs().pow(2).sum()
        l.backward()
        return l

    for _ in range(3):
        o.step(c)
    print(n, p.data)
# differentiable
for n in ("SGD", "Adam", "NAdam", "RAdam", "Adamax", "Adagrad", "Adadelta", "RMSprop", "Rprop", "ASGD"):
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    p = x.clone()
    kw = {"t0": 1} if n == "ASGD" else {}
    o = getattr(O, n)([p], lr=0.1, differentiable=True, **kw)
    try:
        for i in range(7 if n in ("SGD",) else 1):
            p.grad = x**2 + i
            o.step()
        (g,) = torch.autograd.grad(p.sum(), x)
        print(n, p.detach(), g)
    except RuntimeError as e:
        print(n, str(e)[:80])
# hooks
p = nn.Parameter(torch.ones(2))
o = O.Adam([("w", p)])
p.grad = torch.ones(2)
o.register_step_pre_hook(lambda *a: print("pre", len(a)))
o.register_step_post_hook(lambda *a: print("post"))
o.step()
print(o.state_dict()["param_groups"][0]["param_names"])
# frozen and thawed, several groups, changed state
torch.manual_seed(0)
ps = [nn.Parameter(torch.randn(3)) for _ in range(4)]
o = O.Adam([{"params": ps[:2], "lr": 0.1}, {"params": ps[2:], "weight_decay": 0.1}], lr=0.01)
for i in range(6):
    for k, q in enumerate(ps):
        q.grad = None if (k == 1 and i in (2, 3)) else q.detach() * 2 + i
    o.step()
    if i == 4:
        o.state[ps[0]]["exp_avg"].zero_()
        o.state[ps[2]]["exp_avg_sq"] = torch.ones(3)
print(ps, [o.state[q]["step"] for q in ps], o.state[ps[2]])
for f in [
    lambda: O.NAdam([p], momentum_decay=-1),
    lambda: O.Rprop([p], etas=(2, 3)),
    lambda: O.LBFGS([{"params": [p]}, {"params": [nn.Parameter(torch.ones(1))]}]),
    lambda: O.Muon([p]),
    lambda: O.Adadelta([p], rho=2),
    lambda: O.RMSprop([p], alpha=-1),
    lambda: O.Adafactor([p], d=0.5),
    lambda: O.SparseAdam([p], lr=0),
]:
    try:
        f()
        print("ok")
    except Exception as e:
        print(type(e).__name__, e)
