"""Distributions of vectors, and Beta: Dirichlet, MultivariateNormal and its low-rank form. Source:
torch.distributions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import linalg
from ..autograd.function import Function
from ..core.tensor import Tensor
from ..dtypes import float64
from ..ops.creation import as_tensor, tensor
from ..ops.draws import _sample_dirichlet
from ..ops.joining import stack
from ..ops.properties import broadcast_shapes
from . import constraints
from .distribution import Distribution, ExponentialFamily
from .utils import _standard_normal, lazy_property, same_as

STEP = 1e-4  # of the logarithm of a concentration, in the difference quotient of the cdf of Beta


def dirichlet_gradient(x: Any, concentration: Any) -> Any:
    """d x_i / d concentration_i of a Dirichlet number, less what moves along with x: from Beta, its marginal.

    It is -(d cdf / d a) / (pdf (1 - x)), at Beta(a, total - a).
    """
    from scipy import special

    v, a = np.asarray(x.detach().to(float64)), np.asarray(concentration.detach().to(float64))
    b = a.sum(-1, keepdims=True) - a
    with np.errstate(all="ignore"):
        h = a * STEP
        far = special.betainc(a + 2 * h, b, v) - special.betainc(a - 2 * h, b, v)
        slope = (8 * (special.betainc(a + h, b, v) - special.betainc(a - h, b, v)) - far) / (12 * h)
        density = np.exp((a - 1) * np.log(v) + (b - 1) * np.log1p(-v) - special.betaln(a, b))
        out = -slope / (density * (1 - v))
    # where the density underflows: the values at the ends do not move
    return as_tensor(np.where(np.isfinite(out), out, 0.0), dtype=x.dtype)


class _Draw(Function):
    """Dirichlet numbers, with the gradient of each."""

    @staticmethod
    def forward(ctx: Any, concentration: Any) -> Any:
        x = _sample_dirichlet(concentration)
        ctx.save_for_backward(x, concentration)
        return x

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        x, concentration = ctx.saved_tensors
        return dirichlet_gradient(x, concentration) * (grad - (x * grad).sum(-1, True))


class Dirichlet(ExponentialFamily):
    """Points of the simplex: prod x_i^(a_i - 1)."""

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return _Draw.apply(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        a = self.concentration
        return (a - 1.0).xlogy(value).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)

    @property
    def mean(self) -> Any:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Any:
        top = (self.concentration - 1).clamp(min=0.0)
        mode = top / top.sum(-1, True)
        flat = (self.concentration < 1).all(dim=-1)
        if not flat.any():
            return mode
        # all mass in the corners: the largest of them
        from ..nn.functional import one_hot

        corner = one_hot(mode.nan_to_num(0.0).argmax(dim=-1), self.concentration.shape[-1])
        return mode.where(~flat.unsqueeze(-1), corner.to(mode))

    @property
    def variance(self) -> Any:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self) -> Any:
        a = self.concentration
        k, total = a.size(-1), a.sum(-1)
        spread = (k - total) * total.digamma() + ((a - 1.0) * a.digamma()).sum(-1)
        return a.lgamma().sum(-1) - total.lgamma() - spread

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Any) -> Any:
        return x.lgamma().sum(-1) - x.sum(-1).lgamma()


class Beta(ExponentialFamily):
    """x^(a - 1) (1 - x)^(b - 1), with a and b the concentrations 1 and 0."""

    arg_constraints = {
        "concentration1": constraints.positive, "concentration0": constraints.positive,
    }  # fmt: skip
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        if not isinstance(concentration1, Tensor) and not isinstance(concentration0, Tensor):
            pair: Any = tensor([float(concentration1), float(concentration0)])
        else:
            like: Any = concentration1 if isinstance(concentration1, Tensor) else concentration0
            a: Any = concentration1 if isinstance(concentration1, Tensor) else like.new_full((), concentration1)
            b: Any = concentration0 if isinstance(concentration0, Tensor) else like.new_full((), concentration0)
            shape = broadcast_shapes(a.shape, b.shape)
            pair = stack([a.expand(shape), b.expand(shape)], -1)
        self._dirichlet = Dirichlet(pair, validate_args=validate_args)
        super().__init__(self._dirichlet.batch_shape, validate_args=validate_args)

    def _expand_more(self, new: Any, batch: Any) -> None:
        new._dirichlet = self._dirichlet.expand(batch)

    @property
    def concentration1(self) -> Any:
        """The exponent of x, plus 1."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Any:
        """The exponent of 1 - x, plus 1."""
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self) -> Any:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Any:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Any:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        return self._dirichlet.log_prob(stack([value, 1.0 - value], -1))

    def entropy(self) -> Any:
        return self._dirichlet.entropy()

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return x.lgamma() + y.lgamma() - (x + y).lgamma()


def mahalanobis(lower: Any, x: Any) -> Any:
    """x^T (L L^T)^-1 x."""
    return linalg.solve_triangular(lower, x.unsqueeze(-1), upper=False).squeeze(-1).pow(2).sum(-1)


def log_diagonal(lower: Any) -> Any:
    """The sum of logarithms of a diagonal."""
    return lower.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def _factor_of_inverse(precision: Any) -> Any:
    """The lower factor of the inverse of a matrix, by the factor of the matrix read from its end."""
    flipped = linalg.cholesky(precision.flip((-2, -1)))
    upper = flipped.flip((-2, -1)).mT
    eye = tensor(np.eye(precision.shape[-1]), dtype=precision.dtype)
    return linalg.solve_triangular(upper, eye, upper=False)


