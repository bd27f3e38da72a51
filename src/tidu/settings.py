"""Switches of the whole library that programs set and ask for.

Most of them choose between implementations that tidu does not have two of: it computes on the CPU, in full precision,
and gives the same bits every time. They remember what they were told, so that a program reads back what it set.
"""

from __future__ import annotations

import warnings
from typing import Any

from .devices import CPU, check_cpu, device
from .naming import FACE, submodules

_deterministic = {"on": False, "warn_only": False}
_matmul_precision = "highest"
_warn_always = False
_overwrite = _swap = False


def get_default_device() -> device:
    """The device that factories make tensors on: the CPU. Source: torch.get_default_device."""
    return CPU


def set_default_device(device: Any) -> None:
    """Set the device that factories make tensors on; there is one. Source: torch.set_default_device."""
    check_cpu(device)


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for the same bits on every run, which tidu gives in any case. Source: torch.use_deterministic_algorithms."""
    if not isinstance(mode, bool):
        what = "_set_deterministic_algorithms(): argument 'mode' (position 1) must be bool, not "
        raise TypeError(what + type(mode).__name__)
    _deterministic.update(on=bool(mode), warn_only=bool(warn_only))


def are_deterministic_algorithms_enabled() -> bool:
    """What `use_deterministic_algorithms` was told. Source: torch.are_deterministic_algorithms_enabled."""
    return _deterministic["on"]


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Source: torch.is_deterministic_algorithms_warn_only_enabled."""
    return _deterministic["warn_only"]


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """The same switch as a level: 0 "default", 1 "warn", 2 "error". Source: torch.set_deterministic_debug_mode."""
    words = {"default": 0, "warn": 1, "error": 2}
    if isinstance(debug_mode, str):
        if debug_mode not in words:
            raise RuntimeError(
                "invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got " + debug_mode
            )
        debug_mode = words[debug_mode]
    if not isinstance(debug_mode, int):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    use_deterministic_algorithms(debug_mode > 0, warn_only=debug_mode == 1)


def get_deterministic_debug_mode() -> int:
    """Source: torch.get_deterministic_debug_mode."""
    return (1 if _deterministic["warn_only"] else 2) if _deterministic["on"] else 0


def set_float32_matmul_precision(precision: str) -> None:
    """Allow less than full precision in float32 products, of which tidu makes no use.

    Source: torch.set_float32_matmul_precision.
    """
    global _matmul_precision
    if precision not in ("highest", "high", "medium"):
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current"
            "setFloat32MatmulPrecision call has no effect.", UserWarning, stacklevel=2,
        )  # fmt: skip
        return
    _matmul_precision = precision


def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` was told. Source: torch.get_float32_matmul_precision."""
    return _matmul_precision


def set_warn_always(b: bool) -> None:
    """Whether warnings that come once come every time. Source: torch.set_warn_always."""
    global _warn_always
    _warn_always = bool(b)


def is_warn_always_enabled() -> bool:
    """Source: torch.is_warn_always_enabled."""
    return _warn_always


def set_flush_denormal(mode: bool) -> bool:
    """Denormal numbers are kept, whatever is asked for. Source: torch.set_flush_denormal."""
    return True


def get_num_interop_threads() -> int:
    """Threads that run independent ops side by side: one. Source: torch.get_num_interop_threads."""
    return 1


def set_num_interop_threads(n: int) -> None:
    """Independent ops run one after the other, whatever `n`. Source: torch.set_num_interop_threads."""
    if n < 1:
        raise RuntimeError("set_num_interop_threads expects a positive integer")


def compiled_with_cxx11_abi() -> bool:
    """Source: torch.compiled_with_cxx11_abi."""
    return True


# torch.__future__: how modules convert their parameters. Conversion keeps each parameter's identity whatever is set.


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Accepted setting. Source: torch.__future__.set_overwrite_module_params_on_conversion."""
    global _overwrite
    _overwrite = value


def get_overwrite_module_params_on_conversion() -> bool:
    """What was set, False by default. Source: torch.__future__.get_overwrite_module_params_on_conversion."""
    return _overwrite


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Accepted setting. Source: torch.__future__.set_swap_module_params_on_conversion."""
    global _swap
    _swap = value


def get_swap_module_params_on_conversion() -> bool:
    """What was set, False by default. Source: torch.__future__.get_swap_module_params_on_conversion."""
    return _swap


submodules(
    FACE, globals(),
    {
        "__future__": (
            "set_overwrite_module_params_on_conversion get_overwrite_module_params_on_conversion "
            "set_swap_module_params_on_conversion get_swap_module_params_on_conversion"
        )
    },
)  # fmt: skip

NAMES = (
    "are_deterministic_algorithms_enabled compiled_with_cxx11_abi get_default_device "
    "get_deterministic_debug_mode get_float32_matmul_precision get_num_interop_threads "
    "is_deterministic_algorithms_warn_only_enabled is_warn_always_enabled set_default_device "
    "set_deterministic_debug_mode set_float32_matmul_precision set_flush_denormal set_num_interop_threads "
    "set_warn_always use_deterministic_algorithms"
).split()
