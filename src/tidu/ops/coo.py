"""Sparse tensors: indices and values in place of an array, by coordinates (COO) or by compressed rows (CSR).

A sparse tensor is a kind of value without `_a`: ops' fast paths pass it by, and `process` looks the op up in `RULES`. Its
indices and values are plain tensors outside the graph; the sparse tensor itself has the place in the graph. A rule gets
cotangents of any layout, and what it hands to dense ops is dense: only leaves and other sparse ops get sparse ones.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import devices, dtypes
from ..arrays.select import add_rows
from ..core import engine
from ..core.modes import enable_grad, no_grad, state
from ..core.node import LEAF, Node, edge_of, freed, modified, next_seq
from ..core.op import REGISTRY
from ..core.subclass import Kind
from ..core.tensor import Tensor, live_node, new, tensor_of
from ..naming import warn
from ..shapes import Size, normalize_dim
from . import selection
from .creation import tensor
from .factories import zeros
from .index_dim import index_select

__all__ = [
    "smm", "sparse_bsc_tensor", "sparse_bsr_tensor", "sparse_compressed_tensor", "sparse_coo_tensor", "sparse_csc_tensor",
    "sparse_csr_tensor",
]  # fmt: skip
METHODS = (
    "_coalesced_ _indices _nnz _values coalesce col_indices crow_indices indices is_coalesced sparse_mask to_sparse "
    "smm to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr values"
)

RULES: dict[str, Callable[..., Any]] = {}  # what ops do with sparse tensors, by the op's name
INVARIANTS = [False]  # whether what a tensor is made of is checked
ndarray = np.ndarray


# The error of an op on a layout that it does not know: an AttributeError too, for fast paths look for `_a`.
Unrunnable: Any = type("NotImplementedError", (AttributeError, NotImplementedError), {"__module__": "builtins"})


def _cannot(name: str, backend: str = "SparseCPU") -> NotImplementedError:
    return Unrunnable(
        f"Could not run 'aten::{name.partition('.')[0].lstrip('_')}' with arguments from the '{backend}' backend. This could "
        "be because the operator doesn't exist for this backend, or was omitted during the selective/custom build process "
        "(if using custom build)."
    )


class Sparse(Kind):
    """A tensor given by coordinates: `_at` (sparse dims by nnz), `_of` (nnz by dense dims)."""

    __slots__ = ("_at", "_matrix", "_of", "_size", "_sorted")
    torch_name = "torch.Tensor"
    level = 0
    layout = devices.sparse_coo
    is_sparse, is_sparse_csr, word = True, False, "Sparse"

    shape = property(lambda x: x._size)
    dtype = property(lambda x: x._of.dtype)
    ndim = property(lambda x: len(x._size))

    @property
    def _a(self) -> Any:  # type: ignore[override]
        import sys

        caller = sys._getframe(1).f_code.co_name
        raise _cannot(caller if caller != "raw" else sys._getframe(2).f_code.co_name, self.word + "CPU")

    def process(self, op: Any, args: tuple[Any, ...]) -> Any:
        fn = RULES.get(op.name)
        coo = [_coo(a) for a in args]
        if fn is not None:
            got = fn(*coo)
        elif op.name in UNARY and isinstance(coo[0], Sparse):
            got = on_values(coo[0], lambda v: op.call(v, *coo[1:]), op.node_name)
        elif isinstance(self, Rows) and op.kind == "elementwise":
            raise RuntimeError("unsupported tensor layout: SparseCsr")
        else:
            raise _cannot(op.name)
        if isinstance(got, Sparse) and len(got._size) == 2 and any(isinstance(a, Rows) for a in args):
            return _by_rows(got)
        # arrays come from the engine, which wants them back
        return got._a if got.__class__ is Tensor and any(a.__class__ is ndarray for a in args) else got

    def process_inplace(self, op: Any, args: Sequence[Any]) -> Any:
        x, scale = args[0], _SCALES.get(op.name)
        a = getattr(x, "_a", None)
        if scale and a is not None and x.dtype is args[1].dtype:
            if not (state.grad and (x.requires_grad or args[1].requires_grad)):
                _check_sizes(x, args[1])
                _scatter(a, _coo(args[1]), scale * (args[2] if len(args) > 2 else 1))
                x._v[0] += 1
                return x
        if a is None and op.name in UNARY and not x._sorted:
            raise RuntimeError(f"{op.name}_ requires coalesced input")
        got = self.process(op, args)  # type: ignore[arg-type]
        if not dtypes.can_cast(got.dtype, x.dtype):
            words = got.dtype.legacy, x.dtype.legacy
            raise RuntimeError("result type {} can't be cast to the desired output type {}".format(*words))
        if not isinstance(x, Sparse):
            return x.copy_(got.to_dense())
        return _written(x, got)

    def numbers(self, what: str) -> Any:
        if what == "numpy":
            raise TypeError(f"can't convert {self.word} layout tensor to numpy. Use Tensor.to_dense() first.")
        if what == "item":
            n = math.prod(self._size)
            if n == 1:
                return self.to_dense().detach()._a
            raise RuntimeError(f"a Tensor with {n} elements cannot be converted to Scalar")
        if what == "contiguous":
            raise RuntimeError("unsupported memory format option Contiguous")
        if what == "storage":
            raise NotImplementedError(f"Cannot access storage of {self.word}TensorImpl")
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    # ---------------------------------------------------------------- what it is

    def __bool__(self) -> bool:
        if math.prod(self._size) != 1:
            raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
        return bool(self.to_dense())

    def __getitem__(self, key: Any) -> Any:
        x, dim = self, 0
        for k in key if isinstance(key, tuple) else (key,):
            if k is Ellipsis:
                dim = len(x._size) - (len(key) - 1 - key.index(k))
            elif isinstance(k, int) and not isinstance(k, bool):
                x = RULES["select"](x, dim, k)
            elif k is None:
                x, dim = RULES["unsqueeze"](x, dim), dim + 1
            elif k == slice(None):
                dim += 1
            else:
                raise _cannot("index" if isinstance(k, Tensor) else "as_strided")
        return x

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kw: Any) -> Any:
        """The engine adds cotangents as arrays."""
        name = {"multiply": "mul", "subtract": "sub", "negative": "neg", "true_divide": "div"}.get(
            ufunc.__name__, ufunc.__name__
        )
        got = self.process(REGISTRY[name], inputs)
        if out is None:
            return got
        out[0][...] = got if got.__class__ is ndarray else got.to_dense()._a
        return out[0]

    def unbind(self, dim: int = 0) -> tuple[Any, ...]:
        return tuple(
            RULES["select"](self, dim, i, "UnbindBackward0") for i in range(self._size[normalize_dim(dim, self.ndim)])
        )

    def stride(self, dim: Any = None) -> Any:
        """Zeros: there are none."""
        return (0,) * self.ndim if dim is None else 0

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """False."""
        return False

    def sparse_dim(self) -> int:
        """How many dimensions the indices are of."""
        return len(self._at.shape) and self._at.shape[0]

    _dimI = sparse_dim

    def dense_dim(self) -> int:
        """How many dimensions a value has."""
        return self._of.ndim - 1

    _dimV = dense_dim

    def _nnz(self) -> int:
        return self._of.shape[0]

    @property
    def nbytes(self) -> int:
        raise RuntimeError(
            "nbytes is not defined for sparse tensors.  If you want the size of the constituent tensors, add the nbytes of "
            "the indices and values.  If you want the size of the  equivalent dense tensor, multiply numel() by "
            "element_size()"
        )

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        return f"torch.sparse.{self.dtype.legacy}Tensor" if dtype is None else Tensor.type(self, dtype)

    def _indices(self) -> Any:
        return self._at.detach()

    def _values(self) -> Any:
        return self._of.detach()

    def indices(self) -> Any:
        """The indices, of a coalesced tensor."""
        self._must_be_coalesced("indices")
        return self._at.detach()

    def values(self) -> Any:
        """The values, of a coalesced tensor."""
        self._must_be_coalesced("values")
        return _recorded(
            "ValuesBackward0", self._of.detach(), [self], [lambda g: _built(self._at, g, self._size, True)]
        )

    def _must_be_coalesced(self, what: str) -> None:
        if not self._sorted:
            raise RuntimeError(f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first")

    def is_coalesced(self) -> bool:
        """Whether indices are in order, each there once."""
        return self._sorted

    def _coalesced_(self, on: bool) -> Any:
        self._sorted = on
        return self

    def coalesce(self) -> Any:
        """The tensor with its indices in order, the values of equal ones added up."""
        return self if self._sorted else _recorded("CoalesceBackward0", _coalesced(self), [self], [lambda g: g])

    def to_dense(self, dtype: Any = None, *, masked_grad: Any = None) -> Any:
        """The dense tensor."""
        a = np.zeros(self._size, self.dtype.np)
        x = _coo(self)
        _scatter(a, x, 1)
        out = _recorded("ToDenseBackward0", tensor_of(a), [x], [
            lambda g: g.to_sparse(x.sparse_dim()) if masked_grad is False else _masked(g, _coalesced(x))
        ])  # fmt: skip
        return out if dtype is None else out.to(dtype)

    def to_sparse(
        self, sparse_dim: Any = None, *, layout: Any = None, blocksize: Any = None, dense_dim: Any = None
    ) -> Any:
        if layout is not None and layout is not self.layout:
            return _in_layout(self, layout)
        return _coo(self) if layout is None else self

    def to_sparse_coo(self) -> Any:
        return _coo(self)

    def to_sparse_csr(self, dense_dim: Any = None) -> Any:
        x = self.coalesce()
        return _recorded("ToSparseCsrBackward0", _by_rows(x, False), [self], [lambda g: g])

    def sparse_mask(self, mask: Any) -> Any:
        return sparse_mask(self, mask)

    def copy_(self, src: Any, non_blocking: bool = False) -> Any:
        """Take the indices and values of another sparse tensor."""
        if not isinstance(src, Sparse):
            _refuse_copy(self, src)
        return _written(
            self, _recorded("CopyBackwards", _alias(src.to(self.dtype).clone()), [self, src], [None, lambda g: g])
        )

    def sparse_resize_(self, size: Any, sparse_dim: int, dense_dim: int) -> Any:
        """Another size."""
        self._size = Size(size)
        return self

    def resize_as_(self, the_template: Any, *, memory_format: Any = None) -> Any:
        return self.sparse_resize_and_clear_(the_template.shape, the_template.sparse_dim(), 0)

    def sparse_resize_and_clear_(self, size: Any, sparse_dim: int, dense_dim: int) -> Any:
        """Another size, and no values."""
        return _written(self, _empty(size, self.dtype, sparse_dim))

    def new(self, *args: Any) -> Any:
        return old_constructor(self.dtype, args)

    def made_like(self, name: str, *args: Any, dtype: Any = None, requires_grad: bool = False, **kw: Any) -> Any:
        """What zeros_like and its kin make of it."""
        if name not in ("zeros_like", "empty_like"):
            raise _cannot("fill_")
        return _empty(self._size, dtype or self.dtype, self.sparse_dim()).requires_grad_(requires_grad)

    def new_zeros(self, *size: Any, dtype: Any = None, **kw: Any) -> Any:
        return _empty(size[0] if len(size) == 1 and not isinstance(size[0], int) else size, dtype or self.dtype)

    new_empty = new_zeros

    def new_tensor(self, data: Any, **kw: Any) -> Any:
        return tensor(data, **{"dtype": self.dtype, **kw})

    def new_ones(self, *size: Any, **kw: Any) -> Any:
        raise _cannot("fill_")

    new_full = new_ones

    def as_gradient(self) -> Any:
        """The same parts as a first gradient has them: whether they are in order is forgotten."""
        return sparse(self._at, self._of, self._size, self.is_sparse_csr, type(self))

    def storage(self) -> Any:
        """NotImplementedError."""
        return self.numbers("storage")

    untyped_storage = share_memory_ = storage

    def norm(self, p: Any = 2, *rest: Any, **kw: Any) -> Any:
        if rest or kw:
            raise RuntimeError(
                "norm_sparse currently only supports full reductions, so 'dim' must either be empty or contain all "
                "dimensions of the input"
            )
        return self.coalesce().values().norm(p)

    # ---------------------------------------------------------------- copies

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment."
            )
        if id(self) not in memo:
            with no_grad():
                memo[id(self)] = self.clone().requires_grad_(self.requires_grad)
        return memo[id(self)]

    def __copy__(self) -> Any:
        return self.detach().requires_grad_(self.requires_grad)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return rebuilt, (*self._parts(), self.requires_grad)

    def _parts(self) -> tuple[Any, Any]:
        """The layout and what the tensor is made of, as files have it."""
        return self.layout, (self._indices(), self._values(), self._size, self._sorted)


def rebuilt(layout: Any, parts: Any, requires_grad: bool = False) -> Any:
    """A sparse tensor of what `_parts` gave."""
    if layout is devices.sparse_coo:
        at, of, size, *done = parts
        x = sparse(at, of, size, bool(done and done[0]))
    elif layout is devices.sparse_csr:
        x = _rows(*parts)
    else:
        _in_layout(None, layout)
    return x.requires_grad_(requires_grad)


class Rows(Sparse):
    """A matrix given by rows: `_at` is (where each row begins, the columns). Ops take it for the same by coordinates."""

    __slots__ = ()
    torch_name = "torch.Tensor"
    layout = devices.sparse_csr
    is_sparse, is_sparse_csr, word = False, True, "SparseCsr"

    def crow_indices(self) -> Any:
        """Where each row begins."""
        return self._at[0].detach()

    def col_indices(self) -> Any:
        """The columns, row by row."""
        return self._at[1].detach()

    def sparse_dim(self) -> int:
        return 2

    def _refused(self, *_: Any) -> Any:
        raise RuntimeError("indices expected sparse coordinate tensor layout but got SparseCsr")

    indices = _indices = coalesce = is_coalesced = _refused

    def values(self) -> Any:
        """The values, row by row."""
        return _recorded("ValuesBackward0", self._of.detach(), [self], [
            lambda g: _by_rows(_built(_coordinates(self), g, self._size, True))
        ])  # fmt: skip

    def to_sparse_csr(self, dense_dim: Any = None) -> Any:
        return self

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        if dtype is None:
            raise RuntimeError("Unimplemented backend SparseCsrCPU")
        return Tensor.type(self, dtype)

    def _parts(self) -> tuple[Any, Any]:
        return self.layout, (self.crow_indices(), self.col_indices(), self._values(), self._size)


# ------------------------------------------------------------------ making


def sparse(at: Any, of: Any, size: Any, done: bool = False, kind: Any = Sparse) -> Any:
    """A sparse tensor of these parts, unrecorded."""
    x = new(kind)
    x._at, x._of, x._size, x._sorted = at, of, Size(size), done or len(of._a) < 2
    x._v = of._v
    x._node = x._view = x._grad = x._extra = x._matrix = None
    engine.LAYOUTS[0] = True
    return x


def _alias(x: Any) -> Any:
    return sparse(x._at, x._of, x._size, x._sorted, type(x))


def _empty(size: Any, dtype: Any, sparse_dim: Any = None) -> Any:
    n = len(size) if sparse_dim is None else sparse_dim
    return sparse(zeros(n, 0, dtype=dtypes.int64), zeros(0, *size[n:], dtype=dtype), size, True)


def _built(at: Any, of: Any, size: Any, done: bool = False) -> Any:
    """A sparse tensor whose values have a history."""
    x = sparse(at, of.detach(), size, done)
    return _recorded("SparseCooTensorWithDimsAndTensorsBackward0", x, [at, of], [None, lambda g: _taken(g, x)])


def _rows(crow: Any, col: Any, of: Any, size: Any) -> Any:
    return sparse((crow, col), of, size, True, Rows)


def _coordinates(x: Any) -> Any:
    crow, col = x._at
    counts = np.diff(crow._a)
    return tensor_of(np.stack([np.repeat(np.arange(len(counts)), counts), col._a]))


def _coo(x: Any) -> Any:
    """A value as rules take it: by coordinates if it is a matrix by rows, a tensor if it is an array."""
    if isinstance(x, Rows):
        out = sparse(_coordinates(x), x._of, x._size, True)
        return _recorded("ToSparseBackward0", out, [x], [lambda g: _by_rows(g) if isinstance(g, Sparse) else g])
    if x.__class__ is ndarray:
        return tensor_of(x)
    return [_coo(v) for v in x] if x.__class__ is list else x


def _by_rows(x: Any, placed: bool = True) -> Any:
    """A matrix by rows; `placed` in the graph where the other is."""
    if x.__class__ is not Sparse or len(x._size) != 2:
        if isinstance(x, Rows):
            return x
        raise RuntimeError(f"Expected a matrix, but got a tensor of {len(x._size)} dimensions")
    c = _coalesced(x)
    row, col = c._at._a
    crow = np.zeros(c._size[0] + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=c._size[0]), out=crow[1:])
    out = _rows(tensor_of(crow), tensor_of(col), c._of, c._size)
    if placed:
        out._node = x._node
    return out


def _given(x: Any, dtype: Any = None) -> Any:
    if isinstance(x, Tensor):
        return x if dtype is None else x.to(dtype)
    return tensor(x, dtype=dtype)


def sparse_coo_tensor(
    indices: Any = None, values: Any = None, size: Any = None, *, dtype: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False, check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Any:  # fmt: skip
    """The sparse tensor with `values` at `indices`; values at one index add up.

    Args:
        indices: one column of numbers a value. A size alone makes a tensor without values.
        values: what is there, through which gradients flow; further dimensions of it are dense dimensions of the result.
        size: that of the result. The smallest that holds all indices by default.
        check_invariants: check the indices against the size.

    Source: torch.sparse_coo_tensor.

    >>> import tidu as torch
    >>> torch.sparse_coo_tensor([[0, 1], [2, 0]], [3., 4.], (2, 3)).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    if values is None and not isinstance(indices, Tensor):
        return _empty(indices if size is None else size, dtype or dtypes.get_default_dtype()).requires_grad_(
            requires_grad
        )
    at, of = _given(indices).detach().to(dtypes.int64), _given(values, dtype)
    if not of.ndim:
        of = of.reshape(1)
    if size is not None and at.ndim:
        _check_dims(size, at.shape[0], of.ndim - 1)
    if at.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(at.shape)}")
    n, nnz = at.shape
    if nnz != of.shape[0]:
        raise RuntimeError(
            f"indices and values must have same nnz, but got nnz from indices: {nnz}, nnz from values: {of.shape[0]}"
        )
    a = at._a
    if size is None:
        _refuse_negative(a)
        size = (*((a.max(1) + 1).tolist() if nnz else [0] * n), *of.shape[1:])
    size = tuple(size)
    if size[n:] != tuple(of.shape[1:]):
        raise RuntimeError(f"values has incorrect size, expected {[nnz, *size[n:]]}, got {list(of.shape)}")
    if (INVARIANTS[0] if check_invariants is None else check_invariants) and nnz:
        _refuse_negative(a)
        for d, (row, m) in enumerate(zip(a, size, strict=False)):
            if row.max() >= m:
                raise RuntimeError(
                    f"size is inconsistent with indices: for dim {d}, size is {m} but found index {row.max()}"
                )
    x = _built(at, of, size, nnz < 2 if is_coalesced is None else is_coalesced)
    return x.detach().requires_grad_() if requires_grad else x


