"""Loading by worker processes, ahead of the program."""

from __future__ import annotations

import multiprocessing
import queue
import time
from typing import Any

from ._utils import CHECK_INTERVAL, EndOfData, ExceptionWrapper, Resume, worker_loop
from .dataloader import _BaseDataLoaderIter, _DatasetKind


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
                target=worker_loop,
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
        """The next result that comes."""
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
