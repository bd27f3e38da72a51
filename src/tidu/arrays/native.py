"""Native loops for what NumPy must do in many passes, where llvmlite is installed (the `compile` extra).

Softmax, layer norm and the smooth activations read memory once and write it once here, in float32, sixteen
elements at a time. Each kernel is built as LLVM IR by the few lines of Python that describe it and compiled the
first time a large array needs it, in some hundredths of a second. Without llvmlite, or with TIDU_NATIVE=0 in the
environment, `kernel` gives None and the caller takes the NumPy route.

A kernel is called with addresses and lengths, lets go of the interpreter's lock, and is cut over the threads by its
caller. Sums run in sixteen lanes which are added up in a fixed order.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tidu.arrays.threads import get_num_threads, parallel, step_of

if TYPE_CHECKING:
    from tidu.arrays.native_loops import Compiler, Loops

_PIECE = 1 << 17  # elements that a thread takes at a time


def over_elements(name: str, ins: Sequence[np.ndarray], out: np.ndarray, shared: int = 0) -> bool:
    """Run a kernel (*ins, out, n) on contiguous rows of one length; False if there is none.

    From more than `shared` elements on it is cut over the threads.
    """
    function = kernel(name)
    if function is None:
        return False
    n = out.size
    places = [address(a) for a in (*ins, out)]
    if n <= shared:
        function(*places, n)
        return True
    step = step_of(n, _PIECE)

    share(function, [(*[p + 4 * lo for p in places], min(step, n - lo)) for lo in range(0, n, step)])
    return True


def over_rows(name: str, ins: Sequence[np.ndarray], out: np.ndarray, shared: int = 0) -> bool:
    """Run a kernel (*ins, out, rows, n) on contiguous matrices of one shape; False if there is none.

    From more than `shared` elements on the threads share.
    """
    function = kernel(name)
    if function is None:
        return False
    places = [address(a) for a in (*ins, out)]
    rows, n = out.shape

    over_pieces(function, rows, n, lambda lo, count, _: (*[p + 4 * lo * n for p in places], count, n), shared)
    return True


def over_pieces(
    function: Any, rows: int, n: int, arguments: Callable[[int, int, int], Sequence[Any]], shared: int = 0
) -> None:
    """Call a kernel with arguments(first row, number of rows, number of the piece) for the pieces of a (rows, n) matrix.

    From more than `shared` elements on the threads share.
    """
    step = _rows_a_piece(rows, n)
    calls = [arguments(lo, min(step, rows - lo), i) for i, lo in enumerate(range(0, rows, step))]
    if rows * n <= shared:
        for call in calls:
            function(*call)
    else:
        share(function, calls)


def count_pieces(rows: int, n: int) -> int:
    """How many pieces over_pieces makes."""
    return -(-rows // _rows_a_piece(rows, n))


def _rows_a_piece(rows: int, n: int) -> int:
    if rows * n <= _PIECE // 2:
        return rows
    return step_of(rows, max(1, _PIECE // n), 1)


def share(function: Any, calls: Sequence[Sequence[Any]]) -> None:
    """Call a kernel once with each of these arguments, shared between the threads."""
    if len(calls) < 2 or get_num_threads() < 2:
        for arguments in calls:
            function(*arguments)
        return
    team, signature = _team(), function.signature
    if team is not None:
        if "f" in signature:
            table = [[_bits(x) if k == "f" else x for x, k in zip(c, signature, strict=True)] for c in calls]
        else:
            table = calls  # type: ignore[assignment]
        if team.run(function.task, np.array(table, np.int64), len(calls)):
            return
    parallel(lambda i: function(*calls[i]), len(calls))


def _bits(x: float) -> int:
    return int(np.float32(x).view(np.int32))


def _once(make: Callable[[], Any]) -> Callable[[], Any]:
    """What is made at the first call, by one thread: code goes with the compiler that wrote it."""
    kept = functools.cache(make)

    @functools.cache
    def get() -> Any:
        with _making:
            return kept()

    return get


_making = threading.RLock()


@_once
def _team() -> Any:
    from tidu.arrays.team import Team, build_lead, build_serve

    serve, lead = compiled("serve", "pnn", build_serve), compiled("lead", "pnnnn", build_lead)
    return None if serve is None or lead is None else Team(serve, lead)


def address(a: np.ndarray) -> int:
    place: int = a.__array_interface__["data"][0]
    return place


@functools.cache
def kernel(name: str, *sizes: Any) -> Callable[..., None] | None:
    """The compiled kernel of this name, made for these sizes if it is made for some; None if there can be none."""
    if _llvm() is None:
        return None
    if sizes:
        from tidu.arrays.native_windows import WINDOWS

        signature, make = WINDOWS[name]
        build = make(*sizes)
    else:
        from tidu.arrays.native_kernels import KERNELS

        signature, build = KERNELS[name]
    return compiled(name, signature, build)


def compiled(name: str, signature: str, build: Callable[[Loops], None]) -> Callable[..., None] | None:
    """A kernel that `build` writes, or None if there can be none; it is for the caller to keep."""
    llvm = _llvm()
    if llvm is None:
        return None
    try:
        return llvm.compile(name, signature, build)
    except RuntimeError:  # an LLVM that speaks another dialect
        return None


def wide() -> bool:
    """Whether there are native loops, on registers of sixteen floats."""
    llvm = _llvm()
    return llvm is not None and llvm.wide


def halves() -> bool:
    """Whether there are native loops, and instructions that convert half precision."""
    llvm = _llvm()
    return llvm is not None and llvm.halves


@_once
def _llvm() -> Compiler | None:
    if os.environ.get("TIDU_NATIVE", "1") == "0":
        return None
    from tidu.arrays.native_loops import Compiler

    try:
        return Compiler()
    except (ImportError, OSError, RuntimeError):
        return None