def _check_dims(size: Any, n: int, dense: int) -> None:
    if len(size) != n + dense:
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, sparse_dim = {n}, "
            f"dense_dim = {dense}"
        )


def _refuse_negative(a: Any) -> None:
    for d, row in enumerate(a):
        if row.size and row.min() < 0:
            raise RuntimeError(f"found negative index {row.min()} for dim {d}")


def sparse_csr_tensor(
    crow_indices: Any, col_indices: Any, values: Any, size: Any = None, *, dtype: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False, check_invariants: bool | None = None,
) -> Any:  # fmt: skip
    """The sparse matrix whose rows have `values` in the columns `col_indices`; `crow_indices` says where rows begin."""
    _warn_of_csr()
    crow, col, of = _given(crow_indices), _given(col_indices), _given(values, dtype)
    if size is None:
        size = (crow.shape[0] - 1, int(col._a.max()) + 1 if col._a.size else 0)
    if (INVARIANTS[0] if check_invariants is None else check_invariants) and crow.shape[-1] != size[0] + 1:
        raise RuntimeError(
            f"crow_indices.shape[-1] must be equal to the number of rows + 1 (={size[0] + 1}), but got {crow.shape[-1]}"
        )
    x = _rows(crow, col, of.detach(), size)
    _recorded("SparseCompressedTensorBackward0", x, [of], [lambda g: _taken(g, _coo(x.detach()))])
    return x.detach().requires_grad_() if requires_grad else x


