"""Continuous stand-ins for discrete distributions, angles, and matrices: the Concrete distributions, ContinuousBernoulli,
VonMises, Wishart, LKJCholesky. Source: torch.distributions."""

from __future__ import annotations

import math
import warnings
from numbers import Number
from typing import Any

from .. import dtypes, linalg
from ..core.modes import no_grad
from ..dtypes import float64
from ..ops.creation import tensor
from ..ops.joining import cat
from ..ops.properties import broadcast_shapes
from ..ops.random import rand, randn
from ..ops.ranges import arange
from ..shapes import Size
from . import constraints
from .combined import TransformedDistribution
from .continuous import Chi2
from .discrete import Odds, OfCategorical
from .distribution import Distribution, ExponentialFamily
from .multivariate import Beta, Covariance, log_diagonal
from .transforms import ExpTransform, SigmoidTransform
from .utils import as_size, broadcast_all, clamp_probs, lazy_property, logits_to_probs, same_as


class LogitRelaxedBernoulli(Odds, Distribution):
    """The log-odds of RelaxedBernoulli. Source: torch.distributions.relaxed_bernoulli.LogitRelaxedBernoulli."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
        super().__init__(self._take(probs, logits), validate_args=validate_args)

    def _expand_more(self, new: Any, batch: Size) -> None:
        new.temperature = self.temperature

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(rand(shape, dtype=probs.dtype))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        diff = logits - value.mul(self.temperature)
        return self.temperature.log() + diff - 2 * diff.exp().log1p()


class _Relaxed(TransformedDistribution):
    has_rsample = True
    temperature = same_as("base_dist.temperature")
    logits = same_as("base_dist.logits")
    probs = same_as("base_dist.probs")


class RelaxedBernoulli(_Relaxed):
    """Bernoulli between 0 and 1, the sharper the lower the temperature."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)


class ExpRelaxedCategorical(OfCategorical):
    """The logarithms of RelaxedOneHotCategorical. Source:
    torch.distributions.relaxed_categorical.ExpRelaxedCategorical."""

    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def _expand_more(self, new: Any, batch: Size) -> None:
        super()._expand_more(new, batch)
        new.temperature = self.temperature

    def rsample(self, sample_shape: Any = ()) -> Any:
        u = clamp_probs(rand(self._extended_shape(sample_shape), dtype=self.logits.dtype))
        scores = (self.logits + -(-(u.log())).log()) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Any) -> Any:
        k = self._event_shape[0]
        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        scale = self.temperature.new_full(self.temperature.shape, float(k)).lgamma() - self.temperature.log().mul(
            -(k - 1)
        )
        score = logits - value.mul(self.temperature)
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + scale


