"""Distributions that are others under a map: LogNormal, Gumbel, Weibull and their like. Source: torch.distributions."""

from __future__ import annotations

import math
from typing import Any

from .. import dtypes
from ..ops.factories import full_like, ones_like, zeros_like
from . import constraints
from .combined import TransformedDistribution
from .continuous import Cauchy, Exponential, Gamma, Normal, Uniform
from .transforms import AbsTransform, AffineTransform, ExpTransform, PowerTransform, StickBreakingTransform
from .utils import broadcast_all, same_as

EULER = 0.57721566490153286060


class _OfBase(TransformedDistribution):
    """A transformed distribution whose parameters are its base's."""

    loc, scale = same_as("base_dist.loc"), same_as("base_dist.scale")


class LogNormal(_OfBase):
    """exp of a normal number."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args=validate_args), ExpTransform(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Any:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Any:
        s = self.scale.pow(2)
        return s.expm1() * (2 * self.loc + s).exp()

    def entropy(self) -> Any:
        return self.base_dist.entropy() + self.loc


class _Half(_OfBase):
    """|x| of a distribution symmetric around 0."""

    support = constraints.nonnegative
    has_rsample = True
    arg_constraints = {"scale": constraints.positive}
    kind: Any

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(self.kind(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def mode(self) -> Any:
        return zeros_like(self.scale)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        out = self.base_dist.log_prob(value) + math.log(2)
        return out.where(value >= 0, -math.inf)

    def cdf(self, value: Any) -> Any:
        self._checked(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Any) -> Any:
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Any:
        return self.base_dist.entropy() - math.log(2)


class HalfNormal(_Half):
    """|x| of a normal number around 0."""

    kind = Normal

    @property
    def mean(self) -> Any:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Any:
        return self.scale.pow(2) * (1 - 2 / math.pi)


class HalfCauchy(_Half):
    """|x| of a Cauchy number around 0."""

    kind = Cauchy

    @property
    def mean(self) -> Any:
        return full_like(self.scale.detach().expand(self._extended_shape()), math.inf)

    variance = same_as("base_dist.variance")


class _Own(TransformedDistribution):
    """A transformed distribution with parameters of its own."""

    def _make(self) -> tuple[Any, list[Any]]:
        raise NotImplementedError

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._new(_instance)
        for name in self.arg_constraints:
            if name in self.__dict__:
                setattr(new, name, self.__dict__[name].expand(batch_shape))
        new._validate_args = False
        base, maps = new._make()
        TransformedDistribution.__init__(new, base, maps, validate_args=False)
        new._validate_args = self._validate_args
        return new


class Gumbel(_Own):
    """Of the largest of many."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(*self._make(), validate_args=validate_args)

    def _make(self) -> tuple[Any, list[Any]]:
        limits = dtypes.finfo(self.loc.dtype)
        low, high = full_like(self.loc, limits.tiny), full_like(self.loc, 1 - limits.eps)
        one: Any = ones_like(self.scale)
        maps = [
            ExpTransform().inv, AffineTransform(loc=0, scale=-one), ExpTransform().inv,
            AffineTransform(loc=self.loc, scale=-self.scale),
        ]  # fmt: skip
        return Uniform(low, high, validate_args=False), maps

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    @property
    def mean(self) -> Any:
        return self.loc + self.scale * EULER

    mode = same_as("loc")

    @property
    def stddev(self) -> Any:
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self) -> Any:
        return self.stddev.pow(2)

    def entropy(self) -> Any:
        return self.scale.log() + (1 + EULER)


class Weibull(_Own):
    """scale times a power of an exponential number."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        super().__init__(*self._make(), validate_args=validate_args)

    def _make(self) -> tuple[Any, list[Any]]:
        self.concentration_reciprocal = self.concentration.reciprocal()
        maps = [PowerTransform(exponent=self.concentration_reciprocal), AffineTransform(loc=0, scale=self.scale)]
        return Exponential(ones_like(self.scale), validate_args=False), maps

    @property
    def mean(self) -> Any:
        return self.scale * (1 + self.concentration_reciprocal).lgamma().exp()

    @property
    def mode(self) -> Any:
        a = self.concentration
        return self.scale * ((a - 1) / a) ** a.reciprocal()

    @property
    def variance(self) -> Any:
        r = self.concentration_reciprocal
        return self.scale.pow(2) * ((1 + 2 * r).lgamma().exp() - (2 * (1 + r).lgamma()).exp())

    def entropy(self) -> Any:
        r = self.concentration_reciprocal
        return EULER * (1 - r) + (self.scale * r).log() + 1


class Pareto(_Own):
    """scale times exp of an exponential number."""

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        super().__init__(*self._make(validate_args), validate_args=validate_args)

    def _make(self, validate_args: bool | None = False) -> tuple[Any, list[Any]]:
        maps = [ExpTransform(), AffineTransform(loc=0, scale=self.scale)]
        return Exponential(self.alpha, validate_args=validate_args), maps

    @property
    def mean(self) -> Any:
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    mode = same_as("scale")

    @property
    def variance(self) -> Any:
        a = self.alpha.clamp(min=2)
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.greater_than_eq(self.scale)

    def entropy(self) -> Any:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Kumaraswamy(_Own):
    """Like Beta, in closed form."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        super().__init__(*self._make(), validate_args=validate_args)

    def _make(self) -> tuple[Any, list[Any]]:
        zero, one = full_like(self.concentration0, 0), full_like(self.concentration0, 1)
        maps = [
            PowerTransform(exponent=self.concentration0.reciprocal()), AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]  # fmt: skip
        return Uniform(zero, one, validate_args=False), maps

    def _moment(self, n: int) -> Any:
        a, b = self.concentration1, self.concentration0
        return (b.log() + (1 + n / a).lgamma() + b.lgamma() - (1 + n / a + b).lgamma()).exp()

    @property
    def mean(self) -> Any:
        return self._moment(1)

    @property
    def mode(self) -> Any:
        a, b = self.concentration1, self.concentration0
        out = (a.reciprocal() * ((-b).log1p() - (-a * b).log1p())).exp()
        return out.masked_fill((a < 1) | (b < 1), math.nan)

    @property
    def variance(self) -> Any:
        return self._moment(2) - self._moment(1).pow(2)

    def entropy(self) -> Any:
        a, b = self.concentration1, self.concentration0
        harmonic = (b + 1).digamma() + EULER
        return (1 - b.reciprocal()) + (1 - a.reciprocal()) * harmonic - a.log() - b.log()


class InverseGamma(_OfBase):
    """1 over a gamma number."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args=validate_args)

    concentration = same_as("base_dist.concentration")
    rate = same_as("base_dist.rate")

    @property
    def mean(self) -> Any:
        a = self.concentration
        return (self.rate / (a - 1)).masked_fill(a <= 1, math.inf)

    @property
    def mode(self) -> Any:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Any:
        a = self.concentration
        return (self.rate.square() / ((a - 1).square() * (a - 2))).masked_fill(a <= 2, math.inf)

    def entropy(self) -> Any:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()


class LogisticNormal(TransformedDistribution):
    """Stick-breaking of normal numbers: points of the simplex."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    loc = same_as("base_dist.base_dist.loc")
    scale = same_as("base_dist.base_dist.scale")
