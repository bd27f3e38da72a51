"""How tensors print: `repr`, `str`, `format` and the options that steer them.

The text is PyTorch's to the character. It is made in three steps, each a pure function of arrays and
numbers: `_cells` turns the elements into strings, `_brackets` lays the strings out, `array_repr` adds what
stands after the data (`dtype=`, `grad_fn=`, ...). `tensor_repr` reads these things off a tensor.

Python formats only the elements that are shown. What decides the format (are all of them integers? how far
apart are the largest and the smallest? how wide does a column get?) comes from a few reductions.
"""

from __future__ import annotations

import math
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from . import dtypes
from .core.levels import alive, by_hand, rank
from .core.subclass import Special
from .core.tensor import Tensor, raw

__all__ = [
    "PRINT_OPTS", "set_printoptions", "get_printoptions", "printoptions",
    "array_repr", "tensor_repr", "tensor_format", "grad_tracking_repr", "batched_repr",
]  # fmt: skip


# ---- options


@dataclass
class PrintOptions:
    """The current print options; see `set_printoptions` for their meaning."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PrintOptions.__qualname__ = "__PrinterOptions"
PRINT_OPTS = PrintOptions()
_tensor_str = sys.modules[__name__]  # PyTorch's name of this module

_PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors print.

    Options left at None stay as they are, except `sci_mode`: every call sets it, as PyTorch does.

    Args:
        precision: digits after the decimal point of floating point numbers.
        threshold: a tensor with more elements than this is summarised.
        edgeitems: elements shown at each end of a summarised dimension.
        linewidth: characters per line. Rows longer than that are wrapped.
        profile: "default" (4 digits, threshold 1000, 3 edge items, 80 characters), "short" (2 digits, 2 edge
            items) or "full" (no summarising). Options given besides it win; an unknown name changes nothing.
        sci_mode: True for scientific notation, False for none, None to choose it by the numbers: when the
            largest magnitude is over 1e8 or over 1000 times the smallest, or when fractions are below 1e-4.

    Source: torch.set_printoptions

    >>> set_printoptions(precision=2, threshold=5)
    >>> print(array_repr(np.arange(8) / 7))
    tensor([0.00, 0.14, 0.29,  ..., 0.71, 0.86, 1.00])
    >>> set_printoptions(profile="default")
    """
    if profile is not None:
        _assign(_PROFILES.get(profile, {}))
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    _assign({name: value for name, value in given.items() if value is not None})
    PRINT_OPTS.sci_mode = sci_mode


def _assign(options: dict[str, Any]) -> None:
    for name, value in options.items():
        setattr(PRINT_OPTS, name, value)


def get_printoptions() -> dict[str, Any]:
    """The current print options as keyword arguments for `set_printoptions`.

    Source: torch._tensor_str.get_printoptions

    >>> get_printoptions()
    {'precision': 4, 'threshold': 1000, 'edgeitems': 3, 'linewidth': 80, 'sci_mode': None}
    """
    return asdict(PRINT_OPTS)


@contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Set print options for the length of a `with` block; the arguments are those of `set_printoptions`.

    Source: torch._tensor_str.printoptions

    >>> with printoptions(precision=1):
    ...     print(array_repr(np.array([0.25, 1.5])))
    tensor([0.2, 1.5])
    """
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        set_printoptions(**before)


# ---- from elements to strings


def _cells(a: np.ndarray) -> tuple[int, list[str]]:
    """The width of a column and the texts of the elements, in row-major order."""
    if a.dtype.kind != "c":
        return _real_cells(a)
    real_width, real = _real_cells(a.real)
    imag_width, imag = _real_cells(a.imag)
    # Only the real parts are aligned: an imaginary part loses its padding, and gains a sign if it has none.
    imag = [part.lstrip() for part in imag]
    cells = [x + (y if y[0] == "-" else "+" + y) + "j" for x, y in zip(real, imag, strict=True)]
    return real_width + imag_width + 1, cells


def _real_cells(a: np.ndarray) -> tuple[int, list[str]]:
    values = a.ravel()
    if values.dtype.kind == "b":
        width = 4 if values.all() else 5
        text = ("False".rjust(width), "True".rjust(width))
        return width, [text[value] for value in values.tolist()]
    if values.dtype.kind in "iu":
        width = max(len(str(values.min())), len(str(values.max())))
        return width, list(map(f"{{:{width}d}}".format, values.tolist()))
    return _float_cells(values)


def _float_cells(values: np.ndarray) -> tuple[int, list[str]]:
    """As `_cells`; zeros, infinities and NaNs have no say in the style and the width."""
    if values.dtype.itemsize < 4 or values.dtype.kind != "f":  # NumPy is slow on float16 and bfloat16
        values = values.astype(np.float32)
    finite = np.isfinite(values)
    numbers = values[finite & (values != 0)]
    if not numbers.size:
        return 1, _integer_style(values, finite, 1)

    precision = PRINT_OPTS.precision
    integers = bool((numbers == np.ceil(numbers)).all())
    extremes = _extremes(numbers)
    magnitudes = [abs(x) for x in extremes]
    low, high = min(magnitudes), max(magnitudes)
    scientific = PRINT_OPTS.sci_mode
    if scientific is None:
        scientific = high / low > 1000.0 or high > 1.0e8 or low < 1.0e-4

    # A number's text gets no shorter as the number moves away from zero (or, in scientific notation, as its
    # exponent does), so the widest text is that of an extreme.
    if integers and not scientific:
        width = 1 + max(len(f"{x:.0f}") for x in extremes)
        return width, _integer_style(values, finite, width)
    style = f".{precision}{'e' if scientific else 'f'}"
    width = max(len(format(x, style)) for x in extremes)
    return width, list(map(f"{{:{width}{style}}}".format, values.tolist()))


def _extremes(numbers: np.ndarray) -> list[float]:
    """Those of the negative and of the positive numbers that are nearest to zero and farthest from it."""
    signs = (numbers[numbers < 0], numbers[numbers > 0])
    return [float(end) for part in signs if part.size for end in (part.min(), part.max())]


def _integer_style(values: np.ndarray, finite: np.ndarray, width: int) -> list[str]:
    """Integral floats are written `3.`; the point is left out after `inf` and `nan`."""
    number, other = f"{{:{width - 1}.0f}}.".format, f"{{:{width}.0f}}".format
    if finite.all():
        return list(map(number, values.tolist()))
    return [number(x) if ok else other(x) for x, ok in zip(values.tolist(), finite.tolist(), strict=True)]


# ---- from strings to text


def _array_text(a: np.ndarray, indent: int) -> str:
    """The data of a non-empty array in nested brackets; lines after the first are indented by `indent`."""
    edge = PRINT_OPTS.edgeitems
    cut = [a.size > PRINT_OPTS.threshold and n > 2 * edge for n in a.shape]
    if any(cut):
        if not edge:
            return "[...]"
        ends = ([*range(edge), *range(n - edge, n)] if n > 2 * edge else range(n) for n in a.shape)
        a = a[np.ix_(*ends)]
    width, cells = _cells(a)
    return _brackets(cells, a.shape, cut, indent, width) if a.ndim else cells[0]


def _brackets(cells: list[str], shape: Sequence[int], cut: Sequence[bool], indent: int, width: int) -> str:
    n, inner = shape[0], len(shape) - 1
    if not inner:
        if cut[0]:
            cells[n // 2 : n // 2] = [" ..."]
        per_line = max(1, math.floor((PRINT_OPTS.linewidth - indent) / (width + 2)))
        parts = [", ".join(cells[i : i + per_line]) for i in range(0, len(cells), per_line)]
    else:
        step = len(cells) // n
        rows = [cells[i : i + step] for i in range(0, len(cells), step)]
        parts = [_brackets(row, shape[1:], cut[1:], indent + 1, width) for row in rows]
        if cut[0]:
            parts[n // 2 : n // 2] = ["..."]
    return "[" + ("," + "\n" * max(1, inner) + " " * (indent + 1)).join(parts) + "]"


def array_repr(
    a: np.ndarray,
    suffixes: Sequence[str] = (),
    *,
    prefix: str = "tensor(",
    contents: str | None = None,
    break_first: bool = False,
) -> str:
    """The text of an array as that of a tensor.

    Args:
        a: the data, of any numeric dtype.
        suffixes: what follows the data, such as "requires_grad=True".
        prefix: what stands before the data. Its length is the indentation of further lines.
        contents: text to print in place of the data.
        break_first: begin a line with the first suffix in any case.

    >>> print(array_repr(np.array([[1, 2.5], [-3, 4]]), ["requires_grad=True"]))
    tensor([[ 1.0000,  2.5000],
            [-3.0000,  4.0000]], requires_grad=True)
    """
    indent = len(prefix)
    if contents is None:
        contents = _array_text(a, indent) if a.size else "[]"
    text = prefix + contents
    # Two more than the last line has characters: PyTorch breaks the line that much early.
    column = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if break_first or column + len(suffix) + 2 > PRINT_OPTS.linewidth:
            break_first = False
            text += ",\n" + " " * indent + suffix
            column = indent + len(suffix)
        else:
            text += ", " + suffix
            column += len(suffix) + 2
    return text + ")"


# ---- tensors


def tensor_repr(t: Tensor, *, tensor_contents: str | None = None, tangent: object = None) -> str:
    """The text of a tensor: its data, then whatever of its size, dtype and history the data does not tell.

    Args:
        t: the tensor.
        tensor_contents: text to print in place of the data.
        tangent: the tangent, if `t` is the primal of a dual number.

    Source: torch.Tensor.__repr__
    """
    sparse = getattr(t, "word", None)  # a sparse tensor says how its layout is called
    a, more = raw(t._of if sparse else t), {}
    suffixes = _about_data(a) if not sparse else _about_parts(t, a)
    if sparse and tensor_contents is None:
        tensor_contents, more = _parts_text(t), {"break_first": t.is_sparse}
    history = _about_history(t)
    if history:
        suffixes.append(history)
    if tangent is not None:
        suffixes.append(f"tangent={tangent}")
    kind = type(t)
    # Tensor itself and Parameter itself (the class that declares `_is_param`) print as `tensor(...)`.
    if kind is Tensor or "_is_param" in vars(kind):
        return array_repr(a, suffixes, contents=tensor_contents)
    if sparse:
        text = array_repr(a, suffixes, contents=tensor_contents, **more)
        return f"Parameter containing:\n{text}" if getattr(t, "_is_param", False) else text
    text = array_repr(a, suffixes, prefix=f"{kind.__name__}(", contents=tensor_contents)
    return f"Parameter({text})" if getattr(t, "_is_param", False) else text


_str = tensor_repr


def _parts_text(t: Any) -> str:
    names = ("indices", "values") if t.is_sparse else ("crow_indices", "col_indices", "values")
    lines = []
    for name, part in zip(names, [*([t._at] if t.is_sparse else t._at), t._of], strict=True):
        a = raw(part)
        indent = len("tensor(" + name + "=tensor(")
        text = _array_text(a, indent) if a.size else f"[], size={a.shape}"
        lines.append(f"{name}=tensor({text})")
    return (",\n" + " " * 7).join(lines)


def _about_parts(t: Any, a: np.ndarray) -> list[str]:
    about = [f"size={tuple(t.shape)}", f"nnz={t._nnz()}"]
    dtype = dtypes.from_numpy(a.dtype)
    default = dtypes.get_default_dtype()
    if dtype not in (default, default.to_complex(), dtypes.int64, dtypes.bool_):
        about.append(f"dtype={dtype}")
    return [*about, f"layout={t.layout}"]


def _about_data(a: np.ndarray) -> list[str]:
    """`size=` and `dtype=` where the printed elements leave them open."""
    default = dtypes.get_default_dtype()
    if a.size:
        obvious = {default, default.to_complex(), dtypes.int64, dtypes.bool_}
        needs_size = not PRINT_OPTS.edgeitems
    else:
        obvious = {default}
        needs_size = a.ndim != 1
    dtype = dtypes.from_numpy(a.dtype)
    return ([f"size={a.shape}"] if needs_size else []) + ([] if dtype in obvious else [f"dtype={dtype}"])


def _about_history(t: Tensor) -> str | None:
    try:
        grad_fn = t.grad_fn
    except RuntimeError:  # a view whose history cannot be derived again still prints
        return "grad_fn=<Invalid>"
    if grad_fn is not None:
        return f"grad_fn=<{type(grad_fn).__name__}>"
    return "requires_grad=True" if t.requires_grad else None


def tensor_format(t: Tensor, spec: str) -> str:
    """`format(t, spec)`: a plain tensor without dimensions formats as its number, any other as its `str`.

    Args:
        t: the tensor.
        spec: the format specification, as for a Python number.

    Raises:
        TypeError: if `spec` is not empty and `t` has dimensions or is of a subclass.
        ValueError: if the number does not know `spec`.

    Source: torch.Tensor.__format__
    """
    if type(t) is Tensor and not t._a.ndim:
        return format(t._a.item(), spec)
    return object.__format__(t, spec)


def grad_tracking_repr(value: str, level: int) -> str:
    """The text of a value under `func.grad` or `func.jvp`, around the text of what it wraps."""
    return f"GradTrackingTensor(lvl={level}, value=\n{textwrap.indent(value, '    ')}\n)"


def batched_repr(value: str, level: int, bdim: int) -> str:
    """The text of a value under `vmap`, around the text of what it wraps; `bdim` is its batch dimension."""
    return f"BatchedTensor(lvl={level}, bdim={bdim}, value=\n{textwrap.indent(value, '    ')}\n)"


def special_repr(x: Any) -> str:
    """The text of a value of a transform."""
    from .core.forward import Dual

    if isinstance(x, Dual):
        if by_hand(x.level):
            return tensor_repr(x.primal, tangent=x.tangent)
        if not alive(x.level):
            return repr(x.primal)
    return tracked_repr(x)


def tracked_repr(x: Tensor) -> str:
    """The text of a value of transforms: what each made of it, around the text of the tensor beneath."""
    from .core.batch import Batched
    from .core.forward import Dual

    made: list[tuple[int, bool]] = []
    while isinstance(x, (Batched, Dual)):
        if isinstance(x, Dual) and by_hand(x.level):
            break
        if alive(x.level):
            made.append((x.level, isinstance(x, Batched)))
        x = x.value if isinstance(x, Batched) else x.primal
    stages = _stages(x)
    made += [(level, False) for level in stages]
    if isinstance(x, Dual):
        text = special_repr(x)
    else:
        text = tensor_repr(x.detach() if stages else x)
    for level, batched in sorted(made):
        text = batched_repr(text, rank(level), 0) if batched else grad_tracking_repr(text, rank(level))
    return text


def _stages(x: Any) -> set[int]:
    """The levels of the gradient transforms that are to differentiate by what a tensor was made of."""
    found: set[int] = set()
    node = None if isinstance(x, Special) else x._node
    stack, seen = [x if node is True else node], set()
    while stack:
        edge = stack.pop()
        if edge is None or id(edge) in seen:
            continue
        seen.add(id(edge))
        edge = edge if isinstance(edge, Tensor) else edge.owner
        stage = getattr(edge, "__dict__", {}).get("stage_")
        if stage is not None and stage.running:
            found.add(stage.level)
        stack += () if isinstance(edge, Tensor) else edge.edges
    return found
