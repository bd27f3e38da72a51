"""Products of matrices, vectors, and batches of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..arrays import matmul as kernels
from ..core.broadcast import sum_to
from ..core.elementwise import F32, F64, conj
from ..core.errors import type_word
from ..core.inplace import check_inplace, inplace
from ..core.linear import bilinear, shaped_op
from ..core.op import Op
from ..core.parameters import REQUIRED
from ..core.subclass import Special
from ..core.tensor import Tensor, dtype_word
from ..shapes import broadcast_shapes, numel, size_at
from ._arguments import spoken
from ._dtypes import exact_out, widened
from ._make import elements, warn_once
from .arithmetic import mul
from .shape import reshape

__all__ = [
    "addbmm", "addmm", "addmv", "addr", "baddbmm", "bmm", "chain_matmul", "dot", "ger", "matmul", "mm",
    "mv", "outer", "vdot",
]  # fmt: skip
METHODS = "* addbmm_ -chain_matmul"
INPLACE = "addmm addmv addr baddbmm"

ndarray = np.ndarray
_multiply = kernels.mm


def H(x: Any) -> Any:
    """The conjugate transpose of a value's last two dimensions."""
    x = x.mT
    return x if x.__class__ is ndarray and x.dtype.kind != "c" else conj(x)


def _same_dtype(a: Any, b: Any) -> None:
    if a.dtype is not b.dtype and a.dtype != b.dtype:
        x, y = (dtype_word(dtypes.from_numpy(v.dtype)) for v in (a, b))
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {x} != {y}")


def _no_bool(a: Any, name: str) -> None:
    if a.dtype.kind == "b" and a.size:
        raise NotImplementedError(f"\"{name}\" not implemented for 'Bool'")


# ------------------------------------------------------------------ two factors


_SMALL = 1 << 18  # multiplications that BLAS does on one thread in any case


def _mm(input: Any, mat2: Any) -> Any:
    """The product of two matrices, (n, m) by (m, p)."""
    p, q, dt = input.shape, mat2.shape, input.dtype
    if len(p) == 2 == len(q) and p[0] < 64 and p[1] == q[0] and (dt is F32 or dt is F64) and mat2.dtype is dt:
        if p[0] * p[1] * q[1] <= _SMALL:
            return input.dot(mat2)  # small and ordinary: straight to BLAS
    if input.ndim != 2 or mat2.ndim != 2:
        raise RuntimeError("self must be a matrix" if input.ndim != 2 else "mat2 must be a matrix")
    _fits(input, mat2)
    return _multiply(input, mat2)


def _fits(a: Any, b: Any) -> None:
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]})"
        )
    _same_dtype(a, b)
    _no_bool(a, "addmm_impl_cpu_")


def _by_columns(g: Any, input: Any) -> Any:
    return _multiply(conj(g.T), input).T if g.dtype.kind != "c" else conj(_multiply(conj(g.T), input)).T


mm = bilinear(
    "mm",
    _mm,
    left=lambda g, mat2: product(g, H(mat2)),
    right=lambda g, input: product(H(input), g),
    right_columns=_by_columns,
)


def product(a: Any, b: Any) -> Any:
    return _multiply(a, b) if a.__class__ is ndarray and b.__class__ is ndarray else mm(a, b)


def _check_batches(input: Any, mat2: Any) -> None:
    if input.ndim != 3 or mat2.ndim != 3:
        raise RuntimeError("batch1 must be a 3D tensor" if input.ndim != 3 else "batch2 must be a 3D tensor")
    want = [input.shape[0], input.shape[2]]
    if list(mat2.shape[:2]) != want:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: {want} but got: {list(mat2.shape[:2])}."
        )


def _batches(input: Any, mat2: Any, kernel: str) -> Any:
    _check_product(input, mat2, kernel)
    return _multiply(input, mat2)


