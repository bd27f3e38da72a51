"""torch.masked: reductions and normalisations over the elements that a boolean mask keeps.

A mask says with True what counts; it broadcasts to the input. What does not count is replaced by what changes
nothing: 0 in a sum, 1 in a product, -inf in a maximum.
"""

from __future__ import annotations

import math
from typing import Any

from . import dtypes
from .naming import sourced_all
from .ops import extremes, reduction, scan, selection, statistics
from .ops import softmax as _softmax
from .ops.creation import tensor as _tensor

__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp", "mean", "median",
    "norm", "normalize", "prod", "softmax", "softmin", "std", "sum", "var",
]  # fmt: skip

_SMALL = (dtypes.uint8, dtypes.bool_, dtypes.int8, dtypes.int16, dtypes.int32)  # what sums and multiplies to int64


def _dims(dim: Any, ndim: int) -> tuple[int, ...]:
    """The dims of a reduction: none, or an empty tuple, is all of them."""
    if dim is None or (not isinstance(dim, int) and not len(dim)):
        return tuple(range(ndim))
    n = max(ndim, 1)
    found: list[int] = []
    for d in (dim,) if isinstance(dim, int) else dim:
        if not -n <= d < n:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})")
        if d % n in found:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        found.append(d % n)
    return tuple(sorted(found))


def _least(name: str, d: dtypes.dtype) -> Any:
    """What is less than all else of a dtype."""
    if d.is_floating_point:
        return -math.inf
    if d is dtypes.bool_ or (d.is_complex and name != "logsumexp"):
        raise NotImplementedError(f"identity of {name} on {d!r} input")
    return complex(-math.inf) if d.is_complex else dtypes.iinfo(d).min


def _greatest(name: str, d: dtypes.dtype) -> Any:
    if d.is_floating_point:
        return math.inf
    if d is dtypes.bool_ or d.is_complex:
        raise NotImplementedError(f"identity of {name} on {d!r} input")
    return dtypes.iinfo(d).max


def _mask_of(input: Any, mask: Any) -> Any:
    if mask.ndim > input.ndim:
        raise IndexError("_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)")
    if tuple(mask.shape) != tuple(input.shape):
        mask = mask.broadcast_to(tuple(input.shape))
    return mask if mask.dtype is dtypes.bool_ else mask.to(dtypes.bool_)


def _filled(input: Any, mask: Any, value: Any) -> Any:
    if mask is None:
        return input
    return selection.where(_mask_of(input, mask), input, _tensor(value, dtype=input.dtype))


# ------------------------------------------------------------------ sums, products, extremes