@functools.cache
def _warn_of_csr() -> None:
    warn(
        "Sparse CSR tensor support is in beta state. If you miss a functionality in the sparse tensor support, please "
        "submit a feature request to https://github.com/pytorch/pytorch/issues."
    )


def sparse_compressed_tensor(
    compressed_indices: Any, plain_indices: Any, values: Any, size: Any = None, *, layout: Any = None, **kw: Any
) -> Any:
    """A matrix in a compressed layout, of which there is torch.sparse_csr."""
    if layout is not devices.sparse_csr:
        _in_layout(None, layout)
    return sparse_csr_tensor(compressed_indices, plain_indices, values, size, **kw)


def _layout_unbuilt(layout: Any) -> Any:
    def make(*args: Any, **kw: Any) -> Any:
        return _in_layout(None, layout)

    make.__name__ = make.__qualname__ = f"{layout.name}_tensor"
    make.__doc__ = f"NotImplementedError: not among the layouts. Source: torch.{make.__name__}."
    return make


sparse_csc_tensor, sparse_bsr_tensor, sparse_bsc_tensor = map(
    _layout_unbuilt, (devices.sparse_csc, devices.sparse_bsr, devices.sparse_bsc)
)


@functools.cache
def _warn_of_old(old: str, now: str) -> None:
    warn(f"torch.sparse.SparseTensor({old}) is deprecated.  Please use torch.sparse_coo_tensor({now}).")


