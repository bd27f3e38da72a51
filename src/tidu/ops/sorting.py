"""Order along a dimension: sort, topk, kthvalue, mode; and sets of elements: unique, unique_consecutive, isin.

Equal elements keep their order, NaN is the greatest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays.select import take_along
from ..core.op import Op
from ..core.promote import Number, result_type
from ..core.tensor import Tensor
from ..dtypes import from_numpy
from ..naming import return_type
from ..shapes import normalize_dim
from ._arguments import numpy_names
from ._dtypes import apart_out, exact_out
from .extremes import kth_place, last, picked, picked_at
from .gather import gather, scatter_values
from .storage import empty_as, repeats

__all__ = [
    "argsort", "isin", "kthvalue", "mode", "msort", "sort", "topk", "unique", "unique_consecutive",
]  # fmt: skip
METHODS = "* -isin"

Ints = tuple[int, ...]
_ONE_BY_ONE = 8  # elements up to which finding one after another pays
_PARTITION = 256  # from this length on, finding the k greatest before sorting them pays
_QUICK = range(64, 4097)  # the lengths for which trying an unstable sort first pays


def _comparable(a: Any) -> Any:
    """The array as one that NumPy sorts: bfloat16 as float32."""
    return a.astype(np.float32) if a.dtype.kind == "V" else a


def order_of(a: Any, descending: bool) -> Any:
    a = _comparable(a)
    if not descending:
        return _ascending(a)
    return (a.shape[-1] - 1 - _ascending(a[..., ::-1]))[..., ::-1]


def _ascending(a: Any) -> Any:
    n = a.shape[-1]
    if not (a.dtype.kind == "f" and a.dtype.itemsize > 2 and n in _QUICK and a.size):
        return a.argsort(-1, "stable")
    rows = a.reshape(-1, n)
    order = rows.argsort(-1)  # not stable but much faster; without equal elements that is all the same
    values = take_last(rows, order)
    unsure = (values[:, 1:] == values[:, :-1]).any(-1) | np.isnan(values[:, -2])
    if unsure.any():
        order[unsure] = rows[unsure].argsort(-1, "stable")
    return order.reshape(a.shape)


def to_end(a: Any, d: int) -> Any:
    """The dimension as the last one, and back again."""
    return a if d == a.ndim - 1 else a.swapaxes(d, -1)


def take_last(a: Any, at: Any) -> Any:
    if a.ndim == 1:
        return a.take(at)
    if a.flags.c_contiguous:
        return take_along(a, a.ndim - 1, at)
    if a.ndim == 2:
        return a[np.arange(a.shape[0])[:, None], at]
    return np.take_along_axis(a, at, -1)


def _laid_out_like(a: Any, like: Any) -> Any:
    """The array with the order of dimensions in memory that another one has."""
    if like.flags.c_contiguous:
        return np.ascontiguousarray(a)
    out = empty_as(like, a.dtype) if repeats(like) else np.empty_like(like, dtype=a.dtype)
    out[...] = a
    return out


# ------------------------------------------------------------------ sort


def _sort(input: Any, dim: int = -1, descending: bool = False) -> Any:
    d = normalize_dim(dim, input.ndim)
    if input.dtype.kind == "c":
        raise RuntimeError(" Sort does not support complex dtypes on CPU")
    if not input.ndim:
        return input.copy(), np.zeros((), np.int64)
    a = to_end(input, d)
    order = order_of(a, descending)
    return _laid_out_like(to_end(take_last(a, order), d), input), _laid_out_like(to_end(order, d), input)


def _sort_op(name: str, node: str) -> Any:
    return exact_out(
        Op(
            name,
            _sort,
            vjp={"input": lambda g0, input_shape, dim, out1: scatter_values(g0, input_shape, dim, out1)},
            jvp={"input": lambda t, dim, out1: (gather(t, dim, out1), None)},
            outputs=2,
            nondiff=(1,),
            node=node,
            result=return_type("sort", "values", "indices"),
        ).call
    )


_plain_sort, _stable_sort = _sort_op("sort", "SortBackward0"), _sort_op("sort.stable", "SortBackward1")
_stable_sort.op.name = "sort"


@numpy_names
def sort(input: Any, dim: int = -1, descending: bool = False, stable: bool | None = None, *, out: Any = None) -> Any:
    """The elements in order along a dimension, and the indices they had: (values, indices).

    **Arguments** descending: the greatest first; stable: whether equal elements must keep their order (they always do).

    >>> import tidu as torch
    >>> torch.sort(torch.tensor([3, 1, 2])).indices
    tensor([1, 2, 0])
    """
    if not isinstance(dim, int):
        raise TypeError(
            f"sort() received an invalid combination of arguments - got ({type(dim).__name__}), but expected one of:\n "
            "* (*, bool stable, int dim = -1, bool descending = False)\n * (int dim = -1, bool descending = False)\n"
        )
    return (_plain_sort if stable is None else _stable_sort)(input, dim, descending, out=out)


sort.op = _plain_sort.op


@numpy_names
def argsort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The indices that put the elements in order along a dimension."""
    return _argsort(input, dim, descending)


