"""x[...] and x[...] = v, fill_, zero_, copy_: basic indices as views, tensors of indices and masks as one gather or put.

As in PyTorch, integers, slices, None and Ellipsis are applied first, each as the view op that it is; what remains
are tensors, which index together. `_keys.py` reads keys and says where tensors point.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.threads import BIG
from ..core.broadcast import _overlaps, cast, sum_to
from ..core.inplace import apply_inplace, refuse_partial_overlap, spread, writes_plainly
from ..core.linear import view_op
from ..core.modes import state
from ..core.op import Op
from ..core.parameters import REQUIRED
from ..core.promote import Number, number
from ..core.tensor import Tensor, tensor_of, type_name
from ..core.views import DEFAULT, live_node, pointer
from ..dtypes import FLOATING, INTEGRAL, from_numpy
from ..shapes import broadcast_shapes
from ._arguments import spoken
from ._hot import indexed, indexed_by_list, write_part
from ._keys import (
    Indices,
    accumulate_at,
    basic,
    chain,
    dims_taken,
    index_tensor,
    indexes_one,
    laid_out,
    nothing,
    numpy_key,
    out_of_range,
    plain_key,
    refuse_index,
    take,
    taken_shape,
    tensors_only,
)
from .arithmetic import zeros
from .conversion import cast_array, warn_of_lost_parts
from .piecewise import checked_number
from .shape import alias, reshape
from .storage import copy_as
from .windows import select, slice_, unsqueeze

__all__ = [
    "fill", "fill_", "index_put", "index_put_", "zero_",
]  # fmt: skip
METHODS = "* copy_ -fill"


def _full(input: Any, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = cast_array(value, input.dtype)
    return np.full(input.shape, value, input.dtype)


def _no_part(g: Any) -> Any:
    """The old values have no part in the result."""
    return zeros(g)


def _fill_op(name: str, node: str, tensor: bool) -> Op:
    rules: dict[str, Any] = {"input": _no_part}
    jvp: dict[str, Any] = {"input": lambda t: zeros(t)}
    if tensor:
        rules["value"] = lambda g: g.sum()
        jvp["value"] = lambda t, input: zeros(input) + t
    return Op(name, _full, rules, jvp, tensors=("input", "value") if tensor else ("input",), node=node, out_arg=False)


_fill_number, _fill_tensor = (_fill_op("fill", "FillBackward0", False), _fill_op("fill.tensor", "FillBackward1", True))
_ifill_number = _fill_op("fill.number_", "FillBackward2", False)
_ifill_tensor = _fill_op("fill.tensor_", "FillBackward3", True)
_zero = Op(
    "zero", lambda input: np.zeros(input.shape, input.dtype), {"input": _no_part}, {"input": lambda t: zeros(t)},
    out_arg=False,
)  # fmt: skip


def _copy(input: Any, src: Any) -> Any:
    if src.dtype != input.dtype:
        if src.dtype.kind == "c":
            warn_of_lost_parts(from_numpy(src.dtype), from_numpy(input.dtype))
        src = cast_array(src, input.dtype)
    if src.shape == input.shape:
        return src
    return np.broadcast_to(src, broadcast_shapes(input.shape, src.shape))


copy = Op(
    "copy",
    _copy,
    {"input": _no_part, "src": lambda g, src_shape, src_dtype: cast(sum_to(g, src_shape), src_dtype)},
    {"input": lambda t: zeros(t), "src": lambda t, input: zeros(input) + t},
    node="CopyBackwards",
    out_arg=False,
)


def _checked(input: Any, value: Any) -> Any:
    """A value to fill with, as the ops take it: a number that fits, or a 0-d tensor."""
    if isinstance(value, (*Number, np.generic)):
        return checked_number(value, input.dtype)
    if not isinstance(value, Tensor):
        raise TypeError(
            f"fill_() received an invalid combination of arguments - got ({type(value).__name__}), but expected one "
            "of:\n * (Tensor value)\n * (Number value)\n"
        )
    if value.ndim:
        raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions.")
    return value


def fill(input: Any, value: Any) -> Any:
    """A tensor like `input`, every element `value`: a number or a 0-d tensor."""
    value = _checked(input, value)
    return (_fill_tensor if isinstance(value, Tensor) else _fill_number).call(input, value)


def _clear(x: Any, out: Any) -> None:
    out.fill(0)


def fill_(self: Any, value: Any = REQUIRED, *more: Any) -> Any:
    """Make every element `value`, a number or a 0-d tensor, which gets the sum of the cotangents.

    Source: torch.Tensor.fill_.
    """
    try:
        if more:
            raise TypeError
        value = _checked(self, value)
    except TypeError as error:
        raise spoken(error, self, value, *more) from None
    if not isinstance(value, Tensor):
        try:
            if writes_plainly(self, self._a):
                spread(lambda x, out: out.fill(value), self._a)
                self._v[0] += 1
                return self
        except AttributeError:
            pass
        return apply_inplace(_ifill_number, (self, value))
    return apply_inplace(_ifill_tensor, (self, value))


def zero_(self: Any) -> Any:
    """Make every element 0. Source: torch.Tensor.zero_."""
    try:
        if writes_plainly(self, self._a):
            spread(_clear, self._a)
            self._v[0] += 1
            return self
    except AttributeError:
        pass
    return apply_inplace(_zero, (self,))


def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Take the elements of `src`, broadcast and converted, and its history.

    **Raises** RuntimeError where `src` does not broadcast to this tensor's shape.
    """
    try:
        a, b = self._a, src._a
        wants = state.grad and (src._node is not None or src._view is not None) and src.requires_grad
        if b.dtype is a.dtype and b.ndim <= a.ndim and not wants and src._v is not self._v and writes_plainly(self, a):
            if a.size > BIG and b.shape == a.shape:
                spread(lambda x, y, out: np.copyto(out, y), a, b)
            else:
                np.copyto(a, b)
            self._v[0] += 1
            return self
    except (AttributeError, ValueError):
        pass
    if not isinstance(src, Tensor):
        if not isinstance(src, (*Number, np.generic)):
            raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type_name(src)}")
        if isinstance(src, complex) and self.dtype.category in (INTEGRAL, FLOATING):
            src = src.real
        src = tensor_of(np.asarray(src)).to(self.dtype)
    return apply_inplace(copy, (self, src))


