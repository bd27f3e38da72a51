"""How long ops take: a record of what ran, as a table or a Chrome trace. Source: torch.autograd.profiler.

Public functions are events, and within them the functions and ops that they are made of. Backward passes are seen
node by node. While a profiler runs, ops go a slower way; what it adds to each is about ten microseconds.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..core.modes import state
from ..core.subclass import FACES, Special, pop_mode, push_mode
from ..core.tensor import Tensor, raw

__all__ = [
    "EventList", "FunctionEvent", "FunctionEventAvg", "KinetoStepTracker", "profile", "record_function",
]  # fmt: skip

_clock = time.perf_counter_ns


def _format_time(us: float) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if us >= size:
            return f"{us / size:.3f}{unit}"
    return f"{us:.3f}us"


class FunctionEvent:
    """One call: its name, when it ran, the calls within it. Times are in microseconds."""

    def __init__(self, id: int, name: str, thread: int, start: float, input_shapes: Any) -> None:
        self.id, self.name, self.key, self.thread = id, name, name, thread
        self.start, self.end = start, start
        self.input_shapes = input_shapes
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None
        self.count = 1

    @property
    def cpu_time_total(self) -> float:
        """How long it took."""
        return self.end - self.start

    cpu_time = cpu_time_total

    @property
    def self_cpu_time_total(self) -> float:
        """How long it took without the calls within it."""
        return self.cpu_time_total - sum(c.cpu_time_total for c in self.cpu_children)

    def __repr__(self) -> str:
        children = [c.id for c in self.cpu_children]
        return (
            f"<FunctionEvent id={self.id} name={self.name} cpu_time={_format_time(self.cpu_time)} "
            f"start_us={self.start:.3f} end_us={self.end:.3f} cpu_children={children} thread={self.thread} "
            f"input_shapes={self.input_shapes or ''}>"
        )


class FunctionEventAvg:
    """All calls of one name (and shapes) together."""

    def __init__(self, key: str, input_shapes: Any = "") -> None:
        self.key, self.input_shapes = key, input_shapes
        self.count = 0
        self.cpu_time_total = self.self_cpu_time_total = 0.0

    def add(self, event: Any) -> FunctionEventAvg:
        self.count += event.count
        self.cpu_time_total += event.cpu_time_total
        self.self_cpu_time_total += event.self_cpu_time_total
        return self

    @property
    def cpu_time(self) -> float:
        """How long one took on average."""
        return self.cpu_time_total / self.count if self.count else 0.0

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={_format_time(self.self_cpu_time_total)} "
            f"cpu_time={_format_time(self.cpu_time)} input_shapes={self.input_shapes}>"
        )


class EventList(list):
    """Events, with what can be made of them."""

    @property
    def self_cpu_time_total(self) -> float:
        return sum(e.self_cpu_time_total for e in self)

    def total_average(self) -> FunctionEventAvg:
        """All events as one."""
        total = FunctionEventAvg("Total")
        for e in self:
            total.add(e)
        return total

    def key_averages(self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0) -> EventList:
        """The events of one name together, and of the same input shapes if asked for."""
        groups: dict[Any, FunctionEventAvg] = {}
        for e in self:
            shapes: Any = (e.input_shapes or []) if group_by_input_shapes else ""
            groups.setdefault((e.key, str(shapes)), FunctionEventAvg(e.key, shapes)).add(e)
        return EventList(groups.values())

    def table(
        self, sort_by: str | None = None, row_limit: int = 100, max_src_column_width: int = 75,
        max_name_column_width: int = 55, max_shapes_column_width: int = 80, header: str | None = None,
        top_level_events_only: bool = False,
    ) -> str:  # fmt: skip
        """The events as text, a row each; `sort_by` is one of the attributes, such as "self_cpu_time_total"."""
        rows = [e for e in self if not (top_level_events_only and getattr(e, "cpu_parent", None) is not None)]
        if sort_by is not None:
            rows.sort(key=lambda e: getattr(e, sort_by), reverse=True)
        rows = rows[:row_limit]
        total = self.self_cpu_time_total
        shapes = any(e.input_shapes not in ("", None) for e in self)
        cells = [
            [
                _shortened(e.key, max_name_column_width), _percent(e.self_cpu_time_total, total),
                _format_time(e.self_cpu_time_total), _percent(e.cpu_time_total, total), _format_time(e.cpu_time_total),
                _format_time(e.cpu_time), str(e.count), *([_shortened(str(e.input_shapes),
                max_shapes_column_width)] * shapes),
            ]
            for e in rows
        ]  # fmt: skip
        heads = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls"]
        widths = [max([len(c[0]) for c in cells], default=4) + 4, *[12] * 6]
        if shapes:
            heads.append("Input Shapes")
            widths.append(max([len(c[7]) for c in cells], default=8) + 4)
        rule = "  ".join("-" * w for w in widths) + "  "
        lines = [
            rule,
            *["  ".join(f"{c:>{w}}" for c, w in zip(row, widths, strict=True)) + "  " for row in [heads, *cells]],
        ]
        lines.insert(2, rule)
        lines.append(rule)
        if header is not None:
            lines.insert(0, header)
        return "\n".join(lines) + f"\nSelf CPU time total: {_format_time(total)}\n"

    def export_chrome_trace(self, path: str) -> None:
        """Write the events where chrome://tracing and Perfetto read them."""
        pid = os.getpid()
        events = [
            {
                "ph": "X", "cat": "cpu_op", "name": e.key, "pid": pid, "tid": e.thread, "ts": e.start,
                "dur": e.cpu_time_total,
                "args": {"Input Dims": e.input_shapes} if e.input_shapes else {},
            }
            for e in self
        ]  # fmt: skip
        with open(path, "w") as f:
            json.dump({"schemaVersion": 1, "displayTimeUnit": "ms", "traceEvents": events}, f)

    def __str__(self) -> str:
        return self.table()


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.2f}%" if whole else "0.00%"