def sum(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The sum of what the mask keeps; 0 where that is nothing.

    >>> import tidu as torch
    >>> torch.masked.sum(torch.tensor([1., 2., 3.]), 0, mask=torch.tensor([True, False, True]))
    tensor(4.)
    """
    d = _accumulated(input, dtype)
    return reduction.sum(_filled(input, mask, 0), _dims(dim, input.ndim), bool(keepdim), dtype=d)


def _accumulated(input: Any, dtype: Any) -> Any:
    return dtype if dtype is not None else dtypes.int64 if input.dtype in _SMALL else input.dtype


def prod(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The product of what the mask keeps; 1 where that is nothing."""
    r = _filled(input, mask, 1).to(_accumulated(input, dtype))
    for d in reversed(_dims(dim, input.ndim)):
        r = reduction.prod(r, d, bool(keepdim))
    return r


def amax(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The greatest of what the mask keeps; the dtype's least where that is nothing."""
    x = _filled(input, mask, None if mask is None else _least("amax", input.dtype))
    return extremes.amax(x, _dims(dim, input.ndim), bool(keepdim)).to(dtype or input.dtype)


def amin(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The least of what the mask keeps; the dtype's greatest where that is nothing."""
    x = _filled(input, mask, None if mask is None else _greatest("amin", input.dtype))
    return extremes.amin(x, _dims(dim, input.ndim), bool(keepdim)).to(dtype or input.dtype)


def argmax(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The place of the greatest of what the mask keeps, in the input's dtype."""
    x = _filled(input, mask, None if mask is None else _least("argmax", input.dtype))
    return extremes.argmax(x, dim, bool(keepdim)).to(dtype or input.dtype)


def argmin(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The place of the least of what the mask keeps, in the input's dtype."""
    x = _filled(input, mask, None if mask is None else _greatest("argmin", input.dtype))
    return extremes.argmin(x, dim, bool(keepdim)).to(dtype or input.dtype)


def cumsum(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Running sums of what the mask keeps."""
    d = dtype or input.dtype
    return scan.cumsum(_filled(input, mask, 0), _dims(dim, input.ndim)[0], dtype=d).to(d)


def cumprod(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Running products of what the mask keeps."""
    d = dtype or input.dtype
    return scan.cumprod(_filled(input, mask, 1), _dims(dim, input.ndim)[0], dtype=d).to(d)


# ------------------------------------------------------------------ means and spreads


def _count(input: Any, dim: Any, keepdim: bool, mask: Any) -> Any:
    if mask is None:
        mask = input.new_ones(tuple(input.shape), dtype=dtypes.int64)
    return reduction.sum(mask, _dims(dim, input.ndim), keepdim)


def mean(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The mean of what the mask keeps; NaN where that is nothing."""
    d = dtype or input.dtype
    if d.category < dtypes.FLOATING:
        raise ValueError(
            f"mean(): Could not infer output dtype. {'Optional' if dtype is not None else 'Input'} "
            "dtype must be either a "
            f"floating point or complex dtype. Got: {d!r}"
        )
    keep = None if mask is None else _mask_of(input, mask)
    return sum(input, dim, keepdim=keepdim, dtype=d, mask=keep) / _count(input, dim, bool(keepdim), keep)


def _spread(input: Any, dim: Any, unbiased: Any, correction: Any, keepdim: Any, dtype: Any, mask: Any) -> Any:
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    if correction is None:
        correction = 1 if unbiased is None or unbiased else 0
    d = dtype or input.dtype
    if dtype is None and d.category < dtypes.FLOATING:
        d = dtypes.float32
    wide = d if d.category >= dtypes.FLOATING else dtypes.float32
    keep = None if mask is None else _mask_of(input, mask)
    count = _count(input, dim, True, keep)
    x = input - sum(input, dim, keepdim=True, dtype=d, mask=keep) / count
    total = sum(x * x.conj(), dim, keepdim=keepdim, dtype=wide, mask=keep)
    if not keepdim:
        count = count.reshape(tuple(total.shape))
    if correction:
        count = (count.to(wide.to_real()) - float(correction)).clamp(min=0)
    return (total / count).to(d)


def var(
    input: Any, dim: Any = None, unbiased: Any = None, *, correction: Any = None, keepdim: bool = False,
    dtype: Any = None, mask: Any = None,
) -> Any:  # fmt: skip
    """The variance of what the mask keeps; NaN where that is nothing."""
    return _spread(input, dim, unbiased, correction, keepdim, dtype, mask)


def std(
    input: Any, dim: Any = None, unbiased: Any = None, *, correction: Any = None, keepdim: bool = False,
    dtype: Any = None, mask: Any = None,
) -> Any:  # fmt: skip
    """The standard deviation of what the mask keeps."""
    return _spread(input, dim, unbiased, correction, keepdim, dtype, mask).sqrt()


def median(input: Any, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The lower median of what the mask keeps along a dimension, NaN where that is nothing."""
    d = _dims(dim, input.ndim)[0]
    if input.dtype.is_floating_point:
        return statistics.nanmedian(_filled(input, mask, math.nan), d, keepdim)[0]
    r = statistics.nanmedian(_filled(input.to(dtypes.float32), mask, math.nan), d, keepdim)[0]
    if bool(r.isnan().any()):
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return r.to(dtype or input.dtype)


def norm(
    input: Any, ord: Any = 2.0, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:  # fmt: skip
    """The vector norm of what the mask keeps."""
    x = _filled(input, mask, math.inf if ord == -math.inf else 0)
    return statistics.vector_norm(x, ord, _dims(dim, input.ndim), bool(keepdim), dtype=dtype or input.dtype)


def normalize(input: Any, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Any = None) -> Any:
    """What the mask keeps, divided by its norm along a dimension; 0 elsewhere."""
    n = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return _filled(input, mask, 0) / n.maximum(n.new_full((), eps))


# ------------------------------------------------------------------ exponentials


def logsumexp(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """log sum exp of what the mask keeps; -inf where that is nothing."""
    x = _filled(input, mask, None if mask is None else _least("logsumexp", input.dtype))
    return reduction.logsumexp(x, _dims(dim, input.ndim), keepdim).to(dtype or input.dtype)


def logaddexp(input: Any, other: Any, *, dtype: Any = None, input_mask: Any = None, other_mask: Any = None) -> Any:
    """log(exp(input) + exp(other)), each under a mask of its own."""
    x, y = (
        _filled(v, m, None if m is None else _least("logaddexp", v.dtype))
        for v, m in ((input, input_mask), (other, other_mask))
    )
    return x.logaddexp(y).to(dtype or input.dtype)


def softmax(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """The softmax over what the mask keeps, 0 elsewhere; NaN where it keeps nothing.

    >>> import tidu as torch
    >>> torch.masked.softmax(torch.zeros(3), 0, mask=torch.tensor([True, True, False]))
    tensor([0.5000, 0.5000, 0.0000])
    """
    x = _filled(input, mask, None if mask is None else _least("amax", input.dtype))
    return _softmax.f_softmax(x, _dims(dim, input.ndim)[0], dtype=dtype or input.dtype)


def log_softmax(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """The logarithm of the softmax over what the mask keeps, -inf elsewhere."""
    x = _filled(input, mask, None if mask is None else _least("amax", input.dtype))
    return _softmax.f_log_softmax(x, _dims(dim, input.ndim)[0], dtype=dtype or input.dtype)


def softmin(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """The softmax of the negative over what the mask keeps, 0 elsewhere."""
    x = _filled(input, mask, None if mask is None else _greatest("amin", input.dtype))
    return _softmax.softmin(x, _dims(dim, input.ndim)[0], dtype=dtype or input.dtype)


# ------------------------------------------------------------------ the masks themselves

_ALONG = ("cumsum", "cumprod", "softmax", "log_softmax", "softmin", "normalize")  # results as large as the input


def _input_mask(input: Any, *args: Any, mask: Any = None, **kw: Any) -> Any:
    """The mask in the input's shape, of bools. Source: torch.masked._input_mask."""
    if mask is None:
        raise ValueError("_input_mask requires explicit mask")
    return _mask_of(input, mask)


def _output_mask(op: Any, input: Any, *args: Any, **kw: Any) -> Any:
    """Where the result of a function of this module says something: where its mask kept anything.

    Source: torch.masked._output_mask.
    """
    name = op.__name__
    if name not in __all__ or name == "logaddexp":
        raise ValueError(f"_output_mask expected masked operation (got callable {op.__module__}.{name})")
    keep = _input_mask(input, mask=kw.get("mask"))
    if name in _ALONG:
        return keep
    rest = args[1:] if name == "norm" else args  # behind the order
    dim = rest[0] if rest else kw.get("dim")
    for d in reversed(_dims(dim, input.ndim)):
        keep = keep.any(d, bool(kw.get("keepdim", False)))
    return keep


sourced_all(globals())
