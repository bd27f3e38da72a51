"""DataParallel where there is no device to share a batch out to: the module itself."""

from __future__ import annotations

from typing import Any

from ..modules.module import Module

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """Runs its module: PyTorch does the same where no accelerator is found. Source: torch.nn.DataParallel.

    The parameters are named `module.*`, as in checkpoints that were trained on several devices.
    """

    def __init__(self, module: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[Any] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Any, inputs: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0,
    module_kwargs: Any = None,
) -> Any:  # fmt: skip
    """Run a module on several devices. Source: torch.nn.parallel.data_parallel.

    Raises:
        RuntimeError: always, for there are no such devices.
    """
    raise RuntimeError("device type could not be determined")
