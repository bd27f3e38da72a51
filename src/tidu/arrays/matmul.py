"""Products of matrices, by the cheapest route to BLAS.

- `ndarray.dot` costs a third of `numpy.matmul` on small matrices, and hands transposed operands to BLAS as they lie, too.
- For a matrix times its own transpose NumPy calls BLAS's symmetric product and copies one triangle to the other element
  by element; two general products are faster.
- A batch of middle-sized matrices is cut over our threads, one BLAS thread each.
- Middling float32 products are native loops, where there are some: OpenBLAS is no faster on one thread, and its other
  threads are often woken on the core that then waits for them.
- Half precision is multiplied in float32 and rounded once. Integers wrap around; large products of small integers go
  through float64, where they are exact.

Shapes that do not fit raise NumPy's ValueError. Both operands must have one dtype.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tidu.arrays import native, threads
from tidu.arrays.reduce import sum_axes
from tidu.arrays.threads import one_blas_thread, parallel, quiet

_FLOAT32 = np.dtype(np.float32)
_ndarray = np.ndarray
_add, _matmul, _add_reduce = np.add, np.matmul, np.add.reduce

_SELF_PRODUCT = 64  # rows from which the symmetric route is avoided
_BATCH_WORK = 1 << 22  # multiplications in a batch worth cutting
_INTEGER_WORK = 1 << 15  # multiplications from which float64 pays for the conversions
_EXACT = 2.0**53
# Multiplications from which BLAS wakes its threads, and from which that pays: until then one that wakes late, as it does
# where the cores are busy, costs many times the product.
_SHARED, _WORTH_SHARING = 1 << 18, 1 << 22

# Native products: from so many multiplications on, of which a piece has some, with a right factor that stays in the
# cache and so long an inner dimension, over which the sum runs from end to end.
_NATIVE, _NATIVE_PIECE, _NATIVE_RIGHT, _NATIVE_INNER = 1 << 18, 1 << 19, 1 << 18, 2048
_SUMMED, _SHORT = (1024, 1 << 13)  # rows that a native product with ones sums, elements that NumPy sums at least cost

_Job = tuple[np.ndarray, np.ndarray, np.ndarray, Any]  # a, b, where a @ b goes, and the row that is added to its rows


def mm(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a @ b with the ranks and broadcasting of torch.matmul; 0-d for two vectors."""
    kind = a.dtype.char
    if kind == "f" or kind == "d" or kind == "F" or kind == "D":
        rank_a, rank_b = a.ndim, b.ndim
        if rank_a == 2 == rank_b:
            if a.shape[0] == b.shape[1] >= _SELF_PRODUCT and _same_memory(a, b):
                return _self_product(a, b)
            work = a.size * b.shape[1]
            if work >= _NATIVE and kind == "f" and _suits(a, b):
                out = np.empty((a.shape[0], b.shape[1]), a.dtype)
                if _natively([(a, b, out, None)]):
                    return out
            if work <= _SHARED:
                return a.dot(b)
            if work < _WORTH_SHARING:
                return _alone(a, b)
            threads.hush()  # BLAS's threads need the cores
            return a.dot(b)
        return _ranks(a, b, rank_a, rank_b)
    return _other_dtype(a, b)


