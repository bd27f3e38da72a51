"""The process in which one library is timed: answers requests that come through a pipe."""

from __future__ import annotations

import importlib
import time
import timeit
from collections.abc import Callable
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.row import ROWS, Inline

# The steps whose results are compared: the second one shows that the first left the state it should.
CHECKED_STEPS = 2


def arrays_of(result: Any) -> list[np.ndarray]:
    """The tensors in `result` (one, a number, or tuples, lists and dicts of them) as NumPy arrays, copied."""
    if result is None:
        return []
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, (tuple, list)):
        return [array for part in result for array in arrays_of(part)]
    if hasattr(result, "detach"):
        result = result.detach().numpy()
    array = np.array(result)
    if array.dtype == object:
        raise TypeError(f"a step returned a {type(result).__name__}, which has no numbers to compare")
    return [array]


def first_steps(work: Callable[[], Any] | Inline) -> list[np.ndarray]:
    """Runs a prepared row's first steps and returns what they computed."""
    if isinstance(work, Inline):
        return arrays_of(eval(work.code, work.names))
    return [array for _ in range(CHECKED_STEPS) for array in arrays_of(work())]


class Bench:
    """Holds the row that is open and times it."""

    def __init__(self, lib: ModuleType) -> None:
        self.lib = lib
        self.timer: timeit.Timer | None = None
        self.number = 1

    def open(self, name: str) -> list[np.ndarray]:
        """Prepares a row and returns the results of its first steps."""
        row = ROWS[name]
        build = row.build_jax if self.lib.__name__ == "jax" else row.build
        work = build(self.lib)
        results = first_steps(work)
        code, names = (work.code, work.names) if isinstance(work, Inline) else ("step()", {"step": work})
        # timeit turns the garbage collector off; a user's program does not
        self.timer = timeit.Timer(code, "import gc; gc.enable()", globals=names)
        self.number = 1
        return results

    def calibrate(self, seconds: float) -> float:
        """Finds how many passes fill `seconds`; returns how long one block of them takes."""
        assert self.timer is not None
        number = 1
        while (taken := self.timer.timeit(number)) < seconds / 2:
            number = min(10 * number, max(2 * number, round(number * seconds / taken)))
        self.number = max(1, round(number * seconds / taken))
        return self.number * taken / number

    def turn(self, repeat: int) -> float:
        """Seconds a pass takes, the best of `repeat` blocks."""
        assert self.timer is not None
        time.sleep(0.003)  # the other library's threads spin for a while after their last job
        return min(self.timer.repeat(repeat, self.number)) / self.number

    def close(self) -> None:
        """Drops the row and its data."""
        self.timer = None


def describe(error: BaseException) -> str:
    """The error in one short line."""
    first = (str(error).splitlines() or [""])[0]
    text = f"{type(error).__name__}: {first}"
    return text if len(text) <= 90 else text[:87] + "..."


def serve(pipe: Connection, library: str) -> None:
    """Answers ``(method, *args)`` with ``("ok", value)`` or ``("error", line)`` until the pipe closes."""
    importlib.import_module("benchmarks.rows")
    try:
        lib = importlib.import_module(library)
        if library == "jax":
            lib.config.update("jax_enable_x64", True)  # else float64 data would become float32
        bench = Bench(lib)
        pipe.send(("ok", getattr(lib, "__version__", "?")))
    except Exception as error:
        pipe.send(("error", describe(error)))
        return
    while True:
        try:
            method, *args = pipe.recv()
        except EOFError:
            return
        try:
            answer = ("ok", getattr(bench, method)(*args))
        except Exception as error:  # a row that cannot run is a line in the table
            answer = ("error", describe(error))
        pipe.send(answer)