def old_constructor(dtype: Any, args: tuple[Any, ...]) -> Any:
    """`torch.sparse.FloatTensor(indices, values, size)`, or of sizes alone."""
    given = bool(args) and isinstance(args[0], Tensor)
    names = ["indices", "values", "shape"][: len(args)] if given else ["shape"] * bool(args)
    old, now = (", ".join([*names, *more]) for more in (["*", "device="] * bool(args), ["dtype=", "device="]))
    _warn_of_old(old, now if args else "(0,), dtype=")
    if given:
        return sparse_coo_tensor(*args)
    size = args[0] if len(args) == 1 and not isinstance(args[0], int) else args
    return _empty(tuple(size) or (0,), dtype)


# ------------------------------------------------------------------ the graph


class SparseNode(Node):
    """The node of a sparse op: a rule an input, and what must not have changed."""

    __slots__ = ("rules", "saved")

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        if self.rules is None:
            raise freed(self)
        for x, version in self.saved:
            if x._v[0] != version:
                raise modified(self, getattr(x, "_of", x), x._v, version)
        g = g if isinstance(g, Tensor) else tensor_of(g)
        cots = [None if e is None or r is None else for_edge(r(g), e) for e, r in zip(edges, self.rules, strict=True)]
        return [c._a if raw and c.__class__ is Tensor else c for c in cots]

    def release(self) -> None:
        if self.saved:
            self.rules = None