class Covariance:
    """A covariance given by itself, by its inverse or by a factor L of it; the others are computed when asked for."""

    _batch_shape: Any
    _unbroadcasted_scale_tril: Any

    def _form(self, error: type[Exception], covariance: Any, precision: Any, scale_tril: Any) -> tuple[str, Any]:
        forms = {"covariance_matrix": covariance, "precision_matrix": precision, "scale_tril": scale_tril}
        given = [(k, v) for k, v in forms.items() if v is not None]
        if len(given) != 1:
            raise error("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        return given[0]

    def _factorise(self, name: str, matrix: Any) -> None:
        if name == "covariance_matrix":
            matrix = linalg.cholesky(matrix)
        elif name == "precision_matrix":
            matrix = _factor_of_inverse(matrix)
        self._unbroadcasted_scale_tril = matrix

    def _full(self, matrix: Any) -> Any:
        return matrix.expand(*self._batch_shape, -1, -1)

    @lazy_property
    def scale_tril(self) -> Any:
        """L, with L L^T the covariance."""
        return self._full(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        lower = self._unbroadcasted_scale_tril
        return self._full(lower @ lower.mT)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        from ..ops.triangular import cholesky_inverse

        return self._full(cholesky_inverse(self._unbroadcasted_scale_tril))


class MultivariateNormal(Covariance, Distribution):
    """Normal vectors, with a covariance given by itself, by its inverse or by a factor L of it."""

    arg_constraints = {
        "loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky,
    }  # fmt: skip
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, loc: Any, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = self._form(ValueError, covariance_matrix, precision_matrix, scale_tril)
        if matrix.dim() < 2:
            what = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(f"{what} must be at least two-dimensional, with optional leading batch dimensions")
        batch = broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand(*batch, *matrix.shape[-2:]))
        self.loc = loc.expand(*batch, loc.shape[-1])
        super().__init__(batch, self.loc.shape[-1:], validate_args=validate_args)
        self._factorise(name, matrix)

    def _expand_more(self, new: Any, batch: Any) -> None:
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril

    mean = mode = same_as("loc")

    @property
    def variance(self) -> Any:
        v = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return v.expand(*self._batch_shape, *self._event_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        eps = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype)
        return self.loc + (self._unbroadcasted_scale_tril @ eps.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        lower = self._unbroadcasted_scale_tril
        m = mahalanobis(lower, value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + m) - log_diagonal(lower)

    def entropy(self) -> Any:
        n = self._event_shape[0]
        h = 0.5 * n * (1.0 + math.log(2 * math.pi)) + log_diagonal(self._unbroadcasted_scale_tril)
        return h if len(self._batch_shape) == 0 else h.expand(self._batch_shape)


class LowRankMultivariateNormal(Distribution):
    """Normal vectors with covariance W W^T + diag(d)."""

    arg_constraints = {
        "loc": constraints.real_vector, "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }  # fmt: skip
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        event = loc.shape[-1:]
        if cov_factor.shape[-2:-1] != event:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event[0]} x m")
        if cov_diag.shape[-1:] != event:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event}")
        batch = broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        self.loc, self.cov_diag = loc.expand(*batch, *event), cov_diag.expand(*batch, *event)
        self.cov_factor = cov_factor.expand(*batch, *cov_factor.shape[-2:])
        self._set_small(cov_factor, cov_diag)
        super().__init__(batch, event, validate_args=validate_args)

    def _set_small(self, w: Any, d: Any) -> None:
        """The Cholesky factor of I + W^T diag(d)^-1 W."""
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = w, d
        inner = (w.mT / d.unsqueeze(-2)) @ w
        eye = tensor(np.eye(inner.shape[-1]), dtype=inner.dtype)
        self._capacitance_tril = linalg.cholesky(inner + eye)

    def _expand_more(self, new: Any, batch: Any) -> None:
        new._unbroadcasted_cov_factor = self._unbroadcasted_cov_factor
        new._unbroadcasted_cov_diag = self._unbroadcasted_cov_diag
        new._capacitance_tril = self._capacitance_tril

    mean = mode = same_as("loc")

    @lazy_property
    def variance(self) -> Any:
        v = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return v.expand(*self._batch_shape, *self._event_shape)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        w = self._unbroadcasted_cov_factor
        full = w @ w.mT + self._unbroadcasted_cov_diag.diag_embed()
        return full.expand(*self._batch_shape, -1, -1)

    @lazy_property
    def scale_tril(self) -> Any:
        """The Cholesky factor of the covariance."""
        return linalg.cholesky(self.covariance_matrix)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        d = self._unbroadcasted_cov_diag
        scaled = self._unbroadcasted_cov_factor.mT / d.unsqueeze(-2)
        a = linalg.solve_triangular(self._capacitance_tril, scaled, upper=False)
        full = d.reciprocal().diag_embed() - a.mT @ a
        return full.expand(*self._batch_shape, -1, -1)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        small = _standard_normal((*shape[:-1], self.cov_factor.shape[-1]), self.loc.dtype)
        each = _standard_normal(shape, self.loc.dtype)
        low = (self._unbroadcasted_cov_factor @ small.unsqueeze(-1)).squeeze(-1)
        return self.loc + low + self._unbroadcasted_cov_diag.sqrt() * each

    def _log_det(self) -> Any:
        return 2 * log_diagonal(self._capacitance_tril) + self._unbroadcasted_cov_diag.log().sum(-1)

    def _mahalanobis(self, x: Any) -> Any:
        d = self._unbroadcasted_cov_diag
        wx = ((self._unbroadcasted_cov_factor.mT / d.unsqueeze(-2)) @ x.unsqueeze(-1)).squeeze(-1)
        return (x.pow(2) / d).sum(-1) - mahalanobis(self._capacitance_tril, wx)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        m = self._mahalanobis(value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self._log_det() + m)

    def entropy(self) -> Any:
        h = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_det())
        return h if len(self._batch_shape) == 0 else h.expand(self._batch_shape)
