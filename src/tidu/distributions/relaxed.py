"""Continuous stand-ins for discrete distributions, and angles: the Concrete distributions, ContinuousBernoulli,
VonMises. Source: torch.distributions."""

from __future__ import annotations

import math
from typing import Any

from ..core.modes import no_grad
from ..dtypes import float64
from ..ops.random import rand
from ..shapes import Size
from . import constraints
from .combined import TransformedDistribution
from .discrete import Odds, OfCategorical
from .distribution import Distribution, ExponentialFamily
from .transforms import ExpTransform, SigmoidTransform
from .utils import as_size, broadcast_all, clamp_probs, lazy_property, logits_to_probs, same_as


class LogitRelaxedBernoulli(Odds, Distribution):
    """The log-odds of RelaxedBernoulli. Source: torch.distributions.relaxed_bernoulli.LogitRelaxedBernoulli."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
        super().__init__(self._take(probs, logits), validate_args=validate_args)

    def _expand_more(self, new: Any, batch: Size) -> None:
        new.temperature = self.temperature

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(rand(shape, dtype=probs.dtype))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        diff = logits - value.mul(self.temperature)
        return self.temperature.log() + diff - 2 * diff.exp().log1p()


class _Relaxed(TransformedDistribution):
    has_rsample = True
    temperature = same_as("base_dist.temperature")
    logits = same_as("base_dist.logits")
    probs = same_as("base_dist.probs")


class RelaxedBernoulli(_Relaxed):
    """Bernoulli between 0 and 1, the sharper the lower the temperature."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)


class ExpRelaxedCategorical(OfCategorical):
    """The logarithms of RelaxedOneHotCategorical. Source:
    torch.distributions.relaxed_categorical.ExpRelaxedCategorical."""

    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def _expand_more(self, new: Any, batch: Size) -> None:
        super()._expand_more(new, batch)
        new.temperature = self.temperature

    def rsample(self, sample_shape: Any = ()) -> Any:
        u = clamp_probs(rand(self._extended_shape(sample_shape), dtype=self.logits.dtype))
        scores = (self.logits + -(-(u.log())).log()) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Any) -> Any:
        k = self._event_shape[0]
        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        scale = self.temperature.new_full(self.temperature.shape, float(k)).lgamma() - self.temperature.log().mul(
            -(k - 1)
        )
        score = logits - value.mul(self.temperature)
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + scale


class RelaxedOneHotCategorical(_Relaxed):
    """OneHotCategorical inside the simplex, the sharper the lower the temperature."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)


class ContinuousBernoulli(Odds, ExponentialFamily):
    """C(p) p^x (1 - p)^(1 - x) on [0, 1]; near p = 1/2, between `lims`, from a series."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self, probs: Any = None, logits: Any = None, lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        shape = self._take(probs, logits)
        if probs is not None:
            if validate_args is not None and not self.arg_constraints["probs"].check(self.probs).all():
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
        self._lims = lims
        super().__init__(shape, validate_args=validate_args)

    def _expand_more(self, new: Any, batch: Size) -> None:
        new._lims = self._lims

    @lazy_property
    def probs(self) -> Any:
        """The parameter p."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _outside_unstable_region(self) -> Any:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut(self) -> Any:
        return self.probs.where(self._outside_unstable_region(), self._lims[0])

    def _cont_bern_log_norm(self) -> Any:
        p = self._cut()
        norm = ((-p).log1p() - p.log()).abs().log() - (1 - 2 * p).abs().log()
        x = (self.probs - 0.5) ** 2
        return norm.where(self._outside_unstable_region(), math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self) -> Any:
        p, x = self._cut(), self.probs - 0.5
        mean = p / (2.0 * p - 1.0) + 1.0 / ((-p).log1p() - p.log())
        return mean.where(self._outside_unstable_region(), 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x**2) * x)

    @property
    def variance(self) -> Any:
        p, x = self._cut(), (self.probs - 0.5) ** 2
        v = p * (p - 1.0) / (1.0 - 2.0 * p) ** 2 + 1.0 / ((-p).log1p() - p.log()) ** 2
        return v.where(self._outside_unstable_region(), 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.icdf(rand(self._extended_shape(sample_shape), dtype=self.probs.dtype))

    def log_prob(self, value: Any) -> Any:
        from ..nn.functional import binary_cross_entropy_with_logits

        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none") + self._cont_bern_log_norm()

    def cdf(self, value: Any) -> Any:
        self._checked(value)
        p = self._cut()
        inside = (p**value * (1.0 - p) ** (1.0 - value) + p - 1.0) / (2.0 * p - 1.0)
        out = inside.where(self._outside_unstable_region(), value)
        return out.masked_fill(value <= 0.0, 0.0).masked_fill(value >= 1.0, 1.0)

    def icdf(self, value: Any) -> Any:
        p = self._cut()
        x = ((-p + value * (2.0 * p - 1.0)).log1p() - (-p).log1p()) / (p.log() - (-p).log1p())
        return x.where(self._outside_unstable_region(), value)

    def entropy(self) -> Any:
        low, high = (-self.probs).log1p(), self.probs.log()
        return self.mean * (low - high) - self._cont_bern_log_norm() - low


class VonMises(Distribution):
    """exp(concentration cos(x - loc)) on the circle."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def log_prob(self, value: Any) -> Any:
        from ..special import i0e

        self._checked(value)
        k = self.concentration
        return k * (value - self.loc).cos() - math.log(2 * math.pi) - (i0e(k).log() + k)

    mean = mode = same_as("loc")

    @lazy_property
    def variance(self) -> Any:
        """The circular one."""
        from ..special import i0e, i1e

        return 1 - i1e(self.concentration) / i0e(self.concentration)

    def sample(self, sample_shape: Any = ()) -> Any:
        """By rejection from a wrapped Cauchy, in float64 (Best and Fisher 1979)."""
        shape = self._extended_shape(as_size(sample_shape))
        with no_grad():
            loc, k = self.loc.to(float64), self.concentration.to(float64)
            tau = 1 + (1 + 4 * k**2).sqrt()
            rho = (tau - (2 * tau).sqrt()) / (2 * k)
            r = ((1 + rho**2) / (2 * rho)).where(k >= 1e-5, 1 / k + k)
            x = loc.new_zeros(shape)
            done = x.bool()
            while not done.all():
                u: Any = rand((3, *shape), dtype=float64)
                u1, u2, u3 = u.unbind()
                z = (math.pi * u1).cos()
                f = (1 + r * z) / (r + z)
                c = k * (r - f)
                accept = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
                x = ((u3 - 0.5).sign() * f.acos()).where(accept, x)
                done = done | accept
            out = (x + math.pi + loc) % (2 * math.pi) - math.pi
            return out.to(self.loc.dtype)
