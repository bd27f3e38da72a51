"""torch.testing: comparing values, and making tensors to test with."""

from __future__ import annotations

import cmath
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import dtypes
from .core.tensor import Tensor, raw
from .devices import strided
from .naming import submodule
from .ops.comparison import isclose, view_as_real
from .ops.creation import as_tensor
from .ops.factories import empty
from .ops.random import randint

__all__ = ["assert_allclose", "assert_close", "make_tensor"]


_PRECISION = {
    "float16": (0.001, 1e-5), "bfloat16": (0.016, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7),
}  # fmt: skip
_NUMBERS = {int: "int64", float: "float64", complex: "complex128"}
Message = str | Callable[[str], str] | None


class _Failed(Exception):
    """What is wrong: the class of error, the words, and the place in nested values."""

    def __init__(self, kind: type[Exception], text: str, place: tuple[Any, ...]) -> None:
        super().__init__(text)
        self.kind, self.text, self.place = kind, text, place

    def error(self, msg: Message) -> Exception:
        if isinstance(msg, str):
            return self.kind(msg)
        text = self.text
        if self.place:
            text += f"\n\nThe failure occurred for item {''.join(str([item]) for item in self.place)}"
        return self.kind(msg(text) if callable(msg) else text)


def _tolerances(names: Sequence[str], rtol: float | None, atol: float | None, place: Any) -> tuple[float, float]:
    if (rtol is None) != (atol is None):
        raise _Failed(
            ValueError,
            "Both 'rtol' and 'atol' must be either specified or omitted, but got no "
            f"{'rtol' if rtol is None else 'atol'}.",
            place,
        )
    if rtol is not None and atol is not None:
        return rtol, atol
    pairs = [_PRECISION.get(name, (0.0, 0.0)) for name in names]
    return max(r for r, _ in pairs), max(a for _, a in pairs)


def _mismatch(what: str, extra: str, diffs: Any, rtol: float, atol: float) -> str:
    """The words for values that differ; `diffs`: the absolute and the relative difference, each with its index."""
    equal = rtol == 0 and atol == 0
    lines = [f"{what} are not {'equal' if equal else 'close'}!", "", extra]
    for word, (diff, index), tolerance in zip(("absolute", "relative"), diffs, (atol, rtol), strict=True):
        line = f"{word.title()} difference: {diff}"
        if index is not None:
            line = f"Greatest {word} difference: {diff} at index {index}"
        lines.append(line if equal else f"{line} (up to {tolerance} allowed)")
    return "\n".join(lines)


def _scalar_mismatch(actual: Any, expected: Any, rtol: float, atol: float) -> str:
    diff = abs(actual - expected)
    relative = float("inf") if expected == 0 else diff / abs(expected)
    extra = f"Expected {expected} but got {actual}."
    return _mismatch("Scalars", extra, ((diff, None), (relative, None)), rtol, atol)


def _tensor_mismatch(actual: Any, expected: Any, matches: Any, rtol: float, atol: float) -> str:
    a, b = raw(actual), raw(expected)
    if a.dtype.kind in "biu":
        a, b = a.astype(np.int64), b.astype(np.int64)
    elif a.dtype.kind == "V" or a.dtype.itemsize == 2:
        a, b = a.astype(np.float32), b.astype(np.float32)
    n = matches.size
    wrong = n - int(matches.sum())
    diff = np.where(matches, 0, np.abs(a - b))
    with np.errstate(all="ignore"):
        size = np.abs(b)
        relative = np.where(matches, 0, diff / (size.astype(np.float32) if a.dtype.kind == "i" else size))
        relative = relative.astype(np.float32) if a.dtype.kind == "i" else relative
    found = []
    for values in (diff, relative):
        at = _first_greatest(values.reshape(-1))
        index = tuple(int(i) for i in np.unravel_index(at, matches.shape))
        found.append((values.reshape(-1)[at].item(), index))
    extra = f"Mismatched elements: {wrong} / {n} ({wrong / n:.1%})"
    return _mismatch("Tensor-likes", extra, found, rtol, atol)


