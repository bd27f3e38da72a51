"""torch.multiprocessing: Python's multiprocessing, whose names it has; tensors not in shared memory are sent as copies.

Source: torch.multiprocessing.
"""

from __future__ import annotations

import multiprocessing as _multiprocessing
import multiprocessing.connection as _connection
import signal as _signal
import sys as _sys
import traceback as _traceback
from collections.abc import Callable as _Callable
from multiprocessing import *  # noqa: F403
from multiprocessing.pool import Pool as _Pool
from typing import Any as _Any

from ..naming import submodule as _submodule

_strategy = "file_descriptor"


def set_sharing_strategy(new_strategy: str) -> None:
    """Accepted. Source: torch.multiprocessing.set_sharing_strategy."""
    global _strategy
    if new_strategy not in get_all_sharing_strategies():
        raise AssertionError
    _strategy = new_strategy


def get_sharing_strategy() -> str:
    """What was set. Source: torch.multiprocessing.get_sharing_strategy."""
    return _strategy


def get_all_sharing_strategies() -> set[str]:
    """What may be set. Source: torch.multiprocessing.get_all_sharing_strategies."""
    return {"file_descriptor", "file_system"}


class ProcessException(Exception):
    """A process has failed."""

    def __init__(self, msg: str, error_index: int, pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid

    def __reduce__(self) -> _Any:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """A process has raised an exception."""


class ProcessExitedException(ProcessException):
    """A process has ended by a signal or with an exit code."""

    def __init__(
        self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name


def _run(fn: _Callable[..., _Any], i: int, args: tuple[_Any, ...], errors: _Any) -> None:
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass
    except Exception:
        errors.put(_traceback.format_exc())
        _sys.exit(1)


class ProcessContext:
    """Processes that are at work; `join` waits for them."""

    def __init__(self, processes: list[_Any], errors: list[_Any]) -> None:
        self.processes, self.errors = processes, errors
        self.sentinels = {p.sentinel: i for i, p in enumerate(processes)}

    def pids(self) -> list[int]:
        """Their process ids."""
        return [p.pid for p in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait for one to end; True once all have ended. If one has failed the others are ended, and it is raised.

        Source: torch.multiprocessing.spawn.ProcessContext.join.
        """
        if not self.sentinels:
            return True
        ready = _connection.wait(list(self.sentinels), timeout=timeout)
        failed = None
        for sentinel in ready:
            i = self.sentinels.pop(sentinel)
            self.processes[i].join()
            if self.processes[i].exitcode != 0:
                failed = i
                break
        if failed is None:
            return not self.sentinels
        for p in self.processes:
            if p.is_alive():
                p.terminate()
            p.join()
        process = self.processes[failed]
        if self.errors[failed].empty():
            code = process.exitcode
            if code < 0:
                name = _signal.Signals(-code).name
                text = f"process {failed} terminated with signal {name}"
                raise ProcessExitedException(text, failed, process.pid, code, name)
            raise ProcessExitedException(
                f"process {failed} terminated with exit code {code}", failed, process.pid, code
            )
        text = f"\n\n-- Process {failed} terminated with the following error:\n{self.errors[failed].get()}"
        raise ProcessRaisedException(text, failed, process.pid)


SpawnContext = ProcessContext


def start_processes(
    fn: _Callable[..., _Any], args: tuple[_Any, ...] = (), nprocs: int = 1, join: bool = True, daemon: bool = False,
    start_method: str = "spawn",
) -> _Any:  # fmt: skip
    """`spawn` with a start method of choice. Source: torch.multiprocessing.start_processes."""
    context: _Any = _multiprocessing.get_context(start_method)
    errors, processes = [], []
    for i in range(nprocs):
        queue = context.SimpleQueue()
        process = context.Process(target=_run, args=(fn, i, args, queue), daemon=daemon)
        process.start()
        errors.append(queue)
        processes.append(process)
    started = ProcessContext(processes, errors)
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(
    fn: _Callable[..., _Any], args: tuple[_Any, ...] = (), nprocs: int = 1, join: bool = True, daemon: bool = False,
    start_method: str = "spawn",
) -> _Any:  # fmt: skip
    """Run fn(i, *args) in `nprocs` processes. Source: torch.multiprocessing.spawn.

    Args:
        join: wait for all; otherwise return a context whose `join` does.
        daemon: whether they end with this process.

    Raises:
        ProcessRaisedException, ProcessExitedException: one has failed.
    """
    return start_processes(fn, args, nprocs, join, daemon, start_method)


_submodule(
    globals(), "spawn",
    "ProcessContext ProcessException ProcessExitedException ProcessRaisedException SpawnContext spawn start_processes _run",
)  # fmt: skip
_submodule(globals(), "pool", Pool=_Pool)


def __getattr__(name: str) -> _Any:
    return getattr(_multiprocessing, name)


__all__ = [
    *_multiprocessing.__all__, "ProcessContext", "ProcessException", "ProcessExitedException",
    "ProcessRaisedException", "SpawnContext", "get_all_sharing_strategies", "get_sharing_strategy",
    "set_sharing_strategy", "spawn", "start_processes",
]  # fmt: skip
