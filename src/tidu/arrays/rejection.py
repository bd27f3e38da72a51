"""Samplers by rejection, where how many uniforms one number takes depends on the numbers drawn.

They go element by element, in float64 throughout, as PyTorch does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from tidu.arrays.generator import WordStream
from tidu.arrays.sampling import rounded, to_doubles

__all__ = ["binomial", "dirichlet", "poisson", "standard_gamma", "standard_gamma_grad"]

_LOOK_AHEAD = 1 << 10


class _Draws:
    """The stream's doubles and normals one by one; the end of the `with` block settles how many were used."""

    def __init__(self, stream: WordStream) -> None:
        self.stream = stream
        self.used = 0
        self.uniform: Callable[[], float] = self._run().__next__

    def __enter__(self) -> _Draws:
        self.stream.lock.acquire()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stream.skip(2 * self.used)
        self.stream.lock.release()

    def _run(self) -> Iterator[float]:
        count = 16
        while True:
            block = to_doubles(self.stream.peek(2 * count), np.empty(count)).tolist()
            for self.used, d in enumerate(block, 1):  # the attribute keeps the count
                yield d
            self.stream.skip(2 * count)
            self.used = 0
            count = min(2 * count, _LOOK_AHEAD)

    def normal(self) -> float:
        waiting = self.stream.normal
        if waiting is not None:
            self.stream.normal = None
            return waiting
        angle = 2.0 * math.pi * self.uniform()
        radius = math.sqrt(-2.0 * math.log1p(-self.uniform()))
        self.stream.normal = radius * math.sin(angle)
        return radius * math.cos(angle)


# ------------------------------------------------------------------ Poisson


def poisson(stream: WordStream, rate: np.ndarray) -> np.ndarray:
    """A Poisson number for every rate. Source: torch.poisson."""
    with _Draws(stream) as draws:
        values = [(_poisson_large if r >= 10 else _poisson_small)(r, draws.uniform) for r in _floats(rate)]
    return rounded(np.array(values, np.float64), rate.dtype).reshape(rate.shape)


def _poisson_small(rate: float, uniform: Callable[[], float]) -> int:
    """Count the uniforms whose running product stays above exp(-rate)."""
    if rate == 0:
        return 0
    floor = math.exp(-rate)
    product = uniform()
    count = 0
    while product > floor:
        count += 1
        product *= uniform()
    return count


def _poisson_large(rate: float, uniform: Callable[[], float]) -> int:
    """Hormann's transformed rejection with squeeze (PTRS), for rates of 10 and more."""
    log_rate = math.log(rate)
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    log_inverse_alpha = math.log(1.1239 + 1.1328 / (b - 3.4))
    accept = 0.9277 - 3.6224 / (b - 2)
    while True:
        u = uniform() - 0.5
        v = uniform()
        distance = 0.5 - abs(u)
        k = _floor((2 * a / distance + b) * u + rate + 0.43)
        if distance >= 0.07 and v <= accept:
            return k
        if k < 0 or (distance < 0.013 and v > distance):
            continue
        if _log(v) + log_inverse_alpha - math.log(a / (distance * distance) + b) <= (
            k * log_rate - rate - math.lgamma(k + 1)
        ):
            return k


def _floor(x: float) -> int:
    return math.floor(x) if math.isfinite(x) else -(1 << 63)


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


def _floats(a: np.ndarray) -> list[float]:
    return a.astype(np.float64).ravel().tolist()


# ------------------------------------------------------------------ gamma and Dirichlet

_THIRD = float(np.float32(1 / 3))  # PyTorch's third is a float32


def standard_gamma(stream: WordStream, alpha: np.ndarray) -> np.ndarray:
    """Gamma(alpha, 1) numbers, none below the dtype's smallest normal. Source: torch._standard_gamma."""
    single = alpha.dtype == np.float32
    narrow = (lambda x: float(np.float32(x))) if single else float
    with _Draws(stream) as draws:
        values = [_gamma(a, draws, narrow) for a in _floats(alpha)]
    out = np.array(values).astype(alpha.dtype)
    return np.fmax(out, np.finfo(alpha.dtype).tiny).reshape(alpha.shape)


def _gamma(alpha: float, draws: _Draws, narrow: Callable[[float], float]) -> float:
    """Marsaglia and Tsang's method; below 1, a number for alpha + 1 times u ** (1 / alpha)."""
    scale = 1.0
    if alpha < 1:
        if alpha == 0:
            return 0.0
        scale = _power(1.0 - draws.uniform(), narrow(1.0 / alpha))
        alpha = narrow(alpha + 1.0)
    d = narrow(alpha - _THIRD)
    c = 1.0 / math.sqrt(9.0 * d) if d > 0 else math.nan
    while True:
        x = draws.normal()
        y = 1.0 + c * x
        while y <= 0:
            x = draws.normal()
            y = 1.0 + c * x
        v = y * y * y
        u = 1.0 - draws.uniform()
        square = x * x
        if u < 1.0 - 0.0331 * square * square:
            return scale * d * v
        if math.log(u) < 0.5 * square + d * (1.0 - v + math.log(v)):
            return scale * d * v


