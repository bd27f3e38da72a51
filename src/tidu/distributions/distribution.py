"""The base of all distributions. Source: torch.distributions.distribution."""

from __future__ import annotations

import warnings
from typing import Any

from ..autograd import grad
from ..core.modes import no_grad
from ..core.tensor import Tensor
from ..naming import Shown
from ..shapes import Size
from . import constraints
from .utils import as_size, lazy_property


class Distribution:
    """A batch of distributions of one kind: `batch_shape` of them, over values of shape `event_shape`."""

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__
    _batch_shape: Size
    _event_shape: Size

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether parameters and values are checked."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None) -> None:
        self._batch_shape, self._event_shape = as_size(batch_shape), as_size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        try:
            limits = self.arg_constraints
        except NotImplementedError:
            limits = {}
            warnings.warn(
                f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or initialize "
                "the distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
        for name, limit in limits.items():
            if constraints.is_dependent(limit):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name, None), lazy_property):
                continue
            value = getattr(self, name)
            if not limit.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                    f"{self!r} to satisfy the constraint {limit!r}, but found invalid values:\n{value}"
                )

    # ---------------------------------------------------------------- shapes

    @property
    def batch_shape(self) -> Size:
        """The shape of the batch of distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of a value."""
        return self._event_shape

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        return Size((*as_size(sample_shape), *self._batch_shape, *self._event_shape))

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distributions as a larger batch."""
        new, batch = self._new(_instance), as_size(batch_shape)
        for name, limit in self.arg_constraints.items():
            if name in self.__dict__:
                value = self.__dict__[name]
                events = value.shape[value.dim() - limit.event_dim :] if limit.event_dim else ()
                setattr(new, name, value.expand((*batch, *events)))
        return self._expanded(new, batch)

    def _new(self, _instance: Any) -> Any:
        """An empty distribution of this class, to be expanded into."""
        ours = next(c for c in type(self).__mro__ if c.__module__.split(".")[1:2] == ["distributions"])
        return self._get_checked_instance(ours, _instance)

    def _expanded(self, new: Any, batch: Size) -> Any:
        self._expand_more(new, batch)
        Distribution.__init__(new, batch, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _expand_more(self, new: Any, batch: Size) -> None:
        """For subclasses with more to expand than parameters."""

    def _get_checked_instance(self, cls: Any, _instance: Any = None) -> Any:
        if _instance is None and type(self).__init__ is not cls.__init__:
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also "
                "define a custom .expand() method."
            )
        return type(self).__new__(type(self)) if _instance is None else _instance

    # ---------------------------------------------------------------- what subclasses define

    @property
    def arg_constraints(self) -> dict[str, Any]:
        """What parameters must satisfy."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """Where values lie."""
        raise NotImplementedError

    @property
    def mean(self) -> Any:
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self) -> Any:
        """The most probable value."""
        raise NotImplementedError(f"{Shown.__repr__(type(self))} does not implement mode")  # type: ignore[arg-type]

    @property
    def variance(self) -> Any:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Any:
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Any:
        """Values at random, without gradients."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Values at random, through which gradients flow to the parameters."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Any:
        """The old way to write sample((n,))."""
        warnings.warn("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning, stacklevel=2)
        return self.sample((n,))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability (density) of a value."""
        raise NotImplementedError

    def cdf(self, value: Any) -> Any:
        """The probability of less than a value."""
        raise NotImplementedError

    def icdf(self, value: Any) -> Any:
        """The value below which lies this probability."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Any:
        """All values, of a discrete distribution."""
        raise NotImplementedError

    def entropy(self) -> Any:
        """The entropy, in nats."""
        raise NotImplementedError

    def perplexity(self) -> Any:
        """exp(entropy)."""
        return self.entropy().exp()

    # ---------------------------------------------------------------- checking, text

    def _validate_sample(self, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        shape, n = value.shape, len(self._event_shape)
        if Size(shape[len(shape) - n :]) != self._event_shape:
            raise ValueError(f"The right-most size of value must match event_shape: {shape} vs {self._event_shape}.")
        expected = Size((*self._batch_shape, *self._event_shape))
        if any(i != 1 and j != 1 and i != j for i, j in zip(reversed(shape), reversed(expected), strict=False)):
            raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {shape} vs {expected}.")
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `support` to enable sample validation. Please initialize the "
                "distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(shape)}) to be within the support "
                f"({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def _checked(self, value: Any) -> None:
        if self._validate_args:
            self._validate_sample(value)

    def __repr__(self) -> str:
        names = [k for k in self.arg_constraints if k in self.__dict__]
        values = {k: self.__dict__[k] for k in names}
        texts = [f"{k}: {v if v.numel() == 1 else v.size()}" for k, v in values.items()]
        return f"{type(self).__name__}({', '.join(texts)})"


class ExponentialFamily(Distribution):
    """Densities exp(t(x) . theta - F(theta) + k(x)): the entropy comes from F by autograd."""

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> Any:
        raise NotImplementedError

    def entropy(self) -> Any:
        """-E[k(x)] + F(theta) - theta . F'(theta)."""
        params = [p.detach().requires_grad_() for p in self._natural_params]
        normalizer = self._log_normalizer(*params)
        gradients = grad(normalizer.sum(), params, create_graph=True)
        out = normalizer - self._mean_carrier_measure
        for p, g in zip(params, gradients, strict=True):
            out = out - (p * g).reshape(*self._batch_shape, -1).sum(-1)
        return out
