"""Sparse Jacobians and Hessians: which elements depend on which, and as few passes as that allows.

A function is run once on values that carry, for every element, the set of inputs that it depends on. Ops hand the sets
on: elementwise ones join those of their operands, moves (views, indexing, joining) carry them, sums and products with
matrices join along what they sum over; any other op makes all of its results depend on all it was given, which is never
too few. For a Hessian the pairs of inputs that meet in a nonlinear op are noted as well.

Inputs that never meet in a row get the same colour, and one derivative in the direction of their sum gives the
columns of
all of them at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import levels
from ..core.batch import Batched, wrap
from ..core.forward import Dual, make_dual
from ..core.subclass import Special
from ..core.tensor import Tensor, new, tensor_of
from ..core.views import views_of
from ..shapes import Size
from .transforms import grad, jvp, vjp
from .vmapping import vmap

Sets = Any  # a scipy.sparse matrix of bools: elements by inputs

_MOVES = frozenset(
    "index index.one gather index_select take flip roll getitem permute transpose t select slice narrow view "
    "reshape_copy "
    "_unsafe_view unsafe_view expand unsqueeze squeeze squeeze_dim squeeze_dims diagonal as_strided unfold clone "
    "contiguous_clone alias detach repeat rot90 tril triu constant_pad_nd diag_embed unbind split "
    "split_with_sizes "
    "conj conj_physical pixel_shuffle pixel_unshuffle".split()
)
_SUMS = frozenset("sum sum_dim mean mean_dim sum_to_size".split())
_ADDITIONS = frozenset("add sub rsub neg positive where masked_fill cast".split())  # linear in all operands together
_SCALINGS = frozenset("mul div".split())  # linear in the first, if the second does not depend on anything


class Interaction:
    """The pairs of inputs that meet in nonlinear ops."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.parts: list[Sets] = []  # what meets, in rows
        self.turned: list[Any] = []  # plain tensors that were written into

    def meet(self, sets: Sets) -> None:
        if sets.nnz and not any([sets is p for p in self.parts]):
            self.parts.append(sets)

    def pattern(self) -> Sets:
        from scipy import sparse

        rows = sparse.vstack([_none(0, self.n), *self.parts], format="csr")
        return sparse.csr_array(rows.T @ rows)


