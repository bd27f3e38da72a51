"""Ops: a forward over arrays, and rules over values.

    cumsum = Op("cumsum", _cumsum, vjp={"input": lambda g, dim: flip(cumsum(flip(g, dim), dim), dim)}, jvp="linear")

A rule is ordinary code. **Its parameter names say what it reads**, so a node retains exactly that; docs/architecture.md
lists them. Values are arrays when only numbers are wanted, tensors when what the rule does shall be recorded (double
backward), and whatever a transform puts in their place. So rules call ops and operators, never NumPy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from .careful import Packed, recorded
from .modes import state
from .node import Node, OutputEdge, edge_of, freed, modified, next_seq, node_class
from .parameters import REQUIRED, missing, named, names_of, parameters_of  # noqa: F401  families take `named` from here
from .subclass import PUBLIC, interpreter_of, special_among
from .tensor import Detached, Inference, Tensor, new, tensor_of
from .views import attach_view, geometry, live_node, storage_of

ndarray = np.ndarray
REAL_OR_COMPLEX = "fcV"  # the kinds of NumPy dtypes that have gradients; V is bfloat16's


class _Registry(dict[str, "Op"]):
    """Ops by name; one that is not there yet comes with the public function or method of its name."""

    def __missing__(self, name: str) -> Op:
        PUBLIC.get(name) or getattr(Tensor, name)
        return dict(self)[name]


REGISTRY = _Registry()
Rule = Callable[..., Any]


class Reader:
    """A rule with the places of what it reads among a node's saved values; -1-k is the k-th cotangent."""

    __slots__ = ("fn", "plain", "reads")

    def __init__(self, fn: Rule, reads: tuple[Any, ...]) -> None:
        self.fn = fn
        self.reads = reads
        self.plain = all(
            [r.__class__ is int and r >= -1 for r in reads]
        )  # one cotangent and saved values, nothing else