ndarray = np.ndarray


def getitem(self: Tensor, key: Any) -> Any:
    """x[key]: a view for integers, slices, None and Ellipsis; a copy for tensors of indices and masks."""
    kind = key.__class__
    if kind is int:
        try:
            return select(self, 0, key)
        except (IndexError, OverflowError):
            raise out_of_range(self, 0, key, 0) from None
    if kind is slice:
        try:
            step = key.step
            if step is None or (step.__class__ is int and step > 0):
                first, last, step = key.indices(self._a.shape[0])
                return slice_(self, 0, first, last if last > first else first, step)
        except (IndexError, AttributeError, TypeError):
            pass
    if kind is Tensor:
        if indexes_one(self, key):
            return _take(self, key, 0)
    elif key is None:
        return unsqueeze(self, 0)
    elif key is Ellipsis:
        return alias(self)
    else:
        plain = plain_key(key)
        try:
            if plain is None:
                if kind is tuple:
                    tensors = tensors_only(self, key)
                    if tensors is not None:
                        return _gather(self, tensors)
            elif _unrecorded(self):
                return _window(self, plain)
            else:
                view = chain(self, plain)
                return alias(view) if view is self else view
        except (IndexError, AttributeError, OverflowError):
            pass  # the way below takes every kind of value, and says what is wrong in PyTorch's words
    view, indices = basic(self, key)
    if indices is not None:
        return _gather(view, indices)
    return alias(view) if view is self else view


_window = view_op("getitem", lambda input, key: input[key], lambda g, shape, key: _window_adjoint(g, shape, key))


