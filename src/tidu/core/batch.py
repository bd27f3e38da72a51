"""Batches: what vmap puts in a tensor's place, the same tensor many times, told apart along a leading dimension.

`value` has the batch dimension first; everything the program sees (shape, dims) is without it. An op on batches is the
op on the values, its dims moved on by one: by kind where the kind says how, by a rule in `RULES` for ops that need one,
else slice by slice, which is always right.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from .. import dtypes
from ..shapes import Size, normalize_dim
from .levels import RANDOM_IN_ERROR_MODE, alive, randomness_of
from .modes import state
from .op import REGISTRY
from .promote import result_type
from .subclass import Special
from .tensor import Tensor, new
from .views import storage_of

_tuple = tuple.__new__  # the sizes are known to be ints


class CannotBatch(Exception):
    """A batch was asked for one value (`.item()`, `if x > 0`), or the samples have results of different shapes: vmap
    then runs the slices one by one."""


class CannotWrite(CannotBatch, RuntimeError):
    """A sample was to be written into what all samples share: an error, unless the function itself made that memory."""

    def __init__(self, text: str, x: Any) -> None:
        super().__init__(text)
        while isinstance(x, Special):
            x = x.value if isinstance(x, Batched) else x.primal
        memory = storage_of(x._a)
        self.memory = weakref.ref(memory) if memory.base is None else lambda: memory


def _not_written(name: str, x: Any, other: Batched) -> str:
    """Why what samples share can't be written into, in PyTorch's words, which depend on the op."""
    if name in ("add", "atan2"):
        shape = [other.size_of_batch, *x.shape]
        return f"output with shape {list(x.shape)} doesn't match the broadcast shape {shape}"
    what = f"aten::{name}_" if name in ("pow", "fmod", "remainder") else "inplace arithmetic"
    return (
        f"vmap: {what}(self, *extra_args) is not possible because there exists a Tensor `other` in "
        "extra_args that has more elements than `self`. This happened due to `other` being vmapped over but "
        "`self` not being vmapped over in a vmap. Please try to use out-of-place operators instead of "
        f"{'inplace arithmetic' if what[0] == 'i' else what}. If said operator is being called inside the PyTorch "
        "framework, please file a bug report instead."
    )


class Batched(Special):
    """A tensor under vmap."""

    __slots__ = ()

    value: Tensor

    @property
    def shape(self) -> Size:
        v = self.value
        if v.__class__ is Tensor:
            return _tuple(Size, v._a.shape[1:])
        return _tuple(Size, tuple(v.shape)[1:])

    @property
    def dtype(self) -> dtypes.dtype:
        return self.value.dtype

    @property
    def ndim(self) -> int:
        v = self.value
        return (v._a if v.__class__ is Tensor else v).ndim - 1

    @property
    def requires_grad(self) -> bool:
        return self.value.requires_grad

    @requires_grad.setter
    def requires_grad(self, on: bool) -> None:
        self.value.requires_grad = on

    @property
    def is_leaf(self) -> bool:
        return self.value.is_leaf

    @property
    def grad_fn(self) -> Any:
        return self.value.grad_fn

    @property
    def _version(self) -> int:
        return self.value._version

    @property
    def size_of_batch(self) -> int:
        return sizes(self.value)[0]

    def numbers(self, what: str) -> Any:
        raise CannotBatch(what)

    def detach(self) -> Any:
        return wrap(self.value.detach(), self.level)

    def requires_grad_(self, on: bool = True) -> Any:
        self.value.requires_grad_(on)
        return self

    def register_hook(self, hook: Any) -> Any:
        """Call `hook` with the gradients of all samples, as a batch."""

        def on_values(g: Any) -> Any:
            if not alive(self.level):
                return hook(g)
            got = hook(wrap(g, self.level))
            return got if got is None else materialize(got, self.level, self.size_of_batch)

        return self.value.register_hook(on_values)

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        return self.ndim

    ndimension = dim

    def numel(self) -> int:
        return self.shape.numel()

    nelement = numel

    def stride(self, dim: int | None = None) -> Any:
        strides = self.value.stride()[1:]
        return strides if dim is None else strides[dim]

    def is_contiguous(self, **_: Any) -> bool:
        return self.value[0].is_contiguous() if self.size_of_batch else True

    def contiguous(self, **_: Any) -> Any:
        return wrap(self.value.contiguous(), self.level)

    def is_complex(self) -> bool:
        return self.dtype.is_complex

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of a 0-d tensor")
        return int(self.shape[0])

    def _made(self, name: str, shape: Any, *args: Any, **kw: Any) -> Any:
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        return wrap(getattr(self.value, name)((self.size_of_batch, *shape), *args, **kw), self.level)

    def new_zeros(self, *size: Any, **kw: Any) -> Any:
        return self._made("new_zeros", size[0] if len(size) == 1 else size, **kw)

    def new_ones(self, *size: Any, **kw: Any) -> Any:
        return self._made("new_ones", size[0] if len(size) == 1 else size, **kw)

    def new_empty(self, *size: Any, **kw: Any) -> Any:
        return self._made("new_empty", size[0] if len(size) == 1 else size, **kw)

    def new_full(self, size: Any, fill_value: Any, **kw: Any) -> Any:
        return self._made("new_full", size, fill_value, **kw)

    # ---------------------------------------------------------------- ops

    def rewrapped(self, level: int) -> Any:
        """This batch, whose first visible dimension is that of a lower level, as a batch of batches."""
        return wrap(wrap(self.value.movedim(0, 1), level), self.level)

    def paired(self, primal: Any, tangent: Any, level: int) -> Any:
        """The dual, of a lower level, of two values of which one is a batch of this level."""
        from .forward import make_dual

        n = self.size_of_batch
        return wrap(
            make_dual(materialize(primal, self.level, n), materialize(tangent, self.level, n), level), self.level
        )

    def process(self, op: Any, args: Sequence[Any]) -> Any:
        level = self.level
        if not alive(level):
            raise RuntimeError("a tensor made under vmap was used after vmap had returned: return it from the function")
        own = op.__dict__
        rule = own["batch_rule"] if "batch_rule" in own else _look_up(op)
        if rule is _random:
            return _random(op, args, level, self.size_of_batch)
        if rule is not None:
            got = rule(op, args, level)
            if got is not NotImplemented:
                return _wrap_all(op, got, level)
        return slice_by_slice(op, args, level, self.size_of_batch)

    def process_inplace(self, op: Any, args: Sequence[Any]) -> Any:
        from .inplace import apply_inplace

        level = self.level
        x = args[op.positions[0]]
        if not (isinstance(x, Batched) and x.level == level):
            raise CannotWrite(_not_written(op.name, x, self), x)
        values = list(args)
        if op.kind == "elementwise" and _alike(op, values, level):
            apply_inplace(op, values)
            return x
        # What is kept for backward must not be what is overwritten.
        before = wrap(x.value.clone(), level) if state.grad and op.differentiable else x
        got = op.call(*[before if v is x else v for v in args])
        value = got.value if isinstance(got, Batched) and got.level == level else got
        if tuple(got.shape) != tuple(x.shape):
            aligned = len(op.positions) == 2
            if not aligned or got.numel() != x.numel():
                raise no_room(x, got, aligned)
            value = value.reshape((-1, *tuple(x.shape)))  # aligned with the batch, dimensions of size one do no harm
        x.value.copy_(value)
        return x


def no_room(x: Batched, got: Any, aligned: bool = True) -> RuntimeError:
    """The error for a result of another shape than what it is written into, in PyTorch's words: aligned with the batch."""
    n, shape, other = [x.size_of_batch] if aligned else [], list(x.shape), list(got.shape)
    fill = [1] * (len(other) - len(shape)) if aligned else []
    return RuntimeError(f"output with shape {n + fill + shape} doesn't match the broadcast shape {n + other}")


