"""Distributions over counts of tries. Source: torch.distributions."""

from __future__ import annotations

import math
from numbers import Number
from typing import Any

from ..core.modes import no_grad
from ..ops.draws import binomial, poisson
from ..ops.factories import full_like, ones
from ..ops.ranges import arange
from ..shapes import Size
from . import constraints
from .continuous import Gamma
from .discrete import Categorical, _all_values, _Odds
from .distribution import Distribution
from .utils import as_size, broadcast_all, lazy_property

__all__ = ["Binomial", "Multinomial", "NegativeBinomial"]


class Binomial(_Odds, Distribution):
    """How many of total_count tries succeed. Source: torch.distributions.Binomial."""

    arg_constraints = {
        "total_count": constraints.nonnegative_integer, "probs": constraints.unit_interval, "logits": constraints.real,
    }  # fmt: skip
    has_enumerate_support = True

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        given = self._take(probs, logits)
        self.total_count, param = broadcast_all(total_count, given)
        self.total_count = self.total_count.type_as(param)
        setattr(self, "probs" if probs is not None else "logits", param)
        super().__init__(param.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Any:
        return self.total_count * self.probs

    @property
    def mode(self) -> Any:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        n, x = self.total_count, self.logits
        ways = (n + 1).lgamma() - (value + 1).lgamma() - (n - value + 1).lgamma()
        # n log(1 + exp(x)), without overflow
        norm = n * (x.clamp(min=0) + (-x.abs()).exp().log1p())
        return value * x + ways - norm

    def entropy(self) -> Any:
        n = int(self.total_count.max())
        if not self.total_count.min() == n:
            raise NotImplementedError("Inhomogeneous total count not supported by `entropy`.")
        logp = self.log_prob(self.enumerate_support(False))
        return -(logp.exp() * logp).sum(0)

    def enumerate_support(self, expand: bool = True) -> Any:
        n = int(self.total_count.max())
        if not self.total_count.min() == n:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        return _all_values(arange(1 + n, dtype=self._param.dtype), self._batch_shape, expand)


class NegativeBinomial(_Odds, Distribution):
    """How many successes before total_count failures. Source: torch.distributions.NegativeBinomial."""

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0), "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }  # fmt: skip
    support = constraints.nonnegative_integer

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        given = self._take(probs, logits)
        self.total_count, param = broadcast_all(total_count, given)
        self.total_count = self.total_count.type_as(param)
        setattr(self, "probs" if probs is not None else "logits", param)
        super().__init__(param.size(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Any:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Any:
        return self.mean / (-self.logits).sigmoid()

    @lazy_property
    def _gamma(self) -> Any:
        return Gamma(self.total_count, (-self.logits).exp(), validate_args=False)

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            return poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        from ..nn.functional import logsigmoid

        self._checked(value)
        n = self.total_count
        unnormalised = n * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        norm = -(n + value).lgamma() + (1.0 + value).lgamma() + n.lgamma()
        return unnormalised - norm.masked_fill(n + value == 0.0, 0.0)


class Multinomial(Distribution):
    """How often each class comes in total_count draws. Source: torch.distributions.Multinomial."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if not isinstance(total_count, Number):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        shape = self._categorical.param_shape
        super().__init__(self._categorical.batch_shape, shape[-1:], validate_args=validate_args)

    def _expand_more(self, new: Any, batch: Size) -> None:
        new.total_count = self.total_count
        new._categorical = self._categorical.expand(batch)
        new._binomial = Binomial(total_count=self.total_count, probs=new._categorical.probs)

    @property
    def probs(self) -> Any:
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        return self._categorical.logits

    @property
    def param_shape(self) -> Size:
        return self._categorical.param_shape

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Any:
        return self.probs * self.total_count

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = as_size(sample_shape)
        with no_grad():
            drawn = self._categorical.sample(Size((self.total_count, *shape)))
            drawn = drawn.permute(*range(1, drawn.dim()), 0)
            counts = drawn.new_zeros(self._extended_shape(shape))
            counts.scatter_add_(-1, drawn, full_like(drawn, 1))
            return counts.type_as(self.probs)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.masked_fill((value == 0) & (logits == -math.inf), 0)
        return (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1) + (logits * value).sum(-1)

    def entropy(self) -> Any:
        one: Any = ones(())
        n = one * self.total_count
        cat_entropy = self._categorical.entropy()
        support = self._binomial.enumerate_support(expand=False)[1:]
        weights = self._binomial.log_prob(support).exp() * (support + 1).lgamma()
        return n * cat_entropy - (n + 1).lgamma() + weights.sum((0, -1))
