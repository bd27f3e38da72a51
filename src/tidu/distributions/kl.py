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
from .discrete import Bernoulli, Binomial, Categorical, Geometric, OneHotCategorical, Poisson
from .distribution import Distribution, ExponentialFamily
from .further import ContinuousBernoulli, Wishart
from .multivariate import Beta, Dirichlet, LowRankMultivariateNormal, MultivariateNormal, log_diagonal, mahalanobis
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


@register_kl(Wishart, Wishart)
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


def _of_factors(p: Any, q: Any, kind: str, mine: Any, theirs: Any) -> Any:
    """From the factors of the covariances."""
    if p.event_shape != q.event_shape:
        raise ValueError(f"KL-divergence between two {kind} Normals with different event shapes cannot be computed")
    squares = linalg.solve_triangular(theirs, mine, upper=False).pow(2).sum((-2, -1))
    spread = squares + mahalanobis(theirs, q.loc - p.loc) - p.event_shape[0]
    return log_diagonal(theirs) - log_diagonal(mine) + 0.5 * spread


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: Any, q: Any) -> Any:
    return _of_factors(p, q, "Multivariate", p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril)


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _low_rank(p: Any, q: Any) -> Any:
    return _of_factors(p, q, "(Low Rank) Multivariate", p.scale_tril, q.scale_tril)


def _infinite(p: Any, q: Any) -> Any:
    first = p.__dict__.get("loc", p.__dict__.get("rate", p.__dict__.get("scale")))
    if first is None:
        first = p.concentration1 if isinstance(p, Beta) else p.probs
    return first.new_full(first.shape, math.inf)


for _p, _qs in {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gamma: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gumbel: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Laplace: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Normal: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Pareto: (Beta, ContinuousBernoulli, Uniform),
    Poisson: (Bernoulli, Binomial),
}.items():
    for _q in _qs:
        register_kl(_p, _q)(_infinite)


def _log_normal_scale(q: Any) -> Any:
    """log(scale sqrt(2 pi))."""
    return q.scale.log() + 0.5 * math.log(2 * math.pi)


def _cross_gamma(q: Any, mean: Any, mean_log: Any) -> Any:
    """-E log q(x) of a gamma, from E x and E log x."""
    a = q.concentration
    return a.lgamma() - a * q.rate.log() - (a - 1) * mean_log + q.rate * mean


def _cross_normal(q: Any, mean: Any, variance: Any) -> Any:
    """-E log q(x) of a normal, from the first two moments."""
    return _log_normal_scale(q) + (variance + (mean - q.loc).pow(2)) / (2 * q.scale.pow(2))


def _cross_exponential(q: Any, mean: Any) -> Any:
    return q.rate * mean - q.rate.log()


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Any:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


# ---------------------------------------------------------------- Beta, ContinuousBernoulli


@register_kl(Beta, ContinuousBernoulli)
@register_kl(Uniform, ContinuousBernoulli)
def _to_continuous_bernoulli(p: Any, q: Any) -> Any:
    out = -p.entropy() - p.mean * q.logits - (-q.probs).log1p() - q._cont_bern_log_norm()
    return out.masked_fill((p.high >= 1) | (p.low <= 0), math.inf) if isinstance(p, Uniform) else out


@register_kl(Beta, Exponential)
@register_kl(ContinuousBernoulli, Exponential)
@register_kl(Gamma, Exponential)
def _to_exponential(p: Any, q: Any) -> Any:
    return -p.entropy() + _cross_exponential(q, p.mean)


@register_kl(Beta, Gamma)
def _beta_gamma(p: Any, q: Any) -> Any:
    a, b = p.concentration1, p.concentration0
    return -p.entropy() + _cross_gamma(q, p.mean, a.digamma() - (a + b).digamma())


@register_kl(Beta, Normal)
@register_kl(ContinuousBernoulli, Normal)
@register_kl(Exponential, Normal)
@register_kl(Gamma, Normal)
@register_kl(Gumbel, Normal)
@register_kl(Laplace, Normal)
@register_kl(Uniform, Normal)
def _to_normal(p: Any, q: Any) -> Any:
    return -p.entropy() + _cross_normal(q, p.mean, p.variance)


@register_kl(Beta, Uniform)
def _beta_uniform(p: Any, q: Any) -> Any:
    out = -p.entropy() + (q.high - q.low).log()
    return out.masked_fill((q.low > 0) | (q.high < 1), math.inf)


