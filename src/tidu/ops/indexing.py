"""x[...] and x[...] = v: basic indices as chains of views, tensors of indices and masks as one gather or put.

As in PyTorch, integers, slices, None and Ellipsis are applied first, each as the view op that it is; what remains
are tensors, which index together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.inplace import apply_inplace
from ..core.linear import linear
from ..core.op import Op
from ..core.tensor import Tensor, tensor_of
from .dims import unsqueeze
from .shape import alias
from .windows import select, slice_

__all__ = ["index_put", "index_put_"]
METHODS = "index_put index_put_"

Index = tuple[Any, ...]  # one entry a dimension: an integer or bool array, or None for all of it


def getitem(self: Tensor, key: Any) -> Any:
    """x[key]. Views for integers, slices, None and Ellipsis; a copy for tensors of indices and masks."""
    if key.__class__ is int:
        return _select_first(self, key)
    view, indices = _basic(self, key)
    if indices is not None:
        return index(view, indices)
    return alias(view) if view is self else view


def _select_first(x: Tensor, i: int) -> Any:
    try:
        return select(x, 0, i)
    except IndexError:
        raise _index_error(x, 0, i, 0) from None


def _index_error(x: Any, dim: int, i: int, shown: int) -> IndexError:
    if not x.ndim:
        return IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
            "0-dim tensor to a number"
        )
    return IndexError(f"index {i} is out of bounds for dimension {shown} with size {x.shape[dim]}")


def _basic(x: Tensor, key: Any) -> tuple[Tensor, Index | None]:
    """Apply the basic part of a key; return the view and the tensor indices that are left, if any."""
    keys = key if isinstance(key, tuple) else (key,)
    keys = tuple(_as_index(k) for k in keys)
    taken = sum(_dims_taken(k) for k in keys)
    if taken > x.ndim:
        if not x.ndim:
            raise _index_error(x, 0, 0, 0)
        raise IndexError(f"too many indices for tensor of dimension {x.ndim}")
    view, dim, seen = x, 0, 0
    indices: dict[int, Any] = {}
    for k in keys:
        if k is None:
            view = unsqueeze(view, dim)
            dim += 1
        elif k is Ellipsis:
            dim += x.ndim - taken
            seen += x.ndim - taken
            taken = x.ndim  # a second Ellipsis takes nothing
        elif isinstance(k, slice):
            view = _apply_slice(view, dim, k)
            dim, seen = dim + 1, seen + 1
        elif isinstance(k, int) and not isinstance(k, bool):
            try:
                view = select(view, dim, k)
            except IndexError:
                raise _index_error(view, dim, k, seen) from None
            seen += 1
        elif isinstance(k, bool):
            view = unsqueeze(view, dim)
            indices[dim] = np.array([k])
            dim += 1
        else:
            indices[dim] = k
            dim, seen = dim + max(_dims_taken(k), 1), seen + _dims_taken(k)
            if not k.ndim:  # a 0-d mask
                view = unsqueeze(view, dim - 1)
                indices[dim - 1] = k.reshape(1)
    if not indices:
        return view, None
    return view, tuple(indices.get(d) for d in range(max(indices) + 1))


def _dims_taken(k: Any) -> int:
    if k is None or k is Ellipsis or isinstance(k, bool):
        return 0
    if isinstance(k, np.ndarray):
        return k.ndim if k.dtype == np.bool_ else 1
    return 1


def _as_index(k: Any) -> Any:
    """One entry of a key: an int, slice, None, Ellipsis, bool, or an array of integers or bools."""
    if k is None or k is Ellipsis or isinstance(k, (int, slice)):
        return k
    if isinstance(k, Tensor):
        a = k._a
    elif isinstance(k, (np.ndarray, np.generic)):
        a = np.asarray(k)
    elif isinstance(k, (list, tuple, range)):
        a = np.asarray([_plain(v) for v in k])
        if a.size == 0:
            a = a.astype(np.int64)
    elif hasattr(k, "__index__"):
        return k.__index__()
    else:
        raise TypeError(
            f"only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got "
            f"{type(k).__name__})"
        )
    if a.dtype.kind == "b":
        return a
    if a.dtype == np.uint8 and isinstance(k, Tensor):
        return a.astype(np.bool_)
    if a.dtype.kind not in "iu":
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    return int(a) if not a.ndim else a


def _plain(v: Any) -> Any:
    return v._a if isinstance(v, Tensor) else v


def _apply_slice(x: Tensor, dim: int, s: slice) -> Tensor:
    if s.start is None and s.stop is None and s.step is None:
        return x
    step = 1 if s.step is None else _integer(s.step)
    if step <= 0:
        raise ValueError("step must be greater than zero")
    start = None if s.start is None else _integer(s.start)
    stop = None if s.stop is None else _integer(s.stop)
    first, last, _ = slice(start, stop, step).indices(x.shape[dim])
    if step == 1 and first == 0 and last == x.shape[dim]:
        return x
    return slice_(x, dim, first, max(last, first), step)  # type: ignore[no-any-return]


def _integer(v: Any) -> int:
    if isinstance(v, Tensor):
        return int(v.item())  # type: ignore[attr-defined]
    if not hasattr(v, "__index__"):
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    return int(v.__index__())


# ------------------------------------------------------------------ tensors of indices


def numpy_index(indices: Index, shape: Any) -> tuple[Any, ...]:
    """The indices as NumPy takes them, checked against the shape."""
    at = 0
    full: list[Any] = []
    for k in indices:
        if k is None:
            full.append(slice(None))
            at += 1
            continue
        if k.dtype == np.bool_:
            for i, n in enumerate(k.shape):
                if n != shape[at + i]:
                    raise IndexError(
                        f"The shape of the mask {list(k.shape)} at index {i} does not match the shape of the indexed "
                        f"tensor {list(shape)} at index {at + i}"
                    )
            at += k.ndim
        else:
            n = shape[at]
            if k.size and ((k < -n).any() or (k >= n).any()):
                bad = int(k[(k < -n) | (k >= n)].flat[0])
                raise IndexError(f"index {bad} is out of bounds for dimension {at} with size {n}")
            at += 1
        full.append(k)
    _check_broadcast([k.nonzero()[0] if k.dtype == np.bool_ else k for k in indices if k is not None])
    return tuple(full)


def _check_broadcast(ks: list[Any]) -> None:
    try:
        np.broadcast_shapes(*[k.shape for k in ks])
    except ValueError:
        raise IndexError(
            "shape mismatch: indexing tensors could not be broadcast together with shapes "
            + ", ".join(str(list(k.shape)) for k in ks)
        ) from None


def _index(input: Any, indices: Index) -> Any:
    r = input[numpy_index(indices, input.shape)]
    return r if isinstance(r, np.ndarray) else np.asarray(r)


def _index_backward(input: Any, shape: tuple[int, ...], indices: Index) -> Any:
    out = np.zeros(shape, input.dtype)
    accumulate_at(out, numpy_index(indices, shape), input)
    return out


def accumulate_at(out: Any, key: tuple[Any, ...], values: Any) -> None:
    """out[key] += values, where a place named several times gets the sum."""
    if all(isinstance(k, slice) or k.dtype == np.bool_ for k in key) and sum(not isinstance(k, slice) for k in key) == 1:
        out[key] += values
        return
    if not isinstance(key[0], slice) and len(key) == 1 and np.shape(values) == key[0].shape + out.shape[1:]:
        from ..arrays.gather import add_rows

        out += add_rows(out.shape[0], key[0], values)
        return
    np.add.at(out, key, values)


index = linear(
    "index", _index, lambda g, input_shape, indices: index_adjoint(g, input_shape, indices), out_arg=False
)  # fmt: skip
index_adjoint = linear(
    "index_backward", _index_backward, lambda g, indices: index(g, indices), node="IndexPutBackward0", out_arg=False
)  # fmt: skip


# ------------------------------------------------------------------ writing


def _index_put(input: Any, indices: Index, values: Any, accumulate: bool = False) -> Any:
    out = input.copy()
    key = numpy_index(indices, input.shape)
    values = values.astype(input.dtype) if values.dtype != input.dtype else values
    target = out[key].shape
    if values.shape != target:
        try:
            values = np.broadcast_to(values, target)
        except ValueError:
            raise RuntimeError(
                f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing result of "
                f"shape {list(target)}"
            ) from None
    if accumulate:
        accumulate_at(out, key, values)
    else:
        out[key] = values
    return out


def _index_put_values(g: Any, indices: Index, values_shape: tuple[int, ...]) -> Any:
    from ..core.broadcast import sum_to

    return sum_to(index(g, indices), values_shape)


_put = Op(
    "index_put",
    _index_put,
    vjp={
        "input": lambda g, indices, accumulate: g if accumulate else clear(g, indices),
        "values": _index_put_values,
    },
    jvp="linear",
    tensors=("input", "values"),
    out_arg=False,
)
clear = linear(
    "index_clear",
    lambda input, indices: _index_put(input, indices, np.zeros((), input.dtype)),
    lambda g, indices: clear(g, indices),
    node="IndexPutBackward0",
    out_arg=False,
)


def _tensor_indices(input: Any, indices: Any) -> Index:
    return tuple(None if k is None else _at_least_1d(_as_index(k)) for k in indices)


def _at_least_1d(k: Any) -> Any:
    return np.asarray(k) if isinstance(k, int) else k


def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Any:
    """A copy of `input` with `values` put (or added) at `indices`, a tuple of tensors. Source: torch.index_put."""
    return _put.call(input, _tensor_indices(input, indices), values, accumulate)


def index_put_(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Any:
    """Put (or add) `values` at `indices`, a tuple of tensors, in place. Source: torch.Tensor.index_put_."""
    return apply_inplace(_put, (input, _tensor_indices(input, indices), values, accumulate))


def setitem(self: Tensor, key: Any, value: Any) -> None:
    """x[key] = value, recorded as a write into x."""
    view, indices = _basic(self, key)
    if not isinstance(value, Tensor):
        value = _value(value, self)
    if indices is None:
        shape = tuple(value.shape)
        while len(shape) > view.ndim and shape[0] == 1:  # leading ones do not count
            shape = shape[1:]
        if shape != tuple(value.shape):
            value = value.reshape(shape)  # type: ignore[attr-defined]
        view.copy_(value)  # type: ignore[attr-defined]
        return
    apply_inplace(_put, (view, indices, value, False))


def _value(value: Any, x: Tensor) -> Tensor:
    if isinstance(value, (bool, int, float, complex)):
        from ..core.promote import number
        from ..dtypes import COMPLEX

        if isinstance(value, complex) and x.dtype.category < COMPLEX:
            raise RuntimeError(f"value cannot be converted to type {x.dtype.name} without overflow")
        if x.dtype.category < 2 and isinstance(value, float):
            value = int(value)
        return tensor_of(number(value, x.dtype))
    if isinstance(value, (np.ndarray, np.generic)):
        return tensor_of(np.asarray(value))
    raise TypeError(f"can't assign a {type(value).__name__} to a {_type_word(x)}")


def _type_word(x: Tensor) -> str:
    return f"torch.{x.dtype.legacy}Tensor"


OPERATORS = {"__getitem__": getitem, "__setitem__": setitem}

