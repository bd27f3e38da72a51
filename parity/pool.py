"""Worker processes that share the op database by fork, and survive a check that kills its process."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
from collections.abc import Callable, Iterator
from typing import Any

import torch


def run(jobs: int, names: list[str], work: Callable[[str], Any]) -> Iterator[tuple[str, Any]]:
    """`(name, work(name))` as they finish; `None` for a name whose process died."""
    if jobs <= 1:
        for name in names:
            yield name, work(name)
        return
    torch.set_num_threads(1)  # and no thread pool before the fork
    context = multiprocessing.get_context("fork")
    todo = list(reversed(names))
    busy: dict[Any, tuple[Any, str]] = {}

    def start() -> None:
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, work), daemon=True)
        process.start()
        theirs.close()
        give(ours, process)

    def give(pipe: Any, process: Any) -> None:
        if todo:
            name = todo.pop()
            pipe.send(name)
            busy[pipe] = process, name
        else:
            pipe.send(None)
            process.join()

    for _ in range(min(jobs, len(names))):
        start()
    while busy:
        pipe: Any
        for pipe in multiprocessing.connection.wait(list(busy)):
            process, name = busy.pop(pipe)
            try:
                result = pipe.recv()
            except EOFError:
                process.join()
                yield name, None
                if todo:
                    start()
                continue
            give(pipe, process)
            yield name, result


def _serve(pipe: Any, work: Callable[[str], Any]) -> None:
    while (name := pipe.recv()) is not None:
        pipe.send(work(name))
