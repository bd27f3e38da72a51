"""torch.futures: results that are still to come, set by the program itself."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["Future", "collect_all", "wait_all"]


class Future:
    """A result that is still to come. Source: torch.futures.Future."""

    def __init__(self, *, devices: Any = None) -> None:
        self._set = threading.Event()
        self._lock = threading.Lock()
        self._value: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Future], Any]] = []

    def done(self) -> bool:
        """Whether the result is there."""
        return self._set.is_set()

    def wait(self) -> Any:
        """The result, once it is there; the exception, if that was set."""
        self._set.wait()
        if self._error is not None:
            raise self._error
        return self._value

    def value(self) -> Any:
        """The result, which must be there."""
        if not self.done():
            raise RuntimeError("Future is not completed; call wait() first")
        return self.wait()

    def then(self, callback: Callable[[Future], Any]) -> Future:
        """What `callback` makes of this future, once it is done."""
        following = Future()

        def run(done: Future) -> None:
            try:
                following.set_result(callback(done))
            except Exception as e:
                following.set_exception(e)

        self.add_done_callback(run)
        return following

    def add_done_callback(self, callback: Callable[[Future], Any]) -> None:
        """Call `callback(self)` once the result is there, at once if it is."""
        with self._lock:
            if not self._set.is_set():
                self._callbacks.append(callback)
                return
        callback(self)

    def set_result(self, result: Any) -> None:
        """Give the result; once only."""
        self._finish(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Give an exception in the result's place."""
        if not isinstance(result, BaseException):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._finish(None, result)

    def _finish(self, value: Any, error: BaseException | None) -> None:
        with self._lock:
            if self._set.is_set():
                raise RuntimeError(
                    "Attempting to mark a completed Future as complete again. Note that a Future can only be marked completed "
                    "once."
                )
            self._value, self._error = value, error
            self._set.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(self)


def collect_all(futures: Sequence[Future]) -> Future:
    """A future of all of them, done when they are. Source: torch.futures.collect_all."""
    futures = list(futures)
    together = Future()
    left = [len(futures)]
    lock = threading.Lock()

    def one_done(_: Future) -> None:
        with lock:
            left[0] -= 1
            last = left[0] == 0
        if last:
            together.set_result(futures)

    for f in futures:
        f.add_done_callback(one_done)
    if not futures:
        together.set_result([])
    return together


def wait_all(futures: Sequence[Future]) -> list[Any]:
    """The results of all of them, once they are there. Source: torch.futures.wait_all."""
    return [f.wait() for f in collect_all(futures).wait()]
