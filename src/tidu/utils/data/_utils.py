"""Parts of the data loader: getting samples, putting them together to batches, and what a worker process does. Source:
torch.utils.data._utils."""

from __future__ import annotations

import copy
import os
import queue
import random
import sys
import traceback
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import dtypes
from ...arrays.threads import set_num_threads
from ...core.tensor import Tensor, tensor_of
from ...naming import submodule
from ...ops._sampler import manual_seed
from ...ops.creation import as_tensor, tensor
from ...ops.joining import stack
from .dataset import Subset, TensorDataset

default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)


def _rebuilt_dict(x: Any, values: dict[Any, Any]) -> Any:
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


def _collate(batch: Any, *, collate_fn_map: dict[Any, Callable[..., Any]] | None = None) -> Any:
    """Samples put together, by the functions given for their classes; containers part by part. Source:
    torch.utils.data._utils.collate.collate."""
    first = batch[0]
    kind = type(first)
    if collate_fn_map is not None:
        fn = collate_fn_map.get(kind) or next((f for k, f in collate_fn_map.items() if isinstance(first, k)), None)
        if fn is not None:
            return fn(batch, collate_fn_map=collate_fn_map)

    def part(samples: Any) -> Any:
        return _collate(samples, collate_fn_map=collate_fn_map)

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


_collate.__name__ = _collate.__qualname__ = "collate"  # as which it is in the module of that name


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
    return _collate(batch, collate_fn_map=default_collate_fn_map)


class _Fetcher:
    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Any, drop_last: bool) -> None:
        self.dataset, self.auto_collation = dataset, auto_collation
        self.collate_fn, self.drop_last = collate_fn, drop_last


class IterableDatasetFetcher(_Fetcher):
    """Takes the next items."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.dataset_iter = iter(self.dataset)
        self.ended = False

    def fetch(self, index: Any) -> Any:
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.dataset_iter))
        data = []
        for _ in index:
            try:
                data.append(next(self.dataset_iter))
            except StopIteration:
                self.ended = True
                break
        if not data or (self.drop_last and len(data) < len(index)):
            raise StopIteration
        return self.collate_fn(data)


class MapDatasetFetcher(_Fetcher):
    """Takes the items at given indices."""

    def fetch(self, index: Any) -> Any:
        dataset = self.dataset
        if not self.auto_collation:
            return self.collate_fn(dataset[index])
        if self.collate_fn is default_collate:
            rows = _rows(dataset, index)
            if rows is not None:
                return rows
        if getattr(dataset, "__getitems__", None):
            return self.collate_fn(dataset.__getitems__(index))
        return self.collate_fn([dataset[i] for i in index])


def _rows(dataset: Any, index: list[int]) -> list[Any] | None:
    """A batch of a TensorDataset (or a part of one) taken out of its tensors at once: what collating its items one by
    one would come to."""
    while type(dataset) is Subset:
        dataset, index = dataset.dataset, [dataset.indices[i] for i in index]
    if type(dataset) is not TensorDataset:
        return None
    if any(type(t) is not Tensor or t.requires_grad for t in dataset.tensors):
        return None
    try:
        at = np.array(index, np.int64)
        return [tensor_of(np.take(t._a, at, 0)) for t in dataset.tensors]
    except (IndexError, ValueError):
        return None  # the item itself says what is wrong


CHECK_INTERVAL = 5.0  # seconds after which a process looks whether the other one still lives


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """Which worker this is, of how many, its seed, and its copy of the data set."""

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str | None = "multiprocessing"


_worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker process, which one it is; None elsewhere. Source: torch.utils.data.get_worker_info."""
    return _worker_info


class EndOfData:
    """An iterable data set has come to its end in a worker."""

    def __init__(self, worker_id: int) -> None:
        self.worker_id = worker_id


class Resume:
    """Start over: the next epoch of a persistent worker."""


class _Words(str):
    """A text whose repr is itself: KeyError shows its argument's repr."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """An exception with its traceback as text, to be raised in another process."""

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        exc_info = sys.exc_info() if exc_info is None else exc_info
        self.exc_type = exc_info[0]
        self.exc_msg = "".join(traceback.format_exception(*exc_info))
        self.where = where

    def reraise(self) -> None:
        """Raise an exception of the same class, whose message is the traceback."""
        msg = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            msg = _Words(msg)
        elif getattr(self.exc_type, "message", None):
            raise self.exc_type(message=msg)
        try:
            error = self.exc_type(msg)
        except Exception:
            raise RuntimeError(msg) from None
        raise error


def _worker_loop(
    make_fetcher: Any, dataset: Any, iterable: bool, tasks: Any, results: Any, done: Any, base_seed: int,
    init_fn: Any, worker_id: int, num_workers: int,
) -> None:  # fmt: skip
    """Fetch what `tasks` asks for and put it into `results`, until None comes or the parent is gone."""
    global _worker_info
    parent = os.getppid()
    where = f"in DataLoader worker process {worker_id}"
    try:
        set_num_threads(1)
        seed = base_seed + worker_id
        random.seed(seed)
        manual_seed(seed)
        entropy = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
        np.random.seed(np.random.SeedSequence(entropy).generate_state(4))
        _worker_info = WorkerInfo(worker_id, num_workers, seed, dataset)
        problem: Any = None
        fetcher: Any = None
        try:
            if init_fn is not None:
                init_fn(worker_id)
            fetcher = make_fetcher(dataset)
        except Exception:
            problem = ExceptionWrapper(where=where)
        ended = False
        while True:
            try:
                task = tasks.get(timeout=CHECK_INTERVAL)
            except queue.Empty:
                if os.getppid() != parent:
                    break
                continue
            if task is None:
                break
            if isinstance(task, Resume):
                results.put((task, None))
                ended, fetcher = False, make_fetcher(dataset)
                continue
            if done.is_set() or ended:
                continue
            number, index = task
            if problem is not None:
                data, problem = problem, None
            else:
                try:
                    data = fetcher.fetch(index)
                except Exception as e:
                    if isinstance(e, StopIteration) and iterable:
                        data, ended = EndOfData(worker_id), True
                    else:
                        data = ExceptionWrapper(where=where)
            results.put((number, data))
            del data
    except KeyboardInterrupt:
        pass
    if done.is_set():
        results.cancel_join_thread()
        results.close()


MP_STATUS_CHECK_INTERVAL = CHECK_INTERVAL
collate = submodule(
    globals(), "collate",
    "collate_float_fn collate_int_fn collate_numpy_array_fn collate_numpy_scalar_fn collate_str_fn "
    "collate_tensor_fn default_collate default_collate_err_msg_format default_collate_fn_map default_convert",
    collate=_collate,
)  # fmt: skip
fetch = submodule(globals(), "fetch", "IterableDatasetFetcher MapDatasetFetcher")
worker = submodule(globals(), "worker", "WorkerInfo get_worker_info")
