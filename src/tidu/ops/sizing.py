"""Small things about sizes and symbols: broadcasting of shapes, sums to a size, numbers that could be symbolic."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Iterable
from typing import Any

from ..shapes import Size
from ._make import sizes_of

__all__ = [
    "broadcast_shapes", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not",
    "sym_sqrt", "sym_sum",
]  # fmt: skip
METHODS = "const_data_ptr dequantize resize sum_to_size to_dense"
PROPERTIES = "_cdata grad_dtype volatile"


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape to which shapes broadcast. Source: torch.broadcast_shapes.

    >>> import tidu as torch
    >>> torch.broadcast_shapes((2, 1), (1, 3))
    torch.Size([2, 3])
    """
    given = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    out = [1] * max((len(s) for s in given), default=0)
    for k, shape in enumerate(given):
        for i in range(-1, -len(shape) - 1, -1):
            d = shape[i]
            if d < 0:
                raise ValueError("Attempting to broadcast a dimension with negative length!")
            if d in (1, out[i]):
                continue
            if out[i] != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {d} at {i}! Mismatching argument at index {k} had "
                    f"{shapes[k]}; but expected shape should be broadcastable to {out}"
                )
            out[i] = d
    return Size(out)


def sum_to_size(self: Any, *size: Any) -> Any:
    """The sum over what broadcasting to this shape would have repeated. Source: torch.Tensor.sum_to_size."""
    shape, have = sizes_of(size, None, "sum_to_size"), tuple(self.shape)
    fits = len(shape) <= len(have) and all(a in (1, b) for a, b in zip(shape[::-1], have[::-1], strict=False))
    if not fits:
        raise RuntimeError(f"size {{{list(shape)}}} is not expandable to size {{{list(have)}}}.")
    if not shape:
        return self.sum()
    more = len(have) - len(shape)
    dims = [i for i, n in enumerate(have) if i < more or (n != 1 and shape[i - more] == 1)]
    if not dims:
        return self
    x = self.sum(dims, keepdim=True)
    return x.view(shape) if more else x


def resize(self: Any, *sizes: Any) -> Any:
    """The elements in another shape; deprecated in favour of `reshape`. Source: torch.Tensor.resize."""
    warnings.warn("non-inplace resize is deprecated", UserWarning, stacklevel=2)
    return self.reshape(*sizes)


def to_dense(self: Any, dtype: Any = None, *, masked_grad: Any = None) -> Any:
    """The tensor itself: it is dense. Source: torch.Tensor.to_dense."""
    return self if dtype is None else self.to(dtype)


def dequantize(self: Any) -> Any:
    """The tensor in float32. Source: torch.Tensor.dequantize."""
    return self.float()


def const_data_ptr(self: Any) -> int:
    """The address of the first element. Source: torch.Tensor.const_data_ptr."""
    return self.data_ptr()


def property__cdata(self: Any) -> int:
    """A number that tells tensors apart."""
    return id(self)


def property_grad_dtype(self: Any) -> Any:
    """The dtype that the gradient has: the tensor's. Source: torch.Tensor.grad_dtype."""
    return self.dtype


def property_volatile(self: Any) -> bool:
    """False, always. Source: torch.Tensor.volatile."""
    warnings.warn("volatile was removed (Variable.volatile is always False)", UserWarning, stacklevel=2)
    return False


# ------------------------------------------------------------------ numbers that are symbolic nowhere here


def sym_int(a: Any) -> int:
    """A number cut to an int. Source: torch.sym_int."""
    return math.floor(a) if a >= 0 else math.ceil(a)


def sym_float(a: Any) -> float:
    """A number as a float. Source: torch.sym_float."""
    return float(a)


def sym_not(a: Any) -> bool:
    """The opposite of a bool. Source: torch.sym_not."""
    return operator.not_(a)


def sym_max(a: Any, b: Any) -> Any:
    """The larger number, a float if one of them is. Source: torch.sym_max."""
    larger = max(a, b)
    return float(larger) if isinstance(a, float) or isinstance(b, float) else larger


def sym_min(a: Any, b: Any) -> Any:
    """The smaller number, a float if one of them is. Source: torch.sym_min."""
    smaller = min(a, b)
    return float(smaller) if isinstance(a, float) or isinstance(b, float) else smaller


def sym_ite(b: bool, t: Any, f: Any) -> Any:
    """`t` if `b`, else `f`. Source: torch.sym_ite."""
    return t if b else f


def sym_sum(args: Iterable[Any]) -> Any:
    """The sum of numbers. Source: torch.sym_sum."""
    return sum(args)


def sym_sqrt(a: Any) -> float:
    """The square root of a number. Source: torch._sym_sqrt."""
    return math.sqrt(a)
