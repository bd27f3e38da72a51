"""Tensors from sizes: zeros, ones and other fillings, of given sizes or like another tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..core.subclass import Special, call_overridden
from ..core.tensor import Tensor, type_name
from ..dtypes import dtype as Dtype
from ._make import (
    as_dtype,
    check_place,
    empty_array,
    filling,
    finish,
    made,
    number,
    out_of_memory,
    overriding,
    restrided,
    shape_of,
    sizes_of,
    type_for,
)
from .storage import empty_as

__all__ = [
    "empty", "empty_like", "empty_permuted", "empty_strided", "full", "full_like", "ones", "ones_like", "zeros",
    "zeros_like",
]  # fmt: skip
METHODS = "new_empty new_empty_strided new_full new_ones new_zeros"


def zeros(
    *args: Any, size: Any = None, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of zeros. The sizes come one by one or as a sequence.

    >>> import tidu as torch
    >>> torch.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    if device is not None or pin_memory or layout is not None:
        check_place(device, pin_memory, layout)
    shape = sizes_of(args, size, "zeros")
    d = type_for(dtype, out, "zeros")
    try:
        a = np.zeros(shape, d)
    except (MemoryError, ValueError):
        raise out_of_memory(shape, d) from None
    return made(a, requires_grad) if out is None else finish(a, out, requires_grad, "zeros")


def ones(
    *args: Any, size: Any = None, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of ones."""
    if device is not None or pin_memory or layout is not None:
        check_place(device, pin_memory, layout)
    a = empty_array(sizes_of(args, size, "ones"), type_for(dtype, out, "ones"))
    a.fill(1)
    return finish(a, out, requires_grad, "ones")


def empty(
    *args: Any, size: Any = None, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """A tensor of whatever is in memory."""
    if device is not None or pin_memory or layout is not None:
        check_place(device, pin_memory, layout)
    shape, d = sizes_of(args, size, "empty"), type_for(dtype, out, "empty")
    if out is not None and out.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    if memory_format is None or memory_format.name == "contiguous_format":
        return finish(empty_array(shape, d), out, requires_grad)
    if memory_format.name == "preserve_format":
        raise RuntimeError("unsupported memory format Preserve")
    return finish(restrided(shape, d, memory_format.name), out, requires_grad)


def full(
    size: Any, fill_value: Any, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor filled with one number, whose type decides the dtype.

    >>> import tidu as torch
    >>> torch.full((2,), 7)
    tensor([7, 7])
    """
    if device is not None or pin_memory or layout is not None:
        check_place(device, pin_memory, layout)
    shape = shape_of(size, "full")
    if fill_value.__class__ is float and dtype is out is None and -1e38 < fill_value < 1e38:
        a = empty_array(shape, dtypes.get_default_dtype().np)
        a.fill(fill_value)
        return made(a, requires_grad)
    value = number(fill_value, "full", "fill_value", 2)
    if dtype is None and out is None:
        d = dtypes.of_scalar(value)
    else:
        d = dtypes.from_numpy(type_for(dtype, out, "full"))
    value = filling(value, d)
    a = empty_array(shape, d.np)
    a[...] = value
    return finish(a, out, requires_grad, "full")


def empty_strided(
    size: Any, stride: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Uninitialised memory with the given sizes and strides, the latter in elements."""
    check_place(device, pin_memory, layout)
    d = type_for(dtype, None, "empty_strided")
    return made(_strided(shape_of(size, "empty_strided"), stride, d), requires_grad)


def _strided(shape: tuple[int, ...], stride: Any, d: Any) -> Any:
    stride = tuple(stride)
    if len(stride) != len(shape):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(stride)})"
        )
    if any(s < 0 for s in stride):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)} and strides={list(stride)}")
    n = 0 if 0 in shape else 1 + sum((k - 1) * s for k, s in zip(shape, stride, strict=True))
    memory = empty_array((n,), d)
    return np.ndarray(shape, memory.dtype, memory, strides=tuple(s * memory.itemsize for s in stride))


