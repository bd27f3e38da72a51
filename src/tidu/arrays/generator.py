"""The stream of random words behind every sampler: MT19937, seeded and saved as PyTorch's CPU generator.

`WordStream` hands out 32-bit words in order. It always produces whole blocks of 624 words, as the
twister does, so that its state can be told at any word: the words of a block are its state, tempered,
and tempering can be undone. A sampler that cannot know how many words it will use looks ahead with
`peek` and says afterwards with `skip` how many it used.
"""

from __future__ import annotations

import secrets
import threading

import numpy as np

BLOCK = 624
DEFAULT_SEED = 67280421310721
STATE_BYTES = 5056
_WORD = np.uint32
_EMPTY = np.empty(0, _WORD)
_PEEK_LIMIT = 1 << 22

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


def _untemper(words: np.ndarray) -> np.ndarray:
    """Undo MT19937's tempering: the state words from which `words` were made."""
    y = words ^ (words >> _WORD(18))
    y ^= (y << _WORD(15)) & _WORD(0xEFC60000)
    # Each of the next two steps undoes a shift that is shorter than the word: repeating it settles a few more bits.
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

    __slots__ = ("_blocks", "_cursor", "_seed", "_source", "_spare", "lock", "normal")

    def __init__(self, seed: int = DEFAULT_SEED) -> None:
        self.lock = threading.RLock()
        self.seed_with(seed)

    def seed_with(self, seed: int) -> None:
        """Restart the stream from `seed` (an integer of at most 64 bits; a negative one stands for `seed + 2**64`)."""
        with self.lock:
            self._seed = seed % (1 << 64)
            self._source = None  # made at the first draw: importing numpy.random costs more than a program may need
            self._blocks = None  # words produced, whole blocks; None until the first draw after seeding
            self._cursor = 0
            self.normal: float | None = None

    def seed_from_system(self) -> int:
        """Restart the stream from the operating system's randomness; return the seed."""
        seed = secrets.randbits(53)
        self.seed_with(seed)
        return seed

    @property
    def seed_value(self) -> int:
        """The seed that the stream was last started from."""
        return self._seed

    # -- words ---------------------------------------------------------------------------------------------

    def _start(self):
        """The NumPy twister that makes the blocks."""
        if self._source is None:
            from numpy.random import MT19937, RandomState

            source = RandomState(MT19937(0))
            source.seed(self._seed & 0xFFFFFFFF)  # the legacy seeding, which is PyTorch's
            self._source = source
        return self._source

    def _produce(self, n: int) -> np.ndarray:
        """The words of the next blocks, at least `n` of them."""
        count = -(-n // BLOCK) * BLOCK
        return self._start().randint(0, 1 << 32, count, dtype=_WORD)

    def take(self, n: int) -> np.ndarray:
        """The next `n` words, as uint32. The array must not be written to."""
        with self.lock:
            cursor, blocks = self._cursor, self._blocks
            end = cursor + n
            if blocks is None:
                if n == 0:
                    return _EMPTY
                blocks = _EMPTY
            if end <= blocks.size:
                self._cursor = end
                return blocks[cursor:end]
            head = blocks[cursor:]
            more = self._produce(n - head.size)
            self._keep(more, n - head.size)
            if head.size == 0:
                return more[:n]
            return np.concatenate((head, more[: n - head.size]))

    def _keep(self, blocks: np.ndarray, cursor: int) -> None:
        """Go on from `cursor` in `blocks`, holding on to no more than the last block."""
        if blocks.size > BLOCK:
            begin = max(0, (cursor - 1) // BLOCK * BLOCK)
            cursor -= begin
            blocks = blocks[begin:].copy()
        self._blocks, self._cursor = blocks, cursor

    def peek(self, n: int) -> np.ndarray:
        """The next `n` words, without using them up. The array must not be written to."""
        with self.lock:
            blocks = _EMPTY if self._blocks is None else self._blocks
            missing = self._cursor + n - blocks.size
            if missing > 0:
                blocks = np.concatenate((blocks, self._produce(missing)))
                self._blocks = blocks
            return blocks[self._cursor : self._cursor + n]

    def skip(self, n: int) -> None:
        """Use up `n` words."""
        with self.lock:
            if self._blocks is not None and self._cursor + n <= self._blocks.size:
                self._cursor += n
            else:
                self.take(n)

    def take64(self, n: int) -> np.ndarray:
        """The next `n` pairs of words, as uint64 with the first word on top."""
        words = self.take(2 * n)
        wide = words[::2].astype(np.uint64)
        wide <<= np.uint64(32)
        wide |= words[1::2]
        return wide

    # -- state ---------------------------------------------------------------------------------------------

    def save(self) -> np.ndarray:
        """The state as PyTorch's 5056 bytes (a uint8 array)."""
        with self.lock:
            state = np.zeros((), STATE)
            state["seed"] = self._seed
            state["seeded"] = 1
            if self._blocks is None:
                state["left"], state["next"] = 1, 0
                state["key"] = self._start().get_state(legacy=True)[1]
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
            source = self._start()
            if left == 1 and position == 0:  # just seeded
                source.set_state(("MT19937", key, BLOCK))
                self._blocks, self._cursor = None, 0
            else:
                source.set_state(("MT19937", key, 0))
                self._blocks = source.randint(0, 1 << 32, BLOCK, dtype=_WORD)
                self._cursor = BLOCK if left == 1 else position
            self.normal = float(state["normal"]) if state["has_normal"] else None