def for_edge(c: Any, edge: Any) -> Any:
    """A cotangent as what it flows to takes it: dense, unless that is a leaf or a sparse op."""
    sparsely = not isinstance(c, Sparse) or edge.EDGE == LEAF or isinstance(edge.owner, SparseNode)
    return c if sparsely else c.to_dense()


_nodes: dict[str, Any] = {}


def _recorded(name: str, out: Any, inputs: Sequence[Any], rules: Sequence[Any], *saved: Any) -> Any:
    """`out`, made of `inputs`, with the node that leads back by `rules`."""
    if not state.grad or out.dtype.category < dtypes.FLOATING:
        return out
    for x in inputs:
        if isinstance(x, Tensor) and x._view is not None:
            live_node(x)
    edges = tuple([edge_of(x) if isinstance(x, Tensor) else None for x in inputs])
    if any(e is not None for e in edges):
        cls = _nodes.get(name)
        if cls is None:
            cls = _nodes[name] = type(name, (SparseNode,), {"__slots__": ()})
        n = new(cls)
        n.seq, n._hooks, n.edges, n.rules = next_seq(), None, edges, rules
        n.saved = [(x, x._v[0]) for x in saved]
        out._node = n
    return out


def _written(x: Any, got: Any) -> Any:
    """Let a sparse tensor be what an op made."""
    if state.grad and x._node is True:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    cell = x._v
    x._at, x._of, x._size, x._sorted, x._matrix = got._at, got._of, got._size, got._sorted, None
    x._v = cell
    cell[0] += 1
    if state.grad:
        x._node = got._node
    return x


