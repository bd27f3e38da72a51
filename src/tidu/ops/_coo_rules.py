"""What ops do with sparse tensors, each with the way back. See coo.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..core import engine
from ..core.modes import enable_grad, no_grad, state
from ..core.node import edge_of
from ..core.promote import Number, result_type
from ..core.tensor import Tensor, tensor_of
from ..shapes import Size, normalize_dim, normalize_dims
from . import windows
from .coo import (
    RULES,
    Rows,
    Sparse,
    _alias,
    _built,
    _cannot,
    _check_sizes,
    _coalesced,
    _coo,
    _empty,
    _found,
    _keys,
    _masked,
    _parts_of,
    _recorded,
    _refuse_copy,
    _scatter,
    _taken,
    on_values,
    rule,
    sparse,
    underivable,
)  # fmt: skip
from .factories import zeros
from .index_dim import index_add, index_select

ndarray = np.ndarray

# ------------------------------------------------------------------ elementwise


def _linear(x: Any, fn: Callable[..., Any], node: str, back: Any) -> Any:
    """An op that is linear in the values and leaves the indices alone, be they coalesced or not."""
    return _recorded(node, sparse(*_parts_of(x, fn)), [x], [back])


RULES["neg"] = lambda x: _linear(x, lambda v: -v, "NegBackward0", lambda g: -g)
RULES["clone"] = lambda x, *_: _linear(x, lambda v: v.clone(), "CloneBackward0", lambda g: g)
RULES["detach"] = _alias
RULES["zero"] = lambda x: _recorded("ZeroBackward0", _empty(x._size, x.dtype, len(x._at._a)), [x], [None])


@rule("cast")
def _cast(x: Any, dtype: Any) -> Any:
    to, have = dtypes.from_numpy(np.dtype(dtype)), x.dtype
    return _linear(x, lambda v: v.to(to), "ToCopyBackward0", lambda g: g.to(have))


def _added(x: Any, y: Any, alpha: Any, node: str) -> Any:
    if not isinstance(y, Sparse):
        if engine.current() is not None and isinstance(y, Tensor):  # cotangents of both layouts
            return _added(y, x, 1, node)
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    _check_sizes(x, y)
    d = result_type([x, y])
    if isinstance(x, Sparse):
        out = _merged(x, y, alpha, d.np)
    else:
        a = x._a.astype(d.np)
        _scatter(a, y, alpha)
        out = tensor_of(a)
    return _recorded(node, out, [x, y], [lambda g: g, lambda g: g if alpha == 1 else g * alpha])


RULES["add"] = RULES["add.scaled"] = lambda x, y, alpha=1: _added(x, y, alpha, "AddBackward0")
RULES["sub"] = RULES["sub.scaled"] = lambda x, y, alpha=1: _added(x, y, -alpha, "SubBackward0")
RULES["rsub.tensor"] = lambda x, y: _added(y, x, -1, "RsubBackward0")


def _merged(x: Any, y: Any, alpha: Any, dtype: Any) -> Any:
    a, b, v, w = x._at._a, y._at._a, x._of._a, y._of._a
    inorder = v.flags.c_contiguous and w.flags.c_contiguous
    v, w = v.astype(dtype, copy=False), w.astype(dtype, copy=False)
    if alpha != 1:
        w = w * w.dtype.type(alpha)
    done = x._sorted and y._sorted
    if a.shape == b.shape and np.array_equal(a, b) and inorder:
        return sparse(x._at, tensor_of(v | w if v.dtype.kind == "b" else v + w), x._size, done)
    if not inorder:
        return sparse(tensor_of(np.concatenate([a, b], 1)), tensor_of(np.concatenate([v, w])), x._size)
    p, q, n = _places(_keys(a, x._size), _keys(b, x._size), done)
    at, out = np.empty((len(a), n), np.int64), np.zeros((n, *v.shape[1:]), v.dtype)
    at[:, p], at[:, q] = a, b
    out[p] = v
    out[q] += w
    return sparse(tensor_of(at), tensor_of(out), x._size, done)


def _places(k: Any, q: Any, done: bool) -> tuple[Any, Any, int]:
    """Where in a merge of two runs the elements of each come to lie; heads that are equal become one."""
    if done:
        union = np.union1d(k, q)
        return np.searchsorted(union, k), np.searchsorted(union, q), len(union)
    i = j = n = 0
    ks, qs, p, r = k.tolist(), q.tolist(), [], []
    while i < len(ks) or j < len(qs):
        order = 1 if j >= len(qs) else -1 if i >= len(ks) else (ks[i] < qs[j]) - (ks[i] > qs[j])
        if order >= 0:
            p.append(n)
            i += 1
        if order <= 0:
            r.append(n)
            j += 1
        n += 1
    return np.array(p, np.int64), np.array(r, np.int64), n


@rule("mul")
def _times(x: Any, y: Any) -> Any:
    def by(other: Any, mine: Any) -> Any:
        def back(g: Any) -> Any:
            c = g * other
            if not isinstance(mine, Tensor) or mine.shape == c.shape:
                return c
            return c.to_dense().sum_to_size(mine.shape) if mine.ndim else c.sum()

        return back

    with no_grad():
        out = _product(x, y) if isinstance(x, Sparse) else _product(y, x)
    return _recorded("MulBackward0", out, [x, y], [by(y, x), by(x, y)], *(v for v in (x, y) if isinstance(v, Tensor)))


def _product(x: Any, y: Any) -> Any:
    if isinstance(y, Number) or not y.ndim:
        return sparse(x._at, x._of * y, x._size, x._sorted)
    if not isinstance(y, Sparse):
        return sparse(x._at, x._of * _taken(y.expand(x._size), x), x._size, x._sorted)
    if x.shape != y.shape or len(x._at._a) != len(y._at._a):
        raise RuntimeError(
            "sparse_binary_op_intersection_cpu(): expects sparse inputs with equal dimensionality, number of sparse "
            "dimensions, and shape of sparse dimensions"
        )
    few, many = (x, y) if y._sorted and (not x._sorted or y._nnz() > x._nnz()) else (y, x)
    c = _coalesced(many)
    place, there = _found(c, few._at._a)
    at, v = few._at._a[:, there], few._of._a[there] * c._of._a[place[there]]
    return sparse(tensor_of(at), tensor_of(v), x._size, few._sorted)


def _divided(x: Any, y: Any, *rest: Any) -> Any:
    if not isinstance(x, Sparse):
        raise _cannot("reciprocal")
    if isinstance(y, Tensor) and y.ndim:
        raise RuntimeError(
            f"Sparse division requires a scalar or zero-dim dense tensor divisor (got shape {list(y.shape)} for divisor)"
        )
    return _linear(x, lambda v: v / y, "DivBackward0", lambda g: g / y)


RULES["div"] = RULES["div.unrounded"] = _divided
RULES["div.floor"] = RULES["floor_divide"] = lambda x, y, *_: underivable(
    "floor_divide", sparse(*_parts_of(_coalesced(x), lambda v: v // y)), x
)


# ------------------------------------------------------------------ products


def _wide(a: Any) -> Any:
    return a.astype(np.float32) if a.dtype.itemsize == 2 and a.dtype.kind in "fV" else a


def _matrix(x: Any) -> Any:
    """The matrix as SciPy has it, kept for as long as it is not written."""
    if x._matrix is None or x._matrix[0] != x._v[0]:
        from scipy.sparse import coo_matrix

        x._matrix = x._v[0], coo_matrix((_wide(x._of._a), tuple(x._at._a)), tuple(x._size)).tocsr()
    return x._matrix[1]


def product(x: Any, y: Any, node: str = "MmBackward0") -> Any:
    """The product of two matrices, or of a matrix and a vector, of which one is sparse at least."""
    masked = node != "MmBackward0"
    if x.dtype is not y.dtype:
        raise RuntimeError(f"expected scalar type {x.dtype.legacy} but found {y.dtype.legacy}")
    if not isinstance(x, Sparse) and y.ndim == 2:
        if x.ndim != 2 or x.shape[1] != y.shape[0]:
            raise RuntimeError(
                f"mat1 and mat2 shapes cannot be multiplied ({'x'.join(map(str, x.shape))} and {'x'.join(map(str, y.shape))})"
            )
        out = tensor_of(np.ascontiguousarray((_matrix(y).T @ _wide(x._a).T).T.astype(x.dtype.np, copy=False)))
    else:
        if y.ndim == 1 and node == "MmBackward0":
            raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")
        if x.shape[-1] != y.shape[0]:
            if y.ndim == 1:
                raise RuntimeError("mv: expected self.size(-1) == vec.size(-1)")
            raise RuntimeError(f"addmm: Argument #3 (dense): Expected dim 0 size {x.shape[-1]}, got {y.shape[0]}")
        if isinstance(y, Sparse):
            node, masked = ("SparseSparseMatmulBackward0", True) if masked else (node, True)
            m = (_matrix(x) @ _matrix(y)).tocsr()
            m.sort_indices()
            m = m.tocoo()
            at = np.stack([m.row, m.col]).astype(np.int64)
            out = sparse(tensor_of(at), tensor_of(m.data.astype(x.dtype.np, copy=False)), m.shape, True)
        else:
            out = tensor_of((_matrix(x) @ _wide(y._a)).astype(x.dtype.np, copy=False))

    def of_x(g: Any) -> Any:
        if y.ndim == 1:
            return g.unsqueeze(1) * y.conj().unsqueeze(0)
        if not (masked and isinstance(x, Sparse)):
            return g.matmul(y.t().conj())
        c = _coalesced(x)
        if isinstance(y, Sparse):
            return _masked(product(_coo(g), _t(y)) if isinstance(g, Sparse) else (g @ _t(y)), c)
        row, col = (tensor_of(k) for k in c._at._a)
        g = g.to_dense() if isinstance(g, Sparse) else g
        v = (index_select(g, 0, row) * index_select(y, 0, col).conj()).sum(1)
        return _built(c._at, v, c._size, True)

    def of_y(g: Any) -> Any:
        got = (_t(x) if isinstance(x, Sparse) else x.t().conj()).matmul(g)
        return _masked(got, _coalesced(y)) if masked and isinstance(y, Sparse) else got

    return _recorded(node, out, [x, y], [of_x, of_y], x, y)


RULES["mm"] = product
RULES["copy"] = lambda x, src: _refuse_copy(x, src)
RULES["linalg_vector_norm"] = lambda x, p, *_: x.norm(p)
RULES["mv"] = lambda x, y: product(x, y, "MvBackward0")


@rule("addmm")
def addmm(input: Any, mat1: Any, mat2: Any, beta: Any = 1, alpha: Any = 1, node: str = "AddmmBackward0") -> Any:
    """beta input + alpha mat1 mat2, with a sparse first factor."""
    with no_grad():
        out = product(mat1, mat2) * alpha + input * beta

    def part(k: int) -> Any:
        def back(g: Any) -> Any:
            again = state.grad
            x, y = (mat1, mat2) if again else (mat1.detach(), mat2.detach())
            with enable_grad():
                (x, y)[k].requires_grad_(True) if not again else None
                p = product(x, y, "SparseAddmmBackward0" if node[0] == "S" else "MmBackward0")
                e = edge_of((x, y)[k])
                got = engine.run_backward(
                    [(p._node, g * alpha)], keep=again, create_graph=again, targets=[e], accumulate=False
                )
            return engine.captured_for(got, e)

        return back

    def of_input(g: Any) -> Any:
        g = g * beta
        return g if tuple(g.shape) == tuple(input.shape) else g.sum_to_size(input.shape)

    return _recorded(node, out, [input, mat1, mat2], [of_input, part(0), part(1)], mat1, mat2)


# ------------------------------------------------------------------ dimensions


def _moved(x: Any, order: Sequence[int], node: str, back: Any) -> Any:
    n = len(x._at._a)
    out = sparse(tensor_of(x._at._a[list(order[:n])]), x._of, [x._size[d] for d in order], False)
    if x._matrix is not None and order == [1, 0]:
        out._matrix = x._matrix[0], x._matrix[1].T
    return _recorded(node, out, [x], [back])


@rule("transpose")
def _transposed(x: Any, dim0: int, dim1: int) -> Any:
    n = x.ndim
    d0, d1 = normalize_dim(dim0, n), normalize_dim(dim1, n)
    k = len(x._at._a)
    if d0 != d1 and (d0 >= k or d1 >= k):
        raise RuntimeError(
            f"sparse transpose: transposed dimensions must be sparse Got sparse_dim: {k}, d0: {d0}, d1: {d1}"
        )
    order = list(range(n))
    order[d0], order[d1] = d1, d0
    return _moved(x, order, "TransposeBackward0", lambda g: g.transpose(dim0, dim1))


@rule("t")
def _t(x: Any) -> Any:
    if len(x._at._a) > 2 or x.dense_dim():
        raise RuntimeError(
            "t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got "
            f"{len(x._at._a)} sparse and {x.dense_dim()} dense dimensions"
        )
    return _moved(x, list(range(x.ndim))[::-1], "TBackward0", lambda g: g.t())


@rule("permute")
def _permuted(x: Any, dims: Any) -> Any:
    order = [normalize_dim(d, x.ndim) for d in dims]
    n = len(x._at._a)
    if sorted(order[:n]) != list(range(n)) or order[n:] != list(range(n, x.ndim)):
        raise _cannot("as_strided")
    return _moved(x, order, "PermuteBackward0", lambda g: g.permute(tuple(np.argsort(order).tolist())))


def _picked(x: Any, keep: Any, at: Any, size: Any, node: str, back: Any, done: bool = False) -> Any:
    """Some of the values, at other indices."""
    if isinstance(keep, ndarray):
        with no_grad():
            of = index_select(x._of, 0, tensor_of(keep))
    else:
        of = x._of
    out = sparse(tensor_of(at), of, size, done)
    if not len(at):  # no sparse dimension is left
        out = tensor_of(of._a.sum(0, dtype=of._a.dtype))
    return _recorded(node, out, [x], [back])


@rule("select")
def _select(x: Any, dim: int, index: int, node: str = "SelectBackward0") -> Any:
    d, n = normalize_dim(dim, x.ndim), len(x._at._a)
    size = list(x._size)
    m = size.pop(d)
    if not -m <= index < m:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(x._size)} at dimension {d}")
    k = index % m

    def back(g: Any) -> Any:
        if not isinstance(g, Sparse):
            return windows.select_backward(g, tuple(x._size), d, k)
        return _linear_at(g, lambda at: np.insert(at, d, k, 0), x._size)

    if d >= n:
        return _linear(x, lambda v: v.select(d - n + 1, k).clone(), node, back)._resized(size)
    keep = np.flatnonzero(x._at._a[d] == k)
    return _picked(x, keep, np.delete(x._at._a, d, 0)[:, keep], size, node, back, x._sorted)


Sparse.__name__ = Rows.__name__ = "Tensor"  # in errors


def _resized(x: Any, size: Any) -> Any:
    x._size = Size(size)
    return x


Sparse._resized = _resized


def _linear_at(g: Any, fn: Callable[..., Any], size: Any) -> Any:
    """A sparse cotangent at other indices."""
    g = _coo(g)
    return _recorded("IndexBackward0", sparse(tensor_of(fn(g._at._a)), g._of, size), [g], [lambda h: h])


@rule("unsqueeze")
def _unsqueeze(x: Any, dim: int) -> Any:
    d = normalize_dim(dim, x.ndim + 1)
    size = list(x._size)
    size.insert(d, 1)
    n = len(x._at._a)
    if d > n:
        out = _linear(x, lambda v: v.unsqueeze(d - n + 1), "UnsqueezeBackward0", lambda g: g.select(d, 0))
        return out._resized(size)
    return _picked(
        x, None, np.insert(x._at._a, d, 0, 0), size, "UnsqueezeBackward0", lambda g: g.select(d, 0), x._sorted
    )


@rule("index_select")
def _index_selected(x: Any, dim: int, index: Any) -> Any:
    d, n = normalize_dim(dim, x.ndim), len(x._at._a)
    size = list(x._size)
    size[d] = index.numel()

    def back(g: Any) -> Any:
        g = g.to_dense() if isinstance(g, Sparse) else g
        return index_add(zeros(*x._size, dtype=g.dtype), d, index, g)

    if d >= n:
        out = _linear(x, lambda v: index_select(v, d - n + 1, index), "IndexSelectBackward0", back)
        return out._resized(size)
    hits = [np.flatnonzero(x._at._a[d] == k) for k in index._a.reshape(-1)]
    keep = np.concatenate(hits) if hits else np.zeros(0, np.int64)
    at = x._at._a[:, keep].copy()
    at[d] = np.repeat(np.arange(len(hits)), [len(h) for h in hits])
    return _picked(x, keep, at, size, "IndexSelectBackward0", back)


@rule("cat")
def _joined(tensors: Any, dim: int = 0, node: str = "CatBackward0") -> Any:
    for i, x in enumerate(tensors):
        if not isinstance(x, Sparse):
            raise RuntimeError(f"Concatenating sparse tensors, but a dense tensor was found at position {i}.")
    first = tensors[0]
    d, n = normalize_dim(dim, first.ndim), len(first._at._a)
    starts = np.cumsum([0, *(x._size[d] for x in tensors)]).tolist()
    size = list(first._size)
    size[d] = starts[-1]
    for i, x in enumerate(tensors):
        if [m for k, m in enumerate(x._size) if k != d] != [m for k, m in enumerate(size) if k != d]:
            raise RuntimeError(
                f"Sizes of tensors must match except in dimension {d}. Expected size {first._size} but got size {x._size} "
                f"for tensor number {i} in the list."
            )
    ats, ofs = [], []
    for x, start in zip(tensors, starts, strict=False):
        at, v = x._at._a, x._of._a
        if d < n:
            at = at.copy()
            at[d] += start
        else:
            wide = np.zeros((len(v), *size[n:]), v.dtype)
            wide[(slice(None),) * (d - n + 1) + (slice(start, start + x._size[d]),)] = v
            v = wide
        ats.append(at)
        ofs.append(v)
    out = sparse(tensor_of(np.concatenate(ats, 1)), tensor_of(np.concatenate(ofs)), size)

    def back(start: int, stop: int) -> Any:
        return lambda g: (g.to_dense() if isinstance(g, Sparse) else g).narrow(d, start, stop - start)

    return _recorded(node, out, tensors, [back(a, b) for a, b in zip(starts[:-1], starts[1:], strict=True)])


@rule("stack")
def _stacked(tensors: Any, dim: int = 0) -> Any:
    return _joined([_unsqueeze(x, dim) for x in tensors], dim, "StackBackward0")


# ------------------------------------------------------------------ sums


@rule("sum")
def _total(x: Any) -> Any:
    with no_grad():
        out = x._of.sum()
    return _recorded("SumBackward0", out, [x], [lambda g: g.expand(x._size)])


@rule("sum_dim")
def summed(x: Any, dim: Any, keepdim: bool = False, node: str = "SumBackward1") -> Any:
    """The sum over dimensions, sparse as long as a sparse dimension is left."""
    n = len(x._at._a)
    dims = set(normalize_dims(dim, x.ndim))
    kept = [d for d in range(n) if d not in dims]
    size = [m if d not in dims else 1 for d, m in enumerate(x._size) if keepdim or d not in dims]
    with no_grad():
        inner = [d - n + 1 for d in sorted(dims) if d >= n]
        of = x._of.sum(inner, keepdim) if inner else x._of
    shown = sorted(dims) if not keepdim else []
    if not kept and not keepdim:
        out = of.sum(0)
    else:
        at = np.array(x._at._a)
        at[sorted(d for d in dims if d < n)] = 0
        if not keepdim:
            at = at[kept]
        out = _coalesced(sparse(tensor_of(at), of, size))

    def back(g: Any) -> Any:
        g = g.to_dense() if isinstance(g, Sparse) else g
        for d in shown:
            g = g.unsqueeze(d)
        g = g.expand(x._size)
        return g if node == "SumBackward1" else _masked(g, _coalesced(x))

    return _recorded(node, out, [x], [back])


@rule("any")
def _any(x: Any, *_: Any) -> Any:
    return x._of.any()


def _refusing(message: str) -> Any:
    def refuse(*_: Any) -> Any:
        raise RuntimeError(message)

    return refuse


RULES["reshape_copy"] = _refusing("reshape is not implemented for sparse tensors")
RULES["expand"] = _refusing("expand is unsupported for Sparse tensors")


def softmax(x: Any, dim: int, log: bool) -> Any:
    """The softmax along a dimension, over the elements that are there."""
    d, c = normalize_dim(dim, x.ndim), _coalesced(x, "__sparse_softmax")
    n = len(c._at._a)
    name = "SparseLogSoftmaxBackward0" if log else "SparseSoftmaxBackward0"
    if d >= n:
        return on_values(x, lambda v: v.log_softmax(d - n + 1) if log else v.softmax(d - n + 1), name)
    others = [k for k in range(n) if k != d]
    _, group = np.unique(_keys(c._at._a[others], [c._size[k] for k in others]), return_inverse=True)
    rows, index = int(group.max(initial=-1)) + 1, tensor_of(group.reshape(-1))
    top = np.full((rows, *c._of.shape[1:]), -np.inf, c._of._a.dtype)
    np.maximum.at(top, index._a, c._of._a)

    def of(v: Any) -> Any:
        v = v - tensor_of(top[index._a])
        e = v.exp()
        total = index_select(index_add(zeros(*top.shape, dtype=v.dtype), 0, index, e), 0, index)
        return v - total.log() if log else e / total

    return on_values(x, of, name)