def _suits(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two float32 matrices, with work enough, are for a native loop."""
    return (
        native.wide()
        and b.size <= _NATIVE_RIGHT
        and a.shape[1] == b.shape[0] <= _NATIVE_INNER
        and b.dtype is a.dtype
        and not (a.strides[0] | a.strides[1] | b.strides[0] | b.strides[1]) & 3
    )


def _natively(jobs: Sequence[_Job]) -> bool:
    """Compute some products together, shared between the threads; False where there is no native loop."""
    function = native.kernel("product")
    if function is None:
        return False
    kept: list[np.ndarray] = []
    calls: list[tuple[int, ...]] = []
    most = 2 * threads.get_num_threads()
    for a, b, out, row in jobs:
        b = _with_rows(b)
        m, n = out.shape
        over_rows, over_columns = a.strides
        over_out = out.strides[0]
        pieces = min(most, max(1, a.size * n // _NATIVE_PIECE))
        step = -(-m // pieces) + 7 & -8
        if row is not None:
            row = np.ascontiguousarray(row)
        kept += (b, row)
        start = 0 if row is None else native.address(row)
        left, right, result = map(native.address, (a, b, out))
        calls += [
            (left + i * over_rows, over_rows >> 2, over_columns >> 2, right, b.strides[0] >> 2, result + i * over_out,
             over_out >> 2, min(step, m - i), n, a.shape[1], start)
            for i in range(0, m, step)
        ]  # fmt: skip
    native.share(function, calls)
    return True


def _with_rows(b: np.ndarray) -> np.ndarray:
    """b with contiguous rows."""
    if b.strides[1] == 4:
        return b
    k, n = b.shape
    if b.strides[0] != 4 or (turn := native.kernel("turn")) is None:
        return np.ascontiguousarray(b)
    out = np.empty((k, n), b.dtype)
    turn(native.address(b), b.strides[1] >> 2, n, k, native.address(out), n, 1.0)
    return out


def _alone(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    with one_blas_thread():
        return a.dot(b)


def _ranks(a: np.ndarray, b: np.ndarray, rank_a: int, rank_b: int) -> np.ndarray:
    if rank_a <= 2 and rank_b <= 2:
        out = a.dot(b)
        return out if type(out) is _ndarray else np.asarray(out)
    if rank_b <= 2 and a.flags.c_contiguous:  # one large product instead of a batch
        rows = a.reshape(-1, a.shape[-1])
        few = rank_b == 2 and _SHARED < a.size * b.shape[1] < _WORTH_SHARING
        return (_alone(rows, b) if few else rows.dot(b)).reshape(a.shape[:-1] + b.shape[1:])
    if rank_a >= 2 and rank_b >= 2:
        return _batch(a, b)
    return _matmul(a, b)


def _same_memory(a: np.ndarray, b: np.ndarray) -> bool:
    if a.strides != b.strides[::-1] or not np.may_share_memory(a, b):  # the latter is cheap, and nearly always False
        return False
    return bool(a.__array_interface__["data"] == b.__array_interface__["data"])


def _self_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    n = a.shape[0]
    out = np.empty((n, n), a.dtype)
    half = n // 2
    a[:half].dot(b, out[:half])
    a[half:].dot(b, out[half:])
    return out


def _batch(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    work = a.shape[-2] * a.shape[-1] * b.shape[-1]
    count = math.prod(a.shape[:-2] if a.ndim >= b.ndim else b.shape[:-2])
    if a.shape[-1] == 1 == b.shape[-2] and count * work < _BATCH_WORK:
        out: np.ndarray = a * b  # outer products, on which a product of matrices wastes its time
        return _add(out, 0.0, out)  # a sum has no negative zero
    cores = threads.get_num_threads()
    if cores < 2 or count < 2 * cores or count * work < _BATCH_WORK:
        return _matmul(a, b)
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    if a.shape[-1] != b.shape[-2]:
        return _matmul(a, b)  # raises
    count = math.prod(lead)
    x = np.broadcast_to(a, lead + a.shape[-2:]).reshape((count,) + a.shape[-2:])
    y = np.broadcast_to(b, lead + b.shape[-2:]).reshape((count,) + b.shape[-2:])
    out = np.empty((count, a.shape[-2], b.shape[-1]), a.dtype)
    step = -(-count // (2 * cores))

    def run(i: int) -> None:
        piece = slice(i * step, (i + 1) * step)
        _matmul(x[piece], y[piece], out[piece])

    with one_blas_thread() as held:
        if held:
            parallel(run, -(-count // step))
        else:
            _matmul(x, y, out)
    return out.reshape(lead + out.shape[1:])


def _other_dtype(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    dtype = a.dtype
    if dtype.itemsize == 2 and dtype.kind not in "iu":
        return mm(a.astype(_FLOAT32), b.astype(_FLOAT32)).astype(dtype)
    if dtype.kind in "iu" and a.ndim and b.ndim and a.size * b.shape[-1] >= _INTEGER_WORK and b.size:
        largest = float(max(-int(a.min()), int(a.max()))) * float(max(-int(b.min()), int(b.max())))
        if largest * a.shape[-1] < _EXACT:
            product = mm(a.astype(np.float64), b.astype(np.float64))
            return product.astype(np.int64).astype(dtype)  # wraps, as integer sums do
    out = np.asarray(_matmul(a, b))
    return out


def linear(x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
    """x @ w.T + b for x (..., n), w (m, n), b (m,). Source: torch.nn.functional.linear."""
    if b is None or x.dtype.itemsize == 2:  # half precision: rounded once, after the bias
        if b is None:
            return mm(x, w.T)
        return linear(x.astype(_FLOAT32), w.astype(_FLOAT32), b.astype(_FLOAT32)).astype(x.dtype)
    if x.ndim == 2 and x.dtype.char == "f" and x.size * len(w) >= _NATIVE and b.dtype is x.dtype and _suits(x, w.T):
        out = np.empty((len(x), len(w)), x.dtype)
        if _natively([(x, w.T, out, b)]):
            return out
    return _add_row(mm(x, w.T), b)


def _add_row(out: np.ndarray, b: np.ndarray) -> np.ndarray:
    if out.size > 1 << 16:
        with quiet():
            return _add(out, b, out)
    return _add(out, b, out)


def linear_backward(
    g: np.ndarray, x: Any, w: Any, need: tuple[bool, bool, bool] = (True, True, True)
) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray | None]:
    """The cotangents of linear's x, w and b: g @ w, g.T @ x, the sum of g's rows; None where `need` is False."""
    g2 = g if g.ndim == 2 else g.reshape(-1, g.shape[-1])
    gx = gw = gb = None
    jobs: list[_Job] = []
    single = g2.dtype.char == "f"
    if need[0]:
        if single and g2.size * w.shape[1] >= _NATIVE and _suits(g2, w):
            gx = np.empty((len(g2), w.shape[1]), g2.dtype)
            jobs.append((g2, w, gx, None))
        else:
            gx = mm(g2, w)
    if need[1]:
        x2 = x if x.ndim == 2 else x.reshape(-1, x.shape[-1])
        if single and g2.size * x2.shape[1] >= _NATIVE and _suits(g2.T, x2):
            gw = np.empty((g2.shape[1], x2.shape[1]), g2.dtype)
            jobs.append((g2.T, x2, gw, None))
        else:
            gw = mm(g2.T, x2)
    if need[2]:
        if jobs and g2.size <= _NATIVE_RIGHT and len(g2) <= _SUMMED:
            total = np.empty((1, g2.shape[1]), g2.dtype)
            jobs.append((_ones(len(g2)), g2, total, None))
            gb = total[0]
        else:
            gb = np.add.reduce(g2, 0) if g2.size <= _SHORT and g2.dtype.itemsize > 2 else sum_axes(g2, 0)
    if jobs and not _natively(jobs):
        for a, b, out, _ in jobs:
            out[...] = mm(a, b)
    return gx if gx is None or g.ndim == 2 else gx.reshape(*g.shape[:-1], gx.shape[1]), gw, gb


@functools.lru_cache(16)
def _ones(n: int) -> np.ndarray:
    return np.ones((1, n), np.float32)


def addmm(c: np.ndarray, a: np.ndarray, b: np.ndarray, beta: float = 1, alpha: float = 1) -> np.ndarray:
    """beta * c + alpha * (a @ b); c broadcasts. With beta 0 `c` is not looked at. Source: torch.addmm."""
    if a.dtype.itemsize == 2 and a.dtype.kind not in "iu":
        wide = addmm(c.astype(_FLOAT32), a.astype(_FLOAT32), b.astype(_FLOAT32), beta, alpha)
        return wide.astype(a.dtype)
    out = mm(a, b)
    if a.dtype.kind in "iu":
        alpha, beta = int(alpha), int(beta)
    if alpha != 1:
        np.multiply(out, alpha, out)
    if beta == 0:
        return out
    return _add_row(out, c if beta == 1 else np.multiply(c, beta))
