"""torch.random: the default generator's seed and state, and keeping it unmoved by a block of code. And torch.quasirandom:
Sobol sequences, whose direction numbers are SciPy's (those of Joe and Kuo, as PyTorch's are)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from . import dtypes
from .core.tensor import tensor_of
from .naming import FACE, submodule
from .ops._sampler import Generator, default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state
from .ops.random import randint

__all__ = [
    "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed",
    "set_rng_state", "thread_safe_generator",
]  # fmt: skip


@contextmanager
def fork_rng(
    devices: Any = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str | None = None,
) -> Iterator[None]:
    """Within it the default generator may move; on leaving it is where it was. Source: torch.random.fork_rng.

    Args:
        devices, device_type: other devices whose generators to keep; there are none.
        enabled: False: do nothing.

    >>> import tidu as torch
    >>> _ = torch.manual_seed(0)
    >>> with torch.random.fork_rng():
    ...     a = torch.rand(1)
    >>> torch.equal(a, torch.rand(1))
    True
    """
    if not enabled:
        yield
        return
    stream = default_generator.stream
    place = stream.mark()
    try:
        yield
    finally:
        stream.back(place)


def thread_safe_generator() -> Generator | None:
    """A data loader worker thread's own generator, None elsewhere. Source: torch.random.thread_safe_generator."""
    return None


class SobolEngine:
    """Points that fill the unit cube more evenly than random ones. Source: torch.quasirandom.SobolEngine.

    Args:
        dimension: of the points.
        scramble: whether to scramble the sequence, by a matrix for each dimension and a shift (Owen's scrambling).
        seed: of the scrambling.

    >>> import tidu as torch
    >>> torch.quasirandom.SobolEngine(2).draw(3)
    tensor([[0.0000, 0.0000],
            [0.5000, 0.5000],
            [0.7500, 0.2500]])
    """

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        self._directions = _directions(dimension, self.MAXBIT)
        self._shift = np.zeros(dimension, np.int64)
        if scramble:
            self._scramble()
        self._quasi, self.num_generated = self._shift.copy(), 0

    @property
    def shift(self) -> Any:
        """The number that every point is xored with, for each dimension."""
        return tensor_of(self._shift)

    @property
    def sobolstate(self) -> Any:
        """The direction numbers."""
        return tensor_of(self._directions)

    @property
    def quasi(self) -> Any:
        """The point that comes next but one, as integers."""
        return tensor_of(self._quasi)

    def _scramble(self) -> None:
        g = Generator()
        g.seed() if self.seed is None else g.manual_seed(self.seed)
        bits = self.MAXBIT
        powers = 1 << np.arange(bits, dtype=np.int64)
        self._shift = randint(2, (self.dimension, bits), generator=g).numpy() @ powers
        lower = np.tril(randint(2, (self.dimension, bits, bits), generator=g).numpy())
        lower[:, np.arange(bits), np.arange(bits)] = 1
        # the matrix times the bits of each direction number, the highest first
        high_first = powers[::-1]
        digits = (self._directions[:, :, None] & high_first) > 0
        mixed = (digits.astype(np.int64) @ lower.transpose(0, 2, 1)) & 1
        self._directions = mixed @ high_first

    def draw(self, n: int = 1, out: Any = None, dtype: Any = None) -> Any:
        """The next `n` points. Source: torch.quasirandom.SobolEngine.draw."""
        kind = dtypes.get_default_dtype() if dtype is None else dtype
        points = np.empty((n, self.dimension), np.int64)
        for k in range(n):
            if self.num_generated:
                self._advance(1)
            else:
                self.num_generated = 1
            points[k] = self._quasi
        result = tensor_of((points / (1 << self.MAXBIT)).astype(kind.np))
        if out is None:
            return result
        out.resize_as_(result).copy_(result)
        return out

    def draw_base2(self, m: int, out: Any = None, dtype: Any = None) -> Any:
        """The next 2**m points. Source: torch.quasirandom.SobolEngine.draw_base2."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1) != 0:
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: n={self.num_generated}+2**{m}={total}."
                " If you still want to do this, please use 'SobolEngine.draw()' instead."
            )
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self) -> SobolEngine:
        """Begin anew. Source: torch.quasirandom.SobolEngine.reset."""
        self._quasi, self.num_generated = self._shift.copy(), 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leave out the next `n` points. Source: torch.quasirandom.SobolEngine.fast_forward."""
        if n and not self.num_generated:
            self.num_generated, n = 1, n - 1
        self._advance(n)
        return self

    def _advance(self, n: int) -> None:
        for _ in range(n):
            k = self.num_generated - 1
            lowest_zero = (~k & (k + 1)).bit_length() - 1
            self._quasi ^= self._directions[:, lowest_zero]
            self.num_generated += 1

    def __repr__(self) -> str:
        words = [f"dimension={self.dimension}"]
        if self.scramble:
            words.append("scramble=True")
        if self.seed is not None:
            words.append(f"seed={self.seed}")
        return f"{type(self).__name__}({', '.join(words)})"


def _directions(dimension: int, bits: int) -> Any:
    from scipy.stats import qmc

    return np.array(qmc.Sobol(dimension, scramble=False, bits=bits)._sv, np.int64)


submodule(FACE, "quasirandom", "", SobolEngine=SobolEngine)
