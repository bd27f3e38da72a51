"""Distributions over classes, and yes or no. Source: torch.distributions."""

from __future__ import annotations

import math
from numbers import Number
from typing import Any

from .. import dtypes
from ..core.modes import no_grad
from ..nn.functional import binary_cross_entropy_with_logits
from ..ops.draws import bernoulli, binomial, multinomial, poisson
from ..ops.embedding import one_hot
from ..ops.factories import full_like, ones, zeros_like
from ..ops.ranges import arange
from ..ops.windows import broadcast_tensors
from ..shapes import Size
from . import constraints
from .continuous import Gamma, batch_of
from .distribution import Distribution, ExponentialFamily
from .utils import as_size, broadcast_all, lazy_property, logits_to_probs, probs_to_logits, same_as


def one_of(probs: Any, logits: Any) -> tuple[str, Any]:
    """The name of the one that is given, and it."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    return ("probs", probs) if probs is not None else ("logits", logits)


class Odds:
    """A probability, given as such or as log-odds; the other one is computed when asked for."""

    def _take(self, probs: Any, logits: Any, total_count: Any = None) -> Any:
        """Keep the one that is given, beside `total_count` where that is; returns the batch shape."""
        name, given = one_of(probs, logits)
        if total_count is None:
            (param,) = broadcast_all(given)
        else:
            self.total_count, param = broadcast_all(total_count, given)
            self.total_count = self.total_count.type_as(param)
        setattr(self, name, param)
        return () if total_count is None and isinstance(given, Number) else param.size()

    @lazy_property
    def logits(self) -> Any:
        """The log-odds."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Any:
        """The probabilities."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._param.size()

    @property
    def _param(self) -> Any:
        return self.__dict__["probs"] if "probs" in self.__dict__ else self.logits


class Bernoulli(Odds, ExponentialFamily):
    """1 with probability `probs`, else 0."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(self._take(probs, logits), validate_args=validate_args)

    mean = same_as("probs")

    @property
    def mode(self) -> Any:
        return (self.probs >= 0.5).to(self.probs).masked_fill(self.probs == 0.5, math.nan)

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            return bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Any:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Any:
        return _all_values(arange(2, dtype=self._param.dtype), self._batch_shape, expand)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (probs_to_logits(self.probs, is_binary=True),)

    def _log_normalizer(self, x: Any) -> Any:
        return x.exp().log1p()


def _all_values(values: Any, batch: Size, expand: bool) -> Any:
    values = values.view(-1, *[1] * len(batch))
    return values.expand(-1, *batch) if expand else values


class Geometric(Odds, Distribution):
    """How many failures before the first success."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(self._take(probs, logits), validate_args=validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0).all():
            raise ValueError(
                f"Expected parameter probs ({type(self.probs).__name__} of shape {tuple(self.probs.shape)}) of "
                f"distribution {self!r} to be positive but found invalid values:\n{self.probs.data[self.probs <= 0]}"
            )

    @property
    def mean(self) -> Any:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Any:
        return zeros_like(self.probs)

    @property
    def variance(self) -> Any:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            u = self.probs.new_empty(shape).uniform_(dtypes.finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        value, probs = broadcast_all(value, self.probs)
        probs = probs.masked_fill((probs == 1) & (value == 0), 0)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Any:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs


class Poisson(ExponentialFamily):
    """rate^k exp(-rate) / k!."""

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(batch_of(self.rate, rate), validate_args=validate_args)

    mean = same_as("rate")

    @property
    def mode(self) -> Any:
        return self.rate.floor()

    variance = same_as("rate")

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            return poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.rate.log(),)

    def _log_normalizer(self, x: Any) -> Any:
        return x.exp()


class Categorical(Distribution):
    """One of K classes, with probabilities `probs` or exp(logits), normalised."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        name, given = one_of(probs, logits)
        if given.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._param = self.__dict__[name]
        self._num_events = self._param.size(-1)
        super().__init__(self._param.size()[:-1], validate_args=validate_args)

    def _expand_more(self, new: Any, batch: Size) -> None:
        new._num_events = self._num_events
        new._param = self._param.expand(*batch, self._num_events)

    @lazy_property
    def logits(self) -> Any:
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Any:
        return logits_to_probs(self.logits)

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._param.size()

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Any:
        return self.probs.new_full(self._extended_shape(), math.nan)

    @property
    def mode(self) -> Any:
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> Any:
        return self.probs.new_full(self._extended_shape(), math.nan)

    def sample(self, sample_shape: Any = ()) -> Any:
        n = as_size(sample_shape)
        with no_grad():
            rows = multinomial(self.probs.reshape(-1, self._num_events), n.numel(), True)
            return rows.T.reshape(self._extended_shape(n))

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        index, table = broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return table.gather(-1, index[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        logits = self.logits.clamp(min=dtypes.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        return _all_values(arange(self._num_events), self._batch_shape, expand)


class OfCategorical(Distribution):
    """A distribution of vectors with the classes and probabilities of a Categorical."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    probs, logits = same_as("_categorical.probs"), same_as("_categorical.logits")
    param_shape = same_as("_categorical.param_shape")

    def __init__(self, probs: Any, logits: Any, validate_args: bool | None) -> None:
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self.param_shape[-1:], validate_args=validate_args)

    def _expand_more(self, new: Any, batch: Size) -> None:
        new._categorical = self._categorical.expand(batch)


class OneHotCategorical(OfCategorical):
    """Categorical whose values are vectors with a single one."""

    support = constraints.one_hot
    has_enumerate_support = True
    mean = same_as("probs")

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(probs, logits, validate_args)

    @property
    def mode(self) -> Any:
        return one_hot(self.probs.argmax(-1), self._event_shape[0]).to(self.probs)

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        drawn = self._categorical.sample(sample_shape)
        return one_hot(drawn, self._event_shape[0]).to(self.probs)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Any:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Any:
        n = self._event_shape[0]
        values = one_hot(arange(n), n).to(self.probs).view(n, *[1] * len(self._batch_shape), n)
        return values.expand(n, *self._batch_shape, n) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """OneHotCategorical with gradients as if a value were its probabilities."""

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class Binomial(Odds, Distribution):
    """How many of total_count tries succeed."""

    arg_constraints = {
        "total_count": constraints.nonnegative_integer, "probs": constraints.unit_interval, "logits": constraints.real,
    }  # fmt: skip
    has_enumerate_support = True

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(self._take(probs, logits, total_count), validate_args=validate_args)

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


class NegativeBinomial(Odds, Distribution):
    """How many successes before total_count failures."""

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0), "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }  # fmt: skip
    support = constraints.nonnegative_integer

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(self._take(probs, logits, total_count), validate_args=validate_args)

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


class Multinomial(OfCategorical):
    """How often each class comes in total_count draws."""

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if not isinstance(total_count, Number):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        super().__init__(probs, logits, validate_args)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)

    def _expand_more(self, new: Any, batch: Size) -> None:
        super()._expand_more(new, batch)
        new.total_count = self.total_count
        new._binomial = Binomial(total_count=self.total_count, probs=new._categorical.probs)

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
