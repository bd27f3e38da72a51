"""Ops whose out= must have the result's dtype: where PyTorch converts nothing on the way out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..core.returns import return_type
from ..core.strided import _overlaps
from ..core.tensor import Tensor

_WORDS = {
    "bool": "bool",
    "uint8": "unsigned char",
    "int8": "signed char",
    "int16": "short int",
    "int32": "int",
    "int64": "long int",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "float32": "float",
    "float64": "double",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}


def c_word(d: dtypes.dtype) -> str:
    """A dtype by the name of the type in C++, as some of PyTorch's messages have it."""
    return _WORDS.get(d.name, d.name)


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
        given = plain(result, out, wants)
        return return_type(op.name + "_out", *op.result.fields)(*given) if several and op.result else given

    op.write_out = write_out
    return call


def _expected(have: Any, want: Any) -> str:
    return f"Expected out tensor to have dtype {c_word(have)}, but got {c_word(want)} instead"


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
