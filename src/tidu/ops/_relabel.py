"""In-place variants of view ops: x.t_() writes nothing, it makes `x` itself the view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.hooks import move_captures
from ..core.inplace import check_inplace, check_view, shadow
from ..core.modes import state
from ..core.op import Op
from ..core.tensor import Tensor
from ..core.views import live_node


def relabel(op: Op, name: str, node: str) -> Callable[..., Any]:
    """The method that gives a tensor the shape, strides and history of a view op's result."""
    node_class: list[Any] = []  # made when first needed, as `op.node` is

    def call(self: Any, *args: Any, **kw: Any) -> Any:
        full = _bind(op, name, (self, *args), kw)
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
