"""How ops treat batches, by what they do with dimensions: dims moved on by one, shapes with one more in front, products
that take all samples at once. A rule that does not fit a call says NotImplemented, and the samples are run one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..shapes import normalize_dim, numel
from .batch import RULES, batch_size, elementwise, is_batched, materialize, rule, shift, sizes, unwrap
from .op import REGISTRY
from .tensor import Tensor


@rule("where", "masked_fill", "masked_fill.tensor", "isclose", "complex", "polar", "abs.complex", "sgn.complex")
def _like_elementwise(op: Any, args: Sequence[Any], level: int) -> Any:
    return elementwise(op, args, level)


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
    "unfold", "glu", "fft_c2c", "fft_r2c", "fft_c2r",
)  # fmt: skip
def dims_move_on(op: Any, args: Sequence[Any], level: int) -> Any:
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
