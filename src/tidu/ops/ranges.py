"""Evenly spaced numbers, index grids, and what is made of them: diagonals, products, combinations, powers.

Floating steps are PyTorch's to the bit: its kernels compute start + step * i with one rounding (a fused multiply-add).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..core.errors import type_word
from ..core.tensor import Tensor
from ..dtypes import dtype as Dtype
from ..naming import warn
from ._make import OPTIONS, as_dtype, bad_combination, check_place, elements, finish, integer, made, number, type_for

__all__ = [
    "arange", "cartesian_prod", "combinations", "eye", "linspace", "logspace", "meshgrid", "range", "tril_indices",
    "triu_indices", "vander",
]  # fmt: skip

Array = np.ndarray[Any, Any]
_GRIDS = itertools.combinations, itertools.combinations_with_replacement


def fused(a: Any, x: Array, b: Any, d: np.dtype[Any]) -> Array:
    """a * x + b rounded once to float32, or (within the platform's long double) float64, and then to `d`."""
    if d == np.float64:
        wide: Any = np.longdouble
    elif d.itemsize == 2:
        wide = np.float32
    else:
        wide = np.float64
    return (wide(a) * x.astype(wide) + wide(b)).astype(d)


def _numbers(fn: str, **values: Any) -> list[Any]:
    return [number(v, fn, name, i + 1) for i, (name, v) in enumerate(values.items())]


def _check_steps(start: Any, end: Any, step: Any) -> None:
    for v in (start, end, step):
        if isinstance(v, complex):
            raise RuntimeError("value cannot be converted to type double without overflow")
    if not step:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start:g} -> {end:g}")
    if (step > 0) != (end >= start) and start != end:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")


def _check_type(fn: str, d: Dtype, refused: str = "Bool ComplexFloat ComplexDouble") -> None:
    if d.legacy in refused.split():
        raise NotImplementedError(f"\"{fn}\" not implemented for '{d.legacy}'")


def _bad_arange(*args: Any) -> TypeError:
    return bad_combination(
        "arange", args, {}, f"Number end, *, Tensor out = None, {OPTIONS}", f"Number start, Number end, *, {OPTIONS}",
        f"Number start, Number end, Number step = 1, *, Tensor out = None, {OPTIONS}",
    )  # fmt: skip


def arange(
    start: Any = None, end: Any = None, step: Any = 1, *, out: Any = None, dtype: Any = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """start, start + step, ... up to but without `end`; ints give int64.

    >>> import tidu as torch
    >>> torch.arange(1, 2.5, 0.5)
    tensor([1.0000, 1.5000, 2.0000])
    """
    if device is not None or pin_memory or layout is not None:
        check_place(device, pin_memory, layout)
    if start is None:
        if end is None:
            raise _bad_arange()
        start = 0
    if end is None:
        start, end = 0, start
        if end.__class__ is int and end >= 0 and step == 1 and dtype is None and out is None:
            return made(np.arange(end), requires_grad)
        (end,) = _numbers("arange", end=end)
    start, end, step = _numbers("arange", start=start, end=end, step=step)
    if dtype is None and out is None:
        whole = all(isinstance(v, int) for v in (start, end, step))
        d = dtypes.int64 if whole else dtypes.get_default_dtype()
    else:
        d = dtypes.from_numpy(type_for(dtype, out, "arange"))
    _check_type("arange_cpu", d)
    _check_steps(start, end, step)
    if d is dtypes.int64 and not int(step):
        raise ValueError("step must be nonzero")
    if d is dtypes.int64:
        start, end, step = int(start), int(end), int(step)
    n = math.ceil((end - start) / step)  # of shorter integers as many as there would be floats
    if n >= 2**63:
        raise RuntimeError("invalid size, possible overflow?")
    if d.category == dtypes.INTEGRAL:
        start, step = int(start), int(step)
    return finish(_steps(start, step, n, d), out, requires_grad, "arange")


def _steps(start: Any, step: Any, n: int, d: Dtype) -> Array:
    """start + step * i. For floats PyTorch takes blocks from a rounded first element, the rest one by one."""
    if d.category == dtypes.INTEGRAL:
        a = np.arange(n, dtype=np.int64)
        if step != 1:
            a *= step
        if start:
            a += start
        return a.astype(d.np, copy=False)
    if d.itemsize == 8:
        wide: Any = np.longdouble
    else:
        wide = np.float32 if d.itemsize == 2 else np.float64
    out = (wide(step) * np.arange(n) + wide(start)).astype(d.np)
    block = {4: 8, 8: 4}.get(d.itemsize, n + 1)
    whole = n // (2 * block) * 2 * block
    if whole:
        first = out[:whole:block].astype(wide)
        out[:whole] = (first[:, None] + wide(step) * np.arange(block)).astype(d.np).ravel()
    return out


def range(
    start: Any = 0, end: Any = None, step: Any = 1, *, out: Any = None, dtype: Any = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """start, start + step, ... up to and including `end`; deprecated in favour of `arange`."""
    check_place(device, pin_memory, layout)
    if end is None:
        raise TypeError('range() missing 1 required positional arguments: "end"')
    warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end)."
    )
    start, end, step = _numbers("range", start=start, end=end, step=step)
    _check_steps(start, end, step)
    d = dtypes.from_numpy(type_for(dtype, out, "range"))
    return finish(_steps(start, step, math.floor((end - start) / step) + 1, d), out, requires_grad, "range")


