"""In-place ops and out=: writing into memory that others may see, and into history that others may ask about.

An in-place op computes its result, checks that it may be written, and only then writes. What its rules read of the
overwritten input is copied first, and only if they read it. Afterwards the tensor's history is the op; for a view
the base's history becomes a `CopySlices`, out of which all its views derive theirs anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays.threads import BIG, blocked
from ..naming import given_out, warn
from .errors import explain
from .hooks import move_captures
from .levels import different
from .modes import CAREFUL, state
from .node import Node, freed, next_seq
from .op import REGISTRY, REQUIRED, Op
from .promote import result_type, scalar_of
from .subclass import Special, interpreter_of
from .tensor import NOWHERE, Inference, Tensor, new, tensor_of
from .views import DEFAULT, geometry, live_node, offset_in, pointer, storage_of, view_error, window

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


def inplace(op: Op, method: str | None = None) -> Callable[..., Any]:
    """The in-place variant of an op: its first argument takes the result. `x.exp_()`, `x.add_(y)`."""

    def general(input: Any, *args: Any, **kw: Any) -> Any:
        full = op.bind((input, *args), kw)
        try:
            return apply_inplace(op.for_args(full), full)
        except TypeError as error:
            raise _of_method(error, call.__name__) from None

    ufunc = getattr(op, "ufunc", None)
    if isinstance(ufunc, np.ufunc) and op.policy.plain:
        call = _unary_inplace(ufunc, general) if ufunc.nin == 1 else _binary_inplace(op, ufunc, general)
    else:
        call = general if hasattr(op, "random") else _plain_inplace(op, general)
    call.__name__ = call.__qualname__ = method or op.name + "_"
    call.__doc__ = f"In-place `{op.name}`: writes the result into the tensor, and returns it."
    call.op = op
    return call


def _of_method(error: TypeError, name: str) -> TypeError:
    """The error of a function's argument as that of the in-place method's, which does not count the tensor itself."""
    found = re.match(r"\w+\(\): (argument '\w+' \(position )(\d+)(\).*)", str(error))
    if found is None or found[2] == "1":
        return error
    return TypeError(f"{name}(): {found[1]}{int(found[2]) - 1}{found[3]}")


def _unary_inplace(ufunc: Any, general: Callable[..., Any]) -> Callable[..., Any]:
    """Unrecorded and of a real floating type: at once. Anything else is for `general`."""

    def call(input: Any, *more: Any) -> Any:
        if more:
            return general(input, *more)
        try:
            a = input._a
        except AttributeError:
            return general(input)
        if not writes_plainly(input, a):
            return general(input)
        if a.size <= BIG:
            ufunc(a, a)
        else:
            spread(ufunc, a)
        input._v[0] += 1
        return input

    return call


def _binary_inplace(op: Op, ufunc: Any, general: Callable[..., Any]) -> Callable[..., Any]:
    numbers = op.numbers

    def call(input: Any, other: Any = REQUIRED, *more: Any) -> Any:
        if more or other is REQUIRED:
            return general(input, *(other,) * (other is not REQUIRED), *more)
        try:
            a = input._a
            kind = other.__class__
            if (kind is float or kind is int) and numbers:
                dt = a.dtype
                if dt is not F32 and dt is not F64:
                    return general(input, other)
                b = scalar_of(other, dt)
                wants = False
            else:
                b = other._a
                wants = (other._node if other._view is None else live_node(other)) is not None and state.grad
                if b is not a and other._v is input._v and not (state.grad and refused(input)):
                    refuse_partial_overlap(a, b)
        except (AttributeError, OverflowError):
            return general(input, other)
        if wants or b.dtype is not a.dtype or not writes_plainly(input, a):
            return input if _recorded(op, input, other, a, b) else general(input, other)
        try:
            if a.size <= BIG:
                ufunc(a, b, a)
            elif b.ndim:
                spread(ufunc, a, b)
            else:
                spread(lambda x, out: ufunc(x, b, out), a)
        except ValueError:
            return general(input, other)
        input._v[0] += 1
        return input

    return call


def _plain_inplace(op: Op, general: Callable[..., Any]) -> Callable[..., Any]:
    """Unrecorded, of a real floating type, beside arguments that nothing needs to be made of: at once."""
    n, forward = len(op.params) - 1, op.forward
    alike = op.kind == "elementwise"  # an elementwise op's tensors must be of one type
    others = tuple([i for i in op.positions if i])
    plain = op.positions[0] == 0 and not op.lists and getattr(getattr(op, "policy", None), "plain", True)

    def call(input: Any, *args: Any, **kw: Any) -> Any:
        try:
            a = input._a
            vals = list(op.bind((input, *args), kw.copy())[1:] if kw or len(args) != n else args)
            ok = plain and writes_plainly(input, a)
            for i in others:
                x = vals[i - 1]
                vals[i - 1] = b = x._a
                if (alike and b.dtype is not a.dtype) or x._v is input._v or (state.grad and live_node(x) is not None):
                    ok = False
            if ok and alike and not others and a.size > BIG:
                spread(lambda x, out: np.copyto(out, forward(x, *vals)), a)
                input._v[0] += 1
                return input
            if ok:
                r = forward(a, *vals)
                if r.shape == a.shape and r.dtype is a.dtype:
                    np.copyto(a, r)
                    input._v[0] += 1
                    return input
        except (AttributeError, TypeError, ValueError, RuntimeError):
            pass
        return general(input, *args, **kw)

    return call


def refused(x: Tensor) -> bool:
    """Whether a write will be refused for what `x` is, which is to be said first."""
    base = x if x._view is None else x._view[0]
    return base._node is True or (x._view is not None and x._view[2] is not DEFAULT)


def _recorded(op: Op, x: Tensor, other: Any, a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """x = op(x, other) written into x's memory with the node that op itself makes. False, and nothing done, where more
    must be seen to: views, leaves, hooks, results that the node keeps."""
    if (
        state.record is not True
        or x._view is not None
        or x._node is True
        or x._extra is not None
        or x._v.__class__ is not list
        or b.dtype is not a.dtype
        or x is other
        or not a.flags.c_contiguous
        or (b.shape != a.shape and b.ndim)
    ):
        return False
    y = op.call(x, other)
    n = y._node
    if n is None or n.edges.__class__ is not tuple or getattr(n, "out", n) is not None:  # complex nodes have no out
        return False
    if n.x is not None:
        n.x = shadow(x, copy=True)
        n.x_version = 0
    np.copyto(a, y._a)
    x._v[0] += 1
    x._node = n
    return True


def refuse_partial_overlap(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> None:
    """RuntimeError where an input lies in a part of the memory that is written, or in all of it in another order."""
    if not (a.flags.forc and b.flags.forc) or not a.size or not b.size:
        return  # gaps: they could lie between each other
    start, other = pointer(a), pointer(b)
    if start == other and a.nbytes == b.nbytes:
        places = [[v.ndim, *[s for s, n in zip(v.strides, v.shape, strict=True) if n != 1]] for v in (a, b)]
        if places[0] == places[1]:
            return
    elif start >= other + b.nbytes or other >= start + a.nbytes:
        return
    raise RuntimeError(
        "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
        "location. Please clone() the tensor before performing the operation."
    )


def spread(kernel: Callable[..., Any], a: np.ndarray[Any, Any], *others: np.ndarray[Any, Any]) -> None:
    """kernel(a, *others, a), which writes into its last argument; over blocks and threads where `a` is large and no
    other array overlaps with it."""
    if a.size > BIG and all(
        v.shape == a.shape and v.flags.c_contiguous and (v is a or not np.may_share_memory(v, a)) for v in others
    ):
        row = a.reshape(-1)
        blocked(kernel, [row, *[v.reshape(-1) for v in others]], row)
    else:
        kernel(a, *others, a)


def writes_plainly(x: Any, a: np.ndarray[Any, Any]) -> bool:
    """Whether a write into an array of a real floating type, each element its own memory, goes unrecorded."""
    dt = a.dtype
    if (dt is not F32 and dt is not F64) or not a.flags.c_contiguous or state.record is CAREFUL:
        return False
    view = x._view
    if state.grad and ((x._node if view is None else view[2] is not DEFAULT or live_node(x)) is not None):
        return False
    return x._v.__class__ is list


# What may be written where one element shows many times: one number everywhere, and what PyTorch advises against.
_LENIENT = {
    "zero": "", "fill.number_": "", "tril": "", "triu": "", "masked_fill": "mask] = scalar",
    "index_fill": "mask] = scalar", "index_put": "indices] = tensor",
}  # fmt: skip


def apply_inplace(op: Op, args: Sequence[Any]) -> Any:
    """Write op(*args) into args[0]."""
    x = args[op.positions[0]]
    flat = [v for v in op.tensor_args(args) if isinstance(v, (Tensor, np.ndarray, np.generic))]
    top = interpreter_of(flat)
    if top is not None:
        return top.process_inplace(op, args)
    if hasattr(op, "random") and different():
        raise RuntimeError(
            "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same "
            "randomness. If this is necessary for your usage, please file an issue with functorch."
        )
    args = op.tensors_of(args)
    try:
        vals = op.arrays(args)
    except NotImplementedError:
        check_common(op, args, x._a)
        raise
    writes = op if op.differentiable else op.written(args[1:])
    wants = writes is not None and any([isinstance(v, Tensor) and _wants(v, x) for v in op.tensor_args(args)])
    name = op.name.removesuffix(".tensor")
    check_inplace(x, wants, name in _LENIENT)
    if op.kind == "elementwise" or op.name == "copy":
        for v in flat:
            if v is not x and v.__class__ is Tensor and v._v is x._v:
                refuse_partial_overlap(x._a, v._a)
    try:
        result = op.forward(*vals)
    except ValueError:
        check = getattr(op, "check_shapes", None)
        if check is not None:
            check(args)
        raise
    except RuntimeError as error:
        sizes = re.findall(r"\[.*?\]", str(error))
        if op.name not in _PRODUCTS or len(sizes) != 2:
            raise
        raise RuntimeError(_bad_call(x._a, sizes[0])) from None  # does not expand to the product's size
    a = x._a
    check_result(result, a, op)
    changed: Any = True
    if _LENIENT.get(name) and _expanded(a):
        warn(
            f"Use of {name}_ on expanded tensors is deprecated. Please clone() the tensor before performing this "
            f"operation. This also applies to advanced indexing e.g. tensor[{_LENIENT[name]}"
        )
        changed = result != a
    if writes is None or not (wants and state.grad and x.dtype.category >= dtypes.FLOATING):
        write(a, result, changed)
        x._v[0] += 1
        if state.debug:
            note(x)
        return x
    before = shadow(x, copy=reads_input(writes, args, x))
    write(a, result, changed)
    x._v[0] += 1
    at = op.positions[0]
    node = writes.make_node([before if i == at else v for i, v in enumerate(args)], (x,))
    if any([v is x for i, v in enumerate(op.tensor_args(args)) if i]):  # kept as another argument: it was written
        saved: Any = node.saved
        node.versions = [(k, c, v - 1 if saved[k] is x else v, out) for k, c, v, out in node.versions]
    if state.record is not True:
        from .careful import recorded

        recorded(node, (x,))
    rebase(x, node)
    return x


def _wants(v: Tensor, x: Tensor) -> bool:
    """Whether an argument has a history; that of the tensor written may be one that cannot be brought up to date."""
    if v is x and v._view is not None and v._view[2] is not DEFAULT:
        return v.requires_grad
    return live_node(v) is not None


def reads_input(op: Op, args: Sequence[Any], x: Tensor) -> bool:
    """Whether the node will keep the input that is about to be overwritten."""
    wanted = tuple(
        isinstance(args[i], Tensor) and args[i]._node is not None if i not in op.lists else True for i in op.graded
    )
    return any(how == "input" and args[i] is x for _, how, i in op.plan(wanted))


def shadow(x: Tensor, copy: bool) -> Tensor:
    """What `x` was before the write: its place in the graph, and its values if somebody will read them."""
    t = tensor_of(x._a.copy() if copy else x._a)
    t._node = x._node
    return t


def write(a: np.ndarray[Any, Any], result: Any, where: Any = True) -> None:
    if result is not a:
        np.copyto(a, result, casting="unsafe", where=where)


def check_inplace(x: Any, wants: bool, overlapping: bool = False) -> None:
    """Raise if `x` may not be written; `wants` says whether the write is to be recorded, `overlapping` that elements
    may
    share memory."""
    if not isinstance(x, Tensor):
        raise TypeError(f"an in-place op needs a Tensor to write into, not {type(x).__name__}")
    if type(x._v) is Inference:
        x._v[0] += 1
    if wants and state.grad:
        if x._view is not None:
            check_view(x)
        elif x._node is True:
            raise explain(
                RuntimeError("a leaf Variable that requires grad is being used in an in-place operation."),
                f"this tensor of shape {tuple(x.shape)} is a leaf: its value is what gradients are taken with respect "
                "to, so a recorded write to it would have no meaning. To update a parameter write under "
                "torch.no_grad(); to compute with a changed value write y = x + ... or start from x.clone().",
            )
    a = x._a
    if not overlapping and not a.flags.c_contiguous and _expanded(a):
        raise explain(
            RuntimeError(
                "unsupported operation: more than one element of the written-to tensor refers to a single memory "
                "location. Please clone() the tensor before performing the operation."
            ),
            "an expanded tensor shows one element many times.",
        )


def _expanded(a: np.ndarray[Any, Any]) -> bool:
    """Whether a dimension shows one element many times. Windows that overlap otherwise, as of unfold, PyTorch lets pass."""
    return a.size > 0 and any([s == 0 and n > 1 for n, s in zip(a.shape, a.strides, strict=True)])


def check_view(x: Tensor) -> None:
    base, _, how = x._view
    if how is not DEFAULT:
        raise view_error(x, "is being")
    live_node(x)
    if base._node is True or (base._node is None and x._node is not None):  # or of a view that was made one
        raise explain(
            RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation."),
            "the tensor shares memory with a leaf, whose value gradients are taken with respect to. Write under "
            "torch.no_grad(), or to a clone() of the leaf.",
        )
    if x._node is NOWHERE:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")


_PRODUCTS = ("addmm", "addmv", "baddbmm")


def _bad_call(a: Any, size: Any) -> str:
    return f"Bad in-place call: input tensor size {list(a.shape)} and output tensor size {size} should match"


def check_result(result: Any, a: np.ndarray[Any, Any], op: Op) -> None:
    """The result must have the tensor's shape, and a dtype that converts to its."""
    shape = result.shape
    if shape != a.shape:
        if op.name in _PRODUCTS:
            raise RuntimeError(_bad_call(a, list(shape)))
        raise RuntimeError(f"output with shape {list(a.shape)} doesn't match the broadcast shape {list(shape)}")
    if result.dtype is not a.dtype:
        have, want = dtypes.from_numpy(result.dtype), dtypes.from_numpy(a.dtype)
        if not dtypes.can_cast(have, want):
            raise RuntimeError(f"result type {have.legacy} can't be cast to the desired output type {want.legacy}")