def _window_adjoint(g: Any, shape: Any, key: Any) -> Any:
    out = g.new_zeros(shape) if isinstance(g, Tensor) else np.zeros(shape, g.dtype)
    out[key] = g
    return out


def _unrecorded(x: Tensor) -> bool:
    """Whether a view of `x` is made without a node, so that it may be made in one step."""
    if not hasattr(x, "_a"):
        return False
    return state.record is False or (state.record is True and (x._node if x._view is None else live_node(x)) is None)


# ------------------------------------------------------------------ tensors of indices


def _gather(x: Any, indices: Indices) -> Any:
    for dim, k in enumerate(indices):
        if k is not None:
            if all([other is None for other in indices[dim + 1 :]]):
                return _take(x, k, dim)
            return index(x, indices)
    return alias(x)


# One tensor that indexes one dimension: most of what programs do, on the direct path of an op.
_take = Op(
    "index.one",
    lambda input, k, dim: take(input, k, dim),
    vjp={"input": lambda g, input_shape, k, dim: take_adjoint(g, input_shape, k, dim)},
    jvp={"input": lambda t, k, dim: _take(t, k, dim)},
    tensors=("input", "k"),
    node="IndexBackward0",
    out_arg=False,
).call
_take = indexed(
    _take,
    take,
    lambda g, shape, k, dim: (
        accumulate_at(None, shape, [None] * dim + [k], g) if g.__class__ is ndarray else take_adjoint(g, shape, k, dim)
    ),
)
take_adjoint = Op(
    "index_backward.one",
    lambda input, shape, k, dim: accumulate_at(None, shape, [None] * dim + [k], input),
    vjp={"input": lambda g, k, dim: _take(g, k, dim)},
    jvp={"input": lambda t, shape, k, dim: take_adjoint(t, shape, k, dim)},
    tensors=("input", "k"),
    node="IndexPutBackward0",
    out_arg=False,
).call


def _index(input: Any, indices: Indices) -> Any:
    if not input.size:
        return nothing(indices, input)
    key = numpy_key(indices, input.shape)
    try:
        r = input[key]
    except IndexError:
        refuse_index(indices, input.shape)
        raise
    return laid_out(r, input, indices) if r.ndim else np.asarray(r)


_index_op = Op(
    "index",
    _index,
    vjp={"input": lambda g, input_shape, indices: index_adjoint(g, input_shape, indices)},
    jvp={"input": lambda t, indices: index(t, indices)},
    tensors=("input", "indices"),
    lists=("indices",),
    out_arg=False,
)
index = indexed_by_list(
    _index_op.call,
    _index,
    lambda g, shape, indices: (
        accumulate_at(None, shape, indices, g) if g.__class__ is ndarray else index_adjoint(g, shape, indices)
    ),
)
index_adjoint = Op(
    "index_backward",
    lambda input, shape, indices: accumulate_at(None, shape, indices, input),
    vjp={"input": lambda g, indices: index(g, indices)},
    jvp={"input": lambda t, shape, indices: index_adjoint(t, shape, indices)},
    tensors=("input", "indices"),
    lists=("indices",),
    node="IndexPutBackward0",
    out_arg=False,
).call


# ------------------------------------------------------------------ writing


def _index_put(input: Any, indices: Indices, values: Any, accumulate: bool = False) -> Any:
    out = copy_as(input)
    put_into(out, indices, values, accumulate)
    return out


