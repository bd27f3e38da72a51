"""Divergences between distributions of different kinds. Source: torch.distributions.kl."""

from __future__ import annotations

import math
from typing import Any

from .continuous import Exponential, Gamma, Laplace, Normal, Uniform
from .counts import Binomial
from .discrete import Bernoulli, Poisson
from .kl import _x_log_x, register_kl
from .multivariate import Beta
from .relaxed import ContinuousBernoulli
from .transformed import EULER, Gumbel, Pareto

__all__: list[str] = []


def _infinite(p: Any, q: Any) -> Any:
    """p reaches where q does not."""
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
    """E log x of a uniform between low and high."""
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
