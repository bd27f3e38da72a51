"""The modules of torch.nn."""

from __future__ import annotations

from . import (
    activation,
    adaptive,
    batchnorm,
    channelshuffle,
    container,
    conv,
    distance,
    dropout,
    flatten,
    fold,
    instancenorm,
    linear,
    linear_cross_entropy,
    loss,
    module,
    normalization,
    padding,
    pixelshuffle,
    pooling,
    rnn,
    sparse,
    transformer,
    upsampling,
)
from ._constructors import own_constructor

__all__ = ["Module"]
_FAMILIES = (
    module, container, linear, activation, dropout, sparse, batchnorm, instancenorm, normalization, flatten, loss,
    linear_cross_entropy,
    distance, conv, pooling, padding, upsampling, pixelshuffle, channelshuffle, fold, rnn, transformer,
    adaptive,
)  # fmt: skip
for _family in _FAMILIES:
    for _name in _family.__all__:
        _value = getattr(_family, _name)
        if isinstance(_value, type):
            globals()[_name] = _value
            __all__.append(_name)
            own_constructor(_value)
from .module import Module  # noqa: E402
