"""Functions with a derivative of one's own: `autograd.Function`.

The context that `forward` and `backward` receive is the node itself, as in PyTorch: `y.grad_fn` is the `ctx`. What it
saves of its own outputs is kept without a reference to them, so that no cycle is made.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core.broadcast import cast, sum_to
from ..core.careful import check_made, trace
from ..core.errors import explain
from ..core.modes import no_grad, set_record, state
from ..core.node import Node, OutputEdge, edge_of, freed, modified, next_seq
from ..core.op import check_savable
from ..core.subclass import Special
from ..core.tensor import Tensor, tensor_of
from ..core.views import IN_FUNCTION, MULTI_OUTPUT, attach_view, live_node

__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "InplaceFunction", "NestedIOFunction", "once_differentiable"]


class FunctionCtx:
    """What `forward` may tell about itself. Source: torch.autograd.function.FunctionCtx."""

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors for `backward`, where `ctx.saved_tensors` gives them; call it once, with inputs or outputs."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for `jvp`."""
        for t in tensors:
            assert isinstance(t, Tensor) or t is None, (
                "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes on "
                "ctx."
            )
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Say which inputs `forward` has changed in place."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Say which outputs carry no gradient."""
        self.non_differentiable = args

    def mark_shared_storage(self, *pairs: Any) -> None:
        warnings.warn(
            "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically tracked. Note that "
            "calls to `set_()` are not tracked",
            FutureWarning,
            stacklevel=2,
        )

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` gets zeros for outputs that no gradient reached (default), or None."""
        self.materialize_grads = value

    to_save: Any = ()
    saved_for_forward: Any = None
    dirty_tensors: Any = ()
    non_differentiable: Any = ()
    materialize_grads = True


class FunctionNode(Node, FunctionCtx):
    """The node of a custom Function, and the `ctx` of its methods."""

    _forward_cls: Any = None
    runs_unasked = True
    saves_for_forward = False  # whether it is `jvp` that asks for what was saved
    avals: list[Any] | None

    def __init__(self) -> None:
        self.edges = ()
        self.seq = 0
        self._hooks = None
        self.avals = None
        self._saved: Any = None
        self._released = False
        self.needs_input_grad: tuple[bool, ...] = ()

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors saved by `save_for_backward`, checked to be as they were."""
        if self.saves_for_forward and self.saved_for_forward is not None:
            return tuple(self.saved_for_forward)
        if self._saved == ():
            raise RuntimeError(
                "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the "
                "autograd.Function. Either access saved_tensors only once, or set clear_saved_tensors_on_access=False."
            )
        if self._released:
            raise freed(self)
        if self._saved is None:
            return tuple(self.to_save or ())
        saved = tuple([None if s is None else s.unpack(self) for s in self._saved])
        if self._forward_cls.clear_saved_tensors_on_access:
            self._saved = ()
        return saved

    def __getattr__(self, name: str) -> Any:
        if name == "saved_tensors":  # a hook's own AttributeError, which Python takes for the lack of the name
            return FunctionNode.saved_tensors.fget(self)  # type: ignore[attr-defined]
        return super().__getattr__(name)

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    def name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{type(self).__name__} object at {id(self):#x}>"

    def release(self) -> None:
        self._released = True
        if self._saved != ():
            self._saved = None

    def saved_arrays(self) -> Iterator[np.ndarray[Any, Any]]:
        for s in self._saved or ():
            if s is not None:
                yield s.array()

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        gs = list(g) if self.avals is not None else [g]
        gs = [self._shown(k, c) for k, c in enumerate(gs)]
        got = self._run_backward(gs)
        cots = self._check(got)
        return [c._a if raw and isinstance(c, Tensor) else c for c in cots]

    def _shown(self, k: int, c: Any) -> Any:
        """A cotangent as `backward` sees it: a tensor, zeros where none came (unless told otherwise)."""
        if c is None:
            if not self.materialize_grads:
                return None
            if self._outputs[k] is None:  # not a tensor
                return None
            shape, dt = self._outputs[k]
            return tensor_of(np.zeros(shape, dt))
        return c if isinstance(c, Tensor) else tensor_of(c)

    def _run_backward(self, gs: list[Any]) -> Any:
        cls = self._forward_cls
        own = cls.backward is not Function.backward
        if own and cls.vjp is not Function.vjp:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
                "implement one of them."
            )
        fn = cls.backward if own else cls.vjp
        return fn(self, gs) if cls.boxed_grads_call else fn(self, *gs)

    def _check(self, got: Any) -> list[Any]:
        """What `backward` returned, one cotangent an input, in its shape and dtype."""
        cots = list(got) if isinstance(got, tuple) else [got]
        n = len(self._inputs)
        while len(cots) > n and cots[-1] is None:
            cots.pop()
        if len(cots) != n:
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected {n}, got {len(cots)})"
            )
        result = []  # type: ignore[var-annotated]
        for i, (c, meta) in enumerate(zip(cots, self._inputs, strict=True)):
            if meta is None:
                if c is not None:
                    raise RuntimeError(
                        f"function {self.name()} returned a gradient different than None at position {i + 1}, but the "
                        "corresponding forward input was not a Variable"
                    )
                continue
            if c is not None and not isinstance(c, Tensor):
                raise RuntimeError(f"expected Variable or None (got {type(c).__name__})")
            result.append(None if c is None else self._fit(len(result), c, *meta))
        return result

    def _fit(self, i: int, c: Any, shape: tuple[int, ...], dt: Any) -> Any:
        if tuple(c.shape) != shape:
            lead = c.ndim - len(shape)
            if lead < 0 or any(d not in (1, n) for d, n in zip(shape, c.shape[lead:], strict=True)):
                raise explain(
                    RuntimeError(
                        f"Function {self.name()} returned an invalid gradient at index {i} - got {list(c.shape)} but "
                        f"expected shape compatible with {list(shape)}"
                    ),
                    "backward() must return for every input a tensor of that input's shape.",
                )
            c = sum_to(c, shape)
        return cast(c, dt) if c.dtype.np != dt else c


class BackwardCFunction(FunctionNode):
    """The base of the node classes of custom Functions."""


class Saved:
    """A saved input or intermediate tensor, or one of the node's own outputs (without a reference to it)."""

    __slots__ = ("a", "cell", "hooks", "nr", "tensor", "version")

    def __init__(self, t: Tensor, nr: int | None) -> None:
        self.nr = nr
        self.tensor = t if nr is None else None
        self.a = getattr(t, "_a", None)
        self.cell = t._v
        self.version = t._v[0]
        self.hooks = None
        if state.saved_hooks:
            pack, unpack = state.saved_hooks[-1]
            with no_grad():
                was, state.saved_hooks = state.saved_hooks, ()
                state.refresh()
                try:
                    self.hooks = (pack(t if nr is None else tensor_of(self.a)), unpack)
                finally:
                    state.saved_hooks = was
                    state.refresh()
            self.tensor = self.a = None

    def unpack(self, node: FunctionNode) -> Tensor:
        if self.hooks is not None:
            packed, unpack = self.hooks
            t = unpack(packed)
            if not isinstance(t, Tensor):
                raise TypeError("Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                                f"{type(t).__name__}")  # fmt: skip
            return t
        if self.cell[0] != self.version:
            raise modified(node, self.tensor if self.nr is None else self.a, self.cell, self.version)
        if self.tensor is not None:
            return self.tensor
        t = tensor_of(self.a)
        t._v = self.cell
        t._node = node if node.avals is None else OutputEdge(node, self.nr or 0)
        return t

    def array(self) -> Any:
        return self.a


class _FunctionMeta(type):
    """Gives every Function its node class, `<name>Backward`."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        body = {"_forward_cls": cls, "__module__": "torch.autograd.function"}
        cls._backward_cls = type(name + "Backward", (BackwardCFunction,), body)
        super().__init__(name, bases, attrs)


FunctionMeta = _FunctionMeta


class Function(metaclass=_FunctionMeta):
    """Base class of functions with a derivative of one's own. Source: torch.autograd.Function.

    Give `forward(ctx, *args)` and `backward(ctx, *grad_outputs)` as static methods (or `forward(*args)` and
    `setup_context(ctx, inputs, output)`), and call `apply`.

    >>> import tidu as torch
    >>> class Cube(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x ** 3
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return 3 * x ** 2 * g
    >>> x = torch.tensor(2., requires_grad=True)
    >>> Cube.apply(x).backward()
    >>> x.grad
    tensor(12.)
    """

    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{self.__class__} should not be instantiated. Methods on autograd functions are all static, so you should "
            "invoke them on the class itself. Instantiating an autograd function will raise an error in a future "
            "version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
            "function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = backward
    clear_saved_tensors_on_access = False  # whether reading ctx.saved_tensors lets go of them
    boxed_grads_call = False  # whether backward gets the gradients as one list, from which it may take them

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` on the arguments, recorded as one node."""
        if kwargs:
            args = _bind(cls, args, kwargs)
        special = [a for a in args if isinstance(a, Special)]
        if special:
            from .function_transforms import process

            out = process(cls, args, max(special, key=lambda v: v.level))
        elif state.timer is None:
            out = run(cls, args)[0]
        else:
            with state.timer(cls.__name__):
                out = run(cls, args)[0]
        if state.check_forward:
            check_made(cls._backward_cls.__name__, args, out)
        return out


def _bind(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    import inspect

    signature = inspect.signature(cls.forward)
    lead = () if cls.setup_context is not Function.setup_context else (None,)
    parameters = signature.parameters.values()
    for p in parameters:  # PyTorch's apply hands forward positions only
        if p.kind is p.KEYWORD_ONLY and p.name in kwargs:
            raise TypeError(f"forward() got an unexpected keyword argument '{p.name}'")
    unknown = [k for k in kwargs if k not in signature.parameters]
    if unknown and not any(p.kind is p.VAR_KEYWORD for p in parameters):
        raise TypeError(f"forward() got an unexpected keyword argument '{unknown[0]}'")
    bound = signature.bind(*lead, *args, **kwargs)
    return bound.args[len(lead) :]


def run(cls: Any, args: tuple[Any, ...]) -> tuple[Any, Any]:
    """`cls.apply(*args)` on plain values; returns the outputs and the context."""
    inputs = [a for a in args if isinstance(a, Tensor)]
    nodes = [live_node(a) for a in inputs]
    ctx = cls._backward_cls()
    ctx.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
    records = state.grad and any(n is not None for n in nodes)
    was = set_record(False)
    try:
        if cls.setup_context is not Function.setup_context:
            try:
                output = cls.forward(*args)
            except TypeError:
                _bind(cls, args, {})  # says which argument is missing
                raise
            cls.setup_context(ctx, args, output)
        else:
            output = cls.forward(ctx, *args)
    finally:
        set_record(was)
    several = isinstance(output, tuple)
    outs = list(output) if several else [output]
    _check_dirty(ctx, inputs, outs)
    ctx.edges = tuple(edge_of(a) for a in inputs) if records else ()
    ctx._inputs = [(tuple(a.shape), a.dtype.np) if isinstance(a, Tensor) else None for a in args]
    ctx._outputs = [(tuple(o.shape), o.dtype.np) if isinstance(o, Tensor) else None for o in outs]
    if several:
        ctx.avals = [m or ((), None) for m in ctx._outputs]
    ctx.seq = next_seq()
    if state.anomaly:
        trace(ctx)
    outs = [_place(ctx, k, o, inputs, records) if isinstance(o, Tensor) else o for k, o in enumerate(outs)]
    _keep(ctx, outs, records)
    return (tuple(outs) if several else outs[0]), ctx


def _check_dirty(ctx: Any, inputs: list[Tensor], outs: list[Any]) -> None:
    if not all(isinstance(t, Tensor) for t in ctx.non_differentiable or ()):
        raise RuntimeError("mark_non_differentiable only accepts variable arguments, but got ")
    for t in ctx.dirty_tensors or ():
        if not isinstance(t, Tensor):
            raise RuntimeError("mark_dirty can only accept variables, but argument ")
        if not _same(t, inputs):
            warnings.warn(
                "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been "
                "mutated should "
                "be passed to ctx.mark_dirty().",
                UserWarning,
                stacklevel=4,
            )
        elif not _same(t, outs):
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as output. The inputs "
                "that are "
                "modified inplace must all be outputs of the Function."
            )


def _same(t: Tensor, among: Any) -> bool:
    return any(t is other for other in among)


def _place(ctx: Any, k: int, o: Tensor, inputs: list[Tensor], records: bool) -> Tensor:
    """An output in the graph: fresh, written in place, or an input handed through."""
    from ..core.inplace import check_inplace, rebase

    dirty = ctx.dirty_tensors or ()
    free = _same(o, ctx.non_differentiable or ()) or o.dtype.category < 2
    if _same(o, dirty):
        if records and not free:
            if o._node is True:
                raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
            check_inplace(o, True)
            if o._view is not None and ctx.avals is not None and len(ctx.avals) > 1:
                raise RuntimeError(
                    "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot "
                    "return more than one Tensor. This is not supported by the current autograd engine. You should either "
                    "make sure the input is not a view (using .clone() for example) or make your Function only return one "
                    "Tensor (potentially splitting it into two Functions: one doing the inplace that returns a single "
                    "Tensor and a second one that does the other operations). You can ask on the forum "
                    "https://discuss.pytorch.org/ if you need help to do this change."
                )
            if o._view is not None and inputs[0] is not o:
                raise RuntimeError("a view that is changed in place must be the first input of the Function")
            if o._view is None:
                o._node = ctx if ctx.avals is None else OutputEdge(ctx, k)
            else:
                rebase(o, ctx)
        o._v[0] += 1
        return o
    if _same(o, inputs):
        if free:
            return _alias(o)
        t = _alias(o)
        attach_view(t, o)
        t._view = (t._view[0], t._view[1], IN_FUNCTION)
        if records:
            t._node = ctx if ctx.avals is None else OutputEdge(ctx, k)
        return t
    if free or not records:
        return o
    if o._node is not None and getattr(o._node, "owner", None) is not ctx:  # made elsewhere, or a leaf: its value
        t = _alias(o)
        o = t
    if o._view is not None:
        if any(i is o._view[0] or (i._view is not None and i._view[0] is o._view[0]) for i in inputs):
            o._view = (o._view[0], o._view[1], IN_FUNCTION if ctx.avals is None else MULTI_OUTPUT)
        else:
            o._view = None
    o._node = ctx if ctx.avals is None else OutputEdge(ctx, k)
    return o


def _alias(t: Tensor) -> Tensor:
    other = tensor_of(t._a)
    other._v = t._v
    return other


def _keep(ctx: Any, outs: list[Any], records: bool) -> None:
    """Take over what `save_for_backward` was given."""
    to_save = ctx.to_save or ()
    if not records:
        ctx._saved = None
        return
    saved = []  # type: ignore[var-annotated]
    for i, t in enumerate(to_save):
        if t is None:
            saved.append(None)  # type: ignore[arg-type]
            continue
        if not isinstance(t, Tensor):
            raise TypeError(
                f"save_for_backward can only save variables, but argument {i} is of type {type(t).__name__}"
            )
        check_savable(t)
        nr = next((k for k, o in enumerate(outs) if o is t), None)
        if nr is not None and outs[nr]._node is None:
            nr = None
        saved.append(Saved(t, nr))
    ctx._saved = saved
    ctx.to_save = None
    ctx.dirty_tensors = ctx.non_differentiable = None


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a `backward` whose result cannot be differentiated again. Source:
    torch.autograd.function.once_differentiable."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        with no_grad():
            outputs = fn(ctx, *args)
        if not state.grad:
            return outputs
        if not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            return outputs
        single = not isinstance(outputs, tuple)
        outs = (outputs,) if single else outputs
        error = _DelayedError([o for o in outs if isinstance(o, Tensor)])
        made = iter(error.outputs)
        result = tuple(next(made) if isinstance(o, Tensor) else o for o in outs)
        return result[0] if single else result

    return wrapper


class _DelayedError(Node):
    """A node that raises when a second derivative reaches it."""

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self.edges = ()
        self.seq = next_seq()
        self._hooks = None
        self.avals = [(tuple(t.shape), t.dtype.np) for t in tensors]
        self.outputs = []
        for k, t in enumerate(tensors):
            o = _alias(t)
            o._node = OutputEdge(self, k)
            self.outputs.append(o)

    def name(self) -> str:
        return "torch::autograd::Error"

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


_DelayedError.__name__ = "Error"


class InplaceFunction(Function):
    """A Function that may be told to work in place. Source: torch.autograd.function.InplaceFunction."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class NestedIOFunction(Function):
    """A Function whose arguments and results may be nested: lists, tuples and dicts of tensors. Source:
    torch.autograd.function.NestedIOFunction.

    Give `forward_extended(self, *args)`, and `backward_extended(self, *grads)`, whose gradients are nested as the
    results are and whose result is nested as the arguments are. `self` is the context, on which `save_for_backward`,
    `saved_tensors`, `mark_dirty` and `mark_non_differentiable` take and give nested tensors too.

    >>> import tidu as torch
    >>> class Scale(torch.autograd.function.NestedIOFunction):
    ...     def forward_extended(self, pair):
    ...         return [pair[0] * 2, (pair[1] * 3,)]
    ...     def backward_extended(self, grads):
    ...         return [grads[0] * 2, grads[1][0] * 3]
    >>> a, b = (torch.ones(1, requires_grad=True) for _ in "ab")
    >>> x, (y,) = Scale.apply([a, b])
    >>> (x + y).backward()
    >>> a.grad, b.grad
    (tensor([2.]), tensor([3.]))
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return type(self).apply(*args)

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward_extended` on the arguments, recorded as one node."""
        from ..utils._pytree import tree_flatten, tree_unflatten

        flat, spec = tree_flatten(args)
        how: dict[str, Any] = {}
        results = _flattened(cls, spec, how).apply(*flat)
        return tree_unflatten(results, how["spec"])

    def forward_extended(self, *args: Any) -> Any:
        """The results from the arguments; to be overridden."""
        raise NotImplementedError

    def backward_extended(self, *grad_output: Any) -> Any:
        """The gradients of the arguments from those of the results; to be overridden."""
        raise NotImplementedError