class Tracked(Special):
    """A value with the inputs that each of its elements depends on."""

    __slots__ = ()

    value: Tensor
    pairs: Interaction
    _sets: Sets
    _root: Any  # of a view, whose memory it sees
    _seen: int  # the version at which its sets were right

    @property
    def sets(self) -> Sets:
        """A row for every element. A view looks at its root again after a write."""
        if self._root is not None and self._seen != self.value._v[0]:
            self._sets = self._root._sets[_rows_in(self._root.value._a, self.value._a)]
            self._seen = self.value._v[0]
        return self._sets

    def write(self, sets: Sets) -> None:
        """Replace the sets, after a write, for all who see this memory."""
        from scipy import sparse

        self._sets, self._seen = sets, self.value._v[0]
        root = self._root
        if root is not None:
            kept = np.arange(root._sets.shape[0])
            kept[_rows_in(root.value._a, self.value._a)] = len(kept) + np.arange(sets.shape[0])
            root._sets = sparse.vstack([root._sets, sets], format="csr")[kept]

    def with_value(self, value: Any) -> Any:
        """The same dependences, of another value."""
        return tracked(value, self.sets, self.pairs, self.level)

    @property
    def shape(self) -> Size:
        return self.value.shape

    @property
    def dtype(self) -> Any:
        return self.value.dtype

    @property
    def ndim(self) -> int:
        return self.value.ndim

    @property  # type: ignore[misc]
    def requires_grad(self) -> bool:
        return False

    def numbers(self, what: str) -> Any:
        return self.value._a

    def numel(self) -> int:
        return self.value.numel()

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        return self.ndim

    def __len__(self) -> int:
        return len(self.value)

    def detach(self) -> Any:
        return self.value

    def process(self, op: Any, args: Sequence[Any]) -> Any:
        out = op.call(*_plain(op, args))
        if not op.differentiable:
            return out
        outs = out if isinstance(out, tuple) else (out,)
        made = _sets_of(op, args, outs, self)
        wrapped = tuple(
            o
            if s is None or not isinstance(o, Tensor) or o.dtype.category < 2
            else tracked(o, s, self.pairs, self.level, _seen_by(o, op, args))
            for o, s in zip(outs, made, strict=True)
        )
        if not isinstance(out, tuple):
            return wrapped[0]
        return wrapped if op.result is None else op.result(*wrapped)

    def process_inplace(self, op: Any, args: Sequence[Any]) -> Any:
        x = args[op.positions[0]]
        got = op.call(*args)
        if not isinstance(x, Tracked):
            _turn(x, self)
        if tuple(got.shape) != tuple(x.shape):
            raise RuntimeError(f"output with shape {list(x.shape)} doesn't match the broadcast shape {list(got.shape)}")
        x.value.copy_(_value(got))
        x.write(got.sets if isinstance(got, Tracked) else _none(x.value._a.size, self.pairs.n))
        return x

    def process_function(self, cls: Any, args: Sequence[Any]) -> Any:
        """A custom Function: all of its results depend on all it was given."""
        out = cls.apply(*[_value(a) for a in args])
        together = self.gathered([a for a in args if isinstance(a, Tracked)])
        outs = tuple(
            tracked(o, together[np.zeros(o.numel(), int)], self.pairs, self.level)
            if isinstance(o, Tensor) and o.dtype.category >= 2
            else o
            for o in (out if isinstance(out, tuple) else (out,))
        )
        return outs if isinstance(out, tuple) else outs[0]

    def gathered(self, values: Sequence[Any]) -> Sets:
        """One row: what any element of any of the values depends on. They meet."""
        total = _none(1, self.pairs.n)
        for v in values:
            total = total + _any_row(v.sets)
        self.pairs.meet(total)
        return total

    def pull_back(self, outs: Sequence[Any], ins: Sequence[Any], cots: Sequence[Any], pull: Any) -> list[Any]:
        """A transform's cotangents within: each depends on no more than the results and their cotangents do."""
        met: list[Tracked] = []

        def bare(v: Any) -> Any:
            if isinstance(v, Tracked):
                met.append(v)
                return v.value
            return _inside(v, bare)

        got = pull([bare(v) for v in outs], [_value(v) for v in ins], [bare(v) for v in cots])
        together = self.gathered(met)

        def dressed(v: Any) -> Any:
            if isinstance(v, Special) and v.level > self.level:
                return _inside(v, dressed)
            return tracked(v, together[np.zeros(v.numel(), int)], self.pairs, self.level)

        return [None if g is None else dressed(g) for g in got]


def tracked(value: Tensor, sets: Sets, pairs: Interaction, level: int, root: Any = None) -> Any:
    t = new(Tracked)
    t._node = t._view = t._grad = t._extra = None
    t._v = [0]
    t.value, t.pairs, t.level, t._root = value, pairs, level, root
    t._sets, t._seen = sets, value._v[0]
    return t


def _inside(v: Any, change: Callable[[Any], Any]) -> Any:
    """A batch or a dual with what it is made of changed."""
    if isinstance(v, Batched):
        return wrap(change(v.value), v.level)
    if isinstance(v, Dual):
        return make_dual(change(v.primal), change(v.tangent), v.level)
    return v


def _seen_by(out: Any, op: Any, args: Sequence[Any]) -> Any:
    """The value whose memory an op's result is a view of, or None."""
    for v in op.tensor_args(args):
        if isinstance(v, Tracked) and out._v is v.value._v:
            return v if v._root is None else v._root
    return None


def _turn(x: Tensor, like: Tracked) -> None:
    """Turn a plain tensor into one that depends on nothing yet, with all who see its memory."""
    base = x if x._view is None else x._view[0]
    for t in (base, *views_of(base)):
        if not isinstance(t, Tracked):
            _turn_one(t, like, None if t is base else base)


def _turn_one(x: Tensor, like: Tracked, root: Any) -> None:
    plain = new(Tensor)
    for slot in ("_a", "_node", "_v", "_view", "_grad", "_extra"):
        setattr(plain, slot, getattr(x, slot))
    if root is not None:
        plain._view = (root.value, *x._view[1:])
    like.pairs.turned.append(x)
    del x._a
    x.__class__ = Tracked
    sets = _none(plain._a.size, like.pairs.n)
    x.__dict__.update(value=plain, pairs=like.pairs, level=like.level, _root=root, _sets=sets, _seen=-1)


def _turn_back(x: Any) -> None:
    plain = x.value
    for name in ("value", "pairs", "level", "_root", "_sets", "_seen"):
        del x.__dict__[name]
    x.__class__ = Tensor
    x._a, x._node = plain._a, plain._node


def _rows_in(root: Any, view: Any) -> Any:
    there, here = _addresses(root), _addresses(view)
    order = np.argsort(there)
    return order[np.searchsorted(there, here, sorter=order)]


