"""The names that autocast and GradScaler had: torch.cpu.amp and torch.cuda.amp, deprecated in PyTorch."""

from __future__ import annotations

import functools
import warnings
from typing import Any

from .. import cpu, cuda
from ..dtypes import bfloat16, float16
from ..naming import submodule
from . import autocast, custom_bwd, custom_fwd
from .grad_scaler import GradScaler


def _warn(old: str, new: str) -> None:
    warnings.warn(f"`{old}` is deprecated. Please use `{new}` instead.", FutureWarning, stacklevel=3)


def _autocast(device: str, usual: Any) -> type:
    class Autocast(autocast):
        def __init__(self, enabled: bool = True, dtype: Any = usual, cache_enabled: bool = True) -> None:
            _warn(f"torch.{device}.amp.autocast(args...)", f"torch.amp.autocast('{device}', args...)")
            super().__init__(device, dtype, enabled, cache_enabled)

    Autocast.__name__ = Autocast.__qualname__ = "autocast"
    Autocast.__doc__ = f'`torch.autocast("{device}")`, deprecated. Source: torch.{device}.amp.autocast.'
    return Autocast


def _scaler(device: str) -> type:
    class Scaler(GradScaler):
        def __init__(
            self, init_scale: float = 65536.0, growth_factor: float = 2.0, backoff_factor: float = 0.5,
            growth_interval: int = 2000, enabled: bool = True,
        ) -> None:  # fmt: skip
            _warn(f"torch.{device}.amp.GradScaler(args...)", f"torch.amp.GradScaler('{device}', args...)")
            super().__init__(device, init_scale, growth_factor, backoff_factor, growth_interval, enabled)

    Scaler.__name__ = Scaler.__qualname__ = "GradScaler"
    Scaler.__doc__ = f'`torch.amp.GradScaler("{device}")`, deprecated. Source: torch.{device}.amp.GradScaler.'
    return Scaler


def _custom(device: str) -> tuple[Any, Any]:
    @functools.wraps(custom_fwd)
    def fwd(*args: Any, **kw: Any) -> Any:
        new = f"torch.amp.custom_fwd(args..., device_type='{device}')"
        _warn(f"torch.{device}.amp.custom_fwd(args...)", new)
        return custom_fwd(*args, device_type=device, **kw)

    @functools.wraps(custom_bwd)
    def bwd(*args: Any, **kw: Any) -> Any:
        new = f"torch.amp.custom_bwd(args..., device_type='{device}')"
        _warn(f"torch.{device}.amp.custom_bwd(args...)", new)
        return custom_bwd(*args, device_type=device, **kw)

    return fwd, bwd


for _package, _usual in ((cpu, bfloat16), (cuda, float16)):
    _device = _package.__name__.rpartition(".")[2]
    _names = {"autocast": _autocast(_device, _usual), "GradScaler": _scaler(_device)}
    if _package is cuda:
        _names |= zip(("custom_fwd", "custom_bwd"), _custom("cuda"))
    _amp = vars(submodule(vars(_package), "amp", **_names))
    submodule(_amp, "autocast_mode", autocast=_names["autocast"])
    submodule(_amp, "grad_scaler", GradScaler=_names["GradScaler"])
