"""torch.distributions: the programs print what they print under PyTorch."""

from __future__ import annotations

import numpy as np
import pytest
from recorded_programs import check
from scipy import special

import tidu
from tidu import distributions as D


@pytest.mark.parametrize(
    "name", ["distributions", "distributions_all", "distributions_rest", "divergences", "probabilistic"]
)
def test_programs(name):
    check(name)


@pytest.mark.parametrize("a, b", [(0.5, 1.2), (3.0, 2.0), (40.0, 7.0), (1e3, 2e3)])
def test_the_gradient_of_beta_numbers_is_that_of_the_inverse_cdf(a, b):
    tidu.manual_seed(0)
    first = tidu.full((50,), a, dtype=tidu.float64, requires_grad=True)
    x = D.Beta(first, tidu.full((50,), b, dtype=tidu.float64)).rsample()
    x.sum().backward()
    u = special.betainc(a, b, x.detach().numpy())
    h = a * 1e-4
    inside = (u > 1e-6) & (u < 1 - 1e-6)
    want = (special.betaincinv(a + h, b, u) - special.betaincinv(a - h, b, u)) / (2 * h)
    np.testing.assert_allclose(first.grad.numpy()[inside], want[inside], rtol=1e-5)


def test_every_name_of_the_package():
    names = """Bernoulli Beta Binomial Categorical Cauchy Chi2 ContinuousBernoulli Dirichlet Distribution Exponential
    ExponentialFamily FisherSnedecor Gamma GeneralizedPareto Geometric Gumbel HalfCauchy HalfNormal Independent
    InverseGamma Kumaraswamy LKJCholesky Laplace LogNormal LogisticNormal LowRankMultivariateNormal MixtureSameFamily
    Multinomial MultivariateNormal NegativeBinomial Normal OneHotCategorical OneHotCategoricalStraightThrough Pareto
    RelaxedBernoulli RelaxedOneHotCategorical StudentT Poisson Uniform VonMises Weibull Wishart
    TransformedDistribution biject_to kl_divergence register_kl transform_to""".split()
    assert [n for n in names if not hasattr(D, n)] == []


def test_a_rule_of_ones_own():
    class Mine(D.Normal):
        pass

    p, q = Mine(0.0, 1.0), D.Normal(1.0, 1.0)
    assert D.kl_divergence(p, q).item() == 0.5
    D.register_kl(Mine, D.Normal)(lambda p, q: 7)
    assert D.kl_divergence(p, q) == 7
    with pytest.raises(NotImplementedError, match="No KL"):
        D.kl_divergence(D.Normal(0.0, 1.0), D.StudentT(3.0))


def test_a_module_for_each_distribution():
    from tidu.distributions.multivariate_normal import MultivariateNormal
    from tidu.distributions.normal import Normal

    assert Normal is D.Normal and MultivariateNormal is D.MultivariateNormal
