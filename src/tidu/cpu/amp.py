"""torch.cpu.amp: the names that torch.amp had before. Source: torch.cpu.amp."""

from ..amp._old import old_autocast as _old_autocast
from ..amp._old import old_scaler as _old_scaler
from ..dtypes import bfloat16 as _usual
from ..naming import submodule as _submodule

autocast = _old_autocast("cpu", _usual)
GradScaler = _old_scaler("cpu")

__all__ = ["GradScaler", "autocast"]
for _name in __all__:
    globals()[_name].__module__ = __name__
del _name
_submodule(globals(), "autocast_mode", "autocast")
_submodule(globals(), "grad_scaler", "GradScaler")
