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
from ..shapes import Size, normalize_dim, numel
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
        rule = _elementwise
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
    """The shape of a value, as a plain tuple."""
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


def _elementwise(op: Any, args: Sequence[Any], level: int) -> Any:
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


@rule("where", "masked_fill", "masked_fill.tensor", "isclose", "complex", "polar", "abs.complex", "sgn.complex")
def _like_elementwise(op: Any, args: Sequence[Any], level: int) -> Any:
    return _elementwise(op, args, level)


@rule("cast", "clone", "contiguous_clone", "alias", "conj", "conj_physical", "tril", "triu", "zero", "view_as_real",
      "view_as_complex")  # fmt: skip
def _as_it_is(op: Any, args: Sequence[Any], level: int) -> Any:
    """Ops on trailing dimensions, or on none in particular."""
    x = args[0]
    if op.name in ("tril", "triu") and x.ndim < 2:
        return NotImplemented
    return op.call(x.value, *args[1:])


@rule(
    "sum_dim", "mean_dim", "nansum", "prod", "prod_dim", "var", "std", "var_mean", "std_mean", "logsumexp", "amax",
    "amin",
    "max_all", "min_all", "all", "any", "count_nonzero", "linalg_vector_norm", "flip", "cumsum", "cumprod",
    "cummax", "cummin",
    "logcumsumexp", "softmax", "log_softmax", "select", "slice", "squeeze_dim", "squeeze_dims", "max_dim", "min_dim",
    "median_dim", "nanmedian_dim", "sort", "topk", "kthvalue", "mode", "transpose", "unbind", "split",
    "split_with_sizes",
    "unfold", "glu",
)  # fmt: skip
def _dims_move_on(op: Any, args: Sequence[Any], level: int) -> Any:
    """Ops of one tensor whose dims are arguments."""
    x = args[0]
    if not is_batched(x, level) or not x.ndim:
        return NotImplemented
    full = list(args)
    full[0] = x.value
    places = op.__dict__.get("dims_at")
    if places is None:
        names = ("dim", "dims", "dim0", "dim1", "dim2", "dimension")
        places = op.dims_at = tuple(i for i, name in enumerate(op.params) if name in names)
    for i in places:
        d = args[i]
        if d is None:
            return NotImplemented
        full[i] = shift(d, x.ndim) if isinstance(d, int) else tuple([shift(v, x.ndim) for v in d])
    return op.call(*full)


@rule("argmax", "argmin")
def _places(op: Any, args: Sequence[Any], level: int) -> Any:
    x, dim, keepdim = args
    if not x.ndim or (dim is None and keepdim):
        return NotImplemented
    if dim is None:
        return op.call(x.value.reshape((x.value.shape[0], -1)), 1, False)
    return op.call(x.value, shift(dim, x.ndim), keepdim)


@rule("sum", "mean")
def _over_all(op: Any, args: Sequence[Any], level: int) -> Any:
    x = args[0].value
    if x.ndim == 1:
        return x.clone()
    return getattr(x, op.name)(tuple(range(1, x.ndim)))


@rule("unsqueeze")
def _new_dim(op: Any, args: Sequence[Any], level: int) -> Any:
    x, d = args
    return op.call(x.value, normalize_dim(d, x.ndim + 1) + 1)


@rule("squeeze")
def _drop_ones(op: Any, args: Sequence[Any], level: int) -> Any:
    x = args[0]
    dims = tuple(i + 1 for i, d in enumerate(x.shape) if d == 1)
    return x.value.squeeze(dims) if dims else x.value


@rule("permute")
def _reorder(op: Any, args: Sequence[Any], level: int) -> Any:
    x, dims = args
    return op.call(x.value, (0, *[shift(d, x.ndim) for d in dims]))


@rule("t")
def _flip_matrix(op: Any, args: Sequence[Any], level: int) -> Any:
    x = args[0]
    return x.value.transpose(-2, -1) if x.ndim == 2 else x.value


