"""Hot paths for ops that programs call on small tensors by the thousand; rules with a kernel for arrays; in-place variants.

    leaky_relu = hot(elementwise("leaky_relu", _leaky_relu, {"input": fast(_kernel, _formula)}))

The op is declared as ever; `hot` and its kin give it a call that does at once what most programs ask for, plain
tensors, and leaves all else to the op's own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..arrays.threads import BIG
from ..core.elementwise import F32, F64, blocked
from ..core.inplace import _wants, apply_inplace, check_inplace, check_view, reads_input, rebase, refused, shadow
from ..core.modes import state
from ..core.node import Node, OutputEdge, freed, modified, next_seq
from ..core.op import Op, check_savable
from ..core.tensor import Tensor, new, tensor_of
from ..core.views import MULTI_OUTPUT, NO_GRAD, live_node
from ._dtypes import refuse_overlap

ndarray, generic = np.ndarray, np.generic


def fast(kernel: Callable[..., Any] | None, formula: Callable[..., Any]) -> Callable[..., Any]:
    """A rule: `kernel` where its first argument, the cotangent, is an array, else `formula`, of the same arguments.

    Without a kernel the formula itself goes over large arrays a block at a time.
    """
    if kernel is None:

        def numbers(g: Any, *values: Any) -> Any:
            return blocked(formula, g, *values) if g.size > BIG else formula(g, *values)

        kernel = numbers

    @functools.wraps(formula)
    def rule(*values: Any) -> Any:
        return kernel(*values) if values[0].__class__ is ndarray else formula(*values)

    return rule


def as_op(call: Callable[..., Any], formula: Callable[..., Any]) -> Callable[..., Any]:
    """A rule: `formula` of numbers, but the op `call` of tensors, so that it is one node where backward is recorded."""

    @functools.wraps(formula)
    def rule(*values: Any) -> Any:
        return call(*values) if isinstance(values[0], Tensor) else formula(*values)

    return rule


def in_blocks(forward: Callable[..., Any]) -> Callable[..., Any]:
    """An elementwise forward of one array that goes over a large one a block at a time."""

    @functools.wraps(forward)
    def kernel(input: Any) -> Any:
        return blocked(forward, input) if input.size > BIG else forward(input)

    return kernel


class HotNode(Node):
    """The node of such an op: the input or the output, as its rule reads it, and the arguments."""

    __slots__ = ("args", "cell", "out", "version", "x")
    pull: Callable[..., Any]
    remakes = False  # PyTorch's node does not keep the output: one that was written to is computed again

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        version = self.version
        if version is None:
            raise freed(self)
        x, out = self.x, self.out
        if x.__class__ is not tuple:  # a tuple is the shape of an input whose values nobody reads
            if x._v[0] != version:
                raise modified(self, x, x._v, version)
            if raw:
                x = x._a
        if out is not None:
            if self.cell[0]:
                if not self.remakes:
                    raise modified(self, out, self.cell, 0)
                self.out = out = self.op.forward(self.x._a, *self.args)
                self.cell = [0]
            if not raw:
                out = tensor_of(out)
                out._node, out._v = self, self.cell
        return (self.pull(g, x, out, *self.args),)

    def release(self) -> None:
        if self.out is not None or self.x.__class__ is not tuple:
            self.x = self.out = self.version = None

    def saved_arrays(self) -> Iterator[Any]:
        if self.x.__class__ is not tuple:
            yield self.x._a
        if self.out is not None:
            yield self.out


def _pull(op: Any) -> Callable[..., Any]:
    """The op's rule as a function of the cotangent, the input or its shape, the output, and the arguments."""
    reader, first = op.rules[0], op.params[0]
    names = [op.sources[r] if r >= 0 else "g" for r in reader.reads]
    shape = "tuple(x.shape)" if first in names else "x"
    words = {first: "x", first + "_shape": shape, "out": "out", "g": "g"}
    read = ", ".join(words.get(n, n) for n in names)
    return eval(f"lambda g, x, out, {''.join(p + ', ' for p in op.params[1:])}: fn({read})", {"fn": reader.fn})