def put_into(out: Any, indices: Indices, values: Any, accumulate: bool) -> None:
    """Write (or add) values at indices into an array; all is checked before anything is written."""
    if values.dtype != out.dtype:
        if values.size != 1 or [k.dtype.kind for k in indices if k is not None] != ["b"]:
            _fitted(indices, out.shape, values)
            raise RuntimeError(
                f"Index put requires the source and destination dtypes match, got {from_numpy(out.dtype).legacy} for "
                f"the destination and {from_numpy(values.dtype).legacy} for the source."
            )
        values = values.astype(out.dtype)  # one value behind a mask fills it, converted
    key = numpy_key(indices, out.shape)
    if not accumulate and out.size:
        try:
            out[key] = values
            return
        except (IndexError, ValueError, TypeError):
            pass
    elif accumulate and out.size and all([k is not None and k.dtype != np.bool_ for k in indices]):
        try:
            shape = np.broadcast(*indices).shape + out.shape[len(indices) :]
            accumulate_at(out, out.shape, indices, values if values.shape == shape else np.broadcast_to(values, shape))
            return
        except (IndexError, ValueError):
            pass
    values = _fitted(indices, out.shape, values)
    refuse_index(indices, out.shape)
    if not out.size:
        return
    if accumulate:
        accumulate_at(out, out.shape, indices, values)
    else:
        out[key] = values


def _fitted(indices: Indices, shape: tuple[int, ...], values: Any) -> Any:
    """The values in the shape of what the indices take."""
    refuse_index(indices, shape, where=False)
    target = taken_shape(indices, shape)
    lead = values.ndim - len(target)
    if lead > 0 and values.shape[:lead] == (1,) * lead:  # leading ones do not count
        values = values.reshape(values.shape[lead:])
    try:
        return np.broadcast_to(values, target)
    except ValueError:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing result of "
            f"shape {list(target)}"
        ) from None


def _values_cotangent(g: Any, indices: Indices, values_shape: tuple[int, ...]) -> Any:
    g = index(g, indices)
    lead = len(values_shape) - len(g.shape)
    return reshape(sum_to(g, values_shape[lead:]), values_shape) if lead > 0 else sum_to(g, values_shape)


clear = Op(
    "index_clear",
    lambda input, indices: _index_put(input, indices, np.zeros((), input.dtype)),
    vjp={"input": lambda g, indices: clear(g, indices)},
    jvp={"input": lambda t, indices: clear(t, indices)},
    tensors=("input", "indices"),
    lists=("indices",),
    node="IndexPutBackward0",
    out_arg=False,
).call
_put = Op(
    "index_put",
    _index_put,
    vjp={"input": lambda g, indices, accumulate: g if accumulate else clear(g, indices), "values": _values_cotangent},
    jvp={
        "input": lambda t, indices, accumulate: t if accumulate else clear(t, indices),
        "values": lambda t, input, indices: _put.call(input.new_zeros(tuple(input.shape)), indices, t, True),
    },
    tensors=("input", "indices", "values"),
    lists=("indices",),
    out_arg=False,
)


