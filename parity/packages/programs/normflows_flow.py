"""normflows: a real NVP and a neural spline flow fitted to two moons."""

import normflows as nf
import torch

for kind in ("RealNVP", "NSF", "Planar", "MAF"):
    torch.manual_seed(0)
    base = nf.distributions.base.DiagGaussian(2)
    flows = []
    for _ in range(3):
        if kind == "RealNVP":
            flows += [
                nf.flows.AffineCouplingBlock(nf.nets.MLP([1, 16, 16, 2], init_zeros=True)),
                nf.flows.Permute(2, mode="swap"),
            ]
        elif kind == "NSF":
            flows += [nf.flows.AutoregressiveRationalQuadraticSpline(2, 1, 16), nf.flows.LULinearPermute(2)]
        elif kind == "MAF":
            flows += [nf.flows.MaskedAffineAutoregressive(2, 16)]
        else:
            flows += [nf.flows.Planar((2,))]
    model = nf.NormalizingFlow(base, flows, nf.distributions.TwoMoons())
    optimizer = torch.optim.Adamax(model.parameters(), lr=1e-3, weight_decay=1e-5)
    target = nf.distributions.TwoMoons()
    for step in range(8):
        optimizer.zero_grad()
        loss = model.reverse_kld(64) if kind == "Planar" else model.forward_kld(target.sample(64))
        loss.backward()
        optimizer.step()
        print(f"{kind} {step} {loss.item():.6f}")
    if kind != "Planar":
        print("  ", round(model.log_prob(torch.zeros(1, 2)).item(), 5))
