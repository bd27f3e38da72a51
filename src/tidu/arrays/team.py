"""Threads that run compiled kernels without the interpreter, and wait for the next one a while before they sleep.

To wake a sleeping thread takes as long as many a kernel runs, and a thread woken in Python waits for the interpreter's
lock besides. Here a worker looks for work for some tens of microseconds after the last piece, in compiled code, and
goes to sleep then, or as soon as `hush` says that others need the cores. Pieces go to whoever is free: the caller takes
part, and a worker that comes late finds nothing left to do.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tidu import waiting
from tidu.arrays import threads

# Words of the table that all share, those that are written often on lines of the cache of their own: the ticket (which
# job, and its next piece), the function, the pieces' arguments, their number, how many are done, whether to be quiet;
# and from _STATES on, eight apart, whether each worker sleeps.
_TICKET, _FUNCTION, _ARGUMENTS, _COUNT, _DONE, _HUSH, _STATES = 0, 8, 9, 10, 16, 24, 32
_NO_PIECE = 0x7FFFFFFF
_SPINS = 12000  # of some 25 ns each: how long a worker looks for more
_PATIENCE = 20000  # how often a caller looks whether all are done, before it naps
_NAP = 5e-5
_MOST = 100  # threads


def _pause(k: Any) -> None:
    if k.module.triple.startswith("x86_64"):
        kind = k.ir.FunctionType(k.ir.VoidType(), [])
        name = "llvm.x86.sse2.pause"
        k.builder.call(k.module.globals.get(name) or k.ir.Function(k.module, kind, name), [])


class _Words:
    """The table, in a kernel."""

    def __init__(self, k: Any, table: Any) -> None:
        self.k, self.b = k, k.builder
        self.table = self.b.bitcast(table, k.int.as_pointer())

    def place(self, word: int) -> Any:
        return self.b.gep(self.table, [self.k.whole(word)])

    def read(self, word: int) -> Any:
        return self.b.load_atomic(self.place(word), "acquire", 8)

    def write(self, word: int, x: Any) -> None:
        self.b.atomic_rmw("xchg", self.place(word), x, "seq_cst")

    def take(self) -> tuple[Any, Any]:
        """Try for a piece: whether one was there (and has run, if it was ours) leads on in the first block returned,
        none in the second; neither ends."""
        k, b = self.k, self.b
        ticket = self.read(_TICKET)
        index = b.and_(ticket, k.whole(0xFFFFFFFF))
        some, none = b.append_basic_block(), b.append_basic_block()
        b.cbranch(b.icmp_unsigned("<", index, self.read(_COUNT)), some, none)
        b.position_at_end(some)
        function, arguments = self.read(_FUNCTION), self.read(_ARGUMENTS)
        # The ticket's value never comes again: where it is unchanged, so was what has been read.
        got = b.cmpxchg(self.place(_TICKET), ticket, b.add(ticket, k.whole(1)), "seq_cst")
        mine, after = b.append_basic_block(), b.append_basic_block()
        b.cbranch(b.extract_value(got, 1), mine, after)
        b.position_at_end(mine)
        kind = k.ir.FunctionType(k.ir.VoidType(), [k.int.as_pointer(), k.int])
        table = b.inttoptr(arguments, k.int.as_pointer())
        b.call(b.inttoptr(function, kind.as_pointer()), [table, index])
        b.atomic_rmw("add", self.place(_DONE), k.whole(1), "seq_cst")
        b.branch(after)
        return after, none

    def take_until(self, over: Callable[[], Any], most: Any) -> None:
        """Take pieces until there have been none for `most` times, or it is over when there is none."""
        k, b = self.k, self.b
        before, head = b.block, b.append_basic_block()
        b.branch(head)
        b.position_at_end(head)
        missed = b.phi(k.int)
        missed.add_incoming(k.whole(0), before)
        after, none = self.take()
        b.position_at_end(after)
        missed.add_incoming(k.whole(0), after)
        b.branch(head)
        b.position_at_end(none)
        _pause(k)
        more = b.add(missed, k.whole(1))
        missed.add_incoming(more, none)
        end = b.append_basic_block()
        b.cbranch(b.or_(over(), b.icmp_signed(">", more, most)), end, head)
        b.position_at_end(end)


def build_serve(k: Any) -> None:
    """(table, number of the worker's state, spins): run pieces until there have been none for so many spins."""
    table, state, spins = k.arguments
    b, words = k.builder, _Words(k, table)
    words.take_until(lambda: b.icmp_signed("!=", words.read(_HUSH), k.whole(0)), spins)
    b.atomic_rmw("xchg", b.gep(words.table, [state]), k.whole(1), "seq_cst")


def build_lead(k: Any) -> None:
    """(table, function, arguments, count, patience): publish a job, if there is a function, and take part until all is
    done or patience ends."""
    table, function, arguments, count, patience = k.arguments
    b, words = k.builder, _Words(k, table)
    with b.if_then(b.icmp_signed("!=", function, k.whole(0))):
        job = b.and_(words.read(_TICKET), k.whole(0x7FFFFFFF << 32))
        words.write(_TICKET, b.or_(job, k.whole(_NO_PIECE)))
        words.write(_FUNCTION, function)
        words.write(_ARGUMENTS, arguments)
        words.write(_COUNT, count)
        words.write(_DONE, k.whole(0))
        words.write(_TICKET, b.and_(b.add(job, k.whole(1 << 32)), k.whole(0x7FFFFFFF << 32)))
    words.take_until(lambda: b.icmp_signed("==", words.read(_DONE), words.read(_COUNT)), patience)


class Team:
    def __init__(self, serve: Any, lead: Any) -> None:
        self.serve, self.lead = serve, lead
        self.current_cpu = threads._find_current_cpu()
        self.cpus: set[int] = os.sched_getaffinity(0) if self.current_cpu() >= 0 else set()
        self.reset()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.reset)
        threads.hush = self.hush

    def reset(self) -> None:
        self.taken = threading.Lock()
        self.memory = np.zeros(1 << 10, np.int64)  # kept for threads that a fork left behind
        self.words = self.memory[-(self.memory.ctypes.data // 8) % 8 :]
        self.words[_TICKET] = _NO_PIECE
        self.table = self.words.ctypes.data
        self.gates: list[threading.Lock] = []
        self.ids: list[int] = []
        self.avoided: list[int] = []

    def hush(self) -> None:
        self.words[_HUSH] = 1

    def _work(self, gate: threading.Lock, number: int) -> None:
        self.ids[number] = threading.get_native_id()
        table, state = self.table, _STATES + 8 * number
        while True:
            gate.acquire()
            self.serve(table, state, _SPINS)

    def _wake(self, count: int) -> None:
        words, cpu = self.words, -1
        for i in range(count):
            if i == len(self.gates):
                if not i:
                    waiting.calm(threads._libraries())
                gate = threading.Lock()
                gate.acquire()
                words[_STATES + 8 * i] = 1
                self.gates.append(gate)
                self.ids.append(0)
                self.avoided.append(-1)
                threading.Thread(target=self._work, args=(gate, i), daemon=True, name=f"tidu-team-{i}").start()
            if words[_STATES + 8 * i]:
                if cpu < 0 < len(self.cpus) <= threads._FEW_CORES:
                    cpu = self.current_cpu()
                if cpu >= 0 and self.ids[i] and self.avoided[i] != cpu:  # or else it may be put where we run
                    self.avoided[i] = cpu
                    try:
                        os.sched_setaffinity(self.ids[i], (self.cpus - {cpu}) or self.cpus)
                    except OSError:
                        pass
                words[_STATES + 8 * i] = 0
                self.gates[i].release()

    def run(self, task: int, table: Any, count: int) -> bool:
        """Run a task's pieces; False where somebody else is at it."""
        if threads._pool.closed or not self.taken.acquire(blocking=False):
            return False
        words, interrupt = self.words, None
        try:
            words[_HUSH] = 0
            self._wake(min(threads.get_num_threads(), count, _MOST) - 1)
            self.lead(self.table, task, table.__array_interface__["data"][0], count, _PATIENCE)
            while words[_DONE] != count:  # a thread has lost its core
                try:
                    time.sleep(_NAP)
                except BaseException as e:  # the arrays are in use until all are done
                    interrupt = e
        finally:
            self.taken.release()
        if interrupt is not None:
            raise interrupt
        return True
