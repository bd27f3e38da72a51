# ruff: noqa: B023, E741
"""Divergences between all pairs of distributions; transforms; constraints; and what is refused."""

import copy
import pickle

import torch

D = torch.distributions
T = torch.tensor


def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, type(e).__name__, str(e)[:300])


a, b = T([0.5, 1.5, 3.0]), T([1.2, 0.7, 2.0])
g = [
    D.Normal(a, b),
    D.Normal(b, a),
    D.Laplace(a, b),
    D.Laplace(b, a),
    D.Cauchy(a, b),
    D.Uniform(a, a + b),
    D.Uniform(a / 9, a / 9 + b / 9),
    D.Exponential(a),
    D.Exponential(b),
    D.Gamma(a, b),
    D.Gamma(b, a),
    D.Chi2(a),
    D.StudentT(a),
    D.Bernoulli(a / 4),
    D.Bernoulli(b / 3),
    D.Geometric(a / 4),
    D.Geometric(b / 4),
    D.Poisson(a),
    D.Poisson(b),
    D.Binomial(5, a / 4),
    D.Binomial(5, b / 4),
    D.NegativeBinomial(5, a / 4),
    D.LogNormal(a, b),
    D.LogNormal(b, a),
    D.HalfNormal(a),
    D.HalfNormal(b),
    D.HalfCauchy(a),
    D.Gumbel(a, b),
    D.Gumbel(b, a),
    D.Weibull(a, b),
    D.Pareto(a, b),
    D.Pareto(b, a + 2),
    D.Pareto(a / 90, b + 2),
    D.Kumaraswamy(a, b),
    D.InverseGamma(a, b),
    D.Beta(a, b),
    D.Beta(b, a),
    D.ContinuousBernoulli(a / 4),
    D.ContinuousBernoulli(b / 4),
    D.VonMises(a, b),
]

for p in g:
    for q in g:
        show(f"{type(p).__name__} {type(q).__name__}", lambda: D.kl_divergence(p, q))
