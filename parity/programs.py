"""The programs that are run on both sides: one sample of an op, put through one part of autograd.

Each takes a `Bench` (a side with the op on it) and a sample in PyTorch's values, and returns a result to take down.
Where PyTorch itself cannot run a program, the check is not made.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch

from . import scope
from .bridge import Side, tensors_in
from .compare import TOLERANCES, Raised
from .transplant import Transplant


class Bench:
    """An entry of the op database on one side."""

    def __init__(self, side: Side, transplant: Transplant, entry: Any, op: Any = None) -> None:
        self.side, self.lib, self.entry, self.move = side, side.lib, entry, transplant
        self.function = transplant(entry.op) if op is None else op

    def load(self, sample: Any) -> tuple[Any, tuple, dict, list[Any]]:
        """The sample's arguments as this side's values, and the tensors among them."""
        self.side.forget()
        value = self.side.put((sample.input, tuple(sample.args), dict(sample.kwargs)))
        return *value, tensors_in(value, self.side.is_tensor)

    def outputs(self, sample: Any, out: Any) -> list[Any]:
        """The differentiable outputs, with the freedom of gauge taken away."""
        processed = self.move(sample.output_process_fn_grad)(out)
        return [t for t in tensors_in(processed, self.side.is_tensor) if t.requires_grad]

    def op(self, *args: Any, **kwargs: Any) -> Any:
        self.side.seed()
        return self.function(*args, **kwargs)

    def settled(self, sample: Any, out: Any) -> Any:
        """The outputs as they are; of decompositions, what is left once their freedom of gauge is taken away."""
        if self.entry.full_name not in scope.GAUGE:
            return out
        return self.move(sample.output_process_fn_grad)(out)

    def wrapped(self, *args: Any, **kwargs: Any) -> Any:
        """The op under the entry's gradcheck wrapper (which makes inputs symmetric and the like)."""
        self.side.seed()
        return self.move(self.entry.gradcheck_wrapper)(self.function, *args, **kwargs)


def attempt(program: Any, *args: Any) -> Any:
    """The program's result, or `Raised` if it raised."""
    try:
        return program(*args)
    except Exception as error:
        return raised(error)


def raised(error: Exception) -> Raised:
    kind = type(error).__name__.lstrip("_")
    return Raised(kind, str(error))


def value(bench: Bench, sample: Any) -> Any:
    first, args, kwargs, tensors = bench.load(sample)
    return bench.settled(sample, bench.op(first, *args, **kwargs)), tensors


def called_as(variant: Any) -> Any:
    """The value through another spelling of the op: a method, an alias."""

    def program(bench: Bench, sample: Any) -> Any:
        first, args, kwargs, tensors = bench.load(sample)
        bench.side.seed()
        return bench.move(variant)(first, *args, **kwargs), tensors

    return program


def grad(bench: Bench, sample: Any) -> Any:
    first, args, kwargs, tensors = bench.load(sample)
    leaves = [t for t in tensors if t.requires_grad]
    outs = bench.outputs(sample, bench.wrapped(first, *args, **kwargs))
    if not outs or not leaves:
        return None, []
    rng = np.random.default_rng(7)
    cotangents = [bench.side.noise_like(t, rng) for t in outs]
    grads = bench.lib.autograd.grad(outs, leaves, cotangents, allow_unused=True)
    return list(grads), []


def grad2(bench: Bench, sample: Any) -> Any:
    """The graph of the gradient: gradients again, and the gradients of those, by leaves and by cotangents."""
    first, args, kwargs, tensors = bench.load(sample)
    leaves = [t for t in tensors if t.requires_grad]
    outs = bench.outputs(sample, bench.wrapped(first, *args, **kwargs))
    if not outs or not leaves:
        return None, []
    rng = np.random.default_rng(7)
    cotangents = [bench.side.noise_like(t, rng).requires_grad_() for t in outs]
    grads = bench.lib.autograd.grad(outs, leaves, cotangents, allow_unused=True, create_graph=True)
    again = [g for g in grads if g is not None and g.requires_grad]
    weights = [bench.side.noise_like(g, rng) for g in again]
    wanted = leaves + cotangents
    if not again:
        return None, []
    second = bench.lib.autograd.grad(again, wanted, weights, allow_unused=True)
    # None and zeros say the same here: which one an op's second derivative gives is not something to rely on
    seen = [s if s is not None else bench.side.zeros(tuple(w.shape), w) for s, w in zip(second, wanted, strict=True)]
    return [[_still(bench, g) for g in grads], [_still(bench, s) for s in seen]], []


