"""Where PyTorch's own result is wrong: another way to it, by PyTorch's ops, that settles the matter.

When the two libraries disagree over one of these, the op on PyTorch's side is replaced by its referee, and the library
under test must agree with that, to the usual tolerance. docs/parity.md lists them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Op = Callable[..., Any]

_WIDE = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex64: torch.complex128,
}


def in_double(op: Op) -> Op:
    """The op computed in double precision, and rounded once."""

    def widened(*args: Any, **kw: Any) -> Any:
        narrow: list[torch.dtype] = []

        def wide(v: Any) -> Any:
            if isinstance(v, torch.Tensor) and v.dtype in _WIDE:
                narrow.append(v.dtype)
                return v.to(_WIDE[v.dtype])
            return type(v)(map(wide, v)) if type(v) in (tuple, list) else v

        args, kw = tuple(map(wide, args)), {k: wide(v) for k, v in kw.items()}
        made = op(*args, **kw)
        return tuple(m.to(narrow[0]) for m in made) if isinstance(made, tuple) else made.to(narrow[0])

    return widened


def scattered(op: Op) -> Op:
    """as_strided_scatter as what it is: a write to a window of a copy."""

    def written(input: Any, src: Any, size: Any, stride: Any, storage_offset: Any = None) -> Any:
        copy = input.clone()
        copy.as_strided(size, stride, storage_offset).copy_(src)
        return copy

    return written


def inverted(op: Op) -> Op:
    """The inverse of the matrix whose factor is given, by `inv`."""

    def inverse(factor: Any, upper: bool = False) -> Any:
        factor = factor.mH if upper else factor
        return torch.linalg.inv(factor @ factor.mH)

    return inverse


def unchunked(op: Op) -> Op:
    """linear_cross_entropy over all rows at once."""
    return lambda *args, options=None, **kw: op(*args, **kw)


def copied_out(op: Op) -> Op:
    """The op without out=, and its result put there."""

    def copied(*args: Any, out: Any = None, **kw: Any) -> Any:
        made = op(*args, **kw)
        return made if out is None else torch.mul(made.contiguous(), 1, out=out)

    return copied


# (entry, check) -> (why PyTorch is not to be followed, what replaces the op)
REFEREES: dict[tuple[str, str], tuple[str, Callable[[Op], Op]]] = {
    ("as_strided_scatter", check): (
        "PyTorch passes the gradient of `input` where `src` was written and blocks it elsewhere",
        scattered,
    )
    for check in ("grad", "grad2", "narrow")
} | {
    ("cholesky_inverse", "forward"): ("PyTorch's tangent is right to five digits", inverted),
    ("fft.ihfft2", "out"): ("over one dimension PyTorch does not write to out=", copied_out),
    ("fft.ihfftn", "out"): ("over one dimension PyTorch does not write to out=", copied_out),
    ("linalg.multi_dot", "dtype"): ("in float32 what cancels is right to four digits", in_double),
    ("matrix_exp", "dtype"): ("PyTorch gives NaN in half precision, whatever the matrix", in_double),
    ("native_layer_norm", "dtype"): ("PyTorch's rows of one element are not zero in half precision", in_double),
    ("nn.functional.linear_cross_entropy.chunked", "grad2"): (
        "PyTorch's chunked second derivative with respect to the input is zero",
        unchunked,
    ),
}


def referee(entry: str, check: str) -> tuple[str, Callable[[Op], Op] | None]:
    """The reason and the replacement, if there is one. Gradients in narrow dtypes may always be double precision's."""
    return REFEREES.get((entry, check), ("", in_double if check == "narrow" else None))
