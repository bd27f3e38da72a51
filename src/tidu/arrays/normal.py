"""Normal numbers by the Box-Muller transform, to the bit as PyTorch computes them; and samplers by rejection.

Two uniforms u, v give the two normals r cos t and r sin t, where r = sqrt(-2 log(1 - u)) and t = 2 pi v. A contiguous
array of 16 numbers or more is filled with uniforms and transformed in blocks of 16, the first eight of a block with the
last eight. In float32 PyTorch evaluates log, sin and cos by the Cephes library's polynomials with fused multiply-adds; here
each step is done in float64, where the product is exact, and rounded. Fewer than 16 numbers, and non-contiguous tensors,
are computed in pairs in float64; the second number of a pair waits in the stream for the next such call.

The samplers by rejection go element by element, in float64 throughout, as PyTorch does: how many uniforms a number takes
depends on the numbers drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .generator import WordStream, worth_compiling
from .sampling import CHUNK, FEW, Shape, affine, doubles, libm, rounded, singles, to_doubles, to_singles
from .threads import parallel

_log, _log1p, _exp, _sin, _cos = libm(np.log), libm(np.log1p), libm(np.exp), libm(np.sin), libm(np.cos)


def normal(
    stream: WordStream, shape: Shape, dtype: np.dtype, mean: float = 0.0, std: float = 1.0, contiguous: bool = True
) -> np.ndarray:
    """Normal numbers, std * z + mean. A complex one has two parts with standard deviation std / sqrt(2) each.

    `contiguous` tells whether the tensor that they are for is. Source: torch.randn, Tensor.normal_.
    """
    if dtype.kind == "c":
        real = np.dtype(f"f{dtype.itemsize // 2}")
        return normal(stream, (*shape, 2), real, mean, std / math.sqrt(2), contiguous).view(dtype).reshape(shape)
    n = math.prod(shape)
    with stream.lock:
        if n < 16 or not contiguous:
            values = rounded(affine(normals_in_turn(stream, n), std, mean), dtype)
        elif n > FEW or (few := _few_blocks(stream, n, dtype)) is None:
            values = _in_blocks(stream, n, dtype, mean, std)
        else:
            values = affine(few, float(dtype.type(std)), float(dtype.type(mean)))
    return values.reshape(shape)


def log_normal(stream: WordStream, shape: Shape, dtype: np.dtype, mean: float = 1.0, std: float = 2.0) -> np.ndarray:
    """exp(std * z + mean). Source: Tensor.log_normal_."""
    with stream.lock:
        z = normals_in_turn(stream, math.prod(shape))
    return rounded(_exp(affine(z, std, mean)), dtype).reshape(shape)


# ------------------------------------------------------------------ one pair after the other


def normals_in_turn(stream: WordStream, n: int) -> np.ndarray:
    """`n` float64 normals of the stream's sequence, the first of them the one that waits, if one does."""
    if n == 0:
        return np.empty(0)
    waiting, stream.normal = stream.normal, None
    pairs = (n + 1 - (waiting is not None)) // 2
    got = stream.few(4 * pairs, _pairs, 4) if pairs < 8 else None
    z = _pairs(stream.take(4 * pairs)) if got is None else got
    if waiting is not None:
        z = np.concatenate(((waiting,), z.reshape(-1)))
    else:
        z = z.reshape(-1)
    if z.size > n:
        stream.normal = float(z[-1])
        z = z[:-1]
    return z if got is None or waiting is not None else z.copy()


def _pairs(words: np.ndarray) -> np.ndarray:
    """The pairs of normals that four words each give."""
    d = to_doubles(words)
    radius = np.sqrt(-2.0 * _log1p(-d[1::2]))
    angle = 2.0 * math.pi * d[::2]
    z = np.empty((radius.size, 2))
    np.multiply(radius, _cos(angle), out=z[:, 0])
    np.multiply(radius, _sin(angle), out=z[:, 1])
    return z


# ------------------------------------------------------------------ blocks of 16


_PIECE = 8 * CHUNK  # numbers that a thread takes at a time: for less the threads would wait for each other


