"""Forward mode: a value paired with its tangent, at a level.

An op on duals is the op on the primals, and its forward rule on the tangents: the rule that was declared, or the op
itself where it is linear, or, where there is only a vjp, that transposed: v(g) = vjp(g) is linear in g, so the
gradient of <v(g), t> with respect to g is the tangent of the output.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import Any

from .. import dtypes
from ..shapes import Size
from .broadcast import cast, expand_to
from .levels import TRANSFORMS, alive, by_hand
from .modes import state
from .op import Op
from .parameters import names_of
from .subclass import Special
from .tensor import Tensor, new
from .views import geometry, storage_of, views_of


class Dual(Special):
    """A primal value and its tangent, of the same shape. When its level has ended it is the primal alone."""

    __slots__ = ()

    primal: Tensor
    tangent: Tensor

    @property
    def shape(self) -> Size:
        return self.primal.shape

    @property
    def dtype(self) -> dtypes.dtype:
        return self.primal.dtype

    @property
    def ndim(self) -> int:
        return self.primal.ndim

    @property
    def requires_grad(self) -> bool:
        return self.primal.requires_grad

    @requires_grad.setter
    def requires_grad(self, on: bool) -> None:
        self.primal.requires_grad = on

    @property
    def is_leaf(self) -> bool:
        return self.primal.is_leaf

    @property
    def grad_fn(self) -> Any:
        return self.primal.grad_fn

    @property
    def grad(self) -> Any:
        return self.primal.grad

    @grad.setter
    def grad(self, g: Any) -> None:
        self.primal.grad = g

    @property
    def _base(self) -> Any:
        return self.primal._base

    def _is_view(self) -> bool:
        return self.primal._is_view()

    def requires_grad_(self, on: bool = True) -> Any:
        self.primal.requires_grad_(on)
        return self

    @property
    def _version(self) -> int:
        return self.primal._version

    def __format__(self, spec: str) -> str:
        return repr(self) if not spec and self.ndim else format(self.primal, spec)

    def numbers(self, what: str) -> Any:
        return self.primal.numbers(what) if isinstance(self.primal, Special) else self.primal._a

    def contiguous(self, **kw: Any) -> Any:
        return make_dual(self.primal.contiguous(**kw), self.tangent.contiguous(**kw), self.level)

    def detach(self) -> Any:
        """The primal, without a tangent."""
        return self.primal.detach()

    def rewrapped(self, level: int) -> Any:
        """This dual, whose first visible dimension is that of a vmap of a lower level, as a dual of batches."""
        from .batch import wrap

        return make_dual(wrap(self.primal, level), wrap(self.tangent, level), self.level)

    def paired(self, primal: Any, tangent: Any, level: int) -> Any:
        """make_dual(primal, tangent, level) where one of them is a dual of this, higher, level."""
        high = self.level
        p, t = _primal(primal, high), _primal(tangent, high)
        pt, tt = _tangent(primal, high), _tangent(tangent, high)
        moved = make_dual(zeros_like(p) if pt is None else pt, zeros_like(t) if tt is None else tt, level)
        return make_dual(make_dual(p, t, level), moved, high)

    def process(self, op: Op, args: tuple[Any, ...]) -> Any:
        level = self.level
        live = alive(level)
        primals, tangents = split(op, args, level, live)
        out = op.call(*primals)
        if not live or not op.differentiable or level == state.forward_off:
            return out
        if state.inference and by_hand(level):
            return out
        return attach(op, out, push(op, primals, tangents, out), level)

    def process_inplace(self, op: Op, args: Sequence[Any]) -> Any:
        """An in-place op whose target, or another argument, is a dual of this level."""
        from .inplace import apply_inplace

        level = self.level
        at = op.positions[0]
        x = args[at]
        primals, tangents = split(op, args, level, alive(level))
        target = primals[at]
        before = target.clone()
        old = [before if p is target else p for p in primals]  # rules read what was there
        if isinstance(tangents[0], Tensor):
            tangents[0] = tangents[0].clone()
        out = op.call(*old) if op.differentiable else None
        tangent = None
        if out is not None and tuple(out.shape) == tuple(target.shape):  # else the write says what is wrong
            tangent = settle(push(op, old, tangents, out), target)
        apply_inplace(op, primals)
        if not alive(level) or (tangent is None and not _is_dual(x, level)):
            return x
        if _is_dual(x, level):
            if tangent is None:
                x.tangent.zero_()
            else:
                x.tangent.copy_(tangent)
        else:
            become_dual(x, tangent, level)
        return x


def _on_primal(name: str) -> Any:
    def method(self: Any, *args: Any, **kw: Any) -> Any:
        return getattr(self.primal, name)(*args, **kw)

    method.__name__ = name
    return method


for _name in (
    "__array__ __bool__ __complex__ __float__ __index__ __int__ __len__ data_ptr dim element_size is_complex "
    "is_contiguous "
    "is_floating_point is_signed item ndimension nelement numel numpy size storage_offset stride tolist retain_grad "
    "register_hook"
).split():
    setattr(Dual, _name, _on_primal(_name))


def make_dual(primal: Any, tangent: Any, level: int) -> Any:
    """Pair a value with its tangent. What belongs to a higher level stays outside: a pair of batches is a batch of
    pairs."""
    top, highest = None, level
    for v in (primal, tangent):
        if v.__class__ is not Tensor and isinstance(v, Special) and v.level > highest:
            top, highest = v, v.level
    if top is not None:
        return top.paired(primal, tangent, level)
    d = new(Dual)
    d.primal, d.tangent, d.level = primal, tangent, level
    d._node = d._view = d._grad = d._extra = None
    d._v = getattr(primal, "_v", [0])
    return d


def check_sizes(primal: Any, tangent: Any) -> None:
    if isinstance(primal, Tensor) and isinstance(tangent, Tensor) and tuple(primal.shape) != tuple(tangent.shape):
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(primal.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}."
        )


def become_dual(x: Any, tangent: Any, level: int) -> None:
    """Turn a value without a tangent into a dual, where it stands: what a write with a tangent does to it. So does all
    that shares its memory, and the tangents are views of one another."""
    tangent = tangent.clone()
    plain, batches = _beneath(x)
    base = plain if plain._view is None else plain._view[0]
    if x.__class__ is Tensor:
        alike = [t for t in (base, *views_of(base)) if t._a.dtype is base._a.dtype]
    else:
        alike = [t for t in gc.get_referrers(base._v) if t.__class__ is x.__class__ and t.level == x.level]
    if len(alike) < 2 or not tangent.numel():
        _turn(x, tangent, level)
        return
    storage = storage_of(base._a)
    places = [geometry(_beneath(t)[0]._a, storage) for t in alike]
    low = min([offset for _, _, offset in places])
    # Of one sample, where these are batches: their dimensions come first.
    reach = [
        offset - low + sum((n - 1) * s for n, s in zip(size[batches:], stride[batches:], strict=True))
        for size, stride, offset in places
    ]
    whole = x.new_zeros((1 + max(reach),)) + tangent.detach().reshape(-1)[:1].clone().zero_()
    for t, (size, stride, offset) in zip(alike, places, strict=True):
        _turn(t, whole.as_strided(size[batches:], stride[batches:], offset - low), level)
        if t._view is not None:
            t.primal._view = (t._view[0].primal, *t._view[1:])
    x.tangent.copy_(tangent)


def _beneath(v: Any) -> tuple[Any, int]:
    """The plain tensor beneath a value, and how many dimensions of it are those of batches."""
    batches = 0
    while isinstance(v, Special):
        batches += not isinstance(v, Dual)
        v = v.primal if isinstance(v, Dual) else v.value
    return v, batches


def _turn(x: Tensor, tangent: Any, level: int) -> None:
    primal = new(x.__class__)
    for slot in ("_node", "_v", "_view", "_grad", "_extra"):
        setattr(primal, slot, getattr(x, slot))
    if isinstance(x, Special):
        primal.__dict__.update(x.__dict__)
        x.__dict__.clear()
    else:
        primal._a = x._a
        del x._a
    x.__class__ = Dual
    x.__dict__.update(primal=primal, tangent=tangent, level=level)


def _is_dual(v: Any, level: int) -> bool:
    return isinstance(v, Dual) and v.level == level


def split(op: Op, args: Sequence[Any], level: int, live: bool) -> tuple[list[Any], list[Any]]:
    """The arguments without this level, and the tangents of the tensor ones (None where there is none)."""
    primals = list(args)
    tangents: list[Any] = []
    for i in op.positions:
        v = args[i]
        if v.__class__ is Dual and v.level == level:
            primals[i] = v.primal
            tangents.append(v.tangent if live else None)
        elif i not in op.lists:
            tangents.append(None)
        else:
            primals[i] = [_primal(v, level) for v in args[i]]
            tangents.append([_tangent(v, level) for v in args[i]])
    return primals, tangents


def _primal(v: Any, level: int) -> Any:
    return v.primal if _is_dual(v, level) else v


def _tangent(v: Any, level: int) -> Any:
    return v.tangent if _is_dual(v, level) and alive(level) else None


def attach(op: Op, out: Any, tangent: Any, level: int) -> Any:
    """The output, or outputs, with the tangents that they have."""
    if isinstance(out, tuple):
        tangents = tangent if tangent is not None else [None] * len(out)
        made = [
            o if t is None or k in op.nondiff or not isinstance(o, Tensor) else make_dual(o, t, level)
            for k, (o, t) in enumerate(zip(out, tangents, strict=True))
        ]
        return tuple(made) if op.result is None else op.result(*made)
    if tangent is None or out.dtype.category < dtypes.FLOATING:
        return out
    if out.__class__ is Tensor:  # a plain value, and a plain tangent or a batch of them, as most are
        a = out._a
        b = getattr(tangent if tangent.__class__ is Tensor else getattr(tangent, "value", None), "_a", None)
        if b is not None and b.dtype is a.dtype and b.shape[tangent.__class__ is not Tensor :] == a.shape:
            return make_dual(out, tangent, level)
    return make_dual(out, settle(tangent, out), level)


def settle(tangent: Any, out: Tensor) -> Any:
    """A tangent in the dtype and shape of its primal."""
    if tangent is None or (tangent.dtype is out.dtype and tangent.shape == out.shape):
        return tangent
    return expand_to(cast(tangent, out.dtype.np), tuple(out.shape))


def zeros_like(x: Tensor) -> Tensor:
    return x.new_zeros(tuple(x.shape))


def push(op: Op, primals: Sequence[Any], tangents: Sequence[Any], out: Any) -> Any:
    """The tangent of the output(s)."""
    if len(tangents) == 1 and op.jvp == "linear" and op.positions == (0,) and not op.lists:
        return None if tangents[0] is None else op.call(tangents[0], *primals[1:])
    if not any([_present(t) for t in tangents]):
        return None
    if op.jvp == "linear":
        args = list(primals)
        for i, t in zip(op.positions, tangents, strict=True):
            if i not in op.graded:  # an index or a mask, which the op is not linear in
                continue
            if i in op.lists:
                args[i] = [zeros_like(p) if s is None else s for p, s in zip(primals[i], t, strict=True)]
            elif args[i] is not None:
                args[i] = zeros_like(args[i]) if t is None and isinstance(args[i], Tensor) else t
        return op.call(*args)
    if op.jvp == "bilinear":
        return _product_rule(op, primals, tangents)
    if op.jvp is None:
        return transpose_vjp(op, primals, tangents, out)
    if callable(op.jvp):
        return _call_rule(op, op.jvp, primals, out, dict(zip(op.tensors, tangents, strict=True)))
    total: Any = None
    for name, t in zip(op.tensors, tangents, strict=True):
        if t is not None and name in op.jvp and _present(t):
            part = _reader(op, name)(primals, out, t)
            total = part if total is None else _plus(total, part)
    return total


def _reader(op: Op, name: str) -> Any:
    """An op's forward rule for one input as a function of the primals, the output, and the tangent; kept with the op."""
    readers = op.__dict__.setdefault("jvp_readers", {})
    rule = op.jvp[name]
    found = readers.get(name)
    if found is not None and found[0] is rule:
        return found[1]
    words = []
    for p in names_of(rule):
        if p == "t":
            words.append("t")
        elif p in op.params:
            words.append(f"primals[{op.params.index(p)}]")
        elif p.startswith("out"):
            words.append(f"out[{int(p[3:])}]" if p[3:] else "out[0] if out.__class__ is tuple else out")
        else:
            base, _, what = p.rpartition("_")
            x = f"primals[{op.params.index(base)}]"
            words.append(f"tuple({x}.shape)" if what == "shape" else f"{x}.dtype.np")
    reader = eval(f"lambda primals, out, t: rule({', '.join(words)})", {"rule": rule})
    readers[name] = rule, reader
    return reader