def check_common(op: Op, args: Sequence[Any], a: np.ndarray[Any, Any]) -> None:
    """What PyTorch looks at before it looks for a kernel: the shape and the dtype that the result would have."""
    given = [v for v in op.tensor_args(args) if v is not None]
    shape = np.broadcast_shapes(*[tuple(v.shape) for v in given if isinstance(v, Tensor)])
    if shape != a.shape:
        raise RuntimeError(f"output with shape {list(a.shape)} doesn't match the broadcast shape {list(shape)}")
    have, want = result_type(given), dtypes.from_numpy(a.dtype)
    if op.name not in _BOOLEAN and not dtypes.can_cast(have, want):
        raise RuntimeError(f"result type {have.legacy} can't be cast to the desired output type {want.legacy}")


_BOOLEAN = frozenset("eq ne lt le gt ge logical_and logical_or logical_xor".split())  # results that any dtype can hold


# ------------------------------------------------------------------ history


def note(x: Tensor) -> None:
    """Note the line that writes."""
    from .careful import note_write

    note_write(x._v)


def rebase(x: Tensor, node: Any) -> None:
    """Make `node`, whose first edge leads to what `x` was, the history of `x`."""
    if state.debug:
        note(x)
    old = x._node
    if x._view is None:
        x._node = node
        move_captures(x, old)
        return
    node.__dict__["in_view_"] = True
    base = x._view[0]
    base_old = base._node
    base._node = copy_slices(base, x, node)
    move_captures(base, base_old)
    live_node(x)
    move_captures(x, old)


