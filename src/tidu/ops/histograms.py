"""Counting and placing: searchsorted, bucketize, bincount, histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.op import Op
from ..core.promote import Number
from ..core.tensor import Tensor, dtype_word, tensor_of
from ..dtypes import from_numpy
from ..naming import return_type
from ._dtypes import exact_out
from .arithmetic import not_implemented

__all__ = ["bincount", "bucketize", "histc", "histogram", "histogramdd", "searchsorted"]
METHODS = "bincount histc histogram"


def _wide(a: Any) -> Any:
    return a.astype(np.float32) if a.dtype.kind == "V" else a


# ------------------------------------------------------------------ searchsorted


def _searchsorted(sorted_sequence: Any, input: Any, out_int32: bool, right: bool, sorter: Any) -> Any:
    """How many elements of a sorted sequence stand before each value."""
    common = np.result_type(input.dtype, sorted_sequence.dtype)
    if common.kind in "bc":
        legacy = from_numpy(common).legacy
        raise NotImplementedError(f"\"searchsorted_out_cpu\" not implemented for '{legacy}'")
    bounds, values = _wide(sorted_sequence), _wide(input)
    if sorter is not None:
        bounds = np.take_along_axis(bounds, sorter, -1)
    if bounds.ndim == 1 and (bounds[1:] >= bounds[:-1]).all() and not (values != values).any():
        found = np.searchsorted(bounds, values, "right" if right else "left")
    else:
        found = _bisect(bounds, values, right)
    return np.asarray(found).astype(np.int32 if out_int32 else np.int64)


def _bisect(bounds: Any, values: Any, right: bool) -> Any:
    """PyTorch's binary search, of all values at once, each in its row of boundaries."""
    n = bounds.shape[-1]
    start, end = np.zeros(values.shape, np.int64), np.full(values.shape, n, np.int64)
    for _ in range(n.bit_length()):
        middle = np.minimum((start + end) >> 1, n - 1)
        there = bounds[middle] if bounds.ndim == 1 else np.take_along_axis(bounds, middle, -1)
        open_, further = start < end, ~(there > values if right else there >= values)
        start = np.where(open_ & further, middle + 1, start)
        end = np.where(open_ & ~further, middle, end)
    return start


_searchsorted_op = Op("searchsorted", _searchsorted, tensors=("sorted_sequence", "input", "sorter")).call


def searchsorted(
    sorted_sequence: Any,
    input: Any = None,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    out: Any = None,
    sorter: Any = None,
    self: Any = None,
) -> Any:
    """Where each value would go in a sorted sequence (in the same row of several), so that it stays sorted.

    **Arguments** right: behind equal elements instead of before them; side: "left" or "right", the same said otherwise;
    sorter: indices that sort the sequence; out_int32: int32 results.

    >>> import tidu as torch
    >>> torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([3, 4]))
    tensor([1, 2])
    """
    values = input if self is None else self
    fn = "torch.searchsorted(): "
    shape = tuple(sorted_sequence.shape)
    scalar = isinstance(values, Number)
    if side is not None and side not in ("left", "right"):
        raise RuntimeError(f"{fn}side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(f"{fn}side and right can't be set to opposites, got side of left while right was True")
    if not shape:
        raise RuntimeError(f"{fn}boundaries tensor should have positive dimension, but got 0 dimension")
    theirs = () if scalar else tuple(values.shape)
    if not theirs and len(shape) != 1:
        raise RuntimeError(
            f"{fn}input value can be a scalar only when boundaries tensor dimension is 1, but we got boundaries tensor "
            f"dim({len(shape)}) and input value's dim(0) numel(1)"
        )
    if len(shape) != 1 and shape[:-1] != theirs[:-1]:
        raise RuntimeError(
            f"{fn}boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input "
            f"value tensor must match, but we got boundaries tensor {list(shape)} and input value tensor {list(theirs)}"
        )
    if sorter is not None:
        _check_sorter(sorter, shape, fn)
    _check_out(out, out_int32, fn)
    if scalar:
        values = tensor_of(np.asarray(values))
    return _searchsorted_op(sorted_sequence, values, out_int32, right or side == "right", sorter, out=out)


searchsorted.op = _searchsorted_op.op


def _check_sorter(sorter: Any, shape: tuple[int, ...], fn: str) -> None:
    if tuple(sorter.shape) != shape:
        raise RuntimeError(
            f"{fn}boundary and sorter must have the same size, but got boundary tensor {list(shape)}and got sorter "
            f"tensor {list(sorter.shape)}"
        )
    if sorter.dtype.name != "int64":
        raise RuntimeError(f"{fn}sorter must be a tensor of long dtype but got dtype {sorter.dtype.legacy}")
    a = getattr(sorter, "_a", None)
    if a is not None and a.size and (a.min() < 0 or a.max() >= shape[-1]):
        raise RuntimeError(f"{fn}sorter index out of range")


def _check_out(out: Any, out_int32: bool, fn: str) -> None:
    if isinstance(out, Tensor) and out.dtype.name != ("int32" if out_int32 else "int64"):
        raise RuntimeError(
            f"{fn}output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending on whether "
            f"out_int32 flag is True, but we got output tensor's dtype {out.dtype.legacy} and out_int32 flag is "
            f"{out_int32}"
        )


def bucketize(input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False, out: Any = None) -> Any:
    """The bucket, between sorted boundaries, of each value."""
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right, out=out)


