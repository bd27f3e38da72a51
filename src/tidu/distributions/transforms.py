"""Maps of values, each with the logarithm of its Jacobian. Source: torch.distributions.transforms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from numbers import Number
from typing import Any

from .. import dtypes
from ..core.tensor import Tensor
from ..ops.factories import full_like
from ..ops.joining import cat, stack
from . import constraints
from ._transform import ComposeTransform, IndependentTransform, ReshapeTransform, Transform, _InverseTransform, at_least  # noqa: F401
from .utils import _sum_rightmost, broadcast_all, tril_matrix_to_vec, vec_to_tril_matrix


def _softplus(x: Any) -> Any:
    return x.clamp(min=0) + (-x.abs()).exp().log1p()


class _Plain(Transform):
    """A map without parameters: all of its kind are equal."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    __hash__ = None


class _Growing(_Plain):
    """A map from the reals that grows everywhere."""

    domain = constraints.real
    bijective = True
    sign = +1


class ExpTransform(_Growing):
    """y = exp(x)."""

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x


class PowerTransform(Transform):
    """y = x ** exponent."""

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True
    made_of = ("exponent",)

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    @property
    def sign(self) -> Any:
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool(self.exponent.eq(other.exponent).all())

    __hash__ = None

    def _call(self, x: Any) -> Any:
        return x.pow(self.exponent)

    def _inverse(self, y: Any) -> Any:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Any) -> Any:
        return _broadcast(shape, self.exponent)

    inverse_shape = forward_shape


def _broadcast(shape: Any, *more: Any) -> Any:
    from ..ops.properties import broadcast_shapes

    return broadcast_shapes(shape, *[getattr(m, "shape", ()) for m in more])


class SigmoidTransform(_Growing):
    """y = 1 / (1 + exp(-x))."""

    codomain = constraints.unit_interval

    def _call(self, x: Any) -> Any:
        limits = dtypes.finfo(x.dtype)
        return x.sigmoid().clamp(min=limits.tiny, max=1.0 - limits.eps)

    def _inverse(self, y: Any) -> Any:
        limits = dtypes.finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -_softplus(-x) - _softplus(x)


class SoftplusTransform(_Growing):
    """y = log(1 + exp(x)); x itself where it is above 20."""

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        from ..nn.functional import softplus

        return softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        from ..nn.functional import softplus

        return -softplus(-x)


class TanhTransform(_Growing):
    """y = tanh(x)."""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return 2.0 * (math.log(2.0) - x - _softplus(-2.0 * x))


class AbsTransform(_Plain):
    """y = |x|."""

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


class AffineTransform(Transform):
    """y = loc + scale * x."""

    bijective = True
    made_of = ("loc", "scale", "_event_dim")

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc, self._event_dim = loc, event_dim
        self.scale: Any = scale

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        return constraints.real if self._event_dim == 0 else constraints.independent(constraints.real, self._event_dim)

    codomain = domain

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AffineTransform):
            return False
        pairs = ((self.loc, other.loc), (self.scale, other.scale))
        return all(bool((a == b).all()) if isinstance(a, Tensor) else bool(a == b) for a, b in pairs)

    __hash__ = None

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return 1 if self.scale > 0 else -1 if self.scale < 0 else 0

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        shape, number = x.shape, not isinstance(self.scale, Tensor)
        out: Any = full_like(x, math.log(abs(self.scale))) if number else self.scale.abs().log()
        if self._event_dim:
            out = out.view(*out.size()[: -self._event_dim], -1).sum(-1)
            shape = shape[: -self._event_dim]
        return out.expand(shape)

    def forward_shape(self, shape: Any) -> Any:
        return _broadcast(shape, self.loc, self.scale)

    inverse_shape = forward_shape