def _shortened(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def _shape(t: Tensor) -> Sequence[int]:
    return t.shape if isinstance(t, Special) else raw(t).shape  # an array's, for asking a tensor is an event itself


class _Local(threading.local):
    open: tuple[FunctionEvent, ...] = ()  # the events that are running, the innermost last


class _Recorder:
    """Takes down what runs while a profiler is active; also the function mode by which it sees ops."""

    sees_backward = True

    def __init__(self, shapes: bool) -> None:
        self.shapes = shapes
        self.events: list[FunctionEvent] = []
        self.local = _Local()
        self.start = _clock()

    def now(self) -> float:
        return (_clock() - self.start) / 1e3

    @contextlib.contextmanager
    def event(self, name: str, inputs: Sequence[Any] | None = None) -> Iterator[FunctionEvent]:
        shapes = None
        if inputs is not None and self.shapes:
            shapes = [list(_shape(v)) if isinstance(v, Tensor) else [] for v in inputs]
        outer = self.local.open
        if inputs is not None and outer and outer[-1].name == name and not outer[-1].cpu_children:
            yield outer[-1]  # a function's own op
            return
        e = FunctionEvent(len(self.events) + 1, name, threading.get_ident(), self.now(), shapes)
        self.events.append(e)
        if outer:
            e.cpu_parent = outer[-1]
            outer[-1].cpu_children.append(e)
        self.local.open = (*outer, e)
        try:
            yield e
        finally:
            e.end = self.now()
            self.local.open = outer

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "op").partition(".")[0].removesuffix("_dim").removesuffix("_all")
        with self.event("aten::" + RENAMED.get(name, name), args):
            return func(*args, **(kwargs or {}))


RENAMED = {
    "cast": "_to_copy", "cross_entropy": "cross_entropy_loss", "nll_loss": "nll_loss_nd", "tensor": "lift_fresh",
    "LogSoftmaxBackwardDataBackward": "_log_softmax_backward_data", "contiguous_clone": "clone",
    "SoftmaxBackwardDataBackward": "_softmax_backward_data", "unsafe_view": "_unsafe_view",
    "reshape_copy": "_unsafe_view",
}  # fmt: skip
_active: list[_Recorder] = []


