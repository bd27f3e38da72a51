"""The loader of batches. Source: torch.utils.data.DataLoader."""

from __future__ import annotations

import functools
import itertools
import multiprocessing
import os
import queue
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from ._utils import (
    CHECK_INTERVAL,
    EndOfData,
    ExceptionWrapper,
    IterableDatasetFetcher,
    MapDatasetFetcher,
    Resume,
    _worker_loop,
    default_collate,
    default_convert,
    get_worker_info,
)
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, draw_seed

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]


T_co = TypeVar("T_co", covariant=True)


class _DatasetKind:
    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(kind: int, dataset: Any, auto_collation: bool, collate_fn: Any, drop_last: bool) -> Any:
        cls = MapDatasetFetcher if kind == _DatasetKind.Map else IterableDatasetFetcher
        return cls(dataset, auto_collation, collate_fn, drop_last)


class _InfiniteConstantSampler(Sampler[None]):
    """For iterable data sets, which have no indices."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


def _require(ok: bool, message: str) -> None:
    if not ok:
        raise ValueError(message)


class DataLoader(Generic[T_co]):
    """Goes through a data set in batches.

    Args:
        dataset: where samples come from.
        batch_size: how many make a batch; None for samples as they are.
        shuffle: in random order.
        sampler: gives indices; batch_sampler: gives lists of them.
        num_workers: how many processes fetch samples ahead; 0 for none.
        collate_fn: makes a batch of a list of samples.
        pin_memory, pin_memory_device: accepted.
        drop_last: leave out a last batch that is not full.
        timeout: seconds to wait for a worker, 0 for ever.
        worker_init_fn: called with its number in each worker.
        multiprocessing_context: how workers are started.
        generator: where the order comes from.
        prefetch_factor: how many batches each worker works ahead.
        persistent_workers: keep the workers from one epoch to the next.
        in_order: give batches in the order of their indices.

    Source: torch.utils.data.DataLoader.

    >>> import tidu as torch
    >>> data = torch.utils.data.TensorDataset(torch.arange(5))
    >>> [batch.tolist() for (batch,) in DataLoader(data, batch_size=2)]
    [[0, 1], [2, 3], [4]]
    """

    _initialized = False
    _iterator: Any = None

    def __init__(
        self, dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None, sampler: Any = None,
        batch_sampler: Any = None, num_workers: int = 0, collate_fn: Callable[..., Any] | None = None,
        pin_memory: bool = False, drop_last: bool = False, timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None, multiprocessing_context: Any = None,
        generator: Any = None, *, prefetch_factor: int | None = None, persistent_workers: bool = False,
        pin_memory_device: str = "", in_order: bool = True,
    ) -> None:  # fmt: skip
        _require(
            num_workers >= 0, "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing."
        )
        _require(timeout >= 0, "timeout option should be non-negative")
        _require(
            num_workers > 0 or prefetch_factor is None,
            "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable "
            "multiprocessing, otherwise set prefetch_factor to None.",
        )
        if num_workers > 0 and prefetch_factor is None:
            prefetch_factor = 2
        _require(prefetch_factor is None or prefetch_factor >= 0, "prefetch_factor option should be non-negative")
        _require(num_workers > 0 or not persistent_workers, "persistent_workers option needs num_workers > 0")
        self.dataset, self.num_workers, self.prefetch_factor = dataset, num_workers, prefetch_factor
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.timeout, self.worker_init_fn, self.in_order = timeout, worker_init_fn, in_order
        self.multiprocessing_context = multiprocessing_context
        if isinstance(dataset, IterableDataset):
            self._dataset_kind = _DatasetKind.Iterable
            prefix = "DataLoader with IterableDataset: expected unspecified "
            _require(shuffle in (False, None), f"{prefix}shuffle option, but got shuffle={shuffle}")
            _require(sampler is None, f"{prefix}sampler option, but got sampler={sampler}")
            _require(batch_sampler is None, f"{prefix}batch_sampler option, but got batch_sampler={batch_sampler}")
        else:
            shuffle = bool(shuffle)
            self._dataset_kind = _DatasetKind.Map
        _require(sampler is None or not shuffle, "sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            _require(
                batch_size == 1 and not shuffle and sampler is None and not drop_last,
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last",
            )
            batch_size, drop_last = None, False
        elif batch_size is None:
            _require(
                not drop_last, "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
            )
        if sampler is None:
            if self._dataset_kind == _DatasetKind.Iterable:
                sampler = _InfiniteConstantSampler()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler, self.batch_sampler = sampler, batch_sampler
        self.generator = generator
        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn = collate_fn
        self.persistent_workers = persistent_workers
        self._initialized = True
        self._IterableDataset_len_called: int | None = None
        self._warn_of_many_workers()

    @property
    def multiprocessing_context(self) -> Any:
        """How workers are started: a context of Python's multiprocessing, None for the usual one."""
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        if context is not None:
            if self.num_workers <= 0:
                raise ValueError(
                    "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
                    f"num_workers={self.num_workers}"
                )
            if isinstance(context, str):
                valid = multiprocessing.get_all_start_methods()
                if context not in valid:
                    raise ValueError(
                        f"multiprocessing_context option should specify a valid start method in {valid!r}, but got "
                        f"multiprocessing_context={context!r}"
                    )
                context = multiprocessing.get_context(context)
            if not isinstance(context, multiprocessing.context.BaseContext):
                raise TypeError(
                    "multiprocessing_context option should be a valid context object or a string specifying the start "
                    f"method, but got multiprocessing_context={context}"
                )
        self._context = context

    def __setattr__(self, attr: str, val: Any) -> None:
        if self._initialized and attr in _FIXED:
            raise ValueError(f"{attr} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(attr, val)

    def _get_iterator(self) -> Any:
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        self._warn_of_many_workers()
        return _MultiProcessingDataLoaderIter(self)

    def __iter__(self) -> Any:
        if not (self.persistent_workers and self.num_workers > 0):
            return self._get_iterator()
        if self._iterator is None:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._auto_collation else self.sampler

    def _make_fetcher(self) -> Callable[[Any], Any]:
        return functools.partial(_fetcher_of, self._dataset_kind, self._auto_collation, self.collate_fn, self.drop_last)

    def __len__(self) -> int:
        if self._dataset_kind != _DatasetKind.Iterable:
            return len(self._index_sampler)
        n = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return n
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)

    def _warn_of_many_workers(self) -> None:
        most = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        if self.num_workers and most is not None and self.num_workers > most:
            warnings.warn(
                f"This DataLoader will create {self.num_workers} worker processes in total. Our suggested max number "
                f"of worker in current system is {most}, which is smaller than what this DataLoader is going to "
                "create. Please be aware that excessive worker creation might get DataLoader running slow or even "
                "freeze, lower the worker number to avoid potential slowness/freeze if necessary.",
                stacklevel=3,
            )


