"""Cutting one large call into pieces for the cores, and long chains of calls into blocks for the cache.

NumPy's ufuncs run on one core and let go of the interpreter's lock while they run, so a large call can be
cut into pieces that the threads of pool.py take on. A piece must be large: handing the lock from one
thread to another costs several microseconds, which is why a call with fewer than `BIG` elements is left to
the caller, and why `blocked` gives each NumPy call a block of up to a megabyte.

The cut depends on the size alone and every piece writes a place of its own, so results do not depend on
which thread took which piece, nor on the number of threads.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tidu.arrays.pool import get_num_threads, one_blas_thread, parallel, quiet, set_num_threads

__all__ = [
    "BIG", "BLOCK", "big_ufunc", "blocked", "exp_scaled", "exponential", "get_num_threads", "one_blas_thread", "parallel",
    "quiet", "rows_of", "set_num_threads", "step_of",
]  # fmt: skip

BIG = 1 << 18  # elements; below, waking a thread costs more than it saves
BLOCK = 1 << 20  # bytes of a block of `blocked`: long enough for the lock, short enough for the cache

# More than one, so that a thread that wakes late, or whose core is taken, leaves its second piece to the others.
_PIECES_PER_THREAD = 2
_LEAST_PIECE = 1 << 16  # elements; on a machine with many cores, not all of them are worth waking


def _has_svml() -> bool:
    """Whether NumPy's exp2 comes from the vector math library it bundles for AVX-512 on Linux."""
    try:
        from numpy._core import _multiarray_umath  # type: ignore[attr-defined, unused-ignore]

        return sys.platform == "linux" and bool(_multiarray_umath.__cpu_features__.get("AVX512_SKX"))
    except (AttributeError, ImportError):
        return False


_FAST_EXP2 = _has_svml()
_LOG2_E = 1 / math.log(2)


def exp_scaled(x: np.ndarray, scale: float, out: np.ndarray) -> None:
    """out = exp(scale * x), on large float32 blocks by exp2, which takes half the time of NumPy's exp.

    The product's rounding then costs |scale * x| * 8e-8 of the result, relatively.
    """
    if _FAST_EXP2 and x.dtype.char == "f" and x.size > 4096:
        np.multiply(x, scale * _LOG2_E, out)
        np.exp2(out, out)
    elif scale == 1:
        np.exp(x, out)
    else:
        np.multiply(x, scale, out)
        np.exp(out, out)


def exponential(dtype: np.dtype) -> tuple[np.ufunc, float]:
    """The fastest ufunc f there is with f(unit * x) = exp(x), and that unit.

    Where that is exp2 (for float32), infinities and results that are not normal numbers take many times as long.
    """
    return (np.exp2, _LOG2_E) if _FAST_EXP2 and dtype.char == "f" else (np.exp, 1.0)


def rows_of(*arrays: np.ndarray) -> tuple[list[np.ndarray], Callable[[np.ndarray], np.ndarray]]:
    """Arrays of one shape as contiguous rows in the first one's order of memory, and the way back for such a row.

    Rows are views where the memory is dense in that order, copies elsewhere.
    """
    first = arrays[0]
    shape = first.shape
    if all(a.flags.c_contiguous for a in arrays):
        return [a.reshape(-1) for a in arrays], lambda row: row.reshape(shape)
    order = sorted(range(first.ndim), key=first.strides.__getitem__, reverse=True)
    inverse = sorted(range(first.ndim), key=order.__getitem__)
    turned = tuple(shape[k] for k in order)
    rows = [np.ascontiguousarray(a.transpose(order)).reshape(-1) for a in arrays]
    return rows, lambda row: row.reshape(turned).transpose(inverse)