def empty_permuted(
    size: Any, physical_layout: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Dense uninitialised memory whose dimensions lie in the given order, outermost first."""
    check_place(device, pin_memory, layout)
    shape, order = shape_of(size, "empty_permuted"), tuple(physical_layout)
    if len(order) != len(shape):
        raise RuntimeError(
            f"Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = "
            f"{len(shape)} is not equal to len(physical_layout) = {len(order)}"
        )
    for i, k in enumerate(order):
        if not 0 <= k < len(shape):
            raise RuntimeError(
                f"Dimension out of range (expected to be between 0 and {len(shape) - 1}, but got {k} at index {i}).  "
                "NB: negative dims not currently supported; file an issue if you want it."
            )
        if k in order[:i]:
            raise RuntimeError("Duplicate dim not allowed")
    memory = empty_array(tuple(shape[k] for k in order), type_for(dtype, None, "empty_permuted"))
    return made(memory.transpose(tuple(np.argsort(order))), requires_grad)


# ------------------------------------------------------------------ like another tensor


def _like(input: Any, dtype: Any, memory_format: Any, fn: str) -> Any:
    """Uninitialised memory in the shape, and the layout, of a tensor."""
    if not isinstance(input, Tensor):
        raise TypeError(f"{fn}(): argument 'input' (position 1) must be Tensor, not {type_name(input)}")
    d = None if dtype is None else as_dtype(dtype, fn).np
    a = getattr(input, "_a", None)
    if a is None:
        return empty_array(tuple(input.shape), d or input.dtype.np)
    if memory_format is None or memory_format.name == "preserve_format":
        return empty_as(a, d) if 0 in a.strides else np.empty_like(a, d, "K", False)
    if memory_format.name == "contiguous_format":
        return empty_array(a.shape, d or a.dtype)
    return restrided(a.shape, d or a.dtype, memory_format.name)


def _overridden(fn: Any, args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
    x = args[0]
    if isinstance(x, Special):
        from ..core.batch import Batched, wrap

        if isinstance(x, Batched):
            return wrap(fn(x.value, *args[1:], **kw), x.level)
        return fn(x.primal, *args[1:], **kw)
    if hasattr(x, "made_like"):  # a sparse tensor
        return x.made_like(fn.__name__, *args[1:], **kw)
    return call_overridden(fn, args, args, {k: v for k, v in kw.items() if v not in (None, False)})


def zeros_like(
    input: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
    requires_grad: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """Zeros in the shape, dtype and memory layout of another tensor."""
    if device is not None or pin_memory or layout is not None:
        check_place(device, pin_memory, layout)
    if isinstance(input, Special) or overriding(input):
        kw = {"dtype": dtype, "requires_grad": requires_grad, "memory_format": memory_format}
        return _overridden(zeros_like, (input,), kw)
    a = _like(input, dtype, memory_format, "zeros_like")
    a.fill(0)
    return made(a, requires_grad)


def ones_like(
    input: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
    requires_grad: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """Ones in the shape, dtype and memory layout of another tensor."""
    if device is not None or pin_memory or layout is not None:
        check_place(device, pin_memory, layout)
    if isinstance(input, Special) or overriding(input):
        kw = {"dtype": dtype, "requires_grad": requires_grad, "memory_format": memory_format}
        return _overridden(ones_like, (input,), kw)
    a = _like(input, dtype, memory_format, "ones_like")
    a.fill(1)
    return made(a, requires_grad)


def empty_like(
    input: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
    requires_grad: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """Uninitialised memory in the shape, dtype and layout of another tensor."""
    check_place(device, pin_memory, layout)
    if isinstance(input, Special) or overriding(input):
        kw = {"dtype": dtype, "requires_grad": requires_grad, "memory_format": memory_format}
        return _overridden(empty_like, (input,), kw)
    return made(_like(input, dtype, memory_format, "empty_like"), requires_grad)


def full_like(
    input: Any, fill_value: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """One number in the shape, dtype and layout of another tensor."""
    check_place(device, pin_memory, layout)
    if isinstance(input, Special) or overriding(input):
        kw = {"dtype": dtype, "requires_grad": requires_grad, "memory_format": memory_format}
        return _overridden(full_like, (input, fill_value), kw)
    a = _like(input, dtype, memory_format, "full_like")
    a[...] = filling(number(fill_value, "full_like", "fill_value", 2), dtypes.from_numpy(a.dtype))
    return made(a, requires_grad)


# ------------------------------------------------------------------ new tensors in a tensor's dtype


def _dtype(self: Any, dtype: Any, fn: str) -> Dtype:
    return self.dtype if dtype is None else as_dtype(dtype, fn)


def new_empty(
    self: Any, *args: Any, size: Any = None, dtype: Any = None, device: Any = None, layout: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Uninitialised memory of the given sizes in this tensor's dtype."""
    check_place(device, pin_memory, layout)
    if overriding(self):
        shape = sizes_of(args, size, "new_empty")
        return _overridden(new_empty, (self, shape), {"dtype": dtype, "requires_grad": requires_grad})
    d = _dtype(self, dtype, "new_empty")
    return made(empty_array(sizes_of(args, size, "new_empty"), d.np), requires_grad)


def _new_filled(self: Any, fn: str, value: int, args: tuple[Any, ...], size: Any, dtype: Any, grad: bool) -> Tensor:
    shape = sizes_of(args, size, fn)
    if overriding(self):
        return _overridden(globals()[fn], (self, shape), {"dtype": dtype, "requires_grad": grad})
    a = empty_array(shape, _dtype(self, dtype, fn).np)
    a.fill(value)
    return made(a, grad)


def new_zeros(
    self: Any, *args: Any, size: Any = None, dtype: Any = None, device: Any = None, layout: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Zeros of the given sizes in this tensor's dtype."""
    check_place(device, pin_memory, layout)
    return _new_filled(self, "new_zeros", 0, args, size, dtype, requires_grad)


def new_ones(
    self: Any, *args: Any, size: Any = None, dtype: Any = None, device: Any = None, layout: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Ones of the given sizes in this tensor's dtype."""
    check_place(device, pin_memory, layout)
    return _new_filled(self, "new_ones", 1, args, size, dtype, requires_grad)


def new_full(
    self: Any, size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, layout: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """One number, in the given sizes and this tensor's dtype."""
    check_place(device, pin_memory, layout)
    if overriding(self):
        return _overridden(new_full, (self, size, fill_value), {"dtype": dtype, "requires_grad": requires_grad})
    return full(size, fill_value, dtype=_dtype(self, dtype, "new_full"), requires_grad=requires_grad)


def new_empty_strided(
    self: Any, size: Any, stride: Any, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Uninitialised memory with sizes and strides in this tensor's dtype."""
    check_place(device, pin_memory, layout)
    d = _dtype(self, dtype, "new_empty_strided")
    return made(_strided(shape_of(size, "new_empty_strided"), stride, d.np), requires_grad)