def standard_gamma_grad(alpha: np.ndarray, x: np.ndarray) -> np.ndarray:
    """dx / dalpha for a Gamma(alpha, 1) number x, drawn at a fixed place of the distribution function F.

    It is -(dF / dalpha) / (dF / dx). F's power series around 0 gives
    x * sum over n of x^n / (alpha ... (alpha + n)) * (digamma(alpha + n + 1) - log x).
    Source: torch._standard_gamma_grad, which fits it to three or four digits.
    """
    a, z = alpha.astype(np.float64).ravel(), x.astype(np.float64).ravel()
    with np.errstate(all="ignore"):
        out = np.where(a > _MANY, _gamma_grad_large(a, z), 0.0)
        few = np.flatnonzero(a <= _MANY)
        if few.size:
            out[few] = _gamma_grad_series(a[few], z[few])
    return out.reshape(alpha.shape).astype(alpha.dtype)


_MANY = 1e6


def _gamma_grad_series(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    log_x = np.log(x)
    term = 1.0 / a
    psi = _digamma(a + 1.0)
    total = np.zeros_like(a)
    n = 0
    while True:
        total += term * (psi - log_x)
        n += 1
        following = a + n
        if n % 8 == 0 and not ((following <= x) | (term * (1 + abs(psi - log_x)) > 1e-17 * abs(total))).any():
            return x * total
        psi += 1.0 / following
        term *= x / following


def _gamma_grad_large(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """By x = a + z sqrt(a) + (z^2 - 1) / 3 + ..., z being normal: dx / da = 1 + z / (2 sqrt(a)) + O(a^-1.5)."""
    root = np.sqrt(a)
    z = (x - a) / root
    z -= (z * z - 1.0) / (3.0 * root)
    return 1.0 + z / (2.0 * root)


def _digamma(x: np.ndarray) -> np.ndarray:
    """digamma(x) for x >= 1: up to x >= 10 by recurrence, from there by its asymptotic series."""
    shift = np.zeros_like(x)
    for _ in range(9):
        small = x < 10.0
        shift -= np.where(small, 1.0 / x, 0.0)
        x = np.where(small, x + 1.0, x)
    inverse = 1.0 / (x * x)
    series = 1 / 12 - inverse * (1 / 120 - inverse * (1 / 252 - inverse * (1 / 240 - inverse * (1 / 132))))
    return np.log(x) - 0.5 / x - inverse * series + shift


def _power(x: float, y: float) -> float:
    try:
        return x**y
    except OverflowError:
        return math.inf


def dirichlet(stream: WordStream, alpha: np.ndarray) -> np.ndarray:
    """Gamma(alpha, 1) numbers over their sum along the last axis, clear of 0 and 1.

    Source: torch._sample_dirichlet.
    """
    gammas = standard_gamma(stream, alpha.astype(np.float64))
    info = np.finfo(alpha.dtype)
    out = gammas / gammas.sum(-1, keepdims=True) if alpha.ndim else gammas / gammas
    return np.clip(out, info.tiny, None).astype(alpha.dtype).clip(None, 1 - info.epsneg).astype(alpha.dtype)


# ------------------------------------------------------------------ binomial


def binomial(stream: WordStream, count: np.ndarray, p: np.ndarray) -> np.ndarray:
    """How many of `count` trials with probability `p` succeed (of one shape). Source: torch.binomial."""
    with _Draws(stream) as draws:
        values = [_binomial(n, q, draws.uniform) for n, q in zip(_floats(count), _floats(p))]
    return rounded(np.array(values, np.float64), count.dtype).reshape(count.shape)


def _binomial(n: float, p: float, uniform: Callable[[], float]) -> float:
    if n <= 0 or p <= 0:
        return 0
    if p >= 1:
        return n
    if p > 0.5:
        return n - _binomial(n, 1 - p, uniform) if p < 1 else n
    if math.isnan(p) or math.isnan(n):
        return math.nan
    return (_binomial_large if n * p >= 10 else _binomial_small)(n, p, uniform)


def _binomial_small(n: float, p: float, uniform: Callable[[], float]) -> int:
    """Count the successes by the waiting times between them."""
    log_failure = math.log1p(-p)
    trials = successes = 0
    while True:
        trials += math.ceil(_log(uniform()) / log_failure)
        if trials > n:
            return successes
        successes += 1


def _binomial_large(n: float, p: float, uniform: Callable[[], float]) -> int:
    """Hormann's transformed rejection with squeeze (BTRS), for n * p >= 10 and p <= 1/2."""
    deviation = math.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = n * p + 0.5
    accept = 0.92 - 4.2 / b
    odds = p / (1 - p)
    alpha = (2.83 + 5.1 / b) * deviation
    mode = math.floor((n + 1) * p)
    while True:
        u = uniform() - 0.5
        v = uniform()
        distance = 0.5 - abs(u)
        k = _floor((2 * a / distance + b) * u + c)
        if distance >= 0.07 and v <= accept:
            return k
        if k < 0 or k > n:
            continue
        bound = (
            (mode + 0.5) * math.log((mode + 1) / (odds * (n - mode + 1)))
            + (n + 1) * math.log((n - mode + 1) / (n - k + 1))
            + (k + 0.5) * math.log(odds * (n - k + 1) / (k + 1))
            + _stirling_tail(mode)
            + _stirling_tail(n - mode)
            - _stirling_tail(k)
            - _stirling_tail(n - k)
        )
        if _log(v * alpha / (a / (distance * distance) + b)) <= bound:
            return k


_TAILS = [
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
]  # fmt: skip


def _stirling_tail(k: float) -> float:
    """log(k!) less Stirling's formula for it."""
    if k <= 9:
        return _TAILS[int(k)]
    square = (k + 1) * (k + 1)
    return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)