def _look_up(op: Any) -> Any:
    """How an op treats batches, None for slice by slice; kept with the op."""
    from . import batch_rules  # noqa: F401  loaded when the first batch asks

    rule = _random if hasattr(op, "random") else RULES.get(op.name)
    if rule is None and op.kind == "elementwise":
        rule = elementwise
    op.batch_rule = rule
    return rule


def wrap(value: Any, level: int) -> Any:
    """A value with the batch dimension first, as a batch of this level; what belongs to a higher level stays
    outside."""
    if value.__class__ is not Tensor and isinstance(value, Special) and value.level > level:
        return value.rewrapped(level)
    b = new(Batched)
    b.value, b.level = value, level
    b._node = b._view = b._grad = b._extra = None
    b._v = getattr(value, "_v", None) or [0]
    return b


def sizes(v: Any) -> tuple[int, ...]:
    return v._a.shape if v.__class__ is Tensor else tuple(v.shape)


def is_batched(v: Any, level: int) -> bool:
    return v.__class__ is Batched and v.level == level


def levels_of(values: Sequence[Any]) -> dict[int, int]:
    """The levels and sizes of the batches among some values, in primals and tangents."""
    found: dict[int, int] = {}
    stack = list(values)
    while stack:
        v = stack.pop()
        if isinstance(v, Batched):
            found[v.level] = v.size_of_batch
            stack.append(v.value)
        elif hasattr(v, "tangent"):
            stack += (v.primal, v.tangent)
    return found


