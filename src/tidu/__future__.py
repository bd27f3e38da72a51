"""torch.__future__: how modules convert their parameters. Conversion keeps each parameter's identity whatever is set."""

from __future__ import annotations

_overwrite = _swap = False


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