# ------------------------------------------------------------------ given the number of steps


def linspace(
    start: Any, end: Any, steps: Any = None, *, out: Any = None, dtype: Any = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """`steps` numbers from `start` to `end`, both included, evenly spaced.

    >>> import tidu as torch
    >>> torch.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    check_place(device, pin_memory, layout)
    start, end, steps, d = _spacing("linspace", start, end, steps, dtype, out)
    return finish(_spaced(start, end, steps, d), out, requires_grad, "linspace")


def logspace(
    start: Any, end: Any, steps: Any = None, base: float = 10.0, *, out: Any = None, dtype: Any = None,
    layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """base ** linspace(start, end, steps)."""
    check_place(device, pin_memory, layout)
    start, end, steps, d = _spacing("logspace", start, end, steps, dtype, out)
    wide = dtypes.complex128 if d.is_complex else dtypes.float64
    if d.category == dtypes.INTEGRAL:
        start, end = _whole(start, d), _whole(end, d)
    with np.errstate(all="ignore"):
        a = np.power(base, _spaced(start, end, steps, wide))
        a = (np.trunc(a) if d.category == dtypes.INTEGRAL else a).astype(d.np)
    return finish(a, out, requires_grad, "logspace")


def _spacing(fn: str, start: Any, end: Any, steps: Any, dtype: Any, out: Any) -> tuple[Any, Any, int, Dtype]:
    """The arguments of linspace and logspace, checked."""
    if steps is None:
        base = ", float base = 10.0" if fn == "logspace" else ""
        kinds = ("Tensor", "Tensor"), ("Number", "Tensor"), ("Tensor", "Number"), ("Number", "Number")
        signatures = [f"{a} start, {b} end, int steps{base}, *, Tensor out = None, {OPTIONS}" for a, b in kinds]
        raise bad_combination(fn, (start, end), {}, *signatures)
    if isinstance(start, Tensor) or isinstance(end, Tensor):
        dims = [v.ndim if isinstance(v, Tensor) else 0 for v in (start, end)]
        if any(dims):
            raise RuntimeError(
                f"{fn} only supports 0-dimensional start and end tensors, but got start with {dims[0]} dimension(s) "
                f"and end with {dims[1]} dimension(s)."
            )
    start, end = _numbers(fn, start=start, end=end)
    steps = integer(steps, fn, "steps", 3)
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    inferred = dtypes.get_default_dtype()
    if isinstance(start, complex) or isinstance(end, complex):
        inferred = inferred.to_complex()
    d = inferred if dtype is None and out is None else dtypes.from_numpy(type_for(dtype, out, fn))
    if inferred.is_complex and not d.is_complex:
        raise RuntimeError(
            f"torch.{fn}(): inferred dtype c10::complex<{'float' if inferred.itemsize == 8 else 'double'}> can't be "
            f"safely cast to passed dtype {d.legacy}"
        )
    _check_type(f"{fn}_cpu", d, "Bool")
    return start, end, steps, d


def _whole(value: Any, d: Dtype) -> Any:
    """A number as an integer of a type, of whose bits it keeps those that fit."""
    return np.int64(int(value)).astype(d.np)


def _spaced(start: Any, end: Any, steps: int, d: Dtype) -> Array:
    """The first half counts from the start, the second back from the end."""
    i = np.arange(steps)
    back = steps - 1 - i
    if d.is_complex:
        step = (d.np.type(end) - d.np.type(start)) / max(steps - 1, 1)
        ends = start + step * i, end - step * back
    elif d.itemsize == 2 and d.category == dtypes.FLOATING:
        # Every intermediate result is rounded to two bytes.
        h, f = d.np, np.float32
        low, high = np.array(start, h).astype(f), np.array(end, h).astype(f)
        step = ((high - low).astype(h).astype(f) / f(max(steps - 1, 1))).astype(h).astype(f)
        ends = (low + (step * i.astype(f)).astype(h).astype(f), high - (step * back.astype(f)).astype(h).astype(f))
    else:
        kind = d.np.type if d.category == dtypes.FLOATING else np.float64
        low, high = (_whole(v, d) if d.category == dtypes.INTEGRAL else d.np.type(v) for v in (start, end))
        step = (kind(high) - kind(low)) / kind(max(steps - 1, 1))
        ends = fused(step, i, low, np.dtype(kind)), fused(-step, back, high, np.dtype(kind))
    if steps == 1 and d.category == dtypes.FLOATING:
        return np.array([start]).astype(d.np)
    if steps == 1:
        return ends[0].astype(d.np)
    return np.where(i < steps // 2, *ends).astype(d.np)


# ------------------------------------------------------------------ grids


def eye(
    n: int, m: int | None = None, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Ones on the diagonal of an n by m (by default n by n) matrix."""
    check_place(device, pin_memory, layout)
    n = integer(n, "eye", "n", 1)
    m = n if m is None else integer(m, "eye", "m", 2)
    for name, v in (("n", n), ("m", m)):
        if v < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {v}")
    return finish(np.eye(n, m, dtype=type_for(dtype, out, "eye")), out, requires_grad, "eye")


def _triangle(fn: str, row: int, col: int, offset: int, dtype: Any, lower: bool) -> Tensor:
    if row < 0:
        raise RuntimeError(f"row must be non-negative, got{row}")
    if col < 0:
        raise RuntimeError(f"col must be non-negative, got{col}")
    d = dtypes.int64 if dtype is None else as_dtype(dtype, fn)
    if d.category != dtypes.INTEGRAL:
        raise NotImplementedError(f"\"{fn}\" not implemented for '{d.legacy}'")
    side = np.greater_equal if lower else np.less_equal
    return made(np.array(side.outer(np.arange(offset, row + offset), np.arange(col)).nonzero(), d.np))


def tril_indices(
    row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None, layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """The indices of a matrix's lower triangle, row numbers over column numbers."""
    check_place(device, pin_memory, layout)
    return _triangle("tril_indices", row, col, offset, dtype, True)


def triu_indices(
    row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None, layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """The indices of a matrix's upper triangle, row numbers over column numbers."""
    check_place(device, pin_memory, layout)
    return _triangle("triu_indices", row, col, offset, dtype, False)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Any, ...]:
    """Vectors as grids: tensor k varies along dimension k of a common shape.

    Args:
        tensors: vectors or 0-d tensors of one dtype, one by one or as a sequence.
        indexing: "ij" (dimension k belongs to tensor k) or "xy" (the first two swapped).

    >>> import tidu as torch
    >>> torch.meshgrid(torch.tensor([1, 2]), torch.tensor([3, 4, 5]), indexing="ij")[0]
    tensor([[1, 1, 1],
            [2, 2, 2]])
    """
    given = elements(tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors)
    if indexing is None:
        warn("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.")
    return _meshgrid(given, indexing or "ij")


def _meshgrid(given: Sequence[Any], indexing: str) -> tuple[Any, ...]:
    if not given:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if any(t.dtype is not given[0].dtype for t in given):
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    for t in given:
        if t.ndim > 1:
            sizes = ",".join(map(str, t.shape))
            raise RuntimeError(
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got:  1\n"
                f"[ {type_word(t.dtype)}{{{sizes}}} ]"
            )
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    shape = [t.shape[0] if t.ndim else 1 for t in given]
    places = [*_range(len(shape))]
    if indexing == "xy" and len(shape) > 1:
        places[:2] = 1, 0
        shape[:2] = shape[1], shape[0]
    grids = []
    for t, place in zip(given, places, strict=True):
        flat = [1] * len(shape)
        flat[place] = shape[place]
        grids.append(t.reshape(flat).expand(shape))
    return tuple(grids)


_range = __builtins__["range"] if isinstance(__builtins__, dict) else __builtins__.range  # ours shadows it


def cartesian_prod(*tensors: Any) -> Any:
    """All tuples of one element from each vector, a row a tuple.

    >>> import tidu as torch
    >>> torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4])).tolist()
    [[1, 3], [1, 4], [2, 3], [2, 4]]
    """
    given = elements(tensors)
    for t in given:
        if t.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(t.shape)}")
    if len(given) == 1:
        return given[0]
    from .joining import stack

    return stack([grid.flatten() for grid in _meshgrid(given, "ij")], 1)


def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """All combinations of `r` elements of a vector, a row each.

    >>> import tidu as torch
    >>> torch.combinations(torch.tensor([1, 2, 3])).tolist()
    [[1, 2], [1, 3], [2, 3]]
    """
    if input.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return made(np.empty(0, input.dtype.np))
    from .joining import stack

    if r == 2:
        columns: Any = np.triu_indices(input.shape[0], 0 if with_replacement else 1)
    else:
        columns = np.array(list(_GRIDS[with_replacement](_range(input.shape[0]), r)), np.int64).reshape(-1, r).T
    return stack([input[made(column)] for column in columns], 1)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """Powers of a vector's elements as columns, falling unless `increasing`.

    >>> import tidu as torch
    >>> torch.vander(torch.tensor([2, 3]), 3).tolist()
    [[4, 2, 1], [9, 3, 1]]
    """
    if x.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = x.shape[0] if N is None else N
    if n < 0:
        raise RuntimeError("N must be non-negative.")
    from .joining import stack

    columns = [made(np.ones(x.shape[0], x.dtype.np))]
    while len(columns) < n:
        columns.append(x if len(columns) == 1 else columns[-1] * x)
    if not n:
        return made(np.empty((x.shape[0], 0), x.dtype.np))
    columns = columns[:n]
    return stack(columns if increasing else columns[::-1], 1)
