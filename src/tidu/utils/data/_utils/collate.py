"""Samples put together to batches. Source: torch.utils.data._utils.collate."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from .... import dtypes
from ....core.tensor import Tensor
from ....ops.creation import as_tensor, tensor
from ....ops.joining import stack

__all__ = ["collate", "default_collate", "default_convert"]

default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)


def _rebuilt_dict(x: Any, values: dict[Any, Any]) -> Any:
    """A mapping of the class of `x` with these values; a dict where the class does not take them."""
    try:
        if isinstance(x, MutableMapping):
            out = copy.copy(x)
            out.update(values)
            return out
        return type(x)(values)
    except TypeError:
        return values


def _rebuilt_list(x: Any, values: list[Any]) -> Any:
    try:
        if isinstance(x, MutableSequence):
            out = copy.copy(x)
            for i, v in enumerate(values):
                out[i] = v
            return out
        return type(x)(values)
    except TypeError:
        return values


def default_convert(data: Any) -> Any:
    """A sample with NumPy arrays in it made tensors. Source: torch.utils.data.default_convert."""
    if isinstance(data, (Tensor, str, bytes)):
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        return data if data.dtype.kind in "SUO" else as_tensor(data)
    if isinstance(data, Mapping):
        return _rebuilt_dict(data, {k: default_convert(data[k]) for k in data})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(d) for d in data))
    if isinstance(data, tuple):
        return [default_convert(d) for d in data]
    if isinstance(data, Sequence):
        return _rebuilt_list(data, [default_convert(d) for d in data])
    return data


def collate(batch: Any, *, collate_fn_map: dict[Any, Callable[..., Any]] | None = None) -> Any:
    """Samples put together, by the functions given for their classes; containers part by part. Source:
    torch.utils.data._utils.collate.collate."""
    first = batch[0]
    kind = type(first)
    if collate_fn_map is not None:
        fn = collate_fn_map.get(kind) or next((f for k, f in collate_fn_map.items() if isinstance(first, k)), None)
        if fn is not None:
            return fn(batch, collate_fn_map=collate_fn_map)

    def part(samples: Any) -> Any:
        return collate(samples, collate_fn_map=collate_fn_map)

    if isinstance(first, Mapping):
        return _rebuilt_dict(first, {k: part([d[k] for d in batch]) for k in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return kind(*(part(samples) for samples in zip(*batch, strict=False)))
    if isinstance(first, Sequence):
        n = len(first)
        if not all(len(x) == n for x in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [part(samples) for samples in zip(*batch, strict=True)]
        return columns if isinstance(first, tuple) else _rebuilt_list(first, columns)
    raise TypeError(default_collate_err_msg_format.format(kind))


def collate_tensor_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    return stack(batch, 0)


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    if batch[0].dtype.kind in "SUO":
        raise TypeError(default_collate_err_msg_format.format(batch[0].dtype))
    return stack([as_tensor(b) for b in batch], 0)


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    return as_tensor(batch)


def collate_float_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    return tensor(batch, dtype=dtypes.float64)


def collate_int_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    return tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    return batch


default_collate_fn_map: dict[Any, Callable[..., Any]] = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def default_collate(batch: Any) -> Any:
    """Samples as one batch: tensors and arrays stacked, numbers made tensors, containers part by part. Source:
    torch.utils.data.default_collate.

    >>> default_collate([0, 1, 2])
    tensor([0, 1, 2])
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
