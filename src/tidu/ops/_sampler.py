"""What the samplers share: the order in which a tensor is filled, arguments, and the op of a sampler."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..core.broadcast import sum_to
from ..core.levels import different, maps
from ..core.linear import linear
from ..core.op import Op, named
from ..core.tensor import Tensor, tensor_of
from ._make import as_dtype, finish, made, np_dtype, refuse_grad

Array = np.ndarray[Any, Any]
Draw = Callable[[Sequence[int]], Array]


def fill(a: Array, draw: Draw) -> Array:
    """Numbers for the places of `a` in the order in which they lie in memory, which is PyTorch's order."""
    if a.flags.c_contiguous:
        return draw(a.shape)
    from .storage import empty_as

    strides = empty_as(a).strides
    order = sorted(range(a.ndim), key=lambda k: -strides[k])
    back = sorted(range(a.ndim), key=order.__getitem__)
    return draw([a.shape[k] for k in order]).transpose(back)


def factory(
    shape: tuple[int, ...], d: Any, draw: Callable[..., Array], out: Any, requires_grad: Any, fn: str
) -> Tensor:
    """The tensor that a factory returns; draw(shape, dtype, contiguous) gives its numbers."""
    if out is None:
        if maps.stack:
            return over_maps(shape, lambda s: draw(s, d, True), requires_grad)
        return made(draw(shape, d, True), requires_grad)
    refuse_grad(out, "aten::" + fn)
    a = out._a
    place = a if a.shape == shape else np.empty(shape, a.dtype)
    contiguous = place.flags.c_contiguous
    return finish(fill(place, lambda s: draw(s, a.dtype, contiguous)), out, requires_grad)


def over_maps(shape: tuple[int, ...], draw: Callable[[tuple[int, ...]], Array], requires_grad: Any) -> Any:
    """Numbers drawn under vmap: where the samples differ, for all of them together, a batch."""
    from ..core.batch import wrap

    levels = different()
    t = made(draw((*[n for _, n in levels], *shape)), requires_grad)
    for level, _ in levels:
        t = wrap(t, level)
    return t


def like(input: Any, a: Array, draw: Callable[[Array], Array], requires_grad: Any) -> Any:
    """Numbers drawn in the shape, dtype and layout of `a`, which is like `input`."""
    if maps.stack:
        from ..core.batch import wrap

        whole: Any = getattr(input, "value", None)
        if hasattr(whole, "_a") and [level for level, _ in different()] == [input.level]:  # as the batch lies
            return wrap(made(draw(np.empty_like(whole._a, a.dtype, "K", False)), requires_grad), input.level)
        return over_maps(a.shape, lambda s: draw(np.empty(s, a.dtype)), requires_grad)
    return made(draw(a), requires_grad)


def dtype_for(dtype: Any, out: Any, fn: str, default: Any = None) -> Any:
    """The NumPy dtype of a factory's result; that of `out` must not contradict."""
    if out is None:
        return default if dtype is None and default is not None else np_dtype(dtype, fn)
    if dtype is not None and as_dtype(dtype, fn) is not out.dtype:
        want = as_dtype(dtype, fn)
        raise RuntimeError(f"dtype {want.legacy} does not match dtype of out parameter ({out.dtype.legacy})")
    return out._a.dtype


def float_arg(value: Any, fn: str, name: str, position: int) -> float:
    if isinstance(value, (float, int, np.number)):
        return float(value)
    if isinstance(value, Tensor) and not value.ndim:
        return float(value._a)
    raise TypeError(f"{fn}(): argument '{name}' (position {position}) must be float, not {type(value).__name__}")


def int_arg(value: Any, fn: str, name: str, position: int) -> int:
    try:
        n = int(value._a) if isinstance(value, Tensor) and value._a.dtype.kind in "iu" else operator.index(value)
    except TypeError:
        kind = type(value).__name__
        raise TypeError(f"{fn}(): argument '{name}' (position {position}) must be int, not {kind}") from None
    if not -(1 << 63) <= n < 1 << 63:
        raise ValueError("Overflow when unpacking long long")
    return n


def unsupported(kernel: str, d: dtypes.dtype) -> NotImplementedError:
    return NotImplementedError(f"\"{kernel}\" not implemented for '{d.legacy}'")


def floating(a: Array, kernel: str, complex_too: bool = False) -> dtypes.dtype:
    """The dtype of `a`, which must be a floating one; the error names the kernel."""
    d = dtypes.from_numpy(a.dtype)
    if d.category != dtypes.FLOATING and not (complex_too and d.category == dtypes.COMPLEX):
        raise unsupported(kernel, d)
    return d


def _zeros(input: Any) -> Any:
    return np.zeros_like(input)


_zero: Any = linear("zero_cotangent", _zeros, lambda g: _zero(g), register=False)


def sampler(
    name: str, forward: Callable[..., Any], node: str | None, *tensors: str, rule: Callable[..., Any] | None = None
) -> Op:
    """An op that draws: `random`, so neither to be computed once for several calls nor ahead of time.

    It passes zeros on to its tensor arguments, unless `rule` says otherwise; without a node it is not
    differentiable at all.
    """
    rules = {t: rule or _zero_rule(t) for t in tensors or ("input",)} if node else None
    return drawing(Op(name, forward, rules, node=node, register=False))


def drawing(op: Op) -> Op:
    """Mark an op as one that draws. Where the samples of a vmap draw numbers of their own, what they share they get
    each for themselves first."""
    drawn = op.drawn = op.call

    def call(*args: Any) -> Any:
        if maps.stack:
            from ..core.batch import levels_of, wrap

            full = list(args)
            tensors = [i for i, v in enumerate(args) if isinstance(v, Tensor)]
            known = levels_of([args[i] for i in tensors])
            for level, n in different():
                if level not in known:
                    x = full[tensors[0]]
                    full[tensors[0]] = wrap(x.expand((n, *tuple(x.shape))), level)
            return drawn(*full)
        return drawn(*args)

    op.random, op.call, call.op = True, call, op
    return op


def no_derivative(fn: str) -> Callable[..., Any]:
    """A rule for a sampler of which PyTorch knows no derivative."""

    def rule(g: Any) -> Any:
        raise RuntimeError(f"derivative for aten::{fn} is not implemented")

    return rule


def _zero_rule(tensor: str) -> Callable[..., Any]:
    def rule(g: Any, shape: Any) -> Any:
        if g.__class__ is Tensor:
            return tensor_of(np.zeros(shape, g._a.dtype))  # with no history: nothing leads back from it
        return sum_to(_zero(g), shape)

    return named(rule, ["g", tensor + "_shape"])
