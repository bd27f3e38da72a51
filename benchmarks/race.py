"""Runs a row in all libraries turn by turn."""

from __future__ import annotations

import math
import multiprocessing
import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks import worker
from benchmarks.row import Row

# Settings that steer NumPy's BLAS by hand; the figures are those of a machine where nobody did.
STEERING = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


class RowError(Exception):
    """The library cannot run the row; the message says why."""


class Library:
    """A library in a worker process, restarted when a row kills or hangs it."""

    def __init__(self, name: str, patience: float = 120.0) -> None:
        self.name = name
        self.patience = patience
        self._start()

    def _start(self) -> None:
        kept = {key: os.environ.pop(key) for key in STEERING if key in os.environ}
        try:
            context = multiprocessing.get_context("spawn")
            self._pipe, end = context.Pipe()
            self._process = context.Process(target=worker.serve, args=(end, self.name), daemon=True)
            self._process.start()
            end.close()
        finally:
            os.environ.update(kept)
        self.version = self._answer()

    def _answer(self) -> Any:
        try:
            if not self._pipe.poll(self.patience):
                self._process.kill()
                self._process.join()
                raise RowError(f"no answer in {self.patience:.0f} s")
            kind, value = self._pipe.recv()
        except EOFError:
            self._process.join()
            raise RowError(f"the process ended with code {self._process.exitcode}") from None
        if kind == "error":
            raise RowError(value)
        return value

    def ask(self, method: str, *args: Any) -> Any:
        """Calls a method of the worker's :class:`~benchmarks.worker.Bench`; RowError if that fails."""
        try:
            self._pipe.send((method, *args))
            return self._answer()
        except OSError as error:
            raise RowError(worker.describe(error)) from None
        finally:
            if not self._process.is_alive():
                self._start()

    def close(self) -> None:
        """Ends the worker."""
        self._pipe.close()
        self._process.join(timeout=2)
        if self._process.is_alive():
            self._process.kill()


@dataclass
class Result:
    """A row's outcome: for each library the minima of its rounds, or why there are none."""

    row: Row
    rounds: dict[str, list[float]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def seconds(self, library: str) -> float | None:
        """The median over the rounds."""
        return statistics.median(self.rounds[library]) if library in self.rounds else None

    def unsteady(self, library: str) -> bool:
        """Whether the median is far above the best round: something else was running."""
        rounds = self.rounds.get(library)
        return bool(rounds) and statistics.median(rounds) > 1.25 * min(rounds)

    def ratio(self, library: str, baseline: str) -> float | None:
        """How many times as long as `baseline` the library takes."""
        mine, other = self.seconds(library), self.seconds(baseline)
        return None if mine is None or other is None else mine / other


def difference(mine: Sequence[np.ndarray], other: Sequence[np.ndarray], tol: float) -> str | None:
    """Says how two rows' results differ, or `None` where they agree to `tol` of the largest magnitude."""
    if len(mine) != len(other):
        return f"{len(mine)} results, not {len(other)}"
    for a, b in zip(mine, other, strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{a.dtype}{list(a.shape)}, not {b.dtype}{list(b.shape)}"
        if a.size and not np.allclose(a, b, rtol=tol, atol=tol * float(np.abs(b).max())):
            return f"largest difference {float(np.abs(a - b).max()):.2g} of {float(np.abs(b).max()):.2g}"
    return None


def race(row: Row, libraries: Sequence[Library], rounds: int, block: float, repeat: int) -> Result:
    """Times `row` in all libraries, which take turns; those that fail or disagree are left out.

    Args:
        libraries: the last but JAX is the one that the others' results are compared with.
        rounds: turns for each library.
        block: seconds that an inner loop should take.
        repeat: blocks in a turn; fewer where one pass takes long.
    """
    result = Result(row)
    opened: dict[Library, list[np.ndarray]] = {}
    for library in libraries:
        if library.name == "jax" and row.build_jax is None:
            continue
        try:
            opened[library] = library.ask("open", row.name)
        except RowError as error:
            result.missing[library.name] = str(error)
    reference = next((lib for lib in reversed(libraries) if lib in opened and lib.name != "jax"), None)
    for library in list(opened):
        if reference is not None and library is not reference:
            tol = row.tol if library.name != "jax" else max(row.tol, 1e-3)
            found = difference(opened[library], opened[reference], tol)
            if found:
                result.missing[library.name] = f"disagrees: {found}"
                del opened[library]
    runners = list(opened)
    opened.clear()  # before the clock starts: these may be large

    def ask(library: Library, *request: Any) -> Any:
        """The answer, or `None` after taking a library that fails out of the race."""
        try:
            return library.ask(*request)
        except RowError as error:
            result.missing[library.name] = str(error)
            result.rounds.pop(library.name, None)
            runners.remove(library)

    blocks = {}
    for library in list(runners):
        length = ask(library, "calibrate", block)
        blocks[library] = max(1, min(repeat, math.ceil(2 * repeat * block / (length or block))))
    for turn in range(rounds):
        # first and second place alternate, so that neither always follows the other
        for library in list(runners) if turn % 2 == 0 else list(reversed(runners)):
            seconds = ask(library, "turn", blocks[library])
            if seconds is not None:
                result.rounds.setdefault(library.name, []).append(seconds)
    for library in list(runners):
        ask(library, "close")
    return result