_argsort = Op("argsort", lambda input, dim, descending: _sort(input, dim, descending)[1], out_arg=False).call


def msort(input: Any, *, out: Any = None) -> Any:
    """The elements in order along the first dimension."""
    values = sort(input, 0)[0]
    if out is None:
        return values
    from .reduction import into

    return into("msort", out, values)


# ------------------------------------------------------------------ topk


def _topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The k greatest (or smallest) elements along a dimension in order, and their indices: (values, indices).

    Which of several equal elements are among them is not defined.
    """
    d = normalize_dim(dim, input.ndim)
    n = input.shape[d] if input.ndim else 1
    if not 0 <= k <= n:
        raise RuntimeError("selected index k out of range")
    if input.dtype.kind in "cb":
        word = "complex" if input.dtype.kind == "c" else "bool"
        space = " " if word == "complex" else ""
        raise RuntimeError(f"{space}topk does not support {word} dtypes on CPU")
    if not input.ndim:
        return input.copy(), np.zeros((), np.int64)
    a = to_end(input, d)
    c = _comparable(a)
    if (
        0 < k <= _ONE_BY_ONE
        and a.ndim > 1
        and c.size >= 16 * _PARTITION
        and (found := _first_of_all(c, k, largest)) is not None
    ):
        order = found
    elif a.ndim == 1 and n >= _PARTITION and 4 * k <= n and k:
        some = _outermost(c, k, largest)
        order = some[order_of(c[some], largest)[:k]]
    elif n >= _PARTITION and 4 * k <= n and k:
        some = np.argpartition(c, n - k, -1)[..., n - k :] if largest else np.argpartition(c, k - 1, -1)[..., :k]
        some.sort(-1)  # so that equal elements keep their order
        order = take_last(some, order_of(take_last(c, some), largest))
    else:
        order = order_of(c, largest)[..., :k]
    values = to_end(take_last(a, order), d)
    order = to_end(order, d)
    if order.base is not None or not order.flags.c_contiguous:  # not a part of more
        order = order.copy()
    return np.ascontiguousarray(values), order


def _first_of_all(c: Any, k: int, largest: bool) -> Any:
    """The indices of the k greatest (or smallest) elements in order, one after another; None where that may be wrong."""
    rows = c.reshape(-1, c.shape[-1]).copy()
    info: Any = np.finfo(rows.dtype) if rows.dtype.kind == "f" else np.iinfo(rows.dtype)
    taken = info.min if largest else info.max
    order = np.empty((len(rows), k), np.int64)
    each = np.arange(len(rows))
    for i in range(k):
        order[:, i] = at = rows.argmax(-1) if largest else rows.argmin(-1)
        seen = rows[each, at]
        rows[each, at] = taken
        if not (seen > taken if largest else seen < taken).all():
            return None
    return order.reshape(*c.shape[:-1], k)


def _outermost(c: Any, k: int, largest: bool) -> Any:
    """The indices of the k greatest (or smallest) elements of a vector, and of those equal to the last of them."""
    if largest:
        bound = np.partition(c, len(c) - k)[len(c) - k]
        return np.flatnonzero(~(c < bound)) if bound == bound else np.arange(len(c))
    bound = np.partition(c, k - 1)[k - 1]
    return np.flatnonzero(c <= bound) if bound == bound else np.arange(len(c))


topk = exact_out(
    Op(
        "topk",
        _topk,
        vjp={"input": lambda g0, input_shape, dim, out1: scatter_values(g0, input_shape, dim, out1)},
        jvp={"input": lambda t, dim, out1: (gather(t, dim, out1), None)},
        outputs=2,
        nondiff=(1,),
        result=return_type("topk", "values", "indices"),
    ).call
)


# ------------------------------------------------------------------ one value a slice


def _check_slices(name: str, input: Any, dim: int) -> int:
    d = normalize_dim(dim, input.ndim)
    if input.ndim and not input.shape[d]:
        raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size.")
    return d


def _kthvalue(input: Any, k: int, dim: int, keepdim: bool) -> Any:
    d = _check_slices("kthvalue", input, dim)
    n = input.shape[d] if input.ndim else 1
    if not 1 <= k <= n:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {d}")
    if input.dtype.kind in "cb":
        raise NotImplementedError(f"\"kthvalue_cpu\" not implemented for '{from_numpy(input.dtype).legacy}'")
    if not input.ndim:
        return input.copy(), np.zeros((), np.int64)
    return picked_at(input, kth_place(_comparable(last(input, d)), k - 1), d, keepdim)


def _mode(input: Any, dim: int, keepdim: bool) -> Any:
    d = _check_slices("mode", input, dim)
    if input.dtype.kind == "c":
        raise NotImplementedError(f"\"mode_cpu\" not implemented for '{from_numpy(input.dtype).legacy}'")
    if not input.ndim:
        return input.copy(), np.zeros((), np.int64)
    a = last(_comparable(input), d)
    order = order_of(a, False)
    a = np.take_along_axis(a, order, -1)
    places = np.arange(a.shape[-1])
    starts = np.zeros(a.shape, np.int64)
    starts[..., 1:] = np.where(a[..., 1:] != a[..., :-1], places[1:], 0)
    run = places - np.maximum.accumulate(starts, -1)  # how many equal elements stand before each
    end = np.argmax(run, -1)  # of the first of the longest runs
    return picked_at(input, np.take_along_axis(order, end[..., None], -1)[..., 0], d, keepdim)


_kthvalue_op = picked("kthvalue", _kthvalue, "KthvalueBackward0", return_type("kthvalue", "values", "indices"))
_mode_op = picked("mode", _mode, "ModeBackward0", return_type("mode", "values", "indices"))
_kthvalue_call, _mode_call = apart_out(exact_out(_kthvalue_op.call)), apart_out(exact_out(_mode_op.call))


@numpy_names
def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False, *, out: Any = None) -> Any:
    """The k-th smallest element along a dimension, and its index: (values, indices)."""
    return _kthvalue_call(input, k, normalize_dim(dim, input.ndim), keepdim, out=out)


@numpy_names
def mode(input: Any, dim: int = -1, keepdim: bool = False, *, out: Any = None) -> Any:
    """The most frequent element along a dimension (the smallest of several) and where it stands last: (values,
    indices)."""
    return _mode_call(input, normalize_dim(dim, input.ndim), keepdim, out=out)


kthvalue.op, mode.op = _kthvalue_op, _mode_op


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
    """The first of each run of equal elements (or slices of a dimension)."""
    return _wanted(_consecutive_op(input, dim, return_inverse or return_counts), return_inverse, return_counts)


# ------------------------------------------------------------------ isin

_PAIRS = 1 << 13  # up to which all are compared


def _isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Any:
    if elements.dtype.kind in "bc" or test_elements.dtype.kind in "bc":
        bad = elements if elements.dtype.kind in "bc" else test_elements
        raise RuntimeError(f"Unsupported input type encountered for isin(): {from_numpy(bad.dtype).legacy}")
    common = dtypes.promote_types(from_numpy(elements.dtype), from_numpy(test_elements.dtype)).np
    if elements.size * test_elements.size <= _PAIRS and elements.dtype == test_elements.dtype:
        found = np.equal.outer(elements, test_elements.reshape(-1)).any(-1)
        return np.asarray(~found if invert else found)
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
    """Whether each element is among `test_elements`; either may be a number."""
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