def _addresses(a: Any) -> Any:
    made = np.full(a.shape, a.__array_interface__["data"][0])
    for axis, (n, stride) in enumerate(zip(a.shape, a.strides, strict=True)):
        made += (np.arange(n) * stride).reshape((-1,) + (1,) * (a.ndim - 1 - axis))
    return made.reshape(-1)


def _plain(op: Any, args: Sequence[Any]) -> list[Any]:
    full = list(args)
    for p in op.positions:
        v = full[p]
        full[p] = [_value(u) for u in v] if p in op.lists else _value(v)
    return full


def _value(v: Any) -> Any:
    return v.value if isinstance(v, Tracked) else v


# ------------------------------------------------------------------ how ops hand sets on


def _none(rows: int, n: int) -> Sets:
    from scipy import sparse

    return sparse.csr_array((rows, n), dtype=bool)


def _places(a: Any) -> Any:
    return np.arange(a.size).reshape(a.shape)


def _sets_of(op: Any, args: Sequence[Any], outs: Sequence[Any], top: Tracked) -> list[Any]:
    """For each output the sets of its elements, None for one that depends on nothing."""
    pairs = top.pairs
    inputs = [v for v in op.tensor_args(args) if isinstance(v, Tracked)]
    if op.kind == "elementwise" or op.name in _ADDITIONS or op.name == "copy":
        return _elementwise(op, args, outs, pairs)
    if op.name in _MOVES and len(inputs) == 1 and isinstance(args[op.positions[0]], Tracked):
        return _moved(op, args, outs)
    if op.name in ("cat", "stack"):
        return [_joined(op, args, pairs.n)]
    if op.name in _SUMS:
        return [_summed(op, args, outs[0])]
    if op.kind == "bilinear" and op.name in ("mm", "mv", "dot", "bmm"):
        return [_product(args, outs[0], pairs)]
    together = sum((_any_row(v.sets) for v in inputs[1:]), _any_row(inputs[0].sets))
    if op.kind != "linear":
        pairs.meet(together)
    return [together[np.zeros(o._a.size, int)] if isinstance(o, Tensor) else None for o in outs]


def _any_row(sets: Sets) -> Sets:
    from scipy import sparse

    found = np.zeros(sets.shape[1], bool)
    found[sets.indices] = True
    return sparse.csr_array(found[None])


def _elementwise(op: Any, args: Sequence[Any], outs: Sequence[Any], pairs: Interaction) -> list[Any]:
    shape = tuple(outs[0].shape)
    total, count, first = None, 0, False
    for k, p in enumerate(op.positions):
        v = args[p]
        if not isinstance(v, Tracked) or op.params[p] in ("condition", "mask") or (op.name == "copy" and k == 0):
            continue
        part, a = v.sets, v.value._a
        if a.shape != shape:
            part = part[np.broadcast_to(_places(a), shape).reshape(-1)]
        total = part if total is None or total is part else total + part
        count, first = count + 1, first or k == 0
    if total is None:
        return [None for _ in outs]
    linear = (
        op.name in _ADDITIONS
        or op.name == "copy"
        or (op.name in _SCALINGS and count == 1 and (first or op.name == "mul"))
    )
    if not linear and any(_bends(op, p) for p in op.params if p in op.tensors):
        pairs.meet(total)
    return [total for _ in outs]


def _bends(op: Any, name: str) -> bool:
    """Whether an op has a derivative for an argument at all."""
    partials = getattr(op, "partials", None)
    return partials is None or partials.get(name) is not None


def _moved(op: Any, args: Sequence[Any], outs: Sequence[Any]) -> list[Any]:
    """Sets go where the elements go; 0 stands for an element that was not there before."""
    from scipy import sparse

    x = args[op.positions[0]]
    full = op.arrays(_plain(op, args))
    full[op.positions[0]] = (_places(x.value._a) + 1).astype(np.float64)
    if "value" in op.params:  # what is padded with
        full[op.params.index("value")] = 0
    moved = op.forward(*full)
    places = [np.asarray(m).astype(int).reshape(-1) for m in (moved if type(moved) is tuple else (moved,))]
    if all([p.all() for p in places]):
        return [x.sets[p - 1] for p in places]
    sets = sparse.vstack([_none(1, x.pairs.n), x.sets], format="csr")
    return [sets[p] for p in places]