def step_of(n: int, most: int, unit: int = 64) -> int:
    """The length of equal pieces of n, at most `most`, their number a multiple of four (so that two or four threads
    have as much to do), a multiple of `unit` long."""
    count = -(-n // (4 * most)) * 4
    return -(-n // (count * unit)) * unit


def blocked(
    kernel: Callable[..., Any],
    ins: Sequence[np.ndarray],
    out: np.ndarray,
    scratch: int = 0,
    dtype: np.dtype | None = None,
) -> np.ndarray:
    """Run an elementwise kernel over blocks of flat arrays of one length; return `out`.

    kernel(*blocks, out_block, *scratch_blocks) must only write to the out and scratch blocks, which have
    one dtype: that of `out`, or `dtype` if it is given, in which case blocks of another dtype are converted
    on the way in and out (float16 and bfloat16 computed in float32).
    """
    n = out.size
    work_dtype = out.dtype if dtype is None else dtype
    convert_in = [a.dtype != work_dtype for a in ins]
    convert_out = out.dtype != work_dtype
    temporaries = scratch + sum(convert_in) + convert_out

    def run(lo: int, hi: int) -> None:
        spare = iter(np.empty((temporaries, hi - lo), work_dtype)) if temporaries else iter(())
        blocks = []
        for a, convert in zip(ins, convert_in, strict=True):
            block = a[lo:hi]
            if convert:
                target = next(spare)
                target[...] = block
                block = target
            blocks.append(block)
        target = next(spare) if convert_out else out[lo:hi]
        kernel(*blocks, target, *spare)
        if convert_out:
            out[lo:hi] = target

    if n <= BIG:
        with quiet():
            run(0, n)
    else:
        step = step_of(n, BLOCK // work_dtype.itemsize)
        parallel(lambda i: run(i * step, min(n, (i + 1) * step)), -(-n // step))
    return out


def big_ufunc(ufunc: np.ufunc, a: np.ndarray, b: Any = None, out: np.ndarray | None = None) -> np.ndarray:
    """ufunc(a), or ufunc(a, b) with an array or a Python number, on all cores; for a.size > BIG.

    Shapes broadcast, dtypes and the layout of the result are NumPy's. Floating point warnings are off.
    """
    if (ufunc is np.maximum or ufunc is np.minimum) and type(b) in (int, float) and a.dtype.char in "fd":
        from tidu.arrays.select import extremum

        return extremum(ufunc, a, b)
    if b is None:
        operands: tuple[Any, ...] = (a,)
    else:
        operands = (a, b)
    shape = a.shape
    if isinstance(b, np.ndarray) and b.shape != shape and b.size != 1:
        shape = np.broadcast_shapes(shape, b.shape)
    # One element tells the dtype of the result.
    probe = [x[(slice(0, 1),) * x.ndim] if isinstance(x, np.ndarray) else x for x in operands]
    with quiet():
        dtype = ufunc(*probe).dtype
    if a.flags.c_contiguous and a.shape == shape:
        rows = _as_rows(operands, shape)
        if rows is not None and (out is None or out.flags.c_contiguous):
            out = np.empty(shape, dtype) if out is None else out
            _cut(ufunc, rows, out.reshape(-1))
            return out
    if out is not None:
        return ufunc(*operands, out)  # type: ignore[no-any-return]
    return _cut_along_axis(ufunc, operands, shape, dtype)


def _as_rows(operands: tuple[Any, ...], shape: tuple[int, ...]) -> list[Any] | None:
    """The operands as contiguous rows of one length or as scalars, if they all are such."""
    rows: list[Any] = []
    for x in operands:
        if isinstance(x, np.ndarray) and x.ndim:
            if x.shape != shape or not x.flags.c_contiguous:
                return None
            x = x.reshape(-1)
        rows.append(x)
    return rows


def _cut(ufunc: np.ufunc, operands: Sequence[Any], out: np.ndarray) -> None:
    """Cut along the first axis: operands have out's length there, or 1, or are scalars."""
    n = len(out)
    pieces = get_num_threads() * (_PIECES_PER_THREAD if out.size > 4 * BIG else 1)
    pieces = min(n, pieces, max(1, out.size // _LEAST_PIECE))
    step = -(-n // pieces)
    if out.ndim == 1:
        step = -(-step // 64) * 64  # whole cache lines

    def run(i: int) -> None:
        lo = i * step
        hi = min(n, lo + step)
        ufunc(
            *[x[lo:hi] if isinstance(x, np.ndarray) and x.ndim and len(x) == n else x for x in operands], out=out[lo:hi]
        )

    parallel(run, -(-n // step))


def _cut_along_axis(ufunc: np.ufunc, operands: tuple[Any, ...], shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Any strides: put the axis with the longest stride first, cut along it, turn the axes back."""
    views = [np.broadcast_to(x, shape) if isinstance(x, np.ndarray) and x.ndim else x for x in operands]
    strides = [v.strides for v in views if isinstance(v, np.ndarray) and v.ndim]
    order = sorted(range(len(shape)), key=lambda k: [s[k] for s in strides], reverse=True)
    turned = [v.transpose(order) if isinstance(v, np.ndarray) and v.ndim else v for v in views]
    out = np.empty(tuple(shape[k] for k in order), dtype)
    _cut(ufunc, turned, out)
    return out.transpose(sorted(range(len(shape)), key=order.__getitem__))