def hot(call: Callable[..., Any], blocks: bool = True, remakes: bool = False) -> Callable[..., Any]:
    """Give the op behind `call`, of one tensor with one rule and one output, its hot path.

    `blocks`: an elementwise forward goes over large arrays a block at a time, unless it sees to that itself.
    """
    op = call.op
    n_args, forward, general, bind, arrays = len(op.params) - 1, op.forward, op.general, op.bind, ndarray
    elementwise = blocks and op.kind == "elementwise"
    cls: Any = None
    save_x = save_out = False

    def prepare() -> Any:  # when a node is first made: importing the library must not take long
        nonlocal cls, save_x, save_out
        save_x, save_out = op.params[0] in op.sources, "out" in op.sources
        cls = type(
            op.node_name, (HotNode,), {"__slots__": (), "op": op, "pull": staticmethod(_pull(op)), "remakes": remakes}
        )
        return cls

    def quick(input: Any, *args: Any, out: Any = None, **kw: Any) -> Any:
        if kw or len(args) != n_args:
            input, *args = bind((input, *args), kw)
        try:
            a = input._a
        except AttributeError:
            if input.__class__ is arrays and out is None:
                return op.on_arrays((input, *args))
            return general((input, *args), out)
        dt = a.dtype
        record = state.record
        if (dt is not F32 and dt is not F64) or out is not None or (record is not True and record is not False):
            return general((input, *args), out)
        for v in args:
            if isinstance(v, generic):  # beside arrays NumPy's numbers would widen the result
                return quick(input, *[v.item() if isinstance(v, generic) else v for v in args])
        r = blocked(forward, a, *args) if elementwise and a.size > BIG else forward(a, *args)
        e = input._node if input._view is None else live_node(input)
        t = new(Tensor)
        t._a = r if r.__class__ is ndarray else np.asarray(r)
        cell = t._v = [0]
        t._node = t._view = t._grad = t._extra = None
        if e is None or not record:
            return t
        t._node = n = new(cls or prepare())
        n.seq = next_seq()
        n._hooks = None
        n.edges = (input if e is True else e,)
        n.args = args
        if save_x:
            n.x = input
            n.version = input._v[0] if input._v.__class__ is list else check_savable(input)._v[0]
        else:
            n.x = a.shape
            n.version = 0
        if save_out:
            n.out, n.cell = r, cell
        else:
            n.out = None
        return t

    quick.__name__ = quick.__qualname__ = op.name
    quick.__doc__ = op.forward.__doc__
    quick.op = op
    op.call = quick
    return quick


class IndexedNode(Node):
    """The node of an op that is linear in its first argument and reads its second, a tensor of indices or a mask."""

    __slots__ = ("args", "index", "shape", "version")
    adjoint: Callable[..., Any]

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        index = self.index
        if index is None:
            raise freed(self)
        if index._v[0] != self.version:
            raise modified(self, index, index._v, self.version)
        return (self.adjoint(g, self.shape, index._a if raw else index, *self.args),)

    def saved_slot(self, source: str) -> Any:
        """What it keeps under a name that the op's rules have for it."""
        if source.endswith("_shape"):
            return self.shape
        return self.args[0] if source == "dim" else self.index

    def release(self) -> None:
        self.index = None

    def saved_arrays(self) -> Iterator[np.ndarray[Any, Any]]:
        if self.index is not None:
            yield self.index._a


