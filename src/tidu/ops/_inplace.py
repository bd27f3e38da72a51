"""In-place variants: of ops that write a part of the tensor, and of views."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.hooks import move_captures
from ..core.inplace import _wants, apply_inplace, check_inplace, check_view, reads_input, rebase, shadow
from ..core.modes import state
from ..core.op import Op
from ..core.tensor import Tensor
from ..core.views import live_node
from ._dtypes import refuse_overlap


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


def relabel(op: Op, name: str, node: str) -> Callable[..., Any]:
    """The method that gives a tensor the shape, strides and history of a view op's result."""
    node_class: list[Any] = []  # made when first needed, as `op.node` is

    def call(self: Any, *args: Any, **kw: Any) -> Any:
        full = (self, *args)
        if kw or len(full) != len(op.params):
            full = _bind(op, name, full, kw)
        if not hasattr(self, "_a"):
            return _relabel_special(op, full)
        try:
            result = op.forward(self._a, *full[1:])
        except RuntimeError as error:
            raise RuntimeError(str(error).replace(op.name + "()", name + "()")) from None
        old = live_node(self)
        record = state.grad and old is not None
        _check(self, record)
        before = shadow(self, copy=False)
        self._a = result
        self._v[0] += 1
        if record:
            n = op.make_node((before, *full[1:]), (self,))
            if not node_class:
                node_class.append(type(node, (op.node,), {"__slots__": ()}))
            n.__class__ = node_class[0]
            if state.record is not True:
                from ..core.careful import recorded

                recorded(n, (self,))
            self._node = n
            move_captures(self, old)
        if record and self._view is not None:  # unrecorded, its node follows from the base's
            base, _, how = self._view
            self._view = (base, self._v[0], how)
        return self

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"In-place `{op.name}`: the tensor itself gets the new shape. Source: torch.Tensor.{name}."
    call.op = op
    return call


def _bind(op: Op, name: str, args: tuple[Any, ...], kw: dict[str, Any]) -> tuple[Any, ...]:
    aliases = {"axis0": "dim0", "axis1": "dim1"}
    return op.bind(args, {aliases.get(k, k): v for k, v in kw.items()})


def _check(x: Tensor, record: bool) -> None:
    """Raise if the history of `x` may not be rewritten. That several elements share a place does not matter here."""
    if x._view is None or type(x._v) is not list:
        check_inplace(x, record)
    elif record:
        check_view(x)


def _relabel_special(op: Op, args: tuple[Any, ...]) -> Any:
    """For a dual: both of its parts. (A batch's own dimensions are shifted by its interpreter's out-of-place op.)"""
    x, got = args[0], op.call(*args)
    for slot in ("primal", "tangent", "value", "bdim"):
        if hasattr(x, slot):
            setattr(x, slot, getattr(got, slot))
    return x
