"""Convolutions in another memory format. Source: torch.nn.utils.memory_format."""

from __future__ import annotations

from typing import Any

from ..modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def _convert(module: Any, memory_format: Any, kinds: tuple[type, ...]) -> Any:
    if isinstance(module, kinds):
        weight: Any = module.weight  # type: ignore[attr-defined]
        weight.data = weight.detach().clone(memory_format=memory_format)
    for child in module.children():
        _convert(child, memory_format, kinds)
    return module


def convert_conv2d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """The same module, with the weights of 2d convolutions in this memory format. Source: torch.nn.utils."""
    return _convert(module, memory_format, (Conv2d, ConvTranspose2d))


def convert_conv3d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """The same module, with the weights of 3d convolutions in this memory format. Source: torch.nn.utils."""
    return _convert(module, memory_format, (Conv3d, ConvTranspose3d))
