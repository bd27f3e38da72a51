"""The modules of torch.nn."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from ...naming import submodules
from . import activation, container, conv, linear, loss, norms, plain, pooling, rnn, transformer, utils
from .module import Module

# Bases that PyTorch does not have, or whose constructor each of its classes writes out anew.
_SHARED = {
    "_Along", "_Alpha", "_AvgPoolNd", "_ConstantPadNd", "_Conv", "_ConvTransposeNd", "_FractionalMaxPoolNd", "_InPlace",
    "_Lambd", "_MaxUnpoolNd", "_Pad", "_Zeros",
}  # fmt: skip
_RUN_ALIKE = {
    "_AdaptiveAvgPoolNd", "_AdaptiveMaxPoolNd", "_AvgPoolNd", "_ConvNd", "_ConvTransposeNd", "_FractionalMaxPoolNd",
    "_LPPoolNd", "_MaxPoolNd", "_MaxUnpoolNd", "_SingleState",
}  # fmt: skip


def _own_constructor(cls: Any) -> None:
    """Give a class that inherits its constructor or `forward` from such a base one of its own name, as PyTorch's have:
    an error in a call of Conv2d says "Conv2d.forward()"."""
    for name, shared in (("__init__", _SHARED), ("forward", _RUN_ALIKE)):
        fn: Any = getattr(cls, name, None)
        if fn is not None and fn.__qualname__.rpartition(".")[0] in shared and cls.__name__[0] != "_":
            own: Any = FunctionType(fn.__code__, fn.__globals__, name, fn.__defaults__, fn.__closure__)
            own.__kwdefaults__, own.__annotations__ = fn.__kwdefaults__, fn.__annotations__
            own.__doc__ = fn.__doc__
            own.__module__, own.__qualname__ = fn.__module__, f"{cls.__name__}.{name}"
            setattr(cls, name, own)


__all__ = ["Module"]
for _family in (container, linear, activation, plain, norms, loss, conv, pooling, rnn, transformer):
    _place = _family.__name__.partition(".")[2]  # the package goes by two names
    _own = {n: v for n, v in vars(_family).items() if isinstance(v, type) and v.__module__.partition(".")[2] == _place}
    _names = [n for n in _own if n[0] != "_" and n != "NonDynamicallyQuantizableLinear"]
    for _name in _names:
        globals()[_name] = _own[_name]
        _own_constructor(_own[_name])
    vars(_family)["__all__"] = _names
    __all__ += _names
    submodules(globals(), vars(_family), getattr(_family, "FILES", {}))
submodules(globals(), vars(utils), {"lazy": "LazyModuleMixin"})