def _first_greatest(a: Any) -> int:
    nan = np.isnan(a) if a.dtype.kind == "f" else np.zeros(a.shape, bool)
    return int(nan.argmax()) if nan.any() else int(a.argmax())


# ------------------------------------------------------------------ pairs of values


def _compare_numbers(actual: Any, expected: Any, place: Any, o: dict[str, Any]) -> None:
    a = actual.item() if isinstance(actual, np.number) else actual
    b = expected.item() if isinstance(expected, np.number) else expected
    rtol, atol = _tolerances([_NUMBERS[type(a)], _NUMBERS[type(b)]], o["rtol"], o["atol"], place)
    if o["check_dtype"] and type(a) is not type(b):
        raise _Failed(AssertionError, f"The (d)types do not match: {type(a)} != {type(b)}.", place)
    if a == b or (o["equal_nan"] and cmath.isnan(a) and cmath.isnan(b)):
        return
    diff = abs(a - b)
    if not (cmath.isfinite(diff) and diff <= atol + rtol * abs(b)):
        raise _Failed(AssertionError, _scalar_mismatch(a, b, rtol, atol), place)


def _compare_tensors(actual: Any, expected: Any, place: Any, o: dict[str, Any]) -> None:
    rtol, atol = _tolerances([actual.dtype.name, expected.dtype.name], o["rtol"], o["atol"], place)

    def same(attribute: str, a: Any, b: Any) -> None:
        if a != b:
            raise _Failed(AssertionError, f"The values for attribute '{attribute}' do not match: {a} != {b}.", place)

    same("shape", actual.shape, expected.shape)
    if o["check_layout"]:
        same("layout", actual.layout, expected.layout)
    if o["check_stride"]:
        same("stride()", actual.stride(), expected.stride())
    if o["check_dtype"]:
        same("dtype", actual.dtype, expected.dtype)
    if actual.dtype != expected.dtype:
        wide = [dtypes.int64 if d.name in ("uint64", "uint32", "uint16") else d for d in (actual.dtype, expected.dtype)]
        d = dtypes.promote_types(*wide)
        actual, expected = actual.to(d), expected.to(d)
    if actual.layout is not expected.layout:
        actual, expected = actual.to_dense(), expected.to_dense()
    if actual.layout is not strided:
        _compare_sparse(actual, expected, place, o)
        return
    matches = raw(isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=o["equal_nan"]))
    if matches.all():
        return
    if matches.ndim == 0:
        text = _scalar_mismatch(actual.item(), expected.item(), rtol, atol)
    else:
        text = _tensor_mismatch(actual, expected, matches, rtol, atol)
    raise _Failed(AssertionError, text, place)


def _compare_sparse(actual: Any, expected: Any, place: Any, o: dict[str, Any]) -> None:
    """The parts of sparse tensors, one after the other."""
    coo = actual.is_sparse
    kind, names = ("COO", ("_indices",)) if coo else ("CSR", ("crow_indices", "col_indices"))
    nnz = actual._nnz(), expected._nnz()
    if nnz[0] != nnz[1]:
        raise _Failed(
            AssertionError,
            f"The number of specified values in sparse {kind} tensors does not match: {nnz[0]} != {nnz[1]}",
            place,
        )
    for name in (*names, "_values" if coo else "values"):
        a, b = (getattr(x, name)().detach() for x in (actual, expected))
        exact = o if "values" in name else {**o, "rtol": 0, "atol": 0}
        try:
            _compare_tensors(a, b, place, exact)
        except _Failed as e:
            e.text = e.text.replace("Tensor-likes", f"Sparse {kind} {name.lstrip('_')}")
            raise


