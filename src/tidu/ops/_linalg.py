"""What the linear algebra shares: checks in PyTorch's words, LAPACK's verdicts as errors, small values for rules."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays.threads import get_num_threads, look_for_blas, one_blas_thread, parallel
from ..core.batch import is_batched, materialize, rule
from ..core.elementwise import conj
from ..core.subclass import Special
from ..core.tensor import Tensor, tensor_of
from ..naming import given_out
from ..shapes import broadcast_shapes
from .windows import diagonal

INT32 = np.dtype(np.int32)


class LinAlgError(RuntimeError):
    """The data have no such factorization, inverse or solution. Source: torch.linalg.LinAlgError."""

    def __reduce__(self) -> Any:
        return _lin_alg_error, self.args


def _lin_alg_error(*args: Any) -> LinAlgError:
    """The error again, from a pickle: its class goes by a name under which it is not to be found here."""
    return LinAlgError(*args)


LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"  # the name that tracebacks show
LinAlgError.__module__ = "torch._C"


# ------------------------------------------------------------------ checks


def check_matrix(a: Any, name: str, arg: str = "A") -> None:
    if a.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {arg} must have at least 2 dimensions.")


def check_square(a: Any, name: str, arg: str = "A") -> None:
    check_matrix(a, name, arg)
    m, n = a.shape[-2:]
    if m != n:
        raise RuntimeError(f"{name}: {arg} must be batches of square matrices, but they are {m} by {n} matrices")


def legacy(a: Any) -> str:
    """The dtype of a value as PyTorch's messages name it."""
    return a.dtype.legacy if isinstance(a, Tensor) else dtypes.from_numpy(a.dtype).legacy


def check_floating(a: Any, name: str, low: bool = False) -> None:
    """RuntimeError for integers, and, unless `low`, for two-byte floats."""
    dt = a.dtype if isinstance(a, Tensor) else dtypes.from_numpy(a.dtype)
    if dt.category < dtypes.FLOATING:
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {dt.legacy}")
    if not low and dt.is_floating_point and dt.itemsize == 2:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {dt.legacy}")


def check_kernel(a: Any, kernel: str) -> None:
    """NotImplementedError for what PyTorch has no kernel for: integers and two-byte floats."""
    if a.dtype.kind in "biu" or (a.dtype.itemsize == 2 and a.dtype.kind in "fV"):
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{legacy(a)}'")


def check_same_dtype(a: Any, b: Any, name: str, first: str = "A", second: str = "B") -> None:
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"{name}: Expected {first} and {second} to have the same dtype, but found {first} of type {legacy(a)} and "
            f"{second} of type {legacy(b)} instead"
        )


def check_solvable(a: Any, b: Any, left: bool, name: str) -> None:
    check_square(a, name)
    check_matrix(b, name, "B")
    if a.shape[-2] != b.shape[-2 if left else -1]:
        p, q = (f"{v.shape[-2]}x{v.shape[-1]}" for v in (a, b))
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} ({p} and {q})"
        )


def broadcast_batches(a: Any, b: Any) -> tuple[int, ...]:
    """The batch of both sides of an equation, of which errors name the right one first."""
    return tuple(broadcast_shapes(tuple(b.shape[:-2]), tuple(a.shape[:-2])))


def check_norm_dtype(x: Any, dtype: Any, name: str) -> None:
    """RuntimeError unless a norm may be taken in that dtype."""
    if dtype is None:
        return
    if dtype.category < dtypes.FLOATING:
        raise RuntimeError(f"{name}: dtype should be floating point or complex, but got {dtype.legacy}")
    if x.dtype.is_complex is not dtype.is_complex:
        kind = "complex" if x.dtype.is_complex else "real"
        raise RuntimeError(f"{name}: dtype should be {kind} for {kind} inputs, but got {dtype.legacy}")
    if dtypes.promote_types(x.dtype, dtype) is not dtype:
        raise RuntimeError(
            f"{name}: the dtype of the input ({x.dtype.legacy}) should be convertible without narrowing to the "
            f"specified dtype ({dtype.legacy})"
        )


# ------------------------------------------------------------------ LAPACK's verdicts

_VERDICTS = {
    "inv": "The diagonal element {} is zero, the inversion could not be completed because the input matrix is singular.",
    "solve": "The solver failed because the input matrix is singular.",
    "cholesky": "The factorization could not be completed because the input is not positive-definite (the leading "
    "minor of order {} is not positive-definite).",
    "svd": "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
    "singular values (error code: {}).",
    "eig": "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
    "eigenvalues (error code: {}).",
    "lstsq": "The least squares solution could not be computed because the input matrix does not have full rank (error "
    "code: {}).",
    "lu_factor": "U[{0},{0}] is zero and using it on lu_solve would result in a division by zero. If you still want to "
    "perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)",
}


