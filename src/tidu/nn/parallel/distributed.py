"""DistributedDataParallel in a group of one process."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ..modules.module import Module

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """Runs its module; with one process there is nothing to average. Source:
    torch.nn.parallel.DistributedDataParallel.

    Raises:
        ValueError: `torch.distributed.init_process_group` was not called.
        RuntimeError: no parameter wants a gradient.
    """

    def __init__(
        self, module: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0,
        broadcast_buffers: Any = None, init_sync: bool = True, process_group: Any = None, **options: Any,
    ) -> None:  # fmt: skip
        from ...distributed import _of

        super().__init__()
        self.process_group = _of(process_group)
        if not any(p.requires_grad for p in module.parameters()):
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameters that require a "
                "gradient."
            )
        self.module, self.device_ids, self.output_device, self.dim = module, device_ids, output_device, dim

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)

    def no_sync(self) -> AbstractContextManager[None]:
        """Nothing to do: there is nothing to synchronise. Source:
        torch.nn.parallel.DistributedDataParallel.no_sync."""
        return nullcontext()
