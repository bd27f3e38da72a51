"""What came out of a program, taken down in neutral form (`snapshot`), and two of those compared (`compare`)."""

from __future__ import annotations

import dataclasses
import math
import numbers
from typing import Any

import numpy as np

from .bridge import Side

# Relative and absolute tolerance by dtype: those of torch.testing.assert_close.
TOLERANCES = {
    "float64": (1e-7, 1e-7),
    "complex128": (1e-7, 1e-7),
    "float32": (1.3e-6, 1e-5),
    "complex64": (1.3e-6, 1e-5),
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
}


class Mismatch(AssertionError):
    """The two libraries disagree."""


@dataclasses.dataclass
class TensorSnap:
    array: np.ndarray
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    requires_grad: bool
    same_as: int | None  # the index of the argument that was itself returned
    aliases: tuple[int, ...]  # the indices of the arguments whose memory it looks into


@dataclasses.dataclass
class SequenceSnap:
    kind: str
    fields: tuple[str, ...]
    items: list[Any]


@dataclasses.dataclass
class Raised:
    """The program raised: an outcome like any other."""

    kind: str
    message: str


def snapshot(side: Side, value: Any, inputs: list[Any] = (), values: bool = True) -> Any:  # type: ignore[assignment]
    """Take down a result; `inputs` are the tensors whose memory it may share, `values=False` drops the numbers."""
    if isinstance(value, Raised) or value is None:
        return value
    if side.is_tensor(value):
        same = next((i for i, t in enumerate(inputs) if t is value), None)
        array = side.array(value)
        alias = tuple(i for i, t in enumerate(inputs) if side.aliases(value, t)) if array.size else ()
        return TensorSnap(
            array if values else np.zeros(array.shape),
            side.dtype_name(value),
            tuple(value.shape),
            side.strides(value),
            bool(value.requires_grad),
            same,
            alias,
        )
    if isinstance(value, dict):
        return SequenceSnap("dict", tuple(map(str, value)), [snapshot(side, v, inputs, values) for v in value.values()])
    if isinstance(value, (tuple, list)):
        kind = type(value)
        names = (getattr(kind, n, None) for n in ("_fields", "__match_args__", "fields"))
        fields = next((tuple(n) for n in names if n), ())
        items = [snapshot(side, v, inputs, values) for v in value]
        return SequenceSnap(kind.__name__, fields, items)
    if isinstance(value, (bool, numbers.Number, str)):
        return value if isinstance(value, (bool, int, float, complex, str)) else value.item()  # type: ignore[attr-defined]
    return str(value)


def compare(expected: Any, got: Any, *, scale: float = 1.0, where: str = "", strides: bool = False) -> None:
    """Raise `Mismatch` at the first difference. `scale` widens the tolerances, `strides` compares them too."""
    if isinstance(expected, Raised) or isinstance(got, Raised):
        _compare_raised(expected, got, where)
    elif isinstance(expected, TensorSnap):
        if not isinstance(got, TensorSnap):
            raise Mismatch(f"{where}: torch gives a tensor, not {_brief(got)}")
        _compare_tensors(expected, got, scale, where, strides)
    elif isinstance(expected, SequenceSnap):
        if not isinstance(got, SequenceSnap):
            raise Mismatch(f"{where}: torch gives a {expected.kind}, not {_brief(got)}")
        if len(expected.items) != len(got.items):
            raise Mismatch(f"{where}: torch gives {len(expected.items)} items, not {len(got.items)}")
        if (expected.kind, expected.fields) != (got.kind, got.fields):
            raise Mismatch(
                f"{where}: torch gives a {expected.kind}{list(expected.fields)}, not a {got.kind}{list(got.fields)}"
            )
        for i, (e, g) in enumerate(zip(expected.items, got.items, strict=True)):
            compare(e, g, scale=scale, where=f"{where}[{i}]", strides=strides)
    elif expected is None or got is None:
        if expected is not got:
            raise Mismatch(f"{where}: torch gives {_brief(expected)}, not {_brief(got)}")
    elif type(expected) is not type(got):
        raise Mismatch(f"{where}: torch gives {_brief(expected)}, not {_brief(got)}")
    elif isinstance(expected, (float, complex)):
        if not np.isclose(got, expected, 1e-7 * scale, 1e-7 * scale, equal_nan=True):
            raise Mismatch(f"{where}: torch gives {expected}, not {got}")
    elif expected != got:
        raise Mismatch(f"{where}: torch gives {expected!r}, not {got!r}")