def copy_slices(base: Tensor, x: Tensor, node: Any) -> CopySlices:
    n = new(CopySlices)
    n.seq = next_seq()
    n._hooks = None
    n.edges = (base if base._node is True else base._node, *node.edges[1:])
    n.fn = node
    n.shared = n.released = False
    storage = storage_of(base._a)
    n.base_place = geometry(base._a, storage)
    n.view_place = geometry(x._a, storage)
    n.base_dtype, n.view_dtype = base._a.dtype, x._a.dtype
    return n


class CopySlices(Node):
    """An in-place op on a view, as part of the history of the base: the cotangent of the window goes through the
    op, the rest passes by."""

    __slots__ = ("base_dtype", "base_place", "fn", "released", "shared", "view_dtype", "view_place")

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        if self.released:
            raise freed(self)
        size, stride, offset = self.base_place
        v_size, v_stride, v_offset = self.view_place
        if not raw:  # what is recorded may lead to the op's own node, by its output
            self.shared = True
        if edges[0] is None:  # the base had no history: only what was written has
            return self._apply_written(g, edges, raw)
        if raw:
            memory = np.zeros(_reach(size, stride), self.base_dtype)
            result = window(memory, size, stride, 0)
            result[...] = g
            if self.view_dtype.itemsize != memory.itemsize:  # the parts of complex numbers
                offset *= memory.itemsize // self.view_dtype.itemsize
            part = window(memory, v_size, v_stride, v_offset - offset, self.view_dtype)
            cots = list(self.fn.apply(part.copy(), edges, raw))
            part[...] = 0 if cots[0] is None else cots[0]
            cots[0] = np.ascontiguousarray(result) if size else result
            return cots
        if isinstance(g, Special):
            return self._apply_whole(g, edges, raw)
        dense = tensor_of(np.zeros(_reach(size, stride), self.base_dtype))
        result = dense.as_strided(size, stride)
        result.copy_(g)
        result = dense.as_strided(size, stride)
        if self.view_dtype.itemsize != dense._a.itemsize:
            dense, offset = REGISTRY["view_as_real"].call(dense), 2 * offset
        part = dense.as_strided(v_size, v_stride, v_offset - offset)
        cots = list(self.fn.apply(part.clone(), edges, raw))
        if cots[0] is None:
            part.zero_()
        else:
            part.copy_(cots[0])
        cots[0] = result.clone()
        return cots

    def _apply_written(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        """The cotangents of the op's other inputs, from the window's."""
        if isinstance(g, Special):
            return self._apply_whole(g, edges, raw)
        size, stride, offset = self.base_place
        v_size, v_stride, v_offset = self.view_place
        a: Any = np.zeros(_reach(size, stride), self.base_dtype)
        if not raw:
            a = tensor_of(a)
        if self.view_dtype.itemsize != self.base_dtype.itemsize:  # the parts of complex numbers
            offset *= 2
        if raw:
            window(a, size, stride, 0)[...] = g
            return self.fn.apply(window(a, v_size, v_stride, v_offset - offset, self.view_dtype).copy(), edges, raw)
        a.as_strided(size, stride).copy_(g)
        if self.view_dtype.itemsize != self.base_dtype.itemsize:
            a = REGISTRY["view_as_real"].call(a).reshape(-1)
        return self.fn.apply(a.as_strided(v_size, v_stride, v_offset - offset).clone(), edges, raw)

    def _apply_whole(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        """The same without writes, which values of a transform may not take: the window by the places of its
        elements."""
        size, stride, offset = self.base_place
        v_size, v_stride, v_offset = self.view_place
        if self.view_dtype.itemsize != self.base_dtype.itemsize:
            g, unit = REGISTRY["view_as_real"].call(g), 2
            size, stride, offset = (*size, 2), (*(2 * s for s in stride), 1), 2 * offset
        else:
            unit = 1
        memory = np.zeros(_reach(size, stride), np.int64)
        window(memory, size, stride, 0)[...] = np.arange(
            memory.size if 0 in size else np.prod(size, dtype=int)
        ).reshape(size)
        places = tensor_of(np.array(window(memory, v_size, v_stride, v_offset - offset)).reshape(-1))
        flat = g.reshape(-1)
        cots = list(self.fn.apply(flat.gather(0, places).reshape(v_size), edges, raw))
        if edges[0] is None:
            return cots
        inner = flat.new_zeros(places.shape) if cots[0] is None else cots[0].reshape(-1)
        base = flat.scatter(0, places, inner).reshape(size)
        cots[0] = base if unit == 1 else REGISTRY["view_as_complex"].call(base)
        return cots

    def release(self) -> None:
        self.released = True
        if not self.shared:
            self.fn.release()

    def saved_arrays(self) -> Iterator[np.ndarray[Any, Any]]:
        return self.fn.saved_arrays()

    def name(self) -> str:
        return "torch::autograd::CopySlices"


def _reach(size: Sequence[int], stride: Sequence[int]) -> int:
    return 0 if 0 in size else 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True))