def _check_product(input: Any, mat2: Any, kernel: str) -> None:
    _check_batches(input, mat2)
    _no_bool(input, kernel)
    if input.dtype != mat2.dtype:
        x, y = (dtypes.from_numpy(v.dtype).legacy for v in (input, mat2))
        raise RuntimeError(f"expected scalar type {x} but found {y}")


def _bmm(input: Any, mat2: Any) -> Any:
    """The products of two batches of matrices, (b, n, m) by (b, m, p)."""
    return _batches(input, mat2, "bmm")


def batched_product(a: Any, b: Any) -> Any:
    return _multiply(a, b) if a.__class__ is ndarray and b.__class__ is ndarray else bmm(a, b)


bmm = bilinear(
    "bmm",
    _bmm,
    left=lambda g, mat2: batched_product(g, H(mat2)),
    right=lambda g, input: batched_product(H(input), g),
    right_columns=lambda g, input: _multiply(g.mT, conj(input)).mT,
)


def _mv(input: Any, vec: Any) -> Any:
    """A matrix (n, m) times a vector (m)."""
    if input.ndim != 2 or vec.ndim != 1 or input.shape[1] != vec.shape[0] or input.dtype != vec.dtype:
        size_at(input.shape, 0)
        _check_addmv(np.empty(input.shape[0], vec.dtype), input, vec)
    _no_bool(input, "addmv_impl_cpu")
    return _multiply(input, vec)


def _check_addmv(input: Any, mat: Any, vec: Any) -> None:
    """Raise for values that do not fit, in the order in which PyTorch looks."""
    if mat.ndim != 2 or vec.ndim != 1 or input.ndim > 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {input.ndim}, {mat.ndim}, {vec.ndim}")
    if mat.shape[1] != vec.shape[0] or input.size not in (1, mat.shape[0]):
        size = size_at(input.shape, 0)
        raise RuntimeError(
            f"size mismatch, got input ({size}), mat ({mat.shape[0]}x{mat.shape[1]}), vec ({vec.shape[0]})"
        )
    if not input.dtype == mat.dtype == vec.dtype:
        words = f"{_legacy(input)}, {_legacy(mat)}, and {_legacy(vec)}"
        raise RuntimeError(f"addmv input tensors must have the same dtype, but got {words}")


mv = bilinear(
    "mv",
    _mv,
    left=lambda g, vec: g.reshape((-1, 1)) * conj(vec).reshape((1, -1)),
    right=lambda g, input: mv(H(input), g),
)


def _dot(input: Any, tensor: Any) -> Any:
    """The sum of the products of two vectors' elements."""
    _vectors(input, tensor)
    return np.asarray(_multiply(input, tensor))


def _vectors(a: Any, b: Any, name: str = "dot") -> None:
    if a.ndim != 1 or b.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors")
    if a.dtype != b.dtype:
        x, y = (dtypes.from_numpy(v.dtype).legacy for v in (a, b))
        raise RuntimeError(f"dot : expected both vectors to have same dtype, but found {x} and {y}")
    if a.shape != b.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{a.shape[0]}] and src [{b.shape[0]}] to have the same number "
            f"of elements, but got {a.shape[0]} and {b.shape[0]} elements respectively"
        )
    if a.dtype.kind == "b":
        raise NotImplementedError(f"\"{name}\" not implemented for 'Bool'")


dot = bilinear("dot", _dot, left=lambda g, tensor: g * conj(tensor), right=lambda g, input: g * conj(input))


def _vdot(input: Any, other: Any) -> Any:
    """The sum of the products of the first vector's conjugates and the second's elements."""
    _vectors(input, other)
    return np.asarray(_multiply(input.conj() if input.dtype.kind == "c" else input, other))


vdot = Op(
    "vdot",
    _vdot,
    vjp={"input": lambda g, other: conj(g) * other, "other": lambda g, input: g * input},
    jvp={"input": lambda t, other: vdot(t, other), "other": lambda t, input: vdot(input, t)},
).call


