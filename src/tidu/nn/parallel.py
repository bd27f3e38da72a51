"""Modules on several devices: here on the CPU. Source: torch.nn.parallel."""

from __future__ import annotations

from typing import Any

from .modules.module import Module

__all__ = ["DataParallel", "DistributedDataParallel"]


class DataParallel(Module):
    """Runs its module; there are no devices to share the batch out to. Source: torch.nn.DataParallel."""

    def __init__(self, module: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[Any] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


class DistributedDataParallel(DataParallel):
    """Runs its module; there is one process. Source: torch.nn.parallel.DistributedDataParallel."""

    def __init__(
        self, module: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(module, device_ids, output_device, dim)

    def no_sync(self) -> Any:
        """Nothing to do: there is nothing to synchronise. Source:
        torch.nn.parallel.DistributedDataParallel.no_sync."""
        from contextlib import nullcontext

        return nullcontext()
