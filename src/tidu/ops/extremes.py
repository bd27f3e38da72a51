"""Extremes: max, min, amax, amin, their places, all and any.

Where several elements are the greatest, `max()`, `amax` and `amin` share the gradient among them, and `max(dim)` gives it
to the one whose index it returns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..arrays.select import take_along
from ..core.op import Op
from ..core.tensor import Tensor
from ..naming import given_out, return_type
from ..shapes import normalize_dims
from ._hot import hot
from .reduction import EXACT, Ints, check_dims, expand_back, into, packed, restore
from .reduction import sum as sum_op

__all__ = [
    "all", "amax", "amin", "aminmax", "any", "argmax", "argmin", "count_nonzero", "max", "min",
]  # fmt: skip
METHODS = "*"

max_result, min_result = return_type("max", "values", "indices"), return_type("min", "values", "indices")
aminmax_result = return_type("aminmax", "min", "max")


# ------------------------------------------------------------------ over several dims, ties sharing


def _extreme(ufunc: Any) -> Any:
    def forward(input: Any, dim: Ints, keepdim: bool) -> Any:
        return packed(ufunc.reduce(input, dim, None, None, keepdim))

    return forward


def _ties(input: Any, out: Any, dim: Ints, keepdim: bool) -> Any:
    """1 at the greatest elements, shared among them; NaN all over where the greatest is NaN."""
    same = input == expand_back(out, tuple(input.shape), dim, keepdim)
    if not isinstance(input, Tensor):
        dt = input.dtype if input.dtype.kind in "fVc" else np.float32
        mask = same.astype(dt)
        return mask / np.add.reduce(mask, dim, None, None, True)
    mask = same.to(input.dtype)
    return mask / sum_op(mask, dim, True) if dim else mask


def _ties_of_all(input: Any, out: Any, dim: Ints, keepdim: bool) -> Any:
    """The same for the greatest of all: NaNs share it, and where none is equal any more (the input was written), 0."""
    value = expand_back(out, tuple(input.shape), dim, keepdim)
    same = (input == value) | ((input != input) & (value != value))
    if not isinstance(input, Tensor):
        mask = same.astype(input.dtype if input.dtype.kind in "fVc" else np.float32)
        return mask / np.maximum(np.add.reduce(mask, dim, None, None, True), 1).astype(mask.dtype)
    mask = same.to(input.dtype)
    return mask / sum_op(mask, dim, True).clamp(min=1) if dim else mask


def _shared(name: str, ufunc: Any, node: str | None = None, ties: Any = _ties) -> Op:
    op = Op(
        name,
        _extreme(ufunc),
        vjp={
            "input": lambda g, input, out, input_shape, dim, keepdim: (
                expand_back(g, input_shape, dim, keepdim) * ties(input, out, dim, keepdim)
            )
        },
        jvp={
            "input": lambda t, input, out, dim, keepdim: (
                sum_op(t * ties(input, out, dim, keepdim), dim, keepdim) if dim else t
            )
        },
        node=node,
        out_arg=False,
    )
    hot(op.call)
    return op


_amax, _amin = _shared("amax", np.maximum), _shared("amin", np.minimum)
_max_all = _shared("max_all", np.maximum, "MaxBackward1", _ties_of_all)
_min_all = _shared("min_all", np.minimum, "MinBackward1", _ties_of_all)


def _refuse_complex(x: Any, kernel: str) -> None:
    if x.dtype.is_complex:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{x.dtype.legacy}'")


_SPECIFY = "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument."


def _am(name: str, op: Op, kernel: str, input: Any, dim: Any, keepdim: bool, out: Any) -> Any:
    if isinstance(out, Tensor) and out.dtype is not input.dtype:
        raise RuntimeError(
            f"Expected the dtype for input and out to match, but got {input.dtype.legacy} for input's dtype and "
            f"{out.dtype.legacy} for out's dtype."
        )
    dims = normalize_dims(dim, input.ndim)
    if input.numel() == 0:
        given = (dim,) if isinstance(dim, int) else tuple(dim or ())
        if not given:
            raise RuntimeError(name + _SPECIFY)
        for d in given:
            if input.shape[d] == 0:
                raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size.")
    _refuse_complex(input, kernel)
    r = op.call(input, dims, keepdim)
    return r if out is None else into(name, out, r)


def amax(input: Any, dim: Any = (), keepdim: bool = False, *, out: Any = None) -> Any:
    """The greatest elements over some dimensions; ties share the gradient."""
    return _am("amax", _amax, "max_values_cpu", input, dim, keepdim, out)


def amin(input: Any, dim: Any = (), keepdim: bool = False, *, out: Any = None) -> Any:
    """The least elements over some dimensions; ties share the gradient."""
    return _am("amin", _amin, "min_values_cpu", input, dim, keepdim, out)


_aminmax = Op(
    "aminmax",
    lambda input, dim, keepdim: (_extreme(np.minimum)(input, dim, keepdim), _extreme(np.maximum)(input, dim, keepdim)),
    vjp={
        "input": lambda g0, g1, input, out0, out1, input_shape, dim, keepdim: (
            expand_back(g0, input_shape, dim, keepdim) * _ties(input, out0, dim, keepdim)
            + expand_back(g1, input_shape, dim, keepdim) * _ties(input, out1, dim, keepdim)
        )
    },
    jvp={
        "input": lambda t, input, out0, out1, dim, keepdim: tuple(
            sum_op(t * _ties(input, o, dim, keepdim), dim, keepdim) if dim else t for o in (out0, out1)
        )
    },
    outputs=2,
    result=aminmax_result,
    out_arg=False,
)


def aminmax(input: Any, *, dim: int | None = None, keepdim: bool = False, out: Any = None) -> Any:
    """The least and the greatest, over all elements or along a dimension."""
    _refuse_complex(input, "aminmax_cpu")
    if dim is None:
        if input.numel() == 0:
            raise RuntimeError(
                "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
            )
        dims: Any = tuple(range(input.ndim))
    else:
        dims = normalize_dims(dim, input.ndim)
        for d in dims:
            if input.shape[d] == 0:
                raise IndexError(f"aminmax: Expected reduction dim {d} to have non-zero size.")
    r = _aminmax.call(input, dims, keepdim)
    if out is not None:
        for o, v in zip(out, r, strict=True):
            into("aminmax", o, v, exact=EXACT)
        return given_out(aminmax_result)(*out)
    return r


# ------------------------------------------------------------------ along one dim, with the index


def argextreme(a: Any, dim: int, largest: bool) -> Any:
    """The index of the first greatest (least) element along a dimension, NaN before all others."""
    return np.asarray((np.argmax if largest else np.argmin)(a, axis=dim))


def _with_index(largest: bool) -> Any:
    def forward(input: Any, dim: int, keepdim: bool) -> Any:
        if not input.ndim:
            return input.copy(), np.zeros((), np.int64)
        return picked_at(input, argextreme(input, dim, largest), dim, keepdim)

    return forward


def picked_at(input: Any, where: Any, dim: int, keepdim: bool) -> Any:
    """The values at one index a slice, and those indices."""
    wide = where.reshape((*where.shape[:dim], 1, *where.shape[dim:]))
    if input.flags.c_contiguous:
        values = take_along(input, dim, wide)
    else:
        values = np.ascontiguousarray(np.take_along_axis(input, wide, dim))
    return (values, wide) if keepdim else (values.reshape(where.shape), where)


def last(a: Any, dim: int) -> Any:
    """The dimension as the last one."""
    return a if dim == a.ndim - 1 else np.moveaxis(a, dim, -1)


def kth_place(a: Any, k: int) -> Any:
    """Where along the last dimension the first element is that would stand k-th in order, NaN after all others."""
    value = np.partition(a, k, -1)[..., k : k + 1]
    found = a == value
    if a.dtype.kind == "f" and (odd := np.isnan(value)).any():
        found |= np.isnan(a) & odd
    return found.argmax(-1)


def value_backward(g: Any, shape: Ints, dim: int, indices: Any, keepdim: bool) -> Any:
    """The cotangent of values picked by index along a dimension."""
    from .gather import scatter_values

    if not shape:
        return g
    dims = (dim,)
    return scatter_values(restore(g, shape, dims, keepdim), shape, dim, restore(indices, shape, dims, keepdim))


def value_forward(t: Any, dim: int, indices: Any, keepdim: bool) -> Any:
    """The tangent of values picked by index along a dimension."""
    if not t.ndim:
        return t
    shape = tuple(t.shape)
    r = t.gather(dim, restore(indices, shape, (dim,), keepdim))
    return r if keepdim else r.squeeze(dim)


def picked(name: str, forward: Any, node: str, result: Any) -> Op:
    """An op that returns values picked along a dimension, and their indices."""
    return Op(
        name,
        forward,
        vjp={"input": lambda g0, input_shape, dim, out1, keepdim: value_backward(g0, input_shape, dim, out1, keepdim)},
        jvp={"input": lambda t, dim, out1, keepdim: (value_forward(t, dim, out1, keepdim), None)},
        outputs=2,
        nondiff=(1,),
        node=node,
        result=result,
        out_arg=False,
    )


_max_dim = picked("max_dim", _with_index(True), "MaxBackward0", max_result)
_min_dim = picked("min_dim", _with_index(False), "MinBackward0", min_result)


def into_pair(name: str, out: Any, r: Any, result: Any) -> Any:
    for o, v in zip(out, r, strict=True):
        into(name, o, v)
    return given_out(result)(*out)


def _maximal(
    name: str, input: Any, dim: Any, keepdim: bool, out: Any, all_op: Op, dim_op: Op, pair: str, result: Any
) -> Any:
    if isinstance(dim, Tensor):  # max(input, other)
        from . import comparison

        return getattr(comparison, pair)(input, dim, out=out)
    if dim is None:
        if input.numel() == 0:
            raise RuntimeError(name + _SPECIFY)
        _refuse_complex(input, name + "_all")
        r = all_op.call(input, tuple(range(input.ndim)), False)
        return r if out is None else into(name, out, r)
    d = check_dims(name, dim, input.ndim or 1, one=True)[0]
    if input.ndim and input.shape[d] == 0:
        raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size.")
    if input.dtype.is_complex:
        raise RuntimeError(f"{name}(): does not support complex input")
    r = dim_op.call(input, d, keepdim)
    return r if out is None else into_pair(name, out, r, result)


def max(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None, out: Any = None) -> Any:
    """max(input): the greatest element. max(input, dim): the greatest along a dimension, and where. max(input, other):
    the greater of two, elementwise."""
    dim = other if other is not None else dim
    return _maximal("max", input, dim, keepdim, out, _max_all, _max_dim, "maximum", max_result)


def min(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None, out: Any = None) -> Any:
    """min(input): the least element. min(input, dim): the least along a dimension, and where. min(input, other): the
    lesser of two, elementwise."""
    dim = other if other is not None else dim
    return _maximal("min", input, dim, keepdim, out, _min_all, _min_dim, "minimum", min_result)


def _arg(largest: bool) -> Any:
    def forward(input: Any, dim: int | None, keepdim: bool) -> Any:
        if dim is None:
            r = argextreme(input.reshape(-1), 0, largest)
            return r.reshape((1,) * input.ndim) if keepdim else r
        if not input.ndim:
            return np.zeros((), np.int64)
        r = argextreme(input, dim, largest)
        return np.expand_dims(r, dim) if keepdim else r

    return forward


_argmax, _argmin = Op("argmax", _arg(True), out_arg=False), Op("argmin", _arg(False), out_arg=False)


def _place(name: str, op: Op, input: Any, dim: Any, keepdim: bool, out: Any) -> Any:
    if dim is not None and not hasattr(dim, "__index__"):
        raise TypeError(f"{name}() takes one dimension")
    if input.dtype is dtypes.bool_:
        raise RuntimeError(f"{name}(): does not support bool input")
    if input.dtype.is_complex:
        raise RuntimeError(f"{name}(): does not support complex input")
    if dim is None:
        if input.numel() == 0:
            raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
    else:
        dim = check_dims(name, dim, input.ndim or 1, one=True)[0]
        if input.ndim and input.shape[dim] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {dim} to have non-zero size.")
    r = op.call(input, dim, keepdim)
    return r if out is None else into(name, out, r, exact=EXACT)


def argmax(input: Any, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The index of the greatest element, among all or along a dimension."""
    return _place("argmax", _argmax, input, dim, keepdim, out)


