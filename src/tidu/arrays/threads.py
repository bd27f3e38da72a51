"""Cutting one large call into pieces for the cores, and long chains of calls into blocks for the cache.

NumPy's ufuncs run on one core and let go of the interpreter's lock while they run, so a few persistent threads can take on
pieces of a large call. To hand the lock over costs several microseconds, which is why a call with fewer than `BIG` elements
is left to the caller, and why `blocked` gives each NumPy call a block of up to a megabyte. The cut depends on the size
alone and every piece writes a place of its own, so results do not depend on which thread took which piece, nor on the
number of threads.

The workers are daemon threads, started at the first large call, started afresh after a fork, and never waited for at exit.
A call made while they are taken (from another thread, or from inside a piece) runs on the calling thread alone. An
exception in a piece is raised in the caller once all threads have come to rest; what they wrote until then stays written.
"""

from __future__ import annotations

import atexit
import math
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
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


class one_blas_thread:
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
                for (_, tell), n in zip(_blas or (), _blas_before):
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


BIG = 1 << 18  # elements; below, waking a thread costs more than it saves
BLOCK = 1 << 20  # bytes of a block of `blocked`: long enough for the lock, short enough for the cache

# More than one, so that a thread that wakes late, or whose core is taken, leaves its second piece to the others.
_PIECES_PER_THREAD = 2
_LEAST_PIECE = 1 << 16  # elements; on a machine with many cores, not all of them are worth waking


def _has_svml() -> bool:
    """Whether NumPy's exp2 comes from the vector math library it bundles for AVX-512 on Linux."""
    try:
        from numpy._core import _multiarray_umath  # type: ignore[attr-defined, unused-ignore]

        return sys.platform == "linux" and bool(_multiarray_umath.__cpu_features__.get("AVX512_SKX"))
    except (AttributeError, ImportError):
        return False


FAST_EXP2 = _has_svml()
_LOG2_E = 1 / math.log(2)


def exp_scaled(x: np.ndarray, scale: float, out: np.ndarray) -> None:
    """out = exp(scale * x), on large float32 blocks by exp2, which takes half the time of NumPy's exp.

    The product's rounding then costs |scale * x| * 8e-8 of the result, relatively.
    """
    if FAST_EXP2 and x.dtype.char == "f" and x.size > 4096:
        np.multiply(x, scale * _LOG2_E, out)
        np.exp2(out, out)
    elif scale == 1:
        np.exp(x, out)
    else:
        np.multiply(x, scale, out)
        np.exp(out, out)


def exponential(dtype: np.dtype) -> tuple[np.ufunc, float]:
    """The fastest ufunc f there is with f(unit * x) = exp(x), and that unit.

    Where that is exp2 (for float32), infinities and results that are not normal numbers take many times as long.
    """
    return (np.exp2, _LOG2_E) if FAST_EXP2 and dtype.char == "f" else (np.exp, 1.0)


def rows_of(*arrays: np.ndarray) -> tuple[list[np.ndarray], Callable[[np.ndarray], np.ndarray]]:
    """Arrays of one shape as contiguous rows in the first one's order of memory, and the way back for such a row.

    Rows are views where the memory is dense in that order, copies elsewhere.
    """
    first = arrays[0]
    shape = first.shape
    if all(a.flags.c_contiguous for a in arrays):
        return [a.reshape(-1) for a in arrays], lambda row: row.reshape(shape)
    order = sorted(range(first.ndim), key=first.strides.__getitem__, reverse=True)
    inverse = sorted(range(first.ndim), key=order.__getitem__)
    turned = tuple(shape[k] for k in order)
    rows = [np.ascontiguousarray(a.transpose(order)).reshape(-1) for a in arrays]
    return rows, lambda row: row.reshape(turned).transpose(inverse)