def _fetcher_of(kind: int, auto_collation: bool, collate_fn: Any, drop_last: bool, dataset: Any) -> Any:
    return _DatasetKind.create_fetcher(kind, dataset, auto_collation, collate_fn, drop_last)


class _BaseDataLoaderIter:
    def __init__(self, loader: Any) -> None:
        self._dataset, self._dataset_kind = loader.dataset, loader._dataset_kind
        self._IterableDataset_len_called = loader._IterableDataset_len_called
        self._index_sampler, self._num_workers = loader._index_sampler, loader.num_workers
        if loader.pin_memory:
            warnings.warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be "
                "used.",
                stacklevel=4,
            )
        self._timeout, self._persistent_workers = loader.timeout, loader.persistent_workers
        self._sampler_iter = iter(self._index_sampler)
        self._base_seed = draw_seed(loader.generator)
        self._num_yielded = 0

    def __iter__(self) -> Any:
        return self

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0
        self._IterableDataset_len_called = loader._IterableDataset_len_called

    def _next_data(self) -> Any:
        raise NotImplementedError

    def __next__(self) -> Any:
        data = self._next_data()
        self._num_yielded += 1
        said = self._IterableDataset_len_called
        if self._dataset_kind == _DatasetKind.Iterable and said is not None and self._num_yielded > said:
            text = (
                f"Length of IterableDataset {self._dataset} was reported to be {said}(when accessing len(dataloader)), "
                f"but {self._num_yielded} samples have been fetched. "
            )
            if self._num_workers > 0:
                text += (
                    "For multiprocessing data-loading, this could be caused by not properly configuring the "
                    "IterableDataset replica at each worker. Please see "
                    "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for examples."
                )
            warnings.warn(text, stacklevel=2)
        return data

    def __len__(self) -> int:
        return len(self._index_sampler)

    def __getstate__(self) -> Any:
        raise NotImplementedError("{} cannot be pickled", type(self).__name__)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        if self._timeout != 0:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        self._dataset_fetcher = loader._make_fetcher()(self._dataset)

    def _next_data(self) -> Any:
        return self._dataset_fetcher.fetch(next(self._sampler_iter))


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Hands out tasks (a number and an index) to the workers in turn, `prefetch_factor` to each ahead of time.

    Gives the results in the order of their numbers, or (not `in_order`) as they come."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        self._prefetch_factor, self._in_order = loader.prefetch_factor, loader.in_order
        context = loader.multiprocessing_context or multiprocessing.get_context()
        self._results, self._done = context.Queue(), context.Event()
        self._tasks: list[Any] = []
        self._workers: list[Any] = []
        self._stopped = False
        iterable = self._dataset_kind == _DatasetKind.Iterable
        for i in range(self._num_workers):
            tasks = context.Queue()
            tasks.cancel_join_thread()
            worker = context.Process(
                target=_worker_loop,
                args=(
                    loader._make_fetcher(), self._dataset, iterable, tasks, self._results, self._done,
                    self._base_seed, loader.worker_init_fn, i, self._num_workers,
                ),
                daemon=True,
            )  # fmt: skip
            worker.start()
            self._tasks.append(tasks)
            self._workers.append(worker)
        self._reset(loader, first_iter=True)

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        super()._reset(loader, first_iter)
        self._sent = self._received = 0  # the number of the next task, and of the next result to give
        self._open: dict[int, int] = {}  # tasks at work: number -> worker
        self._ready: dict[int, Any] = {}  # results that came before their turn
        self._active = [True] * self._num_workers
        self._turn = 0
        if not first_iter:
            for tasks in self._tasks:
                tasks.put(Resume())
            waiting = self._num_workers
            while waiting:
                number, _ = self._get()
                waiting -= isinstance(number, Resume)
        for _ in range(self._prefetch_factor * self._num_workers):
            self._send()

    def _send(self) -> None:
        """Hand the next index to the next worker that is not at its end."""
        try:
            index = next(self._sampler_iter)
        except StopIteration:
            return
        for _ in range(self._num_workers):
            worker = self._turn
            self._turn = (worker + 1) % self._num_workers
            if self._active[worker]:
                self._tasks[worker].put((self._sent, index))
                self._open[self._sent] = worker
                self._sent += 1
                return

    def _get(self) -> Any:
        deadline = time.monotonic() + self._timeout if self._timeout > 0 else None
        while True:
            wait = CHECK_INTERVAL if deadline is None else min(CHECK_INTERVAL, max(deadline - time.monotonic(), 0.0))
            try:
                return self._results.get(timeout=wait)
            except queue.Empty:
                dead = [w for w, alive in zip(self._workers, self._active, strict=True) if alive and not w.is_alive()]
                if dead:
                    pids = ", ".join(str(w.pid) for w in dead)
                    raise RuntimeError(f"DataLoader worker (pid(s) {pids}) exited unexpectedly") from None
                if deadline is not None and time.monotonic() >= deadline:
                    raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds") from None

    def _next_data(self) -> Any:
        while True:
            if self._in_order:
                # Tasks of workers that have come to their end give nothing.
                while self._received < self._sent and not self._expected(self._received):
                    self._received += 1
            if not self._open and not self._ready:
                if not self._persistent_workers:
                    self._stop()
                raise StopIteration
            if self._received in self._ready:
                data = self._ready.pop(self._received)
                self._received += 1
                return self._given(data)
            number, data = self._get()
            if isinstance(data, EndOfData):
                self._ended(data.worker_id)
                self._send()
                continue
            self._open.pop(number, None)
            if self._in_order and number != self._received:
                self._ready[number] = data
                continue
            self._received += 1
            return self._given(data)

    def _expected(self, number: int) -> bool:
        return number in self._open or number in self._ready

    def _ended(self, worker: int) -> None:
        """A worker has come to the end of its data: it will not answer what it has been asked."""
        self._active[worker] = False
        for number in [n for n, w in self._open.items() if w == worker]:
            del self._open[number]
        if not self._persistent_workers:
            self._tasks[worker].put(None)

    def _given(self, data: Any) -> Any:
        self._send()
        if isinstance(data, ExceptionWrapper):
            data.reraise()
        return data

    def _stop(self) -> None:
        if self._stopped:
            return
        self._stopped = True
        self._done.set()
        for tasks in self._tasks:
            tasks.put(None)
        deadline = time.monotonic() + CHECK_INTERVAL
        while any(w.is_alive() for w in self._workers) and time.monotonic() < deadline:
            try:  # a worker that still has something to say waits until somebody listens
                self._results.get(timeout=0.02)
            except (queue.Empty, EOFError, OSError):
                pass
        for worker in self._workers:
            worker.join(timeout=0.1)
            if worker.is_alive():
                worker.terminate()
        for q in (*self._tasks, self._results):
            q.cancel_join_thread()
            q.close()

    def __del__(self) -> None:
        if getattr(self, "_stopped", True):
            return
        try:
            self._stop()
        except Exception:  # the interpreter may be going down
            pass
