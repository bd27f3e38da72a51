"""Autocast: products in bfloat16 or float16, losses and the like in float32. Source: torch.amp.autocast."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from .. import dtypes
from ..devices import device
from ._casting import cast, install
from ._casting import state as _state

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]


def is_autocast_available(device_type: str) -> bool:
    """Whether there can be autocast on a kind of device. Source: torch.amp.is_autocast_available."""
    device(device_type)
    return device_type in ("cpu", "cuda", "xpu", "mps")


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether autocast is on. Source: torch.is_autocast_enabled."""
    return _state.enabled if device_type == "cpu" else False


def set_autocast_enabled(device_type: str, enabled: bool) -> None:
    """Turn autocast on or off. Source: torch.set_autocast_enabled."""
    if device_type == "cpu":
        if enabled:
            install()
        _state.enabled = enabled


def get_autocast_dtype(device_type: str) -> dtypes.dtype:
    """The type that autocast computes in. Source: torch.get_autocast_dtype."""
    return _state.dtype if device_type == "cpu" else _state.cuda_dtype


def set_autocast_dtype(device_type: str, dtype: dtypes.dtype) -> None:
    """Set the type that autocast computes in. Source: torch.set_autocast_dtype."""
    if not isinstance(dtype, dtypes.dtype):
        raise TypeError(
            f"set_autocast_dtype(): argument 'dtype' (position 2) must be torch.dtype, not {type(dtype).__name__}"
        )
    setattr(_state, "dtype" if device_type == "cpu" else "cuda_dtype", dtype)


def get_autocast_cpu_dtype() -> dtypes.dtype:
    """`get_autocast_dtype("cpu")`, deprecated. Source: torch.get_autocast_cpu_dtype."""
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> dtypes.dtype:
    """`get_autocast_dtype("cuda")`, deprecated. Source: torch.get_autocast_gpu_dtype."""
    return get_autocast_dtype("cuda")


def is_autocast_cpu_enabled() -> bool:
    """`is_autocast_enabled("cpu")`, deprecated. Source: torch.is_autocast_cpu_enabled."""
    return is_autocast_enabled("cpu")


def set_autocast_cpu_dtype(dtype: dtypes.dtype) -> None:
    """`set_autocast_dtype("cpu", dtype)`, deprecated. Source: torch.set_autocast_cpu_dtype."""
    set_autocast_dtype("cpu", dtype)


def set_autocast_gpu_dtype(dtype: dtypes.dtype) -> None:
    """`set_autocast_dtype("cuda", dtype)`, deprecated. Source: torch.set_autocast_gpu_dtype."""
    set_autocast_dtype("cuda", dtype)


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """`set_autocast_enabled("cpu", enabled)`, deprecated. Source: torch.set_autocast_cpu_enabled."""
    set_autocast_enabled("cpu", enabled)


def is_autocast_cache_enabled() -> bool:
    """Whether parameters are cast once within the outermost autocast. Source: torch.is_autocast_cache_enabled."""
    return _state.cache


def clear_autocast_cache() -> None:
    """Forget the parameters that were cast. Source: torch.clear_autocast_cache."""
    _state.casts.clear()


def autocast_increment_nesting() -> int:
    """Note that an autocast is entered; how many are. Source: torch.autocast_increment_nesting."""
    _state.depth += 1
    return _state.depth


def autocast_decrement_nesting() -> int:
    """Note that an autocast is left; how many are entered still. Source: torch.autocast_decrement_nesting."""
    _state.depth -= 1
    return _state.depth


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Say whether parameters are cast once within the outermost autocast. Source:
    torch.set_autocast_cache_enabled."""
    _state.cache = enabled


class autocast:
    """Within it products are computed in a narrower type, losses in float32. Source: torch.amp.autocast.

    Args:
        device_type: "cpu"; for others it does nothing, with a warning.
        dtype: bfloat16 (the default) or float16.
        enabled: False to switch it off within another one.
        cache_enabled: cast each parameter once within the outermost autocast (the default), and not at each use.

    >>> import tidu as torch
    >>> with torch.autocast("cpu"):
    ...     (torch.ones(2, 2) @ torch.ones(2, 2)).dtype
    torch.bfloat16
    """

    def __init__(
        self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self.device = device_type
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        if enabled and device_type == "cuda":
            warnings.warn("CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=2)
            enabled = False
        elif enabled and self.fast_dtype not in (dtypes.bfloat16, dtypes.float16):
            warnings.warn(
                f"In {device_type.upper()} autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"{device_type.upper()} Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.",
                stacklevel=2,
            )
            enabled = False
        self._enabled = enabled
        self._cache_enabled = is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        self._before: list[Any] = []

    def __enter__(self) -> autocast:
        before = (is_autocast_enabled(self.device), get_autocast_dtype(self.device), is_autocast_cache_enabled())
        self._before.append(before)
        set_autocast_dtype(self.device, self.fast_dtype)
        set_autocast_enabled(self.device, self._enabled)
        autocast_increment_nesting()
        set_autocast_cache_enabled(self._cache_enabled)
        return self

    def __exit__(self, *exc: Any) -> bool:  # type: ignore[exit-return]
        enabled, dtype, cached = self._before.pop()
        if autocast_decrement_nesting() == 0:
            clear_autocast_cache()
        set_autocast_enabled(self.device, enabled)
        set_autocast_dtype(self.device, dtype)
        set_autocast_cache_enabled(cached)
        return False

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(func):
            raise TypeError(
                f"autocast()(func) requires a callable, but got {type(func).__name__}. Did you mean to use autocast as "
                "a context manager? For example:\n    with torch.autocast(device_type=...):\n        output = "
                "model(input)"
            )

        @functools.wraps(func)
        def within(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return within


def _enter_autocast(*vals: Any) -> autocast:
    return autocast(*vals).__enter__()


def _exit_autocast(mode: autocast) -> None:
    mode.__exit__(None, None, None)


def custom_fwd(fwd: Any = None, *, device_type: str, cast_inputs: Any = None) -> Any:
    """For a Function's forward: cast its inputs, or note for backward how it was called. Source:
    torch.amp.custom_fwd."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        ctx, on = args[0], is_autocast_enabled(device_type)
        ctx._dtype = get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = on and cast_inputs is None
        if cast_inputs is None or not on:
            return fwd(*args, **kwargs)
        with autocast(device_type=device_type, enabled=False):
            return fwd(*cast(args, cast_inputs), **cast(kwargs, cast_inputs))

    return decorated


def custom_bwd(bwd: Any = None, *, device_type: str) -> Any:
    """For a Function's backward: autocast as in its forward. Source: torch.amp.custom_bwd."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        with autocast(device_type=device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(*args, **kwargs)

    return decorated