def _compare_raised(expected: Any, got: Any, where: str) -> None:
    if not isinstance(got, Raised):
        raise Mismatch(f"{where}: torch raises {expected.kind}: {expected.message}; no error here")
    if not isinstance(expected, Raised):
        raise Mismatch(f"{where}: raised {got.kind}: {got.message}")
    if expected.kind != got.kind:
        raise Mismatch(
            f"{where}: class differs: torch raises {expected.kind}: {expected.message}; here {got.kind}: {got.message}"
        )
    if expected.message != got.message:
        raise Mismatch(f"{where}: message differs: torch says {expected.message!r}; here {got.message!r}")


def _compare_tensors(e: TensorSnap, g: TensorSnap, scale: float, where: str, strides: bool) -> None:
    if e.shape != g.shape:
        raise Mismatch(f"{where}: shape is {g.shape}, torch's {e.shape}")
    if e.dtype != g.dtype:
        raise Mismatch(f"{where}: dtype is {g.dtype}, torch's {e.dtype}")
    if e.requires_grad != g.requires_grad:
        raise Mismatch(f"{where}: requires_grad is {g.requires_grad}, torch's {e.requires_grad}")
    if e.same_as != g.same_as:
        raise Mismatch(f"{where}: {_same(g.same_as)}; torch: {_same(e.same_as)}")
    if e.aliases != g.aliases:
        raise Mismatch(f"{where}: shares memory with arguments {list(g.aliases)}, in torch with {list(e.aliases)}")
    checked = strides or bool(e.aliases)
    if checked and e.array.size > 1 and significant(e) != significant(g):
        raise Mismatch(f"{where}: strides are {g.strides}, torch's {e.strides} (shape {e.shape})")
    rtol, atol = TOLERANCES.get(e.dtype, (0.0, 0.0))
    if e.dtype in ("float16", "bfloat16") and np.isfinite(e.array).any():
        # sums of such numbers cancel: what is left is right to the size of the terms, not to its own
        atol = rtol * float(np.abs(e.array[np.isfinite(e.array)]).max())
    difference = differing(e.array, g.array, rtol * scale, atol * scale)
    if difference:
        raise Mismatch(f"{where}: values differ: {difference}")


def significant(t: TensorSnap) -> tuple[int, ...]:
    """Strides of the dimensions that have more than one element; the others are never used."""
    return tuple(s for s, n in zip(t.strides, t.shape, strict=True) if n > 1)


def _same(index: int | None) -> str:
    return "returns a new tensor" if index is None else f"returns argument {index} itself"


def differing(expected: np.ndarray, got: np.ndarray, rtol: float, atol: float) -> str:
    """What differs between two arrays of one shape, or an empty string."""
    if expected.dtype.kind in "bui" and rtol == 0:
        bad = expected != got
        size: Any = None
    else:
        with np.errstate(all="ignore"):
            bad = ~np.isclose(got, expected, rtol, atol, equal_nan=True)
            both_nan = np.isnan(got) & np.isnan(expected)  # a complex nan in either part is a nan
            bad &= ~both_nan
            size = np.abs(got.astype(np.complex128) - expected.astype(np.complex128))
    count = int(np.count_nonzero(bad))
    if not count:
        return ""
    at = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(bad)))
    here = (np.atleast_1d(expected)[at], np.atleast_1d(got)[at])
    most = ""
    if size is not None:
        finite = np.atleast_1d(size)[np.atleast_1d(bad) & np.isfinite(np.atleast_1d(size))]
        most = f", by up to {finite.max():.3g}" if finite.size and math.isfinite(finite.max()) else ""
    return f"{count} of {bad.size}{most}; at {list(at)} torch has {here[0]}, here {here[1]}"


def _brief(value: Any) -> str:
    if isinstance(value, TensorSnap):
        zero = " of zeros" if value.array.size and not np.any(value.array) else ""
        return f"a {value.dtype} tensor{zero} of shape {value.shape}"
    if isinstance(value, SequenceSnap):
        return f"a {value.kind} of {len(value.items)}"
    return f"{type(value).__name__} {value!r}" if value is not None else "None"
