"""The stream of random words behind every sampler: MT19937, seeded and saved as PyTorch's CPU generator.

`WordStream` hands out 32-bit words in order. It always produces whole blocks of 624 words, as the
twister does, so that its state can be told at any word: the words of a block are its state, tempered,
and tempering can be undone. A sampler that cannot know how many words it will use looks ahead with
`peek` and says afterwards with `skip` how many it used.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

BLOCK = 624
FEWEST = 4 * BLOCK  # words made at a time
DEFAULT_SEED = 67280421310721
STATE_BYTES = 5056
_WORD = np.uint32
_NONE = np.empty(0, _WORD)

# The saved state, little-endian, as PyTorch lays it out on a 64-bit machine. `left` is 1 when the next word
# starts a new block; `next` is then 624, or 0 if the stream has just been seeded.
STATE = np.dtype(
    [
        ("seed", "<u8"),
        ("left", "<i4"),
        ("seeded", "<i4"),
        ("next", "<u8"),
        ("key", "<u8", BLOCK),
        ("unused_x", "<f8"),
        ("normal", "<f8"),
        ("unused_rho", "<f8"),
        ("has_normal", "<i4"),
        ("pad", "<i4"),
        ("normal32", "<f4"),
        ("has_normal32", "<u4"),
    ]
)


_drawn: dict[str, int] = {}


def worth_compiling(kernel: str, n: int) -> bool:
    """Whether a kernel should by now have been compiled, when `n` more numbers are drawn: NumPy has taken as long."""
    _drawn[kernel] = drawn = _drawn.get(kernel, 0) + n
    return drawn > 1 << 21


def _untemper(words: np.ndarray) -> np.ndarray:
    """Undo MT19937's tempering: the state words from which `words` were made."""
    y = words ^ (words >> _WORD(18))
    y ^= (y << _WORD(15)) & _WORD(0xEFC60000)
    # The shifts undone next are shorter than the word: each repetition settles some more bits.
    x = y
    for _ in range(4):
        x = y ^ ((x << _WORD(7)) & _WORD(0x9D2C5680))
    y = x
    for _ in range(2):
        x = y ^ (x >> _WORD(11))
    return x