def raise_for(info: Any, api: str, kind: str) -> None:
    """LinAlgError where LAPACK reported a failure: an array of codes, one a matrix, 0 for success."""
    codes = np.asarray(info)
    if not codes.any():
        return
    at = int(np.flatnonzero(codes.reshape(-1))[0])
    code = int(codes.reshape(-1)[at])
    where = f": (Batch element {at}): " if codes.ndim else ": "
    error = RuntimeError if kind == "lu_factor" else LinAlgError
    raise error(api + where + _VERDICTS[kind].format(code))


_found = False  # whether SciPy's LAPACK has been asked for
_SMALL = 128  # rows of a matrix on which several threads of BLAS get in each other's way


def lapack(names: str, *arrays: Any) -> Any:
    """SciPy's bindings of LAPACK routines for these arrays' dtype; SciPy is imported when first needed."""
    global _found
    from scipy.linalg import get_lapack_funcs

    if not _found:
        _found = True
        look_for_blas()  # SciPy brings one of its own
    found = get_lapack_funcs(names.split(), arrays)
    return found if len(found) > 1 else found[0]


def few_threads(a: Any) -> Any:
    """A context for LAPACK on such matrices: with one thread where they are small."""
    return one_blas_thread() if max(a.shape[-2:]) <= _SMALL else nullcontext()


def each(fn: Any, shape: Sequence[int], outs: Sequence[Any], *arrays: Any) -> None:
    """Carry out `fn(*matrices)` for every matrix of a batch, for LAPACK routines that NumPy does not batch.

    It returns what goes into `outs`, in order.
    """
    count, k = math.prod(shape), len(shape)
    flat = [a.reshape(count, *a.shape[k:]) for a in arrays]
    places = [o.reshape(count, *o.shape[k:]) for o in outs]
    with few_threads(arrays[0]):
        for i, matrices in enumerate(zip(*flat, strict=True)):
            for o, r in zip(places, fn(*matrices), strict=True):
                o[i] = r


def is_small(a: Any) -> bool:
    """Whether `small_lu` is for these matrices."""
    return a.dtype.kind == "f" and a.shape[-2] == a.shape[-1] <= 16 and a.size > 0


def small_lu(a: Any) -> tuple[Any, Any, Any]:
    """LU packed in one matrix, pivots (from 1) and LAPACK's codes of small real square matrices, column by column.

    Multiples and roundings are those of Intel's library, PyTorch's: a column is multiplied by the pivot's reciprocal,
    and the last one of a matrix of up to four rows divided by it, so that determinants of integers come out as there.
    """
    n = a.shape[-1]
    lu = np.array(a, order="C").reshape(-1, n, n)
    rows = np.arange(len(lu))
    pivots, info = np.empty((len(lu), n), INT32), np.zeros(len(lu), INT32)
    with np.errstate(all="ignore"):
        for k in range(n):
            p = np.abs(lu[:, k:, k]).argmax(1) + k
            pivots[:, k] = p + 1
            lu[rows, k], lu[rows, p] = lu[rows, p], lu[rows, k]
            top, column = lu[:, k, k, None], lu[:, k + 1 :, k]
            info[(top[:, 0] == 0) & (info == 0)] = k + 1
            if k < n - 1:
                multiple = column / top if n <= 4 and k == n - 2 else column * (1 / top)
                column[...] = np.where(top == 0, column, multiple)
                lu[:, k + 1 :, k + 1 :] -= column[:, :, None] * lu[:, k, None, k + 1 :]
    return lu.reshape(a.shape), pivots.reshape(a.shape[:-1]), info.reshape(a.shape[:-2])


def small_det(a: Any) -> tuple[Any, Any]:
    """The diagonal of U, and the sign of the permutation, from the transposed matrix where that lies as it is."""
    lu, pivots, _ = small_lu(a.mT if a.flags.c_contiguous else a)
    odd = (pivots != np.arange(1, a.shape[-1] + 1)).sum(-1) & 1
    return np.diagonal(lu, axis1=-2, axis2=-1), (1 - 2 * odd).astype(a.dtype)


_LONG = 250.0  # microseconds, from which threads are worth waking


