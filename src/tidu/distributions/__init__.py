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
from .continuous import Cauchy, Chi2, Exponential, FisherSnedecor, Gamma, Laplace, Normal, StudentT, Uniform
from .counts import Binomial, Multinomial, NegativeBinomial
from .discrete import Bernoulli, Categorical, Geometric, OneHotCategorical, OneHotCategoricalStraightThrough, Poisson
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

# PyTorch has a module for each distribution, by which files know the classes.
_PLACES = {
    combined: {
        "independent": "Independent", "mixture_same_family": "MixtureSameFamily",
        "transformed_distribution": "TransformedDistribution",
    },
    continuous: {
        "cauchy": "Cauchy", "chi2": "Chi2", "exponential": "Exponential", "fishersnedecor": "FisherSnedecor",
        "gamma": "Gamma", "laplace": "Laplace", "normal": "Normal", "studentT": "StudentT", "uniform": "Uniform",
    },
    counts: {"binomial": "Binomial", "multinomial": "Multinomial", "negative_binomial": "NegativeBinomial"},
    discrete: {
        "bernoulli": "Bernoulli", "categorical": "Categorical", "geometric": "Geometric",
        "one_hot_categorical": "OneHotCategorical OneHotCategoricalStraightThrough", "poisson": "Poisson",
    },
    distribution: {"exp_family": "ExponentialFamily"},
    matrices: {"lkj_cholesky": "LKJCholesky", "wishart": "Wishart"},
    multivariate: {
        "beta": "Beta", "dirichlet": "Dirichlet", "lowrank_multivariate_normal": "LowRankMultivariateNormal",
        "multivariate_normal": "MultivariateNormal",
    },
    relaxed: {
        "continuous_bernoulli": "ContinuousBernoulli",
        "relaxed_bernoulli": "RelaxedBernoulli LogitRelaxedBernoulli",
        "relaxed_categorical": "RelaxedOneHotCategorical ExpRelaxedCategorical", "von_mises": "VonMises",
    },
    tails: {"generalized_pareto": "GeneralizedPareto"},
    transformed: {
        "gumbel": "Gumbel", "half_cauchy": "HalfCauchy", "half_normal": "HalfNormal",
        "inverse_gamma": "InverseGamma", "kumaraswamy": "Kumaraswamy", "log_normal": "LogNormal",
        "logistic_normal": "LogisticNormal", "pareto": "Pareto", "weibull": "Weibull",
    },
}  # fmt: skip
for _module, _files in _PLACES.items():
    for _file, _classes in _files.items():
        _sys.modules[f"{__name__}.{_file}"] = globals()[_file] = _module
        for _class in _classes.split():
            getattr(_module, _class).__module__ = f"{__name__}.{_file}"
for _class in transforms.__all__:
    if isinstance(getattr(transforms, _class), type):
        getattr(transforms, _class).__module__ = transforms.__name__
del _module, _files, _file, _classes, _class