bucketize.op = _searchsorted_op.op


# ------------------------------------------------------------------ bincount


def _bincount(input: Any, weights: Any, minlength: int) -> Any:
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if input.dtype.kind not in "iu":
        raise NotImplementedError(f"\"bincount_cpu\" not implemented for '{from_numpy(input.dtype).legacy}'")
    if input.ndim == 1 and not input.size:
        return np.zeros(minlength, np.int64)
    if input.ndim != 1 or input.min() < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return np.bincount(input, minlength=minlength).astype(np.int64)
    if weights.shape != input.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    kept = weights.dtype if weights.dtype == np.float32 else np.dtype(np.float64)
    return np.bincount(input, weights.astype(np.float64), minlength).astype(kept)


def _unknown(name: str) -> Any:
    def rule(needs: Any) -> Any:
        return not_implemented(name)(None)

    return rule


_bincount_op = Op(
    "bincount", _bincount, vjp=_unknown("bincount"), tensors=("input", "weights"), node="NotImplemented", out_arg=False
)


def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each number from 0 on appears in a vector of integers, or the sum of its weights."""
    return _bincount_op.call(input, weights, minlength)


bincount.op = _bincount_op


# ------------------------------------------------------------------ histograms


def _number_text(x: Any) -> str:
    return f"{float(x):g}"


def _edges_of(a: Any, bins: int, low: Any, high: Any, widen: float) -> tuple[Any, Any]:
    """The outermost edges: those given, else the extremes of the data, widened where they coincide."""
    if low == high:
        low, high = (a.min(), a.max()) if a.size else (low, high)
        if low == high:
            low, high = low - widen, high + widen
    return low, high


def _histc(input: Any, bins: int = 100, min: Any = 0, max: Any = 0) -> Any:
    """How many elements lie in each of `bins` equal intervals from `min` to `max` (of the data, if they are equal)."""
    if input.dtype.kind == "b":
        raise NotImplementedError("\"linspace_cpu\" not implemented for 'Bool'")
    if input.dtype.kind not in "fV":
        raise NotImplementedError(f"\"histogram_cpu\" not implemented for '{from_numpy(input.dtype).legacy}'")
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    a = input.reshape(-1)
    real = a.dtype.type
    low, high = _edges_of(a, bins, real(min), real(max), 1)
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{_number_text(low)}, {_number_text(high)}] is not finite")
    if low > high:
        raise RuntimeError("torch.histc: max must be larger than min")
    inside = a[(a >= low) & (a <= high)]
    at = ((inside - low) * real(bins) / (real(high) - real(low))).astype(np.int64)
    return np.bincount(np.minimum(at, bins - 1), minlength=bins).astype(input.dtype)


histc = Op("histc", _histc).call


def _linspace(low: Any, high: Any, steps: int, dtype: Any) -> Any:
    from .ranges import linspace

    return linspace(float(low), float(high), steps, dtype=from_numpy(dtype))._a


def _outer(a: Any, bins: int, range_: Any, d: int) -> Any:
    """The edges of equal bins of one dimension of the data."""
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension {d}")
    if range_ is not None:
        low, high = float(range_[2 * d]), float(range_[2 * d + 1])
    else:
        low, high = (float(a.min()), float(a.max())) if a.size else (0.0, 1.0)
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(
            f"torch.histogramdd: dimension {d}'s range [{_number_text(low)}, {_number_text(high)}] is not finite"
        )
    if low > high:
        raise RuntimeError(
            f"torch.histogramdd: min should not exceed max, but got min {_number_text(low)} max {_number_text(high)} "
            f"for dimension {d}"
        )
    if low == high:
        low, high = low - 0.5, high + 0.5
    return _linspace(low, high, bins + 1, a.dtype)


def _histogramdd(input: Any, edges: list[Any], weight: Any, density: bool) -> Any:
    """The histogram of points, one a row, over the given edges of each dimension."""
    points = input.reshape(-1, input.shape[-1])
    inside = np.ones(len(points), bool)
    at: Any = 0
    for d, e in enumerate(edges):
        x = points[:, d]
        place = np.searchsorted(e, x, "right") - 1
        place[x == e[-1]] = len(e) - 2
        inside &= (x >= e[0]) & (x <= e[-1])
        at = at * (len(e) - 1) + np.clip(place, 0, len(e) - 2)
    shape = tuple(len(e) - 1 for e in edges)
    w = None if weight is None else weight.reshape(-1)[inside].astype(np.float64)
    hist = np.bincount(at[inside], w, int(np.prod(shape))).reshape(shape).astype(input.dtype)
    if density:
        volume: Any = 1
        for e in edges:
            volume = np.multiply.outer(volume, np.diff(e))
        hist = hist / hist.sum() / volume
    return hist.astype(input.dtype)


def _run(input: Any, bins: list[Any], range_: Any, weight: Any, density: bool) -> tuple[Any, ...]:
    kind = from_numpy(input.dtype)
    if input.dtype not in (np.float32, np.float64):
        raise NotImplementedError(f"\"histogramdd\" not implemented for '{kind.legacy}'")
    n = input.shape[-1]
    flat = input.reshape(-1, n)
    for d, b in enumerate(bins):
        if isinstance(b, np.ndarray) and b.dtype != input.dtype:
            raise RuntimeError(
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype "
                f"{dtype_word(kind)} and bins for dimension {d} with dtype {dtype_word(from_numpy(b.dtype))}"
            )
    if weight is not None and weight.shape != input.shape[:-1]:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor "
            f"excluding its innermost dimension, but got input with shape {list(input.shape)} and weight with shape "
            f"{list(weight.shape)}"
        )
    if range_ is not None and len(range_) != 2 * n:
        raise RuntimeError(
            f"torch.histogramdd: for a {n}-dimensional histogram range should have {2 * n} elements, but got "
            f"{len(range_)}"
        )
    edges = [b.copy() if isinstance(b, np.ndarray) else _outer(flat[:, d], b, range_, d) for d, b in enumerate(bins)]
    return (_histogramdd(input, edges, weight, density), *edges)


def _histogram_forward(input: Any, bins: Any, range: Any, weight: Any, density: bool) -> Any:
    column = input.reshape(-1, 1)
    weight = None if weight is None else weight.reshape(-1)
    return _run(column, [bins], range, weight, density)


def _histogram_declared(name: str, tensors: tuple[str, ...]) -> Op:
    op = Op(
        name,
        _histogram_forward,
        vjp=_unknown("histogram"),
        tensors=tensors,
        outputs=2,
        node="NotImplemented",
        result=return_type("histogram", "hist", "bin_edges"),
    )
    exact_out(op.call)
    return op


_histogram_op = _histogram_declared("histogram", ("input", "weight"))
_histogram_edges_op = _histogram_declared("histogram.edges", ("input", "bins", "weight"))


def histogram(
    input: Any, bins: Any = 100, *, range: Any = None, weight: Any = None, density: bool = False, out: Any = None
) -> Any:
    """How many elements (or how much weight) lie in each bin, and the bins' edges: (hist, bin_edges).

    **Arguments** bins: a number of equal bins, or their edges; range: the outermost edges; density: per width, and in
    all 1.
    """
    op = _histogram_edges_op if isinstance(bins, Tensor) else _histogram_op
    return op.call(input, bins, range, weight, density, out=out)


histogram.op = _histogram_op
_histogramdd_op = Op(
    "histogramdd",
    lambda input, bins, range, weight, density: _run(input, bins, range, weight, density),
    vjp=_unknown("_histogramdd_from_bin_cts"),
    tensors=("input", "weight"),
    outputs=0,
    node="NotImplemented",
    out_arg=False,
)


def histogramdd(input: Any, bins: Any, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    """The histogram of points, one a row, over boxes; and the edges in each dimension: (hist, bin_edges)."""
    n = input.shape[-1]
    bins = [bins] * n if isinstance(bins, int) else list(bins)
    if len(bins) != n:
        raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    arrays = [b._a if isinstance(b, Tensor) else b for b in bins]
    hist, *edges = _histogramdd_op.call(input, arrays, range, weight, density)
    return return_type("histogramdd", "hist", "bin_edges")(
        hist, tuple(b if isinstance(b, Tensor) else e for b, e in zip(bins, edges, strict=True))
    )
