"""Batches cut up over devices, and put together again: there are none but the CPU."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor

__all__ = ["gather", "scatter", "scatter_kwargs"]


def scatter(inputs: Any, target_gpus: Any, dim: int = 0) -> Any:
    """Tensors cut up over devices, in a structure of them; anything else once for each device. Source:
    torch.nn.parallel.scatter.

    Raises:
        RuntimeError: there is a tensor, and no device for its parts.
    """
    if isinstance(inputs, Tensor):
        raise RuntimeError(
            "nn.parallel.scatter: there is no device but the CPU, and no parts are made for it"
        )
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
