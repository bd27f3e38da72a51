"""Distributions made of others: Independent, TransformedDistribution, MixtureSameFamily. Source:
torch.distributions."""

from __future__ import annotations

from typing import Any

from ..core.modes import no_grad
from ..shapes import Size
from . import constraints
from .discrete import Categorical
from .distribution import Distribution
from .transforms import ComposeTransform, Transform
from .utils import _sum_rightmost, as_size, same_as


class Independent(Distribution):
    """The last batch dimensions of a distribution as dimensions of a value."""

    arg_constraints: dict[str, Any] = {}

    def __init__(
        self, base_distribution: Any, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        batch = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {len(batch)}"
            )
        cut = len(batch) - reinterpreted_batch_ndims
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, reinterpreted_batch_ndims
        shape = Size((*batch, *base_distribution.event_shape))
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        n = self.reinterpreted_batch_ndims
        new, batch = self._new(_instance), as_size(batch_shape)
        new.base_dist = self.base_dist.expand(Size((*batch, *self._event_shape[:n])))
        new.reinterpreted_batch_ndims = n
        return self._expanded(new, batch)

    has_rsample = same_as("base_dist.has_rsample")

    @property
    def has_enumerate_support(self) -> bool:
        return False if self.reinterpreted_batch_ndims > 0 else self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:
        n = self.reinterpreted_batch_ndims
        return constraints.independent(self.base_dist.support, n) if n else self.base_dist.support

    mean = same_as("base_dist.mean")
    mode = same_as("base_dist.mode")
    variance = same_as("base_dist.variance")

    def sample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        return _sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Any:
        return _sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Any:
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"


class TransformedDistribution(Distribution):
    """What a distribution becomes under maps, one after the other.

    log_prob(y) is the base's log_prob at the preimage, less log |dy / dx|.
    """

    arg_constraints: dict[str, Any] = {}

    def __init__(self, base_distribution: Any, transforms: Any, validate_args: bool | None = None) -> None:
        if isinstance(transforms, Transform):
            self.transforms = [transforms]
        elif isinstance(transforms, list):
            if not all(isinstance(t, Transform) for t in transforms):
                raise ValueError("transforms must be a Transform or a list of Transforms")
            self.transforms = list(transforms)
        else:
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        batch, event = base_distribution.batch_shape, base_distribution.event_shape
        base_shape = Size((*batch, *event))
        whole = ComposeTransform(self.transforms)
        if len(base_shape) < whole.domain.event_dim:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {whole.domain.event_dim}, "
                f"but got {base_shape}."
            )
        shape = whole.forward_shape(base_shape)
        expanded = Size(whole.inverse_shape(shape))
        if base_shape != expanded:
            base_distribution = base_distribution.expand(expanded[: len(expanded) - len(event)])
        more = whole.domain.event_dim - len(event)
        if more > 0:
            base_distribution = Independent(base_distribution, more)
        self.base_dist = base_distribution
        event_dim = max(whole.codomain.event_dim, len(event) + whole.codomain.event_dim - whole.domain.event_dim)
        cut = len(shape) - event_dim
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new, batch = self._new(_instance), as_size(batch_shape)
        new.transforms = self.transforms
        shape = Size((*batch, *self._event_shape))
        for t in reversed(self.transforms):
            shape = t.inverse_shape(shape)
        new.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        return self._expanded(new, batch)

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        support, n = self.transforms[-1].codomain, len(self._event_shape)
        return constraints.independent(support, n - support.event_dim) if n > support.event_dim else support

    has_rsample = same_as("base_dist.has_rsample")

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            x = self.base_dist.sample(sample_shape)
            for t in self.transforms:
                x = t(x)
            return x

    def rsample(self, sample_shape: Any = ()) -> Any:
        x = self.base_dist.rsample(sample_shape)
        for t in self.transforms:
            x = t(x)
        return x

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        dim, y, out = len(self._event_shape), value, 0.0
        for t in reversed(self.transforms):
            x = t.inv(y)
            dim += t.domain.event_dim - t.codomain.event_dim
            out = out - _sum_rightmost(t.log_abs_det_jacobian(x, y), dim - t.domain.event_dim)
            y = x
        return out + _sum_rightmost(self.base_dist.log_prob(y), dim - len(self.base_dist.event_shape))

    def _flipped(self, value: Any) -> Any:
        """value, or 1 - value where the maps turn the order around."""
        sign: Any = 1
        for t in self.transforms:
            sign = sign * t.sign
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def cdf(self, value: Any) -> Any:
        for t in reversed(self.transforms):
            value = t.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._flipped(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Any:
        value = self.base_dist.icdf(self._flipped(value))
        for t in self.transforms:
            value = t(value)
        return value


class MixtureSameFamily(Distribution):
    """A mixture of the distributions along the last batch dimension."""

    arg_constraints: dict[str, Any] = {}
    has_rsample = False

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None
    ) -> None:
        self._mixture_distribution, self._component_distribution = (mixture_distribution, component_distribution)
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution needs to be an instance of torch.distributions.Distribution")
        ours, theirs = mixture_distribution.batch_shape, component_distribution.batch_shape
        for a, b in zip(reversed(ours), reversed(theirs[:-1]), strict=False):
            if a != 1 and b != 1 and a != b:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({ours}) is not compatible with "
                    f"`component_distribution.batch_shape`({theirs[:-1]})"
                )
        self._num_component = theirs[-1]
        if mixture_distribution.logits.shape[-1] != self._num_component:
            raise ValueError(
                f"`mixture_distribution component` ({mixture_distribution.logits.shape[-1]}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({theirs[-1]})"
            )
        event = component_distribution.event_shape
        self._event_ndims = len(event)
        super().__init__(theirs[:-1], event, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new, batch = self._new(_instance), as_size(batch_shape)
        new._component_distribution = self._component_distribution.expand(Size((*batch, self._num_component)))
        new._mixture_distribution = self._mixture_distribution.expand(batch)
        new._num_component, new._event_ndims = self._num_component, self._event_ndims
        return self._expanded(new, batch)

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Any:
        """Which component."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The components."""
        return self._component_distribution

    def _weights(self) -> Any:
        probs = self._mixture_distribution.probs
        return probs.reshape(*probs.shape, *[1] * self._event_ndims)

    def _over_components(self, x: Any) -> Any:
        return x.sum(-1 - self._event_ndims)

    def _per_component(self, x: Any) -> Any:
        return x.unsqueeze(-1 - self._event_ndims)

    @property
    def mean(self) -> Any:
        return self._over_components(self._weights() * self._component_distribution.mean)

    @property
    def variance(self) -> Any:
        weights, components = self._weights(), self._component_distribution
        within = self._over_components(weights * components.variance)
        mean = self._per_component(self.mean)
        return within + self._over_components(weights * (components.mean - mean).pow(2.0))

    def cdf(self, x: Any) -> Any:
        values = self._component_distribution.cdf(self._per_component(x))
        return (values * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, x: Any) -> Any:
        self._checked(x)
        each = self._component_distribution.log_prob(self._per_component(x))
        return (each + self._mixture_distribution.logits.log_softmax(-1)).logsumexp(-1)

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            shape = as_size(sample_shape)
            at, n = len(shape) + len(self._batch_shape), self._event_ndims
            which = self._mixture_distribution.sample(shape)
            values = self._component_distribution.sample(shape)
            which = which.reshape(*which.shape, *[1] * (n + 1))
            which = which.expand(*which.shape[: which.dim() - n], *self._event_shape)
            return values.gather(at, which).squeeze(at)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self._mixture_distribution},\n  {self._component_distribution})"
