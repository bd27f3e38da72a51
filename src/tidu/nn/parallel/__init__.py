"""Modules on several devices. There are none here but the CPU, which PyTorch does not share work out to either.

Source: torch.nn.parallel.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ...core.tensor import Tensor
from ...naming import submodule
from ..modules.module import Module

__all__ = [
    "DataParallel", "DistributedDataParallel", "data_parallel", "gather", "parallel_apply", "replicate",
    "scatter",
]  # fmt: skip


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


def parallel_apply(modules: Any, inputs: Any, kwargs_tup: Any = None, devices: Any = None) -> list[Any]:
    """The outputs of modules for their inputs, each computed on its own device. Source:
    torch.nn.parallel.parallel_apply.

    Raises:
        RuntimeError: always, for there are no such devices.
    """
    raise RuntimeError("Cannot access accelerator device when none is available.")


def replicate(network: Any, devices: Any, detach: bool = False) -> list[Any]:
    """A copy of a module for each device. Source: torch.nn.parallel.replicate.

    Raises:
        AssertionError: there are devices to copy to, which can be none but the CPU.
    """
    if len(devices):
        raise AssertionError("Broadcast function not implemented for CPU tensors")
    return []


def scatter(inputs: Any, target_gpus: Any, dim: int = 0) -> Any:
    """Tensors cut up over devices, in a structure of them; anything else once for each device. Source:
    torch.nn.parallel.scatter.

    Raises:
        RuntimeError: there is a tensor, and no device for its parts.
    """
    if isinstance(inputs, Tensor):
        raise RuntimeError("nn.parallel.scatter: there is no device but the CPU, and no parts are made for it")
    if isinstance(inputs, (tuple, list)) and inputs:
        parts = zip(*(scatter(x, target_gpus, dim) for x in inputs), strict=True)
        make = type(inputs)
        return [make(*p) if hasattr(inputs, "_fields") else make(p) for p in parts]
    if isinstance(inputs, dict) and inputs:
        columns = zip(*(scatter(v, target_gpus, dim) for v in inputs.values()), strict=True)
        return [type(inputs)(zip(inputs, column, strict=True)) for column in columns]
    return [inputs for _ in target_gpus]


def scatter_kwargs(inputs: Any, kwargs: Any, target_gpus: Any, dim: int = 0) -> tuple[Any, Any]:
    """`scatter` of the arguments of a call. Source: torch.nn.parallel.scatter_gather.scatter_kwargs."""
    args = scatter(inputs, target_gpus, dim) if inputs else []
    named = scatter(kwargs, target_gpus, dim) if kwargs else []
    n = max(len(args), len(named))
    args += [() for _ in range(n - len(args))]
    named += [{} for _ in range(n - len(named))]
    return tuple(args), tuple(named)


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """Tensors of several devices joined on one. Source: torch.nn.parallel.gather.

    Raises:
        AssertionError: the tensors are on the CPU, as all are.
    """
    if isinstance(outputs[0], Tensor):
        raise AssertionError("Gather function not implemented for CPU tensors")
    if outputs[0] is None:
        return None
    if isinstance(outputs[0], dict):
        return type(outputs[0])((k, gather([d[k] for d in outputs], target_device, dim)) for k in outputs[0])
    return type(outputs[0])(gather(list(x), target_device, dim) for x in zip(*outputs, strict=True))


for _file, _names in {
    "data_parallel": "DataParallel data_parallel",
    "distributed": "DistributedDataParallel",
    "parallel_apply": "parallel_apply",
    "replicate": "replicate",
    "scatter_gather": "gather scatter scatter_kwargs",
}.items():
    submodule(globals(), _file, _names)