def step_of(n: int, most: int, unit: int = 64) -> int:
    """The length of equal pieces of n, at most `most`, their number a multiple of four (so that two or four threads
    have as much to do), a multiple of `unit` long."""
    count = -(-n // (4 * most)) * 4
    return -(-n // (count * unit)) * unit


def blocked(
    kernel: Callable[..., Any],
    ins: Sequence[np.ndarray],
    out: np.ndarray,
    scratch: int = 0,
    dtype: np.dtype | None = None,
) -> np.ndarray:
    """Run an elementwise kernel over blocks of flat arrays of one length; return `out`.

    kernel(*blocks, out_block, *scratch_blocks) must only write to the out and scratch blocks, which have
    one dtype: that of `out`, or `dtype` if it is given, in which case blocks of another dtype are converted
    on the way in and out (float16 and bfloat16 computed in float32).
    """
    n = out.size
    work_dtype = out.dtype if dtype is None else dtype
    convert_in = [a.dtype != work_dtype for a in ins]
    convert_out = out.dtype != work_dtype
    temporaries = scratch + sum(convert_in) + convert_out

    def run(lo: int, hi: int) -> None:
        spare = iter(np.empty((temporaries, hi - lo), work_dtype)) if temporaries else iter(())
        blocks = []
        for a, convert in zip(ins, convert_in, strict=True):
            block = a[lo:hi]
            if convert:
                target = next(spare)
                target[...] = block
                block = target
            blocks.append(block)
        target = next(spare) if convert_out else out[lo:hi]
        kernel(*blocks, target, *spare)
        if convert_out:
            out[lo:hi] = target

    if n <= BIG:
        with quiet():
            run(0, n)
    else:
        step = step_of(n, BLOCK // work_dtype.itemsize)
        parallel(lambda i: run(i * step, min(n, (i + 1) * step)), -(-n // step))
    return out


def big_ufunc(ufunc: np.ufunc, a: np.ndarray, b: Any = None, out: np.ndarray | None = None) -> np.ndarray:
    """ufunc(a), or ufunc(a, b) with an array or a Python number, on all cores; for a.size > BIG.

    Shapes broadcast, dtypes and the layout of the result are NumPy's. Floating point warnings are off.
    """
    if (ufunc is np.maximum or ufunc is np.minimum) and type(b) in (int, float) and a.dtype.char in "fd":
        from tidu.arrays.select import extremum

        return extremum(ufunc, a, b)
    if b is None:
        operands: tuple[Any, ...] = (a,)
    else:
        operands = (a, b)
    shape = a.shape
    if isinstance(b, np.ndarray) and b.shape != shape and b.size != 1:
        shape = np.broadcast_shapes(shape, b.shape)
    # One element tells the dtype of the result.
    probe = [x[(slice(0, 1),) * x.ndim] if isinstance(x, np.ndarray) else x for x in operands]
    with quiet():
        dtype = ufunc(*probe).dtype
    if a.flags.c_contiguous and a.shape == shape:
        rows = _as_rows(operands, shape)
        if rows is not None and (out is None or out.flags.c_contiguous):
            out = np.empty(shape, dtype) if out is None else out
            _cut(ufunc, rows, out.reshape(-1))
            return out
    if out is not None:
        return ufunc(*operands, out)
    return _cut_along_axis(ufunc, operands, shape, dtype)


def _as_rows(operands: tuple[Any, ...], shape: tuple[int, ...]) -> list[Any] | None:
    """The operands as contiguous rows of one length or as scalars, if they all are such."""
    rows: list[Any] = []
    for x in operands:
        if isinstance(x, np.ndarray) and x.ndim:
            if x.shape != shape or not x.flags.c_contiguous:
                return None
            x = x.reshape(-1)
        rows.append(x)
    return rows


def _cut(ufunc: np.ufunc, operands: Sequence[Any], out: np.ndarray) -> None:
    """Cut along the first axis: operands have out's length there, or 1, or are scalars."""
    n = len(out)
    pieces = get_num_threads() * (_PIECES_PER_THREAD if out.size > 4 * BIG else 1)
    pieces = min(n, pieces, max(1, out.size // _LEAST_PIECE))
    step = -(-n // pieces)
    if out.ndim == 1:
        step = -(-step // 64) * 64  # whole cache lines

    def run(i: int) -> None:
        lo = i * step
        hi = min(n, lo + step)
        ufunc(
            *[x[lo:hi] if isinstance(x, np.ndarray) and x.ndim and len(x) == n else x for x in operands], out=out[lo:hi]
        )

    parallel(run, -(-n // step))


def _cut_along_axis(ufunc: np.ufunc, operands: tuple[Any, ...], shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Any strides: put the axis with the longest stride first, cut along it, turn the axes back."""
    views = [np.broadcast_to(x, shape) if isinstance(x, np.ndarray) and x.ndim else x for x in operands]
    strides = [v.strides for v in views if isinstance(v, np.ndarray) and v.ndim]
    order = sorted(range(len(shape)), key=lambda k: [s[k] for s in strides], reverse=True)
    turned = [v.transpose(order) if isinstance(v, np.ndarray) and v.ndim else v for v in views]
    out = np.empty(tuple(shape[k] for k in order), dtype)
    _cut(ufunc, turned, out)
    return out.transpose(sorted(range(len(shape)), key=order.__getitem__))
