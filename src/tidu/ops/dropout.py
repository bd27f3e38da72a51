"""Dropout: single elements, or whole channels, set to zero at random while training.

The top-level functions take `train`; those of `nn.functional` (at the end) take `training` and `inplace`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays import sampling
from ..core.op import Op
from ..core.tensor import Tensor, tensor_of, type_name
from ..naming import warn
from ._sampler import Array, drawing, fill, sampler, stream_of, unsupported

__all__ = [
    "alpha_dropout", "alpha_dropout_", "dropout", "dropout_", "feature_alpha_dropout", "feature_alpha_dropout_",
    "feature_dropout", "feature_dropout_", "native_dropout",
]  # fmt: skip

_ALPHA = 1.7580993408473766  # minus SELU's limit: selu(-inf) = -_ALPHA


def _mask(input: Array, keep: float, features: bool) -> Array:
    """True with probability `keep`; for features, one for each sample and channel, to be broadcast."""
    if input.dtype.kind == "c":
        raise unsupported("bernoulli_scalar_cpu_", dtypes.from_numpy(input.dtype))
    stream = stream_of(None, "dropout")
    if features:
        if input.ndim < 2:
            raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
        return sampling.coin_flips(stream, input.shape[:2] + (1,) * (input.ndim - 2), keep)
    return fill(input, lambda shape: sampling.coin_flips(stream, shape, keep))


def _check_float(input: Array) -> Any:
    if input.dtype.kind not in "fcV":
        have = dtypes.from_numpy(input.dtype).legacy
        raise RuntimeError(f"result type Float can't be cast to the desired output type {have}")
    return np.float32 if input.dtype.itemsize == 2 else input.dtype.type


def _noise(input: Any, p: float, features: bool) -> Any:
    """0 with probability p, else 1 / (1 - p)."""
    number = _check_float(input)
    kept = (number(1) / number(1 - p)).astype(input.dtype)
    return np.where(_mask(input, 1 - p, features), kept, input.dtype.type(0))


def _alpha_noise(input: Any, p: float, features: bool) -> Any:
    """Factor and summand that keep mean 0 and variance 1: a and 0 shifted, or 0 and -alpha * a shifted.

    a = 1 / sqrt((1 - p) (1 + p alpha^2)); the shift is p * alpha * a.
    """
    number = _check_float(input)
    a = 1.0 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
    mask = _mask(input, 1 - p, features)

    def rounded(x: Any) -> Any:
        return np.asarray(x, number).astype(input.dtype)

    factor = np.where(mask, rounded(a), rounded(0))
    dropped = rounded(rounded(number(-1) * number(_ALPHA * a)).astype(number) + number(_ALPHA * a * p))
    return factor, np.where(mask, rounded(_ALPHA * a * p), dropped)


_noise_op = sampler("dropout_noise", _noise, None)
_alpha_noise_op = drawing(Op("alpha_dropout_noise", _alpha_noise, outputs=2, register=False))


def _drop(input: Any, p: float, train: bool, fn: str, inplace: bool = False, features: bool = False) -> Any:
    if _unchanged(input, p, train, fn):
        return input
    factor = tensor_of(np.zeros((), input.dtype.np)) if p == 1 else _noise_op.call(input, p, features)
    return input.mul_(factor) if inplace else input * factor


def _alpha_drop(input: Any, p: float, train: bool, fn: str, inplace: bool = False, features: bool = False) -> Any:
    if _unchanged(input, p, train, fn):
        return input
    if p == 1:
        factor = tensor_of(np.zeros((), input.dtype.np))
        return input.mul_(factor) if inplace else input * factor
    factor, summand = _alpha_noise_op.call(input, p, features)
    return input.mul_(factor).add_(summand) if inplace else input * factor + summand


def _unchanged(input: Any, p: float, train: bool, fn: str) -> bool:
    if not isinstance(input, Tensor):
        raise TypeError(f"{fn}(): argument 'input' (position 1) must be Tensor, not {type_name(input)}")
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
    return p == 0 or not train or 0 in input.shape


def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Each element 0 with probability `p`, else times 1 / (1 - p); `input` itself unless training.

    >>> import tidu as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.dropout(torch.ones(6), 0.5, True)
    tensor([0., 0., 2., 0., 0., 0.])
    """
    return _drop(input, p, train, "dropout")


def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """In-place `dropout`."""
    return _drop(input, p, train, "dropout_", inplace=True)


def feature_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Whole channels (dimension 1) of each sample (dimension 0) dropped."""
    return _drop(input, p, train, "feature_dropout", features=True)


def feature_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """In-place `feature_dropout`."""
    return _drop(input, p, train, "feature_dropout_", inplace=True, features=True)


def alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Elements set to SELU's limit with probability `p`, then all shifted and scaled to keep mean 0, variance 1."""
    return _alpha_drop(input, p, train, "alpha_dropout")


def alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """In-place `alpha_dropout`."""
    return _alpha_drop(input, p, train, "alpha_dropout_", inplace=True)


def feature_alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """`alpha_dropout` of whole channels."""
    return _alpha_drop(input, p, train, "feature_alpha_dropout", features=True)


def feature_alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """In-place `feature_alpha_dropout`."""
    return _alpha_drop(input, p, train, "feature_alpha_dropout_", inplace=True, features=True)


# ------------------------------------------------------------------ with the mask


def _scale(p: float, train: bool | None) -> float:
    return 1.0 if not (train or train is None) else 0.0 if p == 1 else 1.0 / (1.0 - p)


def _native_dropout(input: Any, p: float, train: bool | None) -> Any:
    if not (train or train is None):
        return input.copy(), np.ones(input.shape, np.bool_)
    _check_float(input)
    if not input.size:
        return input.copy(), input.copy()  # as PyTorch: the mask of nothing is not bool
    mask = _mask(input, 1 - p, False)
    return input * mask.astype(input.dtype) * input.dtype.type(_scale(p, train)), mask


_native_dropout_op = drawing(
    Op(
        "native_dropout",
        _native_dropout,
        vjp={"input": lambda g0, out1, p, train: g0 * out1 * _scale(p, train)},
        outputs=2,
        nondiff=(1,),
        register=False,
    )
)


def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """`dropout`, and the mask of what was kept."""
    return _native_dropout_op.call(input, p, train)


# ------------------------------------------------------------------ as nn.functional has them


def _check_probability(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def f_dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Each element 0 with probability `p`, else times 1 / (1 - p). Source: torch.nn.functional.dropout.

    Args:
        input: a tensor of a floating type.
        p: the probability of dropping an element.
        training: False: return `input` as it is.
        inplace: write the result into `input`.

    Raises:
        ValueError: `p` outside [0, 1].
    """
    _check_probability(p)
    return _drop(input, p, training, "dropout", inplace)


def f_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps mean 0 and variance 1, for networks of SELUs. Source: torch.nn.functional.alpha_dropout."""
    _check_probability(p)
    return _alpha_drop(input, p, training, "alpha_dropout", inplace)


def f_feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """`alpha_dropout` of whole channels. Source: torch.nn.functional.feature_alpha_dropout."""
    _check_probability(p)
    return _alpha_drop(input, p, training, "feature_alpha_dropout", inplace, features=True)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of (N, C, L) or (C, L) dropped.

    Raises:
        RuntimeError: `input` of other than 2 or 3 dimensions.
    """
    _check_probability(p)
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. Note that dropout1d exists to "
            "provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional "
            "batch dimension (i.e. 2D or 3D inputs)."
        )
    return _batched(input, 3, p, training, inplace)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of (N, C, H, W) dropped.

    A 3-d input is taken as (N, C, L), with a warning.
    """
    _check_probability(p)
    if input.ndim not in (3, 4):
        _warn_dimensions("dropout2d", input.ndim, 2, "3D or 4D")
    elif input.ndim == 3:
        warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired "
            "- input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a "
            "future release to interpret the input as one without a batch dimension, i.e. shape (C, H, W). To maintain "
            "the 1D channel-wise dropout behavior, please switch to using dropout1d instead."
        )
    return _drop(input, p, training, "feature_dropout", inplace, features=True)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of (N, C, D, H, W) or (C, D, H, W) dropped."""
    _check_probability(p)
    if input.ndim not in (4, 5):
        _warn_dimensions("dropout3d", input.ndim, 3, "4D or 5D")
    return _batched(input, 5, p, training, inplace)


def _warn_dimensions(fn: str, ndim: int, spatial: int, wanted: str) -> None:
    warn(
        f"{fn}: Received a {ndim}-D input to {fn}, which is deprecated and will result in an error in a future "
        f"release. To retain the behavior and silence this warning, please use dropout instead. Note that {fn} exists "
        f"to provide channel-wise dropout on inputs with {spatial} spatial dimensions, a channel dimension, and an "
        f"optional batch dimension (i.e. {wanted} inputs)."
    )


def _batched(input: Tensor, batched: int, p: float, training: bool, inplace: bool) -> Tensor:
    """Feature dropout, with a batch dimension put before an input of other than `batched` dimensions."""
    if input.ndim == batched:
        return _drop(input, p, training, "feature_dropout", inplace, features=True)
    if inplace:  # the very tensor is returned
        _drop(input.unsqueeze_(0), p, training, "feature_dropout", True, features=True)
        return input.squeeze_(0)
    out = input.unsqueeze(0)
    out = _drop(out, p, training, "feature_dropout", inplace, features=True)
    return out.squeeze(0)