class Op:
    """One op: made by its declaration, called through `op.call`, listed in `REGISTRY`."""

    kind = "general"

    def __init__(
        self,
        name: str,
        forward: Callable[..., Any],
        vjp: dict[str, Rule] | Rule | None = None,
        jvp: dict[str, Rule] | Rule | str | None = None,
        *,
        tensors: Sequence[str] | None = None,  # the tensor arguments; default: those of vjp, else the first
        lists: Sequence[str] = (),  # which of them are lists of tensors
        node: str | None = None,  # the node's name; default from `name`
        outputs: int = 1,  # how many; 0 where it depends on the arguments
        nondiff: Sequence[int] = (),  # outputs that carry no gradient
        view: bool = False,  # the output shares memory with the first input
        result: Any = None,  # a namedtuple for the outputs
        out_arg: bool = True,  # whether PyTorch's function takes out=
        register: bool = True,
    ) -> None:
        self.name, self.view, self.result = name, view, result
        self.outputs, self.nondiff, self.out_arg = outputs, frozenset(nondiff), out_arg
        self.params, self.defaults, self.positional = parameters_of(forward)
        least = len(self.defaults)
        while least and self.defaults[least - 1] is not REQUIRED:
            least -= 1
        self.least = least
        self.forward = forward if self.positional == len(self.params) else _all_positional(forward, self)
        if tensors is None:
            tensors = tuple(vjp) if isinstance(vjp, dict) and vjp else self.params[:1]
        self.tensors = tuple(tensors)
        self.positions = tuple(self.params.index(t) for t in self.tensors)
        self.lists = frozenset(self.params.index(t) for t in lists)
        self.node_name = node or _camel(name) + "Backward0"
        self._vjp, self._jvp = vjp, jvp
        self._plans: dict[Any, tuple[tuple[Any, ...], ...]] = {}
        # Those that have an edge: tensors without a rule, such as indices and masks, have none.
        self.graded = tuple(p for p in self.positions if not isinstance(vjp, dict) or not vjp or self.params[p] in vjp)
        self.differentiable = callable(vjp) or (bool(vjp) and any(f is not None for f in vjp.values()))  # type: ignore[union-attr]
        if register:
            REGISTRY[name] = self

    # ---------------------------------------------------------------- declaration

    @property
    def vjp(self) -> Any:
        return self._vjp

    @functools.cached_property
    def jvp(self) -> Any:
        return self._jvp

    @functools.cached_property
    def _read(self) -> tuple[list[str], Reader | None, dict[int, Reader]]:
        """What the rules read, found out when a node is first made: importing the library must not take long."""
        sources: list[str] = []
        vjp = self.vjp
        if callable(vjp):
            return sources, self._reader(vjp, sources), {}
        rules = {self.params.index(k): self._reader(f, sources) for k, f in (vjp or {}).items() if f is not None}
        return sources, None, rules

    @functools.cached_property
    def sources(self) -> list[str]:
        """The names a node may save, in order."""
        return self._read[0]

    @functools.cached_property
    def ranks(self) -> list[tuple[bool, str]]:
        """By what saved-tensor hooks see the sources in order: outputs last, and PyTorch's names."""
        from .saved import shown_name

        return [(self._how(source)[0] == "out", shown_name(self, source)) for source in self.sources]

    @functools.cached_property
    def joint(self) -> Reader | None:
        """The one rule for all inputs, if there is one."""
        return self._read[1]

    @functools.cached_property
    def rules(self) -> dict[int, Reader]:
        """The rules by position among the arguments."""
        return self._read[2]

    @functools.cached_property
    def direct(self) -> tuple[Reader | None, ...] | None:
        """The rules by edge, where each reads just the cotangent of the one output and saved values; else None."""
        if self.joint is not None or self.lists or self.outputs != 1:
            return None
        rules = tuple([self.rules.get(i) for i in self.graded])
        return rules if all([r is None or r.plain for r in rules]) else None

    def _reader(self, fn: Rule, sources: list[str]) -> Reader:
        reads: list[Any] = []
        for p in names_of(fn):
            if p in ("needs", "gs"):
                reads.append(p)
            elif p == "g" or (p[0] == "g" and p[1:].isdigit()):
                reads.append(-1 - int(p[1:] or 0))
            else:
                self._check_source(p)
                if p not in sources:
                    sources.append(p)
                reads.append(sources.index(p))
        return Reader(fn, tuple(reads))

    def _check_source(self, p: str) -> None:
        base = p.removesuffix("_shape").removesuffix("_dtype").removesuffix("_geometry")
        if p in self.params or base in self.params or p == "out" or (p[:3] == "out" and p[3:].isdigit()):
            return
        raise TypeError(f"a rule of {self.name} reads {p!r}, which is not an argument of its forward {self.params}")

    @functools.cached_property
    def node(self) -> type[OpNode]:
        return node_class(self, OpNode)

    def plan(self, wanted: tuple[bool, ...]) -> tuple[tuple[Any, ...], ...]:
        """What to save when these inputs want cotangents: (place, how, argument or output) triples."""
        got = self._plans.get(wanted)
        if got is None:
            readers = [self.joint] if self.joint else [
                self.rules[p] for p, w in zip(self.graded, wanted, strict=True) if w and p in self.rules
            ]  # fmt: skip
            places = sorted({r for reader in readers for r in reader.reads if type(r) is int and r >= 0})
            got = self._plans[wanted] = tuple((k, *self._how(self.sources[k])) for k in places)
        return got

    def _how(self, source: str) -> tuple[str, int]:
        if source in self.params:
            i = self.params.index(source)
            kind = "list" if i in self.lists else "input" if i in self.positions else "arg"
            return kind, i
        if source.startswith("out"):
            return "out", int(source[3:] or 0)
        base, _, what = source.rpartition("_")
        return what, self.params.index(base)

    # ---------------------------------------------------------------- calling

    def bind(self, args: tuple[Any, ...], kw: dict[str, Any]) -> tuple[Any, ...]:
        """The full argument list, defaults filled in; TypeError as a Python function would raise it."""
        if not kw and self.least <= len(args) <= self.positional:
            return args + self.defaults[len(args) :]
        if len(args) > self.positional:
            raise TypeError(f"{self.name}() takes {self.positional} positional arguments but {len(args)} were given")
        full = list(args)
        for name, default in zip(self.params[len(args) :], self.defaults[len(args) :], strict=True):
            if name in kw:
                full.append(kw.pop(name))
            elif kw and (alias := next((a for a in _NUMPY_NAMES.get(name, ()) if a in kw), None)):
                full.append(kw.pop(alias))
            elif default is REQUIRED:
                given = {*self.params[: len(args)], *kw}
                raise missing(
                    self.name,
                    [p for p, d in zip(self.params, self.defaults, strict=True) if d is REQUIRED and p not in given],
                )
            else:
                full.append(default)
        if kw:
            name = next(iter(kw))
            if name in self.params:
                raise TypeError(f"{self.name}() got multiple values for argument '{name}'")
            raise TypeError(f"{self.name}() got an unexpected keyword argument '{name}'")
        return tuple(full)

    @functools.cached_property
    def call(self) -> Callable[..., Any]:
        """The function that calls it."""
        n, forward = len(self.params), self.forward
        singles = tuple(p for p in self.positions if p not in self.lists)
        lists = tuple(self.lists)
        first = singles[0] if singles else None

        def call(*args: Any, out: Any = None, **kw: Any) -> Any:
            if kw or len(args) != n:
                args = self.bind(args, kw)
            if first is not None and args[first].__class__ is ndarray:
                return self.on_arrays(args, out)
            vals = list(args)
            wants = False
            try:
                for i in singles:
                    x = args[i]
                    if x is not None:
                        vals[i] = x._a
                        if (x._node if x._view is None else live_node(x)) is not None:
                            wants = True
                for i in lists:
                    vals[i] = arrays = []
                    for x in args[i]:
                        arrays.append(x._a)
                        if (x._node if x._view is None else live_node(x)) is not None:
                            wants = True
            except AttributeError:
                return self.general(args, out)
            if out is not None:
                self.refuse_recorded_out(out, wants)
            result = forward(*vals)
            if out is not None:
                return self.write_out(result, out, wants)
            if wants and state.grad and self.differentiable:
                return self.record(args, result)
            return self.wrap(args, result)

        return known(self, call)

    def on_arrays(self, args: tuple[Any, ...], out: Any = None) -> Any:
        """The call for arrays: a rule running for numbers."""
        if self.lists or out is not None:
            return self.general(args, out)
        for i in self.positions:
            if args[i].__class__ is not ndarray and args[i] is not None:
                return self.general(args)
        return self.forward(*args)

    def general(self, args: tuple[Any, ...], out: Any = None) -> Any:
        """The call for every other kind of argument: lists, raw arrays, mixed dtypes, values of a transform."""
        top = None if self.lists else special_among(args, self.positions)
        if top is None:
            flat = list(self.tensor_args(args))
            top = interpreter_of(flat)
        if top is not None:
            result = top.process(self, args)
            return result if out is None else self.write_out_values(result, out)
        if not any(isinstance(x, Tensor) for x in flat) and any(isinstance(x, (ndarray, np.generic)) for x in flat):
            return self.forward(*self.arrays(args))  # a rule running for numbers
        args = self.tensors_of(args)  # type: ignore[assignment]
        wants = any([isinstance(x, Tensor) and live_node(x) is not None for x in self.tensor_args(args)])
        if out is not None:
            self.refuse_recorded_out(out, wants)
        vals = self.arrays(args)
        result = self.forward(*vals)
        if out is not None:
            return self.write_out(result, out, wants)
        if wants and state.grad and self.differentiable:
            return self.record(args, result)
        return self.wrap(args, result)

    def for_args(self, args: Sequence[Any]) -> Op:
        """The op that these arguments mean: another one where an op has a rule of its own for complex inputs."""
        return self

    def written(self, others: Sequence[Any]) -> Op | None:
        """The op that records the in-place variant of an op without derivatives; None: the history stays as it is."""
        return None

    def tensor_args(self, args: Sequence[Any]) -> Iterator[Any]:
        yield from _flat(args, self.positions, self.lists)

    def tensors_of(self, args: Sequence[Any]) -> Sequence[Any]:
        """The arguments with raw arrays among tensors made tensors: constants of a rule."""
        full = list(args)
        for i in self.positions:
            if i in self.lists:
                full[i] = [tensor_of(v) if isinstance(v, (ndarray, np.generic)) else v for v in full[i]]
            elif isinstance(full[i], (ndarray, np.generic)):
                full[i] = tensor_of(full[i])
        return full

    def arrays(self, args: Sequence[Any]) -> list[Any]:
        """The arguments with arrays in place of tensors; TypeError for what is neither."""
        vals = list(args)
        for i in self.positions:
            x = args[i]
            if i in self.lists:
                vals[i] = [None if v is None else self._array(v, i) for v in x]
            elif x is not None:
                vals[i] = self._array(x, i)
        return vals

    def _array(self, x: Any, i: int) -> Any:
        if isinstance(x, Tensor):
            return x._a
        if isinstance(x, ndarray):
            return x
        if isinstance(x, np.generic):
            return np.asarray(x)
        raise TypeError(
            f"{self.name}(): argument '{self.params[i]}' (position {i + 1}) must be "
            f"{'tuple of Tensors' if i in self.lists else 'Tensor'}, not {type(x).__name__}"
        )

    # ---------------------------------------------------------------- results

    def wrap(self, args: Sequence[Any], result: Any) -> Any:
        """The result as tensors, unrecorded."""
        if type(result) is tuple:
            outs = tuple([self._wrap_one(args, r) for r in result])
            return outs if self.result is None else self.result(*outs)
        return self._wrap_one(args, result)

    def _wrap_one(self, args: Sequence[Any], r: Any) -> Any:
        if type(r) is not ndarray:
            if not isinstance(r, (ndarray, np.generic)):
                return r
            r = np.asarray(r)
        t = tensor_of(r)
        if self.view:
            attach_view(t, args[self.positions[0]], self.outputs != 1)
        return t

    def record(self, args: Sequence[Any], result: Any) -> Any:
        """The result as tensors, with the node that leads back from them."""
        if result.__class__ is ndarray and self.outputs == 1 and not self.view:
            t = new(Tensor)
            t._a = result
            t._v = [0]
            t._node = t._view = t._grad = t._extra = None
            node = self.make_node(args, (t,))
            if result.dtype.kind in REAL_OR_COMPLEX:
                t._node = node
            if state.record is not True:
                recorded(node, (t,))
            return t
        outs = self.wrap(args, result)
        flat = outs if isinstance(outs, tuple) else (outs,)
        node = self.make_node(args, flat)
        if len(flat) == 1 and self.outputs == 1:
            if flat[0]._a.dtype.kind in REAL_OR_COMPLEX:
                flat[0]._node = node
        else:
            node.avals = avals = []
            for k, o in enumerate(flat):
                a = o._a
                avals.append((a.shape, a.dtype))
                if k not in self.nondiff and a.dtype.kind in REAL_OR_COMPLEX:
                    o._node = OutputEdge(node, k)
        if state.record is not True:
            recorded(node, flat)
        return outs

    def make_node(self, args: Sequence[Any], outs: Sequence[Tensor]) -> OpNode:
        node = new(self.node)
        node.seq = next_seq()
        node._hooks = None
        edges: list[Any] = []
        node_dtypes: list[Any] = []
        wanted: list[bool] = []
        for i in self.graded:
            x = args[i]
            if i in self.lists:
                some = [edge_of(v) if isinstance(v, Tensor) else None for v in x]
                edges += some
                node_dtypes += [e if e is None else v._a.dtype for e, v in zip(some, x, strict=True)]
                wanted.append(any([e is not None for e in some]))
                continue
            e = x._node if isinstance(x, Tensor) else None
            if e is True:
                e = x
            edges.append(e)
            node_dtypes.append(None if e is None else x._a.dtype)
            wanted.append(e is not None)
        node.edges = tuple(edges)
        node.dtypes = tuple(node_dtypes)
        saved: list[Any] = [None] * len(self.sources)
        node.saved = saved
        node.versions = versions = []
        for k, how, i in self.plan(tuple(wanted)):
            if how == "arg":
                saved[k] = args[i]
            elif how == "input":
                x = saved[k] = args[i]
                if isinstance(x, Tensor):
                    cell = x._v
                    versions.append((k, cell if cell.__class__ is list else check_savable(x)._v, cell[0], None))
            elif how == "out":
                x = outs[i]
                saved[k] = x._a
                versions.append((k, x._v, x._v[0], i))
            elif how == "list":
                saved[k] = list(args[i])
                versions += [(k, check_savable(x)._v, x._v[0], None) for x in args[i] if isinstance(x, Tensor)]
            elif i in self.lists:
                saved[k] = [getattr(x._a, how) for x in args[i]]
            elif args[i] is not None:
                a = args[i]._a
                saved[k] = geometry(a, storage_of(a)) if how == "geometry" else getattr(a, how)
        return node

    def edges_of_sources(self, edges: Sequence[Any]) -> dict[int, Any]:
        """For each saved input its edge, or list of edges."""
        places = self._plans.get(len(edges))
        if places is None:
            found: list[tuple[Any, ...]] = []
            at = 0
            for i in self.graded:
                width = len(edges) - (len(self.graded) - 1) if i in self.lists else 1
                if self.params[i] in self.sources:
                    found.append((self.sources.index(self.params[i]), slice(at, at + width) if i in self.lists else at))
                at += width
            places = self._plans[len(edges)] = tuple(found)
        return {k: edges[at] for k, at in places}

    def refuse_recorded_out(self, out: Any, wants: bool) -> None:
        from .inplace import refuse_recorded_out

        refuse_recorded_out(self, out, wants)

    def write_out(self, result: Any, out: Any, wants: bool) -> Any:
        from .inplace import write_out

        return write_out(self, result, out, wants)

    def write_out_values(self, result: Any, out: Any) -> Any:
        from .inplace import write_out_values

        return write_out_values(self, result, out)


