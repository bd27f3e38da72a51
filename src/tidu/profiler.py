"""torch.profiler: the profiler with a schedule of steps. Source: torch.profiler.

What is measured, and how, is `autograd.profiler`'s.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

from .autograd.profiler import EventList, record_function
from .autograd.profiler import profile as _profile

__all__ = [
    "ProfilerAction", "ProfilerActivity", "kineto_available", "profile", "record_function", "schedule",
    "supported_activities", "tensorboard_trace_handler",
]  # fmt: skip


class ProfilerActivity(Enum):
    """What to look at: there is a CPU only. Source: torch.profiler.ProfilerActivity."""

    CPU = 0
    XPU = 1
    MTIA = 3
    CUDA = 2


class ProfilerAction(Enum):
    """What to do in a step. Source: torch.profiler.ProfilerAction."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities() -> set[ProfilerActivity]:
    """What can be looked at. Source: torch.profiler.supported_activities."""
    return {ProfilerActivity.CPU}


def kineto_available() -> bool:
    """Whether PyTorch's own tracing library is there: no. Source: torch.profiler.kineto_available."""
    return False


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:  # fmt: skip
    """A schedule: after `skip_first` steps cycles of `wait`, `warmup` and `active` steps, `repeat` of them (0: for
    ever).

    Source: torch.profiler.schedule.
    """
    if wait < 0 or warmup < 0 or active <= 0 or repeat < 0 or skip_first < 0:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} (need >= 0), "
            f"active={active} (need > 0), repeat={repeat} (need >= 0), skip_first={skip_first} (need >= 0)."
        )

    def action(step: int) -> ProfilerAction:
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        if skip_first_wait:
            step += wait
        n = wait + warmup + active
        if repeat and step // n >= repeat:
            return ProfilerAction.NONE
        at = step % n
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if at < n - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """An `on_trace_ready` that writes each trace to a file of its own. Source:
    torch.profiler.tensorboard_trace_handler."""

    def handle(prof: profile) -> None:
        os.makedirs(dir_name, exist_ok=True)
        name = worker_name or f"worker_{os.getpid()}"
        prof.export_chrome_trace(os.path.join(dir_name, f"{name}.{time.time_ns()}.pt.trace.json"))

    return handle


class profile:
    """Within it ops are timed, in all steps or as a schedule says. Source: torch.profiler.profile.

    Args:
        activities: accepted.
        schedule: what to do in which step, see `schedule`; call `step()` after each.
        on_trace_ready: called with the profiler when a cycle of the schedule, or the whole, is done.
        record_shapes: note the shapes of inputs too.

    >>> import tidu as torch
    >>> with torch.profiler.profile() as prof:
    ...     y = torch.ones(2).exp()
    >>> [e.key for e in prof.key_averages()]
    ['aten::exp']
    """

    def __init__(
        self, *, activities: Iterable[ProfilerActivity] | None = None, schedule: Any = None,
        on_trace_ready: Callable[[profile], Any] | None = None, record_shapes: bool = False, **options: Any,
    ) -> None:  # fmt: skip
        self.schedule = schedule or (lambda step: ProfilerAction.RECORD)
        self.on_trace_ready, self.record_shapes = on_trace_ready, record_shapes
        self.step_num = 0
        self.current_action = self.schedule(0)
        self.profiler: _profile | None = None
        self._running = False

    def start(self) -> None:
        """Begin the first step."""
        self._go(self.current_action)

    def stop(self) -> None:
        """End the last step, and hand over what was recorded."""
        self._end(handed=True)

    def step(self) -> None:
        """End a step and begin the next."""
        was = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        if was is ProfilerAction.RECORD_AND_SAVE:
            self._end(handed=True)
        self._go(self.current_action)

    def _go(self, action: ProfilerAction) -> None:
        wanted = action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if wanted and not self._running:
            self.profiler = _profile(record_shapes=self.record_shapes)
            self.profiler.__enter__()
            self._running = True
        elif not wanted:
            self._end(handed=False)

    def _end(self, handed: bool) -> None:
        if not self._running:
            return
        assert self.profiler is not None
        self.profiler.__exit__(None, None, None)
        self._running = False
        if handed and self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exc: Any) -> None:
        self.stop()

    def _finished(self) -> _profile:
        if self.profiler is None:
            raise AssertionError("Profiler must be initialized before getting key averages")
        return self.profiler

    def events(self) -> EventList:
        """The calls in the order in which they began. Source: torch.profiler.profile.events."""
        return self._finished().function_events

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0) -> EventList:
        """The calls of one name together. Source: torch.profiler.profile.key_averages."""
        return self._finished().key_averages(group_by_input_shape)

    def export_chrome_trace(self, path: str) -> None:
        """Write a trace for chrome://tracing. Source: torch.profiler.profile.export_chrome_trace."""
        self._finished().export_chrome_trace(path)
