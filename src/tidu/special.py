"""torch.special: special functions."""

from __future__ import annotations

from typing import Any

from .ops._public import SPECIAL as _SPECIAL
from .ops._public import publish as _publish
from .ops.softmax import log_softmax as _log_softmax
from .ops.softmax import softmax as _softmax


def softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """exp(input) over its sum along a dimension. Source: torch.special.softmax."""
    return _softmax(input, dim, dtype)


def log_softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """log(softmax(input)) along a dimension, without overflow. Source: torch.special.log_softmax."""
    return _log_softmax(input, dim, dtype)


_ELSEWHERE = {
    "piecewise": "xlogy",
    "pointwise": "exp2 expm1 log1p round expit=sigmoid",
    "reduction": "logsumexp",
    "special_functions": "gammainc=igamma gammaincc=igammac gammaln=lgamma multigammaln=mvlgamma psi=digamma",
}
_publish(globals(), "special_", _SPECIAL, "special_functions", _ELSEWHERE)
__all__ = list(_SPECIAL)


def __getattr__(name: str) -> Any:
    from .core.errors import missing_name

    raise missing_name(__name__, name)