# ------------------------------------------------------------------ indices


def _keys(at: Any, size: Sequence[int]) -> Any:
    k = np.zeros(at.shape[1], np.int64)
    for row, n in zip(at, size, strict=False):
        k = k * n + row
    return k


def _coalesced(x: Any, name: str = "_coalesce") -> Any:
    if not isinstance(x, Sparse):
        raise _cannot(name, "CPU")
    if x._sorted:
        return x
    at, w = x._at._a, x._of._a
    k = _keys(at, x._size)
    order = np.argsort(k, kind="stable")
    first = np.ones(len(k), bool)
    k = k[order]
    np.not_equal(k[1:], k[:-1], out=first[1:])
    at, w = at[:, order[first]], w[order]
    if not first.all():
        starts = np.flatnonzero(first)
        group = np.cumsum(first) - 1
        w = np.logical_or.reduceat(w, starts, 0) if w.dtype.kind == "b" else add_rows(len(starts), group, w)
    return sparse(tensor_of(at), tensor_of(w), x._size, True)


def _found(c: Any, at: Any) -> tuple[Any, Any]:
    """Where in a coalesced tensor the columns of `at` are, and which of them are there."""
    k, q = _keys(c._at._a, c._size), _keys(at, c._size)
    if not len(k):
        return np.zeros(len(q), np.int64), np.zeros(len(q), bool)
    place = np.minimum(np.searchsorted(k, q), len(k) - 1)
    return place, k[place] == q