class _Nested(FunctionCtx):
    """The `self` of a NestedIOFunction's methods: its context, which takes and gives nested tensors."""

    def __init__(self, ctx: Any) -> None:
        self.ctx = ctx

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ctx, name)

    def save_for_backward(self, *tensors: Any) -> None:
        from ..utils._pytree import tree_flatten

        flat, self.saved_spec = tree_flatten(tensors)
        self.ctx.save_for_backward(*flat)

    @property
    def saved_tensors(self) -> Any:
        from ..utils._pytree import tree_unflatten

        return tree_unflatten(list(self.ctx.saved_tensors), self.saved_spec)

    def mark_dirty(self, *args: Any) -> None:
        from ..utils._pytree import tree_leaves

        self.ctx.mark_dirty(*tree_leaves(args))

    def mark_non_differentiable(self, *args: Any) -> None:
        from ..utils._pytree import tree_leaves

        self.ctx.mark_non_differentiable(*tree_leaves(args))


def _flattened(cls: Any, spec: Any, how: dict[str, Any]) -> Any:
    """A Function over flat arguments that runs the methods of a nested one; `how` is told how results nest."""
    from ..utils._pytree import tree_flatten, tree_leaves, tree_unflatten

    class Flat(Function):
        @staticmethod
        def forward(ctx: Any, *flat: Any) -> Any:
            ctx.nested = type(cls.__name__, (_Nested, cls), {"__init__": _Nested.__init__})(ctx)
            results, how["spec"] = tree_flatten(ctx.nested.forward_extended(*tree_unflatten(list(flat), spec)))
            return tuple(results)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            nested = tree_unflatten(list(grads), how["spec"])
            whole = isinstance(nested, tuple)
            got = ctx.nested.backward_extended(*(nested if whole else (nested,)))
            return tuple(tree_leaves(got, is_leaf=lambda v: v is None))

    Flat.__name__ = cls.__name__
    Flat._backward_cls.__name__ = cls.__name__ + "Backward"
    return Flat
