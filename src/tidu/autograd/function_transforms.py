"""Custom Functions under transforms: forward mode by their `jvp`, vmap by their `vmap` or by batches of all they do."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..core import levels
from ..core.batch import Batched, is_batched, materialize, wrap
from ..core.forward import Dual, check_sizes, make_dual
from ..core.levels import randomness_of
from ..core.subclass import Special
from ..core.tensor import Tensor
from .function import Function, FunctionCtx, run

_SEE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


def process(cls: Any, args: tuple[Any, ...], top: Special) -> Any:
    """`cls.apply(*args)` where `top` is the argument that belongs to the innermost transform."""
    if isinstance(top, Dual):
        return _forward_mode(cls, args, top.level)
    if not isinstance(top, Batched):
        return top.process_function(cls, args)
    return _vmapped(cls, args, top)


# ------------------------------------------------------------------ forward mode


def _forward_mode(cls: Any, args: tuple[Any, ...], level: int) -> Any:
    primals = tuple(a.primal if _is(a, level) else a for a in args)
    tangents = [a.tangent if _is(a, level) else None for a in args]
    if cls.setup_context is not Function.setup_context:
        out = cls.apply(*primals)
        ctx = cls._backward_cls()
        ctx.needs_input_grad = tuple(isinstance(p, Tensor) and p.requires_grad for p in primals)
        cls.setup_context(ctx, primals, out)
    else:
        if any(isinstance(p, Special) for p in primals):
            raise RuntimeError(
                "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it "
                "must "
                f"override the setup_context staticmethod. {_SEE}"
            )
        out, ctx = run(cls, primals)
    if not levels.alive(level):
        return out
    ctx.saves_for_forward = True
    if ctx.materialize_grads:
        tangents = [
            p.new_zeros(tuple(p.shape)) if t is None and isinstance(p, Tensor) and p.dtype.category >= 2 else t
            for t, p in zip(tangents, primals, strict=True)
        ]
    moved = cls.jvp(ctx, *tangents)
    outs = out if isinstance(out, tuple) else (out,)
    moved = moved if isinstance(moved, tuple) else (moved,)
    if len(moved) != len(outs):
        raise RuntimeError(
            "Function's jvp returned an invalid number of forward gradients (expected "
            f"{len(outs)} but got {len(moved)})"
        )
    for i, (o, t) in enumerate(zip(outs, moved, strict=True)):
        if t is not None and not isinstance(t, Tensor):
            raise RuntimeError(f"expected Variable or None (got {type(t).__name__}) for grad output {i}.")
        check_sizes(o, t)
    fixed = ctx.non_differentiable or ()
    made = tuple(
        o if t is None or not isinstance(o, Tensor) or any(o is f for f in fixed) else make_dual(o, t, level)
        for o, t in zip(outs, moved, strict=True)
    )
    return made if isinstance(out, tuple) else made[0]


def _is(v: Any, level: int) -> bool:
    return isinstance(v, Dual) and v.level == level


# ------------------------------------------------------------------ vmap


class VmapInfo(NamedTuple):
    """What a Function's `vmap` is told. Source: torch._functorch.autograd_function.VmapInfo."""

    batch_size: int
    randomness: str


def _vmapped(cls: Any, args: tuple[Any, ...], top: Batched) -> Any:
    level, n = top.level, top.size_of_batch
    own = cls.vmap is not Function.vmap
    if own and cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden vmap "
            f"staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid "
            f"ambiguity. {_SEE}"
        )
    values = tuple(a.value if is_batched(a, level) else a for a in args)
    mapped = tuple(is_batched(a, level) for a in args)
    if own:
        in_dims = tuple(0 if m else None for m in mapped)
        got = cls.vmap(VmapInfo(n, randomness_of(level)), in_dims, *values)
        if not isinstance(got, tuple) or len(got) != 2:
            what = f"{len(got)} returns" if isinstance(got, tuple) else type(got)
            raise RuntimeError(
                "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure "
                f"compatible with the output. Got a {what} instead"
            )
        return _wrapped(*got, level)
    if cls.generate_vmap_rule and cls.setup_context is not Function.setup_context:
        out = _batched_function(cls, mapped, n).apply(*values)
        outs = tuple(
            wrap(o, level) if isinstance(o, Tensor) else o for o in (out if isinstance(out, tuple) else (out,))
        )
        return outs if isinstance(out, tuple) else outs[0]
    return _slices(cls, args, level, n)


def _wrapped(out: Any, dims: Any, level: int) -> Any:
    if isinstance(out, tuple):
        dims = dims if isinstance(dims, tuple) else (dims,) * len(out)
        return tuple(_wrapped(o, d, level) for o, d in zip(out, dims, strict=True))
    if isinstance(dims, tuple):
        (dims,) = dims
    if dims is None or not isinstance(out, Tensor):
        return out
    return wrap(out if dims == 0 else out.movedim(dims, 0), level)


