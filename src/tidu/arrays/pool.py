"""A few persistent threads that share one call.

The workers are daemon threads, started at the first large call, started afresh after a fork, and never
waited for at exit. A call made while the workers are taken (from another thread, or from inside a
piece) runs on the calling thread alone. An exception in a piece is raised in the caller once all threads
have come to rest; what they wrote until then stays written.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from tidu import waiting

# NumPy copies a broadcast operand into its buffer when the row is shorter than the buffer, at twice the price of
# the multiplication itself; with a short buffer it does not. (8192 elements is NumPy's own choice.)
_BUFFER = 512


class _Quiet:
    """No floating point warnings and a short ufunc buffer, for this thread and until the end of the block."""

    __slots__ = ("token",)

    def __enter__(self) -> None:
        self.token = _settings.set(_silent)

    def __exit__(self, *_: object) -> None:
        _settings.reset(self.token)


@contextmanager
def _quiet_by_errstate() -> Iterator[None]:
    with np.errstate(all="ignore"):
        np.setbufsize(_BUFFER)  # undone by errstate too
        yield


quiet: Callable[[], AbstractContextManager[None]]
try:  # what errstate does in three microseconds takes half of one with the parts that it is made of
    from numpy._core.umath import _extobj_contextvar as _settings
    from numpy._core.umath import _make_extobj

    _silent = _make_extobj(all="ignore", bufsize=_BUFFER)
    with _Quiet():
        pass
    quiet = _Quiet
except (AttributeError, ImportError, TypeError):
    quiet = _quiet_by_errstate


def _default_threads() -> int:
    for name in ("TIDU_NUM_THREADS", "OMP_NUM_THREADS"):
        value = os.environ.get(name, "")
        if value.isdigit() and int(value):
            return int(value)
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS, Windows
        return os.cpu_count() or 1


class _Worker:
    """A thread that waits for a job, runs it, and says so. Both locks are used as one-place signals."""

    def __init__(self, number: int) -> None:
        self.go, self.done = threading.Lock(), threading.Lock()
        self.go.acquire()
        self.done.acquire()
        self.job: Callable[[], None] | None = None
        self.avoided = -1
        self.thread = threading.Thread(target=self.run, daemon=True, name=f"tidu-{number}")
        self.thread.start()

    def avoid(self, cpu: int) -> None:
        """Run anywhere but on this core: a woken thread is often put where its waker runs, behind its waker."""
        if cpu != self.avoided and self.thread.native_id is not None:
            self.avoided = cpu
            try:
                os.sched_setaffinity(self.thread.native_id, (_cpus - {cpu}) or _cpus)
            except OSError:
                pass

    def run(self) -> None:
        np.seterr(all="ignore")  # both are this thread's own settings
        np.setbufsize(_BUFFER)
        while True:
            self.go.acquire()
            job, self.job = self.job, None
            if job is None:
                return
            job()
            del job  # an idle worker must not keep the arrays of its last job alive
            self.done.release()


class _Pool:
    def __init__(self) -> None:
        self.taken = threading.Lock()
        self.workers: list[_Worker] = []
        self.closed = False

    def resize(self, count: int) -> None:
        global _current_cpu, _cpus
        if not self.workers and count:
            waiting.calm(_libraries())
            _current_cpu = _find_current_cpu()
            _cpus = os.sched_getaffinity(0) if _current_cpu() >= 0 else set()
        while len(self.workers) < count:
            self.workers.append(_Worker(len(self.workers) + 1))
        while len(self.workers) > count:
            self.workers.pop().go.release()  # no job: the thread returns


def _find_current_cpu() -> Callable[[], int]:
    try:
        import ctypes

        sched_getcpu = ctypes.CDLL(None).sched_getcpu
        os.sched_setaffinity  # noqa: B018 (macOS and Windows have neither)
    except (AttributeError, ImportError, OSError, TypeError):
        return lambda: -1
    return sched_getcpu


_FEW_CORES = 8  # with more there is nearly always one free, and Linux finds it
_cpus: set[int] = set()
_current_cpu: Callable[[], int] = lambda: -1  # noqa: E731 (replaced when the workers start)

_pool = _Pool()
hush: Callable[[], Any] = bool  # called before the workers are, for other threads that look for work to sleep
_threads = _default_threads()


def _after_fork() -> None:
    global _pool, _blas_lock, _blas_holders
    _pool = _Pool()  # the threads stayed in the parent, the locks may be in any state
    _blas_lock = threading.Lock()
    if _blas_holders:
        _blas_holders = 0
        for (_, tell), n in zip(_blas or (), _blas_before, strict=False):
            tell(n)


def _at_exit() -> None:
    _pool.closed = True  # daemon threads stop answering while the interpreter goes down


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
atexit.register(_at_exit)


def get_num_threads() -> int:
    """How many threads a large call uses. Source: torch.get_num_threads."""
    return _threads


def set_num_threads(n: int) -> None:
    """Use `n` threads for large calls, in NumPy's and SciPy's BLAS too where it is OpenBLAS.

    The start value is TIDU_NUM_THREADS, else OMP_NUM_THREADS, else the number of usable cores.
    Source: torch.set_num_threads.
    """
    global _threads, _blas, _blas_before
    if not isinstance(n, int):
        raise RuntimeError(f"set_num_threads expects an int, but got {type(n).__name__}")
    if n < 1:
        raise RuntimeError("set_num_threads expects a positive integer")
    _threads = n
    with _blas_lock:
        if _blas_holders:
            _blas_before = [n] * len(_blas_before)
        else:
            _blas = _find_blas()  # SciPy's library may have come since
            for _, tell in _blas:
                tell(n)


_Blas = tuple[Callable[[], int], Callable[[int], None]]  # how to ask a library for its number of threads, and to set it

_blas: list[_Blas] | None = None
_blas_lock = threading.Lock()
_blas_before: list[int] = []  # what the libraries used before they were held to one thread
_blas_holders = 0


def _libraries() -> list[Any]:
    """Every OpenBLAS that this process has loaded (NumPy and SciPy bring one each)."""
    import ctypes

    try:
        with open("/proc/self/maps") as maps:
            paths = {line.split(None, 5)[-1].strip() for line in maps if "openblas" in line}
    except OSError:  # not Linux
        return []
    found = []
    for path in sorted(paths):
        try:
            found.append(ctypes.CDLL(path))
        except OSError:
            continue
    return found


def _find_blas() -> list[_Blas]:
    import ctypes

    found: list[_Blas] = []
    for library in _libraries():
        for prefix, suffix in (("scipy_", "64_"), ("scipy_", ""), ("", "64_"), ("", "")):
            ask = getattr(library, f"{prefix}openblas_get_num_threads{suffix}", None)
            tell = getattr(library, f"{prefix}openblas_set_num_threads{suffix}", None)
            if ask is not None and tell is not None:
                tell.argtypes, tell.restype = [ctypes.c_int], None
                found.append((ask, tell))
                break
    return found


def look_for_blas() -> None:
    """Look for the libraries anew at the next use: another one has been loaded."""
    global _blas
    with _blas_lock:
        if not _blas_holders:
            _blas = None


class one_blas_thread:  # noqa: N801
    """A context. BLAS calls inside use one thread each, so that our own threads can each make some; False if that can't
    be had."""

    __slots__ = ()

    def __enter__(self) -> bool:
        global _blas, _blas_holders, _blas_before
        with _blas_lock:
            if _blas is None:
                _blas = _find_blas()
            if not _blas_holders:
                _blas_before = [ask() for ask, _ in _blas]
                for _, tell in _blas:
                    tell(1)  # half a microsecond
            _blas_holders += 1
        return bool(_blas)

    def __exit__(self, *exc: object) -> None:
        global _blas_holders
        with _blas_lock:
            _blas_holders -= 1
            if not _blas_holders:
                for (_, tell), n in zip(_blas or (), _blas_before):  # noqa: B905
                    tell(n)


def parallel(fn: Callable[[int], Any], n: int) -> None:
    """Call fn(0), ..., fn(n - 1), each once, shared out between the threads, in any order.

    NumPy's floating point warnings are off inside. Re-entrant calls run on the calling thread.
    """
    pool = _pool
    count = min(_threads, n)
    if count < 2 or pool.closed or not pool.taken.acquire(blocking=False):
        with quiet():
            for i in range(n):
                fn(i)
        return
    try:
        hush()
        _share(pool, fn, n, count)
    finally:
        pool.taken.release()


def _share(pool: _Pool, fn: Callable[[int], Any], n: int, count: int) -> None:
    todo = deque(range(n))  # popleft is atomic
    errors: list[BaseException] = []

    def work() -> None:
        while True:
            try:
                i = todo.popleft()
            except IndexError:
                return
            try:
                fn(i)
            except BaseException as e:
                errors.append(e)
                todo.clear()

    try:
        pool.resize(_threads - 1)
    except RuntimeError:  # no more threads to be had
        pass
    helpers = pool.workers[: count - 1]
    try:
        cpu = _current_cpu() if len(_cpus) <= _FEW_CORES else -1
        for worker in helpers:
            if cpu >= 0:
                worker.avoid(cpu)
            worker.job = work
            worker.go.release()
        with quiet():
            work()
    except BaseException as e:  # an interrupt between two pieces
        errors.append(e)
        todo.clear()
    for worker in helpers:
        while True:
            try:
                if worker.job is None or not worker.go.locked():  # it was let go
                    worker.done.acquire()
                else:
                    worker.job = None
                break
            except BaseException as e:  # an interrupt; the arrays are in use until the worker is done
                errors.append(e)
    if errors:
        try:
            raise errors[0]
        finally:
            errors.clear()  # the traceback refers to this frame
