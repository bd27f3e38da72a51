"""Kullback-Leibler divergences between pairs of distributions. Source: torch.distributions.kl."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from .. import linalg
from ..autograd import grad
from .combined import Independent, TransformedDistribution
from .continuous import Cauchy, Exponential, Gamma, Laplace, Normal, Uniform
from .counts import Binomial
from .discrete import Bernoulli, Categorical, Geometric, OneHotCategorical, Poisson
from .distribution import Distribution, ExponentialFamily
from .multivariate import Beta, Dirichlet, LowRankMultivariateNormal, MultivariateNormal, log_diagonal, mahalanobis
from .relaxed import ContinuousBernoulli
from .transformed import EULER, Gumbel, HalfNormal, Pareto
from .utils import _sum_rightmost

__all__ = ["kl_divergence", "register_kl"]

_rules: dict[tuple[type, type], Callable[[Any, Any], Any]] = {}
_found: dict[tuple[type, type], Any] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Any], Any]:
    """Decorate the function that computes KL(p || q) for these classes and their subclasses. Source:
    torch.distributions.kl.register_kl."""
    if not isinstance(type_p, type) and issubclass(type_p, Distribution):
        raise TypeError(f"Expected type_p to be a Distribution subclass but got {type_p}")
    if not isinstance(type_q, type) and issubclass(type_q, Distribution):
        raise TypeError(f"Expected type_q to be a Distribution subclass but got {type_q}")

    def keep(fun: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        _rules[type_p, type_q] = fun
        _found.clear()
        return fun

    return keep


def _find(type_p: type, type_q: type) -> Any:
    """The rule for the nearest classes: nearest in p first, and nearest in q first; they should agree."""
    matches = [(p, q) for p, q in _rules if issubclass(type_p, p) and issubclass(type_q, q)]
    if not matches:
        return NotImplemented
    depth_p, depth_q = type_p.__mro__.index, type_q.__mro__.index
    left = min(matches, key=lambda m: (depth_p(m[0]), depth_q(m[1])))
    right = min(matches, key=lambda m: (depth_q(m[1]), depth_p(m[0])))
    if _rules[left] is not _rules[right]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please register_kl({left[0].__name__}, "
            f"{right[1].__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return _rules[left]


def kl_divergence(p: Any, q: Any) -> Any:
    """The mean under p of log p(x) / q(x). Source: torch.distributions.kl.kl_divergence.

    >>> import tidu as torch
    >>> kl_divergence(Normal(torch.tensor(0.0), torch.tensor(1.0)), Normal(torch.tensor(1.0), torch.tensor(1.0)))
    tensor(0.5000)
    """
    pair = type(p), type(q)
    if pair not in _found:
        _found[pair] = _find(*pair)
    fun = _found[pair]
    if fun is NotImplemented:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
        )
    return fun(p, q)


def _softplus(x: Any) -> Any:
    from ..nn.functional import softplus

    return softplus(x)


def _x_log_x(x: Any) -> Any:
    return x.xlogy(x)


# ---------------------------------------------------------------- two of a kind


@register_kl(ExponentialFamily, ExponentialFamily)
def _same_family(p: Any, q: Any) -> Any:
    """A Bregman divergence of the log-normaliser."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot                             "
            "be computed using Bregman divergences"
        )
    mine, theirs = [v.detach().requires_grad_() for v in p._natural_params], q._natural_params
    normalizer = p._log_normalizer(*mine)
    gradients = grad(normalizer.sum(), mine, create_graph=True)
    out = q._log_normalizer(*theirs) - normalizer
    for a, b, g in zip(mine, theirs, gradients, strict=True):
        out = out - _sum_rightmost((b - a) * g, len(q.event_shape))
    return out


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    ones = p.probs * (_softplus(-q.logits) - _softplus(-p.logits))
    zeros = (1 - p.probs) * (_softplus(q.logits) - _softplus(p.logits))
    ones = ones.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0)
    return ones + zeros.masked_fill(q.probs == 1, math.inf).masked_fill(p.probs == 1, 0)


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Any:
    a, b, c, d = p.concentration1, p.concentration0, q.concentration1, q.concentration0
    norm = c.lgamma() + d.lgamma() + (a + b).lgamma() - (a.lgamma() + b.lgamma() + (c + d).lgamma())
    return norm + (a - c) * a.digamma() + (b - d) * b.digamma() + (c + d - a - b) * (a + b).digamma()


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Any:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    each = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return (p.total_count * each).masked_fill(p.total_count > q.total_count, math.inf)


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    t = p.probs * (p.logits - q.logits)
    return t.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: Any, q: Any) -> Any:
    return _categorical(p._categorical, q._categorical)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Any:
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Any:
    mine = p._cont_bern_log_norm() + (-p.probs).log1p()
    theirs = q._cont_bern_log_norm() + (-q.probs).log1p()
    return p.mean * (p.logits - q.logits) + mine - theirs


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    norm = a.sum(-1).lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return norm + ((a - b) * (a.digamma() - a.sum(-1).digamma().unsqueeze(-1))).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    norm = b * (p.rate / q.rate).log() + b.lgamma() - a.lgamma()
    return norm + (a - b) * a.digamma() + (q.rate - p.rate) * (a / p.rate)


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Any:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Any:
    ratio, shift = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return -ratio.log() + shift + ratio * EULER + ((1 + ratio).lgamma() - shift).exp() - (1 + EULER)


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: Any, q: Any) -> Any:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Any:
    ratio, far = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + far / q.scale + ratio * (-far / p.scale).exp() - 1


@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Any:
    ratio = q.alpha / p.alpha
    out = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return out.masked_fill(p.scale < q.scale, math.inf)


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Any:
    out = ((q.high - q.low) / (p.high - p.low)).log()
    return out.masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


def _squares(lower: Any, x: Any) -> Any:
    """The sum of squares of L^-1 x."""
    return linalg.solve_triangular(lower, x, upper=False).pow(2).sum((-2, -1))


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: Any, q: Any) -> Any:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be computed"
        )
    mine, theirs = p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    spread = _squares(theirs, mine) + mahalanobis(theirs, q.loc - p.loc) - p.event_shape[0]
    return log_diagonal(theirs) - log_diagonal(mine) + 0.5 * spread


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _low_rank(p: Any, q: Any) -> Any:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two (Low Rank) Multivariate Normals with different event shapes cannot be computed"
        )
    mine, theirs = p.scale_tril, q.scale_tril
    spread = _squares(theirs, mine) + mahalanobis(theirs, q.loc - p.loc) - p.event_shape[0]
    return log_diagonal(theirs) - log_diagonal(mine) + 0.5 * spread
