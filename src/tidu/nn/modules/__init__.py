"""The modules of torch.nn."""

from __future__ import annotations

from ...naming import submodule
from . import (
    activation,
    adaptive,
    batchnorm,
    container,
    conv,
    instancenorm,
    linear,
    linear_cross_entropy,
    loss,
    module,
    normalization,
    padding,
    plain,
    pooling,
    rnn,
    sparse,
    transformer,
)
from ._constructors import own_constructor

__all__ = ["Module"]
_FAMILIES = (
    module, container, linear, activation, plain, sparse, batchnorm, instancenorm, normalization, loss,
    linear_cross_entropy, conv, pooling, padding, rnn, transformer, adaptive,
)  # fmt: skip
for _family in _FAMILIES:
    for _name in _family.__all__:
        _value = getattr(_family, _name)
        if isinstance(_value, type):
            globals()[_name] = _value
            __all__.append(_name)
            own_constructor(_value)
plain.place_files(globals())
submodule(
    globals(), "linear_cross_entropy_options", LinearCrossEntropyOptions=linear_cross_entropy.LinearCrossEntropyOptions
)
from .module import Module  # noqa: E402