def outer(input: Any, vec2: Any, *, out: Any = None) -> Any:
    """The products of all pairs of elements of two vectors, (n) and (m) to (n, m)."""
    for name, v in (("self", input), ("vec2", vec2)):
        if v.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {v.ndim}-D")
    return mul(input.reshape((-1, 1)), vec2, out=out)


ger = outer


# ------------------------------------------------------------------ any ranks


def matmul(input: Any = REQUIRED, other: Any = REQUIRED, *more: Any, out: Any = None) -> Any:
    """The matrix product of two tensors; vectors and batches as PyTorch treats them.

    Two vectors give their dot product, a matrix and a vector a vector, and leading dimensions are batches that
    broadcast.
    """
    if out is None:
        try:
            if more or not isinstance(other, Tensor):
                raise TypeError
            return _matmul(input, other)
        except Exception as error:
            raise spoken(error, input, other, *more) from None
    from ..core.inplace import refuse_recorded_out, write_out
    from .reduction import Named

    refuse_recorded_out(Named("matmul"), out, input.requires_grad or other.requires_grad)  # type: ignore[arg-type]
    r = _matmul(input, other)
    return write_out(mm.op, r._a, out, r.requires_grad)


def _matmul(input: Any, other: Any) -> Any:
    n, m = input.ndim, other.ndim
    if n == 2 and m == 2:
        return mm(input, other)
    if n == 0 or m == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {n}D and {m}D")
    if n == 1 and m == 1:
        return dot(input, other)
    if n == 2 and m == 1:
        return mv(input, other)
    if n == 1 and m == 2:
        if isinstance(input, Special):  # one op of a transform's values rather than three
            return mv(other.mT, input)
        r = mm(input.unsqueeze(0), other)
        return r.squeeze_(0) if hasattr(r, "_a") else r.squeeze(0)
    if m <= 2:  # one product with the batch laid out as rows
        rows = reshape(input, (numel(input.shape[:-1]), input.shape[-1]))
        if m == 1:
            return unsafe_view(mv(rows, other), tuple(input.shape[:-1]))
        return unsafe_view(mm(rows, other), (*input.shape[:-1], other.shape[1]))
    if n == 1 or (n == 2 and input.requires_grad):
        other_t = other.mT
        if n == 1:
            rows = reshape(other_t, (numel(other_t.shape[:-1]), other_t.shape[-1]))
            return unsafe_view(mv(rows, input), (*other.shape[:-2], other.shape[-1]))
        return _matmul(other_t, input.t()).mT.contiguous()
    if n == 3 == m:  # one matrix for the whole batch: its gradient is a product too, not a sum of many
        if other.shape[0] == 1 != input.shape[0] and other.requires_grad:
            return _matmul(input, other.squeeze(0))
        if input.shape[0] == 1 != other.shape[0] and input.requires_grad:
            return _matmul(input.squeeze(0), other)
    lead = broadcast_shapes(tuple(input.shape[:-2]), tuple(other.shape[:-2]))
    p, q = tuple(input.shape[-2:]), tuple(other.shape[-2:])
    count = 1
    for d in lead:
        count *= d
    x = reshape(input.expand((*lead, *p)), (count, *p))
    y = reshape(other.expand((*lead, *q)), (count, *q))
    return unsafe_view(bmm(x, y), (*lead, p[0], q[1]))


unsafe_view = shaped_op("unsafe_view", lambda input, shape: input.reshape(shape), lambda g, whole, _: reshape(g, whole))
unsafe_view.op.out_arg = False


def __matmul__(self: Tensor, other: Any) -> Any:
    try:
        if self._a.ndim == 2 == other._a.ndim:
            return mm(self, other)
    except AttributeError:
        pass
    return matmul(self, other) if isinstance(other, Tensor) else NotImplemented


def __rmatmul__(self: Tensor, other: Any) -> Any:
    return matmul(other, self) if isinstance(other, Tensor) else NotImplemented