P = T([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
S = T([[2.0, 0.5], [0.5, 1.0]])
h = [
    D.Categorical(P),
    D.Categorical(P.flip(1)),
    D.OneHotCategorical(P),
    D.OneHotCategorical(P.flip(0)),
    D.Dirichlet(P * 4),
    D.Dirichlet(P.flip(0) * 3),
]
for p in h:
    for q in h:
        show(f"{type(p).__name__} {type(q).__name__}", lambda: D.kl_divergence(p, q))
h = [
    D.MultivariateNormal(a[:2], S),
    D.MultivariateNormal(b[:2], S.flip(0, 1)),
    D.LowRankMultivariateNormal(a[:2], S[:, :1], b[:2]),
    D.LowRankMultivariateNormal(b[:2], S[:, 1:], a[:2]),
    D.Independent(D.Normal(a[:2], b[:2]), 1),
    D.Independent(D.Normal(b[:2], b[:2]), 1),
]
for p in h:
    for q in h:
        show(f"{type(p).__name__} {type(q).__name__}", lambda: D.kl_divergence(p, q))
for p in h[:4]:
    for at in ("covariance_matrix", "precision_matrix", "scale_tril", "variance"):
        show(at, lambda: getattr(p, at))
# transforms
C = torch.distributions.constraints
x = T([[0.3, -0.7, 1.2], [0.1, 0.5, -0.9]])
ts = [
    D.ExpTransform(),
    D.PowerTransform(2.0),
    D.SigmoidTransform(),
    D.TanhTransform(),
    D.SoftplusTransform(),
    D.AbsTransform(),
    D.AffineTransform(1.0, T(-2.0)),
    D.AffineTransform(1.0, T([1.0, 2.0, 3.0]), event_dim=1),
    D.SoftmaxTransform(),
    D.StickBreakingTransform(),
    D.CorrCholeskyTransform(),
    D.ComposeTransform([D.ExpTransform(), D.AffineTransform(0, 2.0)]),
    D.IndependentTransform(D.ExpTransform(), 1),
    D.ReshapeTransform((3,), (1, 3)),
    D.CatTransform([D.ExpTransform(), D.TanhTransform()], dim=1, lengths=[1, 2]),
    D.StackTransform([D.ExpTransform(), D.TanhTransform()], dim=0),
    D.CumulativeDistributionTransform(D.Normal(0.0, 1.0)),
    D.identity_transform,
]
for t in ts:
    print(type(t).__name__, str(t).replace("\n", " "))
    xx = x.abs() if isinstance(t, D.PowerTransform) else x
    y = t(xx)
    print(y)
    show("inv", lambda: t.inv(y))
    show("ladj", lambda: t.log_abs_det_jacobian(xx, y))
    show("inv ladj", lambda: t.inv.log_abs_det_jacobian(y, xx))
    show("d", lambda: (t.domain, t.codomain, t.bijective))
    show("sign", lambda: t.sign)
    show(
        "shape",
        lambda: (t.forward_shape((4, 3)), t.inv.forward_shape((4, 4)) if not isinstance(t, D.ReshapeTransform) else 0),
    )
    print(t.inv.inv is t, t.inv == t, t == t, repr(t.inv).replace("\n", " "))
m = torch.arange(9.0).reshape(3, 3) / 9
for t in (D.LowerCholeskyTransform(), D.PositiveDefiniteTransform()):
    y = t(m)
    print(y, t.inv(y), t.domain, t.codomain, t.bijective)
t = D.TanhTransform(cache_size=1)
y = t(x)
print(t.inv(y) is x, t.with_cache(0)._cache_size)
for c in (
    C.real,
    C.positive,
    C.nonnegative,
    C.greater_than(2.0),
    C.greater_than_eq(2.0),
    C.less_than(1.0),
    C.unit_interval,
    C.interval(1.0, 3.0),
    C.half_open_interval(0.0, 2.0),
    C.simplex,
    C.lower_cholesky,
    C.positive_definite,
    C.corr_cholesky,
    C.real_vector,
    C.independent(C.positive, 1),
    C.boolean,
    C.one_hot,
    C.lower_triangular,
    C.symmetric,
    C.square,
    C.nonnegative_integer,
    C.positive_integer,
    C.integer_interval(0, 2),
    C.multinomial(3),
    C.cat([C.positive, C.real], dim=1, lengths=[1, 2]),
    C.stack([C.positive, C.real], dim=0),
    C.dependent,
):
    print(c)
    show("bij", lambda: str(D.biject_to(c)).replace("\n", " "))
    show("tr", lambda: str(D.transform_to(c)).replace("\n", " "))
    show("check", lambda: c.check(x))
    show("checkm", lambda: c.check(m))
    show("ed", lambda: (c.is_discrete, c.event_dim))
show("e", lambda: D.Normal(T([1.0]), T([-1.0])))
show("e", lambda: D.Normal("a", 1.0))
show("e", lambda: D.Categorical(T([-1.0, 2.0])))
show("e", lambda: D.Categorical(T(1.0)))
show("e", lambda: D.Bernoulli())
show("e", lambda: D.Bernoulli(T([1.5])))
show("e", lambda: D.Normal(0.0, 1.0).log_prob(3))
show("e", lambda: D.Normal(a, b).log_prob(T([1.0, 2.0])))
show("e", lambda: D.MultivariateNormal(a, S))
show("e", lambda: D.MultivariateNormal(a))
show("e", lambda: D.Independent(D.Normal(a, b), 2))
show("e", lambda: D.TransformedDistribution(D.Normal(a, b), 3))
show("e", lambda: D.MixtureSameFamily(D.Normal(a, b), D.Normal(a, b)))
show("e", lambda: D.MixtureSameFamily(D.Categorical(P), D.Normal(a[:2], b[:2])))
show("e", lambda: D.Uniform(a, a))
show("e", lambda: D.Dirichlet(T(1.0)))
show("n", lambda: D.Normal(0.0, 1.0))
show("n", lambda: D.Normal(0.0, 1.0).sample_n(2).shape)


class Odd(D.Normal):
    def __init__(self, q):
        super().__init__(q, 1.0)


show("sub", lambda: Odd(T([1.0])).expand((3,)))
show("perp", lambda: D.Categorical(P).perplexity())

show(
    "pk",
    lambda: pickle.loads(pickle.dumps(D.TransformedDistribution(D.Normal(a, b), [D.TanhTransform()]))).log_prob(
        T([0.1, 0.2, 0.3])
    ),
)
show("dc", lambda: copy.deepcopy(D.Categorical(P)).entropy())