def _taken(g: Any, x: Any) -> Any:
    """The values of any tensor at the indices of a sparse one, recorded."""
    at = x._at._a
    if isinstance(g, Sparse):
        g = _coo(g)
        if len(g._at._a) != len(at):
            g = g.to_dense()
    if not isinstance(g, Sparse):
        return g[tuple(tensor_of(row) for row in at)] if len(at) else g.unsqueeze(0)
    c = g.coalesce()
    place, there = _found(c, at)
    if not c._nnz():
        return zeros(*x._of.shape, dtype=g.dtype)
    v = index_select(c.values(), 0, tensor_of(place))
    if there.all():
        return v
    return selection.where(tensor_of(there.reshape(-1, *[1] * (v.ndim - 1))), v, 0)


def _masked(g: Any, x: Any) -> Any:
    return _built(x._at, _taken(g, x), x._size, x._sorted)


def _scatter(a: Any, x: Any, alpha: Any) -> None:
    """a += alpha * x, for an array."""
    c = _coalesced(x)
    w = c._of._a
    if len(w):
        if not (alpha.__class__ is int and alpha == 1):
            w = w * w.dtype.type(alpha)
        if w.dtype != a.dtype:
            w = w.astype(a.dtype)
        if a.dtype.kind == "b":
            a[tuple(c._at._a)] |= w
        else:
            a[tuple(c._at._a)] += w


# ------------------------------------------------------------------ ops


def rule(*names: str) -> Callable[..., Any]:
    """Declare what ops of these names do with sparse tensors."""

    def declare(fn: Any) -> Any:
        RULES.update(dict.fromkeys(names, fn))
        return fn

    return declare


def on_values(x: Any, fn: Callable[..., Any], node: str) -> Any:
    """A function of a coalesced tensor's values that leaves its indices alone, differentiated as dense ops are."""
    c = _coalesced(x)
    out = sparse(*_parts_of(c, fn))

    def back(g: Any) -> Any:
        again = state.grad
        v = x.coalesce().values() if again and x._node is not None else c._of.detach().requires_grad_()
        with enable_grad():
            y = fn(v)
            e = edge_of(v)
            got = engine.run_backward(
                [(y._node, _taken(g, c).to(y.dtype))], keep=again, create_graph=again, targets=[e], accumulate=False
            )
        return _built(c._at, engine.captured_for(got, e), c._size, True)

    return _recorded(node, out, [x], [back], x)


def _parts_of(x: Any, fn: Callable[..., Any]) -> tuple[Any, ...]:
    with no_grad():
        return x._at, fn(x._of), x._size, x._sorted


def _check_sizes(x: Any, y: Any) -> None:
    if x.shape != y.shape:
        raise RuntimeError(
            f"add: expected sizes of 'self' and 'other' to match, but {list(x.shape)} != {list(y.shape)}"
        )


_SCALES = {"add": 1, "add.scaled": 1, "sub": -1, "sub.scaled": -1}
UNARY = frozenset(
    "abs sqrt sin sinh asin asinh tan tanh atan atanh erf erfinv expm1 log1p ceil floor round trunc frac sgn sign relu isnan "
    "isinf isposinf isneginf signbit deg2rad rad2deg nan_to_num square pow.number pow threshold".split()
)


def underivable(name: str, out: Any, *inputs: Any) -> Any:
    """A result that is recorded, and through which nothing goes back."""

    def back(g: Any) -> Any:
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    return _recorded("NotImplemented", out, inputs, [back] * len(inputs))


def smm(input: Any, mat2: Any) -> Any:
    """The product of a sparse and a dense matrix, sparse. Source: torch.smm."""
    with no_grad():
        out = RULES["mm"](_coo(input), mat2).to_sparse()
    return underivable("sspaddmm", out, input, mat2)


# ------------------------------------------------------------------ gradients


def rows_gradient(g: Any, indices: Any, n: int, padding_idx: int) -> Any:
    """The gradient of looking rows up: a sparse tensor with a row of `g` an index."""
    raw = g.__class__ is ndarray
    g, index = (tensor_of(g), indices) if raw else (g, indices._a)
    g, at = g.reshape(-1, g.shape[-1]), index.reshape(-1).astype(np.int64)
    if padding_idx >= 0:
        keep = at != padding_idx
        at, g = at[keep], index_select(g, 0, tensor_of(np.flatnonzero(keep)))
    return _built(tensor_of(at[None]), g, (n, g.shape[-1]))


# ------------------------------------------------------------------ methods of dense tensors


def _dense_only(name: str, layout: str) -> Any:
    def method(self: Any, *_: Any) -> Any:
        if name[0] == "_":
            raise _cannot("_" + name, "CPU")
        raise RuntimeError(f"{name} expected {layout} layout but got {getattr(self, 'word', 'Strided')}")

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"RuntimeError: for sparse tensors only. Source: torch.Tensor.{name}."
    return method


