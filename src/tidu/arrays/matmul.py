"""Products of matrices, by the cheapest route to BLAS.

- `ndarray.dot` costs a third of `numpy.matmul` on small matrices, and like it hands transposed operands to
  BLAS as they lie.
- For a matrix times its own transpose NumPy calls BLAS's symmetric product and then copies one triangle to
  the other element by element; two general products are faster.
- A batch of middle-sized matrices is cut over our threads, one BLAS thread each.
- float16 and bfloat16 are multiplied in float32 and rounded once. Integers wrap around; large products of
  small integers go through float64, where they are exact.

Shapes that do not fit raise NumPy's ValueError. Both operands must have one dtype.
"""

from __future__ import annotations

import math

import numpy as np

from tidu.arrays import threads
from tidu.arrays.threads import one_blas_thread, parallel, quiet

__all__ = ["addmm", "linear", "linear_backward", "mm"]

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


def mm(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a @ b with the ranks and broadcasting of torch.matmul; 0-d for two vectors."""
    kind = a.dtype.char
    if kind == "f" or kind == "d" or kind == "F" or kind == "D":
        rank_a, rank_b = a.ndim, b.ndim
        if rank_a == 2 == rank_b:
            if a.shape[0] == b.shape[1] >= _SELF_PRODUCT and _same_memory(a, b):
                return _self_product(a, b)
            return _alone(a, b) if _SHARED < a.size * b.shape[1] < _WORTH_SHARING else a.dot(b)
        return _ranks(a, b, rank_a, rank_b)
    return _other_dtype(a, b)


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
    if a.strides != b.strides[::-1] or not np.may_share_memory(
        a, b
    ):  # the latter is cheap, and nearly always False
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
    out = mm(x, w.T)
    return _add_row(out, b)


def _add_row(out: np.ndarray, b: np.ndarray) -> np.ndarray:
    if out.size > 1 << 16:
        with quiet():
            return _add(out, b, out)
    return _add(out, b, out)


def linear_backward(
    g: np.ndarray, x: np.ndarray, w: np.ndarray, need: tuple[bool, bool, bool] = (True, True, True)
) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray | None]:
    """The cotangents of linear's x, w and b: g @ w, g.T @ x, the sum of g's rows; None where `need` is False."""
    if x.ndim == 2:
        g2, x2 = g, x
    else:
        g2, x2 = g.reshape(-1, w.shape[0]), x.reshape(-1, w.shape[1])
    gx = gw = gb = None
    if need[0]:
        gx = mm(g2, w)
        if x.ndim != 2:
            gx = gx.reshape(x.shape)
    if need[1]:
        gw = mm(g2.T, x2)
    if need[2]:
        if g2.dtype.itemsize == 2:
            gb = _add_reduce(g2.astype(_FLOAT32), 0).astype(g2.dtype)
        else:
            gb = _add_reduce(g2, 0)
    return gx, gw, gb


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