def unwrap(v: Any, level: int) -> Any:
    return v.value if v.__class__ is Batched and v.level == level else v


def _wrap_all(op: Any, got: Any, level: int) -> Any:
    if got.__class__ is Tensor:
        return wrap(got, level)
    if isinstance(got, tuple):
        made = tuple(wrap(g, level) if isinstance(g, Tensor) else g for g in got)
        return made if op.result is None else op.result(*made)
    return wrap(got, level) if isinstance(got, Tensor) else got


def batch_size(op: Any, args: Sequence[Any], level: int) -> int:
    for i in op.positions:
        v = args[i]
        if v.__class__ is Batched and v.level == level:
            return sizes(v.value)[0]
    return next(v.size_of_batch for v in op.tensor_args(args) if is_batched(v, level))


def materialize(v: Any, level: int, n: int) -> Any:
    """The value of a tensor with the batch dimension first, repeated without copying if it had none."""
    if is_batched(v, level):
        return v.value
    return v.expand((n, *tuple(v.shape)))


def slice_by_slice(op: Any, args: Sequence[Any], level: int, n: int) -> Any:
    """The op on every slice, and the results stacked."""
    stack = REGISTRY["stack"].call
    call = getattr(op, "drawn", op.call)
    rows = []

    def sample(v: Any, i: int) -> Any:
        if not is_batched(v, level):
            return v
        return v.value.select(0, i) if n else v.value.new_zeros(v.shape)

    for i in range(n or 1):  # of no samples, one of zeros says what shape the results have
        full = list(args)
        for p in op.positions:
            full[p] = [sample(u, i) for u in full[p]] if p in op.lists else sample(full[p], i)
        rows.append(call(*full))
    if len({_shapes(r) for r in rows}) > 1:
        raise CannotBatch(op.name)
    if isinstance(rows[0], tuple):
        made = tuple(
            wrap(stack([r[k] for r in rows], 0)[:n], level) if isinstance(rows[0][k], Tensor) else rows[0][k]
            for k in range(len(rows[0]))
        )
        return made if op.result is None else op.result(*made)
    return wrap(stack(rows, 0)[:n], level) if isinstance(rows[0], Tensor) else rows[0]


