"""Mixed dtypes: PyTorch's rule by categories, which NumPy's is not.

Tensors with dimensions decide; a 0-d tensor counts only when its category (bool < integer < float < complex) is
higher, a Python number only when its category is higher still.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import copysign
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays.half import converted
from ..dtypes import dtype, promote_types
from .tensor import Tensor


class Policy:
    """What an elementwise op makes of the common dtype of its inputs."""

    __slots__ = ("check", "floats", "integers", "plain")

    def __init__(
        self,
        floats: bool = False,
        check: Callable[[str, dtype, list[Any]], None] | None = None,
        plain: bool = True,
        integers: str | None = None,
    ) -> None:
        self.floats = floats  # integers and bools become the default floating type
        self.check = check  # raises for what the op refuses: (op's name, common dtype, inputs)
        self.plain = plain  # tensors of float32 or float64 may take the fast path
        # the kinds (b, i, u) of which tensors of one type may too; all where nothing is refused and integers stay
        self.integers = ("biu" if not floats and check is None else "") if integers is None else integers


SAME = Policy()
FLOATS = Policy(floats=True)

Number = (bool, int, float, complex)


def result_type(values: Iterable[Any]) -> dtype:
    """The common dtype of tensors, arrays and numbers. Source: torch.result_type."""
    best: list[dtype | None] = [None, None, None]  # with dimensions, 0-d, numbers
    values = list(values)
    arrays_only = not any(isinstance(v, Tensor) for v in values)
    for v in values:
        if isinstance(v, Tensor):
            d, rank = v.dtype, 0 if v.ndim else 1
        elif isinstance(v, np.ndarray) or (arrays_only and isinstance(v, np.generic)):
            d, rank = dtypes.from_numpy(v.dtype), 0 if v.ndim else 1
        else:
            d, rank = dtypes.of_scalar(v), 2
        had = best[rank]
        best[rank] = d if had is None else promote_types(had, d)
    out: dtype | None = None
    for d in best:  # type: ignore[assignment]
        if d is None:
            continue
        if out is None:
            out = d
        elif d.category > out.category:
            out = _raise_category(out, d)
    assert out is not None
    return out


def _raise_category(low: dtype, high: dtype) -> dtype:
    if high.category == dtypes.COMPLEX and low.category == dtypes.FLOATING:
        return low.to_complex()
    return high


def common(op_name: str, policy: Policy, values: list[Any]) -> dtype:
    """The dtype an elementwise op computes in."""
    if values[0] is None:
        raise TypeError(f"{op_name}(): argument 'input' (position 1) must be Tensor, not NoneType")
    d = result_type(v for v in values if v is not None)
    if policy.check is not None:
        policy.check(op_name, d, values)
    if policy.floats and d.category < dtypes.FLOATING:
        d = dtypes.get_default_dtype()
    return d


def as_array(x: Any, d: dtype, np_dtype: Any) -> Any:
    """A tensor, array or number as an array of a given dtype."""
    a = x._a if isinstance(x, Tensor) else x
    if isinstance(a, np.ndarray):
        return a if a.dtype == np_dtype else converted(a, np_dtype)
    if isinstance(a, np.generic):
        return np.asarray(a, np_dtype)
    if type(a) is int and d.category == dtypes.INTEGRAL:
        return wrapped(a, np_dtype)
    if d is dtypes.float32 or d is dtypes.float64:
        return scalar_of(a, np_dtype)
    return number(a, d)


def wrapped(value: int, np_dtype: Any) -> np.ndarray[Any, Any]:
    """An integer beside a tensor: 64 bits, of which the tensor's type keeps its own."""
    try:
        return np.array(value, np_dtype)
    except OverflowError:
        pass
    if not -(2**63) <= value < 2**64:
        raise OverflowError("int too big to convert")
    return np.array(value, np.uint64 if value >= 2**63 else np.int64).astype(np_dtype)


def number(value: Any, d: dtype) -> np.ndarray[Any, Any]:
    """A Python number as a 0-d array; RuntimeError when it does not fit."""
    try:
        if d.category == dtypes.BOOL:
            return np.array(bool(value))
        return np.array(value, d.np)
    except OverflowError:
        if d.category == dtypes.FLOATING:
            return np.array(float(value), d.np)
        word = _C_NAMES.get(d.name, d.name)
        raise RuntimeError(f"value cannot be converted to type {word} without overflow") from None


_C_NAMES = {"int8": "int8_t", "uint8": "uint8_t", "int16": "int16_t", "int32": "int", "int64": "int64_t"}

scalars32: dict[float, np.ndarray[Any, Any]] = {}
scalars64: dict[float, np.ndarray[Any, Any]] = {}


_zeros = {(t is np.float32, sign < 0): np.array(sign * 0.0, t) for t in (np.float32, np.float64) for sign in (1, -1)}
for _zero in _zeros.values():
    _zero.flags.writeable = False


def scalar_of(value: float, np_dtype: Any) -> np.ndarray[Any, Any]:
    """A Python number as a 0-d array of float32 or float64, kept: NumPy takes an array of its dtype faster."""
    if value == 0.0:  # 0.0 and -0.0 would be one key
        return _zeros[np_dtype.itemsize == 4, copysign(1.0, value) < 0]
    table = scalars32 if np_dtype.itemsize == 4 else scalars64
    got = table.get(value)
    if got is None:
        if type(value) is int and not -(2**63) <= value < 2**64:
            raise OverflowError("int too big to convert")
        got = np.array(value, np_dtype)
        got.flags.writeable = False
        if len(table) > 4096:
            table.clear()
        table[value] = got
    return got
