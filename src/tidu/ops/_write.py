"""In-place ops that write a part of the tensor: at once into its memory, not by way of a whole result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.inplace import _wants, apply_inplace, check_inplace, reads_input, rebase, shadow
from ..core.modes import state
from ..core.op import Op
from ..core.tensor import Tensor
from ._exact import refuse_overlap


def _array(v: Any) -> Any:
    return v._a if isinstance(v, Tensor) else v


def write_part(op: Op, args: Sequence[Any], into: Callable[..., None], anywhere: bool = False) -> Any:
    """Write op(*args) into args[0] by `into(array, *arguments)`, which checks everything before it writes.

    `anywhere`: it writes into any layout, and the caller has seen to memory that the arguments share.
    """
    x = args[0]
    try:
        a = x._a
        vals = [[_array(w) for w in v] if v.__class__ is list else _array(v) for v in args[1:]]
    except AttributeError:
        return apply_inplace(op, args)
    if not (anywhere or a.flags.c_contiguous):
        return apply_inplace(op, args)
    wants = False
    cell = x._v
    for v in () if anywhere else args[1:]:
        if v.__class__ is Tensor and v._v is cell and v._a.ndim:
            refuse_overlap(x, (v,), whole=True)
    for v in args:
        if isinstance(v, Tensor) and (v._node is not None if v._view is None else _wants(v, x)):
            wants = True
    if not wants and x._v.__class__ is list and a.flags.c_contiguous:
        into(a, *vals)
        x._v[0] += 1
        return x
    check_inplace(x, wants)
    if any([v is x for v in args[1:]]):
        return apply_inplace(op, args)
    if not (wants and state.grad):
        into(a, *vals)
        x._v[0] += 1
        return x
    before = shadow(x, copy=reads_input(op, args, x))
    into(a, *vals)
    x._v[0] += 1
    node = op.make_node([before, *args[1:]], (x,))
    if state.record is not True:
        from ..core.careful import recorded

        recorded(node, (x,))
    rebase(x, node)
    return x