def _shapes(row: Any) -> Any:
    return tuple(tuple(r.shape) for r in (row if isinstance(row, tuple) else (row,)) if isinstance(r, Tensor))


_BY_ROW = frozenset(("multinomial", "_sample_dirichlet"))  # what they draw depends on a sample's dimensions
_BY_VALUE = frozenset(("poisson", "binomial", "_standard_gamma", *_BY_ROW))  # and on its values


def _random(op: Any, args: Sequence[Any], level: int, n: int) -> Any:
    """A sampler on a batch: numbers of their own for the samples, or the same for all."""
    how = randomness_of(level)
    if how == "error":
        raise RuntimeError(RANDOM_IN_ERROR_MODE)
    values = [v for v in op.tensor_args(args) if isinstance(v, Tensor)]
    if how == "same":
        # bernoulli(p, ...) of a number does not look at its tensor
        if op.name in _BY_VALUE or op.tensors[0] in ("mean", "std") or op.node_name.startswith("BernoulliBackward0"):
            raise RuntimeError(
                "Vmap does not currently support same randomness with a batched tensor input. Please file an issue "
                "with "
                "functorch"
            )
        return op.drawn(*[v.value.select(0, 0) if is_batched(v, level) else v for v in args])
    if op.name in _BY_ROW or len({v.ndim for v in values}) > 1 or any(v is True for v in args):  # True: by features
        return slice_by_slice(op, args, level, n)
    full = [materialize(v, level, n) if isinstance(v, Tensor) else v for v in args]
    if op.name == "dropout_noise":  # in order of the dimensions, wherever the batch lies
        full[0] = full[0].contiguous()
    got = op.drawn(*full)
    return _wrap_all(op, got, level)


# ------------------------------------------------------------------ kinds


def _alike(op: Any, full: list[Any], level: int) -> bool:
    """Take the batches among the arguments off their level where that is all there is to do: plain values of one dtype,
    as many dimensions in all batches, fewer in what all samples share."""
    ndim, dtype, shared = -1, None, 0
    try:
        for p in op.positions:
            v = full[p]
            cls = v.__class__
            if cls is Batched and v.level == level:
                full[p] = v = v.value
                a = v._a
                if ndim not in (-1, a.ndim):
                    return False
                ndim = a.ndim
            elif isinstance(v, Tensor):
                a = v._a
                shared = max(shared, a.ndim)
            else:
                continue
            if dtype is None:
                dtype = a.dtype
            elif a.dtype is not dtype:
                return False
    except AttributeError:  # a value of another transform
        return False
    return shared < ndim


def elementwise(op: Any, args: Sequence[Any], level: int) -> Any:
    """Broadcasting does the work, once all have the same number of dimensions and, as 0-d ones count less in
    promotion, one dtype."""
    full = list(args)
    if _alike(op, full, level):
        return op.call(*full)
    full = list(args)
    tensors = [args[p] for p in op.positions if isinstance(args[p], Tensor)]
    n = max(t.ndim for t in tensors)
    together = None
    if len({t.dtype for t in tensors}) > 1:
        together = result_type([args[p] for p in op.positions if args[p] is not None])
    for p in op.positions:
        v = args[p]
        if not isinstance(v, Tensor):
            continue
        if is_batched(v, level):
            lacks = n - v.ndim
            v = v.value
            if lacks:
                v = v.reshape((v.shape[0], *(1,) * lacks, *v.shape[1:]))
        if together is not None and v.dtype is not together and op.params[p] not in ("condition", "mask"):
            v = v.to(together)
        full[p] = v
    return op.call(*full)


Rule = Callable[[Any, Sequence[Any], int], Any]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Say how these ops treat batches: the function takes the op, the arguments and the level and returns the value."""

    def register(fn: Rule) -> Rule:
        for name in names:
            RULES[name] = fn
        return fn

    return register


def shift(d: int, ndim: int) -> int:
    """A dim of the program as one of the value."""
    return normalize_dim(d, ndim) + 1