@rule("view", "reshape_copy", "unsafe_view", "_unsafe_view")
def _reshape(op: Any, args: Sequence[Any], level: int) -> Any:
    x, shape = args
    v = x.value
    if -1 in shape:
        known = -numel(shape)
        shape = tuple([x.numel() // (known or 1) if d == -1 else d for d in shape])
    return reshaped(v, (sizes(v)[0], *shape))


def reshaped(v: Any, shape: tuple[int, ...]) -> Any:
    """A value in another shape: at once where nothing need be found out."""
    return REGISTRY["view"].call(v, shape) if v.__class__ is Tensor and v._a.flags.c_contiguous else v.reshape(shape)


@rule("expand")
def _expand(op: Any, args: Sequence[Any], level: int) -> Any:
    x, size = args
    lacks = len(size) - x.ndim
    v = x.value
    if lacks > 0:
        v = v.reshape((v.shape[0], *(1,) * lacks, *v.shape[1:]))
    return op.call(v, (v.shape[0], *size))


@rule("sum_to_size")
def _sum_to(op: Any, args: Sequence[Any], level: int) -> Any:
    x, shape = args
    lead = x.ndim - len(shape)
    dims = tuple(range(lead)) + tuple(i + lead for i, d in enumerate(shape) if d == 1 and x.shape[i + lead] != 1)
    v = x.value
    if dims:
        v = v.sum(tuple(d + 1 for d in dims), keepdim=True)
    return v.reshape((v.shape[0], *shape))


@rule("repeat")
def _repeat(op: Any, args: Sequence[Any], level: int) -> Any:
    x, repeats = args
    v = x.value
    lacks = len(repeats) - x.ndim
    if lacks > 0:
        v = v.reshape((v.shape[0], *(1,) * lacks, *v.shape[1:]))
    return op.call(v, (1, *repeats))


@rule("select_backward", "slice_backward", "diagonal_backward", "unfold_backward")
def _adjoint_of_view(op: Any, args: Sequence[Any], level: int) -> Any:
    x, shape, *rest = args
    n = x.value.shape[0]
    moved = [
        shift(a, len(shape)) if op.params[i] in ("dim", "dim1", "dim2", "dimension") else a
        for i, a in enumerate(rest, 2)
    ]
    return op.call(x.value, (n, *shape), *moved)


@rule("diagonal", "diag_embed")
def _diagonal(op: Any, args: Sequence[Any], level: int) -> Any:
    x, offset, d1, d2 = args
    n = x.ndim + (op.name == "diag_embed")
    return op.call(x.value, offset, shift(d1, n), shift(d2, n))


@rule("getitem")
def _getitem(op: Any, args: Sequence[Any], level: int) -> Any:
    x, key = args
    return x.value[(slice(None), *(key if isinstance(key, tuple) else (key,)))]


@rule("index")
def _index(op: Any, args: Sequence[Any], level: int) -> Any:
    """Indices that are the same for all slices: one more whole dimension in front."""
    x, indices = args[0], args[1]
    if not is_batched(x, level) or any(is_batched(k, level) for k in indices):
        return NotImplemented
    places = [i for i, k in enumerate(indices) if k is not None]
    if places != list(range(places[0], places[-1] + 1)):
        return NotImplemented  # indices apart from each other put their dimensions first
    if any(getattr(k, "dtype", None) is not None and str(k.dtype).endswith("bool") for k in indices if k is not None):
        return NotImplemented
    return op.call(x.value, (None, *indices), *args[2:])


@rule("cat", "stack")
def _join(op: Any, args: Sequence[Any], level: int) -> Any:
    tensors, dim = args
    n = batch_size(op, args, level)
    if op.name == "cat" and any(t.ndim > 1 for t in tensors):  # a vector of nothing goes with everything
        tensors = [t for t in tensors if tuple(t.shape) != (0,)]
    values = [materialize(t, level, n) for t in tensors]
    ndim = max(t.ndim for t in tensors) + (op.name == "stack")
    return op.call(values, shift(dim, ndim))


# ------------------------------------------------------------------ products


@rule("mm")
def _product(op: Any, args: Sequence[Any], level: int) -> Any:
    """One product, the batch laid out as rows, where the second factor is the same for all."""
    a, b = args
    x, y = unwrap(a, level), unwrap(b, level)
    if x is a:
        return x.matmul(y)
    n, rows, k = sizes(x)
    m = sizes(y)[1]
    if y is not b:
        return REGISTRY["bmm"].call(x, y) if k == m else x.matmul(y)
    return REGISTRY["unsafe_view"].call(op.call(reshaped(x, (n * rows, k)), y), (n, rows, m))


@rule("bmm")
def _products(op: Any, args: Sequence[Any], level: int) -> Any:
    a, b = (_with_batch(v, level, v.ndim) for v in args)
    return a.matmul(b)


def _with_batch(v: Any, level: int, ndim: int) -> Any:
    if is_batched(v, level):
        return v.value
    return v if ndim == 2 else v.unsqueeze(0)


@rule("mv")
def _matrix_vector(op: Any, args: Sequence[Any], level: int) -> Any:
    a, v = args
    m, x = unwrap(a, level), unwrap(v, level)
    if not is_batched(v, level):
        return m.matmul(x)
    if not is_batched(a, level):
        return x.matmul(m.mT)
    return m.matmul(x.unsqueeze(-1)).squeeze(-1)


@rule("dot")
def _dot(op: Any, args: Sequence[Any], level: int) -> Any:
    a, b = (unwrap(v, level) for v in args)
    if a.ndim == b.ndim:
        return (a.unsqueeze(1).matmul(b.unsqueeze(2))).reshape((a.shape[0],))
    return a.matmul(b) if a.ndim == 2 else b.matmul(a)


@rule("addmm", "addmv", "baddbmm")
def _added(op: Any, args: Sequence[Any], level: int) -> Any:
    """beta * input + alpha * product, the product as its own op."""
    input, a, b, beta, alpha = args
    name = {"addmm": "mm", "addmv": "mv", "baddbmm": "bmm"}[op.name]
    product = REGISTRY[name]
    many = is_batched(a, level) or is_batched(b, level)
    p = RULES[name](product, (a, b), level) if many else product.call(a, b)
    if alpha != 1:
        p = p * alpha
    if beta == 0:
        return p if many else materialize(p, level, batch_size(op, args, level))
    v = unwrap(input, level)
    if is_batched(input, level):
        n, *rest = sizes(v)
        lacks = p.ndim - many - len(rest)
        if lacks:
            v = v.reshape((n, *(1,) * lacks, *rest))
    return p + (v if beta == 1 else v * beta)


@rule("gather", "scatter_add", "scatter", "gather_backward")
def _by_index(op: Any, args: Sequence[Any], level: int) -> Any:
    """Indices along a dimension: with a batch of them, or one for all."""
    if not all(t.ndim for t in op.tensor_args(args)):
        return NotImplemented
    n = batch_size(op, args, level)
    full = list(args)
    ndim = args[op.positions[0]].ndim
    for p in op.positions:
        full[p] = materialize(args[p], level, n)
    for i, name in enumerate(op.params):
        if name == "dim":
            full[i] = shift(args[i], ndim)
        elif name == "shape":
            full[i] = (n, *args[i])
    return op.call(*full)