def _compare(actual: Any, expected: Any, place: tuple[Any, ...], o: dict[str, Any], found: list[_Failed]) -> None:
    """Compare two values; what does not match is added to `found`, what cannot be compared is raised."""

    def is_list(x: Any) -> bool:
        return isinstance(x, Sequence) and not isinstance(x, str)

    if is_list(actual) and is_list(expected):
        if len(actual) != len(expected):
            raise _Failed(
                AssertionError, f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", place
            )
        for i, (a, b) in enumerate(zip(actual, expected, strict=True)):
            _compare(a, b, (*place, i), o, found)
        return
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if set(actual) != set(expected):
            raise _Failed(
                AssertionError,
                "The keys of the mappings do not match:\nMissing keys in the actual mapping: "
                f"{sorted(set(expected) - set(actual))}\nAdditional keys in the actual mapping: "
                f"{sorted(set(actual) - set(expected))}",
                place,
            )
        try:
            keys = sorted(actual)
        except TypeError:
            keys = list(actual)
        for k in keys:
            _compare(actual[k], expected[k], (*place, k), o, found)
        return
    compare = _comparer(actual, expected, place, o)
    try:
        compare()
    except _Failed as e:
        if e.kind is not AssertionError:
            raise
        found.append(e)


def _comparer(actual: Any, expected: Any, place: Any, o: dict[str, Any]) -> Callable[[], None]:
    pair = actual, expected
    if actual is None or expected is None:

        def nones() -> None:
            if actual is not expected:
                raise _Failed(AssertionError, f"None mismatch: {actual} is not {expected}", place)

        return nones
    if all(isinstance(x, (bool, np.bool_)) for x in pair):

        def bools() -> None:
            if bool(actual) is not bool(expected):
                raise _Failed(AssertionError, f"Booleans mismatch: {bool(actual)} is not {bool(expected)}", place)

        return bools
    if all(isinstance(x, (int, float, complex, np.number)) and not isinstance(x, bool) for x in pair):
        return lambda: _compare_numbers(actual, expected, place, o)
    related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
    if related and (o["allow_subclasses"] or type(actual) is type(expected)):
        try:
            a, b = (x if isinstance(x, Tensor) else as_tensor(x) for x in pair)
        except Exception:
            pass
        else:
            return lambda: _compare_tensors(a, b, place, o)
    raise _Failed(
        TypeError, f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.", place
    )


def assert_close(
    actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None,
    atol: float | None = None, equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True,
    check_layout: bool = True, check_stride: bool = False, msg: Message = None,
) -> None:  # fmt: skip
    """Raise if two values are not close: |actual - expected| <= atol + rtol |expected|, element by element.

    Args:
        actual, expected: tensors, arrays, numbers, or sequences and mappings of them.
        allow_subclasses: whether values of related classes may be compared.
        rtol, atol: the tolerances, both or neither; by default those of the dtypes.
        equal_nan: whether NaNs are equal.
        check_layout: the layouts must be the same.
        check_device: accepted; all tensors are on the CPU.
        check_dtype, check_stride: whether these must be the same.
        msg: the error's message, or a function that makes one of the usual message.

    Raises:
        AssertionError: they are not.
        TypeError, ValueError: they cannot be compared, or not so.

    Source: torch.testing.assert_close.

    >>> import tidu as torch
    >>> assert_close(torch.tensor([1., 2.]), torch.tensor([1., 2. + 1e-7]))
    """
    __tracebackhide__ = True
    options = {
        "allow_subclasses": allow_subclasses, "rtol": rtol, "atol": atol, "equal_nan": equal_nan,
        "check_dtype": check_dtype, "check_layout": check_layout, "check_stride": check_stride,
    }  # fmt: skip
    found: list[_Failed] = []
    try:
        _compare(actual, expected, (), options, found)
    except _Failed as e:
        raise e.error(None) from None
    if found:
        raise found[0].error(msg)


