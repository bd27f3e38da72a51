"""torch.special: special functions."""

# ruff: noqa: F401  given out by their names in _SPECIAL

from __future__ import annotations

from typing import Any

from .ops._public import SPECIAL as _SPECIAL
from .ops._public import publish as _publish
from .ops.piecewise import xlogy
from .ops.pointwise import exp2, expm1, log1p, round, sigmoid
from .ops.reduction import logsumexp
from .ops.softmax import log_softmax as _log_softmax
from .ops.softmax import softmax as _softmax
from .ops.special_functions import (
    airy_ai,
    bessel_j0,
    bessel_j1,
    bessel_y0,
    bessel_y1,
    chebyshev_polynomial_t,
    chebyshev_polynomial_u,
    chebyshev_polynomial_v,
    chebyshev_polynomial_w,
    digamma,
    entr,
    erf,
    erfc,
    erfcx,
    erfinv,
    hermite_polynomial_h,
    hermite_polynomial_he,
    i0,
    i0e,
    i1,
    i1e,
    igamma,
    igammac,
    laguerre_polynomial_l,
    legendre_polynomial_p,
    lgamma,
    log_ndtr,
    logit,
    modified_bessel_i0,
    modified_bessel_i1,
    modified_bessel_k0,
    modified_bessel_k1,
    mvlgamma,
    ndtr,
    ndtri,
    polygamma,
    scaled_modified_bessel_k0,
    scaled_modified_bessel_k1,
    shifted_chebyshev_polynomial_t,
    shifted_chebyshev_polynomial_u,
    shifted_chebyshev_polynomial_v,
    shifted_chebyshev_polynomial_w,
    sinc,
    spherical_bessel_j0,
    xlog1py,
    zeta,
)


def softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """exp(input) over its sum along a dimension. Source: torch.special.softmax."""
    return _softmax(input, dim, dtype)


def log_softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """log(softmax(input)) along a dimension, without overflow. Source: torch.special.log_softmax."""
    return _log_softmax(input, dim, dtype)


expit, psi, gammaln, multigammaln, gammainc, gammaincc = sigmoid, digamma, lgamma, mvlgamma, igamma, igammac

__all__ = list(_SPECIAL)

_publish(globals(), "special_", _SPECIAL)