class SoftmaxTransform(_Plain):
    """y = softmax(x): not one-to-one."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Any) -> Any:
        exps = (x - x.max(-1, True)[0]).exp()
        return exps / exps.sum(-1, True)

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        at_least(1, len(shape))
        return shape

    inverse_shape = forward_shape


def _padded(x: Any, before: int, after: int, value: float) -> Any:
    from ..nn.functional import pad

    return pad(x, [before, after], value=value)


class StickBreakingTransform(_Plain):
    """From n numbers to n + 1 that add up to 1: each takes a part of what the ones before left."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _call(self, x: Any) -> Any:
        left = x.shape[-1] + 1 - x.new_ones(x.shape[-1]).cumsum(-1)
        z = (x - left.log()).sigmoid()
        return _padded(z, 0, 1, 1) * _padded((1 - z).cumprod(-1), 1, 0, 1)

    def _inverse(self, y: Any) -> Any:
        head = y[..., :-1]
        left = y.shape[-1] - y.new_ones(head.shape[-1]).cumsum(-1)
        rest = (1 - head.cumsum(-1)).clamp(min=dtypes.finfo(y.dtype).tiny)
        return head.log() - rest.log() + left.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        left = x.shape[-1] + 1 - x.new_ones(x.shape[-1]).cumsum(-1)
        x = x - left.log()
        return (-x - _softplus(-x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        at_least(1, len(shape))
        return shape[:-1] + (shape[-1] + 1,)

    def inverse_shape(self, shape: Any) -> Any:
        at_least(1, len(shape))
        return shape[:-1] + (shape[-1] - 1,)


class LowerCholeskyTransform(_Plain):
    """Any matrix to the lower triangle of it, with exp on the diagonal."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(_Plain):
    """Any matrix to L L^T, with L from LowerCholeskyTransform."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        lower = LowerCholeskyTransform()(x)
        return lower @ lower.mT

    def _inverse(self, y: Any) -> Any:
        from ..linalg import cholesky

        return LowerCholeskyTransform().inv(cholesky(y))


class CorrCholeskyTransform(_Plain):
    """From D (D - 1) / 2 numbers to the Cholesky factor of a correlation matrix."""

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        x = x.tanh()
        eps = dtypes.finfo(x.dtype).eps
        r = vec_to_tril_matrix(x.clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - r**2).sqrt().cumprod(-1)
        r = r + r.new_ones(r.shape[-1]).diag_embed()
        return r * _padded(left[..., :-1], 1, 0, 1)

    def _inverse(self, y: Any) -> Any:
        left = (1 - (y * y).cumsum(-1)).clamp(min=dtypes.finfo(y.dtype).tiny)
        t = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(_padded(left[..., :-1], 1, 0, 1), diag=-1).sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        left = 1 - (y * y).cumsum(-1)
        out = 0.5 * tril_matrix_to_vec(left, diag=-2).log().sum(-1)
        return out + -2 * (x + _softplus(-2 * x) - math.log(2.0)).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        at_least(1, len(shape))
        n = shape[-1]
        d = round((0.25 + 2 * n) ** 0.5 + 0.5)
        if d * (d - 1) // 2 != n:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return shape[:-1] + (d, d)

    def inverse_shape(self, shape: Any) -> Any:
        at_least(2, len(shape))
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        d = shape[-1]
        return shape[:-2] + (d * (d - 1) // 2,)


class _Several(Transform):
    """Maps on parts of a value along a dimension."""

    join: Any

    def __init__(self, tseq: Sequence[Transform], dim: int, cache_size: int) -> None:
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    @property
    def bijective(self) -> bool:
        return all(t.bijective for t in self.transforms)

    def _parts(self, x: Any) -> list[Any]:
        raise NotImplementedError

    def _call(self, x: Any) -> Any:
        return self.join([t(p) for t, p in zip(self.transforms, self._parts(x), strict=True)], dim=self.dim)

    def _inverse(self, y: Any) -> Any:
        return self.join([t.inv(p) for t, p in zip(self.transforms, self._parts(y), strict=True)], dim=self.dim)


class CatTransform(_Several):
    """Maps on parts of these lengths along a dimension."""

    made_of = ("transforms", "dim", "lengths")
    join = staticmethod(cat)

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, lengths: Any = None, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)

    @property
    def event_dim(self) -> int:
        return max(t.event_dim for t in self.transforms)

    @property
    def length(self) -> int:
        """How long the dimension is."""
        return sum(self.lengths)

    def _parts(self, x: Any) -> list[Any]:
        starts = [sum(self.lengths[:i]) for i in range(len(self.lengths))]
        return [x.narrow(self.dim, at, n) for at, n in zip(starts, self.lengths, strict=True)]

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        terms = []
        for t, a, b in zip(self.transforms, self._parts(x), self._parts(y), strict=True):
            terms.append(_sum_rightmost(t.log_abs_det_jacobian(a, b), self.event_dim - t.event_dim))
        dim = self.dim if self.dim < 0 else self.dim - x.dim()
        dim += self.event_dim
        if dim < 0:
            return cat(terms, dim=dim)
        out = terms[0]
        for term in terms[1:]:
            out = out + term
        return out

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(_Several):
    """Maps on the slices along a dimension."""

    made_of = ("transforms", "dim")
    join = staticmethod(stack)

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)

    def _parts(self, x: Any) -> list[Any]:
        return [x.select(self.dim, i) for i in range(x.size(self.dim))]

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        pairs = zip(self.transforms, self._parts(x), self._parts(y), strict=True)
        return stack([t.log_abs_det_jacobian(a, b) for t, a, b in pairs], dim=self.dim)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.stack([t.codomain for t in self.transforms], self.dim)


class CumulativeDistributionTransform(Transform):
    """y = the cdf of a distribution at x."""

    bijective = True
    codomain = constraints.unit_interval
    sign = +1
    made_of = ("distribution",)

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        return self.distribution.support

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return self.distribution.log_prob(x)


identity_transform = ComposeTransform([])


# ---------------------------------------------------------------- from a constraint to a map onto it


class ConstraintRegistry:
    """From kinds of constraints to functions that make maps onto them."""

    def __init__(self) -> None:
        self._registry: dict[Any, Callable[[Any], Any]] = {}
        super().__init__()

    def register(self, constraint: Any, factory: Any = None) -> Any:
        """Keep `factory` for this constraint, or its class."""
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        if isinstance(constraint, constraints.Constraint):
            constraint = type(constraint)
        if not isinstance(constraint, type) or not issubclass(constraint, constraints.Constraint):
            raise TypeError(f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}")
        self._registry[constraint] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        try:
            factory = self._registry[type(constraint)]
        except KeyError:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints") from None
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _both(*kinds: Any) -> Callable[[Callable[[Any, Any], Any]], Any]:
    """Register under both: the function also gets the registry, for constraints made of others."""

    def keep(make: Callable[[Any, Any], Any]) -> Any:
        for kind in kinds:
            for registry in (biject_to, transform_to):
                registry.register(kind, lambda c, registry=registry: make(c, registry))
        return make

    return keep


@_both(constraints.real)
def _to_real(c: Any, registry: Any) -> Any:
    return identity_transform


@_both(constraints.independent)
def _to_independent(c: Any, registry: Any) -> Any:
    return IndependentTransform(registry(c.base_constraint), c.reinterpreted_batch_ndims)


@_both(constraints.greater_than, constraints.greater_than_eq)
def _to_above(c: Any, registry: Any) -> Any:
    return ComposeTransform([ExpTransform(), AffineTransform(c.lower_bound, 1)])


@_both(constraints.less_than)
def _to_below(c: Any, registry: Any) -> Any:
    return ComposeTransform([ExpTransform(), AffineTransform(c.upper_bound, -1)])


@_both(constraints.interval, constraints.half_open_interval)
def _to_interval(c: Any, registry: Any) -> Any:
    low, high = c.lower_bound, c.upper_bound
    if isinstance(low, Number) and isinstance(high, Number) and (low, high) == (0, 1):
        return SigmoidTransform()
    return ComposeTransform([SigmoidTransform(), AffineTransform(low, high - low)])


@_both(constraints.corr_cholesky)
def _to_corr_cholesky(c: Any, registry: Any) -> Any:
    return CorrCholeskyTransform()


@_both(constraints.cat)
def _to_cat(c: Any, registry: Any) -> Any:
    return CatTransform([registry(part) for part in c.cseq], c.dim, c.lengths)


@_both(constraints.stack)
def _to_stack(c: Any, registry: Any) -> Any:
    return StackTransform([registry(part) for part in c.cseq], c.dim)


biject_to.register(constraints.simplex, lambda c: StickBreakingTransform())
transform_to.register(constraints.simplex, lambda c: SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda c: LowerCholeskyTransform())
transform_to.register(constraints.positive_definite, lambda c: PositiveDefiniteTransform())
transform_to.register(constraints.positive_semidefinite, lambda c: PositiveDefiniteTransform())


__all__ = ["identity_transform"]
for _name, _value in list(globals().items()):
    if isinstance(_value, type) and issubclass(_value, Transform):
        _value.__module__ = __name__  # as files know it
        if _name[0] != "_":
            __all__.append(_name)
