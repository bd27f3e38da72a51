"""torch.utils.benchmark: how long statements take."""

from __future__ import annotations

import statistics
import timeit
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Measurement", "Timer", "timer"]

timer = timeit.default_timer


@dataclass(repr=False)
class Measurement:
    """Times of several runs of a statement. Source: torch.utils.benchmark.Measurement."""

    number_per_run: int
    raw_times: list[float]
    task_spec: dict[str, Any] = field(default_factory=dict)

    @property
    def times(self) -> list[float]:
        """Seconds for one execution, of each run."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def mean(self) -> float:
        """Their mean."""
        return statistics.fmean(self.times)

    @property
    def median(self) -> float:
        """Their median."""
        return statistics.median(self.times)

    @property
    def iqr(self) -> float:
        """The distance of their quartiles."""
        if len(self.raw_times) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.times, n=4, method="inclusive")
        return high - low

    def __repr__(self) -> str:
        scale, unit = next((s, u) for s, u in ((1, "s"), (1e3, "ms"), (1e6, "us"), (1e9, "ns")) if self.median * s >= 1)
        label = self.task_spec.get("label") or self.task_spec.get("stmt")
        what = "Median" if len(self.raw_times) > 1 else "Time"
        lines = [
            f"<{type(self).__module__}.{type(self).__name__} object at {hex(id(self))}>", str(label),
            f"  {what}: {self.median * scale:.2f} {unit}",
        ]  # fmt: skip
        if len(self.raw_times) > 1:
            lines.append(f"  IQR:    {self.iqr * scale:.2f} {unit}")
        lines.append(
            f"  {len(self.raw_times)} measurement{'s' * (len(self.raw_times) > 1)}, {self.number_per_run} runs"
        )
        return "\n".join(lines)


class Timer:
    """Runs a statement many times and tells how long it took. Source: torch.utils.benchmark.Timer.

    Unlike timeit it takes the number of runs from how long they take.
    """

    def __init__(
        self, stmt: str = "pass", setup: str = "pass", global_setup: str = "", timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None, label: str | None = None, sub_label: str | None = None,
        description: str | None = None, env: str | None = None, num_threads: int = 1, language: str = "python",
    ) -> None:  # fmt: skip
        import textwrap

        self._task = {
            "stmt": textwrap.dedent(stmt).strip(), "label": label, "sub_label": sub_label, "description": description,
        }  # fmt: skip
        self._timer = timeit.Timer(
            textwrap.dedent(stmt).strip(), textwrap.dedent(setup).strip(), timer=timer, globals=globals or {}
        )

    def _measured(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number_per_run=number, raw_times=times, task_spec=self._task)

    def timeit(self, number: int = 1000000) -> Measurement:
        """The time of this many executions."""
        self._timer.timeit(max(int(number // 100), 2))
        return self._measured(number, [self._timer.timeit(number)])

    def blocked_autorange(self, callback: Any = None, min_run_time: float = 0.2) -> Measurement:
        """Runs of a fixed number of executions, until they took min_run_time seconds."""
        number, taken = 1, self._timer.timeit(1)
        while taken < min_run_time / 1000 and number < 10**9:
            number *= 10
            taken = self._timer.timeit(number)
        times: list[float] = []
        while not times or sum(times) < min_run_time:
            times.append(self._timer.timeit(number))
            if callback is not None:
                callback(number, times[-1])
        return self._measured(number, times)

    def adaptive_autorange(
        self, threshold: float = 0.1, *, min_run_time: float = 0.01, max_run_time: float = 10.0, callback: Any = None
    ) -> Measurement:
        """Runs until their quartiles lie close together."""
        found = self.blocked_autorange(callback, min_run_time)
        while found.iqr > threshold * found.median and sum(found.raw_times) < max_run_time:
            found.raw_times.append(self._timer.timeit(found.number_per_run))
        return found
