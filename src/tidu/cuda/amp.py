"""torch.cuda.amp: the names that torch.amp had before. Source: torch.cuda.amp."""

from ..amp._old import old_autocast as _old_autocast
from ..amp._old import old_custom as _old_custom
from ..amp._old import old_scaler as _old_scaler
from ..dtypes import float16 as _usual
from ..naming import submodule as _submodule

autocast = _old_autocast("cuda", _usual)
GradScaler = _old_scaler("cuda")
custom_fwd, custom_bwd = _old_custom("cuda")

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]
for _name in __all__:
    globals()[_name].__module__ = __name__
del _name
_submodule(globals(), "autocast_mode", "autocast")
_submodule(globals(), "grad_scaler", "GradScaler")
