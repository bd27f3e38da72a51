"""grad, vjp, jvp and what they are made of. Source: torch.func.

Each is the engine or forward mode on fresh inputs, so they nest in any order. A result is differentiable with
respect to
what surrounds it only if something there can be differentiated: the graph of the result is looked through for that.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..core import forward, levels
from ..core.batch import Batched, levels_of, wrap
from ..core.engine import captured_for, run_backward
from ..core.forward import Dual
from ..core.levels import maps
from ..core.modes import enable_grad, state
from ..core.node import LEAF, OUTPUT, Node, edge_of
from ..core.subclass import Special
from ..core.tensor import Tensor, set_requires_grad, tensor_of
from ..core.views import live_node
from ..ops._sampler import default_generator
from ..utils._pytree import tree_flatten, tree_map, tree_unflatten

# ------------------------------------------------------------------ values of any kind


class Stage:
    """Whether the function of a transform is running: its leaves are nobody's concern afterwards."""

    __slots__ = ("level", "running")

    def __init__(self) -> None:
        self.running = True
        self.level = levels.enter()

    def end(self) -> None:
        self.running = False
        levels.leave(self.level)


def fresh(x: Any, stage: Stage | None = None) -> Any:
    """The same value where the function to be differentiated begins: its own leaf, or tracked through to what
    surrounds."""
    if not isinstance(x, Tensor):
        return x
    if isinstance(x, Dual):
        return forward.make_dual(fresh(x.primal, stage), x.tangent, x.level)
    if isinstance(x, Batched):
        return wrap(fresh(x.value, stage), x.level)
    if isinstance(x, Special):
        return x.with_value(fresh(x.value, stage))
    if x.requires_grad:
        same = x.view_as(x)
        if stage is not None and isinstance(same._node, Node):
            same._node.stage_ = stage  # type: ignore[attr-defined]
        return same
    leaf = x.detach()
    set_requires_grad(leaf, True, method=True)
    leaf.stage_ = stage
    return leaf


def spread(x: Any, batches: dict[int, int]) -> Any:
    """A value with a batch dimension for each of these vmaps, so that every sample has a gradient of its own."""
    if isinstance(x, Tensor):
        for level, n in sorted(batches.items(), reverse=True):
            x = _spread(x, level, n)
    return x


def _spread(x: Any, level: int, n: int) -> Any:
    if isinstance(x, Dual):
        return forward.make_dual(_spread(x.primal, level, n), _spread(x.tangent, level, n), x.level)
    if isinstance(x, Batched) and x.level >= level:
        return x if x.level == level else wrap(_spread(x.value, level, n), x.level)
    return wrap(x.expand((n, *tuple(x.shape))), level)


def called(run: Callable[[list[Any]], Any], leaves: Sequence[Any], others: Sequence[Any]) -> tuple[list[Any], Any]:
    """Fresh inputs made of `leaves`, and `run` of them. Inputs get the batch dimensions of everything they meet: of the
    other arguments, and, found by running once, of what the function closes over."""
    batches = levels_of([*leaves, *others])
    stage = Stage()
    place = default_generator.stream.mark() if maps.stack else None
    try:
        ins = [fresh(spread(x, batches), stage) for x in leaves]
        out = run(ins)
        met = levels_of([o for o in tree_flatten(out)[0] if isinstance(o, Tensor)])
        if set(met) - set(batches):
            ins = [fresh(spread(x, {**batches, **met}), stage) for x in leaves]
            if place is not None:
                default_generator.stream.back(place)
            out = run(ins)
    finally:
        stage.end()
    return ins, out


def _plain(x: Any) -> Any:
    """The tensor beneath duals and batches."""
    while True:
        if isinstance(x, Dual):
            x = x.primal
        elif isinstance(x, Special):
            x = x.value
        else:
            return x


