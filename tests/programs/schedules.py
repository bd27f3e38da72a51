"""Learning rates over the epochs, states of schedules, warnings."""

# ruff: noqa
import torch
import torch.optim.lr_scheduler as S


def go(
    mk,
    n=12,
    opt=lambda p: torch.optim.SGD([{"params": [p[0]]}, {"params": [p[1]], "lr": 0.3}], lr=0.1, momentum=0.9),
    metric=None,
):
    ps = [torch.nn.Parameter(torch.ones(1)), torch.nn.Parameter(torch.ones(1))]
    o = opt(ps)
    s = mk(o)
    out = []
    for i in range(n):
        out.append(
            [repr(g["lr"]) for g in o.param_groups]
            + [g.get("momentum") or g.get("betas") for g in o.param_groups][:1]
        )
        o.step()
        s.step(*([metric[i]] if metric else []))
    print(type(s).__name__, out, s.get_last_lr())
    sd = s.state_dict()
    print({k: v for k, v in sd.items() if not k.startswith("_scale")})
    s.load_state_dict(sd)
    o.step()
    s.step(*([1.0] if metric else []))
    print(s.get_last_lr())


go(lambda o: S.LambdaLR(o, lambda e: 0.9**e))
go(lambda o: S.LambdaLR(o, [lambda e: 0.9**e, lambda e: 1 / (e + 1)]))
go(lambda o: S.MultiplicativeLR(o, lambda e: 0.95))
go(lambda o: S.StepLR(o, 3))
go(lambda o: S.MultiStepLR(o, [2, 5, 5, 8], 0.5))
go(lambda o: S.ConstantLR(o))
go(lambda o: S.LinearLR(o, 0.2, total_iters=7))
go(lambda o: S.ExponentialLR(o, 0.9))
go(lambda o: S.PolynomialLR(o, 6, 2.0))
go(lambda o: S.CosineAnnealingLR(o, 5, 0.01), 25)
go(lambda o: S.CyclicLR(o, 0.01, 0.1, 3), mk := 14)
go(lambda o: S.CyclicLR(o, 0.01, 0.1, 3, 2, mode="triangular2"), 14)
go(lambda o: S.CyclicLR(o, 0.01, 0.1, 3, mode="exp_range", gamma=0.9), 14)
go(lambda o: S.CosineAnnealingWarmRestarts(o, 3, 2), 20)
go(lambda o: S.OneCycleLR(o, 0.5, total_steps=20), 18)
go(
    lambda o: S.OneCycleLR(
        o, [0.5, 0.6], epochs=4, steps_per_epoch=5, three_phase=True, anneal_strategy="linear"
    ),
    18,
)
go(lambda o: S.OneCycleLR(o, 0.5, total_steps=20), 18, opt=lambda p: torch.optim.Adam(p))
go(
    lambda o: S.SequentialLR(
        o, [S.ConstantLR(o, 0.1, 3), S.ExponentialLR(o, 0.9), S.CosineAnnealingLR(o, 4)], [3, 7]
    ),
    14,
)
go(lambda o: S.ChainedScheduler([S.ConstantLR(o, 0.1, 3), S.ExponentialLR(o, 0.9)]))
go(
    lambda o: S.ReduceLROnPlateau(o, patience=1, factor=0.5),
    12,
    metric=[3, 2, 2, 2, 1.9, 1.9, 1.9, 1.9, 1.9, 1.9, 1.8, 1],
)
go(
    lambda o: S.ReduceLROnPlateau(
        o, "max", patience=1, factor=0.5, cooldown=2, threshold_mode="abs", min_lr=0.04
    ),
    12,
    metric=[3, 2, 2, 2, 1.9, 1.9, 1.9, 1.9, 1.9, 1.9, 1.8, 1],
)
import warnings

with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always")
    o = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1)
    s = S.StepLR(o, 2)
    s.step()
    s.step(5)
    s.get_lr()
    print(s.get_last_lr())
    for x in w:
        print(x.category.__name__, x.message)
for f in [
    lambda: S.StepLR(3, 2),
    lambda: S.LambdaLR(o, [1, 2]),
    lambda: S.OneCycleLR(o, 0.1),
    lambda: S.SequentialLR(o, [s], [1]),
    lambda: S.StepLR(torch.optim.SGD([torch.ones(1)]), 2, last_epoch=3),
]:
    try:
        f()
        print("ok")
    except Exception as e:
        print(type(e).__name__, e)
o = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=torch.tensor(0.1))
s = S.StepLR(o, 2)
o.step()
s.step()
o.step()
s.step()
print(o.param_groups[0]["lr"])