def over_batch(fn: Callable[..., Any], cost: float, *arrays: Any) -> Any:
    """`fn(*arrays)` for stacks of matrices, of which each takes NumPy about `cost` microseconds; where they are many,
    the threads share the stack."""
    first = arrays[0]
    lead, threads = first.shape[:-2], get_num_threads()
    count = math.prod(lead)
    with few_threads(first):
        if (
            threads < 2 or count * cost < _LONG or count < threads or max(first.shape[-2:]) > _SMALL
            or any(a.shape[:-2] != lead for a in arrays)
        ):  # fmt: skip
            return fn(*arrays)
        flat = [a.reshape(count, *a.shape[-2:]) for a in arrays]
        step = -(-count // threads)
        parts: list[Any] = [None] * -(-count // step)

        def piece(i: int) -> None:
            parts[i] = fn(*[a[i * step : (i + 1) * step] for a in flat])

        parallel(piece, len(parts))

    def whole(pieces: Any) -> Any:
        return np.concatenate(pieces).reshape(*lead, *pieces[0].shape[1:])

    return tuple(map(whole, zip(*parts, strict=True))) if isinstance(parts[0], tuple) else whole(parts)


def columns(a: Any) -> Any:
    """The matrices laid out by columns, as LAPACK leaves them."""
    return np.ascontiguousarray(a.mT).mT


# ------------------------------------------------------------------ out=


def laid_out(given: Any, results: Sequence[Any], shapes: Sequence[Any]) -> Any:
    """Lay those out= tensors that were resized out by columns where the results are."""
    outs = given if isinstance(given, tuple) else (given,)
    for o, r, shape in zip(outs, results, shapes, strict=True):
        if shape != r.shape and r.ndim >= 2 and not r.flags.c_contiguous:
            o._a = columns(o._a)
    return given


def by_columns(*calls: Any) -> None:
    """Say that an op's results lie by columns, in an out= that is resized too."""
    for call in calls:
        op = getattr(call, "op", call)

        def write_out(result: Any, out: Any, wants: bool, plain: Any = op.write_out) -> Any:
            results, outs = (result, out) if isinstance(result, tuple) else ((result,), (out,))
            shapes = [o._a.shape if isinstance(o, Tensor) else None for o in outs]
            given = plain(result, out, wants)
            laid_out(tuple(given) if isinstance(given, tuple) else given, results, shapes)
            return given

        op.write_out = write_out


def into(name: str, out: Any, r: Any) -> Any:
    """A computed result put into out=, by columns where it lies so and `out` is resized."""
    from .reduction import into as plain

    shape = out._a.shape if isinstance(out, Tensor) else None
    return laid_out(plain(name, out, r), (r._a,), (shape,))


def into_pair(name: str, out: Any, r: Any, result: Any) -> Any:
    """Several results put into out=(...)."""
    for o, v in zip(out, r, strict=True):
        into(name, o, v)
    return given_out(result)(*out)


# ------------------------------------------------------------------ values for rules


def H(x: Any) -> Any:
    """The conjugate transpose of a value's matrices."""
    return conj(x.mT)


def is_complex(x: Any) -> bool:
    return bool(x.dtype.is_complex if isinstance(x, Tensor) else x.dtype.kind == "c")


def like(constant: Any, x: Any) -> Any:
    """A constant array as the kind of value, and in the dtype, of another."""
    if not isinstance(x, Tensor):
        return np.asarray(constant, x.dtype)
    return tensor_of(np.asarray(constant, x.dtype.np))


def identity(n: int, x: Any) -> Any:
    return like(np.eye(n), x)


def real(x: Any) -> Any:
    return x.real if is_complex(x) else x


def diag(x: Any) -> Any:
    """The diagonals of matrices."""
    return diagonal(x, 0, -2, -1)


def times_rows(v: Any, x: Any) -> Any:
    """diag(v) @ x."""
    return v.reshape((*tuple(v.shape), 1)) * x


def times_columns(x: Any, v: Any) -> Any:
    """x @ diag(v)."""
    return x * v.reshape((*tuple(v.shape[:-1]), 1, v.shape[-1]))


def differences(v: Any) -> Any:
    """v_k - v_j at (j, k), and 1 on the diagonal."""
    n = v.shape[-1]
    lead = tuple(v.shape[:-1])
    return v.reshape((*lead, 1, n)) - v.reshape((*lead, n, 1)) + identity(n, v)


def column(x: Any) -> Any:
    return x.reshape((*tuple(x.shape), 1))


def numbers(x: Any) -> Any:
    """The array behind a value, for checks that read numbers: under a transform that of all slices, of the primal."""
    while isinstance(x, Special):
        x = getattr(x, "primal", None) if hasattr(x, "primal") else getattr(x, "value", None)
    return getattr(x, "_a", None) if isinstance(x, Tensor) else x


# ------------------------------------------------------------------ batches


def batched_over(**trailing: int) -> Any:
    """The vmap rule of an op that treats leading dimensions as batches: the dimensions of one item, by argument."""

    def treat(op: Any, args: Sequence[Any], level: int) -> Any:
        n = next(v.size_of_batch for v in op.tensor_args(args) if is_batched(v, level))
        full = list(args)
        lead = max(
            args[op.params.index(p)].ndim - k for p, k in trailing.items() if args[op.params.index(p)] is not None
        )
        for p, k in trailing.items():
            i = op.params.index(p)
            v = args[i]
            if v is None:
                continue
            if v.ndim < k:
                return NotImplemented
            x = materialize(v, level, n)
            lacks = lead - (v.ndim - k)
            full[i] = x.reshape((n, *(1,) * lacks, *tuple(x.shape)[1:])) if lacks else x
        got = op.call(*full)
        return tuple(_empty_for_each(v, n) for v in got) if isinstance(got, tuple) else got

    return treat


def _empty_for_each(v: Any, n: int) -> Any:
    """A result that is empty because nobody asked for it: one for each item of the batch."""
    shape = tuple(v.shape)
    return v.new_empty((n, *shape)) if shape in ((0,), (0, 0)) and n else v


def trailing(*names: str, **dims: int) -> None:
    """Register that rule for some ops."""
    rule(*names)(batched_over(**dims))
