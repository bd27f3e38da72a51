"""What a loader's worker process does. Source: torch.utils.data._utils.worker."""

from __future__ import annotations

import os
import queue
import random
import sys
import traceback
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....arrays.threads import set_num_threads
from ....ops._generator import manual_seed

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


def worker_loop(
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