def assert_allclose(
    actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None, equal_nan: bool = True,
    msg: str = "",
) -> None:  # fmt: skip
    """The old name of `assert_close`. Source: torch.testing.assert_allclose."""
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. "
        "Please use "
        "`torch.testing.assert_close()` instead. You can find detailed upgrade instructions in "
        "https://github.com/pytorch/pytorch/issues/61844.",
        FutureWarning,
        stacklevel=2,
    )
    a, b = (x if isinstance(x, Tensor) else as_tensor(x) for x in (actual, expected))
    if rtol is None and atol is None:
        old = {"float16": (1e-3, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-5, 1e-8)}
        known = [old[x.dtype.name] for x in (a, b) if x.dtype.name in old]
        rtol, atol = (max(k[i] for k in known) for i in (0, 1)) if len(known) == 2 else (None, None)
    assert_close(
        a, b, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=True, check_dtype=False, check_stride=False,
        msg=msg or None,
    )  # fmt: skip


def _bounds(
    d: dtypes.dtype, low: Any, high: Any, least: float, most: float, default: tuple[float, float]
) -> tuple[Any, Any]:
    low = default[0] if low is None else low
    high = default[1] if high is None else high
    floating = d.is_floating_point or d.is_complex
    if any(isinstance(v, float) and math.isnan(v) for v in (low, high)):
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={low!r} and high={high!r}")
    if low == high and floating:
        warnings.warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is deprecated since 2.1 "
            "and will be removed in 2.3. Use `torch.full(...)` instead.",
            FutureWarning,
            stacklevel=4,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < least or low >= most:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {d} only supports "
            f"[{least}, {most})"
        )
    low, high = (min(max(v, least), most) for v in (low, high))
    return (low, high) if floating else (math.ceil(low), math.ceil(high))


def make_tensor(
    *shape: Any, dtype: dtypes.dtype, device: Any, low: float | None = None, high: float | None = None,
    requires_grad: bool = False, noncontiguous: bool = False, exclude_zero: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """A tensor of random numbers in [low, high), by default [-9, 9), integers up to 9.

    Args:
        shape: the sizes.
        dtype, device: of the tensor.
        low, high: the bounds.
        requires_grad: whether it wants a gradient.
        noncontiguous: every other element of a larger one.
        exclude_zero: no zeros.

    Source: torch.testing.make_tensor.

    >>> import tidu as torch
    >>> _ = torch.manual_seed(0)
    >>> make_tensor(3, dtype=torch.int64, device="cpu")
    tensor([2, 1, 8])
    """
    sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], Sequence) else tuple(shape)
    floating = dtype.is_floating_point or dtype.is_complex
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"noncontiguous={noncontiguous!r} and memory_format={memory_format!r}"
        )
    if requires_grad and not floating:
        raise ValueError(
            f"`requires_grad=True` is not supported for boolean and integral dtypes, but got dtype={dtype!r}"
        )
    noncontiguous = noncontiguous and math.prod(sizes) > 1
    if noncontiguous:
        sizes = (*sizes[:-1], 2 * sizes[-1])
    if dtype is dtypes.bool_:
        low, high = _bounds(dtype, low, high, 0, 2, (0, 2))
    elif floating:
        info = dtypes.finfo(dtype)
        low, high = _bounds(dtype, low, high, info.min, info.max, (-9, 9))
    else:
        limits = dtypes.iinfo(dtype)
        most = limits.max + (dtype is not dtypes.int64)
        low, high = _bounds(dtype, low, high, limits.min, most, (-9, 10))
    if floating:
        t: Any = empty(sizes, device=device, dtype=dtype)
        real = view_as_real(t) if dtype.is_complex else t
        if high - low >= dtypes.finfo(real.dtype).max:
            real.uniform_(low / 2, high / 2).mul_(2)
        else:
            real.uniform_(low, high)
    else:
        t = randint(low, high, sizes, device=device, dtype=dtype)
    if noncontiguous:
        t = t[..., 1::2]
    elif memory_format is not None:
        t = t.clone(memory_format=memory_format)
    if exclude_zero:
        t[t == 0] = dtypes.finfo(dtype).tiny if floating else 1
    if floating:
        t.requires_grad = requires_grad
    return t


submodule(globals(), "_comparison", "assert_allclose assert_close")
submodule(globals(), "_creation", "make_tensor")