_NUMPY_NAMES = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"), "other": ("x2",)}


class OpNode(Node):
    __slots__ = ("avals", "dtypes", "saved", "versions")

    avals: list[Any]
    saved: list[Any] | None
    versions: list[Any]
    dtypes: tuple[Any, ...]

    def values(self, raw: bool) -> list[Any]:
        """The saved values, checked to be as they were: arrays, or tensors in their place in the graph."""
        saved = self.saved
        if saved is None:
            raise freed(self)
        vals = saved.copy()
        for k, cell, version, output in self.versions:
            x = saved[k]
            if cell[0] != version:
                raise modified(self, x, cell, version)
            if x.__class__ is Tensor:
                if x._v is not cell and x._v.__class__ is Detached:
                    raise modified(self, x, x._v, version)
                if raw:
                    vals[k] = x._a
            elif x.__class__ is Packed:
                vals[k] = self._unpacked(x, raw)
            elif type(x) is list and x and x[0].__class__ is Packed:
                vals[k] = [self._unpacked(v, raw) for v in x]
            elif type(x) is list:
                vals[k] = [v._a if isinstance(v, Tensor) else v for v in x] if raw else x
            elif output is None:
                vals[k] = x._a if raw else x
            elif not raw:
                vals[k] = self._output(x, cell, output)
        return vals

    def _unpacked(self, p: Packed, raw: bool) -> Any:
        t = p.value(raw)
        if not raw and type(t._node) is tuple:  # an output of this node
            t._node = self._output(t._a, t._v, t._node[0])._node
        return t

    def _output(self, a: Any, cell: list[int], nr: int) -> Tensor:
        """A saved output as a tensor again: a fresh one, for the node must not hold the one it made."""
        t = tensor_of(a)
        t._v = cell
        if nr not in self.op.nondiff and t.dtype.category >= dtypes.FLOATING:
            t._node = self if self.op.outputs == 1 else OutputEdge(self, nr)
        return t

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        op = self.op
        vals = self.values(raw)
        if op.direct is not None:
            cots: list[Any] = []
            for e, rule, d in zip(edges, op.direct, self.dtypes):  # noqa: B905 (a keyword costs as much as the zip)
                if e is None or rule is None:
                    cots.append(None)
                    continue
                c = rule.fn(*[vals[r] if r >= 0 else g for r in rule.reads])
                cots.append(c if c is None or d is None or getattr(c, "dtype", d) is d else fit(c, d))
            return cots
        gs = self._materialize(g, raw) if op.outputs != 1 else (g,)
        needs = tuple(e is not None for e in edges)

        def run(reader: Reader) -> Any:
            return reader.fn(*[_read(r, vals, gs, needs) for r in reader.reads])

        if op.joint is not None:
            cots = list(run(op.joint))
        else:
            cots = []
            at = 0
            for i in op.graded:
                width = len(self._list_shape(i, edges)) if i in op.lists else 1
                if i not in op.rules or not any(needs[at : at + width]):
                    cots += [None] * width
                elif i in op.lists:
                    cots += run(op.rules[i])
                else:
                    cots.append(run(op.rules[i]))
                at += width
        return [
            None if c is None or e is None else c if d is None or getattr(c, "dtype", d) is d else fit(c, d)
            for c, e, d in zip(cots, edges, self.dtypes, strict=True)
        ]

    def _list_shape(self, i: int, edges: Sequence[Any]) -> range:
        # One list of tensors at most in an op, so its width is what the single inputs leave over.
        return range(len(edges) - (len(self.op.graded) - 1))

    def _materialize(self, gs: Sequence[Any], raw: bool) -> list[Any]:
        """Zeros for the outputs that no cotangent reached."""
        out = []
        nondiff = self.op.nondiff
        for k, g in enumerate(gs):
            if g is None and k not in nondiff:
                g = np.zeros(*self.avals[k])
                if not raw:
                    g = tensor_of(g)
            out.append(g)
        return out

    def release(self) -> None:
        if self.versions:
            self.saved = None
            self.versions = []

    def saved_arrays(self) -> Iterator[np.ndarray[Any, Any]]:
        for k, _, _, output in self.versions:
            x = self.saved[k]  # type: ignore[index]
            if x.__class__ is Packed or (type(x) is list and x and x[0].__class__ is Packed):
                continue
            yield from ((v._a for v in x if v is not None) if type(x) is list else ((x._a if output is None else x),))