OPERATORS = {"__matmul__": __matmul__, "__rmatmul__": __rmatmul__}


# ------------------------------------------------------------------ added to something


def _addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * (mat1 @ mat2), input broadcast."""
    for name, other in (("self", input), ("mat1", mat1)):
        if other.dtype != mat2.dtype:
            raise RuntimeError(
                f"{name} and mat2 must have the same dtype, but got {_legacy(other)} and {_legacy(mat2)}"
            )
    for name, m in (("mat1", mat1), ("mat2", mat2)):
        if m.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix, got {m.ndim}-D tensor")
    if mat1.dtype.kind == "b" and mat1.shape[1] == mat2.shape[0]:
        _check_expands(input, (mat1.shape[0], mat2.shape[1]))
    _fits(mat1, mat2)
    return _scaled_sum(input, mat1, mat2, beta, alpha)


def _legacy(a: Any) -> str:
    return dtypes.from_numpy(a.dtype).legacy


@widened
def _scaled_sum(input: Any, a: Any, b: Any, beta: Any, alpha: Any) -> Any:
    return _combine(input, _multiply(a, b), beta, alpha)


def _combine(input: Any, p: Any, beta: Any, alpha: Any) -> Any:
    if alpha != 1:
        p = p * p.dtype.type(alpha)
    _check_expands(input, p.shape)
    if beta == 0:
        return p
    if p.base is None and p.flags.writeable and alpha == 1:
        return np.add(p, input if beta == 1 else input * p.dtype.type(beta), out=p)
    return p + (input if beta == 1 else input * p.dtype.type(beta))


def _check_expands(input: Any, shape: tuple[int, ...]) -> None:
    """Raise for an input that does not broadcast to the shape of the product."""
    if input.shape == shape:
        return
    n = len(shape)
    if input.ndim > n:
        raise RuntimeError(
            f"expand({type_word(input.dtype)}{{{list(input.shape)}}}, size={list(shape)}): the number of sizes "
            f"provided ({n}) must be greater or equal to the number of dimensions in the tensor ({input.ndim})"
        )
    for i in range(1, input.ndim + 1):
        if input.shape[-i] not in (1, shape[-i]):
            raise RuntimeError(
                f"The expanded size of the tensor ({shape[-i]}) must match the existing size ({input.shape[-i]}) at "
                f"non-singleton dimension {n - i}.  Target sizes: {list(shape)}.  Tensor sizes: {list(input.shape)}"
            )


def scaled(x: Any, factor: Any) -> Any:
    """A value times the conjugate of a number that is mostly 1."""
    return x if factor == 1 else x * (factor.conjugate() if isinstance(factor, complex) else factor)


def _added(name: str, forward: Any, first: str, second: str, multiply: Any, left: Any, right: Any) -> Any:
    """An op beta * input + alpha * multiply(first, second)."""
    values: dict[str, Any] = {
        "input": lambda g, input_shape, beta: sum_to(scaled(g, beta), input_shape),
        first: _rule(left, ["g", second, "alpha"]),
        second: _rule(right, ["g", first, "alpha"]),
    }
    forwards: dict[str, Any] = {
        "input": lambda t, beta: t if beta == 1 else t * beta,
        first: _rule(lambda t, y, alpha: _times(multiply(t, y), alpha), ["t", second, "alpha"]),
        second: _rule(lambda t, x, alpha: _times(multiply(x, t), alpha), ["t", first, "alpha"]),
    }
    return Op(name, forward, vjp=values, jvp=forwards).call


def _times(x: Any, alpha: Any) -> Any:
    return x if alpha == 1 else x * alpha


def _rule(fn: Any, names: list[str]) -> Any:
    from ..core.op import named

    return named(lambda *values: fn(*values), names)


addmm = Op(
    "addmm",
    _addmm,
    vjp={
        "input": lambda g, input_shape, beta: sum_to(scaled(g, beta), input_shape),
        "mat1": lambda g, mat2, alpha: scaled(product(g, H(mat2)), alpha),
        "mat2": lambda g, mat1, mat2_geometry, alpha: scaled(_right_cotangent(g, mat1, mat2_geometry), alpha),
    },
    jvp={
        "input": lambda t, beta: _times(t, beta),
        "mat1": lambda t, mat2, alpha: _times(mm(t, mat2), alpha),
        "mat2": lambda t, mat1, alpha: _times(mm(mat1, t), alpha),
    },
).call


def _right_cotangent(g: Any, mat1: Any, geometry: Any) -> Any:
    """The second factor's cotangent, laid out by columns if the factor is."""
    stride = geometry[1]
    if g.__class__ is ndarray and stride[0] == 1 and stride[1] != 1:
        return _by_columns(g, mat1)
    return product(H(mat1), g)