@register_kl(ContinuousBernoulli, Uniform)
def _continuous_bernoulli_uniform(p: Any, q: Any) -> Any:
    out = -p.entropy() + (q.high - q.low).log()
    return out.masked_fill((q.low >= 0) | (q.high <= 1), math.inf)


# ---------------------------------------------------------------- Exponential, Gamma


@register_kl(Exponential, Gamma)
def _exponential_gamma(p: Any, q: Any) -> Any:
    return -p.entropy() + _cross_gamma(q, p.mean, -EULER - p.rate.log())


def _to_gumbel(p: Any, q: Any, mean: Any, mean_exp: Any) -> Any:
    """From E x and E exp(-x / scale)."""
    return -p.entropy() + q.scale.log() + (mean - q.loc) / q.scale + (q.loc / q.scale).exp() * mean_exp


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p: Any, q: Any) -> Any:
    product = p.rate * q.scale
    return _to_gumbel(p, q, p.mean, product / (product + 1))


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p: Any, q: Any) -> Any:
    return _to_gumbel(p, q, p.mean, (1 + (p.rate * q.scale).reciprocal()).pow(-p.concentration))


@register_kl(Normal, Gumbel)
def _normal_gumbel(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    return _to_gumbel(p, q, p.mean, (-p.loc / q.scale + 0.5 * ratio).exp())


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p: Any, q: Any) -> Any:
    ends = (-p.low / q.scale).exp() - (-p.high / q.scale).exp()
    return _to_gumbel(p, q, p.mean, ends * q.scale / (p.high - p.low))


@register_kl(Normal, Laplace)
def _normal_laplace(p: Any, q: Any) -> Any:
    d = p.loc - q.loc
    z = d / p.scale
    far = math.sqrt(2 / math.pi) * p.scale * (-0.5 * z.pow(2)).exp() + d * (math.sqrt(0.5) * z).erf()
    return -p.entropy() + (2 * q.scale).log() + far / q.scale


# ---------------------------------------------------------------- Pareto, Uniform


@register_kl(Pareto, Exponential)
def _pareto_exponential(p: Any, q: Any) -> Any:
    out = -p.entropy() + _cross_exponential(q, p.alpha * p.scale / (p.alpha - 1))
    return out.masked_fill(p.alpha <= 1, math.inf)


@register_kl(Pareto, Gamma)
def _pareto_gamma(p: Any, q: Any) -> Any:
    mean = p.alpha * p.scale / (p.alpha - 1)
    out = -p.entropy() + _cross_gamma(q, mean, p.scale.log() + p.alpha.reciprocal())
    return out.masked_fill(p.alpha <= 1, math.inf)


@register_kl(Pareto, Normal)
def _pareto_normal(p: Any, q: Any) -> Any:
    part = p.scale / (p.alpha - 1)
    out = -p.entropy() + _cross_normal(q, p.alpha * part, p.alpha * part.pow(2) / (p.alpha - 2))
    return out.masked_fill(p.alpha <= 2, math.inf)


def _mean_log(p: Any, low: Any, high: Any) -> Any:
    return (_x_log_x(high) - _x_log_x(low)) / (high - low) - 1


@register_kl(Uniform, Beta)
def _uniform_beta(p: Any, q: Any) -> Any:
    a, b = q.concentration1, q.concentration0
    norm = a.lgamma() + b.lgamma() - (a + b).lgamma()
    logs = (a - 1) * _mean_log(p, p.low, p.high) + (b - 1) * _mean_log(p, 1 - p.high, 1 - p.low)
    return (-p.entropy() + norm - logs).masked_fill((p.high > 1) | (p.low < 0), math.inf)


@register_kl(Uniform, Exponential)
def _uniform_exponential(p: Any, q: Any) -> Any:
    return (-p.entropy() + _cross_exponential(q, p.mean)).masked_fill(p.low < 0, math.inf)


@register_kl(Uniform, Gamma)
def _uniform_gamma(p: Any, q: Any) -> Any:
    out = -p.entropy() + _cross_gamma(q, p.mean, _mean_log(p, p.low, p.high))
    return out.masked_fill(p.low < 0, math.inf)


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Any, q: Any) -> Any:
    logs = (q.alpha + 1) * _mean_log(p, p.low, p.high)
    out = -p.entropy() - q.alpha.log() - q.alpha * q.scale.log() + logs
    return out.masked_fill(p.low < q.scale, math.inf)