class WordStream:
    """A stream of 32-bit random words with PyTorch's seeding, state and cached normal.

    Samplers hold `lock` while they draw, so that threads sharing a stream never share a word.

    >>> WordStream(3).take(2)
    array([2365658986,  303761048], dtype=uint32)
    """

    __slots__ = ("_blocks", "_cursor", "_key", "_made", "_made_of", "_seed", "_source", "_start", "lock", "normal")

    def __init__(self, seed: int = DEFAULT_SEED) -> None:
        self.lock = threading.RLock()
        self._source: Any = None  # NumPy's twister; a program that never draws need not import numpy.random
        self._key: np.ndarray | None = None  # the twister's state, where a compiled one goes on from it
        self._made_of: np.ndarray | None = None  # the words of which the following is made: see `few`
        self._made: dict[Any, tuple[int, Any]] = {}
        self.restart(seed)

    def restart(self, seed: int) -> None:
        """Start afresh from `seed`, of at most 64 bits; a negative one stands for `seed + 2**64`."""
        with self.lock:
            self._seed = seed % (1 << 64)
            self._start: list[Any] = [None]  # this start: the twister's key, where it is not the seed that says it
            self._blocks: np.ndarray | None = None  # the words produced, in whole blocks, if any since then
            self._cursor = 0  # the next word's place among them
            self.normal: float | None = None  # the second one of a pair, waiting to be handed out
            if self._source is not None:
                self._reseed()

    def restart_at_random(self) -> int:
        """Start afresh from a seed of the operating system's choice, and return it."""
        seed = int.from_bytes(os.urandom(8), "little")
        self.restart(seed)
        return seed

    @property
    def seed(self) -> int:
        return self._seed

    # -- words ---------------------------------------------------------------------------------------------

    def _twister(self) -> Any:
        if self._source is None:
            from numpy.random import MT19937

            self._source = MT19937(0)
            self._reseed()
        return self._source

    def _reseed(self) -> None:
        from numpy.random import RandomState

        self._key = None
        RandomState(self._source).seed(self._seed & 0xFFFFFFFF)  # NumPy's legacy seeding is PyTorch's

    def _produce(self, n: int) -> np.ndarray:
        """The words of the next blocks, at least `n` words."""
        count = max(FEWEST, -(-n // BLOCK) * BLOCK)
        if self._key is not None or worth_compiling("twist", count):
            from tidu.arrays.native_random import kernel, twist

            if kernel("twist") is not None:
                words, self._key = twist(self._state(), max(count, 4 * FEWEST))
                return words
        return self._twister().random_raw(count).astype(_WORD)

    def _state(self) -> np.ndarray:
        key: np.ndarray = self._twister().state["state"]["key"] if self._key is None else self._key
        return key

    def _rest(self) -> np.ndarray:
        return _NONE if self._blocks is None else self._blocks[self._cursor :]

    def take(self, n: int) -> np.ndarray:
        """The next `n` words (uint32, not to be written to)."""
        with self.lock:
            blocks, end = self._blocks, self._cursor + n
            if blocks is not None and end <= blocks.size:
                words = blocks[self._cursor : end]
                self._cursor = end
                return words
            if n == 0:
                return _NONE
            rest = self._rest()
            fresh = self._produce(n - rest.size)
            used = n - rest.size
            begin = (used - 1) // BLOCK * BLOCK  # keep no more than the block that the last word came from
            self._blocks, self._cursor = fresh[begin:].copy() if begin else fresh, used - begin
            return np.concatenate((rest, fresh[:used])) if rest.size else fresh[:used]

    def few(self, n: int, make: Callable[[np.ndarray], np.ndarray], unit: int = 1) -> np.ndarray | None:
        """What `make` makes of the next `n` words, `unit` of them at a time, an item each (not to be written to).

        For samplers of a few numbers, which NumPy's calls would keep longer than the arithmetic: from the second time
        on, `make` is called for as many words as are at hand. None, and no word is used, where it has not been.
        """
        blocks, begin = self._blocks, self._cursor
        if blocks is None or begin + n > blocks.size:
            return None
        if self._made_of is not blocks:
            self._made_of, self._made = blocks, {}
        key = make, begin % unit
        got = self._made.get(key)
        if got is None:
            self._made[key] = begin, _NONE
            return None
        i = (begin - got[0]) // unit
        stop = i + n // unit
        if i < 0 or stop > len(got[1]):
            rest = blocks[begin : begin + FEWEST]
            got = self._made[key] = begin, make(rest[: rest.size // unit * unit])
            i, stop = 0, n // unit
        self._cursor = begin + n
        values: np.ndarray = got[1][i:stop]
        return values

    def peek(self, n: int) -> np.ndarray:
        """The next `n` words (uint32, not to be written to), which stay unused until `skip`."""
        with self.lock:
            missing = n - self._rest().size
            if missing > 0:
                fresh = self._produce(missing)
                if self._blocks is None:
                    self._blocks = fresh
                else:
                    begin = max(0, (self._cursor - 1) // BLOCK * BLOCK)
                    self._blocks = np.concatenate((self._blocks[begin:], fresh))
                    self._cursor -= begin
            return self._rest()[:n]

    def skip(self, n: int) -> None:
        """Use up `n` words."""
        self.take(n)

    # -- state ---------------------------------------------------------------------------------------------

    def mark(self) -> tuple[Any, ...]:
        """Where this stream is, for `back`: at no cost, and as good as `save` while the program runs."""
        with self.lock:
            return self._start, self._seed, self._blocks, self._cursor, self.normal

    def back(self, mark: tuple[Any, ...]) -> None:
        """Go on from where `mark` was taken."""
        with self.lock:
            start, seed, blocks, _, _ = mark
            if blocks is not None:
                if blocks is not self._blocks:  # the twister comes after other words
                    self._turn(_untemper(blocks[-BLOCK:]))
            elif self._blocks is not None or self._start is not start:
                if start[0] is not None:
                    self._turn(start[0])
                elif self._source is not None:
                    self._seed = seed
                    self._reseed()
            self._start, self._seed, self._blocks, self._cursor, self.normal = mark

    def _turn(self, key: np.ndarray) -> None:
        """Let the twister's next block follow this one."""
        self._key = None
        self._twister().state = {"bit_generator": "MT19937", "state": {"key": key, "pos": BLOCK}}

    def save(self) -> np.ndarray:
        """The state as PyTorch's 5056 bytes (a uint8 array)."""
        with self.lock:
            state = np.zeros((), STATE)
            state["seed"] = self._seed
            state["seeded"] = 1
            if self._blocks is None:
                state["left"], state["next"] = 1, 0
                state["key"] = self._state()
            else:
                begin = max(0, (self._cursor - 1) // BLOCK * BLOCK)
                position = self._cursor - begin
                state["left"], state["next"] = BLOCK + 1 - position, position
                state["key"] = _untemper(self._blocks[begin : begin + BLOCK])
            if self.normal is not None:
                state["normal"], state["has_normal"] = self.normal, 1
            return np.frombuffer(state.tobytes(), np.uint8).copy()

    def load(self, saved: np.ndarray) -> None:
        """Go on from a state that `save` (or PyTorch) gave.

        Raises RuntimeError for bytes that are no state.
        """
        state = np.frombuffer(saved.tobytes(), STATE)[0]
        left, position = int(state["left"]), int(state["next"])
        if not (state["seeded"] == 1 and 0 < left <= BLOCK and position <= BLOCK):
            raise RuntimeError("Invalid mt19937 state")
        with self.lock:
            self._seed = int(state["seed"])
            key = state["key"].astype(_WORD)
            source, self._key = self._twister(), None
            fresh = left == 1 and position == 0  # just seeded: the next word starts the next block
            place = {"key": key, "pos": BLOCK if fresh else 0}
            source.state = {"bit_generator": "MT19937", "state": place}
            self._blocks, self._cursor = None, 0
            self._start = [key]
            if not fresh:
                self._blocks = source.random_raw(BLOCK).astype(_WORD)
                self._cursor = BLOCK if left == 1 else position
            self.normal = float(state["normal"]) if state["has_normal"] else None