def _put_indices(input: Any, indices: Any, values: Any, fn: str) -> Indices:
    if not isinstance(indices, (tuple, list)):
        raise TypeError(
            f"{fn}(): argument 'indices' (position 2) must be tuple of Tensors, not {type(indices).__name__}"
        )
    if not isinstance(values, Tensor):
        raise TypeError(f"{fn}(): argument 'values' (position 3) must be Tensor, not {type(values).__name__}")
    for i, k in enumerate(indices):
        if not isinstance(k, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 1, but got {type(k).__name__}")
    got = [_at_least_1d(k) for k in indices]
    taken = sum([max(dims_taken(k), 1) for k in got])
    if taken > len(input.shape):
        raise IndexError(f"too many indices for tensor of dimension {len(input.shape)} (got {taken})")
    return got


def _at_least_1d(k: Any) -> Any:
    k = index_tensor(k)
    return tensor_of(np.asarray(k)) if k.__class__ is int else k


def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Any:
    """A copy of `input` with `values` put (or added) at `indices`, a tuple of tensors."""
    return _put.call(input, _put_indices(input, indices, values, "index_put"), values, accumulate)


def index_put_(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Any:
    """Put (or add) `values` at `indices`, a tuple of tensors, in place. Source: torch.Tensor.index_put_."""
    indices = _put_indices(input, indices, values, "index_put_")
    return write_part(_put, (input, indices, values, accumulate), put_into)


def _writes_directly(x: Any, value: Any) -> bool:
    """Whether a write of `value` into `x` is not recorded, and nothing stands against it."""
    a = getattr(x, "_a", None)
    if a is None or x._v.__class__ is not list:
        return False
    if state.grad:
        view = x._view
        if (x._node if view is None else view[2] is not DEFAULT or live_node(x)) is not None:
            return False
    if not a.flags.forc and _overlaps(a.shape, a.strides):
        return False
    if value.__class__ is Tensor:
        return not state.grad or (value._node if value._view is None else live_node(value)) is None
    return True


def setitem(self: Tensor, key: Any, value: Any) -> None:
    """x[key] = value, recorded as a write into x."""
    kind = value.__class__
    if _writes_directly(self, value):
        if key.__class__ is int:
            plain: Any = (key, ...)
        elif key.__class__ is Tensor:
            plain = key._a if indexes_one(self, key) else None
        else:
            plain = plain_key(key)
        if plain is not None:
            a = self._a
            try:
                if kind is float or kind is int:
                    letter = a.dtype.kind
                    if letter == "f" and -1e18 < value < 1e18 or kind is int and letter == "i":
                        a[plain] = value
                        self._v[0] += 1
                        return
                elif kind is Tensor and value._a.dtype is a.dtype:
                    b = value._a
                    if value._v is not self._v:
                        a[plain] = b
                        self._v[0] += 1
                        return
                    if key.__class__ is not Tensor and _same_place(a[plain], b):  # x[key] += v comes back here
                        self._v[0] += 1
                        return
            except (IndexError, ValueError, OverflowError, TypeError):
                pass
    if not isinstance(value, Tensor):
        value = _value(value, self)
    if key is False:
        return
    if key is True:
        key = None
    view, indices = basic(self, (key,) if key.__class__ is slice and len(self.shape) else key)
    if indices is None:
        if view is self and value.__class__ is Tensor is view.__class__ and not value._a.ndim and view._a.ndim:
            apply_inplace(_ifill_tensor, (view, value))
        else:
            _copy_into(view, value)
        return
    write_part(_put, (view, indices, _unprefixed(value), False), put_into)


def _same_place(a: Any, b: Any) -> bool:
    """Whether two arrays show the same memory in the same way."""
    return a.shape == b.shape and a.strides == b.strides and pointer(a) == pointer(b)


def _unprefixed(value: Any) -> Any:
    """A value without the ones that its shape begins with: they do not count."""
    shape = tuple(value.shape)
    lead = 0
    while lead < len(shape) and shape[lead] == 1:
        lead += 1
    return reshape(value, shape[lead:]) if lead else value


def _copy_into(view: Any, value: Any) -> None:
    if len(value.shape) and value.shape != view.shape:
        value = _unprefixed(value)
        if value.shape != view.shape:
            value = value.expand(tuple(view.shape))
    plain = value.__class__ is Tensor and view.__class__ is Tensor
    if plain and value._v is view._v and value._a.ndim and not _same_place(value._a, view._a):
        refuse_partial_overlap(view._a, value._a)
    if plain and value._a.dtype is view._a.dtype:
        write_part(copy, (view, value), np.copyto, anywhere=True)
    else:
        view.copy_(value)


def _value(value: Any, x: Any) -> Tensor:
    if isinstance(value, (bool, int, float, complex, np.integer)):
        if type(value) is int and not -(2**63) <= value < 2**64:
            raise ValueError("Overflow when unpacking long long")
        return tensor_of(number(checked_number(value, x.dtype), x.dtype))
    raise TypeError(f"can't assign a {_full_name(value)} to a torch.{x.dtype.legacy}Tensor")


def _full_name(value: Any) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _no_deleting(self: Any, key: Any) -> None:
    raise TypeError("Tensor does not support deleting items")


OPERATORS = {"__getitem__": getitem, "__setitem__": setitem, "__delitem__": _no_deleting}