def forward(bench: Bench, sample: Any) -> Any:
    """Primal outputs and their tangents."""
    fwd = bench.side.get("autograd.forward_ad")
    first, args, kwargs, tensors = bench.load(sample)
    leaves = [t for t in tensors if t.requires_grad]
    rng = np.random.default_rng(11)
    tangents = [bench.side.noise_like(t, rng) for t in leaves]
    with fwd.dual_level():
        duals = {id(t): fwd.make_dual(t.detach(), v) for t, v in zip(leaves, tangents, strict=True)}
        first, args, kwargs = _replaced((first, args, kwargs), duals, bench.side)
        out = bench.wrapped(first, *args, **kwargs)
        processed = bench.move(sample.output_process_fn_grad)(out)
        found = [fwd.unpack_dual(t) for t in tensors_in(processed, bench.side.is_tensor)]
        pairs = [(p.detach(), t.detach() if t is not None else bench.side.zeros(tuple(p.shape), p)) for p, t in found]
    return [[p, t] for p, t in pairs], []


def pairing_by_forward(bench: Bench, sample: Any) -> Any:
    """<cotangent, J tangent>, for ops whose forward mode PyTorch lacks."""
    fwd = bench.side.get("autograd.forward_ad")
    first, args, kwargs, tensors = bench.load(sample)
    leaves = [t for t in tensors if t.requires_grad]
    rng = np.random.default_rng(11)
    tangents = [bench.side.noise_like(t, rng) for t in leaves]
    outs = bench.outputs(sample, bench.wrapped(first, *args, **kwargs))
    rng = np.random.default_rng(7)
    cotangents = [bench.side.array(bench.side.noise_like(t, rng)) for t in outs]
    kept = [i for i, t in enumerate(_processed(bench, sample, first, args, kwargs)) if t.requires_grad]
    with fwd.dual_level():
        duals = {id(t): fwd.make_dual(t.detach(), v) for t, v in zip(leaves, tangents, strict=True)}
        first, args, kwargs = _replaced((first, args, kwargs), duals, bench.side)
        processed = _processed(bench, sample, first, args, kwargs)
        found = [fwd.unpack_dual(processed[i]).tangent for i in kept]
        arrays = [bench.side.array(t) if t is not None else 0.0 for t in found]
    total = sum(np.vdot(c, np.broadcast_to(a, c.shape)).real for c, a in zip(cotangents, arrays, strict=True))
    return [float(total), coarsest(bench, outs)], []


def pairing_by_reverse(bench: Bench, sample: Any) -> Any:
    """<transpose(J) cotangent, tangent>: what `pairing_by_forward` must equal."""
    first, args, kwargs, tensors = bench.load(sample)
    leaves = [t for t in tensors if t.requires_grad]
    outs = bench.outputs(sample, bench.wrapped(first, *args, **kwargs))
    if not outs or not leaves:
        raise RuntimeError("nothing to differentiate")
    rng = np.random.default_rng(7)
    cotangents = [bench.side.noise_like(t, rng) for t in outs]
    grads = bench.lib.autograd.grad(outs, leaves, cotangents, allow_unused=True)
    rng = np.random.default_rng(11)
    tangents = [bench.side.array(bench.side.noise_like(t, rng)) for t in leaves]
    arrays = [bench.side.array(g) if g is not None else None for g in grads]
    total = sum(np.vdot(g, t).real for g, t in zip(arrays, tangents, strict=True) if g is not None)
    return [float(total), coarsest(bench, outs)], []