class profile:
    """Within it ops and backward passes are timed. Source: torch.autograd.profiler.profile.

    Args:
        enabled: whether to do anything.
        record_shapes: note the shapes of the inputs too.
        use_cuda, use_device, with_flops, profile_memory, with_stack, with_modules, use_kineto, use_cpu,
        experimental_config, acc_events, custom_trace_id_callback: accepted; there is a CPU only, and times only.

    >>> import tidu as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.autograd.profiler.profile() as prof:
    ...     (x * 2).sum().backward()
    >>> [e.name for e in prof.function_events if e.cpu_parent is None][:2]
    ['aten::mul', 'aten::sum']
    """

    def __init__(
        self, enabled: bool = True, *, use_cuda: bool = False, use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False, profile_memory: bool = False, with_stack: bool = False, with_modules: bool = False,
        use_kineto: bool = False, use_cpu: bool = True, experimental_config: Any = None, acc_events: bool = False,
        custom_trace_id_callback: Any = None,
    ) -> None:  # fmt: skip
        self.enabled, self.record_shapes = enabled, record_shapes
        self.entered = False
        self._events: EventList | None = None

    def __enter__(self) -> profile | None:
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self.entered = True
        self._recorder = _Recorder(self.record_shapes)
        _active.append(self._recorder)
        FACES.start()
        push_mode(self._recorder)
        self._was, state.timer = state.timer, self._recorder.event
        state.refresh()
        return self

    def __exit__(self, *exc: Any) -> None:
        if not self.enabled:
            return
        pop_mode()
        FACES.stop()
        state.timer = self._was
        state.refresh()
        _active.remove(self._recorder)
        self._events = EventList(self._recorder.events)

    def _finished(self) -> EventList:
        if self._events is None:
            raise RuntimeError("Profiler didn't finish running")
        return self._events

    @property
    def function_events(self) -> EventList:
        """The calls in the order in which they began."""
        return self._finished()

    @property
    def self_cpu_time_total(self) -> float:
        """How long all calls took together."""
        return self._finished().self_cpu_time_total

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0) -> EventList:
        """The calls of one name together. Source: torch.autograd.profiler.profile.key_averages."""
        return self._finished().key_averages(group_by_input_shape)

    def total_average(self) -> FunctionEventAvg:
        """All calls together. Source: torch.autograd.profiler.profile.total_average."""
        return self._finished().total_average()

    def table(self, sort_by: str | None = None, row_limit: int = 100, **options: Any) -> str:
        """The calls as text. Source: torch.autograd.profiler.profile.table."""
        return self._finished().table(sort_by, row_limit, **options)

    def export_chrome_trace(self, path: str) -> None:
        """Write a trace for chrome://tracing. Source: torch.autograd.profiler.profile.export_chrome_trace."""
        self._finished().export_chrome_trace(path)

    def __str__(self) -> str:
        return "<unfinished torch.autograd.profile>" if self._events is None else str(self._events)

    def __repr__(self) -> str:
        return "<unfinished torch.autograd.profile>" if self._events is None else repr(self._events)


class record_function:
    """A block, or a function, as an event of its own in running profilers. Source:
    torch.autograd.profiler.record_function."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args
        self._open: list[Any] = []

    def __enter__(self) -> record_function:
        self._open = [r.event(self.name) for r in _active]
        for c in self._open:
            c.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        for c in reversed(self._open):
            c.__exit__(*exc)
        self._open = []

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fn)
        def wrapped(*args: Any, **kw: Any) -> Any:
            with record_function(self.name, self.args):
                return fn(*args, **kw)

        return wrapped


class KinetoStepTracker:
    """Counts the steps of a training loop. Source: torch.autograd.profiler.KinetoStepTracker."""

    _current_step = 0

    @classmethod
    def increment_step(cls, requester: str) -> int:
        cls._current_step += 1
        return cls._current_step

    @classmethod
    def current_step(cls) -> int:
        return cls._current_step