def pull_back(outs: Sequence[Any], ins: Sequence[Any], cots: Sequence[Any], create_graph: bool) -> list[Any]:
    """The cotangents of `ins` from those of `outs`, for values of any kind; None where there is no way.

    A dual's cotangent is a dual: the derivative of <cot, out> is that of its primal, and its tangent the derivative of
    <cot, tangent of out> + <tangent of cot, out>.
    """
    kinds = [v for v in (*outs, *ins) if isinstance(v, Special)] or [
        c for c in cots if isinstance(c, Special) and not isinstance(c, Batched)
    ]
    top = max(kinds, key=lambda v: v.level, default=None)
    level = 0 if top is None else top.level
    if isinstance(top, Dual):
        p_in = [_primal(v, level) for v in ins]
        p_out, p_cot = [_primal(v, level) for v in outs], [_primal(v, level) for v in cots]
        primal = pull_back(p_out, p_in, p_cot, create_graph)
        t_out, t_cot = [], []
        for o, c, po, pc in zip(outs, cots, p_out, p_cot, strict=True):
            if _is_dual(o, level):
                t_out.append(o.tangent)
                t_cot.append(pc)
            if _is_dual(c, level):
                t_out.append(po)
                t_cot.append(c.tangent)
        tangent = pull_back(t_out, p_in, t_cot, create_graph) if t_out else [None] * len(ins)
        return [
            p if p is None else forward.make_dual(p, p.new_zeros(tuple(p.shape)) if t is None else t, level)
            for p, t in zip(primal, tangent, strict=True)
        ]
    if isinstance(top, Batched) and any(_is_batched(o, level) for o in outs):
        n = next(o.size_of_batch for o in outs if _is_batched(o, level))
        o_v = [o.value if _is_batched(o, level) else o for o in outs]
        c_v = []
        for o, c in zip(outs, cots, strict=True):
            if _is_batched(o, level):
                c_v.append(c.value if _is_batched(c, level) else c.unsqueeze(0).expand((n, *tuple(c.shape))))
            else:
                c_v.append(c)
        got = pull_back(o_v, [i.value if _is_batched(i, level) else i for i in ins], c_v, create_graph)
        return [wrap(g, level) if g is not None and _is_batched(i, level) else g for g, i in zip(got, ins, strict=True)]
    if top is not None and not isinstance(top, Batched):
        return top.pull_back(outs, ins, cots, functools.partial(pull_back, create_graph=create_graph))
    return _engine(outs, ins, cots, create_graph)


def _primal(v: Any, level: int) -> Any:
    return v.primal if _is_dual(v, level) else v


def _is_dual(v: Any, level: int) -> bool:
    return isinstance(v, Dual) and v.level == level


def _is_batched(v: Any, level: int) -> bool:
    return isinstance(v, Batched) and v.level == level


def _engine(outs: Sequence[Any], ins: Sequence[Any], cots: Sequence[Any], create_graph: bool) -> list[Any]:
    roots = []
    for o, c in zip(outs, cots, strict=True):
        node = live_node(o)
        if node is not None:
            roots.append((edge_of(o), c))
    edges = [edge_of(i) if isinstance(i, Tensor) and live_node(i) is not None else None for i in ins]
    if not roots:
        return [None] * len(ins)
    special = any(isinstance(c, (Dual, Batched)) for c in cots)
    got = run_backward(
        roots,
        keep=True,
        create_graph=create_graph,
        targets=edges,
        accumulate=False,
        raw_values=False if special else None,
    )
    return [captured_for(got, e) for e in edges]


def surrounded(outs: Sequence[Any], ins: Sequence[Any]) -> bool:
    """Whether anything but `ins` could want the derivative of `outs`: another leaf in their graph, or another
    transform."""
    if not state.grad:
        return False
    mine = {_plain(i) for i in ins if isinstance(i, Tensor)}
    if any([i._node is not True for i in mine]):
        return True  # an input is itself computed from something tracked
    stack = []
    for o in outs:
        stack += _nodes_beneath(o)
    seen = set(stack)
    while stack:
        for e in stack.pop().edges:
            if e is None:
                continue
            kind = e.EDGE
            if kind == LEAF:
                if e not in mine:
                    stage = e.__dict__.get("stage_")
                    if stage is None or stage.running:
                        return True
                continue
            if kind == OUTPUT:
                e = e.node
            if e not in seen:
                seen.add(e)
                stack.append(e)
    return False