def coarsest(bench: Bench, outs: Any) -> str:
    """The least precise dtype among the outputs: a pairing is right to no more digits."""
    names = [bench.side.dtype_name(t) for t in outs]
    return max(names, key=lambda name: TOLERANCES.get(name, (0.0, 0.0))[0])


def _processed(bench: Bench, sample: Any, first: Any, args: Any, kwargs: Any) -> list[Any]:
    out = bench.wrapped(first, *args, **kwargs)
    return tensors_in(bench.move(sample.output_process_fn_grad)(out), bench.side.is_tensor)


def _replaced(value: Any, new: dict[int, Any], side: Side) -> Any:
    if side.is_tensor(value):
        return new.get(id(value), value)
    if type(value) in (tuple, list):
        return type(value)(_replaced(v, new, side) for v in value)
    if isinstance(value, dict):
        return {k: _replaced(v, new, side) for k, v in value.items()}
    return value


def inplace(bench: Bench, sample: Any) -> Any:
    """The in-place variant on a copy: what it returns, the copy, its version, and gradients through it."""
    first, args, kwargs, tensors = bench.load(sample)
    leaves = [t for t in tensors if t.requires_grad]
    target = first.clone()
    before = target._version
    variant = bench.move(bench.entry.inplace_variant)
    bench.side.seed()
    returned = variant(target, *args, **kwargs)
    moved = target._version - before
    result: list[Any] = [target.detach(), returned is target, moved > 0, target.requires_grad]
    outs = [target] if target.requires_grad else []
    if outs and leaves:
        rng = np.random.default_rng(7)
        cotangents = [bench.side.noise_like(t, rng) for t in outs]
        result.append(list(bench.lib.autograd.grad(outs, leaves, cotangents, allow_unused=True)))
    return result, []


def graph(bench: Bench, sample: Any) -> Any:
    """The node of each output by name, and the names of the nodes it leads to."""
    first, args, kwargs, tensors = bench.load(sample)
    out = bench.op(first, *args, **kwargs)
    nodes = [t.grad_fn for t in tensors_in(out, bench.side.is_tensor) if t.grad_fn is not None]
    if not nodes:
        return None, []
    return [[_node_name(n), [_node_name(after) for after, _ in n.next_functions]] for n in nodes], []


def _node_name(node: Any) -> str:
    if node is None:
        return "None"
    name = node.name().rpartition("::")[2]  # PyTorch spells some torch::autograd::AccumulateGrad
    return name if name == "AccumulateGrad" else type(node).__name__


def memory(bench: Bench, sample: Any) -> Any:
    """Bytes of distinct storages retained for backward."""
    first, args, kwargs, _ = bench.load(sample)
    if bench.lib is torch:
        storages: dict[int, int] = {}
        kept: list[Any] = []

        def pack(t: torch.Tensor) -> torch.Tensor:
            kept.append(t)
            storages[t.untyped_storage().data_ptr()] = t.untyped_storage().nbytes()
            return t

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            out = bench.op(first, *args, **kwargs)
        return (sum(storages.values()) if any(t.requires_grad for t in tensors_in(out, torch.is_tensor)) else None), []
    out = bench.op(first, *args, **kwargs)
    return sum(_retained([t.grad_fn for t in tensors_in(out, bench.side.is_tensor)]).values()), []


def _retained(nodes: list[Any]) -> dict[int, int]:
    """Address -> size of the storages that a graph retains."""
    found: dict[int, int] = {}
    seen: set[int] = set()
    while nodes:
        node = nodes.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        for array in node.saved_arrays():
            while isinstance(array.base, np.ndarray):
                array = array.base
            found[array.__array_interface__["data"][0]] = array.nbytes
        nodes.extend(after for after, _ in node.next_functions)
    return found


