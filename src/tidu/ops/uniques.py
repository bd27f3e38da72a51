"""Sets of elements: unique, unique_consecutive, isin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..core.op import Op
from ..core.promote import Number, result_type
from ..core.tensor import Tensor
from ..dtypes import from_numpy
from ..shapes import normalize_dim
from ._names import numpy_names

__all__ = ["isin", "unique", "unique_consecutive"]
METHODS = "unique unique_consecutive"


def _no_derivative(name: str) -> Callable[..., Any]:
    def rule(needs: Any) -> Any:
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return rule


def _runs(a: Any) -> Any:
    """Whether each row differs from the one before it."""
    new = np.ones(a.shape[0], bool)
    if a.shape[0] > 1:
        differs = a[1:] != a[:-1]
        new[1:] = differs if a.ndim == 1 else differs.any(1)
    return new


def _numbered(rows: Any, order: Any) -> tuple[Any, Any, Any]:
    """Of rows in an order in which equal ones stand together: the first of each, the run of each row, run lengths."""
    sorted_rows = rows if order is None else rows[order]
    new = _runs(sorted_rows)
    first = np.flatnonzero(new)
    number = np.cumsum(new) - 1
    inverse = number
    if order is not None:
        inverse = np.empty(len(rows), np.int64)
        inverse[order] = number
    counts = np.diff(np.append(first, len(rows)))
    return sorted_rows[first], inverse.astype(np.int64), counts.astype(np.int64)


def _wide(a: Any) -> Any:
    return a.astype(np.float32) if a.dtype.kind == "V" else a


def _of_elements(input: Any, consecutive: bool, more: bool = True) -> tuple[Any, Any, Any]:
    flat = np.ascontiguousarray(input).reshape(-1)
    if not more and flat.dtype.kind != "V":  # the values alone: sorting them is cheaper than finding their order
        flat = flat if consecutive else np.sort(flat)
        none = np.zeros(0, np.int64)
        return flat[_runs(flat)], none, none
    order = None if consecutive else np.argsort(_wide(flat), kind="stable")
    values, inverse, counts = _numbered(flat, order)
    return values, inverse.reshape(input.shape), counts


def _of_slices(input: Any, dim: int, consecutive: bool) -> tuple[Any, Any, Any]:
    d = normalize_dim(dim, input.ndim)
    if not input.ndim:
        input = input.reshape(1)
    if not input.size:
        if input.shape[d] or sum(n == 0 for n in input.shape) > 1:
            raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
        return input.copy(), np.zeros(0, np.int64), np.zeros(0, np.int64)
    moved = np.moveaxis(input, d, 0)
    rows = np.ascontiguousarray(moved).reshape(moved.shape[0], -1)
    order = None if consecutive else np.lexsort(_wide(rows).T[::-1])
    values, inverse, counts = _numbered(rows, order)
    return np.moveaxis(values.reshape((-1, *moved.shape[1:])), 0, d), inverse, counts


def _check(name: str, input: Any) -> None:
    if input.dtype.kind == "c":
        raise NotImplementedError(f"\"{name}\" not implemented for '{from_numpy(input.dtype).legacy}'")


def _unique(input: Any, more: bool) -> Any:
    _check("unique", input)
    return _of_elements(input, False, more)


def _unique_dim(input: Any, dim: int) -> Any:
    _check("unique_dim", input)
    return _of_slices(input, dim, False)


def _unique_consecutive(input: Any, dim: int | None, more: bool) -> Any:
    _check("unique" if dim is None else "unique_dim", input)
    return _of_elements(input, True, more) if dim is None else _of_slices(input, dim, True)


def _op(name: str, forward: Any, node: str) -> Any:
    return Op(name, forward, vjp=_no_derivative(name), outputs=3, nondiff=(1, 2), node=node, out_arg=False).call


_unique_op = _op("_unique2", _unique, "Unique2Backward0")
_unique_dim_op = _op("unique_dim", _unique_dim, "UniqueDimBackward0")
_consecutive_op = _op("unique_consecutive", _unique_consecutive, "UniqueConsecutiveBackward0")


def _wanted(found: Any, return_inverse: bool, return_counts: bool) -> Any:
    got = [found[0]]
    if return_inverse:
        got.append(found[1])
    if return_counts:
        got.append(found[2])
    return got[0] if len(got) == 1 else tuple(got)


@numpy_names
def unique(
    input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The different elements (or slices of a dimension), in order; NaN differs from itself.

    **Arguments** return_inverse: also where each element is among them; return_counts: also how often each appears.
    Source: torch.unique.

    >>> import tidu as torch
    >>> torch.unique(torch.tensor([2, 1, 2]), return_counts=True)
    (tensor([1, 2]), tensor([1, 2]))
    """
    for word, v in (("sorted", sorted), ("return_inverse", return_inverse), ("return_counts", return_counts)):
        if not isinstance(v, bool):
            fn = "_unique2" if dim is None else "unique_dim"
            raise TypeError(f"{fn}(): argument '{word}' must be bool, not {type(v).__name__}")
    more = return_inverse or return_counts
    found = _unique_op(input, more) if dim is None else _unique_dim_op(input, dim)
    return _wanted(found, return_inverse, return_counts)


@numpy_names
def unique_consecutive(
    input: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The first of each run of equal elements (or slices of a dimension). Source: torch.unique_consecutive."""
    return _wanted(_consecutive_op(input, dim, return_inverse or return_counts), return_inverse, return_counts)


# ------------------------------------------------------------------ isin


def _isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Any:
    if elements.dtype.kind in "bc" or test_elements.dtype.kind in "bc":
        bad = elements if elements.dtype.kind in "bc" else test_elements
        raise RuntimeError(f"Unsupported input type encountered for isin(): {from_numpy(bad.dtype).legacy}")
    common = dtypes.promote_types(from_numpy(elements.dtype), from_numpy(test_elements.dtype)).np
    return np.asarray(np.isin(_wide(elements.astype(common)), _wide(test_elements.astype(common)), invert=invert))


_isin_op = Op("isin", _isin, tensors=("elements", "test_elements")).call


def isin(
    elements: Any = None,
    test_elements: Any = None,
    *,
    assume_unique: bool = False,
    invert: bool = False,
    out: Any = None,
    element: Any = None,
    test_element: Any = None,
) -> Any:
    """Whether each element is among `test_elements`; either may be a number. Source: torch.isin."""
    a = elements if element is None else element
    b = test_elements if test_element is None else test_element
    if isinstance(a, Number) and isinstance(b, Number) or a is None or b is None:
        raise TypeError(
            f"isin() received an invalid combination of arguments - got ({type(a).__name__}, {type(b).__name__}), but "
            "expected one of:\n * (Tensor elements, Tensor test_elements, *, bool assume_unique = False, bool invert = "
            "False, Tensor out = None)\n * (Number element, Tensor test_elements, *, bool assume_unique = False, bool "
            "invert = False, Tensor out = None)\n * (Tensor elements, Number test_element, *, bool assume_unique = "
            "False, bool invert = False, Tensor out = None)\n"
        )
    if isinstance(a, Number):
        a = _as_tensor(a, b)
    elif isinstance(b, Number):
        b = _as_tensor(b, a)
    return _isin_op(a, b, assume_unique, invert, out=out)


def _as_tensor(value: Any, other: Tensor) -> Tensor:
    from ..core.tensor import tensor_of

    return tensor_of(np.asarray(value, result_type([other, value]).np))