def _addmv(input: Any, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * (mat @ vec)."""
    _check_addmv(input, mat, vec)
    _no_bool(mat, "addmv_impl_cpu")
    return _combine(input, _multiply(mat, vec), beta, alpha)


addmv = _added(
    "addmv", _addmv, "mat", "vec", mv,
    lambda g, vec, alpha: scaled(g.reshape((-1, 1)) * conj(vec).reshape((1, -1)), alpha),
    lambda g, mat, alpha: scaled(mv(H(mat), g), alpha),
)  # fmt: skip


def _addr(input: Any, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * outer(vec1, vec2)."""
    for n, v in (("vec1", vec1), ("vec2", vec2)):
        if v.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {n}, but got {v.ndim}-D")
    _check_expands(input, (vec1.shape[0], vec2.shape[0]))
    dt = _common(input, vec1, vec2)
    return _combine(input.astype(dt), vec1.astype(dt)[:, None] * vec2.astype(dt)[None, :], beta, alpha)


def _common(*arrays: Any) -> Any:
    d = dtypes.from_numpy(arrays[0].dtype)
    for a in arrays[1:]:
        d = dtypes.promote_types(d, dtypes.from_numpy(a.dtype))
    return d.np


addr = _added(
    "addr", _addr, "vec1", "vec2", outer,
    lambda g, vec2, alpha: scaled(mv(g, conj(vec2)), alpha),
    lambda g, vec1, alpha: scaled(mv(g.mT, conj(vec1)), alpha),
)  # fmt: skip


def _baddbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * bmm(batch1, batch2)."""
    b1, b2 = batch1.shape, batch2.shape
    _check_expands(input, (size_at(b1, 0), size_at(b1, 1), size_at(b2, 2)))
    if input.dtype != batch1.dtype:
        words = [dtype_word(dtypes.from_numpy(v.dtype)) for v in (input, batch1, batch2)]
        raise RuntimeError(
            f"Input dtypes must be the same, got: input {words[0]}, batch1: {words[1]}, batch2: {words[2]}"
        )
    _check_product(batch1, batch2, "baddbmm")
    return _scaled_sum(input, batch1, batch2, beta, alpha)


baddbmm = _added(
    "baddbmm", _baddbmm, "batch1", "batch2", bmm,
    lambda g, y, alpha: scaled(batched_product(g, H(y)), alpha),
    lambda g, x, alpha: scaled(batched_product(H(x), g), alpha),
)  # fmt: skip


def _addbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * sum over the batch of batch1 @ batch2."""
    b1, b2 = batch1.shape, batch2.shape
    _check_expands(input, (size_at(b1, 1), size_at(b2, 2)))
    if batch1.ndim == 3 == batch2.ndim:
        if b1[0] != b2[0]:
            raise RuntimeError(f"batch1 and batch2 must have same number of batches, got {b1[0]} and {b2[0]}")
        if b1[2] != b2[1]:
            raise RuntimeError(f"Incompatible matrix sizes for bmm ({b1[1]}x{b1[2]} and {b2[1]}x{b2[2]})")
        for name, other in (("self", input), ("mat1", batch1)) if b1[0] else ():
            if other.dtype != batch2.dtype:
                raise RuntimeError(
                    f"{name} and mat2 must have the same dtype, but got {_legacy(other)} and {_legacy(batch2)}"
                )
    p = _batches(batch1, batch2, "addmm_impl_cpu_")
    return _combine(input, np.add.reduce(p, 0, p.dtype) if p.dtype.kind in "iu" else p.sum(0), beta, alpha)


def _expand(g: Any, n: int) -> Any:
    from ..core.broadcast import expand_to

    return expand_to(g.reshape((1, *tuple(g.shape))), (n, *tuple(g.shape)))


addbmm = _added(
    "addbmm", _addbmm, "batch1", "batch2", lambda x, y: bmm(x, y).sum(0),
    lambda g, y, alpha: scaled(batched_product(_expand(g, y.shape[0]), H(y)), alpha),
    lambda g, x, alpha: scaled(batched_product(H(x), _expand(g, x.shape[0])), alpha),
)  # fmt: skip
_addbmm_inplace = inplace(addbmm.op)


def addbmm_(self: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """In-place `addbmm`. A tensor that broadcasts to the product takes its shape."""
    batches = isinstance(self, Tensor) and batch1.ndim == 3 == batch2.ndim
    if not batches or self._view is not None or tuple(self.shape) == (batch1.shape[1], batch2.shape[2]):
        return _addbmm_inplace(self, batch1, batch2, beta=beta, alpha=alpha)
    r = addbmm(self, batch1, batch2, beta=beta, alpha=alpha)
    check_inplace(self, r.requires_grad, overlapping=True)
    self._a, self._node = r._a, r._node
    self._v[0] += 1
    return self


for _op in (mm, bmm, mv, addmm, addmv, baddbmm, addbmm):
    exact_out(_op)
for _op in (dot, vdot):
    exact_out(_op, lambda have, want: f"result dtype {want.legacy} does not match input dtype {have.legacy}")


# ------------------------------------------------------------------ composites


def chain_matmul(*matrices: Any, out: Any = None) -> Any:
    """The product of several matrices, in the cheapest order."""
    warn_once(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot "
        "instead, which accepts a list of two or more tensors rather than multiple parameters."
    )
    for x in elements(matrices):
        if x.ndim != 2:
            raise RuntimeError(f"Tensor dimension is {x.ndim}, expected 2 instead.")
    r = multi_dot(list(matrices)) if len(matrices) != 1 else matrices[0]
    return r if out is None else out.copy_(r)


def multi_dot(tensors: list[Any]) -> Any:
    """The product of several matrices, in the order that takes the fewest multiplications. Source:
    torch.linalg.multi_dot."""
    n = len(tensors)
    if n < 2:
        raise RuntimeError("multi_dot(): expected at least 2 tensors but got " + str(n))
    first, last = tensors[0], tensors[-1]
    mats = list(tensors)
    if first.ndim == 1:
        mats[0] = first.unsqueeze(0)
    if last.ndim == 1:
        mats[-1] = last.unsqueeze(-1)
    sizes = [m.shape[0] for m in mats] + [mats[-1].shape[1]]
    cost = [[0] * n for _ in range(n)]
    cut = [[0] * n for _ in range(n)]
    for width in range(1, n):
        for i in range(n - width):
            j = i + width
            options = [(cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)]
            cost[i][j], cut[i][j] = min(options)
    return _product(mats, cut, 0, n - 1).view((*first.shape[: first.ndim - 1], *last.shape[1:]))


def _product(mats: list[Any], cut: list[list[int]], i: int, j: int) -> Any:
    """The product of the matrices from the i-th to the j-th, cut where it costs least."""
    if i == j:
        return mats[i]
    return mm(_product(mats, cut, i, cut[i][j]), _product(mats, cut, cut[i][j] + 1, j))
