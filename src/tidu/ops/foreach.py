"""torch._foreach_*: one op over the tensors of lists. Optimisers written for PyTorch are full of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any

from ..core.tensor import Tensor

UNARY = """abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal
round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc""".split()
BINARY = "add clamp_max clamp_min div maximum minimum mul pow sub".split()
TERNARY = "addcdiv addcmul".split()
METHOD = {"maximum": "clamp_min", "minimum": "clamp_max"}  # these also take numbers

METHODS = ""
INPLACE = ""


def _each(values: Any, count: int) -> Any:
    """One value for each tensor: of a list, of a vector of scalars, or the same for all."""
    if isinstance(values, (list, tuple)):
        if len(values) != count:
            raise RuntimeError(f"Tensor lists must have the same number of tensors, got {count} and {len(values)}")
        return values
    return repeat(values, count)


def _of_list(tensors: Any, name: str) -> Sequence[Any]:
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(
            f"_foreach_{name}(): argument 'self' (position 1) must be tuple of Tensors, not {type(tensors).__name__}"
        )
    if not tensors:
        raise RuntimeError("Tensor list must have at least one tensor.")
    return tensors


def _unary(name: str, method: str, inplace: bool) -> Callable[..., Any]:
    def op(self: Any) -> Any:
        out = tuple(getattr(t, method)() for t in _of_list(self, name))
        return self if inplace else out

    return op


def _binary(name: str, method: str, inplace: bool) -> Callable[..., Any]:
    def op(self: Any, other: Any, *, alpha: Any = 1) -> Any:
        if isinstance(self, (int, float)):  # _foreach_pow(2, tensors)
            return tuple(self**t for t in _of_list(other, name))
        tensors, more = _of_list(self, name), {} if alpha == 1 else {"alpha": alpha}
        out = tuple(getattr(t, method)(o, **more) for t, o in zip(tensors, _each(other, len(tensors)), strict=False))
        return self if inplace else out

    return op


def _ternary(name: str, method: str, inplace: bool) -> Callable[..., Any]:
    def op(self: Any, tensor1: Any, tensor2: Any, scalars: Any = None, *, value: Any = 1) -> Any:
        tensors = _of_list(self, name)
        given = value if scalars is None else scalars
        given = given.tolist() if isinstance(given, Tensor) else given
        n = len(tensors)
        rows = zip(tensors, _each(tensor1, n), _each(tensor2, n), _each(given, n), strict=False)
        out = tuple(getattr(t, method)(a, b, value=v) for t, a, b, v in rows)
        return self if inplace else out

    return op


def _lerp(name: str, method: str, inplace: bool) -> Callable[..., Any]:
    def op(self: Any, tensors1: Any, weight: Any = None, *, scalars: Any = None, weights: Any = None) -> Any:
        tensors = _of_list(self, name)
        given = next(w for w in (weight, weights, scalars) if w is not None)
        n = len(tensors)
        rows = zip(tensors, _each(tensors1, n), _each(given, n), strict=False)
        out = tuple(getattr(t, method)(a, w) for t, a, w in rows)
        return self if inplace else out

    return op


def _foreach_norm(self: Any, ord: Any = 2, dtype: Any = None) -> Any:
    """The norm of each tensor."""
    return tuple(t.norm(ord, dtype=dtype) for t in _of_list(self, "norm"))


def _foreach_max(self: Any) -> Any:
    """The largest element of each tensor."""
    return tuple(t.max() for t in _of_list(self, "max"))


def _foreach_clone(self: Any, *, memory_format: Any = None) -> Any:
    """A copy of each tensor."""
    return tuple(t.clone() for t in _of_list(self, "clone"))


def _foreach_mm(self: Any, mat2: Any) -> Any:
    """The product of each pair of matrices."""
    return tuple(a.mm(b) for a, b in zip(_of_list(self, "mm"), mat2, strict=True))


def _foreach_zero_(self: Any) -> Any:
    """Zeros into each tensor."""
    for t in _of_list(self, "zero_"):
        t.zero_()
    return self


def _foreach_copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """The second list into the first."""
    for t, s in zip(_of_list(self, "copy_"), _each(src, len(self)), strict=False):
        t.copy_(s)
    return self


def _make() -> list[str]:
    names = []
    kinds = [(UNARY, _unary), (BINARY, _binary), (TERNARY, _ternary), (["lerp"], _lerp)]
    for group, make in kinds:
        for name in group:
            for end in ("", "_"):
                op = make(name, METHOD.get(name, name) + end, bool(end))
                op.__name__ = op.__qualname__ = f"_foreach_{name}{end}"
                op.__doc__ = f"`Tensor.{name}{end}` of each tensor of a list. Source: torch._foreach_{name}{end}."
                globals()[op.__name__] = op
                names.append(op.__name__)
    return names


__all__ = [
    "_foreach_clone", "_foreach_copy_", "_foreach_max", "_foreach_mm", "_foreach_norm", "_foreach_zero_",
]  # fmt: skip
__all__ += _make()
