"""Contractions by index: einsum and tensordot, as permutations around batched products; affine maps, linear and bilinear."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import matmul as kernels
from ..core.broadcast import sum_to
from ..core.elementwise import F32, F64, conj
from ..core.inplace import resize, write_out
from ..core.modes import state
from ..core.node import Node, freed, modified, next_seq
from ..core.op import Op
from ..core.parameters import REQUIRED
from ..core.tensor import Tensor, dtype_word, live_node, new, type_name
from ..shapes import normalize_dim
from ._arguments import spoken
from ._dtypes import refusal
from ._make import elements
from .arithmetic import mul
from .matmul import addmm, bmm, dot, matmul, mm, unsafe_view
from .reduction import into
from .shape import permute, reshape, t, view

__all__ = [
    "bilinear", "einsum", "inner", "kron", "tensordot",
]  # fmt: skip
METHODS = "inner kron"

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def einsum(*args: Any) -> Any:
    """Products of tensors summed over the indices that the output leaves out.

    einsum("ij,jk->ik", x, y) is sum_j x[i, j] * y[j, k]. Repeated indices of one operand take its diagonal, `...` stands
    for dimensions that broadcast, and without `->` the output has the indices that occur once, in alphabetical
    order. Operands may also be given with lists of integers: einsum(x, [0, 1], y, [1, 2], [0, 2]).

    **Raises** RuntimeError for a malformed equation or sizes that do not fit.

    >>> import tidu as torch
    >>> torch.einsum("ij,j->i", torch.tensor([[1., 2.], [3., 4.]]), torch.tensor([1., 10.]))
    tensor([21., 43.])
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
            "subscripts list"
        )
    if isinstance(args[0], Tensor):
        equation, operands = _from_lists(args)
    else:
        equation, operands = args[0], list(args[1:])
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = list(operands[0])
    try:
        ndims = tuple([x.ndim for x in operands])
    except AttributeError:
        elements(operands, 1)
        raise
    return _contract(*_parse(equation, ndims), operands)


def _from_lists(args: tuple[Any, ...]) -> tuple[str, list[Any]]:
    def word(labels: Any) -> str:
        out = ""
        for s in labels:
            if s is Ellipsis:
                out += "..."
            elif 0 <= s < 52:
                out += ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")[s]
            else:
                raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
        return out

    operands = list(args[0 : len(args) - len(args) % 2 : 2])
    equation = ",".join(word(s) for s in args[1::2][: len(operands)])
    if len(args) % 2:
        equation += "->" + word(args[-1])
    return equation, operands


Labels = list[str]