class RelaxedOneHotCategorical(_Relaxed):
    """OneHotCategorical inside the simplex, the sharper the lower the temperature."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)


class ContinuousBernoulli(Odds, ExponentialFamily):
    """C(p) p^x (1 - p)^(1 - x) on [0, 1]; near p = 1/2, between `lims`, from a series."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self, probs: Any = None, logits: Any = None, lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        shape = self._take(probs, logits)
        if probs is not None:
            if validate_args is not None and not self.arg_constraints["probs"].check(self.probs).all():
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
        self._lims = lims
        super().__init__(shape, validate_args=validate_args)

    def _expand_more(self, new: Any, batch: Size) -> None:
        new._lims = self._lims

    @lazy_property
    def probs(self) -> Any:
        """The parameter p."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _outside_unstable_region(self) -> Any:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut(self) -> Any:
        return self.probs.where(self._outside_unstable_region(), self._lims[0])

    def _cont_bern_log_norm(self) -> Any:
        p = self._cut()
        norm = ((-p).log1p() - p.log()).abs().log() - (1 - 2 * p).abs().log()
        x = (self.probs - 0.5) ** 2
        return norm.where(self._outside_unstable_region(), math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self) -> Any:
        p, x = self._cut(), self.probs - 0.5
        mean = p / (2.0 * p - 1.0) + 1.0 / ((-p).log1p() - p.log())
        return mean.where(self._outside_unstable_region(), 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x**2) * x)

    @property
    def variance(self) -> Any:
        p, x = self._cut(), (self.probs - 0.5) ** 2
        v = p * (p - 1.0) / (1.0 - 2.0 * p) ** 2 + 1.0 / ((-p).log1p() - p.log()) ** 2
        return v.where(self._outside_unstable_region(), 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.icdf(rand(self._extended_shape(sample_shape), dtype=self.probs.dtype))

    def log_prob(self, value: Any) -> Any:
        from ..nn.functional import binary_cross_entropy_with_logits

        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none") + self._cont_bern_log_norm()

    def cdf(self, value: Any) -> Any:
        self._checked(value)
        p = self._cut()
        inside = (p**value * (1.0 - p) ** (1.0 - value) + p - 1.0) / (2.0 * p - 1.0)
        out = inside.where(self._outside_unstable_region(), value)
        return out.masked_fill(value <= 0.0, 0.0).masked_fill(value >= 1.0, 1.0)

    def icdf(self, value: Any) -> Any:
        p = self._cut()
        x = ((-p + value * (2.0 * p - 1.0)).log1p() - (-p).log1p()) / (p.log() - (-p).log1p())
        return x.where(self._outside_unstable_region(), value)

    def entropy(self) -> Any:
        low, high = (-self.probs).log1p(), self.probs.log()
        return self.mean * (low - high) - self._cont_bern_log_norm() - low


class VonMises(Distribution):
    """exp(concentration cos(x - loc)) on the circle."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def log_prob(self, value: Any) -> Any:
        from ..special import i0e

        self._checked(value)
        k = self.concentration
        return k * (value - self.loc).cos() - math.log(2 * math.pi) - (i0e(k).log() + k)

    mean = mode = same_as("loc")

    @lazy_property
    def variance(self) -> Any:
        """The circular one."""
        from ..special import i0e, i1e

        return 1 - i1e(self.concentration) / i0e(self.concentration)

    def sample(self, sample_shape: Any = ()) -> Any:
        """By rejection from a wrapped Cauchy, in float64 (Best and Fisher 1979)."""
        shape = self._extended_shape(as_size(sample_shape))
        with no_grad():
            loc, k = self.loc.to(float64), self.concentration.to(float64)
            tau = 1 + (1 + 4 * k**2).sqrt()
            rho = (tau - (2 * tau).sqrt()) / (2 * k)
            r = ((1 + rho**2) / (2 * rho)).where(k >= 1e-5, 1 / k + k)
            x = loc.new_zeros(shape)
            done = x.bool()
            while not done.all():
                u: Any = rand((3, *shape), dtype=float64)
                u1, u2, u3 = u.unbind()
                z = (math.pi * u1).cos()
                f = (1 + r * z) / (r + z)
                c = k * (r - f)
                accept = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
                x = ((u3 - 0.5).sign() * f.acos()).where(accept, x)
                done = done | accept
            out = (x + math.pi + loc) % (2 * math.pi) - math.pi
            return out.to(self.loc.dtype)


def _steps(n: int, like: Any) -> Any:
    return arange(n, dtype=like.dtype)


