"""Dtypes: what an op refuses, and PyTorch's words for it; out= of the result's dtype; half precision as float32."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..core.broadcast import _overlaps
from ..core.errors import invalid_combination
from ..core.promote import Number, Policy
from ..core.tensor import Tensor, dtype_word
from ..dtypes import dtype


def widened(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel with arrays of half precision as float32, and its result in their dtype again."""

    @functools.wraps(fn)
    def kernel(*args: Any, **kw: Any) -> Any:
        dtype = args[0].dtype
        if dtype.itemsize != 2 or dtype.kind not in "fV":
            return fn(*args, **kw)
        wide = [a.astype(np.float32) if isinstance(a, np.ndarray) and a.dtype == dtype else a for a in args]
        return np.asarray(fn(*wide, **kw)).astype(dtype)

    return kernel


CATEGORIES = "bifc"  # bool, integers, floating, complex: the categories of dtypes.py in their order


def either(name: str, input: Any, other: Any, second: str = "other", first: str = "input") -> None:
    """TypeError unless one of two arguments is a tensor and the other one a tensor or a number."""
    pair = input, other
    if any(isinstance(v, Tensor) for v in pair) and all(isinstance(v, VALUES) for v in pair):
        return
    if any(isinstance(v, np.ndarray) for v in pair):  # a rule running for numbers
        return
    raise invalid_combination(
        name,
        pair,
        f"(Tensor {first}, Tensor {second}, *, Tensor out = None)",
        f"(Number {'self' if first == 'input' else first}, Tensor {second}, *, Tensor out = None)",
        f"(Tensor {first}, Number {second}, *, Tensor out = None)",
    )


VALUES = (Tensor, np.ndarray, np.generic, *Number)


def refuse(
    categories: str, word: str = "", floats: bool = False, error: type[Exception] = NotImplementedError, **options: Any
) -> Policy:
    """The policy of an op that refuses dtypes of some categories (letters of `CATEGORIES`; h: half precision).

    `word` is the name of PyTorch's kernel, which its message shows, or, with a space in it, the whole message.
    """
    return Policy(floats, refusal(categories, word, error), **options)


def refusal(categories: str, word: str, error: type[Exception] = NotImplementedError) -> Callable[..., None]:
    def check(name: str, d: dtype, values: Any = ()) -> None:
        half = "h" in categories and d.itemsize == 2 and d.is_floating_point
        if half or CATEGORIES[d.category] in categories:
            raise error(word if " " in word else f"\"{word}\" not implemented for '{d.legacy}'")

    return check


def exact_out(call: Callable[..., Any], message: Callable[[Any, Any], str] | None = None) -> Callable[..., Any]:
    """Let an op refuse an out= of another dtype; `message` (result's dtype, out's dtype) has PyTorch's words."""
    op = call.op
    plain = op.write_out

    def write_out(result: Any, out: Any, wants: bool) -> Any:
        several = isinstance(result, tuple)
        if several and not isinstance(out, (tuple, list)):
            return plain(result, out, wants)  # which refuses it
        for r, o in zip(result, out, strict=False) if several else [(result, out)]:
            if isinstance(o, Tensor):
                have, want = dtypes.from_numpy(r.dtype), o.dtype
                if have is not want:
                    raise RuntimeError((message or _expected)(have, want))
        return plain(result, out, wants)

    op.write_out = write_out
    return call


def _expected(have: Any, want: Any) -> str:
    return f"Expected out tensor to have dtype {dtype_word(have)}, but got {dtype_word(want)} instead"


def apart_out(call: Callable[..., Any]) -> Callable[..., Any]:
    """Let an op refuse an out= that lies in the memory of an input."""
    op = call.op

    def guarded(*args: Any, out: Any = None, **kw: Any) -> Any:
        if out is None:
            return call(*args, **kw)
        refuse_overlap(out, op.bind(args, dict(kw)))
        return call(*args, out=out, **kw)

    guarded.__name__ = guarded.__qualname__ = op.name
    guarded.__doc__ = call.__doc__
    guarded.op = op
    return guarded


def refuse_overlap(out: Any, inputs: Any, whole: bool = False) -> None:
    """RuntimeError where `out` lies in the memory of one of the inputs, or several of its elements in one place.

    `whole`: nothing is said of arrays with gaps, which could lie between each other.
    """
    if isinstance(out, (tuple, list)):
        for o in out:
            refuse_overlap(o, inputs)
        return
    b = getattr(out, "_a", None)
    if b is not None and not b.flags.forc and _overlaps(b.shape, b.strides):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )
    for x in inputs:
        a = getattr(x, "_a", None)
        if a is not None and b is not None and np.may_share_memory(a, b):
            if whole and not (a.flags.forc and b.flags.forc):
                continue
            raise RuntimeError(
                "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
                "memory location. Please clone() the tensor before performing the operation."
            )