def _joined(op: Any, args: Sequence[Any], n: int) -> Sets:
    from scipy import sparse

    values, all_sets, at = [], [], 0
    for v in args[0]:
        a = _value(v)._a
        values.append(_places(a) + at)
        all_sets.append(v.sets if isinstance(v, Tracked) else _none(a.size, n))
        at += a.size
    return sparse.vstack(all_sets, format="csr")[np.asarray(op.forward(values, *args[1:])).reshape(-1)]


def _summed(op: Any, args: Sequence[Any], out: Any) -> Sets:
    """Each element joins the sum it goes to: where the adjoint takes the number of the sum."""
    from scipy import sparse

    x = args[op.positions[0]]
    if out._a.size == 1:
        return _any_row(x.sets)
    size = x.value._a.size
    leaf = tensor_of(np.zeros(x.value._a.shape))
    leaf._node = True
    full = list(args)
    full[op.positions[0]] = leaf
    if "dtype" in op.params:
        full[op.params.index("dtype")] = None
    from ..autograd.backward import grad as reverse
    from ..core.modes import enable_grad

    with enable_grad():
        y = op.call(*full)
    numbers = tensor_of(np.arange(1.0, y._a.size + 1).reshape(y._a.shape))
    (goes,) = reverse(y, leaf, numbers)
    scale = size / max(y._a.size, 1) if op.name.startswith("mean") else 1
    rows = np.rint(goes._a.reshape(-1) * scale).astype(int) - 1
    into = sparse.csr_array((np.ones(size, bool), (rows, np.arange(size))), shape=(y._a.size, size))
    return sparse.csr_array(into @ x.sets)


def _product(args: Sequence[Any], out: Any, pairs: Interaction) -> Sets:
    """Rows of the first factor meet columns of the second."""
    a, b = args[:2]
    if isinstance(a, Tracked) and isinstance(b, Tracked):
        rows, columns = _along(a, -1), _along(b, -2 if b.ndim > 1 else -1)
        shape = tuple(out.shape)
        left, right = np.arange(rows.shape[0]), np.arange(columns.shape[0])
        if a.ndim == 3:
            n, m, k = shape
            left = np.broadcast_to(left.reshape(n, m, 1), shape)
            right = np.broadcast_to(right.reshape(n, 1, k), shape)
        elif len(shape) == 2:
            left, right = np.broadcast_to(left[:, None], shape), np.broadcast_to(right, shape)
        elif shape:
            right = np.zeros(shape, int)
        else:
            left = right = np.zeros(1, int)
        total = rows[left.reshape(-1)] + columns[right.reshape(-1)]
        pairs.meet(total)
        return total
    return _by_constant(a, b, out, pairs.n)


def _along(v: Tracked, axis: int) -> Sets:
    from scipy import sparse

    places = np.moveaxis(_places(v.value._a), axis, -1)
    flat = places.reshape(-1, places.shape[-1])
    into = sparse.csr_array(
        (np.ones(flat.size, bool), (np.repeat(np.arange(len(flat)), flat.shape[1]), flat.reshape(-1))),
        shape=(len(flat), places.size),
    )
    return sparse.csr_array(into @ v.sets)


def _by_constant(a: Any, b: Any, out: Any, n: int) -> Sets:
    """A product with a matrix that depends on nothing: only its elements that are not 0 count."""
    from scipy import sparse

    p, q = _value(a)._a, _value(b)._a
    p3 = p.reshape((1,) * (3 - max(p.ndim, 2)) + (p.shape if p.ndim > 1 else (1, p.size)))
    q3 = q.reshape((1,) * (3 - max(q.ndim, 2)) + (q.shape if q.ndim > 1 else (q.size, 1)))
    rows, inner, columns = p3.shape[1], p3.shape[2], q3.shape[2]
    made = []
    for k in range(p3.shape[0]):
        if isinstance(b, Tracked):
            weights = np.kron(p3[k] != 0, np.eye(columns, dtype=bool)) if columns > 1 else p3[k] != 0
            sets = b.sets[k * inner * columns : (k + 1) * inner * columns]
        else:
            weights = np.kron(np.eye(rows, dtype=bool), q3[k].T != 0) if rows > 1 else q3[k].T != 0
            sets = a.sets[k * rows * inner : (k + 1) * rows * inner]
        made.append(sparse.csr_array(weights) @ sets)
    return sparse.vstack(made, format="csr")


# ------------------------------------------------------------------ patterns, colours, derivatives