def _nodes_beneath(o: Any) -> list[Any]:
    """The nodes that made a value: of a dual, its primal's and its tangent's."""
    if isinstance(o, Dual):
        return _nodes_beneath(o.primal) + _nodes_beneath(o.tangent)
    if isinstance(o, Special):
        return _nodes_beneath(o.value)
    node = live_node(o)
    return [] if node is None or node is True else [node.owner]


# ------------------------------------------------------------------ grad and vjp


def _pick(args: tuple[Any, ...], argnums: int | tuple[int, ...]) -> Any:
    if isinstance(argnums, int):
        _in_range(argnums, len(args))
        return args[argnums]
    if isinstance(argnums, tuple):
        if not argnums:
            raise RuntimeError("argnums must be non-empty")
        for a in argnums:
            if not isinstance(a, int):
                raise RuntimeError(f"argnum must be int, got: {type(a)}")
            _in_range(a, len(args))
        from_the_left = tuple(a % len(args) for a in argnums)
        if len(set(from_the_left)) != len(argnums):
            raise RuntimeError(f"argnums elements must be unique, got {from_the_left}")
        return tuple(args[a] for a in argnums)
    raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")


def _in_range(a: int, n: int) -> None:
    if not -n <= a < n:
        raise RuntimeError(f"Got argnum={a}, but only {n} positional inputs")


def _put(args: tuple[Any, ...], argnums: int | tuple[int, ...], values: Any) -> tuple[Any, ...]:
    full = list(args)
    if isinstance(argnums, int):
        full[argnums] = values
    else:
        for a, v in zip(argnums, values, strict=True):
            full[a] = v
    return tuple(full)


def _beside(out: Any, call: str) -> tuple[Any, Any]:
    """The output proper and the tensors beside it, of a function with has_aux=True."""
    if not (isinstance(out, tuple) and len(out) == 2):
        raise RuntimeError(f"{call}: output of function f should be a tuple: (output, aux) if has_aux is True")
    for x in tree_flatten(out[1])[0]:
        if not isinstance(x, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(x)}")
    return out