def _slices(cls: Any, args: tuple[Any, ...], level: int, n: int) -> Any:
    """Without a rule: the slices one by one, stacked."""
    from ..ops.joining import stack

    warnings.warn(
        f"vmap: {cls.__name__} has no vmap staticmethod and not generate_vmap_rule=True, so its samples are run one "
        "by one",
        UserWarning,
        stacklevel=5,
    )
    rows = [cls.apply(*[a.value.select(0, i) if is_batched(a, level) else a for a in args]) for i in range(n)]
    if isinstance(rows[0], tuple):
        columns = zip(*rows, strict=True)
        return tuple(wrap(stack(list(c)), level) if isinstance(c[0], Tensor) else c[0] for c in columns)
    return wrap(stack(rows), level) if isinstance(rows[0], Tensor) else rows[0]


class _Shim(FunctionCtx):
    """The ctx that a Function's methods see when they run on batches."""

    saved_tensors: tuple[Any, ...] = ()


def _batched_function(cls: Any, mapped: Sequence[bool], n: int) -> Any:
    """A Function over whole batches whose methods run those of `cls` on them."""

    class OverBatches(Function):
        @staticmethod
        def forward(*values: Any) -> Any:
            level = levels.enter()
            try:
                out = cls.forward(*[wrap(v, level) if m else v for v, m in zip(values, mapped, strict=True)])
                if isinstance(out, tuple):
                    return tuple(materialize(o, level, n) if isinstance(o, Tensor) else o for o in out)
                return materialize(out, level, n)
            finally:
                levels.leave(level)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            level = levels.enter()
            try:
                shim = ctx.shim = _Shim()
                shim.needs_input_grad = ctx.needs_input_grad  # type: ignore[attr-defined]
                outs = output if isinstance(output, tuple) else (output,)
                shown = [wrap(o, level) if isinstance(o, Tensor) else o for o in outs]
                given = tuple(wrap(v, level) if m else v for v, m in zip(inputs, mapped, strict=True))
                cls.setup_context(shim, given, tuple(shown) if isinstance(output, tuple) else shown[0])
                ctx.set_materialize_grads(shim.materialize_grads)
                fixed = shim.non_differentiable or ()
                ctx.mark_non_differentiable(
                    *[o for o, s in zip(outs, shown, strict=True) if any(s is f for f in fixed)]
                )
                for save, kept in (("backward", shim.to_save), ("forward", shim.saved_for_forward or ())):
                    setattr(ctx, "batched_" + save, tuple(is_batched(t, level) for t in kept))
                    getattr(ctx, "save_for_" + save)(*[t.value if is_batched(t, level) else t for t in kept])
                shim.to_save, shim.saved_for_forward, shim.non_differentiable = (), None, ()
            finally:
                levels.leave(level)

        @staticmethod
        def backward(ctx: Any, *gs: Any) -> Any:
            level = levels.enter()
            try:
                ctx.shim.saved_tensors = _again(ctx.saved_tensors, ctx.batched_backward, level)
                got = cls.backward(ctx.shim, *[None if g is None else wrap(g, level) for g in gs])
                got = got if isinstance(got, tuple) else (got,)
                return tuple(_part(g, m, level, n) for g, m in zip(got, mapped, strict=False))
            finally:
                ctx.shim.saved_tensors = ()
                levels.leave(level)

        @staticmethod
        def jvp(ctx: Any, *ts: Any) -> Any:
            level = levels.enter()
            try:
                ctx.shim.saved_tensors = _again(ctx.saved_for_forward, ctx.batched_forward, level)
                got = cls.jvp(
                    ctx.shim, *[wrap(t, level) if m and t is not None else t for t, m in zip(ts, mapped, strict=True)]
                )
                if isinstance(got, tuple):
                    return tuple(None if t is None else materialize(t, level, n) for t in got)
                return materialize(got, level, n)
            finally:
                ctx.shim.saved_tensors = ()
                levels.leave(level)

    OverBatches.__name__ = cls.__name__
    OverBatches._backward_cls.__name__ = f"Vmapped{cls.__name__}Backward"
    return OverBatches


def _again(saved: Sequence[Any], batched: Sequence[bool], level: int) -> tuple[Any, ...]:
    return tuple(wrap(t, level) if b else t for t, b in zip(saved, batched, strict=True))


def _part(g: Any, mapped: bool, level: int, n: int) -> Any:
    """A cotangent for the whole batch; summed over it for an input that all samples share."""
    if g is None:
        return None
    if mapped:
        return materialize(g, level, n)
    return g.value.sum(0) if is_batched(g, level) else g * n
