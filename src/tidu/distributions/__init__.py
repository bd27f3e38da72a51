"""Probability distributions. Source: torch.distributions.

>>> import tidu as torch
>>> from tidu.distributions import Normal, kl_divergence
>>> Normal(torch.tensor([0.0]), torch.tensor([1.0]))
Normal(loc: tensor([0.]), scale: tensor([1.]))
"""

from __future__ import annotations

from ..naming import sourced_all as _sourced_all
from ..naming import submodules as _submodules
from . import (
    combined,
    constraints,
    continuous,
    discrete,
    distribution,
    further,
    kl,
    multivariate,
    transformed,
    transforms,
    utils,
)  # fmt: skip
from .kl import kl_divergence, register_kl

# PyTorch has a module for each distribution, by which files know the classes.
_PLACES = {
    combined: {
        "independent": "Independent", "mixture_same_family": "MixtureSameFamily",
        "transformed_distribution": "TransformedDistribution",
    },
    continuous: {
        "cauchy": "Cauchy", "chi2": "Chi2", "exponential": "Exponential", "fishersnedecor": "FisherSnedecor",
        "gamma": "Gamma", "generalized_pareto": "GeneralizedPareto", "laplace": "Laplace", "normal": "Normal",
        "studentT": "StudentT", "uniform": "Uniform",
    },
    discrete: {
        "bernoulli": "Bernoulli", "binomial": "Binomial", "categorical": "Categorical", "geometric": "Geometric",
        "multinomial": "Multinomial", "negative_binomial": "NegativeBinomial",
        "one_hot_categorical": "OneHotCategorical OneHotCategoricalStraightThrough", "poisson": "Poisson",
    },
    distribution: {"exp_family": "ExponentialFamily"},
    multivariate: {
        "beta": "Beta", "dirichlet": "Dirichlet", "lowrank_multivariate_normal": "LowRankMultivariateNormal",
        "multivariate_normal": "MultivariateNormal",
    },
    further: {
        "lkj_cholesky": "LKJCholesky", "wishart": "Wishart",
        "continuous_bernoulli": "ContinuousBernoulli",
        "relaxed_bernoulli": "RelaxedBernoulli LogitRelaxedBernoulli",
        "relaxed_categorical": "RelaxedOneHotCategorical ExpRelaxedCategorical", "von_mises": "VonMises",
    },
    transformed: {
        "gumbel": "Gumbel", "half_cauchy": "HalfCauchy", "half_normal": "HalfNormal",
        "inverse_gamma": "InverseGamma", "kumaraswamy": "Kumaraswamy", "log_normal": "LogNormal",
        "logistic_normal": "LogisticNormal", "pareto": "Pareto", "weibull": "Weibull",
    },
    transforms: {"constraint_registry": "biject_to transform_to ConstraintRegistry"},
}  # fmt: skip

__all__ = [
    "Distribution",
    *transforms.__all__,
    "constraints",
    "kl",
    "kl_divergence",
    "register_kl",
    "transforms",
    "utils",
]
Distribution = distribution.Distribution
globals().update({_name: getattr(transforms, _name) for _name in transforms.__all__})
for _home, _files in _PLACES.items():
    _submodules(globals(), vars(_home), _files)
    for _name in " ".join(_files.values()).split():
        if _name not in ("ConstraintRegistry", "ExpRelaxedCategorical", "LogitRelaxedBernoulli"):
            globals()[_name] = getattr(_home, _name)
            __all__.append(_name)
_sourced_all(globals())
