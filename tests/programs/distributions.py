# ruff: noqa: B023, E741
"""Every distribution: its text, moments, samples from one seed, log-probabilities, gradients and expansion."""

import torch

D = torch.distributions

T = torch.tensor


def show(label, f):
    try:
        r = f()
        if isinstance(r, torch.Tensor):
            r = r.detach()
        print(label, r)
    except Exception as e:
        print(label, type(e).__name__, str(e)[:300])


a, b = T([0.5, 1.5, 3.0]), T([1.2, 0.7, 2.0])
p3 = T([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
S = T([[2.0, 0.5], [0.5, 1.0]])
made = {
    "Normal": lambda r: D.Normal(r[0], r[1]),
    "Laplace": lambda r: D.Laplace(r[0], r[1]),
    "Cauchy": lambda r: D.Cauchy(r[0], r[1]),
    "Uniform": lambda r: D.Uniform(r[0], r[0] + r[1]),
    "Exponential": lambda r: D.Exponential(r[0]),
    "Gamma": lambda r: D.Gamma(r[0], r[1]),
    "Chi2": lambda r: D.Chi2(r[0]),
    "StudentT": lambda r: D.StudentT(r[0] + 2, r[1], r[0]),
    "FisherSnedecor": lambda r: D.FisherSnedecor(r[0], r[1] + 4),
    "Bernoulli": lambda r: D.Bernoulli(r[0] / 4),
    "BernoulliL": lambda r: D.Bernoulli(logits=r[0]),
    "Geometric": lambda r: D.Geometric(r[0] / 4),
    "Poisson": lambda r: D.Poisson(r[0]),
    "Binomial": lambda r: D.Binomial(5, r[0] / 4),
    "NegativeBinomial": lambda r: D.NegativeBinomial(5, r[0] / 4),
    "LogNormal": lambda r: D.LogNormal(r[0], r[1]),
    "HalfNormal": lambda r: D.HalfNormal(r[0]),
    "HalfCauchy": lambda r: D.HalfCauchy(r[0]),
    "Gumbel": lambda r: D.Gumbel(r[0], r[1]),
    "Weibull": lambda r: D.Weibull(r[0], r[1]),
    "Pareto": lambda r: D.Pareto(r[0], r[1]),
    "Kumaraswamy": lambda r: D.Kumaraswamy(r[0], r[1]),
    "InverseGamma": lambda r: D.InverseGamma(r[0], r[1]),
    "Beta": lambda r: D.Beta(r[0], r[1]),
    "ContinuousBernoulli": lambda r: D.ContinuousBernoulli(r[0] / 4),
    "VonMises": lambda r: D.VonMises(r[0], r[1]),
    "Categorical": lambda r: D.Categorical(r[2]),
    "CategoricalL": lambda r: D.Categorical(logits=r[2]),
    "OneHotCategorical": lambda r: D.OneHotCategorical(r[2]),
    "OneHotCategoricalStraightThrough": lambda r: D.OneHotCategoricalStraightThrough(r[2]),
    "Multinomial": lambda r: D.Multinomial(4, r[2]),
    "Dirichlet": lambda r: D.Dirichlet(r[2] * 4),
    "RelaxedBernoulli": lambda r: D.RelaxedBernoulli(T(0.7), r[0] / 4),
    "RelaxedOneHotCategorical": lambda r: D.RelaxedOneHotCategorical(T(0.7), r[2]),
    "LogisticNormal": lambda r: D.LogisticNormal(r[0], r[1]),
    "MVN": lambda r: D.MultivariateNormal(r[0][:2], r[3]),
    "MVNp": lambda r: D.MultivariateNormal(r[0][:2], precision_matrix=r[3]),
    "MVNs": lambda r: D.MultivariateNormal(r[0][:2], scale_tril=torch.linalg.cholesky(r[3])),
    "LowRank": lambda r: D.LowRankMultivariateNormal(r[0][:2], r[3][:, :1], r[1][:2]),
    "Independent": lambda r: D.Independent(D.Normal(r[0], r[1]), 1),
    "Transformed": lambda r: D.TransformedDistribution(
        D.Normal(r[0], r[1]), [D.TanhTransform(), D.AffineTransform(1.0, -2.0)]
    ),
    "Mixture": lambda r: D.MixtureSameFamily(D.Categorical(r[2][0]), D.Normal(r[0], r[1])),
    "MixtureV": lambda r: D.MixtureSameFamily(
        D.Categorical(r[2][0]), D.Independent(D.Normal(r[2].T + r[0][:, None], 1.0), 1)
    ),
}
for name, f in made.items():
    rs = [x.clone().requires_grad_() for x in (a, b, p3, S)]
    try:
        d = f(rs)
    except Exception as e:
        print(name, "MAKE", type(e).__name__, e)
        continue
    print("==", name, d.batch_shape, d.event_shape, d.has_rsample, d.has_enumerate_support)
    show("repr", lambda: repr(d).replace("\n", " "))
    show("support", lambda: d.support)
    for attr in ("mean", "variance", "stddev"):
        show(attr, lambda: getattr(d, attr))
    show("entropy", lambda: d.entropy())
    torch.manual_seed(3)
    show("sample", lambda: d.sample((2,)))
    torch.manual_seed(3)
    x = d.sample((2,))
    show("log_prob", lambda: d.log_prob(x))
    show("cdf", lambda: d.cdf(x))
    show("icdf", lambda: d.icdf(torch.full(d.batch_shape, 0.3)))
    show("enum", lambda: d.enumerate_support().shape)

    def g():
        torch.manual_seed(4)
        y = d.rsample((2,))
        gs = torch.autograd.grad((y * torch.arange(y.numel()).reshape(y.shape)).sum(), rs, allow_unused=True)
        return [None if t is None else t.tolist() for t in gs]

    if name != "Beta":  # PyTorch approximates it: see test_distributions.py
        show("rsample grad", g)

    def gl():
        gs = torch.autograd.grad(d.log_prob(x).sum(), rs, allow_unused=True)
        return [None if t is None else t.tolist() for t in gs]

    show("log_prob grad", gl)

    def ex():
        e = d.expand((4,) + tuple(d.batch_shape))
        torch.manual_seed(5)
        s = e.sample()
        return (
            type(e).__name__,
            e.batch_shape,
            e.event_shape,
            s.shape,
            e.log_prob(s).sum().item(),
            repr(e).replace("\n", " "),
        )

    show("expand", ex)
    show("bad", lambda: d.log_prob(torch.full((3,), -7.5)))