is_coalesced, coalesce, indices = (
    _dense_only(name, "sparse coordinate tensor") for name in ("is_coalesced", "coalesce", "indices")
)
values = _dense_only("values", "sparse tensor")
crow_indices, col_indices = (_dense_only(n, "sparse row compressed tensor") for n in ("crow_indices", "col_indices"))
_indices, _values, _nnz, _coalesced_ = (_dense_only(n, "") for n in ("_indices", "_values", "_nnz", "_coalesced_"))


def sparse_mask(self: Any, mask: Any) -> Any:
    """The values at the indices of a sparse tensor, as one."""
    if not isinstance(mask, Sparse):
        raise _cannot("__nnz", "CPU")
    if self is mask:
        return self
    m = _coo(mask)
    with no_grad():
        out = sparse(m._at, _taken(self.detach(), m), m._size, m._sorted)

    def back(g: Any) -> Any:
        got = _masked(g, _coalesced(m))
        return got if isinstance(self, Sparse) else got.to_dense()

    out = _recorded("SparseMaskBackward0", out, [self], [back])
    return _by_rows(out) if isinstance(mask, Rows) else out


def to_sparse(
    self: Any, sparse_dim: Any = None, *, layout: Any = None, blocksize: Any = None, dense_dim: Any = None
) -> Any:
    """The tensor in a sparse layout: by coordinates unless `layout` says otherwise.

    Args:
        sparse_dim: how many dimensions the indices are of; those that follow are dense.
        layout: torch.sparse_coo or torch.sparse_csr.

    >>> import tidu as torch
    >>> torch.tensor([0., 2., 0.]).to_sparse()
    tensor(indices=tensor([[1]]),
           values=tensor([2.]),
           size=(3,), nnz=1, layout=torch.sparse_coo)
    """
    if layout is not None and layout is not devices.sparse_coo:
        return _in_layout(self, layout)
    n = self.ndim if sparse_dim is None else sparse_dim
    if not 0 <= n <= self.ndim:
        raise RuntimeError(f"dense_to_sparse: sparse_dim argument must be in [0,{self.ndim}] range, but {n} is given")
    if not n and self.ndim:
        raise RuntimeError("dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0")
    a = self.detach()._a
    there = a.astype(bool, copy=False)
    if n < a.ndim:
        there = there.any(tuple(range(n, a.ndim)))
    if n:
        where = np.nonzero(there)
        at, of = np.stack(where).astype(np.int64), a[where]
    else:
        at, of = np.zeros((0, 1), np.int64), a.reshape(1).copy()
    out = sparse(tensor_of(at), tensor_of(of), self.shape, True)
    node = f"ToSparseBackward{0 if sparse_dim is not None else 1}"
    return _recorded(node, out, [self], [lambda g: g.to_dense()])


def to_sparse_coo(self: Any) -> Any:
    """The tensor by coordinates."""
    return to_sparse(self)


def to_sparse_csr(self: Any, dense_dim: Any = None) -> Any:
    """The matrix by compressed rows."""
    _warn_of_csr()
    if self.ndim != 2:
        raise RuntimeError("to_sparse_csr: tidu has matrices by rows alone, not batches of them")
    out = _by_rows(to_sparse(self.detach()))
    return _recorded("ToSparseCsrBackward0", out, [self], [lambda g: g.to_dense()])


def _in_layout(x: Any, layout: Any) -> Any:
    if layout is devices.sparse_csr:
        return x.to_sparse_csr()
    if layout is devices.sparse_coo:
        return x.to_sparse_coo()
    if layout is devices.strided:
        return x
    raise NotImplementedError(f"tidu has the sparse layouts torch.sparse_coo and torch.sparse_csr, not {layout}")


def _layout_lacking(name: str) -> Any:
    def method(self: Any, *args: Any, **kw: Any) -> Any:
        return _in_layout(self, getattr(devices, name[3:]))

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"NotImplementedError: not among the layouts. Source: torch.Tensor.{name}."
    return method


to_sparse_csc, to_sparse_bsr, to_sparse_bsc = (_layout_lacking(f"to_sparse_{name}") for name in ("csc", "bsr", "bsc"))


def _refuse_copy(x: Any, src: Any) -> None:
    raise RuntimeError(
        f"copy_() between dense and sparse Tensors is not implemented! Found self type = {x.type()} and src type = {src.type()}"
    )


from . import _coo_rules  # noqa: E402, F401  (the rules are made of all this)