def _present(t: Any) -> bool:
    return any(v is not None for v in t) if isinstance(t, list) else t is not None


def _plus(a: Any, b: Any) -> Any:
    return tuple(x + y for x, y in zip(a, b, strict=True)) if isinstance(a, tuple) else a + b


def _product_rule(op: Op, primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    total: Any = None
    for i, t in zip(op.positions[:2], tangents[:2], strict=True):
        if t is not None:
            args = list(primals)
            args[i] = t
            part = op.call(*args)
            total = part if total is None else total + part
    return total


def _call_rule(op: Op, rule: Any, primals: Sequence[Any], out: Any, tangents: dict[str, Any]) -> Any:
    """A forward rule with what it reads: `t` the one tangent, `t_name` the tangent of that input."""
    values = []
    outs = out if isinstance(out, tuple) else (out,)
    for p in names_of(rule):
        if p == "t":
            values.append(tangents[""])
        elif p.startswith("t_") and p[2:] in tangents:
            values.append(tangents[p[2:]])
        elif p in op.params:
            values.append(primals[op.params.index(p)])
        elif p.startswith("out"):
            values.append(outs[int(p[3:] or 0)])
        else:
            base, _, what = p.rpartition("_")
            x = primals[op.params.index(base)]
            values.append(tuple(x.shape) if what == "shape" else x.dtype.np)
    return rule(*values)


def transpose_vjp(op: Op, primals: Sequence[Any], tangents: Sequence[Any], out: Any) -> Any:
    """Forward mode from the reverse rule: the vjp is linear in the cotangent, so its transpose is the jvp."""
    outs = out if isinstance(out, tuple) else (out,)
    kept = [k for k, o in enumerate(outs) if k not in op.nondiff and o.dtype.category >= dtypes.FLOATING]
    if not kept:
        return None
    places: list[Any] = []  # of what moves, among the arguments: a position, and one in a list
    moving: list[Any] = []
    for i, t in zip(op.positions, tangents, strict=True):
        for j, v in enumerate(t if isinstance(t, list) else [t]):
            if v is not None:
                places.append((i, j))
                moving.append(v.conj() if v.dtype.is_complex else v)

    def run(*values: Any) -> Any:
        full = [list(p) if isinstance(p, list) else p for p in primals]
        for (i, j), v in zip(places, values, strict=True):
            if i in op.lists:
                full[i][j] = v
            else:
                full[i] = v
        got = op.call(*full)
        return tuple([(got if isinstance(got, tuple) else (got,))[k] for k in kept])

    given = [primals[i][j] if i in op.lists else primals[i] for i, j in places]
    back = TRANSFORMS.vjp(run, *given)[1]
    moved = TRANSFORMS.vjp(lambda *cots: back(cots), *[zeros_like(outs[k]) for k in kept])[1](tuple(moving))
    made: list[Any] = [None] * len(outs)
    for k, m in zip(kept, moved, strict=True):
        made[k] = m.conj() if m.dtype.is_complex else m
    return tuple(made) if isinstance(out, tuple) else made[0]