def indexed(general: Callable[..., Any], forward: Any, adjoint: Any) -> Callable[..., Any]:
    """A call for `op(input, index, *arguments)`: a forward over arrays, an adjoint (g, shape, index, *arguments)."""
    op = general.op
    cls: Any = type(op.node_name, (IndexedNode,), {"__slots__": (), "op": op, "adjoint": staticmethod(adjoint)})

    def call(input: Any, index: Any, *args: Any) -> Any:
        record = state.record
        try:
            a, k = input._a, index._a
        except AttributeError:
            return general(input, index, *args)
        if record is not True and record is not False:
            return general(input, index, *args)
        r = forward(a, k, *args)
        t = new(Tensor)
        t._a = r
        t._v = [0]
        t._node = t._view = t._grad = t._extra = None
        if record:
            e = input._node if input._view is None else live_node(input)
            if e is not None:
                t._node = n = new(cls)
                n.seq = next_seq()
                n._hooks = None
                n.edges = (input if e is True else e,)
                n.index = index if index._v.__class__ is list else check_savable(index)
                n.version = index._v[0]
                n.shape = a.shape
                n.args = args
        return t

    call.__name__ = call.__qualname__ = op.name
    call.__doc__ = general.__doc__
    call.op = op
    return call


class ListNode(Node):
    """The node of an op that reads a list of tensors of indices, with None for dimensions that are not indexed."""

    __slots__ = ("indices", "shape", "versions")
    adjoint: Callable[..., Any]

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        indices = self.indices
        if indices is None:
            raise freed(self)
        for k, version in zip(indices, self.versions, strict=True):
            if k is not None and k._v[0] != version:
                raise modified(self, k, k._v, version)
        return (self.adjoint(g, self.shape, [k if k is None else k._a for k in indices] if raw else indices),)

    def saved_slot(self, source: str) -> Any:
        """What it keeps under a name that the op's rules have for it."""
        return self.shape if source.endswith("_shape") else self.indices

    def release(self) -> None:
        self.indices = None

    def saved_arrays(self) -> Iterator[np.ndarray[Any, Any]]:
        indices: Any = self.indices if self.indices is not None else ()
        yield from [k._a for k in indices if k is not None]


def indexed_by_list(general: Callable[..., Any], forward: Any, adjoint: Any) -> Callable[..., Any]:
    """A call for `op(input, indices)`, by a forward over arrays and an adjoint (g, shape, indices)."""
    op = general.op
    cls: Any = type(op.node_name, (ListNode,), {"__slots__": (), "op": op, "adjoint": staticmethod(adjoint)})

    def call(input: Any, indices: list[Any]) -> Any:
        record = state.record
        try:
            a, arrays = input._a, [k if k is None else k._a for k in indices]
        except AttributeError:
            return general(input, indices)
        if record is not True and record is not False:
            return general(input, indices)
        r = forward(a, arrays)
        t = new(Tensor)
        t._a = r
        t._v = [0]
        t._node = t._view = t._grad = t._extra = None
        if record:
            e = input._node if input._view is None else live_node(input)
            if e is not None:
                t._node = n = new(cls)
                n.seq = next_seq()
                n._hooks = None
                n.edges = (input if e is True else e,)
                n.indices = [k if k is None or k._v.__class__ is list else check_savable(k) for k in indices]
                n.versions = [k if k is None else k._v[0] for k in indices]
                n.shape = a.shape
        return t

    call.__name__ = call.__qualname__ = op.name
    call.op = op
    return call


class PartsNode(Node):
    """The node of an op that cuts a tensor into views."""

    __slots__ = ("args", "avals")
    adjoint: Callable[..., Any]

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        gs = []
        for c, (shape, dtype) in zip(g, self.avals, strict=True):
            if c is None:
                c = np.zeros(shape, dtype) if raw else tensor_of(np.zeros(shape, dtype))
            gs.append(c)
        return (self.adjoint(gs, *self.args),)


