"""From a constraint to a map onto it. Source: torch.distributions.constraint_registry."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import Any

from . import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


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
    return transforms.identity_transform


@_both(constraints.independent)
def _to_independent(c: Any, registry: Any) -> Any:
    return transforms.IndependentTransform(registry(c.base_constraint), c.reinterpreted_batch_ndims)


@_both(constraints.greater_than, constraints.greater_than_eq)
def _to_above(c: Any, registry: Any) -> Any:
    return transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(c.lower_bound, 1)])


@_both(constraints.less_than)
def _to_below(c: Any, registry: Any) -> Any:
    return transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(c.upper_bound, -1)])


@_both(constraints.interval, constraints.half_open_interval)
def _to_interval(c: Any, registry: Any) -> Any:
    low, high = c.lower_bound, c.upper_bound
    if isinstance(low, Number) and isinstance(high, Number) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform([transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)])


@_both(constraints.corr_cholesky)
def _to_corr_cholesky(c: Any, registry: Any) -> Any:
    return transforms.CorrCholeskyTransform()


@_both(constraints.cat)
def _to_cat(c: Any, registry: Any) -> Any:
    return transforms.CatTransform([registry(part) for part in c.cseq], c.dim, c.lengths)


@_both(constraints.stack)
def _to_stack(c: Any, registry: Any) -> Any:
    return transforms.StackTransform([registry(part) for part in c.cseq], c.dim)


biject_to.register(constraints.simplex, lambda c: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda c: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda c: transforms.LowerCholeskyTransform())
transform_to.register(constraints.positive_definite, lambda c: transforms.PositiveDefiniteTransform())
transform_to.register(constraints.positive_semidefinite, lambda c: transforms.PositiveDefiniteTransform())