def _flat(args: Sequence[Any], positions: Sequence[int], lists: frozenset[int]) -> Iterator[Any]:
    """The arguments at some positions in order, lists laid out flat."""
    for i in positions:
        if i in lists:
            yield from args[i]
        else:
            yield args[i]


def _all_positional(forward: Callable[..., Any], op: Op) -> Callable[..., Any]:
    """A forward with keyword-only parameters as one that takes them all by position."""
    n, names = op.positional, op.params[op.positional :]
    if len(names) == 1:
        name = names[0]
        return functools.wraps(forward)(lambda *args: forward(*args[:-1], **{name: args[-1]}))

    @functools.wraps(forward)
    def positional(*args: Any) -> Any:
        return forward(*args[:n], **dict(zip(names, args[n:], strict=True)))

    return positional


def _read(r: Any, vals: list[Any], gs: Sequence[Any], needs: tuple[bool, ...]) -> Any:
    if r == "needs":
        return needs
    if r == "gs":
        return gs
    return vals[r] if r >= 0 else gs[-1 - r]


def known(op: Op, call: Callable[..., Any]) -> Callable[..., Any]:
    """A call of the op, as a function of its name, which says what it does."""
    call.__name__ = call.__qualname__ = op.name
    call.__doc__ = op.forward.__doc__
    call.op = op
    return call


def fit(c: Any, dt: Any) -> Any:
    """A cotangent in the dtype of what it is the cotangent of: real parts, and PyTorch's silent casts."""
    if getattr(c.dtype, "np", None) is dt:  # that of a tensor
        return c
    from .broadcast import cast

    return cast(c, dt)


def check_savable(x: Tensor) -> Tensor:
    if type(x._v) is Inference:
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
            "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and "
            "use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
        )
    return x


def _camel(name: str) -> str:
    return "".join(w[:1].upper() + w[1:] for w in name.strip("_").split("_"))