def parts(general: Callable[..., Any], forward: Any, adjoint: Any) -> Callable[..., Any]:
    """A call for an op with a tuple of views, by a forward over arrays and an adjoint (gs, *arguments)."""
    op = general.op
    cls: Any = type(op.node_name, (PartsNode,), {"__slots__": (), "op": op, "adjoint": staticmethod(adjoint)})
    n_args = len(op.params) - 1

    def call(input: Any, *args: Any, **kw: Any) -> Any:
        if kw or len(args) != n_args:
            input, *args = op.bind((input, *args), kw)
        record = state.record
        try:
            a = input._a
        except AttributeError:
            return general(input, *args)
        if record is not True and record is not False:
            return general(input, *args)
        arrays = forward(a, *args)
        cell = input._v
        view = input._view
        how = (input if view is None else view[0], cell[0], MULTI_OUTPUT if record else NO_GRAD)
        outs = []
        for r in arrays:
            t = new(Tensor)
            t._a = r
            t._v = cell
            t._view = how
            t._node = t._grad = t._extra = None
            outs.append(t)
        if record:
            e = input._node if view is None else live_node(input)
            if e is not None:
                n = new(cls)
                n.seq = next_seq()
                n._hooks = None
                n.edges = (input if e is True else e,)
                n.args = args
                n.avals = [(r.shape, r.dtype) for r in arrays]
                for i, t in enumerate(outs):
                    t._node = OutputEdge(n, i)
        return tuple(outs)

    call.__name__ = call.__qualname__ = op.name
    call.__doc__ = general.__doc__
    call.op = op
    op.call = call
    return call


class JoinNode(Node):
    """The node of an op that joins tensors: where each begins, ends."""

    __slots__ = ("dim", "shapes")
    adjoint: Callable[..., Any]

    def saved_slot(self, source: str) -> Any:
        """What it keeps under a name that the op's rules have for it."""
        return self.dim if source == "dim" else self.shapes

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        return self.adjoint(g, self.shapes, self.dim, tuple([e is not None for e in edges]))


def joining(general: Callable[..., Any], forward: Any, adjoint: Any) -> Callable[..., Any]:
    """A call for `op(tensors, dim)` of plain tensors of one dtype: a forward over arrays (ValueError or IndexError for
    what it does not take), and an adjoint (g, shapes, dim, needs)."""
    op = general.op
    cls: Any = type(op.node_name, (JoinNode,), {"__slots__": (), "op": op, "adjoint": staticmethod(adjoint)})

    def call(tensors: Any, dim: int) -> Any:
        record = state.record
        try:
            arrays = [x._a for x in tensors]
            dt = arrays[0].dtype
            for a in arrays:
                if a.dtype is not dt:
                    return general(tensors, dim)
            if record is not True and record is not False:
                return general(tensors, dim)
            r = forward(arrays, dim)
        except (AttributeError, ValueError, IndexError, TypeError):
            return general(tensors, dim)
        t = new(Tensor)
        t._a = r
        t._v = [0]
        t._node = t._view = t._grad = t._extra = None
        if record and dt.kind in "fcV":
            edges = []
            wants = False
            for x in tensors:
                e = x._node if x._view is None else live_node(x)
                if e is not None:
                    wants = True
                    if e is True:
                        e = x
                edges.append(e)
            if wants:
                t._node = n = new(cls)
                n.seq = next_seq()
                n._hooks = None
                n.edges = tuple(edges)
                n.dim = dim
                n.shapes = [a.shape for a in arrays]
        return t

    call.__name__ = call.__qualname__ = op.name
    call.op = op
    return call


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
    cell = x._v
    for v in () if anywhere else args[1:]:
        if v.__class__ is Tensor and v._v is cell and (v._a.ndim or _points(args[1])):
            if not (state.grad and refused(x)):
                refuse_overlap(x, (v,), whole=True)
    if not (anywhere or a.flags.c_contiguous):
        return apply_inplace(op, args)
    wants = False
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


def _points(indices: Any) -> bool:
    """Whether something is put at indices, not behind a mask, which it fills."""
    return indices.__class__ is list and any([k is not None and k.dtype.category for k in indices])


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
        record = live_node(self) is not None and state.grad
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
        check_inplace(x, record, True)
    elif record:
        check_view(x)


def _relabel_special(op: Op, args: tuple[Any, ...]) -> Any:
    """For a dual: both of its parts. (A batch's own dimensions are shifted by its interpreter's out-of-place op.)"""
    x, got = args[0], op.call(*args)
    for slot in ("primal", "tangent", "value", "bdim"):
        if hasattr(x, slot):
            setattr(x, slot, getattr(got, slot))
    return x
