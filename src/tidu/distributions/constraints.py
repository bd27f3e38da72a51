"""Constraints: regions of values, each with a `check`. Source: torch.distributions.constraints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ops import joining

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint",
    "boolean", "cat", "corr_cholesky", "dependent", "dependent_property", "greater_than",
    "greater_than_eq", "half_open_interval", "independent", "integer_interval", "interval", "is_dependent", "less_than",
    "lower_cholesky", "lower_triangular", "multinomial", "nonnegative", "nonnegative_integer", "one_hot", "positive",
    "positive_definite", "positive_integer", "positive_semidefinite", "real", "real_vector", "simplex", "square",
    "stack", "symmetric", "unit_interval",
]  # fmt: skip


class Constraint:
    """A region of values. `check(value)` is True where a value lies in it.

    is_discrete: whether it is a set of separate points; event_dim: how many dimensions make one value.
    """

    is_discrete = False
    event_dim = 0

    def check(self, value: Any) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        return type(self).__name__[1:] + "()"


class _Dependent(Constraint):
    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim

    @property
    def is_discrete(self) -> bool:
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete

    @property
    def event_dim(self) -> int:
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> _Dependent:
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, value: Any) -> Any:
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: Any) -> bool:
    """Whether a constraint depends on other parameters."""
    return isinstance(constraint, (_Dependent, _DependentProperty))


class _DependentProperty(property, _Dependent):
    """A property of distributions that is a constraint; of the class itself it stands for a dependent one."""

    def __init__(self, fn: Any = None, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        property.__init__(self, fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn: Callable[..., Any]) -> _DependentProperty:
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _IndependentConstraint(Constraint):
    """A constraint over more dimensions: all of them must hold."""

    def __init__(self, base_constraint: Any, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims

    @property
    def is_discrete(self) -> bool:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        ok = self.base_constraint.check(value)
        n = self.reinterpreted_batch_ndims
        if ok.dim() < n:
            raise ValueError(f"Expected value.dim() >= {self.base_constraint.event_dim + n} but got {value.dim()}")
        return ok if n == 0 else ok.reshape(*ok.shape[: ok.dim() - n], -1).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__[1:]}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


def _simple(name: str, test: Callable[[Any], Any], is_discrete: bool = False, event_dim: int = 0) -> Any:
    """A constraint that is one test of a value, of a class of its own."""
    members = {
        "check": lambda self, value: test(value), "is_discrete": is_discrete, "event_dim": event_dim,
        "__module__": __name__,
    }  # fmt: skip
    return type("_" + name, (Constraint,), members)()


class _Bounds(Constraint):
    words = ("", "")  # the names of the bounds in its text

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def __repr__(self) -> str:
        pairs = zip(self.words, (self.lower_bound, self.upper_bound), strict=True)
        return f"{type(self).__name__[1:]}({', '.join(f'{w}={b}' for w, b in pairs if w)})"


class _Below(_Bounds):
    words = "", "upper_bound"

    def __init__(self, upper_bound: Any) -> None:
        super().__init__(None, upper_bound)


class _Above(_Bounds):
    words = "lower_bound", ""

    def __init__(self, lower_bound: Any) -> None:
        super().__init__(lower_bound, None)


class _IntegerInterval(_Bounds):
    is_discrete = True
    words = "lower_bound", "upper_bound"

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _IntegerLessThan(_Below):
    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (value <= self.upper_bound)


class _IntegerGreaterThan(_Above):
    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (value >= self.lower_bound)


class _GreaterThan(_Above):
    def check(self, value: Any) -> Any:
        return self.lower_bound < value


class _GreaterThanEq(_Above):
    def check(self, value: Any) -> Any:
        return self.lower_bound <= value


class _LessThan(_Below):
    def check(self, value: Any) -> Any:
        return value < self.upper_bound


class _Interval(_Bounds):
    words = "lower_bound", "upper_bound"

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Bounds):
    words = "lower_bound", "upper_bound"

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _Multinomial(Constraint):
    """Counts that add up to at most `upper_bound`."""

    is_discrete, event_dim = True, 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, x: Any) -> Any:
        return (x >= 0).all(-1) & (x.sum(-1) <= self.upper_bound)


class MixtureSameFamilyConstraint(Constraint):
    """Where all components of a mixture may lie: checked against each of them."""

    def __init__(self, base_constraint: Any) -> None:
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> bool:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:
        return self.base_constraint.event_dim

    def check(self, value: Any) -> Any:
        # a dimension for the components, before those of an event
        ok = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        dims = ok.dim() - value.dim() + self.event_dim
        return ok.all(-1) if dims < 2 else ok.reshape(*ok.shape[:-dims], -1).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"


def _check_dim(dim: int, value: Any) -> None:
    if not -value.dim() <= dim < value.dim():
        raise AssertionError(f"dim {dim} out of range for value with {value.dim()} dimensions")


class _Cat(Constraint):
    """Constraints on the parts of a value along a dimension."""

    def __init__(self, cseq: Sequence[Any], dim: int = 0, lengths: Sequence[int] | None = None) -> None:
        self.cseq, self.dim = list(cseq), dim
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)

    @property
    def is_discrete(self) -> bool:
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self) -> int:
        return max(c.event_dim for c in self.cseq)

    def check(self, value: Any) -> Any:
        _check_dim(self.dim, value)
        parts, at = [], 0
        for c, n in zip(self.cseq, self.lengths, strict=True):
            parts.append(c.check(value.narrow(self.dim, at, n)))
            at += n
        return joining.cat(parts, self.dim)


class _Stack(Constraint):
    """Constraints on the slices of a value along a dimension."""

    def __init__(self, cseq: Sequence[Any], dim: int = 0) -> None:
        self.cseq, self.dim = list(cseq), dim

    @property
    def is_discrete(self) -> bool:
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self) -> int:
        dim = max(c.event_dim for c in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value: Any) -> Any:
        _check_dim(self.dim, value)
        slices = [value.select(self.dim, i) for i in range(value.size(self.dim))]
        return joining.stack([c.check(v) for c, v in zip(self.cseq, slices, strict=False)], self.dim)


def _all_of_matrix(x: Any) -> Any:
    return x.reshape(*x.shape[:-2], -1).all(-1)


def _lower_triangular(x: Any) -> Any:
    return _all_of_matrix(x.tril() == x)


def _lower_cholesky(x: Any) -> Any:
    return _lower_triangular(x) & (x.diagonal(dim1=-2, dim2=-1) > 0).min(-1)[0].bool()


def _corr_cholesky(x: Any) -> Any:
    from ..dtypes import finfo

    rows = x.detach().norm(dim=-1)
    near = ((rows - 1).abs() <= finfo(x.dtype).eps * x.size(-1) * 10).all(-1)
    return _lower_cholesky(x) & near


def _square(x: Any) -> Any:
    return x.new_full(x.shape[:-2], x.shape[-2] == x.shape[-1]).bool()


def _symmetric(x: Any) -> Any:
    from ..ops.comparison import isclose

    return _all_of_matrix(isclose(x, x.mT, atol=1e-6)) if x.shape[-2] == x.shape[-1] else _square(x)


def _positive_semidefinite(x: Any) -> Any:
    from .. import linalg

    ok = _symmetric(x)
    return ok & (linalg.eigvalsh(x) >= 0).all(-1) if ok.all() else ok


def _positive_definite(x: Any) -> Any:
    from .. import linalg

    ok = _symmetric(x)
    return ok & (linalg.cholesky_ex(x).info == 0) if ok.all() else ok


def _one_hot(x: Any) -> Any:
    return ((x == 0) | (x == 1)).all(-1) & (x.sum(-1) == 1)


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _simple("Boolean", lambda x: (x == 0) | (x == 1), is_discrete=True)
one_hot = _simple("OneHot", _one_hot, is_discrete=True, event_dim=1)
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _simple("Real", lambda x: x == x)
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _simple("Simplex", lambda x: (x >= 0).all(-1) & ((x.sum(-1) - 1).abs() < 1e-6), event_dim=1)
lower_triangular = _simple("LowerTriangular", _lower_triangular, event_dim=2)
lower_cholesky = _simple("LowerCholesky", _lower_cholesky, event_dim=2)
corr_cholesky = _simple("CorrCholesky", _corr_cholesky, event_dim=2)
square = _simple("Square", _square, event_dim=2)
symmetric = _simple("Symmetric", _symmetric, event_dim=2)
positive_semidefinite = _simple("PositiveSemidefinite", _positive_semidefinite, event_dim=2)
positive_definite = _simple("PositiveDefinite", _positive_definite, event_dim=2)
cat, stack = _Cat, _Stack