def _few_blocks(stream: WordStream, n: int, dtype: np.dtype) -> np.ndarray | None:
    """`n` standard normals where those of these words have been made ahead."""
    make, unit = (_made32, 16) if dtype.char == "f" else (_made64, 32)
    if dtype.char not in "fd" or (few := stream.few(n // 16 * unit, make, unit)) is None:
        return None
    out = np.empty(n, dtype)
    rest = n % 16
    out[: n - rest] = few.reshape(-1)
    if rest:  # the last 16 places are drawn anew
        stream.skip(rest * unit // 16)
        few = stream.few(unit, make, unit)
        out[n - 16 :] = (make(stream.take(unit)) if few is None else few).reshape(-1)
    return out


def _compiled(n: int) -> Any:
    """The compiled loop for `n` more numbers, where it should by now have been compiled, and can be."""
    if worth_compiling("normals", n):
        from .native_random import kernel, normals

        if kernel("normals") is not None:
            return normals
    return None


def _made32(words: np.ndarray) -> np.ndarray:
    normals = _compiled(words.size)
    if normals is not None:
        out = np.empty(words.size, np.float32)
        normals(words, out, 0.0, 1.0)
        return out.reshape(-1, 16)
    u = to_singles(words)
    _Transform32(u.size // 2)(u)
    return u.reshape(-1, 16)


def _made64(words: np.ndarray) -> np.ndarray:
    u = to_doubles(words)
    _transform64(u)
    return u.reshape(-1, 16)


def _in_blocks(stream: WordStream, n: int, dtype: np.dtype, mean: float, std: float) -> np.ndarray:
    double = dtype == np.float64
    work = np.dtype(np.float64 if double else np.float32)
    mean, std = float(work.type(mean)), float(work.type(std))
    rest = n % 16
    whole = n - rest
    # A rest means that the last 16 places are drawn anew, though PyTorch has filled them, too.
    unused = rest * (work.itemsize // 4) if dtype == work else 0
    normals = None if double else _compiled(n)
    if normals is not None:
        out = np.empty(n, work)
        for i in range(0, whole, 4 * CHUNK):
            part = out[i : min(i + 4 * CHUNK, whole)]
            normals(stream.take(part.size), part, mean, std)
        if rest:
            stream.skip(unused)
            normals(stream.take(16), out[n - 16 :], mean, std)
        return out.astype(dtype, copy=False)
    fill = doubles if double else singles
    out = np.empty(whole + 16 if rest else n, work)
    fill(stream, whole, out[:whole])
    if rest:
        stream.skip(unused)
        fill(stream, 16, out[whole:])

    def transform(i: int) -> None:
        u = out[i * _PIECE : (i + 1) * _PIECE]
        if double:
            _transform64(u)
        else:
            _Transform32(u.size // 2)(u)
        if std != 1 or mean:
            u[...] = affine(u, std, mean)

    parallel(transform, -(-out.size // _PIECE))
    if rest:
        out[n - 16 : n] = out[whole:]
        out = out[:n].copy()
    return out.astype(dtype, copy=False)


def _transform64(u: np.ndarray) -> None:
    halves = u.reshape(-1, 2, 8)
    radius = np.sqrt(-2.0 * _log(np.subtract(1.0, halves[:, 0]).reshape(-1)))
    angle = (2.0 * math.pi * halves[:, 1]).reshape(-1)
    np.multiply(radius.reshape(-1, 8), _cos(angle).reshape(-1, 8), out=halves[:, 0])
    np.multiply(radius.reshape(-1, 8), _sin(angle).reshape(-1, 8), out=halves[:, 1])


def _constants(*values: float) -> list[np.ndarray]:
    """The float32 numbers nearest to these, as 0-d float64 arrays, which ufuncs take faster than floats."""
    return [np.array(float(np.float32(v))) for v in values]


_LOG = _constants(
    7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
    -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
)  # fmt: skip
_LN2_HIGH, _LN2_LOW, _MINUS_HALF = _constants(0.693359375, -2.12194440e-4, -0.5)
# -pi / 4 in three parts
_QUARTER_PI = _constants(-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)
_SIN = _constants(-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COS = _constants(2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
_LN2_LOW32, _MINUS_HALF32, _MINUS_TWO, _ONE, _TWO_PI, _OCTANTS = (
    np.array(v, np.float32) for v in (_LN2_LOW, -0.5, -2, 1, 2 * math.pi, 4 / math.pi)
)
_SQRT_HALF = np.array(0x3F3504F3, np.int32)  # the bits of sqrt(1/2)
_FRACTION_BITS = np.array(23, np.int32)


class _Transform32:
    """The transform of float32 blocks in place, with room for `pairs` pairs."""

    def __init__(self, pairs: int) -> None:
        self.wide = np.empty((4, pairs))
        self.narrow = np.empty((5, pairs), np.float32)

    def __call__(self, u: np.ndarray) -> None:
        first, last = u.reshape(-1, 2, 8).transpose(1, 0, 2)
        pairs = u.size // 2
        x, radius, sin, cos, spare = self.narrow[:, :pairs]
        wide = self.wide[:, :pairs]
        rows = (pairs // 8, 8)
        np.subtract(_ONE, first, x.reshape(rows))
        _log32(x, radius, sin, cos, wide)
        np.multiply(radius, _MINUS_TWO, radius)
        np.sqrt(radius, radius)
        np.multiply(last, _TWO_PI, x.reshape(rows))
        _sincos32(x, sin, cos, spare, wide)
        radius = radius.reshape(rows)
        np.multiply(radius, cos.reshape(rows), first)
        np.multiply(radius, sin.reshape(rows), last)


def _fused(out: np.ndarray, y: np.ndarray, x: np.ndarray, z: np.ndarray, product: np.ndarray) -> None:
    """out = x * y + z with a single rounding to float32; `x` and `y` hold float32 numbers as float64."""
    np.multiply(y, x, product)
    np.add(product, z, product)
    out[...] = product


def _horner(out: np.ndarray, x: np.ndarray, coefficients: list[np.ndarray], y: np.ndarray, product: np.ndarray) -> None:
    """The polynomial's value at x, in `out`; `y` is overwritten."""
    _fused(out, coefficients[0], x, coefficients[1], product)
    for c in coefficients[2:]:
        y[...] = out
        _fused(out, y, x, c, product)


def _log32(u: np.ndarray, out: np.ndarray, power: np.ndarray, square: np.ndarray, wide: np.ndarray) -> None:
    """log(u) for normal positive float32 `u`, which is overwritten."""
    x64, y64, product, _ = wide
    bits = u.view(np.int32)
    exponent = bits - _SQRT_HALF
    np.right_shift(exponent, _FRACTION_BITS, exponent)
    power[...] = exponent
    np.left_shift(exponent, _FRACTION_BITS, exponent)
    np.subtract(bits, exponent, bits)  # u is now the significand, between sqrt(1/2) and sqrt(2)
    np.subtract(u, _ONE, u)
    x64[...] = u
    np.multiply(u, u, square)
    _horner(out, x64, _LOG, y64, product)
    np.multiply(out, u, out)
    y64[...] = out
    x64[...] = square
    np.multiply(power, _LN2_LOW32, out)
    _fused(out, y64, x64, out, product)
    _fused(out, x64, _MINUS_HALF, out, product)
    np.add(u, out, u)
    y64[...] = power
    _fused(out, y64, _LN2_HIGH, u, product)


def _sincos32(t: np.ndarray, sin: np.ndarray, cos: np.ndarray, square: np.ndarray, wide: np.ndarray) -> None:
    """sin(t) and cos(t) for float32 `t` between 0 and 2 pi; `t` is overwritten."""
    x64, y64, product, z64 = wide
    np.multiply(t, _OCTANTS, square)
    octant = square.astype(np.int32)
    octant += 1
    octant &= ~1  # the nearest even multiple of pi / 4
    y64[...] = octant
    for part in _QUARTER_PI:
        _fused(t, y64, part, t, product)
    np.multiply(t, t, square)
    z64[...] = square
    _horner(sin, z64, _SIN, y64, product)
    np.multiply(sin, square, sin)
    y64[...] = sin
    x64[...] = t
    _fused(sin, y64, x64, t, product)
    _horner(cos, z64, _COS, y64, product)
    np.multiply(cos, square, cos)
    y64[...] = cos
    np.multiply(square, _MINUS_HALF32, square)
    _fused(cos, y64, z64, square, product)
    np.add(cos, _ONE, cos)
    _turn(sin, cos, octant)


def _turn(sin: np.ndarray, cos: np.ndarray, octant: np.ndarray) -> None:
    """From the sine and cosine of the angle less octant * pi / 4 (an even octant) to those of the angle."""
    s, c = sin.view(np.int32), cos.view(np.int32)
    swap = -((octant >> 1) & 1)
    difference = (s ^ c) & swap
    s ^= difference
    c ^= difference
    s ^= (octant & 4) << 29
    octant += 2
    c ^= (octant & 4) << 29


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
        if _log_or_low(v) + log_inverse_alpha - math.log(a / (distance * distance) + b) <= (
            k * log_rate - rate - math.lgamma(k + 1)
        ):
            return k


def _floor(x: float) -> int:
    return math.floor(x) if math.isfinite(x) else -(1 << 63)


def _log_or_low(x: float) -> float:
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
        trials += math.ceil(_log_or_low(uniform()) / log_failure)
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
        if _log_or_low(v * alpha / (a / (distance * distance) + b)) <= bound:
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