# ------------------------------------------------------------------ out=


def write_out(op: Op, result: Any, out: Any, wants: bool) -> Any:
    """Put a result into the tensor (or tensors) given as out=, resized if need be."""
    if type(result) is tuple:
        if not isinstance(out, (tuple, list)) or len(out) != len(result):
            raise TypeError(f"{op.name}(): argument 'out' must be tuple of Tensors, not {type(out).__name__}")
        pairs = list(zip(result, out, strict=True))
    else:
        pairs = [(result, out)]
    for r, o in pairs:
        check_out(op, r, o, wants)
    for r, o in pairs:
        put_out(np.asarray(r), o)
    if op.result is not None:
        return given_out(op.result)(*[o for _, o in pairs])
    return out


def write_out_values(op: Op, result: Any, out: Any) -> Any:
    """out= under a transform: the result as a plain value copied into `out`."""
    out.copy_(result)
    return out


def check_out(op: Op, result: Any, out: Any, wants: bool) -> None:
    if not isinstance(out, Tensor):
        raise TypeError(f"{op.name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    refuse_recorded_out(op, out, wants)
    have, want = dtypes.from_numpy(result.dtype), out.dtype
    if not dtypes.can_cast(have, want):
        raise RuntimeError(f"result type {have.legacy} can't be cast to the desired output type {want.legacy}")
    if result.shape == out._a.shape:
        check_inplace(out, False)


def refuse_recorded_out(op: Op, out: Any, wants: bool) -> None:
    """RuntimeError for an out= where the call would be recorded: said before anything about the values."""
    if not (state.grad and op.differentiable):
        return
    outs = out if isinstance(out, (tuple, list)) else (out,)
    if wants or any([isinstance(o, Tensor) and live_node(o) is not None for o in outs]):
        raise explain(
            RuntimeError(
                f"{op.name}(): functions with out=... arguments don't support automatic differentiation, but one of "
                "the arguments requires grad."
            ),
            "drop out= (the result is a new tensor with a history), or compute under torch.no_grad().",
        )


def put_out(result: np.ndarray[Any, Any], out: Tensor) -> None:
    if result.shape != out._a.shape:
        resize(out, result.shape)
    np.copyto(out._a, result, casting="unsafe")
    out._v[0] += 1
    if state.debug:
        note(out)


def resize(out: Tensor, shape: Sequence[int]) -> None:
    """Give an out= tensor the result's shape; PyTorch warns unless it was empty."""
    if out._a.size:
        warn(
            f"An output with one or more elements was resized since it had shape {list(out._a.shape)}, which does not "
            f"match the required output shape {list(shape)}. This behavior is deprecated, and in a future PyTorch "
            "release outputs will not be resized unless they have zero elements. You can explicitly reuse an out "
            "tensor t by resizing it, inplace, to zero elements with t.resize_(0)."
        )
    a = out._a
    n = int(np.prod(shape, dtype=np.int64))
    memory = storage_of(a)
    at = offset_in(a, memory) if a.size else 0
    if n and memory.dtype == a.dtype and memory.flags.c_contiguous and at + n <= memory.size:
        out._a = memory.reshape(-1)[at : at + n].reshape(tuple(shape))  # on its memory where that suffices
    else:
        out._a = np.empty(tuple(shape), a.dtype)