def pattern_of(func: Callable[[Any], Any], x: Any) -> tuple[Sets, Interaction, Any]:
    """Which elements of func(x) depend on which of x, what pairs of these meet, and func(x)."""
    from scipy import sparse

    n = x.numel()
    pairs = Interaction(n)
    level = levels.enter()
    try:
        out = func(tracked(x.detach().clone(), sparse.eye_array(n, dtype=bool, format="csr"), pairs, level))
        sets = out.sets if isinstance(out, Tracked) else None
        value = _value(out)
    finally:
        levels.leave(level)
        for t in pairs.turned:
            _turn_back(t)
    if not isinstance(out, Tensor):
        raise TypeError(f"sparse derivatives are of functions that return one tensor, not {type(out).__name__}")
    if sets is None:
        sets = _none(out.numel(), n)
    return sparse.csr_array(sets), pairs, value


def colours(pattern: Sets) -> Any:
    """A number for every column, so that no two columns of one number have an element in the same row; as few as the
    first fit, columns in order, needs."""
    by_row = pattern.tocsr()
    by_row.sort_indices()
    counts, n = np.diff(by_row.indptr), pattern.shape[1]
    if counts.max(initial=0):
        starts, ends = by_row.indptr[:-1][counts > 0], by_row.indptr[1:][counts > 0] - 1
        band = int((by_row.indices[ends] - by_row.indices[starts]).max()) + 1
        if band == counts.max():  # columns that far apart never meet, and fewer numbers cannot do for the fullest row
            return np.arange(n) % band
    made = [-1] * n
    by_column = by_row.tocsc()
    bounds, members = by_row.indptr.tolist(), by_row.indices.tolist()
    tops, rows = by_column.indptr.tolist(), by_column.indices.tolist()
    for j in range(n):
        taken = {made[m] for r in rows[tops[j] : tops[j + 1]] for m in members[bounds[r] : bounds[r + 1]]}
        c = 0
        while c in taken:
            c += 1
        made[j] = c
    return np.array(made)


def _directions(colour: Any, x: Any) -> Any:
    rows = np.zeros((int(colour.max(initial=-1)) + 1, colour.size), x.dtype.np)
    rows[colour, np.arange(colour.size)] = 1
    return tensor_of(rows.reshape((-1, *tuple(x.shape))))


def _each(derivative: Callable[[Any], Any], directions: Any) -> Any:
    """The derivative in each direction: together, or one by one where the function does what vmap refuses, such as
    writing into a tensor made of nothing."""
    try:
        return vmap(derivative)(directions)
    except RuntimeError:
        from ..ops.joining import stack

        return stack([derivative(v) for v in directions])


def _entries(pattern: Sets) -> tuple[Any, Any]:
    pattern.sort_indices()
    return np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr)), pattern.indices


def sparse_jacobian(func: Callable[[Any], Any], x: Any) -> Any:
    """The Jacobian of func at x as a scipy.sparse array, (elements of the output, elements of x)."""
    from scipy import sparse

    pattern, _, out = pattern_of(func, x)
    forward, reverse = colours(pattern), colours(pattern.T)
    rows, columns = _entries(pattern)
    if not rows.size:
        return sparse.csr_array(pattern.shape, dtype=x.dtype.np)
    if forward.max() <= reverse.max():
        got = _each(lambda v: jvp(func, (x.clone(),), (v,))[1], _directions(forward, x))
        values = got._a.reshape(len(got._a), -1)[forward[columns], rows]
    else:
        pull = vjp(func, x)[1]
        got = _each(lambda v: pull(v)[0], _directions(reverse, out))
        values = got._a.reshape(len(got._a), -1)[reverse[rows], columns]
    return sparse.csr_array((values, columns, pattern.indptr), shape=pattern.shape)


def sparse_hessian(func: Callable[[Any], Any], x: Any) -> Any:
    """The Hessian of a scalar function at x as a scipy.sparse array."""
    from scipy import sparse

    _, pairs, out = pattern_of(func, x)
    if out.numel() != 1:
        raise RuntimeError(f"sparse Hessians are of functions that return one number, not {tuple(out.shape)}")
    pattern = pairs.pattern()
    rows, columns = _entries(pattern)
    if not rows.size:
        return sparse.csr_array(pattern.shape, dtype=x.dtype.np)
    colour = colours(pattern)
    gradient = grad(lambda v: func(v).reshape(()))
    got = _each(lambda v: jvp(gradient, (x.clone(),), (v,))[1], _directions(colour, x))
    values = got._a.reshape(len(got._a), -1)[colour[columns], rows]
    return sparse.csr_array((values, columns, pattern.indptr), shape=pattern.shape)