def _as_leaves(tree: Any) -> tuple[list[Any], Any]:
    leaves, spec = tree_flatten(tree)
    for x in leaves:
        if not isinstance(x, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
    return leaves, spec


def grad_and_value(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns the gradient of `func` and its value. Source: torch.func.grad_and_value."""

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        outer = state.grad
        leaves, spec = _as_leaves(_pick(args, argnums))
        with enable_grad():
            ins, out = called(
                lambda ins: func(*_put(args, argnums, tree_unflatten(ins, spec)), **kwargs),
                leaves,
                tree_flatten((args, kwargs))[0],
            )
            aux = None
            if has_aux:
                out, aux = _beside(out, "grad_and_value(f)(*args)")
            if not isinstance(out, Tensor):
                raise RuntimeError(f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(out)}")
            if out.ndim != 0:
                raise RuntimeError(
                    "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with "
                    f"{out.ndim} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
                )
            if out.dtype.is_complex and out.requires_grad:
                raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {out.dtype!r}")
            around = outer and surrounded([out], ins)
            got = pull_back([out], ins, [_ones(out)], around)
        made = [_zeros(i) if g is None else g for g, i in zip(got, ins, strict=True)]
        if not around:
            made, out = [_cut(g) for g in made], _cut(out)
            aux = tree_map(lambda a: _cut(a) if isinstance(a, Tensor) else a, aux)
        result = tree_unflatten(made, spec)
        return (result, (out, aux)) if has_aux else (result, out)

    return wrapped


def grad(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient of a scalar function with respect to its arguments `argnums`.

    >>> import tidu as torch
    >>> torch.func.grad(torch.sin)(torch.tensor(0.))
    tensor(1.)

    Source: torch.func.grad.
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        g, value = both(*args, **kwargs)
        return (g, value[1]) if has_aux else g

    return wrapped


def _ones(x: Any) -> Any:
    if isinstance(x, Batched):
        return wrap(_ones(x.value), x.level)
    return tensor_of(np.ones(x._a.shape, x._a.dtype)) if x.__class__ is Tensor else x.new_ones(tuple(x.shape))


def _zeros(x: Any) -> Any:
    return x.new_zeros(tuple(x.shape))


def _cut(x: Any) -> Any:
    if isinstance(x, Dual):
        return forward.make_dual(_cut(x.primal), _cut(x.tangent), x.level)
    if isinstance(x, Batched):
        return wrap(_cut(x.value), x.level)
    return x.detach() if isinstance(x, Tensor) and x.requires_grad else x


def check_differentiable(values: Sequence[Any], what: str) -> None:
    """Raise for a tensor that cannot have a tangent, or be one."""
    for v in values:
        if isinstance(v, Tensor) and v.dtype.category < dtypes.FLOATING:
            raise ValueError(f"Expected {what} to be floating point or complex, but got: {v.dtype}")


def _empty(call: str) -> RuntimeError:
    return RuntimeError(f"{call}: Expected f to be a function that has non-empty output (got output = [])")


def _short(spec: Any) -> str:
    return str(tree_unflatten([_STAR] * spec.num_leaves, spec)) if not spec.is_leaf() else "*"


class _Star:
    def __repr__(self) -> str:
        return "*"


_STAR = _Star()


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """func(*primals), and the function that takes cotangents of its outputs to cotangents of the primals. Source:
    torch.func.vjp."""
    leaves, spec = _as_leaves(primals)
    outer = state.grad
    with enable_grad():
        ins, out = called(lambda ins: func(*tree_unflatten(ins, spec)), leaves, ())
        aux = None
        if has_aux:
            out, aux = _beside(out, "vjp(f, *primals)")
        outs, out_spec = tree_flatten(out)
        for o in outs:
            if not isinstance(o, Tensor):
                raise RuntimeError(
                    f"vjp(f, *primals): expected f(*primals) to return only tensors, got unsupported type {type(o)}"
                )
            if o.dtype.category < dtypes.FLOATING:
                raise RuntimeError(
                    "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype "
                    f"{o.dtype}"
                )
        if not outs:
            raise _empty("vjp(f, *primals)")
        around = outer and surrounded(outs, ins)

    def vjp_fn(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        cots, cot_spec = tree_flatten(cotangents)
        if cot_spec != out_spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
                "function. "
                f"cotangents: {_short(cot_spec)}, primal output: {_short(out_spec)}"
            )
        for i, (o, c) in enumerate(zip(outs, cots, strict=True)):
            if not isinstance(c, Tensor):
                raise TypeError("gradients can be either Tensors or None, but got " + type(c).__name__)
            if tuple(o.shape) != tuple(c.shape):
                raise RuntimeError(
                    f"Mismatch in shape: grad_output[{i}] has a shape of {c.shape} and output[{i}] has a shape of "
                    f"{o.shape}."
                )
        if isinstance(retain_graph, Tensor):
            raise TypeError("only integer tensors of a single element can be converted to an index")
        cots = [c if c.dtype is o.dtype else c.to(o.dtype) for o, c in zip(outs, cots, strict=True)]
        return tree_unflatten(pull(cots), spec)

    vjp_fn.__qualname__ = "_vjp_with_argnums.<locals>.wrapper"  # as Python's errors name it

    def pull(cots: Sequence[Any]) -> list[Any]:
        with enable_grad():
            record = around or any(c.requires_grad for c in cots)
            got = pull_back(outs, ins, cots, record)
        made = [_zeros(i) if g is None else g for g, i in zip(got, ins, strict=True)]
        return made if record else [_cut(g) for g in made]

    vjp_fn.pull = pull  # type: ignore[attr-defined]
    shown = tree_unflatten([o if around else _cut(o) for o in outs], out_spec)
    if has_aux:
        return shown, vjp_fn, tree_map(lambda a: _cut(a) if isinstance(a, Tensor) and not around else a, aux)
    return shown, vjp_fn


# ------------------------------------------------------------------ jvp


def jvp(
    func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> Any:  # fmt: skip
    """func(*primals), and its derivative in the direction of `tangents`. Source: torch.func.jvp.

    >>> import tidu as torch
    >>> torch.func.jvp(torch.sin, (torch.tensor(0.),), (torch.tensor(2.),))
    (tensor(0.), tensor(2.))
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    p, spec = tree_flatten(primals)
    t, t_spec = tree_flatten(tangents)
    if spec != t_spec:
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure. For "
            "example, if "
            f"primals is a tuple of 3 tensors, tangents also must be. Got primals with structure {spec} and "
            "tangents with "
            f"structure {t_spec}"
        )
    if not p:
        raise RuntimeError("jvp(f, primals, tangents): Expected primals to contain at least one Tensor.")
    for what, leaves in (("primals", p), ("tangents", t)):
        for x in leaves:
            if not isinstance(x, Tensor):
                raise RuntimeError(f"jvp(f, primals, tangents): Expected {what} to only contain Tensors, got {type(x)}")
    check_differentiable(p, "primal")
    check_differentiable(t, "tangent")
    for x, v in zip(p, t, strict=True):
        if tuple(x.shape) != tuple(v.shape):
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the original Tensor, this "
                "is not "
                f"supported. Tensor is of size {list(x.shape)} while the given forward gradient is of size "
                f"{list(v.shape)}."
            )
    level = levels.enter()
    try:
        duals = [forward.make_dual(x.view_as(x), v, level) for x, v in zip(p, t, strict=True)]
        out = func(*tree_unflatten(duals, spec))
        aux = None
        if has_aux:
            out, aux = _beside(out, "jvp(f, primals, tangents)")
            aux = tree_map(lambda a: _primal(a, level), aux)
        outs, out_spec = tree_flatten(out)
        for o in outs:
            if not isinstance(o, Tensor):
                raise RuntimeError(
                    "jvp(f, primals, tangents): expected f(*primals) to return only tensors, got unsupported type "
                    f"{type(o)}"
                )
        if not outs:
            raise _empty("jvp(f, primals, tangents)")
        values = [_primal(o, level) for o in outs]
        moved = []
        for o in outs:
            if strict and not _is_dual(o, level):
                raise RuntimeError(
                    "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is "
                    "not allowed with strict=True."
                )
            moved.append(o.tangent if _is_dual(o, level) else _zeros(o))
    finally:
        levels.leave(level)
    result = tree_unflatten(values, out_spec), tree_unflatten(moved, out_spec)
    return (*result, aux) if has_aux else result


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """func(*primals), and the linear function that takes tangents of the primals to those of the outputs. Source:
    torch.func.linearize."""
    out = func(*primals)
    frozen = tuple(primals)

    def jvp_fn(*tangents: Any) -> Any:
        for i, (p, t) in enumerate(zip(tree_flatten(frozen)[0], tree_flatten(tangents)[0], strict=False)):
            if isinstance(p, Tensor) and isinstance(t, Tensor) and tuple(p.shape) != tuple(t.shape):
                raise RuntimeError(
                    f"tangent:{i} with shape {t.shape} in flattened pytree doesn't match the shape {p.shape} of the "
                    "corresponding primal."
                )
        return jvp(func, frozen, tangents)[1]

    return out, jvp_fn
