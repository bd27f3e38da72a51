"""Samplers over a `WordStream`, with PyTorch's numbers for the same seed.

Each takes the stream, a shape and a NumPy dtype and returns a new C-contiguous array; each uses up exactly
the words that PyTorch uses, so the draws after it agree too. Half precision types are computed in float32,
or in float64 and rounded through float32, as PyTorch does. Parameters are taken as checked.

In the formulas `w` is a 32-bit word, `W` two words with the first on top, `f = (w mod 2**24) / 2**24` and
`d = (W mod 2**53) / 2**53`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np

from tidu.arrays.generator import WordStream, worth_compiling
from tidu.arrays.threads import quiet

CHUNK = 1 << 14  # words handled at a time, so that a pass over them finds them in the cache; a multiple of 32
FEW = 512  # numbers up to which many a sampler finds them made ahead
DIGITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}  # bits of the significand

# Constants as 0-d arrays, which ufuncs take faster than Python's numbers.
_LOW_21, _LOW_24 = np.array(0x1FFFFF, np.uint32), np.array(0xFFFFFF, np.uint32)
_ULP_21, _ULP_53, _ULP_24 = np.array(2.0**-21), np.array(2.0**-53), np.array(2.0**-24, np.float32)
_32 = np.array(32, np.uint64)

Shape = Sequence[int]


def libm(ufunc: np.ufunc) -> Callable[[np.ndarray], np.ndarray]:
    """`ufunc` on one float64 array by the C library's function, which is the one PyTorch calls.

    NumPy's own vectorised loops are faster and differ in the last bit now and then; where the array runs
    backwards it does without them.
    """
    return lambda x: ufunc(x[::-1])[::-1]


def rounded(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """float64 or integer values in `dtype`; to half precision by way of float32, as PyTorch converts."""
    if dtype.itemsize == 2 and dtype.name in DIGITS:
        values = values.astype(np.float32)
    with quiet():
        return values.astype(dtype, copy=False)


def affine(x: np.ndarray, scale: float, shift: float) -> np.ndarray:
    """scale * x + shift with a single rounding (a fused multiply-add), for float32 or float64 `x`.

    `scale` and `shift` must be of x's precision.
    """
    if scale == 1 and shift == 0:
        return x
    exact_product = abs(math.frexp(scale)[0]) == 0.5  # a power of two
    with quiet():
        if exact_product or shift == 0:
            if scale != 1:
                x = x * x.dtype.type(scale)
            return x + x.dtype.type(shift) if shift else x
        if x.dtype == np.float32:  # the product is exact in float64
            return (x.astype(np.float64) * scale + shift).astype(np.float32)
        return _fma(x, scale, shift)


def _fma(x: np.ndarray, y: float, z: float) -> np.ndarray:
    """x * y + z in float64 with the product's and the sum's rounding errors added back."""
    split = 134217729.0  # 2**27 + 1 cuts a float64 into two halves whose products are exact
    t = x * split
    x1 = t - (t - x)
    x2 = x - x1
    y1 = y * split - (y * split - y)
    y2 = y - y1
    product = x * y
    error = ((x1 * y1 - product) + x1 * y2 + x2 * y1) + x2 * y2
    total = product + z
    back = total - product
    error += (product - (total - back)) + (z - back)
    return total + error


# ------------------------------------------------------------------ uniforms


def doubles(stream: WordStream, n: int, out: np.ndarray | None = None) -> np.ndarray:
    """`n` values of `d`: uniform float64 in [0, 1)."""
    if out is None:
        if n <= FEW and (few := stream.few(2 * n, to_doubles, 2)) is not None:
            return few.copy()
        out = np.empty(n)
    for i in range(0, n, CHUNK // 2):
        part = out[i : i + CHUNK // 2]
        to_doubles(stream.take(2 * part.size), part)
    return out


def to_doubles(words: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    out = np.multiply(words[::2] & _LOW_21, _ULP_21, out)
    out += words[1::2] * _ULP_53
    return out


def singles(stream: WordStream, n: int, out: np.ndarray | None = None) -> np.ndarray:
    """`n` values of `f`: uniform float32 in [0, 1)."""
    if out is None:
        if n <= FEW and (few := stream.few(n, to_singles)) is not None:
            return few.copy()
        out = np.empty(n, np.float32)
    for i in range(0, n, CHUNK):
        part = out[i : i + CHUNK]
        to_singles(stream.take(part.size), part)
    return out


def to_singles(words: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    low = words & _LOW_24
    if out is None:
        out = np.empty(low.shape, np.float32)
    out[...] = low.view(np.int32)  # NumPy converts signed words faster
    return np.multiply(out, _ULP_24, out)


def uniform(stream: WordStream, shape: Shape, dtype: np.dtype, low: float = 0.0, high: float = 1.0) -> np.ndarray:
    """Uniform in [low, high): `d` (float64) or `f`, times (high - low), plus low.

    What rounding lifts to `high` becomes `low`. Complex numbers have two such parts.
    Source: torch.rand, Tensor.uniform_.
    """
    if dtype.kind == "c":
        real = np.dtype(f"f{dtype.itemsize // 2}")
        return uniform(stream, (*shape, 2), real, low, high).view(dtype).reshape(shape)
    n = math.prod(shape)
    with stream.lock:
        x = doubles(stream, n) if dtype == np.float64 else singles(stream, n)
    unit = low == 0 and high == 1
    lifts = dtype.itemsize == 2
    if not unit:
        scale, shift, lifts = _interval(low, high, x.dtype, dtype)
        x = affine(x, scale, shift)
    if x.dtype != dtype:
        x = x.astype(dtype)
    if lifts:
        lifted = x == dtype.type(high)
        if lifted.any():
            x[lifted] = dtype.type(low)
    return x.reshape(shape)


@functools.lru_cache(256)
def _interval(low: float, high: float, work: np.dtype, dtype: np.dtype) -> tuple[float, float, bool]:
    """Scale and shift of the numbers in [low, high), and whether rounding lifts any to `high`."""
    with np.errstate(all="ignore"):
        a, b = work.type(low), work.type(high)
        scale, shift = float(b - a), float(a)
        last = affine(np.array([1 - np.finfo(work).epsneg], work), scale, shift).astype(dtype)
        return scale, shift, not last[0] < dtype.type(high)


# ------------------------------------------------------------------ integers


def _wide(stream: WordStream, n: int) -> np.ndarray:
    words = stream.take(2 * n)
    wide = words[::2].astype(np.uint64)
    wide <<= _32
    wide |= words[1::2]
    return wide


def _remainder(words: np.ndarray, n: int) -> np.ndarray:
    """words % n. NumPy divides by one number several times faster than it takes remainders."""
    divisor = words.dtype.type(n)
    quotient = words // divisor
    quotient *= divisor
    return np.subtract(words, quotient, out=quotient)


def random_integers(stream: WordStream, shape: Shape, dtype: np.dtype, low: int, span: int) -> np.ndarray:
    """Integers in [low, low + span): low + w % span, or low + W % span if span >= 2**28; span may be 2**64.

    Source: torch.randint, Tensor.random_(low, high).
    """
    n = math.prod(shape)
    if n <= 48 and span < 1 << 28:
        with stream.lock:
            words = stream.take(n).tolist()
        return rounded(np.array([w % span + low for w in words], np.int64), dtype).reshape(shape)
    out = np.empty(n, dtype)
    with stream.lock:
        for i in range(0, n, CHUNK):
            part = out[i : i + CHUNK]
            if span < 1 << 28:
                values = _remainder(stream.take(part.size), span).astype(np.int64)
            else:
                values = _wide(stream, part.size)
                if span < 1 << 64:
                    values = _remainder(values, span)
                values = values.view(np.int64)
            if low:
                values += np.int64(low)
            part[...] = rounded(values, dtype)
    return out.reshape(shape)


def random_bits(stream: WordStream, shape: Shape, dtype: np.dtype) -> np.ndarray:
    """Integers from 0 to the largest of `dtype`, or to 2**digits for floating types.

    w % (largest + 1), or W % (largest + 1) for int64 and float64. Source: Tensor.random_().
    """
    if dtype.name in DIGITS:
        span = (1 << DIGITS[dtype.name]) + 1
    else:
        span = 2 if dtype == np.bool_ else int(np.iinfo(dtype).max) + 1
    n = math.prod(shape)
    out = np.empty(n, dtype)
    with stream.lock:
        for i in range(0, n, CHUNK):
            part = out[i : i + CHUNK]
            words = _wide(stream, part.size) if dtype.itemsize == 8 else stream.take(part.size)
            values = _remainder(words, span) if span < 1 << 32 or dtype.itemsize == 8 else words
            part[...] = rounded(values, dtype)
    return out.reshape(shape)


def randperm(stream: WordStream, n: int) -> np.ndarray:
    """A random order of 0 ... n - 1 (int64): for i = 0, 1, ... swap places i and i + w % (n - i).

    Source: torch.randperm.
    """
    if n < 2:
        return np.arange(n)
    with stream.lock:
        if n >= (2**32 - 1) // 20:
            return _swapped((_wide(stream, n - 1) % np.arange(n, 1, -1, dtype=np.uint64)).view(np.int64))
        words = stream.take(n - 1)
    if n > 30 and worth_compiling("shuffle", 2 * n):
        from tidu.arrays.native_random import kernel, shuffle

        if kernel("shuffle") is not None:
            places = np.arange(n)
            shuffle(words, places)
            return places
    if n > 300:
        return _swapped(_remainders(words, np.arange(n, 1, -1)))
    order = list(range(n))
    for i, w in enumerate(words.tolist()):
        j = i + w % (n - i)
        order[i], order[j] = order[j], order[i]
    return np.array(order)


def _remainders(words: np.ndarray, n: np.ndarray) -> np.ndarray:
    """words % n, place by place; in float64, where no quotient of 32-bit numbers rounds up to a whole one."""
    rest = words.astype(np.float64)
    divisors = n.astype(np.float64)
    quotient = rest / divisors
    np.floor(quotient, out=quotient)
    quotient *= divisors
    rest -= quotient
    return rest.astype(np.int64)


def _swapped(partner: np.ndarray) -> np.ndarray:
    """The result of swapping places i and i + partner[i] for each i in turn, found without taking turns.

    At time i place j = i + partner[i] gives its content to place i for good, and gets place i's. So j then
    holds what place i held at time i, written c(i). What time i finds in j is c(s), where s is the last
    earlier time with the same j, or j itself if there was none. Likewise c(i) = c(r), where r is the last
    time before i whose j was i, or i itself if there was none. The links i -> r make a forest with known
    roots, and doubling the links finds every root in a few passes.
    """
    n = partner.size + 1
    time = np.arange(n)
    place = time.copy()
    place[:-1] += partner
    content = time.copy()
    moved = np.flatnonzero(place != time)
    content[place[moved]] = moved  # of several times with one place the last is kept
    while True:
        further = content[content]
        if np.array_equal(further, content):
            break
        content = further
    order = _stable_order(place)  # now an earlier time with the same place is the neighbour to the left
    sorted_place = place[order]
    found = sorted_place.copy()
    again = sorted_place[1:] == sorted_place[:-1]
    later = np.flatnonzero(again) + 1
    found[later] = content[order[later - 1]]
    # At a time i that looks up place i itself, that place holds c(i), unless another time came between.
    own = order == sorted_place
    own[1:] &= ~again
    found[own] = content[order[own]]
    out = np.empty(n, np.int64)
    out[order] = found
    return out


def _stable_order(keys: np.ndarray) -> np.ndarray:
    """np.argsort(keys, kind="stable") for keys below 2**32, 16 bits at a time, which NumPy sorts by radix."""
    order = np.argsort((keys & 0xFFFF).astype(np.uint16), kind="stable")
    if keys.size > 1 << 16:
        order = order[np.argsort((keys >> 16).astype(np.uint16)[order], kind="stable")]
    return order


# ------------------------------------------------------------------ by a function of one uniform


def bernoulli(stream: WordStream, p: np.ndarray) -> np.ndarray:
    """True with probability p, place by place: d < p for float64 `p`, else f < p. Source: torch.bernoulli."""
    with stream.lock:
        x = doubles(stream, p.size) if p.dtype == np.float64 else singles(stream, p.size)
    if p.dtype.itemsize == 2:
        p = p.astype(np.float32)
    return x.reshape(p.shape) < p


def coin_flips(stream: WordStream, shape: Shape, p: float) -> np.ndarray:
    """True with probability p: d < p. Source: Tensor.bernoulli_(p), dropout."""
    n = math.prod(shape)
    if n <= FEW:
        with stream.lock:
            return (doubles(stream, n) < p).reshape(shape)
    out = np.empty(n, np.bool_)
    bound = math.ceil(math.ldexp(p, 53))  # d < p compares the integers W mod 2**53 and this one ...
    top = np.uint32(bound >> 32)
    with stream.lock:
        for i in range(0, n, CHUNK // 2):
            part = out[i : i + CHUNK // 2]
            words = stream.take(2 * part.size)
            high = words[::2] & _LOW_21
            np.less(high, top, out=part)  # ... and their upper halves nearly always decide
            level = high == top
            if level.any():
                part[level] = words[1::2][level] < np.uint32(bound & 0xFFFFFFFF)
    return out.reshape(shape)


_log, _log1p, _tan = libm(np.log), libm(np.log1p), libm(np.tan)


def exponential(stream: WordStream, shape: Shape, dtype: np.dtype, rate: float = 1.0) -> np.ndarray:
    """-log1p(-d) / rate. Source: Tensor.exponential_."""
    with stream.lock:
        d = doubles(stream, math.prod(shape))
    return rounded(-1.0 / rate * _log1p(-d), dtype).reshape(shape)


def geometric(stream: WordStream, shape: Shape, dtype: np.dtype, p: float) -> np.ndarray:
    """ceil(log(d) / log1p(-p)): the number of trials to the first success. Source: Tensor.geometric_."""
    with stream.lock:
        d = doubles(stream, math.prod(shape))
    with np.errstate(divide="ignore"):
        return rounded(np.ceil(_log(d) / math.log1p(-p)), dtype).reshape(shape)


def cauchy(stream: WordStream, shape: Shape, dtype: np.dtype, median: float = 0.0, sigma: float = 1.0) -> np.ndarray:
    """median + sigma * tan(pi * (d - 1/2)). Source: Tensor.cauchy_."""
    with stream.lock:
        d = doubles(stream, math.prod(shape))
    return rounded(affine(_tan(math.pi * (d - 0.5)), sigma, median), dtype).reshape(shape)


# ------------------------------------------------------------------ choosing by weights


def choose(weights: np.ndarray, exponentials: np.ndarray, n: int) -> np.ndarray:
    """`n` different column numbers for each row of `weights` (2-d), with probabilities in proportion to them.

    The places of the `n` largest weight / e, where e is exponential, in falling order. PyTorch does not say in
    which order equal ones come; here it is that of the columns. Source: torch.multinomial.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        keys = weights / exponentials
    if n == 1:
        return keys.argmax(1)[:, None]
    return np.ascontiguousarray(np.argsort(-keys, axis=1, kind="stable")[:, :n])


def multinomial(stream: WordStream, weights: np.ndarray, n: int) -> np.ndarray:
    """`n` column numbers for each row of `weights` (2-d), chosen with probabilities in proportion to them.

    The first place where the running sum of the weights, over their total, reaches `d`. The same column may come
    more than once. Source: torch.multinomial(replacement=True).
    """
    rows, columns = weights.shape
    if weights.dtype.itemsize == 2:
        weights = weights.astype(np.float32)
    sums = np.cumsum(weights, axis=1)
    sums /= sums[:, -1:].copy()
    with stream.lock:
        d = doubles(stream, rows * n).reshape(rows, n)
    low = np.zeros((rows, n), np.int64)
    if rows <= 64:
        for row in range(rows):
            low[row] = np.searchsorted(sums[row], d[row])
    else:  # bisect all rows at once
        high = np.full((rows, n), columns - 1)
        while (low < high).any():
            middle = (low + high) // 2
            right = np.take_along_axis(sums, middle, 1) < d
            low = np.where(right, middle + 1, low)
            high = np.where(right, high, middle)
    return np.minimum(low, columns - 1)
