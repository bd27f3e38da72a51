"""Tails of distributions: GeneralizedPareto. Source: torch.distributions."""

from __future__ import annotations

import math
from typing import Any

from ..ops.comparison import isclose
from ..ops.factories import zeros_like
from ..ops.random import rand
from . import constraints
from .continuous import batch_of
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """What lies beyond a threshold `loc`: (1 + k z)^(-1/k - 1) / scale with k the concentration. Source:
    torch.distributions.GeneralizedPareto."""

    arg_constraints = {
        "loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real,
    }  # fmt: skip
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(batch_of(self.loc, loc, scale, concentration), validate_args=validate_args)

    def _parts(self) -> tuple[Any, Any]:
        """Where the concentration is 0, and it with 1 there."""
        zero = isclose(self.concentration, zeros_like(self.concentration))
        return zero, self.concentration.masked_fill(zero, 1.0)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.icdf(rand(self._extended_shape(sample_shape), dtype=self.loc.dtype))

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        z = (value - self.loc) / self.scale
        zero, k = self._parts()
        y = 1 / k + 1
        return -self.scale.log() - z.where(zero, (y * (k * z).log1p()).masked_fill(y == 0, 0.0))

    def log_survival_function(self, value: Any) -> Any:
        """log(1 - cdf)."""
        self._checked(value)
        z = (value - self.loc) / self.scale
        zero, k = self._parts()
        return (-z).where(zero, -(k * z).log1p() / k)

    def log_cdf(self, value: Any) -> Any:
        """log(cdf)."""
        return (-self.log_survival_function(value).exp()).log1p()

    def cdf(self, value: Any) -> Any:
        return self.log_cdf(value).exp()

    def icdf(self, value: Any) -> Any:
        zero, k = self._parts()
        log_u = (-value).log1p()
        return (self.loc - self.scale * log_u).where(zero, self.loc + self.scale / k * (-k * log_u).expm1())

    @property
    def mean(self) -> Any:
        ok = self.concentration < 1
        return (self.loc + self.scale / (1 - self.concentration.where(ok, 0.5))).where(ok, math.nan)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        ok = self.concentration < 0.5
        k = self.concentration.where(ok, 0.25)
        return (self.scale**2 / ((1 - k) ** 2 * (1 - 2 * k))).where(ok, math.nan)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        k = self.concentration
        return constraints.interval(self.loc, (self.loc - self.scale / k).where(k < 0, math.inf))

    def entropy(self) -> Any:
        return (self.scale.log() + self.concentration + 1).broadcast_to(self._batch_shape)
