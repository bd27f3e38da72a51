"""pyro: stochastic variational inference of a regression, an automatic guide, and Hamiltonian Monte Carlo."""

import pyro
import pyro.distributions as dist
import torch
from pyro.infer import MCMC, NUTS, SVI, Predictive, Trace_ELBO, TraceMeanField_ELBO
from pyro.infer.autoguide import AutoDiagonalNormal
from torch.distributions import constraints

pyro.set_rng_seed(0)
x = torch.linspace(-2, 2, 30)
data = 1.3 * x - 0.4 + 0.3 * torch.randn(30)


def model(x, y=None):
    a = pyro.sample("a", dist.Normal(0.0, 2.0))
    b = pyro.sample("b", dist.Normal(0.0, 2.0))
    sigma = pyro.sample("sigma", dist.HalfNormal(1.0))
    with pyro.plate("data", len(x)):
        return pyro.sample("y", dist.Normal(a * x + b, sigma), obs=y)


def guide(x, y=None):
    for name in ("a", "b"):
        loc = pyro.param(f"{name}_loc", torch.tensor(0.0))
        scale = pyro.param(f"{name}_scale", torch.tensor(0.5), constraint=constraints.positive)
        pyro.sample(name, dist.Normal(loc, scale))
    s = pyro.param("sigma_loc", torch.tensor(0.5), constraint=constraints.positive)
    pyro.sample("sigma", dist.Delta(s))


for name, g, elbo in (
    ("own guide", guide, Trace_ELBO()),
    ("automatic", AutoDiagonalNormal(model), TraceMeanField_ELBO(num_particles=2)),
):
    pyro.clear_param_store()
    pyro.set_rng_seed(1)
    svi = SVI(model, g, pyro.optim.Adam({"lr": 0.05}), loss=elbo)
    for step in range(20):
        loss = svi.step(x, data)
        print(f"{name} {step:2d} {loss:.4f}")
    print({k: [round(u, 4) for u in v.flatten().tolist()] for k, v in pyro.get_param_store().items()})
draws = Predictive(model, guide=g, num_samples=5)(x[:2])
print({k: [round(u, 3) for u in v.flatten().tolist()][:6] for k, v in draws.items()})

pyro.set_rng_seed(2)
mcmc = MCMC(NUTS(model), num_samples=15, warmup_steps=10, disable_progbar=True)
mcmc.run(x, data)
print({k: round(v.mean().item(), 2) for k, v in mcmc.get_samples().items()})