class Wishart(Covariance, ExponentialFamily):
    """Positive definite matrices: sums of df squares of normal vectors."""

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    df: Any

    @property
    def arg_constraints(self) -> dict[str, Any]:
        matrix = constraints.positive_definite
        return {
            "covariance_matrix": matrix, "precision_matrix": matrix, "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }  # fmt: skip

    def __init__(
        self, df: Any, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        name, matrix = self._form(AssertionError, covariance_matrix, precision_matrix, scale_tril)
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        if isinstance(df, Number):
            batch, self.df = Size(matrix.shape[:-2]), tensor(df, dtype=matrix.dtype)
        else:
            batch = broadcast_shapes(matrix.shape[:-2], df.shape)
            self.df = df.expand(batch)
        event = matrix.shape[-2:]
        if self.df.le(event[-1] - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {event[-1] - 1}.")
        if self.df.lt(event[-1]).any():
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.",
                stacklevel=2,
            )
        setattr(self, name, matrix.expand(*batch, *event))
        super().__init__(batch, event, validate_args=validate_args)
        self._factorise(name, matrix)
        self._set_chi2(batch)

    def _set_chi2(self, batch: Any) -> None:
        """The squares on the diagonal of Bartlett's factor."""
        down = _steps(self._unbroadcasted_scale_tril.shape[-1], self._unbroadcasted_scale_tril)
        self._dist_chi2 = Chi2(df=self.df.unsqueeze(-1) - down.expand(*batch, -1))

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new, batch = self._new(_instance), as_size(batch_shape)
        new.df = self.df.expand(batch)
        for name in ("_unbroadcasted_scale_tril", "covariance_matrix", "scale_tril", "precision_matrix"):
            if name in self.__dict__:
                setattr(new, name, self.__dict__[name].expand(*batch, *self._event_shape))
        new._set_chi2(batch)
        return self._expanded(new, batch)

    def _of_batch(self, x: Any) -> Any:
        return x.view(*self._batch_shape, 1, 1)

    @property
    def mean(self) -> Any:
        return self._of_batch(self.df) * self.covariance_matrix

    @property
    def mode(self) -> Any:
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        return self._of_batch(factor.masked_fill(factor <= 0, math.nan)) * self.covariance_matrix

    @property
    def variance(self) -> Any:
        v = self.covariance_matrix
        d = v.diagonal(dim1=-2, dim2=-1)
        return self._of_batch(self.df) * (v.pow(2) + d.unsqueeze(-1) * d.unsqueeze(-2))

    def _bartlett(self, shape: Any) -> Any:
        p = self._event_shape[-1]
        chi2 = self._dist_chi2.rsample(shape).sqrt()
        factor = chi2.clamp(min=dtypes.finfo(chi2.dtype).eps).diag_embed()
        below = arange(p).view(-1, 1) > arange(p)
        factor[..., below] = randn(*as_size(shape), *self._batch_shape, p * (p - 1) // 2, dtype=factor.dtype)
        lower = self._unbroadcasted_scale_tril @ factor
        return lower @ lower.mT

    def rsample(self, sample_shape: Any = (), max_try_correction: int | None = None) -> Any:
        """Matrices at random.

        PyTorch draws every sample that is positive definite once more, then again those that are singular: it takes
        the one test for the other the first time. That is done here too, for the same numbers from the same seed.
        """
        tries = 10 if max_try_correction is None else max_try_correction
        dims = [-(x + 1) for x in range(len(self._batch_shape))]
        sample = self._bartlett(as_size(sample_shape))
        again = self.support.check(sample)
        again = again.amax(dims) if dims else again
        if again.any():
            warnings.warn("Singular sample detected.", stacklevel=2)
        for _ in range(tries if again.any() else 0):
            new = self._bartlett(again[again].shape)
            sample[again] = new
            singular = ~self.support.check(new)
            again[again.clone()] = singular.amax(dims) if dims else singular
            if not again.any():
                break
        return sample

    def log_prob(self, value: Any) -> Any:
        from ..ops.triangular import cholesky_solve

        self._checked(value)
        nu, p = self.df, self._event_shape[-1]
        trace = cholesky_solve(value, self._unbroadcasted_scale_tril).diagonal(dim1=-2, dim2=-1).sum(-1)
        norm = nu * self._half_log_det() + (nu / 2).mvlgamma(p)
        return (nu - p - 1) / 2 * linalg.slogdet(value).logabsdet - trace / 2 - norm

    def _half_log_det(self) -> Any:
        return self._event_shape[-1] * math.log(2) / 2 + log_diagonal(self._unbroadcasted_scale_tril)

    def entropy(self) -> Any:
        nu, p = self.df, self._event_shape[-1]
        digammas = ((nu / 2).unsqueeze(-1) - _steps(p, nu) / 2).digamma().sum(-1)
        return (p + 1) * self._half_log_det() + (nu / 2).mvlgamma(p) - (nu - p - 1) / 2 * digammas + nu * p / 2

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        p = self._event_shape[-1]
        a = y + (p + 1) / 2
        return a * (-linalg.slogdet(-2 * x).logabsdet + math.log(2) * p) + a.mvlgamma(p)


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices M, with density det(M)^(concentration - 1)."""

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        # the lengths of the rows below the diagonal, squared, are Beta numbers
        offset = _steps(dim - 1, self.concentration)
        offset = cat([offset.new_zeros((1,)), offset])
        marginal = self.concentration + 0.5 * (dim - 2)
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(self.concentration.size(), (dim, dim), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new, batch = self._new(_instance), as_size(batch_shape)
        new.dim, new.concentration = self.dim, self.concentration.expand(batch)
        new._beta = self._beta.expand(Size((*batch, self.dim)))
        return self._expanded(new, batch)

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            y = self._beta.sample(sample_shape).unsqueeze(-1)
            u = randn(*self._extended_shape(sample_shape), dtype=y.dtype).tril(-1)
            u = u / u.norm(dim=-1, keepdim=True)
            u[..., 0, :].fill_(0.0)
            w = y.sqrt() * u
            diagonal = (1 - (w**2).sum(-1)).clamp(min=dtypes.finfo(w.dtype).tiny).sqrt()
            return w + diagonal.diag_embed()

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        n = self.dim - 1
        order = 2 * (self.concentration - 1).unsqueeze(-1) + n - 1 - _steps(n, value)
        alpha = self.concentration + 0.5 * n
        norm = 0.5 * n * math.log(math.pi) + (alpha - 0.5).mvlgamma(n) - alpha.lgamma() * n
        return (order * diagonal.log()).sum(-1) - norm
