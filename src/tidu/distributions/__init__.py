"""Probability distributions. Source: torch.distributions.

>>> import tidu as torch
>>> from tidu.distributions import Normal, kl_divergence
>>> Normal(torch.tensor([0.0]), torch.tensor([1.0]))
Normal(loc: tensor([0.]), scale: tensor([1.]))
"""

from __future__ import annotations

import sys as _sys

from . import _kl_pairs as _kl_pairs
from . import (
    combined,
    constraint_registry,
    constraints,
    continuous,
    counts,
    discrete,
    distribution,
    kl,
    matrices,
    multivariate,
    relaxed,
    tails,
    transformed,
    transforms,
    utils,
)
from .combined import Independent, MixtureSameFamily, TransformedDistribution
from .constraint_registry import biject_to, transform_to
from .continuous import (
    Cauchy,
    Chi2,
    Exponential,
    FisherSnedecor,
    Gamma,
    Laplace,
    Normal,
    StudentT,
    Uniform,
)
from .counts import Binomial, Multinomial, NegativeBinomial
from .discrete import (
    Bernoulli,
    Categorical,
    Geometric,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
    Poisson,
)
from .distribution import Distribution, ExponentialFamily
from .kl import kl_divergence, register_kl
from .matrices import LKJCholesky, Wishart
from .multivariate import Beta, Dirichlet, LowRankMultivariateNormal, MultivariateNormal
from .relaxed import ContinuousBernoulli, RelaxedBernoulli, RelaxedOneHotCategorical, VonMises
from .tails import GeneralizedPareto
from .transformed import (
    Gumbel,
    HalfCauchy,
    HalfNormal,
    InverseGamma,
    Kumaraswamy,
    LogisticNormal,
    LogNormal,
    Pareto,
    Weibull,
)
from .transforms import (
    AbsTransform,
    AffineTransform,
    CatTransform,
    ComposeTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
    identity_transform,
)

__all__ = [
    "AbsTransform", "AffineTransform", "Bernoulli", "Beta", "Binomial", "CatTransform", "Categorical", "Cauchy", "Chi2",
    "ComposeTransform", "ContinuousBernoulli", "CorrCholeskyTransform", "CumulativeDistributionTransform", "Dirichlet",
    "Distribution", "ExpTransform", "Exponential", "ExponentialFamily", "FisherSnedecor", "Gamma", "GeneralizedPareto",
    "Geometric", "Gumbel", "HalfCauchy", "HalfNormal", "Independent", "IndependentTransform", "InverseGamma",
    "Kumaraswamy", "LKJCholesky", "Laplace", "LogNormal", "LogisticNormal", "LowRankMultivariateNormal",
    "LowerCholeskyTransform", "MixtureSameFamily", "Multinomial", "MultivariateNormal", "NegativeBinomial", "Normal",
    "OneHotCategorical", "OneHotCategoricalStraightThrough", "Pareto", "Poisson", "PositiveDefiniteTransform",
    "PowerTransform", "RelaxedBernoulli", "RelaxedOneHotCategorical", "ReshapeTransform", "SigmoidTransform",
    "SoftmaxTransform", "SoftplusTransform", "StackTransform", "StickBreakingTransform", "StudentT", "TanhTransform",
    "Transform", "TransformedDistribution", "Uniform", "VonMises", "Weibull", "Wishart", "biject_to",
    "constraint_registry", "constraints", "identity_transform", "kl", "kl_divergence", "register_kl", "transform_to",
    "transforms", "utils",
]  # fmt: skip

# PyTorch has a module for each distribution
_ALIASES = {
    combined: "independent mixture_same_family transformed_distribution",
    continuous: "cauchy chi2 exponential fishersnedecor gamma laplace normal studentT uniform",
    counts: "binomial multinomial negative_binomial",
    discrete: "bernoulli categorical geometric one_hot_categorical poisson",
    distribution: "exp_family",
    matrices: "lkj_cholesky wishart",
    multivariate: "beta dirichlet lowrank_multivariate_normal multivariate_normal",
    relaxed: "continuous_bernoulli relaxed_bernoulli relaxed_categorical von_mises",
    tails: "generalized_pareto",
    transformed: "gumbel half_cauchy half_normal inverse_gamma kumaraswamy log_normal logistic_normal pareto weibull",
}
for _module, _names in _ALIASES.items():
    for _name in _names.split():
        _sys.modules[f"{__name__}.{_name}"] = globals()[_name] = _module
del _module, _names, _name