def argmin(input: Any, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The index of the least element, among all or along a dimension."""
    return _place("argmin", _argmin, input, dim, keepdim, out)


# ------------------------------------------------------------------ truth


def _truth(ufunc: Any) -> Any:
    def forward(input: Any, dim: Ints, keepdim: bool) -> Any:
        r = packed(ufunc.reduce(input.astype(np.bool_), dim, None, None, keepdim))
        return r.astype(np.uint8) if input.dtype == np.uint8 else r

    return forward


_all, _any = Op("all", _truth(np.logical_and), out_arg=False), Op("any", _truth(np.logical_or), out_arg=False)


def all(input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """Whether all elements are true, over all or over some dimensions."""
    if isinstance(out, Tensor) and out.dtype.name not in ("bool", "uint8"):
        raise RuntimeError(f"all only supports bool tensor for result, got: {out.dtype.legacy}")
    r = _all.call(input, _truth_dims(dim, input.ndim), keepdim)
    return r if out is None else into("all", out, r)


def any(input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """Whether any element is true, over all or over some dimensions."""
    if isinstance(out, Tensor) and out.dtype.name not in ("bool", "uint8"):
        raise RuntimeError(f"any only supports bool tensor for result, got: {out.dtype.legacy}")
    r = _any.call(input, _truth_dims(dim, input.ndim), keepdim)
    return r if out is None else into("any", out, r)


def _truth_dims(dim: Any, ndim: int) -> Ints:
    return () if isinstance(dim, (tuple, list)) and not dim else normalize_dims(dim, ndim)


_count = Op(
    "count_nonzero", lambda input, dim: packed(np.asarray(np.count_nonzero(input, axis=dim), np.int64)), out_arg=False
)


def count_nonzero(input: Any, dim: Any = None) -> Any:
    """How many elements are not zero, among all or over some dimensions."""
    dims = normalize_dims(dim, input.ndim)
    return _count.call(input, dims if input.ndim else ())