def value_of_picks(bench: Bench, sample: Any) -> Any:
    """`value` with the elements that indices point at in place of the indices: among equal ones any will do."""
    name = bench.entry.name
    place = 1 if name in ("topk", "kthvalue") else 0
    dim = sample.kwargs.get("dim", sample.args[place] if len(sample.args) > place else -1)
    out, tensors = value(bench, sample)
    if bench.side.is_tensor(out):
        out = (out,)
    first = bench.side.array(tensors[0])
    indices = bench.side.array(out[-1])
    if first.ndim:
        lost = indices.ndim < first.ndim
        picked = np.take_along_axis(first, np.expand_dims(indices, dim) if lost else indices, dim)
        picked = picked.squeeze(dim) if lost else picked
    else:
        picked = first
    return [*out[:-1], bench.side.dtype_name(out[-1]), picked.astype(complex).tolist()], tensors


OUT_KINDS = ("right", "wrong shape", "strided", "other dtype", "wider dtype", "requires grad")


def out_variant(kind: str) -> Any:
    """`out=` with tensors of one kind: that they are filled and returned, or the error."""

    def program(bench: Bench, sample: Any) -> Any:
        first, args, kwargs, _ = bench.load(sample)
        with bench.lib.no_grad():
            plain = bench.op(first, *args, **kwargs)
        if bench.side.is_tensor(plain):
            outs: Any = _out_like(bench, plain, kind)
        elif isinstance(plain, (tuple, list)) and all(map(bench.side.is_tensor, plain)):
            outs = tuple(_out_like(bench, t, kind) for t in plain)
        else:
            return "no tensor comes out", []
        if isinstance(plain, list):
            outs = list(outs)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            returned = attempt(lambda: bench.op(first, *args, **kwargs, out=outs))
        said = any("was resized" in str(w.message) for w in caught)
        if isinstance(returned, Raised):
            return returned, []
        pairs = list(zip(returned, outs, strict=True)) if isinstance(outs, (tuple, list)) else [(returned, outs)]
        same = [r is o for r, o in pairs]
        strides = [[s for s, n in zip(bench.side.strides(o), o.shape, strict=True) if n > 1] for _, o in pairs]
        filled = [o.detach() for _, o in pairs]
        if bench.side.is_tensor(plain):
            own, filled = [plain], [bench.settled(sample, filled[0])]
        else:
            own, filled = list(bench.settled(sample, plain)), list(bench.settled(sample, tuple(filled)))
        return [said, same, filled, strides, own], []

    return program


def must_return(kind: str) -> Any:
    """`out_variant`, for which an error is not an outcome."""
    variant = out_variant(kind)

    def program(bench: Bench, sample: Any) -> Any:
        result, tensors = variant(bench, sample)
        if isinstance(result, Raised):
            raise RuntimeError(f"{result.kind}: {result.message}")
        return result, tensors

    return program


def _out_like(bench: Bench, t: Any, kind: str) -> Any:
    shape, zeros = tuple(t.shape), bench.side.zeros
    floating = bench.side.dtype_name(t).startswith(("float", "bfloat", "complex"))
    if kind == "wrong shape":
        return zeros((*shape, 2), t)
    if kind == "strided":
        array = bench.side.memory(zeros((*shape[::-1], 2), t))[..., 0]
        return bench.side.from_numpy(array.T)
    if kind == "other dtype":
        return zeros(shape, t, "int64" if floating else "bool")
    if kind == "wider dtype":
        return zeros(shape, t, "complex128")
    if kind == "requires grad":
        return zeros(shape, t).requires_grad_() if floating else zeros(shape, t)
    return zeros(shape, t)


def _still(bench: Bench, t: Any) -> Any:
    """The tensor without its history."""
    return t if t is None else t.detach()


def in_dtype(sample: Any, old: torch.dtype, new: torch.dtype) -> Any:
    """The sample with its tensors of one dtype cast to another."""

    def cast(v: Any) -> Any:
        return v.detach().to(new) if isinstance(v, torch.Tensor) and v.dtype == old else v

    return sample.transform(cast)