@functools.lru_cache(256)
def _parse(equation: str, operands: tuple[int, ...]) -> tuple[list[Labels], int, Labels, dict[str, int]]:
    """From the operands' numbers of dimensions, the labels of each operand's dimensions, the length of the output's,
    all labels in the order of the output, and the last operand that has each of those summed over.

    Dimensions of `...` are labelled "0", "1", ...
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    words = left.split(",")
    if len(words) > len(operands):
        raise RuntimeError("einsum(): fewer operands were provided than specified in the equation")
    if len(words) < len(operands):
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    inputs: list[list[str]] = []
    widest = 0
    for i, (word, ndim) in enumerate(zip(words, operands, strict=True)):
        labels = _labels(word, f"for operand {i}")
        named = len([c for c in labels if c != "..."])
        free = ndim - named
        if "..." in labels:
            if free < 0:
                raise RuntimeError(
                    f"einsum(): the number of subscripts in the equation ({named}) is more than the number of dimensions "
                    f"({ndim}) for operand {i}"
                )
            widest = max(widest, free)
        elif free:
            more = "does not match" if free > 0 else "does not match"
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({named}) {more} the number of dimensions "
                f"({ndim}) for operand {i} and no ellipsis was given"
            )
        inputs.append(labels)
    for labels, ndim in zip(inputs, operands, strict=True):
        if "..." in labels:
            free = ndim - (len(labels) - 1)
            at = labels.index("...")
            labels[at : at + 1] = [str(k) for k in range(widest - free, widest)]
    if arrow:
        output = _labels(right, "for the output")
        if "..." in output:
            at = output.index("...")
            output[at : at + 1] = [str(k) for k in range(widest)]
        for c in output:
            if output.count(c) > 1:
                raise RuntimeError(f"einsum(): output subscript {c} appears more than once in the output")
            if c.isalpha() and not any(c in labels for labels in inputs):
                raise RuntimeError(
                    f"einsum(): output subscript {c} does not appear in the equation for any input operand"
                )
    else:
        every = [c for labels in inputs for c in labels]
        once = sorted({c for c in every if c.isalpha() and every.count(c) == 1})
        output = [str(k) for k in range(widest)] + once
    order = output + [c for c in dict.fromkeys(c for labels in inputs for c in labels) if c not in output]
    last = {c: max(k for k, labels in enumerate(inputs) if c in labels) for c in order[len(output) :]}
    return inputs, len(output), order, last


def _labels(word: str, where: str) -> list[str]:
    out: list[str] = []
    i = 0
    while i < len(word):
        if word[i] == ".":
            if word[i : i + 3] != "..." or "..." in out:
                raise RuntimeError(f"einsum(): found '.' {where} that is not part of any ellipsis")
            out.append("...")
            i += 3
            continue
        if word[i] not in _LETTERS:
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {i} in the equation string, subscripts must be in [a-zA-Z]"
            )
        out.append(word[i])
        i += 1
    return out


def _contract(inputs: list[Labels], n_out: int, order: Labels, last: dict[str, int], operands: list[Any]) -> Any:
    sizes: dict[str, int] = {}
    for i, (labels, x) in enumerate(zip(inputs, operands, strict=True)):
        here: dict[str, int] = {}
        for c, n in zip(labels, x.shape, strict=True):
            if here.setdefault(c, n) != n:
                raise RuntimeError(
                    f"einsum(): subscript {c} is repeated for operand {i} but the sizes don't match, {n} != {here[c]}"
                )
            have = sizes.get(c, 1)
            if n != 1 and have not in (1, n):
                raise RuntimeError(
                    f"einsum(): subscript {c if c.isalpha() else '...'} has size {n} for operand {i} which does not "
                    f"broadcast with previously seen size {have}"
                )
            if c not in sizes or n != 1:
                sizes[c] = n
    full = [_align(x, labels, order) for labels, x in zip(inputs, operands, strict=True)]
    result = full[0]
    if len(full) == 1:
        return result.sum(list(range(n_out, len(order)))) if len(order) > n_out else result
    gone = [order.index(c) for c, k in last.items() if k == 0]
    if gone:
        result = result.sum(gone, keepdim=True)
    for k, x in enumerate(full[1:], 1):
        summed = [order.index(c) for c, at in last.items() if at == k]
        result = _pair(result, x, summed)
    return view(result, tuple(result.shape[:n_out])) if len(order) > n_out else result


def _align(x: Any, labels: list[str], order: list[str]) -> Any:
    """An operand with one dimension a label, in the common order, of size one where it lacks the label."""
    labels = list(labels)
    for c in dict.fromkeys(labels) if len(set(labels)) < len(labels) else ():
        while labels.count(c) > 1:
            a = labels.index(c)
            b = labels.index(c, a + 1)
            if x.shape[a] != x.shape[b]:
                raise RuntimeError(
                    f"einsum(): subscript {c} is repeated for operand 0 but the sizes don't match, {x.shape[b]} != "
                    f"{x.shape[a]}"
                )
            x = x.diagonal(0, a, b).movedim(-1, a)
            del labels[b]
    for c in order:
        if c not in labels:
            x = x.unsqueeze(-1)
            labels.append(c)
    return permute(x, tuple(labels.index(c) for c in order))


def _pair(x: Any, y: Any, summed: list[int]) -> Any:
    """The product of two aligned tensors, summed over some dimensions, which stay with size one."""
    if not summed:
        return x * y
    n = x.ndim
    both, left, right, inner = [], [], [], []
    sizes_x, sizes_y = tuple(x.shape), tuple(y.shape)
    for d in range(n):
        a, b = sizes_x[d] != 1, sizes_y[d] != 1
        if d in summed:
            if a and b:
                inner.append(d)
            elif a:
                x = x.sum(d, keepdim=True)
            elif b:
                y = y.sum(d, keepdim=True)
        elif a and b:
            both.append(d)
        elif a:
            left.append(d)
        else:
            right.append(d)
    rest = [d for d in summed if d not in inner]

    def size(sizes: tuple[int, ...], dims: list[int]) -> int:
        return math.prod([sizes[d] for d in dims])

    shape = [*[sizes_x[d] for d in both + left], *[sizes_y[d] for d in right]]
    p = reshape(
        permute(x, (*both, *left, *inner, *right, *rest)),
        (size(sizes_x, both), size(sizes_x, left), size(sizes_x, inner)),
    )
    q = reshape(
        permute(y, (*both, *inner, *right, *left, *rest)),
        (size(sizes_y, both), size(sizes_y, inner), size(sizes_y, right)),
    )
    r = reshape(bmm(p, q), (*shape, *[1] * len(summed)))
    place = both + left + right + inner + rest
    return permute(r, tuple(place.index(d) for d in range(n)))


def tensordot(a: Any, b: Any, dims: Any = 2, out: Any = None) -> Any:
    """The sum of products over the last `dims` dimensions of `a` and the first of `b`, or over the two lists of
    dimensions given."""
    if isinstance(dims, Tensor):
        dims = dims.tolist() if dims.numel() > 1 else int(dims.item())
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        da, db = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    else:
        da, db = ([d] if isinstance(d, int) else list(d) for d in dims)
    if len(da) != len(db):
        raise RuntimeError("both dimension lists should have same length")
    given = (range(-dims, 0), db) if isinstance(dims, int) else (da, db)  # as the message names them
    da, db = [normalize_dim(d, a.ndim) for d in da], [normalize_dim(d, b.ndim) for d in db]
    if a.dtype is not b.dtype:
        raise RuntimeError("both inputs should have same dtype")
    for p, q, i, j in zip(da, db, given[0], given[1], strict=True):
        if a.shape[p] == 1:
            b = b.sum(q, keepdim=True, dtype=b.dtype)
        elif b.shape[q] == 1:
            a = a.sum(p, keepdim=True, dtype=a.dtype)
        elif a.shape[p] != b.shape[q]:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {a.shape[p]} in dim {i} and second has size "
                f"{b.shape[q]} in dim {j}"
            )
    fa, fb = [d for d in range(a.ndim) if d not in da], [d for d in range(b.ndim) if d not in db]
    n = 1
    for d in da:
        n *= a.shape[d]
    rows, columns = _count(a, fa), _count(b, fb)
    x, y = permute(a, (*fa, *da)), permute(b, (*db, *fb))
    if rows == columns == 1:
        r = dot(reshape(x, (n,)), reshape(y, (n,)))
    else:
        r = mm(reshape(x, (rows, n)), reshape(y, (n, columns)))
    r = reshape(r, (*[a.shape[d] for d in fa], *[b.shape[d] for d in fb]))
    if out is None:
        return r
    if out.dtype is not r.dtype:
        raise RuntimeError(
            f"tensordot: Expected the output tensor to have dtype {r.dtype.legacy}, but got an output tensor with "
            f"dtype {out.dtype.legacy}"
        )
    if tuple(out.shape) != tuple(r.shape):
        resize(out, tuple(r.shape))
    return out.copy_(r)


def _count(x: Any, dims: list[int]) -> int:
    n = 1
    for d in dims:
        n *= x.shape[d]
    return n


def inner(input: Any, other: Any, *, out: Any = None) -> Any:
    """The sum of products over the last dimensions of both."""
    _tensors("inner", input, other)
    if input.ndim == 0 or other.ndim == 0:
        return mul(input, other, out=out)
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(input.shape)} and {list(other.shape)}"
        )
    return tensordot(input, other, ([-1], [-1]), out)


def kron(input: Any, other: Any, *, out: Any = None) -> Any:
    """The Kronecker product."""
    _tensors("kron", input, other)
    n = max(input.ndim, other.ndim)
    p = (1,) * (n - input.ndim) + tuple(input.shape)
    q = (1,) * (n - other.ndim) + tuple(other.shape)
    x = unsafe_view(input, tuple(d for s in p for d in (s, 1)))
    y = unsafe_view(other, tuple(d for s in q for d in (1, s)))
    r = unsafe_view(x * y, tuple(a * b for a, b in zip(p, q, strict=True)))
    return r if out is None else write_out(mul.op, r._a, out, r.requires_grad)


def _tensors(name: str, input: Any, other: Any) -> None:
    for position, (word, x) in enumerate((("input", input), ("other", other)), 1):
        if not isinstance(x, Tensor):
            raise TypeError(f"{name}(): argument '{word}' (position {position}) must be Tensor, not {type_name(x)}")


Value = Any
ndarray = np.ndarray


class AffineNode(Node):
    """input @ weight.T + bias as one node.

    It shows as PyTorch's two: the product with the transposed weight, AddmmBackward0, and before it the transposing,
    TBackward0.
    """

    __slots__ = ("versions", "x", "w")
    op = addmm.op

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        versions = self.versions
        if versions is None:
            raise freed(self)
        x, w = self.x, self.w
        eb, ex, ew = edges
        if ex is not None and w._v[0] != versions[1]:
            raise modified(self, w, w._v, versions[1])
        if ew is not None and x._v[0] != versions[0]:
            raise modified(self, x, x._v, versions[0])
        if raw:
            needs = ex is not None, ew is not None, eb is not None
            arrays = None if x is None else x._a, None if w is None else w._a
            gx, gw, gb = kernels.linear_backward(g, *arrays, needs)
            return gb, gx, gw
        return (
            None if eb is None else sum_to(g, (g.shape[1],)),
            None if ex is None else mm(g, w),
            None if ew is None else mm(g.t(), x),
        )

    def release(self) -> None:
        self.x = self.w = self.versions = None

    def saved_arrays(self) -> Any:
        yield from (v._a for v in (self.x, self.w) if v is not None)

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        bias, input, weight = Node.next_functions.fget(self)
        if weight[0] is not None:
            made = self.__dict__.get("transposed")
            if made is None:
                made = self.__dict__["transposed"] = new(_TransposeNode)
                made.edges, made.seq, made._hooks, made.shape, made.args = (self.edges[2:], self.seq, None, (), ())
            weight = made, 0
        return bias, input, weight


class _TransposeNode(Node):
    __slots__ = ("args", "shape")

    def apply(self, g: Any, edges: Sequence[Any], raw: bool) -> Sequence[Any]:
        return (g.T if raw else g.t(),)


_Affine: Any = type("AddmmBackward0", (AffineNode,), {"__slots__": ()})
_TransposeNode.__name__ = _TransposeNode.__qualname__ = "TBackward0"


def linear(input: Value = REQUIRED, weight: Value = REQUIRED, bias: Value = None, *, out: Value = None) -> Value:
    """input @ weight.T + bias, for input (..., n), weight (m, n) or (n), bias (m) or none.

    >>> import tidu as torch
    >>> torch.nn.functional.linear(torch.tensor([[1., 2.]]), torch.tensor([[3., 4.]]), torch.tensor([5.]))
    tensor([[16.]])
    """
    if out is not None:
        return into("linear", out, linear(input, weight, bias))
    if weight is REQUIRED:
        raise spoken(TypeError(), input, weight, bias)
    if bias is None:
        return _without_bias(input, weight)
    try:
        x, w, b = input._a, weight._a, bias._a
        dt, record = x.dtype, state.record
        if (
            x.ndim != 2 or w.ndim != 2 or b.ndim != 1 or (dt is not F32 and dt is not F64) or w.dtype is not dt
            or b.dtype is not dt or x.shape[1] != w.shape[1] or b.shape[0] != w.shape[0]
            or record.__class__ is not bool
        ):  # fmt: skip
            return _composed(input, weight, bias)
    except AttributeError:
        return _composed(input, weight, bias)
    ex = input._node if input._view is None else live_node(input)
    ew = weight._node if weight._view is None else live_node(weight)
    eb = bias._node if bias._view is None else live_node(bias)
    y = new(Tensor)
    y._a = kernels.linear(x, w, b)
    y._v = [0]
    y._node = y._view = y._grad = y._extra = None
    if not record or (ex is None and ew is None and eb is None):
        return y
    y._node = n = new(_Affine)
    n.seq = next_seq()
    n._hooks = None
    n.edges = (bias if eb is True else eb, input if ex is True else ex, weight if ew is True else ew)
    n.x = None if ew is None else input
    n.w = None if ex is None else weight
    n.versions = (input._v[0], weight._v[0])
    return y


def _without_bias(input: Value, weight: Value) -> Value:
    _check("input", 1, input)
    _check("weight", 2, weight)
    if not input.ndim or not weight.ndim:
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are {input.ndim}D and {weight.ndim}D"
        )
    if input.ndim == 2 and weight.ndim == 2:
        return mm(input, t(weight))
    return matmul(input, weight if weight.ndim == 1 else t(weight))


def _composed(input: Value, weight: Value, bias: Value) -> Value:
    for i, (name, v) in enumerate((("input", input), ("weight", weight), ("bias", bias)), 1):
        _check(name, i, v)
    if input.ndim == 2:
        return addmm(bias, input, t(weight))
    if input.ndim and weight.ndim == 2 and bias.ndim == 1 and input.is_contiguous():
        *lead, n = input.shape
        r = linear(input.view((math.prod(lead), n)), weight, bias)
        return r.view((*lead, weight.shape[0]))
    return matmul(input, weight if weight.ndim == 1 else t(weight)) + bias


def _check(name: str, position: int, x: Any) -> None:
    if not isinstance(x, Tensor):
        raise TypeError(f"linear(): argument '{name}' (position {position}) must be Tensor, not {type_name(x)}")


# ------------------------------------------------------------------ two inputs


def _trilinear_forward(input1: Any, weight: Any, input2: Any) -> Any:
    k, a, b = weight.shape
    half = kernels.mm(input1, weight.transpose(1, 0, 2).reshape(a, k * b)).reshape(-1, k, b)
    return kernels.mm(half, input2[:, :, None])[:, :, 0]


def _outer_products(x: Value, y: Value) -> Value:
    n, a, b = x.shape[0], x.shape[1], y.shape[1]
    return reshape(reshape(x, (n, a, 1)) * reshape(y, (n, 1, b)), (n, a * b))


_trilinear: Any = Op(
    "_trilinear",
    _trilinear_forward,
    {
        "input1": lambda g, weight, input2: _trilinear(g, permute(conj(weight), (1, 0, 2)), conj(input2)),
        "weight": lambda g, input1, input2, weight_shape: reshape(
            mm(g.T if isinstance(g, np.ndarray) else g.t(), conj(_outer_products(input1, input2))), weight_shape
        ),
        "input2": lambda g, input1, weight: _trilinear(g, permute(conj(weight), (2, 0, 1)), conj(input1)),
    },
    {
        "input1": lambda t, weight, input2: _trilinear(t, weight, input2),
        "weight": lambda t, input1, input2: _trilinear(input1, t, input2),
        "input2": lambda t, input1, weight: _trilinear(input1, weight, t),
    },
    node="TrilinearBackward0",
    out_arg=False,
).call


def bilinear(input1: Value, input2: Value, weight: Value, bias: Value = None) -> Value:
    """sum over i, j of input1[..., i] * weight[k, i, j] * input2[..., j] + bias[k], for every k.

    **Raises** RuntimeError where sizes do not agree.
    """
    given = {"input1": input1, "input2": input2, "weight": weight, "bias": bias}
    if any(v is not None and v.dtype != input1.dtype for v in given.values()):
        got = ", ".join(f"{k}: {dtype_word(v.dtype)}" for k, v in given.items() if v is not None)
        raise RuntimeError(f"All tensors must have the same dtype, got {got}")
    if input1.ndim != input2.ndim:
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.ndim} and {input2.ndim}")
    for i in range(input1.ndim - 1):
        if input1.shape[i] != input2.shape[i]:
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {i}: got {input1.shape[i]} and "
                f"{input2.shape[i]}"
            )
    for which, x, d in (("1", input1, 1), ("2", input2, 2)):
        if x.shape[-1] != weight.shape[d]:
            raise RuntimeError(
                f"bilinear(): input{which} size does not match weight size: got {x.shape[-1]} but expected "
                f"{weight.shape[d]}"
            )
    if bias is not None and bias.shape[0] != weight.shape[0]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias.shape[0]} but expected {weight.shape[0]}"
        )
    refusal("b", "bmm")("", input1.dtype)
    lead = tuple(input1.shape[:-1])
    n = math.prod(lead)
    r = _trilinear(reshape(input1, (n, input1.shape[-1])), weight, reshape(input2, (n, input2.shape[-1])))
    r = reshape(r, (*lead, weight.shape[0]))
    return r if bias is None else r + bias
